/*
 * test_exact.c: the exact output distribution of every channel that ships, by
 * running its sampler over the tape of its primitives (tape.h), on domains
 * small enough to take every branch.
 *
 * For each domain and epsilon, with probabilities as exact integers over one
 * common denominator:
 *
 *   - they sum to one (with rejection sampling: to the same number for every
 *     point, by which they are then divided), every report is valid, and every
 *     report that one point can give, every other point can give (invariant 1);
 *   - the largest ratio p(report | q) / p(report | q') over all reports and
 *     pairs is at most e^epsilon, and within 1e-15 of it in the exponent at the
 *     domain's vertices (invariant 2);
 *   - the primitives called, and their public arguments, are the same on every
 *     branch and for every point (invariant 7);
 *   - log_p, log_p_many, the realised epsilon, the estimator's mean and its
 * variance are those of that distribution.
 *
 * It prints the table that docs/channels.md shows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>
#include <mpfr.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "host/amount.h"
#include "likelihood/likelihood.h"
#include "privacy/tape.h"

#define PRECISION 512
#define ROOM (1u << 16) /* slots for reports, a power of two */
#define POINTS_MAX 256u
#define ENTRIES_MAX 36u /* k, or d */
#define WIRE_MAX 8u

/* Extremes of p(report | q) over a set of points. */
struct range {
    mpz_t most, least;
    uint32_t points;
};

struct report {
    bool used;
    uint64_t wire;
    mpz_t p; /* numerator of p(report | q) for the q at hand */
    struct range all, vertices;
};

/* One channel on one domain. */
struct exact {
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    void *own;
    uint32_t width; /* integers in a point */
    uint32_t points, vertices;
    int32_t point[POINTS_MAX][ENTRIES_MAX];
    bool vertex[POINTS_MAX];

    struct report *report; /* by hash of the wire */
    uint32_t reports;
    uint64_t branches;
    uint64_t shape;
    mpz_t denominator;
    mpz_t whole; /* what is left of it when rejected branches are not counted */

    mpfr_t gap; /* epsilon - ln of the largest ratio */
    double log_error;
    double variance; /* the largest of the estimator's, over points */
    double off;      /* the most its mean is off, by what it does not see */
};

/* ---- Setting up -----------------------------------------------------------
 */

static void
range_init(struct range *range)
{
    mpz_inits(range->most, range->least, NULL);
    range->points = 0;
}

static void
range_clear(struct range *range)
{
    mpz_clears(range->most, range->least, NULL);
}

static void
range_add(struct range *range, mpz_srcptr p)
{
    if (range->points == 0 || mpz_cmp(p, range->most) > 0) {
        mpz_set(range->most, p);
    }
    if (range->points == 0 || mpz_cmp(p, range->least) < 0) {
        mpz_set(range->least, p);
    }
    range->points++;
}

static void
add_point(struct exact *exact, const int32_t *q, bool vertex)
{
    assert_true(exact->points < POINTS_MAX);
    memcpy(exact->point[exact->points], q, exact->width * sizeof *q);
    exact->vertex[exact->points++] = vertex;
    exact->vertices += vertex;
}

/*
 * Every q in Z^d with |q|_1 <= l, by counting through the cube around it; or
 * that cube; or, from d = 4 on, its corners alone.
 */
static void
add_lattice(struct exact *exact, uint32_t d, int32_t l)
{
    bool cube = exact->instance.channel->domain == CHANNEL_DOMAIN_CUBE;
    int32_t q[ENTRIES_MAX];
    uint32_t i = 0;
    for (uint32_t j = 0; j < d; j++) {
        q[j] = -l;
    }
    while (i < d) {
        int32_t norm = 0, largest = 0, least = l;
        for (uint32_t j = 0; j < d; j++) {
            norm += abs(q[j]);
            largest = abs(q[j]) > largest ? abs(q[j]) : largest;
            least = abs(q[j]) < least ? abs(q[j]) : least;
        }
        if (cube && (d <= 3 || least == l)) {
            add_point(exact, q, least == l);
        } else if (!cube && norm <= l) {
            add_point(exact, q, largest == l);
        }
        for (i = 0; i < d && q[i] == l; i++) {
            q[i] = -l;
        }
        if (i < d) {
            q[i]++;
        }
    }
}

