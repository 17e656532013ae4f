/*
 * codes_choose.c: how many codes, and by which channel.
 *
 * Many codes tell records apart better, and few get more reports each. Which
 * weighs more depends on epsilon, on how many report, and on how the records
 * lie: so collections are simulated. Labels are made up: the `classes` parts of
 * another tree of the same records, from other cells, so that no cut is pure by
 * construction: where the records have groups the two trees find them both, and
 * where they have none they differ.
 *
 * A candidate j is (k, channel). Draw n of it simulates a collection and learns
 * the labels of its cells (codes_trial.c); its score is the share of records
 * kept apart whose cell has their label,
 *
 *     x_jn = mean_i [y(c_j(i)) = y_i],      m_j = mean_n x_jn
 *     e_j  = sqrt(max(var_n x_jn, ERROR_LEAST^2) / n_j)
 *     most_j = the same share with each cell's likeliest label
 *
 * most_j bounds x_jn, and candidates i and j differ if |m_i - m_j| is above so
 * many times hypot(e_i, e_j). All have the same people in draw n, so that much
 * of the noise is theirs in common.
 *
 * Candidates go up in k, and the share labelled rightly goes up and then down.
 * So one whose cells, with the best labels there are, could not beat what
 * another has already reached is not simulated; nor are larger ones once three
 * in a row were no better than the best. Those near it get more draws. Of those
 * within a standard error of the best, the smallest k is taken.
 */
#include "learn/codes/codes_choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "host/error.h"
#include "host/settings.h"
#include "host/wipe.h"

#define DRAWS_FIRST 4u
#define DRAWS_FIRST_MANY 2u /* of many codes, which take long */
#define MANY 4u             /* codes a class */
#define DRAWS 12u
#define WORSE_MOST 3u      /* candidates in a row that are no better */
#define NEAR_ERRORS 2.0    /* standard errors: worth another look */
#define ERROR_LEAST 0.002  /* of a draw: few draws may agree by chance */
#define ERROR_ENOUGH 0.003 /* of the mean */
#define SEED_LABELS UINT64_C(0x6c6162656c73)

struct code_candidate {
    const struct channel *channel;
    const struct codebook_cut *cut;
    double most, sum, squares;
    uint32_t draws;
};

struct code_choosing {
    struct sotto_codebook *codebook;
    const struct sotto_codebook_wanted *wanted;
    struct codes_trial trial; /* what all have in common */
    uint32_t *label;
    struct code_candidate candidate[SOTTO_CODEBOOK_TRIES_MAX];
    size_t candidates;
    struct sotto_watch watch; /* for what is done within a step */
    size_t done;              /* steps of it */
};

/* ---- Scores -------------------------------------------------------------- */

static double
mean_of(const struct code_candidate *candidate)
{
    return candidate->draws > 0 ? candidate->sum / candidate->draws : 0;
}

static double
error_of(const struct code_candidate *candidate)
{
    double n = candidate->draws, mean = mean_of(candidate), variance;
    if (candidate->draws < 2) {
        return 1;
    }
    variance = (candidate->squares - n * mean * mean) / (n - 1);
    variance = fmax(variance, ERROR_LEAST * ERROR_LEAST);
    return sqrt(variance / n);
}

/* Of a channel, or of all (NULL); NULL before the first. */
static const struct code_candidate *
best_of(const struct code_choosing *choosing, const struct channel *channel)
{
    const struct code_candidate *best = NULL;
    for (size_t i = 0; i < choosing->candidates; i++) {
        const struct code_candidate *at = &choosing->candidate[i];
        if (at->draws > 0 && (channel == NULL || at->channel == channel) &&
            (best == NULL || mean_of(at) > mean_of(best))) {
            best = at;
        }
    }
    return best;
}

