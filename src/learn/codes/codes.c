/*
 * codes.c: what reports say of pairs of a code and a label.
 *
 * A task is a block of reports; it writes its own column of partial sums, and
 * those are added up in the order of the blocks.
 */
#include "learn/codes/codes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/pool.h"
#include "likelihood/symbols_likelihood.h"
#include "random/draw.h"
#include "random/seeded.h"

#define BYTES_MOST 2000000000u
#define SAME 1e-12 /* levels that differ by less are one */

/* ---- The shape ---------------------------------------------------------- */

enum sotto_status
codes_shape_init(struct codes_shape *shape,
                 const struct sotto_mechanism *mechanism, bool other,
                 struct sotto_error *err)
{
    const struct shape *own = &mechanism->shape;
    const struct shape_part *code, *label;
    memset(shape, 0, sizeof *shape);
    if (own->code == SIZE_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no code: none of its parts is "
                         "about the largest of several outputs");
    }
    code = &own->part[own->code];
    shape->code = &mechanism->likelihood[own->code];
    shape->offset = code->offset;
    shape->head = REPORT_HEADER_SIZE;
    shape->at = code->from;
    shape->books = code->books;
    shape->cells = code->cells;
    shape->column = code->column;
    if (code->role == SHAPE_CODE && own->label_part != SIZE_MAX) {
        label = &own->part[own->label_part];
        shape->label = &mechanism->likelihood[own->label_part];
        shape->label_offset = label->offset;
        shape->column = label->column;
    }
    shape->symbols =
        shape->column != SIZE_MAX ? own->schema.column[shape->column].count : 1;
    shape->classes = shape->symbols;
    if (!other && shape->classes > 2) {
        shape->classes--;
    }
    return SOTTO_STATUS_OK;
}

size_t
codes_book(const struct codes_shape *shape, const uint8_t *report)
{
    return shape->books > 1 ? report[shape->head] : 0;
}

struct codes_shape
codes_shape_headless(const struct codes_shape *shape)
{
    struct codes_shape own = *shape;
    own.offset -= shape->head;
    own.label_offset -= shape->label != NULL ? shape->head : 0;
    own.head = 0;
    return own;
}

int32_t *
codes_points(const struct codes_shape *shape)
{
    size_t pairs = shape->cells * shape->classes, at = 0;
    int32_t *q = malloc((pairs + shape->cells + shape->classes) * sizeof *q);
    if (q == NULL) {
        return NULL;
    }
    for (size_t c = 0; c < shape->cells && shape->label != NULL; c++) {
        q[at++] = (int32_t)c;
    }
    for (size_t y = 0; y < shape->classes && shape->label != NULL; y++) {
        q[at++] = (int32_t)y;
    }
    for (size_t c = 0; c < shape->cells && shape->label == NULL; c++) {
        for (size_t y = 0; y < shape->classes; y++) {
            q[at++] = (int32_t)(c * shape->symbols + y);
        }
    }
    return q;
}

void
codes_log_p(const struct codes_shape *shape, const uint8_t *report,
            const int32_t *q, double *room, double *ret_log_p)
{
    const struct likelihood_instance *code = shape->code;
    const struct likelihood_instance *label = shape->label;
    size_t k = shape->cells, classes = shape->classes;
    if (label == NULL) {
        code->likelihood->log_p_many(code, report + shape->offset, q,
                                     k * classes, ret_log_p);
        return;
    }
    code->likelihood->log_p_many(code, report + shape->offset, q, k, room);
    label->likelihood->log_p_many(label, report + shape->label_offset, q + k,
                                  classes, room + k);
    for (size_t c = 0; c < k; c++) {
        for (size_t y = 0; y < classes; y++) {
            ret_log_p[c * classes + y] = room[c] + room[k + y];
        }
    }
}

/* ---- Filling ------------------------------------------------------------ */

