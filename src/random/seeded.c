/*
 * seeded.c: the generator for training and simulation; never for a record.
 */
#include "random/seeded.h"

#include "base/bytes.h"

void
seeded_philox(const uint32_t counter[4], const uint32_t key[2],
              uint32_t ret_block[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t k[2] = {key[0], key[1]};
    for (int round = 0; round < 10; round++) {
        uint64_t left = (uint64_t)UINT32_C(0xD2511F53) * c[0];
        uint64_t right = (uint64_t)UINT32_C(0xCD9E8D57) * c[2];
        uint32_t next[4] = {
            (uint32_t)(right >> 32) ^ c[1] ^ k[0], (uint32_t)right,
            (uint32_t)(left >> 32) ^ c[3] ^ k[1], (uint32_t)left};
        for (int i = 0; i < 4; i++) {
            c[i] = next[i];
        }
        k[0] += UINT32_C(0x9E3779B9);
        k[1] += UINT32_C(0xBB67AE85);
    }
    for (int i = 0; i < 4; i++) {
        ret_block[i] = c[i];
    }
}

/* Blocks of 16 bytes: counter = (position, stream), key = seed. */
static int
fill_from_seed(void *context, void *buffer, size_t size)
{
    struct seeded *seeded = context;
    uint8_t *at = buffer;
    for (size_t done = 0; done < size; done += 16) {
        uint32_t counter[4] = {
            (uint32_t)seeded->block, (uint32_t)(seeded->block >> 32),
            (uint32_t)seeded->stream, (uint32_t)(seeded->stream >> 32)};
        uint32_t key[2] = {(uint32_t)seeded->seed,
                           (uint32_t)(seeded->seed >> 32)};
        uint32_t block[4];
        seeded_philox(counter, key, block);
        for (size_t i = 0; i < 4; i++) {
            bytes_store(at + done + 4 * i, 4, block[i]);
        }
        seeded->block++;
    }
    return 0;
}

void
seeded_init(struct seeded *seeded, uint64_t seed, uint64_t stream)
{
    seeded->seed = seed;
    seeded->stream = stream;
    seeded->block = 0;
    random_init(&seeded->random, seeded->buffer, sizeof seeded->buffer,
                fill_from_seed, seeded);
}
