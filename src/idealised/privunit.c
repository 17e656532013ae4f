/*
 * privunit.c: a vector by its direction and its length. A report is the d
 * doubles of V and the level j in 4 bytes.
 */
#include "idealised/privunit.h"

#include <math.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "idealised/doubles.h"
#include "idealised/privunit_likelihood.h"

#define STEPS 60  /* golden sections */
#define UNIT 1e-9 /* how far |V|^2 may be from 1 */

/* ---- How epsilon is shared ---------------------------------------------- */

double
privunit_spread(struct privunit *own, enum cap_law law, uint32_t d, double eps,
                double share, uint32_t k)
{
    own->law = law;
    own->unused = 0;
    cap_init(&own->cap, law, d, share * eps);
    scalar_init(&own->scalar, eps - share * eps, k);
    return cap_second(&own->cap) * scalar_spread(&own->scalar);
}

/* The best share for k levels, of which there is one minimum. */
static double
best_share(struct privunit *own, enum cap_law law, uint32_t d, double eps,
           uint32_t k)
{
    const double ratio = 0.61803398874989484820458683436564;
    double low = 0, high = 1;
    for (int i = 0; i < STEPS; i++) {
        double left = high - ratio * (high - low);
        double right = low + ratio * (high - low);
        if (privunit_spread(own, law, d, eps, left, k) <
            privunit_spread(own, law, d, eps, right, k)) {
            high = right;
        } else {
            low = left;
        }
    }
    return (low + high) / 2;
}

/* More levels are better up to some number of them. */
static void
share_best(struct privunit *own, enum cap_law law, uint32_t d, double eps)
{
    struct privunit next;
    double least = INFINITY;
    for (uint32_t k = 1; k <= SCALAR_LEVELS_MOST; k++) {
        double share = best_share(&next, law, d, eps, k);
        double spread = privunit_spread(&next, law, d, eps, share, k);
        if (spread >= least) {
            break;
        }
        least = spread;
        *own = next;
    }
}

enum sotto_status
privunit_init(struct channel_instance *instance, struct privunit *own,
              enum cap_law law)
{
    double eps = (double)instance->eps / (double)DECIMAL_UNIT;
    uint32_t d = instance->size;
    if (d < 2) {
        return SOTTO_STATUS_LIMIT;
    }
    share_best(own, law, d, eps);
    instance->wire_size = 8 * d + 4;
    instance->entropy_size = 14 * (d + 3);
    return SOTTO_STATUS_OK;
}

/* ---- Sampling ----------------------------------------------------------- */

static double
norm_of(const int32_t *q, uint32_t d)
{
    double sum = 0;
    for (uint32_t j = 0; j < d; j++) {
        sum += (double)q[j] * q[j];
    }
    return sqrt(sum);
}

static double
radius_of(const struct channel_instance *instance, double norm)
{
    return fmin(norm / instance->l, 1);
}

/* w = <V, u>: in the cap with probability high h. */
static double
draw_along(const struct cap *cap, enum cap_law law, struct random *random)
{
    bool in = doubles_uniform(random) < cap->high * cap->tail;
    double u = doubles_uniform(random);
    double tail = in ? u * cap->tail : cap->tail + u * (1 - cap->tail);
    return cap_quantile(law, cap->d, tail);
}

/*
 * V = w u + v: a normal vector g less what of it is along u is one without
 * direction in u's complement, to be |v|^2 = 1 - w^2 long on the sphere, and of
 * covariance I/d in the normal law. Without a direction V is g itself.
 */
void
privunit_sample(const struct channel_instance *instance, const int32_t *q,
                struct random *random, uint8_t *ret_wire)
{
    const struct privunit *own = privunit_of(instance);
    uint32_t d = instance->size;
    double g[CHANNEL_D_MAX], norm = norm_of(q, d), w = 0, dot = 0, rest = 0;
    double scale = 1 / sqrt(d);
    doubles_normal(random, d, g);
    if (norm > 0) {
        w = draw_along(&own->cap, own->law, random);
        for (uint32_t j = 0; j < d; j++) {
            dot += g[j] * (q[j] / norm);
        }
    }
    for (uint32_t j = 0; j < d; j++) {
        g[j] -= norm > 0 ? dot * (q[j] / norm) : 0;
        rest += g[j] * g[j];
    }
    if (own->law == CAP_SPHERE) {
        scale = sqrt((1 - w * w) / rest);
    }
    for (uint32_t j = 0; j < d; j++) {
        double along = norm > 0 ? w * (q[j] / norm) : 0;
        doubles_store(ret_wire + 8 * (size_t)j, along + scale * g[j]);
    }
    bytes_store(ret_wire + 8 * (size_t)d, 4,
                scalar_draw(&own->scalar, radius_of(instance, norm), random));
}

bool
privunit_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    const struct privunit *own = privunit_of(instance);
    double sum = 0;
    for (uint32_t j = 0; j < instance->size; j++) {
        double v = doubles_load(wire + 8 * (size_t)j);
        sum += v * v;
    }
    return (own->law == CAP_SPHERE ? fabs(sum - 1) <= UNIT : isfinite(sum)) &&
           bytes_load(wire + 8 * (size_t)instance->size, 4) <= own->scalar.k;
}

