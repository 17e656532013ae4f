/*
 * posterior.c: p(m | report), computed once, kept in 16 bits.
 *
 * A row goes through three passes over one buffer of costs, which stays in the
 * processor's cache:
 *
 *     cost_m = -log p(r | q_m) + constant    block by block
 *     code_m = e^(least cost - cost_m)       in 16 bits, and their sum
 *     keep all of them, or, where few matter, those with at least tau / M of
 *     the sum: what is dropped is then less than tau of it
 *
 * With discrete Laplace noise the cost is a rate times an L1 distance
 * (src/likelihood/laplace_likelihood.c), which integers give exactly. A report
 * outside
 * [-l, l] is as far beyond the edge from every point, so it is moved there.
 */
#include "learn/lattice/posterior.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/error.h"
#include "host/pool.h"
#include "learn/lattice/posterior_kernel.h"

#define WAVE 32u /* chunks between two looks at the watch */
#define ALIGNED 64u
#define SPARSE_BYTES (sizeof(uint16_t) + sizeof(uint32_t))

/* ---- Costs of one report ------------------------------------------------ */

/* A worker's buffers. */
struct scratch {
    float *cost;    /* padded */
    double *log_p;  /* points */
    int64_t *value; /* of one block's report */
    int32_t *y;
    uint16_t *code; /* padded */
};

struct build {
    const struct prior *prior;
    const uint8_t *const *report;
    const struct posterior_options *options;
    const struct posterior_kernel *kernel;
    struct posterior *posterior;
    struct scratch *scratch; /* one a worker */
    unsigned workers;
    size_t from; /* first chunk of the wave */
    double tau;
    double *cut;   /* for every row: mass dropped */
    size_t *bytes; /* for every chunk */
};

static void
add_distance(const struct build *build, const struct prior_block *block,
             const uint8_t *report, struct scratch *scratch)
{
    const struct likelihood_instance *at = block->likelihood;
    const struct channel_instance *instance = at->instance;
    const struct prior *prior = build->prior;
    int64_t l = instance->l;
    at->likelihood->unpack(at, report + block->offset, scratch->value);
    for (uint32_t i = 0; i < instance->size; i++) {
        int64_t y = scratch->value[i];
        y = y > l ? l : y;
        scratch->y[i] = (int32_t)(y < -l ? -l : y);
    }
    build->kernel->distance(prior->by_entry + block->at * prior->padded,
                            prior->padded, scratch->y, instance->size,
                            block->rate, scratch->cost);
}

static void
add_log_p(const struct build *build, const struct prior_block *block,
          const uint8_t *report, struct scratch *scratch)
{
    const struct likelihood_instance *at = block->likelihood;
    const struct prior *prior = build->prior;
    double most;
    at->likelihood->log_p_many(at, report + block->offset,
                               prior->by_block + block->at * prior->points,
                               prior->points, scratch->log_p);
    most = scratch->log_p[0];
    for (size_t m = 1; m < prior->points; m++) {
        most = scratch->log_p[m] > most ? scratch->log_p[m] : most;
    }
    for (size_t m = 0; m < prior->points; m++) {
        scratch->cost[m] += (float)(most - scratch->log_p[m]);
    }
}

static void
set_costs(const struct build *build, const uint8_t *report,
          struct scratch *scratch)
{
    const struct prior *prior = build->prior;
    const struct prior_shape *shape = prior->shape;
    memset(scratch->cost, 0, prior->padded * sizeof(float));
    for (size_t i = 0; i < shape->blocks; i++) {
        const struct prior_block *block = &shape->block[i];
        if (block->distance && !build->options->general) {
            add_distance(build, block, report, scratch);
        } else {
            add_log_p(build, block, report, scratch);
        }
    }
    for (size_t m = prior->points; m < prior->padded; m++) {
        scratch->cost[m] = 1e30F; /* never the least; code 0 */
    }
}

