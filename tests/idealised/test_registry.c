/*
 * test_registry.c: every idealised channel has a name of its own, and no list
 * of channels that a reader gets has it.
 */
#include "idealised_fixture.h"

static void
test_registry_is_apart_from_the_exact_one(void **state)
{
    size_t count = 0;
    (void)state;
    for (const struct idealised *row = idealised_table; row->channel != NULL;
         row++, count++) {
        const char *name = row->channel->name;
        assert_ptr_equal(idealised_find(name), row);
        assert_true(idealised_named(name));
        assert_string_equal(row->likelihood->name, name);
        assert_null(channel_find(channel_exact, name, strlen(name)));
        assert_null(likelihood_find(name));
        assert_int_equal(row->channel->own_size % 8, 0);
        assert_true(strlen(row->channel->promise) > 0);
        assert_false(row->channel->approximate);
    }
    assert_int_equal(count, 4);
    assert_false(idealised_named("laplace"));
    assert_null(idealised_find("laplace"));
    assert_null(idealised_find(""));
}

/* Nothing of it is known by its bits: no epsilon is claimed. */
static void
test_registry_claims_no_realised_epsilon(void **state)
{
    (void)state;
    for (const struct idealised *row = idealised_table; row->channel != NULL;
         row++) {
        set_up(row->channel->name, 4, GRID_L, 2);
        assert_true(reports.realised == UINT64_MAX);
        assert_true(reports.unit == 0 && reports.bias == 0);
        assert_true(reports.mean_high == GRID_L &&
                    reports.mean_low == -(double)GRID_L);
    }
}

/* The same seed gives the same report, another one another. */
static void
test_registry_draws_by_the_seed(void **state)
{
    static const int32_t q[4] = {500, -500, 0, 100};
    (void)state;
    for (const struct idealised *row = idealised_table; row->channel != NULL;
         row++) {
        uint8_t one[64], two[64], other[64];
        struct seeded seeded;
        set_up(row->channel->name, 4, GRID_L, 2);
        assert_true(instance.wire_size <= 64);
        seeded_init(&seeded, 1, 7);
        idealised_draw(&instance, q, &seeded.simulation, one);
        seeded_init(&seeded, 1, 7);
        idealised_draw(&instance, q, &seeded.simulation, two);
        seeded_init(&seeded, 1, 8);
        idealised_draw(&instance, q, &seeded.simulation, other);
        assert_memory_equal(one, two, instance.wire_size);
        assert_memory_not_equal(one, other, instance.wire_size);
    }
}

/* From the least to the largest epsilon and size: numbers stay numbers. */
static void
test_registry_takes_every_setting(void **state)
{
    static const uint32_t d[] = {2, 65, CHANNEL_D_MAX};
    static const double eps[] = {1e-6, 1, 32};
    static uint8_t wire[8 * CHANNEL_D_MAX + 4];
    static double estimate[CHANNEL_D_MAX];
    static int32_t q[CHANNEL_D_MAX];
    (void)state;
    for (const struct idealised *row = idealised_table; row->channel != NULL;
         row++) {
        for (int i = 0; i < 9; i++) {
            struct seeded seeded;
            set_up(row->channel->name, d[i / 3], CHANNEL_L_MAX, eps[i % 3]);
            q[0] = i % 2 == 0 ? (int32_t)CHANNEL_L_MAX : 3;
            seeded_init(&seeded, (uint64_t)i, 0);
            idealised_draw(&instance, q, &seeded.simulation, wire);
            assert_true(likelihood_valid(&reports, wire));
            assert_true(isfinite(reports.likelihood->log_p(&reports, wire, q)));
            reports.likelihood->estimate(&reports, wire, estimate);
            for (uint32_t j = 0; j < d[i / 3]; j++) {
                assert_true(isfinite(estimate[j]));
            }
            assert_true(isfinite(reports.variance_true) &&
                        reports.variance_true > 0);
            assert_true(idealised->variance(&reports, q) > 0);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry_is_apart_from_the_exact_one),
        cmocka_unit_test(test_registry_claims_no_realised_epsilon),
        cmocka_unit_test(test_registry_draws_by_the_seed),
        cmocka_unit_test(test_registry_takes_every_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
