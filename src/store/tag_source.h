/*
 * tag_source.h: what a merge reads: the tags of one campaign after the other,
 * in order, of a run, of a window or of what somebody gives one by one.
 */
#ifndef SOTTO_STORE_TAG_SOURCE_H
#define SOTTO_STORE_TAG_SOURCE_H

#include "store/tag_run.h"

#define TAG_SOURCES (TAG_MERGE_RUNS + 2u)

/* `here` tags lie `stride` bytes apart from `at` on; where there are none, the
   campaign has no more. */
struct tag_source {
    const struct tag_run *run;      /* or ... */
    const struct window_tag *tag;   /* ... these, or ... */
    const struct tag_merge *stream; /* ... what that gives */
    const struct run_section *list; /* campaigns of a run or a stream */
    size_t sections;
    size_t section, first; /* of which campaigns are behind us */
    uint64_t left;         /* of this campaign, behind those */
    const uint8_t *at;
    size_t here, stride;
    uint64_t page;  /* the next one to be read */
    uint8_t *chunk; /* pages that were read */
    size_t chunk_at, chunk_pages;
    uint8_t given[TAG_SIZE]; /* by the stream */
    uint64_t lost;           /* pages that are damaged or cannot be read */
};

/* All of them, as `merge` says; how many is in `ret_count`, also after a
   failure. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status tag_source_open(struct tag_merge *merge,
                                                struct tag_source *source,
                                                size_t *ret_count,
                                                struct sotto_error *err);
void tag_source_close(struct tag_source *source);

/* The smallest campaign that a source has next; 0: none. */
uint32_t tag_source_next(const struct tag_source *source, size_t sources,
                         size_t tags);
/* How many tags it has of a campaign that is the next one or behind it. */
uint64_t tag_source_count(const struct tag_source *source, uint32_t campaign,
                          size_t tags);
/* Goes to the first tag of a campaign, if it has any; false: errno. */
bool tag_source_begin(struct tag_source *source, uint32_t campaign,
                      size_t tags);
/* Goes on where nothing is `here` any more; false: errno. */
bool tag_source_refill(struct tag_source *source);

#endif