/* ---- Rows --------------------------------------------------------------- */

/* The least code that stands for at least `value`. */
static uint16_t
code_from(double value)
{
    uint32_t low = 0, high = POSTERIOR_ONE;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((double)posterior_kernel_decode((uint16_t)middle) >= value) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return (uint16_t)low;
}

/* Moves the codes from `from` on to the row's place, behind their indices. */
static size_t
pack_row(const uint16_t *code, size_t points, uint16_t from, uint8_t *to,
         size_t kept, struct posterior_row *row, double *ret_sum)
{
    uint32_t *index = (uint32_t *)(void *)to;
    uint16_t *packed = (uint16_t *)(void *)(to + kept * sizeof(uint32_t));
    size_t count = 0;
    double sum = 0;
    for (size_t m = 0; m < points; m++) {
        if (code[m] >= from) {
            index[count] = (uint32_t)m;
            packed[count] = code[m];
            sum += (double)posterior_kernel_decode(code[m]);
            count++;
        }
    }
    row->index = index;
    row->code = packed;
    row->kept = (uint32_t)count;
    *ret_sum = sum;
    return count * SPARSE_BYTES;
}

/*
 * Writes a row at `to`, where there is room for a dense one; returns its
 * bytes. The codes are made in place, and packed by way of the scratch.
 */
static size_t
make_row(const struct build *build, size_t n, uint8_t *to,
         struct scratch *scratch)
{
    const struct prior *prior = build->prior;
    const struct posterior_kernel *kernel = build->kernel;
    struct posterior_row *row = &build->posterior->row[n];
    uint16_t *code = (uint16_t *)(void *)to;
    size_t bytes = prior->padded * sizeof(uint16_t), kept;
    uint16_t from;
    double sum;
    set_costs(build, build->report[n], scratch);
    sum = kernel->encode(scratch->cost,
                         kernel->least(scratch->cost, prior->padded),
                         prior->padded, code);
    row->code = code;
    row->kept = (uint32_t)prior->points;
    from = code_from(build->tau * sum / (double)prior->points);
    kept = kernel->count(code, prior->padded, from);
    if (from > 0 && kept < prior->points / POSTERIOR_SPARSE) {
        double whole = sum;
        memcpy(scratch->code, code, bytes);
        bytes =
            pack_row(scratch->code, prior->points, from, to, kept, row, &sum);
        build->cut[n] = sum < whole ? 1 - sum / whole : 0;
    }
    row->scale = (float)(1 / sum);
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

/* ---- Chunks ------------------------------------------------------------- */

/* Gives back the pages behind what a chunk used of its place. */
static void
drop_rest(uint8_t *place, size_t used, size_t room)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)place + used + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)place + room) / page * page;
    if (from < end) {
        (void)madvise(place + (from - (uintptr_t)place), end - from,
                      MADV_DONTNEED);
    }
}

/* Every chunk has a place for dense rows, and fills it from the front. */
static void
make_chunk(void *context, size_t task, unsigned worker)
{
    const struct build *build = context;
    size_t at = build->from + task, used = 0;
    const struct posterior_chunk *chunk = &build->posterior->chunk[at];
    size_t dense = build->prior->padded * sizeof(uint16_t);
    uint8_t *place = build->posterior->memory + chunk->first * dense;
    for (size_t i = 0; i < chunk->rows; i++) {
        used += make_row(build, chunk->first + i, place + used,
                         &build->scratch[worker]);
    }
    drop_rest(place, used, chunk->rows * dense);
    build->bytes[at] = used;
}

