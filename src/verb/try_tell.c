/*
 * try_tell.c: what sotto try tells, as text and as JSON.
 */
#include "verb/try_tell.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "host/text.h"

#define TEXT_MOST (1u << 16)
#define CELL_WIDTH 30 /* of a kind's scores at an epsilon */

const char *
try_kind_name(enum sotto_try_kind kind)
{
    static const char *const names[] = {"codebook", "direct"};
    return names[kind];
}

static const char *
verdict_name(enum sotto_try_verdict verdict)
{
    static const char *const names[] = {"learns", "ranks", "nothing"};
    return names[verdict];
}

static const struct sotto_try_cell *
best_cell(const struct sotto_try_at *at)
{
    return &at->kind[at->best];
}

/* ---- Sentences ------------------------------------------------------------
 */

/* Whether the largest class is more often right, beyond chance. */
static bool
is_worse(const struct sotto_try_mean *after)
{
    return after->gain < -2 * after->gain_error;
}

/* How often the model names the right class, beside the largest class. */
static void
say_names(struct host_text *to, const struct sotto_try *result,
          const struct sotto_try_mean *after)
{
    if (is_worse(after)) {
        host_text_print(to,
                        "worse than naming \"%s\" for everybody (%.1f%% right "
                        "against %.1f%%)",
                        result->largest, 100 * after->accuracy,
                        100 * (after->accuracy - after->gain));
        return;
    }
    host_text_print(to, "no better than naming \"%s\" for everybody",
                    result->largest);
}

void
try_say_verdict(struct host_text *to, const struct tried *tried,
                const struct sotto_try_at *at)
{
    const struct sotto_try *result = tried->result;
    const struct sotto_try_mean *after = &best_cell(at)->after;
    const struct sotto_try_mean *before = &best_cell(at)->before;
    if (try_is_number(result)) {
        try_number_verdict(to, tried, at);
        return;
    }
    switch (at->before) {
    case SOTTO_TRY_LEARNS:
        host_text_print(to,
                        "%s is right about %.1f%% of people, %.1f points more "
                        "than naming \"%s\" for everybody.",
                        try_kind_name(at->best), 100 * after->accuracy,
                        100 * after->gain, result->largest);
        if (at->after != SOTTO_TRY_LEARNS) {
            host_text_print(to,
                            " Simulations on auxiliary rows promised "
                            "%.1f: take this with care.",
                            100 * before->gain);
        }
        break;
    case SOTTO_TRY_RANKS:
        say_names(to, result, after);
        host_text_print(to,
                        at->after == SOTTO_TRY_NOTHING
                            ? ". Auxiliary rows promised an order of people, "
                              "and the test rows show none (AUC %.2f)."
                            : ", but it tells who is likelier to have a class "
                              "(AUC %.2f).",
                        after->auc);
        if (is_worse(after)) {
            host_text_print(to, " Take its probabilities, to put people in "
                                "order, not the classes that it names.");
        }
        break;
    case SOTTO_TRY_NOTHING:
    default:
        host_text_print(to,
                        "not enough people: %zu reports teach nothing here. "
                        "Name \"%s\" for everybody.",
                        result->people, result->largest);
        break;
    }
}

static double
best_clean(const struct sotto_try *result)
{
    return fmax(result->linear.accuracy, result->network.accuracy);
}

static double
best_aux(const struct sotto_try *result)
{
    return fmax(result->aux_linear.accuracy, result->aux_network.accuracy);
}

/* The smallest epsilon at which people can be put in order, if there is one. */
static void
say_ranks(struct host_text *to, const struct sotto_try *result)
{
    const struct sotto_try_at *found = NULL;
    for (size_t i = 0; result->at != NULL && i < result->count; i++) {
        const struct sotto_try_at *at = &result->at[i];
        if (at->before == SOTTO_TRY_RANKS && at->after != SOTTO_TRY_NOTHING &&
            (found == NULL ||
             strtod(at->eps, NULL) < strtod(found->eps, NULL))) {
            found = at;
        }
    }
    if (found != NULL) {
        host_text_print(to,
                        " What can be learnt, from epsilon %s on, is who is "
                        "likelier to have a class than others (AUC %.2f).",
                        found->eps, best_cell(found)->after.auc);
    }
}

/* The epsilon that the commands are for: the one advised, or the largest. */
static const struct sotto_try_at *
find_advised(const struct sotto_try *result)
{
    const struct sotto_try_at *at = &result->at[0];
    if (result->advised != SIZE_MAX) {
        return &result->at[result->advised];
    }
    for (size_t i = 1; i < result->count; i++) {
        if (strtod(result->at[i].eps, NULL) > strtod(at->eps, NULL)) {
            at = &result->at[i];
        }
    }
    return at;
}

