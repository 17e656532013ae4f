/*
 * gather.c: what a collector has released, over HTTP, for an analyst.
 *
 *     after = 0 --GET batches?after--> 200: a batch, its number --> after = it
 *                                      410: it cannot be read   --> after = it
 *                                      204: that was the last one
 *
 * Batches never change once they have a number, so that a try that failed is
 * made again without harm, and numbers grow, so that it ends.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/token_file.h"
#include "host/wipe.h"
#include "mechanism/report_stream.h"
#include "sender/exchange.h"
#include "sotto/sotto.h"
#include "store/released.h"

#define BATCH_MOST ((size_t)1 << 30) /* bytes of a batch */
#define TRIES 8u
#define TIMEOUT_S 30u

/* Whether an answer is a batch behind `after`: of which all may be damaged, but
   not more than the longest batch has. */
static bool
is_batch(const struct transport_answer *answer, uint64_t after, size_t each)
{
    return answer->code == 200 && !answer->odd && answer->batch > after &&
           answer->body.size % each == 0 &&
           (answer->body.size > 0 || answer->damaged > 0) &&
           answer->damaged <= BATCH_MOST / each;
}

/* Whether it says that the batch behind `after` cannot be read. That number
   alone: whoever skipped others would skip some that can be. */
static bool
is_gone(const struct transport_answer *answer, uint64_t after)
{
    return answer->code == 410 && !answer->odd && answer->damaged == 0 &&
           answer->batch == after + 1;
}

static bool
is_end(const struct transport_answer *answer)
{
    return answer->code == 204 && !answer->odd && answer->batch == 0 &&
           answer->damaged == 0;
}

static enum sotto_status
ask_for_next(struct exchange *exchange, uint64_t after,
             struct transport_answer *ret_answer, struct sotto_error *err)
{
    char tail[48];
    const struct transport_request request = {.tail = tail,
                                              .most = BATCH_MOST,
                                              .may_be_none = true,
                                              .may_be_gone = true,
                                              .what = "fetching reports"};
    (void)snprintf(tail, sizeof tail, "/batches?after=%" PRIu64, after);
    return exchange_run(exchange, &request, ret_answer, err);
}

/* ---- As a source ----------------------------------------------------------
 */

struct gathering {
    const struct sotto_mechanism *mechanism;
    struct sotto_watch watch;
    struct address address;
    struct exchange exchange;
    char *token;
    size_t token_size;
    char *ca;
    uint64_t after;
    struct host_text body; /* of the last batch */
};

static void
close_gathering(void *own)
{
    struct gathering *gathering = own;
    transport_free(gathering->exchange.transport);
    if (gathering->token != NULL) {
        host_wipe_free(gathering->token, gathering->token_size + 1);
    }
    free(gathering->ca);
    host_text_clear(&gathering->body);
    free(gathering);
}

static enum sotto_status
next_batch(void *own, struct report_chunk *ret_chunk, struct sotto_error *err)
{
    struct gathering *gathering = own;
    size_t each = gathering->mechanism->shape.report_size;
    struct transport_answer answer;
    enum sotto_status status =
        ask_for_next(&gathering->exchange, gathering->after, &answer, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (is_end(&answer) || is_gone(&answer, gathering->after)) {
        host_text_clear(&answer.body);
        gathering->after += answer.code == 410 ? 1 : 0;
        *ret_chunk = (struct report_chunk){.last = answer.code == 204,
                                           .unread = answer.code == 410,
                                           .batch = answer.batch};
        return SOTTO_STATUS_OK;
    }
    if (!is_batch(&answer, gathering->after, each)) {
        host_text_clear(&answer.body);
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the collector's answer is no batch of this "
                         "mechanism's reports behind number %" PRIu64,
                         gathering->after);
    }
    host_text_clear(&gathering->body);
    gathering->body = answer.body;
    gathering->after = answer.batch;
    *ret_chunk =
        (struct report_chunk){.reports = (uint8_t *)gathering->body.data,
                              .count = gathering->body.size / each,
                              .batch = answer.batch,
                              .damaged = answer.damaged};
    return SOTTO_STATUS_OK;
}

static enum sotto_status
open_gathering(struct gathering *gathering,
               const struct sotto_gather_options *options,
               struct sotto_error *err)
{
    enum sotto_status status =
        address_parse(options->url, &gathering->address, err);
    gathering->watch = options->watch;
    gathering->exchange = (struct exchange){
        .tries = options->tries > 0 ? options->tries : TRIES,
        .wait_ms = options->wait_ms > 0 ? options->wait_ms : EXCHANGE_WAIT_MS,
        .watch = &gathering->watch};
    status = HOST_THEN(status,
                       token_file_read(options->token_file, &gathering->token,
                                       &gathering->token_size, err));
    if (status == SOTTO_STATUS_OK && options->ca != NULL) {
        gathering->ca = host_text_copy(options->ca, strlen(options->ca));
        status = gathering->ca != NULL ? status : host_fail_memory(err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    const struct transport_settings settings = {
        .address = &gathering->address,
        .ca = gathering->ca,
        .bearer = gathering->token,
        .timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S,
        .watch = &gathering->watch};
    return transport_open(&settings, &gathering->exchange.transport, err);
}

enum sotto_status
sotto_gather_stream(const struct sotto_mechanism *mechanism,
                    const struct sotto_gather_options *options, uint64_t after,
                    struct sotto_report_stream **ret_stream,
                    struct sotto_error *err)
{
    const struct report_source source = {.next = next_batch,
                                         .close = close_gathering,
                                         .judged = true,
                                         .simulation = options->simulation};
    struct gathering *gathering = calloc(1, sizeof *gathering);
    enum sotto_status status;
    if (gathering == NULL) {
        return host_fail_memory(err);
    }
    gathering->mechanism = mechanism;
    gathering->after = after;
    host_text_init(&gathering->body, BATCH_MOST);
    status = open_gathering(gathering, options, err);
    if (status != SOTTO_STATUS_OK) {
        close_gathering(gathering);
        return status;
    }
    return report_stream_new(mechanism, &source, gathering, ret_stream, err);
}

enum sotto_status
sotto_gather_reports(const struct sotto_mechanism *mechanism,
                     const struct sotto_gather_options *options,
                     struct sotto_report_reader **ret_reader,
                     struct sotto_error *err)
{
    struct sotto_report_stream *stream = NULL;
    enum sotto_status status =
        sotto_gather_stream(mechanism, options, 0, &stream, err);
    return HOST_THEN(status,
                     released_collect(stream, options->url, ret_reader, err));
}
