/*
 * collector.c: the collector's life: starting, reading its mechanisms again,
 * stopping.
 *
 * Threads: for each entrance its server's few, which parse, judge and answer,
 * its door, which accepts, and its sweeper, which has the clock; the writer,
 * which owns the store. Signals are left to the
 * program's own threads.
 */
#include "collector/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "collector/listening.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/text.h"
#include "store/store.h"

#define BODIES_MOST 64u   /* bodies' worth of memory in all */
#define FILES_OF_OURS 64u /* besides connections */
#define ANSWER_S 600u     /* for an answer to be taken */
#define GRACE_S 5.0       /* for what has come, when stopping */
#define FINISH_S 10.0     /* and for the last window */
#define SICK_S 5.0        /* after a failure of the disk */
#define AGAIN_S 1.0       /* until a move that failed is tried again */
#define PATIENCE_S 60.0   /* with a reader that keeps the log from being cut */
#define OPERATIONS_MOST ((size_t)64) /* connections there */
#define QUIET_S 60u /* without a refusal of a kind, and it is over */
#define LOOK_S 1.0  /* until it is seen that a page is out of date */

void
collector_log(const struct sotto_collector *collector,
              enum sotto_log_level level, const char *code, const char *format,
              ...)
{
    char text[1024];
    va_list args;
    if (collector->options.log != NULL) {
        va_start(args, format);
        (void)vsnprintf(text, sizeof text, format, args);
        va_end(args);
        collector->options.log(collector->options.log_context, level, code,
                               text);
    }
}

struct campaigns *
collector_campaigns(struct sotto_collector *collector)
{
    struct campaigns *campaigns;
    (void)pthread_mutex_lock(&collector->lock);
    campaigns = campaigns_hold(collector->campaigns);
    (void)pthread_mutex_unlock(&collector->lock);
    return campaigns;
}

void
collector_tokens(struct sotto_collector *collector, struct tokens *ret_tokens)
{
    (void)pthread_mutex_lock(&collector->lock);
    *ret_tokens = collector->tokens;
    (void)pthread_mutex_unlock(&collector->lock);
}

/* ---- The server ---------------------------------------------------------- */

