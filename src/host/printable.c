/*
 * printable.c: text of others, made safe to show.
 */
#include "host/printable.h"

#include <string.h>

#include "host/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* C0, DEL, C1; marks, embeddings and isolates of direction; U+2028, U+2029;
   the byte-order mark. */
bool
host_printable(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x61c &&
           !(c >= 0x200e && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

/* A byte that is no part of a character counts as U+FFFD. */
static size_t
decode_character(const uint8_t *at, const uint8_t *end, uint32_t *ret_character)
{
    size_t length = host_utf8_decode(at, (size_t)(end - at), ret_character);
    if (length == 0) {
        *ret_character = 0xfffd;
        length = 1;
    }
    return length;
}

static size_t
count_characters(const uint8_t *at, const uint8_t *end, size_t most)
{
    size_t count = 0;
    uint32_t character;
    while (at < end && count <= most) {
        at += decode_character(at, end, &character);
        count++;
    }
    return count;
}

void
host_printable_add(struct host_text *text, const char *from, size_t most)
{
    const uint8_t *at = (const uint8_t *)from;
    const uint8_t *end = at + strlen(from);
    bool cut = count_characters(at, end, most) > most;
    size_t left = cut ? most - 1 : most;
    while (at < end && left-- > 0 && !text->failed) {
        uint32_t character;
        size_t length = decode_character(at, end, &character);
        if (character == 0xfffd || !host_printable(character)) {
            host_text_add(text, REPLACEMENT, strlen(REPLACEMENT));
        } else {
            host_text_add(text, at, length);
        }
        at += length;
    }
    if (cut) {
        host_text_add(text, "...", 3);
    }
}