/* Within so many standard errors of the difference. */
static bool
is_near(const struct code_candidate *candidate,
        const struct code_candidate *best, double errors)
{
    double error = hypot(error_of(candidate), error_of(best));
    return candidate->draws > 0 &&
           mean_of(candidate) + errors * error >= mean_of(best);
}

/* ---- Simulating ---------------------------------------------------------- */

/* Whatever goes on within a step, the watch sees the step. */
static bool
pass_on(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct code_choosing *choosing = context;
    const struct sotto_watch *watch = &choosing->wanted->watch;
    (void)what;
    (void)done;
    (void)total;
    return watch->tick == NULL ||
           watch->tick(watch->context, "choosing", choosing->done,
                       2 * choosing->candidates);
}

static enum sotto_status
tick(struct code_choosing *choosing, size_t done, struct sotto_error *err)
{
    choosing->done = done;
    return pass_on(choosing, NULL, 0, 0)
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_STOPPED, 0,
                           "stopped while choosing the number of codes");
}

static struct codes_trial
trial_of(const struct code_choosing *choosing, size_t index)
{
    const struct code_candidate *candidate = &choosing->candidate[index];
    struct codes_trial trial = choosing->trial;
    trial.code = candidate->cut->code;
    trial.k = candidate->cut->head.k;
    trial.channel = candidate->channel;
    trial.candidate = (uint32_t)index;
    return trial;
}

static uint32_t
first_draws(const struct code_choosing *choosing,
            const struct code_candidate *candidate)
{
    return candidate->cut->head.k > MANY * choosing->trial.classes
               ? DRAWS_FIRST_MANY
               : DRAWS_FIRST;
}

/* Up to so many draws in all; fewer if the first ones agree. */
static enum sotto_status
simulate_candidate(struct code_choosing *choosing, size_t index, uint32_t draws,
                   struct sotto_error *err)
{
    struct code_candidate *candidate = &choosing->candidate[index];
    struct codes_trial trial = trial_of(choosing, index);
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && candidate->draws < draws &&
           (candidate->draws < first_draws(choosing, candidate) ||
            error_of(candidate) > ERROR_ENOUGH)) {
        double score = 0;
        trial.draw = candidate->draws;
        status = codes_trial(&trial, &score, err);
        candidate->sum += score;
        candidate->squares += score * score;
        candidate->draws += status == SOTTO_STATUS_OK;
    }
    return status;
}

/* A first look at all that may be the best, channel by channel. */
static enum sotto_status
try_each(struct code_choosing *choosing, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    const struct channel *channel = NULL;
    unsigned worse = 0;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < choosing->candidates;
         i++) {
        struct code_candidate *candidate = &choosing->candidate[i];
        const struct code_candidate *best = best_of(choosing, NULL);
        struct codes_trial trial = trial_of(choosing, i);
        worse = candidate->channel == channel ? worse : 0;
        channel = candidate->channel;
        status = tick(choosing, i, err);
        status =
            HOST_THEN(status, codes_trial_most(&trial, &candidate->most, err));
        if (status == SOTTO_STATUS_OK && worse < WORSE_MOST &&
            (best == NULL || candidate->most >= mean_of(best))) {
            status = simulate_candidate(choosing, i,
                                        first_draws(choosing, candidate), err);
            worse = best_of(choosing, channel) == candidate ? 0 : worse + 1;
        }
    }
    return status;
}

static enum sotto_status
try_best_again(struct code_choosing *choosing, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < choosing->candidates;
         i++) {
        const struct code_candidate *best = best_of(choosing, NULL);
        status = tick(choosing, choosing->candidates + i, err);
        if (status == SOTTO_STATUS_OK &&
            is_near(&choosing->candidate[i], best, NEAR_ERRORS)) {
            status = simulate_candidate(choosing, i, DRAWS, err);
        }
    }
    return status;
}

/* ---- Candidates ---------------------------------------------------------- */

