/*
 * released.c: what a store has released, batch by batch.
 */
#include "store/released.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/report_stream.h"
#include "store/store.h"

bool
sotto_store_named(const char *url)
{
    return store_is_url(url);
}

static enum sotto_status
check_kind(const char *url, bool has, bool wanted, struct sotto_error *err)
{
    if (has == wanted) {
        return SOTTO_STATUS_OK;
    }
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     has ? "'%s' holds simulated reports: they say nothing of "
                           "people; ask for simulation if that is meant"
                         : "'%s' holds people's reports, and simulated ones "
                           "were asked for",
                     host_shown(url));
}

/* ---- As a source ----------------------------------------------------------
 */

struct released {
    const struct sotto_mechanism *mechanism;
    struct store_reader *reader;
    uint64_t after;
    uint8_t *reports; /* of the last batch */
};

static void
close_released(void *own)
{
    struct released *released = own;
    store_reader_free(released->reader);
    free(released->reports);
    free(released);
}

static enum sotto_status
next_batch(void *own, struct report_chunk *ret_chunk, struct sotto_error *err)
{
    struct released *released = own;
    struct store_batch batch = {0};
    enum sotto_status status =
        store_reader_next(released->reader, released->mechanism->shape.hash,
                          released->after, &batch, err);
    size_t each = released->mechanism->shape.report_size;
    if (status == SOTTO_STATUS_OK && batch.number > 0 &&
        batch.size != batch.count * each) {
        free(batch.reports);
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "batch %" PRIu64 " of the store is damaged: it has "
                         "reports of another size",
                         batch.number);
    }
    if (status == SOTTO_STATUS_FORMAT) {
        /* Numbers have no gaps: it is the one behind the last. */
        released->after++;
        *ret_chunk =
            (struct report_chunk){.batch = released->after, .unread = true};
        return SOTTO_STATUS_OK;
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    free(released->reports);
    released->reports = batch.reports;
    released->after = batch.number;
    *ret_chunk = (struct report_chunk){.reports = batch.reports,
                                       .count = batch.count,
                                       .batch = batch.number,
                                       .damaged = batch.damaged,
                                       .last = batch.number == 0};
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_store_stream(const struct sotto_mechanism *mechanism, const char *url,
                   bool simulation, uint64_t after,
                   struct sotto_report_stream **ret_stream,
                   struct sotto_error *err)
{
    static const struct report_source source = {.next = next_batch,
                                                .close = close_released};
    struct released *released = calloc(1, sizeof *released);
    bool simulated = false;
    enum sotto_status status;
    if (released == NULL) {
        return host_fail_memory(err);
    }
    released->mechanism = mechanism;
    released->after = after;
    status = store_reader_open(url, &released->reader, &simulated, err);
    status = HOST_THEN(status, check_kind(url, simulated, simulation, err));
    if (status != SOTTO_STATUS_OK) {
        close_released(released);
        return status;
    }
    return report_stream_new(mechanism, &source, released, ret_stream, err);
}

/* ---- All of them ----------------------------------------------------------
 */

enum sotto_status
released_collect(struct sotto_report_stream *stream, const char *from,
                 struct sotto_report_reader **ret_reader,
                 struct sotto_error *err)
{
    struct sotto_report_reader *reader = NULL;
    enum sotto_status status =
        sotto_report_stream_collect(stream, true, &reader, err);
    sotto_report_stream_free(stream);
    if (status == SOTTO_STATUS_OK && sotto_report_reader_count(reader) == 0) {
        sotto_report_reader_free(reader);
        return host_fail(err, SOTTO_STATUS_INPUT, 0, SOTTO_NONE_RELEASED,
                         host_shown(from));
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_reader = reader;
    }
    return status;
}

enum sotto_status
sotto_store_reports(const struct sotto_mechanism *mechanism, const char *url,
                    bool simulation, struct sotto_report_reader **ret_reader,
                    struct sotto_error *err)
{
    struct sotto_report_stream *stream = NULL;
    enum sotto_status status =
        sotto_store_stream(mechanism, url, simulation, 0, &stream, err);
    return HOST_THEN(status, released_collect(stream, url, ret_reader, err));
}
