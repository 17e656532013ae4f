/*
 * gaussian_likelihood.c: what reports with discrete Gaussian noise say.
 */
#include "base/decimal.h"
#include "base/maths.h"
#include "channel/gaussian.h"
#include "likelihood/integers_likelihood.h"
#include "likelihood/realised.h"

#define HALF_LN_2_PI 0.91893853320467274
#define LN_2 0.69314718055994531
#define UNIT ((double)DECIMAL_UNIT)
#define EPS_MOST 64
#define MARGIN 5e-10 /* in ln delta: half of what the calibration leaves */

enum {
    SIGMA = 0,
    HALF_RATE = 1, /* 1 / 2 sigma^2 */
    LOG_Z = 2,     /* ln of the sum of e^(-x^2 / 2 sigma^2) */
};

/*
 * By direct sums where sigma is small; from 2 on, the sums are the integrals
 * but for a factor of 1 - 2 e^(-2 pi^2 sigma^2), nearer to 1 than doubles are.
 * Clamping moves a mean by at most E[(X - m)^+], m = c - l >= 16 sigma, which
 * is below sigma P(X >= m) <= sigma e^(-128).
 */
static void
init(struct likelihood_instance *at)
{
    const struct gaussian *channel = at->instance->own;
    double sigma = (double)channel->noise.t / DGAUSS_UNIT, z = 1, variance = 0;
    double half_rate = 1 / (2 * sigma * sigma);
    for (int x = 1; x < 32 && sigma < 2; x++) {
        double weight = 2 * maths_exp(-half_rate * x * x);
        z += weight;
        variance += weight * x * x;
    }
    at->own[SIGMA] = sigma;
    at->own[HALF_RATE] = half_rate;
    at->own[LOG_Z] = sigma < 2 ? maths_log(z) : HALF_LN_2_PI + maths_log(sigma);
    at->unit = 1;
    at->values = at->instance->size;
    at->variance_true = sigma < 2 ? variance / z : sigma * sigma;
    at->variance_other = at->variance_true;
    integers_set_ends(at);
    at->bias = sigma * maths_exp(-128);
}

/*
 * The sum of f(m+k)/f(m) over k >= 0 for f(x) = e^(-x^2 / 2 sigma^2), term by
 * term: its terms fall faster than e^(-k b), b = m/sigma^2.
 */
static double
tail_sum(const struct likelihood_instance *at, double m)
{
    double ratio = maths_exp(-at->own[HALF_RATE] * (2 * m + 1));
    double step = maths_exp(-2 * at->own[HALF_RATE]);
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
tail_integral(const struct likelihood_instance *at, double m)
{
    static const double bernoulli[] = {
        /* B_2j / (2j)! */
        1.0 / 12,       -1.0 / 720,     1.0 / 30240,
        -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0};
    double sigma = at->own[SIGMA], rate = 2 * at->own[HALF_RATE];
    double a = m / sigma;
    double term = sigma / a, sum = 0.5, before = 0, now = 1, next;
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
log_tail(const struct likelihood_instance *at, double m)
{
    bool steep = 2 * at->own[HALF_RATE] * m > 0.5;
    double sum = steep ? tail_sum(at, m) : tail_integral(at, m);
    return maths_log(sum) - at->own[HALF_RATE] * m * m - at->own[LOG_Z];
}

static void
log_p_many(const struct likelihood_instance *at, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    double half_rate = at->own[HALF_RATE], log_z = at->own[LOG_Z];
    uint32_t d = at->values;
    for (size_t j = 0; j < n; j++) {
        ret_log_p[j] = 0;
    }
    for (uint32_t i = 0; i < d; i++) {
        int64_t y = integers_at(integers_of(at), wire, i);
        bool clamped = integers_clamped(at, y);
        for (size_t j = 0; j < n && clamped; j++) {
            int64_t off = y - q[j * d + i];
            ret_log_p[j] += log_tail(at, (double)(y > 0 ? off : -off));
        }
        for (size_t j = 0; j < n && !clamped; j++) {
            double distance = (double)(y - q[j * d + i]);
            ret_log_p[j] -= half_rate * distance * distance + log_z;
        }
    }
}

static double
log_p(const struct likelihood_instance *at, const uint8_t *wire,
      const int32_t *q)
{
    double ret;
    log_p_many(at, wire, q, 1, &ret);
    return ret;
}

/*
 * An epsilon that rho-zCDP keeps with a given ln delta, for any gamma > 0
 * (channel/gaussian.c has the formula, solved for epsilon here).
 */
static double
eps_at(double rho, double log_delta, double gamma)
{
    double share = (1 + gamma) * maths_log(gamma / (1 + gamma));
    return (1 + gamma) * rho + (share - maths_log(gamma) - log_delta) / gamma;
}

/* The least of them, nearly. Those below any bound are of an interval of gamma,
   for ln delta is convex in it: a third can be left out each time. */
static double
least_eps(double rho, double log_delta)
{
    double low = -20, high = 18; /* of log2 gamma */
    for (int i = 0; i < 120; i++) {
        double third = (high - low) / 3;
        double left = eps_at(rho, log_delta, maths_exp(LN_2 * (low + third)));
        double right = eps_at(rho, log_delta, maths_exp(LN_2 * (high - third)));
        if (left < right) {
            high -= third;
        } else {
            low += third;
        }
    }
    return eps_at(rho, log_delta, maths_exp(LN_2 * low));
}

/* From t as the tables have it, by doubles as the calibration is: MARGIN covers
   what they round (channel/gaussian.c). What holds is the pair: an epsilon
   below the stated one is not claimed for it. */
static uint64_t
realise(const struct channel_instance *instance)
{
    const struct gaussian *gaussian = (const struct gaussian *)instance->own;
    double ratio = 2.0 * DGAUSS_UNIT * instance->l / gaussian->noise.t;
    double eps = least_eps(ratio * ratio / 2,
                           maths_log((double)instance->delta / UNIT) - MARGIN);
    int64_t reach = gaussian->integers.clamp + instance->l;
    uint64_t realised = (uint64_t)(eps > 0 ? eps * UNIT : 0) + 1;
    if (!realised_gaussian(&gaussian->noise) || !(eps < EPS_MOST) ||
        reach > (int64_t)gaussian->noise.noise.horizon) {
        return REALISED_NONE;
    }
    return realised > instance->eps ? realised : instance->eps;
}

const struct likelihood likelihood_gaussian = {
    .name = "gaussian",
    .init = init,
    .realised = realise,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = integers_estimate,
    .unpack = integers_unpack,
    .pack = integers_pack,
};
