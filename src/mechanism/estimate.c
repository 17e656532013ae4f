/*
 * estimate.c: means and frequencies from reports.
 *
 * Every entry of every channel's estimator gets a row, with the mean and the
 * sum of squares of what the reports say, from whole numbers (tally.h): they
 * are the same in whatever order reports come. The estimators are unbiased, so
 * the mean is; a frequency may come out below 0 or above 1, and is not clipped:
 * that would make small ones too large on average. (The mean of those who have
 * a value is a ratio of two such: ratio.h.)
 *
 *     numbers   value = offset + unit mean   one row a coordinate of a block
 *     symbols   value = mean                 one row a symbol
 *
 * What is estimated is the mean of the points q of the domain: a number
 * beyond its range counts as the range's end, a missing one that is not told
 * apart as its middle, and each is rounded to a step of 1/l. The interval
 * allows for the rounding, and not for the clipping, which nobody but the
 * devices knows.
 *
 * Where reports are few or nearly all alike, their own spread says little: a
 * symbol that no report names has a spread of 0. The channel's noise is known,
 * so no interval is narrower than it makes it. With n reports and z:
 *
 *     symbols   the f between which |value - f| <= z sqrt(V(f) / n), where
 *               V(f) = f V_true + (1 - f) V_other + f (1 - f) is a report's
 *               variance if a share of f has the symbol: Wilson's interval
 *               (1927) for the rate at which it is named. The farther end is
 *               taken on both sides, and z sqrt(V_other / n) if that is more;
 *               and the bias, of a channel that sees only how two symbols go
 *               together.
 *     numbers   max(t s, z sigma) / sqrt(n) + bias + rounding, where s^2 is
 *               the reports' variance, sigma^2 the noise's, and t Student's
 *               quantile for n - 1 degrees of freedom at the level of z. Where
 *               the noise depends on the point, sigma^2 is its largest.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "likelihood/interval.h"
#include "mechanism/liars.h"
#include "mechanism/mechanism.h"
#include "mechanism/ratio.h"
#include "mechanism/tally.h"

#define ROWS_MOST ((size_t)1 << 22)
#define BOOK_ROWS_MOST (16 * (size_t)CHANNEL_K_MAX) /* of a part with books */
#define TEXT_MOST ((size_t)1 << 20) /* of one name or category */
#define CHARACTERS_MOST ((size_t)1 << 16)

struct row {
    const struct likelihood_instance *from; /* what its reports say */
    char *name;
    char *category; /* NULL for a mean */
    double offset, unit;
    double noise;    /* deviation of one report, in the channel's units */
    double bias;     /* likewise */
    double rounding; /* likewise: the most that rounding moves a point */
    double slope;    /* symbols: V_true - V_other + 1, see interval.h */
    size_t part, book, entry;
    bool number;  /* it is a column's number, and where it is missing */
    bool known;   /* the row behind it says so; else it is its middle */
    bool missing; /* the share of those of whom it is missing */
};

struct sotto_estimate {
    const struct sotto_mechanism *mechanism;
    size_t rows;
    struct row *row;
    struct tally *tally;
};

/* ---- Names -------------------------------------------------------------- */

/* The text, which is the caller's; NULL if memory gave out. */
static char *
finish(struct host_text *text)
{
    if (text->failed) {
        host_text_clear(text);
    }
    return text->data;
}

/* What says that a column's number is missing: 1 in x, l on the lattice. */
static bool
name_missing(const struct sotto_mechanism *mechanism, size_t part,
             size_t column, struct row *row)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    host_text_add(&name, "", 0);
    host_printable_add(&name, mechanism->shape.schema.column[column].name,
                       CHARACTERS_MOST);
    row->unit = 1 / (double)own->instance.l;
    row->missing = true;
    row->name = finish(&name);
    row->category = strdup(SCHEMA_MISSING);
    return row->name != NULL && row->category != NULL;
}

/* One coordinate of a point: a number's column, or a place in the part. */
static bool
name_coordinate(const struct sotto_mechanism *mechanism, size_t part,
                size_t index, struct row *row)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    size_t column = mechanism_source(mechanism, own->from + index);
    double l = own->instance.l;
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    row->unit = 1 / l;
    if (column == SIZE_MAX) {
        host_text_print(&name, "part %zu[%zu]", part + 1, index);
    } else {
        const struct schema_column *from =
            &mechanism->shape.schema.column[column];
        host_text_print(&name, "%s", from->log ? "log of " : "");
        host_printable_add(&name, from->name, CHARACTERS_MOST);
        row->number = true;
        row->offset = from->shift;
        row->unit = from->scale != 0 ? 1 / from->scale / l : 0; /* constant */
    }
    row->name = finish(&name);
    return row->name != NULL;
}