void
try_say_advice(struct host_text *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    const struct sotto_try_at *at =
        result->advised != SIZE_MAX ? &result->at[result->advised] : NULL;
    double clean = best_clean(result), labels = best_aux(result);
    if (try_is_number(result)) {
        try_number_advice(to, tried);
        return;
    }
    if (clean <= result->share) {
        host_text_print(to,
                        "Even without privacy these columns do not tell \"%s\" "
                        "better than naming \"%s\" for everybody: no mechanism "
                        "will.",
                        tried->label, result->largest);
        return;
    }
    if (at == NULL) {
        host_text_print(
            to,
            "With %zu people a model is not more often right than the largest "
            "class at any of these epsilons: there is nothing to collect for a "
            "classifier. Ask more people, or take a larger epsilon.",
            result->people);
        say_ranks(to, result);
        return;
    }
    host_text_print(
        to,
        "Epsilon %s is the smallest of these at which %zu people suffice: take "
        "%s. It keeps %.0f%% of what the same people would teach (without "
        "privacy %.1f%% are right; naming the largest class for everybody, "
        "%.1f%%).",
        at->eps, result->people, try_kind_name(at->best),
        100 * fmin(1, fmax(0, best_cell(at)->after.gain) /
                          (clean - result->share)),
        100 * clean, 100 * result->share);
    if (labels >= best_cell(at)->after.accuracy) {
        host_text_print(to,
                        " But if the real auxiliary rows have labels, as these "
                        "do, nobody need be asked: learnt from them alone "
                        "%.1f%% are right.",
                        100 * labels);
    }
}

/* ---- Commands -------------------------------------------------------------
 */

/* A word of a shell: quoted unless it is plain. */
static void
put_word(struct host_text *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
                                "TUVWXYZ0123456789_-./,=:+";
    if (word[0] != '\0' && strspn(word, plain) == strlen(word)) {
        host_text_print(to, "%s", word);
        return;
    }
    host_text_print(to, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            host_text_print(to, "'\\''");
        } else {
            host_text_add(to, word, 1);
        }
    }
    host_text_print(to, "'");
}

static void
put_option(struct host_text *to, const char *option, const char *value)
{
    host_text_print(to, " --%s ", option);
    put_word(to, value);
}

/* The columns that the mechanism takes. */
static void
put_columns(struct host_text *to, const struct tried *tried,
            const struct sotto_try_at *at)
{
    const struct sotto_try *result = tried->result;
    if (at->best == SOTTO_TRY_DIRECT) {
        for (size_t i = 0; i < best_cell(at)->columns; i++) {
            put_option(to, "keep", result->column[i]);
        }
        return;
    }
    for (size_t i = 0; i < tried->keeps; i++) {
        put_option(to, "keep", tried->keep[i]);
    }
    for (size_t i = 0; i < tried->drops; i++) {
        put_option(to, "drop", tried->drop[i]);
    }
    for (size_t i = 0; i < result->outs; i++) {
        put_option(to, "drop", result->out[i]);
    }
}

void
try_say_commands(struct host_text *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    const struct sotto_try_at *at = find_advised(result);
    bool direct = at->best == SOTTO_TRY_DIRECT;
    host_text_print(to, "sotto train %s", try_kind_name(at->best));
    put_option(to, "data", tried->file);
    put_option(to, "label", tried->label);
    if (tried->schema != NULL) {
        put_option(to, "schema", tried->schema);
    } else if (tried->number) {
        put_option(to, "category", tried->label);
    }
    for (size_t i = 0; i < tried->categories; i++) {
        if (!tried->number || strcmp(tried->category[i], tried->label) != 0) {
            put_option(to, "category", tried->category[i]);
        }
    }
    host_text_print(to, " --eps %s", at->eps);
    if (direct && try_is_number(result)) {
        host_text_print(to, " --lambda 0.5");
    }
    if (!direct) {
        host_text_print(to, " --people %zu", result->people);
    }
    put_columns(to, tried, at);
    host_text_print(to, " --seen -o campaign.sotto\n"
                        "sotto inspect campaign.sotto\n"
                        "sotto keygen -o collector\n"
                        "sotto sign campaign.sotto --key collector.key\n"
                        "sotto privatise campaign.sotto PEOPLE.csv --pub "
                        "collector.pub -o people.reports\n"
                        "sotto fit campaign.sotto people.reports");
    if (direct) {
        put_option(to, "aux", tried->file);
        host_text_print(to, " --prior-most 2000%s",
                        try_is_number(result) ? "" : " --validation 0");
    }
    host_text_print(to, " -o campaign.model\n"
                        "sotto evaluate campaign.model --data TEST.csv\n");
}

/* ---- As text --------------------------------------------------------------
 */

