/*
 * evaluate_number.c: what sotto evaluate says of a model that tells a number.
 *
 * The best constant is the mean of the very rows that are scored (for the mean
 * absolute error their median): no constant that anybody could know beforehand
 * does better, so a model that does is no luck of the constant.
 */
#include <math.h>
#include <string.h>

#include "cli/json_print.h"
#include "host/confidence.h"
#include "verb/learning.h"
#include "verb/number_verbs.h"
#include "verb/records.h"

#define CONFIDENCE 0.95
#define INSIDE 0.9

/* The model's scores, and those of the same learner without noise. */
struct evaluate_scores {
    struct sotto_number_evaluation own, clean;
    bool beside;
};

/* ---- What it says -------------------------------------------------------- */

static void
put_score(const char *name, const struct sotto_score *score)
{
    char key[32];
    json_number(stdout, name, score->value);
    (void)snprintf(key, sizeof key, "%s_low", name);
    json_number(stdout, key, score->low);
    (void)snprintf(key, sizeof key, "%s_high", name);
    json_number(stdout, key, score->high);
}

static void
tell_json_number(const struct sotto_number *number,
                 const struct evaluate_scores *scores, bool private_records)
{
    const struct sotto_number_evaluation *own = &scores->own;
    json_begin(stdout);
    json_text(stdout, "number", number->name);
    json_size(stdout, "rows", own->rows);
    json_size(stdout, "beyond", own->beyond);
    put_score("r2", &own->r2);
    put_score("rmse", &own->rmse);
    put_score("mae", &own->mae);
    json_number(stdout, "confidence", CONFIDENCE);
    json_number(stdout, "mean", own->mean);
    json_number(stdout, "median", own->median);
    json_number(stdout, "rmse_constant", own->rmse_constant);
    json_number(stdout, "mae_constant", own->mae_constant);
    json_number(stdout, "inside", own->inside);
    if (scores->beside) {
        json_number(stdout, "r2_clean", scores->clean.r2.value);
        json_number(stdout, "rmse_clean", scores->clean.rmse.value);
        json_number(stdout, "mae_clean", scores->clean.mae.value);
    }
    json_bool(stdout, "better", own->r2.low > 0);
    json_bool(stdout, "private", private_records);
    json_end(stdout);
}

static void
put_row(const char *name, const struct sotto_number_evaluation *of)
{
    (void)printf("%-18s %10.4f %12.6g %12.6g\n", name, of->r2.value,
                 of->rmse.value, of->mae.value);
}

static void
put_interval(const struct sotto_number_evaluation *of)
{
    char title[32];
    (void)snprintf(title, sizeof title, "  %g%% interval", 100 * CONFIDENCE);
    (void)printf("%-18s %10.4f %12.6g %12.6g\n"
                 "%-18s %10.4f %12.6g %12.6g\n",
                 title, of->r2.low, of->rmse.low, of->mae.low, "  to",
                 of->r2.high, of->rmse.high, of->mae.high);
}

/* Says in words what the scores come to. */
static void
put_verdict(const struct sotto_number *number,
            const struct sotto_number_evaluation *own)
{
    if (own->r2.low > 0) {
        (void)printf("The model explains %.1f%% of how ", 100 * own->r2.value);
        cli_put(stdout, number->name, strlen(number->name));
        (void)printf(" varies.\n");
    } else {
        (void)printf("No better than a constant: always saying %.6g would do "
                     "as well%s.\n",
                     own->mean, own->r2.high < 0 ? ", and better" : "");
    }
    (void)printf("Of the rows %.1f%% lie where the model says that %g%% do.\n",
                 100 * own->inside, 100 * INSIDE);
}

static void
tell_number(const struct sotto_number *number,
            const struct evaluate_scores *scores, bool private_records)
{
    const struct sotto_number_evaluation *own = &scores->own;
    cli_put(stdout, number->name, strlen(number->name));
    (void)printf(" of %zu %s record%s\n\n%-18s %10s %12s %12s\n", own->rows,
                 private_records ? "privatised" : "clean",
                 own->rows == 1 ? "" : "s", "", "R2", "RMSE", "MAE");
    put_row("model", own);
    put_interval(own);
    if (scores->beside) {
        put_row("without noise", &scores->clean);
    }
    (void)printf("%-18s %10.4f %12.6g %12.6g\n\n", "best constant", 0.0,
                 own->rmse_constant, own->mae_constant);
    put_verdict(number, own);
    if (own->beyond > 0) {
        cli_note("%zu row%s beyond the label's range, %.6g to %.6g: devices "
                 "report the nearer %s",
                 own->beyond, own->beyond == 1 ? " is" : "s are",
                 number->edge[0], number->edge[number->classes],
                 number->lines ? "end" : "range");
    }
}

/* ---- Without noise ------------------------------------------------------- */

/* Fits what learnt the model to the rows of --beside, and scores that. */
static int
score_beside(const struct cli_args *args, const struct sotto_model *model,
             const struct sotto_table *table, double z,
             struct evaluate_scores *scores)
{
    const char *path = cli_value(args, "beside");
    char features[24];
    const struct sotto_setting set = {.name = "features", .value = features};
    struct sotto_fit_options options = {.set = &set};
    struct sotto_table *records = NULL;
    struct sotto_model *clean = NULL;
    struct sotto_error err = {0};
    struct sotto_number number;
    int status = records_read(args, path, NULL, &records);
    (void)sotto_model_number(model, &number);
    (void)snprintf(features, sizeof features, "%zu", number.features);
    options.sets = number.lines ? 1 : 0;
    if (status == CLI_EXIT_DONE &&
        sotto_fit_clean(sotto_model_mechanism(model), records, &options, &clean,
                        NULL, &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, path);
    }
    if (status == CLI_EXIT_DONE &&
        sotto_model_evaluate_number(clean, false, NULL, table, 0, z,
                                    &scores->clean, &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, cli_value(args, "data"));
    }
    scores->beside = status == CLI_EXIT_DONE;
    sotto_model_free(clean);
    sotto_table_free(records);
    return status;
}

int
evaluate_number(const struct cli_args *args, struct sotto_model *model,
                const struct sotto_table *table, uint64_t seed)
{
    bool private_records = cli_given(args, "private");
    const char *path = cli_value(args, "mechanism");
    double z = confidence_z(CONFIDENCE);
    struct sotto_mechanism *mechanism = NULL;
    struct evaluate_scores scores = {0};
    struct sotto_number number;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    (void)sotto_model_number(model, &number);
    if (path != NULL &&
        sotto_mechanism_read(path, &mechanism, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (sotto_model_evaluate_number(model, private_records, mechanism, table,
                                    seed, z, &scores.own,
                                    &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, cli_value(args, "data"));
    }
    sotto_mechanism_free(mechanism);
    if (status == CLI_EXIT_DONE && cli_given(args, "beside")) {
        status = score_beside(args, model, table, z, &scores);
    }
    if (status == CLI_EXIT_DONE && cli_given(args, "json")) {
        tell_json_number(&number, &scores, private_records);
    } else if (status == CLI_EXIT_DONE) {
        tell_number(&number, &scores, private_records);
    }
    return status;
}
