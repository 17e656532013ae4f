/*
 * random.h: a source of random bytes, buffered, wiped as it is used.
 *
 * Samplers read a struct random and do not know where its bytes come from.
 * Two kinds exist and their types keep them apart: struct entropy, fed by the
 * operating system, the only one the device's path can hold (invariant 3);
 * and struct simulation, which seeded.h feeds.
 */
#ifndef SOTTO_RANDOM_RANDOM_H
#define SOTTO_RANDOM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

struct draw_tape;

struct random {
    int (*fill)(void *context, void *buffer, size_t size); /* 0: filled */
    void *context;
    uint8_t *buffer;
    size_t size; /* of the buffer, a multiple of 8 */
    size_t next; /* bytes before it are used and zero */
    bool failed; /* sticky: what was drawn since must not be released */
    const struct draw_tape *tape; /* NULL; or an audit's: see draw.h */
};

/* Operating-system entropy, in a buffer that the caller owns. */
struct entropy {
    struct random random;
};

/* Anything else: what it makes is marked as simulated. */
struct simulation {
    struct random random;
};

/* Nothing is drawn until the first use. size >= 24, a multiple of 8. */
void random_init(struct random *random, uint8_t *buffer, size_t size,
                 int (*fill)(void *, void *, size_t), void *context);
void entropy_init(struct entropy *entropy, uint8_t *buffer, size_t size);

/* Wipes what is left in the buffer: nothing outlives the report it served. */
void random_clear(struct random *random);

/*
 * The next 4 or 7 bytes, a little-endian integer. After a failure to fill they
 * are zero and `failed` is set: samplers run on, in the same number of steps,
 * and their caller checks once, at the end.
 */
uint32_t random_u32(struct random *random);
uint64_t random_u56(struct random *random);

#endif
