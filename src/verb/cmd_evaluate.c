/*
 * cmd_evaluate.c: sotto evaluate: how good a model is, and whether it is better
 * than no model.
 */
#include <string.h>

#include "cli/cli.h"
#include "verb/exchanged.h"
#include "verb/learning.h"
#include "verb/number_verbs.h"
#include "verb/records.h"
#include "verb/scores_print.h"

/* Accuracy is about the rows whose label the model knows; say if there are
   others. */
static void
tell_left_out(size_t rows)
{
    if (rows > 0) {
        cli_note("%zu row%s left out: %s label is missing, or none of the "
                 "model's classes",
                 rows, rows == 1 ? " was" : "s were",
                 rows == 1 ? "its" : "their");
    }
}

/* Of clean records, or of reports by --mechanism or the model's own. */
static int
evaluate_model(const struct cli_args *args, struct sotto_model *model,
               const struct sotto_table *table, uint64_t seed,
               struct sotto_evaluation *ret_evaluation)
{
    const char *path = cli_value(args, "mechanism");
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_error err = {0};
    enum sotto_status status;
    if (path != NULL &&
        sotto_mechanism_read(path, &mechanism, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = cli_given(args, "private")
                 ? sotto_model_evaluate_private_with(model, mechanism, table,
                                                     seed, ret_evaluation, &err)
                 : sotto_model_evaluate(model, table, false, seed,
                                        ret_evaluation, &err);
    sotto_mechanism_free(mechanism);
    if (status == SOTTO_STATUS_OK) {
        return CLI_EXIT_DONE;
    }
    bool about = path != NULL && strcmp(err.subject, "mechanism") == 0;
    return learning_fail(&err, about ? path : cli_value(args, "data"));
}

/* Scores a model of classes and says it. */
static int
evaluate_classes(const struct cli_args *args, struct sotto_model *model,
                 const struct sotto_table *table, uint64_t seed)
{
    bool private_records = cli_given(args, "private");
    struct sotto_evaluation evaluation;
    int status = CLI_EXIT_DONE;
    if (cli_given(args, "beside")) {
        return cli_bad("--beside is for a model that tells a number");
    }
    status = evaluate_model(args, model, table, seed, &evaluation);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    if (cli_given(args, "json")) {
        scores_print_json(model, evaluation.scores, private_records, stdout);
    } else {
        scores_print(model, evaluation.scores,
                     private_records ? "privatised" : "clean", stdout);
    }
    exchanged_tell(model, cli_given(args, "json"));
    tell_left_out(sotto_table_rows(table) - evaluation.rows);
    return status;
}

static int
run_evaluate(const struct cli_args *args)
{
    const char *data = cli_value(args, "data");
    bool private_records = cli_given(args, "private");
    struct sotto_model *model = NULL;
    struct sotto_table *table = NULL;
    struct sotto_number number;
    struct sotto_error err = {0};
    uint64_t seed = 0;
    int status = CLI_EXIT_DONE;
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &seed)) {
        return CLI_EXIT_BAD;
    }
    if (cli_given(args, "mechanism") && !private_records) {
        return cli_bad("--mechanism belongs to --private: clean records need "
                       "none");
    }
    if (sotto_model_read(args->word[0], &model, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = records_read(args, data, cli_value(args, "labels"), &table);
    status = CLI_THEN(status, sotto_model_number(model, &number)
                                  ? evaluate_number(args, model, table, seed)
                                  : evaluate_classes(args, model, table, seed));
    sotto_table_free(table);
    sotto_model_free(model);
    return status;
}

static const char *const wanted[] = {"MODEL", NULL};

static const struct cli_option options[] = {
    {0, true, false, "data", "F", "records with their labels"},
    {0, false, false, "labels", "F", "a file with the label of each record"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    {0, false, false, "private", NULL,
     "classify simulated reports of the records"},
    {0, false, false, "mechanism", "C.sotto",
     "with --private: they are reports of this one, which\n"
     "has the model's codebook"},
    {0, false, false, "seed", "S", "of the simulation (0)"},
    {0, false, false, "beside", "F",
     "a model of a number: fit the same to these records\n"
     "and labels in the clear, and print its scores beside"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_evaluate = {
    .name = "evaluate",
    .summary = "score a model on labelled records",
    .usage = "MODEL --data F [--labels F] [--private] [--json]",
    .about =
        "Prints how often the model names the true label, and says whether "
        "that is more\n"
        "often than always naming the largest class. Then balanced accuracy, "
        "AUC, log\n"
        "loss and calibration error, each beside what no model at all would "
        "get; recall\n"
        "and precision of each class; and how often which class is taken for "
        "which. All\n"
        "have 95% intervals, for what they would be on all records like these\n"
        "(docs/scores.md). With --private the model sees a simulated report of "
        "each\n"
        "record. Where the reports it was learnt from leave open which of two "
        "classes\n"
        "is which, it says so, with a probability.\n"
        "Of a model that tells a number it prints R2, the root of the mean "
        "squared\n"
        "error and the mean absolute error, with intervals (delta method), "
        "beside the\n"
        "best constant: the mean of the rows that are scored.\n",
    .example = "sotto evaluate wdbc.model --data data/wdbc.csv\n",
    .wanted = wanted,
    .options = options,
    .computes = true,
    .run = run_evaluate,
};
