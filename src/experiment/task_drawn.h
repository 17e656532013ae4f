/*
 * task_drawn.h: losses that the channels themselves make, to check closed
 * forms by: what devices run draws every report.
 */
#ifndef SOTTO_EXPERIMENT_TASK_DRAWN_H
#define SOTTO_EXPERIMENT_TASK_DRAWN_H

#include "encoder/task_cells.h"
#include "encoder/task_code.h"

/* The mean over rows and `draws` reports of each of the squared error: of codes
   on the lattice through laplace, decoded by `code`, whose ball is L1.
   Statuses: MEMORY, LIMIT, BUDGET (epsilon is beyond the format). */
SOTTO_CHECKED enum sotto_status
task_draw_lattice(const struct task_code *code, const struct task_rows *rows,
                  double eps, uint32_t draws, uint64_t seed, double *ret_loss,
                  struct sotto_error *err);

/* Likewise of cells, through flip where a report names one and else through
   subset. */
SOTTO_CHECKED enum sotto_status task_draw_cells(const struct task_cells *cells,
                                                const double *u, size_t n,
                                                uint32_t draws, uint64_t seed,
                                                double *ret_loss,
                                                struct sotto_error *err);

#endif