static enum sotto_status
run_waves(struct build *build, struct host_pool *pool, struct sotto_error *err)
{
    size_t chunks = build->posterior->chunks;
    const struct sotto_watch *watch = build->options->watch;
    for (build->from = 0; build->from < chunks; build->from += WAVE) {
        size_t left = chunks - build->from;
        if (watch != NULL && watch->tick != NULL &&
            !watch->tick(watch->context, "weighing", build->from, chunks)) {
            return host_fail(err, SOTTO_STATUS_STOPPED, 0, "stopped");
        }
        host_pool_run(pool, left < WAVE ? left : WAVE, make_chunk, build);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The whole ---------------------------------------------------------- */

static bool
scratch_init(struct build *build)
{
    const struct prior *prior = build->prior;
    size_t room = prior_room(prior->shape);
    build->scratch = calloc(build->workers, sizeof *build->scratch);
    for (unsigned i = 0; build->scratch != NULL && i < build->workers; i++) {
        struct scratch *scratch = &build->scratch[i];
        scratch->cost = malloc(prior->padded * sizeof(float));
        scratch->log_p = malloc(prior->points * sizeof(double));
        scratch->value = malloc(room * sizeof(int64_t));
        scratch->y = malloc(room * sizeof(int32_t));
        scratch->code = malloc(prior->padded * sizeof(uint16_t));
        if (scratch->cost == NULL || scratch->log_p == NULL ||
            scratch->value == NULL || scratch->y == NULL ||
            scratch->code == NULL) {
            return false;
        }
    }
    return build->scratch != NULL;
}

static void
build_clear(struct build *build)
{
    for (unsigned i = 0; build->scratch != NULL && i < build->workers; i++) {
        free(build->scratch[i].cost);
        free(build->scratch[i].log_p);
        free(build->scratch[i].value);
        free(build->scratch[i].y);
        free(build->scratch[i].code);
    }
    free(build->scratch);
    free(build->cut);
    free(build->bytes);
}

/* Room for all rows dense, of which pages come as they are written: large
   ones where the system has them, for there are many. */
static bool
map_memory(struct posterior *posterior, size_t n)
{
    size_t size = (n + 1) * posterior->padded * sizeof(uint16_t);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    (void)madvise(memory, size, MADV_HUGEPAGE);
    posterior->memory = memory;
    posterior->mapped = size;
    return true;
}

static bool
build_init(struct build *build, size_t n, const size_t *first, size_t chunks)
{
    struct posterior *posterior = build->posterior;
    build->cut = calloc(n + 1, sizeof *build->cut);
    build->bytes = calloc(chunks + 1, sizeof *build->bytes);
    posterior->row = calloc(n + 1, sizeof *posterior->row);
    posterior->chunk = calloc(chunks + 1, sizeof *posterior->chunk);
    if (build->cut == NULL || build->bytes == NULL || posterior->row == NULL ||
        posterior->chunk == NULL || !scratch_init(build) ||
        !map_memory(posterior, n)) {
        return false;
    }
    for (size_t i = 0; i < chunks; i++) {
        size_t end = i + 1 < chunks ? first[i + 1] : n;
        posterior->chunk[i].first = first[i];
        posterior->chunk[i].rows = end - first[i];
    }
    posterior->chunks = chunks;
    return true;
}

static void
sum_up(const struct build *build)
{
    struct posterior *posterior = build->posterior;
    double kept = 0;
    for (size_t i = 0; i < posterior->chunks; i++) {
        posterior->bytes += (double)build->bytes[i];
    }
    for (size_t i = 0; i < posterior->rows; i++) {
        kept += posterior->row[i].kept;
        if (build->cut[i] > posterior->truncated) {
            posterior->truncated = build->cut[i];
        }
    }
    if (posterior->rows > 0) {
        posterior->kept =
            kept / (double)posterior->rows / (double)posterior->points;
    }
}

enum sotto_status
posterior_new(const struct prior *prior, const uint8_t *const *report, size_t n,
              const size_t *first, size_t chunks, struct host_pool *pool,
              const struct posterior_options *options,
              struct posterior **ret_posterior, struct sotto_error *err)
{
    struct build build = {.prior = prior,
                          .report = report,
                          .options = options,
                          .kernel = posterior_kernel_best(),
                          .workers = pool != NULL ? host_pool_threads(pool) : 1,
                          .tau = options->tau};
    struct posterior *posterior = calloc(1, sizeof *posterior);
    enum sotto_status status;
    if (posterior == NULL) {
        return host_fail_memory(err);
    }
    posterior->rows = n;
    posterior->points = prior->points;
    posterior->padded = prior->padded;
    build.posterior = posterior;
    if (build.tau == 0) {
        build.tau = POSTERIOR_TAU;
    }
    if (build_init(&build, n, first, chunks)) {
        status = run_waves(&build, pool, err);
    } else {
        status = host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        sum_up(&build);
        *ret_posterior = posterior;
        posterior = NULL;
    }
    build_clear(&build);
    posterior_free(posterior);
    return status;
}

void
posterior_free(struct posterior *posterior)
{
    if (posterior != NULL) {
        if (posterior->memory != NULL) {
            (void)munmap(posterior->memory, posterior->mapped);
        }
        free(posterior->chunk);
        free(posterior->row);
        free(posterior);
    }
}

/* ---- Use ---------------------------------------------------------------- */

static double
dot_sparse(const struct posterior_row *row, const float *v)
{
    double sum = 0;
    for (uint32_t i = 0; i < row->kept; i++) {
        sum +=
            (double)(posterior_kernel_decode(row->code[i]) * v[row->index[i]]);
    }
    return sum;
}

static void
add_sparse(const struct posterior_row *row, float c, float *a)
{
    for (uint32_t i = 0; i < row->kept; i++) {
        a[row->index[i]] += c * posterior_kernel_decode(row->code[i]);
    }
}

/* The next at most POSTERIOR_ROWS dense rows from `at` on, the last one
   repeated to fill; how many there are, 0 if row `at` is sparse. */
static size_t
dense_rows(const struct posterior *posterior, size_t at, size_t end,
           const uint16_t *ret_code[POSTERIOR_ROWS])
{
    size_t count = 0;
    while (count < POSTERIOR_ROWS && at + count < end &&
           posterior->row[at + count].index == NULL) {
        ret_code[count] = posterior->row[at + count].code;
        count++;
    }
    for (size_t i = count; count > 0 && i < POSTERIOR_ROWS; i++) {
        ret_code[i] = ret_code[count - 1];
    }
    return count;
}

void
posterior_dots(const struct posterior *posterior, size_t first, size_t rows,
               const float *v, double *ret_s)
{
    const struct posterior_kernel *kernel = posterior_kernel_best();
    size_t end = first + rows;
    for (size_t n = first; n < end;) {
        const uint16_t *code[POSTERIOR_ROWS];
        size_t count = dense_rows(posterior, n, end, code);
        double s[POSTERIOR_ROWS];
        if (count > 0) {
            kernel->dots(code, v, posterior->padded, s);
        } else {
            s[0] = dot_sparse(&posterior->row[n], v);
            count = 1;
        }
        for (size_t i = 0; i < count; i++, n++) {
            ret_s[n - first] = s[i] * (double)posterior->row[n].scale;
        }
    }
}

void
posterior_add(const struct posterior *posterior, size_t first, size_t rows,
              const double *c, float *a)
{
    const struct posterior_kernel *kernel = posterior_kernel_best();
    size_t end = first + rows;
    for (size_t n = first; n < end;) {
        const uint16_t *code[POSTERIOR_ROWS];
        size_t count = dense_rows(posterior, n, end, code);
        float by[POSTERIOR_ROWS] = {0};
        for (size_t i = 0; i < (count > 0 ? count : 1); i++) {
            by[i] =
                (float)(c[n + i - first] * (double)posterior->row[n + i].scale);
        }
        if (count > 0) {
            kernel->add(code, by, posterior->padded, a);
        } else {
            add_sparse(&posterior->row[n], by[0], a);
            count = 1;
        }
        n += count;
    }
}
