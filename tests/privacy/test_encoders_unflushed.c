/*
 * test_encoders_unflushed.c: a device whose flush was taken out (flush.h) is
 * told from others by the audit: encoders that make subnormal numbers are
 * found, by the processor's flags or by the clock.
 */
#include "hostile_encoders.h"

/* In place of flush.h: a device's own code, but nothing is flushed. */
#define SOTTO_ENCODE_FLUSH_H
#define FLUSH_LEAST 0x1p-50f
#define FLUSH_COLUMN_LEAST 0x1p-480

static double
flush_below(double y, double least)
{
    (void)least;
    return y;
}

static float
flush_small(float y)
{
    return y;
}

#include "encode/forward.c"
#include "encode/image.c"
#include "encode/schema.c"

static void
test_tell(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOSTILE_ENCODERS; i++) {
        bool tells = hostile_encoder_tells(&hostile_encoders[i]);
#if defined(__SSE2__)
        assert_true(tells);
#else
        (void)tells;
#endif
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
