/*
 * checksum.c: CRC-32C: the remainder of the bytes, as a polynomial over two
 * elements, by 0x1edc6f41, bits reversed (RFC 3720, appendix B.4).
 *
 * Processors of x86-64 since 2008 have an instruction for it; elsewhere eight
 * tables take eight bytes at a time.
 */
#include "host/checksum.h"

#include <pthread.h>
#include <string.h>

#define REVERSED UINT32_C(0x82f63b78)

static uint32_t table[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
fill_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t sum = i;
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? REVERSED : 0);
        }
        table[0][i] = sum;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int k = 1; k < 8; k++) {
            uint32_t before = table[k - 1][i];
            table[k][i] = before >> 8 ^ table[0][before & 0xff];
        }
    }
}

static uint32_t
add_by_tables(uint32_t sum, const uint8_t *data, size_t size)
{
    (void)pthread_once(&once, fill_tables);
    for (; size >= 8; size -= 8, data += 8) {
        sum ^= (uint32_t)data[0] | (uint32_t)data[1] << 8 |
               (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        sum = table[7][sum & 0xff] ^ table[6][sum >> 8 & 0xff] ^
              table[5][sum >> 16 & 0xff] ^ table[4][sum >> 24] ^
              table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^
              table[0][data[7]];
    }
    for (; size > 0; size--, data++) {
        sum = sum >> 8 ^ table[0][(sum ^ *data) & 0xff];
    }
    return sum;
}

#if defined __x86_64__
__attribute__((target("sse4.2"))) static uint32_t
add_by_instruction(uint32_t sum, const uint8_t *data, size_t size)
{
    uint64_t wide = sum;
    for (; size >= 8; size -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    sum = (uint32_t)wide;
    for (; size > 0; size--, data++) {
        sum = __builtin_ia32_crc32qi(sum, *data);
    }
    return sum;
}
#endif

uint32_t
host_checksum(uint32_t sum, const void *data, size_t size)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("sse4.2")) {
        return ~add_by_instruction(~sum, data, size);
    }
#endif
    return host_checksum_plain(sum, data, size);
}

uint32_t
host_checksum_plain(uint32_t sum, const void *data, size_t size)
{
    return ~add_by_tables(~sum, data, size);
}

void
host_checksum_write(uint32_t sum, uint8_t to[HOST_CHECKSUM_SIZE])
{
    for (unsigned i = 0; i < HOST_CHECKSUM_SIZE; i++) {
        to[i] = (uint8_t)(sum >> 8 * i);
    }
}

uint32_t
host_checksum_read(const uint8_t from[HOST_CHECKSUM_SIZE])
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 |
           (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/*
 * The sum is linear: a byte that is e off makes it T[e] off behind it, and each
 * byte after that makes d into T[d & 255] ^ (d >> 8). Of T only one entry has
 * the highest byte that is in a difference, so the way leads back, from the
 * last byte to the one where the difference is T[e].
 */
bool
host_checksum_find(uint32_t change, size_t size, size_t *ret_at,
                   uint8_t *ret_mend)
{
    uint8_t by_high[256];
    (void)pthread_once(&once, fill_tables);
    for (unsigned i = 0; i < 256; i++) {
        by_high[table[0][i] >> 24] = (uint8_t)i;
    }
    for (unsigned i = 0; i < HOST_CHECKSUM_SIZE; i++) {
        if ((change & ~(UINT32_C(0xff) << 8 * i)) == 0) {
            *ret_at = size + i;
            *ret_mend = (uint8_t)(change >> 8 * i);
            return change != 0;
        }
    }
    for (size_t at = size; at > 0; at--) {
        uint8_t byte = by_high[change >> 24];
        if (table[0][byte] == change) {
            *ret_at = at - 1;
            *ret_mend = byte;
            return true;
        }
        change = (change ^ table[0][byte]) << 8 | byte;
    }
    return false;
}
