/*
 * utf8.c: reading UTF-8 as RFC 3629 has it.
 */
#include "host/utf8.h"

#include <string.h>

/* How long the sequence that begins with `lead` is, 0 if none does. */
static size_t
sequence_length(uint8_t lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

size_t
host_utf8_decode(const uint8_t *text, size_t size, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = sequence_length(text[0]);
    if (length == 0 || length > size) {
        return 0;
    }
    uint32_t character = length == 1 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
        character = character << 6 | (text[i] & 0x3fu);
    }
    if (character < least[length] || character > 0x10ffff ||
        (character >= 0xd800 && character <= 0xdfff)) {
        return 0;
    }
    *ret_character = character;
    return length;
}

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

size_t
host_utf8_check(const uint8_t *text, size_t size)
{
    uint32_t character;
    size_t at = skip_ascii(text, size, 0);
    while (at < size) {
        size_t length = host_utf8_decode(text + at, size - at, &character);
        if (length == 0) {
            break;
        }
        at = skip_ascii(text, size, at + length);
    }
    return at;
}
