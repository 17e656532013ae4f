/*
 * decode_shapes.h: decode --quantiles and --histogram.
 */
#ifndef SOTTO_VERB_DECODE_SHAPES_H
#define SOTTO_VERB_DECODE_SHAPES_H

#include <stdio.h>

#include "cli/cli.h"
#include "sotto/sotto.h"

#define DECODE_LEVELS_MAX 16u

struct decode_shapes {
    double level[DECODE_LEVELS_MAX];
    size_t levels;
    size_t bins; /* 0: no histogram */
    bool json;
};

/* Reads both options; false, and a message, for a value they do not take. */
bool decode_shapes_read(const struct cli_args *args,
                        struct decode_shapes *ret_shapes);
/* Whether one of them was given. */
bool decode_shapes_wanted(const struct decode_shapes *shapes);
/* Prints what was asked for of every number column that has it. */
int decode_shapes(const struct decode_shapes *shapes,
                  const struct sotto_mechanism *mechanism,
                  const struct sotto_report_reader *reader, double confidence,
                  FILE *to);

#endif
