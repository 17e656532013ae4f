/*
 * window_tags.c: the tags of one generation, in memory: an open-addressing
 * table, at most three quarters full. Tags are keyed hashes, so their first
 * bytes are hash enough, and nobody outside can make them collide.
 */
#include <stdlib.h>
#include <string.h>

#include "store/store_window.h"

#define ROOM_FIRST ((size_t)1024)
#define FEW ((size_t)32) /* no more than these are compared as usual */

/* Where it is looked for first. */
static size_t
first_slot(const struct window_tags *tags, uint32_t campaign,
           const uint8_t *tag)
{
    uint64_t start = 0;
    memcpy(&start, tag, sizeof start);
    return (size_t)(start + campaign) & (tags->room - 1);
}

/* The slot that has the tag, or the empty one where it belongs. */
static size_t
slot_of(const struct window_tags *tags, uint32_t campaign, const uint8_t *tag)
{
    size_t i = first_slot(tags, campaign, tag);
    while (tags->slot[i].campaign != 0 &&
           (tags->slot[i].campaign != campaign ||
            memcmp(tags->slot[i].tag, tag, TAG_SIZE) != 0)) {
        i = (i + 1) & (tags->room - 1);
    }
    return i;
}

/* How many a table of so much room takes: a window of STORE_WINDOW_MOST makes
   it half full, and one that runs over need not double it. */
static size_t
most_tags(size_t room)
{
    return room / 4 * 3;
}

bool
window_tags_reserve(struct window_tags *tags, size_t more)
{
    struct window_tags grown = {NULL, 0,
                                tags->room > 0 ? tags->room : ROOM_FIRST};
    if (tags->room > 0 && tags->count + more <= most_tags(tags->room)) {
        return true;
    }
    while (tags->count + more > most_tags(grown.room)) {
        grown.room *= 2;
    }
    grown.slot = calloc(grown.room, sizeof *grown.slot);
    if (grown.slot == NULL) {
        return false;
    }
    for (size_t i = 0; i < tags->room; i++) {
        if (tags->slot[i].campaign != 0) {
            (void)window_tags_add(&grown, tags->slot[i].campaign,
                                  tags->slot[i].tag);
        }
    }
    free(tags->slot);
    *tags = grown;
    return true;
}

bool
window_tags_has(const struct window_tags *tags, uint32_t campaign,
                const uint8_t tag[TAG_SIZE])
{
    return tags->count > 0 &&
           tags->slot[slot_of(tags, campaign, tag)].campaign != 0;
}

void
window_tags_prefetch(const struct window_tags *tags, uint32_t campaign,
                     const uint8_t tag[TAG_SIZE])
{
    if (tags->room > 0) {
        __builtin_prefetch(&tags->slot[first_slot(tags, campaign, tag)]);
    }
}

bool
window_tags_add(struct window_tags *tags, uint32_t campaign,
                const uint8_t tag[TAG_SIZE])
{
    struct window_tag *slot = &tags->slot[slot_of(tags, campaign, tag)];
    if (slot->campaign != 0) {
        return false;
    }
    slot->campaign = campaign;
    memcpy(slot->tag, tag, TAG_SIZE);
    tags->count++;
    return true;
}

void
window_tags_clear(struct window_tags *tags)
{
    free(tags->slot);
    *tags = (struct window_tags){NULL, 0, 0};
}

int
window_tags_compare(const void *a, const void *b)
{
    const struct window_tag *x = a, *y = b;
    if (x->campaign != y->campaign) {
        return x->campaign < y->campaign ? -1 : 1;
    }
    return memcmp(x->tag, y->tag, TAG_SIZE);
}

struct window_tag *
window_tags_listed(const struct window_tags *tags)
{
    size_t count = 0;
    struct window_tag *listed = calloc(tags->count + 1, sizeof *listed);
    for (size_t i = 0; i < tags->room && listed != NULL; i++) {
        if (tags->slot[i].campaign != 0) {
            listed[count++] = tags->slot[i];
        }
    }
    return listed;
}

/* ---- Sorting ------------------------------------------------------------- */

static uint32_t
first_bits(const struct window_tag *tag)
{
    return (uint32_t)tag->tag[0] << 24 | (uint32_t)tag->tag[1] << 16 |
           (uint32_t)tag->tag[2] << 8 | tag->tag[3];
}

/* Deals tags to 2^bits places by their first bits, which are random, and puts
   neighbours right; `next` has as many zeros and one more. */
static void
deal_tags(const struct window_tag *tag, size_t count, unsigned bits,
          uint32_t *next, struct window_tag *to)
{
    for (size_t i = 0; i < count; i++) {
        next[(first_bits(&tag[i]) >> (32 - bits)) + 1]++;
    }
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < count; i++) {
        to[next[first_bits(&tag[i]) >> (32 - bits)]++] = tag[i];
    }
    for (size_t i = 1; i < count; i++) {
        struct window_tag one = to[i];
        size_t j = i;
        for (; j > 0 && memcmp(one.tag, to[j - 1].tag, TAG_SIZE) < 0; j--) {
            to[j] = to[j - 1];
        }
        to[j] = one;
    }
}

/* Deals them to their campaigns, `least` and those behind it, and leaves those
   of one as they are; `next` has a zero each and one more. */
static void
deal_campaigns(const struct window_tag *tag, size_t count, uint32_t least,
               size_t campaigns, uint32_t *next, struct window_tag *to)
{
    for (size_t i = 0; i < count; i++) {
        next[tag[i].campaign - least + 1]++;
    }
    for (size_t i = 0; i < campaigns; i++) {
        next[i + 1] += next[i];
    }
    for (size_t i = 0; i < count; i++) {
        to[next[tag[i].campaign - least]++] = tag[i];
    }
}

void
window_tags_sort(struct window_tag *tag, size_t count)
{
    uint32_t least = UINT32_MAX, most = 0;
    unsigned bits = 1;
    for (size_t i = 0; i < count; i++) {
        least = tag[i].campaign < least ? tag[i].campaign : least;
        most = tag[i].campaign > most ? tag[i].campaign : most;
    }
    while (bits < 31 && (size_t)1 << bits < count) {
        bits++;
    }
    size_t campaigns = count > 0 ? (size_t)(most - least) + 1 : 1;
    struct window_tag *aside = NULL;
    uint32_t *next = NULL, *next_campaign = NULL;
    if (count > FEW && count <= UINT32_MAX) {
        aside = malloc(count * sizeof *aside);
        next = calloc(((size_t)1 << bits) + 1, sizeof *next);
        next_campaign = calloc(campaigns + 1, sizeof *next_campaign);
    }
    if (aside != NULL && next != NULL && next_campaign != NULL) {
        deal_tags(tag, count, bits, next, aside);
        deal_campaigns(aside, count, least, campaigns, next_campaign, tag);
    } else if (count > 0) {
        qsort(tag, count, sizeof *tag, window_tags_compare);
    }
    free(aside);
    free(next);
    free(next_campaign);
}
