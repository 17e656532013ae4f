/*
 * learn_fixture.h: small mechanisms to learn from, and reports of them.
 *
 *     columns   a, b    numbers from -1 to 1
 *               colour  blue, red, (other)
 *               label   no, yes, (other)
 *
 *     mixed     laplace on a lattice of a and b (l 8), flip of the colour, and
 *               flip of the label
 *     line      laplace on a alone (l 8), flip of the label
 *     sets      laplace on a alone (l 8), subset of a label of SET_CLASSES
 *     encoded   laplace on a lattice of a and b (l 65536), which the schema
 *               feeds into x, and flip of the label
 *     towns     flip of a town, of which there are many, laplace on a, flip of
 *               the label
 */
#ifndef SOTTO_TESTS_LEARN_FIXTURE_H
#define SOTTO_TESTS_LEARN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "learn/labels.h"
#include "learn/lattice/lattice.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"
#include "random/draw.h"
#include "random/seeded.h"
#include "scratch.h"

static struct sotto_error err;

static const char *const learn_colours[] = {"blue", "red"};
static const char *const learn_labels[] = {"no", "yes"};
static const struct schema_column learn_mixed_column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"colour", SOTTO_COLUMN_CATEGORY, 3, learn_colours, false, 0, 0},
    {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
};
static const struct schema_column learn_line_column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
};

/* Most live in the capital: reports from there leave many points, others
   few. */
static const char *const learn_towns[] = {
    "c",  "t0", "t1", "t2",  "t3",  "t4",  "t5",  "t6",
    "t7", "t8", "t9", "t10", "t11", "t12", "t13", "t14"};
static const struct schema_column learn_towns_column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"town", SOTTO_COLUMN_CATEGORY, 17, learn_towns, false, 0, 0},
    {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
};

static inline void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* A lattice's model with networks that have no weights yet. */
static inline struct sotto_model *
lattice_model(const struct sotto_mechanism *mechanism,
              enum sotto_objective objective, bool other,
              const uint32_t *hidden, size_t nets)
{
    const struct learn_options options = {.objective = objective,
                                          .other = other,
                                          .hidden = hidden,
                                          .hiddens = hidden != NULL,
                                          .linear = hidden == NULL};
    struct sotto_model *model = NULL;
    struct networks_plan plan;
    must(model_new(&learner_lattice, mechanism, &model, &err));
    must(lattice_new(model, other, &err));
    must(networks_plan_init(&plan, &options, nets, &err));
    must(networks_init(&lattice_of(model)->networks, &plan,
                       lattice_inputs(model, plan.level), model->classes,
                       &err));
    return model;
}

/* What its networks say of inputs. */
static inline void
lattice_say(struct sotto_model *model, const float *input, size_t n, float *p)
{
    must(model_backend(model, &err));
    must(networks_forward(&lattice_of(model)->networks, model->backend, input,
                          n, p, &err));
}

/* Where a report has its label. */
static inline struct labels_part
label_part(const struct prior_shape *shape)
{
    return (struct labels_part){.likelihood = shape->label,
                                .offset = shape->label_offset,
                                .classes = shape->classes};
}

static inline struct sotto_mechanism *
open_spec(const struct compose_spec *spec)
{
    struct sotto_mechanism *mechanism = NULL;
    must(compose_open(spec, &mechanism, &err));
    return mechanism;
}

/* `eps` for the lattice, in units; 1 for the colour and `label` for it. */
static inline struct sotto_mechanism *
open_mixed(uint64_t eps, uint64_t label, uint32_t l)
{
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = eps,
         .blocks = 1,
         .d = 2,
         .l = l},
        {.covers = "features",
         .channel = "flip",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 2, 0}},
         .factors = 1},
        {.covers = "label",
         .channel = "flip",
         .eps = label,
         .blocks = 1,
         .factor = {{true, 3, 0}},
         .factors = 1},
    };
    const struct compose_spec spec = {.name = "mixed",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = eps + label + DECIMAL_UNIT,
                                      .column = learn_mixed_column,
                                      .columns = 4,
                                      .part = part,
                                      .parts = 3};
    return open_spec(&spec);
}

/* The town by flip with little noise, a with much, and the label. */
static inline struct sotto_mechanism *
open_towns(void)
{
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "flip",
         .eps = 10 * DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 1, 0}},
         .factors = 1},
        {.covers = "features",
         .channel = "laplace",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .d = 1,
         .l = 64},
        {.covers = "label",
         .channel = "flip",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 2, 0}},
         .factors = 1},
    };
    const struct compose_spec spec = {.name = "towns",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 12 * DECIMAL_UNIT,
                                      .column = learn_towns_column,
                                      .columns = 3,
                                      .part = part,
                                      .parts = 3};
    return open_spec(&spec);
}

static inline struct sotto_mechanism *
open_encoded(void)
{
    static const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, true, 0, 1},
        {"b", SOTTO_COLUMN_NUMBER, 1, NULL, true, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 3, learn_labels, false, 0, 0},
    };
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .d = 2,
         .l = 65536},
        {.covers = "label",
         .channel = "flip",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .factor = {{true, 2, 0}},
         .factors = 1},
    };
    const struct compose_spec spec = {.name = "encoded",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = 2 * DECIMAL_UNIT,
                                      .column = column,
                                      .columns = 3,
                                      .part = part,
                                      .parts = 2};
    return open_spec(&spec);
}

