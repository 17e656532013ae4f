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

#include <mpfr.h>

#include "base/decimal.h"
#include "host/error.h"
#include "privacy/tape.h"

#define PRECISION 512
#define POINTS_MOST 1024u
#define DIMENSIONS_MOST 8u
#define REPORTS_MOST (UINT32_C(1) << 22)
#define STEP_BRANCHES 4096u

/* One report seen, and its weight for each point. */
struct row {
    uint64_t hash;
    uint8_t *wire;
    mpz_t *weight;
};

struct enumeration {
    struct channel_instance instance;
    void *own;
    uint32_t width;
    uint32_t points;
    int32_t *point; /* `width` integers each */
    struct row *row;
    uint32_t rows, room; /* room is a power of two, or 0 */
    uint32_t *slot;      /* hash table: row + 1, 2 room entries */
    mpz_t whole;         /* the denominator */
    mpz_t *sum;          /* of each point */
    uint64_t shape;
    struct tape *tape;
    uint8_t *wire;
    struct enumerate_result *result;
    void (*step)(void *context, uint64_t branches);
    void *context;
};

static void
blame(struct enumeration *e, const char *what, const char *detail)
{
    if (e->result->fault[0] == '\0') {
        (void)snprintf(e->result->fault, sizeof e->result->fault, "%s%s", what,
                       detail);
    }
}

static bool
blamed(const struct enumeration *e)
{
    return e->result->fault[0] != '\0';
}

/* ---- Points -------------------------------------------------------------- */

/* Whether q lies in the domain. */
static bool
inside(const struct enumeration *e, const int32_t *q)
{
    int64_t l = e->instance.l, sum = 0;
    for (uint32_t i = 0; i < e->width; i++) {
        int64_t a = q[i] < 0 ? -(int64_t)q[i] : q[i];
        switch (e->instance.channel->domain) {
        case CHANNEL_DOMAIN_LATTICE:
            sum += a;
            break;
        case CHANNEL_DOMAIN_BALL:
            sum += a * a;
            break;
        default:
            sum = a > sum ? a : sum;
            break;
        }
    }
    return sum <=
           (e->instance.channel->domain == CHANNEL_DOMAIN_BALL ? l * l : l);
}

static void
add_point(struct enumeration *e, const int32_t *q)
{
    if (e->points < POINTS_MOST && inside(e, q)) {
        memcpy(e->point + (size_t)e->points * e->width, q,
               e->width * sizeof *q);
        e->points++;
    }
}