struct filling {
    struct codes *codes;
    const struct codes_shape *shape;
    const uint8_t *const *report;
    const int32_t *q;
    double *room;     /* of a worker: pairs + cells + classes */
    size_t room_size; /* that many */
    double *least;    /* of a block: the smallest L */
    double *log_most; /* of a block: sum of ln largest */
    bool *two;        /* of a block: no L but 1 and the smallest */
};

static size_t
rows_of(const struct codes *codes, size_t block)
{
    size_t left = codes->rows - block * CODES_BLOCK;
    return left < CODES_BLOCK ? left : CODES_BLOCK;
}

/* ln of the rate at which a pair is named, or not, where each is the truth. */
static void
weigh_count(const struct filling *filling, size_t row, double *ret_log_p)
{
    const struct likelihood_instance *code = filling->shape->code;
    double other = code->own[SYMBOLS_RATE_OTHER];
    double in = code->own[SYMBOLS_GAP] + other;
    bool named = row % 2 == 0;
    for (size_t p = 0; p < filling->codes->pairs; p++) {
        double rate = p == row / 2 ? in : other;
        ret_log_p[p] = log(named ? rate : 1 - rate);
    }
}

/* L of one report, the largest 1; ln of what it was divided by. */
static double
weigh_report(const struct filling *filling, size_t i, double *room)
{
    size_t pairs = filling->codes->pairs;
    double most = -INFINITY;
    if (filling->report == NULL) {
        weigh_count(filling, i, room);
    } else {
        codes_log_p(filling->shape, filling->report[i], filling->q,
                    room + pairs, room);
    }
    for (size_t p = 0; p < pairs; p++) {
        most = room[p] > most ? room[p] : most;
    }
    for (size_t p = 0; p < pairs; p++) {
        room[p] = exp(room[p] - most);
    }
    return most;
}

static void
measure_block(void *context, size_t block, unsigned worker)
{
    const struct filling *filling = context;
    const struct codes *codes = filling->codes;
    size_t pairs = codes->pairs, rows = rows_of(codes, block);
    double *room = filling->room + worker * filling->room_size;
    double least = 1, log_most = 0;
    bool two = true;
    for (size_t i = 0; i < rows; i++) {
        size_t row = block * CODES_BLOCK + i;
        log_most += codes_weight(codes, row) * weigh_report(filling, row, room);
        for (size_t p = 0; p < pairs; p++) {
            bool one = room[p] > 1 - SAME, low = room[p] < least + SAME;
            /* A lower level than the one seen before: there are three. */
            two = two && (one || low) &&
                  (one || least > 1 - SAME || room[p] > least - SAME);
            least = room[p] < least ? room[p] : least;
        }
    }
    filling->least[block] = least;
    filling->log_most[block] = log_most;
    filling->two[block] = two;
}

static void
fill_block(void *context, size_t block, unsigned worker)
{
    const struct filling *filling = context;
    struct codes *codes = filling->codes;
    size_t pairs = codes->pairs, rows = rows_of(codes, block);
    double *room = filling->room + worker * filling->room_size;
    double inverse = codes->step > 0 ? 1 / codes->step : 0;
    uint8_t *to = codes->b + block * pairs * CODES_BLOCK * codes->kept->size;
    float *whole = (float *)(void *)to;
    for (size_t i = 0; i < rows; i++) {
        (void)weigh_report(filling, block * CODES_BLOCK + i, room);
        for (size_t p = 0; p < pairs; p++) {
            size_t at = p * CODES_BLOCK + i;
            double b = (room[p] - codes->lo) * inverse;
            if (codes->width == CODES_8) {
                to[at] = (uint8_t)(b + 0.5);
            } else {
                whole[at] = (float)b;
            }
        }
    }
}

/* The levels, from what the blocks found. */
static void
set_levels(struct codes *codes, const struct filling *filling)
{
    bool two = true;
    codes->lo = 1;
    for (size_t i = 0; i < codes->blocks; i++) {
        double least = filling->least[i];
        codes->lo = least < codes->lo ? least : codes->lo;
        codes->log_most += filling->log_most[i];
    }
    for (size_t i = 0; i < codes->blocks; i++) {
        double least = filling->least[i];
        two = two && filling->two[i] &&
              (least < codes->lo + SAME || least > 1 - SAME);
    }
    if (two) {
        codes->width = CODES_8;
        codes->step = 1 - codes->lo;
    } else {
        codes->width = CODES_32;
        codes->lo = 0;
        codes->step = 1;
    }
    codes->kept = &codes->kernel->kept[codes->width];
}

