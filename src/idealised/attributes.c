/*
 * attributes.c: a few attributes of a vector in a cube, each through a channel
 * for one number, and what such a report says.
 */
#include "idealised/attributes.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/decimal.h"
#include "idealised/attributes_likelihood.h"
#include "idealised/doubles.h"
#include "random/draw.h"
#include "random/subsets.h"

#define ATTRIBUTES_EPS 2.5 /* Wang and others 2019, Eq. 12 */

/* ---- One number --------------------------------------------------------- */

/* l(x). */
static double
left_of(const struct attributes *own, double x)
{
    return ((own->C + 1) * x - (own->C - 1)) / 2;
}

static double
draw_piecewise(const struct attributes *own, double x, struct random *random)
{
    double u = doubles_uniform(random), left = left_of(own, x);
    if (doubles_uniform(random) < own->centre) {
        return left + u * (own->C - 1);
    }
    u *= own->C + 1; /* the length of the rest: left + C, and then the other */
    return u < left + own->C ? u - own->C : u - 1;
}

double
attributes_draw(const struct attributes *own, double x, struct random *random)
{
    if (doubles_uniform(random) < own->alpha) {
        return draw_piecewise(own, x, random);
    }
    return doubles_uniform(random) < (1 + x / own->D) / 2 ? own->D : -own->D;
}

double
attributes_log_p(const struct attributes *own, double t, double x)
{
    double left = left_of(own, x);
    if (own->alpha < 1 && fabs(t) == own->D) {
        double along = t > 0 ? x : -x;
        return log((1 - own->alpha) * (1 + along / own->D) / 2);
    }
    return t >= left && t <= left + (own->C - 1) ? own->log_in : own->log_out;
}

/* Var = x^2 / (e^(eps/2) - 1) + (e^(eps/2) + 3) / (3 (e^(eps/2) - 1)^2) of the
   piecewise one, D^2 - x^2 of Duchi's. */
double
attributes_second(const struct attributes *own, double x)
{
    double less = expm1(own->eps / 2);
    double piecewise = x * x + x * x / less + (less + 4) / (3 * less * less);
    return own->alpha * piecewise + (1 - own->alpha) * own->D * own->D;
}

/* ---- The channel -------------------------------------------------------- */

uint32_t
attributes_k(const struct channel_instance *instance)
{
    double k =
        floor((double)instance->eps / (double)DECIMAL_UNIT / ATTRIBUTES_EPS);
    return k < 1                        ? 1
           : k < (double)instance->size ? (uint32_t)k
                                        : instance->size;
}

static double
log_subsets(uint32_t d, uint32_t k)
{
    double log_count = 0;
    for (uint32_t i = 0; i < k; i++) {
        log_count += log((double)(d - i) / (k - i));
    }
    return log_count;
}

void
attributes_init(struct channel_instance *instance, struct attributes *own,
                uint32_t k, double alpha)
{
    double eps = (double)instance->eps / (double)DECIMAL_UNIT / k;
    double root = exp(eps / 2), p = -expm1(-eps / 2) / (2 * root + 2);
    *own = (struct attributes){
        .eps = eps,
        .alpha = alpha,
        .C = (root + 1) / expm1(eps / 2),
        .D = (exp(eps) + 1) / expm1(eps),
        .centre = root / (root + 1),
        .log_in = log(alpha * p) + eps,
        .log_out = log(alpha * p),
        .log_subset = -log_subsets(instance->size, k),
        .k = k,
    };
    instance->wire_size = k * ATTRIBUTES_ENTRY;
    instance->entropy_size = instance->size * DRAW_BELOW_SIZE + k * 24;
}

void
attributes_sample(const struct channel_instance *instance, const int32_t *q,
                  struct random *random, uint8_t *ret_wire)
{
    const struct attributes *own = attributes_of(instance);
    uint8_t chosen[(CHANNEL_D_MAX + 7) / 8];
    subsets_draw(random, instance->size, own->k, chosen);
    for (uint32_t j = 0; j < instance->size; j++) {
        if ((chosen[j / 8] >> (j % 8) & 1) != 0) {
            double x = (double)q[j] / instance->l;
            bytes_store(ret_wire, 4, j);
            doubles_store(ret_wire + 4, attributes_draw(own, x, random));
            ret_wire += ATTRIBUTES_ENTRY;
        }
    }
}

