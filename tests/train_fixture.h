/*
 * train_fixture.h: sotto_train with options as fields, for tests that change
 * one after the other. A field of 0 is not given; settings are text, so each is
 * written as one.
 */
#ifndef SOTTO_TESTS_TRAIN_FIXTURE_H
#define SOTTO_TESTS_TRAIN_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "sotto/sotto.h"

#define TRAIN_SETS_MAX 24u

struct train_sets {
    struct sotto_setting set[TRAIN_SETS_MAX];
    char text[TRAIN_SETS_MAX][256];
    size_t count;
};

static inline void
train_text(struct train_sets *sets, const char *name, const char *text)
{
    if (text != NULL) {
        sets->set[sets->count++] = (struct sotto_setting){name, text};
    }
}

/* Written out so that it reads back the same; 0 is not given. */
static inline void
train_number(struct train_sets *sets, const char *name, double number)
{
    if (number != 0) {
        char *text = sets->text[sets->count];
        (void)snprintf(text, sizeof sets->text[0], "%.17g", number);
        train_text(sets, name, text);
    }
}

static inline void
train_whole(struct train_sets *sets, const char *name, uint64_t whole)
{
    if (whole != 0) {
        char *text = sets->text[sets->count];
        (void)snprintf(text, sizeof sets->text[0], "%llu",
                       (unsigned long long)whole);
        train_text(sets, name, text);
    }
}

static inline void
train_list(struct train_sets *sets, const char *name, const uint32_t *value,
           size_t count)
{
    char *text = sets->text[sets->count];
    size_t size = 0;
    for (size_t i = 0; value != NULL && i < count; i++) {
        size += (size_t)snprintf(text + size, sizeof sets->text[0] - size,
                                 "%s%u", i > 0 ? "," : "", (unsigned)value[i]);
    }
    train_text(sets, name, value != NULL ? text : NULL);
}

static inline void
train_flag(struct train_sets *sets, const char *name, bool truth)
{
    train_text(sets, name, truth ? "yes" : NULL);
}

/* The options that all kinds have, and more. */
#define TRAIN_OPTIONS(given, these, ...)                                       \
    {                                                                          \
        .eps = (given)->eps, .label = (given)->label, .name = (given)->name,   \
        .campaign = (given)->campaign, .drop = (given)->drop,                  \
        .drops = (given)->drops, .set = (these)->set, .sets = (these)->count,  \
        __VA_ARGS__                                                            \
    }

/* Likewise of an encoder that is learnt. */
#define LEARNT_FIELDS                                                          \
    const char *eps, *label, *name, *campaign;                                 \
    const char *const *drop;                                                   \
    size_t drops;                                                              \
    unsigned threads;                                                          \
    const char *checkpoint;                                                    \
    struct sotto_watch watch;                                                  \
    double lambda;                                                             \
    const char *label_channel;                                                 \
    size_t d;                                                                  \
    uint32_t steps;

#define LEARNT_SETS(given, these)                                              \
    do {                                                                       \
        train_number(these, "lambda", (given)->lambda);                        \
        train_text(these, "label-channel", (given)->label_channel);            \
        train_whole(these, "d", (given)->d);                                   \
        train_whole(these, "steps", (given)->steps);                           \
    } while (0)

#define LEARNT_OPTIONS(given, these)                                           \
    TRAIN_OPTIONS(given, these, .threads = (given)->threads,                   \
                  .checkpoint = (given)->checkpoint, .watch = (given)->watch)

struct vlm_options {
    LEARNT_FIELDS
    const uint32_t *hidden;
    size_t hiddens;
    bool linear;
    double l, eps_pre; /* eps_pre 0: b is learnt */
    double autogen;
    uint32_t epochs, batch;
    double rate;
    uint32_t patience;
    double validation;
    uint64_t seed;
};

struct vlm_info {
    uint64_t epochs;
    double loss, validation, kl, b, clipped;
    bool resumed;
};

