/*
 * tag_salvage.h: saving what is sound of a run of tags that is damaged.
 *
 * A page of tags that is damaged is left out. Where the directory is damaged,
 * pages of tags are known by their order: of filters hardly one is in any, and
 * a campaign's tags begin anew with the smallest. Of which campaign they are is
 * known if there are as many such parts as campaigns that miss theirs; else
 * they are taken for tags of each of these. That harms nothing: a tag comes of
 * a random id, and no other campaign's report has it.
 */
#ifndef SOTTO_STORE_TAG_SALVAGE_H
#define SOTTO_STORE_TAG_SALVAGE_H

#include "store/tag_run.h"

struct tag_salvage {
    const char *path;         /* of the run */
    const uint8_t *owner;     /* the store's */
    const uint32_t *campaign; /* which may have tags, in their order; those of
                                 others are left out */
    size_t campaigns;
    const char *to; /* where a new run is written, unless all is sound */
    /* What was found: */
    bool sound;      /* nothing was written */
    uint64_t count;  /* tags of the run, or of the new one */
    uint64_t lost;   /* pages of tags that are gone */
    uint64_t mended; /* pages in which one byte was put right */
};

/* Looks at all of a run, and writes what is sound of it if anything is not.
   Statuses: FORMAT (it is not there, another store's, or nothing of it can be
   saved), IO, MEMORY. */
SOTTO_CHECKED enum sotto_status tag_salvage(struct tag_salvage *salvage,
                                            struct sotto_error *err);

#endif
