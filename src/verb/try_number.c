/*
 * try_number.c: what sotto try tells of a number as the label.
 *
 * A model is measured by R2, the share of the label's variance that it
 * explains: 0 is what the best constant has, the mean of the test rows.
 */
#include <math.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/text.h"
#include "verb/try_tell.h"

#define CELL_WIDTH 27 /* of a kind's scores at an epsilon */

bool
try_is_number(const struct sotto_try *result)
{
    return result->classes == 0;
}

/* ---- Sentences ------------------------------------------------------------
 */

void
try_number_verdict(struct host_text *to, const struct tried *tried,
                   const struct sotto_try_at *at)
{
    const struct sotto_try *result = tried->result;
    const struct sotto_try_cell *best = &at->kind[at->best];
    if (at->before != SOTTO_TRY_LEARNS) {
        host_text_print(to,
                        "not enough people: %zu reports do not tell \"%s\" "
                        "better than its mean does. Say %.6g for everybody.",
                        result->people, tried->label, result->constant);
        return;
    }
    host_text_print(to,
                    "%s explains %.0f%% of how \"%s\" varies: it errs by %.6g "
                    "(root mean square), always saying %.6g by %.6g.",
                    try_kind_name(at->best), 100 * best->after.accuracy,
                    tried->label, best->after.rmse, result->constant,
                    result->constant_rmse);
    if (at->after != SOTTO_TRY_LEARNS) {
        host_text_print(to,
                        " Simulations on auxiliary rows promised %.0f%%: take "
                        "this with care.",
                        100 * best->before.accuracy);
    }
}

void
try_number_advice(struct host_text *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    double line = result->line.r2, labels = result->aux_line.r2;
    if (result->advised == SIZE_MAX) {
        host_text_print(to,
                        "With %zu people no kind tells \"%s\" better than its "
                        "mean at any of these epsilons: there is nothing to "
                        "collect for a model. Ask more people, or take a "
                        "larger epsilon.",
                        result->people, tried->label);
        if (result->line.rows > 0 && line <= 0) {
            host_text_print(to, " Even without privacy a line through these "
                                "columns does not tell it.");
        }
        return;
    }
    const struct sotto_try_at *at = &result->at[result->advised];
    double r2 = at->kind[at->best].after.accuracy;
    host_text_print(to,
                    "Epsilon %s is the smallest of these at which %zu people "
                    "suffice: take %s. It explains %.0f%% of how \"%s\" "
                    "varies; a line through the same people's clean rows, "
                    "%.0f%%.",
                    at->eps, result->people, try_kind_name(at->best), 100 * r2,
                    tried->label, 100 * line);
    if (result->aux_line.rows > 0 && labels >= r2) {
        host_text_print(to,
                        " But if the real auxiliary rows have labels, as these "
                        "do, nobody need be asked: a line through them alone "
                        "explains %.0f%%.",
                        100 * labels);
    }
}

/* ---- As text --------------------------------------------------------------
 */

void
try_number_label(FILE *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    (void)fprintf(to,
                  "\"%s\" is a number: the test rows have the mean %.6g, and "
                  "saying that for everybody errs by %.6g (root mean "
                  "square).\n",
                  cli_shown(tried->label), result->constant,
                  result->constant_rmse);
}

static void
tell_cell(FILE *to, const struct sotto_try_cell *cell, bool best)
{
    const struct sotto_try_mean *after = &cell->after;
    if (after->runs == 0) {
        (void)fprintf(to, "  %*s", CELL_WIDTH, "not possible");
        return;
    }
    (void)fprintf(to, "  %6.3f +-%6.3f %10.6g%s", after->accuracy,
                  isnan(after->deviation) ? 0 : after->deviation, after->rmse,
                  best ? "*" : " ");
}

static void
tell_line(FILE *to, const char *what, double r2, double rmse)
{
    (void)fprintf(to, "  %-34s %8.3f %10.6g\n", what, r2, rmse);
}

void
try_number_table(FILE *to, const struct sotto_try *result)
{
    (void)fprintf(to, "\n%8s  %-*s  %s\n%8s", "", CELL_WIDTH,
                  "codebook of ranges", "direct, a few columns", "epsilon");
    for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
        (void)fprintf(to, "  %6s %8s %10s ", "R2", "", "RMSE");
    }
    (void)fputs("\n", to);
    for (size_t i = 0; i < result->count; i++) {
        const struct sotto_try_at *at = &result->at[i];
        (void)fprintf(to, "%8s", at->eps);
        for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
            tell_cell(to, &at->kind[k], (size_t)at->best == k);
        }
        (void)fputs("\n", to);
    }
    (void)fputs("* the kind that simulations on auxiliary rows prefer; +- "
                "between collections\n",
                to);
    (void)fprintf(to, "\n%-36s %8s %10s\n", "Without privacy:", "R2", "RMSE");
    tell_line(to, "the best constant", 0, result->constant_rmse);
    if (result->line.rows > 0) {
        tell_line(to, "a line, people", result->line.r2, result->line.rmse);
    }
    if (result->aux_line.rows > 0) {
        tell_line(to, "a line, auxiliary", result->aux_line.r2,
                  result->aux_line.rmse);
    }
}

/* ---- As JSON --------------------------------------------------------------
 */

void
try_number_json_label(FILE *to, const struct sotto_try *result)
{
    json_bool(to, "number", true);
    json_number(to, "mean", result->constant);
    json_number(to, "rmse_constant", result->constant_rmse);
}

static void
tell_json_line(FILE *to, const char *rows,
               const struct sotto_campaign_number *line)
{
    if (line->rows == 0) {
        return;
    }
    json_begin(to);
    json_text(to, "row", "clean");
    json_text(to, "learner", "line");
    json_text(to, "rows", rows);
    json_number(to, "r2", line->r2);
    json_number(to, "rmse", line->rmse);
    json_number(to, "mae", line->mae);
    json_end(to);
}

void
try_number_json_lines(FILE *to, const struct sotto_try *result)
{
    tell_json_line(to, "people", &result->line);
    tell_json_line(to, "aux", &result->aux_line);
}

void
try_number_json_cell(FILE *to, const struct sotto_try_cell *cell)
{
    json_number(to, "r2", cell->after.accuracy);
    json_number(to, "deviation", cell->after.deviation);
    json_number(to, "worst", cell->after.low);
    json_number(to, "rmse", cell->after.rmse);
    json_number(to, "r2_error", cell->after.gain_error);
    json_number(to, "r2_once", cell->after.gain_once);
    json_number(to, "before_r2", cell->before.accuracy);
    json_number(to, "before_r2_error", cell->before.gain_error);
    json_number(to, "before_r2_once", cell->before.gain_once);
}
