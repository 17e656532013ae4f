/*
 * campaign.h: a simulated campaign's pieces, for the files that share them.
 *
 *     aux --train--> mechanism        people --by lot, with lies--> reports
 *     mechanism, reports, aux --fit--> model --test records--> scores
 */
#ifndef SOTTO_EXPERIMENT_CAMPAIGN_H
#define SOTTO_EXPERIMENT_CAMPAIGN_H

#include "sotto/sotto.h"

#define CAMPAIGN_EPS_SIZE 40u

/* Streams of a run's seed: each choice by lot has its own. */
enum campaign_stream {
    CAMPAIGN_STREAM_ASKED = 1,
    CAMPAIGN_STREAM_RECORDS = 2,
    CAMPAIGN_STREAM_LABELS = 3,
    CAMPAIGN_STREAM_FOLDS = 4
};

/* campaign_people.c: the records of those who answer, lies included, in a
   table to free; and how many were asked. Statuses: USAGE, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
campaign_people_take(const struct sotto_table *people, const char *label,
                     const struct sotto_campaign_run *run,
                     struct sotto_table **ret_table, size_t *ret_asked,
                     struct sotto_error *err);
/* How many run asks, of a table of so many. */
size_t campaign_people_asked(const struct sotto_table *people,
                             const struct sotto_campaign_run *run);

/* The column of a label that holds categories or numbers. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status campaign_label(const struct sotto_table *table,
                                               const char *label,
                                               size_t *ret_column,
                                               struct sotto_error *err);
/* Refuses a label that holds no categories. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status
campaign_classes(const struct sotto_table *table, size_t column,
                 struct sotto_error *err);

#endif
