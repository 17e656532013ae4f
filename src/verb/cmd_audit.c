/*
 * cmd_audit.c: sotto audit: trying to break a mechanism's claim.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/progress.h"

#define PATH_SIZE 540u
#define COUNT_MOST 100000000u
#define WIDTH 80u
#define INDENT 21u /* of what an attack found */

/* What the library calls back with. */
struct audit_job {
    const char *path;
    struct progress bar;
    const char *attack;
    char label[32];
    char folder[512]; /* of the ledger; "" if none could be made */
    struct sotto_ledger *ledger;
    struct sotto_ledger_port port;
};

/* ---- What the audit asks of its caller ----------------------------------- */

static void
show_progress(void *context, const char *attack, uint64_t done, uint64_t total)
{
    struct audit_job *job = context;
    if (job->attack == NULL || strcmp(job->attack, attack) != 0) {
        progress_end(&job->bar);
        (void)snprintf(job->label, sizeof job->label, "audit: %s", attack);
        progress_start(&job->bar, job->label, total);
        job->attack = attack;
    }
    progress_step(&job->bar, done);
}

static int
digit_of(int c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c > 0 ? strchr(digits, c) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

static int
read_hexadecimal(FILE *from, uint8_t *report, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int high = digit_of(fgetc(from)), low = digit_of(fgetc(from));
        if (high < 0 || low < 0) {
            return -1;
        }
        report[i] = (uint8_t)(16 * high + low);
    }
    return 0;
}

/* This program again, in a process of its own, with --one. */
static pid_t
start_again(const struct audit_job *job, int output)
{
    char program[] = "sotto", verb[] = "audit", one[] = "--one", end[] = "--";
    char *path = strdup(job->path);
    char *argv[] = {program, verb, one, end, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child = -1;
    if (path == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(path);
        return -1;
    }
    if (posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) !=
            0 ||
        posix_spawn(&child, "/proc/self/exe", &actions, NULL, argv, environ) !=
            0) {
        child = -1;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    free(path);
    return child;
}

static int
make_fresh(void *context, uint8_t *report, size_t size)
{
    const struct audit_job *job = context;
    int ends[2], status = -1, result = -1;
    pid_t child;
    FILE *from;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    child = start_again(job, ends[1]);
    (void)close(ends[1]);
    from = fdopen(ends[0], "r");
    if (from != NULL) {
        result = child > 0 ? read_hexadecimal(from, report, size) : -1;
        (void)fclose(from);
    } else {
        (void)close(ends[0]);
    }
    while (child > 0 && waitpid(child, &status, 0) != child) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status == 0 ? result : -1;
}

/* ---- A ledger for the time of the audit ---------------------------------- */

static const char *const ledger_ends[] = {"", ".secret", ".mark", "-journal"};
#define LEDGER_FILES (sizeof ledger_ends / sizeof ledger_ends[0])

/* What is to be removed, the folder last; for the handler of a signal. */
static char litter[LEDGER_FILES + 1][PATH_SIZE];

static void
ledger_path(const struct audit_job *job, const char *end, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "%s/ledger%s", job->folder, end);
}

static void
remove_litter(void)
{
    for (size_t i = 0; i < LEDGER_FILES; i++) {
        (void)unlink(litter[i]);
    }
    (void)rmdir(litter[LEDGER_FILES]);
}

/* Everything here may be called in a handler. */
static void
sweep_and_end(int number)
{
    remove_litter();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* An interrupted audit leaves no folder, either. What is ignored stays so. */
static void
catch_signals(void (*handler)(int))
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) {
        struct sigaction now;
        if (sigaction(caught[i], NULL, &now) == 0 &&
            now.sa_handler != SIG_IGN) {
            (void)signal(caught[i], handler);
        }
    }
}

static void
ledger_make(struct audit_job *job)
{
    const char *temporary = getenv("TMPDIR");
    struct sotto_ledger_caps caps = {"1000000", "1", NULL, NULL};
    char path[PATH_SIZE];
    int size = snprintf(job->folder, sizeof job->folder, "%s/sotto-XXXXXX",
                        temporary != NULL ? temporary : "/tmp");
    if (size < 0 || (size_t)size >= sizeof job->folder ||
        mkdtemp(job->folder) == NULL) {
        job->folder[0] = '\0';
        return;
    }
    for (size_t i = 0; i < LEDGER_FILES; i++) {
        ledger_path(job, ledger_ends[i], litter[i]);
    }
    (void)snprintf(litter[LEDGER_FILES], PATH_SIZE, "%s", job->folder);
    catch_signals(sweep_and_end);
    ledger_path(job, "", path);
    if (sotto_ledger_create(path, &caps, NULL) != SOTTO_STATUS_OK) {
        cli_note("no ledger could be made in %s", job->folder);
    }
}

