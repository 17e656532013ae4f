/*
 * test_prior.c: the blocks of a mechanism, points and inputs.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"

static void
test_shape(void **state)
{
    struct sotto_mechanism *mechanism =
        open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct prior_shape shape;
    (void)state;
    must(prior_shape_init(&shape, mechanism, true, &err));
    assert_int_equal(shape.blocks, 2);
    assert_int_equal(shape.width, 3);
    assert_int_equal(shape.inputs, 5);
    assert_int_equal(shape.label_part, 2);
    assert_int_equal(shape.label->instance->size, 3);
    assert_true(shape.block[0].distance && !shape.block[1].distance);
    assert_true(fabs((double)shape.block[0].rate - 0.25) < 1e-7);
    assert_true(shape.eps_features == 5 && shape.eps_label == 1);
    assert_int_equal(shape.classes, 3);
    prior_shape_clear(&shape);
    must(prior_shape_init(&shape, mechanism, false, &err));
    assert_int_equal(shape.classes, 2); /* "(other)" is none */
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

/* A report of a point without noise would be its own input. */
static void
test_inputs(void **state)
{
    static const int32_t point[] = {4, -2, 1};
    static const float right[] = {0.5F, -0.25F, 0, 1, 0};
    struct sotto_mechanism *mechanism =
        open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct prior_shape shape;
    float input[5];
    (void)state;
    must(prior_shape_init(&shape, mechanism, true, &err));
    prior_input(&shape, point, input);
    assert_memory_equal(input, right, sizeof right);
    assert_true(prior_room(&shape) >= 3);
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

/* Means of estimates come near the point's input. */
static void
test_estimates(void **state)
{
    struct sotto_mechanism *mechanism =
        open_mixed(8 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct sotto_table *table = table_of("a,b,colour\n0.5,-0.25,red\n");
    struct prior_shape shape;
    struct rows rows;
    uint8_t report[256];
    double room[8], z[5], mean[5] = {0};
    static const double right[] = {0.5, -0.25, 0, 1, 0};
    (void)state;
    must(prior_shape_init(&shape, mechanism, true, &err));
    must(rows_init(&rows, mechanism, table, &err));
    for (uint64_t i = 0; i < 4000; i++) {
        must(sotto_simulate(mechanism, 1, i, rows_at(&rows, 0), rows.count,
                            report, mechanism->shape.report_size));
        prior_estimate(&shape, report, room, z);
        for (size_t j = 0; j < 5; j++) {
            mean[j] += z[j] / 4000;
        }
    }
    for (size_t j = 0; j < 5; j++) {
        assert_true(fabs(mean[j] - right[j]) < 0.1);
    }
    rows_clear(&rows);
    prior_shape_clear(&shape);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

static void
test_layout(void **state)
{
    static const int32_t point[] = {4, -2, 1, -8, 0, 0, 0, 8, 2};
    struct sotto_mechanism *mechanism =
        open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct prior_shape shape;
    struct prior prior;
    (void)state;
    must(prior_shape_init(&shape, mechanism, true, &err));
    must(prior_init(&prior, &shape, point, 3, &err));
    assert_int_equal(prior.padded, 32);
    assert_int_equal(prior.by_block[2], -8); /* a of the second */
    assert_int_equal(prior.by_block[6], 1);  /* the first's colour */
    assert_int_equal(prior.by_block[8], 2);
    assert_int_equal(prior.by_entry[32], -2); /* b of the first */
    assert_int_equal(prior.by_entry[34], 8);
    assert_int_equal(prior.by_entry[35], 0); /* beyond the points */
    prior_clear(&prior);
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

static void
test_refused(void **state)
{
    static const int32_t outside[] = {4, -2, 1, 5, 4, 1};
    static const int32_t no_symbol[] = {4, -2, -1};
    struct sotto_mechanism *mechanism =
        open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct prior_shape shape;
    struct prior prior;
    (void)state;
    must(prior_shape_init(&shape, mechanism, true, &err));
    assert_int_equal(prior_init(&prior, &shape, outside, 2, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 1);
    assert_int_equal(prior_init(&prior, &shape, no_symbol, 1, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(prior_init(&prior, &shape, outside, 0, &err),
                     SOTTO_STATUS_INPUT);
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

/* Mechanisms that there is nothing to learn from. */
static void
refuse_parts(const struct compose_part *part, size_t parts, uint64_t eps,
             const char *text)
{
    const struct compose_spec spec = {.name = "x",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = eps,
                                      .column = learn_mixed_column,
                                      .columns = 4,
                                      .part = part,
                                      .parts = parts};
    struct sotto_mechanism *mechanism = open_spec(&spec);
    struct prior_shape shape;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(prior_shape_init(&shape, mechanism, true, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, text));
    sotto_mechanism_free(mechanism);
}

static void
test_no_shape(void **state)
{
    const struct compose_part lattice = {.covers = "features",
                                         .channel = "laplace",
                                         .eps = DECIMAL_UNIT,
                                         .blocks = 1,
                                         .d = 2,
                                         .l = 8};
    const struct compose_part label = {.covers = "label",
                                       .channel = "flip",
                                       .eps = DECIMAL_UNIT,
                                       .blocks = 1,
                                       .factor = {{true, 3, 0}},
                                       .factors = 1};
    struct compose_part part[2] = {lattice, label};
    (void)state;
    refuse_parts(part, 1, DECIMAL_UNIT, "no label");
    refuse_parts(part + 1, 1, DECIMAL_UNIT, "no features");
    part[0] = label;
    refuse_parts(part, 2, 2 * DECIMAL_UNIT, "more than one label");
    part[0] = lattice;
    part[0].covers = "label";
    refuse_parts(part, 2, 2 * DECIMAL_UNIT, "several classes");
    part[0].covers = "both";
    refuse_parts(part, 2, 2 * DECIMAL_UNIT, "together");
}

static void
test_memory(void **state)
{
    static const int32_t point[] = {4, -2, 1};
    struct sotto_mechanism *mechanism =
        open_mixed(4 * DECIMAL_UNIT, DECIMAL_UNIT, 8);
    struct prior_shape shape;
    struct prior prior;
    (void)state;
    fail_alloc_at(1);
    assert_int_equal(prior_shape_init(&shape, mechanism, true, &err),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    must(prior_shape_init(&shape, mechanism, true, &err));
    for (long n = 1; n <= 2; n++) {
        fail_alloc_at(n);
        assert_int_equal(prior_init(&prior, &shape, point, 1, &err),
                         SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
}

/* Of the points, as many as fit: all of them at MNIST's sizes. */
static void
test_affordable(void **state)
{
    static const struct {
        size_t points, most, reports, used;
    } cases[] = {{45000, 0, 13500, 45000},      {45000, 9, 13500, 9},
                 {30000, 0, 30000, 30000},      {100000, 0, 13500, 74048},
                 {100000, 80000, 13500, 74048}, {100000, 50000, 13500, 50000},
                 {1, 0, 31249999, 1},           {100, 0, 31249999, 32}};
    size_t used = 77;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = cases[i].reports, padded;
        must(prior_affordable(cases[i].points, cases[i].most, n, &used, &err));
        assert_int_equal(used, cases[i].used);
        padded = (used + PRIOR_PAD - 1) / PRIOR_PAD * PRIOR_PAD;
        assert_true((n + 1) * padded * sizeof(uint16_t) <= PRIOR_BYTES);
    }
    used = 77;
    assert_int_equal(prior_affordable(1, 0, 31250000, &used, &err),
                     SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "at most 31249999;"));
    assert_int_equal(used, 77);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),     cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_estimates), cmocka_unit_test(test_layout),
        cmocka_unit_test(test_refused),   cmocka_unit_test(test_no_shape),
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_affordable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
