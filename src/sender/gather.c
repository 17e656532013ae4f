/*
 * gather.c: what a collector has released, over HTTP, for an analyst.
 *
 *     after = 0 --GET batches?after--> 200: a batch, its number --> after = it
 *                                      204: that was the last one
 *
 * Batches never change once they have a number, so that a try that failed is
 * made again without harm, and numbers grow, so that it ends.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/error.h"
#include "host/token_file.h"
#include "host/wipe.h"
#include "mechanism/mechanism.h"
#include "report/report.h"
#include "sender/exchange.h"
#include "sotto/sotto.h"
#include "store/released.h"

#define BATCH_MOST ((size_t)1 << 30) /* bytes of a batch */
#define TRIES 8u
#define TIMEOUT_S 30u

/* Whether an answer is a batch behind `after`. */
static bool
is_batch(const struct transport_answer *answer, uint64_t after, size_t each)
{
    return answer->batch > after && answer->body.size > 0 &&
           answer->body.size % each == 0;
}

static enum sotto_status
ask_for_next(struct exchange *exchange, uint64_t after,
             struct transport_answer *ret_answer, struct sotto_error *err)
{
    char tail[48];
    const struct transport_request request = {.tail = tail,
                                              .most = BATCH_MOST,
                                              .may_be_none = true,
                                              .what = "fetching reports"};
    (void)snprintf(tail, sizeof tail, "/batches?after=%" PRIu64, after);
    return exchange_run(exchange, &request, ret_answer, err);
}

/* Appends all batches there are. */
static enum sotto_status
gather_batches(struct exchange *exchange, size_t each,
               struct host_text *reports, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    uint64_t after = 0;
    bool last = false;
    while (status == SOTTO_STATUS_OK && !last) {
        struct transport_answer answer;
        status = ask_for_next(exchange, after, &answer, err);
        if (status != SOTTO_STATUS_OK) {
            break;
        }
        last = answer.code == 204;
        if (!last && !is_batch(&answer, after, each)) {
            status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                               "the collector's answer is no batch of this "
                               "mechanism's reports behind number %" PRIu64,
                               after);
        } else if (!last) {
            host_text_add(reports, answer.body.data, answer.body.size);
            status = reports->failed ? host_fail_memory(err) : status;
            after = answer.batch;
        }
        host_text_clear(&answer.body);
    }
    return status;
}

static enum sotto_status
check_kind(const struct sotto_report_reader *reader, bool wanted,
           struct sotto_error *err)
{
    for (size_t i = 0; i < sotto_report_reader_count(reader); i++) {
        bool is = sotto_report_simulated(sotto_report_reader_at(reader, i));
        if (is != wanted) {
            return host_fail(err, SOTTO_STATUS_REFUSED, i,
                             is ? "the collector is for simulation: its "
                                  "reports say nothing of people; ask for "
                                  "simulation if that is meant"
                                : "the collector has people's reports, and "
                                  "simulated ones were asked for");
        }
    }
    return SOTTO_STATUS_OK;
}

/* From a connection that is there. */
static enum sotto_status
gather_reports(const struct sotto_mechanism *mechanism,
               const struct sotto_gather_options *options,
               struct exchange *exchange, const char *url,
               struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    struct sotto_report_reader *reader = NULL;
    struct host_text reports;
    host_text_init(&reports, RELEASED_MOST);
    enum sotto_status status =
        gather_batches(exchange, mechanism->shape.report_size, &reports, err);
    status = HOST_THEN(status,
                       released_read(mechanism, &reports, url, &reader, err));
    host_text_clear(&reports);
    status = HOST_THEN(status, check_kind(reader, options->simulation, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_reader = reader;
    } else {
        sotto_report_reader_free(reader);
    }
    return status;
}

enum sotto_status
sotto_gather_reports(const struct sotto_mechanism *mechanism,
                     const struct sotto_gather_options *options,
                     struct sotto_report_reader **ret_reader,
                     struct sotto_error *err)
{
    struct address address;
    struct exchange exchange = {
        .tries = options->tries > 0 ? options->tries : TRIES,
        .wait_ms = options->wait_ms > 0 ? options->wait_ms : EXCHANGE_WAIT_MS,
        .watch = &options->watch};
    char *token = NULL;
    size_t size = 0;
    enum sotto_status status = address_parse(options->url, &address, err);
    status = HOST_THEN(
        status, token_file_read(options->token_file, &token, &size, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    const struct transport_settings settings = {
        .address = &address,
        .ca = options->ca,
        .bearer = token,
        .timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S,
        .watch = &options->watch};
    status = transport_open(&settings, &exchange.transport, err);
    status = HOST_THEN(status, gather_reports(mechanism, options, &exchange,
                                              address.url, ret_reader, err));
    transport_free(exchange.transport);
    host_wipe_free(token, size + 1);
    return status;
}