/* As many files as connections need; a system that gives fewer is named. */
static enum sotto_status
raise_files(const struct sotto_collector *collector, struct sotto_error *err)
{
    rlim_t need = collector->options.connections_most + OPERATIONS_MOST +
                  2 * CONNECTIONS_BEYOND + FILES_OF_OURS;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) {
        return SOTTO_STATUS_OK;
    }
    limit.rlim_cur = need;
    if (need > limit.rlim_max || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return settings_fail(err, "connections",
                             "%zu need %llu open files, and the system allows "
                             "%llu: raise the limit or take fewer",
                             collector->options.connections_most,
                             (unsigned long long)need,
                             (unsigned long long)limit.rlim_max);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Starting ------------------------------------------------------------ */

static enum sotto_status
make_answers(struct sotto_collector *collector, struct sotto_error *err)
{
    static const char one[] = "{\"accepted\":1,\"duplicate\":0,\"refused\":0,"
                              "\"duplicates\":[],\"refusals\":[]}\n";
    const struct routes_answer accepted = {.status = 200,
                                           .type = ROUTES_JSON,
                                           .body = one,
                                           .size = sizeof one - 1};
    const struct routes_answer busy =
        routes_error(503, ROUTES_SENTENCE("too much is going on: try again "
                                          "later"));
    collector->accepted_one = answers_make(&accepted, NULL);
    collector->busy = answers_make(&busy, NULL);
    return collector->accepted_one != NULL && collector->busy != NULL
               ? SOTTO_STATUS_OK
               : host_fail_memory(err);
}

static enum sotto_status
start_writer(struct sotto_collector *collector, struct sotto_error *err)
{
    const struct sotto_collector_options *options = &collector->options;
    const struct writer_options own = {
        .store = options->store,
        .window_keys = options->window_keys,
        .simulation = options->simulation,
        .waiting_most = options->waiting_most,
        .sick_s = SICK_S,
        .stop_s = FINISH_S,
        .mover =
            {
                .window_s = options->window_s,
                .batch_min = options->batch_min,
                .again_s = AGAIN_S,
                .patience_s = PATIENCE_S,
                .metrics = &collector->metrics,
                .log = options->log,
                .log_context = options->log_context,
            },
    };
    enum sotto_status status = writer_new(&own, &collector->writer, err);
    status = HOST_THEN(
        status, writer_campaigns(collector->writer, collector->campaigns, err));
    return status;
}

static struct campaigns *
lend_campaigns(void *collector)
{
    return collector_campaigns(collector);
}

/* Whoever has no token for reports gets no page: there is none then. */
static enum sotto_status
start_pages(struct sotto_collector *collector, struct sotto_error *err)
{
    const struct sotto_collector_options *options = &collector->options;
    const struct pages_options own = {
        .store = options->store,
        .simulation = options->simulation,
        .metrics = &collector->metrics,
        .campaigns = lend_campaigns,
        .context = collector,
        .look_s = LOOK_S,
        .log = options->log,
        .log_context = options->log_context,
    };
    return options->admin_token_file != NULL
               ? pages_new(&own, &collector->pages, err)
               : SOTTO_STATUS_OK;
}

static struct entrance_options
plan_entrance(const struct sotto_collector_options *options)
{
    /* The longest body with the longest answer must have room. */
    size_t least =
        options->body_most + judge_answer_most(options->reports_most, 0);
    size_t memory = BODIES_MOST * options->body_most;
    memory = memory < 4 * least ? 4 * least : memory;
    return (struct entrance_options){
        .place = options->listen,
        .plain = options->plain,
        .proxied = options->proxy_protocol,
        .threads = options->threads,
        .limits =
            {
                .most = options->connections_most,
                .address_most = options->address_most,
                .memory_most = memory,
                .memory_address_most =
                    options_know_clients(options) ? memory / 4 : memory,
                .request_s = options->request_s,
                .idle_s = options->idle_s,
                .answer_s = options->request_s > ANSWER_S ? options->request_s
                                                          : ANSWER_S,
            },
    };
}

/* Few come there, and all may come from one machine. */
static struct entrance_options
plan_operations(const struct sotto_collector_options *options)
{
    struct entrance_options plan = plan_entrance(options);
    plan.place = options->operations;
    plan.proxied = false;
    plan.threads = 1;
    plan.limits.most = plan.limits.address_most = OPERATIONS_MOST;
    plan.limits.memory_address_most = plan.limits.memory_most;
    return plan;
}

static enum sotto_status
listen_at(struct sotto_collector *collector,
          const struct sotto_collector_options *options,
          struct sotto_error *err)
{
    const struct entrance_options everybody = plan_entrance(options);
    const struct entrance_options operations = plan_operations(options);
    enum sotto_status status =
        entrance_listen(&collector->everybody, &everybody, err);
    if (options->operations != NULL) {
        status = HOST_THEN(
            status, entrance_listen(&collector->operations, &operations, err));
    }
    return status;
}

/* Operations first: they can see the others come. */
static enum sotto_status
let_in(struct sotto_collector *collector,
       const struct sotto_collector_options *options, struct sotto_error *err)
{
    const struct entrance_options everybody = plan_entrance(options);
    const struct entrance_options operations = plan_operations(options);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (options->operations != NULL) {
        status = entrance_open(&collector->operations, &operations, err);
    }
    return HOST_THEN(status,
                     entrance_open(&collector->everybody, &everybody, err));
}

/* Reads what a reload reads again, but for mechanisms; the certificate, NULL
   without TLS, is the caller's. */
static enum sotto_status
read_secrets(const struct sotto_collector_options *options,
             struct tokens *ret_tokens, struct certificate **ret_certificate,
             struct sotto_error *err)
{
    enum sotto_status status =
        tokens_read(options->admin_token_file, options->metrics_token_file,
                    ret_tokens, err);
    if (options->tls_cert != NULL) {
        status = HOST_THEN(status,
                           certificate_read(options->tls_cert, options->tls_key,
                                            ret_certificate, err));
    }
    return status;
}

static enum sotto_status
take_secrets(struct sotto_collector *collector, struct sotto_error *err)
{
    struct certificate *certificate = NULL;
    enum sotto_status status = read_secrets(
        &collector->options, &collector->tokens, &certificate, err);
    if (status != SOTTO_STATUS_OK || certificate == NULL) {
        return status;
    }
    collector->certificates = certificates_new();
    if (collector->certificates == NULL) {
        certificate_free(certificate);
        return host_fail_memory(err);
    }
    certificates_put(collector->certificates, certificate);
    return SOTTO_STATUS_OK;
}

/* Says which campaigns have another name in their addresses than ledgers know
   them by: whoever reads a ledger looks for them under that one. */
static void
tell_names(const struct sotto_collector *collector)
{
    struct sotto_mechanism_info info;
    for (size_t i = 0; i < collector->campaigns->count; i++) {
        const struct campaign *campaign = &collector->campaigns->campaign[i];
        sotto_mechanism_info(campaign->mechanism, &info);
        if (strcmp(campaign->name, info.campaign) != 0) {
            collector_log(collector, SOTTO_LOG_INFO, "campaign-name",
                          "/v1/campaigns/%s is the campaign \"%s\" to ledgers: "
                          "call the file %s.sotto to have one name",
                          campaign->name, info.campaign, info.campaign);
        }
    }
}

static enum sotto_status
start_collector(struct sotto_collector *collector,
                struct sotto_collector_options *options,
                struct sotto_error *err)
{
    enum sotto_status status = options_take(&collector->options, options, err);
    status = HOST_THEN(status, raise_files(collector, err));
    status = HOST_THEN(status, take_secrets(collector, err));
    status = HOST_THEN(status, campaigns_read(options->mechanisms, options->pub,
                                              &collector->campaigns, err));
    status = HOST_THEN(status, listen_at(collector, options, err));
    status = HOST_THEN(status, make_answers(collector, err));
    status = HOST_THEN(status, start_writer(collector, err));
    status = HOST_THEN(status, start_pages(collector, err));
    status = HOST_THEN(status, let_in(collector, options, err));
    if (status == SOTTO_STATUS_OK) {
        tell_names(collector);
    }
    return status;
}

/* Nothing of it is started; NULL: no memory. */
static struct sotto_collector *
make_collector(const struct sotto_collector_options *options)
{
    struct sotto_collector *collector = calloc(1, sizeof *collector);
    if (collector != NULL) {
        collector->everybody =
            (struct entrance){.collector = collector, .listener = -1};
        collector->operations = (struct entrance){
            .collector = collector, .operations = true, .listener = -1};
        collector->started_at = host_utc_now();
        metrics_init(&collector->metrics);
        refusals_init(&collector->refusals, options->log, options->log_context,
                      QUIET_S, options->window_s);
        (void)pthread_mutex_init(&collector->lock, NULL);
        (void)pthread_mutex_init(&collector->reading, NULL);
        (void)pthread_mutex_init(&collector->batches, NULL);
    }
    return collector;
}

static enum sotto_status
init_random(struct sotto_error *err)
{
    return sodium_init() >= 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_ENTROPY, 0, "%s",
                           sotto_status_message(SOTTO_STATUS_ENTROPY));
}

