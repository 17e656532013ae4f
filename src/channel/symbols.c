/*
 * symbols.c: what flip and subset share.
 */
#include "channel/symbols.h"

#include "base/maths.h"

/*
 * With e = e^epsilon, rate_in = we/Z and rate_other = w(e(w-1)+k-w)/((k-1)Z),
 * Z = we+k-w, the variance of a rare symbol's estimate is
 *
 *     rate_other (1 - rate_other) / (rate_in - rate_other)^2
 *         = (k-e+aw)(k-1+aw) / (w (k-w) a^2),   a = e-1.
 *
 * Its numerator and denominator are quadratics in w; the minimum lies within
 * one of k/(e+1). Any w gives the same epsilon: doubles will do here.
 */
static double
variance_at(double k, double e, double w)
{
    double a = e - 1;
    return (k - e + a * w) * (k - 1 + a * w) / (w * (k - w));
}

uint32_t
symbols_best_w(uint32_t k, uint64_t eps)
{
    struct wide power;
    double e, least = 0;
    uint32_t best = 0, start;
    odds_exp(eps, &power);
    e = wide_double(&power);
    start = (uint32_t)((double)k / (e + 1));
    for (uint32_t w = start > 1 ? start - 1 : 1; w <= start + 2 && w < k; w++) {
        double variance = variance_at(k, e, w);
        if (best == 0 || variance < least) {
            best = w;
            least = variance;
        }
    }
    return best;
}

double
symbols_log_binomial(uint32_t n, uint32_t m)
{
    double sum = 0;
    if (m > n - m) {
        m = n - m;
    }
    for (uint32_t i = 0; i < m; i++) {
        sum += maths_log((double)(n - i) / (double)(i + 1));
    }
    return sum;
}

static void
set_moments(struct channel_instance *instance, struct symbols *symbols)
{
    double k = instance->size, w = symbols->w, gap;
    double in = symbols->odds.in, out = symbols->odds.out, other;
    other = (w - 1 + out) / (k - 1); /* (w-h)/(k-1), 1-h kept exact */
    symbols->rate_other = other;
    gap = in - other;
    instance->variance_true = in * out / (gap * gap);
    instance->variance_other = other * (1 - other) / (gap * gap);
    instance->bias = 0;
}

void
symbols_init(struct channel_instance *instance, struct symbols *symbols,
             uint32_t w)
{
    uint32_t k = instance->size;
    odds_init(&symbols->odds, instance->eps, w, k - w);
    symbols->w = w;
    symbols->log_in =
        maths_log(symbols->odds.in) - symbols_log_binomial(k - 1, w - 1);
    symbols->log_out =
        maths_log(symbols->odds.out) - symbols_log_binomial(k - 1, w);
    set_moments(instance, symbols);
}

bool
symbols_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    const struct symbols *own = symbols_of(instance);
    uint32_t count = 0;
    for (uint32_t i = 0; i < instance->size; i++) {
        count += own->names(instance, wire, i);
    }
    return count == own->w;
}

double
symbols_log_p(const struct channel_instance *instance, const uint8_t *wire,
              const int32_t *q)
{
    const struct symbols *own = symbols_of(instance);
    return own->names(instance, wire, (uint32_t)q[0]) ? own->log_in
                                                      : own->log_out;
}

void
symbols_log_p_many(const struct channel_instance *instance, const uint8_t *wire,
                   const int32_t *q, size_t n, double *ret_log_p)
{
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] = symbols_log_p(instance, wire, q + i);
    }
}

/* ([i named] - rate_other) / (rate_in - rate_other) has mean [i = q]. */
void
symbols_estimate(const struct channel_instance *instance, const uint8_t *wire,
                 double *ret_estimate)
{
    const struct symbols *own = symbols_of(instance);
    double gap = own->odds.in - own->rate_other;
    for (uint32_t i = 0; i < instance->size; i++) {
        double named = own->names(instance, wire, i);
        ret_estimate[i] = (named - own->rate_other) / gap;
    }
}

void
symbols_unpack(const struct channel_instance *instance, const uint8_t *wire,
               int64_t *ret_values)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        if (symbols_of(instance)->names(instance, wire, i)) {
            *ret_values++ = i;
        }
    }
}

bool
symbols_listed(const struct channel_instance *instance, const int64_t *values)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < instance->values; i++) {
        if (values[i] <= last || values[i] >= instance->size) {
            return false;
        }
        last = values[i];
    }
    return true;
}