/* Every combination of `count` values of a coordinate that is in the domain. */
static void
add_grid(struct enumeration *e, const int32_t *value, uint32_t count)
{
    uint32_t digit[16] = {0}, i = 0;
    while (i < e->width) {
        int32_t q[16];
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
    int32_t value[256]; /* of one coordinate: 2l+1 of them at most */
    uint32_t count = 0;
    if (pow(2 * l + 1.0, e->width) <= 256) {
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

/* ---- Reports ------------------------------------------------------------- */

static uint64_t
hash_of(const uint8_t *data, uint32_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * UINT64_C(0x1000001b3);
    }
    return hash ^ hash >> 29;
}

static void
put_slot(struct enumeration *e, uint32_t row)
{
    uint64_t at = e->row[row].hash;
    while (e->slot[at & (2 * (uint64_t)e->room - 1)] != 0) {
        at++;
    }
    e->slot[at & (2 * (uint64_t)e->room - 1)] = row + 1;
}

static bool
grow(struct enumeration *e)
{
    uint32_t room = e->room == 0 ? 64 : 2 * e->room;
    struct row *row;
    uint32_t *slot;
    if (room > REPORTS_MOST) {
        return false;
    }
    row = realloc(e->row, room * sizeof *row);
    if (row == NULL) {
        return false;
    }
    e->row = row;
    slot = calloc(2 * (size_t)room, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    free(e->slot);
    e->slot = slot;
    e->room = room;
    for (uint32_t i = 0; i < e->rows; i++) {
        put_slot(e, i);
    }
    return true;
}

static struct row *
find_row(struct enumeration *e, uint64_t hash)
{
    uint32_t size = e->instance.wire_size;
    for (uint64_t at = hash; e->room > 0; at++) {
        uint32_t row = e->slot[at & (2 * (uint64_t)e->room - 1)];
        if (row == 0) {
            return NULL;
        }
        if (e->row[row - 1].hash == hash &&
            memcmp(e->row[row - 1].wire, e->wire, size) == 0) {
            return &e->row[row - 1];
        }
    }
    return NULL;
}

/* The row of the report in e->wire; NULL if there is no memory for it. */
static struct row *
get_row(struct enumeration *e)
{
    uint64_t hash = hash_of(e->wire, e->instance.wire_size);
    struct row *row = find_row(e, hash);
    if (row != NULL) {
        return row;
    }
    if (e->rows == e->room && !grow(e)) {
        return NULL;
    }
    row = &e->row[e->rows];
    row->hash = hash;
    row->wire = malloc(e->instance.wire_size);
    row->weight = malloc(e->points * sizeof *row->weight);
    if (row->wire == NULL || row->weight == NULL) {
        free(row->wire);
        free(row->weight);
        return NULL;
    }
    memcpy(row->wire, e->wire, e->instance.wire_size);
    for (uint32_t i = 0; i < e->points; i++) {
        mpz_init(row->weight[i]);
    }
    put_slot(e, e->rows++);
    return row;
}

/* ---- Running the sampler ------------------------------------------------- */

/* The report's memory is dirty before, and differently each time, so that a
   byte the sampler leaves alone shows up as a report too many. */
static enum sotto_status
run_branch(struct enumeration *e, uint32_t at, struct sotto_error *err)
{
    const struct channel *channel = e->instance.channel;
    struct random random;
    struct row *row;
    uint64_t branch = e->result->branches++;
    tape_random(e->tape, &random);
    memset(e->wire, branch % 2 == 0 ? 0x5a : 0xa5, e->instance.wire_size);
    channel->sample(&e->instance, e->point + (size_t)at * e->width, &random,
                    e->wire);
    if (tape_fault(e->tape) != NULL) {
        blame(e, "the sampler broke the rules: ", tape_fault(e->tape));
        return SOTTO_STATUS_OK;
    }
    if (branch == 0) {
        mpz_set(e->whole, tape_denominator(e->tape));
        e->shape = tape_shape(e->tape);
    }
    if (e->shape != tape_shape(e->tape) ||
        mpz_cmp(e->whole, tape_denominator(e->tape)) != 0) {
        blame(e, "what the sampler draws depends on the record or the noise",
              " (invariant 7)");
    }
    if (!channel->valid(&e->instance, e->wire)) {
        blame(e, "the sampler gives a report outside the valid set", "");
    }
    if (tape_rejected(e->tape)) {
        return SOTTO_STATUS_OK;
    }
    row = get_row(e);
    if (row == NULL) {
        return host_fail_memory(err);
    }
    mpz_add(row->weight[at], row->weight[at], tape_numerator(e->tape));
    mpz_add(e->sum[at], e->sum[at], tape_numerator(e->tape));
    return SOTTO_STATUS_OK;
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
    } while (status == SOTTO_STATUS_OK && !blamed(e) && tape_next(e->tape));
    if (tape_fault(e->tape) != NULL) {
        blame(e, "the sampler broke the rules: ", tape_fault(e->tape));
    }
    if (!blamed(e) && mpz_cmp(e->sum[at], e->sum[0]) != 0) {
        blame(e, "how often the sampler fails depends on the record", "");
    }
    return status;
}

/* ---- Comparing ----------------------------------------------------------- */

/* ln w, to double precision. */
static double
log_of(mpz_srcptr weight)
{
    signed long power;
    double mantissa = mpz_get_d_2exp(&power, weight);
    return log(mantissa) + (double)power * log(2);
}

/* An approximate channel's sampler may be off by far less than any delta; in
   reports less likely than that, its log p need not be its logarithm. */
#define LOG_NEGLIGIBLE (-104.0) /* 2^-150 */

static void
compare_log_p(struct enumeration *e, const struct row *row)
{
    const struct channel *channel = e->instance.channel;
    for (uint32_t i = 0; i < e->points; i++) {
        double truth, stated;
        if (mpz_sgn(row->weight[i]) == 0) {
            continue;
        }
        truth = log_of(row->weight[i]) - log_of(e->sum[i]);
        if (channel->approximate && truth < LOG_NEGLIGIBLE) {
            continue;
        }
        stated = channel->log_p(&e->instance, row->wire,
                                e->point + (size_t)i * e->width);
        e->result->log_p_error =
            fmax(e->result->log_p_error,
                 fabs(truth - stated) / fmax(1, fabs(truth)));
    }
}

/* floor(e^epsilon 2^PRECISION): so the comparison is one of integers. */
static void
scaled_bound(uint64_t units, mpz_t ret)
{
    mpfr_t bound;
    mpfr_init2(bound, 2 * PRECISION);
    mpfr_set_ui(bound, units, MPFR_RNDD);
    mpfr_div_ui(bound, bound, DECIMAL_UNIT, MPFR_RNDD);
    mpfr_exp(bound, bound, MPFR_RNDD);
    mpfr_mul_2ui(bound, bound, PRECISION, MPFR_RNDD);
    mpfr_get_z(ret, bound, MPFR_RNDD);
    mpfr_clear(bound);
}

static void
extremes(const struct enumeration *e, const struct row *row, mpz_srcptr *least,
         mpz_srcptr *most)
{
    *least = row->weight[0];
    *most = row->weight[0];
    for (uint32_t i = 1; i < e->points; i++) {
        if (mpz_cmp(row->weight[i], *least) < 0) {
            *least = row->weight[i];
        }
        if (mpz_cmp(row->weight[i], *most) > 0) {
            *most = row->weight[i];
        }
    }
}

/* ln(most / least), rounded up to a double. */
static double
log_ratio(mpz_srcptr most, mpz_srcptr least)
{
    mpfr_t ratio, below;
    double log;
    if (mpz_sgn(least) == 0) {
        return INFINITY;
    }
    mpfr_init2(ratio, PRECISION);
    mpfr_init2(below, PRECISION);
    mpfr_set_z(ratio, most, MPFR_RNDU);
    mpfr_set_z(below, least, MPFR_RNDD);
    mpfr_div(ratio, ratio, below, MPFR_RNDU);
    mpfr_log(ratio, ratio, MPFR_RNDU);
    log = mpfr_get_d(ratio, MPFR_RNDU);
    mpfr_clear(ratio);
    mpfr_clear(below);
    return log;
}

/* Sums are the same for all points, so ratios of weights are those of p. */
static void
compare_pure(struct enumeration *e)
{
    mpz_t bound, left, right;
    mpz_inits(bound, left, right, NULL);
    scaled_bound(e->instance.eps, bound);
    for (uint32_t i = 0; i < e->rows; i++) {
        mpz_srcptr least, most;
        extremes(e, &e->row[i], &least, &most);
        mpz_mul_2exp(left, most, PRECISION);
        mpz_mul(right, least, bound);
        if (mpz_cmp(left, right) > 0) {
            e->result->within = false;
        }
        if (mpz_sgn(least) == 0 ||
            log_of(most) - log_of(least) >= e->result->eps - 1e-9) {
            e->result->eps = fmax(e->result->eps, log_ratio(most, least));
        }
    }
    mpz_clears(bound, left, right, NULL);
}

/* Sum over reports of max(0, p(r|a) - e^eps p(r|b)), rounded up a little. */
static double
hockey_stick(const struct enumeration *e, uint32_t a, uint32_t b, double eps)
{
    double sum = 0, log_sum = log_of(e->sum[0]);
    for (uint32_t i = 0; i < e->rows; i++) {
        const struct row *row = &e->row[i];
        double p, q = 0;
        if (mpz_sgn(row->weight[a]) == 0) {
            continue;
        }
        p = exp(log_of(row->weight[a]) - log_sum);
        if (mpz_sgn(row->weight[b]) > 0) {
            q = exp(log_of(row->weight[b]) - log_sum + eps);
        }
        sum += p > q ? p - q : 0;
    }
    return sum * (1 + 1e-9);
}

static double
worst_delta(const struct enumeration *e, double eps)
{
    double worst = 0;
    for (uint32_t a = 0; a < e->points; a++) {
        for (uint32_t b = 0; b < e->points; b++) {
            if (a != b) {
                worst = fmax(worst, hockey_stick(e, a, b, eps));
            }
        }
    }
    return worst;
}

/* The epsilon at which the stated delta is met, by bisection; its upper end. */
static void
compare_approximate(struct enumeration *e)
{
    double stated = (double)e->instance.eps / (double)DECIMAL_UNIT;
    double delta = (double)e->instance.delta / (double)DECIMAL_UNIT;
    double low = 0, high = 2 * stated;
    e->result->delta = worst_delta(e, stated);
    e->result->within = e->result->delta <= delta;
    while (high < 512 && worst_delta(e, high) > delta) {
        high *= 2;
    }
    for (int i = 0; i < 40 && high < 512; i++) {
        double middle = (low + high) / 2;
        if (worst_delta(e, middle) > delta) {
            low = middle;
        } else {
            high = middle;
        }
    }
    e->result->eps = high < 512 ? high : INFINITY;
}

static void
compare(struct enumeration *e)
{
    for (uint32_t i = 0; i < e->rows; i++) {
        compare_log_p(e, &e->row[i]);
    }
    if (e->instance.channel->approximate) {
        compare_approximate(e);
    } else {
        compare_pure(e);
    }
    e->result->points = e->points;
    e->result->reports = e->rows;
}

/* ---- One domain ---------------------------------------------------------- */

/* What is asked for, all along. */
struct request {
    const struct channel *channel;
    uint64_t eps, delta, branches_most;
    void (*step)(void *context, uint64_t branches);
    void *context;
};

/* A domain that might be enumerated. */
struct candidate {
    enum enumerate_scope scope;
    uint32_t size, l;
};

static void
clear(struct enumeration *e)
{
    for (uint32_t i = 0; i < e->rows; i++) {
        for (uint32_t j = 0; j < e->points; j++) {
            mpz_clear(e->row[i].weight[j]);
        }
        free(e->row[i].wire);
        free(e->row[i].weight);
    }
    for (uint32_t i = 0; e->sum != NULL && i < e->points; i++) {
        mpz_clear(e->sum[i]);
    }
    mpz_clear(e->whole);
    tape_free(e->tape);
    free(e->sum);
    free(e->row);
    free(e->slot);
    free(e->point);
    free(e->wire);
    free(e->own);
}

static enum sotto_status
set_up(struct enumeration *e, const struct request *request,
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
    status = channel_init(&e->instance, channel, candidate->size, candidate->l,
                          request->eps, request->delta, e->own);
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, status, 0, "%s", sotto_status_message(status));
    }
    e->width = channel_width(&e->instance);
    e->point = calloc((size_t)POINTS_MOST * e->width, sizeof *e->point);
    e->wire = malloc(e->instance.wire_size);
    if (e->point == NULL || e->wire == NULL) {
        return host_fail_memory(err);
    }
    if (channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        add_symbols(e);
    } else {
        add_numbers(e);
    }
    e->sum = malloc(e->points * sizeof *e->sum);
    if (e->sum == NULL) {
        return host_fail_memory(err);
    }
    for (uint32_t i = 0; i < e->points; i++) {
        mpz_init(e->sum[i]);
    }
    return SOTTO_STATUS_OK;
}

