/*
 * amount.h: a budget as decimal text, for people and files; base/decimal.h
 * reads it.
 */
#ifndef SOTTO_HOST_AMOUNT_H
#define SOTTO_HOST_AMOUNT_H

#include "base/decimal.h"

/* Writes the shortest text that reads back as `units`; returns its length. */
size_t amount_write(uint64_t units, char text[DECIMAL_TEXT_SIZE]);

#endif
