/*
 * printable.c: text of others, made safe to show.
 */
#include "host/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * The length of the sequence at `at`, and its character; 1 and U+FFFD if it is
 * not well-formed (RFC 3629: no overlong forms, no surrogates). The text ends
 * in a NUL, which is no continuation byte, so nothing is read behind it.
 */
static size_t
decode(const uint8_t *at, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t lead = at[0], character;
    size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    *ret_character = 0xfffd;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) {
        return 1;
    }
    character = length == 1 ? lead : lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 1;
        }
        character = character << 6 | (at[i] & 0x3f);
    }
    if (character < least[length] || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000)) {
        return 1;
    }
    *ret_character = character;
    return length;
}

/* C0, DEL, C1; marks, embeddings and isolates of direction; U+2028, U+2029;
   the byte-order mark. */
static bool
is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c ||
           (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static size_t
count_characters(const uint8_t *at, size_t most)
{
    size_t count = 0;
    uint32_t character;
    while (*at != 0 && count <= most) {
        at += decode(at, &character);
        count++;
    }
    return count;
}

void
host_printable_add(struct host_text *text, const char *from, size_t most)
{
    const uint8_t *at = (const uint8_t *)from;
    bool cut = count_characters(at, most) > most;
    size_t left = cut ? most - 1 : most;
    while (*at != 0 && left-- > 0 && !text->failed) {
        uint32_t character;
        size_t length = decode(at, &character);
        if (character == 0xfffd || is_control(character)) {
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
