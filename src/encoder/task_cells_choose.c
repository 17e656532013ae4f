/*
 * task_cells_choose.c: how many cells, and how many a report names, by the loss
 * of rows that were held out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "channel/symbols.h"
#include "encoder/task_cells.h"
#include "host/error.h"
#include "host/wipe.h"

#define FOLDS ((size_t)4)
#define CHOICE_RESTARTS 2u
#define EPS_MOST 32.0 /* that a channel has */
#define ENOUGH 4u     /* times the best k so far: no larger one is tried */
#define K_EASY 16u    /* but these are */

/* The rows of one part, or all others; returns how many. */
static size_t
take_part(const double *u, size_t n, size_t d, size_t part, bool inside,
          double *ret_u)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if ((i % FOLDS == part) == inside) {
            memcpy(ret_u + count++ * d, u + i * d, d * sizeof *u);
        }
    }
    return count;
}

/* What was tried so far. */
struct choice {
    const double *u, *target; /* n rows of d */
    size_t n, d;
    double *part, *part_target; /* room for as many */
    struct task_cells_plan best;
    double least;
};

/* The mean loss of rows that were held out. */
static enum sotto_status
held_out(struct choice *choice, const struct task_cells_plan *plan,
         double *ret_loss, struct sotto_error *err)
{
    size_t n = choice->n, d = choice->d;
    double loss = 0;
    for (size_t part = 0; part < FOLDS; part++) {
        struct task_cells cells = {0};
        size_t rows =
            take_part(choice->target, n, d, part, false, choice->part_target);
        (void)take_part(choice->u, n, d, part, false, choice->part);
        enum sotto_status status = task_cells_init(
            &cells, plan, choice->part, choice->part_target, rows, d, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        rows = take_part(choice->target, n, d, part, true, choice->part_target);
        (void)take_part(choice->u, n, d, part, true, choice->part);
        loss += task_cells_loss(&cells, choice->part, choice->part_target, rows,
                                NULL) *
                (double)rows / (double)n;
        task_cells_clear(&cells);
    }
    *ret_loss = loss;
    return SOTTO_STATUS_OK;
}

/* The numbers of cells that are tried: 2, 3, 4, and half as many more. */
static size_t
next_k(size_t k)
{
    return k < 4 ? k + 1 : k + k / 2;
}

/* The other w that is tried: the one that the channel subset has, 1 if it has
   none at such an epsilon. */
static size_t
subset_w(size_t k, double eps)
{
    return eps <= EPS_MOST
               ? symbols_best_w((uint32_t)k,
                                (uint64_t)(eps * (double)DECIMAL_UNIT))
               : 1;
}

static enum sotto_status
try_plan(struct choice *choice, const struct task_cells_plan *plan,
         struct sotto_error *err)
{
    double loss = INFINITY;
    if (plan->w >= plan->k || plan->w > TASK_CELLS_NAMED ||
        task_cells_reports(plan->k, plan->w) > TASK_CELLS_REPORTS) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = held_out(choice, plan, &loss, err);
    if (status == SOTTO_STATUS_OK && loss < choice->least) {
        choice->least = loss;
        choice->best = *plan;
    }
    return status;
}

enum sotto_status
task_cells_choose(struct task_cells_plan *plan, size_t most, const double *u,
                  const double *target, size_t n, size_t d,
                  struct sotto_error *err)
{
    struct choice choice = {.u = u,
                            .target = target != NULL ? target : u,
                            .n = n,
                            .d = d,
                            .best = *plan,
                            .least = INFINITY};
    struct task_cells_plan tried = *plan;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (n < 2 * FOLDS || !(plan->eps > 0)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%zu rows are too few to hold some of them out, or "
                         "epsilon %g is none",
                         n, plan->eps);
    }
    choice.part = malloc(2 * n * d * sizeof *choice.part);
    if (choice.part == NULL) {
        return host_fail_memory(err);
    }
    choice.part_target = choice.part + n * d;
    tried.restarts = CHOICE_RESTARTS;
    most = most > 2 ? most : 2;
    most = most < n / 2 ? most : n / 2;
    tried.total = most;
    for (tried.k = 2; tried.k <= most && status == SOTTO_STATUS_OK &&
                      (tried.k <= ENOUGH * choice.best.k || tried.k <= K_EASY);
         tried.k = next_k(tried.k)) {
        size_t w = tried.flip ? 1 : subset_w(tried.k, tried.eps);
        tried.w = 1;
        tried.done = tried.k;
        status = try_plan(&choice, &tried, err);
        tried.w = w;
        if (w > 1) {
            status = HOST_THEN(status, try_plan(&choice, &tried, err));
        }
    }
    if (status == SOTTO_STATUS_OK) {
        plan->k = choice.best.k;
        plan->w = choice.best.w;
    }
    host_wipe_free(choice.part, 2 * n * d * sizeof *choice.part);
    return status;
}
