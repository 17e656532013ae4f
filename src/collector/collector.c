/*
 * collector.c: the collector's life: starting, reading its mechanisms again,
 * stopping.
 *
 * Threads: the server's few, which parse, judge and answer; the writer, which
 * owns the store; the sweeper, which has the clock. Signals are left to the
 * program's own threads.
 */
#include "collector/collector.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
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
#include "host/file.h"
#include "host/settings.h"
#include "host/text.h"
#include "host/wipe.h"

#define PEM_MOST ((size_t)1 << 20)
#define BODIES_MOST 64u                   /* bodies' worth of memory in all */
#define CONNECTION_MEMORY ((size_t)32768) /* of the server: heads, pieces */
#define FILES_OF_OURS 64u                 /* besides connections */
#define ANSWER_S 600u                     /* for an answer to be taken */
#define GRACE_S 5.0                       /* for what has come, when stopping */
#define FINISH_S 10.0                     /* and for the last window */
#define SICK_S 5.0                        /* after a failure of the disk */
#define AGAIN_S 1.0     /* until a move that failed is tried again */
#define PATIENCE_S 60.0 /* with a reader that keeps the log from being cut */
#define ADDRESS_MOST 256u

/* TLS 1.2 and 1.3 alone, each with an elliptic curve's forward secrecy and an
   authenticated cipher: finite fields cost a server far more than who asks. No
   tickets: one that comes back is a name. scripts/tls looks at what is left. */
static const char priorities[] =
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:"
    "+ECDHE-RSA:-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:"
    "-MAC-ALL:+AEAD:-GROUP-ALL:+GROUP-X25519:+GROUP-SECP256R1:"
    "+GROUP-SECP384R1:%SERVER_PRECEDENCE:%NO_TICKETS";

