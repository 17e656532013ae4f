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

/* Every byte in turn, with every change: it is found, and nothing else is. */
static void
test_find(void **state)
{
    uint8_t bytes[60], all[64];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 91 + 5);
    }
    uint32_t right = host_checksum(3, bytes, sizeof bytes);
    memcpy(all, bytes, sizeof bytes);
    host_checksum_write(right, all + sizeof bytes);
    for (size_t i = 0; i < 255 * sizeof all; i++) {
        size_t at = 99;
        uint8_t mend = 0, by = (uint8_t)(i % 255 + 1);
        all[i / 255] ^= by;
        uint32_t change = host_checksum(3, all, sizeof bytes) ^
                          host_checksum_read(all + sizeof bytes);
        assert_true(host_checksum_find(change, sizeof bytes, &at, &mend));
        assert_int_equal(at, i / 255);
        assert_int_equal(mend, by);
        all[i / 255] ^= by;
    }
    size_t at = 99;
    uint8_t mend = 0;
    assert_false(host_checksum_find(0, sizeof bytes, &at, &mend));
    all[7] ^= 1;
    all[31] ^= 8;
    assert_false(host_checksum_find(host_checksum(3, all, sizeof bytes) ^ right,
                                    sizeof bytes, &at, &mend));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
