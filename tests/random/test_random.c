/*
 * test_random.c: buffered random bytes: order, wiping, failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "random/random.h"

#define BUFFER 24u

/* Bytes 1, 2, 3, ... 255, 1, ...: never zero, so that a zero was wiped. */
struct counter {
    uint8_t next;
    int calls;
    int fail_from, fail_until; /* calls that fail, from 1 */
};

static int
count_up(void *context, void *buffer, size_t size)
{
    struct counter *counter = context;
    uint8_t *at = buffer;
    counter->calls++;
    for (size_t i = 0; i < size; i++) {
        at[i] = ++counter->next;
        counter->next %= 255;
    }
    return counter->calls >= counter->fail_from &&
                   counter->calls < counter->fail_until
               ? -1
               : 0;
}

static int system_result;
static size_t system_size;

/* In place of the operating system's. */
int
sotto_entropy(void *buffer, size_t size)
{
    memset(buffer, 0x11, size);
    system_size = size;
    return system_result;
}

static void
test_integers_are_little_endian_and_in_order(void **state)
{
    struct counter counter = {0};
    struct random random;
    uint8_t buffer[BUFFER];
    (void)state;
    random_init(&random, buffer, sizeof buffer, count_up, &counter);
    assert_int_equal(counter.calls, 0); /* nothing before the first use */
    assert_int_equal(random_u32(&random), 0x04030201);
    assert_true(random_u56(&random) == UINT64_C(0x0b0a0908070605));
    assert_int_equal(random_u32(&random), 0x0f0e0d0c);
    assert_int_equal(counter.calls, 1);
    assert_false(random.failed);
}

static void
test_bytes_are_zeroed_as_they_are_used(void **state)
{
    struct counter counter = {0};
    struct random random;
    uint8_t buffer[BUFFER];
    (void)state;
    random_init(&random, buffer, sizeof buffer, count_up, &counter);
    for (int i = 0; i < 1000; i++) {
        if (i % 3 == 0) {
            assert_true(random_u56(&random) != 0);
        } else {
            assert_true(random_u32(&random) != 0);
        }
        for (size_t j = 0; j < sizeof buffer; j++) {
            assert_int_equal(buffer[j] == 0, j < random.next);
        }
    }
}

/* What is left of a buffer and too short is not used with what comes next. */
static void
test_no_integer_straddles_a_refill(void **state)
{
    struct counter counter = {0};
    struct random random;
    uint8_t buffer[BUFFER];
    (void)state;
    random_init(&random, buffer, sizeof buffer, count_up, &counter);
    for (int i = 0; i < 5; i++) {
        (void)random_u32(&random);
    }
    assert_int_equal(counter.calls, 1);
    assert_true(random_u56(&random) == UINT64_C(0x1f1e1d1c1b1a19));
    assert_int_equal(counter.calls, 2);
}

static void
test_clear_wipes_what_is_left(void **state)
{
    struct counter counter = {0};
    struct random random;
    uint8_t buffer[BUFFER];
    (void)state;
    random_init(&random, buffer, sizeof buffer, count_up, &counter);
    (void)random_u32(&random);
    random_clear(&random);
    for (size_t i = 0; i < sizeof buffer; i++) {
        assert_int_equal(buffer[i], 0);
    }
    (void)random_u32(&random);
    assert_int_equal(counter.calls, 2); /* nothing wiped is handed out */
}

static void
test_failure_gives_zeros_and_is_sticky(void **state)
{
    struct counter counter = {.fail_from = 2, .fail_until = 4};
    struct random random;
    uint8_t buffer[BUFFER];
    (void)state;
    random_init(&random, buffer, sizeof buffer, count_up, &counter);
    for (int i = 0; i < 3; i++) {
        assert_true(random_u56(&random) != 0);
        assert_false(random.failed);
    }
    for (int i = 0; i < 8; i++) {
        assert_true(random_u56(&random) == 0);
        assert_true(random.failed);
    }
    for (int i = 0; i < 8; i++) { /* the source works again: still failed */
        assert_true(random_u56(&random) == 0);
        assert_true(random.failed);
    }
}

static void
test_entropy_comes_from_the_system(void **state)
{
    struct entropy entropy;
    uint8_t buffer[BUFFER];
    (void)state;
    system_result = 0;
    entropy_init(&entropy, buffer, sizeof buffer);
    assert_int_equal(random_u32(&entropy.random), 0x11111111);
    assert_int_equal(system_size, sizeof buffer);
    system_result = 1;
    entropy_init(&entropy, buffer, sizeof buffer);
    assert_int_equal(random_u32(&entropy.random), 0);
    assert_true(entropy.random.failed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_little_endian_and_in_order),
        cmocka_unit_test(test_bytes_are_zeroed_as_they_are_used),
        cmocka_unit_test(test_no_integer_straddles_a_refill),
        cmocka_unit_test(test_clear_wipes_what_is_left),
        cmocka_unit_test(test_failure_gives_zeros_and_is_sticky),
        cmocka_unit_test(test_entropy_comes_from_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
