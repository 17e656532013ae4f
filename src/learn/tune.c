/*
 * tune.c: choosing settings by private answers alone.
 *
 * Every person has one place, drawn by a keyed hash of their name:
 *
 *     hash = BLAKE2b(key, name): 32 bits say the stage, 32 others the question
 *
 *     |--- train ---|- round 1 -|- round 2 -| ... |-- final --|
 *      by mechanism  by candidate of those left     the winner
 *
 * The stages split [0, 1) by public shares, fixed when the plan is made; how
 * many are left in a round is known beforehand, too. So a place never changes,
 * and nobody has two: a person is asked once, even where no ledger remembers
 * it, and the last estimate comes from people whom no round asked. Which
 * candidate a slot of a later round stands for depends on answers of others.
 */
#include "learn/tune.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "host/error.h"
#include "host/text.h"
#include "learn/halving.h"
#include "learn/learner.h"
#include "mechanism/mechanism.h"

#define UNITS 4294967296.0 /* 2^32 */
#define PERSONAL "sotto.tune\0\0\0\0\0\0"

_Static_assert(sizeof PERSONAL == crypto_generichash_blake2b_PERSONALBYTES + 1,
               "as many bytes as BLAKE2b takes");

/* ---- Places ---------------------------------------------------------------
 */

/* How many are left when round `round` begins. */
static size_t
left_at(const struct sotto_tune *tune, size_t round)
{
    size_t left = tune->candidates;
    for (size_t i = 1; i < round; i++) {
        left = halving_left(left);
    }
    return left;
}

static size_t
slot_of(uint32_t lot, size_t slots)
{
    return (size_t)(((uint64_t)lot * slots) >> 32);
}

struct tune_place
tune_place(const struct sotto_tune *tune, const void *person, size_t size)
{
    static const uint8_t salt[crypto_generichash_blake2b_SALTBYTES] = {0};
    size_t rounds = halving_rounds(tune->candidates);
    struct tune_place place = {.stage = SOTTO_TUNE_TRAIN};
    uint8_t hash[crypto_generichash_BYTES_MIN];
    double at, choose = 1 - tune->train - tune->final;
    uint32_t lot;
    (void)crypto_generichash_blake2b_salt_personal(
        hash, sizeof hash, person, size, tune->key, sizeof tune->key, salt,
        (const uint8_t *)PERSONAL);
    at = (double)bytes_load(hash, 4) / UNITS;
    lot = (uint32_t)bytes_load(hash + 4, 4);
    if (at < tune->train) {
        place.question = slot_of(lot, tune->mechanisms);
    } else if (rounds > 0 && at < tune->train + choose) {
        double share = (at - tune->train) / choose * (double)rounds;
        size_t round = (size_t)share;
        place.stage = SOTTO_TUNE_ROUND;
        place.round = 1 + (round < rounds ? round : rounds - 1);
        place.question = slot_of(lot, left_at(tune, place.round));
    } else {
        place.stage = SOTTO_TUNE_FINAL;
    }
    return place;
}

size_t
sotto_tune_place(const struct sotto_tune *tune, const void *person, size_t size)
{
    struct tune_place place = tune_place(tune, person, size);
    bool now = place.stage == tune->stage &&
               (place.stage != SOTTO_TUNE_ROUND || place.round == tune->round);
    return now ? place.question : SIZE_MAX;
}

/* ---- A plan ---------------------------------------------------------------
 */

static enum sotto_status
check_options(const struct sotto_tune_options *options, struct sotto_error *err)
{
    uint64_t units;
    if (options->mechanisms == 0 ||
        options->mechanisms > SOTTO_TUNE_MECHANISMS_MAX ||
        options->grids > SOTTO_TUNE_GRIDS_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "from 1 to %u mechanisms, and up to %u settings",
                         SOTTO_TUNE_MECHANISMS_MAX, SOTTO_TUNE_GRIDS_MAX);
    }
    if (!(options->train > 0 && options->final > 0 &&
          options->train + options->final < 1)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the shares of those who report and of those who "
                         "answer last must be above 0, and below 1 together");
    }
    return decimal_read_eps(options->eps, strlen(options->eps), &units, err);
}

