/*
 * decimal.h: epsilon and delta, read exactly from decimal text.
 *
 * A budget is a whole number of units of 10^-12, so that sums, splits and
 * comparisons of budgets are integer arithmetic (invariant 2).
 */
#ifndef SOTTO_BASE_DECIMAL_H
#define SOTTO_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#define DECIMAL_DIGITS 12u                       /* after the point */
#define DECIMAL_UNIT UINT64_C(1000000000000)     /* units in 1 */
#define DECIMAL_EPS_MIN (DECIMAL_UNIT / 1000000) /* 0.000001 */
#define DECIMAL_EPS_MAX (32 * DECIMAL_UNIT)
#define DECIMAL_DELTA_MIN UINT64_C(1)          /* 10^-12 */
#define DECIMAL_DELTA_MAX (DECIMAL_UNIT / 100) /* 0.01 */
#define DECIMAL_TEXT_SIZE 24u /* longest text written, with its NUL */

/*
 * Reads digits[.digits] (no sign, blank or exponent; at most 12 digits after
 * the point, 7 before it, no needless leading zero) of exactly `size` bytes.
 * Statuses: FORMAT (with the position), LIMIT (too many digits).
 */
SOTTO_CHECKED enum sotto_status decimal_read(const char *text, size_t size,
                                             uint64_t *ret_units,
                                             struct sotto_error *err);

/*
 * The same, and the value must be a usable epsilon: DECIMAL_EPS_MIN to
 * DECIMAL_EPS_MAX. Statuses: also BUDGET.
 */
SOTTO_CHECKED enum sotto_status decimal_read_eps(const char *text, size_t size,
                                                 uint64_t *ret_units,
                                                 struct sotto_error *err);

/* The same for a delta: DECIMAL_DELTA_MIN to DECIMAL_DELTA_MAX. */
SOTTO_CHECKED enum sotto_status decimal_read_delta(const char *text,
                                                   size_t size,
                                                   uint64_t *ret_units,
                                                   struct sotto_error *err);

#endif
