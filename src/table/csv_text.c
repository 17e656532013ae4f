/*
 * csv_text.c: what a stretch of text holds, in one pass over its bytes.
 *
 * Sixteen bytes at a time. A byte that equals another gives 255, which is -1,
 * so that subtracting counts; a count of bytes is emptied before it is full.
 */
#include "table/csv_text.h"

#include <stdbool.h>
#include <string.h>

#include "host/utf8.h"

#define LANES 16u
#define ROUNDS 255u /* until a lane is full */

typedef uint8_t lanes __attribute__((vector_size(LANES)));

static size_t
sum_lanes(lanes counts)
{
    size_t sum = 0;
    for (size_t i = 0; i < LANES; i++) {
        sum += counts[i];
    }
    return sum;
}

/* Sets a lane's highest bit where the byte is not ASCII, all of its bits where
   it is NUL. */
struct seen {
    lanes high, nul;
};

/* Counts in `rounds` (at most ROUNDS) times LANES bytes. */
static void
look_rounds(const uint8_t *text, size_t rounds, uint8_t separator,
            struct seen *seen, struct csv_text *sum)
{
    lanes separators = {0}, breaks = {0}, bytes;
    for (size_t i = 0; i < rounds; i++) {
        memcpy(&bytes, text + i * LANES, sizeof bytes);
        separators -= (lanes)(bytes == separator);
        breaks -= (lanes)(bytes == '\n');
        seen->high |= bytes;
        seen->nul |= (lanes)(bytes == 0);
    }
    sum->separators += sum_lanes(separators);
    sum->breaks += sum_lanes(breaks);
}

static bool
any_set(lanes bytes, uint8_t bit)
{
    uint8_t all = 0;
    for (size_t i = 0; i < LANES; i++) {
        all |= bytes[i];
    }
    return (all & bit) != 0;
}

static void
count_bytes(const uint8_t *text, size_t size, uint8_t separator,
            struct csv_text *sum)
{
    for (size_t i = 0; i < size; i++) {
        sum->separators += text[i] == separator;
        sum->breaks += text[i] == '\n';
    }
}

static size_t
find_nul(const uint8_t *text, size_t size)
{
    const uint8_t *nul = size > 0 ? memchr(text, 0, size) : NULL;
    return nul != NULL ? (size_t)(nul - text) : size;
}

void
csv_text_look(const uint8_t *text, size_t size, uint8_t separator,
              struct csv_text *ret_text)
{
    struct csv_text sum = {.nul = size, .bad = size};
    struct seen seen = {{0}, {0}};
    size_t at = 0, left = size / LANES;
    while (left > 0) {
        size_t rounds = left < ROUNDS ? left : ROUNDS;
        look_rounds(text + at, rounds, separator, &seen, &sum);
        at += rounds * LANES;
        left -= rounds;
    }
    count_bytes(text + at, size - at, separator, &sum);
    sum.nul = any_set(seen.nul, 1) ? find_nul(text, size)
                                   : at + find_nul(text + at, size - at);
    sum.bad = any_set(seen.high, 0x80)
                  ? host_utf8_check(text, size)
                  : at + host_utf8_check(text + at, size - at);
    *ret_text = sum;
}

void
csv_text_look_plain(const uint8_t *text, size_t size, uint8_t separator,
                    struct csv_text *ret_text)
{
    struct csv_text sum = {.nul = find_nul(text, size),
                           .bad = host_utf8_check(text, size)};
    count_bytes(text, size, separator, &sum);
    *ret_text = sum;
}

size_t
csv_text_skip(const uint8_t *text, size_t size, size_t count)
{
    size_t at = 0;
    while (count > 0 && at < size) {
        const uint8_t *found = memchr(text + at, '\n', size - at);
        at = found != NULL ? (size_t)(found - text) + 1 : size;
        count--;
    }
    return at;
}
