/*
 * placement.h: classes as points of the L1 ball, behind Laplace noise: how
 * often the likeliest class is the right one, and where points are best.
 */
#ifndef SOTTO_EXPERIMENT_PLACEMENT_H
#define SOTTO_EXPERIMENT_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_D_MOST ((size_t)3)
#define PLACEMENT_K_MOST ((size_t)6)

/* Points within the ball of radius 1; noise has the scale 2 / epsilon. */
struct placement {
    size_t classes, d;
    double at[PLACEMENT_K_MOST][PLACEMENT_D_MOST];
};

/*
 * How often the likeliest class, all being as frequent, is the right one. The
 * first coordinate is integrated exactly, each other by Gauss and Legendre's
 * rule of four nodes on `pieces` pieces of every interval between coordinates
 * of points.
 */
double placement_accuracy(const struct placement *placement, double eps,
                          size_t pieces);

/* K = 2n classes at both ends of n axes, and for an odd K one more at an end of
   the next: needs K <= 2 d. */
void placement_vertices(struct placement *placement, size_t classes, size_t d);

/*
 * Looks for the best points: `starts` random ones, moved at random for `steps`
 * steps each as long as that helps, in strides that grow with success and
 * shrink without. The same seed finds the same. Returns the accuracy with 8
 * pieces.
 */
double placement_search(size_t classes, size_t d, double eps, size_t starts,
                        size_t steps, uint64_t seed,
                        struct placement *ret_best);

#endif
