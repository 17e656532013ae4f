/*
 * laplace.c: discrete Laplace noise on the L1-ball lattice.
 *
 * For |q|_1 <= l and |q'|_1 <= l, |q - q'|_1 <= 2l, and noise of scale
 * t = 2l/epsilon on every coordinate gives e^epsilon (the papers' Eq. 3 and 4,
 * on integers). The sum q + X is clamped to [-c, c], c = horizon - l, which
 * is post-processing; the noise never is.
 */
#include "base/decimal.h"
#include "base/maths.h"
#include "base/wide.h"
#include "channel/integers.h"
#include "random/dlaplace.h"

struct laplace {
    struct integers integers;
    double rate;     /* 1/t = -ln r */
    double log_zero; /* ln P(X = 0) = ln (1-r)/(1+r) */
    double log_tail; /* ln 1/(1+r): P(X >= m) = r^m/(1+r), m >= 1 */
    struct dlaplace noise;
};

static const struct laplace *
own_of(const struct channel_instance *instance)
{
    return (const struct laplace *)instance->own;
}

/*
 * Var X = 2r/(1-r)^2. Clamping moves the mean of q + X by at most
 * E[(q+X-c)^+] <= r^(c-l+1) / ((1+r)(1-r)), reached at q = l.
 */
static void
set_moments(struct channel_instance *instance, struct laplace *own)
{
    struct wide one, gap, sum, x;
    double r = wide_double(&own->noise.r), left, right;
    wide_ratio(1, 1, &one);
    wide_subtract(&one, &own->noise.r, &gap);
    wide_add(&one, &own->noise.r, &sum);
    left = wide_double(&gap);
    right = wide_double(&sum);
    wide_divide(&gap, &sum, &x);
    own->log_zero = maths_log(wide_double(&x));
    own->log_tail = -maths_log(right);
    wide_ratio(instance->eps, 2 * (uint64_t)instance->l * DECIMAL_UNIT, &x);
    wide_shift(&x, 60, &gap);
    wide_subtract(&x, &gap, &x);
    own->rate = wide_double(&x);
    instance->variance_true = 2 * r / (left * left);
    instance->variance_other = instance->variance_true;
    instance->bias = maths_exp(-own->rate * (double)(own->integers.clamp -
                                                     instance->l + 1)) /
                     (left * right);
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct laplace *own = (struct laplace *)memory;
    uint32_t batches = (instance->size + DRAW_BATCH - 1) / DRAW_BATCH;
    dlaplace_init(&own->noise, instance->l, instance->eps);
    integers_init(&own->integers, (int64_t)own->noise.horizon - instance->l,
                  instance);
    instance->entropy_size =
        batches * DRAW_TABLES_SIZE +
        instance->size * (uint32_t)dlaplace_draw_size(&own->noise);
    set_moments(instance, own);
    return SOTTO_STATUS_OK;
}

static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct laplace *own = own_of(instance);
    struct draw_tables tables;
    for (uint32_t i = 0; i < instance->size; i++) {
        if (i % DRAW_BATCH == 0) {
            draw_tables(random, own->noise.threshold, own->noise.count,
                        &tables);
        }
        integers_put(&own->integers, ret_wire, i,
                     q[i] + dlaplace_draw(&own->noise, random, &tables));
    }
}

/*
 * ln p(y | q) of one coordinate: ln P(X = y-q) inside the clamp, the tail at
 * it. c - q >= c - l >= 32 t > 0, so the tail formula applies.
 */
static double
log_p_one(const struct laplace *own, int64_t y, int64_t q)
{
    int64_t distance = y > q ? y - q : q - y;
    bool clamped = y == own->integers.clamp || y == -own->integers.clamp;
    return (clamped ? own->log_tail : own->log_zero) -
           own->rate * (double)distance;
}

static double
log_p(const struct channel_instance *instance, const uint8_t *wire,
      const int32_t *q)
{
    const struct laplace *own = own_of(instance);
    double sum = 0;
    for (uint32_t i = 0; i < instance->size; i++) {
        sum += log_p_one(own, integers_at(&own->integers, wire, i), q[i]);
    }
    return sum;
}

/* The constants do not depend on q; the rest is one L1 distance a point. */
static void
log_p_many(const struct channel_instance *instance, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    const struct laplace *own = own_of(instance);
    uint32_t d = instance->size;
    double constant = 0;
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = 0;
    }
    for (uint32_t i = 0; i < d; i++) {
        int64_t y = integers_at(&own->integers, wire, i);
        constant += log_p_one(own, y, y);
        for (size_t j = 0; j < n; j++) {
            int64_t distance = y - q[j * d + i];
            ret_log_p[j] += (double)(distance < 0 ? -distance : distance);
        }
    }
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = constant - own->rate * ret_log_p[j];
    }
}

const struct channel channel_laplace = {
    .name = "laplace",
    .domain = CHANNEL_DOMAIN_LATTICE,
    .promise = "whole-number noise is added to every number before it is sent",
    .own_size = sizeof(struct laplace),
    .init = init,
    .sample = sample,
    .valid = integers_valid,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = integers_estimate,
    .unpack = integers_unpack,
    .pack = integers_pack,
};
