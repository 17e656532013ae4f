/*
 * enumerate.c: the true epsilon of a sampler, by taking its every branch.
 *
 * For each report r the numerators of p(r | q) are kept for every point q; the
 * denominator is the same for all, or the sampler's draws depend on the point
 * or on the noise, which is a fault by itself. With rejection sampling the
 * numerators of a point add up to less than the denominator: to the same sum
 * for every point, or failing would tell something.
 */
#include "privacy/enumerate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "privacy/divergence.h"
#include "privacy/points.h"
#include "privacy/tape.h"
#include "privacy/weights.h"
#include "random/draw.h"

#define POINTS_MOST 1024u
#define POINTS_ALL 256u /* up to here all points of a domain are taken */
#define DIMENSIONS_MOST 8u
#define WORK_MOST UINT64_C(500000000) /* draws and entries, all branches */
#define COUNT_MOST UINT64_C(20000000) /* the same, for counting branches */
#define STEP_BRANCHES 4096u

struct enumeration {
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    void *own;
    uint32_t width;
    uint32_t points;
    int32_t *point; /* `width` integers each */
    struct weights weights;
    mpz_t whole; /* the denominator */
    uint64_t shape;
    bool full; /* there are more weights than can be kept */
    struct tape *tape;
    uint8_t *wire;
    struct enumerate_result *result;
    void (*step)(void *context, uint64_t branches);
    void *context;
};

static void
blame_channel(struct enumeration *e, const char *what, const char *detail)
{
    if (e->result->fault[0] == '\0') {
        (void)snprintf(e->result->fault, sizeof e->result->fault, "%s%s", what,
                       detail);
    }
}

static bool
is_blamed(const struct enumeration *e)
{
    return e->result->fault[0] != '\0';
}

/* ---- Points -------------------------------------------------------------- */

static void
add_point(struct enumeration *e, const int32_t *q)
{
    if (e->points < POINTS_MOST && points_inside(&e->instance, q)) {
        memcpy(e->point + (size_t)e->points * e->width, q,
               e->width * sizeof *q);
        e->points++;
    }
}

/* Every combination of `count` values of a coordinate that is in the domain. */
static void
add_grid(struct enumeration *e, const int32_t *value, uint32_t count)
{
    uint32_t digit[DIMENSIONS_MOST] = {0}, i = 0;
    while (i < e->width) {
        int32_t q[DIMENSIONS_MOST];
        for (uint32_t j = 0; j < e->width; j++) {
            q[j] = value[digit[j]];
        }
        add_point(e, q);
        for (i = 0; i < e->width && ++digit[i] == count; i++) {
            digit[i] = 0;
        }
    }
}

/*
 * All points where they are few. Else those that matter: a lattice's and a
 * ball's largest ratios are between opposite ends of an axis, a cube's between
 * opposite corners (p is affine in each coordinate); and some others.
 */
static void
add_numbers(struct enumeration *e)
{
    int32_t l = (int32_t)e->instance.l;
    int32_t value[POINTS_ALL];
    uint32_t count = 0;
    if (pow(2 * l + 1.0, e->width) <= POINTS_ALL) {
        for (int32_t i = -l; i <= l; i++) {
            value[count++] = i;
        }
    } else if (e->width <= 2) {
        int32_t some[] = {-l, -l / 2 - 1, 0, 1, l};
        count = 5;
        memcpy(value, some, sizeof some);
    } else {
        value[count++] = -l;
        value[count++] = l;
        if (e->instance.channel->domain != CHANNEL_DOMAIN_CUBE) {
            value[count++] = 0;
        }
    }
    add_grid(e, value, count);
}

static void
add_symbols(struct enumeration *e)
{
    uint32_t k = e->instance.size;
    uint32_t count = k <= POINTS_MOST ? k : 16;
    for (uint32_t i = 0; i < count; i++) {
        e->point[e->points++] =
            (int32_t)((uint64_t)i * (k - 1) / (count > 1 ? count - 1 : 1));
    }
}

/* ---- Running the sampler ------------------------------------------------- */

/* One run of the sampler, on the tape's next branch. */
static void
play_tape(struct enumeration *e, uint32_t at)
{
    struct random random;
    tape_random(e->tape, &random);
    e->instance.channel->sample(&e->instance, e->point + (size_t)at * e->width,
                                &random, e->wire);
}

/* The report's memory is dirty before, and differently each time, so that a
   byte the sampler leaves alone shows up as a report too many. */
