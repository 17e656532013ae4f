/*
 * learn_codebook.h: a small codebook mechanism: columns a and b, numbers from
 * -1 to 1, and a label (no, yes, other); a layer gives three scores of (a, b),
 * and the largest is the code.
 */
#ifndef SOTTO_TESTS_LEARN_CODEBOOK_H
#define SOTTO_TESTS_LEARN_CODEBOOK_H

#include "mechanism/compose.h"
#include "mechanism/mechanism.h"

static const char *const codebook_labels[] = {"no", "yes"};
static const struct schema_column codebook_column[] = {
    {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
    {"label", SOTTO_COLUMN_CATEGORY, 3, codebook_labels, false, 0, 0},
};
static const float codebook_weight[] = {1, 0, -1, 0, 0, 1};
static const float codebook_bias[3] = {0};

static inline struct sotto_mechanism *
codebook_open(const struct compose_part *part, size_t parts, uint64_t eps)
{
    const struct layer layer = {.in = 2,
                                .out = 3,
                                .weight = codebook_weight,
                                .bias = codebook_bias,
                                .activation = ACTIVATION_NONE};
    const struct compose_spec spec = {.name = "codebook",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = eps,
                                      .column = codebook_column,
                                      .columns = 3,
                                      .layer = &layer,
                                      .layers = 1,
                                      .part = part,
                                      .parts = parts};
    struct sotto_mechanism *mechanism = NULL;
    must(compose_open(&spec, &mechanism, &err));
    return mechanism;
}

/* A part about pairs; or one about codes and one about labels. */
static inline struct sotto_mechanism *
open_codebook(uint64_t eps, bool pairs)
{
    const struct compose_part both = {.covers = "both",
                                      .channel = "subset",
                                      .eps = eps,
                                      .blocks = 1,
                                      .factor = {{false, 0, 3}, {true, 2, 0}},
                                      .factors = 2};
    const struct compose_part apart[] = {{.covers = "features",
                                          .channel = "subset",
                                          .eps = eps,
                                          .blocks = 1,
                                          .factor = {{false, 0, 3}},
                                          .factors = 1},
                                         {.covers = "label",
                                          .channel = "flip",
                                          .eps = eps,
                                          .blocks = 1,
                                          .factor = {{true, 2, 0}},
                                          .factors = 1}};
    return pairs ? codebook_open(&both, 1, eps)
                 : codebook_open(apart, 2, 2 * eps);
}

/* Numbers and a label: no code. */
static inline struct sotto_mechanism *
open_no_codebook(void)
{
    const struct compose_part part[] = {{.covers = "features",
                                         .channel = "laplace",
                                         .eps = DECIMAL_UNIT,
                                         .blocks = 1,
                                         .d = 3,
                                         .l = 8},
                                        {.covers = "label",
                                         .channel = "flip",
                                         .eps = DECIMAL_UNIT,
                                         .blocks = 1,
                                         .factor = {{true, 2, 0}},
                                         .factors = 1}};
    return codebook_open(part, 2, 2 * DECIMAL_UNIT);
}

#endif
