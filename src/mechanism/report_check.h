/*
 * report_check.h: whether bytes are reports of a mechanism, and what to say if
 * they are not: file, report, line and what to do.
 */
#ifndef SOTTO_MECHANISM_REPORT_CHECK_H
#define SOTTO_MECHANISM_REPORT_CHECK_H

#include "mechanism/mechanism.h"

/* What is being read, for messages. */
struct report_origin {
    const struct sotto_mechanism *mechanism;
    const char *name;
};

/* Whether the bytes of a report's size are one: as report_valid, and faster. */
bool report_check_valid(const struct sotto_mechanism *mechanism,
                        const uint8_t *report);

/* Puts the file, the report (from 0) and its line (0: none) before a cause: a
   report of another mechanism is bad input as any other. INPUT, or MEMORY. */
SOTTO_CHECKED enum sotto_status
report_check_fail(const struct report_origin *origin, size_t at, size_t line,
                  size_t position, const struct sotto_error *cause,
                  struct sotto_error *err);

/* Checks report `at` (from 0) of the origin. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status report_check(const struct report_origin *origin,
                                             const uint8_t *report, size_t at,
                                             struct sotto_error *err);

/* Checks the length of a whole file, once the first report's header, which is
   in the first bytes of `data`, has shown whose they are. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status
report_check_length(const struct report_origin *origin, const uint8_t *data,
                    size_t size, struct sotto_error *err);

#endif
