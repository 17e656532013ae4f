/*
 * duchi_likelihood.c: what signs of a vector in a cube say.
 *
 * With R, A and b as channel/duchi.c has them,
 *
 *     ln p(t | q) = ln A + ln (1-h + (2h-1) P(t.v > 0 | q)),
 *     c = (2h-1) b / (1-R),   E[t_j | v] = c v_j,   E[t_j | q] = c q_j / l.
 */
#include "base/bytes.h"
#include "base/maths.h"
#include "channel/duchi.h"
#include "channel/odds.h"
#include "host/kernels.h"
#include "likelihood/chance.h"
#include "likelihood/likelihood.h"
#include "likelihood/realised.h"

#define LANES ((size_t)8) /* points side by side */

enum {
    OUT = 0,   /* 1 - h */
    GAP = 1,   /* 2h - 1 */
    LOG_A = 2, /* ln A */
    MEAN = 3,  /* c */
};

static void
init(struct likelihood_instance *at)
{
    uint32_t d = at->instance->size;
    double b = duchi_central(d & ~1u), l = at->instance->l, rejected;
    struct chance chance;
    struct odds odds;
    odds_init(&odds, at->instance->eps, 1, 1);
    chance_init(&chance, &odds);
    rejected = d % 2 == 0 ? chance.lead * b : 0;
    at->own[OUT] = chance.out;
    at->own[GAP] = chance.lead;
    at->own[LOG_A] = (double)(d - 1) * maths_log(0.5) - maths_log(1 - rejected);
    at->own[MEAN] = chance.lead * b / (1 - rejected);
    at->values = d;
    at->variance_true = l * l / (at->own[MEAN] * at->own[MEAN]);
    at->variance_other = at->variance_true;
    at->most = at->high = l / at->own[MEAN];
    at->low = -at->high;
    at->mean_high = l;
    at->mean_low = -l;
    at->unit = at->most;
}

static int32_t
sign_at(const uint8_t *wire, uint32_t j)
{
    return (wire[j / 8] >> (j % 8) & 1) != 0 ? 1 : -1;
}

/* The probabilities that v_j is t_j, at each of LANES points: the same for one
   repeated where there are fewer. */
struct odds_of_sign {
    double yes[LANES], no[LANES];
};

static inline __attribute__((always_inline)) void
find_odds(const struct channel_instance *instance, const uint8_t *wire,
          const int32_t *q, size_t n, uint32_t j, struct odds_of_sign *ret_odds)
{
    double l = instance->l, sign = sign_at(wire, j);
    for (size_t k = 0; k < LANES; k++) {
        double along = sign * q[(k < n ? k : 0) * instance->size + j];
        ret_odds->yes[k] = (l + along) / (2 * l);
        ret_odds->no[k] = (l - along) / (2 * l);
    }
}

/*
 * P(t.v > 0): that more than half of the v_j are t_j, which each is with
 * probability (l + t_j q_j)/2l. at[i] is the probability of i of them so far,
 * at[m] that of m or more. Sums of products of positive numbers: no digit is
 * lost but to rounding. LANES points are done side by side, each as if alone.
 */
static inline __attribute__((always_inline)) void
agreement_body(const struct channel_instance *instance, const uint8_t *wire,
               const int32_t *q, size_t n, double ret_p[LANES])
{
    double at[CHANNEL_D_MAX / 2 + 2][LANES];
    uint32_t m = instance->size / 2 + 1;
    for (size_t k = 0; k < LANES; k++) {
        at[0][k] = 1;
        at[m][k] = 0;
    }
    for (uint32_t j = 0; j < instance->size; j++) {
        uint32_t top = j + 1 < m ? j + 1 : m - 1;
        struct odds_of_sign odds;
        find_odds(instance, wire, q, n, j, &odds);
        for (size_t k = 0; k < LANES; k++) {
            at[j + 1 < m ? j + 1 : m][k] =
                j + 1 < m ? 0 : at[m][k] + at[m - 1][k] * odds.yes[k];
        }
        for (uint32_t i = top; i > 0; i--) {
            for (size_t k = 0; k < LANES; k++) {
                at[i][k] = at[i][k] * odds.no[k] + at[i - 1][k] * odds.yes[k];
            }
        }
        for (size_t k = 0; k < LANES; k++) {
            at[0][k] *= odds.no[k];
        }
    }
    for (size_t k = 0; k < LANES; k++) {
        ret_p[k] = at[m][k];
    }
}

struct agreement {
    void (*find)(const struct channel_instance *instance, const uint8_t *wire,
                 const int32_t *q, size_t n, double ret_p[LANES]);
};

/* The same, for one kind of processor: no product is fused with a sum, so all
   agree to the last bit. */
#define AGREEMENT(kind)                                                        \
    FOR_##kind static void agreement_##kind(                                   \
        const struct channel_instance *instance, const uint8_t *wire,          \
        const int32_t *q, size_t n, double ret_p[LANES])                       \
    {                                                                          \
        agreement_body(instance, wire, q, n, ret_p);                           \
    }                                                                          \
    static const struct agreement find_##kind = {agreement_##kind};

HOST_KERNELS(AGREEMENT)

static void
log_p_many(const struct likelihood_instance *at, const uint8_t *wire,
           const int32_t *q, size_t n, double *ret_log_p)
{
    const struct agreement *agreement = HOST_KERNEL_BEST(find);
    for (size_t i = 0; i < n; i += LANES) {
        size_t count = n - i < LANES ? n - i : LANES;
        double p[LANES];
        agreement->find(at->instance, wire, q + i * at->values, count, p);
        for (size_t k = 0; k < count; k++) {
            double all = at->own[OUT] + at->own[GAP] * p[k];
            ret_log_p[i + k] = at->own[LOG_A] + maths_log(all);
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

static void
estimate(const struct likelihood_instance *at, const uint8_t *wire,
         double *ret_estimate)
{
    double length = (double)at->instance->l / at->own[MEAN];
    for (uint32_t j = 0; j < at->values; j++) {
        ret_estimate[j] = sign_at(wire, j) * length;
    }
}

static void
unpack(const struct likelihood_instance *at, const uint8_t *wire,
       int64_t *ret_values)
{
    for (uint32_t j = 0; j < at->values; j++) {
        ret_values[j] = sign_at(wire, j);
    }
}

static bool
pack(const struct likelihood_instance *at, const int64_t *values,
     uint8_t *ret_wire)
{
    bytes_clear(ret_wire, at->instance->wire_size);
    for (uint32_t j = 0; j < at->values; j++) {
        if (values[j] != 1 && values[j] != -1) {
            return false;
        }
        ret_wire[j / 8] |= (uint8_t)((values[j] == 1) << (j % 8));
    }
    return true;
}

static uint64_t
realise(const struct channel_instance *instance)
{
    const struct duchi *duchi = (const struct duchi *)instance->own;
    return realised_signs(duchi->threshold, instance->size % 2 == 0,
                          instance->eps);
}

const struct likelihood likelihood_duchi = {
    .name = "duchi",
    .init = init,
    .realised = realise,
    .log_p = log_p,
    .log_p_many = log_p_many,
    .estimate = estimate,
    .unpack = unpack,
    .pack = pack,
};