static enum sotto_status
run_branch(struct enumeration *e, uint32_t at, struct sotto_error *err)
{
    const struct channel *channel = e->instance.channel;
    uint64_t branch = e->result->branches++;
    enum sotto_status status;
    memset(e->wire, branch % 2 == 0 ? 0x5a : 0xa5, e->instance.wire_size);
    play_tape(e, at);
    if (tape_fault(e->tape) != NULL) {
        blame_channel(e, "the sampler broke the rules: ", tape_fault(e->tape));
        return SOTTO_STATUS_OK;
    }
    if (branch == 0) {
        mpz_set(e->whole, tape_denominator(e->tape));
        e->shape = tape_shape(e->tape);
    }
    if (e->shape != tape_shape(e->tape) ||
        mpz_cmp(e->whole, tape_denominator(e->tape)) != 0) {
        blame_channel(
            e, "what the sampler draws depends on the record or the noise",
            " (invariant 7)");
    }
    if (!channel->valid(&e->instance, e->wire)) {
        blame_channel(e, "the sampler gives a report outside the valid set",
                      "");
    }
    if (tape_rejected(e->tape)) {
        return SOTTO_STATUS_OK;
    }
    status = weights_add(&e->weights, e->wire, at, tape_numerator(e->tape));
    if (status == SOTTO_STATUS_MEMORY) {
        return host_fail_memory(err);
    }
    e->full = status == SOTTO_STATUS_LIMIT;
    return SOTTO_STATUS_OK;
}

/* What is left once failures are taken away must be the same share. */
static void
check_sum(struct enumeration *e, uint32_t at)
{
    mpz_t *sum = e->weights.sum;
    if (mpz_sgn(sum[at]) == 0) {
        blame_channel(e, "the sampler never gives a report", "");
    }
    if (mpz_cmp(sum[at], sum[0]) != 0) {
        blame_channel(e, "how often the sampler fails depends on the record",
                      "");
    }
}

static enum sotto_status
run_point(struct enumeration *e, uint32_t at, struct sotto_error *err)
{
    enum sotto_status status;
    do {
        status = run_branch(e, at, err);
        if (e->step != NULL && e->result->branches % STEP_BRANCHES == 0) {
            e->step(e->context, e->result->branches);
        }
    } while (status == SOTTO_STATUS_OK && !e->full && !is_blamed(e) &&
             tape_next(e->tape));
    if (tape_fault(e->tape) != NULL) {
        blame_channel(e, "the sampler broke the rules: ", tape_fault(e->tape));
    }
    if (status == SOTTO_STATUS_OK && !e->full && !is_blamed(e)) {
        check_sum(e, at);
    }
    return status;
}

/* ---- Comparing ----------------------------------------------------------- */

/* An approximate channel's sampler may be off by far less than any delta; in
   reports less likely than that, its log p need not be its logarithm. */
#define LOG_NEGLIGIBLE (-104.0) /* 2^-150 */

static void
compare_log_p(struct enumeration *e, const struct weights_row *row)
{
    const struct channel *channel = e->instance.channel;
    for (uint32_t i = 0; i < e->points; i++) {
        double truth, stated, error;
        if (mpz_sgn(row->weight[i]) == 0) {
            continue;
        }
        truth = weights_log(row->weight[i]) - weights_log(e->weights.sum[i]);
        if (channel->approximate && truth < LOG_NEGLIGIBLE) {
            continue;
        }
        stated = e->likelihood.likelihood->log_p(
            &e->likelihood, row->wire, e->point + (size_t)i * e->width);
        error = fabs(truth - stated) / fmax(1, fabs(truth));
        if (!(error <= e->result->log_p_error)) {
            e->result->log_p_error = isnan(error) ? INFINITY : error;
        }
    }
}

static enum sotto_status
compare_points(struct enumeration *e, struct sotto_error *err)
{
    const struct channel_instance *own = &e->instance;
    struct divergence found;
    for (uint32_t i = 0; i < e->weights.rows; i++) {
        compare_log_p(e, &e->weights.row[i]);
    }
    if (!own->channel->approximate) {
        divergence_pure(&e->weights, own->eps, &found);
    } else if (divergence_approximate(&e->weights, own->eps, own->delta,
                                      &found) != SOTTO_STATUS_OK) {
        return host_fail_memory(err);
    }
    e->result->within = found.within;
    e->result->eps = found.eps;
    e->result->delta = found.delta;
    e->result->points = e->points;
    e->result->reports = e->weights.rows;
    return SOTTO_STATUS_OK;
}

/* ---- One domain ---------------------------------------------------------- */

/* A domain that might be enumerated, and for how many points at least. */
struct candidate {
    enum enumerate_scope scope;
    uint32_t size, l;
    uint32_t points_least;
    uint32_t rows; /* of pairs; else 0 */
};

static void
clear_enumerate(struct enumeration *e)
{
    weights_clear(&e->weights);
    mpz_clear(e->whole);
    tape_free(e->tape);
    free(e->point);
    free(e->wire);
    free(e->own);
}

