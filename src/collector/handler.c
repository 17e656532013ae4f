/*
 * handler.c: one request, from the server's callbacks to an answer.
 *
 *     line --> access: head --> access: body, in pieces --> access: the end
 *                                                                 |
 *          a body of reports: judged, suspended, submitted -------+
 *                 | the writer: on disk, or not
 *                 v
 *              resumed --> access: the answer --> completed: freed
 *
 * A request's first HELD_FREE bytes of memory are its own; what is beyond them
 * is taken from what all share and its origin has a part of, as bytes come and
 * not as they are announced. The body is wiped and given back before its answer
 * is on its way, for that may take a client as long as it likes.
 *
 * A body that is refused is read to its end and dropped, so that the client
 * gets to read why; one that is too long for that ends the connection.
 */
#include <stdlib.h>
#include <string.h>

#include "collector/collector.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/wipe.h"

#define HELD_FREE ((size_t)16384) /* bytes of a request outside the pool */
#define BATCHES_MOST 8u           /* in memory at a time */
#define TEXT_MOST ((size_t)1 << 20)

enum stage { LINE, ARRIVING, SUSPENDED, SETTLED };

struct request {
    struct writer_job job; /* first: the writer hands it back */
    struct judge judge;
    struct entrance *entrance;
    struct sotto_collector *collector;
    struct MHD_Connection *connection;
    struct campaigns *campaigns;
    struct routes_plan plan;
    enum stage stage;
    struct head_line line;
    double complete_at; /* host_seconds, when all of it was there; 0: not yet */
    bool drop;          /* the rest of the body */
    bool batch;         /* it counts among batches_held */
    uint8_t *body;
    size_t size, room;
    size_t answer_most; /* bytes, and memory, of what the reports come to */
    size_t taken;       /* bytes of the shared memory */
};

