/*
 * foreign.h: files that hold tables in forms that are not read here.
 */
#ifndef SOTTO_TABLE_FOREIGN_H
#define SOTTO_TABLE_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

/* Fails if the bytes begin as such a file does, and says what to do with it.
   Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status foreign_check(const uint8_t *bytes, size_t size,
                                              const char *name,
                                              struct sotto_error *err);

#endif
