/*
 * known.h: what is known of one campaign's released reports: estimates, and how
 * many reports came with which batch. Batches are read once, one after the
 * other, and no report is kept. For one thread.
 */
#ifndef SOTTO_COLLECTOR_KNOWN_H
#define SOTTO_COLLECTOR_KNOWN_H

#include "collector/campaigns.h"

#define KNOWN_STEPS_MOST 128u /* of the chart of released reports */

struct known {
    struct campaigns *origin; /* held: the mechanism is theirs */
    const struct sotto_mechanism *mechanism;
    struct campaign *campaign; /* of the snapshot of now, with its counts */
    struct sotto_estimate *estimate; /* NULL: too many rows */
    struct sotto_margins *margins;
    uint64_t counted, batches; /* read so far */
    uint64_t damaged;          /* left out */
    uint64_t unread;           /* batches that cannot be read at all */
    uint64_t last;             /* the last one's number */
    /* Reports in the first batches: of each `stride` of them. */
    uint64_t step[KNOWN_STEPS_MOST];
    size_t steps;
    uint64_t stride;
    bool failed;
    char trouble[300]; /* "": none */
};

/* Begins with a campaign of a snapshot, which is held from here on; clear it
   also on failure. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status known_begin(struct campaigns *campaigns,
                                            struct campaign *campaign,
                                            struct known *known,
                                            struct sotto_error *err);
void known_clear(struct known *known);
/* Reads the next batch of the store at that url, or passes one over that is
   damaged: `ret_passed`, with `err` saying why. `ret_more` is false if there is
   none, and on failure, which may pass. Knows nothing any more if the store has
   fewer than were read: it was made to forget them. Statuses:
   store_reader_next's. */
SOTTO_CHECKED enum sotto_status known_read(struct known *known,
                                           const char *store, bool *ret_more,
                                           bool *ret_passed,
                                           struct sotto_error *err);
/* Why some reports are not counted, a sentence for who looks; NULL: all are. */
const char *known_trouble(const struct known *known);

#endif