static struct connection *
is_known(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* ---- Connections --------------------------------------------------------- */

void
handler_connection(void *entrance, struct MHD_Connection *connection,
                   void **socket_context,
                   enum MHD_ConnectionNotificationCode code)
{
    struct entrance *own = entrance;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd = MHD_get_connection_info(
            connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (fd != NULL) {
            *socket_context =
                connections_find(own->connections, fd->connect_fd);
            connection_taken(*socket_context);
        }
    } else {
        if (connection_mute(*socket_context)) {
            refusals_count(&own->collector->refusals, REFUSAL_LIBRARY);
        }
        connections_close(own->connections, *socket_context);
        *socket_context = NULL;
    }
}

/* NULL, no memory, is answered when the head is there. */
void *
handler_line(void *entrance, const char *uri, struct MHD_Connection *connection)
{
    struct request *request = calloc(1, sizeof *request);
    connection_line(is_known(connection));
    if (request != NULL) {
        request->entrance = entrance;
        request->collector = request->entrance->collector;
        request->connection = connection;
        head_line(uri, &request->line);
    }
    return request;
}

/* ---- Bodies -------------------------------------------------------------- */

/* Makes `size` what the request has of memory; false: it cannot be more. */
static bool
hold_memory(struct request *request, size_t size)
{
    struct connections *connections = request->entrance->connections;
    struct connection *connection = is_known(request->connection);
    size_t taken = size > HELD_FREE ? size - HELD_FREE : 0;
    if (taken < request->taken) {
        connections_give(connections, connection, request->taken - taken);
    } else if (!connections_take(connections, connection,
                                 taken - request->taken)) {
        return false;
    }
    request->taken = taken;
    return true;
}

static void
drop_body(struct request *request)
{
    host_wipe_free(request->body, request->size);
    request->body = NULL;
    request->size = request->room = 0;
}

/* What was judged is forgotten: memory is only for the answer. */
static void
forget_body(struct request *request, size_t answer_most)
{
    judge_clear(&request->judge);
    drop_body(request);
    request->answer_most = answer_most;
    (void)hold_memory(request, answer_most);
}

/* Room for `more` bytes, doubled but never beyond what was announced: memory
   is for what came, not for what a client says will come. */
static bool
grow_handling(struct request *request, size_t more)
{
    size_t most = request->plan.length, need = request->size + more;
    size_t room = 2 * request->room > HELD_FREE ? 2 * request->room : HELD_FREE;
    uint8_t *moved;
    if (need <= request->room) {
        return true;
    }
    room = room < need ? need : room;
    room = room > most ? most : room;
    if (need > room || !hold_memory(request, room)) {
        return false;
    }
    moved = host_wipe_resize(request->body, request->size, room);
    if (moved == NULL) {
        (void)hold_memory(request, request->room);
        return false;
    }
    request->body = moved;
    request->room = room;
    return true;
}

static void
refuse_request(struct request *request, unsigned status, enum refusal kind,
               const char *sentence)
{
    refusals_count(&request->collector->refusals, kind);
    request->plan.task = ROUTES_ANSWER;
    request->plan.answer = routes_error(status, sentence);
    request->drop = true;
    forget_body(request, 0);
}

static const char full[] = ROUTES_SENTENCE(
    "too many long requests are on their way at once: send fewer reports at a "
    "time, or try again after as many seconds as Retry-After says");
static const char waits[] =
    ROUTES_SENTENCE("too much waits for the disk: try again after as many "
                    "seconds as Retry-After says");
static const char unstored[] = ROUTES_SENTENCE(
    "the disk did not take the reports: none of them counts yet, send all "
    "again after as many seconds as Retry-After says");
static const char crowded[] = ROUTES_SENTENCE(
    "too many requests of this client are on their way: try again after as "
    "many seconds as Retry-After says");
static const char queued[] =
    ROUTES_SENTENCE("too many batches are on their way at once: take one after "
                    "the other, or try again after as many seconds as "
                    "Retry-After says");

static void
take_piece(struct request *request, const char *data, size_t size)
{
    connection_grew(is_known(request->connection), size);
    if (request->drop || request->plan.task != ROUTES_BODY) {
        return;
    }
    if (!grow_handling(request, size)) {
        refuse_request(request, 503, REFUSAL_BODIES, full);
        return;
    }
    memcpy(request->body + request->size, data, size);
    request->size += size;
}

/* ---- Answers ------------------------------------------------------------- */

/* What an answer refuses that has not been counted yet; REFUSALS: nothing. */
static enum refusal
name_refusal(const struct request *request, unsigned status)
{
    return request->plan.twofold              ? REFUSAL_HEAD
           : status == 401                    ? REFUSAL_TOKEN
           : status == 413                    ? REFUSAL_LONG
           : status == 410 && !request->batch ? REFUSAL_EXPIRED
                                              : REFUSALS;
}

/* Counts an answer, and what it refuses where that has not been counted. */
static void
count_answer(struct request *request, unsigned status)
{
    struct sotto_collector *collector = request->collector;
    enum refusal kind = name_refusal(request, status);
    metrics_answered(&collector->metrics, status);
    if (request->complete_at > 0) {
        metrics_took(&collector->metrics,
                     host_seconds() - request->complete_at);
    }
    if (kind != REFUSALS) {
        refusals_count(&collector->refusals, kind);
    }
}

/* Hands the answer to the server; the connection ends where it must. Nothing
   of the body is there any more when the client begins to read. */
static enum MHD_Result
send_answer(struct request *request, unsigned status,
            struct MHD_Response *response)
{
    struct sotto_collector *collector = request->collector;
    bool shared = response == NULL || response == collector->accepted_one;
    enum MHD_Result result;
    if (response == NULL) {
        status = 503;
        response = collector->busy;
    }
    if (!shared && (request->plan.cut || atomic_load(&collector->stopping))) {
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION,
                                      "close");
    }
    count_answer(request, status);
    forget_body(request, shared ? 0 : request->answer_most);
    connection_answered(is_known(request->connection),
                        status >= 200 && status < 300);
    result = MHD_queue_response(request->connection, status, response);
    if (!shared) {
        MHD_destroy_response(response);
    }
    return result;
}

static enum MHD_Result
send_plain(struct request *request)
{
    const struct routes_answer *answer = &request->plan.answer;
    bool of_campaign = request->plan.campaign != NULL && answer->status == 200;
    return send_answer(
        request, answer->status,
        answers_make(answer,
                     of_campaign ? campaigns_hold(request->campaigns) : NULL));
}

/* {"error":"..."} with a sentence of the judge's, which is plain text. */
static enum MHD_Result
send_sentence(struct request *request, unsigned status, const char *sentence)
{
    struct host_text text;
    host_text_init(&text, TEXT_MOST);
    host_text_print(&text, ROUTES_SENTENCE("%s"), sentence);
    if (text.failed) {
        host_text_clear(&text);
        return send_answer(request, status, NULL);
    }
    return send_answer(request, status,
                       answers_own(ROUTES_JSON, text.data, text.size));
}

/* What the reports came to: all of them are on disk. An answer for which there
   is no memory is none, since 503 would say that nothing counts. */
static enum MHD_Result
send_judged(struct request *request)
{
    struct sotto_collector *collector = request->collector;
    const struct judge *judge = &request->judge;
    struct host_text text;
    char *fitting;
    if (judge->count == 1 && judge->found[JUDGE_ACCEPTED] == 1 &&
        !atomic_load_explicit(&collector->stopping, memory_order_relaxed)) {
        return send_answer(request, 200, collector->accepted_one);
    }
    host_text_init(&text, request->answer_most);
    judge_write(judge, &text);
    if (text.failed) {
        host_text_clear(&text);
        return MHD_NO;
    }
    fitting = realloc(text.data, text.size); /* it grew by doubling */
    text.data = fitting != NULL ? fitting : text.data;
    request->answer_most = text.size;
    return send_answer(request, 200,
                       answers_own(ROUTES_JSON, text.data, text.size));
}

