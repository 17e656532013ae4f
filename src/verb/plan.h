/*
 * plan.h: what the files of sotto plan share.
 */
#ifndef SOTTO_VERB_PLAN_H
#define SOTTO_VERB_PLAN_H

#include "cli/cli.h"

#define PLAN_LIST_MOST 12u
#define PLAN_EPS_SIZE 24u
#define PLAN_LAMBDA                                                            \
    "0.5" /* the record's share of direct's epsilon, for a fit */

struct plan_job {
    const struct cli_args *args;
    struct sotto_mechanism *mechanism; /* M; NULL: it is made at each epsilon */
    struct sotto_table *table;         /* NULL: M alone */
    bool real;                         /* its rows are records */
    struct sotto_schema *schema;       /* as train has it; NULL: none */
    const char *label;                 /* NULL: none */
    const char **drop;
    size_t drops;
    const char **answer; /* of them, those that may give the answer away */
    size_t answers;
    char eps[PLAN_LIST_MOST][PLAN_EPS_SIZE]; /* rising */
    double eps_number[PLAN_LIST_MOST];
    size_t eps_count;
    double people[PLAN_LIST_MOST]; /* rising */
    size_t people_count;
    double confidence;
    double silent, liars; /* shares of people */
    double share, mean;   /* half widths asked for; 0: not asked */
    double accuracy;      /* asked for; 0: not asked */
};

/* A whole number with a comma at every third digit: good until four more. */
const char *plan_count(double number);

/* plan_columns.c: the table of --data, with its label, its schema and what is
   left out; tells what its owner should look at first. The exit status. */
int plan_read_table(struct plan_job *job);
/* plan_made.c: the table that options, or the file of --schema, describe. The
   exit status. */
int plan_make_table(struct plan_job *job);
int plan_make_schema_table(struct plan_job *job);
/* plan_shares.c: the error of shares and means. The exit status. */
int plan_shares(const struct plan_job *job);
/* plan_accuracy.c: the accuracy of simulated campaigns. The exit status. */
int plan_accuracy(const struct plan_job *job);

#endif
