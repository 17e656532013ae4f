/*
 * timing.c: whether the time of a report depends on its record (invariant 7).
 *
 * Timed is stages_report: from the encoder's output to the finished report. z
 * and the symbols are set directly, to what no encoder would give. What could
 * tell the classes apart without being in the code under test is the same for
 * both: each class has ROWS inputs at addresses of their own, those of the
 * fixed class all alike; they are copied to one place before the clock is
 * read, by an index and not by a branch; and the coin of a run is tossed long
 * before it. Entropy is the system's: fetching it makes some runs longer,
 * whichever class they are of.
 */
#include "bench/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/decimal.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/welch.h"
#include "mechanism/compose.h"
#include "mechanism/stages.h"
#include "random/seeded.h"

#define ROWS 256u  /* inputs of a class */
#define WIDTH 8u   /* of z */
#define SYMBOLS 5u /* of the category column, with "other" */
#define L 4096u
#define EPS DECIMAL_UNIT
#define DELTA (DECIMAL_UNIT / 1000000)
#define WARM 1000u /* runs before the first that counts */

/* ---- The clock ----------------------------------------------------------- */

/* Nothing before it may end, and nothing after it begin, on the other side. */
static inline uint64_t
ticks(void)
{
#if defined(__x86_64__)
    unsigned processor;
    uint64_t at;
    _mm_lfence();
    at = __rdtscp(&processor);
    _mm_lfence();
    return at;
#elif defined(__aarch64__)
    uint64_t at;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(at)::"memory");
    return at;
#else
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
#endif
}

/* ---- One comparison ------------------------------------------------------ */

struct samples {
    double *ticks, *sorted;
    uint8_t *class_of, *row;
};

static void
toss(struct samples *samples, size_t runs, uint32_t rows, uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < runs; i++) {
        uint32_t drawn = random_u32(&seeded.random);
        samples->class_of[i] = (uint8_t)(drawn & 1);
        samples->row[i] = (uint8_t)((drawn >> 1) % rows);
    }
}

static void
time_runs(const struct timing_subject *subject, struct samples *samples,
          size_t from, size_t runs)
{
    for (size_t i = from; i < runs; i++) {
        uint64_t begin, end;
        subject->prepare(subject->context, samples->row[i],
                         samples->class_of[i]);
        begin = ticks();
        subject->run(subject->context);
        end = ticks();
        samples->ticks[i] = (double)(end - begin);
        subject->finish(subject->context);
    }
}

static void
judge_timing(const struct samples *samples, size_t runs,
             double microseconds_a_tick, struct timing_result *ret_result)
{
    ret_result->t =
        welch_cropped(samples->ticks, samples->class_of, runs, samples->sorted);
    ret_result->microseconds = samples->sorted[runs / 2] * microseconds_a_tick;
}

enum sotto_status
timing_compare(const struct timing_subject *subject, size_t runs, uint64_t seed,
               struct timing_result *ret_result, struct sotto_error *err)
{
    struct samples samples = {
        malloc(runs * sizeof(double)), malloc(runs * sizeof(double)),
        malloc(runs * sizeof(uint8_t)), malloc(runs * sizeof(uint8_t))};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (samples.ticks == NULL || samples.sorted == NULL ||
        samples.class_of == NULL || samples.row == NULL) {
        status = host_fail_memory(err);
    } else {
        double start, spent;
        uint64_t first;
        toss(&samples, runs, subject->rows, seed);
        time_runs(subject, &samples, 0, runs < WARM ? runs : WARM);
        start = host_seconds();
        first = ticks();
        time_runs(subject, &samples, 0, runs);
        spent = host_seconds() - start;
        judge_timing(&samples, runs, 1e6 * spent / (double)(ticks() - first),
                     ret_result);
    }
    free(samples.ticks);
    free(samples.sorted);
    free(samples.class_of);
    free(samples.row);
    return status;
}

/* ---- Records ------------------------------------------------------------- */

/* What stages_report reads of a record. */
struct input {
    float z[WIDTH];
    int32_t symbol;
};

struct probe {
    struct sotto_mechanism *mechanism;
    uint8_t *report;
    struct input input[2 * ROWS]; /* class 0 and 1 in turn */
    struct seeded more;           /* what a control draws from */
    bool failed;                  /* there was no entropy, or no report */
    volatile uint64_t sink;
};

