/*
 * test_posterior.c: weights against the plain computation in doubles, dense
 * and sparse, by distances and by log p.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "host/pool.h"
#include "learn/lattice/posterior_kernel.h"
#include "posterior_weights.h"

#define POINTS 700u
#define REPORTS 150u

struct stage {
    struct sotto_mechanism *mechanism;
    struct sotto_table *table;
    struct prior_shape shape;
    struct prior prior;
    int32_t *point;
    uint8_t *reports;
    const uint8_t *report[REPORTS];
    size_t first[3];
};

/* "mixed"; with l 0, "towns". */
static struct stage
stage_of(uint64_t eps, uint32_t l)
{
    struct stage stage = {.first = {0, 64, 100}};
    struct sotto_table *records =
        l > 0 ? mixed_rows(REPORTS, 8) : town_rows(REPORTS, 8);
    stage.mechanism = l > 0 ? open_mixed(eps, DECIMAL_UNIT, l) : open_towns();
    stage.table = l > 0 ? mixed_rows(POINTS, 7) : town_rows(POINTS, 7);
    stage.point = points_of(stage.mechanism, stage.table);
    stage.reports = simulate(stage.mechanism, records, 9);
    for (size_t i = 0; i < REPORTS; i++) {
        stage.report[i] =
            stage.reports + i * stage.mechanism->shape.report_size;
    }
    must(prior_shape_init(&stage.shape, stage.mechanism, true, &err));
    sotto_table_free(records);
    return stage;
}

static void
stage_prior(struct stage *stage)
{
    must(prior_init(&stage->prior, &stage->shape, stage->point, POINTS, &err));
}

static void
stage_clear(struct stage *stage)
{
    prior_clear(&stage->prior);
    prior_shape_clear(&stage->shape);
    free(stage->point);
    free(stage->reports);
    sotto_table_free(stage->table);
    sotto_mechanism_free(stage->mechanism);
}

static struct posterior *
posterior_of(struct stage *stage, struct host_pool *pool, double tau,
             bool general)
{
    struct posterior_options options = {.tau = tau, .general = general};
    struct posterior *posterior = NULL;
    stage->prior.shape = &stage->shape;
    must(posterior_new(&stage->prior, stage->report, REPORTS, stage->first, 3,
                       pool, &options, &posterior, &err));
    return posterior;
}

/* w_nm in doubles, by one log_p at a time. */
static void
plain_weights(const struct stage *stage, size_t n, double *w)
{
    double most = -INFINITY, sum = 0;
    for (size_t m = 0; m < POINTS; m++) {
        w[m] = 0;
        for (size_t b = 0; b < stage->shape.blocks; b++) {
            const struct prior_block *block = &stage->shape.block[b];
            w[m] += block->likelihood->likelihood->log_p(
                block->likelihood, stage->report[n] + block->offset,
                stage->point + m * stage->shape.width + block->at);
        }
        most = w[m] > most ? w[m] : most;
    }
    for (size_t m = 0; m < POINTS; m++) {
        w[m] = exp(w[m] - most);
        sum += w[m];
    }
    for (size_t m = 0; m < POINTS; m++) {
        w[m] /= sum;
    }
}