/* ---- The likelihood ----------------------------------------------------- */

/* An entry's second moment, in units of l^2: along u, across, times the
   length's. */
static double
entry_second(const struct cap *cap, double share, double length)
{
    double across = (cap->size - cap->along) / (cap->d - 1.0);
    return (share * cap->along + (1 - share) * across) /
           (cap->mean * cap->mean) * length;
}

void
privunit_likelihood_init(struct likelihood_instance *at)
{
    const struct privunit *own = privunit_of(at->instance);
    const struct scalar *scalar = &own->scalar;
    double l = at->instance->l, longest = scalar_estimate(scalar, scalar->k);
    double second = fmax(scalar_second(scalar, 0), scalar_second(scalar, 1));
    at->values = at->instance->size + 1;
    at->variance_true = l * l *
                        fmax(entry_second(&own->cap, 0, second),
                             entry_second(&own->cap, 1, second));
    at->variance_other = at->variance_true;
    longest = fmax(longest, -scalar_estimate(scalar, 0));
    at->most = at->high =
        own->law == CAP_SPHERE ? l * longest / own->cap.mean : INFINITY;
    at->low = -at->high;
    at->mean_high = l;
    at->mean_low = -l;
}

/* Density with respect to the uniform law on the sphere, or to volume. */
static double
log_law(const struct channel_instance *instance, const uint8_t *wire)
{
    const double log_2pi = 1.8378770664093454835606594728112;
    double d = instance->size, sum = 0;
    if (privunit_of(instance)->law == CAP_SPHERE) {
        return 0;
    }
    for (uint32_t j = 0; j < instance->size; j++) {
        double v = doubles_load(wire + 8 * (size_t)j);
        sum += v * v;
    }
    return -d / 2 * (sum + log_2pi - log(d));
}

static double
log_p_given(const struct channel_instance *instance, const uint8_t *wire,
            double law, const int32_t *q)
{
    const struct privunit *own = privunit_of(instance);
    uint32_t d = instance->size;
    uint32_t j = (uint32_t)bytes_load(wire + 8 * (size_t)d, 4);
    double norm = norm_of(q, d), dot = 0;
    law += scalar_log_p(&own->scalar, j, radius_of(instance, norm));
    for (uint32_t i = 0; i < d; i++) {
        dot += doubles_load(wire + 8 * (size_t)i) * q[i];
    }
    return norm > 0 ? law + log(dot >= own->cap.gamma * norm ? own->cap.high
                                                             : own->cap.low)
                    : law;
}

double
privunit_likelihood_log_p(const struct likelihood_instance *at,
                          const uint8_t *wire, const int32_t *q)
{
    return log_p_given(at->instance, wire, log_law(at->instance, wire), q);
}

void
privunit_likelihood_log_p_many(const struct likelihood_instance *at,
                               const uint8_t *wire, const int32_t *q, size_t n,
                               double *ret_log_p)
{
    double law = log_law(at->instance, wire);
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] =
            log_p_given(at->instance, wire, law, q + i * at->instance->size);
    }
}

void
privunit_likelihood_estimate(const struct likelihood_instance *at,
                             const uint8_t *wire, double *ret_estimate)
{
    const struct privunit *own = privunit_of(at->instance);
    uint32_t d = at->instance->size;
    uint32_t level = (uint32_t)bytes_load(wire + 8 * (size_t)d, 4);
    double scale =
        at->instance->l * scalar_estimate(&own->scalar, level) / own->cap.mean;
    for (uint32_t j = 0; j < d; j++) {
        ret_estimate[j] = scale * doubles_load(wire + 8 * (size_t)j);
    }
}

void
privunit_likelihood_unpack(const struct likelihood_instance *at,
                           const uint8_t *wire, int64_t *ret_values)
{
    uint32_t d = at->instance->size;
    for (uint32_t j = 0; j < d; j++) {
        ret_values[j] = doubles_bits(doubles_load(wire + 8 * (size_t)j));
    }
    ret_values[d] = (int64_t)bytes_load(wire + 8 * (size_t)d, 4);
}

bool
privunit_likelihood_pack(const struct likelihood_instance *at,
                         const int64_t *values, uint8_t *ret_wire)
{
    uint32_t d = at->instance->size;
    if (values[d] < 0 || values[d] > UINT32_MAX) {
        return false;
    }
    for (uint32_t j = 0; j < d; j++) {
        doubles_store(ret_wire + 8 * (size_t)j, doubles_of_bits(values[j]));
    }
    bytes_store(ret_wire + 8 * (size_t)d, 4, (uint64_t)values[d]);
    return privunit_valid(at->instance, ret_wire);
}

double
privunit_variance(const struct likelihood_instance *at, const int32_t *q)
{
    const struct privunit *own = privunit_of(at->instance);
    double l = at->instance->l;
    double r = radius_of(at->instance, norm_of(q, at->instance->size));
    double size = r > 0 ? own->cap.size : 1; /* of V without a direction */
    return l * l *
           (size / (own->cap.mean * own->cap.mean) *
                scalar_second(&own->scalar, r) -
            r * r);
}
