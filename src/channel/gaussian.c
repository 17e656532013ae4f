/*
 * gaussian.c: discrete Gaussian noise on the L2-ball lattice.
 *
 * Any two points of the ball are neighbours, |q - q'|_2 <= 2l, and noise
 * P(X = x) ~ e^(-x^2 / 2 sigma^2) on every coordinate is rho-zCDP with
 * rho = (2l)^2 / 2 sigma^2 (Canonne, Kamath and Steinke 2020, Theorem 14, over
 * coordinates), hence (epsilon, delta)-LDP by their Proposition 12: see
 * calibrate. Not by the formula for the continuous Gaussian, which does not
 * hold here. The sum q + X is clamped, which is post-processing.
 */
#include "base/bytes.h"
#include "base/decimal.h"
#include "base/maths.h"
#include "channel/integers.h"
#include "random/dgauss.h"

#define MARGIN 1e-9 /* in ln delta */
#define GAMMA_LEAST 0x1p-20
#define GAMMA_MOST 0x1p18
#define HALF_LN_2_PI 0.91893853320467274

struct gaussian {
    struct integers integers;
    uint32_t tries_run;  /* of a full run of coordinates */
    uint32_t tries_last; /* of those left over, if any */
    double sigma;
    double half_rate; /* 1 / 2 sigma^2 */
    double log_z;     /* ln of the sum of e^(-x^2 / 2 sigma^2) */
    struct dgauss noise;
};

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
 * By direct sums where sigma is small; from 2 on, the sums are the integrals
 * but for a factor of 1 - 2 e^(-2 pi^2 sigma^2), nearer to 1 than doubles are.
 * Clamping moves a mean by at most E[(X - m)^+], m = c - l >= 16 sigma, which
 * is below sigma P(X >= m) <= sigma e^(-128).
 */
static void
set_moments(struct channel_instance *instance, struct gaussian *own)
{
    double sigma = own->sigma, z = 1, variance = 0;
    own->half_rate = 1 / (2 * sigma * sigma);
    for (int x = 1; x < 32 && sigma < 2; x++) {
        double weight = 2 * maths_exp(-own->half_rate * x * x);
        z += weight;
        variance += weight * x * x;
    }
    own->log_z = sigma < 2 ? maths_log(z) : HALF_LN_2_PI + maths_log(sigma);
    instance->variance_true = sigma < 2 ? variance / z : sigma * sigma;
    instance->variance_other = instance->variance_true;
    instance->bias = sigma * maths_exp(-128);
}

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
    own->sigma = (double)t / DGAUSS_UNIT;
    set_moments(instance, own);
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

/* ---- Likelihood ---------------------------------------------------------- */

/*
 * The sum of f(m+k)/f(m) over k >= 0 for f(x) = e^(-x^2 / 2 sigma^2), term by
 * term: its terms fall faster than e^(-k b), b = m/sigma^2.
 */
static double
tail_sum(const struct gaussian *own, double m)
{
    double ratio = maths_exp(-own->half_rate * (2 * m + 1));
    double step = maths_exp(-2 * own->half_rate);
    double term = 1, sum = 0;
    for (int k = 0; k < 100; k++) {
        sum += term;
        term *= ratio;
        ratio *= step;
    }
    return sum;
}

/*
 * The same for b <= 1/2 by Euler and Maclaurin's formula:
 *
 *     integral + 1/2 - sum of B_2j/(2j)! f^(2j-1)(m)/f(m).
 *
 * The integral is sigma/a (1 - 1/a^2 + 3/a^4 - 15/a^6 ...), a = m/sigma >= 16;
 * the derivatives D_n = f^(n)/f follow D_(n+1) = -(m D_n + n D_(n-1))/sigma^2.
 * What is left out is below 10^-14 in either.
 */
static double
tail_integral(const struct gaussian *own, double m)
{
    static const double bernoulli[] = {
        /* B_2j / (2j)! */
        1.0 / 12,       -1.0 / 720,     1.0 / 30240,
        -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0};
    double rate = 2 * own->half_rate, a = m / own->sigma;
    double term = own->sigma / a, sum = 0.5, before = 0, now = 1, next;
    for (int i = 0; i < 12; i++) {
        sum += term;
        term *= -(2 * i + 1) / (a * a);
    }
    for (int n = 0; n < 11; n++) {
        next = -(m * now + n * before) * rate;
        before = now;
        now = next;
        if (n % 2 == 0) {
            sum -= bernoulli[n / 2] * now;
        }
    }
    return sum;
}

/* ln P(X >= m), m >= 16 sigma. */
static double
log_tail(const struct gaussian *own, double m)
{
    bool steep = 2 * own->half_rate * m > 0.5;
    double sum = steep ? tail_sum(own, m) : tail_integral(own, m);
    return maths_log(sum) - own->half_rate * m * m - own->log_z;
}

/* ln p(y | q) of one coordinate, y at the clamp. */
static double
log_p_clamped(const struct gaussian *own, int64_t y, int64_t q)
{
    return log_tail(own, (double)(y > 0 ? y - q : q - y));
}

static bool
is_clamped(const struct gaussian *own, int64_t y)
{
    return y == own->integers.clamp || y == -own->integers.clamp;
}

static void
log_p_many(const struct channel_instance *instance, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    const struct gaussian *own = own_of(instance);
    uint32_t d = instance->size;
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = 0;
    }
    for (uint32_t i = 0; i < d; i++) {
        int64_t y = integers_at(&own->integers, wire, i);
        bool clamped = is_clamped(own, y);
        for (size_t j = 0; j < n && clamped; j++) {
            ret_log_p[j] += log_p_clamped(own, y, q[j * d + i]);
        }
        for (size_t j = 0; j < n && !clamped; j++) {
            double distance = (double)(y - q[j * d + i]);
            ret_log_p[j] -= own->half_rate * distance * distance + own->log_z;
        }
    }
}

static double
log_p(const struct channel_instance *instance, const uint8_t *wire,
      const int32_t *q)
{
    double ret;
    log_p_many(instance, wire, q, 1, &ret);
    return ret;
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
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = integers_estimate,
    .unpack = integers_unpack,
    .pack = integers_pack,
};
