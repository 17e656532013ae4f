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
#include "host/error.h"
#include "host/wipe.h"
#include "store/store.h"

#define HELD_FREE ((size_t)16384) /* bytes of a request outside the pool */
#define BATCHES_MOST 8u           /* in memory at a time */
#define TEXT_MOST ((size_t)1 << 20)

enum stage { LINE, ARRIVING, SUSPENDED, SETTLED };

struct request {
    struct writer_job job; /* first: the writer hands it back */
    struct judge judge;
    struct sotto_collector *collector;
    struct MHD_Connection *connection;
    struct campaigns *campaigns;
    struct routes_plan plan;
    enum stage stage;
    const char *line_end; /* of the path and query, where the server has them */
    bool drop;            /* the rest of the body */
    bool batch;           /* it counts among batches_held */
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

enum MHD_Result
handler_accept(void *collector, const struct sockaddr *address, socklen_t size)
{
    struct sotto_collector *own = collector;
    (void)size;
    return connections_room(own->connections, address) ? MHD_YES : MHD_NO;
}

void
handler_connection(void *collector, struct MHD_Connection *connection,
                   void **socket_context,
                   enum MHD_ConnectionNotificationCode code)
{
    struct sotto_collector *own = collector;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd = MHD_get_connection_info(
            connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *address = MHD_get_connection_info(
            connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        if (fd != NULL && address != NULL) {
            *socket_context = connections_open(own->connections, fd->connect_fd,
                                               address->client_addr);
        }
    } else {
        connections_close(own->connections, *socket_context);
        *socket_context = NULL;
    }
}

/* NULL, no memory, is answered when the head is there. */
void *
handler_line(void *collector, const char *uri,
             struct MHD_Connection *connection)
{
    struct request *request = calloc(1, sizeof *request);
    connection_line(is_known(connection));
    if (request != NULL) {
        request->collector = collector;
        request->connection = connection;
        request->line_end = uri + strlen(uri);
    }
    return request;
}

/* ---- Bodies -------------------------------------------------------------- */

/* Makes `size` what the request has of memory; false: it cannot be more. */
static bool
hold_memory(struct request *request, size_t size)
{
    struct connections *connections = request->collector->connections;
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
refuse_request(struct request *request, unsigned status, const char *sentence)
{
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
static const char unread[] =
    ROUTES_SENTENCE("the batch cannot be read: the collector's log says why");
static const char queued[] =
    ROUTES_SENTENCE("too many batches are on their way at once: take one after "
                    "the other, or try again after as many seconds as "
                    "Retry-After says");

static void
take_piece(struct request *request, const char *data, size_t size)
{
    if (request->drop || request->plan.task != ROUTES_BODY) {
        return;
    }
    if (!grow_handling(request, size)) {
        refuse_request(request, 503, full);
        return;
    }
    memcpy(request->body + request->size, data, size);
    request->size += size;
}

/* ---- Answers ------------------------------------------------------------- */

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
    metrics_answered(&collector->metrics, status);
    forget_body(request, shared ? 0 : request->answer_most);
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
    struct sotto_collector *collector = request->collector;
    const struct campaigns *campaigns = request->campaigns;
    struct host_text text;
    host_text_init(&text, TEXT_MOST);
    metrics_write(&collector->metrics, &text);
    host_text_print(&text,
                    "# HELP sotto_campaign_reports reports in the store, "
                    "when the last window was moved\n"
                    "# TYPE sotto_campaign_reports gauge\n");
    for (size_t i = 0; i < campaigns->count; i++) {
        struct campaign *campaign = &campaigns->campaign[i];
        host_text_print(
            &text,
            "sotto_campaign_reports{campaign=\"%s\",at=\"waiting\"} %llu\n"
            "sotto_campaign_reports{campaign=\"%s\",at=\"released\"} %llu\n",
            campaign->name, (unsigned long long)atomic_load(&campaign->waiting),
            campaign->name,
            (unsigned long long)atomic_load(&campaign->released));
    }
    if (text.failed) {
        host_text_clear(&text);
        return send_answer(request, 503, NULL);
    }
    return send_answer(
        request, 200,
        answers_own("text/plain; version=0.0.4", text.data, text.size));
}

/* ---- Batches ------------------------------------------------------------- */

static enum sotto_status
read_batch(struct request *request, struct store_batch *ret_batch,
           struct sotto_error *err)
{
    struct sotto_collector *collector = request->collector;
    struct store_reader *reader = NULL;
    enum sotto_status status;
    (void)pthread_mutex_lock(&collector->batches);
    status = store_reader_open(collector->options.store, &reader, NULL, err);
    status = HOST_THEN(status,
                       store_reader_next(reader, request->plan.hash,
                                         request->plan.after, ret_batch, err));
    store_reader_free(reader);
    (void)pthread_mutex_unlock(&collector->batches);
    return status;
}

static enum MHD_Result
send_batch(struct request *request)
{
    struct sotto_error err = {0};
    struct store_batch batch = {0};
    struct MHD_Response *response;
    static const struct routes_answer none = {.status = 204};
    request->batch = true;
    if (atomic_fetch_add(&request->collector->batches_held, 1) >=
        BATCHES_MOST) {
        refuse_request(request, 503, queued);
        return send_plain(request);
    }
    if (read_batch(request, &batch, &err) != SOTTO_STATUS_OK) {
        collector_log(request->collector, SOTTO_LOG_ERROR,
                      "a batch cannot be read: %s", err.message);
        refuse_request(request, 503, unread);
        return send_plain(request);
    }
    if (batch.number == 0) {
        return send_answer(request, none.status, answers_make(&none, NULL));
    }
    response = answers_own(ROUTES_BINARY, batch.reports, batch.size);
    if (response != NULL &&
        !answers_number(response, "Sotto-Batch", batch.number)) {
        MHD_destroy_response(response);
        response = NULL;
    }
    atomic_fetch_add(&request->collector->metrics.batches, 1);
    return send_answer(request, 200, response);
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
    if (status == SOTTO_STATUS_OK && request->plan.campaign->closed) {
        return send_sentence(request, 410,
                             "this campaign is closed: no report is taken any "
                             "more");
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
        refuse_request(request, 503, full);
        return send_plain(request);
    }
    if (pending == 0) {
        metrics_judged(&collector->metrics, &request->judge);
        return send_judged(request);
    }
    if (!writer_reserve(collector->writer, pending)) {
        refuse_request(request, 503, waits);
        return send_plain(request);
    }
    request->stage = SUSPENDED;
    request->job.judge = &request->judge;
    request->job.campaign = request->plan.campaign->number;
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
    refuse_request(request, 503, unstored);
    return send_plain(request);
}

/* ---- The request --------------------------------------------------------- */

static void
plan_request(struct request *request, const char *path, const char *method,
             const char *version)
{
    struct sotto_collector *collector = request->collector;
    struct routes_head head = {.method = method, .path = path};
    const struct routes_state state = {
        .campaigns = request->campaigns,
        .token = &collector->token,
        .body_most = collector->options.body_most,
        .healthy = atomic_load(&collector->metrics.healthy),
        .behind = atomic_load(&collector->metrics.behind),
        .damaged = atomic_load(&collector->metrics.damaged_reports) +
                       atomic_load(&collector->metrics.damaged_places) >
                   0,
    };
    head_read(request->connection, request->line_end, version, &head);
    routes_plan(&state, &head, &request->plan);
}

static enum MHD_Result
begin_handling(struct request *request, const char *path, const char *method,
               const char *version)
{
    atomic_fetch_add(&request->collector->active, 1);
    request->stage = ARRIVING;
    request->campaigns = collector_campaigns(request->collector);
    plan_request(request, path, method, version);
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
    switch (request->plan.task) {
    case ROUTES_BODY:
        return judge_reports(request);
    case ROUTES_BATCH:
        return send_batch(request);
    case ROUTES_METRICS:
        return send_metrics(request);
    case ROUTES_ANSWER:
        break;
    }
    return send_plain(request);
}

enum MHD_Result
handler_access(void *collector, struct MHD_Connection *connection,
               const char *path, const char *method, const char *version,
               const char *data, size_t *data_size, void **request)
{
    struct sotto_collector *all = collector;
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

void
handler_completed(void *collector, struct MHD_Connection *connection,
                  void **request, enum MHD_RequestTerminationCode code)
{
    struct sotto_collector *own = collector;
    struct request *done = *request;
    (void)code;
    connection_sent(is_known(connection));
    if (done != NULL) {
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
