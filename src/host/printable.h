/*
 * printable.h: text of others, made safe to show.
 *
 * Names and categories in a mechanism file are any bytes but NUL. What is
 * shown to a person must be UTF-8 and must not steer the terminal.
 */
#ifndef SOTTO_HOST_PRINTABLE_H
#define SOTTO_HOST_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/text.h"

/*
 * Whether a character may be shown to a person: no controls, which could move
 * a terminal's cursor, no line separators, and nothing that turns the writing
 * direction round, which could make a text read as another.
 */
bool host_printable(uint32_t character);

/*
 * Appends `from` with U+FFFD in place of every character that is not printable
 * and of every byte that is not part of well-formed UTF-8. Of more than `most`
 * characters the first most - 1 are taken and "..." follows.
 */
void host_printable_add(struct host_text *text, const char *from, size_t most);

#endif
