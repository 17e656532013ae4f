/*
 * cmd_serve.c: sotto serve: the collector.
 *
 * The first line on standard output says where it listens; from then on it
 * answers. What else there is to say is one line each on standard error, and
 * never anything of a report or of who sent it.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"

/* ---- What it says -------------------------------------------------------- */

struct speaker {
    pthread_mutex_t lock; /* threads of the collector speak, too */
    bool json;
};

static void
speak(void *context, enum sotto_log_level level, const char *text)
{
    static const char *const names[] = {"info", "warning", "error"};
    struct speaker *speaker = context;
    (void)pthread_mutex_lock(&speaker->lock);
    if (speaker->json) {
        json_begin(stderr);
        json_text(stderr, "level", names[level]);
        json_text(stderr, "message", text);
        json_end(stderr);
    } else if (level == SOTTO_LOG_INFO) {
        cli_note("%s", text);
    } else {
        cli_error("%s", text);
    }
    (void)pthread_mutex_unlock(&speaker->lock);
}

/* Where it listens: the host as it was given, the port as it is. */
static void
say_listening(const struct speaker *speaker, const char *listen, bool tls,
              unsigned port)
{
    const char *colon = strrchr(listen, ':');
    char place[512];
    (void)snprintf(place, sizeof place, "%.*s:%u", (int)(colon - listen),
                   listen, port);
    if (speaker->json) {
        json_begin(stdout);
        json_text(stdout, "listening", place);
        json_bool(stdout, "tls", tls);
        json_end(stdout);
    } else {
        (void)printf("listening on ");
        cli_put(stdout, place, strlen(place));
        (void)printf("%s\n", tls ? " with TLS" : "");
    }
    (void)fflush(stdout);
}

static int
write_port(const char *path, unsigned port)
{
    struct output_file file;
    if (path == NULL) {
        return CLI_EXIT_DONE;
    }
    if (!output_file_open(&file, path)) {
        return CLI_EXIT_FAILED;
    }
    (void)fprintf(file.stream, "%u\n", port);
    return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

/* ---- Signals ------------------------------------------------------------- */

/* Handlers, which run in whatever thread the system takes: libraries have
   threads, too, that know nothing of a mask set here. */
static sem_t asked;
static volatile sig_atomic_t asked_stop, asked_reload;

static void
take_signal(int number)
{
    int before = errno;
    if (number == SIGHUP) {
        asked_reload = 1;
    } else {
        asked_stop = 1;
    }
    (void)sem_post(&asked);
    errno = before;
}

static void
take_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = take_signal,
                               .sa_flags = SA_RESTART};
    (void)sem_init(&asked, 0, 0);
    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
}

static void
reload(struct sotto_collector *collector, struct speaker *speaker)
{
    struct sotto_error err = {0};
    char text[sizeof err.message + 64];
    if (sotto_collector_reload(collector, &err) == SOTTO_STATUS_OK) {
        speak(speaker, SOTTO_LOG_INFO, "the mechanisms were read again");
    } else {
        (void)snprintf(text, sizeof text, "all goes on as before: %s",
                       err.message);
        speak(speaker, SOTTO_LOG_ERROR, text);
    }
}

/* Until it is asked to stop. */
static void
run_until_stopped(struct sotto_collector *collector, struct speaker *speaker)
{
    while (asked_stop == 0) {
        (void)sem_wait(&asked);
        if (asked_reload != 0 && asked_stop == 0) {
            asked_reload = 0;
            reload(collector, speaker);
        }
    }
}

static int
serve(const struct cli_args *args, struct sotto_collector_options *options,
      struct speaker *speaker)
{
    struct sotto_collector *collector = NULL;
    struct sotto_error err = {0};
    int status;
    take_signals();
    if (sotto_collector_start(options, &collector, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    say_listening(speaker, options->listen, options->tls_cert != NULL,
                  sotto_collector_port(collector));
    status = write_port(cli_value(args, "port-file"),
                        sotto_collector_port(collector));
    if (status == CLI_EXIT_DONE) {
        run_until_stopped(collector, speaker);
        speak(speaker, SOTTO_LOG_INFO, "stopping: answering what has come");
    }
    sotto_collector_stop(collector);
    return status;
}

/* ---- Options ------------------------------------------------------------- */

struct number {
    const char *name;
    uint64_t low, high;
    uint64_t value; /* 0: not given */
};

static bool
read_numbers(const struct cli_args *args, struct number *number, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!cli_whole(args, number[i].name, &number[i].value)) {
            return false;
        }
        if (cli_given(args, number[i].name) &&
            (number[i].value < number[i].low ||
             number[i].value > number[i].high)) {
            (void)cli_bad("--%s must be from %" PRIu64 " to %" PRIu64,
                          number[i].name, number[i].low, number[i].high);
            return false;
        }
    }
    return true;
}

