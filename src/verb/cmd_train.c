/*
 * cmd_train.c: sotto train: makes a mechanism from auxiliary data.
 *
 * The library says which kinds there are and what can be set of each: options
 * that are settings are handed on as they were given.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json_print.h"
#include "cli/output_file.h"
#include "cli/setting_options.h"
#include "cli/watch.h"
#include "host/clock.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/seen_file.h"
#include "verb/train_kinds.h"

#define KINDS_MAX 16u

/* What is asked for. */
struct plan {
    struct sotto_train_kind kind;
    struct sotto_train_options options;
    const char *path;
    char *stem;                 /* the name and the campaign, unless told */
    char *analyst, *checkpoint; /* NULL: none */
    const char **drop;
    struct sotto_setting *set;
    struct sotto_schema *schema; /* NULL: none */
};

/* ---- The summary -------------------------------------------------------- */

void
train_json(FILE *to, const char *path, const struct sotto_mechanism_info *info)
{
    json_begin(to);
    json_text(to, "mechanism", path);
    json_text(to, "name", info->name);
    json_text(to, "campaign", info->campaign);
    json_number(to, "eps", info->eps);
    json_number(to, "delta", info->delta);
    json_size(to, "columns", info->columns);
    json_size(to, "report_size", info->report_size);
    json_text(to, "hash", info->hash);
    if (info->expires > 0) {
        json_size(to, "expires", (size_t)info->expires);
    }
    json_number(to, "eps_features", info->eps_features);
    json_number(to, "eps_label", info->eps_label);
}

void
train_text(FILE *to, const char *path, const struct sotto_mechanism_info *info)
{
    char end[HOST_UTC_SIZE] = "";
    if (info->expires > 0) {
        host_utc_write(info->expires, end);
    }
    (void)fprintf(to,
                  "Wrote %s: %zu column%s, epsilon %s%s%s per report in all, "
                  "%zu bytes a report.\n%s%s%sMechanism %s\nSee what it "
                  "promises with sotto inspect, then sign it.\n",
                  cli_shown(path), info->columns, info->columns == 1 ? "" : "s",
                  info->eps_text, info->delta > 0 ? " and delta " : "",
                  info->delta > 0 ? info->delta_text : "", info->report_size,
                  end[0] != '\0' ? "Expires " : "", end,
                  end[0] != '\0' ? ".\n" : "", info->hash);
}

static void
put_fact(FILE *to, const struct sotto_fact *fact)
{
    switch (fact->kind) {
    case SOTTO_FACT_WHOLE:
        json_size(to, fact->name, (size_t)fact->number[0]);
        break;
    case SOTTO_FACT_FLAG:
        json_bool(to, fact->name, fact->number[0] > 0);
        break;
    case SOTTO_FACT_NUMBERS:
        json_numbers(to, fact->name, fact->number, fact->numbers);
        break;
    case SOTTO_FACT_TEXT:
        json_text(to, fact->name, fact->text);
        break;
    case SOTTO_FACT_NUMBER:
    default:
        json_number(to, fact->name, fact->number[0]);
        break;
    }
}

static void
tell_train(const struct cli_args *args, const struct plan *plan,
           const struct sotto_mechanism *mechanism,
           const struct sotto_train_facts *facts)
{
    struct sotto_mechanism_info info;
    FILE *to = cli_summary(plan->path);
    sotto_mechanism_info(mechanism, &info);
    if (cli_given(args, "json")) {
        train_json(to, plan->path, &info);
        json_text(to, "analyst", plan->analyst);
        for (size_t i = 0; i < facts->facts; i++) {
            put_fact(to, &facts->fact[i]);
        }
        json_text(to, "settings", facts->settings);
        json_end(to);
        return;
    }
    (void)fputs(facts->said, to);
    if (plan->analyst != NULL) {
        (void)fprintf(to,
                      "Wrote %s: %s, for you alone: it tells of the\nauxiliary "
                      "people, and is never for devices.\n",
                      cli_shown(plan->analyst), plan->kind.analyst);
    }
    train_text(to, plan->path, &info);
}

/* ---- Usage -------------------------------------------------------------- */