/* Whether there is room for all b, of so many bytes each. */
static enum sotto_status
check_size(const struct codes_shape *shape, size_t reports, size_t blocks,
           size_t bytes, struct sotto_error *err)
{
    size_t most = BYTES_MOST / CODES_BLOCK / bytes / blocks; /* pairs */
    return shape->cells <= most / shape->classes
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_LIMIT, shape->cells,
                           "%zu reports about pairs of %zu codes and %zu "
                           "labels are too many to be learnt from at a time",
                           reports, shape->cells, shape->classes);
}

static enum sotto_status
fill_codes(struct codes *codes, struct filling *filling,
           struct sotto_error *err)
{
    enum sotto_status status;
    host_pool_run(codes->pool, codes->blocks, measure_block, filling);
    set_levels(codes, filling);
    status = check_size(filling->shape, codes->rows, codes->blocks,
                        codes->kept->size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    codes->b =
        calloc(codes->blocks, codes->pairs * CODES_BLOCK * codes->kept->size);
    codes->part = calloc(codes->blocks, (codes->pairs + 1) * sizeof(double));
    if (codes->b == NULL || codes->part == NULL) {
        return host_fail_memory(err);
    }
    host_pool_run(codes->pool, codes->blocks, fill_block, filling);
    return SOTTO_STATUS_OK;
}

enum sotto_status
codes_init(struct codes *codes, const struct codes_shape *shape,
           const uint8_t *const *report, size_t reports, struct host_pool *pool,
           struct sotto_error *err)
{
    const struct codes_reports each = {report, NULL, reports};
    return codes_init_times(codes, shape, &each, pool, err);
}

/* Keeps how often each row came, and counts the reports. */
static enum sotto_status
take_times(struct codes *codes, const struct codes_reports *reports,
           struct sotto_error *err)
{
    codes->reports = reports->rows;
    if (reports->times == NULL) {
        return SOTTO_STATUS_OK;
    }
    codes->times = calloc(codes->blocks, CODES_BLOCK * sizeof *codes->times);
    if (codes->times == NULL) {
        return host_fail_memory(err);
    }
    codes->reports = 0;
    for (size_t i = 0; i < reports->rows; i++) {
        codes->times[i] = reports->times[i];
        codes->reports += reports->times[i];
    }
    return SOTTO_STATUS_OK;
}

bool
codes_countable(const struct codes_shape *shape)
{
    return shape->label == NULL &&
           strcmp(shape->code->instance->channel->name, "subset") == 0;
}

/*
 * Every report is in each pair's two rows. Of w of k symbols that are named,
 * counts of contrasts vary k / (k - 1) times as much as if each were drawn by
 * itself, so each is worth so much less. sum_p J_p G_p is the sum of weights;
 * less the shift it is the number of reports, as it is of whole reports, and
 * sums over a table, whose own is 1, change by a constant.
 */
static void
scale_counts(struct codes *codes, const struct codes_shape *shape)
{
    double k = shape->code->instance->size, all = (double)codes->reports;
    codes->reports = (codes->reports + codes->pairs / 2) / codes->pairs;
    codes->scale = (k - 1) / k;
    codes->shift = codes->scale * all - (double)codes->reports;
}

enum sotto_status
codes_init_times(struct codes *codes, const struct codes_shape *shape,
                 const struct codes_reports *reports, struct host_pool *pool,
                 struct sotto_error *err)
{
    unsigned workers = pool != NULL ? host_pool_threads(pool) : 1;
    struct filling filling = {
        .codes = codes, .shape = shape, .report = reports->report};
    enum sotto_status status = SOTTO_STATUS_OK;
    int32_t *q = NULL;
    size_t rows = reports->rows;
    size_t blocks = rows / CODES_BLOCK + (rows % CODES_BLOCK > 0);
    memset(codes, 0, sizeof *codes);
    if (rows == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "no reports to learn from");
    }
    status = check_size(shape, rows, blocks, 1, err); /* the least */
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    *codes = (struct codes){.cells = shape->cells,
                            .classes = shape->classes,
                            .pairs = shape->cells * shape->classes,
                            .rows = rows,
                            .scale = 1,
                            .blocks = blocks,
                            .pool = pool,
                            .kernel = codes_kernel_best()};
    filling.room_size = codes->pairs + shape->cells + shape->classes;
    filling.q = q = codes_points(shape);
    filling.room = calloc(workers * filling.room_size, sizeof(double));
    filling.least = calloc(codes->blocks, sizeof(double));
    filling.log_most = calloc(codes->blocks, sizeof(double));
    filling.two = calloc(codes->blocks, sizeof(bool));
    if (q == NULL || filling.room == NULL || filling.least == NULL ||
        filling.log_most == NULL || filling.two == NULL) {
        status = host_fail_memory(err);
    }
    status = HOST_THEN(status, take_times(codes, reports, err));
    if (status == SOTTO_STATUS_OK && reports->report == NULL) {
        scale_counts(codes, shape);
    }
    status = HOST_THEN(status, fill_codes(codes, &filling, err));
    free(q);
    free(filling.room);
    free(filling.least);
    free(filling.log_most);
    free(filling.two);
    if (status != SOTTO_STATUS_OK) {
        codes_clear(codes);
    }
    return status;
}

