/*
 * decode_rows.h: what decode prints: margins and estimates, row by row.
 */
#ifndef SOTTO_VERB_DECODE_ROWS_H
#define SOTTO_VERB_DECODE_ROWS_H

#include <stdio.h>

#include "cli/cli.h"
#include "sotto/sotto.h"

#define DECODE_REPORTS_LEAST 2u /* for an interval */

/* The shares of liars that estimates are shown with: 1% and 5%. */
#define DECODE_LIARS 2u
extern const double decode_liars[DECODE_LIARS];
/* Prints what so many of them can do: four numbers of an object, null where it
   is anything; or one field of a table for each share. */
void decode_liars_json(const struct sotto_reach reach[DECODE_LIARS], FILE *to);
void decode_liars_text(const struct sotto_reach reach[DECODE_LIARS], FILE *to);
/* The fields' titles. */
#define DECODE_LIARS_TITLE "  1% forged  5% forged"

struct decode_job {
    struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct sotto_report_seen seen;
    struct sotto_estimate *estimate;
    struct sotto_margins *margins;
    double z, confidence;
    bool json, shares;
};

/* Prints the margins of a codebook, then all estimates, as a table with a
   legend or as JSON. Returns the exit status. */
int decode_rows_put(const struct decode_job *job, FILE *to);

#endif
