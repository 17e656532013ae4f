/*
 * cmd_send.c: sotto send: the records of a file become reports, once, and
 * travel to a collector.
 *
 *     ledger opened -> time of sending drawn -> queue locked, the ledger's
 *       -> mechanism, verified -> the collector has the same
 *       -> records -> charged -> queued -> wait -> collector
 *
 * All that can be wrong is told before anybody is charged, and only public
 * facts can be wrong: whatever a record holds, there is a report, the requests
 * are as many and the exit status is the same (invariant 4). What was charged
 * is in the ledger and what is queued in the queue, so whatever ends this
 * program, the next run goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json_print.h"
#include "cli/seal.h"
#include "cli/setting_options.h"
#include "cli/watch.h"
#include "host/error.h"
#include "verb/inquiry.h"
#include "verb/records.h"
#include "verb/send_look.h"

#define QUEUE_SUFFIX ".queue"

struct send_job {
    char *queue; /* its path */
    struct sotto_ledger *ledger;
    struct sotto_sender *sender;
    struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct inquiry inquiry;
    struct watch watch;
    struct sotto_sent sent;
};

/* ---- Options ------------------------------------------------------------ */

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

static bool
is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return one != NULL && other != NULL && stat(one, &a) == 0 &&
           stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The queue is none of the other files, and no name that the ledger needs. */
static int
check_queue(const struct cli_args *args, const char *queue)
{
    const char *ledger = cli_value(args, "ledger");
    char secret[4200] = "", mark[4200] = "", signature[4200] = "";
    (void)snprintf(secret, sizeof secret, "%s.secret", ledger);
    (void)snprintf(mark, sizeof mark, "%s.mark", ledger);
    (void)snprintf(signature, sizeof signature, "%s.minisig", args->word[0]);
    const char *const others[] = {ledger,
                                  secret,
                                  mark,
                                  args->word[0],
                                  signature,
                                  args->word[1],
                                  cli_value(args, "pub"),
                                  cli_value(args, "labels"),
                                  cli_value(args, "people"),
                                  cli_value(args, "ca")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (is_same_file(queue, others[i])) {
            return cli_bad("the queue would be '%.240s', which is needed as it "
                           "is: choose another name",
                           others[i]);
        }
    }
    return people_check_output(args, "queue");
}

/* What can be said before anything is opened. */
static int
check_words(const struct cli_args *args, struct send_job *job)
{
    job->queue = queue_path(args);
    if (job->queue == NULL) {
        return cli_no_memory();
    }
    if (cli_given(args, "dry-run") &&
        (cli_given(args, "retry-refused") || cli_given(args, "drop-ended"))) {
        return cli_bad("--dry-run changes nothing, so there is nothing that "
                       "--retry-refused or --drop-ended could do");
    }
    if (access(args->word[0], F_OK) != 0 && !cli_given(args, "dry-run") &&
        !cli_given(args, "pin")) {
        return cli_bad("there is no '%.240s', and one is only fetched with "
                       "--pin HASH: whoever has the key could sign a mechanism "
                       "for each device; take the hash from where you trust, "
                       "as 'sotto verify' or 'sotto inspect' say it there",
                       args->word[0]);
    }
    return check_queue(args, job->queue);
}

/* Before the queue is made: a name that is wrong leaves nothing behind. */
static int
open_ledger(const struct cli_args *args, struct send_job *job)
{
    struct sotto_error err = {0};
    return cli_given(args, "dry-run")
               ? CLI_EXIT_DONE
               : cli_exit(sotto_ledger_open(cli_value(args, "ledger"),
                                            &job->ledger, &err),
                          &err);
}

