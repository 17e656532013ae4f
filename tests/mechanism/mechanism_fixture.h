/*
 * mechanism_fixture.h: small mechanisms for the tests beside it.
 *
 *     columns   age     a number from 18 to 90
 *               pixels  two bytes
 *               colour  blue, green, red, (other)
 *               label   no, yes, (other)
 *
 *     plain     1 laplace, age, eps 2        3 subset, colour, eps 0.1
 *               2 laplace, pixels, eps 1     4 flip, colour x label, eps 3
 *
 *     encoded   three layer outputs; the largest of them x label by flip, and
 *               all three on a lattice
 *
 *     numbers   other columns: a and b from -2 to 4 and the bytes c, in a ball
 *               by gaussian (delta 0.0000015), d and e in a cube by duchi, f by
 *               window, all from -2 to 4
 */
#ifndef SOTTO_TESTS_MECHANISM_FIXTURE_H
#define SOTTO_TESTS_MECHANISM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "spec_parts.h"

#define FIXTURE_COLUMNS 4u

static const char *const fixture_colours[] = {"blue", "green", "red"};
static const char *const fixture_labels[] = {"no", "yes"};

static const struct schema_column fixture_column[FIXTURE_COLUMNS] = {
    {"age", SOTTO_COLUMN_NUMBER, 1, NULL, false, 54, 1.0 / 36},
    {"pixels", SOTTO_COLUMN_BYTES, 2, NULL, false, 127.5, 1 / 127.5},
    {"colour", SOTTO_COLUMN_CATEGORY, 4, fixture_colours, false, 0, 0},
    {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 0},
};

static const struct compose_part fixture_plain_part[] = {
    NUMBER_PART("features", "laplace", 2 * DECIMAL_UNIT, 1, 0, 1, 4096, 0),
    NUMBER_PART("features", "laplace", DECIMAL_UNIT, 1, 1, 2, 32, 0),
    SYMBOL_PART("features", "subset", DECIMAL_UNIT / 10, 1, {true, 2, 0}),
    SYMBOL_PART("both", "flip", 3 * DECIMAL_UNIT, 2, {true, 2, 0},
                {true, 3, 0}),
};

static const struct compose_spec fixture_plain = {
    .name = "plain",
    .campaign = "spring",
    .auxiliary = "not used",
    .eps = 7 * DECIMAL_UNIT,
    .column = fixture_column,
    .columns = FIXTURE_COLUMNS,
    .part = fixture_plain_part,
    .parts = 4,
};

static const float fixture_weight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const float fixture_bias[3] = {0, 0, 0};
static const struct layer fixture_layer = {3, 3, ACTIVATION_NONE,
                                           fixture_weight, fixture_bias};
static const struct compose_part fixture_encoded_part[] = {
    SYMBOL_PART("both", "flip", DECIMAL_UNIT, 2, {false, 0, 3}, {true, 3, 0}),
    NUMBER_PART("features", "laplace", DECIMAL_UNIT / 4, 3, 0, 1, 8, 0),
};
static const struct compose_spec fixture_encoded = {
    .name = "encoded",
    .campaign = "spring",
    .auxiliary = "none",
    .eps = 2 * DECIMAL_UNIT,
    .column = fixture_column,
    .columns = FIXTURE_COLUMNS,
    .layer = &fixture_layer,
    .layers = 1,
    .part = fixture_encoded_part,
    .parts = 2,
};