static void
print_text(FILE *to, struct host_text *text)
{
    if (!text->failed && text->data != NULL) {
        (void)fputs(text->data, to);
    }
    host_text_clear(text);
}

static void
tell_split(FILE *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    (void)fprintf(to, "%s: %zu auxiliary rows, %zu people, %zu test rows.\n",
                  cli_shown(tried->file), result->aux, result->people,
                  result->test);
    if (result->left > 0) {
        (void)fprintf(to, "%zu rows have no label and were left out.\n",
                      result->left);
    }
    if (try_is_number(result)) {
        try_number_label(to, tried);
    } else {
        (void)fprintf(to,
                      "\"%s\" has %zu classes; the largest, \"%s\", has "
                      "%.1f%% of the test rows.\n",
                      cli_shown(tried->label), result->classes,
                      cli_shown(result->largest), 100 * result->share);
    }
    for (size_t i = 0; i < result->warnings; i++) {
        (void)fprintf(to, "Look: %s\n", cli_shown(result->warning[i]));
    }
    for (size_t i = 0; i < result->outs; i++) {
        (void)fprintf(to, "Left out: \"%s\" (%s).\n", cli_shown(result->out[i]),
                      result->why[i]);
    }
    if (result->answers > 0) {
        (void)fprintf(to, "%s\n", TRY_ANSWERS);
    }
}

static void
tell_cell(FILE *to, const struct sotto_try_cell *cell, bool best)
{
    const struct sotto_try_mean *after = &cell->after;
    if (after->runs == 0) {
        (void)fprintf(to, "  %*s", CELL_WIDTH, "not possible");
        return;
    }
    (void)fprintf(to, "  %5.1f +-%4.1f %9.1f %6.2f%s", 100 * after->accuracy,
                  100 * (isnan(after->deviation) ? 0 : after->deviation),
                  100 * after->balanced, after->auc, best ? "*" : " ");
}

static void
tell_table(FILE *to, const struct sotto_try *result)
{
    (void)fprintf(to, "\n%8s  %-*s  %s\n", "", CELL_WIDTH, "codebook",
                  "direct, a few columns");
    (void)fprintf(to, "%8s", "epsilon");
    for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
        (void)fprintf(to, "  %-12s %9s %6s ", "accuracy, %", "balanced", "AUC");
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
}

static void
tell_clean(FILE *to, const char *what, const struct sotto_campaign_score *score)
{
    if (score->rows > 0) {
        (void)fprintf(to, "  %-34s %11.1f %9.1f %6.2f\n", what,
                      100 * score->accuracy, 100 * score->balanced, score->auc);
    }
}

static void
tell_baselines(FILE *to, const struct sotto_try *result)
{
    (void)fprintf(to, "\n%-36s %11s %9s %6s\n",
                  "Without privacy:", "accuracy, %", "balanced", "AUC");
    (void)fprintf(to, "  %-34s %11.1f %9.1f   0.50\n", "the largest class",
                  100 * result->share, 100 / (double)result->classes);
    tell_clean(to, "logistic regression, people", &result->linear);
    tell_clean(to, "network, people", &result->network);
    tell_clean(to, "logistic regression, auxiliary", &result->aux_linear);
    tell_clean(to, "network, auxiliary", &result->aux_network);
}

/* Why a kind was not tried, said once. */
static void
tell_impossible(FILE *to, const struct sotto_try *result)
{
    for (size_t k = 0; k < SOTTO_TRY_KINDS && result->count > 0; k++) {
        const struct sotto_try_cell *cell = &result->at[0].kind[k];
        if (cell->after.runs == 0) {
            (void)fprintf(to, "%s: %s\n", try_kind_name((enum sotto_try_kind)k),
                          cli_shown(cell->why));
        }
    }
}

void
try_tell_text(FILE *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    struct host_text text;
    tell_split(to, tried);
    if (try_is_number(result)) {
        try_number_table(to, result);
        tell_impossible(to, result);
    } else {
        tell_table(to, result);
        tell_impossible(to, result);
        tell_baselines(to, result);
    }
    (void)fputs("\n", to);
    for (size_t i = 0; i < result->count; i++) {
        host_text_init(&text, TEXT_MOST);
        host_text_print(&text, "Epsilon %s: ", result->at[i].eps);
        try_say_verdict(&text, tried, &result->at[i]);
        host_text_print(&text, "\n");
        print_text(to, &text);
    }
    host_text_init(&text, TEXT_MOST);
    host_text_print(&text, "\n");
    try_say_advice(&text, tried);
    host_text_print(&text, "\n\nFor the real campaign, with other people's "
                           "rows in PEOPLE.csv and TEST.csv:\n\n");
    try_say_commands(&text, tried);
    print_text(to, &text);
}