static enum MHD_Result
send_metrics(struct request *request)
{
    struct host_text text;
    host_text_init(&text, TEXT_MOST);
    watching_write(request->collector, request->campaigns, &text);
    if (text.failed) {
        host_text_clear(&text);
        return send_answer(request, 503, NULL);
    }
    return send_answer(
        request, 200,
        answers_own("text/plain; version=0.0.4", text.data, text.size));
}

/* As it was made last: nothing is computed here. */
static enum MHD_Result
send_page(struct request *request)
{
    static const char none[] =
        ROUTES_SENTENCE("there is no page of that name: /v1/page has all "
                        "campaigns");
    static const char soon[] = ROUTES_SENTENCE(
        "the page is being made: try again after as many seconds as "
        "Retry-After says");
    struct pages *pages = request->collector->pages;
    struct pages_held *held = NULL;
    size_t size = 0;
    const char *html = pages_find(pages, request->plan.page, &size, &held);
    if (html == NULL) {
        bool made = pages_find(pages, "", &size, &held) != NULL;
        pages_release(held);
        request->plan.answer =
            made ? routes_error(404, none) : routes_error(503, soon);
        return send_plain(request);
    }
    return send_answer(request, 200, answers_page(html, size, held));
}

/* ---- Batches ------------------------------------------------------------- */

static enum MHD_Result
send_batch(struct request *request)
{
    struct sotto_collector *collector = request->collector;
    struct MHD_Response *response = NULL;
    request->batch = true;
    if (atomic_fetch_add(&collector->batches_held, 1) >= BATCHES_MOST) {
        refuse_request(request, 503, REFUSAL_BATCHES, queued);
        return send_plain(request);
    }
    unsigned status = batches_answer(collector, request->plan.hash,
                                     request->plan.after, &response);
    return send_answer(request, status, response);
}

/* ---- Reports ------------------------------------------------------------- */

/* The writer's thread: the connection goes on, in its own, if it is still
   there; what is on disk counts in any case. */
static void
resume_request(struct writer_job *job)
{
    struct request *request = (struct request *)job;
    request->stage = SETTLED;
    if (job->stored) {
        metrics_judged(&request->collector->metrics, &request->judge);
    }
    MHD_resume_connection(request->connection);
}

static const char closed[] =
    "this campaign is closed: no report is taken any more";

static enum MHD_Result
judge_reports(struct request *request)
{
    struct sotto_collector *collector = request->collector;
    struct sotto_error err = {0};
    enum sotto_status status = judge_body(
        &request->judge, request->plan.campaign->mechanism, request->plan.form,
        collector->options.simulation, request->body, request->size,
        collector->options.reports_most, &err);
    size_t pending;
    if (status == SOTTO_STATUS_OK &&
        atomic_load(&request->plan.campaign->closed)) {
        return send_sentence(request, 410, closed);
    }
    if (status == SOTTO_STATUS_OK &&
        sotto_mechanism_check(request->plan.campaign->mechanism, &err) ==
            SOTTO_STATUS_REFUSED) {
        return send_sentence(request, 410,
                             "this campaign's mechanism has expired: no report "
                             "is taken any more");
    }
    if (status == SOTTO_STATUS_MEMORY) {
        return send_answer(request, 503, NULL);
    }
    if (status != SOTTO_STATUS_OK) {
        return send_sentence(request, status == SOTTO_STATUS_LIMIT ? 413 : 400,
                             err.message);
    }
    pending = request->judge.found[JUDGE_PENDING];
    request->answer_most =
        judge_answer_most(request->judge.count - pending, pending);
    if (!hold_memory(request, request->room + request->answer_most)) {
        refuse_request(request, 503, REFUSAL_BODIES, full);
        return send_plain(request);
    }
    if (pending == 0) {
        metrics_judged(&collector->metrics, &request->judge);
        return send_judged(request);
    }
    if (!writer_reserve(collector->writer, pending)) {
        refuse_request(request, 503, REFUSAL_QUEUE, waits);
        return send_plain(request);
    }
    request->stage = SUSPENDED;
    request->job.judge = &request->judge;
    request->job.campaign = request->plan.campaign->number;
    request->job.closed = false;
    request->job.done = resume_request;
    MHD_suspend_connection(request->connection);
    writer_submit(collector->writer, &request->job);
    return MHD_YES;
}

static enum MHD_Result
send_settled(struct request *request)
{
    if (request->job.stored) {
        return send_judged(request);
    }
    if (request->job.closed) {
        return send_sentence(request, 410, closed);
    }
    refuse_request(request, 503, REFUSAL_DISK, unstored);
    return send_plain(request);
}

