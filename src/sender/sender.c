/*
 * sender.c: the device's queue of reports and their way to a collector.
 *
 *     open    the delay is drawn, before any record can have been read
 *     bind    the queue is this ledger's
 *     check   the collector has this mechanism (obtain.c)
 *     queue   durable, with the mechanism's end
 *     flush   wait for the end of the delay
 *             next batch --looked at--> the same bytes until answered
 *                ^------------------ settle <----------'
 *
 * A report whose mechanism has ended is held back: each batch is taken, and
 * each try of it made, only before the end that the queue has for it, whatever
 * mechanism is at hand now.
 *
 * A kill anywhere leaves reports waiting that may have arrived: they are sent
 * again, byte for byte, and the collector knows them by their ids.
 */
#include "sender/sender.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/text.h"
#include "mechanism/mechanism.h"
#include "report/report.h"
#include "sender/answer.h"
#include "sender/backoff.h"
#include "store/ledger.h"

/* ---- Options ------------------------------------------------------------ */

#define AT(field) offsetof(struct sotto_sender_options, field)

static const struct setting settings[] = {
    SETTING_NEEDED("to", AT(url), "URL",
                   "https://HOST[:PORT]/v1/campaigns/NAME; http for\n"
                   "loopback addresses alone"),
    SETTING("queue", TEXT, AT(queue), 0, 0, NULL, "Q",
            "the reports that wait, an SQLite file (L.queue)"),
    SETTING("spread", WHOLE, AT(spread_s), 0, 604800, "10", "S",
            "begin to send after a time drawn at random, up to S\n"
            "seconds"),
    SETTING("grid", WHOLE, AT(grid_s), 0, 86400, "1", "S",
            "send at a multiple of S seconds after the collector\n"
            "was asked, fixed before a record is read and late\n"
            "enough for everybody: so the time of sending does\n"
            "not tell how long a record took"),
    SETTING("batch", SIZE, AT(batch), 1, 10000, "100", NULL,
            "reports in a request"),
    SETTING("tries", WHOLE, AT(tries), 1, 1000, "8", NULL,
            "of a request before it is left for another run"),
    SETTING("timeout", WHOLE, AT(timeout_s), 1, 3600, "30", "S",
            "seconds without an answer that end a try"),
    SETTING("ca", TEXT, AT(ca), 0, 0, NULL, "FILE",
            "trust these certificate authorities, in PEM, and not\n"
            "the system's"),
    SETTING("proxy", TEXT, AT(proxy), 0, 0, NULL, "URL",
            "send through it, socks5h://HOST:PORT, say; else there\n"
            "is none, whatever the environment says"),
    SETTING_END};

bool
sotto_sender_setting_at(size_t i, struct sotto_setting_info *ret_setting)
{
    return settings_tell(settings, i, ret_setting);
}

enum sotto_status
sotto_sender_set(struct sotto_sender_options *options,
                 const struct sotto_setting *set, size_t sets,
                 struct sotto_error *err)
{
    return settings_set(settings, options, set, sets, err);
}

/* ---- Opening ------------------------------------------------------------ */

static bool
copy_text(const char *from, char **to)
{
    *to = from != NULL ? host_text_copy(from, strlen(from)) : NULL;
    return from == NULL || *to != NULL;
}

static enum sotto_status
check_options(const struct sotto_sender_options *options,
              const struct address *address, struct sotto_error *err)
{
    if (options->proxy != NULL && !address->tls) {
        return settings_fail(err, "proxy",
                             "would see what is sent without TLS");
    }
    if (options->ca != NULL && access(options->ca, R_OK) != 0) {
        return host_about(host_fail(err, SOTTO_STATUS_IO, 0,
                                    "cannot read the authorities in '%s': %s",
                                    host_shown(options->ca), strerror(errno)),
                          err, SOTTO_ABOUT_FILE, options->ca);
    }
    if (options->queue == NULL) {
        return settings_fail(err, "queue", "is missing");
    }
    return SOTTO_STATUS_OK;
}

