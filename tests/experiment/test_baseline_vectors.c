/*
 * test_baseline_vectors.c: where vectors lie, and points and back.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "experiment/baseline.h"

#define L 1000u

static struct baseline_frame frame;

/* Four auxiliary vectors of three numbers, the last of them always 7. */
static void
set_up(enum channel_domain domain)
{
    static float x[12] = {0, 1, 7, 4, -3, 7, 2, 0, 7, 1, 1, 7};
    const struct baseline_vectors aux = {.rows = 4, .d = 3, .x = x};
    struct sotto_error problem;
    assert_int_equal(baseline_frame_init(&frame, domain, &aux, &problem),
                     SOTTO_STATUS_OK);
}

static void
test_frame_of_a_cube(void **state)
{
    static const float inside[3] = {1, -2, 7}, outside[3] = {9, -9, 8};
    double estimate[3];
    float back[3];
    int32_t q[3];
    (void)state;
    set_up(CHANNEL_DOMAIN_CUBE);
    baseline_frame_place(&frame, inside, L, q);
    assert_true(q[0] == -500 && q[1] == -500 && q[2] == 0);
    for (int j = 0; j < 3; j++) {
        estimate[j] = q[j];
    }
    baseline_frame_return(&frame, estimate, L, back);
    assert_memory_equal(back, inside, sizeof back);
    baseline_frame_place(&frame, outside, L, q);
    assert_true(q[0] == 1000 && q[1] == -1000 && q[2] == 0);
    estimate[2] = 1e6; /* of what never varies: no noise comes back */
    baseline_frame_return(&frame, estimate, L, back);
    assert_true(back[2] == 7);
    baseline_frame_clear(&frame);
}

static void
test_frame_of_a_ball(void **state)
{
    static const float inside[3] = {3, -4, 0}, outside[3] = {0, 0, -100};
    double longest = sqrt(16 + 9 + 49), estimate[3], sum = 0;
    float back[3];
    int32_t q[3];
    (void)state;
    set_up(CHANNEL_DOMAIN_BALL);
    assert_true(fabs(frame.radius - longest) < 1e-12);
    baseline_frame_place(&frame, inside, L, q);
    for (int j = 0; j < 3; j++) {
        estimate[j] = q[j];
    }
    baseline_frame_return(&frame, estimate, L, back);
    for (int j = 0; j < 3; j++) {
        assert_true(fabs((double)(back[j] - inside[j])) < longest / L);
    }
    baseline_frame_place(&frame, outside, L, q);
    for (int j = 0; j < 3; j++) {
        sum += (double)q[j] * q[j];
    }
    assert_true(sum <= (double)L * L && q[2] < -998 && q[0] == 0);
    baseline_frame_clear(&frame);
}

static void
test_frame_needs_records(void **state)
{
    const struct baseline_vectors none = {.d = 3};
    struct sotto_error problem;
    (void)state;
    assert_int_equal(
        baseline_frame_init(&frame, CHANNEL_DOMAIN_CUBE, &none, &problem),
        SOTTO_STATUS_INPUT);
    baseline_frame_clear(&frame);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame_of_a_cube),
        cmocka_unit_test(test_frame_of_a_ball),
        cmocka_unit_test(test_frame_needs_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