static int
open_sender(const struct cli_args *args, struct send_job *job)
{
    struct sotto_sender_options options = {.look = cli_given(args, "dry-run"),
                                           .watch = watch_port(&job->watch)};
    struct sotto_error err = {0};
    size_t sets = 0;
    struct sotto_setting *set = setting_options_given(
        args, setting_options_of(cmd_send.setting_at), &sets);
    if (set == NULL) {
        return CLI_EXIT_FAILED;
    }
    enum sotto_status status = sotto_sender_set(&options, set, sets, &err);
    free(set);
    if (status == SOTTO_STATUS_OK) {
        options.queue = job->queue;
        status = sotto_sender_open(&options, &job->sender, &err);
    }
    if (status == SOTTO_STATUS_OK && job->ledger != NULL) {
        status = sotto_sender_bind(job->sender, job->ledger, &err);
    }
    if (status == SOTTO_STATUS_OK && cli_given(args, "drop-ended")) {
        status = sotto_sender_drop(job->sender, &err);
    }
    return cli_exit(status, &err);
}

/* Tells, also without a terminal, of what will never be sent. */
static void
note_ended(const struct send_job *job, size_t ended)
{
    if (ended > 0) {
        cli_note(
            "%zu report%s in the queue '%.240s' %s of a mechanism that has "
            "expired and will not be sent; the charge stays; --drop-ended "
            "removes %s",
            ended, ended == 1 ? "" : "s", job->queue, ended == 1 ? "is" : "are",
            ended == 1 ? "it" : "them");
    }
}

/* ---- The mechanism ------------------------------------------------------ */

/* Refuses one that has ended, and says what of it still waits. */
static enum sotto_status
check_end(struct send_job *job, struct sotto_error *err)
{
    struct sotto_queued queued = {0};
    struct sotto_error why = {0};
    enum sotto_status status = sotto_mechanism_check(job->mechanism, err);
    if (status == SOTTO_STATUS_REFUSED &&
        sotto_sender_count(job->sender, &queued, &why) == SOTTO_STATUS_OK) {
        note_ended(job, queued.ended);
    }
    return status;
}

/* Fetched if it is not there, and then pinned; signed and, if asked for,
   pinned, whoever brought it. */
static int
open_mechanism(const struct cli_args *args, struct send_job *job)
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
    status = HOST_THEN(status, sotto_mechanism_read_verified(
                                   path, pub, NULL, &job->mechanism, &err));
    if (status == SOTTO_STATUS_OK && pin != NULL) {
        status = sotto_mechanism_pinned(job->mechanism, pin, &err);
    }
    status =
        HOST_THEN(status, sotto_mechanism_check_sent(job->mechanism, &err));
    status = HOST_THEN(status, check_end(job, &err));
    if (status == SOTTO_STATUS_OK) {
        sotto_mechanism_info(job->mechanism, &job->info);
    }
    return cli_exit(status, &err);
}

/* ---- Queueing and sending ----------------------------------------------- */

static bool
is_going(struct send_job *job, size_t done, size_t total)
{
    struct sotto_watch port = watch_port(&job->watch);
    return port.tick(port.context, "privatising", done, total);
}

/* Charges nobody once the mechanism has ended. */
static enum sotto_status
queue_row(struct send_job *job, size_t row, uint8_t *report,
          struct sotto_error *err)
{
    bool given = false;
    enum sotto_status status = check_end(job, err);
    status = HOST_THEN(status,
                       inquiry_report(&job->inquiry, row, report, &given, err));
    return status == SOTTO_STATUS_OK && given
               ? sotto_sender_queue(job->sender, report,
                                    job->inquiry.info.report_size, err)
               : status;
}

/* When each record is encoded, by their number. */
static enum sotto_status
set_schedule(struct send_job *job, size_t rows, struct sotto_error *err)
{
    struct people *people = &job->inquiry.people;
    size_t reports = 0;
    for (size_t row = 0; row < rows; row++) {
        reports += people_named(people, row) ? 1 : 0;
    }
    return sotto_sender_expect(job->sender, reports, &people->late.schedule,
                               err);
}