/* An image of 4 x 4, a skip over a pool. */
static const float fixture_image_weight[64] = {1, 0.5f, -1, 0.25f, 2, -0.5f};
static const struct schema_column fixture_image_column[] = {
    {"image", SOTTO_COLUMN_BYTES, 16, NULL, false, 127.5, 1.0 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 1},
};
static const struct layer fixture_image_layer[] = {
    {.in = 16,
     .out = 8,
     .activation = ACTIVATION_RELU,
     .weight = fixture_image_weight,
     .bias = fixture_image_weight + 18,
     .kind = LAYER_CONV,
     .height = 4,
     .width = 4,
     .channels = 1,
     .filters = 2,
     .kernel = 3,
     .stride = 2,
     .pad = 1},
    {.in = 8,
     .out = 8,
     .kind = LAYER_POOL_MAX,
     .height = 2,
     .width = 2,
     .channels = 2,
     .kernel = 3,
     .stride = 1,
     .pad = 1},
    {.in = 8,
     .out = 8,
     .activation = ACTIVATION_NONE,
     .weight = fixture_image_weight + 20,
     .bias = fixture_image_weight + 24,
     .kind = LAYER_CONV,
     .height = 2,
     .width = 2,
     .channels = 2,
     .filters = 2,
     .kernel = 1,
     .stride = 1,
     .from = {0, 2}},
    {.in = 8,
     .out = 2,
     .kind = LAYER_POOL_MEAN,
     .height = 2,
     .width = 2,
     .channels = 2,
     .kernel = 2,
     .stride = 1},
    {.in = 2,
     .out = 3,
     .activation = ACTIVATION_TANH,
     .weight = fixture_image_weight + 26,
     .bias = fixture_image_weight + 32},
};
static const struct compose_part fixture_image_part[] = {
    NUMBER_PART("features", "laplace", DECIMAL_UNIT, 1, 0, 3, 8, 0),
    SYMBOL_PART("label", "flip", DECIMAL_UNIT, 1, {true, 1, 0}),
};
__attribute__((unused)) static const struct compose_spec fixture_image = {
    .name = "image",
    .campaign = "spring",
    .auxiliary = "none",
    .eps = 2 * DECIMAL_UNIT,
    .column = fixture_image_column,
    .columns = 2,
    .layer = fixture_image_layer,
    .layers = 5,
    .part = fixture_image_part,
    .parts = 2,
};

static const struct schema_column fixture_numbers_column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1, 1.0 / 6},
    {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1, 1.0 / 6},
    {"c", SOTTO_COLUMN_BYTES, 2, NULL, false, 127.5, 1.0 / 255},
    {"d", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1, 1.0 / 3},
    {"e", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1, 1.0 / 3},
    {"f", SOTTO_COLUMN_NUMBER, 1, NULL, false, 1, 1.0 / 3},
};
static const struct compose_part fixture_numbers_part[] = {
    NUMBER_PART("features", "gaussian", DECIMAL_UNIT, 1, 0, 4, 64, 1500000),
    NUMBER_PART("features", "duchi", 2 * DECIMAL_UNIT, 1, 4, 2, 1000, 0),
    NUMBER_PART("label", "window", DECIMAL_UNIT, 1, 6, 1, 500, 0),
};
static const struct compose_spec fixture_numbers = {
    .name = "numbers",
    .campaign = "autumn",
    .auxiliary = "not used",
    .eps = 4 * DECIMAL_UNIT,
    .column = fixture_numbers_column,
    .columns = 6,
    .part = fixture_numbers_part,
    .parts = 3,
};

static inline struct sotto_mechanism *
fixture_open(const struct compose_spec *spec)
{
    struct sotto_error err;
    struct sotto_mechanism *mechanism = NULL;
    if (compose_open(spec, &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return mechanism;
}

/* A record of the columns above; the texts must stay. */
static inline void
fixture_record(double age, const uint8_t pixels[2], const char *colour,
               const char *label, struct sotto_value ret[FIXTURE_COLUMNS])
{
    ret[0] = (struct sotto_value){.kind = SOTTO_VALUE_NUMBER, .number = age};
    ret[1] = (struct sotto_value){
        .kind = SOTTO_VALUE_BYTES, .data = pixels, .size = 2};
    ret[2] = (struct sotto_value){
        .kind = SOTTO_VALUE_TEXT, .data = colour, .size = strlen(colour)};
    ret[3] = (struct sotto_value){
        .kind = SOTTO_VALUE_TEXT, .data = label, .size = strlen(label)};
}

/* Report number `stream` of the seed 7, of a record like any other. */
static inline void
fixture_report(struct sotto_mechanism *mechanism, uint64_t stream,
               uint8_t *report, size_t size)
{
    static const uint8_t pixels[2] = {10, 200};
    struct sotto_value values[FIXTURE_COLUMNS];
    fixture_record(30, pixels, "red", "yes", values);
    assert_int_equal(sotto_simulate(mechanism, 7, stream, values,
                                    FIXTURE_COLUMNS, report, size),
                     SOTTO_STATUS_OK);
}

static inline void
fixture_in(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("'%s' is not in '%s'", piece, text);
    }
}

#endif