/* When sending may begin: drawn now, so that it cannot depend on a record. */
static enum sotto_status
draw_due(struct sotto_sender *sender, unsigned spread_s,
         struct sotto_error *err)
{
    uint64_t ms = 0;
    enum sotto_status status =
        spread_s > 0 ? backoff_draw((uint64_t)spread_s * 1000, &ms, err)
                     : SOTTO_STATUS_OK;
    sender->due = host_seconds() + (double)ms / 1000;
    return status;
}

static enum sotto_status
set_up_sender(struct sotto_sender *sender,
              const struct sotto_sender_options *given, struct sotto_error *err)
{
    struct sotto_sender_options options = *given;
    enum sotto_status status = settings_complete(settings, &options, err);
    status =
        HOST_THEN(status, address_parse(options.url, &sender->address, err));
    status = HOST_THEN(status, check_options(&options, &sender->address, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    sender->batch = options.batch;
    sender->tries = options.tries;
    sender->wait_ms = options.wait_ms > 0 ? options.wait_ms : EXCHANGE_WAIT_MS;
    sender->timeout_s = options.timeout_s;
    sender->grid = options.grid_s;
    sender->simulation = options.simulation;
    sender->look = options.look;
    sender->watch = options.watch;
    if (!copy_text(options.ca, &sender->ca) ||
        !copy_text(options.proxy, &sender->proxy)) {
        return host_fail_memory(err);
    }
    status = draw_due(sender, options.spread_s, err);
    status = HOST_THEN(
        status, queue_open(options.queue, options.look, &sender->queue, err));
    return status;
}

enum sotto_status
sotto_sender_open(const struct sotto_sender_options *options,
                  struct sotto_sender **ret_sender, struct sotto_error *err)
{
    struct sotto_sender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = set_up_sender(sender, options, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_sender = sender;
    } else {
        sotto_sender_free(sender);
    }
    return status;
}

void
sotto_sender_free(struct sotto_sender *sender)
{
    if (sender != NULL) {
        queue_free(sender->queue);
        free(sender->ca);
        free(sender->proxy);
        free(sender);
    }
}

enum sotto_status
sender_connect(const struct sotto_sender *sender, struct exchange *ret_exchange,
               struct sotto_error *err)
{
    const struct transport_settings place = {.address = &sender->address,
                                             .ca = sender->ca,
                                             .proxy = sender->proxy,
                                             .timeout_s = sender->timeout_s,
                                             .watch = &sender->watch};
    struct exchange exchange = {.tries = sender->tries,
                                .wait_ms = sender->wait_ms,
                                .watch = &sender->watch};
    if (sender->look) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "this sender was opened to look, and sends nothing");
    }
    enum sotto_status status = transport_open(&place, &exchange.transport, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_exchange = exchange;
    }
    return status;
}

/* ---- Queueing ----------------------------------------------------------- */

enum sotto_status
sotto_sender_begin(struct sotto_sender *sender, struct sotto_error *err)
{
    return queue_begin(sender->queue, err);
}

/* The mark goes with what is queued: no report that a collector acknowledges is
   of a charge above it. */
enum sotto_status
sotto_sender_commit(struct sotto_sender *sender, struct sotto_error *err)
{
    uint64_t sequence = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sender->ledger != NULL) {
        status = ledger_settle(sender->ledger, &sequence, err);
        status = HOST_THEN(status, queue_mark(sender->queue, sequence, err));
    }
    return HOST_THEN(status, queue_commit(sender->queue, err));
}

enum sotto_status
sotto_sender_bind(struct sotto_sender *sender, struct sotto_ledger *ledger,
                  struct sotto_error *err)
{
    uint8_t check[LEDGER_CHECK_SIZE];
    uint64_t mark = 0;
    ledger_check(ledger, check);
    enum sotto_status status =
        queue_bind(sender->queue, check, sizeof check, &mark, err);
    status = HOST_THEN(status, ledger_compare(ledger, mark, err));
    if (status == SOTTO_STATUS_OK && !sender->look) {
        sender->ledger = ledger;
    }
    return status;
}

static bool
is_of(const uint8_t *report, const struct sotto_mechanism *mechanism)
{
    return mechanism != NULL &&
           memcmp(report + REPORT_MAGIC_SIZE, mechanism->shape.hash,
                  SOTTO_HASH_SIZE) == 0;
}

