/*
 * character.h: UTF-8 in what others wrote, one character at a time.
 */
#ifndef SOTTO_CLI_CHARACTER_H
#define SOTTO_CLI_CHARACTER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Length of the character that the `left` bytes (at least 1) at `text` begin
 * with, 0 if they begin with none: no overlong forms, no surrogates, nothing
 * above U+10FFFF. `ret_code`, which may be NULL, receives its code.
 */
size_t character_size(const char *text, size_t left, unsigned *ret_code);

/* Whether a terminal may be shown it: no controls, no line separators, nothing
   that turns the writing direction round. */
bool character_shown(unsigned code);

#endif
