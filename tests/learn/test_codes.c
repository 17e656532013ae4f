/*
 * test_codes.c: what reports say of pairs, against the channels' own log p; the
 * likelihood of a table and its gradient.
 */
#include "codes_fixture.h"

#include "fail_alloc.h"
#include "learn_codebook.h"

#define CELLS 7u
#define CLASSES 4u
#define PAIRS (CELLS * CLASSES)
#define REPORTS 1500u

static struct crowd crowd;
static double table[PAIRS];

static void
make(const char *channel, double eps, double label_eps)
{
    crowd_table(&crowd, CELLS, CLASSES, 0.8, 0.1, true, 3);
    crowd_report(&crowd, channel, eps, label_eps, CELLS, CLASSES, REPORTS, 4);
    for (size_t p = 0; p < PAIRS; p++) {
        table[p] = crowd.pi[p / CLASSES] * (0.5 * crowd.tau[p] + 0.125);
    }
}

/* L as kept. */
static double
kept(const struct codes *codes, size_t report, size_t pair)
{
    const void *b = codes_column(codes, report / CODES_BLOCK, pair);
    size_t at = report % CODES_BLOCK;
    double value = 0;
    if (codes->width == CODES_8) {
        value = ((const uint8_t *)b)[at];
    } else {
        value = (double)((const float *)b)[at];
    }
    return codes->lo + codes->step * value;
}

/* Every L of every report, up to one factor a report: off by so much, or by
   that share of it. */
static void
check_kept(const struct codes *codes, double tolerance, double share)
{
    int32_t *q = codes_points(&crowd.shape);
    for (size_t i = 0; i < REPORTS; i++) {
        double log_p[PAIRS], room[CELLS + CLASSES], most = -INFINITY;
        codes_log_p(&crowd.shape, crowd.report[i], q, room, log_p);
        for (size_t p = 0; p < PAIRS; p++) {
            most = log_p[p] > most ? log_p[p] : most;
        }
        for (size_t p = 0; p < PAIRS; p++) {
            double l = exp(log_p[p] - most);
            assert_true(fabs(kept(codes, i, p) - l) < tolerance + share * l);
        }
    }
    free(q);
}

static void
test_two_levels(void **state)
{
    static const char *const channel[] = {"subset", "flip", "signs"};
    struct codes codes;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        make(channel[i], 1.5, 0);
        must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL,
                        &err));
        assert_int_equal(codes.width, CODES_8);
        assert_int_equal(codes.pairs, PAIRS); /* without "other" */
        assert_true(fabs(codes.lo - exp(-1.5)) < 1e-9);
        check_kept(&codes, 1e-12, 0);
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
}

/* sum_i ln sum_p J_p p(r_i | p), by the channel itself. */
static double
plain_log_p(const double *j)
{
    int32_t *q = codes_points(&crowd.shape);
    double sum = 0;
    for (size_t i = 0; i < REPORTS; i++) {
        double log_p[PAIRS], room[CELLS + CLASSES], s = 0;
        codes_log_p(&crowd.shape, crowd.report[i], q, room, log_p);
        for (size_t p = 0; p < PAIRS; p++) {
            s += j[p] * exp(log_p[p]);
        }
        sum += log(s);
    }
    free(q);
    return sum;
}

/* The same and its gradient, in doubles. */
static double
plain_pass(const double *j, double *ret_g)
{
    int32_t *q = codes_points(&crowd.shape);
    double sum = 0;
    memset(ret_g, 0, PAIRS * sizeof *ret_g);
    for (size_t i = 0; i < REPORTS; i++) {
        double log_p[PAIRS], room[CELLS + CLASSES], s = 0;
        codes_log_p(&crowd.shape, crowd.report[i], q, room, log_p);
        for (size_t p = 0; p < PAIRS; p++) {
            s += j[p] * exp(log_p[p]);
        }
        for (size_t p = 0; p < PAIRS; p++) {
            ret_g[p] += exp(log_p[p]) / s;
        }
        sum += log(s);
    }
    free(q);
    return sum;
}

