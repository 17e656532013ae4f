/*
 * cmd_send.c: sotto send: the records of a file become reports, once, and
 * travel to a collector.
 *
 *     draw the time of sending -> mechanism, verified -> records -> ledger
 *       -> queue -> wait -> collector
 *
 * The queue is locked first and all that can be wrong is told before anybody is
 * charged. What was charged is in the ledger and what is queued in the queue,
 * so whatever ends this program, the next run goes on.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/inquiry.h"
#include "cli/json_print.h"
#include "cli/watch.h"

#define QUEUE_SUFFIX ".queue"

struct job {
    char *queue; /* its path */
    struct sotto_sender *sender;
    struct sotto_mechanism *mechanism;
    struct inquiry inquiry;
    struct watch watch;
    struct sotto_sent sent;
};

/* ---- Options ------------------------------------------------------------ */

static bool
read_whole(const struct cli_args *args, const char *name, uint64_t low,
           uint64_t high, uint64_t *ret_value)
{
    if (!cli_whole(args, name, ret_value)) {
        return false;
    }
    if (cli_given(args, name) && (*ret_value < low || *ret_value > high)) {
        (void)cli_bad("--%s must be a whole number from %llu to %llu", name,
                      (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    return true;
}

/* Where the queue is: as said, or beside the ledger. NULL: no memory. */
static char *
queue_path(const struct cli_args *args)
{
    const char *path = cli_value(args, "queue");
    const char *suffix = path != NULL ? "" : QUEUE_SUFFIX;
    path = path != NULL ? path : cli_value(args, "ledger");
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *text = malloc(size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s%s", path, suffix);
    }
    return text;
}

static int
open_sender(const struct cli_args *args, struct job *job)
{
    struct sotto_error err = {0};
    uint64_t batch = 0, tries = 0, timeout = 0, spread = 0;
    if (!read_whole(args, "batch", 1, 10000, &batch) ||
        !read_whole(args, "tries", 1, 1000, &tries) ||
        !read_whole(args, "timeout", 1, 3600, &timeout) ||
        !read_whole(args, "spread", 0, 604800, &spread)) {
        return CLI_EXIT_BAD;
    }
    job->queue = queue_path(args);
    if (job->queue == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    const struct sotto_sender_options options = {
        .url = cli_value(args, "to"),
        .queue = job->queue,
        .ca = cli_value(args, "ca"),
        .proxy = cli_value(args, "proxy"),
        .batch = (size_t)batch,
        .tries = (unsigned)tries,
        .timeout_s = (unsigned)timeout,
        .spread_s = (unsigned)spread,
        .look = cli_given(args, "dry-run"),
        .watch = watch_port(&job->watch)};
    return sotto_sender_open(&options, &job->sender, &err) == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : cli_fail(&err);
}

/* ---- The mechanism ------------------------------------------------------ */

/* Fetched if it is not there; signed and, if asked for, pinned, whoever
   brought it. */
static int
open_mechanism(const struct cli_args *args, struct job *job)
{
    const char *path = args->word[0], *pub = cli_value(args, "pub");
    const char *pin = cli_value(args, "pin");
    struct sotto_error err = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (access(path, F_OK) != 0) {
        if (cli_given(args, "dry-run")) {
            return cli_bad("there is no '%.240s', and a dry run fetches "
                           "nothing: run it without --dry-run, or get the "
                           "mechanism and its signature by other means",
                           path);
        }
        status = sotto_sender_fetch(job->sender, path, pub, pin, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_read_verified(path, pub, NULL, &job->mechanism,
                                               &err);
    }
    if (status == SOTTO_STATUS_OK && pin != NULL) {
        status = sotto_mechanism_pinned(job->mechanism, pin, &err);
    }
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

/* ---- Queueing and sending ----------------------------------------------- */

static bool
is_going(struct job *job, size_t done, size_t total)
{
    struct sotto_watch port = watch_port(&job->watch);
    return port.tick(port.context, "privatising", done, total);
}

static enum sotto_status
queue_row(struct job *job, size_t row, uint8_t *report, struct sotto_error *err)
{
    bool given = false;
    enum sotto_status status =
        inquiry_report(&job->inquiry, row, report, &given, err);
    return status == SOTTO_STATUS_OK && given
               ? sotto_sender_queue(job->sender, report,
                                    job->inquiry.info.report_size, err)
               : status;
}

static int
queue_rows(struct job *job)
{
    size_t rows = sotto_table_rows(job->inquiry.table);
    struct sotto_error err = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    uint8_t *report = malloc(job->inquiry.info.report_size);
    bool going = true;
    if (report == NULL) {
        cli_error("out of memory");
        return CLI_EXIT_FAILED;
    }
    for (size_t row = 0; status == SOTTO_STATUS_OK && going && row < rows;
         row++) {
        status = queue_row(job, row, report, &err);
        going = is_going(job, row + 1, rows);
    }
    free(report);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (!going) {
        cli_error("stopped: what is queued stays, and the next run goes on");
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}

static void
tell_json(const struct job *job, const char *why)
{
    json_begin(stdout);
    json_size(stdout, "accepted", job->sent.accepted);
    json_size(stdout, "duplicate", job->sent.duplicate);
    json_size(stdout, "refused", job->sent.refused);
    json_size(stdout, "left", job->sent.left);
    json_size(stdout, "requests", job->sent.requests);
    json_text(stdout, "refusal",
              job->sent.refusal[0] != '\0' ? job->sent.refusal : NULL);
    json_text(stdout, "failure", why);
    json_size(stdout, "new", job->inquiry.people.made);
    json_size(stdout, "replayed", job->inquiry.people.replayed);
    json_size(stdout, "over_cap", job->inquiry.people.refused);
    json_text(stdout, "mechanism", job->inquiry.info.hash);
    json_text(stdout, "queue", job->queue);
    json_end(stdout);
}

/* Without a terminal only what is wrong is worth a line: cron mails it. */
static void
tell(const struct job *job)
{
    const struct sotto_sent *sent = &job->sent;
    if (isatty(STDOUT_FILENO) == 1) {
        (void)printf("Sent: %zu accepted, %zu known already, %zu refused; "
                     "left in the queue: %zu; requests: %zu\n"
                     "new: %zu; replayed: %zu; refused by the ledger: %zu\n",
                     sent->accepted, sent->duplicate, sent->refused, sent->left,
                     sent->requests, job->inquiry.people.made,
                     job->inquiry.people.replayed, job->inquiry.people.refused);
    }
    if (sent->refused > 0) {
        cli_note("the collector refused %zu report%s, which stay%s in the "
                 "queue and are not sent again; the first: %s",
                 sent->refused, sent->refused == 1 ? "" : "s",
                 sent->refused == 1 ? "s" : "", sent->refusal);
    }
}

static int
flush(const struct cli_args *args, struct job *job)
{
    struct sotto_error err = {0};
    enum sotto_status status =
        sotto_sender_flush(job->sender, &job->sent, &err);
    progress_end(&job->watch.bar);
    if (cli_given(args, "json")) {
        tell_json(job, status != SOTTO_STATUS_OK ? err.message : NULL);
    } else {
        tell(job);
    }
    if (status != SOTTO_STATUS_OK) {
        (void)cli_fail(&err);
        return CLI_EXIT_FAILED;
    }
    if (job->sent.refused > 0) {
        return CLI_EXIT_FAILED;
    }
    return job->inquiry.people.refused > 0 ? CLI_EXIT_REFUSED : CLI_EXIT_DONE;
}

/* ---- Looking ------------------------------------------------------------ */

/* A report of nobody: a record of which everything is missing. The record
   itself would be a report that nobody is charged for. */
static enum sotto_status
make_blank(struct job *job, uint8_t **ret_report, struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(job->mechanism, &info);
    struct sotto_value *values = calloc(info.columns + 1, sizeof *values);
    uint8_t *report = malloc(info.report_size);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    if (values != NULL && report != NULL) {
        status = sotto_client_privatise(sotto_mechanism_client(job->mechanism),
                                        values, info.columns, report,
                                        info.report_size);
    }
    free(values);
    if (status == SOTTO_STATUS_OK) {
        *ret_report = report;
    } else {
        free(report);
        err->status = status;
        (void)snprintf(err->message, sizeof err->message,
                       "no report could be made: %s",
                       sotto_status_message(status));
    }
    return status;
}

static void
show(const struct cli_args *args, size_t waiting, size_t count,
     const char *text)
{
    if (cli_given(args, "json")) {
        json_begin(stdout);
        json_bool(stdout, "dry_run", true);
        json_size(stdout, "waiting", waiting);
        json_size(stdout, "shown", count);
        json_bool(stdout, "blank", count == 0);
        json_text(stdout, "request", text);
        json_end(stdout);
        return;
    }
    if (count > 0) {
        (void)printf("In the queue: %zu report%s. The next request holds %zu "
                     "of them; this is all of it. Nothing is\nsent, read or "
                     "charged now.\n\n",
                     waiting, waiting == 1 ? "" : "s", count);
    } else {
        (void)printf("No report of this mechanism is in the queue (%zu of "
                     "others). This is what a request would be,\nwith the "
                     "report of a record of which everything is missing. "
                     "Nothing is sent, read or charged.\n\n",
                     waiting);
    }
    (void)fputs(text, stdout);
}

static int
look(const struct cli_args *args, struct job *job)
{
    struct sotto_error err = {0};
    uint8_t *reports = NULL;
    char *text = NULL;
    size_t waiting = 0, count = 0;
    enum sotto_status status =
        sotto_sender_waiting(job->sender, &waiting, &err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_sender_next(job->sender, job->mechanism, &reports,
                                   &count, &err);
    }
    if (status == SOTTO_STATUS_OK && count == 0) {
        status = make_blank(job, &reports, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_sender_explain(job->sender, job->mechanism, reports,
                                      count > 0 ? count : 1, &text, &err);
    }
    if (status == SOTTO_STATUS_OK) {
        show(args, waiting, count, text);
    }
    free(text);
    free(reports);
    return status == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

/* ---- The verb ----------------------------------------------------------- */

static int
send_records(const struct cli_args *args, struct job *job)
{
    int status =
        inquiry_open(args, job->mechanism, args->word[1], NULL, &job->inquiry);
    if (status == CLI_EXIT_DONE) {
        status = queue_rows(job);
    }
    if (status == CLI_EXIT_DONE) {
        status = flush(args, job);
    }
    return status;
}

static int
run(const struct cli_args *args)
{
    struct job job;
    memset(&job, 0, sizeof job);
    watch_start(&job.watch);
    int status = open_sender(args, &job);
    if (status == CLI_EXIT_DONE) {
        status = open_mechanism(args, &job);
    }
    if (status == CLI_EXIT_DONE) {
        status = cli_given(args, "dry-run") ? look(args, &job)
                                            : send_records(args, &job);
    }
    watch_end(&job.watch);
    inquiry_clear(&job.inquiry);
    sotto_sender_free(job.sender);
    sotto_mechanism_free(job.mechanism);
    free(job.queue);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "F (a data file)",
                                     NULL};

static const struct cli_option options[] = {
    {0, true, false, "person", "COL", "the column that tells people apart"},
    {0, true, false, "ledger", "L",
     "charge everybody in this ledger (sotto ledger new):\n"
     "who was asked before gives the same report again"},
    {0, true, false, "to", "URL",
     "https://HOST[:PORT]/v1/campaigns/NAME; http for\n"
     "loopback addresses alone"},
    {0, true, false, "pub", "K.pub",
     "the key that must have signed the mechanism"},
    {0, false, false, "pin", "HASH",
     "the mechanism's hash, as sotto verify says it: no\n"
     "other is used"},
    {0, false, false, "queue", "Q",
     "the reports that wait, an SQLite file (L.queue)"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    {0, false, false, "spread", "S",
     "begin to send after a time drawn at random, up to S\n"
     "seconds (0)"},
    {0, false, false, "batch", "N", "reports in a request (100)"},
    {0, false, false, "tries", "N",
     "of a request before it is left for another run (8)"},
    {0, false, false, "timeout", "S",
     "seconds without an answer that end a try (30)"},
    {0, false, false, "ca", "FILE",
     "trust these certificate authorities, in PEM, and not\n"
     "the system's"},
    {0, false, false, "proxy", "URL",
     "send through it, socks5h://HOST:PORT, say; else there\n"
     "is none, whatever the environment says"},
    {0, false, false, "dry-run", NULL,
     "show every byte that a request would hold, and what\n"
     "it says; send, read and charge nothing"},
    CLI_OPTION_JSON,
    CLI_OPTION_HELP,
    CLI_OPTION_END,
};

const struct cli_verb cmd_send = {
    .name = "send",
    .summary = "turn records into reports and send them to a collector",
    .usage = "M F --person COL --ledger L --to URL --pub K.pub [OPTIONS]",
    .about =
        "Each row of F is one person's record and gives one report, "
        "through the ledger,\nwhich waits in a queue until the collector "
        "has it on disk. Run it as often as\nyou like, from cron, say: who "
        "was asked before gives the stored report, what\narrived is not "
        "sent again, and a run that was killed is gone on with. If M "
        "is\nnot there, it is fetched from the collector with its "
        "signature. Without a\nterminal only what went wrong is told. The "
        "exit status is 0 when nothing is left\nto send, 1 when something "
        "is, or was refused, or another run has the queue, and\n3 when the "
        "ledger refused somebody, or the mechanism is not the right one.\n",
    .example = "sotto send wdbc.sotto data/wdbc.csv --person id --ledger l \\\n"
               "    --pub collector.pub --dry-run \\\n"
               "    --to https://example.org/v1/campaigns/wdbc\n",
    .wanted = wanted,
    .options = options,
    .run = run,
};
