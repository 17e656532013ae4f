/*
 * tag_run.h: the tags of windows that have ended, in files that are written
 * once and never changed: runs.
 *
 *     page      0 ... d-1        d ...             ... pages-1
 *               directory        filters           tags, sorted
 *               one row a campaign: where its filter and its tags are
 *
 * Every page is 4,096 bytes and ends with a checksum of its number and of the
 * rest. The tags of a campaign begin a page of their own, 409 to a page, the
 * first RUN_TAG_SIZE bytes of each: among 2^31 tags a new one is like another
 * in those with probability 2^-49. A campaign's filter is a Bloom filter in
 * blocks of 64 bytes, 63 to a page, about 12 bits a tag; a block is chosen by a
 * tag's first 32 bits, so that whoever writes tags in their order writes blocks
 * in theirs.
 *
 * What a run holds depends on which tags there are and on nothing else: no
 * order of arrival, no window. Filters are read into memory (tag_filter.c);
 * tags are read when they are looked for. Nothing is a mapped file: a sector
 * that cannot be read would end the program.
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

/* A campaign's part of a run. */
struct run_section {
    uint32_t campaign;
    uint64_t count;
    uint64_t filter_page, filter_blocks;
    uint64_t tag_page;
};

/* ---- tag_run.c: reading -------------------------------------------------- */

struct tag_run;
struct tag_filter;

/*
 * Opens a run that belongs to the store `owner` names. Of its pages only the
 * directory is looked at. Statuses: IO, MEMORY, FORMAT (no run, damaged,
 * another store's).
 */
SOTTO_CHECKED enum sotto_status tag_run_open(const char *path,
                                             const uint8_t *owner,
                                             struct tag_run **ret_run,
                                             struct sotto_error *err);
/* Somebody else has it, too: it is closed as often as it is opened and held. */
struct tag_run *tag_run_hold(struct tag_run *run);
void tag_run_close(struct tag_run *run);

uint64_t tag_run_count(const struct tag_run *run);
uint64_t tag_run_pages(const struct tag_run *run);

enum tag_run_answer {
    TAG_RUN_NO,
    TAG_RUN_YES,
    TAG_RUN_DAMAGED, /* not found; pages are damaged or cannot be read */
    TAG_RUN_FAILED   /* the file cannot be read, for another reason: errno */
};
/* Only one thread at a time asks a run. Where its filter is not in memory, all
   is looked for in pages. */
enum tag_run_answer tag_run_find(const struct tag_run *run, uint32_t campaign,
                                 const uint8_t tag[TAG_SIZE]);
/* Says that a tag will be looked for soon. */
void tag_run_prefetch(const struct tag_run *run, uint32_t campaign,
                      const uint8_t tag[TAG_SIZE]);

/* Looks at the sums of `pages` pages from `first` on; how many are damaged. */
size_t tag_run_check(const struct tag_run *run, uint64_t first, uint64_t pages);

/* ---- tag_filter.c: filters in memory ------------------------------------- */

/*
 * Pages `from` to `to` - 1 of a run's filters are in memory.
 *
 *     0 ... directory ... from             to          end
 *                 given back |  to be asked | not there yet
 *
 * One thread fills it: `to` grows. A merge that makes the next run of this one
 * gives back what the next one's filter has: `from` grows. So both together
 * take the memory of one. One thread asks; none waits for another.
 */
struct tag_filter {
    uint8_t *page; /* of the file's page 0 */
    struct run_section *section;
    size_t sections;
    uint64_t first, end; /* pages of filters */
    atomic_uint_least64_t from, to;
};

/* None of it is there. The pages from `end` on are no filters; NULL: no
   memory. */
struct tag_filter *tag_filter_new(const struct run_section *section,
                                  size_t sections, uint64_t end);
void tag_filter_free(struct tag_filter *filter);

/* Makes room in memory for a run's filters, of which none is there, or wholly;
   the thread that asks calls it, while no other one loads or merges. False: no
   memory. */