/* The largest sum of |w' - w| over a report. */
static double
worst_error(const struct stage *stage, const struct posterior *posterior)
{
    static double right[POINTS], got[POINTS];
    double worst = 0;
    for (size_t n = 0; n < REPORTS; n++) {
        double error = 0, sum = 0;
        plain_weights(stage, n, right);
        posterior_weights(posterior, n, got);
        for (size_t m = 0; m < POINTS; m++) {
            error += fabs(got[m] - right[m]);
            sum += got[m];
        }
        assert_true(fabs(sum - 1) < 1e-5);
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* The stated bound: 2^-12 before the weights add up to 1 again, and at most as
   much after; the least code; float costs. */
static void
test_dense(void **state)
{
    struct stage stage = stage_of(3 * DECIMAL_UNIT, 4096);
    (void)state;
    stage_prior(&stage);
    for (int general = 0; general < 2; general++) {
        struct posterior *posterior =
            posterior_of(&stage, NULL, 0, general != 0);
        assert_true(posterior->kept == 1 && posterior->truncated == 0);
        assert_true(posterior->bytes == 704.0 * 2 * REPORTS);
        assert_true(worst_error(&stage, posterior) <
                    2 * POSTERIOR_ERROR + POINTS * POSTERIOR_LEAST + 1e-5);
        posterior_free(posterior);
    }
    stage_clear(&stage);
}

/* Little noise: few points matter, and what is cut is at most tau. */
static void
test_sparse(void **state)
{
    struct stage stage = stage_of(0, 0);
    struct posterior *posterior, *whole;
    (void)state;
    stage_prior(&stage);
    posterior = posterior_of(&stage, NULL, 5e-2, false);
    whole = posterior_of(&stage, NULL, -1, false);
    assert_true(posterior->kept < 0.8);
    assert_true(posterior->truncated > 0 && posterior->truncated <= 5e-2);
    assert_true(posterior->bytes < whole->bytes);
    assert_true(whole->kept == 1 && whole->truncated == 0);
    assert_true(worst_error(&stage, posterior) <
                2 * (POSTERIOR_ERROR + POINTS * POSTERIOR_LEAST + 5e-2) + 1e-4);
    assert_true(worst_error(&stage, whole) <
                2 * (POSTERIOR_ERROR + POINTS * POSTERIOR_LEAST) + 1e-4);
    posterior_free(posterior);
    posterior_free(whole);
    stage_clear(&stage);
}

/* dots and add over dense and sparse rows, against the weights themselves. */
static void
test_use(void **state)
{
    struct stage stage = stage_of(0, 0);
    struct posterior *posterior;
    static float v[704], a[704];
    static double w[POINTS], s[REPORTS], c[REPORTS], right[POINTS];
    size_t sparse = 0;
    (void)state;
    stage_prior(&stage);
    posterior = posterior_of(&stage, NULL, 5e-2, false);
    for (size_t m = 0; m < POINTS; m++) {
        v[m] = (float)(m % 17) * 0.1F;
    }
    posterior_dots(posterior, 3, REPORTS - 5, v, s);
    for (size_t n = 3; n < REPORTS - 2; n++) {
        double dot = 0;
        posterior_weights(posterior, n, w);
        sparse += posterior->row[n].index != NULL;
        c[n - 3] = (double)n - 60;
        for (size_t m = 0; m < POINTS; m++) {
            dot += w[m] * (double)v[m];
            right[m] += c[n - 3] * w[m];
        }
        assert_true(fabs(dot - s[n - 3]) < 1e-5);
    }
    assert_true(sparse > 0);
    posterior_add(posterior, 3, REPORTS - 5, c, a);
    for (size_t m = 0; m < POINTS; m++) {
        assert_true(fabs((double)a[m] - right[m]) < 1e-3);
    }
    posterior_free(posterior);
    stage_clear(&stage);
}

static void
test_threads(void **state)
{
    struct stage stage = stage_of(6 * DECIMAL_UNIT, 256);
    struct host_pool *pool = NULL;
    struct posterior *one, *three;
    (void)state;
    stage_prior(&stage);
    must(host_pool_new(3, &pool, &err));
    one = posterior_of(&stage, NULL, 0, false);
    three = posterior_of(&stage, pool, 0, false);
    for (size_t n = 0; n < REPORTS; n++) {
        assert_true(one->row[n].scale == three->row[n].scale);
        assert_memory_equal(one->row[n].code, three->row[n].code, 2 * POINTS);
    }
    posterior_free(one);
    posterior_free(three);
    host_pool_free(pool);
    stage_clear(&stage);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    assert_string_equal(what, "weighing");
    assert_true(done <= total);
    return false;
}

static void
test_stopped(void **state)
{
    struct stage stage = stage_of(DECIMAL_UNIT, 8);
    struct sotto_watch watch = {.tick = stop};
    struct posterior_options options = {.watch = &watch};
    struct posterior *posterior = NULL;
    (void)state;
    stage_prior(&stage);
    assert_int_equal(posterior_new(&stage.prior, stage.report, REPORTS,
                                   stage.first, 3, NULL, &options, &posterior,
                                   &err),
                     SOTTO_STATUS_STOPPED);
    assert_null(posterior);
    stage_clear(&stage);
}

static void
test_memory(void **state)
{
    struct stage stage = stage_of(DECIMAL_UNIT, 8);
    struct posterior_options options = {.tau = 0};
    struct posterior *posterior = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    stage_prior(&stage);
    do {
        fail_alloc_at(++n);
        status = posterior_new(&stage.prior, stage.report, REPORTS, stage.first,
                               3, NULL, &options, &posterior, &err);
        assert_true(status == SOTTO_STATUS_OK ||
                    (status == SOTTO_STATUS_MEMORY && posterior == NULL));
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 9);
    posterior_free(posterior);
    stage_clear(&stage);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense),   cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_use),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
