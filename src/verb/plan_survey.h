/*
 * plan_survey.h: sotto plan: simulated campaigns of one kind, at every epsilon
 * and number of people.
 */
#ifndef SOTTO_VERB_PLAN_SURVEY_H
#define SOTTO_VERB_PLAN_SURVEY_H

#include "cli/watch.h"
#include "verb/plan.h"

#define SURVEY_CONFIDENCE 0.9
#define SURVEY_WAYS 3u /* direct: with 1 to 3 columns */
#define SURVEY_KEPT_SIZE 400u
#define SURVEY_POINTS ((size_t)PLAN_LIST_MOST * PLAN_LIST_MOST)

/* A mechanism's columns and settings. */
struct survey_way {
    struct sotto_campaign_options options;
    struct sotto_outlook *outlook; /* NULL: this way is not gone */
    const char **drop;             /* all but the columns that tell most */
    char kept[SURVEY_KEPT_SIZE];   /* those, by commas; "": as the job says */
};

/* Stays where it is: its options point at its watch. */
struct survey {
    const struct plan_job *job;
    const char *kind;
    struct survey_way way[SURVEY_WAYS];
    size_t ways;
    struct sotto_outlook_point point[SURVEY_POINTS]; /* people by epsilon */
    double curve[SURVEY_POINTS];
    uint64_t campaigns;
    struct watch watch;
};

/* Prepares a survey of a kind, and trains nothing yet. Sets whether the kind
   has nothing to learn from in this table (direct alone: no column tells
   anything of the label by itself). Clear it in any case. The exit status. */
int survey_init(struct survey *survey, const struct plan_job *job,
                const char *kind, bool *ret_empty);
void survey_clear(struct survey *survey);
/* Simulates every point, and draws the curve. The exit status. */
int survey_run(struct survey *survey);

/* The way that is gone at the job's epsilon `eps`. */
struct survey_way *survey_way(struct survey *survey, size_t eps);
struct sotto_outlook_point *survey_point(struct survey *survey, size_t eps,
                                         size_t people);
double *survey_curve(struct survey *survey, size_t eps, size_t people);
/* The run of a point, and its simulation: one with silent people or liars, too.
   The exit status. */
struct sotto_campaign_run survey_run_at(const struct survey *survey, size_t eps,
                                        size_t people);
int survey_simulate(struct survey *survey, size_t eps,
                    const struct sotto_campaign_run *run,
                    struct sotto_outlook_point *ret_point);

/* The mean of all points' accuracies. */
double survey_mean(const struct survey *survey);

#endif
