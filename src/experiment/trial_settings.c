/*
 * trial_settings.c: finding a data set's settings for an epsilon, and their
 * text, which decides a row. Change a number in a table, and the rows that it
 * decides are run anew; the others stay.
 */
#include "experiment/trial_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/text.h"

/* Of what a row is besides its numbers: splits, sizes, what is hashed. Counted
   up with every change of code that changes results. */
#define PROTOCOL 3u
/* The same of codes: cells, how k is chosen, how is learnt from them. */
#define CODES_PROTOCOL 4u
#define VALIDATION 0.1 /* of the reports (P0 D.1.1: 9 to 1) */

/* How far apart two epsilons are; "none" is far from all others. */
static double
distance(double a, double b)
{
    if (!isfinite(a) || !isfinite(b)) {
        return isfinite(a) == isfinite(b) ? 0 : INFINITY;
    }
    return fabs(log(a / b));
}

const struct trial_encoder *
trial_encoder_find(const struct data_set *set, const char *mechanism,
                   double eps)
{
    const struct trial_encoder *nearest = NULL;
    for (const struct trial_encoder *row = set->encoders; row->eps > 0; row++) {
        if (strcmp(row->mechanism, mechanism) == 0 &&
            (nearest == NULL ||
             distance(row->eps, eps) < distance(nearest->eps, eps))) {
            nearest = row;
        }
    }
    return nearest;
}

/* A row for the mechanism itself comes before one for any. */
const struct trial_fit *
trial_fit_find(const struct data_set *set, const char *mechanism,
               enum sotto_level level, double eps)
{
    const struct trial_fit *nearest = NULL;
    for (const struct trial_fit *row = set->fits; row->eps > 0; row++) {
        bool own = row->mechanism != NULL;
        if (row->level != level ||
            (own && strcmp(row->mechanism, mechanism) != 0)) {
            continue;
        }
        double here = distance(row->eps, eps);
        double there = nearest != NULL ? distance(nearest->eps, eps) : INFINITY;
        if (nearest == NULL || here < there ||
            (here == there && own && nearest->mechanism == NULL)) {
            nearest = row;
        }
    }
    return nearest;
}

void
trial_encoder_sets(const struct trial_encoder *encoder, uint32_t epochs,
                   struct trial_sets *ret_sets)
{
    char *rest = ret_sets->text, *word;
    ret_sets->sets = 0;
    (void)snprintf(ret_sets->text, sizeof ret_sets->text, "%s",
                   encoder->settings);
    (void)snprintf(ret_sets->epochs, sizeof ret_sets->epochs, "%ju",
                   (uintmax_t)epochs);
    while ((word = strsep(&rest, " ")) != NULL &&
           ret_sets->sets < TRIAL_SETS_MAX) {
        char *value = strchr(word, '=');
        if (value != NULL) {
            *value++ = '\0';
        }
        if (epochs > 0 && strcmp(word, "epochs") == 0) {
            value = ret_sets->epochs;
        }
        ret_sets->set[ret_sets->sets++] = (struct sotto_setting){word, value};
    }
}

/* Results are recorded under the names that settings once had: eps_pre, m for
   autogen, which was always 0, and eps_pre=learnt. */
void
trial_encoder_text(const struct trial_encoder *encoder, uint32_t epochs,
                   char text[EXPERIMENT_SETTING_SIZE])
{
    struct trial_sets sets;
    size_t size = (size_t)snprintf(text, EXPERIMENT_SETTING_SIZE, "%s",
                                   encoder->mechanism);
    trial_encoder_sets(encoder, epochs, &sets);
    for (size_t i = 0; i < sets.sets && size < EXPERIMENT_SETTING_SIZE; i++) {
        const struct sotto_setting *set = &sets.set[i];
        bool noise = strcmp(set->name, "eps-pre") == 0;
        if (noise || strcmp(set->name, "learn-b") == 0) {
            size += (size_t)snprintf(
                text + size, EXPERIMENT_SETTING_SIZE - size, " eps_pre=%s m=0",
                noise ? set->value : "learnt");
        } else if (set->value != NULL) {
            size +=
                (size_t)snprintf(text + size, EXPERIMENT_SETTING_SIZE - size,
                                 " %s=%s", set->name, set->value);
        }
    }
}