static struct exact *
exact_new(const char *name, uint32_t size, uint32_t rows, uint32_t l,
          uint64_t eps)
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    struct exact *exact = calloc(1, sizeof *exact);
    bool lattice = channel->domain != CHANNEL_DOMAIN_SYMBOLS;
    assert_non_null(exact);
    exact->own = malloc(channel->own_size);
    exact->report = calloc(ROOM, sizeof *exact->report);
    exact->width = lattice ? size : 1;
    mpz_inits(exact->denominator, exact->whole, NULL);
    mpfr_init2(exact->gap, PRECISION);
    assert_int_equal(channel_init(&exact->instance, channel, size, rows, l, eps,
                                  0, exact->own),
                     SOTTO_STATUS_OK);
    assert_int_equal(likelihood_init(&exact->likelihood, &exact->instance),
                     SOTTO_STATUS_OK);
    assert_in_range(exact->instance.wire_size, 1, WIRE_MAX);
    if (lattice) {
        add_lattice(exact, size, (int32_t)l);
    } else {
        for (int32_t q = 0; q < (int32_t)size; q++) {
            add_point(exact, &q, true);
        }
    }
    return exact;
}

static void
exact_free(struct exact *exact)
{
    for (uint32_t i = 0; i < ROOM; i++) {
        if (exact->report[i].used) {
            mpz_clear(exact->report[i].p);
            range_clear(&exact->report[i].all);
            range_clear(&exact->report[i].vertices);
        }
    }
    mpz_clears(exact->denominator, exact->whole, NULL);
    mpfr_clear(exact->gap);
    free(exact->report);
    free(exact->own);
    free(exact);
}

/* ---- Running the sampler over the tape ------------------------------------
 */

static struct report *
find_report(struct exact *exact, uint64_t wire)
{
    uint64_t slot = wire * UINT64_C(0x9e3779b97f4a7c15) >> 48;
    struct report *report;
    for (;; slot++) {
        report = &exact->report[slot % ROOM];
        if (!report->used) {
            break;
        }
        if (report->wire == wire) {
            return report;
        }
    }
    assert_true(exact->reports++ < ROOM / 2);
    report->used = true;
    report->wire = wire;
    mpz_init(report->p);
    range_init(&report->all);
    range_init(&report->vertices);
    return report;
}

/* One branch. The report's memory is dirty before, so that a byte or bit that
   the sampler leaves alone shows up as a report too many. */
static void
run_branch(struct exact *exact, struct tape *tape, const int32_t *q)
{
    const struct channel *channel = exact->instance.channel;
    struct random random;
    struct report *report;
    uint8_t wire[WIRE_MAX];
    tape_random(tape, &random);
    memset(wire, exact->branches % 2 == 0 ? 0x5a : 0xa5, sizeof wire);
    channel->sample(&exact->instance, q, &random, wire);
    assert_false(random.failed);
    assert_true(channel->valid(&exact->instance, wire));
    if (!tape_rejected(tape)) {
        report =
            find_report(exact, bytes_load(wire, exact->instance.wire_size));
        mpz_add(report->p, report->p, tape_numerator(tape));
    }
    if (exact->branches++ == 0) {
        mpz_set(exact->denominator, tape_denominator(tape));
        exact->shape = tape_shape(tape);
    }
    assert_int_equal(mpz_cmp(exact->denominator, tape_denominator(tape)), 0);
    assert_true(exact->shape == tape_shape(tape)); /* invariant 7 */
}

/* Whether the channel samples by rejection on this domain. */
static bool
rejects(const struct exact *exact)
{
    return strcmp(exact->instance.channel->name, "duchi") == 0 &&
           exact->instance.size % 2 == 0;
}

