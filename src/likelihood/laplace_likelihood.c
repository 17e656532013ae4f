/*
 * laplace_likelihood.c: what reports with discrete Laplace noise say.
 *
 * The noise is P(X = x) = (1-r)/(1+r) r^|x|, r = e^(-1/t), with 1/t what
 * random/dlaplace.c takes: epsilon (1 - 2^-60) / 2l.
 */
#include "base/decimal.h"
#include "base/maths.h"
#include "base/wide.h"
#include "channel/laplace.h"
#include "likelihood/integers_likelihood.h"
#include "likelihood/realised.h"

enum {
    RATE = 0,     /* 1/t = -ln r */
    LOG_ZERO = 1, /* ln P(X = 0) = ln (1-r)/(1+r) */
    LOG_TAIL = 2, /* ln 1/(1+r): P(X >= m) = r^m/(1+r), m >= 1 */
};

/*
 * Var X = 2r/(1-r)^2. Clamping moves the mean of q + X by at most
 * E[(q+X-c)^+] <= r^(c-l+1) / ((1+r)(1-r)), reached at q = l.
 */
static void
init(struct likelihood_instance *at)
{
    const struct channel_instance *instance = at->instance;
    int64_t reach = integers_of(at)->clamp - instance->l + 1;
    struct wide rate, r, one, gap, sum, share;
    double left, right;
    wide_ratio(instance->eps, 2 * (uint64_t)instance->l * DECIMAL_UNIT, &rate);
    wide_shift(&rate, 60, &gap);
    wide_subtract(&rate, &gap, &rate);
    wide_exp(&rate, &r);
    wide_ratio(1, 1, &one);
    wide_divide(&one, &r, &r);
    wide_subtract(&one, &r, &gap);
    wide_add(&one, &r, &sum);
    wide_divide(&gap, &sum, &share);
    left = wide_double(&gap);
    right = wide_double(&sum);
    at->own[RATE] = wide_double(&rate);
    at->own[LOG_ZERO] = maths_log(wide_double(&share));
    at->own[LOG_TAIL] = -maths_log(right);
    at->values = instance->size;
    at->unit = 1;
    at->variance_true = 2 * wide_double(&r) / (left * left);
    at->variance_other = at->variance_true;
    integers_set_ends(at);
    at->bias = maths_exp(-at->own[RATE] * (double)reach) / (left * right);
}

/*
 * ln p(y | q) of one coordinate: ln P(X = y-q) inside the clamp, the tail at
 * it. c - q >= c - l >= 32 t > 0, so the tail formula applies.
 */
static double
log_p_one(const struct likelihood_instance *at, int64_t y, int64_t q)
{
    int64_t distance = y > q ? y - q : q - y;
    return at->own[integers_clamped(at, y) ? LOG_TAIL : LOG_ZERO] -
           at->own[RATE] * (double)distance;
}

static double
log_p(const struct likelihood_instance *at, const uint8_t *wire,
      const int32_t *q)
{
    double sum = 0;
    for (uint32_t i = 0; i < at->values; i++) {
        sum += log_p_one(at, integers_at(integers_of(at), wire, i), q[i]);
    }
    return sum;
}

/* The constants do not depend on q; the rest is one L1 distance a point. */
static void
log_p_many(const struct likelihood_instance *at, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    uint32_t d = at->values;
    double constant = 0;
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = 0;
    }
    for (uint32_t i = 0; i < d; i++) {
        int64_t y = integers_at(integers_of(at), wire, i);
        constant += log_p_one(at, y, y);
        for (size_t j = 0; j < n; j++) {
            int64_t distance = y - q[j * d + i];
            ret_log_p[j] += (double)(distance < 0 ? -distance : distance);
        }
    }
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = constant - at->own[RATE] * ret_log_p[j];
    }
}

static uint64_t
realise(const struct channel_instance *instance)
{
    const struct laplace *laplace = (const struct laplace *)instance->own;
    int64_t reach = laplace->integers.clamp + instance->l;
    return reach <= (int64_t)laplace->noise.horizon
               ? realised_laplace(&laplace->noise, instance->l, instance->eps)
               : REALISED_NONE;
}

const struct likelihood likelihood_laplace = {
    .name = "laplace",
    .init = init,
    .realised = realise,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = integers_estimate,
    .unpack = integers_unpack,
    .pack = integers_pack,
};