void
codes_clear(struct codes *codes)
{
    free(codes->b);
    free(codes->part);
    free(codes->times);
    memset(codes, 0, sizeof *codes);
}

/* ---- Weights ------------------------------------------------------------- */

double
codes_log_sum(const struct codes *codes, size_t block, const float *s)
{
    const uint32_t *times = codes->times;
    double sum = 0;
    if (times == NULL) {
        return codes->kernel->log_sum(s, CODES_BLOCK);
    }
    times += block * CODES_BLOCK;
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        if (times[i] > 0) {
            double at = (double)(s[i] > CODES_LEAST ? s[i] : CODES_LEAST);
            sum += codes->scale * (double)times[i] * log(at);
        }
    }
    return sum;
}

#define DEAL_SEED UINT64_C(0x6465616c)

void
codes_deal(const struct codes *codes, size_t row, size_t folds,
           uint32_t *ret_count)
{
    struct seeded seeded;
    memset(ret_count, 0, folds * sizeof *ret_count);
    seeded_init(&seeded, DEAL_SEED, row);
    for (uint32_t i = 0; i < codes->times[row]; i++) {
        ret_count[draw_below(&seeded.random, (uint32_t)folds)]++;
    }
}

/* ---- A pass ------------------------------------------------------------- */

struct pass {
    struct codes *codes;
    const double *j;
    double sum; /* of j */
    bool gradient;
};

/* s = lo sum_p J_p + step sum_p J_p b_p; 1 beyond the last report. */
static void
set_s(const struct pass *pass, size_t block, float *s)
{
    const struct codes *codes = pass->codes;
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        s[i] = (float)(codes->lo * pass->sum);
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        if (pass->j[p] > 0) {
            codes_add(codes, codes_column(codes, block, p),
                      codes->step * pass->j[p], s);
        }
    }
    for (size_t i = rows_of(codes, block); i < CODES_BLOCK; i++) {
        s[i] = 1;
    }
}

/* G_p = lo sum_i 1/s_i + step sum_i b_ip / s_i */
static void
set_g(const struct codes *codes, size_t block, float *s, double *g)
{
    size_t rows = rows_of(codes, block);
    double all = 0;
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        float at = s[i] > CODES_LEAST ? s[i] : CODES_LEAST;
        s[i] = i < rows
                   ? (float)codes_weight(codes, block * CODES_BLOCK + i) / at
                   : 0;
        all += (double)s[i];
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        const void *b = codes_column(codes, block, p);
        double dot = codes->kept->dot(b, s, CODES_BLOCK);
        g[p] = codes->lo * all + codes->step * dot;
    }
}

