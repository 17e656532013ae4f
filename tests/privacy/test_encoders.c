/*
 * test_encoders.c: hostile encoders, on a device as it is: the audit's attack
 * on time finds nothing; test_encoders_unflushed.c has the other side.
 */
#include "hostile_encoders.h"

static void
test_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE_ENCODERS; i++) {
        assert_false(hostile_encoder_tells(&hostile_encoders[i]));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