static inline enum sotto_status
train_vlm(const struct sotto_table *table, const struct vlm_options *given,
          const char *path, const char *analyst_path, struct vlm_info *ret_info,
          struct sotto_mechanism **ret_mechanism, struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    struct sotto_train_facts facts;
    enum sotto_status status;
    LEARNT_SETS(given, &sets);
    train_list(&sets, "hidden", given->linear ? NULL : given->hidden,
               given->hiddens);
    train_flag(&sets, "linear", given->linear);
    train_number(&sets, "l", given->l);
    train_number(&sets, "eps-pre", given->eps_pre);
    train_flag(&sets, "learn-b", given->eps_pre == 0);
    train_number(&sets, "autogen", given->autogen);
    train_whole(&sets, "epochs", given->epochs);
    train_whole(&sets, "batch", given->batch);
    train_number(&sets, "rate", given->rate);
    train_whole(&sets, "patience", given->patience);
    train_number(&sets, "validation", given->validation);
    train_whole(&sets, "seed", given->seed);
    struct sotto_train_options options = LEARNT_OPTIONS(given, &sets);
    status = sotto_train(table, "vlm", &options, path, analyst_path, &facts,
                         ret_mechanism, ret_err);
    if (status == SOTTO_STATUS_OK && ret_info != NULL) {
        *ret_info = (struct vlm_info){
            .epochs = (uint64_t)sotto_train_fact(&facts, "epochs"),
            .loss = sotto_train_fact(&facts, "loss"),
            .validation = sotto_train_fact(&facts, "validation"),
            .kl = sotto_train_fact(&facts, "kl"),
            .b = sotto_train_fact(&facts, "b"),
            .clipped = sotto_train_fact(&facts, "clipped"),
            .resumed = sotto_train_fact(&facts, "resumed") > 0};
    }
    return status;
}

struct clm_options {
    LEARNT_FIELDS
    const char *network;
    const uint32_t *hidden;
    size_t hiddens;
    const uint32_t *widths;
    size_t width_count;
    bool residual;
    const char *augment;
    double temperature, l, eps_pre, inside;
    uint32_t epochs, batch;
    double rate;
    uint64_t seed;
};

struct clm_info {
    uint64_t epochs;
    double loss, clipped;
    bool resumed;
};

static inline void
clm_sets(const struct clm_options *given, struct train_sets *sets)
{
    LEARNT_SETS(given, sets);
    train_text(sets, "network", given->network);
    train_list(sets, "hidden", given->hidden, given->hiddens);
    train_list(sets, "widths", given->widths, given->width_count);
    train_flag(sets, "residual", given->residual);
    train_text(sets, "augment", given->augment);
    train_number(sets, "temperature", given->temperature);
    train_number(sets, "l", given->l);
    train_number(sets, "eps-pre", given->eps_pre);
    train_number(sets, "inside", given->inside);
    train_whole(sets, "epochs", given->epochs);
    train_whole(sets, "batch", given->batch);
    train_number(sets, "rate", given->rate);
    train_whole(sets, "seed", given->seed);
}

static inline enum sotto_status
train_clm(const struct sotto_table *table, const struct clm_options *given,
          const char *path, const char *analyst_path, struct clm_info *ret_info,
          struct sotto_mechanism **ret_mechanism, struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    struct sotto_train_facts facts;
    enum sotto_status status;
    clm_sets(given, &sets);
    struct sotto_train_options options = LEARNT_OPTIONS(given, &sets);
    status = sotto_train(table, "clm", &options, path, analyst_path, &facts,
                         ret_mechanism, ret_err);
    if (status == SOTTO_STATUS_OK && ret_info != NULL) {
        *ret_info = (struct clm_info){
            .epochs = (uint64_t)sotto_train_fact(&facts, "epochs"),
            .loss = sotto_train_fact(&facts, "loss"),
            .clipped = sotto_train_fact(&facts, "clipped"),
            .resumed = sotto_train_fact(&facts, "resumed") > 0};
    }
    return status;
}

