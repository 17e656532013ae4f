/*
 * cmd_evaluate.c: sotto evaluate: how often a model is right.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "verb/confidence.h"
#include "verb/exchanged.h"
#include "verb/learning.h"
#include "verb/records.h"

#define CONFIDENCE 0.95
#define NAME_WIDTH 10

/* Wilson's score interval of a share. */
static void
find_interval(double share, size_t n, double *ret_low, double *ret_high)
{
    double z = confidence_z(CONFIDENCE), count = (double)n;
    double middle = share + z * z / (2 * count);
    double half =
        z * sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    *ret_low = (middle - half) / (1 + z * z / count);
    *ret_high = (middle + half) / (1 + z * z / count);
}

static void
tell_json_evaluate(const struct sotto_model *model,
                   const struct sotto_evaluation *evaluation,
                   bool private_records)
{
    size_t classes = sotto_model_classes(model);
    double low, high;
    find_interval(evaluation->accuracy, evaluation->rows, &low, &high);
    json_begin(stdout);
    json_size(stdout, "rows", evaluation->rows);
    json_number(stdout, "accuracy", evaluation->accuracy);
    json_number(stdout, "low", low);
    json_number(stdout, "high", high);
    json_number(stdout, "confidence", CONFIDENCE);
    json_number(stdout, "log_p", evaluation->log_p);
    json_bool(stdout, "private", private_records);
    json_end(stdout);
    for (size_t i = 0; i < classes * classes; i++) {
        if (evaluation->confusion[i] > 0) {
            json_begin(stdout);
            json_text(stdout, "truth", sotto_model_class(model, i / classes));
            json_text(stdout, "predicted",
                      sotto_model_class(model, i % classes));
            json_size(stdout, "rows", (size_t)evaluation->confusion[i]);
            json_end(stdout);
        }
    }
}

/* A class's name in a column of the matrix. */
static void
put_name(const struct sotto_model *model, size_t y)
{
    const char *name = sotto_model_class(model, y);
    size_t size = strlen(name), most = NAME_WIDTH - 1;
    size = size < most ? size : most;
    (void)printf("%*s", (int)(NAME_WIDTH - size), "");
    cli_put(stdout, name, size);
}

/* Classes that are neither true nor said are left out. */
static bool
has_class(const struct sotto_evaluation *evaluation, size_t classes, size_t y)
{
    uint64_t count = 0;
    for (size_t i = 0; i < classes; i++) {
        count += evaluation->confusion[y * classes + i];
        count += evaluation->confusion[i * classes + y];
    }
    return count > 0;
}

static void
put_matrix(const struct sotto_model *model,
           const struct sotto_evaluation *evaluation)
{
    size_t classes = sotto_model_classes(model);
    (void)printf("\n%*s", NAME_WIDTH, "truth");
    for (size_t y = 0; y < classes; y++) {
        if (has_class(evaluation, classes, y)) {
            put_name(model, y);
        }
    }
    (void)printf("  <- predicted\n");
    for (size_t i = 0; i < classes; i++) {
        if (!has_class(evaluation, classes, i)) {
            continue;
        }
        put_name(model, i);
        for (size_t y = 0; y < classes; y++) {
            if (has_class(evaluation, classes, y)) {
                (void)printf("%*" PRIu64, NAME_WIDTH,
                             evaluation->confusion[i * classes + y]);
            }
        }
        (void)printf("\n");
    }
}

static void
tell_evaluate(const struct sotto_model *model,
              const struct sotto_evaluation *evaluation, bool private_records)
{
    double low, high;
    find_interval(evaluation->accuracy, evaluation->rows, &low, &high);
    (void)printf("accuracy %.4f on %zu %s records, %g%% interval %.4f to "
                 "%.4f\nmean log-probability of the true class %.4f\n",
                 evaluation->accuracy, evaluation->rows,
                 private_records ? "privatised" : "clean", 100 * CONFIDENCE,
                 low, high, evaluation->log_p);
    put_matrix(model, evaluation);
}

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

static int
run_evaluate(const struct cli_args *args)
{
    const char *data = cli_value(args, "data");
    bool private_records = cli_given(args, "private");
    struct sotto_model *model = NULL;
    struct sotto_table *table = NULL;
    struct sotto_evaluation evaluation;
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
    status =
        CLI_THEN(status, evaluate_model(args, model, table, seed, &evaluation));
    if (status == CLI_EXIT_DONE) {
        if (cli_given(args, "json")) {
            tell_json_evaluate(model, &evaluation, private_records);
        } else {
            tell_evaluate(model, &evaluation, private_records);
        }
        exchanged_tell(model, cli_given(args, "json"));
        tell_left_out(sotto_table_rows(table) - evaluation.rows);
    }
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
    {0, false, false, "private", NULL,
     "classify simulated reports of the records"},
    {0, false, false, "mechanism", "C.sotto",
     "with --private: they are reports of this one, which\n"
     "has the model's codebook"},
    {0, false, false, "seed", "S", "of the simulation (0)"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_evaluate = {
    .name = "evaluate",
    .summary = "measure a model's accuracy on labelled records",
    .usage = "MODEL --data F [--labels F] [--private] [--json]",
    .about =
        "Prints how often the model names the true label, with an interval "
        "(Wilson's) for\nwhat it would be on all records like these, and how "
        "often which class is taken\nfor which. With --private the model sees "
        "a simulated report of each record.\nWhere the reports it was learnt "
        "from leave open which of two classes is which,\nit says so, with a "
        "probability.\n",
    .example = "sotto evaluate wdbc.model --data data/wdbc.csv\n",
    .wanted = wanted,
    .options = options,
    .run = run_evaluate,
};
