/*
 * plan_accuracy.c: sotto plan: the accuracy of simulated campaigns, and which
 * kind of mechanism is better.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "host/plot.h"
#include "verb/plan_plot.h"
#include "verb/plan_survey.h"

/* ---- Telling ------------------------------------------------------------- */

static void
put_point_json(const struct survey *survey, const struct survey_way *way,
               const struct sotto_campaign_run *run,
               const struct sotto_outlook_point *point, double curve)
{
    json_begin(stdout);
    json_text(stdout, "kind", survey->kind);
    json_text(stdout, "columns", *way->kept != '\0' ? way->kept : NULL);
    json_decimal(stdout, "eps", run->eps);
    json_size(stdout, "people", run->people);
    json_number(stdout, "silent", run->silent);
    json_number(stdout, "lying", run->lying);
    json_number(stdout, "accuracy", point->accuracy);
    json_bool(stdout, "told", point->told);
    json_number(stdout, "low", point->told ? point->low : NAN);
    json_number(stdout, "high", point->told ? point->high : NAN);
    json_number(stdout, "confidence", SURVEY_CONFIDENCE);
    json_number(stdout, "least", point->least);
    json_number(stdout, "most", point->most);
    json_number(stdout, "deviation", point->deviation);
    json_number(stdout, "auc", point->auc);
    json_number(stdout, "auc_deviation", point->auc_deviation);
    json_bool(stdout, "ranks", point->ranks);
    json_number(stdout, "curve", curve);
    json_number(stdout, "majority", sotto_outlook_majority(way->outlook));
    json_size(stdout, "labelled", sotto_outlook_labelled(way->outlook));
    json_size(stdout, "campaigns", point->campaigns);
    json_size(stdout, "k", point->k);
    json_size(stdout, "books", point->books);
    json_text(stdout, "channel", point->channel);
    json_end(stdout);
}

static void
put_point_text(const struct sotto_campaign_run *run,
               const struct sotto_outlook_point *point, double curve,
               double majority)
{
    printf("%8s %12s ", run->eps, plan_count((double)run->people));
    if (!point->told) {
        printf("cannot be told: simulated campaigns came to %.0f up to %.0f\n",
               100 * point->least, 100 * point->most);
        return;
    }
    printf("%9.1f %7.1f to %5.1f %8.1f %7.3f   %s\n", 100 * point->accuracy,
           100 * point->low, 100 * point->high, 100 * curve, point->auc,
           point->low > majority        ? "above the majority"
           : point->accuracy > majority ? "may be above it"
           : point->ranks               ? "no better, but it ranks people"
                                        : "no better than it");
}

static void
put_head(struct survey *survey)
{
    const struct sotto_outlook *outlook = survey_way(survey, 0)->outlook;
    printf("%s: accuracy in %%, by %zu simulated campaigns a row on %zu "
           "labelled\nrecords of %zu classes. Always naming the largest class "
           "is right about %.1f%%.\n\n%8s %12s %9s %16s %8s %7s\n",
           survey->kind, (size_t)survey->campaigns,
           sotto_outlook_labelled(outlook), sotto_outlook_classes(outlook),
           100 * sotto_outlook_majority(outlook), "epsilon", "people",
           "accuracy", "9 of 10 within", "curve", "AUC");
}

static void
put_grid(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    bool json = cli_given(job->args, "json");
    if (!json) {
        put_head(survey);
    }
    for (size_t p = 0; p < job->people_count; p++) {
        for (size_t e = 0; e < job->eps_count; e++) {
            const struct survey_way *way = survey_way(survey, e);
            struct sotto_campaign_run run = survey_run_at(survey, e, p);
            const struct sotto_outlook_point *point =
                survey_point(survey, e, p);
            double curve = *survey_curve(survey, e, p);
            if (json) {
                put_point_json(survey, way, &run, point, curve);
            } else {
                put_point_text(&run, point, curve,
                               sotto_outlook_majority(way->outlook));
            }
        }
    }
}

