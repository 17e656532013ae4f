/*
 * exchange.c: a request and an answer to it that can be used, with as many
 * tries as it may take.
 *
 *     ask --200--> OK
 *      |  `--3xx, other 4xx, other 2xx, a wrong certificate--> IO, at once
 *      |  no answer, 408, 429, 5xx
 *      v
 *     wait (jitter + Retry-After) --> ask, the same bytes --> ... tries --> IO
 */
#include "sender/exchange.h"

#include <string.h>

#include "host/clock.h"
#include "host/error.h"
#include "sender/backoff.h"

#define ASKED "waiting to try again"

static bool
says_later(long code)
{
    return code == 408 || code == 429 || code >= 500;
}

static const char *
explain_code(long code)
{
    static const struct {
        long code;
        const char *meaning;
    } row[] = {{400, ": it cannot read the request"},
               {401, ": it lets nobody in there"},
               {403, ": it lets nobody in there"},
               {404, ": it has no such campaign"},
               {405, ": it takes no reports there"},
               {410, ": the mechanism has expired, and nothing is taken"},
               {411, ": it is no collector of reports"},
               {413, ": the request is too large for it; send fewer at a time"},
               {415, ": it is no collector of reports"},
               {429, ": too many ask"},
               {503, ": it takes nothing at the moment"},
               {0, ""}};
    size_t i = 0;
    while (row[i].code != 0 && row[i].code != code) {
        i++;
    }
    return row[i].meaning;
}

/* What an answer that is none of the right ones says. */
static enum sotto_status
fail_code(const char *tail, long code, struct sotto_error *err)
{
    if (code >= 300 && code < 400) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "the collector answered %s with a redirect (%ld), "
                         "which is never followed: give the address that it "
                         "leads to, if you trust it",
                         tail, code);
    }
    return host_fail(err, SOTTO_STATUS_IO, 0,
                     "the collector answered %s with %ld%s", tail, code,
                     explain_code(code));
}

/* One try. OK with `ret_again` clear: the answer is what was asked for. */
static enum sotto_status
try_once(struct exchange *exchange, const struct transport_request *request,
         struct transport_answer *answer, bool *ret_again,
         struct sotto_error *err)
{
    exchange->requests++;
    enum sotto_status status =
        transport_ask(exchange->transport, request, answer, err);
    *ret_again = answer->again;
    if (status == SOTTO_STATUS_OK && answer->code != 200 &&
        !(answer->code == 204 && request->may_be_none) &&
        !(answer->code == 410 && request->may_be_gone)) {
        *ret_again = says_later(answer->code);
        status = fail_code(request->tail, answer->code, err);
    }
    return status;
}

static enum sotto_status
pause_for(const struct exchange *exchange,
          const struct transport_request *request, unsigned next, int64_t asked,
          struct sotto_error *err)
{
    uint64_t ms = 0;
    if (asked > BACKOFF_ASKED_MOST) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "the collector asks to be left alone for %lld s%s%s",
                         (long long)asked, request->stays != NULL ? ": " : "",
                         request->stays != NULL ? request->stays : "");
    }
    enum sotto_status status =
        backoff_draw(backoff_most(exchange->wait_ms, next), &ms, err);
    if (status == SOTTO_STATUS_OK) {
        ms += asked > 0 ? 1000 * (uint64_t)asked : 0;
        status = backoff_wait(ms, ASKED, exchange->watch, err);
    }
    return status;
}

enum sotto_status
exchange_run(struct exchange *exchange, const struct transport_request *request,
             struct transport_answer *ret_answer, struct sotto_error *err)
{
    struct sotto_error why = {0};
    for (unsigned next = 1;; next++) {
        struct transport_answer answer;
        bool again = false;
        if (exchange->ends > 0 && host_utc_now() >= exchange->ends) {
            return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                             "the mechanism of what is queued has expired");
        }
        enum sotto_status status =
            try_once(exchange, request, &answer, &again, &why);
        if (status == SOTTO_STATUS_OK) {
            *ret_answer = answer;
            return status;
        }
        host_text_clear(&answer.body);
        if (!again) {
            return host_fail(err, status, 0, "%s", why.message);
        }
        if (next >= exchange->tries) {
            return host_fail(err, SOTTO_STATUS_IO, 0, "%.300s (tries: %u)%s%s",
                             why.message, next,
                             request->stays != NULL ? "; " : "",
                             request->stays != NULL ? request->stays : "");
        }
        status = pause_for(exchange, request, next, answer.retry_after, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
}
