/*
 * batches.c: a batch for an analyst, out of the store.
 *
 *     read ------> 200  what of it is sound; Sotto-Batch, and Sotto-Damaged if
 *      |  |             reports were left out
 *      |  +------> 204  there is none yet
 *      +-damaged-> 410  none of it can be read; Sotto-Batch
 *      +-else----> 503  the disk or memory fails: to be tried again
 *
 * A damaged batch ends nothing: numbers have no gaps, so it is the one behind
 * the one that was named, and whoever asks goes on behind it.
 */
#include <inttypes.h>

#include "collector/collector.h"
#include "store/store.h"

/* `ret_gone`: on failure, it is the batch that is damaged. */
static enum sotto_status
read_batch(struct sotto_collector *collector, const uint8_t *hash,
           uint64_t after, struct store_batch *ret_batch, bool *ret_gone,
           struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    enum sotto_status status;
    (void)pthread_mutex_lock(&collector->batches);
    status = store_reader_open(collector->options.store, &reader, NULL, err);
    if (status == SOTTO_STATUS_OK) {
        status = store_reader_next(reader, hash, after, ret_batch, err);
        *ret_gone = status == SOTTO_STATUS_FORMAT;
    }
    store_reader_free(reader);
    (void)pthread_mutex_unlock(&collector->batches);
    return status;
}

/* `number` 0: no such header. NULL: no memory, and the response is gone. */
static struct MHD_Response *
add_number(struct MHD_Response *response, const char *name, uint64_t number)
{
    if (response != NULL && number > 0 &&
        !answers_number(response, name, number)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    return response;
}

static unsigned
answer_unread(struct sotto_collector *collector, uint64_t number, bool is_gone,
              const struct sotto_error *err, struct MHD_Response **ret_response)
{
    static const char unread[] = ROUTES_SENTENCE(
        "the batch cannot be read: the collector's log says why");
    static const char gone[] = ROUTES_SENTENCE(
        "this batch, whose number is in Sotto-Batch, cannot be read any more: "
        "ask for those behind it");
    const struct routes_answer answer =
        is_gone ? routes_error(410, gone) : routes_error(503, unread);
    refusals_count(&collector->refusals, REFUSAL_UNREAD);
    collector_log(collector, SOTTO_LOG_ERROR, "batch-unreadable",
                  "batch %" PRIu64 " of a campaign cannot be read%s: %s",
                  number, is_gone ? "" : " now", err->message);
    *ret_response = add_number(answers_make(&answer, NULL), "Sotto-Batch",
                               is_gone ? number : 0);
    return answer.status;
}

unsigned
batches_answer(struct sotto_collector *collector, const uint8_t *hash,
               uint64_t after, struct MHD_Response **ret_response)
{
    static const struct routes_answer none = {.status = 204};
    struct sotto_error err = {0};
    struct store_batch batch = {0};
    struct MHD_Response *response;
    bool is_gone = false;
    if (read_batch(collector, hash, after, &batch, &is_gone, &err) !=
        SOTTO_STATUS_OK) {
        return answer_unread(collector, after + 1, is_gone, &err, ret_response);
    }
    if (batch.number == 0) {
        *ret_response = answers_make(&none, NULL);
        return none.status;
    }
    response = answers_own(ROUTES_BINARY, batch.reports, batch.size);
    response = add_number(response, "Sotto-Batch", batch.number);
    *ret_response = add_number(response, "Sotto-Damaged", batch.damaged);
    atomic_fetch_add(&collector->metrics.batches, 1);
    return 200;
}