/* Numbers in the domain and out of it, and what is none. */
static float
draw_float(struct seeded *seeded)
{
    static const float odd[] = {0.0f,       -0.0f,           1.0f,
                                -1.0f,      0x1.000002p0f,   32.0f,
                                3.4e38f,    -3.4e38f,        1e-30f,
                                1e-45f,     (float)INFINITY, -(float)INFINITY,
                                (float)NAN, -(float)NAN};
    uint32_t bits = random_u32(&seeded->random);
    uint32_t count = sizeof odd / sizeof odd[0];
    return bits % 4 == 0 ? odd[(bits >> 2) % count]
                         : (float)(int32_t)bits * 0x1p-31f;
}

/* Class 0: the centre, the first symbol. Class 1: vertices, one odd number
   everywhere, and anything. */
static void
fill_inputs(struct probe *probe, uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, 1);
    seeded_init(&probe->more, seed, 2);
    for (uint32_t i = 0; i < ROWS; i++) {
        struct input *input = &probe->input[2 * i + 1];
        float all = draw_float(&seeded);
        memset(&probe->input[2 * (size_t)i], 0, sizeof *input);
        for (uint32_t j = 0; j < WIDTH; j++) {
            float any = draw_float(&seeded);
            float vertex = j == i / 4 % WIDTH ? 1.0f : 0.0f;
            input->z[j] = i % 4 == 0 ? vertex : i % 4 == 1 ? all : any;
        }
        input->symbol = (int32_t)(random_u32(&seeded.random) % SYMBOLS);
    }
}

static void
prepare(void *context, uint32_t row, unsigned class_of)
{
    struct probe *probe = context;
    const struct input *input = &probe->input[2 * row + class_of];
    memcpy(stages_z(probe->mechanism), input->z, sizeof input->z);
    *stages_symbol(probe->mechanism, 0) = input->symbol;
}

static void
make_report(void *context)
{
    struct probe *probe = context;
    probe->failed =
        !stages_report(probe->mechanism, probe->report) || probe->failed;
}

/* As after every report; the source begins anew with the next. */
static void
finish(void *context)
{
    struct probe *probe = context;
    probe->failed =
        probe->failed || !stages_valid(probe->mechanism, probe->report,
                                       probe->mechanism->shape.report_size);
    stages_wipe(probe->mechanism);
}

/* ---- Controls: what a leak looks like ------------------------------------ */

/* Draws once more for every coordinate that is not zero: what a sampler that
   skips the others would do. */
static void
skip_zeros(void *context)
{
    struct probe *probe = context;
    make_report(context);
    const int32_t *q = stages_q(probe->mechanism);
    for (uint32_t i = 0; i < WIDTH; i++) {
        if (q[i] != 0) {
            probe->sink += random_u32(&probe->more.random);
        }
    }
}

/* Compares the point with the centre, and stops where they differ: a few
   nanoseconds in a report of microseconds. */
static void
stop_early(void *context)
{
    struct probe *probe = context;
    uint32_t i = 0;
    make_report(context);
    const int32_t *q = stages_q(probe->mechanism);
    while (i < WIDTH && q[i] == 0) {
        i++;
    }
    probe->sink += i;
}

/* ---- Mechanisms ---------------------------------------------------------- */

static enum sotto_status
compose(const struct channel *channel, struct sotto_mechanism **ret_mechanism,
        struct sotto_error *err)
{
    static const float zeros[WIDTH];
    static const char *const values[SYMBOLS - 1] = {"a", "b", "c", "d"};
    static const struct schema_column columns[] = {
        {.name = "c",
         .kind = SOTTO_COLUMN_CATEGORY,
         .count = SYMBOLS,
         .values = values,
         .scale = 1},
        {.name = "n", .kind = SOTTO_COLUMN_NUMBER, .count = 1, .scale = 1}};
    struct layer layer = {.in = 1,
                          .out = WIDTH,
                          .activation = ACTIVATION_NONE,
                          .weight = zeros,
                          .bias = zeros};
    struct compose_part part = {.covers = "features",
                                .channel = channel->name,
                                .eps = EPS,
                                .blocks = 1,
                                .d = channel->scalar ? 1 : WIDTH,
                                .l = L,
                                .delta = channel->approximate ? DELTA : 0};
    struct compose_spec spec = {.name = "timing",
                                .campaign = "timing",
                                .auxiliary = "not used",
                                .eps = EPS,
                                .column = columns,
                                .columns = 2,
                                .layer = &layer,
                                .layers = 1,
                                .part = &part,
                                .parts = 1};
    if (channel->domain == CHANNEL_DOMAIN_SYMBOLS) {
        part.covers = "both";
        part.d = 0;
        part.l = 0;
        part.factor[0] = (struct compose_factor){.is_column = true};
        part.factor[1] = (struct compose_factor){.k = WIDTH};
        part.factors = 2;
    }
    return compose_open(&spec, ret_mechanism, err);
}