/* Adds the mechanisms: each once, and all of one campaign, so that a ledger
   lets nobody report or answer twice. */
static enum sotto_status
add_mechanisms(struct sotto_tune *tune,
               const struct sotto_tune_options *options,
               struct sotto_error *err)
{
    for (size_t i = 0; i < options->mechanisms; i++) {
        struct tune_mechanism *own = &tune->mechanism[tune->mechanisms++];
        struct sotto_mechanism_info info;
        sotto_mechanism_info(options->mechanism[i], &info);
        (void)snprintf(own->hash, sizeof own->hash, "%s", info.hash);
        (void)snprintf(own->eps, sizeof own->eps, "%s", info.eps_text);
        own->path = strdup(options->path[i]);
        tune->campaign = i == 0 ? strdup(info.campaign) : tune->campaign;
        if (own->path == NULL || tune->campaign == NULL) {
            return host_fail_memory(err);
        }
        if (strcmp(tune->campaign, info.campaign) != 0) {
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "'%.120s' is of the campaign \"%.60s\", '%.120s' "
                             "of \"%.60s\": a ledger would let a person "
                             "answer in both; train them with one --campaign",
                             tune->mechanism[0].path, tune->campaign, own->path,
                             info.campaign);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(tune->mechanism[j].hash, own->hash) == 0) {
                return host_fail(err, SOTTO_STATUS_INPUT, i,
                                 "'%.120s' and '%.120s' are one mechanism",
                                 tune->mechanism[j].path, own->path);
            }
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
tune_make(const struct sotto_tune_options *options,
          const uint8_t key[TUNE_KEY_SIZE], struct sotto_tune **ret_tune,
          struct sotto_error *err)
{
    struct sotto_tune *tune = NULL;
    enum sotto_status status = check_options(options, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    tune = calloc(1, sizeof *tune);
    if (tune == NULL) {
        return host_fail_memory(err);
    }
    memcpy(tune->key, key, sizeof tune->key);
    (void)snprintf(tune->eps, sizeof tune->eps, "%s", options->eps);
    tune->train = options->train;
    tune->final = options->final;
    if (options->learner != NULL) {
        tune->learner = strdup(options->learner);
        status = tune->learner == NULL ? host_fail_memory(err) : status;
    }
    status = HOST_THEN(status, add_mechanisms(tune, options, err));
    status = HOST_THEN(status, tune_fill_candidates(tune, options, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_tune_free(tune);
        return status;
    }
    *ret_tune = tune;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_tune_new(const struct sotto_tune_options *options,
               struct sotto_tune **ret_tune, struct sotto_error *err)
{
    uint8_t key[TUNE_KEY_SIZE];
    if (sotto_entropy(key, sizeof key) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; no plan was made");
    }
    enum sotto_status status = tune_make(options, key, ret_tune, err);
    sodium_memzero(key, sizeof key);
    return status;
}

void
sotto_tune_free(struct sotto_tune *tune)
{
    if (tune == NULL) {
        return;
    }
    for (size_t i = 0; i < tune->mechanisms; i++) {
        free(tune->mechanism[i].path);
    }
    for (size_t i = 0; i < tune->candidates; i++) {
        for (size_t j = 0; j < tune->candidate[i].sets; j++) {
            free((void *)(uintptr_t)tune->candidate[i].set[j].name);
            free((void *)(uintptr_t)tune->candidate[i].set[j].value);
        }
    }
    free(tune->campaign);
    free(tune->learner);
    sodium_memzero(tune->key, sizeof tune->key);
    free(tune);
}

/* ---- Where it stands ------------------------------------------------------
 */

static size_t
count_questions(const struct sotto_tune *tune)
{
    switch (tune->stage) {
    case SOTTO_TUNE_TRAIN:
        return tune->mechanisms;
    case SOTTO_TUNE_ROUND:
        return tune->left;
    case SOTTO_TUNE_FINAL:
        return 1;
    default:
        return 0;
    }
}

void
sotto_tune_info(const struct sotto_tune *tune, struct sotto_tune_info *ret_info)
{
    *ret_info =
        (struct sotto_tune_info){.stage = tune->stage,
                                 .round = tune->round,
                                 .rounds = halving_rounds(tune->candidates),
                                 .mechanisms = tune->mechanisms,
                                 .candidates = tune->candidates,
                                 .questions = count_questions(tune),
                                 .winner = tune->order[0],
                                 .eps = tune->eps,
                                 .campaign = tune->campaign,
                                 .learner = tune->learner,
                                 .train = tune->train,
                                 .final = tune->final,
                                 .right = tune->right};
}

void
sotto_tune_mechanism(const struct sotto_tune *tune, size_t i,
                     struct sotto_tune_mechanism *ret_mechanism)
{
    const struct tune_mechanism *own = &tune->mechanism[i];
    *ret_mechanism = (struct sotto_tune_mechanism){own->path, own->hash,
                                                   own->eps, own->reports};
}

void
sotto_tune_candidate(const struct sotto_tune *tune, size_t i,
                     struct sotto_tune_candidate *ret_candidate)
{
    const struct tune_candidate *own = &tune->candidate[i];
    bool left = false;
    for (size_t j = 0; j < tune->left; j++) {
        left = left || tune->order[j] == i;
    }
    *ret_candidate = (struct sotto_tune_candidate){own->mechanism, own->set,
                                                   own->sets, left, own->right};
}

void
sotto_tune_question(const struct sotto_tune *tune, size_t i,
                    struct sotto_tune_question *ret_question)
{
    struct sotto_tune_question question = {.candidate = tune->order[i]};
    if (tune->stage == SOTTO_TUNE_TRAIN) {
        question.candidate = 0;
        question.mechanism = i;
        (void)snprintf(question.name, sizeof question.name, "train-%zu", i + 1);
    } else if (tune->stage == SOTTO_TUNE_ROUND) {
        (void)snprintf(question.name, sizeof question.name, "round%zu-%02zu",
                       tune->round, question.candidate + 1);
    } else {
        (void)snprintf(question.name, sizeof question.name, "final");
    }
    *ret_question = question;
}

/* ---- Going on -------------------------------------------------------------
 */

static void
name_question(const struct sotto_tune *tune, size_t candidate, char name[32])
{
    (void)snprintf(name, 32, "%s-%02zu",
                   tune->stage == SOTTO_TUNE_FINAL ? "final" : "candidate",
                   candidate + 1);
}

enum sotto_status
sotto_tune_ask(const struct sotto_tune *tune, size_t candidate,
               const struct sotto_model *model, const char *path,
               struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    char name[32];
    if (sotto_model_networks(model) > 1) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the model has %zu networks, and a device runs one: "
                         "leave restarts out of the grid",
                         sotto_model_networks(model));
    }
    name_question(tune, candidate, name);
    return right_question(model, 0, name, NULL, tune->eps, path, ret_mechanism,
                          err);
}

enum sotto_status
sotto_tune_check(const struct sotto_tune *tune, size_t candidate,
                 const struct sotto_mechanism *mechanism,
                 struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    char name[32];
    uint64_t eps = 0;
    enum sotto_status status =
        decimal_read_eps(tune->eps, strlen(tune->eps), &eps, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    name_question(tune, candidate, name);
    sotto_mechanism_info(mechanism, &info);
    if (mechanism->shape.eps != eps) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "it asks at epsilon %s, and the plan's questions at "
                         "%s: put back the one that sotto tune next wrote",
                         info.eps_text, tune->eps);
    }
    return strcmp(info.campaign, tune->campaign) == 0 &&
                   strcmp(info.name, name) == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "it is \"%.60s\" of the campaign \"%.60s\", and "
                           "the plan's question is \"%s\" of \"%.60s\": put "
                           "back the one that sotto tune next wrote",
                           info.name, info.campaign, name, tune->campaign);
}

