/*
 * audit.h: what the attacks of an audit share.
 *
 * Each attack takes the mechanism as it is: its parts' channels, the function
 * that places their points, its source of entropy. So a test can put a broken
 * one in any of these places and see which attack finds it.
 */
#ifndef SOTTO_PRIVACY_AUDIT_H
#define SOTTO_PRIVACY_AUDIT_H

#include "mechanism/stages.h"
#include "sotto/sotto.h"

struct sotto_audit {
    struct sotto_mechanism *mechanism;
    struct sotto_audit_options options; /* with defaults filled in */
    struct sotto_audit_info info;
    struct sotto_audit_part *part;
    struct sotto_audit_finding *finding;
    size_t room;
    bool failed; /* no memory for a finding */
};

/* Adds a finding; a violation decides the verdict. */
void audit_note(struct sotto_audit *audit, const char *attack, bool violated,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Adds what could not be tried: the verdict says so. */
void audit_skip(struct sotto_audit *audit, const char *attack,
                const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells the caller how far an attack is. */
void audit_progress(const struct sotto_audit *audit, const char *attack,
                    uint64_t done, uint64_t total);

/* Makes a report of `size` bytes. Statuses: sotto_client_privatise's. */
SOTTO_CHECKED enum sotto_status
audit_report(const struct sotto_mechanism *mechanism,
             const struct sotto_value *values, uint8_t *report, size_t size,
             struct sotto_error *err);

/* The natural logarithm of a whole report's probability given all points of a
   record, by the channels' formulas. */
double audit_log_p(const struct sotto_mechanism *mechanism, const int32_t *q,
                   const uint8_t *report);

/* The attacks; audit_independence is a part of restart, and audit_lot of
   enumerate. Statuses: MEMORY,
   ENTROPY, IO. */
SOTTO_CHECKED enum sotto_status audit_replay(struct sotto_audit *audit,
                                             struct sotto_error *err);
SOTTO_CHECKED enum sotto_status audit_sample(struct sotto_audit *audit,
                                             struct sotto_error *err);
SOTTO_CHECKED enum sotto_status audit_independence(struct sotto_audit *audit,
                                                   struct sotto_error *err);
SOTTO_CHECKED enum sotto_status audit_lot(struct sotto_audit *audit,
                                          struct sotto_error *err);
SOTTO_CHECKED enum sotto_status audit_restart(struct sotto_audit *audit,
                                              struct sotto_error *err);
SOTTO_CHECKED enum sotto_status audit_stopwatch(struct sotto_audit *audit,
                                                struct sotto_error *err);

#endif
