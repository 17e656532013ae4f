/*
 * precision.c: the error of shares and means before anybody has reported.
 *
 * docs/plan.md derives what is computed here. A question is a column that a
 * part is about alone, or the label of a codebook's pairs. What a report says
 * of a representation is no question: nobody wants its mean.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "host/error.h"
#include "likelihood/group.h"
#include "likelihood/interval.h"
#include "mechanism/mechanism.h"
#include "mechanism/precision.h"
#include "sotto/planning.h"

#define PEOPLE_MOST 1e12

struct sotto_precision {
    struct precision_question *question;
    size_t count;
    size_t estimates;
};

/* ---- Questions ----------------------------------------------------------- */

static void
describe_number(const struct sotto_mechanism *mechanism, size_t part,
                size_t column, struct precision_question *question)
{
    const struct likelihood_instance *at = &mechanism->likelihood[part];
    struct sotto_column_info info;
    double l = at->instance->l;
    double steps = at->instance->channel->domain == CHANNEL_DOMAIN_BALL
                       ? l / sqrt(at->instance->size)
                       : l;
    sotto_mechanism_column(mechanism, column, &info);
    question->low = info.log ? maths_log_signed(info.low) : info.low;
    question->high = info.log ? maths_log_signed(info.high) : info.high;
    question->centre = (question->low + question->high) / 2;
    question->unit = (question->high - question->low) / 2 / steps;
    question->steps = l;
    question->noise = sqrt(at->variance_true);
    question->rounding = mechanism_rounding(at->instance);
    question->off = at->bias + question->rounding;
}

/* Describes a number that has beside it whether it is missing: as decode takes
   them, estimate.c. */
static void
describe_gap(const struct sotto_mechanism *mechanism, size_t part, size_t at,
             struct precision_question *question)
{
    bool kept = mechanism_keeps_pair(mechanism, part, at);
    double own = mechanism_rounding(mechanism->likelihood[part].instance);
    question->gap = true;
    question->rounding = kept ? fmin(own, 0.5) : own;
    question->pair_bias =
        mechanism->likelihood[part].bias + (kept ? 0 : 2 * own);
    question->off = mechanism->likelihood[part].bias + question->rounding;
}

/* Describes the share that is missing; 1 is l steps, and is not rounded. */
static void
describe_missing(const struct sotto_mechanism *mechanism, size_t part,
                 size_t at, struct precision_question *question)
{
    const struct likelihood_instance *own = &mechanism->likelihood[part];
    bool kept = mechanism_keeps_pair(mechanism, part, at);
    question->missing = true;
    question->high = 1;
    question->unit = 1 / (double)own->instance->l;
    question->steps = own->instance->l;
    question->noise = sqrt(own->variance_true);
    question->off = own->bias + (kept ? 0 : mechanism_rounding(own->instance));
}

static void
describe_symbols(const struct likelihood_instance *at, uint32_t group,
                 struct precision_question *question)
{
    double with, without;
    question->high = 1;
    question->unit = 1;
    question->told = group_variances(at, group, &with, &without);
    if (question->told) {
        question->most = group_most(at, group);
        question->share = (struct interval_share){without, with - without + 1};
    }
}

/* Adds a question about a column; the caller describes it. */
static struct precision_question *
begin_question(const struct sotto_mechanism *mechanism, size_t part,
               size_t column, struct sotto_precision *precision)
{
    struct precision_question *question =
        &precision->question[precision->count++];
    *question = (struct precision_question){
        .name = mechanism->shape.schema.column[column].name,
        .column = column,
        .part = part,
        .most = mechanism->likelihood[part].most,
        .spread = NAN,
        .told = true,
    };
    return question;
}

static bool
add_question(const struct sotto_mechanism *mechanism, size_t part, size_t entry,
             size_t column, struct sotto_precision *precision)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    const struct likelihood_instance *at = &mechanism->likelihood[part];
    struct precision_question *question =
        begin_question(mechanism, part, column, precision);
    if (own->numbers) {
        describe_number(mechanism, part, column, question);
        if (mechanism_missing_source(mechanism, own->from + entry + 1) ==
            column) {
            describe_gap(mechanism, part, own->from + entry, question);
        }
    } else {
        question->categories = mechanism->shape.schema.column[column].count;
        describe_symbols(at, own->role == SHAPE_PAIR ? (uint32_t)own->cells : 1,
                         question);
        question->part_of_pair = own->role == SHAPE_PAIR;
        question->shares =
            calloc(question->categories, sizeof *question->shares);
    }
    precision->estimates += own->numbers ? 1 : question->categories;
    return own->numbers || question->shares != NULL;
}

/* The column of an entry of a part; SIZE_MAX: it is about none alone. */
static size_t
column_of(const struct sotto_mechanism *mechanism, size_t part, size_t entry)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    if (own->numbers) {
        return mechanism_source(mechanism, own->from + entry);
    }
    return own->role == SHAPE_RIGHT || own->role == SHAPE_CODE ? SIZE_MAX
                                                               : own->column;
}

