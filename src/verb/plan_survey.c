/*
 * plan_survey.c: sotto plan: simulated campaigns of one kind.
 *
 * direct gives the label half of epsilon (lambda 0.5), and asks so few columns
 * that each has an epsilon of 2 where it can: with the budget split evenly
 * among three columns and the label, small campaigns took the wrong class for
 * the largest (docs/plan.md).
 */
#include "verb/plan_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CAMPAIGNS 12u
/* direct is quick with few people, and its campaigns differ more: it has as
   many as make 40,000 reports, between the two numbers. */
#define CAMPAIGNS_DIRECT 40u
#define REPORTS_DIRECT 40000.0
#define EPS_OF_COLUMN 4.0 /* of the whole report, for each column */
#define DIRECT "direct"

static const struct sotto_setting direct_set[] = {{"lambda", PLAN_LAMBDA}};

struct survey_way *
survey_way(struct survey *survey, size_t eps)
{
    double columns = floor(survey->job->eps_number[eps] / EPS_OF_COLUMN);
    size_t way = columns < 1 ? 0 : (size_t)columns - 1;
    return &survey->way[way < survey->ways ? way : survey->ways - 1];
}

struct sotto_outlook_point *
survey_point(struct survey *survey, size_t eps, size_t people)
{
    return &survey->point[people * survey->job->eps_count + eps];
}

double *
survey_curve(struct survey *survey, size_t eps, size_t people)
{
    return &survey->curve[people * survey->job->eps_count + eps];
}

/* ---- Ways ---------------------------------------------------------------- */

static bool
is_among(size_t column, const size_t *among, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (among[i] == column) {
            return true;
        }
    }
    return false;
}

/* Drops all columns but the `count` of `best` and the label. */
static int
way_keep(struct survey_way *way, const struct plan_job *job, const size_t *best,
         size_t count)
{
    size_t columns = sotto_table_columns(job->table), used = 0;
    way->options.drops = 0;
    way->drop = calloc(columns, sizeof *way->drop);
    if (way->drop == NULL) {
        return cli_no_memory();
    }
    for (size_t i = 0; i < columns; i++) {
        const char *name = sotto_table_name(job->table, i);
        if (is_among(i, best, count) && used < SURVEY_KEPT_SIZE) {
            used += (size_t)snprintf(way->kept + used, SURVEY_KEPT_SIZE - used,
                                     "%s%.100s", used > 0 ? "," : "", name);
        } else if (strcmp(name, job->label) != 0) {
            way->drop[way->options.drops++] = name;
        }
    }
    way->options.drop = way->drop;
    return CLI_EXIT_DONE;
}

/* Ranks columns by what they tell of the label; way i keeps the first i + 1. */
static int
rank_ways(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    size_t best[SOTTO_CAMPAIGN_COLUMNS_MAX], count = 0;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    if (sotto_campaign_rank_columns(job->table, job->label, job->drop,
                                    job->drops, survey->way[0].options.seed,
                                    best, NULL, &count,
                                    &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    if (count == 0 && cli_given(job->args, "keep")) {
        return CLI_EXIT_DONE; /* its owner wants them all the same */
    }
    survey->ways = count < SURVEY_WAYS ? count : SURVEY_WAYS;
    for (size_t i = 0; status == CLI_EXIT_DONE && i < survey->ways; i++) {
        survey->way[i].options = survey->way[0].options;
        status = way_keep(&survey->way[i], job, best, i + 1);
    }
    return status;
}

/* Makes the outlook of a way when it is first gone. */
static int
open_way(struct survey *survey, struct survey_way *way)
{
    struct sotto_error err = {0};
    if (way->outlook != NULL) {
        return CLI_EXIT_DONE;
    }
    return cli_exit(sotto_outlook_new(survey->job->table, &way->options,
                                      (size_t)survey->campaigns, &way->outlook,
                                      &err),
                    &err);
}

/* ---- Life cycle ---------------------------------------------------------- */

static uint64_t
choose_campaigns(const struct plan_job *job, bool direct)
{
    double fit = REPORTS_DIRECT / job->people[job->people_count - 1];
    return !direct || fit < CAMPAIGNS ? CAMPAIGNS
           : fit > CAMPAIGNS_DIRECT   ? CAMPAIGNS_DIRECT
                                      : (uint64_t)fit;
}

int
survey_init(struct survey *survey, const struct plan_job *job, const char *kind,
            bool *ret_empty)
{
    uint64_t seed = 1, threads = 0;
    bool direct = strcmp(kind, DIRECT) == 0;
    int status = CLI_EXIT_DONE;
    survey->job = job;
    survey->kind = kind;
    survey->ways = 1;
    survey->campaigns = choose_campaigns(job, direct);
    if (!cli_whole(job->args, "seed", 0, UINT64_MAX, &seed) ||
        !cli_whole(job->args, "threads", 0, 64, &threads) ||
        !cli_whole(job->args, "campaigns", 2, 1000, &survey->campaigns)) {
        return CLI_EXIT_BAD;
    }
    survey->way[0].options = (struct sotto_campaign_options){
        .kind = kind,
        .label = job->label,
        .drop = job->drop,
        .drops = job->drops,
        .schema = job->schema,
        .set = direct_set,
        .sets = direct ? 1 : 0,
        .seed = seed,
        .threads = (unsigned)threads,
        .watch = watch_port(&survey->watch),
    };
    if (direct) {
        status = rank_ways(survey);
    }
    *ret_empty = survey->ways == 0;
    return status;
}

void
survey_clear(struct survey *survey)
{
    for (size_t i = 0; i < SURVEY_WAYS; i++) {
        sotto_outlook_free(survey->way[i].outlook);
        free(survey->way[i].drop);
    }
}

/* ---- Simulating ---------------------------------------------------------- */

int
survey_simulate(struct survey *survey, size_t eps,
                const struct sotto_campaign_run *run,
                struct sotto_outlook_point *ret_point)
{
    struct survey_way *way = survey_way(survey, eps);
    struct sotto_error err = {0};
    watch_start(&survey->watch);
    int status = open_way(survey, way);
    if (status == CLI_EXIT_DONE) {
        status =
            cli_exit(sotto_outlook_simulate(way->outlook, run,
                                            SURVEY_CONFIDENCE, ret_point, &err),
                     &err);
    }
    watch_end(&survey->watch);
    return status;
}

struct sotto_campaign_run
survey_run_at(const struct survey *survey, size_t eps, size_t people)
{
    return (struct sotto_campaign_run){.eps = survey->job->eps[eps],
                                       .people =
                                           (size_t)survey->job->people[people],
                                       .seed = survey->way[0].options.seed + 1};
}

int
survey_run(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    for (size_t p = 0; p < job->people_count; p++) {
        for (size_t e = 0; status == CLI_EXIT_DONE && e < job->eps_count; e++) {
            struct sotto_campaign_run run = survey_run_at(survey, e, p);
            struct sotto_outlook_point *point = survey_point(survey, e, p);
            status = survey_simulate(survey, e, &run, point);
            *survey_curve(survey, e, p) = point->accuracy;
        }
    }
    if (status == CLI_EXIT_DONE) {
        status = cli_exit(sotto_outlook_smooth(survey->curve, job->people_count,
                                               job->eps_count, &err),
                          &err);
    }
    return status;
}

double
survey_mean(const struct survey *survey)
{
    size_t count = survey->job->people_count * survey->job->eps_count;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += survey->point[i].accuracy;
    }
    return sum / (double)count;
}
