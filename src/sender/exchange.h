/*
 * exchange.h: a request and an answer to it that can be used, with as many
 * tries as it may take.
 */
#ifndef SOTTO_SENDER_EXCHANGE_H
#define SOTTO_SENDER_EXCHANGE_H

#include "sender/transport.h"

#define EXCHANGE_WAIT_MS 500u /* before the second try, by default */

struct exchange {
    struct transport *transport;
    unsigned tries;
    unsigned wait_ms; /* before the second try at most; then doubled */
    const struct sotto_watch *watch;
    size_t requests; /* made so far */
    uint64_t ends;   /* from this second of UTC on nothing goes out, not even
                        for the second time; 0: no such end */
};

/*
 * Asks, and asks again with the same bytes while there is no answer or one that
 * says later (408, 429, 500 and above), waiting in between: at random, and as
 * long as a Retry-After says. OK: the answer was 200, or 204 or 410 where that
 * may be, and host_text_clear frees its body. Statuses: IO (all tries failed;
 * another code; a redirect; the collector wants more than an hour), LIMIT,
 * STOPPED, MEMORY, ENTROPY, REFUSED (its end has come).
 */
SOTTO_CHECKED enum sotto_status
exchange_run(struct exchange *exchange, const struct transport_request *request,
             struct transport_answer *ret_answer, struct sotto_error *err);

#endif
