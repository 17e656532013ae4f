/*
 * mutants_noise.h: broken samplers that add noise: laplace, gaussian.
 */
#ifndef SOTTO_TESTS_MUTANTS_NOISE_H
#define SOTTO_TESTS_MUTANTS_NOISE_H

#include <math.h>

#include "base/bytes.h"
#include "channel/integers.h"
#include "privacy/mutant.h"
#include "random/dgauss.h"
#include "random/dlaplace.h"
#include "random/draw.h"

/* ---- The wrong amount ---------------------------------------------------- */

static enum sotto_status
root_two_init(struct channel_instance *instance, void *memory)
{
    double eps = (double)instance->eps * sqrt(2);
    return twin_init(&channel_laplace, instance, memory, (uint64_t)eps);
}

static enum sotto_status
half_sensitivity_init(struct channel_instance *instance, void *memory)
{
    return twin_init(&channel_laplace, instance, memory, 2 * instance->eps);
}

/* To one digit after the point: 0.55 becomes 0.6. */
static enum sotto_status
rounded_init(struct channel_instance *instance, void *memory)
{
    uint64_t digit = DECIMAL_UNIT / 10;
    uint64_t eps = (instance->eps + digit - 1) / digit * digit;
    return twin_init(&channel_laplace, instance, memory, eps);
}

static void
laplace_twin_sample(const struct channel_instance *instance, const int32_t *q,
                    struct random *random, uint8_t *ret_wire)
{
    twin_sample(&channel_laplace, instance, q, random, ret_wire);
}

/* ---- The wrong shape ----------------------------------------------------- */

/* The channel's noise, again: its own struct is its own affair. */
static enum sotto_status
noise_init(struct channel_instance *instance, void *memory)
{
    struct dlaplace *noise = extra_at(&channel_laplace, memory);
    dlaplace_init(noise, instance->l, instance->eps);
    return channel_laplace.init(instance, memory);
}

static int64_t
draw_noise(const struct channel_instance *instance, struct random *random)
{
    const struct dlaplace *noise = extra_at(&channel_laplace, instance->own);
    struct draw_tables tables;
    draw_tables(random, noise->threshold, noise->count, &tables);
    return dlaplace_draw(noise, random, &tables);
}

static void
put(const struct channel_instance *instance, uint8_t *wire, uint32_t i,
    int64_t y)
{
    integers_put((const struct integers *)instance->own, wire, i, y);
}

/* Noise is cut so that the sum always fits. */
static void
clamped_noise_sample(const struct channel_instance *instance, const int32_t *q,
                     struct random *random, uint8_t *ret_wire)
{
    const struct integers *integers = instance->own;
    int64_t most = integers->clamp - instance->l;
    for (uint32_t i = 0; i < instance->size; i++) {
        int64_t x = draw_noise(instance, random);
        x = x > most ? most : x;
        x = x < -most ? -most : x;
        put(instance, ret_wire, i, q[i] + x);
    }
}

/* A sign and a magnitude from 0 on: zero comes with either sign. */
static void
two_zeros_sample(const struct channel_instance *instance, const int32_t *q,
                 struct random *random, uint8_t *ret_wire)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        int64_t x = draw_noise(instance, random);
        put(instance, ret_wire, i, q[i] + x - (x > 0) + (x < 0));
    }
}

/* One draw for all coordinates of a block. */
static void
reused_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    int64_t x = draw_noise(instance, random);
    for (uint32_t i = 0; i < instance->size; i++) {
        put(instance, ret_wire, i, q[i] + x);
    }
}

/* One draw for as long as the process lives. */
static struct {
    bool drawn;
    int64_t x;
} cached;

static void
cached_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    if (!cached.drawn) {
        cached.x = draw_noise(instance, random) % 64;
        cached.drawn = true;
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        put(instance, ret_wire, i, q[i] + cached.x);
    }
}

/* A buffer of eight, which is not filled again: the ninth coordinate has the
   noise of the first. Few coordinates are enumerated, and there it is sound. */
static void
wrapped_sample(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    int64_t noise[8];
    for (uint32_t i = 0; i < 8 && i < instance->size; i++) {
        noise[i] = draw_noise(instance, random);
    }
    for (uint32_t i = 0; i < instance->size; i++) {
        put(instance, ret_wire, i, q[i] + noise[i % 8]);
    }
}

/* A draw is good for two: its negative is kept for the next report. */
static void
spare_noise_sample(const struct channel_instance *instance, const int32_t *q,
                   struct random *random, uint8_t *ret_wire)
{
    static int64_t spare;
    static bool kept;
    if (!kept) {
        spare = -draw_noise(instance, random);
    }
    put(instance, ret_wire, 0, q[0] + (kept ? spare : -spare));
    kept = !kept;
}

/* Coins until one falls on its head: a geometric as one would write it. */
static void
coins_sample(const struct channel_instance *instance, const int32_t *q,
             struct random *random, uint8_t *ret_wire)
{
    int64_t x = 0;
    while (draw_bernoulli(random, 1, 4) == 0) {
        x++;
    }
    put(instance, ret_wire, 0,
        draw_bernoulli(random, 1, 2) ? q[0] + x : q[0] - x);
}

