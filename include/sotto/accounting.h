/*
 * sotto/accounting.h: amounts of privacy, exact, and what several of them come
 * to together.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_ACCOUNTING_H
#define SOTTO_ACCOUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Amounts of privacy -------------------------------------------------- */

#define SOTTO_UNIT UINT64_C(1000000000000) /* units in 1: 10^-12 each */
#define SOTTO_UNITS_SIZE 24u /* longest text of units, with its NUL */

/* Reads a delta, 0 to below 1, into units. Statuses: FORMAT, LIMIT, BUDGET. */
SOTTO_CHECKED enum sotto_status sotto_delta_parse(const char *text,
                                                  uint64_t *ret_delta,
                                                  struct sotto_error *err);
/* Writes the shortest decimal that is exactly `units`; returns its length. */
size_t sotto_units_write(uint64_t units, char text[SOTTO_UNITS_SIZE]);

/* ---- Privacy arithmetic -------------------------------------------------- */

/*
 * What several reports of one person cost together. Epsilons and deltas are
 * whole numbers of units of 10^-12, exactly; what must be rounded is rounded
 * up, so that every answer is a true bound. Definitions, theorems and which
 * answer to use when: docs/accounting.md. Nothing here uses the heap; all of
 * it may be called from several threads.
 *
 *     struct sotto_account_budget weekly;
 *     struct sotto_account_cost year;
 *     char text[SOTTO_UNITS_SIZE];
 *     status = sotto_account_budget_parse("0.1x52", &weekly, &err);
 *     if (status == SOTTO_STATUS_OK)
 *         status = sotto_account_optimal(&weekly, 1, 2, slack, &year, &err);
 *     if (status == SOTTO_STATUS_OK)
 *         sotto_units_write(year.eps, text);
 */

#define SOTTO_ACCOUNT_TIMES_MAX 1000000u /* for optimal and delta */

/* `times` mechanisms, each (eps, delta)-private. */
struct sotto_account_budget {
    uint64_t eps;   /* 0.000001 to 32, in units */
    uint64_t delta; /* below 1, in units; 0: pure */
    uint32_t times; /* at least 1 */
};

/* What they cost together: (eps, delta), in units. A delta of 1 means that
   nothing is promised. */
struct sotto_account_cost {
    uint64_t eps;
    uint64_t delta;
};

/* Reads E, E:D, ExN or E:DxN, such as "1:0.000001x3"; messages name the word.
   Statuses: FORMAT, LIMIT (digits), BUDGET (out of range). */
SOTTO_CHECKED enum sotto_status
sotto_account_budget_parse(const char *word,
                           struct sotto_account_budget *ret_budget,
                           struct sotto_error *err);

/*
 * All of these take `count` >= 1 budgets and hold under adaptive composition:
 * each mechanism may be chosen after seeing what those before it said. The
 * list of budgets must be fixed beforehand, though, except for basic.
 * Statuses: BUDGET (a budget out of range), USAGE (none, or 0 times), LIMIT
 * (the epsilons add up to more than 18,446,744).
 *
 * Basic: the sums, exact. This is what a ledger adds up.
 */
SOTTO_CHECKED enum sotto_status
sotto_account_basic(const struct sotto_account_budget *budgets, size_t count,
                    struct sotto_account_cost *ret_cost,
                    struct sotto_error *err);
/*
 * Advanced, for a slack `slack` >= 0 added to the deltas: Dwork, Rothblum and
 * Vadhan's bound, and Kairouz, Oh and Viswanath's (Theorem 3.5), which is never
 * above it. Where a bound is not below basic's epsilon, basic is the answer.
 */
SOTTO_CHECKED enum sotto_status
sotto_account_drv(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
sotto_account_kov(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err);
/*
 * For budgets that are all the same, the least epsilon at that slack:
 *
 *     k = 2   that holds for all mechanisms with this budget (Kairouz, Oh and
 *             Viswanath, Theorem 3.3)
 *     k > 2   of k-ary randomised responses (the channel flip), and of nothing
 *             else: exact for them. delta must be 0. Of responses with
 *             different numbers of answers take the smallest.
 *
 * Statuses: also USAGE (the budgets differ; k < 2; k > 2 and a delta), LIMIT
 * (more than SOTTO_ACCOUNT_TIMES_MAX times).
 */
SOTTO_CHECKED enum sotto_status
sotto_account_optimal(const struct sotto_account_budget *budgets, size_t count,
                      uint32_t k, uint64_t slack,
                      struct sotto_account_cost *ret_cost,
                      struct sotto_error *err);
/* The same the other way round: the least delta at the epsilon `eps`. */
SOTTO_CHECKED enum sotto_status
sotto_account_delta(const struct sotto_account_budget *budgets, size_t count,
                    uint32_t k, uint64_t eps, uint64_t *ret_delta,
                    struct sotto_error *err);

/* ---- What epsilon means -------------------------------------------------- */

/*
 * What a guess about a person can become. Somebody thinks, whatever they know,
 * that a thing is true of a person with the chance 1 / `one_in`, 2 to 2^53,
 * and then sees what is `eps`-private, in units. The chance is then at most,
 * and at least, so many units: the first rounded up, the second down. At most
 * SOTTO_UNIT: nothing is bounded. Pure privacy; docs/threat-model.md says what
 * a delta adds. For m reports give m times eps.
 */
uint64_t sotto_guess_most(uint64_t one_in, uint64_t eps);
uint64_t sotto_guess_least(uint64_t one_in, uint64_t eps);

/*
 * How often anybody can name the right one of `classes` classes, 2 or more,
 * equally frequent, from one report that is (eps, delta)-private, whatever its
 * channel and however it is read: (e^eps + (K - 1) delta) / (e^eps + K - 1).
 */
double sotto_accuracy_most(size_t classes, double eps, double delta);
/*
 * The same where the report is a point of the L1 ball with Laplace noise and
 * the classes are at vertices of the ball (P0 Eq. 13, here for odd numbers of
 * classes, too): the best of the Laplace channel, if vertices are.
 * src/likelihood/ceiling.c has the argument.
 */
double sotto_accuracy_vertices(size_t classes, double eps);

#ifdef __cplusplus
}
#endif

#endif