static void
run_point(struct exact *exact, const int32_t *q)
{
    struct tape *tape = tape_new();
    mpz_t sum;
    for (uint32_t i = 0; i < ROOM; i++) {
        if (exact->report[i].used) {
            mpz_set_ui(exact->report[i].p, 0);
        }
    }
    do {
        run_branch(exact, tape, q);
    } while (tape_next(tape));
    mpz_init(sum);
    for (uint32_t i = 0; i < ROOM; i++) {
        if (exact->report[i].used) {
            mpz_add(sum, sum, exact->report[i].p);
        }
    }
    if (mpz_sgn(exact->whole) == 0) {
        mpz_set(exact->whole, sum);
    }
    assert_int_equal(mpz_cmp(sum, exact->whole), 0);
    assert_int_equal(mpz_cmp(sum, exact->denominator) != 0, rejects(exact));
    mpz_clear(sum);
    tape_free(tape);
}

/* ---- Checking one point's distribution ------------------------------------
 */

/* ln p and p, from the exact fraction. */
static void
probability(const struct exact *exact, const struct report *report,
            double *ret_p, mpfr_t ret_log)
{
    mpfr_t whole;
    mpfr_init2(whole, PRECISION);
    mpfr_set_z(ret_log, report->p, MPFR_RNDN);
    mpfr_set_z(whole, exact->whole, MPFR_RNDN);
    mpfr_div(ret_log, ret_log, whole, MPFR_RNDN);
    *ret_p = mpfr_get_d(ret_log, MPFR_RNDN);
    mpfr_log(ret_log, ret_log, MPFR_RNDN);
    mpfr_clear(whole);
}

static void
note_log_error(struct exact *exact, double log_p, mpfr_srcptr truth)
{
    mpfr_t error;
    double scale = fmax(1, fabs(mpfr_get_d(truth, MPFR_RNDN)));
    mpfr_init2(error, PRECISION);
    mpfr_sub_d(error, truth, log_p, MPFR_RNDN);
    exact->log_error =
        fmax(exact->log_error, fabs(mpfr_get_d(error, MPFR_RNDN)) / scale);
    mpfr_clear(error);
}

static void
check_log_p(struct exact *exact, uint32_t at, const uint8_t *wire,
            mpfr_srcptr truth)
{
    const struct likelihood_instance *own = &exact->likelihood;
    int32_t packed[POINTS_MAX * ENTRIES_MAX];
    double many[POINTS_MAX];
    for (uint32_t i = 0; i < exact->points; i++) {
        memcpy(packed + i * exact->width, exact->point[i],
               exact->width * sizeof packed[0]);
    }
    own->likelihood->log_p_many(own, wire, packed, exact->points, many);
    note_log_error(exact, many[at], truth);
    note_log_error(exact, own->likelihood->log_p(own, wire, exact->point[at]),
                   truth);
}

/* The indicator of a pair, less what its row and its column say by themselves:
   [c=i, y=j] - [c=i]/k_2 - [y=j]/k_1 + 2/k. */
static double
interaction_at(const struct exact *exact, uint32_t at, uint32_t entry)
{
    uint32_t k1 = exact->instance.rows, k2 = exact->instance.size / k1;
    uint32_t q = (uint32_t)exact->point[at][0];
    double row = q / k2 == entry / k2, column = q % k2 == entry % k2;
    return row * column - row / k2 - column / k1 + 2.0 / (k1 * k2);
}

/* What the estimator should give on average: q, or the indicator of q. */
static double
truth_at(const struct exact *exact, uint32_t at, uint32_t entry)
{
    if (exact->instance.channel->pairs) {
        return interaction_at(exact, at, entry);
    }
    if (exact->instance.channel->domain != CHANNEL_DOMAIN_SYMBOLS) {
        return exact->point[at][entry];
    }
    return exact->point[at][0] == (int32_t)entry;
}

static double
variance_at(const struct exact *exact, uint32_t at, uint32_t entry)
{
    double truth = truth_at(exact, at, entry);
    if (exact->instance.channel->pairs) {
        double k = exact->instance.size, mean = truth - 1 / k;
        return exact->likelihood.variance_other + 1 / (k * k) - mean * mean;
    }
    switch (exact->instance.channel->domain) {
    case CHANNEL_DOMAIN_SYMBOLS:
        return truth == 1 ? exact->likelihood.variance_true
                          : exact->likelihood.variance_other;
    case CHANNEL_DOMAIN_CUBE: /* signs: l^2/c^2 - q_j^2 */
        return exact->likelihood.variance_true - truth * truth;
    default:
        return exact->likelihood.variance_true;
    }
}

