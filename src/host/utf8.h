/*
 * utf8.h: reading UTF-8 as RFC 3629 has it: no overlong forms, no surrogates,
 * nothing above U+10FFFF.
 */
#ifndef SOTTO_HOST_UTF8_H
#define SOTTO_HOST_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the character that the `size` bytes (at least 1) at `text` begin with;
 * returns its length in bytes, or 0, with `ret_character` untouched, if they
 * begin with none.
 */
size_t host_utf8_decode(const uint8_t *text, size_t size,
                        uint32_t *ret_character);

/* The offset of the first sequence that is no character, `size` if there is
   none. */
size_t host_utf8_check(const uint8_t *text, size_t size);

#endif
