/*
 * sotto/reports.h: what devices send: writing, reading and simulating reports,
 * and the means and frequencies that they estimate.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_REPORTS_H
#define SOTTO_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reports ------------------------------------------------------------- */

/* Writing reports: binary, or JSON Lines if the path ends in .jsonl. */
struct sotto_report_writer;
SOTTO_CHECKED enum sotto_status sotto_report_writer_new(
    const struct sotto_mechanism *mechanism, const char *path,
    struct sotto_report_writer **ret_writer, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_report_writer_add(struct sotto_report_writer *writer,
                        const uint8_t *report, struct sotto_error *err);
/* Completes the file and frees; without it nothing is left behind. */
SOTTO_CHECKED enum sotto_status
sotto_report_writer_commit(struct sotto_report_writer *writer,
                           struct sotto_error *err);
void sotto_report_writer_free(struct sotto_report_writer *writer);

/*
 * Reading them back, from either form (told from the content), each checked.
 * A report that came more than once, byte for byte, is kept once, at its first
 * place. Messages name the file and the report (and line). Statuses: IO, INPUT
 * (another mechanism, malformed, out of range, two different reports with one
 * id), MEMORY, LIMIT.
 */
struct sotto_report_reader;
SOTTO_CHECKED enum sotto_status sotto_report_reader_new(
    const struct sotto_mechanism *mechanism, const char *path,
    struct sotto_report_reader **ret_reader, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_report_reader_parse(const struct sotto_mechanism *mechanism,
                          const void *data, size_t size, const char *name,
                          struct sotto_report_reader **ret_reader,
                          struct sotto_error *err);
size_t sotto_report_reader_count(const struct sotto_report_reader *reader);
/* How many copies of reports were dropped: they are not in the count. */
size_t sotto_report_reader_repeated(const struct sotto_report_reader *reader);
/* Report i, from 0: points into the reader. */
const uint8_t *sotto_report_reader_at(const struct sotto_report_reader *reader,
                                      size_t i);
void sotto_report_reader_free(struct sotto_report_reader *reader);

/* A report's random identifier: SOTTO_ID_SIZE bytes inside it. */
const uint8_t *sotto_report_id(const uint8_t *report);
/* Whether a seeded generator made it: never to be sent (invariant 3). */
bool sotto_report_simulated(const uint8_t *report);
/* The codebook that its lot asked, from 0; 0 where there is no lot. */
size_t sotto_report_book(const struct sotto_mechanism *mechanism,
                         const uint8_t *report);
/* One block's integers: sotto_part_info's `values` of them. */
void sotto_report_values(const struct sotto_mechanism *mechanism,
                         const uint8_t *report, size_t part, size_t block,
                         int64_t *ret_values);
/* A report as one JSON object without a line break; the caller frees it. */
SOTTO_CHECKED enum sotto_status
sotto_report_json(const struct sotto_mechanism *mechanism,
                  const uint8_t *report, char **ret_text,
                  struct sotto_error *err);

/*
 * A simulated report of a record, for experiments: the same samplers fed by a
 * seeded generator; (seed, stream) decide it, whatever else runs. The report
 * says that it is simulated. Statuses: SIZE.
 */
SOTTO_CHECKED enum sotto_status
sotto_simulate(struct sotto_mechanism *mechanism, uint64_t seed,
               uint64_t stream, const struct sotto_value *values, size_t count,
               uint8_t *report, size_t size);

/* ---- Estimates ----------------------------------------------------------- */

/* Means and frequencies, unbiased, from reports. */
struct sotto_estimate;
SOTTO_CHECKED enum sotto_status
sotto_estimate_new(const struct sotto_mechanism *mechanism,
                   struct sotto_estimate **ret_estimate,
                   struct sotto_error *err);
void sotto_estimate_free(struct sotto_estimate *estimate);
void sotto_estimate_add(struct sotto_estimate *estimate, const uint8_t *report);

/*
 * One line of the result: the mean of a number, of values clipped to the range
 * and rounded to its steps, or the frequency of a category (or of a
 * combination of categories). The interval is about `value` and never narrower
 * than z noise_deviation on either side:
 *
 *     a frequency   Wilson's score interval, the farther end on both sides: it
 *                   holds for a category that no report names, too
 *     a mean        Student's interval from the reports' own spread, or the
 *                   normal one from the noise alone if that is wider; widened
 *                   by what clamping can do and by the rounding, half a step
 *                   (where d > 1, a step on a lattice and in a ball)
 *
 * It speaks of the people the reports are a random sample of.
 */
struct sotto_estimate_row {
    const char *name;     /* the column, or "part P[i]" behind an encoder */
    const char *category; /* NULL for a mean */
    double value;
    double low, high;       /* the interval at the asked confidence */
    double noise_deviation; /* of `value`, from the channel's noise alone */
};
size_t sotto_estimate_rows(const struct sotto_estimate *estimate);
/* Row i at the confidence where a normal interval is z standard errors to
   either side (1.96 for 95%). With fewer than two reports the interval is
   infinite. */
void sotto_estimate_row(const struct sotto_estimate *estimate, size_t i,
                        double z, struct sotto_estimate_row *ret_row);

#ifdef __cplusplus
}
#endif

#endif
