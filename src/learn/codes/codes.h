/*
 * codes.h: what reports say of pairs (c, y) of a code and a label, and the
 * likelihood of a table of them.
 *
 *     s_i = sum_cy J_cy L_i(c, y)       L_i(c, y) = p(r_i | c, y) / largest
 *     G_cy = sum_i L_i(c, y) / s_i      the gradient of sum_i ln s_i
 *
 * (docs/codebook.md). Kept is L = lo + step b:
 *
 *     block 0 | pair 0: b of CODES_BLOCK reports | pair 1 | ... | block 1 | ...
 *
 * b a byte, 0 or 1, where all reports have the same two levels. Else b = L in a
 * float: the lowest of several levels may be as small as e^-32.
 *
 * Reports that say the same have the same L. Where many do, each of these is
 * kept once, as a row, with how often it came: sums over reports are sums over
 * rows by that weight, and 10^8 reports of 20 symbols are 20 rows.
 */
#ifndef SOTTO_LEARN_CODES_H
#define SOTTO_LEARN_CODES_H

#include "learn/codes/codes_kernel.h"
#include "mechanism/mechanism.h"
#include "sotto/sotto.h"

struct host_pool;

#define CODES_BLOCK 1024u

/* Where a report says what: one part about pairs, the label fastest; or one
   about the code and one about the label. */
struct codes_shape {
    const struct likelihood_instance *code;  /* of pairs, or of codes alone */
    const struct likelihood_instance *label; /* NULL: in the pairs */
    size_t offset, label_offset;             /* in a report */
    size_t head;  /* where the lot is: bytes in front of what a report says */
    size_t at;    /* the first score, in the outputs */
    size_t books; /* codebooks, each of `cells` codes; a report is about that of
                     its lot, and says of a code what any other would */
    size_t cells;
    size_t symbols; /* of the label, "other" included; 1: there is none */
    size_t classes; /* of these, those told apart: the first ones */
    size_t column;  /* the label's; SIZE_MAX: there is none */
};

/*
 * Reads the shape off. Without `other` no record is taken to have the last
 * symbol of a label's column, which stands for all that is none of its
 * categories. A mechanism without a label has one class. Statuses: INPUT (not a
 * codebook mechanism).
 */
SOTTO_CHECKED enum sotto_status
codes_shape_init(struct codes_shape *shape,
                 const struct sotto_mechanism *mechanism, bool other,
                 struct sotto_error *err);

/* The book that a report is about; 0 where there is one. */
size_t codes_book(const struct codes_shape *shape, const uint8_t *report);
/* ln p(report | c, y) of all cells * classes pairs. `q` is codes_points';
   `room` for cells + classes numbers. */
void codes_log_p(const struct codes_shape *shape, const uint8_t *report,
                 const int32_t *q, double *room, double *ret_log_p);
/* The symbols of the pairs (or of the codes, then the labels), to free. */
int32_t *codes_points(const struct codes_shape *shape);

/*
 * Reports, or what they say (codes_shape_headless), each once. Or, where these
 * are too many, how many reports of subset name each pair and how many do not,
 * by turns: two rows a pair. Each row is then taken for a report that says no
 * more than that, whose likelihood is a pair's rate of being named
 * (docs/codebook.md, "Too many to keep").
 */
struct codes_reports {
    const uint8_t *const *report; /* NULL: counts */
    const uint32_t *times;        /* how often each came; NULL: once */
    size_t rows;
};
/* Whether counts will do: reports by subset about pairs, in one part. */
bool codes_countable(const struct codes_shape *shape);

struct codes {
    size_t cells, classes;
    size_t pairs;   /* cells * classes */
    size_t reports; /* people: the sum of weights */
    size_t rows, blocks;
    uint32_t *times; /* of a row; NULL: once. Blocks end with rows of 0 */
    double scale;    /* of counts: what one is worth beside the others */
    double shift;    /* of counts: what G has too much of, for every pair */
    double lo, step;
    enum codes_width width;
    const struct codes_kept *kept; /* the kernel's for it */
    double log_most; /* ln of what the reports' L were divided by, in all */
    uint8_t *b;
    double *part; /* sums of the blocks, pairs + 1 each */
    struct host_pool *pool;
    const struct codes_kernel *kernel;
};

/* Statuses: MEMORY, LIMIT (more than 2 GB), INPUT (no reports). The pool must
   outlive it. */
SOTTO_CHECKED enum sotto_status
codes_init(struct codes *codes, const struct codes_shape *shape,
           const uint8_t *const *report, size_t reports, struct host_pool *pool,
           struct sotto_error *err);
/* The same where some came several times. */
SOTTO_CHECKED enum sotto_status
codes_init_times(struct codes *codes, const struct codes_shape *shape,
                 const struct codes_reports *reports, struct host_pool *pool,
                 struct sotto_error *err);
void codes_clear(struct codes *codes);

/* The shape of reports without their header. */
struct codes_shape codes_shape_headless(const struct codes_shape *shape);
/* Sum of ln max(s, CODES_LEAST) over a block of rows, by their weights. */
double codes_log_sum(const struct codes *codes, size_t block, const float *s);
/* How many reports a row stands for. */
static inline double
codes_weight(const struct codes *codes, size_t row)
{
    return codes->times != NULL ? codes->scale * (double)codes->times[row] : 1;
}
/*
 * Deals the reports of a row that stands for several to `folds` heaps by lot,
 * each to any with the same chance: ret_count[fold].
 */
void codes_deal(const struct codes *codes, size_t row, size_t folds,
                uint32_t *ret_count);

/* Sum of ln p(r_i) for a table J (cells rows of classes), and G unless NULL.
   Calls from one thread at a time. */
double codes_pass(struct codes *codes, const double *j, double *ret_g);

/* I_cy = sum_i (L_i(c, y) / s_i - 1)^2 of all pairs at tau = share, from the
   first block. */
void codes_information(const struct codes *codes, const double *pi,
                       const double *share, double *ret_information);
/* The error with which an entry of tau could be estimated by itself, averaged:
   k / sqrt(I), I the mean of I_cy over pairs. */
double codes_error(const struct codes *codes, const double *information);

/* Column of a pair in a block. */
static inline const uint8_t *
codes_column(const struct codes *codes, size_t block, size_t pair)
{
    return codes->b +
           (block * codes->pairs + pair) * CODES_BLOCK * codes->kept->size;
}

/* s[i] += by b[i] over a block of a column. */
static inline void
codes_add(const struct codes *codes, const uint8_t *column, double by, float *s)
{
    codes->kept->add(column, CODES_BLOCK, (float)by, s);
}

#endif
