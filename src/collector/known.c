/*
 * known.c: what is known of one campaign's released reports.
 */
#include "collector/known.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/error.h"
#include "mechanism/mechanism.h"
#include "store/store.h"

#define ROWS_MOST ((size_t)16384) /* estimates that are computed for a page */

void
known_clear(struct known *known)
{
    sotto_estimate_free(known->estimate);
    sotto_margins_free(known->margins);
    campaigns_release(known->origin);
}

/* How many estimates there would be, before there is memory for any; no more
   than ROWS_MOST + 1. */
static size_t
count_rows(const struct sotto_mechanism *mechanism)
{
    const struct report_plan *report = mechanism->device.report;
    size_t rows = 0;
    for (uint32_t i = 0; i < report->parts && rows <= ROWS_MOST; i++) {
        const struct report_part *part = &report->part[i];
        uint64_t books = part->books > 0 ? part->books : 1;
        uint64_t own = books * part->blocks * part->instance.size;
        rows = own <= ROWS_MOST ? rows + (size_t)own : ROWS_MOST + 1;
    }
    return rows;
}

/* More estimates than a page can show cost time and memory for nothing. */
enum sotto_status
known_begin(struct campaigns *campaigns, struct campaign *campaign,
            struct known *known, struct sotto_error *err)
{
    enum sotto_status status;
    *known = (struct known){.origin = campaigns_hold(campaigns),
                            .mechanism = campaign->mechanism,
                            .campaign = campaign,
                            .stride = 1};
    if (count_rows(known->mechanism) > ROWS_MOST) {
        (void)snprintf(known->trouble, sizeof known->trouble, "%s",
                       "This mechanism gives more estimates than a page can "
                       "show: sotto decode prints them.");
        return SOTTO_STATUS_OK;
    }
    status = sotto_estimate_new(known->mechanism, &known->estimate, err);
    return HOST_THEN(status,
                     sotto_margins_new(known->mechanism, &known->margins, err));
}

/* Adds a batch to the chart, in which two steps become one when it is full. */
static void
note_step(struct known *known)
{
    if (known->batches % known->stride != 0) {
        return;
    }
    if (known->steps == KNOWN_STEPS_MOST) {
        for (size_t i = 0; i < KNOWN_STEPS_MOST / 2; i++) {
            known->step[i] = known->step[2 * i + 1];
        }
        known->steps = KNOWN_STEPS_MOST / 2;
        known->stride *= 2;
        if (known->batches % known->stride != 0) {
            return;
        }
    }
    known->step[known->steps++] = known->counted;
}

static void
add_batch(struct known *known, const struct store_batch *batch)
{
    size_t size = known->mechanism->shape.report_size;
    for (size_t i = 0; known->estimate != NULL && i < batch->count; i++) {
        const uint8_t *report = batch->reports + i * size;
        sotto_estimate_add(known->estimate, report);
        sotto_margins_add(known->margins, report);
    }
    known->counted += batch->count;
    known->damaged += batch->damaged;
    known->last = batch->number;
    known->batches++;
    note_step(known);
}

/* Counts a batch that cannot be read: numbers have no gaps, so that it is the
   one behind the last. */
static void
pass_over(struct known *known)
{
    const struct store_batch none = {.number = known->last + 1};
    known->unread++;
    add_batch(known, &none);
}

/* The next batch; its number is 0 if there is none. `ret_gone`: on failure, it
   is the batch that is damaged. The store is open no longer than that takes. */
static enum sotto_status
read_next(const struct known *known, const char *store,
          struct store_batch *ret_batch, bool *ret_gone,
          struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    enum sotto_status status = store_reader_open(store, &reader, NULL, err);
    if (status == SOTTO_STATUS_OK) {
        status = store_reader_next(reader, known->mechanism->shape.hash,
                                   known->last, ret_batch, err);
        *ret_gone = status == SOTTO_STATUS_FORMAT;
    }
    store_reader_free(reader);
    return status;
}

/* What was read is gone from the store, where the campaign was forgotten: so it
   goes here. */
static enum sotto_status
begin_again(struct known *known, struct sotto_error *err)
{
    struct known again;
    enum sotto_status status =
        known_begin(known->origin, known->campaign, &again, err);
    if (status == SOTTO_STATUS_OK) {
        again.mechanism = known->mechanism; /* the origin's */
        known_clear(known);
        *known = again;
    } else {
        known_clear(&again);
    }
    return status;
}

enum sotto_status
known_read(struct known *known, const char *store, bool *ret_more,
           bool *ret_passed, struct sotto_error *err)
{
    struct store_batch batch = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    bool is_gone = false;
    uint64_t batches = atomic_load(&known->campaign->batches);
    if (batches < known->last) {
        status = begin_again(known, err);
    }
    /* what is newer than the counts beside it waits for them */
    if (status == SOTTO_STATUS_OK && known->last < batches) {
        status = read_next(known, store, &batch, &is_gone, err);
    }
    *ret_passed = is_gone;
    if (is_gone) {
        known->failed = false;
        *ret_more = true;
        pass_over(known);
        return SOTTO_STATUS_OK;
    }
    known->failed = status != SOTTO_STATUS_OK;
    *ret_more = !known->failed && batch.number > 0;
    if (*ret_more) {
        add_batch(known, &batch);
        free(batch.reports);
    }
    return status;
}

const char *
known_trouble(const struct known *known)
{
    if (known->trouble[0] != '\0') {
        return known->trouble;
    }
    if (known->failed) {
        return "Not all released reports could be read: the collector's log "
               "says why, and they are tried again.";
    }
    if (known->unread > 0) {
        return "Some batches cannot be read: the collector's log says why. "
               "Estimates are of the others.";
    }
    if (known->counted + known->damaged <
        atomic_load(&known->campaign->released)) {
        return "Not all released reports are counted yet.";
    }
    return NULL;
}
