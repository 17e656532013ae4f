/*
 * papers.h: what the papers reached, and what sotto must reach. The numbers are
 * an experiment's, in tables/.
 */
#ifndef SOTTO_EXPERIMENT_PAPERS_H
#define SOTTO_EXPERIMENT_PAPERS_H

#include <stdbool.h>
#include <stddef.h>

struct experiment_run;

#define PAPERS_COLUMNS 7u /* epsilon 10, 8, 6, 4, 2, 1 and none */
#define PAPERS_SMALL 2u   /* smaller ones, that we have something to reach at */

/* One row of a table: percents, NAN where the table has nothing. A list of them
   ends with a row without a name. */
struct papers_row {
    const char *mechanisms; /* ours that it belongs beside, with blanks; NULL:
                               one that sotto does not have */
    const char *level;
    double aux_share;
    const char *name;  /* as the papers call it */
    const char *table; /* where it stands */
    double accuracy[PAPERS_COLUMNS];
    double deviation[PAPERS_COLUMNS];
};

/* A percentage with one place as the nearest number in [0, 1]. */
double papers_fraction(double percent);

/* The papers' epsilons, PAPERS_COLUMNS of them, the last INFINITY. */
extern const double papers_eps[PAPERS_COLUMNS];
extern const double papers_small[PAPERS_SMALL];
/* The column of an epsilon, PAPERS_COLUMNS if they have none. */
size_t papers_column(double eps);

/* The row that the run's mechanism is compared with; NULL: none is. */
const struct papers_row *papers_find(const struct experiment_run *run);

/* Whether a row is what the papers compare with: a mechanism without an
   encoder, that sotto does not have or has as a baseline (baseline.h). */
bool papers_compared(const struct experiment_run *run,
                     const struct papers_row *row);

/* What sotto must reach, in [0, 1]; NAN: nothing said. */
double papers_reach(const struct experiment_run *run, double eps);

#endif