static void
put_trouble_text(const struct sotto_campaign_run *run,
                 const struct sotto_outlook_point *point)
{
    bool silent = run->silent > 0;
    printf("%sIf %.0f%% of them %s: ", silent ? "\n" : "",
           100 * (silent ? run->silent : run->lying),
           silent ? "do not answer" : "give a false label, all the same way");
    if (point->told) {
        printf("%.1f (%.1f to %.1f).\n", 100 * point->accuracy,
               100 * point->low, 100 * point->high);
    } else {
        printf("it cannot be told.\n");
    }
}

/* What silent and lying people do, at the point that has most of both. */
static int
put_trouble(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    size_t e = job->eps_count - 1, p = job->people_count - 1;
    int status = CLI_EXIT_DONE;
    for (int i = 0; status == CLI_EXIT_DONE && i < 2; i++) {
        struct sotto_campaign_run run = survey_run_at(survey, e, p);
        struct sotto_outlook_point point;
        run.silent = i == 0 ? job->silent : 0;
        run.lying = i == 1 ? job->liars : 0;
        run.lie = SOTTO_CAMPAIGN_LIE_SWAP;
        if (run.silent == 0 && run.lying == 0) {
            continue;
        }
        status = survey_simulate(survey, e, &run, &point);
        if (status == CLI_EXIT_DONE && cli_given(job->args, "json")) {
            put_point_json(survey, survey_way(survey, e), &run, &point, NAN);
        } else if (status == CLI_EXIT_DONE) {
            put_trouble_text(&run, &point);
        }
    }
    return status;
}

/* ---- The recommendation -------------------------------------------------- */

static void
put_answer_json(const char *what, const char *eps, double people, double found)
{
    json_begin(stdout);
    json_text(stdout, "answer", what);
    json_text(stdout, "at_eps", eps);
    json_number(stdout, "at_people", people);
    json_number(stdout, what, found);
    json_end(stdout);
}

/* People that an accuracy needs, at each epsilon. */
static void
put_people_needed(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    for (size_t e = 0; e < job->eps_count; e++) {
        double y[PLAN_LIST_MOST];
        for (size_t p = 0; p < job->people_count; p++) {
            y[p] = *survey_curve(survey, e, p);
        }
        double people = sotto_outlook_reach(job->people, y, job->people_count,
                                            job->accuracy);
        if (cli_given(job->args, "json")) {
            put_answer_json("people", job->eps[e], NAN, people);
        } else if (isfinite(people)) {
            printf("At epsilon %s, %s%s people are enough for %.1f%%.\n",
                   job->eps[e], people <= job->people[0] ? "" : "about ",
                   plan_count(people), 100 * job->accuracy);
        } else {
            printf("At epsilon %s, %s people are not enough for %.1f%%: expect "
                   "%.1f%%.\n",
                   job->eps[e], plan_count(job->people[job->people_count - 1]),
                   100 * job->accuracy, 100 * y[job->people_count - 1]);
        }
    }
}

/* The epsilon that an accuracy needs, with so many people. */
static void
put_eps_needed(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    for (size_t p = 0; p < job->people_count; p++) {
        double eps =
            sotto_outlook_reach(job->eps_number, survey_curve(survey, 0, p),
                                job->eps_count, job->accuracy);
        if (cli_given(job->args, "json")) {
            put_answer_json("eps", NULL, job->people[p], eps);
        } else if (isfinite(eps)) {
            printf("%s people need an epsilon of %s%.2g for %.1f%%.\n",
                   plan_count(job->people[p]),
                   eps <= job->eps_number[0] ? "at most " : "about ", eps,
                   100 * job->accuracy);
        } else {
            printf("%s people do not reach %.1f%% at any of these epsilons.\n",
                   plan_count(job->people[p]), 100 * job->accuracy);
        }
    }
}

/* The options of train that the campaigns of direct stand for: a line for each
   choice of columns. */
static void
put_ways(struct survey *survey)
{
    const struct plan_job *job = survey->job;
    for (size_t e = 0; e < job->eps_count; e++) {
        const struct survey_way *way = survey_way(survey, e);
        if (e == 0 || way != survey_way(survey, e - 1)) {
            printf("%srom epsilon %s on: train direct --lambda " PLAN_LAMBDA
                   "%s%s",
                   e > 0 ? ".\nF" : "F", job->eps[e],
                   *way->kept != '\0' ? ", of the columns that tell most of "
                                        "the label: "
                                      : "",
                   cli_shown(way->kept));
        }
    }
    printf(".\n");
}

