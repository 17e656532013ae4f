/*
 * test_seam.c: idealised channels are channels like any other: the learner's
 * posterior over points takes their reports as they are (P0 Eq. 11).
 */
#include "idealised_fixture.h"

#include "host/pool.h"
#include "learn/lattice/posterior.h"

#define D 3u
#define POINTS 5u
#define REPORTS 200u

static const int32_t points[POINTS * D] = {1000,  0,   0,    -500, 500, 0, 0, 0,
                                           -1000, 300, -300, 300,  0,   0, 0};

/* sum_m w_nm v_m against e^log_p itself; weights are kept in 16 bits. */
static void
check_posterior(const char *name)
{
    static uint8_t wire[REPORTS * 64];
    static double p[REPORTS * POINTS];
    float v[POINTS * PRIOR_PAD] = {0};
    struct prior_block block = {.likelihood = &reports, .width = D};
    const struct prior_shape shape = {.block = &block,
                                      .blocks = 1,
                                      .width = D,
                                      .inputs = D,
                                      .label = &reports};
    struct prior prior;
    struct host_pool *pool = NULL;
    struct sotto_error problem;
    struct seeded seeded;
    set_up(name, D, GRID_L, 6);
    seeded_init(&seeded, 13, 0);
    for (size_t n = 0; n < REPORTS; n++) {
        idealised_draw(&instance, points + n % POINTS * D, &seeded.simulation,
                       wire + n * instance.wire_size);
    }
    for (size_t m = 0; m < POINTS; m++) { /* class m is point m */
        v[m * PRIOR_PAD + m] = 1;
    }
    assert_int_equal(host_pool_new(1, &pool, &problem), SOTTO_STATUS_OK);
    assert_int_equal(prior_init(&prior, &shape, points, POINTS, &problem),
                     SOTTO_STATUS_OK);
    assert_int_equal(prior.padded, PRIOR_PAD);
    assert_int_equal(posterior_average(&prior, wire, instance.wire_size,
                                       REPORTS, v, POINTS, pool, p, &problem),
                     SOTTO_STATUS_OK);
    for (size_t n = 0; n < REPORTS; n++) {
        double log_p[POINTS], sum = 0;
        reports.likelihood->log_p_many(&reports, wire + n * instance.wire_size,
                                       points, POINTS, log_p);
        for (size_t m = 0; m < POINTS; m++) {
            sum += exp(log_p[m] - log_p[0]);
        }
        for (size_t m = 0; m < POINTS; m++) {
            double weight = exp(log_p[m] - log_p[0]) / sum;
            assert_true(fabs(p[n * POINTS + m] - weight) < 1e-3);
        }
    }
    prior_clear(&prior);
    host_pool_free(pool);
}

static void
test_seam_posterior(void **state)
{
    (void)state;
    for (const struct idealised *row = idealised_table; row->channel != NULL;
         row++) {
        check_posterior(row->channel->name);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seam_posterior),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