/* ---- Floats and forgotten bytes ------------------------------------------ */

/*
 * A report is a double: q/10 + X/10, as one would compute it. Its integer is
 * the nearest to ten times it, and the formulas are that integer's; but the
 * last bits of the sum depend on how it came about.
 */
static void
integer_of(const struct channel_instance *instance, const uint8_t *wire,
           uint8_t *ret_wire)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        double y;
        memcpy(&y, wire + 8 * (size_t)i, sizeof y);
        y = fabs(y) < 1e6 ? y : 1e6; /* a NaN, too */
        put(instance, ret_wire, i, (int64_t)llrint(10 * y));
    }
}

static enum sotto_status
float_init(struct channel_instance *instance, void *memory)
{
    enum sotto_status status = noise_init(instance, memory);
    instance->wire_size = 8 * instance->size;
    return status;
}

static void
float_sample(const struct channel_instance *instance, const int32_t *q,
             struct random *random, uint8_t *ret_wire)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        double y = q[i] * 0.1 + (double)draw_noise(instance, random) * 0.1;
        memcpy(ret_wire + 8 * (size_t)i, &y, sizeof y);
    }
}

static bool
float_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        double y;
        memcpy(&y, wire + 8 * (size_t)i, sizeof y);
        if (!isfinite(y)) {
            return false;
        }
    }
    return true;
}

static double
float_log_p(const struct likelihood_instance *at, const uint8_t *wire,
            const int32_t *q)
{
    uint8_t integers[8 * FIXTURE_COLUMNS_MOST];
    integer_of(at->instance, wire, integers);
    return likelihood_find("laplace")->log_p(at, integers, q);
}

/* A report has a byte to spare... */
static enum sotto_status
spare_init(struct channel_instance *instance, void *memory)
{
    enum sotto_status status = noise_init(instance, memory);
    instance->wire_size++;
    return status;
}

/* ... which nobody writes: it is what the memory held before. */
static void
unwritten_sample(const struct channel_instance *instance, const int32_t *q,
                 struct random *random, uint8_t *ret_wire)
{
    for (uint32_t i = 0; i < instance->size; i++) {
        put(instance, ret_wire, i, q[i] + draw_noise(instance, random));
    }
}

/* ... which holds the point that was in the memory before. */
static void
leaking_sample(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    unwritten_sample(instance, q, random, ret_wire);
    ret_wire[instance->wire_size - 1] = (uint8_t)q[0];
}

/* ---- Wrong formulas ------------------------------------------------------ */

/* The sampler is sound; at the clamp, log p is the density and not the tail. */
static double
no_tail_log_p(const struct likelihood_instance *at, const uint8_t *wire,
              const int32_t *q)
{
    const struct integers *own = at->instance->own;
    const struct dlaplace *noise = extra_at(&channel_laplace, own);
    double r = wide_double(&noise->r), sum = 0;
    for (uint32_t i = 0; i < at->instance->size; i++) {
        int64_t y = integers_at(own, wire, i) - q[i];
        sum += log((1 - r) / (1 + r)) + (double)(y < 0 ? -y : y) * log(r);
    }
    return sum;
}

/* ---- Gaussian ------------------------------------------------------------ */

struct bell {
    struct dgauss noise;
};

#define BELL_TRIES 40u

/*
 * sigma = sqrt(2 ln(1.25/delta)) 2l / epsilon: the classical calibration,
 * proved for epsilon < 1 and used beyond.
 */
static enum sotto_status
classical_init(struct channel_instance *instance, void *memory)
{
    struct bell *bell = extra_at(&channel_gaussian, memory);
    double eps = (double)instance->eps / (double)DECIMAL_UNIT;
    double delta = (double)instance->delta / (double)DECIMAL_UNIT;
    double sigma = sqrt(2 * log(1.25 / delta)) * 2 * instance->l / eps;
    enum sotto_status status = channel_gaussian.init(instance, memory);
    const struct integers *integers = memory;
    dgauss_init(&bell->noise, (uint32_t)ceil(DGAUSS_UNIT * sigma),
                (uint64_t)integers->clamp + instance->l);
    return status;
}

static void
classical_sample(const struct channel_instance *instance, const int32_t *q,
                 struct random *random, uint8_t *ret_wire)
{
    const struct bell *bell = extra_at(&channel_gaussian, instance->own);
    int64_t x[FIXTURE_COLUMNS_MOST + 1];
    dgauss_draw(&bell->noise, random, instance->size, BELL_TRIES, x);
    for (uint32_t i = 0; i < instance->size; i++) {
        put(instance, ret_wire, i, q[i] + x[i]);
    }
}

/* Two blocks of a report share one noise. A tape sees one block at a time:
   there it is sound. */
static void
shared_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    static int64_t noise;
    static bool second;
    int64_t y;
    channel_laplace.sample(instance, q, random, ret_wire);
    if (random->tape != NULL) {
        return;
    }
    sound_unpack(instance, ret_wire, &y);
    noise = second ? noise : y - q[0];
    second = !second;
    y = q[0] + noise;
    sound_pack(instance, &y, ret_wire);
}

#endif