static enum sotto_status
add_candidate(struct code_choosing *choosing, size_t k,
              const struct channel *channel, struct sotto_error *err)
{
    struct code_candidate *candidate =
        &choosing->candidate[choosing->candidates];
    *candidate = (struct code_candidate){.channel = channel};
    choosing->candidates++;
    return codebook_cut(choosing->codebook, k, &candidate->cut, err);
}

/* All numbers of codes for one channel. */
static enum sotto_status
add_numbers(struct code_choosing *choosing, const struct channel *channel,
            struct sotto_error *err)
{
    static const double times[] = {1, 1.2, 1.5, 2, 3, 5, 10, 20};
    size_t classes = choosing->trial.classes, last = 0;
    size_t most = CHANNEL_K_MAX / (classes + 1);
    size_t cells = choosing->codebook->clustering.cells;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (choosing->wanted->k > 0) {
        return add_candidate(choosing, choosing->wanted->k, channel, err);
    }
    for (size_t i = 0;
         status == SOTTO_STATUS_OK && i < sizeof times / sizeof *times; i++) {
        size_t k = (size_t)lround(times[i] * (double)classes);
        if (k > last && k <= cells && k <= most) {
            status = add_candidate(choosing, k, channel, err);
        }
        last = k;
    }
    return status;
}

static enum sotto_status
add_candidates(struct code_choosing *choosing, struct sotto_error *err)
{
    static const char *const channels[] = {"subset", "signs"};
    const char *given = choosing->wanted->channel;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (given != NULL) {
        const struct channel *channel =
            channel_find(channel_exact, given, strlen(given));
        return channel != NULL && channel->domain == CHANNEL_DOMAIN_SYMBOLS
                   ? add_numbers(choosing, channel, err)
                   : settings_fail(err, "channel",
                                   "\"%.40s\" is no channel for codes: take "
                                   "subset, flip or signs",
                                   given);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < 2; i++) {
        status = add_numbers(
            choosing,
            channel_find(channel_exact, channels[i], strlen(channels[i])), err);
    }
    return status;
}

/* ---- The choice ---------------------------------------------------------- */

/* Parts of another tree stand for the labels that no one has. */
static enum sotto_status
make_labels(struct code_choosing *choosing, struct sotto_error *err)
{
    const struct sotto_codebook *codebook = choosing->codebook;
    size_t parts = choosing->trial.classes, n = codebook->n;
    struct clustering other = {0};
    uint32_t *part = NULL;
    enum sotto_status status = clustering_init(
        &other, codebook->pool, codebook->backend, codebook->place, n,
        codebook->d, codebook->clustering.cells,
        choosing->wanted->seed ^ SEED_LABELS, &choosing->wanted->watch, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    choosing->trial.label = choosing->label =
        calloc(n, sizeof *choosing->label);
    part = calloc(other.cells, sizeof *part);
    if (choosing->label == NULL || part == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    parts = parts < other.cells ? parts : other.cells;
    status = clustering_cut(&other, parts, part, err);
    status = HOST_THEN(
        status, clustering_assign(&other, codebook->pool, codebook->backend,
                                  codebook->place, n, choosing->label, err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n; i++) {
        choosing->label[i] = part[choosing->label[i]];
    }
done:
    free(part);
    clustering_clear(&other);
    return status;
}

static void
conclude_choice(const struct code_choosing *choosing,
                struct sotto_codebook_choice *ret)
{
    const struct code_candidate *best = best_of(choosing, NULL), *taken = best;
    *ret = (struct sotto_codebook_choice){.tries = choosing->candidates,
                                          .people = choosing->trial.people};
    for (size_t i = 0; i < choosing->candidates; i++) {
        const struct code_candidate *at = &choosing->candidate[i];
        bool near = is_near(at, best, 1);
        size_t k = at->cut->head.k, least = taken->cut->head.k;
        if (near &&
            (k < least || (k == least && mean_of(at) > mean_of(taken)))) {
            taken = at;
        }
        ret->tried[i] = (struct sotto_codebook_try){
            .k = k,
            .channel = at->channel->name,
            .draws = at->draws,
            .score = at->draws > 0 ? mean_of(at) : at->most,
            .error = at->draws > 0 ? error_of(at) : 0};
    }
    ret->k = taken->cut->head.k;
    ret->channel = taken->channel->name;
}

static enum sotto_status
prepare_trial(struct code_choosing *choosing, struct sotto_error *err)
{
    const struct sotto_codebook_wanted *wanted = choosing->wanted;
    struct codes_trial *trial = &choosing->trial;
    size_t n = choosing->codebook->n;
    *trial = (struct codes_trial){
        .n = n,
        .classes = wanted->classes > 0
                       ? wanted->classes
                       : sotto_codebook_classes(choosing->codebook),
        .people = wanted->people > 0 ? wanted->people : n,
        .seed = wanted->seed,
        .watch = &choosing->watch,
        .pool = choosing->codebook->pool};
    if (trial->people > CODES_CHOOSE_PEOPLE_MAX) {
        trial->people = CODES_CHOOSE_PEOPLE_MAX;
    }
    if (trial->classes < 2 ||
        trial->classes > choosing->codebook->clustering.cells) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "the number of codes cannot be chosen for %zu "
                      "class%s: from 2 to %zu, the cells that the records "
                      "fill; say how many classes there are, or give "
                      "k and channel",
                      trial->classes, trial->classes == 1 ? "" : "es",
                      choosing->codebook->clustering.cells),
            err, "classes");
    }
    return decimal_read_eps(wanted->eps, strlen(wanted->eps), &trial->eps, err);
}