struct learn_options
trial_fit_options(const struct trial_fit *fit, double eps)
{
    bool label = fit->eq12 || fit->level == SOTTO_LEVEL_FEATURE;
    enum sotto_objective objective =
        label ? SOTTO_OBJECTIVE_LABEL : SOTTO_OBJECTIVE_MARGINAL;
    bool eq11 = isfinite(eps) && !label;
    return (struct learn_options){
        .objective = isfinite(eps) ? objective : SOTTO_OBJECTIVE_PLAIN,
        .level = fit->level,
        .epochs = fit->epochs,
        .rate = fit->rate,
        .decay = fit->decay,
        .validation = eq11 ? -1 : VALIDATION,
        .prior_most = (uint32_t)fit->prior_most,
        .batches = fit->batches,
        .restarts = fit->restarts,
        .smoothing = fit->smoothing,
        .marginal = fit->marginal,
        .balanced = eq11,
        .entropy = fit->entropy,
        .bootstrap = fit->candidates > 1 ? fit->bootstrap : 0,
    };
}

static void
fit_text(const struct trial_fit *fit, double eps, double lambda,
         struct host_text *text)
{
    static const char *const objectives[] = {"eq11", "eq12", "plain"};
    struct learn_options options = trial_fit_options(fit, eps);
    struct learn_options used =
        learn_options_settle(&options, (1 - lambda) * eps);
    if (learn_options_check(&options, NULL) != SOTTO_STATUS_OK) {
        host_text_print(text, "fit impossible");
        return;
    }
    host_text_print(text, "fit %s epochs=%ju rate=%g decay=%g",
                    objectives[options.objective], (uintmax_t)used.epochs,
                    used.rate, used.decay);
    if (used.batches > 0) {
        host_text_print(text, " batches=%ju", (uintmax_t)used.batches);
    } else {
        host_text_print(text, " batch=%ju", (uintmax_t)used.batch);
    }
    host_text_print(text, " patience=%ju restarts=%ju",
                    (uintmax_t)used.patience, (uintmax_t)used.restarts);
    if (fit->prior_most > 0) {
        host_text_print(text, " prior=%zu", fit->prior_most);
    }
    if (used.smoothing > 0) {
        host_text_print(text, " smoothing=%g", used.smoothing);
    }
    if (used.marginal > 0) {
        host_text_print(text, " %s=%g",
                        options.balanced ? "balanced" : "marginal",
                        used.marginal);
    }
    if (used.entropy > 0) {
        host_text_print(text, " entropy=%g", used.entropy);
    }
    if (fit->candidates > 1) {
        host_text_print(text, " candidates=%ju bootstrap=%g",
                        (uintmax_t)fit->candidates, fit->bootstrap);
    }
}

void
trial_setting_text(const struct trial_encoder *encoder,
                   const struct trial_fit *fit, double eps, uint32_t epochs,
                   char text[EXPERIMENT_SETTING_SIZE])
{
    char first[EXPERIMENT_SETTING_SIZE];
    struct host_text learnt;
    host_text_init(&learnt, EXPERIMENT_SETTING_SIZE);
    trial_encoder_text(encoder, epochs, first);
    fit_text(fit, eps, encoder->lambda, &learnt);
    (void)snprintf(text, EXPERIMENT_SETTING_SIZE,
                   "%.110s; lambda=%g label=%s; %.190s; protocol=%u", first,
                   encoder->lambda, encoder->label_channel,
                   learnt.failed ? "fit too long" : learnt.data, PROTOCOL);
    host_text_clear(&learnt);
}

/* ---- Codes -------------------------------------------------------------- */

void
trial_code_text(const struct trial_code *code,
                char text[EXPERIMENT_SETTING_SIZE])
{
    char k[32];
    (void)snprintf(k, sizeof k, "%s", isfinite(code->eps) ? "chosen" : "any");
    if (code->k > 0) {
        (void)snprintf(k, sizeof k, "%zu", code->k);
    }
    (void)snprintf(text, EXPERIMENT_SETTING_SIZE,
                   "codebook of %s k=%s classes=%zu codes=%u%s",
                   code->label ? "code and label" : "code", k, code->classes,
                   CODES_PROTOCOL, code->shifted ? " shifted" : "");
}

struct learn_options
trial_codes_fit_options(double eps)
{
    return (struct learn_options){
        .objective =
            isfinite(eps) ? SOTTO_OBJECTIVE_MARGINAL : SOTTO_OBJECTIVE_PLAIN,
        .balanced = true,
        .decay = -1,
        .marginal = -1,
        .entropy = -1,
    };
}

void
trial_codes_setting_text(const struct trial_encoder *encoder,
                         const struct trial_code *code, uint32_t epochs,
                         char text[EXPERIMENT_SETTING_SIZE])
{
    char first[EXPERIMENT_SETTING_SIZE], second[EXPERIMENT_SETTING_SIZE];
    trial_encoder_text(encoder, epochs, first);
    trial_code_text(code, second);
    (void)snprintf(text, EXPERIMENT_SETTING_SIZE,
                   "%.110s; %.110s; fit %s; protocol=%u", first, second,
                   isfinite(code->eps) ? "codes balanced" : "clean", PROTOCOL);
}
