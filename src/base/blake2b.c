/*
 * blake2b.c: BLAKE2b-256, section 3 of RFC 7693, plainly.
 */
#include "base/blake2b.h"

#include "base/bytes.h"

static const uint64_t initial[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t
rotate(uint64_t x, unsigned bits)
{
    return (x >> bits) | (x << (64 - bits));
}

static void
mix(uint64_t v[16], const uint8_t at[4], uint64_t x, uint64_t y)
{
    uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
    a += b + x;
    d = rotate(d ^ a, 32);
    c += d;
    b = rotate(b ^ c, 24);
    a += b + y;
    d = rotate(d ^ a, 16);
    c += d;
    b = rotate(b ^ c, 63);
    v[at[0]] = a;
    v[at[1]] = b;
    v[at[2]] = c;
    v[at[3]] = d;
}

/* One block of 128 bytes; `total` counts the bytes up to its end. */
static void
compress(uint64_t h[8], const uint8_t block[128], uint64_t total, int last)
{
    static const uint8_t quad[8][4] = {
        {0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
        {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14},
    };
    uint64_t v[16], m[16];
    for (size_t i = 0; i < 8; i++) {
        v[i] = h[i];
        v[i + 8] = initial[i];
    }
    for (size_t i = 0; i < 16; i++) {
        m[i] = bytes_load(block + 8 * i, 8);
    }
    v[12] ^= total;
    v[14] ^= last ? UINT64_MAX : 0;
    for (size_t round = 0; round < 12; round++) {
        const uint8_t *s = order[round % 10];
        for (size_t i = 0; i < 8; i++) {
            mix(v, quad[i], m[s[2 * i]], m[s[2 * i + 1]]);
        }
    }
    for (size_t i = 0; i < 8; i++) {
        h[i] ^= v[i] ^ v[i + 8];
    }
}

void
blake2b_256(const uint8_t *data, size_t size, uint8_t ret_digest[32])
{
    uint64_t h[8];
    uint8_t block[128];
    size_t done = 0;
    for (size_t i = 0; i < 8; i++) {
        h[i] = initial[i];
    }
    h[0] ^= 0x01010000 ^ 32;
    while (size - done > 128) {
        compress(h, data + done, done + 128, 0);
        done += 128;
    }
    bytes_clear(block, sizeof block);
    bytes_copy(block, data + done, size - done);
    compress(h, block, size, 1);
    for (size_t i = 0; i < 4; i++) {
        bytes_store(ret_digest + 8 * i, 8, h[i]);
    }
}