void
collector_log(const struct sotto_collector *collector,
              enum sotto_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (collector->options.log != NULL) {
        va_start(args, format);
        (void)vsnprintf(text, sizeof text, format, args);
        va_end(args);
        collector->options.log(collector->options.log_context, level, text);
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

/* ---- Options ------------------------------------------------------------- */

#define AT(field) offsetof(struct sotto_collector_options, field)

static const struct setting settings[] = {
    SETTING_NEEDED("mechanism", AT(mechanisms), "M",
                   "a signed mechanism, or a folder of them"),
    SETTING_NEEDED("pub", AT(pub), "K.pub", "the public key that signed them"),
    SETTING_NEEDED("store", AT(store), "URL",
                   "where reports are kept: sqlite:PATH, made if it is\n"
                   "not there, or postgres://HOST/DATABASE"),
    SETTING("window-keys", TEXT, AT(window_keys), 0, 0, NULL, "DIR",
            "with postgres: a folder of this collector's own for\n"
            "the keys of what waits; made if it is not there"),
    SETTING("listen", TEXT, AT(listen), 0, 0, SOTTO_LISTEN_DEFAULT, "HOST:PORT",
            "where to listen; port 0: any, no HOST: every address\n"
            "of the machine"),
    SETTING("tls-cert", TEXT, AT(tls_cert), 0, 0, NULL, "F",
            "certificate and chain, PEM"),
    SETTING("tls-key", TEXT, AT(tls_key), 0, 0, NULL, "F", "its key, PEM"),
    SETTING("plain-behind-proxy", FLAG, AT(plain), 0, 0, NULL, NULL,
            "something in front of it does TLS: listen without,\n"
            "also on other addresses than loopback"),
    SETTING("admin-token-file", TEXT, AT(admin_token_file), 0, 0, NULL, "F",
            "the analyst's token, 16 characters or more, 8 of them\n"
            "different, for batches and metrics; without it there\n"
            "are none"),
    SETTING("simulation", FLAG, AT(simulation), 0, 0, NULL, NULL,
            "take simulated reports, and no others"),
    SETTING("window", WHOLE, AT(window_s), 1, 604800, "600", "S",
            "seconds until reports lose their ids and order"),
    SETTING("batch-min", SIZE, AT(batch_min), 1, 131072, "1000", NULL,
            "reports released together, at least"),
    SETTING("body-most", SIZE, AT(body_most), 64, 1 << 30, "4194304", "BYTES",
            "of a request"),
    SETTING("reports-most", SIZE, AT(reports_most), 1, 1000000, "10000", NULL,
            "of a request"),
    SETTING("connections", SIZE, AT(connections_most), 1, 1 << 20, "1024", NULL,
            "at a time"),
    SETTING("per-address", SIZE, AT(address_most), 1, 1 << 20, NULL, NULL,
            "of one address at a time (256; all behind a proxy)"),
    SETTING("request-time", WHOLE, AT(request_s), 1, 3600, "20", "S",
            "seconds that a request may take to arrive"),
    SETTING("idle-time", WHOLE, AT(idle_s), 1, 3600, "60", "S",
            "seconds until the next one must begin"),
    SETTING("waiting-most", SIZE, AT(waiting_most), 1, 1 << 24, "65536", NULL,
            "reports that may wait for the disk"),
    SETTING("threads", WHOLE, AT(threads), 1, 64, "2", NULL, "that answer"),
    SETTING_END};

bool
sotto_collector_setting_at(size_t i, struct sotto_setting_info *ret_setting)
{
    return settings_tell(settings, i, ret_setting);
}

enum sotto_status
sotto_collector_set(struct sotto_collector_options *options,
                    const struct sotto_setting *set, size_t sets,
                    struct sotto_error *err)
{
    return settings_set(settings, options, set, sets, err);
}

static enum sotto_status
check_options(const struct sotto_collector_options *options,
              struct sotto_error *err)
{
    if ((options->tls_cert == NULL) != (options->tls_key == NULL)) {
        return settings_fail(err,
                             options->tls_cert != NULL ? "tls-cert" : "tls-key",
                             "is given alone: TLS needs a certificate and its "
                             "key");
    }
    if (options->plain && options->tls_cert != NULL) {
        return settings_fail(err, "plain-behind-proxy",
                             "says that something else does TLS: leave it out, "
                             "or the certificate");
    }
    if (options->batch_min == 1) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "a batch of one report shows when it came: at least "
                         "2 are released together, and 1,000 are better");
    }
    /* A body that could never be put into the queue would be told to come
       again for ever. */
    return options->reports_most <= options->waiting_most
               ? SOTTO_STATUS_OK
               : settings_fail(err, "waiting-most",
                               "%zu: a request may have %zu reports, and only "
                               "%zu may wait for the disk: let more wait, or "
                               "take fewer at a time",
                               options->waiting_most, options->reports_most,
                               options->waiting_most);
}

static bool
copy_text(const char **text)
{
    if (*text != NULL) {
        *text = host_text_copy(*text, strlen(*text));
        return *text != NULL;
    }
    return true;
}

static void
free_text(const char *text)
{
    char *plain;
    memcpy(&plain, &text, sizeof plain);
    free(plain);
}

/* Takes over the options, completed and checked; the strings that are needed
   later are copied. */
