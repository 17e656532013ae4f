/*
 * symbols.c: what flip and subset share.
 */
#include "channel/symbols.h"

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

void
symbols_init(struct channel_instance *instance, struct symbols *symbols,
             uint32_t w)
{
    odds_init(&symbols->odds, instance->eps, w, instance->size - w);
    symbols->w = w;
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
