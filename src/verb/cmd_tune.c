/*
 * cmd_tune.c: sotto tune: settings chosen by private answers alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output_file.h"
#include "host/csv_field.h"
#include "host/file.h"
#include "verb/learning.h"
#include "verb/records.h"
#include "verb/tune_verbs.h"

/* ---- Files ----------------------------------------------------------------
 */

void
tune_path(char path[TUNE_PATH_SIZE], const char *folder, const char *name,
          const char *suffix)
{
    (void)snprintf(path, TUNE_PATH_SIZE, "%s/%s%s", folder, name, suffix);
}

void
tune_candidate_path(char path[TUNE_PATH_SIZE], const char *folder,
                    size_t candidate, const char *suffix)
{
    (void)snprintf(path, TUNE_PATH_SIZE, "%s/%02zu%s", folder, candidate + 1,
                   suffix);
}

int
tune_analyst_read(const struct sotto_mechanism *mechanism, const char *path,
                  struct sotto_analyst **ret_analyst)
{
    char beside[TUNE_PATH_SIZE];
    size_t size = strlen(path);
    struct sotto_error err = {0};
    if (size < 6 || strcmp(path + size - 6, ".sotto") != 0 ||
        size + 3 > sizeof beside) {
        return CLI_EXIT_DONE;
    }
    (void)snprintf(beside, sizeof beside, "%.*s.analyst", (int)(size - 6),
                   path);
    if (access(beside, R_OK) != 0) {
        return CLI_EXIT_DONE;
    }
    if (sotto_analyst_read(beside, ret_analyst, &err) != SOTTO_STATUS_OK ||
        sotto_analyst_check(*ret_analyst, mechanism, &err) != SOTTO_STATUS_OK) {
        return learning_fail(&err, beside);
    }
    return CLI_EXIT_DONE;
}

/* ---- What to tune ---------------------------------------------------------
 */

/* --grid NAME=V,V,... */
static int
read_grids(const struct cli_args *args, struct tune_order *order)
{
    const char *text;
    for (size_t i = 0; (text = cli_nth(args, "grid", i)) != NULL; i++) {
        const char *equals = strchr(text, '=');
        if (i == SOTTO_TUNE_GRIDS_MAX) {
            return cli_bad("--grid: at most %u settings", SOTTO_TUNE_GRIDS_MAX);
        }
        if (equals == NULL || equals == text || equals[1] == '\0') {
            return cli_bad("--grid '%.120s': say NAME=V,V,... with a setting "
                           "of sotto fit",
                           text);
        }
        order->text[i] = strdup(text);
        if (order->text[i] == NULL) {
            return cli_no_memory();
        }
        order->text[i][equals - text] = '\0';
        order->grid[i] = (struct sotto_setting){
            order->text[i], order->text[i] + (equals - text) + 1};
        order->options.grids++;
    }
    return CLI_EXIT_DONE;
}

static int
read_mechanisms(const struct cli_args *args, size_t first,
                struct tune_order *order)
{
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (args->words <= first) {
        return cli_bad("needs M.sotto, the mechanisms that people report by");
    }
    if (args->words - first > SOTTO_TUNE_MECHANISMS_MAX) {
        return cli_bad("at most %u mechanisms", SOTTO_TUNE_MECHANISMS_MAX);
    }
    for (size_t i = 0; status == CLI_EXIT_DONE && first + i < args->words;
         i++) {
        const char *path = args->word[first + i];
        if (sotto_mechanism_read(path, &order->mechanism[i], &err) !=
            SOTTO_STATUS_OK) {
            return cli_fail(&err);
        }
        order->options.mechanisms++;
        status =
            tune_analyst_read(order->mechanism[i], path, &order->analyst[i]);
    }
    return status;
}

int
tune_order_read(const struct cli_args *args, size_t first,
                struct tune_order *ret_order)
{
    struct sotto_tune_options *options = &ret_order->options;
    *ret_order = (struct tune_order){.options = {.train = 0.6, .final = 0.1}};
    if (!cli_given(args, "eps")) {
        return cli_bad("needs --eps, of each answer");
    }
    if (!cli_share(args, "train-share", 0.001, 0.998, &options->train) ||
        !cli_share(args, "final-share", 0.001, 0.998, &options->final)) {
        return CLI_EXIT_BAD;
    }
    options->eps = cli_value(args, "eps");
    options->learner = cli_value(args, "learner");
    options->mechanism = ret_order->mechanism;
    options->path = (const char *const *)args->word + first;
    options->grid = ret_order->grid;
    int status = read_grids(args, ret_order);
    return CLI_THEN(status, read_mechanisms(args, first, ret_order));
}

void
tune_order_clear(struct tune_order *order)
{
    for (size_t i = 0; i < SOTTO_TUNE_MECHANISMS_MAX; i++) {
        sotto_mechanism_free(order->mechanism[i]);
        sotto_analyst_free(order->analyst[i]);
    }
    for (size_t i = 0; i < SOTTO_TUNE_GRIDS_MAX; i++) {
        free(order->text[i]);
    }
}

/* ---- plan -----------------------------------------------------------------
 */