static void
pass_block(void *context, size_t block, unsigned worker)
{
    const struct pass *pass = context;
    struct codes *codes = pass->codes;
    double *part = codes->part + block * (codes->pairs + 1);
    float s[CODES_BLOCK];
    (void)worker;
    set_s(pass, block, s);
    part[codes->pairs] = codes_log_sum(codes, block, s);
    if (pass->gradient) {
        set_g(codes, block, s, part);
    }
}

double
codes_pass(struct codes *codes, const double *j, double *ret_g)
{
    struct pass pass = {.codes = codes, .j = j, .gradient = ret_g != NULL};
    size_t pairs = codes->pairs;
    double sum = codes->log_most;
    for (size_t p = 0; p < pairs; p++) {
        pass.sum += j[p];
    }
    host_pool_run(codes->pool, codes->blocks, pass_block, &pass);
    for (size_t p = 0; p < pairs && ret_g != NULL; p++) {
        ret_g[p] = 0;
    }
    for (size_t block = 0; block < codes->blocks; block++) {
        const double *part = codes->part + block * (pairs + 1);
        for (size_t p = 0; p < pairs && ret_g != NULL; p++) {
            ret_g[p] += part[p];
        }
        sum += part[pairs];
    }
    for (size_t p = 0; p < pairs && ret_g != NULL; p++) {
        ret_g[p] -= codes->shift;
    }
    return sum;
}

/* ---- How much they say --------------------------------------------------- */

/* Adds sum_i (L_ip / s_i - 1)^2 over a block, by weight. */
static double
pair_information(const struct codes *codes, size_t block, const float *s,
                 size_t pair)
{
    const uint8_t *b = codes_column(codes, block, pair);
    size_t rows = rows_of(codes, block);
    float at[CODES_BLOCK] = {0};
    double sum = 0;
    codes_add(codes, b, 1, at);
    for (size_t i = 0; i < rows; i++) {
        double gap =
            (codes->lo + codes->step * (double)at[i]) / (double)s[i] - 1;
        sum += codes_weight(codes, block * CODES_BLOCK + i) * gap * gap;
    }
    return sum;
}

static void
add_information(const struct codes *codes, size_t block, const double *pi,
                const double *share, double *information)
{
    size_t classes = codes->classes;
    float s[CODES_BLOCK];
    for (size_t i = 0; i < CODES_BLOCK; i++) {
        s[i] = (float)codes->lo;
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        codes_add(codes, codes_column(codes, block, p),
                  codes->step * pi[p / classes] * share[p % classes], s);
    }
    for (size_t p = 0; p < codes->pairs; p++) {
        information[p] += pair_information(codes, block, s, p);
    }
}

/* The first block stands for all reports, if their order is by lot: not if rows
   are of what came several times. */
void
codes_information(const struct codes *codes, const double *pi,
                  const double *share, double *ret_information)
{
    size_t blocks = codes->times != NULL ? codes->blocks : 1;
    memset(ret_information, 0, codes->pairs * sizeof *ret_information);
    for (size_t block = 0; block < blocks; block++) {
        add_information(codes, block, pi, share, ret_information);
    }
    for (size_t p = 0; p < codes->pairs && codes->times == NULL; p++) {
        ret_information[p] *=
            (double)codes->reports / (double)rows_of(codes, 0);
    }
}

/* The mean information stands for each pair's own: where pairs are many, most
   are named by no report of the block, and that says nothing of how much
   another collection would tell of them. The pi_c cancel. */
double
codes_error(const struct codes *codes, const double *information)
{
    double sum = 0;
    for (size_t p = 0; p < codes->pairs; p++) {
        sum += information[p];
    }
    return (double)codes->cells / sqrt(sum / (double)codes->pairs);
}