static void
describe(const struct channel_instance *instance, char text[64])
{
    char delta[24] = "";
    if (instance->delta > 0) {
        (void)snprintf(delta, sizeof delta, ", delta %g",
                       (double)instance->delta / (double)DECIMAL_UNIT);
    }
    if (instance->l > 0) {
        (void)snprintf(text, 64, "d %u l %u, eps %g%s", instance->size,
                       instance->l,
                       (double)instance->eps / (double)DECIMAL_UNIT, delta);
    } else {
        (void)snprintf(text, 64, "k %u, eps %g%s", instance->size,
                       (double)instance->eps / (double)DECIMAL_UNIT, delta);
    }
}

/* ---- All of it ----------------------------------------------------------- */

struct timing {
    size_t runs;
    void (*row)(void *context, const struct sotto_bench_row *row);
    void *context;
    bool differs; /* a channel's time depends on the record */
};

struct timing_case {
    const char *name;
    const struct channel *channel;
    void (*run)(void *context);
    bool leaky; /* a control: a difference must be seen */
};

static enum sotto_status
judge_case(struct timing *timing, const struct timing_case *at,
           const struct probe *probe, const struct timing_result *result,
           struct sotto_error *err)
{
    bool seen = fabs(result->t) >= WELCH_CRITERION;
    char setting[64];
    struct sotto_bench_row row = {.name = at->name,
                                  .setting = setting,
                                  .rate = 1e6 / result->microseconds,
                                  .microseconds = result->microseconds,
                                  .against = "",
                                  .runs = timing->runs,
                                  .t = result->t};
    describe(probe->mechanism->shape.part[0].instance, setting);
    row.verdict = at->leaky
                      ? (seen ? "seen, as it must be" : "not seen")
                      : (seen ? "depends on the record" : "no difference");
    timing->row(timing->context, &row);
    timing->differs = timing->differs || (seen && !at->leaky);
    if (at->leaky && !seen) {
        return host_fail(err, SOTTO_STATUS_CHECK, 0,
                         "the leak of '%s' was not seen: on this machine the "
                         "other rows would mean nothing",
                         at->name);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
time_case(struct timing *timing, const struct timing_case *at,
          struct probe *probe, struct sotto_error *err)
{
    struct timing_subject subject = {prepare, at->run, finish, probe, ROWS};
    struct timing_result result;
    uint64_t seed;
    enum sotto_status status;
    if (sotto_entropy(&seed, sizeof seed) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy");
    }
    fill_inputs(probe, seed);
    status = timing_compare(&subject, timing->runs, seed, &result, err);
    if (status == SOTTO_STATUS_OK && probe->failed) {
        status = host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                           "a report of '%s' was not made", at->name);
    }
    return HOST_THEN(status, judge_case(timing, at, probe, &result, err));
}

static enum sotto_status
run_case(struct timing *timing, const struct timing_case *at,
         struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    struct probe *probe = calloc(1, sizeof *probe);
    enum sotto_status status;
    if (probe == NULL) {
        return host_fail_memory(err);
    }
    status = compose(at->channel, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        probe->mechanism = mechanism;
        probe->report = malloc(mechanism->shape.report_size);
        status = probe->report == NULL ? host_fail_memory(err)
                                       : time_case(timing, at, probe, err);
        free(probe->report);
    }
    free(probe);
    sotto_mechanism_free(mechanism);
    return status;
}

enum sotto_status
timing_run(size_t runs,
           void (*row)(void *context, const struct sotto_bench_row *row),
           void *context, struct sotto_error *err)
{
    struct timing timing = {runs, row, context, false};
    const struct channel *laplace = channel_find(channel_exact, "laplace", 7);
    const struct timing_case controls[] = {
        {"control: skips zeros", laplace, skip_zeros, true},
        {"control: stops early", laplace, stop_early, true}};
    enum sotto_status status = run_case(&timing, &controls[0], err);
    status = HOST_THEN(status, run_case(&timing, &controls[1], err));
    for (size_t i = 0; status == SOTTO_STATUS_OK && channel_exact[i] != NULL;
         i++) {
        struct timing_case at = {channel_exact[i]->name, channel_exact[i],
                                 make_report, false};
        status = run_case(&timing, &at, err);
    }
    if (status == SOTTO_STATUS_OK && timing.differs) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the time of a report depends on its record "
                         "(|t| >= %.1f); chance alone does this once in "
                         "18,000 rows",
                         WELCH_CRITERION);
    }
    return status;
}
