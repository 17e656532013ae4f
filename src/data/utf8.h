/*
 * utf8.h: whether text is UTF-8.
 */
#ifndef SOTTO_DATA_UTF8_H
#define SOTTO_DATA_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The offset of the first sequence that is not UTF-8 (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF), `size` if there is none.
 */
size_t utf8_check(const uint8_t *text, size_t size);

#endif