/* What every report of this sender begins with. */
static const char *
magic_of(const struct sotto_sender *sender)
{
    return sender->simulation ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
}

void
sotto_sender_know(struct sotto_sender *sender,
                  const struct sotto_mechanism *mechanism)
{
    sender->known = mechanism;
}

enum sotto_status
sotto_sender_queue(struct sotto_sender *sender, const uint8_t *report,
                   size_t size, struct sotto_error *err)
{
    if (size <= REPORT_HEADER_SIZE) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "that is no report");
    }
    if (memcmp(report, magic_of(sender), REPORT_MAGIC_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         sender->simulation
                             ? "this sender takes simulated reports alone"
                             : "a report that is simulated, or none at all, "
                               "is never sent");
    }
    if (!is_of(report, sender->known)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "this sender knows no mechanism of that report, and "
                         "so not when it ends");
    }
    enum sotto_status status = sotto_mechanism_check_sent(sender->known, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    sender->made++;
    return queue_put(sender->queue, sender->address.url, report, size,
                     sender->known->device.terms->expires, err);
}

enum sotto_status
sotto_sender_count(struct sotto_sender *sender, struct sotto_queued *ret_count,
                   struct sotto_error *err)
{
    struct queue_count count = {0};
    enum sotto_status status = queue_count(sender->queue, sender->address.url,
                                           host_utc_now(), &count, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_count =
            (struct sotto_queued){count.waiting, count.refused, count.ended};
    }
    return status;
}

enum sotto_status
sotto_sender_drop(struct sotto_sender *sender, struct sotto_error *err)
{
    return queue_drop(sender->queue, sender->address.url, host_utc_now(), err);
}

enum sotto_status
sotto_sender_retry(struct sotto_sender *sender, struct sotto_error *err)
{
    return queue_retry(sender->queue, sender->address.url, err);
}

/* ---- The next request --------------------------------------------------- */

/* Whether a batch, which is of one mechanism, is what devices make: of any
   mechanism its kind, of the one at hand every bit. */
static enum sotto_status
judge_sender(const struct sotto_sender *sender, const struct queue_batch *batch,
             const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    struct sotto_report_reader *reader = NULL;
    for (size_t i = 0; i < batch->count; i++) {
        if (memcmp(batch->reports + i * batch->size, magic_of(sender),
                   REPORT_MAGIC_SIZE) != 0) {
            return SOTTO_STATUS_INPUT;
        }
    }
    if (!is_of(batch->reports, mechanism)) {
        return SOTTO_STATUS_OK;
    }
    if (batch->size != mechanism->shape.report_size) {
        return SOTTO_STATUS_INPUT;
    }
    enum sotto_status status = sotto_report_reader_parse(
        mechanism, batch->reports, batch->count * batch->size, "queue", &reader,
        err);
    sotto_report_reader_free(reader);
    return status;
}

/* What a file holds is believed no more than what a network brings. */
static enum sotto_status
check_batch(const struct sotto_sender *sender, const struct queue_batch *batch,
            const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    enum sotto_status status = judge_sender(sender, batch, mechanism, err);
    return status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY
               ? status
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the queue is damaged: it has reports that no "
                           "device makes, which are not sent; move it away: "
                           "the ledger has every report, and asking it again "
                           "queues them anew");
}

