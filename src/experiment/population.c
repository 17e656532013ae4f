/*
 * population.c: what a table's people would report, and what an analyst would
 * see of them without noise.
 *
 * Each person has a stream of random numbers of their own: results do not
 * depend on the threads.
 */
#include "experiment/population.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "mechanism/crew.h"
#include "mechanism/mechanism.h"
#include "random/seeded.h"

/* ---- Reports ------------------------------------------------------------ */

struct crowd {
    uint64_t seed;
    bool floats;
    uint8_t *reports;
    size_t report_size;
    atomic_int failed;
    atomic_bool beyond; /* floats: what no report can hold */
};

#define FLOAT_STREAM (UINT64_C(1) << 40)
#define FLOAT_D_MAX 256u
#define FLOAT_MOST 4e18 /* that is an int64_t */

/* Laplace noise of scale b by the inverse of its distribution. */
static double
laplace_noise(struct random *random, double b)
{
    double u = ((double)random_u32(random) + 0.5) / 4294967296.0 - 0.5;
    return u < 0 ? b * log1p(2 * u) : -b * log1p(-2 * u);
}

/* Whether all of z, and nothing else, is the first part, through laplace. */
static enum sotto_status
check_floats(const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    const struct shape_part *part = &mechanism->shape.part[0];
    const struct channel_instance *instance = part->instance;
    if (strcmp(instance->channel->name, "laplace") != 0 || part->blocks != 1 ||
        instance->size > FLOAT_D_MAX || mechanism->shape.z != instance->size) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "floating-point noise takes the place of laplace on "
                         "a representation of at most %u numbers, and the "
                         "mechanism's first part is none",
                         FLOAT_D_MAX);
    }
    return SOTTO_STATUS_OK;
}

/* P0 Eq. 3 and 4 in doubles, in place of the first part of a report; false if
   it does not fit there. */
static bool
report_floats(const struct crowd *crowd, struct rows *rows, size_t row,
              uint8_t *report)
{
    const struct sotto_mechanism *mechanism = rows->mechanism;
    const struct likelihood_instance *own = &mechanism->likelihood[0];
    const struct channel_instance *instance = own->instance;
    uint8_t *wire = report + mechanism->shape.part[0].offset;
    double l = instance->l, norm = 0;
    float z[FLOAT_D_MAX];
    int64_t value[FLOAT_D_MAX];
    struct seeded seeded;
    bool fits = true;
    rows_encode(rows, row, NULL, z);
    for (uint32_t i = 0; i < instance->size; i++) {
        norm += fabs((double)z[i]);
    }
    seeded_init(&seeded, crowd->seed, FLOAT_STREAM + row);
    for (uint32_t i = 0; i < instance->size; i++) {
        double mean = (double)z[i] / fmax(norm, 1);
        double eps = (double)instance->eps / (double)SOTTO_UNIT;
        double noised = mean + laplace_noise(&seeded.random, 2 / eps);
        fits = fits && fabs(l * noised) < FLOAT_MOST; /* nor NaN */
        value[i] = fits ? (int64_t)llrint(l * noised) : 0;
    }
    fits = fits && own->likelihood->pack(own, value, wire);
    bytes_wipe(z, sizeof z);
    return fits;
}

static void
report_one(void *context, struct rows *rows, size_t row, unsigned worker)
{
    struct crowd *crowd = context;
    uint8_t *report = crowd->reports + row * crowd->report_size;
    enum sotto_status status =
        sotto_simulate(rows->mechanism, crowd->seed, row, rows_at(rows, row),
                       rows->count, report, crowd->report_size);
    (void)worker;
    if (status != SOTTO_STATUS_OK) {
        atomic_store(&crowd->failed, (int)status);
    }
    if (crowd->floats && !report_floats(crowd, rows, row, report)) {
        atomic_store(&crowd->beyond, true);
    }
}

static bool
goes_on(const struct sotto_watch *watch, const char *what, size_t done,
        size_t total)
{
    return watch == NULL || watch->tick == NULL ||
           watch->tick(watch->context, what, done, total);
}

static enum sotto_status
fail_stopped(struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped, as asked");
}

static enum sotto_status
check_crowd(struct crowd *crowd, struct sotto_error *err)
{
    if (atomic_load(&crowd->failed) != 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the people's records do not fit the mechanism");
    }
    if (atomic_load(&crowd->beyond)) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "a record with floating-point noise does not fit into "
                         "a report");
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
population_report(struct sotto_mechanism *mechanism,
                  const struct sotto_table *people, uint64_t seed, bool floats,
                  unsigned threads, const struct sotto_watch *watch,
                  struct sotto_report_reader **ret_reader,
                  struct sotto_error *err)
{
    size_t count = sotto_table_rows(people);
    size_t size = mechanism->shape.report_size;
    struct crowd crowd = {.seed = seed, .floats = floats, .report_size = size};
    struct crew crew = {0};
    struct host_pool *pool = NULL;
    enum sotto_status status =
        floats ? check_floats(mechanism, err) : SOTTO_STATUS_OK;
    status = HOST_THEN(status, host_pool_new(threads, &pool, err));
    if (status == SOTTO_STATUS_OK) {
        crowd.reports = calloc(count, size);
        status = crowd.reports != NULL
                     ? crew_init(&crew, mechanism, people, pool, err)
                     : host_fail_memory(err);
    }
    status =
        HOST_THEN(status, crew_run_watched(&crew, count, watch, "reporting",
                                           report_one, &crowd, err));
    status = HOST_THEN(status, check_crowd(&crowd, err));
    status = HOST_THEN(status, sotto_report_reader_parse(
                                   mechanism, crowd.reports, count * size,
                                   "simulated reports", ret_reader, err));
    crew_clear(&crew);
    host_pool_free(pool);
    free(crowd.reports);
    return status;
}

