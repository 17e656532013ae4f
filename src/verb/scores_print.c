/*
 * scores_print.c: the scores of a model, as text and as JSON.
 *
 * First how often the model is right, and in words whether that is more than
 * naming the largest class always; then the other scores, each class, and which
 * class is taken for which. A class's name is never cut to one that might be
 * another's: where names are long, the matrix has numbers in their place.
 */
#include "verb/scores_print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"

#define CONFIDENCE 0.95
#define CELL 10       /* characters of a cell in the matrix */
#define NAME_MOST 40u /* characters of a class's name in a table */
#define NEVER_MOST 5u /* classes that are listed by name */

/* ---- Names --------------------------------------------------------------- */

/* Counts characters: bytes that begin one. */
static size_t
characters_of(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0u) != 0x80u ? 1 : 0;
    }
    return count;
}

/* Returns the bytes of the first `most` characters. */
static size_t
bytes_of(const char *text, size_t most)
{
    size_t size = 0, count = 0;
    for (; text[size] != '\0'; size++) {
        count += ((unsigned char)text[size] & 0xc0u) != 0x80u ? 1 : 0;
        if (count > most) {
            break;
        }
    }
    return size;
}

/* Prints a name in a column of `width` characters, which is at most NAME_MOST;
   dots stand for an end that is cut. */
static void
put_name(const char *name, size_t width, bool right, FILE *to)
{
    size_t count = characters_of(name), blanks;
    bool cut = count > width;
    size_t shown = cut ? width - 3 : count;
    blanks = cut ? 0 : width - count;
    (void)fprintf(to, "%*s", right ? (int)blanks : 0, "");
    cli_put(to, name, bytes_of(name, shown));
    (void)fprintf(to, "%s%*s", cut ? "..." : "", right ? 0 : (int)blanks, "");
}

/* Classes that are neither true nor said are left out. */
static bool
is_shown(const struct sotto_scores *scores, size_t y)
{
    return scores->of[y].rows > 0 || scores->of[y].named > 0;
}

static size_t
name_width(const struct sotto_model *model, const struct sotto_scores *scores)
{
    size_t width = 5;
    for (size_t y = 0; y < scores->classes; y++) {
        size_t own = characters_of(sotto_model_class(model, y));
        if (is_shown(scores, y) && own > width) {
            width = own;
        }
    }
    return width < NAME_MOST ? width : NAME_MOST;
}

/* ---- In words ------------------------------------------------------------ */

static void
put_verdict(const struct sotto_model *model, const struct sotto_scores *scores,
            FILE *to)
{
    const char *name = cli_shown(sotto_model_class(model, scores->largest));
    double share = scores->share.value;
    switch (scores->verdict) {
    case SOTTO_SCORES_SAME:
        (void)fprintf(to,
                      "The model names \"%s\", the largest class, for every "
                      "record (right for %.4f):\nit tells nothing apart.\n",
                      name, share);
        return;
    case SOTTO_SCORES_BETTER:
        (void)fprintf(to,
                      "The model is better than always naming \"%s\", the "
                      "largest class (right for %.4f):\n",
                      name, share);
        break;
    case SOTTO_SCORES_WORSE:
        (void)fprintf(to,
                      "The model is WORSE than always naming \"%s\", the "
                      "largest class (right for %.4f):\n",
                      name, share);
        break;
    default:
        (void)fprintf(to,
                      "The model is NO BETTER, as far as these records show, "
                      "than always naming \"%s\",\nthe largest class (right "
                      "for %.4f): ",
                      name, share);
        break;
    }
    (void)fprintf(to, "by %+.4f, %+.4f to %+.4f; exact McNemar test, p %.2g\n",
                  scores->gain.value, scores->gain.low, scores->gain.high,
                  scores->p);
}

static void
put_never(const struct sotto_model *model, const struct sotto_scores *scores,
          FILE *to)
{
    size_t never = 0, left = 0;
    if (scores->verdict == SOTTO_SCORES_SAME) {
        return;
    }
    for (size_t y = 0; y < scores->classes; y++) {
        if (scores->of[y].rows == 0 || scores->of[y].named > 0) {
            continue;
        }
        if (never++ >= NEVER_MOST) {
            left++;
            continue;
        }
        (void)fprintf(to, "%s\"%s\" (%zu record%s)",
                      never == 1 ? "The model never names " : ", ",
                      cli_shown(sotto_model_class(model, y)),
                      scores->of[y].rows, scores->of[y].rows == 1 ? "" : "s");
    }
    if (left > 0) {
        (void)fprintf(to, " and %zu more class%s", left, left == 1 ? "" : "es");
    }
    if (never > 0) {
        (void)fprintf(to, ".\n");
    }
}

