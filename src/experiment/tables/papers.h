/*
 * papers.h: what the papers reached, and what sotto must reach.
 */
#ifndef SOTTO_EXPERIMENT_TABLES_PAPERS_H
#define SOTTO_EXPERIMENT_TABLES_PAPERS_H

#include <stdbool.h>
#include <stddef.h>

#define PAPERS_COLUMNS 7u /* epsilon 10, 8, 6, 4, 2, 1 and none */

/* One row of a table: percents, NAN where the table has nothing. */
struct papers_row {
    const char *experiment; /* ours that it belongs beside */
    const char *mechanism;  /* ours, or NULL: one that sotto does not have */
    const char *level;
    double aux_share;
    const char *name;  /* as the papers call it */
    const char *table; /* where it stands */
    double accuracy[PAPERS_COLUMNS];
    double deviation[PAPERS_COLUMNS];
};

/* A percentage with one place as the nearest number in [0, 1]. */
double papers_fraction(double percent);

/* Row i, from 0; NULL past the last. */
const struct papers_row *papers_at(size_t i);

/* The papers' epsilons, PAPERS_COLUMNS of them, the last INFINITY. */
extern const double papers_eps[PAPERS_COLUMNS];
#define PAPERS_SMALL 2u
extern const double papers_small[PAPERS_SMALL];
/* The column of an epsilon, PAPERS_COLUMNS if they have none. */
size_t papers_column(double eps);

/* The row that one of our mechanisms is compared with; NULL: none is. */
const struct papers_row *papers_find(const char *experiment,
                                     const char *mechanism, const char *level,
                                     double aux_share);

/* What sotto must reach, in [0, 1]; NAN: nothing said. */
double papers_reach(const char *experiment, const char *mechanism,
                    const char *level, double aux_share, double eps);

/* What must be said beside a comparison with the papers; NULL: nothing. */
const char *papers_beside(const char *experiment, const char *mechanism);

#endif