/* What train has to leave out, too; direct names what it takes. */
static void
put_answers(const struct plan_job *job)
{
    if (job->answers == 0) {
        return;
    }
    printf("Give train");
    for (size_t i = 0; i < job->answers; i++) {
        printf(" --drop '%s'", cli_shown(job->answer[i]));
    }
    printf(", as was done here.\n");
}

static void
put_kind(struct survey *survey, struct survey *other)
{
    const struct plan_job *job = survey->job;
    const struct sotto_outlook_point *best =
        survey_point(survey, job->eps_count - 1, job->people_count - 1);
    printf("\nKIND: %s", survey->kind);
    if (best->k > 0) {
        printf(", one channel for record and label, all of epsilon in it: here "
               "%zu codes by %s",
               best->k, best->channel);
    }
    printf(".\n");
    if (other != NULL) {
        size_t count = job->people_count * job->eps_count, won = 0;
        for (size_t i = 0; i < count; i++) {
            won += survey->point[i].accuracy > other->point[i].accuracy;
        }
        printf("Why: over these rows it is right about %.1f%% on average, %s "
               "about %.1f%%; it is the\nbetter one in %zu of %zu.\n",
               100 * survey_mean(survey), other->kind, 100 * survey_mean(other),
               won, count);
    }
    if (best->k == 0 && strcmp(survey->kind, "direct") == 0) {
        put_ways(survey);
    } else {
        put_answers(job);
    }
}

static void
put_kind_json(const struct survey *survey, const struct survey *other)
{
    json_begin(stdout);
    json_text(stdout, "answer", "kind");
    json_text(stdout, "kind", survey->kind);
    json_number(stdout, "mean", survey_mean(survey));
    json_text(stdout, "other", other->kind);
    json_number(stdout, "other_mean", survey_mean(other));
    json_end(stdout);
}

/* What is left where the largest class is as often right. */
static void
put_not_enough(const struct plan_job *job,
               const struct sotto_outlook_point *best)
{
    const char *people = plan_count(job->people[job->people_count - 1]);
    const char *eps = job->eps[job->eps_count - 1];
    if (best->ranks) {
        printf("With %s people at epsilon %s a model names classes no better "
               "than the largest class\ndoes for everybody, but it tells who "
               "is likelier to have a class (AUC %.3f).\nTake its "
               "probabilities, to put people in order. To name classes, ask "
               "more people.\n",
               people, eps, best->auc);
        return;
    }
    printf("Not enough: even %s people at epsilon %s learn no more than which "
           "class is the\nlargest. More people, more epsilon, or shares alone "
           "(--share 0.01).\n",
           people, eps);
}

static void
put_words(struct survey *survey, struct survey *other)
{
    const struct plan_job *job = survey->job;
    const struct sotto_outlook *outlook =
        survey_way(survey, job->eps_count - 1)->outlook;
    const struct sotto_outlook_point *best =
        survey_point(survey, job->eps_count - 1, job->people_count - 1);
    if (cli_given(job->args, "json")) {
        if (other != NULL) {
            put_kind_json(survey, other);
        }
        return;
    }
    put_kind(survey, other);
    if (best->accuracy <= sotto_outlook_majority(outlook)) {
        put_not_enough(job, best);
    }
    printf("The interval is of one campaign, measured on about %zu test "
           "records, with people like\nthose in the file; it cannot see people "
           "who are not. Train with the same data and --seed.\n",
           best->tested);
}

/* ---- The picture --------------------------------------------------------- */

