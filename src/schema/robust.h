/*
 * robust.h: a range that no single record decides.
 */
#ifndef SOTTO_SCHEMA_ROBUST_H
#define SOTTO_SCHEMA_ROBUST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds a range for `count` values in ascending order: the 1% and the 99%
 * quantile, but at least five values in from either end (a tenth of them, if
 * that is fewer), rounded outward to a grid of 1, 2, 2.5 or 5 times a power of
 * ten, at least a tenth of the range wide, and to 0 where that is near. Where
 * nearly all values are one, the quantiles are of the others, and of that
 * one. False if fewer than `rare` values are not that one.
 */
bool robust_range(const double *value, size_t count, bool whole, size_t rare,
                  double *ret_low, double *ret_high);

/*
 * Whether values in ascending order have a heavy tail that a logarithm takes
 * away: none is below 0, and of those above 0, of which there are 50 or more,
 * the 99% quantile lies at least four times as far from the median as the 1%
 * quantile does, while of their ln(1 + v) neither lies twice as far as the
 * other.
 */
bool robust_heavy(const double *value, size_t count);

/* Rounds a number to a grid of 1, 2, 2.5 or 5 times a power of ten that is not
   finer than `least`, above 0; where `whole`, the grid is of whole numbers. */
double robust_round(double number, double least, bool whole);

#endif
