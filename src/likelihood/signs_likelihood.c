/*
 * signs_likelihood.c: what one randomised bit about a pair says.
 *
 * With a, b and A as channel/signs.c has them, E[a_i a_j] = -1/(n-1), so with
 * lambda = n/(n-1), P = I - J/k, and g = 2h-1,
 *
 *     E[P_1 a b' P_2 | c, y] = g lambda_1 lambda_2 P_1 e_c e_y' P_2:
 *
 * it is the interaction of the two factors that a report tells of, and the
 * estimate of the indicator of (i, j) is
 *
 *     (a_i - mean a)(b_j - mean b) / (g lambda_1 lambda_2) + 1/k,
 *
 * whose mean is [c=i, y=j] - [c=i]/k_2 - [y=j]/k_1 + 2/k.
 */
#include "base/bytes.h"
#include "base/maths.h"
#include "channel/signs.h"
#include "likelihood/chance.h"
#include "likelihood/naming.h"
#include "likelihood/realised.h"
#include "likelihood/symbols_likelihood.h"

#define SCALE SYMBOLS_GAP /* 1 / (g lambda_1 lambda_2) */

static const struct signs *
signs_of(const struct likelihood_instance *at)
{
    return (const struct signs *)at->instance->own;
}

/*
 * With lambda = n/(n-1), n - 1 = signs_drawn(k), the mean of (a_i - mean a)^2
 * is 1 for even k and 1 - 1/k^2 for odd: over lambda^2 that is spread(k). The
 * estimate's mean square about 1/k is the product of both over g^2; its mean
 * about 1/k is (1 - 1/k_1)(1 - 1/k_2) for the truth and at least 1/k in size
 * for the others.
 */
static double
spread(double k, uint32_t odd)
{
    return odd != 0 ? (k - 1) / (k + 1) : (k - 1) * (k - 1) / (k * k);
}

/* An entry's factors are 1 in size, or 1 + 1/k for odd k, of either sign. Of an
   honest device its mean is one of four: the pair is the truth, shares its code
   or its label, or neither. */
static void
set_ends(struct likelihood_instance *at, const struct signs *signs)
{
    double k = at->instance->size, k1 = signs->k[0], k2 = signs->k[1];
    double size = at->own[SCALE] * (1 + signs->k[0] % 2 / k1) *
                  (1 + signs->k[1] % 2 / k2);
    double both = 1 - 1 / k1 - 1 / k2 + 2 / k;
    at->low = 1 / k - size;
    at->high = 1 / k + size;
    at->most = at->high;
    at->mean_low = 2 / k - (k1 < k2 ? 1 / k1 : 1 / k2);
    at->mean_high = both > 2 / k ? both : 2 / k;
}

static void
set_moments(struct likelihood_instance *at, const struct signs *signs,
            double gap)
{
    double k = at->instance->size, k1 = signs->k[0], k2 = signs->k[1];
    double mean = (k1 - 1) * (k2 - 1) / k;
    double square =
        spread(k1, signs->k[0] % 2) * spread(k2, signs->k[1] % 2) / (gap * gap);
    double n1 = signs_drawn(signs->k[0]), n2 = signs_drawn(signs->k[1]);
    at->own[SCALE] = n1 / (n1 + 1) * (n2 / (n2 + 1)) / gap;
    at->variance_true = square - mean * mean;
    at->variance_other = square - 1 / (k * k);
    at->bias = (k1 + k2 - 2) / k;
    set_ends(at, signs);
}

static void
init(struct likelihood_instance *at)
{
    const struct signs *signs = signs_of(at);
    struct chance chance;
    double log_a = 0;
    chance_init(&chance, &signs->symbols.odds);
    for (int i = 0; i < 2; i++) {
        uint32_t n = signs_drawn(signs->k[i]);
        log_a -= symbols_log_binomial(n, n / 2);
    }
    at->values = signs->k[0] + signs->k[1];
    at->own[SYMBOLS_LOG_IN] = maths_log(chance.in) + log_a;
    at->own[SYMBOLS_LOG_OUT] = maths_log(chance.out) + log_a;
    set_moments(at, signs, chance.lead);
}