static enum sotto_status
take_options(struct sotto_collector *collector,
             struct sotto_collector_options *options, struct sotto_error *err)
{
    struct sotto_collector_options *own = &collector->options;
    enum sotto_status status = settings_complete(settings, options, err);
    status = HOST_THEN(status, check_options(options, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (options->address_most == 0) {
        /* Behind a proxy all connections are of one address. */
        options->address_most =
            options->plain ? options->connections_most : ADDRESS_MOST;
    }
    *own = *options;
    own->tls_cert = own->tls_key = own->admin_token_file = NULL;
    own->listen = NULL;
    const char **const text[] = {&own->mechanisms, &own->pub, &own->store,
                                 &own->window_keys};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        if (status != SOTTO_STATUS_OK) {
            *text[i] = NULL; /* it is the caller's */
        } else if (!copy_text(text[i])) {
            status = host_fail_memory(err);
        }
    }
    return status;
}

/* ---- The server ---------------------------------------------------------- */

/* As many files as connections need; a system that gives fewer is named. */
static enum sotto_status
raise_files(const struct sotto_collector *collector, struct sotto_error *err)
{
    rlim_t need = collector->options.connections_most + FILES_OF_OURS;
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

/* Paths are compared as they came: no name needs an escape. */
static size_t
leave_escapes(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

struct pem {
    uint8_t *cert, *key;
    size_t cert_size, key_size;
};

static enum sotto_status
read_pem(const struct sotto_collector_options *options, struct pem *pem,
         struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    char *text;
    if (options->tls_cert == NULL) {
        return status;
    }
    status = host_file_read(options->tls_cert, PEM_MOST, &pem->cert,
                            &pem->cert_size, err);
    status = HOST_THEN(status, host_file_read(options->tls_key, PEM_MOST,
                                              &pem->key, &pem->key_size, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    /* The server takes texts. */
    text = host_text_copy(pem->cert, pem->cert_size);
    free(pem->cert);
    pem->cert = (uint8_t *)text;
    text = host_text_copy(pem->key, pem->key_size);
    host_wipe_free(pem->key, pem->key_size);
    pem->key = (uint8_t *)text;
    return pem->cert != NULL && pem->key != NULL ? SOTTO_STATUS_OK
                                                 : host_fail_memory(err);
}

static struct MHD_Daemon *
start_daemon(struct sotto_collector *collector, const struct pem *pem)
{
    const struct sotto_collector_options *options = &collector->options;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, pem->cert},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, pem->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_SUPPRESS_DATE_NO_CLOCK | MHD_USE_TURBO;
    unsigned threads = options->threads;
    memcpy(&tls[2].ptr_value, &(const char *){priorities}, sizeof(void *));
    if (pem->cert != NULL) {
        flags |= MHD_USE_TLS;
    } else {
        tls[0].option = MHD_OPTION_END;
    }
    return MHD_start_daemon(
        flags, 0, handler_accept, collector, handler_access, collector,
        MHD_OPTION_LISTEN_SOCKET, collector->listener,
        MHD_OPTION_THREAD_POOL_SIZE, threads > 1 ? threads : 0,
        MHD_OPTION_CONNECTION_LIMIT,
        /* Ours is exact; each thread of the server gets a share of this. */
        (unsigned)options->connections_most * threads + threads,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, handler_connection, collector,
        MHD_OPTION_NOTIFY_COMPLETED, handler_completed, collector,
        MHD_OPTION_URI_LOG_CALLBACK, handler_line, collector,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static enum sotto_status
start_server(struct sotto_collector *collector,
             const struct sotto_collector_options *options,
             struct sotto_error *err)
{
    struct pem pem = {0};
    enum sotto_status status = read_pem(options, &pem, err);
    if (status == SOTTO_STATUS_OK && pem.cert != NULL &&
        MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "this system's HTTP library was built without TLS");
    }
    if (status == SOTTO_STATUS_OK) {
        collector->daemon = start_daemon(collector, &pem);
    }
    if (status == SOTTO_STATUS_OK && collector->daemon == NULL) {
        status = pem.cert == NULL
                     ? host_fail(err, SOTTO_STATUS_IO, 0,
                                 "the HTTP server does not start: %s",
                                 strerror(errno))
                     : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                                 "'%s' and '%s' are no certificate and its key "
                                 "in PEM form, without a password",
                                 host_shown(options->tls_cert),
                                 host_shown(options->tls_key));
    }
    free(pem.cert);
    host_wipe_free(pem.key, pem.key != NULL ? pem.key_size : 0);
    return status;
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

static enum sotto_status
start_connections(struct sotto_collector *collector, bool tls,
                  struct sotto_error *err)
{
    const struct sotto_collector_options *options = &collector->options;
    /* The longest body with the longest answer must have room. */
    size_t least =
        options->body_most + judge_answer_most(options->reports_most, 0);
    size_t memory = BODIES_MOST * options->body_most;
    if (memory < 4 * least) {
        memory = 4 * least;
    }
    const struct connections_limits limits = {
        .most = options->connections_most,
        .address_most = options->address_most,
        .memory_most = memory,
        .memory_address_most =
            options->plain ? memory : memory / 4, /* a proxy: all */
        .request_s = options->request_s,
        .idle_s = options->idle_s,
        .answer_s =
            options->request_s > ANSWER_S ? options->request_s : ANSWER_S,
        .plain = !tls,
    };
    return connections_new(&limits, &collector->metrics,
                           &collector->connections, err);
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
            collector_log(collector, SOTTO_LOG_INFO,
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
    bool tls = options->tls_cert != NULL;
    enum sotto_status status = take_options(collector, options, err);
    status = HOST_THEN(status, raise_files(collector, err));
    status = HOST_THEN(
        status, token_read(&collector->token, options->admin_token_file, err));
    status = HOST_THEN(status, campaigns_read(options->mechanisms, options->pub,
                                              &collector->campaigns, err));
    status = HOST_THEN(
        status, listening_open(options->listen, tls || options->plain,
                               &collector->listener, &collector->port, err));
    status = HOST_THEN(status, make_answers(collector, err));
    status = HOST_THEN(status, start_writer(collector, err));
    status = HOST_THEN(status, start_connections(collector, tls, err));
    status = HOST_THEN(status, start_server(collector, options, err));
    if (status == SOTTO_STATUS_OK) {
        tell_names(collector);
    }
    return status;
}

enum sotto_status
sotto_collector_start(const struct sotto_collector_options *options,
                      struct sotto_collector **ret_collector,
                      struct sotto_error *err)
{
    struct sotto_collector_options own = *options;
    struct sotto_collector *collector;
    sigset_t all, before;
    enum sotto_status status;
    if (sodium_init() < 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0, "%s",
                         sotto_status_message(SOTTO_STATUS_ENTROPY));
    }
    collector = calloc(1, sizeof *collector);
    if (collector == NULL) {
        return host_fail_memory(err);
    }
    collector->listener = -1;
    metrics_init(&collector->metrics);
    (void)pthread_mutex_init(&collector->lock, NULL);
    (void)pthread_mutex_init(&collector->reading, NULL);
    (void)pthread_mutex_init(&collector->batches, NULL);
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

unsigned
sotto_collector_port(const struct sotto_collector *collector)
{
    return collector->port;
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

enum sotto_status
sotto_collector_reload(struct sotto_collector *collector,
                       struct sotto_error *err)
{
    struct campaigns *next = NULL, *before;
    enum sotto_status status;
    (void)pthread_mutex_lock(&collector->reading);
    status = campaigns_read(collector->options.mechanisms,
                            collector->options.pub, &next, err);
    status =
        HOST_THEN(status, campaigns_follow(collector->campaigns, next, err));
    status = HOST_THEN(status, writer_campaigns(collector->writer, next, err));
    if (status == SOTTO_STATUS_OK) {
        (void)pthread_mutex_lock(&collector->lock);
        before = collector->campaigns;
        collector->campaigns = next;
        (void)pthread_mutex_unlock(&collector->lock);
        next = before;
    }
    campaigns_release(next);
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
    int listener = MHD_quiesce_daemon(collector->daemon);
    atomic_store(&collector->stopping, true);
    wait_for_requests(collector, GRACE_S);
    /* From here on reports are answered 503, and none is suspended. */
    writer_drain(collector->writer);
    wait_for_requests(collector, 1);
    MHD_stop_daemon(collector->daemon);
    collector->listener = listener;
}

void
sotto_collector_stop(struct sotto_collector *collector)
{
    if (collector == NULL) {
        return;
    }
    if (collector->daemon != NULL) {
        stop_server(collector);
    }
    if (collector->listener >= 0) {
        (void)close(collector->listener);
    }
    writer_free(collector->writer);
    connections_free(collector->connections);
    campaigns_release(collector->campaigns);
    if (collector->accepted_one != NULL) {
        MHD_destroy_response(collector->accepted_one);
    }
    if (collector->busy != NULL) {
        MHD_destroy_response(collector->busy);
    }
    free_text(collector->options.mechanisms);
    free_text(collector->options.pub);
    free_text(collector->options.store);
    free_text(collector->options.window_keys);
    (void)pthread_mutex_destroy(&collector->batches);
    (void)pthread_mutex_destroy(&collector->reading);
    (void)pthread_mutex_destroy(&collector->lock);
    sodium_memzero(&collector->token, sizeof collector->token);
    free(collector);
}