/* The claim is the variance, or where there is but one number its largest. */
static void
check_moments(struct exact *exact, uint32_t at, const double *mean,
              const double *square)
{
    for (uint32_t i = 0; i < exact->instance.size; i++) {
        double variance = variance_at(exact, at, i);
        double above = square[i] - variance;
        double slack =
            1e-9 * variance + 1e-15 * exact->likelihood.variance_true;
        double bias =
            exact->instance.channel->pairs ? 0 : exact->likelihood.bias;
        assert_true(fabs(mean[i]) <= 1e-9 * fmax(1, sqrt(variance)) + bias);
        assert_true(above <= slack);
        assert_true(exact->instance.channel->scalar || -above <= slack);
        exact->variance = fmax(exact->variance, square[i]);
        if (exact->instance.channel->pairs) {
            bool same = exact->point[at][0] == (int32_t)i;
            exact->off =
                fmax(exact->off, fabs(interaction_at(exact, at, i) - same));
            assert_true(!same ||
                        fabs(variance - exact->likelihood.variance_true) <=
                            1e-9 * variance);
        }
    }
}

/* And there it is reached. */
static void
check_worst(const struct exact *exact)
{
    double claimed = exact->likelihood.variance_true;
    if (exact->instance.channel->scalar) {
        assert_true(fabs(exact->variance - claimed) <= 1e-9 * claimed);
    }
    if (exact->instance.channel->pairs) {
        claimed = exact->likelihood.variance_other;
        assert_true(fabs(exact->variance - claimed) <= 1e-9 * claimed);
        assert_true(fabs(exact->off - exact->likelihood.bias) <= 1e-15);
    }
}

/* Moments are taken about the truth, so that none is lost to cancellation. */
static void
check_point(struct exact *exact, uint32_t at)
{
    double mean[ENTRIES_MAX] = {0}, square[ENTRIES_MAX] = {0};
    mpfr_t log_p;
    mpfr_init2(log_p, PRECISION);
    for (uint32_t i = 0; i < ROOM; i++) {
        struct report *report = &exact->report[i];
        double estimate[ENTRIES_MAX], p;
        uint8_t wire[WIRE_MAX];
        if (!report->used || mpz_sgn(report->p) == 0) {
            continue;
        }
        range_add(&report->all, report->p);
        if (exact->vertex[at]) {
            range_add(&report->vertices, report->p);
        }
        bytes_store(wire, WIRE_MAX, report->wire);
        probability(exact, report, &p, log_p);
        check_log_p(exact, at, wire, log_p);
        exact->likelihood.likelihood->estimate(&exact->likelihood, wire,
                                               estimate);
        for (uint32_t j = 0; j < exact->instance.size; j++) {
            double off = estimate[j] - truth_at(exact, at, j);
            mean[j] += p * off;
            square[j] += p * off * off;
        }
    }
    check_moments(exact, at, mean, square);
    mpfr_clear(log_p);
}

/* ---- Checking the ratio ----------------------------------------------------
 */

static void
exact_eps(uint64_t units, mpfr_t ret)
{
    mpfr_set_ui(ret, units, MPFR_RNDD);
    mpfr_div_ui(ret, ret, DECIMAL_UNIT, MPFR_RNDD);
}

/* floor(e^epsilon 2^PRECISION), so that the comparison is one of integers. */
static void
scaled_bound(uint64_t units, mpz_t ret)
{
    mpfr_t bound;
    mpfr_init2(bound, 2 * PRECISION);
    exact_eps(units, bound);
    mpfr_exp(bound, bound, MPFR_RNDD);
    mpfr_mul_2ui(bound, bound, PRECISION, MPFR_RNDD);
    mpfr_get_z(ret, bound, MPFR_RNDD);
    mpfr_clear(bound);
}

