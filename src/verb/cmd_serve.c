/*
 * cmd_serve.c: sotto serve: the collector.
 *
 * The first line on standard output says where it listens; from then on it
 * answers. What else there is to say is one line each on standard error, and
 * never anything of a report or of who sent it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/setting_options.h"

/* ---- What it says -------------------------------------------------------- */

struct speaker {
    pthread_mutex_t lock; /* threads of the collector speak, too */
    bool json;
};

static void
write_log(void *context, enum sotto_log_level level, const char *text)
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
say_listening(const struct cli_args *args, const char *listen, bool tls,
              unsigned port)
{
    const char *colon = strrchr(listen, ':');
    char place[512];
    (void)snprintf(place, sizeof place, "%.*s:%u", (int)(colon - listen),
                   listen, port);
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_text(stdout, "listening", place);
        json_bool(stdout, "tls", tls);
        setting_options_json(stdout, args);
        json_end(stdout);
    } else {
        (void)printf("listening on %s%s\n", cli_shown(place),
                     tls ? " with TLS" : "");
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
reload_mechanisms(struct sotto_collector *collector, struct speaker *speaker)
{
    struct sotto_error err = {0};
    char text[sizeof err.message + 64];
    if (sotto_collector_reload(collector, &err) == SOTTO_STATUS_OK) {
        write_log(speaker, SOTTO_LOG_INFO, "the mechanisms were read again");
    } else {
        (void)snprintf(text, sizeof text, "all goes on as before: %s",
                       err.message);
        write_log(speaker, SOTTO_LOG_ERROR, text);
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
            reload_mechanisms(collector, speaker);
        }
    }
}

static int
run_collector(const struct cli_args *args,
              struct sotto_collector_options *options, struct speaker *speaker)
{
    struct sotto_collector *collector = NULL;
    struct sotto_error err = {0};
    int status;
    take_signals();
    if (sotto_collector_start(options, &collector, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    say_listening(args, options->listen, options->tls_cert != NULL,
                  sotto_collector_port(collector));
    status = write_port(cli_value(args, "port-file"),
                        sotto_collector_port(collector));
    if (status == CLI_EXIT_DONE) {
        run_until_stopped(collector, speaker);
        write_log(speaker, SOTTO_LOG_INFO, "stopping: answering what has come");
    }
    sotto_collector_stop(collector);
    return status;
}

/* ---- The verb ------------------------------------------------------------ */

static int
run_serve(const struct cli_args *args)
{
    struct speaker speaker = {.json = cli_given(args, "json")};
    struct sotto_collector_options options = {.log = write_log,
                                              .log_context = &speaker};
    struct sotto_error err = {0};
    size_t sets = 0;
    struct sotto_setting *set = setting_options_given(
        args, setting_options_of(cmd_serve.setting_at), &sets);
    int status = CLI_EXIT_FAILED;
    (void)pthread_mutex_init(&speaker.lock, NULL);
    if (set != NULL) {
        status =
            sotto_collector_set(&options, set, sets, &err) == SOTTO_STATUS_OK
                ? run_collector(args, &options, &speaker)
                : cli_fail(&err);
    }
    (void)pthread_mutex_destroy(&speaker.lock);
    free(set);
    return status;
}

static const char *const wanted[] = {NULL};

static const struct cli_option options[] = {
    {0, false, false, "port-file", "F", "write the port there, when listening"},
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
    .example = "sotto keygen -o collector --no-password\n"
               "sotto sign wdbc.sotto --key collector.key\n"
               "sotto serve --mechanism wdbc.sotto --pub collector.pub \\\n"
               "    --store sqlite:reports.db\n",
    .wanted = wanted,
    .options = options,
    .setting_at = sotto_collector_setting_at,
    .run = run_serve,
};