static int
draw_plot(struct survey *survey, const char *path)
{
    const struct plan_job *job = survey->job;
    struct plot_series series[PLAN_LIST_MOST + 1];
    static double y[SURVEY_POINTS], deviation[SURVEY_POINTS],
        base[PLAN_LIST_MOST];
    static char name[PLAN_LIST_MOST][40];
    for (size_t p = 0; p < job->people_count; p++) {
        size_t at = p * job->eps_count;
        for (size_t e = 0; e < job->eps_count; e++) {
            const struct sotto_outlook_point *point =
                survey_point(survey, e, p);
            const struct sotto_outlook *outlook =
                survey_way(survey, e)->outlook;
            y[at + e] = 100 * point->accuracy;
            deviation[at + e] = 50 * (point->high - point->low);
            base[e] = 100 * sotto_outlook_majority(outlook);
        }
        (void)snprintf(name[p], sizeof name[p], "%s people",
                       plan_count(job->people[p]));
        series[p + 1] = (struct plot_series){
            name[p], PLOT_LINE, plan_plot_colour(p), y + at, deviation + at};
    }
    series[0] = (struct plot_series){"largest class", PLOT_DASHED, "#616e7c",
                                     base, NULL};
    struct plot plot = {.title = "Accuracy to expect",
                        .subtitle =
                            "simulated campaigns; bars: nine of ten within",
                        .x = job->eps_number,
                        .points = job->eps_count,
                        .series = series,
                        .count = job->people_count + 1};
    return plan_plot_write(&plot, path);
}

/* ---- All of it ----------------------------------------------------------- */

/* Tells what is asked of the kind that is recommended; the other may be NULL.
 */
static int
tell_survey(struct survey *survey, struct survey *other)
{
    const struct plan_job *job = survey->job;
    const char *path = cli_value(job->args, "output");
    int status = put_trouble(survey);
    if (status == CLI_EXIT_DONE && job->accuracy > 0) {
        printf("%s", cli_given(job->args, "json") ? "" : "\n");
        put_people_needed(survey);
        put_eps_needed(survey);
    }
    if (status == CLI_EXIT_DONE) {
        put_words(survey, other);
    }
    return status == CLI_EXIT_DONE && path != NULL ? draw_plot(survey, path)
                                                   : status;
}

/* Surveys a kind, and prints its rows; `ret_empty` as survey_init has it. */
static int
make_survey(struct survey *survey, const struct plan_job *job, const char *kind,
            bool *ret_empty)
{
    int status = survey_init(survey, job, kind, ret_empty);
    if (status == CLI_EXIT_DONE && !*ret_empty) {
        status = survey_run(survey);
    }
    if (status == CLI_EXIT_DONE && !*ret_empty) {
        put_grid(survey);
    }
    return status;
}

static int
survey_one(const struct plan_job *job, const char *kind, struct survey *survey)
{
    bool empty = false;
    int status = make_survey(survey, job, kind, &empty);
    if (status == CLI_EXIT_DONE && empty) {
        return cli_bad("no column tells anything of the label by itself: "
                       "direct has nothing to learn from; name columns with "
                       "--keep");
    }
    return CLI_THEN(status, tell_survey(survey, NULL));
}

/* The better one by the mean of its rows is recommended. */
static int
survey_both(const struct plan_job *job, struct survey *codebook,
            struct survey *direct)
{
    bool empty = false;
    int status = make_survey(codebook, job, "codebook", &empty);
    if (status == CLI_EXIT_DONE && !cli_given(job->args, "json")) {
        printf("\n");
    }
    status = CLI_THEN(status, make_survey(direct, job, "direct", &empty));
    if (status != CLI_EXIT_DONE || empty) {
        return CLI_THEN(status, tell_survey(codebook, NULL));
    }
    return survey_mean(direct) > survey_mean(codebook)
               ? tell_survey(direct, codebook)
               : tell_survey(codebook, direct);
}

int
plan_accuracy(const struct plan_job *job)
{
    const char *kind = cli_value(job->args, "kind");
    struct survey *survey = calloc(2, sizeof *survey);
    if (survey == NULL) {
        return cli_no_memory();
    }
    int status = kind != NULL ? survey_one(job, kind, &survey[0])
                              : survey_both(job, &survey[0], &survey[1]);
    survey_clear(&survey[0]);
    survey_clear(&survey[1]);
    free(survey);
    return status;
}