static size_t
entries_of(const struct shape_part *part)
{
    return part->numbers ? part->blocks * part->instance->size : part->blocks;
}

/* Adds what an entry of a part is about; false for lack of memory. */
static bool
add_entry(const struct sotto_mechanism *mechanism, size_t part, size_t entry,
          struct sotto_precision *precision)
{
    size_t from = mechanism->shape.part[part].from + entry;
    size_t column = column_of(mechanism, part, entry);
    size_t missing = mechanism->shape.part[part].numbers
                         ? mechanism_missing_source(mechanism, from)
                         : SIZE_MAX;
    if (missing != SIZE_MAX) {
        describe_missing(mechanism, part, from - 1,
                         begin_question(mechanism, part, missing, precision));
        precision->estimates++;
        return true;
    }
    return column == SIZE_MAX ||
           add_question(mechanism, part, entry, column, precision);
}

static bool
add_questions(const struct sotto_mechanism *mechanism,
              struct sotto_precision *precision)
{
    const struct shape *shape = &mechanism->shape;
    size_t most = 0;
    bool good = true;
    for (size_t i = 0; i < shape->parts; i++) {
        most += entries_of(&shape->part[i]);
    }
    precision->question = calloc(most + 1, sizeof *precision->question);
    good = precision->question != NULL;
    for (size_t i = 0; good && i < shape->parts; i++) {
        for (size_t j = 0; good && j < entries_of(&shape->part[i]); j++) {
            good = add_entry(mechanism, i, j, precision);
        }
    }
    return good;
}

/* ---- What a table says --------------------------------------------------- */

/* As a device takes it: "(missing)" is the last but one where it is told. */
static size_t
symbol_of(const struct sotto_mechanism *mechanism,
          const struct precision_question *question, struct sotto_value value)
{
    size_t symbol = 0;
    if (value.kind == SOTTO_VALUE_MISSING &&
        mechanism->shape.schema.column[question->column].missing) {
        return question->categories - 2;
    }
    while (symbol + 1 < question->categories) {
        const char *text =
            sotto_mechanism_category(mechanism, question->column, symbol);
        if (value.data != NULL && strlen(text) == value.size &&
            memcmp(text, value.data, value.size) == 0) {
            break;
        }
        symbol++;
    }
    return symbol;
}

/* A label that is missing everywhere was declared, and says nothing. */
static void
observe_shares(const struct sotto_mechanism *mechanism,
               const struct sotto_table *table, size_t column,
               struct precision_question *question)
{
    size_t rows = sotto_table_rows(table), present = 0;
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value value = sotto_table_cell(table, i, column);
        present += value.kind != SOTTO_VALUE_MISSING ? 1 : 0;
        question->shares[symbol_of(mechanism, question, value)] +=
            1 / (double)rows;
    }
    question->known = present > 0;
}

/* The number that a device takes for a value; one that is missing counts as
   the middle of the range where it is not told apart. */
static double
number_of(const struct precision_question *question, struct sotto_value value)
{
    bool there = value.kind == SOTTO_VALUE_NUMBER;
    if (question->missing) {
        return there ? 0 : 1;
    }
    return there ? fmin(fmax(value.number, question->low), question->high)
                 : question->centre;
}

static void
observe_spread(const struct sotto_table *table, size_t column,
               struct precision_question *question)
{
    double n = 0, mean = 0, squares = 0, there = 0;
    double rows = (double)sotto_table_rows(table);
    for (size_t i = 0; i < sotto_table_rows(table); i++) {
        struct sotto_value value = sotto_table_cell(table, i, column);
        bool has = value.kind == SOTTO_VALUE_NUMBER;
        there += has ? 1 : 0;
        if (has || !question->gap) {
            double x = number_of(question, value), off = x - mean;
            mean += off / ++n;
            squares += off * (x - mean);
        }
    }
    question->known = there >= 2;
    question->absent = question->known ? 1 - there / rows : 0;
    question->mean = n > 0 ? mean : 0;
    question->spread = n >= 2 ? sqrt(squares / (n - 1)) : (double)NAN;
}

static void
observe(const struct sotto_mechanism *mechanism,
        const struct sotto_table *table, struct precision_question *question)
{
    size_t column = sotto_table_find(table, question->name);
    if (column != SIZE_MAX && question->categories > 0) {
        observe_shares(mechanism, table, column, question);
    } else if (column != SIZE_MAX) {
        observe_spread(table, column, question);
    }
}

