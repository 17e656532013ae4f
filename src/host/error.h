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

/*
 * Says what a failure is about and returns `status`: a function can write
 * `return host_about(host_fail(err, ...), err, SOTTO_ABOUT_PARAMETER, "aux")`.
 * The caller's word replaces that of those it called. Success and a lack of
 * memory are about nothing. A subject that is too long keeps its end.
 */
enum sotto_status host_about(enum sotto_status status, struct sotto_error *err,
                             enum sotto_about about, const char *subject);

/* Says which setting would help, or which two, with a blank between; returns
   `status`. */
enum sotto_status host_remedy(enum sotto_status status, struct sotto_error *err,
                              const char *settings);

/* host_fail for a lack of memory, which needs no detail. */
enum sotto_status host_fail_memory(struct sotto_error *err);

/* Calls the next step only if what came before went well, and gives the status
   of the last step called: `status = HOST_THEN(status, write_header(...));` */
#define HOST_THEN(status, next)                                                \
    ((status) == SOTTO_STATUS_OK ? (next) : (status))

/* The end of a file's name too long to be shown whole in a message: that is
   the part that tells. */
const char *host_shown(const char *name);

#endif
