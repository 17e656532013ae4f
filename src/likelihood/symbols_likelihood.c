/*
 * symbols_likelihood.c: what reports that name symbols say.
 */
#include "likelihood/symbols_likelihood.h"

#include "base/maths.h"
#include "likelihood/chance.h"
#include "likelihood/realised.h"

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

void
symbols_likelihood_init(struct likelihood_instance *at)
{
    const struct symbols *symbols = symbols_of(at->instance);
    uint32_t k = at->instance->size, w = symbols->w;
    struct chance chance;
    double other, gap;
    chance_init(&chance, &symbols->odds);
    other = (w - 1 + chance.out) / (k - 1.0); /* (w-h)/(k-1), 1-h kept exact */
    gap = chance.in - other;
    at->values = w;
    at->variance_true = chance.in * chance.out / (gap * gap);
    at->variance_other = other * (1 - other) / (gap * gap);
    at->low = -other / gap;
    at->high = (1 - other) / gap;
    at->most = other < 0.5 ? at->high : -at->low;
    at->mean_low = 0;
    at->mean_high = 1;
    at->own[SYMBOLS_LOG_IN] =
        maths_log(chance.in) - symbols_log_binomial(k - 1, w - 1);
    at->own[SYMBOLS_LOG_OUT] =
        maths_log(chance.out) - symbols_log_binomial(k - 1, w);
    at->own[SYMBOLS_GAP] = gap;
    at->own[SYMBOLS_RATE_OTHER] = other;
}

uint64_t
symbols_realised(const struct channel_instance *instance)
{
    const struct symbols *symbols = symbols_of(instance);
    return realised_odds(&symbols->odds, symbols->w,
                         instance->size - symbols->w, instance->eps);
}

static uint32_t
is_named(const struct likelihood_instance *at, const uint8_t *wire, uint32_t i)
{
    return symbols_of(at->instance)->names(at->instance, wire, i);
}

double
symbols_log_p(const struct likelihood_instance *at, const uint8_t *wire,
              const int32_t *q)
{
    bool in = is_named(at, wire, (uint32_t)q[0]) != 0;
    return at->own[in ? SYMBOLS_LOG_IN : SYMBOLS_LOG_OUT];
}

void
symbols_log_p_many(const struct likelihood_instance *at, const uint8_t *wire,
                   const int32_t *q, size_t n, double *ret_log_p)
{
    for (size_t i = 0; i < n; i++) {
        ret_log_p[i] = symbols_log_p(at, wire, q + i);
    }
}

/* ([i named] - rate_other) / (rate_in - rate_other) has mean [i = q]. */
void
symbols_estimate(const struct likelihood_instance *at, const uint8_t *wire,
                 double *ret_estimate)
{
    for (uint32_t i = 0; i < at->instance->size; i++) {
        ret_estimate[i] =
            (is_named(at, wire, i) - at->own[SYMBOLS_RATE_OTHER]) /
            at->own[SYMBOLS_GAP];
    }
}

void
symbols_mean(const struct likelihood_instance *at, const uint64_t *count,
             uint64_t n, double *ret_mean)
{
    for (uint32_t i = 0; i < at->instance->size; i++) {
        double named = n > 0 ? (double)count[i] / (double)n : 0;
        ret_mean[i] =
            (named - at->own[SYMBOLS_RATE_OTHER]) / at->own[SYMBOLS_GAP];
    }
}

void
symbols_unpack(const struct likelihood_instance *at, const uint8_t *wire,
               int64_t *ret_values)
{
    for (uint32_t i = 0; i < at->instance->size; i++) {
        if (is_named(at, wire, i)) {
            *ret_values++ = i;
        }
    }
}

bool
symbols_listed(const struct likelihood_instance *at, const int64_t *values)
{
    int64_t last = -1;
    for (uint32_t i = 0; i < at->values; i++) {
        if (values[i] <= last || values[i] >= at->instance->size) {
            return false;
        }
        last = values[i];
    }
    return true;
}