bool tag_filter_prepare(struct tag_run *run);
bool tag_filter_is_whole(const struct tag_run *run);
/* Reads them, each page's sum looked at: a page that is damaged or cannot be
   read says of every tag that it may be there. Ends early if `stop` is set. */
void tag_filter_load(const struct tag_run *run, const atomic_bool *stop);

/* Pages below `to` are there now. */
void tag_filter_show(struct tag_filter *filter, uint64_t to);
/* Gives back a run's pages up to that of a campaign's tags which begin with
   `first`; others may be asked what they said. */
void tag_filter_give_back(const struct tag_run *run, uint32_t campaign,
                          uint32_t first);

/* False: the tag is in none of the run's pages. */
bool tag_filter_may_have(const struct tag_run *run, uint32_t campaign,
                         const uint8_t *tag);

/* ---- tag_merge.c: writing ------------------------------------------------ */

#define TAG_MERGE_RUNS 10u

/* Several sources of tags become one run, or two by lot for each tag. What is
   in two sources comes once. */
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
    const char *path[2]; /* to be written; the second NULL: no lot */
    uint64_t drawn;      /* of each campaign about so many go to the first, or
                            all if they are fewer; 0: half */
    bool moves; /* filters of the sources are given back as that of the result
                   grows: who asks them has `next` of the sources set */
    const atomic_bool *stop; /* NULL, or: set, it ends with INTERRUPTED */
    uint64_t count[2];       /* written, when it is done */
    uint64_t lost;           /* pages of sources that are damaged: their tags
                                are gone */
    /* The filters of what is written, which the caller takes or clears. */
    _Atomic(struct tag_filter *) filter[2];
};

/* Writes the runs, and flushes them and their folder. What is written before a
   failure is removed. Statuses: IO (also: stopped), MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status tag_merge(struct tag_merge *merge,
                                          struct sotto_error *err);
/* Frees the filters that were not taken, after a failure, too. */
void tag_merge_clear(struct tag_merge *merge);

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
    atomic_uint holders;
    uint64_t count, pages;
    struct run_section *section;
    size_t sections;
    struct tag_filter *filter; /* NULL: not in memory */
    /* The filter of what is being merged of this run and others: asked where
       this one's was given back. NULL: nothing is. */
    _Atomic(struct tag_filter *) *next;
};

/* The section of a campaign; NULL: there is none. */
const struct run_section *tag_run_section(const struct run_section *section,
                                          size_t sections, uint32_t campaign);
/* The sum that a page with that number should have, and whether it has. */
uint32_t tag_run_page_sum(uint64_t number, const uint8_t *page);
bool tag_run_page_sound(uint64_t number, const uint8_t *page);
/* Reads pages. Whether the medium failed, not the program: errno is EIO, or the
   file was cut. */
bool tag_run_read(int fd, uint8_t *to, size_t size, uint64_t at);

/* The first eight bytes of what is kept of a tag, and the last eight: as
   numbers these are in the order of tags. */
static inline uint64_t
tag_run_number(const uint8_t *bytes)
{
    return (uint64_t)bytes[0] << 56 | (uint64_t)bytes[1] << 48 |
           (uint64_t)bytes[2] << 40 | (uint64_t)bytes[3] << 32 |
           (uint64_t)bytes[4] << 24 | (uint64_t)bytes[5] << 16 |
           (uint64_t)bytes[6] << 8 | (uint64_t)bytes[7];
}

/* The block of a filter that a tag belongs to, by its first 32 bits; there are
   fewer than 2^32. */
static inline uint64_t
tag_run_block(uint32_t first, uint64_t blocks)
{
    return first * blocks >> 32;
}

/* Its bits in the block, to be taken 9 at a time from the lowest. */
static inline uint64_t
tag_run_places(const uint8_t *tag)
{
    return tag_run_number(tag + RUN_TAG_SIZE - 8);
}

#endif
