/*
 * status.c: the messages of statuses, and filling struct sotto_error.
 */
#include "base/status.h"

const char *
sotto_status_message(enum sotto_status status)
{
    switch (status) {
#define STATUS_CASE(value, name, message)                                      \
    case SOTTO_STATUS_##name:                                                  \
        return message;
        SOTTO_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    default:
        return "unknown status";
    }
}

enum sotto_status
status_fail(struct sotto_error *err, enum sotto_status status, size_t position,
            const char *text)
{
    if (err != NULL) {
        size_t i = 0;
        err->status = status;
        err->position = position;
        err->about = SOTTO_ABOUT_NOTHING;
        err->subject[0] = err->remedy[0] = '\0';
        while (text[i] != '\0' && i + 1 < sizeof err->message) {
            err->message[i] = text[i];
            i++;
        }
        err->message[i] = '\0';
    }
    return status;
}