void
sotto_tune_learnt(struct sotto_tune *tune, size_t mechanism, size_t reports)
{
    tune->mechanism[mechanism].reports = reports;
}

void
sotto_tune_answered(struct sotto_tune *tune, size_t candidate,
                    const struct sotto_right *right)
{
    if (tune->stage == SOTTO_TUNE_FINAL) {
        tune->right = *right;
    } else {
        tune->candidate[candidate].right = *right;
    }
}

/* The answers to the i-th question, of which TRAIN has none. */
static const struct sotto_right *
right_of(const struct sotto_tune *tune, size_t i)
{
    return tune->stage == SOTTO_TUNE_ROUND
               ? &tune->candidate[tune->order[i]].right
               : &tune->right;
}

/* Of the i-th question's answers, those that came in this stage. */
static size_t
count_new(const struct sotto_tune *tune, size_t i)
{
    const struct tune_candidate *own = &tune->candidate[tune->order[i]];
    switch (tune->stage) {
    case SOTTO_TUNE_TRAIN:
        return tune->mechanism[i].reports;
    case SOTTO_TUNE_ROUND:
        return own->right.reports > own->before
                   ? own->right.reports - own->before
                   : 0;
    default:
        return tune->right.reports;
    }
}

/* Whether everybody who is to be heard was, and all in earnest or none. */
static enum sotto_status
check_heard(const struct sotto_tune *tune, struct sotto_error *err)
{
    size_t simulated = 0, all = 0;
    for (size_t i = 0; i < count_questions(tune); i++) {
        bool train = tune->stage == SOTTO_TUNE_TRAIN;
        const struct sotto_right *right = right_of(tune, i);
        simulated += train ? 0 : right->simulated;
        all += train ? 0 : right->reports;
        if (count_new(tune, i) == 0) {
            struct sotto_tune_question question;
            sotto_tune_question(tune, i, &question);
            return host_fail(err, SOTTO_STATUS_INPUT, i,
                             "nobody new was heard of '%s': more people are "
                             "needed, or fewer candidates",
                             question.name);
        }
    }
    if (simulated > 0 && simulated < all) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu answers are simulated and %zu are not: nothing "
                         "compares them",
                         simulated, all - simulated);
    }
    return SOTTO_STATUS_OK;
}

