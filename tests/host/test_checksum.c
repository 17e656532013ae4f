/*
 * test_checksum.c: CRC-32C against the vectors of RFC 3720, appendix B.4, and
 * bit by bit; in pieces as at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "host/checksum.h"

static void
test_vectors(void **state)
{
    uint8_t bytes[32];
    (void)state;
    assert_int_equal(host_checksum(0, "123456789", 9), 0xe3069283);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(host_checksum(0, bytes, sizeof bytes), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(host_checksum(0, bytes, sizeof bytes), 0x62a8ab43);
    for (uint8_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = i;
    }
    assert_int_equal(host_checksum(0, bytes, sizeof bytes), 0x46dd794e);
    assert_int_equal(host_checksum(7, bytes, 0), 7);
}

/* The definition: a bit at a time. */
static uint32_t
slow(const uint8_t *data, size_t size)
{
    uint32_t sum = ~UINT32_C(0);
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (sum ^ (uint32_t)(data[i / 8] >> i % 8)) & 1;
        sum = sum >> 1 ^ (bit != 0 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~sum;
}

static void
test_definition(void **state)
{
    uint8_t bytes[100], sum[4];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * i * 37 + 11);
    }
    for (size_t first = 0; first < 9; first++) {
        for (size_t size = 0; first + size <= sizeof bytes; size++) {
            uint32_t wanted = slow(bytes + first, size);
            uint32_t half = host_checksum(0, bytes + first, size / 3);
            assert_int_equal(host_checksum(0, bytes + first, size), wanted);
            assert_int_equal(
                host_checksum(half, bytes + first + size / 3, size - size / 3),
                wanted);
            assert_int_equal(host_checksum_plain(0, bytes + first, size),
                             wanted);
        }
    }
    host_checksum_write(0x04030201, sum);
    assert_memory_equal(sum, "\x01\x02\x03\x04", 4);
    assert_int_equal(host_checksum_read(sum), 0x04030201);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
