/*
 * task_cells.h: cells of records for a codebook that serves a task: cut where
 * the task's loss after the channel says, not by distance before it
 * (docs/task-codes.md).
 *
 *     u --largest score--> cell c --channel--> w of k symbols --> D(report)
 *
 * `u` are rows in which the task's loss is one of two: coordinates whose
 * squared distance is the loss, or the probabilities of classes, for a
 * logarithmic loss. The channel is subset selection at epsilon, which is k-ary
 * response where w is 1. D is the mean of u given the report.
 */
#ifndef SOTTO_ENCODER_TASK_CELLS_H
#define SOTTO_ENCODER_TASK_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

enum task_cells_loss_kind {
    TASK_CELLS_SQUARED = 0, /* |u - D|^2 */
    TASK_CELLS_LOG = 1      /* -sum u_j ln D_j, for rows that add to 1 */
};

/* The reports of a channel: at most so many different ones. */
#define TASK_CELLS_REPORTS ((size_t)4096)
#define TASK_CELLS_NAMED 64u /* the most that one names */

struct task_cells_plan {
    enum task_cells_loss_kind loss;
    size_t k, w; /* 1 <= w < k, and no more reports than TASK_CELLS_REPORTS */
    double eps;  /* above 0; any, also above what a channel's format has */
    uint32_t restarts; /* of which the best is taken; 0: 1 */
    uint64_t seed;
    bool flip; /* to choose: k-ary response alone is tried */
    const struct sotto_watch *watch; /* asked before every step; NULL: nobody */
    uint64_t done, total;            /* what it is told */
};

struct task_cells {
    struct task_cells_plan plan;
    size_t d, reports;
    double in, out;  /* P(report | c) where it names c, and where it does not */
    double *mean;    /* k rows of d: of the rows in a cell */
    double *share;   /* k: of the rows */
    double *decoded; /* D: `reports` rows of d, by rank among all sets */
    double *weight;  /* k rows of d; the cell of u is the first of the largest
                        weight . u + bias */
    double *bias;    /* k */
    double *pull, *push; /* k rows of d, k: what a report of the cell costs a
                            row t is |t|^2 - 2 (pull . t + push), or -pull . t
                            */
    double loss;         /* expected after the channel, a row of those fitted;
                            against u, whatever the targets are */
};

/*
 * Cuts n rows u of d by Lloyd's steps under the channel's noise, until no row
 * moves. With `target`, n rows of the same kind that are true where u is what a
 * task function says of them, the decoder is then fitted to these: it learns
 * how far the function is to be believed, so u must be of rows that it was not
 * trained on. NULL: u itself. For the logarithmic loss a cell's mean has the
 * weight of one row of the mean of all, since a class that no row of a cell has
 * is not impossible there. Decided by the rows and the plan. Statuses: USAGE (n
 * is 0, or the plan breaks its bounds), MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
task_cells_init(struct task_cells *cells, const struct task_cells_plan *plan,
                const double *u, const double *target, size_t n, size_t d,
                struct sotto_error *err);
void task_cells_clear(struct task_cells *cells);

/* Reports that name w of n cells; if there are more than TASK_CELLS_REPORTS,
   some number above it. */
size_t task_cells_reports(size_t n, size_t w);

/* The cell of one row, below k. */
size_t task_cells_code(const struct task_cells *cells, const double *u);

/*
 * The expected loss after the channel, a row: of cells by `u`, against
 * `target`, rows of the same kind (u again, or what is true); exact, nothing
 * is drawn. `ret_each`: d squared errors, one a coordinate, or NULL.
 */
double task_cells_loss(const struct task_cells *cells, const double *u,
                       const double *target, size_t n, double *ret_each);

/* D of the report that names these w cells, rising. */
const double *task_cells_decode(const struct task_cells *cells,
                                const uint32_t *named);

/*
 * task_cells_choose.c: chooses k up to `most`, and half of the rows, and w, 1
 * or what the channel subset has for that k, by the loss of rows that were held
 * out, four parts in turn. `plan` says the rest, and is left with both.
 * `target` as above. Statuses: USAGE (fewer than 8 rows, or a plan out of
 * bounds), MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status task_cells_choose(struct task_cells_plan *plan,
                                                  size_t most, const double *u,
                                                  const double *target,
                                                  size_t n, size_t d,
                                                  struct sotto_error *err);

#endif
