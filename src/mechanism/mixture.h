/*
 * mixture.h: which distributions of a number fit the reports that were seen.
 *
 * A number is one of `points`, or missing. Reports fall into cells (c, k); k
 * has one value where nothing tells what is missing. For weights p of the
 * points and p_gone of being missing, a report's chance is
 *
 *     f(c, k) = present(k) sum_j kernel(c, j) p_j + gone(c) absent(k) p_gone
 *
 * with the channel's own, known kernel. The likelihood of all counts is concave
 * in p, so its maximum can be bracketed: with D_j the derivative by p_j over
 * the number of reports, no weights have a log-likelihood of more than
 * reports (max D - 1) above that of p (docs/missing.md). Decisions here are
 * taken on the safe side of such a bracket, however long the climb takes.
 */
#ifndef SOTTO_MECHANISM_MIXTURE_H
#define SOTTO_MECHANISM_MIXTURE_H

#include <stdbool.h>
#include <stddef.h>

struct mixture {
    size_t points, cells, columns; /* c < cells, k < columns */
    double *kernel;                /* cells x points */
    double *gone;                  /* cells; with `present` and `absent` */
    double *present, *absent;      /* columns; absent all 0: none is missing */
    bool missing;                  /* p_gone may be above 0 */
    double *count;                 /* cells x columns */
    double reports;
    double *room; /* MIXTURE_ROOM arrays of points + 1 + cells */
};
#define MIXTURE_ROOM 7u

/* The points `first` to `end` - 1 have this share of all who have a value. */
struct mixture_split {
    size_t first, end;
    double share;
};

struct mixture_fit {
    double *p; /* points + 1: weights, and that of being missing */
    double log_likelihood;
    double gap; /* the maximum is no more than that above it */
};

/* Makes room; the kernel and its companions are the caller's to fill. False for
   lack of memory: clear it all the same. */
bool mixture_init(struct mixture *mixture, size_t points, size_t cells,
                  size_t columns);
void mixture_clear(struct mixture *mixture);

/* Climbs to the largest likelihood; `p` of the fit has room. */
void mixture_maximise(const struct mixture *mixture, struct mixture_fit *fit);
/* Whether every distribution with that split has a log-likelihood of more than
   limit / 2 below the best one: false if that could not be shown. */
bool mixture_rules_out(const struct mixture *mixture,
                       const struct mixture_fit *best,
                       const struct mixture_split *split, double limit);

#endif
