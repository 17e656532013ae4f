/*
 * random.c: a source of random bytes, buffered, wiped as it is used.
 */
#include "random/random.h"

#include "base/bytes.h"

void
random_init(struct random *random, uint8_t *buffer, size_t size,
            int (*fill)(void *, void *, size_t), void *context)
{
    random->fill = fill;
    random->context = context;
    random->buffer = buffer;
    random->size = size;
    random->next = size;
    random->failed = false;
    random->tape = NULL;
}

static int
fill_from_system(void *context, void *buffer, size_t size)
{
    (void)context;
    return sotto_entropy(buffer, size);
}

void
entropy_init(struct entropy *entropy, uint8_t *buffer, size_t size)
{
    random_init(&entropy->random, buffer, size, fill_from_system, NULL);
}

void
random_clear(struct random *random)
{
    bytes_wipe(random->buffer, random->size);
    random->next = random->size;
    random->failed = false;
}

static void
refill(struct random *random)
{
    if (random->failed ||
        random->fill(random->context, random->buffer, random->size) != 0) {
        bytes_wipe(random->buffer, random->size);
        random->failed = true;
    }
    random->next = 0;
}

/*
 * Little-endian; the bytes are zeroed behind it by plain stores, which the
 * compiler cannot drop: the buffer is memory that others see. Inlined so that
 * `width` is a constant and each loop one instruction.
 */
static inline uint64_t
take(struct random *random, size_t width)
{
    uint8_t *at;
    uint64_t value;
    if (random->size - random->next < width) {
        refill(random);
    }
    at = random->buffer + random->next;
    value = bytes_load(at, width);
    bytes_clear(at, width);
    random->next += width;
    return value;
}

uint32_t
random_u32(struct random *random)
{
    return (uint32_t)take(random, 4);
}

uint64_t
random_u56(struct random *random)
{
    return take(random, 7);
}