/* None waits: count is 0. */
static enum sotto_status
take_batch(const struct sotto_sender *sender,
           const struct sotto_mechanism *mechanism,
           struct queue_batch *ret_batch, struct sotto_error *err)
{
    struct queue_batch batch = {0};
    enum sotto_status status =
        queue_next(sender->queue, sender->address.url, host_utc_now(),
                   sender->batch, &batch, err);
    if (status == SOTTO_STATUS_OK && batch.count > 0) {
        status = check_batch(sender, &batch, mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_batch = batch;
    } else {
        queue_batch_clear(&batch);
    }
    return status;
}

enum sotto_status
sotto_sender_next(struct sotto_sender *sender,
                  const struct sotto_mechanism *mechanism,
                  uint8_t **ret_reports, size_t *ret_size, size_t *ret_count,
                  struct sotto_error *err)
{
    struct queue_batch batch = {0};
    enum sotto_status status = take_batch(sender, mechanism, &batch, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_reports = batch.reports;
        *ret_size = batch.size;
        *ret_count = batch.count;
        batch.reports = NULL;
    }
    queue_batch_clear(&batch);
    return status;
}

/* ---- Sending ------------------------------------------------------------ */

/* Notes down what the collector said of a batch. */
static enum sotto_status
settle_batch(struct sotto_sender *sender, const struct queue_batch *batch,
             const struct answer *answer, struct sotto_sent *sent,
             struct sotto_error *err)
{
    const char **refusal = calloc(batch->count, sizeof *refusal);
    if (refusal == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < batch->count; i++) {
        refusal[i] = answer->code[i][0] != '\0' ? answer->code[i] : NULL;
    }
    enum sotto_status status = queue_settle(sender->queue, batch, refusal, err);
    free(refusal);
    if (status == SOTTO_STATUS_OK) {
        sent->accepted += answer->accepted;
        sent->duplicate += answer->duplicate;
        sent->refused += answer->refused;
        if (sent->refusal[0] == '\0') {
            memcpy(sent->refusal, answer->why, sizeof sent->refusal);
        }
    }
    return status;
}
_Static_assert(sizeof((struct sotto_sent *)0)->refusal == ANSWER_WHY_SIZE,
               "a refusal fits");

static enum sotto_status
send_batch(struct sotto_sender *sender, struct exchange *exchange,
           const struct queue_batch *batch, uint64_t total,
           struct sotto_sent *sent, struct sotto_error *err)
{
    struct transport_answer came;
    struct answer answer = {0};
    const struct transport_request request = {
        .tail = "/reports",
        .body = batch->reports,
        .size = batch->count * batch->size,
        .most = answer_most(batch->count),
        .what = "sending",
        .done = sent->accepted + sent->duplicate + sent->refused,
        .total = total,
        .stays = "what is queued stays for another time"};
    enum sotto_status status = exchange_run(exchange, &request, &came, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = answer_parse(came.body.data != NULL ? came.body.data : "",
                          came.body.size, batch->count, &answer, err);
    host_text_clear(&came.body);
    status = HOST_THEN(status, settle_batch(sender, batch, &answer, sent, err));
    answer_clear(&answer);
    return status;
}

/* One batch after the other until none waits. A batch whose end comes before it
   was answered is none any more: what is taken next leaves it out, unless the
   clock is set back, and then nothing more is sent. */
static enum sotto_status
send_all(struct sotto_sender *sender, struct exchange *exchange, uint64_t total,
         struct sotto_sent *sent, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    uint64_t ended = 0; /* the latest end that was found to have come */
    bool more = true;
    while (status == SOTTO_STATUS_OK && more) {
        struct queue_batch batch = {0};
        status = take_batch(sender, sender->mechanism, &batch, err);
        more = batch.count > 0;
        if (status == SOTTO_STATUS_OK && batch.ends > 0 &&
            batch.ends <= ended) {
            status = host_fail(err, SOTTO_STATUS_IO, 0,
                               "the clock was set back behind the end of a "
                               "mechanism; what is queued stays for another "
                               "time");
        } else if (status == SOTTO_STATUS_OK && more) {
            exchange->ends = batch.ends;
            status = send_batch(sender, exchange, &batch, total, sent, err);
        }
        if (status == SOTTO_STATUS_REFUSED && batch.ends > 0) {
            ended = batch.ends > ended ? batch.ends : ended;
            status = SOTTO_STATUS_OK;
        }
        queue_batch_clear(&batch);
    }
    return status;
}

/* Seconds that are set aside for so many reports: whole steps of the grid. */
static double
set_aside(const struct sotto_sender *sender, uint64_t reports)
{
    double least = backoff_allowance(sender->mechanism->shape.work, reports);
    return sender->grid * ceil(least / sender->grid);
}

/*
 * When the first report leaves. Everything in it is public and was fixed before
 * a record was read: the time that was drawn, when the collector was asked, and
 * what is set aside for so many reports of so much work.
 */
static double
find_deadline(const struct sotto_sender *sender)
{
    uint64_t reports =
        sender->made > sender->expected ? sender->made : sender->expected;
    if (sender->mechanism == NULL || sender->grid == 0) {
        return sender->due;
    }
    return fmax(sender->due, sender->asked + set_aside(sender, reports));
}

/* Refuses people whose reports could leave only once the mechanism has ended:
   they would be charged for nothing. */
static enum sotto_status
check_deadline(const struct sotto_sender *sender, struct sotto_error *err)
{
    uint64_t ends = sender->mechanism->device.terms->expires;
    double left = fmax(find_deadline(sender) - host_seconds(), 0);
    return ends > 0 && (double)host_utc_now() + left >= (double)ends
               ? host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the mechanism \"%s\" has expired when reports "
                           "leave, in %.0f s: nobody is asked; a smaller "
                           "spread or grid would be earlier",
                           host_shown(sender->mechanism->name), left)
               : SOTTO_STATUS_OK;
}

enum sotto_status
sotto_sender_expect(struct sotto_sender *sender, uint64_t reports,
                    struct sotto_schedule *ret_schedule,
                    struct sotto_error *err)
{
    struct sotto_schedule schedule = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    sender->expected = reports;
    if (sender->mechanism != NULL && reports > 0) {
        status = check_deadline(sender, err);
        if (sender->grid > 0) {
            schedule =
                backoff_schedule(sender->asked, set_aside(sender, reports),
                                 sender->mechanism->shape.work, reports);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_schedule = schedule;
    }
    return status;
}

/* Until the deadline; where that has passed, until the next step of the grid
   from there: how long all of it took shows by the step alone. */
static enum sotto_status
wait_due(const struct sotto_sender *sender, struct sotto_sent *sent,
         struct sotto_error *err)
{
    double now = host_seconds(), due = find_deadline(sender);
    double left = backoff_align(due, sender->grid, now) - now;
    sent->late = sender->grid > 0 && now > due && sender->made > 0;
    return left > 0 ? backoff_wait((uint64_t)(1000 * left),
                                   "waiting for the time to send",
                                   &sender->watch, err)
                    : SOTTO_STATUS_OK;
}

static enum sotto_status
flush_queue(struct sotto_sender *sender, struct sotto_sent *sent,
            struct sotto_error *err)
{
    struct exchange exchange = {0};
    size_t waiting = sent->left;
    enum sotto_status status = sender_connect(sender, &exchange, err);
    if (status == SOTTO_STATUS_OK && waiting > 0) {
        status = wait_due(sender, sent, err);
    }
    status = HOST_THEN(status, send_all(sender, &exchange, waiting, sent, err));
    transport_free(exchange.transport);
    sent->requests = exchange.requests;
    return status;
}

/* What is in the queue, whatever became of sending; the first failure counts.
 */
static enum sotto_status
count_queued(struct sotto_sender *sender, enum sotto_status status,
             struct sotto_sent *sent, struct sotto_error *err)
{
    struct sotto_queued queued = {0};
    struct sotto_error why = {0};
    enum sotto_status counted = sotto_sender_count(sender, &queued, &why);
    if (counted == SOTTO_STATUS_OK) {
        sent->left = queued.waiting;
        sent->marked = queued.refused;
        sent->ended = queued.ended;
    } else if (status == SOTTO_STATUS_OK) {
        status = host_fail(err, counted, 0, "%s", why.message);
    }
    return status;
}

enum sotto_status
sotto_sender_flush(struct sotto_sender *sender, struct sotto_sent *ret_sent,
                   struct sotto_error *err)
{
    struct sotto_sent sent = {0};
    enum sotto_status status = sotto_sender_commit(sender, err);
    if (status == SOTTO_STATUS_OK) {
        status = count_queued(sender, status, &sent, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = flush_queue(sender, &sent, err);
        status = count_queued(sender, status, &sent, err);
    }
    *ret_sent = sent;
    return status;
}