enum sotto_status
sotto_collector_start(const struct sotto_collector_options *options,
                      struct sotto_collector **ret_collector,
                      struct sotto_error *err)
{
    struct sotto_collector_options own = *options;
    struct sotto_collector *collector;
    sigset_t all, before;
    enum sotto_status status = init_random(err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    collector = make_collector(options);
    if (collector == NULL) {
        return host_fail_memory(err);
    }
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    status = start_collector(collector, &own, err);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == SOTTO_STATUS_OK) {
        *ret_collector = collector;
    } else {
        sotto_collector_stop(collector);
    }
    return status;
}

static enum sotto_status
check_store(const struct sotto_collector *collector, struct sotto_error *err)
{
    const struct sotto_collector_options *options = &collector->options;
    bool new = false;
    enum sotto_status status = store_try(options->store, options->window_keys,
                                         options->simulation, &new, err);
    if (status == SOTTO_STATUS_OK && new) {
        collector_log(collector, SOTTO_LOG_INFO, "store-new",
                      "'%s' has no store yet: the first start makes it, and "
                      "may",
                      host_shown(options->store));
    }
    return status;
}

enum sotto_status
sotto_collector_check(const struct sotto_collector_options *options,
                      struct sotto_error *err)
{
    struct sotto_collector_options own = *options;
    struct sotto_collector *collector;
    bool open;
    enum sotto_status status = init_random(err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    collector = make_collector(options);
    if (collector == NULL) {
        return host_fail_memory(err);
    }
    status = options_take(&collector->options, &own, err);
    status = HOST_THEN(status, raise_files(collector, err));
    status = HOST_THEN(status, take_secrets(collector, err));
    status = HOST_THEN(status, campaigns_read(own.mechanisms, own.pub,
                                              &collector->campaigns, err));
    open = own.tls_cert != NULL || own.plain;
    status = HOST_THEN(status, listening_check(own.listen, open, err));
    if (own.operations != NULL) {
        status = HOST_THEN(status, listening_check(own.operations, open, err));
    }
    status = HOST_THEN(status, check_store(collector, err));
    if (status == SOTTO_STATUS_OK) {
        tell_names(collector);
    }
    sotto_collector_stop(collector);
    return status;
}

unsigned
sotto_collector_port(const struct sotto_collector *collector)
{
    return collector->everybody.port;
}

unsigned
sotto_collector_operations_port(const struct sotto_collector *collector)
{
    return collector->operations.port;
}

void
sotto_collector_count(struct sotto_collector *collector,
                      struct sotto_collector_counts *ret_counts)
{
    struct metrics *metrics = &collector->metrics;
    *ret_counts = (struct sotto_collector_counts){
        .accepted = atomic_load(&metrics->reports[JUDGE_ACCEPTED]),
        .commits = atomic_load(&metrics->commits),
        .windows = atomic_load(&metrics->windows),
    };
}

/* ---- Reading again ------------------------------------------------------- */

/* All of it, or nothing. */
static enum sotto_status
read_again(struct sotto_collector *collector, struct sotto_error *err)
{
    const struct sotto_collector_options *options = &collector->options;
    struct campaigns *next = NULL, *before;
    struct certificate *certificate = NULL;
    struct tokens tokens = {{0}, {0}};
    enum sotto_status status =
        read_secrets(options, &tokens, &certificate, err);
    status = HOST_THEN(
        status, campaigns_read(options->mechanisms, options->pub, &next, err));
    status =
        HOST_THEN(status, campaigns_follow(collector->campaigns, next, err));
    status = HOST_THEN(status, writer_campaigns(collector->writer, next, err));
    if (status == SOTTO_STATUS_OK) {
        (void)pthread_mutex_lock(&collector->lock);
        before = collector->campaigns;
        collector->campaigns = next;
        collector->tokens = tokens;
        (void)pthread_mutex_unlock(&collector->lock);
        next = before;
        if (certificate != NULL) {
            certificates_put(collector->certificates, certificate);
            certificate = NULL;
        }
    }
    certificate_free(certificate);
    campaigns_release(next);
    sodium_memzero(&tokens, sizeof tokens);
    return status;
}

enum sotto_status
sotto_collector_reload(struct sotto_collector *collector,
                       struct sotto_error *err)
{
    enum sotto_status status;
    (void)pthread_mutex_lock(&collector->reading);
    status = read_again(collector, err);
    atomic_fetch_add(status == SOTTO_STATUS_OK ? &collector->reloads
                                               : &collector->reload_failures,
                     1);
    atomic_store(&collector->reload_failed, status != SOTTO_STATUS_OK);
    (void)pthread_mutex_unlock(&collector->reading);
    return status;
}

/* ---- Stopping ------------------------------------------------------------ */

/* Until no request is on its way, for so long at most. */
static void
wait_for_requests(struct sotto_collector *collector, double seconds)
{
    const struct timespec pause = {0, 5000000};
    double end = host_seconds() + seconds;
    while (atomic_load(&collector->active) > 0 && host_seconds() < end) {
        (void)nanosleep(&pause, NULL);
    }
}

static void
stop_server(struct sotto_collector *collector)
{
    entrance_shut(&collector->everybody);
    atomic_store(&collector->stopping, true);
    wait_for_requests(collector, GRACE_S);
    /* From here on reports are answered 503, and none is suspended. */
    writer_drain(collector->writer);
    wait_for_requests(collector, 1);
}

void
sotto_collector_stop(struct sotto_collector *collector)
{
    if (collector == NULL) {
        return;
    }
    if (collector->everybody.daemon != NULL) {
        stop_server(collector);
    }
    entrance_close(&collector->everybody);
    entrance_close(&collector->operations);
    pages_free(collector->pages);
    writer_free(collector->writer);
    campaigns_release(collector->campaigns);
    certificates_free(collector->certificates);
    if (collector->accepted_one != NULL) {
        MHD_destroy_response(collector->accepted_one);
    }
    if (collector->busy != NULL) {
        MHD_destroy_response(collector->busy);
    }
    options_free(&collector->options);
    (void)pthread_mutex_destroy(&collector->batches);
    (void)pthread_mutex_destroy(&collector->reading);
    (void)pthread_mutex_destroy(&collector->lock);
    refusals_clear(&collector->refusals);
    sodium_memzero(&collector->tokens, sizeof collector->tokens);
    free(collector);
}