enum sotto_status
sotto_precision_new(const struct sotto_mechanism *mechanism,
                    const struct sotto_table *table,
                    struct sotto_precision **ret_precision,
                    struct sotto_error *err)
{
    struct sotto_precision *precision = calloc(1, sizeof *precision);
    if (precision == NULL || !add_questions(mechanism, precision)) {
        sotto_precision_free(precision);
        return host_fail_memory(err);
    }
    for (size_t i = 0; table != NULL && i < precision->count; i++) {
        observe(mechanism, table, &precision->question[i]);
    }
    *ret_precision = precision;
    return SOTTO_STATUS_OK;
}

void
sotto_precision_free(struct sotto_precision *precision)
{
    if (precision == NULL) {
        return;
    }
    for (size_t i = 0; i < precision->count; i++) {
        free(precision->question[i].shares);
    }
    free(precision->question);
    free(precision);
}

size_t
sotto_precision_rows(const struct sotto_precision *precision)
{
    return precision->count;
}

size_t
sotto_precision_estimates(const struct sotto_precision *precision)
{
    return precision->estimates;
}

const struct precision_question *
precision_at(const struct sotto_precision *precision, size_t i)
{
    return &precision->question[i];
}

/* ---- Answers ------------------------------------------------------------- */

/* The share that makes the interval widest: of those the table has, or of all
   there could be. */
static double
widest_share(const struct precision_question *question)
{
    double widest = interval_share_worst(&question->share), most = -1;
    for (size_t i = 0; question->known && i < question->categories; i++) {
        double variance =
            interval_share_variance(&question->share, question->shares[i]);
        if (variance > most) {
            most = variance;
            widest = question->shares[i];
        }
    }
    return widest;
}

/* The values' spread in units of the channel; at most half the range. */
static double
spread_of(const struct precision_question *question)
{
    double most = (question->high - question->low) / 2;
    double spread = question->known ? question->spread : most;
    return question->unit > 0 ? spread / question->unit : 0;
}

double
precision_deviation(const struct precision_question *question, double share,
                    double n)
{
    if (!question->told) {
        return INFINITY;
    }
    if (question->categories > 0) {
        return sqrt(interval_share_variance(&question->share, share) / n);
    }
    if (question->gap) {
        return precision_gap_deviation(question, n);
    }
    double spread = spread_of(question), noise = question->noise;
    return question->unit * sqrt((noise * noise + spread * spread) / n);
}

static double
half_of(const struct precision_question *question, double share, double n,
        double z)
{
    if (!question->told || n < 2) {
        return INFINITY;
    }
    if (question->categories > 0) {
        return interval_share_half(&question->share, share, n, z);
    }
    if (question->gap) {
        return precision_gap_half(question, n, z);
    }
    double spread = spread_of(question), noise = question->noise;
    return question->unit *
           (interval_mean_half(sqrt(noise * noise + spread * spread), noise, n,
                               z) +
            question->off);
}

/* What a share of liars moves an estimate by (docs/plan.md). */
static void
expect_lies(const struct precision_question *question, double share,
            double liars, struct sotto_precision_row *row)
{
    if (question->categories > 0) {
        double far = question->known ? fmax(share, 1 - share) : 1;
        row->lied = liars * far;
        row->forged = liars * (question->most + (question->known ? share : 1));
    } else if (question->gap) {
        precision_gap_lies(question, liars, &row->lied, &row->forged);
    } else {
        double low = question->low, high = question->high;
        double mean = question->known ? question->mean : high;
        row->lied = liars * fmax(mean - low, high - mean);
        row->forged = liars * (question->unit * question->most +
                               fabs(mean - question->centre));
    }
    if (!question->told) {
        row->lied = row->forged = INFINITY;
    }
}

void
sotto_precision_row(const struct sotto_precision *precision, size_t i,
                    const struct sotto_precision_case *when,
                    struct sotto_precision_row *ret_row)
{
    const struct precision_question *question = &precision->question[i];
    double share = question->categories > 0 ? widest_share(question) : 0;
    *ret_row = (struct sotto_precision_row){
        .name = question->name,
        .categories = question->categories,
        .low = question->low,
        .high = question->high,
        .known = question->known,
        .missing = question->missing,
        .absent = question->gap ? question->absent : 0,
        .value = question->categories > 0
                     ? share
                     : spread_of(question) * question->unit,
        .deviation = precision_deviation(question, share, when->people),
        .half = half_of(question, share, when->people, when->z),
    };
    expect_lies(question, share, when->liars, ret_row);
}

double
sotto_precision_people(const struct sotto_precision *precision, size_t i,
                       double z, double half)
{
    const struct precision_question *question = &precision->question[i];
    double share = question->categories > 0 ? widest_share(question) : 0;
    double low = 1, high = PEOPLE_MOST;
    if (half_of(question, share, high, z) > half) {
        return INFINITY;
    }
    while (high - low > 0.5) {
        double middle = (low + high) / 2;
        if (half_of(question, share, middle, z) > half) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return ceil(high - 0.5);
}
