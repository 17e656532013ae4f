/*
 * agreement.c: mutual information of two partitions, adjusted for chance.
 *
 *     I = sum_ij n_ij / n log(n n_ij / (a_i b_j))
 *
 * for n_ij records in part i of a and part j of b. Small parts share
 * information by chance: if b's records are put in an order by lot, n_ij is
 * hypergeometric, and
 *
 *     E I = sum_ij sum_m m / n log(n m / (a_i b_j)) P(n_ij = m)
 *
 * exactly (Vinh, Epps and Bailey 2010). Its sum has at most n terms for each
 * part of the one that has fewer.
 */
#include "encoder/agreement.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"

#define LOG_LEAST (-50.0) /* of a probability that counts */

struct counts {
    size_t as, bs, n;
    size_t *a, *b, *both; /* as, bs, and as rows of bs */
    double *factorial;    /* log of 0! to n! */
};

static enum sotto_status
counts_init(struct counts *counts, struct sotto_error *err)
{
    counts->a = calloc(counts->as, sizeof *counts->a);
    counts->b = calloc(counts->bs, sizeof *counts->b);
    counts->both = calloc(counts->as, counts->bs * sizeof *counts->both);
    counts->factorial = calloc(counts->n + 1, sizeof *counts->factorial);
    if (counts->a == NULL || counts->b == NULL || counts->both == NULL ||
        counts->factorial == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 2; i <= counts->n; i++) {
        counts->factorial[i] = counts->factorial[i - 1] + log((double)i);
    }
    return SOTTO_STATUS_OK;
}

static void
counts_clear(struct counts *counts)
{
    free(counts->a);
    free(counts->b);
    free(counts->both);
    free(counts->factorial);
}

static double
entropy_of(const size_t *count, size_t parts, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < parts; i++) {
        double share = (double)count[i] / (double)n;
        sum -= share > 0 ? share * log(share) : 0;
    }
    return sum;
}

/* What m of n records that parts of a and b records share add to I. */
static double
add_of(size_t m, size_t a, size_t b, size_t n)
{
    return (double)m / (double)n *
           log((double)n * (double)m / ((double)a * (double)b));
}

static double
shared_of(const struct counts *counts)
{
    double sum = 0;
    for (size_t i = 0; i < counts->as; i++) {
        for (size_t j = 0; j < counts->bs; j++) {
            size_t m = counts->both[i * counts->bs + j];
            sum += m > 0 ? add_of(m, counts->a[i], counts->b[j], counts->n) : 0;
        }
    }
    return sum;
}

/* log P(m) = log a! b! (n - a)! (n - b)! / (n! m! (a - m)! (b - m)!
   (n - a - b + m)!) */
static double
expect_pair(const struct counts *counts, size_t a, size_t b)
{
    const double *f = counts->factorial;
    size_t n = counts->n, most = a < b ? a : b;
    double front = f[a] + f[b] + f[n - a] + f[n - b] - f[n], sum = 0;
    for (size_t m = a + b > n ? a + b - n : 1; m <= most; m++) {
        double p = front - f[m] - f[a - m] - f[b - m] - f[n + m - a - b];
        sum += m > 0 && p > LOG_LEAST ? exp(p) * add_of(m, a, b, n) : 0;
    }
    return sum;
}

static double
chance_of(const struct counts *counts)
{
    double sum = 0;
    for (size_t i = 0; i < counts->as; i++) {
        for (size_t j = 0; j < counts->bs; j++) {
            if (counts->a[i] > 0 && counts->b[j] > 0) {
                sum += expect_pair(counts, counts->a[i], counts->b[j]);
            }
        }
    }
    return sum;
}

enum sotto_status
agreement_measure(const uint32_t *a, size_t as, const uint32_t *b, size_t bs,
                  size_t n, struct agreement *ret_agreement,
                  struct sotto_error *err)
{
    struct counts counts = {.as = as, .bs = bs, .n = n};
    enum sotto_status status;
    if (n == 0 || as == 0 || bs == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there are no parts to compare");
    }
    status = counts_init(&counts, err);
    if (status == SOTTO_STATUS_OK) {
        for (size_t i = 0; i < n; i++) {
            counts.a[a[i]]++;
            counts.b[b[i]]++;
            counts.both[a[i] * bs + b[i]]++;
        }
        *ret_agreement = (struct agreement){.shared = shared_of(&counts),
                                            .chance = chance_of(&counts),
                                            .a = entropy_of(counts.a, as, n),
                                            .b = entropy_of(counts.b, bs, n)};
    }
    counts_clear(&counts);
    return status;
}

/* The part of what could be said beyond chance that is said. */
static double
adjust_share(const struct agreement *agreement, double most)
{
    double beyond = most - agreement->chance;
    return beyond > 1e-9 ? (agreement->shared - agreement->chance) / beyond : 0;
}

double
agreement_mutual(const struct agreement *agreement)
{
    return adjust_share(agreement, (agreement->a + agreement->b) / 2);
}

double
agreement_known(const struct agreement *agreement)
{
    return adjust_share(agreement, agreement->b);
}
