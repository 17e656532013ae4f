/*
 * eq13.c: the simulation behind P0's Eq. 13 (appendix H.2): are the vertices of
 * the L1 ball the best places for classes behind Laplace noise?
 *
 * The paper says that simulations found so for d = 2 and 3 and K = 2 to 6. Here
 * placement.c looks for better points, and says what any channel of the same
 * epsilon allows. Where K > 2 d there are not vertices enough, and "vertices"
 * is what the best K' = 2 d classes reach when the others are never named.
 */
#include <stdio.h>

#include "experiment/placement.h"
#include "experiment/study.h"
#include "sotto/sotto.h"

#define STARTS ((size_t)32)
#define STEPS ((size_t)5000)
#define SAME 1e-6 /* accuracies closer than this are one */

/* The seed, which is all the state there is. */
static enum sotto_status
open_eq13(const struct sotto_experiment_options *options, void **ret_state,
          char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    (void)options;
    (void)err;
    (void)snprintf(ret_hash, EXPERIMENT_HASH_SIZE, "none");
    *ret_state = NULL;
    return SOTTO_STATUS_OK;
}

static void
close_eq13(void *state)
{
    (void)state;
}

static double
reach_vertices(size_t classes, size_t d, double eps)
{
    size_t placed = classes < 2 * d ? classes : 2 * d;
    return (double)placed / (double)classes *
           sotto_accuracy_vertices(placed, eps);
}

static double
search(const struct study_point *point, size_t d,
       struct study_outcome *ret_outcome)
{
    struct placement best = {0};
    double found = placement_search(point->most, d, point->eps, STARTS, STEPS,
                                    point->seed, &best);
    double gain = found - reach_vertices(point->most, d, point->eps);
    if (gain > SAME) {
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       "better than vertices by %.4f points", 100 * gain);
    } else {
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "%s",
                       gain < -SAME ? "vertices were not reached"
                                    : "as good as vertices, within 1e-6");
    }
    return found;
}

static enum sotto_status
measure_eq13(void *state, const struct study_point *point,
             struct study_outcome *ret_outcome, struct sotto_error *err)
{
    size_t d = (size_t)(point->panel->name[1] - '0'); /* "d2-..." */
    char first = point->method->name[0];
    (void)state;
    (void)err;
    ret_outcome->loss =
        1 - (first == 'v'   ? reach_vertices(point->most, d, point->eps)
             : first == 's' ? search(point, d, ret_outcome)
                            : sotto_accuracy_most(point->most, point->eps, 0));
    return SOTTO_STATUS_OK;
}

/* ---- The study ----------------------------------------------------------- */

static const double classes[] = {2, 3, 4, 5, 6, 0};

#define PANEL(D, E)                                                            \
    {                                                                          \
        .name = "d" #D "-eps" #E,                                              \
        .title = "d = " #D ", epsilon " #E ": wrong answers, in percent",      \
        .axis = STUDY_SIZE, .x = classes, .fixed = (E), .unit = 0.01,          \
        .x_name = "classes K"                                                  \
    }

static const struct study_panel panels[] = {
    PANEL(2, 1), PANEL(2, 3), PANEL(2, 7), PANEL(3, 1),
    PANEL(3, 3), PANEL(3, 7), {.x = NULL}};

static const struct experiment_mechanism methods[] = {
    {.name = "vertices",
     .beside = "classes at vertices of the ball, opposite ones first (P0 Eq. "
               "13, and its like for odd K); where K > 2 d, 2 d of them"},
    {.name = "search",
     .beside = "the best of 32 random starts, at most 5,000 steps each; shares "
               "to 1e-7"},
    {.name = "any-channel",
     .beside = "the least for any channel: (K - 1) / (e^epsilon + K - 1)"},
    {.name = NULL}};

static const struct study study = {.panels = panels,
                                   .open = open_eq13,
                                   .close = close_eq13,
                                   .measure = measure_eq13};

const struct experiment experiment_eq13 = {
    .name = "eq13",
    .about =
        "P0 appendix H.2: K classes as points of the L1 ball in d dimensions, "
        "behind Laplace noise; the share of wrong answers of whoever names the "
        "likeliest class. Are vertices the best points? Where K <= 2 d no "
        "points that were found are better. Where K > 2 d better ones must "
        "exist, as one more point in the middle is likeliest somewhere.",
    .help = "P0's Eq. 13: classes at vertices of the L1 ball against the best\n"
            "points that a search finds, and what any channel allows. Needs\n"
            "no data.",
    .study = &study,
    .mechanisms = methods,
    .aux_share = 0.2,
    .aux_share_most = 0.2,
};
