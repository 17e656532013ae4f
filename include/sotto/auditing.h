/*
 * sotto/auditing.h: trying to break a mechanism's claim.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_AUDITING_H
#define SOTTO_AUDITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an attack found, or what it tried in vain. */
struct sotto_audit_finding {
    const char *attack; /* "enumerate", "replay", "sample", "restart", "time" */
    bool violated;      /* false: the claim held, or: */
    bool untried;       /* it could not be tried here */
    char text[320];     /* the evidence, for a person */
};

/* One part of the mechanism. */
struct sotto_audit_part {
    const char *channel;
    size_t blocks;
    double eps_stated, delta_stated; /* of each block */
    const char *scope; /* what was enumerated: "whole", "coordinate" (one of
                          the domain's, whole), "smaller" (the same channel and
                          budget on fewer points) or "nothing" */
    double eps_exact;  /* the largest ln p(r|q)/p(r|q') found there; at the
                          stated delta if there is one; NaN: nothing */
    double delta_exact;
    double log_p_error; /* of the channel's log p, relatively */
    uint64_t branches;
    double sensitivity_stated, sensitivity_found; /* before noise, in the
                          domain's own norm; for symbols 1: they differ */
};

/* The whole. */
struct sotto_audit_info {
    double eps_stated, delta_stated;
    double eps_exact; /* the parts' sum; NaN if one was not enumerated */
    double eps_lower; /* with confidence 1 - alpha the true epsilon is at least
                         this; the reports of one pair of records */
    double alpha;
    uint64_t samples; /* of each of the pair's records */
    /* Of the part where the second is the largest share of the first. */
    double sensitivity_stated, sensitivity_found;
    bool violated;  /* the verdict */
    size_t untried; /* findings that say what could not be tried */
    size_t parts, findings;
};

struct sotto_audit_options {
    uint64_t samples;  /* reports of each record, for each of two stages; 0:
                          100,000 */
    double alpha;      /* 0: 0.001 */
    uint64_t branches; /* the most to enumerate for a part; 0: 4,000,000 */
    uint64_t steps;    /* the most instructions to follow one by one, in all;
                          0: 3,000,000 */
    uint64_t seed;     /* of the search for hostile records, not of any noise */
    /* Told how far it is, `done` of `total`; may be NULL. */
    void (*progress)(void *context, const char *attack, uint64_t done,
                     uint64_t total);
    /* Opens a ledger of the caller's anew, as a restarted device would, closing
       it first if it is open; NULL if it cannot. May be NULL: then invariant 5
       is not tried. */
    const struct sotto_ledger_port *(*ledger)(void *context);
    /* Writes one report of sotto_audit_one, made in a fresh process; 0 if it
       could. May be NULL: then only forks are tried. */
    int (*fresh)(void *context, uint8_t *report, size_t size);
    void *context;
};

struct sotto_audit;

/*
 * Attacks the mechanism, and the code in this library that runs it, in five
 * ways (docs/audit.md): takes every branch of the samplers; searches for
 * records that leave their domain; estimates epsilon from below; looks for
 * noise that repeats across calls, forks and processes, for entropy that does
 * not come from the system, and for steps that depend on the record; and times
 * whole reports of hostile records. Needs no signature. Forks, and traces its
 * children where the system lets it: call it from a program with one thread.
 * Statuses: MEMORY, ENTROPY, USAGE, IO.
 */
SOTTO_CHECKED enum sotto_status
sotto_audit_run(struct sotto_mechanism *mechanism,
                const struct sotto_audit_options *options,
                struct sotto_audit **ret_audit, struct sotto_error *err);
void sotto_audit_info(const struct sotto_audit *audit,
                      struct sotto_audit_info *ret_info);
void sotto_audit_part(const struct sotto_audit *audit, size_t part,
                      struct sotto_audit_part *ret_part);
const struct sotto_audit_finding *
sotto_audit_finding(const struct sotto_audit *audit, size_t i);
void sotto_audit_free(struct sotto_audit *audit);

/* One report of the record that the restart attack uses. Statuses: SIZE,
   ENTROPY, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_audit_one(struct sotto_mechanism *mechanism, uint8_t *report, size_t size,
                struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
