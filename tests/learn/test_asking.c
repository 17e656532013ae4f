/*
 * test_asking.c: a simulated answer has the chances that it is read with, and
 * those are as likely as epsilon says.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/asking.h"

#define PEOPLE 200000u

static void
test_chances(void **state)
{
    struct asking asking;
    struct right_flip flip;
    double yes[2] = {0};
    (void)state;
    must(asking_init(&asking, "1", &err));
    asking_chances(&asking, &flip);
    /* the realised epsilon is 1 or just below it, never above */
    assert_true(log(flip.right / flip.wrong) <= 1 + 1e-12);
    assert_true(log(flip.right / flip.wrong) > 1 - 1e-9);
    assert_true(fabs(flip.right + flip.wrong - 1) < 1e-12);
    for (uint64_t i = 0; i < PEOPLE; i++) {
        yes[0] += asking_draw(&asking, 1, i, false) ? 1 : 0;
        yes[1] += asking_draw(&asking, 2, i, true) ? 1 : 0;
    }
    /* 5 deviations: fails once in two million */
    assert_true(fabs(yes[0] / PEOPLE - flip.wrong) < 5 * sqrt(0.25 / PEOPLE));
    assert_true(fabs(yes[1] / PEOPLE - flip.right) < 5 * sqrt(0.25 / PEOPLE));
    assert_int_equal(asking_draw(&asking, 3, 9, true),
                     asking_draw(&asking, 3, 9, true));
    asking_clear(&asking);
}

static void
test_refusals(void **state)
{
    struct asking asking;
    (void)state;
    assert_int_equal(asking_init(&asking, "0", &err), SOTTO_STATUS_BUDGET);
    asking_clear(&asking);
    fail_alloc_at(1);
    assert_int_equal(asking_init(&asking, "1", &err), SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    asking_clear(&asking);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