/* A code and a label apart: four levels, each as exact as a float. */
static void
test_more_levels(void **state)
{
    static const double eps[] = {1.7, 10, 12, 16, 32};
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        struct codes codes;
        double g[PAIRS], want[PAIRS], log_p;
        make("subset", 0.6 * eps[i], 0.4 * eps[i]);
        must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL,
                        &err));
        assert_int_equal(codes.width, CODES_32);
        check_kept(&codes, 0, 1e-7);
        log_p = plain_pass(table, want);
        assert_true(fabs(codes_pass(&codes, table, g) - log_p) <
                    1e-6 * REPORTS);
        for (size_t p = 0; p < PAIRS; p++) {
            assert_true(fabs(g[p] - want[p]) < 1e-5 * want[p]);
        }
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
}

static void
test_pass(void **state)
{
    static const double label_eps[] = {0, 0.7};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct codes codes;
        double g[PAIRS];
        make("subset", 1.5, label_eps[i]);
        must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL,
                        &err));
        assert_true(fabs(codes_pass(&codes, table, g) - plain_log_p(table)) <
                    0.02);
        for (size_t p = 0; p < PAIRS; p++) {
            double up[PAIRS], down[PAIRS], slope, h = 1e-3 * table[p];
            memcpy(up, table, sizeof up);
            memcpy(down, table, sizeof down);
            up[p] += h;
            down[p] -= h;
            slope = (plain_log_p(up) - plain_log_p(down)) / (2 * h);
            assert_true(fabs(g[p] - slope) < 2e-4 * fabs(slope));
        }
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
}

/* To the last bit. */
static void
test_threads(void **state)
{
    double g[2][PAIRS], log_p[2];
    (void)state;
    make("subset", 1, 0);
    for (unsigned i = 0; i < 2; i++) {
        struct host_pool *pool = NULL;
        struct codes codes;
        must(host_pool_new(i + 1, &pool, &err));
        must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, pool,
                        &err));
        log_p[i] = codes_pass(&codes, table, g[i]);
        codes_clear(&codes);
        host_pool_free(pool);
    }
    assert_true(log_p[0] == log_p[1]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    crowd_clear(&crowd);
}

/* The kernels of this processor and of every processor: the same bits. */
static void
test_kernels(void **state)
{
    enum { N = 1024 };
    static uint8_t b[4][N];
    static float u[N], a[N], s[2][N], real[4][N];
    const struct codes_kernel *kernel[] = {codes_kernel_best(),
                                           codes_kernel_plain()};
    double got[2][8];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        u[i] = 0.2F + (float)(i % 37) / 50;
        a[i] = 0.1F + (float)(i % 53) / 60;
        s[0][i] = s[1][i] = i == 5 ? -1 : 0.5F + (float)(i % 11) / 30;
        for (size_t j = 0; j < 4; j++) {
            b[j][i] = (uint8_t)((i * (j + 3)) % 7 < 3);
            real[j][i] = (float)b[j][i];
        }
    }
    for (size_t k = 0; k < 2; k++) {
        struct codes_move move = {u,
                                  a,
                                  0.1F,
                                  0.7F,
                                  {b[0], b[1], b[2], b[3]},
                                  {0.01F, -0.01F, 0.02F, -0.02F}};
        const struct codes_kept *as = kernel[k]->kept;
        got[k][0] = kernel[k]->log_sum(s[k], N);
        as[CODES_8].add(b[0], N, 0.3F, s[k]);
        as[CODES_32].add(real[1], N, 0.2F, s[k]);
        got[k][1] = as[CODES_8].dot(b[1], u, N);
        got[k][2] = as[CODES_32].dot(real[1], u, N);
        got[k][3] = kernel[k]->stay(&move, N);
        got[k][4] = as[CODES_8].move(&move, N);
        got[k][5] = as[CODES_8].swap(&move, N);
        for (size_t j = 0; j < 4; j++) {
            move.column[j] = real[j];
        }
        got[k][6] = as[CODES_32].move(&move, N);
        got[k][7] = as[CODES_32].swap(&move, N);
    }
    /* The same numbers, whatever they are kept in. */
    assert_true(got[0][1] == got[0][2] && got[0][4] == got[0][6] &&
                got[0][5] == got[0][7]);
    assert_memory_equal(got[0], got[1], sizeof got[0]);
    assert_memory_equal(s[0], s[1], sizeof s[0]);
    /* And right: one of them by a plain loop. */
    for (size_t i = 0; i < N; i++) {
        got[0][5] -= log(0.1 * (double)u[i] +
                         0.7 * ((double)a[i] + 0.01 * (b[0][i] - b[1][i]) +
                                0.02 * (b[2][i] - b[3][i])));
    }
    assert_true(fabs(got[0][5]) < 1e-3);
}