static int
run_plan(const struct cli_args *args)
{
    const char *folder = args->word[1];
    char path[TUNE_PATH_SIZE];
    struct tune_order order;
    struct sotto_tune *tune = NULL;
    struct sotto_error err = {0};
    int status = tune_order_read(args, 2, &order);
    tune_path(path, folder, "tune", ".json");
    if (status == CLI_EXIT_DONE && output_file_written(path)) {
        status = cli_bad("'%.240s' is there already: people have places in "
                         "it; take another folder",
                         path);
    }
    if (status == CLI_EXIT_DONE &&
        (sotto_tune_new(&order.options, &tune, &err) != SOTTO_STATUS_OK ||
         host_folder_make(folder, 0777, &err) != SOTTO_STATUS_OK ||
         sotto_tune_write(tune, path, &err) != SOTTO_STATUS_OK)) {
        status = cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        tune_tell(args, tune);
    }
    sotto_tune_free(tune);
    tune_order_clear(&order);
    return status;
}

/* ---- people ---------------------------------------------------------------
 */

/* The names of those who are asked question `which`, for the caller to free. */
struct people {
    struct sotto_value *name;
    size_t count;
};

static int
compare_names(const void *a, const void *b)
{
    const struct sotto_value *x = a, *y = b;
    size_t size = x->size < y->size ? x->size : y->size;
    int order = memcmp(x->data, y->data, size);
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Each once, however many lines name them, in the order of their bytes. */
static int
find_people(const struct sotto_tune *tune, const struct sotto_table *table,
            size_t column, size_t which, struct people *people)
{
    size_t rows = sotto_table_rows(table), found = 0;
    people->name = calloc(rows + 1, sizeof *people->name);
    if (people->name == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value name = sotto_table_cell(table, i, column);
        if (name.data != NULL && name.size > 0 &&
            sotto_tune_place(tune, name.data, name.size) == which) {
            people->name[found++] = name;
        }
    }
    qsort(people->name, found, sizeof *people->name, compare_names);
    for (size_t i = 0; i < found; i++) {
        if (i == 0 ||
            compare_names(&people->name[i - 1], &people->name[i]) != 0) {
            people->name[people->count++] = people->name[i];
        }
    }
    return CLI_EXIT_DONE;
}

static bool
print_name(FILE *to, const struct sotto_value *name)
{
    char *text = strndup(name->data, name->size);
    if (text != NULL) {
        csv_field_print(to, text);
        (void)fputs("\n", to);
    }
    free(text);
    return text != NULL;
}

/* Writes who is asked question `which`, for its owner alone to read. */
static int
write_people(const struct cli_args *args, const struct sotto_tune *tune,
             const struct sotto_table *table, size_t column, size_t which)
{
    char path[TUNE_PATH_SIZE];
    struct sotto_tune_question question;
    struct output_file file;
    struct people people = {0};
    int status = find_people(tune, table, column, which, &people);
    sotto_tune_question(tune, which, &question);
    tune_path(path, args->word[1], question.name, ".people.csv");
    if (status == CLI_EXIT_DONE && !output_file_open_secret(&file, path)) {
        status = CLI_EXIT_FAILED;
    }
    if (status != CLI_EXIT_DONE) {
        free(people.name);
        return status;
    }
    csv_field_print(file.stream, cli_value(args, "person"));
    (void)fputs("\n", file.stream);
    for (size_t i = 0; status == CLI_EXIT_DONE && i < people.count; i++) {
        status = print_name(file.stream, &people.name[i]) ? CLI_EXIT_DONE
                                                          : cli_no_memory();
    }
    free(people.name);
    if (status != CLI_EXIT_DONE) {
        output_file_drop(&file);
        return status;
    }
    if (!output_file_commit(&file)) {
        return CLI_EXIT_FAILED;
    }
    (void)printf("%s: %zu people\n", cli_shown(path), people.count);
    return CLI_EXIT_DONE;
}

static int
run_people(const struct cli_args *args)
{
    char path[TUNE_PATH_SIZE];
    const char *person = cli_value(args, "person");
    struct sotto_tune *tune = NULL;
    struct sotto_table *table = NULL;
    struct sotto_tune_info info = {0};
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    size_t column = SIZE_MAX;
    if (args->words != 3 || person == NULL) {
        return cli_bad("people needs FOLDER, a file F of people and --person "
                       "COL, its column of names");
    }
    tune_path(path, args->word[1], "tune", ".json");
    if (sotto_tune_read(path, &tune, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = records_read(args, args->word[2], NULL, &table);
    if (status == CLI_EXIT_DONE) {
        column = sotto_table_find(table, person);
        if (column == SIZE_MAX) {
            status = cli_bad("'%.240s' has no column \"%.80s\"", args->word[2],
                             person);
        } else {
            status =
                cli_exit(sotto_table_set_category(table, column, &err), &err);
        }
    }
    sotto_tune_info(tune, &info);
    for (size_t i = 0; status == CLI_EXIT_DONE && i < info.questions; i++) {
        status = write_people(args, tune, table, column, i);
    }
    if (status == CLI_EXIT_DONE && info.questions == 0) {
        cli_note("all is done: nobody is asked any more");
    }
    sotto_table_free(table);
    sotto_tune_free(tune);
    return status;
}

/* ---- show -----------------------------------------------------------------
 */

static int
run_show(const struct cli_args *args)
{
    char path[TUNE_PATH_SIZE];
    struct sotto_tune *tune = NULL;
    struct sotto_error err = {0};
    tune_path(path, args->word[1], "tune", ".json");
    if (sotto_tune_read(path, &tune, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    tune_tell(args, tune);
    sotto_tune_free(tune);
    return CLI_EXIT_DONE;
}

/* ---- The verb -------------------------------------------------------------
 */

static const struct action {
    const char *name;
    int (*run)(const struct cli_args *args);
} actions[] = {{"plan", run_plan},
               {"people", run_people},
               {"next", tune_next},
               {"show", run_show},
               {"simulate", tune_rehearse}};
#define ACTIONS (sizeof actions / sizeof *actions)

static int
run_tune(const struct cli_args *args)
{
    const char *names[ACTIONS], *nearest;
    for (size_t i = 0; i < ACTIONS; i++) {
        names[i] = actions[i].name;
        if (strcmp(args->word[0], names[i]) == 0) {
            return actions[i].run(args);
        }
    }
    nearest = cli_nearest(args->word[0], names, ACTIONS);
    return cli_bad("unknown action '%.80s': %s%s", args->word[0],
                   nearest != NULL ? "did you mean "
                                   : "say plan, people, next, show or simulate",
                   nearest != NULL ? nearest : "");
}

static const char *const wanted[] = {
    "plan, people, next, show or simulate",
    "T (a folder; for simulate M, a mechanism)", "M (mechanisms) or F", NULL};

static const struct cli_option options[] = {
    {0, false, false, "eps", "E", "plan, simulate: of each answer"},
    {0, false, true, "grid", "NAME=V,V",
     "plan, simulate: try these values of a setting of\n"
     "sotto fit; more than one setting: all combinations"},
    {0, false, false, "learner", "L",
     "plan, simulate: as --learner of fit (the one that\n"
     "takes M)"},
    {0, false, false, "train-share", "S",
     "plan, simulate: of the people, who report (0.6)"},
    {0, false, false, "final-share", "S",
     "plan, simulate: who are asked about the winner alone\n"
     "(0.1); the rest chooses"},
    {0, false, false, "person", "COL",
     "people: the column of F that tells people apart"},
    {0, false, false, "aux", "F",
     "next, simulate: auxiliary records, the prior; else\n"
     "M.analyst beside M.sotto"},
    {0, false, false, "data", "F",
     "simulate: records of a curator, with their labels"},
    {0, false, false, "labels", "F",
     "simulate: a file with the label of each record"},
    {0, false, false, "people", "N",
     "simulate: so many people, drawn from the rows (as\n"
     "many as there are rows)"},
    {0, false, false, "repeat", "N",
     "simulate: ask so many times, with new people and new\n"
     "noise, about the same candidates (1)"},
    {0, false, false, "seed", "S", "simulate: of lot and noise (0)"},
    {0, false, false, "header", "yes|no",
     "whether the first rows of files name the columns;\n"
     "else it is guessed"},
    RECORDS_READING,
    {0, false, false, "threads", "N",
     "the result does not depend on it (all cores)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_tune = {
    .name = "tune",
    .summary = "choose settings by private answers alone",
    .usage = "plan T M... --eps E [--grid NAME=V,V]...\n"
             "  sotto tune people T F --person COL\n"
             "  sotto tune next T [sqlite:STORE] [--aux F]\n"
             "  sotto tune show T\n"
             "  sotto tune simulate M... --eps E [--grid NAME=V,V] --data F",
    .about =
        "Candidates are mechanisms M, of one campaign, with settings of fit. "
        "Each\n"
        "person is asked once: some report by one of the mechanisms, others "
        "say whether\n"
        "one candidate is right about them, in rounds that drop the worse "
        "half, and the\n"
        "rest say it of the winner: that share is not biased by the choice.\n"
        "\n"
        "plan      begins, in a folder T\n"
        "people    writes who is asked what now, by a keyed hash of their "
        "names\n"
        "next      reads T/NAME.reports of each question, trains or drops "
        "candidates,\n"
        "          and writes the next questions, T/NN.sotto, at last "
        "T/final.sotto\n"
        "show      says how it stands\n"
        "simulate  does all of it on a table in the clear, beside an oracle "
        "that sees\n"
        "          clean accuracy\n"
        "\n"
        "Sign the questions, and use a ledger (docs/validation.md).\n",
    .example =
        "sotto tune simulate wdbc-codes.sotto --grid epochs=5,20 --eps 2 \\\n"
        "    --data data/wdbc.csv --people 20000\n"
        "sotto tune plan wdbc-tune wdbc-codes.sotto --grid epochs=5,20 "
        "--eps 2\n"
        "sotto tune show wdbc-tune\n",
    .wanted = wanted,
    .optional = 1,
    .more = true,
    .options = options,
    .computes = true,
    .run = run_tune,
};
