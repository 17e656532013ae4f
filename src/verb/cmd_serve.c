/*
 * cmd_serve.c: sotto serve: the collector.
 *
 * The first line on standard output says where it listens; from then on it
 * answers. What else there is to say is one line each on standard error, and
 * never anything of a report or of who sent it.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/setting_options.h"
#include "host/heap.h"
#include "verb/serve_log.h"

/* ---- What it says -------------------------------------------------------- */

#define PLACE_SIZE 512u

/* Where it listens: the host as it was given, the port as it is. */
static void
write_place(char place[PLACE_SIZE], const char *listen, unsigned port)
{
    const char *colon = strrchr(listen, ':');
    (void)snprintf(place, PLACE_SIZE, "%.*s:%u", (int)(colon - listen), listen,
                   port);
}

static void
say_listening(const struct cli_args *args,
              const struct sotto_collector_options *options,
              const struct sotto_collector *collector)
{
    bool tls = options->tls_cert != NULL, apart = options->operations != NULL;
    char place[PLACE_SIZE], operations[PLACE_SIZE];
    write_place(place, options->listen, sotto_collector_port(collector));
    if (apart) {
        write_place(operations, options->operations,
                    sotto_collector_operations_port(collector));
    }
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_text(stdout, "listening", place);
        json_bool(stdout, "tls", tls);
        if (apart) {
            json_text(stdout, "operations_at", operations);
        }
        setting_options_json(stdout, args);
        json_end(stdout);
    } else {
        (void)printf("listening on %s%s\n", cli_shown(place),
                     tls ? " with TLS" : "");
        if (apart) {
            (void)printf("operations on %s\n", cli_shown(operations));
        }
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
reload_all(struct sotto_collector *collector, struct serve_log *log)
{
    struct sotto_error err = {0};
    char text[sizeof err.message + 64];
    if (sotto_collector_reload(collector, &err) == SOTTO_STATUS_OK) {
        serve_log_write(log, SOTTO_LOG_INFO, "reloaded",
                        "the mechanisms, tokens and certificate were read "
                        "again");
    } else {
        (void)snprintf(text, sizeof text, "all goes on as before: %s",
                       err.message);
        serve_log_write(log, SOTTO_LOG_ERROR, "reload-failed", text);
    }
}

/* Until it is asked to stop. */
static void
run_until_stopped(struct sotto_collector *collector, struct serve_log *log)
{
    while (asked_stop == 0) {
        (void)sem_wait(&asked);
        if (asked_reload != 0 && asked_stop == 0) {
            asked_reload = 0;
            reload_all(collector, log);
        }
    }
}

/* Reports on their way and ids would be in one. */
static void
forbid_cores(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

static int
run_collector(const struct cli_args *args,
              struct sotto_collector_options *options, struct serve_log *log)
{
    struct sotto_collector *collector = NULL;
    struct sotto_error err = {0};
    int status;
    forbid_cores();
    take_signals();
    host_heap_give_back();
    if (sotto_collector_start(options, &collector, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    say_listening(args, options, collector);
    serve_log_write(log, SOTTO_LOG_INFO, "started",
                    "version " SOTTO_VERSION " takes reports");
    status = write_port(cli_value(args, "port-file"),
                        sotto_collector_port(collector));
    if (status == CLI_EXIT_DONE) {
        run_until_stopped(collector, log);
        serve_log_write(log, SOTTO_LOG_INFO, "stopping",
                        "answering what has come");
    }
    sotto_collector_stop(collector);
    serve_log_write(log, SOTTO_LOG_INFO, "stopped", "the store is closed");
    return status;
}

static int
check_config(const struct cli_args *args,
             const struct sotto_collector_options *options)
{
    struct sotto_error err = {0};
    if (sotto_collector_check(options, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_bool(stdout, "good", true);
        setting_options_json(stdout, args);
        json_end(stdout);
    } else {
        (void)printf("all is as it should be: it would start\n");
    }
    return CLI_EXIT_DONE;
}

/* ---- The verb ------------------------------------------------------------ */

static int
run_serve(const struct cli_args *args)
{
    struct serve_log log;
    struct sotto_collector_options options = {.log = serve_log_write,
                                              .log_context = &log};
    struct sotto_error err = {0};
    size_t sets = 0;
    struct sotto_setting *set = setting_options_given(
        args, setting_options_of(cmd_serve.setting_at), &sets);
    int status;
    serve_log_init(&log, cli_given(args, "json"));
    if (set == NULL) {
        status = CLI_EXIT_FAILED;
    } else if (sotto_collector_set(&options, set, sets, &err) !=
               SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    } else {
        status = cli_given(args, "check-config")
                     ? check_config(args, &options)
                     : run_collector(args, &options, &log);
    }
    serve_log_clear(&log);
    free(set);
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {0, false, false, "port-file", "F", "write the port there, when listening"},
    {0, false, false, "check-config", NULL,
     "look at all that starting needs, and exit: 0 if it would\nstart"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_serve = {
    .name = "serve",
    .summary = "collect reports over HTTP into a store",
    .usage =
        "--mechanism M --pub K.pub --store sqlite:PATH\n"
        "      [--listen HOST:PORT] [--operations HOST:PORT]\n"
        "      [--admin-token-file F] [--metrics-token-file F]\n"
        "      [--tls-cert F --tls-key F | --plain-behind-proxy] [OPTIONS]",
    .about =
        "Serves signed mechanisms to devices and takes their reports: "
        "NAME.sotto is the\ncampaign NAME, at /v1/campaigns/NAME. An answer "
        "with success means that the\nreports are on disk. Prints where it "
        "listens, then runs until SIGTERM or Ctrl-C,\nwhich answer what has "
        "come; SIGHUP reads mechanisms, tokens and the certificate\nagain. No "
        "address and nothing of a report is logged. docs/collector.md says "
        "what\ntravels and what is kept, docs/operate.md how to run it.\n",
    .example = "sotto keygen -o collector --no-password\n"
               "sotto sign wdbc.sotto --key collector.key\n"
               "sotto serve --mechanism wdbc.sotto --pub collector.pub \\\n"
               "    --store sqlite:reports.db\n",
    .wanted = wanted,
    .options = options,
    .setting_at = sotto_collector_setting_at,
    .run = run_serve,
};
