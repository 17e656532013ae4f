/*
 * gaussian.c: discrete Gaussian noise on the L2-ball lattice.
 *
 * Any two points of the ball are neighbours, |q - q'|_2 <= 2l, and noise
 * P(X = x) ~ e^(-x^2 / 2 sigma^2) on every coordinate is rho-zCDP with
 * rho = (2l)^2 / 2 sigma^2 (Canonne, Kamath and Steinke 2020, Theorem 14, over
 * coordinates), hence (epsilon, delta)-LDP by their Proposition 12: see
 * calibrate. Not by the formula for the continuous Gaussian, which does not
 * hold here. The sum q + X is clamped, which is post-processing.
 * Theorem and proof: docs/proofs.md#gaussian.
 */
#include "channel/gaussian.h"

#include "base/bytes.h"
#include "base/decimal.h"
#include "base/maths.h"

#define MARGIN 1e-9 /* in ln delta */
#define GAMMA_LEAST 0x1p-20
#define GAMMA_MOST 0x1p18

static const struct gaussian *
own_of(const struct channel_instance *instance)
{
    return (const struct gaussian *)instance->own;
}

/* ---- Calibration --------------------------------------------------------- */

/*
 * ln of a delta that rho-zCDP keeps at eps. For any alpha = 1 + gamma > 1,
 *
 *     delta = e^(gamma (alpha rho - eps)) (1 - 1/alpha)^alpha / gamma
 *
 * is one (Proposition 12), and the least is where its derivative, which
 * increases, is zero. That point need not be met exactly.
 */
static double
log_delta(double rho, double eps)
{
    double low = GAMMA_LEAST, high = GAMMA_MOST, log_share;
    for (int i = 0; i < 64; i++) {
        double gamma = (low + high) / 2;
        log_share = maths_log(gamma / (1 + gamma));
        if ((1 + 2 * gamma) * rho - eps + log_share < 0) {
            low = gamma;
        } else {
            high = gamma;
        }
    }
    log_share = maths_log(high / (1 + high));
    return high * ((1 + high) * rho - eps) + (1 + high) * log_share -
           maths_log(high);
}

/*
 * Whether sigma = t/256 keeps (eps, delta). MARGIN covers the doubles: near
 * equality gamma eps < 100, so the sum is off by less than 2^-40 from all its
 * terms but (1 + gamma) log_share, and that by 2^18 2^-51 = 2^-33; and what is
 * left of it, 2^-31 delta >= 2^-71, covers the sampler's own distance from the
 * discrete Gaussian, 2^-170 (1 + e^eps) for all coordinates.
 */
static bool
is_enough(const struct channel_instance *instance, uint32_t t)
{
    double unit = (double)DECIMAL_UNIT;
    double ratio = 2.0 * DGAUSS_UNIT * instance->l / t;
    return log_delta(ratio * ratio / 2, (double)instance->eps / unit) <=
           maths_log((double)instance->delta / unit) - MARGIN;
}

/* The least t that is enough; 0 if none is. */
static uint32_t
calibrate(const struct channel_instance *instance)
{
    uint32_t low = DGAUSS_T_MIN - 1, high = DGAUSS_T_MAX;
    if (!is_enough(instance, high)) {
        return 0;
    }
    while (high - low > 1) {
        uint32_t t = low + (high - low) / 2;
        if (is_enough(instance, t)) {
            high = t;
        } else {
            low = t;
        }
    }
    return high;
}

/* ---- Setting up ---------------------------------------------------------- */

/*
 * The noise reaches to the horizon h, the clamp to c = h - l - k: for the most
 * distant q the noise at the clamp begins at c + l = h - k, and k = 9/4 sigma
 * further out its tail is 2^-55 of what it is there. So that tail is the whole
 * tail, as far as doubles can tell, though the noise ends at h.
 */
static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct gaussian *own = (struct gaussian *)memory;
    uint32_t runs = instance->size / DGAUSS_RUN_MAX;
    uint32_t rest = instance->size % DGAUSS_RUN_MAX;
    uint32_t t = calibrate(instance), k = (9 * t + 1023) / 1024;
    if (t == 0) {
        return SOTTO_STATUS_LIMIT;
    }
    dgauss_init(&own->noise, t, (t + 15) / 16 + k + 2 * (uint64_t)instance->l);
    integers_init(&own->integers,
                  (int64_t)own->noise.noise.horizon - k - instance->l,
                  instance);
    own->tries_run = dgauss_tries(&own->noise, DGAUSS_RUN_MAX);
    own->tries_last = rest > 0 ? dgauss_tries(&own->noise, rest) : 0;
    instance->entropy_size =
        runs * dgauss_draw_size(&own->noise, own->tries_run) +
        dgauss_draw_size(&own->noise, own->tries_last);
    return SOTTO_STATUS_OK;
}

static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct gaussian *own = own_of(instance);
    int64_t x[DGAUSS_RUN_MAX + 1];
    for (uint32_t from = 0; from < instance->size; from += DGAUSS_RUN_MAX) {
        uint32_t left = instance->size - from;
        bool full = left >= DGAUSS_RUN_MAX;
        uint32_t count = full ? DGAUSS_RUN_MAX : left;
        dgauss_draw(&own->noise, random, count,
                    full ? own->tries_run : own->tries_last, x);
        for (uint32_t i = 0; i < count; i++) {
            integers_put(&own->integers, ret_wire, from + i,
                         q[from + i] + x[i]);
        }
    }
    bytes_wipe(x, sizeof x);
}

const struct channel channel_gaussian = {
    .name = "gaussian",
    .domain = CHANNEL_DOMAIN_BALL,
    .promise = "whole-number noise, bell-shaped, is added to every number "
               "before it is sent",
    .approximate = true,
    .own_size = sizeof(struct gaussian),
    .init = init,
    .sample = sample,
    .valid = integers_valid,
};