/* most / least <= e^epsilon, strictly and exactly. */
static void
check_bound(const struct range *range, mpz_srcptr bound)
{
    mpz_t left, right;
    mpz_inits(left, right, NULL);
    mpz_mul_2exp(left, range->most, PRECISION);
    mpz_mul(right, range->least, bound);
    assert_true(mpz_cmp(left, right) <= 0);
    mpz_clears(left, right, NULL);
}

/* epsilon - ln(most / least), if that is the least yet. */
static void
take_gap(const struct range *range, mpfr_srcptr eps, mpfr_t gap)
{
    mpfr_t ratio, least;
    mpfr_inits2(PRECISION, ratio, least, (mpfr_ptr)NULL);
    mpfr_set_z(ratio, range->most, MPFR_RNDN);
    mpfr_set_z(least, range->least, MPFR_RNDN);
    mpfr_div(ratio, ratio, least, MPFR_RNDN);
    mpfr_log(ratio, ratio, MPFR_RNDN);
    mpfr_sub(ratio, eps, ratio, MPFR_RNDN);
    if (mpfr_cmp(ratio, gap) < 0) {
        mpfr_set(gap, ratio, MPFR_RNDN);
    }
    mpfr_clears(ratio, least, (mpfr_ptr)NULL);
}

/* likelihood.h: the realised epsilon is below the stated one by less than 2^-59
   of it, and so what the tables realise is, in units rounded up, the stated
   one. */
static void
check_eps_exact(const struct exact *exact, mpfr_srcptr eps, mpfr_srcptr gap)
{
    mpfr_t most;
    mpfr_init2(most, PRECISION);
    mpfr_mul_2si(most, eps, -59, MPFR_RNDN);
    assert_true(mpfr_sgn(gap) >= 0 && mpfr_less_p(gap, most));
    assert_true(exact->likelihood.realised == exact->instance.eps);
    mpfr_clear(most);
}

static void
check_ratio(struct exact *exact)
{
    mpz_t bound;
    mpfr_t eps, vertices;
    mpz_init(bound);
    mpfr_inits2(PRECISION, eps, vertices, (mpfr_ptr)NULL);
    scaled_bound(exact->instance.eps, bound);
    exact_eps(exact->instance.eps, eps);
    mpfr_set_inf(exact->gap, 1);
    mpfr_set_inf(vertices, 1);
    for (uint32_t i = 0; i < ROOM; i++) {
        const struct report *report = &exact->report[i];
        if (report->used) {
            assert_int_equal(report->all.points, exact->points);
            assert_int_equal(report->vertices.points, exact->vertices);
            check_bound(&report->all, bound);
            take_gap(&report->all, eps, exact->gap);
            take_gap(&report->vertices, eps, vertices);
        }
    }
    assert_true(mpfr_sgn(exact->gap) >= 0);
    assert_true(mpfr_cmp_d(vertices, 1e-15) <= 0);
    check_eps_exact(exact, eps, exact->gap);
    mpfr_clears(eps, vertices, (mpfr_ptr)NULL);
    mpz_clear(bound);
}

/* ---- The cases -------------------------------------------------------------
 */

static void
print_row(const struct exact *exact)
{
    const struct channel_instance *instance = &exact->instance;
    char domain[32], eps[DECIMAL_TEXT_SIZE];
    amount_write(instance->eps, eps);
    if (instance->channel->domain != CHANNEL_DOMAIN_SYMBOLS) {
        snprintf(domain, sizeof domain, "d=%u l=%u", instance->size,
                 instance->l);
    } else if (instance->channel->pairs) {
        snprintf(domain, sizeof domain, "k=%ux%u", instance->rows,
                 instance->size / instance->rows);
    } else {
        snprintf(domain, sizeof domain, "k=%u", instance->size);
    }
    mpfr_printf("| %-7s | %-8s | %8s | %3u | %5u | %7lu | %9.2Re | %7.1e |\n",
                instance->channel->name, domain, eps, exact->points,
                exact->reports, (unsigned long)exact->branches, exact->gap,
                exact->log_error);
}