/* What accuracy does not show. */
static void
put_probabilities(const struct sotto_scores *scores, FILE *to)
{
    if (scores->verdict != SOTTO_SCORES_BETTER && scores->auc.low > 0.5) {
        (void)fprintf(to, "Its probabilities order records better than chance "
                          "does, all the same: see AUC.\n");
    }
    if (scores->loss_gain.high < 0) {
        (void)fprintf(to, "Its probabilities are worse than the class shares "
                          "alone: do not rely on them.\n");
    }
}

/* ---- Tables -------------------------------------------------------------- */

static void
put_score(const char *name, struct sotto_score score, double beside,
          const char *constant, FILE *to)
{
    if (isnan(score.value)) {
        (void)fprintf(to, "%-18s  %8s  %8s  %8s  one class only\n", name, "-",
                      "-", "-");
        return;
    }
    (void)fprintf(to, "%-18s  %8.4f  %8.4f  %8.4f  %8.4f %s\n", name,
                  score.value, score.low, score.high, beside, constant);
}

static void
put_table(const struct sotto_scores *scores, FILE *to)
{
    (void)fprintf(to, "\n%-18s  %8s  %8s  %8s  %8s\n", "score", "value", "low",
                  "high", "beside");
    put_score("balanced accuracy", scores->balanced,
              1 / (double)scores->present, "always naming one class", to);
    put_score(scores->present > 2 ? "mean AUC" : "AUC", scores->auc, 0.5,
              scores->present > 2 ? "chance; each class against the rest, "
                                    "interval by DeLong"
                                  : "chance; interval by DeLong",
              to);
    put_score("log loss", scores->log_loss, scores->shares_loss,
              "the class shares alone", to);
    put_score("calibration error", scores->calibration,
              scores->calibration_chance,
              "chance, if the probabilities were right", to);
}

static void
put_share(struct sotto_score score, FILE *to)
{
    if (isnan(score.value)) {
        (void)fprintf(to, "  %9s  %8s  %8s", "-", "-", "-");
    } else {
        (void)fprintf(to, "  %9.4f  %8.4f  %8.4f", score.value, score.low,
                      score.high);
    }
}

static void
put_classes(const struct sotto_model *model, const struct sotto_scores *scores,
            size_t width, FILE *to)
{
    (void)fprintf(to, "\n%-*s  %8s  %8s  %9s  %8s  %8s  %9s  %8s  %8s\n",
                  (int)width, "class", "records", "named", "recall", "low",
                  "high", "precision", "low", "high");
    for (size_t y = 0; y < scores->classes; y++) {
        if (is_shown(scores, y)) {
            put_name(sotto_model_class(model, y), width, false, to);
            (void)fprintf(to, "  %8zu  %8zu", scores->of[y].rows,
                          scores->of[y].named);
            put_share(scores->of[y].recall, to);
            put_share(scores->of[y].precision, to);
            (void)fputc('\n', to);
        }
    }
}

/* A class in a column's head: its name, or its number from 1. */
static void
put_head(const struct sotto_model *model, size_t y, bool numbered, FILE *to)
{
    if (numbered) {
        (void)fprintf(to, "%*zu", CELL, y + 1);
    } else {
        (void)fputc(' ', to);
        put_name(sotto_model_class(model, y), CELL - 1, true, to);
    }
}

static void
put_matrix(const struct sotto_model *model, const struct sotto_scores *scores,
           size_t width, FILE *to)
{
    bool numbered = width >= CELL;
    size_t classes = scores->classes;
    width = width < CELL ? CELL : width;
    (void)fprintf(to, "\n%*s%*s", numbered ? 5 : 0, "", (int)width, "truth");
    for (size_t y = 0; y < classes; y++) {
        if (is_shown(scores, y)) {
            put_head(model, y, numbered, to);
        }
    }
    (void)fprintf(to, "  <- predicted\n");
    for (size_t i = 0; i < classes; i++) {
        if (!is_shown(scores, i)) {
            continue;
        }
        if (numbered) {
            (void)fprintf(to, "%4zu ", i + 1);
        }
        put_name(sotto_model_class(model, i), width, true, to);
        for (size_t y = 0; y < classes; y++) {
            if (is_shown(scores, y)) {
                (void)fprintf(to, "%*" PRIu64, CELL,
                              scores->confusion[i * classes + y]);
            }
        }
        (void)fputc('\n', to);
    }
}

