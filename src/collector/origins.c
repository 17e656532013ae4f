/*
 * origins.c: where connections come from, while they are open: a hash table
 * under a random key, so that nobody can choose addresses that share a place.
 */
#include "collector/origins.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/wipe.h"

#define SIX_ORIGIN 7u /* bytes of an IPv6 address that make an origin: /56 */
#define SIX_AROUND 6u /* and a neighbourhood: /48 */
#define FOUR_AROUND 3u
#define PLACES_LEAST ((size_t)64)
#define PLACES_MOST ((size_t)1 << 20)

struct origins {
    uint8_t key[crypto_shorthash_KEYBYTES];
    size_t places; /* a power of two */
    struct origin **place;
};

/* The first byte: the family, and whether it is a neighbourhood. */
enum { NAME_OTHER, NAME_FOUR = 4, NAME_SIX = 6, NAME_AROUND = 128 };

struct origins *
origins_new(size_t connections)
{
    struct origins *origins = calloc(1, sizeof *origins);
    size_t places = PLACES_LEAST;
    while (places < connections && places < PLACES_MOST) {
        places *= 2;
    }
    if (origins == NULL) {
        return NULL;
    }
    origins->places = places;
    origins->place = calloc(places, sizeof *origins->place);
    if (origins->place == NULL) {
        free(origins);
        return NULL;
    }
    randombytes_buf(origins->key, sizeof origins->key);
    return origins;
}

void
origins_free(struct origins *origins)
{
    if (origins != NULL) {
        free(origins->place);
        host_wipe_free(origins, sizeof *origins);
    }
}

/* ---- Names --------------------------------------------------------------- */

static void
name_origin(const struct sockaddr *address, uint8_t name[ORIGINS_NAME_SIZE])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    memset(name, 0, ORIGINS_NAME_SIZE);
    if (address != NULL && address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        name[0] = NAME_FOUR;
        memcpy(name + 1, &four.sin_addr, 4);
        explicit_bzero(&four, sizeof four);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof six);
        if (memcmp(&six.sin6_addr, mapped, sizeof mapped) == 0) {
            name[0] = NAME_FOUR;
            memcpy(name + 1, six.sin6_addr.s6_addr + sizeof mapped, 4);
        } else {
            name[0] = NAME_SIX;
            memcpy(name + 1, &six.sin6_addr, SIX_ORIGIN);
        }
        explicit_bzero(&six, sizeof six);
    }
}

static void
name_around(const uint8_t name[ORIGINS_NAME_SIZE],
            uint8_t around[ORIGINS_NAME_SIZE])
{
    memset(around, 0, ORIGINS_NAME_SIZE);
    around[0] = (uint8_t)(name[0] | NAME_AROUND);
    memcpy(around + 1, name + 1,
           name[0] == NAME_SIX ? SIX_AROUND : FOUR_AROUND);
}

/* ---- The table ----------------------------------------------------------- */

static struct origin **
place_of(const struct origins *origins, const uint8_t name[ORIGINS_NAME_SIZE])
{
    uint8_t hash[crypto_shorthash_BYTES];
    uint64_t value;
    (void)crypto_shorthash(hash, name, ORIGINS_NAME_SIZE, origins->key);
    memcpy(&value, hash, sizeof value);
    return &origins->place[value & (origins->places - 1)];
}

static struct origin *
find_name(const struct origins *origins, const uint8_t name[ORIGINS_NAME_SIZE])
{
    struct origin *origin = *place_of(origins, name);
    while (origin != NULL &&
           memcmp(origin->name, name, ORIGINS_NAME_SIZE) != 0) {
        origin = origin->next;
    }
    return origin;
}

/* One more holder of a name; NULL: no memory. */
static struct origin *
hold_name(struct origins *origins, const uint8_t name[ORIGINS_NAME_SIZE])
{
    struct origin *origin = find_name(origins, name);
    if (origin == NULL) {
        struct origin **place = place_of(origins, name);
        origin = calloc(1, sizeof *origin);
        if (origin == NULL) {
            return NULL;
        }
        memcpy(origin->name, name, ORIGINS_NAME_SIZE);
        origin->next = *place;
        if (origin->next != NULL) {
            origin->next->last = origin;
        }
        *place = origin;
    }
    origin->holders++;
    return origin;
}

static void
drop_name(struct origins *origins, struct origin *origin)
{
    if (--origin->holders > 0) {
        return;
    }
    if (origin->last != NULL) {
        origin->last->next = origin->next;
    } else {
        *place_of(origins, origin->name) = origin->next;
    }
    if (origin->next != NULL) {
        origin->next->last = origin->last;
    }
    host_wipe_free(origin, sizeof *origin);
}

struct origin *
origins_join(struct origins *origins, const struct sockaddr *address)
{
    uint8_t name[ORIGINS_NAME_SIZE], around[ORIGINS_NAME_SIZE];
    struct origin *origin;
    name_origin(address, name);
    name_around(name, around);
    origin = hold_name(origins, name);
    if (origin != NULL && origin->around == NULL) {
        origin->around = hold_name(origins, around);
        if (origin->around == NULL) {
            drop_name(origins, origin);
            return NULL;
        }
    }
    if (origin != NULL) {
        origin->count++;
        origin->around->count++;
    }
    return origin;
}

void
origins_discount(struct origin *origin)
{
    origin->count--;
    origin->around->count--;
}

void
origins_leave(struct origins *origins, struct origin *origin)
{
    struct origin *around = origin->around;
    bool last = origin->holders == 1;
    drop_name(origins, origin);
    if (last) {
        drop_name(origins, around);
    }
}

/* ---- Weight -------------------------------------------------------------- */

struct origin *
origins_find(const struct origins *origins, const struct sockaddr *address)
{
    uint8_t name[ORIGINS_NAME_SIZE];
    name_origin(address, name);
    return find_name(origins, name);
}

size_t
origins_weight(const struct origin *origin)
{
    return ORIGINS_EIGHT * origin->count + origin->around->count;
}

size_t
origins_weight_of(const struct origins *origins, const struct sockaddr *address)
{
    uint8_t name[ORIGINS_NAME_SIZE], around[ORIGINS_NAME_SIZE];
    const struct origin *origin;
    name_origin(address, name);
    origin = find_name(origins, name);
    if (origin != NULL) {
        return origins_weight(origin);
    }
    name_around(name, around);
    origin = find_name(origins, around);
    return origin != NULL ? origin->count : 0;
}