/* Whether there is such a kind; else a message. */
static bool
check_kind(const char *name)
{
    const char *names[KINDS_MAX], *nearest, *about;
    char there[160] = "";
    size_t count = 0, size = 0;
    for (; count < KINDS_MAX &&
           (names[count] = train_kind_at(count, &about)) != NULL;
         count++) {
        if (strcmp(name, names[count]) == 0) {
            return true;
        }
        size += (size_t)snprintf(there + size, sizeof there - size, "%s%s",
                                 count > 0 ? ", " : "", names[count]);
        size = size < sizeof there ? size : sizeof there - 1;
    }
    nearest = cli_nearest(name, names, count);
    (void)cli_bad("unknown kind '%.80s': %s%s%sthis version has: %s", name,
                  nearest != NULL ? "did you mean " : "",
                  nearest != NULL ? nearest : "", nearest != NULL ? "? " : "",
                  there);
    return false;
}

/* Whether an option goes with --from, which trains nothing. */
static bool
is_for_from(const char *option)
{
    static const char *const these[] = {"from",    "eps",    "lambda",
                                        "json",    "output", "label-channel",
                                        "expires", "force"};
    for (size_t i = 0; i < sizeof these / sizeof *these; i++) {
        if (strcmp(option, these[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether an option goes with a kind: `of` are those that it alone has. */
static bool
is_for_kind(const struct cli_option *of, const struct cli_option *option,
            const char *kind)
{
    if (option == &cli_shared_options[0]) {
        return true;
    }
    for (const struct cli_option *o = cmd_train.options; o->name != NULL; o++) {
        if (o == option) {
            return train_words.takes(kind, o->name);
        }
    }
    for (; of->name != NULL; of++) {
        if (strcmp(of->name, option->name) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether an option of a kind that takes it once was given before: another
   kind may take it more often. */
static bool
is_twice(const struct cli_args *args, const struct cli_option *of, size_t at)
{
    const char *name = args->given[at].option->name;
    bool before = false;
    for (size_t i = 0; i < at; i++) {
        before = before || strcmp(args->given[i].option->name, name) == 0;
    }
    while (of->name != NULL && strcmp(of->name, name) != 0) {
        of++;
    }
    return before && of->name != NULL && !of->many;
}

static int
check_options(const struct cli_args *args)
{
    const char *kind = args->word[0];
    const struct cli_option *of = train_words.of(kind);
    bool from = cli_given(args, "from");
    for (size_t i = 0; i < args->given_count; i++) {
        const struct cli_option *option = args->given[i].option;
        if (is_twice(args, of, i)) {
            return cli_bad("--%s is given twice", option->name);
        }
        if (from ? is_for_from(option->name) : is_for_kind(of, option, kind)) {
            continue;
        }
        return from ? cli_bad("--from trains nothing, it changes the budget "
                              "alone: leave --%s out",
                              option->name)
                    : cli_bad("--%s is not for %s: leave it out", option->name,
                              kind);
    }
    if (!from && cli_given(args, "encoder") &&
        (cli_given(args, "keep") || cli_given(args, "drop"))) {
        return cli_bad("--%s is for training an encoder, and --encoder names "
                       "one: leave one of them out",
                       cli_given(args, "keep") ? "keep" : "drop");
    }
    return CLI_EXIT_DONE;
}

static int
check_usage(const struct cli_args *args)
{
    const char *const inputs[] = {
        cli_value(args, "data"),    cli_value(args, "labels"),
        cli_value(args, "encoder"), cli_value(args, "from"),
        cli_value(args, "model"),   cli_value(args, "schema")};
    struct sotto_train_kind kind;
    bool trained = train_kind_find(args->word[0], &kind);
    double eps;
    int status = check_options(args);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (!trained && !cli_given(args, "model")) {
        return cli_bad("--model MODEL is missing: see sotto train --help");
    }
    if (trained && !cli_given(args, "from") && !cli_given(args, "data")) {
        return cli_bad("--data FILE is missing: see sotto train --help");
    }
    if (cli_given(args, "labels") && cli_given(args, "label")) {
        return cli_bad("--labels names a file, --label a column of the data: "
                       "give one of them");
    }
    if (cli_given(args, "labels") && cli_given(args, "label-values")) {
        return cli_bad("--label-values is for data without labels, --labels "
                       "gives them: give one of them");
    }
    if (!cli_eps(args, "eps", &eps)) {
        return CLI_EXIT_BAD;
    }
    status = output_file_check(cli_value(args, "output"), inputs,
                               sizeof inputs / sizeof *inputs);
    status =
        CLI_THEN(status, train_check_replace(args, cli_value(args, "output")));
    return cli_given(args, "seen")
               ? CLI_THEN(status, seen_file_check(
                                      args, cli_value(args, "output"), inputs,
                                      sizeof inputs / sizeof *inputs))
               : status;
}

/* ---- The plan ----------------------------------------------------------- */

/* PATH with another ending in place of .sotto, or behind all of it. */
static char *
name_beside(const char *path, const char *cut, const char *ending)
{
    size_t size = strlen(path), tail = strlen(cut);
    if (tail > 0 && size > tail && strcmp(path + size - tail, cut) == 0) {
        size -= tail;
    }
    size_t room = size + strlen(ending) + 1;
    char *text = malloc(room);
    if (text != NULL) {
        (void)snprintf(text, room, "%.*s%s", (int)size, path, ending);
    }
    return text;
}

/* Whether it is a file, or may become one: beside a pipe there is no room. */
static bool
is_file(const char *path)
{
    struct stat file;
    return path != NULL && (stat(path, &file) != 0 || S_ISREG(file.st_mode));
}

/* --analyst, or beside the mechanism; it may be neither that nor an input. */
static int
plan_analyst(const struct cli_args *args, struct plan *plan)
{
    const char *given = cli_value(args, "analyst"), *path = plan->path;
    const char *const others[] = {cli_value(args, "data"),
                                  cli_value(args, "labels"),
                                  cli_value(args, "encoder"), path};
    if (plan->kind.analyst == NULL) {
        return CLI_EXIT_DONE;
    }
    if (given == NULL && !is_file(path)) {
        return cli_bad("-o is no file to put another beside: say with "
                       "--analyst where that of the analyst goes");
    }
    plan->analyst =
        given != NULL ? strdup(given) : name_beside(path, ".sotto", ".analyst");
    if (plan->analyst == NULL) {
        return cli_no_memory();
    }
    if (strcmp(plan->analyst, path) == 0) {
        return cli_bad("--analyst and -o are both '%.240s': one is for you, "
                       "the other for devices",
                       path);
    }
    int status = output_file_check(plan->analyst, others,
                                   sizeof others / sizeof *others);
    return given != NULL
               ? CLI_THEN(status, train_check_replace(args, plan->analyst))
               : status;
}

static int
plan_paths(const struct cli_args *args, struct plan *plan)
{
    int status = plan_analyst(args, plan);
    if (status == CLI_EXIT_DONE && plan->kind.trains && is_file(plan->path)) {
        plan->checkpoint = name_beside(plan->path, "", ".checkpoint");
        if (plan->checkpoint == NULL) {
            status = cli_no_memory();
        }
    }
    return status;
}

/* Says what went wrong, and whether the training goes on. */
static int
fail_train(const struct plan *plan, const struct sotto_error *err)
{
    if (err->status == SOTTO_STATUS_STOPPED && plan->checkpoint != NULL &&
        access(plan->checkpoint, F_OK) == 0) {
        cli_error("stopped; run the same command again to go on");
        return CLI_EXIT_FAILED;
    }
    return cli_fail(err);
}

/* Takes the settings from the command line; checks them, before data is read:
   whether there will be a label is known, not its name. */
static int
plan_settings(const struct cli_args *args, struct plan *plan)
{
    struct sotto_train_options *options = &plan->options;
    struct sotto_error err = {0};
    uint64_t threads = 0;
    plan->set = setting_options_given(args, train_words.of(plan->kind.name),
                                      &options->sets);
    if (plan->set == NULL) {
        return CLI_EXIT_FAILED;
    }
    plan->stem = train_stem(plan->path);
    if (plan->stem == NULL) {
        return cli_no_memory();
    }
    if (!cli_whole(args, "threads", 1, 64, &threads)) {
        return CLI_EXIT_BAD;
    }
    options->set = plan->set;
    options->threads = (unsigned)threads;
    options->eps = cli_value(args, "eps");
    options->name =
        cli_given(args, "name") ? cli_value(args, "name") : plan->stem;
    options->campaign =
        cli_given(args, "campaign") ? cli_value(args, "campaign") : plan->stem;
    options->label = cli_value(args, "label");
    if (cli_given(args, "labels") || cli_given(args, "label-values")) {
        options->label = "label";
    }
    if (options->label == NULL && is_file(cli_value(args, "schema")) &&
        train_schema_labels(cli_value(args, "schema"))) {
        options->label = "label";
    }
    return sotto_train_check(plan->kind.name, options, &err) == SOTTO_STATUS_OK
               ? CLI_EXIT_DONE
               : fail_train(plan, &err);
}

/* Names what options leave out: a schema that is given may name the label. */
static int
plan_drops(const struct cli_args *args, const struct sotto_table *table,
           struct plan *plan)
{
    int status = train_drops(args, table, plan->options.label, &plan->drop,
                             &plan->options.drops);
    plan->options.drop = plan->drop;
    return status;
}

static int
plan_schema(const struct cli_args *args, const struct sotto_table *table,
            struct plan *plan)
{
    int status = train_schema(args, table, &plan->options.label, &plan->schema);
    plan->options.schema = plan->schema;
    return status;
}

static int
plan_columns(const struct cli_args *args, struct sotto_table *table,
             struct plan *plan)
{
    bool given = cli_given(args, "schema");
    int status = train_categories(args, table);
    status = CLI_THEN(status, train_declare(args, table));
    status = CLI_THEN(status, train_label(args, table, &plan->options.label));
    if (given) {
        status = CLI_THEN(status, plan_schema(args, table, plan));
    }
    status = CLI_THEN(status, plan_drops(args, table, plan));
    if (status == CLI_EXIT_DONE && plan->options.label == NULL &&
        plan->kind.analyst != NULL && !cli_given(args, "target") &&
        !cli_given(args, "model")) {
        train_note_label(table, plan->drop, plan->options.drops);
    }
    return given ? status : CLI_THEN(status, plan_schema(args, table, plan));
}

static void
plan_clear(struct plan *plan)
{
    free(plan->stem);
    free(plan->analyst);
    free(plan->checkpoint);
    free(plan->drop);
    free(plan->set);
    sotto_schema_free(plan->schema);
}

/* ---- The verb ----------------------------------------------------------- */

static int
train_kind(const struct cli_args *args, const struct sotto_table *table,
           struct plan *plan)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_train_facts facts = {.facts = 0};
    struct sotto_error err = {0};
    struct watch watch;
    enum sotto_status status;
    watch_start(&watch);
    plan->options.watch = watch_port(&watch);
    plan->options.checkpoint = plan->checkpoint;
    status = sotto_train(table, plan->kind.name, &plan->options, plan->path,
                         plan->analyst, &facts, &mechanism, &err);
    watch_end(&watch);
    if (status != SOTTO_STATUS_OK) {
        return fail_train(plan, &err);
    }
    int exit_status = train_expire(args, &mechanism);
    if (exit_status == CLI_EXIT_DONE && cli_given(args, "seen")) {
        exit_status = seen_file_write(plan->path, mechanism, table);
    }
    if (exit_status == CLI_EXIT_DONE) {
        tell_train(args, plan, mechanism, &facts);
    }
    sotto_mechanism_free(mechanism);
    return exit_status;
}

static int
run_kind(const struct cli_args *args)
{
    struct plan plan = {.path = cli_value(args, "output")};
    struct sotto_table *table = NULL;
    int status = CLI_EXIT_BAD;
    if (train_kind_find(args->word[0], &plan.kind)) {
        status = plan_settings(args, &plan);
    }
    status = CLI_THEN(status, records_read(args, cli_value(args, "data"),
                                           cli_value(args, "labels"), &table));
    status = CLI_THEN(status, plan_paths(args, &plan));
    status = CLI_THEN(status, plan_columns(args, table, &plan));
    status = CLI_THEN(status, train_kind(args, table, &plan));
    sotto_table_free(table);
    plan_clear(&plan);
    return status;
}

/* Makes the mechanism, in whichever way. */
static int
make_mechanism(const struct cli_args *args)
{
    if (train_model_find(args->word[0]) != NULL) {
        return train_model(args);
    }
    return cli_given(args, "from") ? train_from(args) : run_kind(args);
}

static int
run_train(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    char old[TRAIN_HASH_SIZE];
    int status = check_kind(args->word[0]) ? check_usage(args) : CLI_EXIT_BAD;
    status = CLI_THEN(status, train_check_expiry(args));
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    train_read_hash(path, old);
    status = make_mechanism(args);
    return CLI_THEN(status, train_remove_signature(path, old));
}

static const char *const wanted[] = {"KIND", NULL};

static const struct cli_option options[] = {
    {0, false, false, "data", "FILE",
     "auxiliary records, best public ones: CSV, IDX or\n"
     ".npy, also gzipped; or a folder of PNG files, best\n"
     "with one in it for each class"},
    {0, false, false, "labels", "FILE", "a file with the label of each record"},
    {0, false, false, "label", "COL", "the column of the data that is a label"},
    {0, false, false, "label-values", "V,V,...",
     "data without labels: what people's labels may be, in\n"
     "the column --label (label)"},
    {0, true, false, "eps", "E",
     "privacy budget of a report, all its answers together:\n"
     "a decimal from 0.000001 to 32"},
    {0, false, true, "keep", "COL",
     "use this column, and no others but those kept and\n"
     "the label"},
    {0, false, true, "drop", "COL", "leave this column out"},
    {0, false, true, "category", "COL",
     "this column of numbers holds categories"},
    {0, false, false, "schema", "S",
     "what the columns are, as sotto schema infer writes\n"
     "it; else that is told from the data, and printed"},
    {0, false, false, "rare", "N",
     "without --schema: a category held by fewer rows is\n"
     "not named, and counts as other (10; below 100 rows 1)"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    {0, false, false, "name", "TEXT",
     "a name for people (the name of the file -o, without\n"
     ".sotto)"},
    {0, false, false, "campaign", "TEXT",
     "the campaign that ledgers count it in (the name of\n"
     "the file -o, without .sotto, as in a collector's URL)"},
    {0, false, false, "expires", "DATE",
     "from this day (UTC) on nothing of it is sent, reports\n"
     "that wait included: 2030-01-31. Choose it long: a\n"
     "later day is another mechanism, and charges again.\n"
     "What is made --from a mechanism or by --model ends\n"
     "when that does; past that day, give a later one"},
    {'o', true, false, "output", "M.sotto", "the mechanism to write"},
    {0, false, false, "force", NULL,
     "replace a mechanism that is there: reports made with\n"
     "it can then never be read, and its signature goes"},
    {0, false, false, "analyst", "FILE",
     "where what is for the analyst goes (M.analyst)"},
    {0, false, false, "seen", NULL,
     "also write M.seen, for you alone: by it privatise\n"
     "knows these records again and refuses them"},
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    {0, false, false, "from", "M.sotto",
     "this mechanism, of the same KIND, at another --eps,\n"
     "--lambda and --label-channel, without training; its\n"
     "analyst file stays"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_train = {
    .name = "train",
    .summary = "make a mechanism from auxiliary data",
    .usage = "KIND --data F [--label COL] --eps E [OPTIONS] -o M.sotto",
    .about =
        "Each KIND has settings of its own: see sotto train KIND --help. What "
        "is learnt\nor fitted comes from the data, which gets no protection by "
        "that: use public\nrecords, not those to be protected. The example of "
        "direct gives every range by\nhand, and everybody knows its two "
        "categories, B and M: so its mechanism tells\nnothing about the "
        "data.\n",
    .example =
        "sotto train direct --data data/wdbc.csv --label diagnosis "
        "--eps 4 \\\n    --keep radius_mean --range radius_mean=5:30 "
        "\\\n    --keep texture_mean --range texture_mean=5:45 "
        "-o wdbc.sotto\n"
        "sotto train vlm --from wdbc-vlm.sotto --eps 4 -o wdbc-vlm4.sotto\n"
        "sotto train codebook --data data/wdbc.csv --label diagnosis --eps 1 "
        "\\\n    --encoder wdbc-vlm.sotto -o wdbc-codes.sotto\n"
        "sotto train codebook --data data/wdbc.csv --label diagnosis --eps 1 "
        "\\\n    --d 8 --epochs 4 -o wdbc-both.sotto\n"
        "sotto privatise wdbc-codes.sotto data/wdbc.csv -o wdbc-codes.reports\n"
        "sotto fit wdbc-codes.sotto wdbc-codes.reports -o wdbc-codes.model\n"
        "sotto train code --model wdbc-codes.model --eps 4 -o wdbc-ask.sotto\n"
        "sotto train code --model wdbc-codes.model --data data/wdbc.csv --eps "
        "4 "
        "\\\n    --recut wdbc-recut.model -o wdbc-recut.sotto\n"
        "sotto train class --model wdbc-codes.model --eps 4 "
        "-o wdbc-class.sotto\n"
        "sotto train right --model wdbc-codes.model --eps 1 "
        "-o wdbc-right.sotto\n",
    .wanted = wanted,
    .options = options,
    .words = &train_words,
    .computes = true,
    .run = run_train,
};
