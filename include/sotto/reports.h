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
struct sotto_report_block; /* below */
/* The same of a stream's block, whose reports have been checked. */
SOTTO_CHECKED enum sotto_status
sotto_report_writer_add_block(struct sotto_report_writer *writer,
                              const struct sotto_report_block *block,
                              struct sotto_error *err);
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
/*
 * Adds the reports of another reader, of the same mechanism, behind its own. A
 * report that both have is kept once and counts as repeated; two readers of one
 * campaign can be joined so, whatever their files share. `name` stands in
 * messages for the other's file. On failure the reader is as it was. Statuses:
 * INPUT (another mechanism; two different reports with one id), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_report_reader_join(struct sotto_report_reader *reader,
                         const struct sotto_report_reader *other,
                         const char *name, struct sotto_error *err);
size_t sotto_report_reader_count(const struct sotto_report_reader *reader);
/* How many copies of reports were dropped: they are not in the count. */
size_t sotto_report_reader_repeated(const struct sotto_report_reader *reader);
/* Report i, from 0: points into the reader. */
const uint8_t *sotto_report_reader_at(const struct sotto_report_reader *reader,
                                      size_t i);
void sotto_report_reader_free(struct sotto_report_reader *reader);

/* ---- One block after the other ------------------------------------------- */

/*
 * Reports as they are read, in memory that does not depend on how many there
 * are: a batch of a collector's, or a piece of a file, at a time.
 *
 *     struct sotto_report_block block;
 *     while ((status = sotto_report_stream_next(stream, &block, &err)) ==
 *                SOTTO_STATUS_OK && block.count > 0) {
 *         sotto_estimate_add_block(estimate, &block);
 *     }
 *
 * Each report has been checked. Of several files, or of one, a report that came
 * more than once, byte for byte, is given once: for that about 16 bytes of each
 * are kept. What a collector has released has none that came twice.
 */
struct sotto_report_stream;
struct sotto_report_block {
    const uint8_t *reports; /* one behind the other, until the next call */
    size_t count;           /* 0: there are no more */
    uint64_t batch; /* the collector's number of the batch that they are of; 0:
                       they are of a file */
};

/*
 * All reports of some files, in either form, told from the content; "-" is
 * standard input. Nothing is read of a file before the ones in front of it are
 * at their end. Statuses: IO, MEMORY, USAGE (standard input twice); those of
 * reading come from sotto_report_stream_next.
 */
SOTTO_CHECKED enum sotto_status
sotto_report_stream_new(const struct sotto_mechanism *mechanism,
                        const char *const *path, size_t paths,
                        struct sotto_report_stream **ret_stream,
                        struct sotto_error *err);
/* The next ones. Statuses: as of sotto_report_reader_new, and of what is read
   from: sotto_store_stream, sotto_gather_stream. After a failure it is done. */
SOTTO_CHECKED enum sotto_status
sotto_report_stream_next(struct sotto_report_stream *stream,
                         struct sotto_report_block *ret_block,
                         struct sotto_error *err);
void sotto_report_stream_free(struct sotto_report_stream *stream);

#define SOTTO_STREAM_DAMAGED_MOST 16u

/* What came so far. */
struct sotto_report_seen {
    uint64_t reports;   /* given */
    uint64_t simulated; /* of these */
    uint64_t repeated;  /* copies that were left out */
    uint64_t damaged;   /* left out because the collector's store, or what came
                           of it, is damaged there */
    size_t damaged_batches;                            /* in so many batches: */
    uint64_t damaged_batch[SOTTO_STREAM_DAMAGED_MOST]; /* the first of these */
    size_t unread_batches; /* that cannot be read at all: passed over */
    uint64_t unread_batch[SOTTO_STREAM_DAMAGED_MOST]; /* the first of these */
    uint64_t batches;    /* read; 0: they are of files */
    uint64_t last_batch; /* its number: go on behind it */
};
void sotto_report_stream_seen(const struct sotto_report_stream *stream,
                              struct sotto_report_seen *ret_seen);

/*
 * All that is left of a stream, for what needs reports at any place: memory is
 * that of the reports. `sorted`: by their payloads, so that the same reports
 * give the same order, whatever batches they came in. Statuses:
 * sotto_report_stream_next's.
 */