/* Nothing to be learnt from labels, or nothing left to choose. */
static bool
is_settled(const struct sotto_codebook *codebook,
           const struct sotto_codebook_wanted *wanted,
           struct sotto_codebook_choice *ret)
{
    size_t cells = codebook->clustering.cells, k = wanted->k;
    bool label = codebook->label != SIZE_MAX;
    if (label && (wanted->k == 0 || wanted->channel == NULL)) {
        return false;
    }
    if (k == 0) {
        k = cells < CODES_CHOOSE_K_DEFAULT ? cells : CODES_CHOOSE_K_DEFAULT;
    }
    *ret = (struct sotto_codebook_choice){
        .k = k,
        .channel = wanted->channel != NULL ? wanted->channel : "subset"};
    return true;
}

enum sotto_status
sotto_codebook_choose(struct sotto_codebook *codebook,
                      const struct sotto_codebook_wanted *wanted,
                      struct sotto_codebook_choice *ret_choice,
                      struct sotto_error *err)
{
    struct code_choosing choosing = {.codebook = codebook, .wanted = wanted};
    enum sotto_status status;
    choosing.watch =
        (struct sotto_watch){.tick = pass_on, .context = &choosing};
    if (is_settled(codebook, wanted, ret_choice)) {
        return SOTTO_STATUS_OK;
    }
    status = prepare_trial(&choosing, err);
    status = HOST_THEN(status, make_labels(&choosing, err));
    status = HOST_THEN(status, add_candidates(&choosing, err));
    if (status == SOTTO_STATUS_OK && choosing.candidates == 0) {
        status = host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, choosing.trial.classes,
                      "%zu classes are too many to choose a number of "
                      "codes for, which is at least as many: at most %u "
                      "pairs; give a number and a channel",
                      choosing.trial.classes, CHANNEL_K_MAX),
            err, "k channel");
    }
    status = HOST_THEN(status, try_each(&choosing, err));
    status = HOST_THEN(status, try_best_again(&choosing, err));
    if (status == SOTTO_STATUS_OK) {
        conclude_choice(&choosing, ret_choice);
    }
    host_wipe_free(choosing.label, codebook->n * sizeof *choosing.label);
    return status;
}