struct pca_options {
    LEARNT_FIELDS
    double inside;
    bool whiten;
};

static inline enum sotto_status
train_pca(const struct sotto_table *table, const struct pca_options *given,
          const char *path, const char *analyst_path,
          struct sotto_mechanism **ret_mechanism, struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    LEARNT_SETS(given, &sets);
    train_number(&sets, "inside", given->inside);
    train_flag(&sets, "whiten", given->whiten);
    struct sotto_train_options options = LEARNT_OPTIONS(given, &sets);
    return sotto_train(table, "pca", &options, path, analyst_path, NULL,
                       ret_mechanism, ret_err);
}

struct task_linear_options {
    LEARNT_FIELDS
    const char *task, *weights, *target;
};

static inline enum sotto_status
train_task_linear(const struct sotto_table *table,
                  const struct task_linear_options *given, const char *path,
                  const char *analyst_path, struct sotto_train_facts *ret_facts,
                  struct sotto_mechanism **ret_mechanism,
                  struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    LEARNT_SETS(given, &sets);
    train_text(&sets, "task", given->task);
    train_text(&sets, "weights", given->weights);
    train_text(&sets, "target", given->target);
    struct sotto_train_options options = LEARNT_OPTIONS(given, &sets);
    return sotto_train(table, "task-linear", &options, path, analyst_path,
                       ret_facts, ret_mechanism, ret_err);
}

struct task_codes_options {
    LEARNT_FIELDS
    const char *task, *weights, *target;
    uint32_t k;
    uint64_t seed;
};

static inline enum sotto_status
train_task_codes(const struct sotto_table *table,
                 const struct task_codes_options *given, const char *path,
                 const char *analyst_path, struct sotto_train_facts *ret_facts,
                 struct sotto_mechanism **ret_mechanism,
                 struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    LEARNT_SETS(given, &sets);
    train_text(&sets, "task", given->task);
    train_text(&sets, "weights", given->weights);
    train_text(&sets, "target", given->target);
    train_whole(&sets, "k", given->k);
    train_whole(&sets, "seed", given->seed);
    struct sotto_train_options options = LEARNT_OPTIONS(given, &sets);
    return sotto_train(table, "task-codes", &options, path, analyst_path,
                       ret_facts, ret_mechanism, ret_err);
}

struct direct_options {
    const char *eps, *label, *name, *campaign;
    const char *const *drop;
    size_t drops;
    const struct range {
        const char *column;
        double low, high;
    } * ranges;
    size_t range_count;
    uint32_t l;
    const char *numbers, *categories, *label_channel, *delta;
    const char *const *missing;
    size_t missings;
    bool no_missing;
};

static inline enum sotto_status
train_direct(const struct sotto_table *table,
             const struct direct_options *given, const char *path,
             struct sotto_mechanism **ret_mechanism,
             struct sotto_error *ret_err)
{
    struct train_sets sets = {.count = 0};
    for (size_t i = 0; i < given->range_count; i++) {
        char *text = sets.text[sets.count];
        (void)snprintf(text, sizeof sets.text[0], "%s=%.17g:%.17g",
                       given->ranges[i].column, given->ranges[i].low,
                       given->ranges[i].high);
        train_text(&sets, "range", text);
    }
    for (size_t i = 0; i < given->missings; i++) {
        train_text(&sets, "missing", given->missing[i]);
    }
    train_flag(&sets, "no-missing", given->no_missing);
    train_whole(&sets, "l", given->l);
    train_text(&sets, "numbers", given->numbers);
    train_text(&sets, "categories", given->categories);
    train_text(&sets, "label-channel", given->label_channel);
    train_text(&sets, "delta", given->delta);
    struct sotto_train_options options =
        TRAIN_OPTIONS(given, &sets, .threads = 0);
    return sotto_train(table, "direct", &options, path, NULL, NULL,
                       ret_mechanism, ret_err);
}

#endif
