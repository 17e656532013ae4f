/*
 * baseline_reports.c: vectors through a channel, exact or idealised, and back
 * as its estimates.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/baseline.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "idealised/idealised.h"
#include "random/seeded.h"

#define GRID (1u << 16)     /* radius of a point: a grid far below the noise */
#define BLOCK ((size_t)64)  /* rows a task */
#define PART ((size_t)4096) /* rows at a time */

/* ---- A channel ---------------------------------------------------------- */

static const struct channel *
find_channel(const char *name)
{
    const struct idealised *idealised = idealised_find(name);
    return idealised != NULL ? idealised->channel
                             : channel_find(channel_exact, name, strlen(name));
}

enum sotto_status
baseline_domain(const char *channel, enum channel_domain *ret_domain,
                struct sotto_error *err)
{
    const struct channel *found = find_channel(channel);
    if (found == NULL || found->domain == CHANNEL_DOMAIN_SYMBOLS ||
        found->approximate || found->scalar) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "'%.40s' is no channel of vectors without a delta",
                         channel);
    }
    *ret_domain = found->domain;
    return SOTTO_STATUS_OK;
}

struct line {
    struct channel_instance instance;
    struct likelihood_instance said;
    uint64_t *own;
    uint32_t size, blocks; /* entries that go together, and how often */
};

static enum sotto_status
open_line(struct line *line, const char *name, size_t d, double eps,
          struct sotto_error *err)
{
    const struct idealised *idealised = idealised_find(name);
    const struct channel *channel = find_channel(name);
    bool lattice = channel->domain == CHANNEL_DOMAIN_LATTICE;
    uint64_t units;
    enum sotto_status status;
    line->size = lattice ? 1 : (uint32_t)d;
    line->blocks = lattice ? (uint32_t)d : 1;
    units = (uint64_t)(eps / line->blocks * (double)SOTTO_UNIT);
    line->own =
        calloc(channel->own_size / sizeof *line->own + 1, sizeof *line->own);
    if (line->own == NULL) {
        return host_fail_memory(err);
    }
    if (idealised != NULL) {
        status = idealised_init(idealised, line->size, GRID, units, line->own,
                                &line->instance, &line->said);
    } else {
        status = channel_init(&line->instance, channel, line->size, 0, GRID,
                              units, 0, line->own);
        status =
            HOST_THEN(status, likelihood_init(&line->said, &line->instance));
    }
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0,
                           "%s takes no vector of %zu numbers at epsilon %g",
                           name, d, eps);
}

/* ---- People ------------------------------------------------------------- */

struct reporting {
    struct baseline_vectors *vectors;
    const struct baseline_frame *frame;
    const struct line *line;
    uint64_t seed;
    size_t first; /* row of the part at hand */
    struct room {
        int32_t *q;
        double *estimate;
        uint8_t *wire;
    } * room; /* of every thread */
};

static void
report_row(const struct reporting *reporting, size_t row, struct room *room)
{
    const struct line *line = reporting->line;
    const struct likelihood_instance *said = &line->said;
    float *x = reporting->vectors->x + row * reporting->vectors->d;
    struct seeded seeded;
    seeded_init(&seeded, reporting->seed, row);
    baseline_frame_place(reporting->frame, x, GRID, room->q);
    for (size_t i = 0; i < line->blocks; i++) {
        size_t at = i * line->size;
        idealised_draw(&line->instance, room->q + at, &seeded.simulation,
                       room->wire);
        said->likelihood->estimate(said, room->wire, room->estimate + at);
    }
    baseline_frame_return(reporting->frame, room->estimate, GRID, x);
}

static void
report_block(void *context, size_t block, unsigned worker)
{
    struct reporting *reporting = context;
    size_t first = reporting->first + block * BLOCK;
    size_t rows = reporting->vectors->rows;
    for (size_t i = first; i < rows && i < first + BLOCK; i++) {
        report_row(reporting, i, &reporting->room[worker]);
    }
}

static enum sotto_status
make_room(struct reporting *reporting, unsigned threads,
          struct sotto_error *err)
{
    size_t d = reporting->vectors->d;
    reporting->room = calloc(threads, sizeof *reporting->room);
    for (unsigned i = 0; reporting->room != NULL && i < threads; i++) {
        struct room *room = &reporting->room[i];
        room->q = calloc(d + 1, sizeof *room->q);
        room->estimate = calloc(d + 1, sizeof *room->estimate);
        room->wire = calloc(reporting->line->instance.wire_size + 1u, 1);
        if (room->q == NULL || room->estimate == NULL || room->wire == NULL) {
            return host_fail_memory(err);
        }
    }
    return reporting->room != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

static void
clear_room(struct reporting *reporting, unsigned threads)
{
    size_t d = reporting->vectors->d;
    for (unsigned i = 0; reporting->room != NULL && i < threads; i++) {
        struct room *room = &reporting->room[i];
        host_wipe_free(room->q, (d + 1) * sizeof *room->q);
        free(room->estimate);
        free(room->wire);
    }
    free(reporting->room);
}

/* In parts, so that the watch is asked between them. */
static enum sotto_status
report_all(struct reporting *reporting, struct host_pool *pool,
           const struct sotto_watch *watch, struct sotto_error *err)
{
    size_t rows = reporting->vectors->rows;
    for (size_t first = 0; first < rows; first += PART) {
        size_t count = rows - first < PART ? rows - first : PART;
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "reporting", first, rows)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped, as asked");
        }
        reporting->first = first;
        host_pool_run(pool, (count + BLOCK - 1) / BLOCK, report_block,
                      reporting);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
baseline_report(struct baseline_vectors *vectors,
                const struct baseline_frame *frame, const char *channel,
                double eps, uint64_t seed, struct host_pool *pool,
                const struct sotto_watch *watch, struct sotto_error *err)
{
    struct line line = {.own = NULL};
    struct reporting reporting = {
        .vectors = vectors, .frame = frame, .line = &line, .seed = seed};
    unsigned threads = pool != NULL ? host_pool_threads(pool) : 1;
    enum sotto_status status = open_line(&line, channel, vectors->d, eps, err);
    status = HOST_THEN(status, make_room(&reporting, threads, err));
    status = HOST_THEN(status, report_all(&reporting, pool, watch, err));
    clear_room(&reporting, threads);
    free(line.own);
    return status;
}