void
scores_print(const struct sotto_model *model, const struct sotto_scores *scores,
             const char *records, FILE *to)
{
    size_t width = name_width(model, scores);
    (void)fprintf(to,
                  "accuracy %.4f on %zu %s record%s, %g%% interval %.4f to "
                  "%.4f\n",
                  scores->accuracy.value, scores->rows, records,
                  scores->rows == 1 ? "" : "s", 100 * CONFIDENCE,
                  scores->accuracy.low, scores->accuracy.high);
    put_verdict(model, scores, to);
    put_never(model, scores, to);
    put_probabilities(scores, to);
    put_table(scores, to);
    put_classes(model, scores, width, to);
    put_matrix(model, scores, width, to);
}

/* ---- JSON ---------------------------------------------------------------- */

static const char *
verdict_name(enum sotto_scores_verdict verdict)
{
    static const char *const name[] = {"better", "no better", "worse", "same"};
    return name[verdict];
}

static void
put_json_score(FILE *to, const char *name, struct sotto_score score)
{
    char key[64];
    json_number(to, name, score.value);
    (void)snprintf(key, sizeof key, "%s_low", name);
    json_number(to, key, score.low);
    (void)snprintf(key, sizeof key, "%s_high", name);
    json_number(to, key, score.high);
}

static void
put_json_classes(const struct sotto_model *model,
                 const struct sotto_scores *scores, FILE *to)
{
    for (size_t y = 0; y < scores->classes; y++) {
        const struct sotto_class_score *of = &scores->of[y];
        json_begin(to);
        json_text(to, "class", sotto_model_class(model, y));
        json_size(to, "records", of->rows);
        json_size(to, "named", of->named);
        json_size(to, "right", of->right);
        put_json_score(to, "recall", of->recall);
        put_json_score(to, "precision", of->precision);
        json_number(to, "auc", of->auc);
        json_end(to);
    }
}

static void
put_json_bins(const struct sotto_scores *scores, FILE *to)
{
    for (size_t b = 0; b < scores->bins; b++) {
        const struct sotto_score_bin *bin = &scores->bin[b];
        json_begin(to);
        json_number(to, "said_from", bin->from);
        json_number(to, "said_to", bin->to);
        json_size(to, "records", bin->rows);
        json_number(to, "said", bin->said);
        put_json_score(to, "right", bin->right);
        json_end(to);
    }
}

static void
put_json_model(const struct sotto_model *model,
               const struct sotto_scores *scores, bool private_records,
               FILE *to)
{
    json_begin(to);
    json_size(to, "rows", scores->rows);
    json_number(to, "accuracy", scores->accuracy.value);
    json_number(to, "low", scores->accuracy.low);
    json_number(to, "high", scores->accuracy.high);
    json_number(to, "confidence", CONFIDENCE);
    json_number(to, "log_p", -scores->log_loss.value);
    json_bool(to, "private", private_records);
    json_text(to, "largest", sotto_model_class(model, scores->largest));
    put_json_score(to, "largest_share", scores->share);
    put_json_score(to, "gain", scores->gain);
    json_size(to, "only_model_right", scores->only_model);
    json_size(to, "only_largest_right", scores->only_constant);
    json_number(to, "p", scores->p);
    json_text(to, "verdict", verdict_name(scores->verdict));
    put_json_score(to, "balanced_accuracy", scores->balanced);
    put_json_score(to, "auc", scores->auc);
    json_text(to, "auc_of",
              scores->present > 2 ? "mean of each class against the rest"
                                  : "two classes");
    json_text(to, "auc_interval", "DeLong");
    put_json_score(to, "log_loss", scores->log_loss);
    json_number(to, "log_loss_shares", scores->shares_loss);
    put_json_score(to, "log_loss_gain", scores->loss_gain);
    put_json_score(to, "calibration_error", scores->calibration);
    json_number(to, "calibration_chance", scores->calibration_chance);
    json_end(to);
}

void
scores_print_json(const struct sotto_model *model,
                  const struct sotto_scores *scores, bool private_records,
                  FILE *to)
{
    size_t classes = scores->classes;
    put_json_model(model, scores, private_records, to);
    for (size_t i = 0; i < classes * classes; i++) {
        if (scores->confusion[i] > 0) {
            json_begin(to);
            json_text(to, "truth", sotto_model_class(model, i / classes));
            json_text(to, "predicted", sotto_model_class(model, i % classes));
            json_size(to, "rows", (size_t)scores->confusion[i]);
            json_end(to);
        }
    }
    put_json_classes(model, scores, to);
    put_json_bins(scores, to);
}
