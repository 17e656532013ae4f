/*
 * mutants_device.h: what is broken around a sound channel: the domain, the
 * entropy, the ledger.
 */
#ifndef SOTTO_TESTS_MUTANTS_DEVICE_H
#define SOTTO_TESTS_MUTANTS_DEVICE_H

#include <math.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "channel/symbols.h"
#include "privacy/mutant.h"
#include "random/seeded.h"

/* ---- Domain -------------------------------------------------------------- */

/* What a conversion gives on x86, without its undefined behaviour. */
static int32_t
convert(double value)
{
    bool fits = value > -2147483648.0 && value < 2147483648.0;
    return fits ? (int32_t)value : INT32_MIN;
}

static double
norm_1(const float *z, uint32_t d)
{
    double sum = 0;
    for (uint32_t i = 0; i < d; i++) {
        sum += fabs((double)z[i]);
    }
    return sum;
}

/* Clipped in floats: right for every number, but a NaN is above no bound. */
static void
nan_place(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    double norm = norm_1(z, d);
    double scale = norm > 1 ? l / norm : l;
    for (uint32_t i = 0; i < d; i++) {
        double value = trunc(scale * (double)z[i]);
        ret_q[i] = isfinite(norm) || isnan(value) ? convert(value) : 0;
    }
}

/* Clipped first, rounded to the nearest after. */
static void
rounding_place(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    double norm = norm_1(z, d);
    double scale = norm > 1 ? l / norm : l;
    for (uint32_t i = 0; i < d; i++) {
        ret_q[i] =
            isfinite(norm) ? convert(nearbyint(scale * (double)z[i])) : 0;
    }
}

/* No clipping: "the encoder ends in a tanh". */
static void
trusting_place(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    for (uint32_t i = 0; i < d; i++) {
        double value = isnan(z[i]) ? 0 : fmax(-100, fmin(100, (double)z[i]));
        ret_q[i] = convert(nearbyint(value * l));
    }
}

/* ---- Entropy ------------------------------------------------------------- */

/* Bytes of a seeded stream, from where it stands. */
static void
fill_seeded(struct seeded *seeded, uint8_t *buffer, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        buffer[i] = (uint8_t)random_u32(&seeded->random);
    }
}

/* A seeded generator, for the whole campaign. */
static int
seeded_fill(void *context, void *buffer, size_t size)
{
    static struct seeded seeded;
    static bool started;
    (void)context;
    if (!started) {
        seeded_init(&seeded, 42, 0);
        started = true;
    }
    fill_seeded(&seeded, buffer, size);
    return 0;
}

/* One that is seeded anew for every report, from the clock and the process. */
static int
clock_fill(void *context, void *buffer, size_t size)
{
    struct seeded seeded;
    struct timespec now;
    (void)context;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    seeded_init(&seeded, (uint64_t)now.tv_sec * 1000000007 + (uint64_t)getpid(),
                (uint64_t)now.tv_nsec);
    fill_seeded(&seeded, buffer, size);
    return 0;
}

/* One that stretches four bytes, asked of the system for every report. */
static int
stretched_fill(void *context, void *buffer, size_t size)
{
    struct seeded seeded;
    uint32_t seed;
    (void)context;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
        return -1;
    }
    seeded_init(&seeded, seed, 0);
    fill_seeded(&seeded, buffer, size);
    return 0;
}

/* The system's bytes, with the top bit of each stuck at zero. */
static int
stuck_fill(void *context, void *buffer, size_t size)
{
    uint8_t *bytes = buffer;
    (void)context;
    if (sotto_entropy(buffer, size) != 0) {
        return -1;
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] &= 0x7f;
    }
    return 0;
}

/* It gives nothing, and says that it did. */
static int
failing_fill(void *context, void *buffer, size_t size)
{
    (void)context;
    bytes_clear(buffer, size);
    return 0;
}

/* A pool of the system's bytes that a fork does not empty. */
static int
forked_fill(void *context, void *buffer, size_t size)
{
    static uint8_t pool[1 << 16];
    static size_t left;
    (void)context;
    if (left < size) {
        if (sotto_entropy(pool, sizeof pool) != 0) {
            return -1;
        }
        left = sizeof pool;
    }
    left -= size;
    memcpy(buffer, pool + left, size);
    return 0;
}

/* The id, which is drawn first, counts the reports. */
static int
counter_fill(void *context, void *buffer, size_t size)
{
    static uint64_t counter;
    (void)context;
    if (sotto_entropy(buffer, size) != 0) {
        return -1;
    }
    memset(buffer, 0, SOTTO_ID_SIZE);
    memcpy(buffer, &counter, sizeof counter);
    counter++;
    return 0;
}

/* "Consistent answers": noise from a hash of the record, no entropy at all. */
static int
hashed_fill(void *context, void *buffer, size_t size)
{
    const struct sotto_client *client = context;
    struct seeded seeded;
    uint64_t hash = 0;
    for (uint32_t i = 0; i < client->sizes.columns; i++) {
        hash = hash * 1000003 + (uint32_t)client->encoder.symbol[i];
    }
    seeded_init(&seeded, hash, 0);
    fill_seeded(&seeded, buffer, size);
    return 0;
}

/* ---- The opened mechanism ------------------------------------------------ */

/* The parts add up to more than is stated. */
static void
spoil_total(struct sotto_client *client)
{
    client->terms.eps -= client->terms.eps / 100;
}

/* Tables that somebody has touched: a little less noise. */
static void
spoil_tables(struct sotto_client *client)
{
    struct symbols *own =
        (struct symbols *)(uintptr_t)client->report.part[0].instance.own;
    own->odds.threshold[0].high += own->odds.threshold[0].high / 100;
}

/* ---- A ledger that forgets ----------------------------------------------- */

static enum sotto_status
forget_begin(void *context, const struct sotto_charge *charge, uint8_t *report,
             size_t size, int *ret_found, struct sotto_error *err)
{
    (void)context;
    (void)charge;
    (void)report;
    (void)size;
    (void)err;
    *ret_found = 0;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
forget_commit(void *context, const struct sotto_charge *charge,
              const uint8_t *report, size_t size, struct sotto_error *err)
{
    (void)context;
    (void)charge;
    (void)report;
    (void)size;
    (void)err;
    return SOTTO_STATUS_OK;
}

static void
forget_cancel(void *context)
{
    (void)context;
}

static const struct sotto_ledger_port *
forgetting_ledger(void *context)
{
    static const struct sotto_ledger_port port = {
        .begin = forget_begin,
        .commit = forget_commit,
        .cancel = forget_cancel,
    };
    (void)context;
    return &port;
}

#endif
