/*
 * lot.h: the lot among codebooks, and reports with it, by taking every branch.
 *
 * Of several codebooks a device asks one (report/report.h). A report is then
 * the pair (b, r) of the lot and what the channel sent, of probability
 * P(b) p(r | q_b): its epsilon is the channel's if P(b) is the same for every
 * record. Here the functions that ship run on a tape (tape.h) with other
 * records' outputs in the workspace each time, and the probabilities of all
 * pairs are compared as integers. Nothing in it is a statistic.
 */
#ifndef SOTTO_PRIVACY_LOT_H
#define SOTTO_PRIVACY_LOT_H

#include "mechanism/mechanism.h"

/* Makes a report, or its beginning, of what lies in the workspace. */
typedef void lot_maker(const struct report_plan *plan, struct entropy *entropy,
                       uint8_t *report);

struct lot_request {
    struct sotto_mechanism *mechanism;
    lot_maker *make;
    size_t bytes;    /* of the payload that it makes, the lot's first */
    uint32_t points; /* how many records' outputs are tried */
    uint64_t branches_most;
};

struct lot_result {
    bool whole;   /* all branches were taken; else nothing else is set */
    bool uniform; /* every lot has probability 1 / books, for every record */
    bool within;  /* no ratio above e^epsilon, compared exactly */
    double eps;   /* the largest ln ratio */
    uint64_t reports, branches;
    char fault[120]; /* what none may do at all; "" if nothing */
};

/* Statuses: MEMORY. What was in the mechanism's workspace is gone. */
SOTTO_CHECKED enum sotto_status lot_enumerate(const struct lot_request *request,
                                              struct lot_result *ret_result,
                                              struct sotto_error *err);

#endif