/* Branches of all points together, about: of the one with most, for each. */
static double
measure(struct enumeration *e)
{
    double most = 0;
    for (uint32_t i = 0; i < e->points && i < 64; i++) {
        struct random random;
        tape_random(e->tape, &random);
        e->instance.channel->sample(
            &e->instance, e->point + (size_t)i * e->width, &random, e->wire);
        most = fmax(most, tape_breadth(e->tape));
        tape_rewind(e->tape);
    }
    return most * e->points;
}

static enum sotto_status
run_points(struct enumeration *e, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 0;
         status == SOTTO_STATUS_OK && !blamed(e) && i < e->points; i++) {
        status = run_point(e, i, err);
    }
    if (status == SOTTO_STATUS_OK && !blamed(e)) {
        compare(e);
    }
    return status;
}

/* Keeps the worse of two. */
static void
merge(struct enumerate_result *to, const struct enumerate_result *from)
{
    if (from->scope > to->scope) {
        to->scope = from->scope;
        to->size = from->size;
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

/* Adds what is found to `all`; nothing if it would take too long. */
static enum sotto_status
run_candidate(const struct request *request, const struct candidate *candidate,
              struct enumerate_result *all, bool *ret_done,
              struct sotto_error *err)
{
    struct enumerate_result result = {.scope = candidate->scope,
                                      .size = candidate->size,
                                      .l = candidate->l,
                                      .within = true};
    struct enumeration e = {
        .result = &result, .step = request->step, .context = request->context};
    enum sotto_status status = set_up(&e, request, candidate, err);
    *ret_done = status == SOTTO_STATUS_OK &&
                measure(&e) <= (double)request->branches_most;
    if (*ret_done) {
        status = run_points(&e, err);
        merge(all, &result);
    }
    clear(&e);
    return status;
}

/* ---- From the domain to those that can be enumerated --------------------- */

/* Largest first. A domain of more than DIMENSIONS_MOST numbers is beyond. */
static uint32_t
list_candidates(const struct channel *channel, uint32_t size, uint32_t l,
                struct candidate *ret)
{
    bool symbols = channel->domain == CHANNEL_DOMAIN_SYMBOLS;
    uint32_t count = 0;
    if (symbols || size <= DIMENSIONS_MOST) {
        ret[count++] = (struct candidate){ENUMERATE_WHOLE, size, l};
    }
    if (symbols) {
        for (uint32_t k = size < 32 ? size - 1 : 32; k >= 2; k--) {
            ret[count++] = (struct candidate){ENUMERATE_SMALLER, k, 0};
        }
        return count;
    }
    if (size > 1) {
        ret[count++] = (struct candidate){ENUMERATE_COORDINATE, 1, l};
    }
    for (uint32_t smaller = l / 2; smaller >= 1; smaller /= 2) {
        ret[count++] = (struct candidate){ENUMERATE_SMALLER, 1, smaller};
    }
    return count;
}

enum sotto_status
enumerate_channel(const struct channel *channel, uint32_t size, uint32_t l,
                  uint64_t eps, uint64_t delta, uint64_t branches_most,
                  void (*step)(void *, uint64_t), void *context,
                  struct enumerate_result *ret_result, struct sotto_error *err)
{
    struct request request = {channel,       eps,  delta,
                              branches_most, step, context};
    struct candidate candidate[64];
    struct enumerate_result all = {.within = true};
    uint32_t count = list_candidates(channel, size, l, candidate);
    enum sotto_status status = SOTTO_STATUS_OK;
    bool done = false;
    for (uint32_t i = 0; i < count && status == SOTTO_STATUS_OK && !done; i++) {
        status = run_candidate(&request, &candidate[i], &all, &done, err);
    }
    /* How coordinates go together shows in two or three of them. */
    for (uint32_t d = 2; d <= 3 && d <= size && l > 0; d++) {
        struct candidate few = {ENUMERATE_SMALLER, d, 1};
        if (status == SOTTO_STATUS_OK && all.scope < ENUMERATE_WHOLE &&
            all.fault[0] == '\0') {
            status = run_candidate(&request, &few, &all, &done, err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_result = all;
    }
    return status;
}