/* The smaller epsilon, the larger; and as the channel says. */
static void
test_error(void **state)
{
    static const double eps[] = {0.25, 0.5, 2};
    double error[3], information[PAIRS];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct codes codes;
        make("subset", eps[i], 0);
        must(codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL,
                        &err));
        codes_information(&codes, crowd.pi, crowd.even, information);
        error[i] = codes_error(&codes, information);
        codes_clear(&codes);
        crowd_clear(&crowd);
    }
    /* The channel's own deviation of a pair's frequency, over a cell's share.
     */
    make("subset", 0.25, 0);
    assert_true(
        fabs(error[0] / (CELLS * sqrt(crowd.code.variance_other / REPORTS)) -
             1) < 0.1);
    crowd_clear(&crowd);
    /* At a small epsilon it goes with 1 / epsilon. */
    assert_true(fabs(error[0] / error[1] - 2) < 0.2);
    assert_true(error[2] < error[1] / 3);
}

static void
test_shape(void **state)
{
    struct sotto_mechanism *mechanism = open_codebook(DECIMAL_UNIT, true);
    struct codes_shape shape;
    (void)state;
    assert_true(mechanism->shape.code != SIZE_MAX);
    must(codes_shape_init(&shape, mechanism, false, &err));
    assert_int_equal(shape.cells, 3);
    assert_int_equal(shape.symbols, 3);
    assert_int_equal(shape.classes, 2);
    assert_int_equal(shape.column, 2);
    assert_null(shape.label);
    must(codes_shape_init(&shape, mechanism, true, &err));
    assert_int_equal(shape.classes, 3);
    sotto_mechanism_free(mechanism);
    mechanism = open_codebook(DECIMAL_UNIT, false);
    must(codes_shape_init(&shape, mechanism, false, &err));
    assert_int_equal(shape.cells, 3);
    assert_int_equal(shape.symbols, 3);
    assert_non_null(shape.label);
    sotto_mechanism_free(mechanism);
    mechanism = open_no_codebook();
    assert_false(mechanism->shape.code != SIZE_MAX);
    assert_int_equal(codes_shape_init(&shape, mechanism, false, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "has no code"));
    sotto_mechanism_free(mechanism);
}

/* One cell more than there is room for, before anything is allocated; and one
   that would be too many, if they were counted first. */
static void
test_limit(void **state)
{
    const size_t blocks = (REPORTS + CODES_BLOCK - 1) / CODES_BLOCK;
    const size_t most = 2000000000u / CODES_BLOCK / blocks;
    static const size_t classes[] = {1, 65536, SIZE_MAX / 2};
    struct codes codes;
    (void)state;
    make("subset", 1, 0.7);
    for (size_t i = 0; i < 3; i++) {
        struct codes_shape shape = crowd.shape;
        shape.classes = classes[i];
        shape.cells = i < 2 ? most / classes[i] + 1 : SIZE_MAX / 4;
        fail_alloc_at(1);
        assert_int_equal(
            codes_init(&codes, &shape, crowd.report, REPORTS, NULL, &err),
            SOTTO_STATUS_LIMIT);
        assert_int_equal(fail_alloc_count(), 0);
        fail_alloc_at(0);
        assert_null(codes.b);
        assert_non_null(strstr(err.message, "are too many to be learnt"));
    }
    crowd_clear(&crowd);
}

static void
test_memory(void **state)
{
    struct codes codes;
    enum sotto_status status;
    long n = 0;
    (void)state;
    make("subset", 1, 0);
    assert_int_equal(
        codes_init(&codes, &crowd.shape, crowd.report, 0, NULL, &err),
        SOTTO_STATUS_INPUT);
    do {
        fail_alloc_at(++n);
        status =
            codes_init(&codes, &crowd.shape, crowd.report, REPORTS, NULL, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        codes_clear(&codes);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 7);
    crowd_clear(&crowd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_levels), cmocka_unit_test(test_more_levels),
        cmocka_unit_test(test_limit),      cmocka_unit_test(test_pass),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_error),      cmocka_unit_test(test_shape),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