static inline struct sotto_mechanism *
open_line_with(const struct schema_column *column, uint64_t eps, uint64_t label)
{
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = eps,
         .blocks = 1,
         .d = 1,
         .l = 8},
        {.covers = "label",
         .channel = "flip",
         .eps = label,
         .blocks = 1,
         .factor = {{true, 1, 0}},
         .factors = 1},
    };
    const struct compose_spec spec = {.name = "line",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = eps + label,
                                      .column = column,
                                      .columns = 2,
                                      .part = part,
                                      .parts = 2};
    return open_spec(&spec);
}

static inline struct sotto_mechanism *
open_line(uint64_t eps, uint64_t label)
{
    return open_line_with(learn_line_column, eps, label);
}

#define SET_CLASSES 60u

/* Labels are "l0", "l1" and so on. */
static inline struct sotto_mechanism *
open_sets(uint64_t label)
{
    static char name[SET_CLASSES][8];
    static const char *names[SET_CLASSES];
    const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, SET_CLASSES + 1, names, false, 0, 0},
    };
    const struct compose_part part[] = {
        {.covers = "features",
         .channel = "laplace",
         .eps = DECIMAL_UNIT,
         .blocks = 1,
         .d = 1,
         .l = 8},
        {.covers = "label",
         .channel = "subset",
         .eps = label,
         .blocks = 1,
         .factor = {{true, 1, 0}},
         .factors = 1},
    };
    const struct compose_spec spec = {.name = "sets",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = DECIMAL_UNIT + label,
                                      .column = column,
                                      .columns = 2,
                                      .part = part,
                                      .parts = 2};
    for (unsigned i = 0; i < SET_CLASSES; i++) {
        (void)sprintf(name[i], "l%u", i);
        names[i] = name[i];
    }
    return open_spec(&spec);
}

static inline struct sotto_table *
table_of(const char *text)
{
    struct sotto_table *table = NULL;
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    return table;
}

/* n rows of "mixed", the label a function of a and the colour. */
static inline struct sotto_table *
mixed_rows(size_t n, uint64_t seed)
{
    char *text = malloc(64 + 64 * n), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,b,colour,label\n");
    for (size_t i = 0; i < n; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 2000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 2000;
        bool red = draw_below(&seeded.random, 2) == 1;
        at += sprintf(at, "%.4f,%.4f,%s,%s\n", a, b, red ? "red" : "blue",
                      (a > 0) != red ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

static inline struct sotto_table *
set_rows(size_t n, uint64_t seed)
{
    char *text = malloc(64 + 64 * n), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,label\n");
    for (size_t i = 0; i < n; i++) {
        unsigned label = draw_below(&seeded.random, SET_CLASSES);
        at += sprintf(at, "%.3f,l%u\n", label / 60.0, label);
    }
    table = table_of(text);
    free(text);
    return table;
}

static inline struct sotto_table *
town_rows(size_t n, uint64_t seed)
{
    char *text = malloc(64 + 64 * n), *at = text;
    struct seeded seeded;
    struct sotto_table *table;
    seeded_init(&seeded, seed, 0);
    at += sprintf(at, "a,town,label\n");
    for (size_t i = 0; i < n; i++) {
        uint32_t town = draw_below(&seeded.random, 30);
        at += sprintf(at, "%.3f,%s,no\n",
                      draw_below(&seeded.random, 1001) / 1000.0,
                      learn_towns[town < 16 ? town : 0]);
    }
    table = table_of(text);
    free(text);
    return table;
}

/* Simulated reports of all rows, one after another; the caller frees. */
static inline uint8_t *
simulate(struct sotto_mechanism *mechanism, const struct sotto_table *table,
         uint64_t seed)
{
    size_t n = sotto_table_rows(table), size = mechanism->shape.report_size;
    uint8_t *reports = calloc(n + 1, size);
    struct rows rows;
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < n; i++) {
        must(sotto_simulate(mechanism, seed, i, rows_at(&rows, i), rows.count,
                            reports + i * size, size));
    }
    rows_clear(&rows);
    return reports;
}

/* The same behind a reader. */
static inline struct sotto_report_reader *
read_back(struct sotto_mechanism *mechanism, const struct sotto_table *table,
          uint64_t seed)
{
    uint8_t *reports = simulate(mechanism, table, seed);
    struct sotto_report_writer *writer = NULL;
    struct sotto_report_reader *reader = NULL;
    const char *path = in_folder("r.reports");
    must(sotto_report_writer_new(mechanism, path, &writer, &err));
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        must(sotto_report_writer_add(
            writer, reports + i * mechanism->shape.report_size, &err));
    }
    must(sotto_report_writer_commit(writer, &err));
    must(sotto_report_reader_new(mechanism, path, &reader, &err));
    free(reports);
    return reader;
}

/* The points of all rows; the caller frees. */
static inline int32_t *
points_of(struct sotto_mechanism *mechanism, const struct sotto_table *table)
{
    size_t n = sotto_table_rows(table);
    struct rows rows;
    int32_t *point;
    must(rows_init(&rows, mechanism, table, &err));
    point = calloc(n * rows_q_width(&rows) + 1, sizeof *point);
    for (size_t i = 0; i < n; i++) {
        rows_q(&rows, i, point + i * rows_q_width(&rows));
    }
    rows_clear(&rows);
    return point;
}

static inline int
make_folder(void **state)
{
    (void)state;
    return scratch_make();
}

static inline int
remove_folder(void **state)
{
    (void)state;
    return scratch_remove();
}

#endif