/* Drops the worse half. */
static void
drop_worse(struct sotto_tune *tune)
{
    struct halving halving[SOTTO_TUNE_CANDIDATES_MAX];
    for (size_t i = 0; i < tune->left; i++) {
        size_t which = tune->order[i];
        halving[i] =
            (struct halving){which, tune->candidate[which].right.share};
    }
    halving_sort(halving, tune->left);
    for (size_t i = 0; i < tune->left; i++) {
        tune->order[i] = halving[i].candidate;
    }
    tune->left = halving_left(tune->left);
}

enum sotto_status
sotto_tune_next(struct sotto_tune *tune, struct sotto_error *err)
{
    enum sotto_status status = check_heard(tune, err);
    if (status == SOTTO_STATUS_OK && tune->stage == SOTTO_TUNE_DONE) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "all is done: the winner was chosen and measured");
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (tune->stage == SOTTO_TUNE_FINAL) {
        tune->stage = SOTTO_TUNE_DONE;
        return SOTTO_STATUS_OK;
    }
    if (tune->stage == SOTTO_TUNE_ROUND) {
        drop_worse(tune);
        for (size_t i = 0; i < tune->candidates; i++) {
            tune->candidate[i].before = tune->candidate[i].right.reports;
        }
    }
    tune->stage = tune->left > 1 ? SOTTO_TUNE_ROUND : SOTTO_TUNE_FINAL;
    tune->round += tune->stage == SOTTO_TUNE_ROUND ? 1 : 0;
    return SOTTO_STATUS_OK;
}