/* ---- The request --------------------------------------------------------- */

static void
plan_request(struct request *request, const char *path, const char *method,
             const char *version)
{
    struct sotto_collector *collector = request->collector;
    struct routes_head head = {.method = method, .path = path};
    struct tokens tokens;
    const struct routes_state state = {
        .campaigns = request->campaigns,
        .tokens = &tokens,
        .operations = request->entrance->operations,
        .apart = collector->operations.daemon != NULL,
        .body_most = collector->options.body_most,
        .healthy = atomic_load(&collector->metrics.healthy),
        .behind = atomic_load(&collector->metrics.behind),
        .basic = request->entrance->basic,
        .damaged = atomic_load(&collector->metrics.damaged_reports) +
                       atomic_load(&collector->metrics.damaged_places) >
                   0,
    };
    head_read(request->connection, &request->line, version, &head);
    collector_tokens(collector, &tokens);
    routes_plan(&state, &head, &request->plan);
    explicit_bzero(&tokens, sizeof tokens);
}

/* Behind a proxy that names its clients, a request is of the origin that it
   names; false: that one has as many as it may. */
static bool
claim_origin(struct request *request)
{
    const char *name = request->collector->options.client_header;
    union proxy_address address;
    bool good = true;
    if (name != NULL && !request->entrance->operations &&
        head_client(request->connection, name, &address)) {
        good = connections_claim(request->entrance->connections,
                                 is_known(request->connection), &address.any);
        explicit_bzero(&address, sizeof address);
    }
    return good;
}

static enum MHD_Result
begin_handling(struct request *request, const char *path, const char *method,
               const char *version)
{
    atomic_fetch_add(&request->collector->active, 1);
    request->stage = ARRIVING;
    request->campaigns = collector_campaigns(request->collector);
    plan_request(request, path, method, version);
    if (!request->plan.cut && !claim_origin(request)) {
        refuse_request(request, 503, REFUSAL_CLIENT, crowded);
        request->plan.cut = true; /* else its body holds the proxy's place */
    }
    if (request->plan.cut) {
        return connection_complete(is_known(request->connection))
                   ? send_plain(request)
                   : MHD_NO;
    }
    return MHD_YES;
}

static enum MHD_Result
conclude_request(struct request *request)
{
    if (request->stage == SETTLED) {
        return send_settled(request);
    }
    if (!connection_complete(is_known(request->connection))) {
        return MHD_NO;
    }
    request->complete_at = host_seconds();
    switch (request->plan.task) {
    case ROUTES_BODY:
        return judge_reports(request);
    case ROUTES_BATCH:
        return send_batch(request);
    case ROUTES_METRICS:
        return send_metrics(request);
    case ROUTES_PAGE:
        return send_page(request);
    case ROUTES_ANSWER:
        break;
    }
    return send_plain(request);
}

enum MHD_Result
handler_access(void *entrance, struct MHD_Connection *connection,
               const char *path, const char *method, const char *version,
               const char *data, size_t *data_size, void **request)
{
    struct sotto_collector *all = ((struct entrance *)entrance)->collector;
    struct request *own = *request;
    if (own == NULL) {
        metrics_answered(&all->metrics, 503);
        return MHD_queue_response(connection, 503, all->busy);
    }
    if (own->stage == LINE) {
        return begin_handling(own, path, method, version);
    }
    if (*data_size > 0) {
        take_piece(own, data, *data_size);
        *data_size = 0;
        return MHD_YES;
    }
    return conclude_request(own);
}

/* What is no HTTP never gets to us: the library answers it, here after a first
   line that it took, in handler_connection before one. */
static void
count_library(struct request *request, enum MHD_RequestTerminationCode code)
{
    if (request->stage == LINE &&
        !connection_cut(is_known(request->connection)) &&
        (code == MHD_REQUEST_TERMINATED_COMPLETED_OK ||
         code == MHD_REQUEST_TERMINATED_WITH_ERROR)) {
        refusals_count(&request->collector->refusals, REFUSAL_LIBRARY);
    }
}

void
handler_completed(void *entrance, struct MHD_Connection *connection,
                  void **request, enum MHD_RequestTerminationCode code)
{
    struct sotto_collector *own = ((struct entrance *)entrance)->collector;
    struct request *done = *request;
    connection_sent(is_known(connection));
    if (done != NULL) {
        count_library(done, code);
        forget_body(done, 0);
        if (done->batch) {
            atomic_fetch_sub(&own->batches_held, 1);
        }
        if (done->stage != LINE) {
            campaigns_release(done->campaigns);
            atomic_fetch_sub(&own->active, 1);
        }
        free(done);
        *request = NULL;
    }
}