/* ---- As JSON --------------------------------------------------------------
 */

static void
tell_json_table(FILE *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    json_begin(to);
    json_text(to, "row", "table");
    json_text(to, "file", tried->file);
    json_text(to, "label", tried->label);
    json_size(to, "aux", result->aux);
    json_size(to, "people", result->people);
    json_size(to, "test", result->test);
    json_size(to, "no_label", result->left);
    if (try_is_number(result)) {
        try_number_json_label(to, result);
    } else {
        json_size(to, "classes", result->classes);
        json_text(to, "largest", result->largest);
        json_number(to, "majority", result->share);
    }
    json_number(to, "seconds", result->seconds);
    json_text(to, "advised_eps",
              result->advised != SIZE_MAX ? result->at[result->advised].eps
                                          : NULL);
    json_end(to);
}

static void
tell_json_clean(FILE *to, const char *learner, const char *rows,
                const struct sotto_campaign_score *score)
{
    if (score->rows == 0) {
        return;
    }
    json_begin(to);
    json_text(to, "row", "clean");
    json_text(to, "learner", learner);
    json_text(to, "rows", rows);
    json_number(to, "accuracy", score->accuracy);
    json_number(to, "balanced", score->balanced);
    json_number(to, "auc", score->auc);
    json_end(to);
}

static void
tell_json_scores(FILE *to, const struct sotto_try *result,
                 const struct sotto_try_cell *cell)
{
    json_number(to, "accuracy", cell->after.accuracy);
    json_number(to, "deviation", cell->after.deviation);
    json_number(to, "worst", cell->after.low);
    json_number(to, "balanced", cell->after.balanced);
    json_number(to, "auc", cell->after.auc);
    json_number(to, "gain", cell->after.gain);
    json_number(to, "gain_error", cell->after.gain_error);
    json_number(to, "gain_once", cell->after.gain_once);
    json_number(to, "before_accuracy", cell->before.accuracy);
    json_number(to, "before_gain", cell->before.gain);
    json_number(to, "before_gain_error", cell->before.gain_error);
    json_number(to, "before_gain_once", cell->before.gain_once);
    json_number(to, "before_auc", cell->before.auc);
    json_number(to, "majority", result->share);
}

static void
tell_json_cell(FILE *to, const struct sotto_try *result,
               const struct sotto_try_at *at, size_t kind)
{
    const struct sotto_try_cell *cell = &at->kind[kind];
    json_begin(to);
    json_text(to, "row", "campaign");
    json_decimal(to, "eps", at->eps);
    json_text(to, "kind", try_kind_name((enum sotto_try_kind)kind));
    json_bool(to, "preferred", (size_t)at->best == kind);
    json_size(to, "runs", cell->after.runs);
    if (cell->after.runs == 0) {
        json_text(to, "why", cell->why);
        json_end(to);
        return;
    }
    if (try_is_number(result)) {
        try_number_json_cell(to, cell);
    } else {
        tell_json_scores(to, result, cell);
    }
    json_text(to, "verdict", verdict_name(cell->after.verdict));
    json_text(to, "before_verdict", verdict_name(cell->before.verdict));
    if (kind == SOTTO_TRY_DIRECT) {
        json_size(to, "columns", cell->columns);
    } else {
        json_size(to, "k", cell->k);
        json_size(to, "books", cell->books);
        json_text(to, "channel", cell->channel);
    }
    json_end(to);
}

void
try_tell_json(FILE *to, const struct tried *tried)
{
    const struct sotto_try *result = tried->result;
    tell_json_table(to, tried);
    try_number_json_lines(to, result);
    tell_json_clean(to, "linear", "people", &result->linear);
    tell_json_clean(to, "network", "people", &result->network);
    tell_json_clean(to, "linear", "aux", &result->aux_linear);
    tell_json_clean(to, "network", "aux", &result->aux_network);
    for (size_t i = 0; i < result->count; i++) {
        for (size_t k = 0; k < SOTTO_TRY_KINDS; k++) {
            tell_json_cell(to, result, &result->at[i], k);
        }
    }
    for (size_t i = 0; i < result->columns; i++) {
        json_begin(to);
        json_text(to, "row", "column");
        json_text(to, "name", result->column[i]);
        json_number(to, "gain", result->gain[i]);
        json_end(to);
    }
    for (size_t i = 0; i < result->warnings; i++) {
        json_begin(to);
        json_text(to, "row", "warning");
        json_text(to, "text", result->warning[i]);
        json_end(to);
    }
    for (size_t i = 0; i < result->outs; i++) {
        json_begin(to);
        json_text(to, "row", "left-out");
        json_text(to, "name", result->out[i]);
        json_text(to, "why", result->why[i]);
        json_end(to);
    }
}
