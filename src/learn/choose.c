/*
 * choose.c: which of a model's networks is best, by private answers.
 *
 * Sequential halving: with C candidates there are ceil(log2 C) rounds, and the
 * people are shared out over them evenly. In a round every candidate that is
 * left is shown to people of its own; a person's answer is one bit through
 * flip, so one person spends eps once (invariant 5). From `yes` of n answers,
 * with p the chance of a flip,
 *
 *     accuracy = (yes / n - p) / (1 - 2 p)
 *
 * is unbiased for one candidate; answers of all rounds count. Who is asked
 * about what is public: it depends on the order of the people and on answers
 * given before. Nobody runs short: a round takes its even share of the people
 * that are left, or one for each candidate, which check_choose() has set aside.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/asking.h"
#include "learn/halving.h"
#include "learn/learner.h"

struct choosing {
    struct sotto_model *model;
    const struct sotto_table *people;
    struct asking asking;
    uint64_t seed;
    uint8_t *right; /* networks rows of people */
    size_t right_size;
    struct halving candidate[NETWORKS_MAX];
    double yes[NETWORKS_MAX], asked[NETWORKS_MAX]; /* by network */
    size_t left;                                   /* candidates */
    size_t next;                                   /* person */
};

/* ---- What the people know ----------------------------------------------- */

/* Whether every network is right about every person. */
static enum sotto_status
find_right(struct choosing *choosing, struct sotto_error *err)
{
    struct sotto_model *model = choosing->model;
    struct networks *networks = model->learner->networks(model);
    struct network *net = networks->net;
    size_t nets = networks->count, n = sotto_table_rows(choosing->people);
    size_t classes = model->classes;
    double *p = malloc((n * classes + 1) * sizeof *p);
    size_t *truth = malloc((n + 1) * sizeof *truth);
    enum sotto_status status = SOTTO_STATUS_OK;
    choosing->right_size = nets * n + 1;
    choosing->right = calloc(choosing->right_size, 1);
    if (p == NULL || truth == NULL || choosing->right == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = model_truth(model, choosing->people, truth, err);
    for (size_t i = 0; i < nets && status == SOTTO_STATUS_OK; i++) {
        networks->net = net + i; /* this one alone */
        networks->count = 1;
        status = sotto_model_predict(model, choosing->people, p, err);
        for (size_t j = 0; j < n && status == SOTTO_STATUS_OK; j++) {
            choosing->right[i * n + j] =
                model_likeliest(p + j * classes, classes) == truth[j];
        }
    }
    networks->net = net;
    networks->count = nets;
done:
    host_wipe_free(p, (n * classes + 1) * sizeof *p);
    host_wipe_free(truth, (n + 1) * sizeof *truth);
    return status;
}

/* ---- Asking -------------------------------------------------------------- */

/* A person's answer, privatised. */
static bool
draw_answer(const struct choosing *choosing, size_t network, size_t person)
{
    size_t n = sotto_table_rows(choosing->people);
    return asking_draw(&choosing->asking, choosing->seed, person,
                       choosing->right[network * n + person] != 0);
}

/* Every candidate that is left, before `each` people of its own. */
static void
ask_round(struct choosing *choosing, size_t each)
{
    struct right_flip flip;
    asking_chances(&choosing->asking, &flip);
    for (size_t i = 0; i < choosing->left; i++) {
        struct halving *candidate = &choosing->candidate[i];
        size_t network = candidate->candidate;
        for (size_t j = 0; j < each; j++) {
            choosing->yes[network] +=
                draw_answer(choosing, network, choosing->next++) ? 1 : 0;
        }
        choosing->asked[network] += (double)each;
        candidate->accuracy =
            (choosing->yes[network] / choosing->asked[network] - flip.wrong) /
            (flip.right - flip.wrong);
    }
    halving_sort(choosing->candidate, choosing->left);
    choosing->left = halving_left(choosing->left);
}

static void
ask_people(struct choosing *choosing)
{
    size_t people = sotto_table_rows(choosing->people);
    size_t rounds = halving_rounds(choosing->left);
    for (; rounds > 0; rounds--) {
        size_t share = (people - choosing->next) / rounds;
        size_t each = share / choosing->left;
        ask_round(choosing, each > 0 ? each : 1);
    }
}

/* ---- All of it ----------------------------------------------------------- */

/* One person for each candidate of each round. */
static size_t
least_people(size_t candidates)
{
    size_t people = 0;
    for (size_t left = candidates; left > 1; left = halving_left(left)) {
        people += left;
    }
    return people;
}

static enum sotto_status
check_choose(const struct sotto_model *model, const struct sotto_table *people,
             struct sotto_error *err)
{
    size_t rows = sotto_table_rows(people), nets = sotto_model_networks(model);
    size_t least = least_people(nets);
    if (rows < least) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu people cannot choose between %zu candidates: "
                         "at least %zu are needed",
                         rows, nets, least);
    }
    if (model->learner->networks == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model has no networks to choose from");
    }
    return model->learner->check_keep != NULL
               ? model->learner->check_keep(model, err)
               : SOTTO_STATUS_OK;
}

size_t
sotto_model_networks(const struct sotto_model *model)
{
    const struct learner *learner = model->learner;
    return learner->networks != NULL ? learner->networks(model)->count : 1;
}

enum sotto_status
sotto_model_choose(struct sotto_model *model, const struct sotto_table *people,
                   const char *eps, uint64_t seed,
                   struct sotto_choice *ret_choice, struct sotto_error *err)
{
    size_t nets = sotto_model_networks(model);
    struct choosing choosing = {
        .model = model, .people = people, .seed = seed, .left = nets};
    enum sotto_status status = asking_init(&choosing.asking, eps, err);
    status = HOST_THEN(status, check_choose(model, people, err));
    status = HOST_THEN(status, find_right(&choosing, err));
    for (size_t i = 0; i < nets; i++) {
        choosing.candidate[i].candidate = i;
        choosing.candidate[i].accuracy = (double)NAN; /* not asked about */
    }
    if (status == SOTTO_STATUS_OK) {
        ask_people(&choosing);
        status =
            model->learner->keep(model, choosing.candidate[0].candidate, err);
    }
    if (status == SOTTO_STATUS_OK && ret_choice != NULL) {
        *ret_choice =
            (struct sotto_choice){.network = choosing.candidate[0].candidate,
                                  .people = choosing.next,
                                  .accuracy = choosing.candidate[0].accuracy};
    }
    asking_clear(&choosing.asking);
    host_wipe_free(choosing.right, choosing.right_size);
    return status;
}
