/*
 * window_tags.c: the tags of one generation, in memory: an open-addressing
 * table, at most half full. Tags are keyed hashes, so their first bytes are
 * hash enough, and nobody outside can make them collide.
 */
#include <stdlib.h>
#include <string.h>

#include "store/store_window.h"

#define ROOM_FIRST ((size_t)1024)

/* The slot that has the tag, or the empty one where it belongs. */
static size_t
slot_of(const struct window_tags *tags, uint32_t campaign, const uint8_t *tag)
{
    uint64_t start = 0;
    memcpy(&start, tag, sizeof start);
    size_t i = (size_t)(start + campaign) & (tags->room - 1);
    while (tags->slot[i].campaign != 0 &&
           (tags->slot[i].campaign != campaign ||
            memcmp(tags->slot[i].tag, tag, TAG_SIZE) != 0)) {
        i = (i + 1) & (tags->room - 1);
    }
    return i;
}

bool
window_tags_reserve(struct window_tags *tags, size_t more)
{
    struct window_tags grown = {NULL, 0,
                                tags->room > 0 ? tags->room : ROOM_FIRST};
    if (tags->room > 0 && tags->count + more <= tags->room / 2) {
        return true;
    }
    while (tags->count + more > grown.room / 2) {
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
