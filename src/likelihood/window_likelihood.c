/*
 * window_likelihood.c: what a number that lies near the true one says.
 *
 * All y sum to 0 and those near q to m q, so with e = e^epsilon and
 * Z = me + n, E[y | q] = g q, g = m (e-1) / Z, and y/g is unbiased.
 */
#include "base/bytes.h"
#include "base/maths.h"
#include "channel/window.h"
#include "likelihood/chance.h"
#include "likelihood/likelihood.h"
#include "likelihood/realised.h"

enum {
    MEAN = 0,     /* g */
    LOG_NEAR = 1, /* ln h/m */
    LOG_FAR = 2,  /* ln (1-h)/n */
};

static const struct window *
window_of(const struct likelihood_instance *at)
{
    return (const struct window *)at->instance->own;
}

static void
init(struct likelihood_instance *at)
{
    const struct window *window = window_of(at);
    double a = window_excess(at->instance->eps);
    double m = 2.0 * window->w + 1, n = 2.0 * at->instance->l;
    struct chance chance;
    chance_init(&chance, &window->odds);
    at->own[MEAN] = m * a / (m * (a + 1) + n);
    at->own[LOG_NEAR] = maths_log(chance.in / m);
    at->own[LOG_FAR] = maths_log(chance.out / n);
    at->values = 1;
    at->variance_true = window_variance(at->instance->l, window->w, a);
    at->variance_other = at->variance_true;
    at->unit = 1 / at->own[MEAN];
    at->most = ((double)at->instance->l + window->w) / at->own[MEAN];
    at->high = at->most;
    at->low = -at->most;
    at->mean_high = at->instance->l;
    at->mean_low = -at->mean_high;
}

static int64_t
value_of(const struct likelihood_instance *at, const uint8_t *wire)
{
    return window_value(at->instance, wire);
}

static double
log_p(const struct likelihood_instance *at, const uint8_t *wire,
      const int32_t *q)
{
    int64_t off = value_of(at, wire) - q[0], w = window_of(at)->w;
    return at->own[off <= w && off >= -w ? LOG_NEAR : LOG_FAR];
}

static void
log_p_many(const struct likelihood_instance *at, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] = log_p(at, wire, q + i);
    }
}

static void
estimate(const struct likelihood_instance *at, const uint8_t *wire,
         double *ret_estimate)
{
    ret_estimate[0] = (double)value_of(at, wire) / at->own[MEAN];
}

static void
unpack(const struct likelihood_instance *at, const uint8_t *wire,
       int64_t *ret_values)
{
    ret_values[0] = value_of(at, wire);
}

/* A number too long for the wire comes back as another. */
static bool
pack(const struct likelihood_instance *at, const int64_t *values,
     uint8_t *ret_wire)
{
    bytes_store(ret_wire, at->instance->wire_size, (uint64_t)values[0]);
    return value_of(at, ret_wire) == values[0] &&
           at->instance->channel->valid(at->instance, ret_wire);
}

static uint64_t
realise(const struct channel_instance *instance)
{
    const struct window *window = (const struct window *)instance->own;
    return realised_odds(&window->odds, 2 * window->w + 1, 2 * instance->l,
                         instance->eps);
}

const struct likelihood likelihood_window = {
    .name = "window",
    .init = init,
    .realised = realise,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
};