bool
attributes_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    const struct attributes *own = attributes_of(instance);
    uint64_t least = 0;
    for (uint32_t i = 0; i < own->k; i++, wire += ATTRIBUTES_ENTRY) {
        uint64_t j = bytes_load(wire, 4);
        double t = doubles_load(wire + 4);
        bool atom = own->alpha < 1 && fabs(t) == own->D;
        bool piece = own->alpha > 0 && fabs(t) <= own->C * (1 + 1e-12);
        if (j < least || j >= instance->size || !(atom || piece)) {
            return false;
        }
        least = j + 1;
    }
    return true;
}

/* ---- The likelihood ----------------------------------------------------- */

/* The variance of one entry's estimate, in units of l^2. */
static double
entry_variance(const struct channel_instance *instance, double x)
{
    const struct attributes *own = attributes_of(instance);
    double scale = (double)instance->size / own->k;
    return scale * attributes_second(own, x) - x * x;
}

void
attributes_likelihood_init(struct likelihood_instance *at)
{
    const struct channel_instance *instance = at->instance;
    const struct attributes *own = attributes_of(instance);
    double l = instance->l, t = own->alpha > 0 ? own->C : own->D;
    at->values = 2 * own->k;
    at->variance_true =
        l * l * fmax(entry_variance(instance, 0), entry_variance(instance, 1));
    at->variance_other = at->variance_true;
    at->most = at->high = l * t * instance->size / own->k;
    at->low = -at->high;
    at->mean_high = l;
    at->mean_low = -l;
}

double
attributes_likelihood_log_p(const struct likelihood_instance *at,
                            const uint8_t *wire, const int32_t *q)
{
    const struct attributes *own = attributes_of(at->instance);
    double sum = own->log_subset;
    for (uint32_t i = 0; i < own->k; i++, wire += ATTRIBUTES_ENTRY) {
        double x = (double)q[bytes_load(wire, 4)] / at->instance->l;
        sum += attributes_log_p(own, doubles_load(wire + 4), x);
    }
    return sum;
}

void
attributes_likelihood_log_p_many(const struct likelihood_instance *at,
                                 const uint8_t *wire, const int32_t *q,
                                 size_t n, double *ret_log_p)
{
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] =
            attributes_likelihood_log_p(at, wire, q + i * at->instance->size);
    }
}

void
attributes_likelihood_estimate(const struct likelihood_instance *at,
                               const uint8_t *wire, double *ret_estimate)
{
    const struct attributes *own = attributes_of(at->instance);
    double scale = (double)at->instance->l * at->instance->size / own->k;
    memset(ret_estimate, 0, at->instance->size * sizeof *ret_estimate);
    for (uint32_t i = 0; i < own->k; i++, wire += ATTRIBUTES_ENTRY) {
        ret_estimate[bytes_load(wire, 4)] = scale * doubles_load(wire + 4);
    }
}

void
attributes_likelihood_unpack(const struct likelihood_instance *at,
                             const uint8_t *wire, int64_t *ret_values)
{
    for (uint32_t i = 0; i < at->values; i += 2, wire += ATTRIBUTES_ENTRY) {
        ret_values[i] = (int64_t)bytes_load(wire, 4);
        ret_values[i + 1] = doubles_bits(doubles_load(wire + 4));
    }
}

bool
attributes_likelihood_pack(const struct likelihood_instance *at,
                           const int64_t *values, uint8_t *ret_wire)
{
    uint8_t *to = ret_wire;
    for (uint32_t i = 0; i < at->values; i += 2, to += ATTRIBUTES_ENTRY) {
        if (values[i] < 0 || values[i] >= (int64_t)at->instance->size) {
            return false;
        }
        bytes_store(to, 4, (uint64_t)values[i]);
        doubles_store(to + 4, doubles_of_bits(values[i + 1]));
    }
    return attributes_valid(at->instance, ret_wire);
}

double
attributes_variance(const struct likelihood_instance *at, const int32_t *q)
{
    double l = at->instance->l, sum = 0;
    for (uint32_t j = 0; j < at->instance->size; j++) {
        sum += entry_variance(at->instance, q[j] / l);
    }
    return sum * l * l;
}
