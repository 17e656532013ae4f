/*
 * status.h: reporting a failure from freestanding code.
 */
#ifndef SOTTO_BASE_STATUS_H
#define SOTTO_BASE_STATUS_H

#include "sotto/client.h"

/* Fills `err` (if not NULL) with a copy of `text` and returns `status`. */
enum sotto_status status_fail(struct sotto_error *err, enum sotto_status status,
                              size_t position, const char *text);

#endif
