/*
 * id_set.c: tables with open addressing.
 *
 *     hash of the id    12 bits  which table
 *                       32 bits  entry.where: also where in the table
 *                       36 bits  entry.more, and 28 of what the report holds
 *
 * An entry is free if all of it is 0; one that would be is changed to 1.
 */
#include "mechanism/id_set.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define TABLES 4096u
#define ROOM_FIRST 8u
#define CHECK_BITS 28u

/* 12 bytes: three words, so that it needs no room for alignment. */
struct entry {
    uint32_t where, high, low;
};

struct table {
    struct entry *entry;
    uint32_t room, count;
};

struct id_set {
    uint8_t key[crypto_shorthash_siphashx24_KEYBYTES];
    size_t bytes;
    struct table table[TABLES];
};

_Static_assert(sizeof(struct entry) == 12, "no padding");

enum sotto_status
id_set_new(struct id_set **ret_set, struct sotto_error *err)
{
    struct id_set *set = sodium_init() >= 0 ? calloc(1, sizeof *set) : NULL;
    if (set == NULL) {
        return host_fail_memory(err);
    }
    randombytes_buf(set->key, sizeof set->key);
    set->bytes = sizeof *set;
    *ret_set = set;
    return SOTTO_STATUS_OK;
}

void
id_set_free(struct id_set *set)
{
    for (size_t i = 0; set != NULL && i < TABLES; i++) {
        free(set->table[i].entry);
    }
    free(set);
}

size_t
id_set_bytes(const struct id_set *set)
{
    return set->bytes;
}

static bool
is_free(const struct entry *entry)
{
    return (entry->where | entry->high | entry->low) == 0;
}

/* Where an entry belongs, or the first free place behind it; `ret_same` is
   whether one of the same id is there. */
static struct entry *
find_place(const struct table *table, const struct entry *wanted,
           bool *ret_same)
{
    size_t at = (size_t)((uint64_t)wanted->where * table->room >> 32);
    for (;; at = at + 1 < table->room ? at + 1 : 0) {
        struct entry *entry = &table->entry[at];
        uint32_t high = (entry->high ^ wanted->high);
        uint32_t low = (entry->low ^ wanted->low) >> CHECK_BITS;
        *ret_same = !is_free(entry) && entry->where == wanted->where &&
                    (high | low) == 0;
        if (*ret_same || is_free(entry)) {
            return entry;
        }
    }
}

/* By an eighth and some: 17 of 20 are taken at most. */
static bool
grow_table(struct id_set *set, struct table *table)
{
    struct table wider = {.room = table->room + table->room / 8 + ROOM_FIRST};
    bool same;
    wider.entry = calloc(wider.room, sizeof *wider.entry);
    if (wider.entry == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->room; i++) {
        if (!is_free(&table->entry[i])) {
            *find_place(&wider, &table->entry[i], &same) = table->entry[i];
        }
    }
    wider.count = table->count;
    set->bytes += (wider.room - table->room) * sizeof *wider.entry;
    free(table->entry);
    *table = wider;
    return true;
}

static uint64_t
take_word(const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

/* The entry of a report, and which table it belongs in. */
static struct entry
hash_report(const struct id_set *set, const uint8_t *report, size_t size,
            size_t *ret_table)
{
    const uint8_t *id = sotto_report_id(report);
    size_t before = (size_t)(id - report);
    uint8_t hash[crypto_shorthash_siphashx24_BYTES];
    uint8_t rest[crypto_shorthash_siphash24_BYTES];
    uint64_t first, second, all, mark;
    struct entry entry;
    (void)crypto_shorthash_siphashx24(hash, id, SOTTO_ID_SIZE, set->key);
    (void)crypto_shorthash_siphash24(rest, id, size - before, set->key);
    first = take_word(hash);
    second = take_word(hash + sizeof first);
    mark = sotto_report_simulated(report) ? UINT64_MAX : 0;
    all = take_word(rest) ^ mark;
    *ret_table = (size_t)(first >> 32) % TABLES;
    entry.where = (uint32_t)first;
    entry.high = (uint32_t)second;
    entry.low = (uint32_t)(second >> 32 & 0xf) << CHECK_BITS |
                (uint32_t)(all >> (64 - CHECK_BITS));
    entry.low += is_free(&entry) ? 1 : 0;
    return entry;
}

enum sotto_status
id_set_add(struct id_set *set, const uint8_t *report, size_t size,
           enum id_answer *ret_answer, struct sotto_error *err)
{
    size_t own;
    const struct entry entry = hash_report(set, report, size, &own);
    struct table *table = &set->table[own];
    struct entry *place;
    bool same;
    if (20 * ((uint64_t)table->count + 1) > 17 * (uint64_t)table->room &&
        !grow_table(set, table)) {
        return host_fail_memory(err);
    }
    place = find_place(table, &entry, &same);
    if (same) {
        *ret_answer = place->low == entry.low ? ID_COPY : ID_OTHER;
        return SOTTO_STATUS_OK;
    }
    *place = entry;
    table->count++;
    *ret_answer = ID_NEW;
    return SOTTO_STATUS_OK;
}