static const struct sotto_ledger_port *
ledger_open(void *context)
{
    struct audit_job *job = context;
    char path[PATH_SIZE];
    sotto_ledger_free(job->ledger);
    job->ledger = NULL;
    ledger_path(job, "", path);
    if (job->folder[0] == '\0' ||
        sotto_ledger_open(path, &job->ledger, NULL) != SOTTO_STATUS_OK) {
        return NULL;
    }
    job->port = sotto_ledger_port(job->ledger);
    return &job->port;
}

static void
ledger_remove(struct audit_job *job)
{
    sotto_ledger_free(job->ledger);
    if (job->folder[0] != '\0') {
        remove_litter();
        catch_signals(SIG_DFL);
    }
}

/* ---- What it found ------------------------------------------------------- */

static void
tell_json_audit(const struct sotto_audit *audit,
                const struct sotto_audit_info *info)
{
    for (size_t i = 0; i < info->parts; i++) {
        struct sotto_audit_part part;
        sotto_audit_part(audit, i, &part);
        json_begin(stdout);
        json_size(stdout, "part", i + 1);
        json_text(stdout, "channel", part.channel);
        json_size(stdout, "blocks", part.blocks);
        json_number(stdout, "eps_stated", part.eps_stated);
        json_number(stdout, "eps_exact", part.eps_exact);
        json_number(stdout, "delta_stated", part.delta_stated);
        json_number(stdout, "delta_exact", part.delta_exact);
        json_text(stdout, "enumerated", part.scope);
        json_size(stdout, "branches", part.branches);
        json_number(stdout, "log_p_error", part.log_p_error);
        json_number(stdout, "sensitivity_stated", part.sensitivity_stated);
        json_number(stdout, "sensitivity_found", part.sensitivity_found);
        json_end(stdout);
    }
    for (size_t i = 0; i < info->findings; i++) {
        const struct sotto_audit_finding *found = sotto_audit_finding(audit, i);
        json_begin(stdout);
        json_text(stdout, "attack", found->attack);
        json_bool(stdout, "violated", found->violated);
        json_bool(stdout, "untried", found->untried);
        json_text(stdout, "evidence", found->text);
        json_end(stdout);
    }
    json_begin(stdout);
    json_number(stdout, "eps_stated", info->eps_stated);
    json_number(stdout, "delta_stated", info->delta_stated);
    json_number(stdout, "eps_exact", info->eps_exact);
    json_number(stdout, "eps_lower", info->eps_lower);
    json_number(stdout, "alpha", info->alpha);
    json_size(stdout, "samples", info->samples);
    json_number(stdout, "sensitivity_stated", info->sensitivity_stated);
    json_number(stdout, "sensitivity_found", info->sensitivity_found);
    json_size(stdout, "untried", info->untried);
    json_text(stdout, "verdict", info->violated ? "violated" : "holds");
    json_end(stdout);
}

/* Prints words from column `at` on, in lines of WIDTH, the next ones indented
   by `indent`. */
static void
tell_words(const char *text, size_t at, size_t indent)
{
    size_t column = at;
    while (*text != '\0') {
        size_t size = strcspn(text, " ");
        if (column > at && column + 1 + size > WIDTH) {
            (void)printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > at) {
            (void)putchar(' ');
            column++;
        }
        cli_put(stdout, text, size);
        column += size;
        text += size;
        text += strspn(text, " ");
        at = indent;
    }
    (void)putchar('\n');
}

static void
tell_part(size_t at, const struct sotto_audit_part *part)
{
    char exact[JSON_NUMBER_SIZE] = "-";
    if (!isnan(part->eps_exact)) {
        (void)snprintf(exact, sizeof exact, "%.10g", part->eps_exact);
    }
    (void)printf("%4zu  %-8s  %6zu  %-12.10g  %-12s  %-10s  %.6g of %.6g\n",
                 at + 1, part->channel, part->blocks, part->eps_stated, exact,
                 part->scope, part->sensitivity_found,
                 part->sensitivity_stated);
}

static void
tell_parts(const struct sotto_audit *audit, const struct sotto_audit_info *info)
{
    (void)printf("%4s  %-8s  %6s  %-12s  %-12s  %-10s  %s\n", "part", "channel",
                 "blocks", "eps stated", "eps exact", "enumerated",
                 "sensitivity");
    for (size_t i = 0; i < info->parts; i++) {
        struct sotto_audit_part part;
        sotto_audit_part(audit, i, &part);
        tell_part(i, &part);
    }
    (void)putchar('\n');
}