SOTTO_CHECKED enum sotto_status
sotto_report_stream_collect(struct sotto_report_stream *stream, bool sorted,
                            struct sotto_report_reader **ret_reader,
                            struct sotto_error *err);

/* ---- Files for other tools ------------------------------------------------
 */

/*
 * What a stream of reports is written as.
 *
 *     BINARY, JSONL    what sotto reads again: with ids, which are a device's
 *                      in a device's file, and random keys of the release in
 *                      what a collector gave
 *     CSV, PARQUET     for other tools: without an id; the number of the batch,
 *                      whether it is simulated, and a column for each thing
 *                      that is reported (docs/export.md)
 */
enum sotto_report_form {
    SOTTO_FORM_BINARY = 0,
    SOTTO_FORM_JSONL = 1,
    SOTTO_FORM_CSV = 2,
    SOTTO_FORM_PARQUET = 3
};
/* The form of that name ("binary", "jsonl", "csv", "parquet"); false: none. */
bool sotto_report_form_named(const char *name, enum sotto_report_form *ret);
/* The form that a file's name ends in, BINARY if in none of the others. */
enum sotto_report_form sotto_report_form_of(const char *path);

struct sotto_report_export;
/* Begins the file at `path`. The mechanism must outlive it. Statuses: IO,
   MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_report_export_new(const struct sotto_mechanism *mechanism,
                        const char *path, enum sotto_report_form form,
                        struct sotto_report_export **ret_export,
                        struct sotto_error *err);
/* Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_report_export_add(struct sotto_report_export *to,
                        const struct sotto_report_block *block,
                        struct sotto_error *err);
/* Completes the file, with what the stream has seen, and frees; without it
   nothing is left behind. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_report_export_commit(struct sotto_report_export *to,
                           const struct sotto_report_seen *seen,
                           struct sotto_error *err);
void sotto_report_export_free(struct sotto_report_export *to);

/* ---- What a report says ---------------------------------------------------
 */

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

/* Means and frequencies from reports: of all people unbiased, but for what
   counts as another value (struct sotto_estimate_row); of those who have a
   value the ratio of two unbiased means. */
struct sotto_estimate;
SOTTO_CHECKED enum sotto_status
sotto_estimate_new(const struct sotto_mechanism *mechanism,
                   struct sotto_estimate **ret_estimate,
                   struct sotto_error *err);
void sotto_estimate_free(struct sotto_estimate *estimate);
void sotto_estimate_add(struct sotto_estimate *estimate, const uint8_t *report);

/* All of a stream's block, many times faster. */
void sotto_estimate_add_block(struct sotto_estimate *estimate,
                              const struct sotto_report_block *block);

/* What becomes of a missing value in an estimate. */
enum sotto_estimate_missing {
    SOTTO_MISSING_NONE = 0,   /* the estimate says nothing of that: a category,
                                 which has symbols for it, or an encoder's */
    SOTTO_MISSING_MIDDLE = 1, /* it counts as the middle of the range: the mean
                                 of all people, and of no others */
    SOTTO_MISSING_TOLD = 2    /* it is told apart: the mean of those who have a
                                 value, or, with a category, the share of those
                                 who have none */
};

/*
 * One line of the result: the mean of a number, of values clipped to the range
 * and rounded to its steps, or the frequency of a category (or of a
 * combination of categories), or of no value, as category "(missing)". Where
 * the mechanism tells what is missing, a mean is of those who have a value, and
 * its interval Fieller's (docs/missing.md), which is not symmetric, and
 * `unbounded` where the share of those who have one cannot be told from 0. Any
 * other interval is about `value` and never narrower than z noise_deviation on
 * either side:
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
    enum sotto_estimate_missing missing;
    bool unbounded; /* nothing is ruled out: `low` and `high` are infinite, and
                       `value` is a NaN if nobody seems to have one */
};
size_t sotto_estimate_rows(const struct sotto_estimate *estimate);
/* Row i at the confidence where a normal interval is z standard errors to
   either side (1.96 for 95%). With fewer than two reports the interval is
   infinite. */
void sotto_estimate_row(const struct sotto_estimate *estimate, size_t i,
                        double z, struct sotto_estimate_row *ret_row);