static bool
read_options(const struct cli_args *args,
             struct sotto_collector_options *ret_options)
{
    struct number number[] = {
        {"window", 1, 604800, 0},        {"batch-min", 1, 131072, 0},
        {"body-most", 64, 1 << 30, 0},   {"reports-most", 1, 1000000, 0},
        {"connections", 1, 1 << 20, 0},  {"per-address", 1, 1 << 20, 0},
        {"request-time", 1, 3600, 0},    {"idle-time", 1, 3600, 0},
        {"waiting-most", 1, 1 << 24, 0}, {"threads", 1, 64, 0},
    };
    if (!read_numbers(args, number, sizeof number / sizeof *number)) {
        return false;
    }
    *ret_options = (struct sotto_collector_options){
        .mechanisms = cli_value(args, "mechanism"),
        .pub = cli_value(args, "pub"),
        .store = cli_value(args, "store"),
        .listen = cli_given(args, "listen") ? cli_value(args, "listen")
                                            : SOTTO_LISTEN_DEFAULT,
        .tls_cert = cli_value(args, "tls-cert"),
        .tls_key = cli_value(args, "tls-key"),
        .plain = cli_given(args, "plain-behind-proxy"),
        .admin_token_file = cli_value(args, "admin-token-file"),
        .simulation = cli_given(args, "simulation"),
        .window_s = (unsigned)number[0].value,
        .batch_min = (size_t)number[1].value,
        .body_most = (size_t)number[2].value,
        .reports_most = (size_t)number[3].value,
        .connections_most = (size_t)number[4].value,
        .address_most = (size_t)number[5].value,
        .request_s = (unsigned)number[6].value,
        .idle_s = (unsigned)number[7].value,
        .waiting_most = (size_t)number[8].value,
        .threads = (unsigned)number[9].value,
    };
    return true;
}

static int
run_serve(const struct cli_args *args)
{
    struct speaker speaker = {.json = cli_given(args, "json")};
    struct sotto_collector_options options;
    int status;
    if (!read_options(args, &options)) {
        return CLI_EXIT_BAD;
    }
    if (options.plain && options.tls_cert != NULL) {
        return cli_bad("--plain-behind-proxy says that something else does "
                       "TLS: leave it out, or the certificate");
    }
    (void)pthread_mutex_init(&speaker.lock, NULL);
    options.log = speak;
    options.log_context = &speaker;
    status = serve(args, &options, &speaker);
    (void)pthread_mutex_destroy(&speaker.lock);
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {0, true, false, "mechanism", "M",
     "a signed mechanism, or a folder of them"},
    {0, true, false, "pub", "K.pub", "the public key that signed them"},
    {0, true, false, "store", "sqlite:PATH",
     "where reports are kept; made if it is not there"},
    {0, false, false, "listen", "HOST:PORT",
     "where to listen (" SOTTO_LISTEN_DEFAULT "); port 0: any,\n"
     "no HOST: every address of the machine"},
    {0, false, false, "tls-cert", "F", "certificate and chain, PEM"},
    {0, false, false, "tls-key", "F", "its key, PEM"},
    {0, false, false, "plain-behind-proxy", NULL,
     "something in front of it does TLS: listen without,\n"
     "also on other addresses than loopback"},
    {0, false, false, "admin-token-file", "F",
     "the analyst's token, 16 characters or more, 8 of them\n"
     "different, for batches and metrics; without it there\n"
     "are none"},
    {0, false, false, "simulation", NULL,
     "take simulated reports, and no others"},
    {0, false, false, "window", "S",
     "seconds until reports lose their ids and order (600)"},
    {0, false, false, "batch-min", "N",
     "reports released together, at least (1000)"},
    {0, false, false, "body-most", "BYTES", "of a request (4194304)"},
    {0, false, false, "reports-most", "N", "of a request (10000)"},
    {0, false, false, "connections", "N", "at a time (1024)"},
    {0, false, false, "per-address", "N",
     "of one address at a time (256; all behind a proxy)"},
    {0, false, false, "request-time", "S",
     "seconds that a request may take to arrive (20)"},
    {0, false, false, "idle-time", "S",
     "seconds until the next one must begin (60)"},
    {0, false, false, "waiting-most", "N",
     "reports that may wait for the disk (65536)"},
    {0, false, false, "threads", "N", "that answer (2)"},
    {0, false, false, "port-file", "F", "write the port there, when listening"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_serve = {
    .name = "serve",
    .summary = "collect reports over HTTP into a store",
    .usage =
        "--mechanism M --pub K.pub --store sqlite:PATH\n"
        "      [--listen HOST:PORT] [--admin-token-file F]\n"
        "      [--tls-cert F --tls-key F | --plain-behind-proxy] [OPTIONS]",
    .about =
        "Serves signed mechanisms to devices and takes their reports: "
        "NAME.sotto is the\ncampaign NAME, at /v1/campaigns/NAME. An answer "
        "with success means that the\nreports are on disk. Prints where it "
        "listens, then runs until SIGTERM or Ctrl-C,\nwhich answer what has "
        "come; SIGHUP reads the mechanisms again. No address and\nnothing of "
        "a report is logged. docs/collector.md says what travels and what "
        "is\nkept.\n",
    .example = "sotto keygen -o collector\n"
               "sotto sign wdbc.sotto --key collector.key\n"
               "sotto serve --mechanism wdbc.sotto --pub collector.pub \\\n"
               "    --store sqlite:reports.db\n",
    .wanted = wanted,
    .options = options,
    .run = run_serve,
};