static int
queue_rows(struct send_job *job)
{
    size_t rows = sotto_table_rows(job->inquiry.table);
    struct sotto_error err = {0};
    uint8_t *report = malloc(job->inquiry.info.report_size);
    bool going = true;
    if (report == NULL) {
        return cli_no_memory();
    }
    enum sotto_status status = set_schedule(job, rows, &err);
    status = HOST_THEN(status, sotto_sender_begin(job->sender, &err));
    for (size_t row = 0; status == SOTTO_STATUS_OK && going && row < rows;
         row++) {
        status = queue_row(job, row, report, &err);
        going = status != SOTTO_STATUS_STOPPED && is_going(job, row + 1, rows);
    }
    status = status == SOTTO_STATUS_STOPPED ? SOTTO_STATUS_OK : status;
    free(report);
    /* After a failure, too: whoever was asked before it is queued. */
    struct sotto_error late = {0};
    enum sotto_status kept = sotto_sender_commit(job->sender, &late);
    if (status == SOTTO_STATUS_OK && kept != SOTTO_STATUS_OK) {
        status = kept;
        err = late;
    }
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
tell_json_send(const struct cli_args *args, const struct send_job *job,
               const char *why)
{
    json_begin(stdout);
    json_size(stdout, "accepted", job->sent.accepted);
    json_size(stdout, "duplicate", job->sent.duplicate);
    json_size(stdout, "refused", job->sent.refused);
    json_size(stdout, "marked", job->sent.marked);
    json_size(stdout, "ended", job->sent.ended);
    json_size(stdout, "left", job->sent.left);
    json_size(stdout, "requests", job->sent.requests);
    json_bool(stdout, "late", job->sent.late);
    json_text(stdout, "refusal",
              job->sent.refusal[0] != '\0' ? job->sent.refusal : NULL);
    json_text(stdout, "failure", why);
    json_size(stdout, "new", job->inquiry.people.made);
    json_size(stdout, "replayed", job->inquiry.people.replayed);
    json_size(stdout, "over_cap", job->inquiry.people.refused);
    json_size(stdout, "unnamed", job->inquiry.people.unnamed);
    json_text(stdout, "mechanism", job->info.hash);
    json_text(stdout, "queue", job->queue);
    setting_options_json(stdout, args);
    json_end(stdout);
}

/* Without a terminal only what is wrong is worth a line: cron mails it. */
static void
tell_send(const struct send_job *job)
{
    const struct sotto_sent *sent = &job->sent;
    if (isatty(STDOUT_FILENO) == 1) {
        (void)printf("Sent: %zu accepted, %zu known already, %zu refused; "
                     "left in the queue: %zu; refused in all: %zu; requests: "
                     "%zu\n"
                     "new: %zu; replayed: %zu; refused by the ledger: %zu\n",
                     sent->accepted, sent->duplicate, sent->refused, sent->left,
                     sent->marked, sent->requests, job->inquiry.people.made,
                     job->inquiry.people.replayed, job->inquiry.people.refused);
    }
    if (sent->late) {
        cli_note("this device took longer than the time that is set aside for "
                 "it: a larger --grid hides that");
    }
    if (job->inquiry.people.late.count > 0 && isatty(STDERR_FILENO) == 1) {
        cli_note("the encoder took too long for %zu of the records: they count "
                 "as if nothing was known; a larger --grid gives it more time, "
                 "up to four times what is set aside for it",
                 job->inquiry.people.late.count);
    }
    if (sent->refused > 0) {
        cli_note("the collector refused %zu report%s; the first: %s",
                 sent->refused, sent->refused == 1 ? "" : "s", sent->refusal);
    }
    if (sent->marked > 0) {
        cli_note("%zu report%s that the collector refused, now or before, "
                 "stay%s in the queue '%.240s'; once the cause is gone, "
                 "--retry-refused sends the same bytes again",
                 sent->marked, sent->marked == 1 ? "" : "s",
                 sent->marked == 1 ? "s" : "", job->queue);
    }
    note_ended(job, sent->ended);
}

static void
tell_all(const struct cli_args *args, const struct send_job *job,
         const struct sotto_error *failure)
{
    if (cli_given(args, "json")) {
        tell_json_send(args, job, failure != NULL ? failure->message : NULL);
    } else {
        tell_send(job);
    }
}

/* Whether a line has a field of that name, in quotes or not. */
static bool
has_field(const char *line, const char *name)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, before it */
    size_t size = strlen(name);
    line += strncmp(line, mark, sizeof mark - 1) == 0 ? sizeof mark - 1 : 0;
    for (const char *at = line; *at != '\0';) {
        size_t length = strcspn(at, ",\r\n");
        bool quoted = length >= 2 && at[0] == '"' && at[length - 1] == '"';
        if (length - (quoted ? 2 : 0) == size &&
            strncmp(at + (quoted ? 1 : 0), name, size) == 0) {
            return true;
        }
        at += length;
        at += strspn(at, ",\r\n");
    }
    return false;
}

