/*
 * store_window.h: what a collector's store keeps of a window in memory,
 * whatever database it writes to:
 *
 *     window_tags.c     the tags of a window
 *     window_sort.c     records in the order of random keys
 *
 * A tag is a keyed hash of a report's id.
 */
#ifndef SOTTO_STORE_STORE_WINDOW_H
#define SOTTO_STORE_STORE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAG_SIZE 16u /* of an id's tag, and of a release's key */

/* A tag and its campaign; 0: none. */
struct window_tag {
    uint32_t campaign;
    uint8_t tag[TAG_SIZE];
};

/* A set of them; `room` slots, a power of two, or none. */
struct window_tags {
    struct window_tag *slot;
    size_t count, room;
};

/* ---- window_tags.c ------------------------------------------------------- */

/* Room for so many more; false: no memory. */
bool window_tags_reserve(struct window_tags *tags, size_t more);
bool window_tags_has(const struct window_tags *tags, uint32_t campaign,
                     const uint8_t tag[TAG_SIZE]);
/* Says that it will be looked for soon. */
void window_tags_prefetch(const struct window_tags *tags, uint32_t campaign,
                          const uint8_t tag[TAG_SIZE]);
/* Adds it, in room reserved before; false: it is there. */
bool window_tags_add(struct window_tags *tags, uint32_t campaign,
                     const uint8_t tag[TAG_SIZE]);
void window_tags_clear(struct window_tags *tags);
/* All of them, in no order, which the caller frees; NULL: no memory. */
struct window_tag *window_tags_listed(const struct window_tags *tags);
/* By campaign and then by tag, as qsort wants it. */
int window_tags_compare(const void *a, const void *b);
/* Sorts them so. */
void window_tags_sort(struct window_tag *tag, size_t count);

/* ---- window_sort.c ------------------------------------------------------- */

/* Sorts `count` records of `size` bytes by their first TAG_SIZE bytes, which
   must be random, or there must be few. */
void window_sort(uint8_t *records, size_t count, size_t size);

#endif
