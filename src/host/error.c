/*
 * error.c: filling struct sotto_error with a formatted message.
 */
#include "host/error.h"

#include <stdarg.h>
#include <stdio.h>

enum sotto_status
host_fail(struct sotto_error *err, enum sotto_status status, size_t position,
          const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        err->status = status;
        err->position = position;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

enum sotto_status
host_fail_memory(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_MEMORY, 0, "out of memory");
}