/* Says that --person names no column, once the run has failed for another
   reason: whoever mends that one would meet this one next. Column names are
   public, and no record is read. */
static void
note_person(const struct cli_args *args)
{
    const char *name = cli_value(args, "person");
    char *line = NULL;
    size_t room = 0;
    int header = -1;
    FILE *file = fopen(args->word[1], "r");
    if (file != NULL && records_header(args, &header) && header != 0 &&
        getline(&line, &room, file) > 0 && strncmp(line, "\x1f\x8b", 2) != 0 &&
        !has_field(line, name)) {
        cli_note("'%.240s' has no column \"%.80s\" either (--person)",
                 args->word[1], name);
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Before a record is read: else people were charged for what the collector does
   not want. */
static int
check_collector(const struct cli_args *args, struct send_job *job)
{
    struct sotto_error err = {0}, inner = {0};
    struct sotto_queued queued = {0};
    enum sotto_status status = sotto_sender_check(job->sender, job->mechanism,
                                                  cli_value(args, "pub"), &err);
    progress_end(&job->watch.bar);
    if (status == SOTTO_STATUS_OK) {
        return CLI_EXIT_DONE;
    }
    if (sotto_sender_count(job->sender, &queued, &inner) != SOTTO_STATUS_OK) {
        return cli_fail(&inner);
    }
    job->sent.left = queued.waiting;
    job->sent.marked = queued.refused;
    job->sent.ended = queued.ended;
    tell_all(args, job, &err);
    int exit_status = cli_fail(&err);
    cli_note("nobody was charged, and what is queued stays (%zu)",
             job->sent.left);
    note_person(args);
    return status == SOTTO_STATUS_LIMIT ? CLI_EXIT_FAILED : exit_status;
}

static int
flush_queue(const struct cli_args *args, struct send_job *job)
{
    struct sotto_error err = {0};
    enum sotto_status status = cli_given(args, "retry-refused")
                                   ? sotto_sender_retry(job->sender, &err)
                                   : SOTTO_STATUS_OK;
    status =
        HOST_THEN(status, sotto_sender_flush(job->sender, &job->sent, &err));
    progress_end(&job->watch.bar);
    tell_all(args, job, status != SOTTO_STATUS_OK ? &err : NULL);
    if (status != SOTTO_STATUS_OK) {
        (void)cli_fail(&err);
        return CLI_EXIT_FAILED;
    }
    if (job->sent.marked > 0 || job->sent.ended > 0) {
        return CLI_EXIT_FAILED;
    }
    return people_exit(&job->inquiry.people);
}

/* ---- The verb ----------------------------------------------------------- */

/* Notes about columns would come with every run of cron. */
static int
ask_people(const struct cli_args *args, struct send_job *job)
{
    cli_hush(isatty(STDERR_FILENO) != 1);
    int status = inquiry_open(args, job->mechanism, args->word[1], job->ledger,
                              &job->inquiry);
    cli_hush(false);
    return status == CLI_EXIT_DONE ? queue_rows(job) : status;
}

static int
send_records(const struct cli_args *args, struct send_job *job)
{
    int status = check_collector(args, job);
    status = CLI_THEN(status, ask_people(args, job));
    /* Waiting may take hours. */
    inquiry_forget(&job->inquiry);
    status = CLI_THEN(status, flush_queue(args, job));
    return status;
}

static int
run_send(const struct cli_args *args)
{
    struct send_job job;
    memset(&job, 0, sizeof job);
    watch_start(&job.watch);
    int status = seal_process(args);
    status = CLI_THEN(status, check_words(args, &job));
    status = CLI_THEN(status, open_ledger(args, &job));
    status = CLI_THEN(status, open_sender(args, &job));
    status = CLI_THEN(status, open_mechanism(args, &job));
    status = CLI_THEN(status, inquiry_check_work(args, job.mechanism));
    if (status == CLI_EXIT_DONE) {
        status =
            cli_given(args, "dry-run")
                ? send_look(cli_given(args, "json"), job.sender, job.mechanism)
                : send_records(args, &job);
    }
    watch_end(&job.watch);
    inquiry_clear(&job.inquiry);
    sotto_sender_free(job.sender);
    sotto_ledger_free(job.ledger);
    sotto_mechanism_free(job.mechanism);
    free(job.queue);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", "F (a data file)",
                                     NULL};

static const struct cli_option options[] = {
    {0, true, false, "person", "COL",
     "the column that tells people apart: the first of F,\n"
     "or the last"},
    {0, true, false, "ledger", "L",
     "charge everybody in this ledger (sotto ledger new):\n"
     "who was asked before gives the same report again"},
    {0, false, false, "again", NULL,
     "everybody in F agrees to a second mechanism of a\n"
     "campaign that asked them before: the costs add up"},
    {0, true, false, "pub", "K.pub",
     "the key that must have signed the mechanism"},
    {0, false, false, "pin", "HASH",
     "the mechanism's hash, as sotto verify says it: no\n"
     "other is used; needed if M is to be fetched"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "no-header", NULL,
     "the first line of each file is a record, and columns\n"
     "are c1, c2, ...; else it names them"},
    {0, false, false, "header", "yes|no", "no is --no-header"},
    {0, false, false, "people", "FILE",
     "the people, in its column COL: each gives one report,\n"
     "and other lines of F none"},
    {0, false, false, "retry-refused", NULL,
     "send again, the same bytes, what the collector\n"
     "refused"},
    {0, false, false, "drop-ended", NULL,
     "remove reports from the queue whose mechanism has\n"
     "expired, which are never sent; the charge stays"},
    {0, false, false, "dry-run", NULL,
     "show every byte that a request would hold, and what\n"
     "it says; send, read and charge nothing"},
    INQUIRY_WORK_OPTION,
    SEAL_OPTION,
    CLI_OPTION_END,
};

const struct cli_verb cmd_send = {
    .name = "send",
    .summary = "turn records into reports and send them to a collector",
    .usage = "M F --person COL --ledger L --to URL --pub K.pub [OPTIONS]",
    .about =
        "Each line of F is one person's record and gives one report, "
        "through the ledger,\nwhich waits in a queue until the collector "
        "has it on disk. Run it as often as\nyou like, from cron, say: who "
        "was asked before gives the stored report, what\narrived is not "
        "sent again, and a run that was killed is gone on with. First the\n"
        "collector is asked whether it has this mechanism; if not, or if it "
        "does not\nanswer, nobody is charged. If M is not there, it is "
        "fetched with its signature,\nand --pin must be given. Without a "
        "terminal only what went wrong is told. The\nexit status is 0 when "
        "nothing is left to send, 1 when something is, or was\nrefused by the "
        "collector, or is of a mechanism that has expired, or a file\ncannot "
        "be read, or another run has the queue, 2 for bad usage or input,\n"
        "and 3 when the ledger refused somebody, or the mechanism or the "
        "queue is not the\nright one.\n",
    .example = "awk '{ print (NR > 1 ? \"p\" NR : \"name\") \",\" $0 }' "
               "data/wdbc.csv >people.csv\n"
               "sotto ledger new l --lifetime-eps 4\n"
               "sotto send wdbc.sotto people.csv --person name --ledger l \\\n"
               "    --pub collector.pub --dry-run \\\n"
               "    --to http://127.0.0.1:8470/v1/campaigns/wdbc\n",
    .wanted = wanted,
    .options = options,
    .setting_at = sotto_sender_setting_at,
    .run = run_send,
};
