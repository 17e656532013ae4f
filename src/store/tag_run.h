/*
 * tag_run.h: the tags of windows that have ended, in files that are written
 * once and never changed: runs.
 *
 *     page      0 ... d-1        d ...             ... pages-1
 *               directory        filters           tags, sorted
 *               one row a campaign: where its filter and its tags are
 *
 * Every page is 4,096 bytes and ends with a checksum of its number and of the
 * rest. The tags of a campaign begin a page of their own, 408 to a page, the
 * first RUN_TAG_SIZE bytes of each: among 2^31 tags a new one is like another
 * in those with probability 2^-49. A campaign's filter is a Bloom filter in
 * blocks of 64 bytes, 63 to a page, about 12 bits a tag; a block is chosen by a
 * tag's first bits, so that whoever writes tags in their order writes blocks in
 * theirs.
 *
 * What a run holds depends on which tags there are and on nothing else: no
 * order of arrival, no window. Filters are mapped into memory, tags are read.
 */
#ifndef SOTTO_STORE_TAG_RUN_H
#define SOTTO_STORE_TAG_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"
#include "store/store_window.h"

#define RUN_TAG_SIZE 10u
#define RUN_OWNER_SIZE 16u
#define RUN_PAGE ((size_t)4096)

/* ---- tag_run.c: reading -------------------------------------------------- */

struct tag_run;

/*
 * Opens a run that belongs to the store `owner` names. Of its pages only the
 * directory is looked at. Statuses: IO, MEMORY, FORMAT (no run, damaged,
 * another store's).
 */
SOTTO_CHECKED enum sotto_status tag_run_open(const char *path,
                                             const uint8_t *owner,
                                             struct tag_run **ret_run,
                                             struct sotto_error *err);
void tag_run_close(struct tag_run *run);

uint64_t tag_run_count(const struct tag_run *run);
uint64_t tag_run_pages(const struct tag_run *run);

enum tag_run_answer {
    TAG_RUN_NO,
    TAG_RUN_YES,
    TAG_RUN_DAMAGED, /* not found, in a page that is damaged */
    TAG_RUN_FAILED   /* a page cannot be read: errno */
};
enum tag_run_answer tag_run_find(const struct tag_run *run, uint32_t campaign,
                                 const uint8_t tag[TAG_SIZE]);

/* Looks at the sums of `pages` pages from `first` on; how many are damaged. */
size_t tag_run_check(const struct tag_run *run, uint64_t first, uint64_t pages);

/* A campaign's part of a run. */
struct run_section {
    uint32_t campaign;
    uint64_t count;
    uint64_t filter_page, filter_blocks;
    uint64_t tag_page;
};

/* ---- tag_merge.c: writing ------------------------------------------------ */

#define TAG_MERGE_RUNS 2u

/* Several sources of tags become one run, or two by the toss of a coin for each
   tag. What is in two sources comes once. */
struct tag_merge {
    const uint8_t *owner;
    const struct tag_run *run[TAG_MERGE_RUNS]; /* NULL: none */
    const struct window_tag *tag;              /* sorted */
    size_t tags;
    /* Or tags from elsewhere in place of a run: of so many campaigns, in their
       order, so many each, in theirs; `next` gives one after the other. */
    const struct run_section *streamed;
    size_t streams;
    bool (*next)(void *context, uint8_t tag[TAG_SIZE]);
    void *context;
    uint32_t without;    /* the tags of this campaign are left out; 0: none */
    const char *path[2]; /* to be written; the second NULL: no coin */
    const atomic_bool *stop; /* NULL, or: set, it ends with INTERRUPTED */
    uint64_t count[2];       /* written, when it is done */
    uint64_t lost;           /* pages of sources that are damaged: their tags
                                are gone */
};

/* Writes the runs, and flushes them and their folder. What is written before a
   failure is removed. Statuses: IO (also: stopped), MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status tag_merge(struct tag_merge *merge,
                                          struct sotto_error *err);

/* ---- What both know ------------------------------------------------------ */

#define RUN_MAGIC "sottorun"
#define RUN_MAGIC_SIZE 8u
#define RUN_VERSION 1u
#define RUN_USED (RUN_PAGE - 4) /* bytes of a page before its sum */
#define RUN_PAGE_TAGS (RUN_USED / RUN_TAG_SIZE)
#define RUN_BLOCK 64u
#define RUN_PAGE_BLOCKS (RUN_USED / RUN_BLOCK)
#define RUN_HEAD 56u /* bytes of a directory's page before its rows */
#define RUN_ROW 40u
#define RUN_PAGE_ROWS ((RUN_USED - RUN_HEAD) / RUN_ROW)
#define RUN_FILTER_BITS 6u /* of a tag in its block */

struct tag_run {
    int fd;
    uint64_t count, pages;
    struct run_section *section;
    size_t sections;
    const uint8_t *map; /* directory and filters */
    size_t map_size;
};

/* The sum that a page with that number should have, and whether it has. */
uint32_t tag_run_page_sum(uint64_t number, const uint8_t *page);
bool tag_run_page_sound(uint64_t number, const uint8_t *page);
/* The block of a filter that a tag belongs to. */
uint64_t tag_run_block(const uint8_t *tag, uint64_t blocks);
/* Its bits in the block, to be taken 9 at a time from the lowest. */
uint64_t tag_run_places(const uint8_t *tag);
/* Reads all of `size` bytes; false: errno. */
bool tag_run_read(int fd, uint8_t *to, size_t size, uint64_t at);

#endif
