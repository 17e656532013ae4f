/*
 * window.c: one number, sent as one that lies near it some of the time.
 *
 * q in {-l, ..., l}; a report is y in {-l-w, ..., l+w}, of which m = 2w+1 lie
 * within w of q and n = 2l do not. y is near with probability h and uniform
 * there, else uniform on the others:
 *
 *     p(y | q) = h / m         if |y - q| <= w,
 *                (1-h) / n     if not,        h = floor_256(mE / (mE + n)),
 *
 * so the largest ratio is h n / ((1-h) m) <= E <= e^epsilon (odds.h), for every
 * w. The square wave of Li et al. on integers. A report is an integer of 2 or 4
 * bytes, two's complement, little-endian.
 * Theorem and proof: docs/proofs.md#window.
 */
#include "channel/window.h"

#include "base/bytes.h"
#include "base/wide.h"

static const struct window *
own_of(const struct channel_instance *instance)
{
    return (const struct window *)instance->own;
}

double
window_excess(uint64_t eps)
{
    struct wide power, one;
    odds_exp(eps, &power);
    wide_ratio(1, 1, &one);
    wide_subtract(&power, &one, &power);
    return wide_double(&power);
}

/*
 * With e = e^epsilon, a = e-1, Z = me + n and g = m a / Z, E[y | q] = g q. The
 * variance of y/g at q = +-l, where it is largest, with S(w) =
 * m (m^2-1)/12 is the sum of squares of {-w, ..., w}:
 *
 *     Z (S(l+w) + a S(w)) / (m a)^2 + l^2 (m+n) / (m a)
 *
 * Multiplied out, it is a sum of m^2, m, 1, 1/m and 1/m^2 with coefficients
 * that are positive but for that of 1: convex in w. As epsilon goes to 0 it is
 * least at w = l, and at smaller w for larger epsilon.
 */
double
window_variance(uint32_t l, uint32_t w, double a)
{
    double m = 2.0 * w + 1, n = 2.0 * l, all = m + n;
    double z = m * (a + 1) + n;
    double squares = (all * (all * all - 1) + a * m * (m * m - 1)) / 12;
    return (z * squares / (m * a) + n * n / 4 * all) / (m * a);
}

/* The w with the least variance: the first that one more does not improve.
   Any w gives the same epsilon: doubles will do here. */
static uint32_t
best_w(uint32_t l, double a)
{
    uint32_t low = 0, high = 2 * l;
    while (low < high) {
        uint32_t w = low + (high - low) / 2;
        if (window_variance(l, w + 1, a) < window_variance(l, w, a)) {
            low = w + 1;
        } else {
            high = w;
        }
    }
    return low;
}

static enum sotto_status
init(struct channel_instance *instance, void *memory)
{
    struct window *own = (struct window *)memory;
    own->w = best_w(instance->l, window_excess(instance->eps));
    odds_init(&own->odds, instance->eps, 2 * own->w + 1, 2 * instance->l);
    instance->wire_size = instance->l + own->w <= INT16_MAX ? 2 : 4;
    instance->entropy_size = ODDS_DRAW_SIZE + 2 * DRAW_BELOW_SIZE;
    return SOTTO_STATUS_OK;
}

/* Both a near and a far one are drawn, counted from -l-w; one is taken. The
   far ones are numbered as if those near q were not there. */
static void
sample(const struct channel_instance *instance, const int32_t *q,
       struct random *random, uint8_t *ret_wire)
{
    const struct window *own = own_of(instance);
    uint32_t m = 2 * own->w + 1;
    uint32_t first = instance->l + (uint32_t)q[0]; /* of those near */
    uint32_t hit = odds_draw(&own->odds, random);
    uint32_t near = first + draw_below(random, m);
    uint32_t far = draw_below(random, 2 * instance->l);
    uint32_t y;
    far += m & (((far - first) >> 31) - 1);
    y = far ^ ((far ^ near) & (0 - hit));
    bytes_store(ret_wire, instance->wire_size, y - instance->l - own->w);
}

int64_t
window_value(const struct channel_instance *instance, const uint8_t *wire)
{
    uint32_t bits = (uint32_t)bytes_load(wire, instance->wire_size);
    return instance->wire_size == 2 ? (int16_t)bits : (int32_t)bits;
}

static bool
valid(const struct channel_instance *instance, const uint8_t *wire)
{
    int64_t y = window_value(instance, wire);
    int64_t most = (int64_t)instance->l + own_of(instance)->w;
    return y >= -most && y <= most;
}

const struct channel channel_window = {
    .name = "window",
    .domain = CHANNEL_DOMAIN_LATTICE,
    .promise = "a number near the true one is sent only some of the time; "
               "otherwise one further away is drawn by lot",
    .scalar = true,
    .own_size = sizeof(struct window),
    .init = init,
    .sample = sample,
    .valid = valid,
};
