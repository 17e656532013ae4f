/*
 * codes_fixture.h: reports about pairs of a code and a label, drawn from a
 * known table.
 */
#ifndef SOTTO_TESTS_CODES_FIXTURE_H
#define SOTTO_TESTS_CODES_FIXTURE_H

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
#include "host/pool.h"
#include "learn/codes/cells.h"
#include "random/draw.h"
#include "random/seeded.h"

static struct sotto_error err;

static inline void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* cells, classes and one symbol more; pi and tau are the truth. */
struct crowd {
    struct channel_instance instance, label;
    struct likelihood_instance code, label_code;
    uint64_t own[256], label_own[256];
    struct codes_shape shape;
    double pi[2048], tau[16384], even[64];
    uint32_t right[2048]; /* the likeliest label of each cell */
    uint8_t *wire;
    const uint8_t **report;
    size_t reports;
};

/*
 * Cells of equal size, or with sizes from 1 to 2 (`uneven`); labels in turn,
 * by lot; `purity` of a cell has its label, the rest is spread evenly, and
 * cells differ from `purity` by up to `spread`.
 */
static inline void
crowd_table(struct crowd *crowd, size_t cells, size_t classes, double purity,
            double spread, bool uneven, uint64_t seed)
{
    struct seeded seeded;
    double sum = 0;
    seeded_init(&seeded, seed, 1);
    for (size_t c = 0; c < cells; c++) {
        crowd->pi[c] = uneven ? 1 + draw_below(&seeded.random, 1000) / 1e3 : 1;
        sum += crowd->pi[c];
        crowd->right[c] = (uint32_t)(c % classes);
    }
    for (size_t c = cells; c > 1; c--) {
        size_t d = draw_below(&seeded.random, (uint32_t)c);
        uint32_t held = crowd->right[c - 1];
        crowd->right[c - 1] = crowd->right[d];
        crowd->right[d] = held;
    }
    for (size_t c = 0; c < cells; c++) {
        double p =
            purity + spread * (draw_below(&seeded.random, 2001) / 1e3 - 1);
        crowd->pi[c] /= sum;
        for (size_t y = 0; y < classes; y++) {
            crowd->tau[c * classes + y] =
                y == crowd->right[c] ? p : (1 - p) / (double)(classes - 1);
        }
    }
    for (size_t y = 0; y < classes; y++) {
        crowd->even[y] = 1 / (double)classes;
    }
}

/* A symbol by shares that add up to 1. */
static inline size_t
draw_of(struct random *random, const double *share, size_t count)
{
    double at = random_u32(random) / 4294967296.0;
    size_t i = 0;
    while (i + 1 < count && (at -= share[i]) >= 0) {
        i++;
    }
    return i;
}

/* Reports by a channel on pairs; with `label_eps`, by one on codes and one on
   labels. */
static inline void
crowd_report(struct crowd *crowd, const char *channel, double eps,
             double label_eps, size_t cells, size_t classes, size_t reports,
             uint64_t seed)
{
    const struct channel *kind =
        channel_find(channel_exact, channel, strlen(channel));
    bool apart = label_eps > 0;
    uint32_t symbols = (uint32_t)classes + 1;
    uint32_t size = (uint32_t)cells * (apart ? 1 : symbols);
    struct seeded seeded;
    size_t wire;
    seeded_init(&seeded, seed, 2);
    assert_true(kind->own_size <= sizeof crowd->own);
    must(channel_init(&crowd->instance, kind, size, (uint32_t)cells, 0,
                      (uint64_t)(eps * (double)DECIMAL_UNIT), 0, crowd->own));
    must(likelihood_init(&crowd->code, &crowd->instance));
    wire = crowd->instance.wire_size;
    crowd->shape = (struct codes_shape){.code = &crowd->code,
                                        .books = 1,
                                        .cells = cells,
                                        .symbols = symbols,
                                        .classes = classes};
    if (apart) {
        must(channel_init(&crowd->label, kind, symbols, 0, 0,
                          (uint64_t)(label_eps * (double)DECIMAL_UNIT), 0,
                          crowd->label_own));
        must(likelihood_init(&crowd->label_code, &crowd->label));
        crowd->shape.label = &crowd->label_code;
        crowd->shape.label_offset = wire;
        wire += crowd->label.wire_size;
    }
    crowd->reports = reports;
    crowd->wire = calloc(reports, wire);
    crowd->report = calloc(reports, sizeof *crowd->report);
    for (size_t i = 0; i < reports; i++) {
        size_t c = draw_of(&seeded.random, crowd->pi, cells);
        size_t y = draw_of(&seeded.random, crowd->tau + c * classes, classes);
        int32_t q = (int32_t)(apart ? c : c * symbols + y);
        int32_t l = (int32_t)y;
        uint8_t *to = crowd->wire + i * wire;
        kind->sample(&crowd->instance, &q, &seeded.random, to);
        if (apart) {
            kind->sample(&crowd->label, &l, &seeded.random,
                         to + crowd->shape.label_offset);
        }
        crowd->report[i] = to;
    }
}

static inline void
crowd_clear(struct crowd *crowd)
{
    free(crowd->wire);
    free(crowd->report);
    crowd->wire = NULL;
    crowd->report = NULL;
}

static inline size_t
largest(const double *row, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = row[i] > row[best] ? i : best;
    }
    return best;
}

/* People labelled rightly if every cell gets the largest of its row. */
static inline double
accuracy(const struct crowd *crowd, const double *table)
{
    size_t classes = crowd->shape.classes;
    double sum = 0;
    for (size_t c = 0; c < crowd->shape.cells; c++) {
        sum += crowd->pi[c] *
               crowd->tau[c * classes + largest(table + c * classes, classes)];
    }
    return sum;
}

/* The channel's unbiased counts of pairs. */
static inline void
count_pairs(const struct crowd *crowd, double *ret_count)
{
    size_t classes = crowd->shape.classes, symbols = crowd->shape.symbols;
    double *room = calloc(crowd->instance.size, sizeof *room);
    memset(ret_count, 0, crowd->shape.cells * classes * sizeof *ret_count);
    for (size_t i = 0; i < crowd->reports; i++) {
        crowd->code.likelihood->estimate(&crowd->code, crowd->report[i], room);
        for (size_t p = 0; p < crowd->shape.cells * classes; p++) {
            ret_count[p] += room[p / classes * symbols + p % classes];
        }
    }
    free(room);
}

#endif
