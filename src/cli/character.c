/*
 * character.c: UTF-8 in what others wrote, one character at a time.
 */
#include "cli/character.h"

static size_t
size_by_first(unsigned first)
{
    return first < 0x80             ? 1
           : (first & 0xe0) == 0xc0 ? 2
           : (first & 0xf0) == 0xe0 ? 3
           : (first & 0xf8) == 0xf0 ? 4
                                    : 0;
}

size_t
character_size(const char *text, size_t left, unsigned *ret_code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    size_t size = size_by_first(at[0]);
    if (size == 0 || size > left) {
        return 0;
    }
    unsigned code = size == 1 ? at[0] : at[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < least[size] || code > 0x10ffff || surrogate) {
        return 0;
    }
    if (ret_code != NULL) {
        *ret_code = code;
    }
    return size;
}

bool
character_shown(unsigned code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        {0, 0x1f},        {0x7f, 0x9f},     /* controls, C0 and C1 */
        {0x61c, 0x61c},   {0x200e, 0x200f}, /* marks of direction */
        {0x2028, 0x202e}, {0x2066, 0x2069}, /* lines, directions */
        {0xfeff, 0xfeff},                   /* byte-order mark */
    };
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        if (code >= hidden[i].first && code <= hidden[i].last) {
            return false;
        }
    }
    return true;
}
