/*
 * error.h: filling struct sotto_error with a formatted message.
 */
#ifndef SOTTO_HOST_ERROR_H
#define SOTTO_HOST_ERROR_H

#include "sotto/client.h"

/*
 * Sets every field of `err` (if not NULL) and returns `status`, so that a
 * function can write `return host_fail(err, ...)`. The message is cut to fit.
 */
__attribute__((format(printf, 4, 5))) enum sotto_status
host_fail(struct sotto_error *err, enum sotto_status status, size_t position,
          const char *format, ...);

/* The same for a lack of memory, which needs no detail. */
enum sotto_status host_fail_memory(struct sotto_error *err);

/* The end of a file's name too long to be shown whole in a message: that is
   the part that tells. */
const char *host_shown(const char *name);

#endif
