/*
 * codebook.c: the representation of every auxiliary record, and its cells.
 *
 * The encoder is a mechanism's, of whatever kind. What it reported itself is of
 * no interest: its columns stay but for a label of its own, and its layers, but
 * for the last one of a codebook, whose outputs are scores.
 */
#include "encoder/codebook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/diffusion.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/settings.h"
#include "host/wipe.h"
#include "mechanism/crew.h"
#include "random/permute.h"
#include "schema/schema_fit.h"

#define CELLS_DEFAULT ((size_t)500)
#define CELL_ROWS ((size_t)20)   /* records a cell, at least, on average */
#define CELLS_A_CODE ((size_t)2) /* at least, where records allow it */
#define TREE_NEIGHBOURS "neighbours"
#define WALKS_LEAST 0.4 /* of an even part, in a tree of walks */
#define STREAM_RECORDS (UINT64_C(0x7265636f) << 32) /* of the seed */

/* ---- Columns ------------------------------------------------------------- */

/* A label that the encoder does not know: its categories are the table's, or
   ranges of its numbers. */
static enum sotto_status
fit_label(struct sotto_codebook *codebook, struct sotto_error *err)
{
    const struct sotto_table *table = codebook->table;
    size_t column = 0;
    enum sotto_status status =
        schema_fit_find(table, "label", codebook->options.label, &column, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    codebook->label = codebook->schema.columns;
    return schema_fit_label(
        &codebook->schema, table, column,
        schema_fit_as(codebook->options.schema, table, column),
        codebook->options.bins, err);
}

/* The encoder's inputs, in its order, and the label. */
static enum sotto_status
choose_columns(struct sotto_codebook *codebook, struct sotto_error *err)
{
    const struct compose_spec *spec = &codebook->parts.spec;
    const char *label = codebook->options.label;
    struct schema *schema = &codebook->schema;
    enum sotto_status status = schema_init(schema, spec->columns + 1, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < spec->columns; i++) {
        const struct schema_column *column = &spec->column[i];
        bool named = label != NULL && strcmp(column->name, label) == 0;
        bool input = column->inputs > 0;
        if (named && (input || !schema_kind(column->kind)->symbols)) {
            return schema_column_fail(
                SOTTO_STATUS_USAGE, "the label ", label,
                " goes into the encoder: take one that was "
                "trained without it",
                err);
        }
        if (named && column->edges != NULL && codebook->options.bins > 0) {
            continue; /* its ranges are cut anew */
        }
        if (named) {
            codebook->label = schema->columns;
        }
        if (named || input) {
            status = schema_add(schema, column, err);
        }
    }
    return status == SOTTO_STATUS_OK && label != NULL &&
                   codebook->label == SIZE_MAX
               ? fit_label(codebook, err)
               : status;
}

size_t
codebook_symbols(const struct sotto_codebook *codebook)
{
    return codebook->label == SIZE_MAX
               ? 1
               : codebook->schema.column[codebook->label].count;
}

/* ---- Representations ----------------------------------------------------- */

static void
put_representation(void *context, struct rows *rows, size_t row,
                   unsigned worker)
{
    const struct sotto_codebook *codebook = context;
    (void)worker;
    rows_representation(rows, codebook->row != NULL ? codebook->row[row] : row,
                        codebook->layers, codebook->z + row * codebook->d);
}

static enum sotto_status
check_representations(const struct sotto_codebook *codebook,
                      struct sotto_error *err)
{
    for (size_t i = 0; i < codebook->n * codebook->d; i++) {
        if (!isfinite(codebook->z[i])) {
            return host_fail(err, SOTTO_STATUS_INPUT, i / codebook->d,
                             "the encoder gives record %zu no finite "
                             "representation",
                             i / codebook->d + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
find_representations(struct sotto_codebook *codebook, struct sotto_error *err)
{
    struct crew crew;
    enum sotto_status status;
    codebook->z = calloc(codebook->n, codebook->d * sizeof *codebook->z);
    if (codebook->z == NULL) {
        return host_fail_memory(err);
    }
    status = crew_init(&crew, codebook->encoder, codebook->table,
                       codebook->pool, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = crew_run_watched(&crew, codebook->n, &codebook->options.watch,
                              "encoding", put_representation, codebook, err);
    crew_clear(&crew);
    return status == SOTTO_STATUS_OK ? check_representations(codebook, err)
                                     : status;
}

/* Whether the encoder is that of a codebook whose layer has no bias. */
static bool
has_directions(const struct sotto_mechanism *encoder)
{
    const struct encode_plan *plan = encoder->device.encoder;
    size_t layers = encoder->shape.z_layers;
    if (plan->layers != layers + 1) {
        return false;
    }
    for (size_t i = 0; i < plan->layer[layers].out; i++) {
        if (plan->layer[layers].bias[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Sets `place` to z, or to its rows at length 1; rows of zeros stay. */
static enum sotto_status
find_places(struct sotto_codebook *codebook, struct sotto_error *err)
{
    size_t n = codebook->n, d = codebook->d;
    codebook->place = codebook->z;
    if (!codebook->unit) {
        return SOTTO_STATUS_OK;
    }
    codebook->place = calloc(n, d * sizeof *codebook->place);
    if (codebook->place == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        const float *z = codebook->z + i * d;
        double square = 0;
        for (size_t j = 0; j < d; j++) {
            square += (double)z[j] * (double)z[j];
        }
        for (size_t j = 0; j < d && square > 0; j++) {
            codebook->place[i * d + j] = (float)((double)z[j] / sqrt(square));
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- Neighbours ---------------------------------------------------------- */

struct codebook_ground
codebook_ground(const struct sotto_codebook *codebook)
{
    return codebook->walks
               ? (struct codebook_ground){codebook->walked,
                                          diffusion_width(codebook->n)}
               : (struct codebook_ground){codebook->place, codebook->d};
}

enum sotto_status
codebook_cluster(const struct sotto_codebook *codebook, size_t cells,
                 uint64_t seed, struct clustering *ret, struct sotto_error *err)
{
    struct codebook_ground ground = codebook_ground(codebook);
    enum sotto_status status = clustering_init(
        ret, codebook->pool, codebook->backend, ground.x, codebook->n, ground.d,
        cells, seed, &codebook->options.watch, err);
    if (status == SOTTO_STATUS_OK && codebook->walks) {
        /* Walks say little of how far groups lie apart that no step joins. */
        ret->least = WALKS_LEAST;
        status =
            clustering_place(ret, codebook->pool, codebook->backend, ground.x,
                             codebook->n, codebook->place, codebook->d, err);
        if (status != SOTTO_STATUS_OK) {
            clustering_clear(ret);
        }
    }
    return status;
}

/* Whether the encoder takes one image, and nothing else. */
static bool
takes_image(const struct sotto_codebook *codebook)
{
    size_t inputs = 0, images = 0;
    for (size_t i = 0; i < codebook->schema.columns; i++) {
        const struct schema_column *column = &codebook->schema.column[i];
        if (column->inputs > 0) {
            size_t at = sotto_table_find(codebook->table, column->name);
            inputs++;
            images += at != SIZE_MAX &&
                      sotto_table_image(codebook->table, at).height > 1;
        }
    }
    return inputs == 1 && images == 1;
}

const char *
codebook_tree(const struct sotto_codebook *codebook)
{
    return codebook->columns > 0 ? "columns"
           : codebook->walks     ? TREE_NEIGHBOURS
                                 : "distances";
}

/* Whether walks among n records tell k codes apart. */
static bool
can_walk(size_t n, size_t k)
{
    return n >= DIFFUSION_ROWS_LEAST && n <= DIFFUSION_ROWS_MOST &&
           k <= diffusion_width(n);
}

static enum sotto_status
fail_tree(size_t n, size_t k, struct sotto_error *err)
{
    return settings_fail(
        err, "tree",
        "cannot be neighbours: these serve %zu to %zu records and, of %zu, "
        "at most %zu codes. Take distances, or fewer codes than %zu",
        DIFFUSION_ROWS_LEAST, DIFFUSION_ROWS_MOST, n, diffusion_width(n), k);
}

/* Whether cells for k codes are to be of walks, which tell so many parts apart
   as they have coordinates. They were seen to gain on images that have more
   codes than classes, and nowhere else (docs/codebook.md). */
static enum sotto_status
choose_tree(const struct sotto_codebook *codebook, size_t k, bool *ret_walks,
            struct sotto_error *err)
{
    const char *asked = codebook->options.tree;
    bool wanted = asked != NULL ? strcmp(asked, TREE_NEIGHBOURS) == 0
                                : k > sotto_codebook_classes(codebook) &&
                                      takes_image(codebook);
    bool able = can_walk(codebook->n, k);
    if (asked != NULL && wanted && !able) {
        return fail_tree(codebook->n, k, err);
    }
    *ret_walks = wanted && able && !codebook->unwalkable;
    return SOTTO_STATUS_OK;
}

/* Makes the coordinates of walks, where they are not there yet. */
static enum sotto_status
find_walks(struct sotto_codebook *codebook, struct sotto_error *err)
{
    size_t width = diffusion_width(codebook->n);
    float *walked;
    enum sotto_status status;
    if (codebook->walked != NULL) {
        return SOTTO_STATUS_OK;
    }
    walked = calloc(codebook->n, width * sizeof *walked);
    if (walked == NULL) {
        return host_fail_memory(err);
    }
    status = diffusion_embed(codebook->pool, codebook->backend, codebook->place,
                             codebook->n, codebook->d, codebook->options.seed,
                             &codebook->options.watch, walked, err);
    if (status != SOTTO_STATUS_OK) {
        host_wipe_free(walked, codebook->n * width * sizeof *walked);
        return status;
    }
    codebook->walked = walked;
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
measure_codebook(struct sotto_codebook *codebook, struct sotto_error *err)
{
    const struct shape *shape = &codebook->encoder->shape;
    codebook->records = sotto_table_rows(codebook->table);
    codebook->n = codebook->records;
    codebook->layers = (uint32_t)shape->z_layers;
    codebook->unit =
        codebook->options.unit || has_directions(codebook->encoder);
    if (codebook->layers == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the mechanism has no encoder: take one that was "
                         "learnt");
    }
    codebook->d = shape->width[codebook->layers];
    if (codebook->d > DEVICE_COLUMNS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, codebook->d,
                         "a representation of %zu numbers is too wide for a "
                         "codebook: at most %u",
                         codebook->d, DEVICE_COLUMNS_MAX);
    }
    if (codebook->n < 2 || codebook->n > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu row%s cannot be learnt from: at least 2",
                         codebook->n, codebook->n == 1 ? "" : "s");
    }
    return SOTTO_STATUS_OK;
}

/* Draws `most` records by lot, if there are more. */
static enum sotto_status
draw_records(struct sotto_codebook *codebook, size_t most,
             struct sotto_error *err)
{
    if (codebook->n <= most) {
        return SOTTO_STATUS_OK;
    }
    codebook->row = calloc(codebook->n, sizeof *codebook->row);
    if (codebook->row == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < codebook->n; i++) {
        codebook->row[i] = (uint32_t)i;
    }
    permute(codebook->row, sizeof *codebook->row, codebook->n, PERMUTE_UP,
            codebook->options.seed, STREAM_RECORDS);
    codebook->n = most;
    return SOTTO_STATUS_OK;
}

enum sotto_status
codebook_check(size_t rows, size_t cells, const char *tree, size_t k,
               struct sotto_error *err)
{
    size_t most = rows / CELL_ROWS > 2 ? rows / CELL_ROWS : 2;
    most = cells > 0 ? cells : most;
    k = k > 0 ? k : 2;
    if (tree != NULL && strcmp(tree, TREE_NEIGHBOURS) == 0 &&
        !can_walk(rows, k)) {
        return fail_tree(rows, k, err);
    }
    return codebook_head_check(k, most, err);
}

/* How many cells are asked for: fine ones, but none of a few records. */
static size_t
count_cells(const struct sotto_codebook *codebook, size_t most)
{
    size_t cells = codebook->n / CELL_ROWS;
    if (codebook->options.cells > 0) {
        return codebook->options.cells;
    }
    if (cells > most) {
        return most;
    }
    return cells > 2 ? cells : 2;
}

/* Makes the cells of the first book, at most so many. */
static enum sotto_status
find_cells(struct sotto_codebook *codebook, size_t most,
           struct sotto_error *err)
{
    size_t asked = count_cells(codebook, most);
    enum sotto_status status;
    codebook->books = 1;
    status = codebook_cluster(codebook, asked, codebook->options.seed,
                              &codebook->clustering, err);
    if (status == SOTTO_STATUS_OK) {
        size_t cells = codebook->clustering.cells;
        codebook->asked = asked;
        codebook->different =
            codebook->walks || cells == asked ? codebook->different : cells;
    }
    return status;
}

static void
clear_cells(struct sotto_codebook *codebook)
{
    codebook_books_clear(codebook);
    codebook_cuts_free(codebook->cut);
    codebook->cut = NULL;
    clustering_clear(&codebook->clustering);
    codebook->asked = 0; /* nothing is there, whatever comes next */
}

/* Cells that are fewer than was asked for have all records that differ; but for
   cells of walks, which say nothing of how many z allows. */
size_t
codebook_cells_most(const struct sotto_codebook *codebook)
{
    size_t cells = sotto_codebook_cells(codebook);
    size_t most = count_cells(codebook, SIZE_MAX);
    if (codebook->walks) {
        return codebook->different > 0 ? codebook->different : most;
    }
    return cells < codebook->asked || most < cells ? cells : most;
}

/* Makes books whose cells are of walks, or not. */
static enum sotto_status
make_books(struct sotto_codebook *codebook, bool walks, size_t cells,
           size_t books, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (cells > codebook->asked || walks != codebook->walks) {
        clear_cells(codebook);
        codebook->walks = walks;
        status = find_cells(codebook, cells, err);
    }
    return HOST_THEN(status, codebook_books_make(codebook, books, err));
}

enum sotto_status
codebook_prepare(struct sotto_codebook *codebook, size_t books, size_t k,
                 struct sotto_error *err)
{
    size_t fine = CELLS_A_CODE * k;
    size_t cells =
        count_cells(codebook, fine > CELLS_DEFAULT ? fine : CELLS_DEFAULT);
    bool walks = false;
    enum sotto_status status;
    if (codebook->columns > 0) {
        return SOTTO_STATUS_OK; /* a column's codes are not put together */
    }
    status = choose_tree(codebook, k, &walks, err);
    if (walks) {
        status = find_walks(codebook, err);
    }
    status = HOST_THEN(status, make_books(codebook, walks, cells, books, err));
    if (status == SOTTO_STATUS_OK && walks &&
        sotto_codebook_cells(codebook) < k) {
        codebook->unwalkable = true;
        status = make_books(codebook, false, cells, books, err);
    }
    return status;
}

static enum sotto_status
fill_codebook(struct sotto_codebook *codebook,
              const struct sotto_mechanism *encoder, size_t most,
              struct sotto_error *err)
{
    enum sotto_status status = mechanism_copy(encoder, &codebook->encoder, err);
    status = HOST_THEN(status, measure_codebook(codebook, err));
    status = HOST_THEN(status, draw_records(codebook, most, err));
    status = HOST_THEN(
        status, decompose_init(&codebook->parts, codebook->encoder, err));
    status = HOST_THEN(status, choose_columns(codebook, err));
    status = HOST_THEN(
        status, host_pool_new(codebook->options.threads, &codebook->pool, err));
    status = HOST_THEN(
        status, tensor_new("cpu", codebook->pool, &codebook->backend, err));
    status = HOST_THEN(status, find_representations(codebook, err));
    status = HOST_THEN(status, find_places(codebook, err));
    status = HOST_THEN(status, codebook_columns_find(codebook, err));
    return HOST_THEN(status, find_cells(codebook, CELLS_DEFAULT, err));
}

enum sotto_status
sotto_codebook_new(const struct sotto_table *table,
                   const struct sotto_mechanism *encoder,
                   const struct sotto_codebook_options *options,
                   struct sotto_codebook **ret_codebook,
                   struct sotto_error *err)
{
    return codebook_new_some(table, encoder, options, SIZE_MAX, ret_codebook,
                             err);
}

enum sotto_status
codebook_new_some(const struct sotto_table *table,
                  const struct sotto_mechanism *encoder,
                  const struct sotto_codebook_options *options, size_t most,
                  struct sotto_codebook **ret_codebook, struct sotto_error *err)
{
    struct sotto_codebook *codebook = calloc(1, sizeof *codebook);
    enum sotto_status status;
    if (codebook == NULL) {
        return host_fail_memory(err);
    }
    codebook->table = table;
    codebook->options = *options;
    codebook->label = SIZE_MAX;
    status = fill_codebook(codebook, encoder, most, err);
    if (status != SOTTO_STATUS_OK) {
        sotto_codebook_free(codebook);
        return status;
    }
    *ret_codebook = codebook;
    return SOTTO_STATUS_OK;
}

void
sotto_codebook_free(struct sotto_codebook *codebook)
{
    if (codebook == NULL) {
        return;
    }
    clear_cells(codebook);
    host_wipe_free(codebook->walked, codebook->n *
                                         diffusion_width(codebook->n) *
                                         sizeof *codebook->walked);
    if (codebook->place != codebook->z) {
        host_wipe_free(codebook->place,
                       codebook->n * codebook->d * sizeof *codebook->place);
    }
    host_wipe_free(codebook->z,
                   codebook->n * codebook->d * sizeof *codebook->z);
    free(codebook->row);
    free(codebook->column);
    schema_clear(&codebook->schema);
    decompose_clear(&codebook->parts);
    tensor_backend_free(codebook->backend);
    host_pool_free(codebook->pool);
    sotto_mechanism_free(codebook->encoder);
    free(codebook);
}

/* ---- Facts --------------------------------------------------------------- */

size_t
sotto_codebook_cells(const struct sotto_codebook *codebook)
{
    size_t cells = codebook->clustering.cells;
    for (size_t i = 1; i < codebook->books; i++) {
        size_t other = codebook->more[i - 1].clustering.cells;
        cells = other < cells ? other : cells;
    }
    return cells;
}

size_t
sotto_codebook_records(const struct sotto_codebook *codebook)
{
    return codebook->n;
}

size_t
sotto_codebook_classes(const struct sotto_codebook *codebook)
{
    return codebook_symbols(codebook) - 1;
}
