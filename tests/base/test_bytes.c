/*
 * test_bytes.c: byte order, copying and wiping.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

static void
test_load_and_store_are_little_endian(void **state)
{
    const uint8_t ordered[8] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
    const uint64_t value = UINT64_C(0x0123456789abcdef);
    (void)state;
    for (size_t width = 0; width <= 8; width++) {
        uint64_t mask =
            width == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * width)) - 1;
        uint8_t stored[9];
        memset(stored, 0x5a, sizeof stored);
        bytes_store(stored, width, value);
        assert_memory_equal(stored, ordered, width);
        assert_int_equal(stored[width], 0x5a);
        assert_true(bytes_load(ordered, width) == (value & mask));
    }
}

static void
test_copy_clear_and_wipe_stay_in_bounds(void **state)
{
    uint8_t from[32], to[34];
    (void)state;
    memset(from, 0x11, sizeof from);
    for (size_t size = 0; size <= sizeof from; size++) {
        memset(to, 0x5a, sizeof to);
        bytes_copy(to + 1, from, size);
        assert_memory_equal(to + 1, from, size);
        assert_int_equal(to[0], 0x5a);
        assert_int_equal(to[size + 1], 0x5a);
        bytes_clear(to + 1, size / 2);
        bytes_wipe(to + 1 + size / 2, size - size / 2);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(to[i + 1], 0);
        }
        assert_int_equal(to[0], 0x5a);
        assert_int_equal(to[size + 1], 0x5a);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_and_store_are_little_endian),
        cmocka_unit_test(test_copy_clear_and_wipe_stay_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