/* Reads sign i of a and b, one behind the other. */
static int32_t
sign_at(const struct likelihood_instance *at, const uint8_t *wire, uint32_t i)
{
    const struct signs *signs = signs_of(at);
    uint32_t k1 = signs->k[0], j = i < k1 ? i : i - k1;
    const uint8_t *bitmap = i < k1 ? wire : wire + signs->bytes;
    return (bitmap[j / 8] >> (j % 8) & 1) != 0 ? 1 : -1;
}

/* The mean of k signs from the first on. */
static double
mean_sign(const struct likelihood_instance *at, const uint8_t *wire,
          uint32_t first, uint32_t k)
{
    uint32_t plus = 0;
    for (uint32_t i = first; i < first + k; i++) {
        plus += sign_at(at, wire, i) > 0;
    }
    return 2.0 * plus / k - 1;
}

static void
estimate(const struct likelihood_instance *at, const uint8_t *wire,
         double *ret_estimate)
{
    uint32_t k1 = signs_of(at)->k[0], k2 = signs_of(at)->k[1];
    double mean_a = mean_sign(at, wire, 0, k1);
    double mean_b = mean_sign(at, wire, k1, k2);
    for (uint32_t i = 0; i < k1; i++) {
        double row = at->own[SCALE] * (sign_at(at, wire, i) - mean_a);
        for (uint32_t j = 0; j < k2; j++) {
            *ret_estimate++ = row * (sign_at(at, wire, k1 + j) - mean_b) +
                              1.0 / at->instance->size;
        }
    }
}

static void
unpack(const struct likelihood_instance *at, const uint8_t *wire,
       int64_t *ret_values)
{
    for (uint32_t i = 0; i < at->values; i++) {
        ret_values[i] = sign_at(at, wire, i);
    }
}

static bool
pack(const struct likelihood_instance *at, const int64_t *values,
     uint8_t *ret_wire)
{
    const struct signs *signs = signs_of(at);
    bytes_clear(ret_wire, at->instance->wire_size);
    for (uint32_t i = 0; i < at->values; i++) {
        bool second = i >= signs->k[0];
        uint32_t j = second ? i - signs->k[0] : i;
        if (values[i] != 1 && values[i] != -1) {
            return false;
        }
        ret_wire[j / 8 + (second ? signs->bytes : 0)] |=
            (uint8_t)((values[i] == 1) << (j % 8));
    }
    return at->instance->channel->valid(at->instance, ret_wire);
}

static void
count_named(const struct likelihood_instance *at, const uint8_t *wire,
            size_t stride, size_t n, uint64_t *count)
{
    const struct signs *signs = signs_of(at);
    const struct naming reports = {wire, stride, n};
    naming_count_pairs(&reports, signs->bytes, signs->k, count);
}

/* With m_ij the mean of a_i b_j, 2 count / n - 1: the mean of (a_i - mean a)
   (b_j - mean b) is m_ij less the mean of its row, and of what is left the mean
   of its column. */
static void
mean(const struct likelihood_instance *at, const uint64_t *count, uint64_t n,
     double *ret_mean)
{
    uint32_t k1 = signs_of(at)->k[0], k2 = signs_of(at)->k[1];
    double each = 1.0 / at->instance->size;
    for (uint32_t i = 0; i < k1 * k2; i++) {
        ret_mean[i] = n > 0 ? 2 * (double)count[i] / (double)n - 1 : 0;
    }
    for (uint32_t i = 0; i < k1; i++) {
        double row = 0;
        for (uint32_t j = 0; j < k2; j++) {
            row += ret_mean[i * k2 + j] / k2;
        }
        for (uint32_t j = 0; j < k2; j++) {
            ret_mean[i * k2 + j] -= row;
        }
    }
    for (uint32_t j = 0; j < k2; j++) {
        double column = 0;
        for (uint32_t i = 0; i < k1; i++) {
            column += ret_mean[i * k2 + j] / k1;
        }
        for (uint32_t i = 0; i < k1; i++) {
            double *entry = &ret_mean[i * k2 + j];
            *entry = at->own[SCALE] * (*entry - column) + each;
        }
    }
}

static uint64_t
realise(const struct channel_instance *instance)
{
    const struct signs *signs = (const struct signs *)instance->own;
    return realised_odds(&signs->symbols.odds, 1, 1, instance->eps);
}

const struct likelihood likelihood_signs = {
    .name = "signs",
    .init = init,
    .realised = realise,
    .log_p = symbols_log_p,
    .log_p_many = symbols_log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
    .count = count_named,
    .mean = mean,
};