/* "column x column"; an encoder's outputs have the part's name. */
static char *
name_symbols(const struct sotto_mechanism *mechanism, size_t part, size_t book)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    for (uint32_t i = 0; i < own->factors; i++) {
        const struct report_factor *factor = &own->factor[i];
        host_text_print(&name, "%s", i > 0 ? " x " : "");
        if (factor->is_column) {
            host_printable_add(&name,
                               mechanism->shape.schema.column[factor->at].name,
                               CHARACTERS_MOST);
        } else {
            host_text_print(&name, "part %zu", part + 1);
        }
    }
    if (own->books > 0) {
        host_text_print(&name, " (book %zu)", book);
    }
    return finish(&name);
}

/* symbol = (s_1 k_2 + s_2) k_3 + s_3 ..., as report.c numbers them. */
static char *
name_category(const struct sotto_mechanism *mechanism,
              const struct report_part *part, uint32_t symbol)
{
    uint32_t weight = part->instance.size;
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    for (uint32_t i = 0; i < part->factors; i++) {
        uint32_t own;
        weight /= part->factor[i].k;
        own = symbol / weight;
        symbol %= weight;
        host_text_print(&name, "%s", i > 0 ? " x " : "");
        if (part->factor[i].is_column) {
            host_printable_add(
                &name,
                sotto_mechanism_category(mechanism, part->factor[i].at, own),
                CHARACTERS_MOST);
        } else if (part->factor[i].equal) {
            host_text_print(&name, "%s", own == 1 ? "equal" : "different");
        } else {
            host_text_print(&name, "code %u", own);
        }
    }
    return finish(&name);
}

/* ---- Rows --------------------------------------------------------------- */

static size_t
rows_of(const struct report_part *part)
{
    size_t books = part->books > 0 ? part->books : 1;
    return books * part->blocks * part->instance.size;
}

static bool
add_symbols(const struct sotto_mechanism *mechanism, size_t part,
            struct row *row)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    bool good = true;
    for (size_t i = 0; good && i < rows_of(own); i++) {
        row[i].unit = 1;
        row[i].name = name_symbols(mechanism, part, i / own->instance.size);
        row[i].category =
            name_category(mechanism, own, (uint32_t)(i % own->instance.size));
        good = row[i].name != NULL && row[i].category != NULL;
    }
    return good;
}

/* A number and what says that it is missing, behind it in the same part: the
   first is rounded as on a line, the other not at all, for it is 0 or 1. */
static void
join_pair(const struct sotto_mechanism *mechanism, size_t part, size_t at,
          struct row *row)
{
    row[0].known = true;
    if (mechanism_keeps_pair(mechanism, part, at)) {
        row[0].rounding -= row[0].rounding >= 1 ? 0.5 : 0;
        row[1].rounding = 0;
    }
}

static bool
add_part(const struct sotto_mechanism *mechanism, size_t part, struct row *row)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    const struct likelihood_instance *likelihood = &mechanism->likelihood[part];
    bool good = true;
    for (size_t i = 0; i < rows_of(own); i++) {
        row[i].from = likelihood;
        row[i].part = part;
        row[i].book = i / tally_entries(own);
        row[i].entry = i % tally_entries(own);
        row[i].noise = sqrt(likelihood->variance_other);
        row[i].bias = likelihood->bias;
        row[i].slope =
            likelihood->variance_true - likelihood->variance_other + 1;
        row[i].rounding = mechanism_rounding(&own->instance);
    }
    if (own->instance.channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        return add_symbols(mechanism, part, row);
    }
    for (size_t i = 0; good && i < rows_of(own); i++) {
        size_t column = mechanism_missing_source(mechanism, own->from + i);
        good = column != SIZE_MAX
                   ? name_missing(mechanism, part, column, &row[i])
                   : name_coordinate(mechanism, part, i, &row[i]);
        if (good && i > 0 && row[i].missing) {
            join_pair(mechanism, part, own->from + i - 1, &row[i - 1]);
        }
    }
    return good;
}

static size_t
count_rows(const struct report_plan *report)
{
    size_t rows = 0;
    for (uint32_t i = 0; i < report->parts; i++) {
        rows += rows_of(&report->part[i]);
    }
    return rows;
}

/* Refuses what a small file would make large: a part's symbols are limited when
   it is read, but its books multiply their rows, and parts add up. */