static enum sotto_status
set_up_enumerate(struct enumeration *e, const struct enumerate_request *request,
                 const struct candidate *candidate, struct sotto_error *err)
{
    const struct channel *channel = request->channel;
    enum sotto_status status;
    mpz_init(e->whole);
    e->own = malloc(channel->own_size);
    e->tape = tape_new();
    if (e->own == NULL || e->tape == NULL) {
        return host_fail_memory(err);
    }
    status =
        channel_init(&e->instance, channel, candidate->size, candidate->rows,
                     candidate->l, request->eps, request->delta, e->own);
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, status, 0, "%s", sotto_status_message(status));
    }
    likelihood_bind(&e->likelihood, request->likelihood, &e->instance);
    e->width = channel_width(&e->instance);
    e->point = calloc((size_t)POINTS_MOST * e->width, sizeof *e->point);
    e->wire = calloc(1, e->instance.wire_size);
    if (e->point == NULL || e->wire == NULL) {
        return host_fail_memory(err);
    }
    if (channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        add_symbols(e);
    } else {
        add_numbers(e);
    }
    return SOTTO_STATUS_OK;
}

/* What one branch costs, about: its draws, and looking at its report. */
static uint64_t
work_of(const struct enumeration *e)
{
    return tape_steps(e->tape) + e->instance.size;
}

/* How many branches there are for a point; beyond `most` it stops counting. */
static uint64_t
count_branches(struct enumeration *e, uint32_t at, uint64_t most)
{
    uint64_t count = 0, work = 0;
    do {
        play_tape(e, at);
        count++;
        work += work_of(e);
    } while (count <= most && work <= COUNT_MOST && tape_next(e->tape));
    tape_rewind(e->tape);
    return work <= COUNT_MOST ? count : most + 1;
}

/* Keeps `count` of the points, the first and the last among them. */
static void
thin_points(struct enumeration *e, uint32_t count)
{
    size_t size = e->width * sizeof *e->point;
    for (uint32_t i = 1; i < count; i++) {
        uint64_t from = (uint64_t)i * (e->points - 1) / (count - 1);
        memmove(e->point + (size_t)i * e->width,
                e->point + (size_t)from * e->width, size);
    }
    e->points = count;
}

/* The most branches for all points together. */
static uint64_t
most_branches(struct enumeration *e, uint64_t branches_most)
{
    uint64_t most;
    play_tape(e, 0);
    most = WORK_MOST / work_of(e);
    tape_rewind(e->tape);
    return most < branches_most ? most : branches_most;
}

/*
 * Whether the branches of as many points as needed are few enough; leaves out
 * points beyond that. Counted at three points: a sampler whose number of
 * branches depends on the point takes somewhat longer.
 */
static bool
fits_bounds(struct enumeration *e, uint32_t points_least,
            uint64_t branches_most)
{
    uint32_t least = e->points < points_least ? e->points : points_least;
    uint64_t all, most, count = 1;
    if (e->instance.entropy_size / DRAW_SYMBOL_SIZE > TAPE_STEPS_MOST) {
        return false;
    }
    all = most_branches(e, branches_most);
    most = all / least;
    for (uint32_t i = 0; i < 3 && count <= most; i++) {
        uint64_t other = count_branches(e, i * (e->points - 1) / 2, most);
        count = other > count ? other : count;
    }
    if (count <= most && e->points > all / count) {
        thin_points(e, (uint32_t)(all / count));
    }
    return count <= most;
}

static enum sotto_status
run_points(struct enumeration *e, struct sotto_error *err)
{
    enum sotto_status status =
        weights_init(&e->weights, e->instance.wire_size, e->points);
    if (status != SOTTO_STATUS_OK) {
        return host_fail_memory(err);
    }
    for (uint32_t i = 0; status == SOTTO_STATUS_OK && !e->full &&
                         !is_blamed(e) && i < e->points;
         i++) {
        status = run_point(e, i, err);
    }
    if (status == SOTTO_STATUS_OK && !e->full && !is_blamed(e)) {
        status = compare_points(e, err);
    }
    return status;
}

/* Keeps the worse of two. */
static void
merge_results(struct enumerate_result *to, const struct enumerate_result *from)
{
    if (from->scope > to->scope) {
        to->scope = from->scope;
        to->size = from->size;
        to->rows = from->rows;
        to->l = from->l;
    }
    to->points += from->points;
    to->reports += from->reports;
    to->branches += from->branches;
    to->within = to->within && from->within;
    to->eps = fmax(to->eps, from->eps);
    to->delta = fmax(to->delta, from->delta);
    to->log_p_error = fmax(to->log_p_error, from->log_p_error);
    if (to->fault[0] == '\0') {
        memcpy(to->fault, from->fault, sizeof to->fault);
    }
}

/* Adds what is found to `all` (NULL: only sees whether it fits); nothing if it
   would take too long. */