static void
check_rows(const char *name, uint32_t size, uint32_t rows, uint32_t l,
           uint64_t eps)
{
    struct exact *exact = exact_new(name, size, rows, l, eps);
    for (uint32_t i = 0; i < exact->points; i++) {
        run_point(exact, exact->point[i]);
        check_point(exact, i);
    }
    check_ratio(exact);
    check_worst(exact);
    print_row(exact);
    assert_true(exact->log_error <= 1e-15);
    exact_free(exact);
}

static void
check_channel(const char *name, uint32_t size, uint32_t l, uint64_t eps)
{
    check_rows(name, size, 0, l, eps);
}

static const uint64_t epsilons[] = {DECIMAL_UNIT / 10, DECIMAL_UNIT,
                                    4 * DECIMAL_UNIT, 10 * DECIMAL_UNIT};
#define EPSILONS (sizeof epsilons / sizeof epsilons[0])

static void
test_flip_is_exact_invariants_1_and_2(void **state)
{
    static const uint32_t k[] = {2, 3, 5, 10};
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        for (size_t j = 0; j < EPSILONS; j++) {
            check_channel("flip", k[i], 0, epsilons[j]);
        }
    }
}

static void
test_subset_is_exact_invariants_1_and_2(void **state)
{
    static const uint32_t k[] = {2, 3, 5, 8, 10};
    (void)state;
    for (size_t i = 0; i < sizeof k / sizeof k[0]; i++) {
        for (size_t j = 0; j < EPSILONS; j++) {
            check_channel("subset", k[i], 0, epsilons[j]);
        }
    }
}

/* Odd and even sizes, and their every combination. */
static void
test_signs_are_exact_invariants_1_and_2(void **state)
{
    (void)state;
    for (uint32_t k1 = 2; k1 <= 6; k1++) {
        for (uint32_t k2 = 2; k2 <= 6; k2++) {
            for (size_t j = 0; j < EPSILONS; j++) {
                if ((k1 <= 3 && k2 <= 3) || j < 2) {
                    check_rows("signs", k1 * k2, k1, 0, epsilons[j]);
                }
            }
        }
    }
}

static void
test_laplace_on_a_line_is_exact_invariants_1_and_2(void **state)
{
    (void)state;
    for (uint32_t l = 1; l <= 3; l++) {
        for (size_t j = 0; j < EPSILONS; j++) {
            check_channel("laplace", 1, l, epsilons[j]);
        }
    }
}

static void
test_laplace_in_space_is_exact_invariants_1_and_2(void **state)
{
    (void)state;
    for (uint32_t l = 1; l <= 2; l++) {
        check_channel("laplace", 2, l, 4 * DECIMAL_UNIT);
        check_channel("laplace", 2, l, 10 * DECIMAL_UNIT);
    }
    check_channel("laplace", 3, 1, 10 * DECIMAL_UNIT);
}

/* Every point of the cube up to d = 3, its corners above. */
static void
test_duchi_is_exact_invariants_1_and_2(void **state)
{
    (void)state;
    for (uint32_t d = 1; d <= 8; d++) {
        for (size_t j = 0; j < EPSILONS; j++) {
            if (d <= 5 || j == 1 || j == 2) {
                check_channel("duchi", d, 1, epsilons[j]);
            }
            if (d <= 3) {
                check_channel("duchi", d, 2, epsilons[j]);
            }
        }
    }
}

/* p(t | v) of a corner v, where t.v is positive or negative, from the sampler:
   integers over exact->whole. */
static void
take_sides(struct exact *exact, mpz_t ret_agree, mpz_t ret_differ)
{
    uint64_t all = (UINT64_C(1) << exact->instance.size) - 1;
    run_point(exact, exact->point[exact->points - 1]); /* every v_j = +1 */
    mpz_set(ret_agree, find_report(exact, all)->p);
    mpz_set(ret_differ, find_report(exact, 0)->p);
    assert_int_equal(exact->reports, all + 1);
}

/*
 * Commonly t is drawn uniformly from {t.v >= 0} with probability e/(e+1),
 * e = e^eps, and else from {t.v <= 0}: a tie has what either side has,
 * together. Such a t is opposite to the corner -t, so the ratio would be
 * (agree + differ) / differ = 1 + e.
 */
