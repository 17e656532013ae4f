/*
 * error.c: filling struct sotto_error with a formatted message.
 */
#include "host/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX ((size_t)160)

enum sotto_status
host_fail(struct sotto_error *err, enum sotto_status status, size_t position,
          const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        err->status = status;
        err->position = position;
        err->about = SOTTO_ABOUT_NOTHING;
        err->subject[0] = err->remedy[0] = '\0';
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

static const char *
end_of(const char *text, size_t most)
{
    size_t size = strlen(text);
    return size > most ? text + size - most : text;
}

enum sotto_status
host_about(enum sotto_status status, struct sotto_error *err,
           enum sotto_about about, const char *subject)
{
    if (err != NULL && status != SOTTO_STATUS_OK &&
        status != SOTTO_STATUS_MEMORY) {
        const char *end = end_of(subject, sizeof err->subject - 1);
        memcpy(err->subject, end, strlen(end) + 1);
        err->about = about;
    }
    return status;
}

enum sotto_status
host_remedy(enum sotto_status status, struct sotto_error *err,
            const char *settings)
{
    if (err != NULL) {
        (void)snprintf(err->remedy, sizeof err->remedy, "%s", settings);
    }
    return status;
}

enum sotto_status
host_fail_memory(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_MEMORY, 0, "out of memory");
}

const char *
host_shown(const char *name)
{
    size_t size = strlen(name);
    if (size > SHOWN_MAX) {
        name += size - SHOWN_MAX;
        while (((unsigned char)*name & 0xc0) == 0x80) { /* half a character */
            name++;
        }
    }
    return name;
}
