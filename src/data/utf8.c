/*
 * utf8.c: whether text is UTF-8.
 */
#include "data/utf8.h"

#include <stdbool.h>
#include <string.h>

/* Eight bytes at a time while all of them are ASCII. */
static size_t
skip_ascii(const uint8_t *text, size_t size, size_t at)
{
    uint64_t word;
    while (size - at >= sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
        at += sizeof word;
    }
    while (at < size && text[at] < 0x80) {
        at++;
    }
    return at;
}

/* The length of the sequence that a byte beyond ASCII begins, 0 if none. */
static size_t
sequence_length(uint8_t lead)
{
    if (lead >= 0xc2 && lead < 0xe0) {
        return 2;
    }
    if (lead >= 0xe0 && lead < 0xf0) {
        return 3;
    }
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* Whether `second` may follow `lead`: RFC 3629, section 4. */
static bool
second_fits(uint8_t lead, uint8_t second)
{
    uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

static bool
sequence_valid(const uint8_t *text, size_t length)
{
    if (!second_fits(text[0], text[1])) {
        return false;
    }
    for (size_t i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return false;
        }
    }
    return true;
}

size_t
utf8_check(const uint8_t *text, size_t size)
{
    size_t at = skip_ascii(text, size, 0);
    while (at < size) {
        size_t length = sequence_length(text[at]);
        if (length == 0 || length > size - at ||
            !sequence_valid(text + at, length)) {
            break;
        }
        at = skip_ascii(text, size, at + length);
    }
    return at;
}
