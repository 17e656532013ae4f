/*
 * welch.h: whether two classes of measurements have the same mean.
 *
 * Welch's t for two classes, on all measurements and again on those below
 * certain quantiles of both classes together: interruptions make the upper
 * tail long, and what a class adds shows better without it. The quantiles are
 * fixed here, once for all; the largest |t| counts.
 *
 * If the classes were assigned at random and the measurements do not depend
 * on them, each t is nearly normal, so |t| >= WELCH_CRITERION has a
 * probability of 6.8e-6 for each of WELCH_CROPS, 5.4e-5 together at most.
 */
#ifndef SOTTO_HOST_WELCH_H
#define SOTTO_HOST_WELCH_H

#include <stddef.h>
#include <stdint.h>

#define WELCH_CRITERION 4.5
#define WELCH_CROPS 8u

/* The shares kept, the first of which is all. */
extern const double welch_crops[WELCH_CROPS];

/* Counts, means and sums of squared deviations, by class; zero at first. */
struct welch {
    double n[2], mean[2], squares[2];
};

void welch_add(struct welch *welch, unsigned class_of, double x);

/* (mean 1 - mean 0) / standard error; 0 with fewer than two of a class, or if
   there is no difference at all; infinite for one without any variance. */
double welch_t(const struct welch *welch);

/*
 * The t of largest magnitude over all crops of `count` measurements, sorting
 * a copy of them in `sorted`, of as many entries.
 */
double welch_cropped(const double *x, const uint8_t *class_of, size_t count,
                     double *sorted);

#endif