static enum sotto_status
run_candidate(const struct enumerate_request *request,
              const struct candidate *candidate, struct enumerate_result *all,
              bool *ret_done, struct sotto_error *err)
{
    struct enumerate_result result = {.scope = candidate->scope,
                                      .size = candidate->size,
                                      .rows = candidate->rows,
                                      .l = candidate->l,
                                      .within = true};
    struct enumeration e = {
        .result = &result, .step = request->step, .context = request->context};
    enum sotto_status status = set_up_enumerate(&e, request, candidate, err);
    bool done =
        status == SOTTO_STATUS_OK &&
        fits_bounds(&e, candidate->points_least, request->branches_most);
    if (done && all != NULL) {
        status = run_points(&e, err);
        done = status == SOTTO_STATUS_OK && !e.full;
    }
    if (done && all != NULL) {
        merge_results(all, &result);
    }
    *ret_done = done;
    clear_enumerate(&e);
    return status;
}

/* ---- From the domain to those that can be enumerated --------------------- */

/* The largest number of symbols, below all, for which all points fit. */
static enum sotto_status
run_fewer_symbols(const struct enumerate_request *request,
                  struct enumerate_result *all, struct sotto_error *err)
{
    uint32_t size = request->size;
    uint32_t low = 2, high = size < POINTS_MOST ? size : POINTS_MOST + 1;
    struct candidate candidate = {ENUMERATE_SMALLER, low, 0, POINTS_MOST, 0};
    enum sotto_status status = SOTTO_STATUS_OK;
    bool done = false;
    while (status == SOTTO_STATUS_OK && high - low > 1) {
        bool fitting = false;
        candidate.size = low + (high - low) / 2;
        status = run_candidate(request, &candidate, NULL, &fitting, err);
        low = fitting ? candidate.size : low;
        high = fitting ? high : candidate.size;
    }
    for (; status == SOTTO_STATUS_OK && !done && low >= 2 && low < size;
         low /= 2) {
        candidate.size = low;
        status = run_candidate(request, &candidate, all, &done, err);
    }
    return status;
}

/* Runs a candidate, unless something was found already. */
static enum sotto_status
run_another(const struct enumerate_request *request, struct candidate candidate,
            struct enumerate_result *all, struct sotto_error *err)
{
    bool done = false;
    return all->fault[0] != '\0'
               ? SOTTO_STATUS_OK
               : run_candidate(request, &candidate, all, &done, err);
}

/* Pairs: up to five rows of up to five, since much depends on whether a size is
   odd or even. */
static enum sotto_status
run_fewer_pairs(const struct enumerate_request *request,
                struct enumerate_result *all, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    uint32_t rows = request->rows, columns = request->size / rows;
    for (uint32_t i = rows < 5 ? rows : 5; i >= 2; i--) {
        for (uint32_t j = columns < 5 ? columns : 5; j >= 2; j--) {
            struct candidate few = {ENUMERATE_SMALLER, i * j, 0, POINTS_MOST,
                                    i};
            status = HOST_THEN(status, run_another(request, few, all, err));
        }
    }
    return status;
}

/* One coordinate, with the radius as it is or halved until it fits; then how
   coordinates go together, which shows in two or three of them. */
static enum sotto_status
run_fewer_numbers(const struct enumerate_request *request,
                  struct enumerate_result *all, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    uint32_t size = request->size, l = request->l;
    bool done = false;
    for (uint32_t radius = size > 1 ? l : l / 2;
         status == SOTTO_STATUS_OK && !done && radius > 0; radius /= 2) {
        struct candidate one = {radius == l ? ENUMERATE_COORDINATE
                                            : ENUMERATE_SMALLER,
                                1, radius, 2, 0};
        status = run_candidate(request, &one, all, &done, err);
    }
    for (uint32_t d = 2; d <= 3 && d <= size && !request->channel->scalar;
         d++) {
        struct candidate few = {ENUMERATE_SMALLER, d, 1, 2, 0};
        status = HOST_THEN(status, run_another(request, few, all, err));
    }
    return status;
}

enum sotto_status
enumerate_channel(const struct enumerate_request *request,
                  struct enumerate_result *ret_result, struct sotto_error *err)
{
    struct candidate whole = {ENUMERATE_WHOLE, request->size, request->l, 2,
                              request->rows};
    struct enumerate_result all = {.within = true};
    enum sotto_status status = SOTTO_STATUS_OK;
    bool symbols = request->channel->domain == CHANNEL_DOMAIN_SYMBOLS;
    bool done = false;
    if (symbols || request->size <= DIMENSIONS_MOST) {
        status = run_candidate(request, &whole, &all, &done, err);
    }
    if (status == SOTTO_STATUS_OK && !done) {
        status = request->channel->pairs ? run_fewer_pairs(request, &all, err)
                 : symbols               ? run_fewer_symbols(request, &all, err)
                           : run_fewer_numbers(request, &all, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_result = all;
    }
    return status;
}