static enum sotto_status
check_rows(const struct report_plan *report, size_t rows,
           struct sotto_error *err)
{
    for (uint32_t i = 0; i < report->parts; i++) {
        const struct report_part *part = &report->part[i];
        if (part->books > 0 && rows_of(part) > BOOK_ROWS_MOST) {
            return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                             "part %u of this mechanism has %u codebooks of "
                             "%u symbols: more than %zu estimates of a part "
                             "with codebooks are not computed",
                             i + 1, part->books, part->instance.size,
                             BOOK_ROWS_MOST);
        }
    }
    return rows <= ROWS_MOST
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_LIMIT, 0,
                           "this mechanism would give %zu estimates: more than "
                           "%zu are not computed",
                           rows, ROWS_MOST);
}

enum sotto_status
sotto_estimate_new(const struct sotto_mechanism *mechanism,
                   struct sotto_estimate **ret_estimate,
                   struct sotto_error *err)
{
    const struct report_plan *report = mechanism->device.report;
    struct sotto_estimate *estimate;
    size_t at = 0, rows = count_rows(report);
    enum sotto_status status = check_rows(report, rows, err);
    bool good;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    estimate = calloc(1, sizeof *estimate);
    if (estimate == NULL) {
        return host_fail_memory(err);
    }
    estimate->mechanism = mechanism;
    estimate->row = calloc(rows, sizeof *estimate->row);
    good = estimate->row != NULL &&
           tally_new(mechanism, &estimate->tally, err) == SOTTO_STATUS_OK;
    estimate->rows = good ? rows : 0;
    for (uint32_t i = 0; good && i < report->parts; i++) {
        good = add_part(mechanism, i, &estimate->row[at]);
        at += rows_of(&report->part[i]);
    }
    if (!good) {
        sotto_estimate_free(estimate);
        return host_fail_memory(err);
    }
    *ret_estimate = estimate;
    return SOTTO_STATUS_OK;
}

void
sotto_estimate_free(struct sotto_estimate *estimate)
{
    if (estimate == NULL) {
        return;
    }
    for (size_t i = 0; i < estimate->rows; i++) {
        free(estimate->row[i].name);
        free(estimate->row[i].category);
    }
    free(estimate->row);
    tally_free(estimate->tally);
    free(estimate);
}

/* ---- Adding and looking ------------------------------------------------- */

/* What is no report of the mechanism is passed over: no channel could read
   it. */
void
sotto_estimate_add(struct sotto_estimate *estimate, const uint8_t *report)
{
    const struct report_plan *plan = estimate->mechanism->device.report;
    if (report_valid(plan, report, plan->size)) {
        tally_add(estimate->tally, report, 1);
    }
}

void
sotto_estimate_add_block(struct sotto_estimate *estimate,
                         const struct sotto_report_block *block)
{
    tally_add(estimate->tally, block->reports, block->count);
}

size_t
sotto_estimate_rows(const struct sotto_estimate *estimate)
{
    return estimate->rows;
}

/* What the reports say of a row's entry, in the channel's units. */
static struct tally_moments
find_moments(const struct sotto_estimate *estimate, const struct row *row)
{
    const struct report_part *part =
        &estimate->mechanism->device.report->part[row->part];
    struct tally_moments moments = {0};
    if (part->instance.channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        size_t size = part->instance.size;
        moments.mean = tally_means(estimate->tally, row->part, row->book,
                                   row->entry / size)[row->entry % size];
    } else {
        tally_moments(estimate->tally, row->part, row->entry, &moments);
    }
    return moments;
}

static double
score_half(const struct row *row, double mean, double n, double z)
{
    struct interval_share share = {row->noise * row->noise, row->slope};
    return interval_share_half(&share, mean, n, z);
}

static double
number_half(const struct row *row, double squares, double n, double z)
{
    double spread = sqrt(squares / (n - 1));
    return interval_mean_half(spread, row->noise, n, z) + row->bias +
           row->rounding;
}

/* The mean of those who have a value, x over 1 - m; a constant has no other. */
static void
put_known(const struct sotto_estimate *estimate, const struct row *row,
          double n, double z, struct sotto_estimate_row *ret_row)
{
    const struct row *gone = &row[1];
    const struct tally_moments number = find_moments(estimate, row);
    const struct tally_moments missing = find_moments(estimate, gone);
    double l = 1 / gone->unit, squared = (n - 1) * l * l;
    double scale = row->unit * l, rounding = fabs(row->unit) * row->rounding;
    double mixed = gone->rounding > 0 ? 1 : 0; /* not kept as they are */
    struct ratio_moments moments = {
        .n = n,
        .above = number.mean / l,
        .below = 1 - missing.mean / l,
        .above_above = number.squares / squared,
        .above_below = -number.cross / squared,
        .below_below = missing.squares / squared,
        .noise = row->noise / l,
        .bias = (row->bias + gone->rounding + row->rounding * mixed) / l,
    };
    struct ratio ratio = {.bounded = true};
    if (scale != 0) {
        ratio_estimate(&moments, interval_student(z, n - 1), z, &ratio);
    }
    ret_row->unbounded = !ratio.bounded;
    ret_row->value = row->offset + scale * ratio.value;
    ret_row->noise_deviation = fabs(scale) * ratio.noise_deviation;
    ret_row->low =
        row->offset - rounding + fmin(scale * ratio.low, scale * ratio.high);
    ret_row->high =
        row->offset + rounding + fmax(scale * ratio.low, scale * ratio.high);
}

