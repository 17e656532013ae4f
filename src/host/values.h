/*
 * values.h: the values that fill a template, by name. One that memory did not
 * suffice for is missing, and the template says so.
 */
#ifndef SOTTO_HOST_VALUES_H
#define SOTTO_HOST_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "host/text.h"

/* Sets a value to a text as printf makes it. */
__attribute__((format(printf, 3, 4))) void
host_values_text(json_t *values, const char *name, const char *format, ...);
void host_values_size(json_t *values, const char *name, size_t size);
void host_values_bool(json_t *values, const char *name, bool value);
/* Sets a value to a text and empties that. */
void host_values_take(json_t *values, const char *name, struct host_text *text);
/* Sets a value to an array of `count` empty objects, for the caller to fill;
   NULL: no memory, and the value is missing. */
json_t *host_values_list(json_t *values, const char *name, size_t count);

#endif
