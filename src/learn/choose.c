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

#include "base/decimal.h"
#include "host/error.h"
#include "host/wipe.h"
#include "learn/learner.h"
#include "likelihood/likelihood.h"
#include "random/seeded.h"

#define ANSWERS 2u

struct candidate {
    size_t network;
    double yes, asked;
    double accuracy; /* as estimated */
};

struct choosing {
    struct sotto_model *model;
    const struct sotto_table *people;
    struct channel_instance channel;
    struct likelihood_instance flip;
    void *own;
    uint64_t seed;
    uint8_t *right; /* networks rows of people */
    size_t right_size;
    struct candidate candidate[NETWORKS_MAX];
    size_t left; /* candidates */
    size_t next; /* person */
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
    int32_t q = choosing->right[network * n + person];
    uint8_t wire[16];
    int64_t value;
    struct seeded seeded;
    seeded_init(&seeded, choosing->seed, person);
    choosing->channel.channel->sample(&choosing->channel, &q, &seeded.random,
                                      wire);
    choosing->flip.likelihood->unpack(&choosing->flip, wire, &value);
    return value == 1;
}

static int
compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->accuracy != y->accuracy) {
        return x->accuracy < y->accuracy ? 1 : -1;
    }
    return x->network < y->network ? -1 : x->network > y->network;
}

/* Every candidate that is left, before `each` people of its own. */
static void
ask_round(struct choosing *choosing, size_t each)
{
    double e = exp((double)choosing->channel.eps / (double)DECIMAL_UNIT);
    double flipped = 1 / (1 + e);
    for (size_t i = 0; i < choosing->left; i++) {
        struct candidate *candidate = &choosing->candidate[i];
        for (size_t j = 0; j < each; j++) {
            candidate->yes +=
                draw_answer(choosing, candidate->network, choosing->next++) ? 1
                                                                            : 0;
        }
        candidate->asked += (double)each;
        candidate->accuracy =
            (candidate->yes / candidate->asked - flipped) / (1 - 2 * flipped);
    }
    qsort(choosing->candidate, choosing->left, sizeof *choosing->candidate,
          compare_candidates);
    choosing->left = (choosing->left + 1) / 2;
}

static void
ask_people(struct choosing *choosing)
{
    size_t people = sotto_table_rows(choosing->people), rounds = 0;
    for (size_t left = choosing->left; left > 1; left = (left + 1) / 2) {
        rounds++;
    }
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
    for (size_t left = candidates; left > 1; left = (left + 1) / 2) {
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

static enum sotto_status
set_flip(struct choosing *choosing, const char *eps, struct sotto_error *err)
{
    const struct channel *flip = channel_find(channel_exact, "flip", 4);
    uint64_t units;
    enum sotto_status status = decimal_read_eps(eps, strlen(eps), &units, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    choosing->own = malloc(flip->own_size);
    if (choosing->own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&choosing->channel, flip, ANSWERS, 0, 0, units, 0,
                          choosing->own);
    status =
        HOST_THEN(status, likelihood_init(&choosing->flip, &choosing->channel));
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "%s", sotto_status_message(status));
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
    enum sotto_status status = set_flip(&choosing, eps, err);
    status = HOST_THEN(status, check_choose(model, people, err));
    status = HOST_THEN(status, find_right(&choosing, err));
    for (size_t i = 0; i < nets; i++) {
        choosing.candidate[i].network = i;
        choosing.candidate[i].accuracy = (double)NAN; /* not asked about */
    }
    if (status == SOTTO_STATUS_OK) {
        ask_people(&choosing);
        status =
            model->learner->keep(model, choosing.candidate[0].network, err);
    }
    if (status == SOTTO_STATUS_OK && ret_choice != NULL) {
        *ret_choice =
            (struct sotto_choice){.network = choosing.candidate[0].network,
                                  .people = choosing.next,
                                  .accuracy = choosing.candidate[0].accuracy};
    }
    free(choosing.own);
    host_wipe_free(choosing.right, choosing.right_size);
    return status;
}