static enum sotto_estimate_missing
missing_of(const struct row *row)
{
    if (row->known || row->missing) {
        return SOTTO_MISSING_TOLD;
    }
    return row->number ? SOTTO_MISSING_MIDDLE : SOTTO_MISSING_NONE;
}

/* Of one report the spread is unknown: with fewer than two nothing is ruled
   out. */
void
sotto_estimate_row(const struct sotto_estimate *estimate, size_t i, double z,
                   struct sotto_estimate_row *ret_row)
{
    const struct row *row = &estimate->row[i];
    const struct tally_moments moments = find_moments(estimate, row);
    double n = (double)tally_reports(estimate->tally, row->part, row->book);
    double unit = fabs(row->unit), half = INFINITY;
    if (n >= 2) {
        half = unit * (row->category != NULL && !row->missing
                           ? score_half(row, moments.mean, n, z) + row->bias
                           : number_half(row, moments.squares, n, z));
    }
    ret_row->missing = missing_of(row);
    ret_row->unbounded = n < 2;
    ret_row->name = row->name;
    ret_row->category = row->category;
    ret_row->value = row->offset + row->unit * moments.mean;
    ret_row->low = ret_row->value - half;
    ret_row->high = ret_row->value + half;
    ret_row->noise_deviation = n > 0 ? unit * row->noise / sqrt(n) : INFINITY;
    if (row->known && n >= 2) {
        put_known(estimate, row, n, z, ret_row);
    }
}

/* ---- Liars --------------------------------------------------------------- */

/* Of a row by itself, in the channel's units. */
static void
reach_row(const struct sotto_estimate *estimate, const struct row *row,
          double liars, struct sotto_reach *ret_reach)
{
    struct liars_ends ends = {row->from->low, row->from->high,
                              row->from->mean_low, row->from->mean_high};
    uint64_t n = tally_reports(estimate->tally, row->part, row->book);
    double most = n > 0 ? liars * (double)tally_all(estimate->tally) / (double)n
                        : INFINITY;
    if (row->missing) {
        ends.mean_low = 0; /* it is 0, or l */
    }
    liars_reach(&ends, find_moments(estimate, row).mean, liars, most,
                ret_reach);
}

/*
 * The mean of those who have a value is u / v with v = 1 - m, and either is a
 * mean of reports with a reach of its own. False answers are numbers in the
 * range, too: they can move it by no more than all of it.
 */
static void
reach_known(const struct sotto_estimate *estimate, const struct row *row,
            double liars, struct sotto_reach *ret_reach)
{
    double l = 1 / row[1].unit, scale = fabs(row->unit) * l;
    double u = find_moments(estimate, row).mean / l;
    double v = 1 - find_moments(estimate, &row[1]).mean / l;
    struct sotto_reach above, below;
    reach_row(estimate, row, liars, &above);
    reach_row(estimate, &row[1], liars, &below);
    ret_reach->forged = ratio_reach(u, v, above.forged / l, below.forged / l);
    ret_reach->answered =
        ratio_reach(u, v, above.answered / l, below.answered / l);
    ret_reach->answered =
        fmin(ret_reach->answered, v > 0 ? 1 + fmax(1, fabs(u / v)) : INFINITY);
    ret_reach->forged *= scale;
    ret_reach->answered *= scale;
}

/* A constant column has one value, whoever lies. */
void
sotto_estimate_reach(const struct sotto_estimate *estimate, size_t i,
                     double liars, struct sotto_reach *ret_reach)
{
    const struct row *row = &estimate->row[i];
    double unit = fabs(row->unit);
    *ret_reach = (struct sotto_reach){0, 0};
    if (!(unit > 0) || !(liars > 0)) {
        return;
    }
    if (row->known) {
        reach_known(estimate, row, liars, ret_reach);
        return;
    }
    reach_row(estimate, row, liars, ret_reach);
    ret_reach->forged *= unit;
    ret_reach->answered *= unit;
}
