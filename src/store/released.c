/*
 * released.c: what a store has released, as a reader of reports: what every
 * learner and every verb takes.
 */
#include "store/released.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/mechanism.h"
#include "report/report.h"
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

/* Appends all batches there are. */
static enum sotto_status
read_batches(struct store_reader *reader, const uint8_t *hash,
             struct host_text *reports, struct sotto_error *err)
{
    uint64_t after = 0;
    for (;;) {
        struct store_batch batch = {0};
        enum sotto_status status =
            store_reader_next(reader, hash, after, &batch, err);
        if (status != SOTTO_STATUS_OK || batch.number == 0) {
            return status;
        }
        host_text_add(reports, batch.reports, batch.size);
        free(batch.reports);
        if (reports->failed) {
            return host_fail_memory(err);
        }
        after = batch.number;
    }
}

/* By payload, then by id. */
static int
compare_reports(const void *a, const void *b, void *context)
{
    const uint8_t *first = a, *second = b;
    const size_t *size = context;
    int order = memcmp(first + REPORT_HEADER_SIZE, second + REPORT_HEADER_SIZE,
                       *size - REPORT_HEADER_SIZE);
    return order != 0 ? order : memcmp(first, second, REPORT_HEADER_SIZE);
}

enum sotto_status
released_read(const struct sotto_mechanism *mechanism,
              struct host_text *reports, const char *from,
              struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    size_t size = mechanism->shape.report_size;
    if (reports->size == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s' has released no reports of this mechanism "
                         "yet: they wait for the end of a window, and until "
                         "there are as many as the collector's batch-min",
                         host_shown(from));
    }
    /* Sums of doubles, batches of a descent: what is learnt depends on the
       order a little, and the store's is another one every time. */
    qsort_r(reports->data, reports->size / size, size, compare_reports, &size);
    return sotto_report_reader_parse(mechanism, reports->data, reports->size,
                                     from, ret_reader, err);
}

enum sotto_status
sotto_store_reports(const struct sotto_mechanism *mechanism, const char *url,
                    bool simulation, struct sotto_report_reader **ret_reader,
                    struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    struct host_text reports;
    bool simulated = false;
    enum sotto_status status = store_reader_open(url, &reader, &simulated, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    host_text_init(&reports, RELEASED_MOST);
    status = check_kind(url, simulated, simulation, err);
    status = HOST_THEN(
        status, read_batches(reader, mechanism->shape.hash, &reports, err));
    status = HOST_THEN(
        status, released_read(mechanism, &reports, url, ret_reader, err));
    host_text_clear(&reports);
    store_reader_free(reader);
    return status;
}
