/*
 * precision_simulate.c: the formula for shares and means beside simulated
 * collections.
 *
 * Every collection draws people from the table, with replacement, so that the
 * table is the population and its own values are the truth. Reports are those
 * of the mechanism itself, from seeded noise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/mechanism.h"
#include "mechanism/precision.h"
#include "random/draw.h"
#include "random/seeded.h"

#define STREAM (UINT64_C(0x706c616e) << 16) /* of who is drawn */

struct rehearsal {
    const struct sotto_precision *precision;
    struct sotto_mechanism *mechanism;
    struct sotto_records *records;
    struct sotto_estimate *estimate;
    uint8_t *report;
    double squares; /* of error / deviation */
    size_t count;
};

/* One collection of `people` of `rows`. */
static enum sotto_status
collect(struct rehearsal *rehearsal, size_t rows, size_t people, uint64_t seed,
        size_t draw)
{
    size_t columns = sotto_records_columns(rehearsal->records);
    enum sotto_status status = SOTTO_STATUS_OK;
    struct seeded seeded;
    seeded_init(&seeded, seed, STREAM + draw);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < people; i++) {
        size_t row = draw_below(&seeded.random, (uint32_t)rows);
        status = sotto_simulate(rehearsal->mechanism, seed, draw * people + i,
                                sotto_records_at(rehearsal->records, row),
                                columns, rehearsal->report,
                                rehearsal->mechanism->shape.report_size);
        if (status == SOTTO_STATUS_OK) {
            sotto_estimate_add(rehearsal->estimate, rehearsal->report);
        }
    }
    return status;
}

/* The first row of estimates that is about the question; SIZE_MAX: none. */
static size_t
find_row(const struct sotto_estimate *estimate,
         const struct precision_question *question)
{
    for (size_t i = 0; i < sotto_estimate_rows(estimate); i++) {
        struct sotto_estimate_row row;
        sotto_estimate_row(estimate, i, 1, &row);
        if (strcmp(row.name, question->name) == 0 &&
            (row.category != NULL) ==
                (question->categories > 0 || question->missing)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void
compare(struct rehearsal *rehearsal, const struct precision_question *question,
        size_t people)
{
    size_t first = find_row(rehearsal->estimate, question);
    size_t count = question->categories > 0 ? question->categories : 1;
    for (size_t i = 0; first != SIZE_MAX && i < count; i++) {
        struct sotto_estimate_row row;
        double share = question->categories > 0 ? question->shares[i] : 0;
        double truth = question->categories > 0 ? share : question->mean;
        sotto_estimate_row(rehearsal->estimate, first + i, 1, &row);
        double off = (row.value - truth) /
                     precision_deviation(question, share, (double)people);
        rehearsal->squares += off * off;
        rehearsal->count++;
    }
}

static enum sotto_status
simulate_one(struct rehearsal *rehearsal, const struct sotto_table *table,
             size_t people, uint64_t seed, size_t draw, struct sotto_error *err)
{
    enum sotto_status status =
        sotto_estimate_new(rehearsal->mechanism, &rehearsal->estimate, err);
    if (status == SOTTO_STATUS_OK &&
        collect(rehearsal, sotto_table_rows(table), people, seed, draw) !=
            SOTTO_STATUS_OK) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the table's records do not fit the mechanism");
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK &&
                       i < sotto_precision_rows(rehearsal->precision);
         i++) {
        const struct precision_question *question =
            precision_at(rehearsal->precision, i);
        if (question->told && question->known && !question->part_of_pair) {
            compare(rehearsal, question, people);
        }
    }
    sotto_estimate_free(rehearsal->estimate);
    rehearsal->estimate = NULL;
    return status;
}

enum sotto_status
sotto_precision_simulate(const struct sotto_precision *precision,
                         struct sotto_mechanism *mechanism,
                         const struct sotto_table *table, size_t people,
                         size_t draws, uint64_t seed, double *ret_ratio,
                         struct sotto_error *err)
{
    struct rehearsal rehearsal = {.precision = precision,
                                  .mechanism = mechanism};
    enum sotto_status status =
        sotto_records_new(mechanism, table, &rehearsal.records, err);
    if (status == SOTTO_STATUS_OK) {
        rehearsal.report = calloc(1, mechanism->shape.report_size);
        status =
            rehearsal.report != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < draws; i++) {
        status = simulate_one(&rehearsal, table, people, seed, i, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_ratio = rehearsal.count > 0
                         ? sqrt(rehearsal.squares / (double)rehearsal.count)
                         : 0;
    }
    sotto_records_free(rehearsal.records);
    free(rehearsal.report);
    return status;
}
