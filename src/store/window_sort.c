/*
 * window_sort.c: records in the order of their first TAG_SIZE bytes, which are
 * random: tags, or keys of the system's entropy.
 *
 * The first bits of a random key tell about where it belongs: keys are dealt to
 * as many places as there are records, and then only neighbours are compared.
 * The time is that of a few passes; it would be quadratic for keys that
 * somebody chose, and nobody can.
 */
#include <stdlib.h>
#include <string.h>

#include "host/wipe.h"
#include "store/store_window.h"

#define FEW ((size_t)32)          /* no more than these are compared as usual */
#define MOST ((size_t)UINT32_MAX) /* that have a number */

/* The beginning of a key, as a number, and where its record is. */
struct entry {
    uint64_t key;
    uint32_t at;
};

static int
compare_keys(const void *a, const void *b)
{
    return memcmp(a, b, TAG_SIZE);
}

static uint64_t
key_of(const uint8_t *record)
{
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof key; i++) {
        key = key << 8 | record[i];
    }
    return key;
}

/* Whether x's record belongs before y's. */
static bool
is_before(const struct entry *x, const struct entry *y, const uint8_t *records,
          size_t size)
{
    return x->key != y->key ? x->key < y->key
                            : memcmp(records + x->at * size,
                                     records + y->at * size, TAG_SIZE) < 0;
}

/* Deals the entries to 2^bits places; `next` has as many and one more. */
static void
deal_entries(const uint8_t *records, size_t count, size_t size, unsigned bits,
             uint32_t *next, struct entry *entry)
{
    for (size_t i = 0; i < count; i++) {
        next[(key_of(records + i * size) >> (64 - bits)) + 1]++;
    }
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t key = key_of(records + i * size);
        entry[next[key >> (64 - bits)]++] = (struct entry){key, (uint32_t)i};
    }
}

/* Puts neighbours right. */
static void
settle_entries(struct entry *entry, size_t count, const uint8_t *records,
               size_t size)
{
    for (size_t i = 1; i < count; i++) {
        struct entry one = entry[i];
        size_t j = i;
        while (j > 0 && is_before(&one, &entry[j - 1], records, size)) {
            entry[j] = entry[j - 1];
            j--;
        }
        entry[j] = one;
    }
}

/* Record i becomes that at entry[i].at: along each cycle, with one aside. */
static void
arrange_records(uint8_t *records, size_t count, size_t size,
                struct entry *entry, uint8_t *aside)
{
    for (size_t i = 0; i < count; i++) {
        size_t to = i, from = entry[i].at;
        if (from == i) {
            continue;
        }
        memcpy(aside, records + i * size, size);
        while (from != i) {
            memcpy(records + to * size, records + from * size, size);
            entry[to].at = (uint32_t)to;
            to = from;
            from = entry[to].at;
        }
        memcpy(records + to * size, aside, size);
        entry[to].at = (uint32_t)to;
    }
}

void
window_sort(uint8_t *records, size_t count, size_t size)
{
    struct entry *entry = NULL;
    uint32_t *next = NULL;
    uint8_t *aside = NULL;
    unsigned bits = 1;
    while (bits < 31 && (size_t)1 << bits < count) {
        bits++;
    }
    if (count > FEW && count <= MOST) {
        entry = malloc(count * sizeof *entry);
        next = calloc(((size_t)1 << bits) + 1, sizeof *next);
        aside = malloc(size);
    }
    if (entry != NULL && next != NULL && aside != NULL) {
        deal_entries(records, count, size, bits, next, entry);
        settle_entries(entry, count, records, size);
        arrange_records(records, count, size, entry, aside);
    } else {
        qsort(records, count, size, compare_keys);
    }
    free(entry);
    free(next);
    host_wipe_free(aside, size);
}
