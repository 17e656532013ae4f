/*
 * origins.h: where connections come from, while they are open.
 *
 * An origin is an IPv4 address, or the first 56 bits of an IPv6 one: what is
 * behind them is one customer's to choose. Origins side by side, an IPv4 /24 or
 * an IPv6 /48, are a neighbourhood: an organisation or a hoster has many
 * addresses of one. What an origin weighs is EIGHT times its own connections
 * and once its neighbourhood's, so that of two with as many the one whose
 * neighbours have many, too, weighs more, and yet a large campus is not held to
 * what one address may have.
 */
#ifndef SOTTO_COLLECTOR_ORIGINS_H
#define SOTTO_COLLECTOR_ORIGINS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sotto/sotto.h"

#define ORIGINS_NAME_SIZE 8u
#define ORIGINS_EIGHT ((size_t)8)

struct origin {
    struct origin *next, *last;
    struct origin *around; /* its neighbourhood; NULL: it is one itself */
    uint8_t name[ORIGINS_NAME_SIZE];
    size_t holders; /* connections, or origins, that point here */
    size_t count;   /* connections that are not leaving */
    size_t taken;   /* bytes of the memory that all share */
};

struct origins;

/* For so many connections, or somewhat more. NULL: no memory. */
struct origins *origins_new(size_t connections);
/* None may be held any more. NULL is fine. */
void origins_free(struct origins *origins);

/* One more holder and connection of where an address belongs; NULL: no memory.
   An address that is NULL, or of another family, has an origin, too. */
struct origin *origins_join(struct origins *origins,
                            const struct sockaddr *address);
/* A connection is leaving: it weighs nothing any more. */
void origins_discount(struct origin *origin);
/* A holder is gone; it must have been discounted. */
void origins_leave(struct origins *origins, struct origin *origin);

/* NULL: no connection is from there. */
struct origin *origins_find(const struct origins *origins,
                            const struct sockaddr *address);
size_t origins_weight(const struct origin *origin);
/* What an address weighs, whether it has a connection or not. */
size_t origins_weight_of(const struct origins *origins,
                         const struct sockaddr *address);

#endif
