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
    size_t columns; /* that have a distribution, and which they are */
    size_t *column;
    struct sotto_distribution **distribution;
};

/* Reads both options; false, and a message, for a value they do not take. */
bool decode_shapes_read(const struct cli_args *args,
                        struct decode_shapes *ret_shapes);
/* Whether one of them was given. */
bool decode_shapes_wanted(const struct decode_shapes *shapes);
/* Begins to count for every number column that has a distribution, and says
   which has none. The exit status. */
int decode_shapes_start(struct decode_shapes *shapes,
                        const struct sotto_mechanism *mechanism);
void decode_shapes_add(struct decode_shapes *shapes,
                       const struct sotto_report_block *block,
                       size_t report_size);
/* Prints what was asked for of each of them. */
void decode_shapes_put(const struct decode_shapes *shapes,
                       const struct sotto_mechanism *mechanism,
                       uint64_t reports, double confidence, FILE *to);
void decode_shapes_clear(struct decode_shapes *shapes);

#endif
