/*
 * trial_settings.c: the numbers behind the MNIST experiments, in one place.
 *
 * P0 Table 7 has lambda 0.7 throughout, l from 5 to 10 and eps_pre from 33 down
 * to 7; at none b is learnt, here small. docs/experiments.md tells how ours
 * were found. Change a number here and the rows that it decides are run anew;
 * the others stay.
 */
#include "experiment/trial_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/text.h"
#include "learn/defaults.h"

/* Of what a row is besides its numbers: splits, sizes, what is hashed. Counted
   up with every change of code that changes results. */
#define PROTOCOL 3u
/* The same of codes: cells, how k is chosen, how is learnt from them. */
#define CODES_PROTOCOL 2u
#define VALIDATION 0.1 /* of the reports (P0 D.1.1: 9 to 1) */

/* clang-format off */
#define VLM "d=8 l=10 eps-pre="
#define VLM_STEPS " epochs=40 batch=128 rate=0.001"
#define LINEAR "linear d=8 l=10 "
#define LINEAR_STEPS " epochs=20 batch=128 rate=0.001"
#define PCA "d=8 inside=0.9"
#define CLM "d=8 l=10 eps-pre="
#define CLM_STEPS " epochs=12 batch=256 rate=0.003"

static const struct trial_encoder encoders[] = {
    /* mechanism     eps     lambda  label    kind   settings */
    {"vlm",          10,      0.7,  "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           8,      0.6,  "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           6,      0.55, "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           4,      0.45, "flip",   "vlm", VLM "26" VLM_STEPS},
    {"vlm",           2,      0.45, "subset", "vlm", VLM "13" VLM_STEPS},
    {"vlm",           1,      0.5,  "subset", "vlm", VLM "7" VLM_STEPS},
    {"vlm",          INFINITY, 0.7, "flip",   "vlm", VLM "200" VLM_STEPS},
    {"vlm-linear",   10,      0.7,  "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    8,      0.6,  "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    6,      0.55, "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    4,      0.45, "flip",   "vlm", LINEAR "eps-pre=26" LINEAR_STEPS},
    {"vlm-linear",    2,      0.45, "subset", "vlm", LINEAR "eps-pre=13" LINEAR_STEPS},
    {"vlm-linear",    1,      0.5,  "subset", "vlm", LINEAR "eps-pre=7" LINEAR_STEPS},
    {"vlm-linear",   INFINITY, 0.7, "flip",   "vlm", LINEAR "learn-b" LINEAR_STEPS},
    {"pca",          10,      0.7,  "flip",   "pca", PCA},
    {"pca",           8,      0.6,  "flip",   "pca", PCA},
    {"pca",           6,      0.55, "flip",   "pca", PCA},
    {"pca",           4,      0.45, "flip",   "pca", PCA},
    {"pca",           2,      0.45, "subset", "pca", PCA},
    {"pca",           1,      0.5,  "subset", "pca", PCA},
    {"pca",          INFINITY, 0.7, "flip",   "pca", PCA},
    {"clm",          10,      0.7,  "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           8,      0.6,  "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           6,      0.55, "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           4,      0.45, "flip",   "clm", CLM "26" CLM_STEPS},
    {"clm",           2,      0.45, "subset", "clm", CLM "13" CLM_STEPS},
    {"clm",           1,      0.5,  "subset", "clm", CLM "7" CLM_STEPS},
    {"clm",          INFINITY, 0.7, "flip",   "clm", "d=64" CLM_STEPS},
};

/* mechanism, eps, level, epochs, rate, decay, prior_most, batches, restarts,
   smoothing, marginal, entropy, candidates, bootstrap, eq12. At the feature level, the decays
   are those of 0.01, 0.1, 1, 3, 10 and 30 with the best score on the validation
   reports, for one draw of one encoder. */
static const struct trial_fit fits[] = {
    {NULL, 10, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.06, 1, 0, false},
    {NULL,  8, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.05, 1, 0, false},
    {NULL,  6, SOTTO_LEVEL_LATENT, 30, 0.02, 0.3, 20000, 10, 1, 0, 0.1, 0.03, 1, 0, false},
    {NULL,  4, SOTTO_LEVEL_LATENT, 30, 0.02, 0.5, 20000, 10, 1, 0, 0.1, 0.01, 1, 0, false},
    {NULL,  2, SOTTO_LEVEL_LATENT, 800, 0.02, 0.5, 1500,  1, 16, 0, 0.1, 1e-3, 16, 0.5, false},
    {NULL,  1, SOTTO_LEVEL_LATENT, 400, 0.02, 1.0, 1500,  1, 16, 0, 0.1, 0, 16, 1, false},
    {NULL, INFINITY, SOTTO_LEVEL_LATENT, 0, 0, -1, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {"vlm", INFINITY, SOTTO_LEVEL_LATENT, 0, 0, -1, 0, 0, 8, 0, -1, -1, 1, 0, false},
    {NULL, 10, SOTTO_LEVEL_FEATURE, 0, 0, 3, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {NULL, 1, SOTTO_LEVEL_FEATURE, 0, 0, 10, 0, 0, 0, 0, -1, -1, 1, 0, false},
    {NULL, INFINITY, SOTTO_LEVEL_FEATURE, 0, 0, -1, 0, 0, 0, 0, -1, -1, 1, 0, false},
};
/* clang-format on */

/* How far apart two epsilons are; "none" is far from all others. */
static double
distance(double a, double b)
{
    if (!isfinite(a) || !isfinite(b)) {
        return isfinite(a) == isfinite(b) ? 0 : INFINITY;
    }
    return fabs(log(a / b));
}

/* Codebooks, and whose encoder each cuts into cells. */
static const char *const codebooks[][2] = {
    {"codebook", "clm"}, {"vlm-codebook", "vlm"}, {"pca-codebook", "pca"}};

static const char *
encoder_of(const char *mechanism)
{
    for (size_t i = 0; i < sizeof codebooks / sizeof *codebooks; i++) {
        if (strcmp(codebooks[i][0], mechanism) == 0) {
            return codebooks[i][1];
        }
    }
    return NULL;
}

bool
trial_is_codebook(const char *mechanism)
{
    return encoder_of(mechanism) != NULL;
}

const struct trial_encoder *
trial_encoder_find(const char *mechanism, double eps)
{
    const struct trial_encoder *nearest = NULL;
    if (trial_is_codebook(mechanism)) {
        mechanism = encoder_of(mechanism);
        eps = INFINITY;
    }
    for (size_t i = 0; i < sizeof encoders / sizeof *encoders; i++) {
        const struct trial_encoder *row = &encoders[i];
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
trial_fit_find(const char *mechanism, enum sotto_level level, double eps)
{
    const struct trial_fit *nearest = NULL;
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const struct trial_fit *row = &fits[i];
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
           ret_sets->sets < MNIST_SETS_MAX) {
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
    struct learn_setting used;
    if (learn_settle(&options, lambda * eps, (1 - lambda) * eps, &used, NULL) !=
        SOTTO_STATUS_OK) {
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
