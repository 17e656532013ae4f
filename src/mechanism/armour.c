/*
 * armour.c: the text around minisign's binary structures.
 */
#include "mechanism/armour.h"

#include <string.h>

#include <sodium.h>

/*
 * The next line, without its end. `at` moves only if there is one, so that it
 * points at the line that is wrong.
 */
static bool
take_line(struct armour *armour, const char **ret_line, size_t *ret_size)
{
    const char *line = armour->text + armour->at;
    size_t left = armour->size - armour->at;
    const char *end = left > 0 ? memchr(line, '\n', left) : NULL;
    if (left == 0 || (end == NULL && !armour->mailed)) {
        return false;
    }
    size_t size = end == NULL ? left : (size_t)(end - line);
    armour->at += end == NULL ? size : size + 1;
    if (armour->mailed && size > 0 && line[size - 1] == '\r') {
        size--;
    }
    *ret_line = line;
    *ret_size = size;
    return true;
}

bool
armour_comment(struct armour *armour, const char *prefix, size_t max,
               const char **ret_comment, size_t *ret_size)
{
    size_t start = armour->at;
    size_t skip = strlen(prefix);
    const char *line;
    size_t size;
    if (!take_line(armour, &line, &size)) {
        return false;
    }
    if (size < skip || size >= max || memcmp(line, prefix, skip) != 0 ||
        memchr(line, '\0', size) != NULL) {
        armour->at = start;
        return false;
    }
    *ret_comment = line + skip;
    *ret_size = size - skip;
    return true;
}

/* libsodium 1.0.18 reads bytes above 127 as if they were '+' or '/'. */
static bool
is_ascii(const char *line, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)line[i] > 127) {
            return false;
        }
    }
    return true;
}

bool
armour_bytes(struct armour *armour, uint8_t *bytes, size_t size)
{
    size_t start = armour->at;
    size_t got = 0;
    const char *line;
    size_t length;
    if (!take_line(armour, &line, &length)) {
        return false;
    }
    /* No characters to ignore, no end to report: all of it must be base64. */
    if (!is_ascii(line, length) ||
        sodium_base642bin(bytes, size, line, length, NULL, &got, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        got != size) {
        armour->at = start;
        return false;
    }
    return true;
}

bool
armour_at_end(const struct armour *armour)
{
    return armour->at == armour->size;
}