/* ---- Decoded images ------------------------------------------------------ */

/* Room for DECODE_ROWS rows. */
struct decoding {
    int32_t *q;
    double *z;
    float *x;
    size_t d, width;
    double l;
};

#define DECODE_ROWS ((size_t)1000)

/* q / l through the decoder, x in [0, 1] to 8 bits, for `count` rows. */
static enum sotto_status
decode_some(struct rows *rows, const struct sotto_analyst *analyst,
            struct decoding *decoding, size_t from, size_t count,
            uint8_t *ret_image, struct sotto_error *err)
{
    for (size_t i = 0; i < count; i++) {
        rows_q(rows, from + i, decoding->q);
        for (size_t j = 0; j < decoding->d; j++) {
            decoding->z[i * decoding->d + j] = decoding->q[j] / decoding->l;
        }
    }
    enum sotto_status status =
        sotto_analyst_decode(analyst, decoding->z, count, decoding->x, err);
    for (size_t i = 0; i < count * decoding->width && status == SOTTO_STATUS_OK;
         i++) {
        double level = fmin(fmax(255.0 * (double)decoding->x[i], 0), 255);
        ret_image[i] = (uint8_t)(level + 0.5);
    }
    return status;
}

static enum sotto_status
decode_rows(struct rows *rows, const struct sotto_analyst *analyst,
            size_t width, const struct sotto_watch *watch, uint8_t *ret_image,
            struct sotto_error *err)
{
    struct sotto_part_info part;
    size_t n = sotto_table_rows(rows->table), d = rows_q_width(rows);
    size_t x_size = DECODE_ROWS * width * sizeof(float);
    struct decoding decoding = {
        .q = calloc(d, sizeof *decoding.q),
        .z = calloc(DECODE_ROWS * d, sizeof *decoding.z),
        .x = malloc(x_size),
        .d = d,
        .width = width,
    };
    enum sotto_status status = SOTTO_STATUS_OK;
    sotto_mechanism_part(rows->mechanism, 0, &part);
    decoding.l = (double)part.l;
    if (decoding.q == NULL || decoding.z == NULL || decoding.x == NULL) {
        status = host_fail_memory(err);
    }
    for (size_t i = 0; i < n && status == SOTTO_STATUS_OK; i += DECODE_ROWS) {
        size_t count = n - i < DECODE_ROWS ? n - i : DECODE_ROWS;
        status = goes_on(watch, "decoding", i, n)
                     ? decode_some(rows, analyst, &decoding, i, count,
                                   ret_image + i * width, err)
                     : fail_stopped(err);
    }
    host_wipe_free(decoding.q, d * sizeof *decoding.q);
    host_wipe_free(decoding.z, DECODE_ROWS * d * sizeof *decoding.z);
    host_wipe_free(decoding.x, x_size);
    return status;
}

/* The people's table with these images, a row of samples each, for theirs. */
static enum sotto_status
replace_images(const struct sotto_table *people, const uint8_t *image,
               struct sotto_table **ret_table, struct sotto_error *err)
{
    size_t n = sotto_table_rows(people), *row = calloc(n, sizeof *row);
    struct sotto_image shape = {1, (uint32_t)sotto_table_width(people, 0), 1};
    struct sotto_table *table = NULL, *label = NULL;
    enum sotto_status status =
        row != NULL ? sotto_table_new(n, &table, err) : host_fail_memory(err);
    for (size_t i = 0; row != NULL && i < n; i++) {
        row[i] = i;
    }
    status = HOST_THEN(
        status, sotto_table_add_bytes(table, "image", image, &shape, err));
    status = HOST_THEN(status, sotto_table_select(people, row, n, &label, err));
    status = HOST_THEN(status, sotto_table_drop(label, 0, err));
    status = HOST_THEN(status, sotto_table_join(table, label, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(label);
        sotto_table_free(table);
    }
    free(row);
    return status;
}

enum sotto_status
population_decode(struct sotto_mechanism *mechanism,
                  const struct sotto_analyst *analyst,
                  const struct sotto_table *people,
                  const struct sotto_watch *watch,
                  struct sotto_table **ret_table, struct sotto_error *err)
{
    size_t n = sotto_table_rows(people), width = sotto_table_width(people, 0);
    struct rows rows = {0};
    uint8_t *image;
    enum sotto_status status;
    if (width == 0 || sotto_analyst_x_width(analyst) != width) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the decoder does not make the people's images");
    }
    status = rows_init(&rows, mechanism, people, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    image = calloc(n, width);
    status = image != NULL
                 ? decode_rows(&rows, analyst, width, watch, image, err)
                 : host_fail_memory(err);
    status = HOST_THEN(status, replace_images(people, image, ret_table, err));
    host_wipe_free(image, n * width);
    rows_clear(&rows);
    return status;
}