/*
 * How far liars can move an estimate: the most by which it can differ from what
 * the others' reports say, if a share of all reports is lies, and on average
 * from what all would have said (docs/liars.md). INFINITY: anywhere. In the
 * estimate's own units, to either side.
 */
struct sotto_reach {
    double forged;   /* reports that no device made, each the worst there is */
    double answered; /* false answers, on devices that do as they should */
};
/* Of row i, if a share of the reports, from 0 and below 1, is lies. */
void sotto_estimate_reach(const struct sotto_estimate *estimate, size_t i,
                          double liars, struct sotto_reach *ret_reach);

/*
 * Margins: where a report is about a combination (a code and a label, two
 * columns), the frequencies of each alone. Of a column they are from all
 * reports, whichever codebook they were asked by; of a code from those of its
 * codebook. Their intervals are Wilson's, narrower than those of the summed
 * combinations' would be. Mechanisms without combinations have no rows, nor
 * have reports of signs, which tell only how the two go together. Statuses:
 * MEMORY.
 */
struct sotto_margins;
SOTTO_CHECKED enum sotto_status
sotto_margins_new(const struct sotto_mechanism *mechanism,
                  struct sotto_margins **ret_margins, struct sotto_error *err);
void sotto_margins_free(struct sotto_margins *margins);
void sotto_margins_add(struct sotto_margins *margins, const uint8_t *report);
void sotto_margins_add_block(struct sotto_margins *margins,
                             const struct sotto_report_block *block);
size_t sotto_margins_rows(const struct sotto_margins *margins);
/* As sotto_estimate_row. Rows of one column or codebook have one name and
   stand together. */
void sotto_margins_row(const struct sotto_margins *margins, size_t i, double z,
                       struct sotto_estimate_row *ret_row);

void sotto_margins_reach(const struct sotto_margins *margins, size_t i,
                         double liars, struct sotto_reach *ret_reach);

/*
 * Makes frequencies of all categories shares: the nearest numbers, in squared
 * distance, of which none is below 0 and whose sum is 1. That is biased: small
 * shares come out too large on average, if less far off. n > 0.
 */
void sotto_shares_project(double *share, size_t n);

/* ---- Distributions --------------------------------------------------------
 */

/*
 * The distribution of a number among those who have a value: quantiles, and the
 * shares of bins, from reports through laplace. Not unbiased: found
 * by maximum likelihood among all distributions on a grid of the range, with
 * intervals by the likelihood ratio, which hold no less often than they say
 * (docs/missing.md).
 */
struct sotto_distribution;
/*
 * Of one column; `bins` of equal width cut its range, at least 1. Statuses:
 * INPUT (the column is no number that goes by itself, or with what says that it
 * is missing, through laplace, or has too few steps), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_distribution_new(const struct sotto_mechanism *mechanism, size_t column,
                       size_t bins, struct sotto_distribution **ret,
                       struct sotto_error *err);
void sotto_distribution_free(struct sotto_distribution *distribution);
void sotto_distribution_add(struct sotto_distribution *distribution,
                            const uint8_t *report);

struct sotto_distribution_row {
    double from, to; /* of a bin */
    double value;
    double low, high; /* the interval at the asked confidence */
};
/* The quantile of that level, above 0 and below 1, in the column's units; its
   interval is at most the range. z as sotto_estimate_row has it. */
void sotto_distribution_quantile(struct sotto_distribution *distribution,
                                 double level, double z,
                                 struct sotto_distribution_row *ret_row);
/* The share of those who have a value whose value lies in a bin. */
void sotto_distribution_bin(struct sotto_distribution *distribution, size_t bin,
                            double z, struct sotto_distribution_row *ret_row);

/* How far liars can move either, as sotto_estimate_reach has it; at most the
   range, or 1. */
void sotto_distribution_quantile_reach(struct sotto_distribution *distribution,
                                       double level, double liars,
                                       struct sotto_reach *ret_reach);
void sotto_distribution_bin_reach(struct sotto_distribution *distribution,
                                  size_t bin, double liars,
                                  struct sotto_reach *ret_reach);

#ifdef __cplusplus
}
#endif

#endif
