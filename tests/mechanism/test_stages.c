/*
 * test_stages.c: a device's stages, one at a time.
 */
#include "mechanism_fixture.h"

#include "mechanism/stages.h"

static const uint8_t pixels[2] = {255, 0};

static void
test_points(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_value values[FIXTURE_COLUMNS];
    int32_t q[5];
    (void)state;
    fixture_record(54 + 9, pixels, "red", "yes", values);
    stages_encode(mechanism, values);
    assert_true(stages_z(mechanism)[0] == 0.25f);
    assert_true(stages_z(mechanism)[1] == 1 && stages_z(mechanism)[2] == -1);
    assert_int_equal(*stages_symbol(mechanism, 2), 2);
    assert_int_equal(stages_points_width(mechanism), 5);
    stages_points(mechanism, q);
    assert_int_equal(q[0], 1024); /* a quarter of 4096 */
    assert_int_equal(q[1], 16);   /* half of 32 each: their sum is at most it */
    assert_int_equal(q[2], -16);
    assert_int_equal(q[3], 2);
    assert_int_equal(q[4], 2 * 3 + 1);
    assert_ptr_equal(stages_point(mechanism, 3, 0, 0), stages_q(mechanism));
    *stages_symbol(mechanism, 3) = 0;
    assert_int_equal(stages_point(mechanism, 3, 0, 0)[0], 2 * 3);
    stages_z(mechanism)[0] = -1;
    assert_int_equal(stages_point(mechanism, 0, 0, 0)[0], -4096);
    stages_wipe(mechanism);
    assert_true(stages_z(mechanism)[0] == 0);
    sotto_mechanism_free(mechanism);
}

static void
test_layers(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_image);
    uint8_t image[16] = {255, 0, 255, 0};
    struct sotto_value values[2] = {
        {.kind = SOTTO_VALUE_BYTES, .data = image, .size = sizeof image}};
    (void)state;
    stages_encode_to(mechanism, values, 0);
    assert_true(stages_z(mechanism)[0] == 1 && stages_z(mechanism)[15] == -1);
    stages_encode_to(mechanism, values, 1);
    for (size_t i = 0; i < 8; i++) {
        assert_true(stages_z(mechanism)[i] >= 0); /* a relu's */
    }
    stages_wipe(mechanism);
    sotto_mechanism_free(mechanism);
}

static void
test_report(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_plain);
    struct sotto_value values[FIXTURE_COLUMNS];
    size_t size = mechanism->shape.report_size;
    uint8_t *report = calloc(1, size);
    (void)state;
    assert_non_null(report);
    assert_false(stages_valid(mechanism, report, size));
    fixture_record(30, pixels, "red", "yes", values);
    stages_encode(mechanism, values);
    assert_true(stages_report(mechanism, report));
    assert_true(stages_valid(mechanism, report, size));
    assert_false(stages_valid(mechanism, report, size - 1));
    assert_false(sotto_report_simulated(report));
    free(report);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