static void
test_ties_on_both_sides_would_not_meet_epsilon(void **state)
{
    (void)state;
    for (uint32_t d = 2; d <= 8; d += 2) {
        struct exact *exact = exact_new("duchi", d, 0, 1, DECIMAL_UNIT);
        struct range tie, ours;
        mpz_t agree, differ;
        mpfr_t gap, expected;
        mpz_inits(agree, differ, NULL);
        mpfr_inits2(PRECISION, gap, expected, (mpfr_ptr)NULL);
        range_init(&tie);
        range_init(&ours);
        take_sides(exact, agree, differ);
        range_add(&ours, agree);
        range_add(&ours, differ);
        range_add(&tie, differ);
        mpz_add(agree, agree, differ);
        range_add(&tie, agree);
        mpfr_set_ui(expected, 1, MPFR_RNDN);
        mpfr_exp(expected, expected, MPFR_RNDN);
        mpfr_add_ui(expected, expected, 1, MPFR_RNDN);
        mpfr_log(expected, expected, MPFR_RNDN); /* ln(1 + e) = 1.313... */
        mpfr_set_inf(gap, 1);
        take_gap(&tie, expected, gap);
        assert_true(mpfr_sgn(gap) >= 0 && mpfr_cmp_d(gap, 1e-15) <= 0);
        mpfr_set_ui(expected, 1, MPFR_RNDN);
        mpfr_set_inf(gap, 1);
        take_gap(&ours, expected, gap);
        assert_true(mpfr_sgn(gap) >= 0 && mpfr_cmp_d(gap, 1e-15) <= 0);
        range_clear(&tie);
        range_clear(&ours);
        mpfr_clears(gap, expected, (mpfr_ptr)NULL);
        mpz_clears(agree, differ, NULL);
        exact_free(exact);
    }
}

static void
test_window_is_exact_invariants_1_and_2(void **state)
{
    (void)state;
    for (uint32_t l = 1; l <= 8; l++) {
        for (size_t j = 0; j < EPSILONS; j++) {
            check_channel("window", 1, l, epsilons[j]);
        }
    }
}

/* Digits are least probable, and thresholds closest to 0 and 1, out here. */
static void
test_channels_are_exact_at_the_ends_of_epsilon(void **state)
{
    (void)state;
    check_channel("flip", 2, 0, DECIMAL_EPS_MIN);
    check_channel("flip", 10, 0, DECIMAL_EPS_MIN);
    check_channel("subset", 10, 0, DECIMAL_EPS_MIN);
    check_rows("signs", 6, 3, 0, DECIMAL_EPS_MIN);
    check_rows("signs", 12, 3, 0, DECIMAL_EPS_MIN);
    check_channel("flip", 2, 0, DECIMAL_EPS_MAX);
    check_channel("flip", 10, 0, DECIMAL_EPS_MAX);
    check_channel("subset", 10, 0, DECIMAL_EPS_MAX);
    check_rows("signs", 6, 3, 0, DECIMAL_EPS_MAX);
    check_rows("signs", 12, 3, 0, DECIMAL_EPS_MAX);
    for (uint32_t l = 1; l <= 10; l++) {
        check_channel("laplace", 1, l, DECIMAL_EPS_MAX);
    }
    check_channel("laplace", 3, 1, DECIMAL_EPS_MAX);
    for (uint32_t d = 1; d <= 4; d++) {
        check_channel("duchi", d, 1, DECIMAL_EPS_MIN);
        check_channel("duchi", d, 1, DECIMAL_EPS_MAX);
    }
    check_channel("window", 1, 8, DECIMAL_EPS_MIN);
    check_channel("window", 1, 8, DECIMAL_EPS_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flip_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_subset_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_signs_are_exact_invariants_1_and_2),
        cmocka_unit_test(test_laplace_on_a_line_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_laplace_in_space_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_duchi_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_ties_on_both_sides_would_not_meet_epsilon),
        cmocka_unit_test(test_window_is_exact_invariants_1_and_2),
        cmocka_unit_test(test_channels_are_exact_at_the_ends_of_epsilon),
    };
    printf("| channel | domain | eps | points | reports | branches "
           "| eps - ln ratio | log p error |\n"
           "|---|---|---|---|---|---|---|---|\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