static void
tell_text(const struct sotto_audit *audit, const struct sotto_audit_info *info)
{
    char text[320], exact[64] = "", delta[64] = "";
    tell_parts(audit, info);
    for (size_t i = 0; i < info->findings; i++) {
        const struct sotto_audit_finding *found = sotto_audit_finding(audit, i);
        (void)printf("%-8s  %-9s  ",
                     found->violated  ? "VIOLATED"
                     : found->untried ? "untried"
                                      : "held",
                     found->attack);
        tell_words(found->text, INDENT, INDENT);
    }
    if (info->delta_stated > 0) {
        (void)snprintf(delta, sizeof delta, " and delta %.6g",
                       info->delta_stated);
    }
    if (!isnan(info->eps_exact)) {
        (void)snprintf(exact, sizeof exact, "; exact by enumeration %.12g",
                       info->eps_exact);
    }
    (void)snprintf(text, sizeof text,
                   "Stated epsilon %.12g%s%s; at least %.6g from %llu reports "
                   "of each of two records.",
                   info->eps_stated, delta, exact, info->eps_lower,
                   (unsigned long long)info->samples);
    (void)putchar('\n');
    tell_words(text, 0, 0);
    (void)printf("Verdict: the claim %s.\n",
                 info->violated      ? "is violated"
                 : info->untried > 0 ? "holds, as far as it could be tried"
                                     : "holds");
}

/* ---- The verb ------------------------------------------------------------ */

static int
print_one(struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    uint8_t *report;
    int status = CLI_EXIT_DONE;
    sotto_mechanism_info(mechanism, &info);
    report = malloc(info.report_size);
    if (report == NULL) {
        return cli_no_memory();
    }
    if (sotto_audit_one(mechanism, report, info.report_size, &err) !=
        SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    for (size_t i = 0; status == CLI_EXIT_DONE && i < info.report_size; i++) {
        (void)printf("%02x%s", report[i],
                     i + 1 == info.report_size ? "\n" : "");
    }
    free(report);
    return status;
}

static int
audit_mechanism(const struct cli_args *args, struct sotto_mechanism *mechanism)
{
    struct audit_job job = {.path = args->word[0]};
    struct sotto_audit_options options = {.progress = show_progress,
                                          .ledger = ledger_open,
                                          .fresh = make_fresh,
                                          .context = &job};
    struct sotto_audit *found = NULL;
    struct sotto_audit_info info;
    struct sotto_error err = {0};
    enum sotto_status status;
    if (!cli_whole(args, "samples", 0, COUNT_MOST, &options.samples) ||
        !cli_whole(args, "branches", 0, COUNT_MOST, &options.branches) ||
        !cli_whole(args, "steps", 0, UINT64_MAX, &options.steps) ||
        !cli_whole(args, "seed", 0, UINT64_MAX, &options.seed) ||
        !cli_number(args, "alpha", 1e-12, 0.5, &options.alpha)) {
        return CLI_EXIT_BAD;
    }
    progress_start(&job.bar, "audit", 0);
    ledger_make(&job);
    (void)fflush(stdout);
    status = sotto_audit_run(mechanism, &options, &found, &err);
    progress_end(&job.bar);
    ledger_remove(&job);
    if (status != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_audit_info(found, &info);
    if (cli_given(args, "json")) {
        tell_json_audit(found, &info);
    } else {
        tell_text(found, &info);
    }
    sotto_audit_free(found);
    return info.violated ? CLI_EXIT_REFUSED : CLI_EXIT_DONE;
}

static int
run_audit(const struct cli_args *args)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    int status;
    if (sotto_mechanism_read(args->word[0], &mechanism, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = cli_given(args, "one") ? print_one(mechanism)
                                    : audit_mechanism(args, mechanism);
    sotto_mechanism_free(mechanism);
    return status;
}

static const char *const wanted[] = {"M (a mechanism)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "samples", "N",
     "reports of each of two records, for each of two\n"
     "stages (100000)"},
    {0, false, false, "alpha", "A",
     "the chance of a false alarm by sampling (0.001)"},
    {0, false, false, "branches", "N",
     "the most branches of a sampler to take for a part\n"
     "(4000000); beyond, a smaller domain is taken"},
    {0, false, false, "steps", "N",
     "the most instructions to follow one by one (3000000)"},
    {0, false, false, "seed", "S",
     "of the search for hostile records (0); the noise is\n"
     "always the system's"},
    {0, false, false, "one", NULL,
     "make one report of a hostile record, print it in\n"
     "hexadecimal and stop: what the audit runs afresh"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_audit = {
    .name = "audit",
    .summary = "try to break a mechanism's claim",
    .usage = "M [OPTIONS] [--json]",
    .about =
        "Attacks the file and the code that runs it in five ways: takes every "
        "branch of\nthe samplers and compares exact probabilities; searches "
        "for records that leave\ntheir domain; bounds epsilon from below by "
        "sampling; looks for noise that\nrepeats across calls, forks and "
        "processes, entropy that is not the system's and\nsteps that depend on "
        "the record; and times whole reports of hostile records.\n"
        "Exit status 3 if the claim is violated.\n",
    .example = "sotto audit wdbc.sotto\n",
    .wanted = wanted,
    .options = options,
    .run = run_audit,
};
