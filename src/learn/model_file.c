/*
 * model_file.c: models as safetensors files.
 *
 *     mechanism          U8   the mechanism's bytes
 *     netN.L.weight      F32  layer L of network N, out rows of in
 *     netN.L.bias        F32
 *     prior.point        I32  MARGINAL alone: the points
 *     prior.p            F32  likewise: what the networks say of them
 *     codes.pi           F64  codebooks alone: shares of the cells
 *     codes.tau          F64  labels in cells, as reports say
 *     codes.tau_bar      F64  likewise, as the network says
 *
 * A codebook has no prior, whatever its objective,
 * and as metadata {"kind": "model", "version": 1, "objective", "level",
 * "other", "hidden": [widths], "nets"}. Nothing else may be in it. Shapes
 * follow from the mechanism and the metadata, so there is one spelling of a
 * model.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/safetensors.h"
#include "learn/model.h"

#define VERSION 1
#define FILE_MOST ((size_t)1 << 31)
/* With its prior it tells of the auxiliary people, as an analyst file does. */
#define PRIVATE_MODE 0600u
#define NAME_SIZE 64u  /* "net", ".", ".bias" and two numbers of 20 digits */
#define SUM_ERROR 1e-3 /* of a row of probabilities, from 1 */

static const char *const objectives[] = {"marginal", "label", "plain"};
static const char *const levels[] = {"latent", "feature"};

/* ---- Writing ------------------------------------------------------------ */

static json_t *
make_metadata(const struct sotto_model *model)
{
    json_t *hidden = json_array();
    json_t *metadata =
        json_pack("{s:s, s:i, s:s, s:s, s:b, s:I, s:o}", "kind", "model",
                  "version", VERSION, "objective", objectives[model->objective],
                  "level", levels[model->level], "other", (int)model->other,
                  "nets", (json_int_t)model->nets, "hidden", hidden);
    bool good = metadata != NULL;
    for (size_t i = 0; good && i < model->hiddens; i++) {
        good = json_array_append_new(
                   hidden, json_integer((json_int_t)model->hidden[i])) == 0;
    }
    if (!good) {
        json_decref(metadata);
        metadata = NULL;
    }
    return metadata;
}

static void
name_tensor(char name[NAME_SIZE], size_t net, size_t layer, const char *what)
{
    (void)snprintf(name, NAME_SIZE, "net%zu.%zu.%s", net, layer, what);
}

/* Those of a codebook. */
static size_t
fill_tables(const struct sotto_model *model, struct safetensors_entry *entry,
            size_t count)
{
    size_t cells = model->codes.cells;
    entry[count++] = (struct safetensors_entry){.name = "codes.pi",
                                                .type = SAFETENSORS_F64,
                                                .rank = 1,
                                                .shape = {cells},
                                                .data = model->pi};
    entry[count++] =
        (struct safetensors_entry){.name = "codes.tau",
                                   .type = SAFETENSORS_F64,
                                   .rank = 2,
                                   .shape = {cells, model->classes},
                                   .data = model->tau};
    entry[count++] =
        (struct safetensors_entry){.name = "codes.tau_bar",
                                   .type = SAFETENSORS_F64,
                                   .rank = 2,
                                   .shape = {cells, model->classes},
                                   .data = model->tau_bar};
    return count;
}

/* Entries of the file; `name` has room for two names a layer. */
static size_t
fill_entries(const struct sotto_model *model, struct safetensors_entry *entry,
             char (*name)[NAME_SIZE])
{
    size_t count = 0, names = 0;
    entry[count++] =
        (struct safetensors_entry){.name = "mechanism",
                                   .type = SAFETENSORS_U8,
                                   .rank = 1,
                                   .shape = {model->mechanism->size},
                                   .data = model->mechanism->data};
    for (size_t i = 0; i < model->nets; i++) {
        const struct nn_graph *stack = &model->net[i].stack;
        for (size_t j = 0; j < stack->layers; j++) {
            const struct nn_place *place = &stack->layer[j];
            name_tensor(name[names], i, j, "weight");
            entry[count++] = (struct safetensors_entry){
                .name = name[names++],
                .type = SAFETENSORS_F32,
                .rank = 2,
                .shape = {place->out, place->in},
                .data = nn_arena_value(stack->arena, place->weight)};
            name_tensor(name[names], i, j, "bias");
            entry[count++] = (struct safetensors_entry){
                .name = name[names++],
                .type = SAFETENSORS_F32,
                .rank = 1,
                .shape = {place->out},
                .data = nn_arena_value(stack->arena, place->bias)};
        }
    }
    if (model->codes.cells > 0) {
        count = fill_tables(model, entry, count);
    }
    if (model->points > 0) {
        entry[count++] = (struct safetensors_entry){
            .name = "prior.point",
            .type = SAFETENSORS_I32,
            .rank = 2,
            .shape = {model->points, model->shape.width},
            .data = model->point};
        entry[count++] =
            (struct safetensors_entry){.name = "prior.p",
                                       .type = SAFETENSORS_F32,
                                       .rank = 2,
                                       .shape = {model->points, model->classes},
                                       .data = model->p};
    }
    return count;
}

enum sotto_status
sotto_model_write(const struct sotto_model *model, const char *path,
                  struct sotto_error *err)
{
    size_t tensors = 2 * model->nets * (model->hiddens + 1);
    struct safetensors_entry *entry = calloc(tensors + 4, sizeof *entry);
    char(*name)[NAME_SIZE] = calloc(tensors, sizeof *name);
    json_t *metadata = make_metadata(model);
    enum sotto_status status;
    if (entry == NULL || name == NULL || metadata == NULL) {
        status = host_fail_memory(err);
    } else {
        status = safetensors_write(path, PRIVATE_MODE, metadata, entry,
                                   fill_entries(model, entry, name), err);
    }
    json_decref(metadata);
    free(name);
    free(entry);
    return status;
}

/* ---- Reading ------------------------------------------------------------ */

/* What the metadata says. */
struct header {
    enum sotto_objective objective;
    enum sotto_level level;
    bool other;
    size_t nets, hiddens;
    uint32_t hidden[MODEL_HIDDEN_MAX];
};

/* The number of a word on a list; SIZE_MAX if it is not on it. */
static size_t
find_word(const json_t *word, const char *const *list, size_t count)
{
    const char *text = json_string_value(word);
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, list[i]) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static bool
read_hidden(const json_t *list, struct header *header)
{
    if (!json_is_array(list) || json_array_size(list) > MODEL_HIDDEN_MAX) {
        return false;
    }
    header->hiddens = json_array_size(list);
    for (size_t i = 0; i < header->hiddens; i++) {
        const json_t *width = json_array_get(list, i);
        if (!json_is_integer(width) || json_integer_value(width) < 1 ||
            json_integer_value(width) > MODEL_WIDTH_MAX) {
            return false;
        }
        header->hidden[i] = (uint32_t)json_integer_value(width);
    }
    return true;
}

static enum sotto_status
read_header(const json_t *metadata, struct header *ret, struct sotto_error *err)
{
    size_t objective =
        find_word(json_object_get(metadata, "objective"), objectives, 3);
    size_t level = find_word(json_object_get(metadata, "level"), levels, 2);
    const json_t *nets = json_object_get(metadata, "nets");
    const json_t *other = json_object_get(metadata, "other");
    static const char *const kinds[] = {"model"};
    if (find_word(json_object_get(metadata, "kind"), kinds, 1) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "this is not a model");
    }
    if (json_integer_value(json_object_get(metadata, "version")) != VERSION) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "this is a model of another version");
    }
    if (objective == SIZE_MAX || level == SIZE_MAX || !json_is_integer(nets) ||
        json_integer_value(nets) < 1 ||
        json_integer_value(nets) > MODEL_NETS_MAX ||
        !read_hidden(json_object_get(metadata, "hidden"), ret) ||
        json_object_size(metadata) != 7 || !json_is_boolean(other)) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "what it says of itself is not a model's");
    }
    ret->objective = (enum sotto_objective)objective;
    ret->level = (enum sotto_level)level;
    ret->other = json_is_true(other);
    ret->nets = (size_t)json_integer_value(nets);
    return SOTTO_STATUS_OK;
}

/* Copies finite floats. */
static enum sotto_status
copy_floats(const struct safetensors_entry *entry, float *to,
            struct sotto_error *err)
{
    size_t count = entry->size / sizeof(float);
    memcpy(to, entry->data, entry->size);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(to[i])) {
            return host_fail(err, SOTTO_STATUS_FORMAT, i,
                             "number %zu of \"%s\" is not finite", i,
                             entry->name);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_tensor(const struct safetensors *file, const char *name, size_t rank,
            size_t rows, size_t columns, float *to, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    enum sotto_status status = safetensors_want(
        file, name, SAFETENSORS_F32, rank, rows, columns, &entry, err);
    return status == SOTTO_STATUS_OK ? copy_floats(entry, to, err) : status;
}

static enum sotto_status
read_nets(const struct safetensors *file, struct sotto_model *model,
          struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    char name[NAME_SIZE];
    for (size_t i = 0; i < model->nets; i++) {
        const struct nn_graph *stack = &model->net[i].stack;
        for (size_t j = 0; j < stack->layers && status == SOTTO_STATUS_OK;
             j++) {
            const struct nn_place *place = &stack->layer[j];
            name_tensor(name, i, j, "weight");
            status =
                read_tensor(file, name, 2, place->out, place->in,
                            nn_arena_value(stack->arena, place->weight), err);
            if (status == SOTTO_STATUS_OK) {
                name_tensor(name, i, j, "bias");
                status =
                    read_tensor(file, name, 1, place->out, 0,
                                nn_arena_value(stack->arena, place->bias), err);
            }
        }
    }
    return status;
}

/* Whether every row is of probabilities that add up to 1. */
static bool
are_probabilities(const float *p, size_t rows, size_t classes)
{
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t y = 0; y < classes; y++) {
            double at = (double)p[i * classes + y];
            if (!(at >= 0 && at <= 1 + SUM_ERROR)) {
                return false;
            }
            sum += at;
        }
        if (!(fabs(sum - 1) < SUM_ERROR)) {
            return false;
        }
    }
    return true;
}

/* A table of a codebook, whose rows are of probabilities, none below `least`.
   Rows of 0 numbers stand for one vector. */
static enum sotto_status
read_table(const struct safetensors *file, const char *name, size_t rows,
           size_t columns, double least, double *to, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    size_t width = columns > 0 ? columns : rows, count;
    double sum = 0;
    bool good = true;
    enum sotto_status status =
        safetensors_want(file, name, SAFETENSORS_F64, columns > 0 ? 2 : 1, rows,
                         columns, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    memcpy(to, entry->data, entry->size);
    count = entry->size / sizeof *to;
    for (size_t i = 0; i < count && good; i++) {
        sum = i % width == 0 ? to[i] : sum + to[i];
        good = to[i] >= least && to[i] <= 1 + SUM_ERROR &&
               ((i + 1) % width != 0 || fabs(sum - 1) < SUM_ERROR);
    }
    return good ? SOTTO_STATUS_OK
                : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                            "\"%s\" does not hold probabilities", name);
}

static enum sotto_status
read_tables(const struct safetensors *file, struct sotto_model *model,
            struct sotto_error *err)
{
    size_t cells = model->codes.cells, classes = model->classes;
    enum sotto_status status =
        read_table(file, "codes.pi", cells, 0, DBL_MIN, model->pi, err);
    if (status == SOTTO_STATUS_OK) {
        status =
            read_table(file, "codes.tau", cells, classes, 0, model->tau, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = read_table(file, "codes.tau_bar", cells, classes, 0,
                            model->tau_bar, err);
    }
    return status;
}

/* Points that no report can be about are refused by prior_init. */
static enum sotto_status
check_points(const struct sotto_model *model, struct sotto_error *err)
{
    struct prior prior;
    enum sotto_status status =
        prior_init(&prior, &model->shape, model->point, model->points, err);
    if (status == SOTTO_STATUS_OK) {
        prior_clear(&prior);
    }
    return status;
}

static enum sotto_status
read_prior(const struct safetensors *file, struct sotto_model *model,
           struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    enum sotto_status status =
        safetensors_want(file, "prior.point", SAFETENSORS_I32, 2, SIZE_MAX,
                         model->shape.width, &entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    model->points = entry->shape[0];
    model->point = malloc(entry->size + 1);
    model->p = calloc(model->points + 1, model->classes * sizeof *model->p);
    if (model->point == NULL || model->p == NULL) {
        return host_fail_memory(err);
    }
    memcpy(model->point, entry->data, entry->size);
    status = read_tensor(file, "prior.p", 2, model->points, model->classes,
                         model->p, err);
    if (status == SOTTO_STATUS_OK &&
        !are_probabilities(model->p, model->points, model->classes)) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "\"prior.p\" does not hold probabilities");
    }
    return status == SOTTO_STATUS_OK ? check_points(model, err) : status;
}

/* That the file has the networks it speaks of, before there is room made for
   them: so a small file cannot ask for much memory. */
static enum sotto_status
check_tensors(const struct safetensors *file,
              const struct sotto_mechanism *mechanism,
              const struct header *header, struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    char name[NAME_SIZE];
    size_t first = 0, classes = 0;
    enum sotto_status status = model_measure(
        mechanism, header->level, header->other, &first, &classes, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (mechanism->shape.code != SIZE_MAX) {
        struct codes_shape codes;
        status = codes_shape_init(&codes, mechanism, header->other, err);
        if (status == SOTTO_STATUS_OK) {
            status = safetensors_want(file, "codes.tau", SAFETENSORS_F64, 2,
                                      codes.cells, classes, &entry, err);
        }
    }
    for (size_t i = 0; i < header->nets; i++) {
        size_t in = first;
        for (size_t j = 0; j <= header->hiddens && status == SOTTO_STATUS_OK;
             j++) {
            size_t out = j < header->hiddens ? header->hidden[j] : classes;
            name_tensor(name, i, j, "weight");
            status = safetensors_want(file, name, SAFETENSORS_F32, 2, out, in,
                                      &entry, err);
            in = out;
        }
    }
    return status;
}

/* That it has as many tensors as such a model has: 3 of a codebook, 2 of a
   prior. */
static enum sotto_status
check_count(const struct safetensors *file,
            const struct sotto_mechanism *mechanism,
            const struct header *header, struct sotto_error *err)
{
    size_t tensors = 1 + 2 * header->nets * (header->hiddens + 1);
    if (mechanism->shape.code != SIZE_MAX) {
        tensors += 3;
    } else if (header->objective == SOTTO_OBJECTIVE_MARGINAL) {
        tensors += 2;
    }
    return safetensors_count(file) == tensors
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "it has %zu tensors, and such a model has %zu",
                           safetensors_count(file), tensors);
}

static enum sotto_status
read_model(const struct safetensors *file, struct sotto_model **ret_model,
           struct sotto_error *err)
{
    const struct safetensors_entry *entry = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_model *model = NULL;
    struct header header = {0};
    enum sotto_status status =
        read_header(safetensors_metadata(file), &header, err);
    if (status == SOTTO_STATUS_OK) {
        status = safetensors_want(file, "mechanism", SAFETENSORS_U8, 1,
                                  SIZE_MAX, 0, &entry, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_mechanism_parse(entry->data, entry->size, "mechanism",
                                       &mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_count(file, mechanism, &header, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = check_tensors(file, mechanism, &header, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            model_new(mechanism, header.objective, header.level, header.other,
                      header.hidden, header.hiddens, header.nets, &model, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = read_nets(file, model, err);
    }
    if (status == SOTTO_STATUS_OK && model->codes.cells > 0) {
        status = read_tables(file, model, err);
    } else if (status == SOTTO_STATUS_OK &&
               header.objective == SOTTO_OBJECTIVE_MARGINAL) {
        status = read_prior(file, model, err);
    }
    sotto_mechanism_free(mechanism);
    if (status == SOTTO_STATUS_OK) {
        *ret_model = model;
    } else {
        sotto_model_free(model);
    }
    return status;
}

/* Any fault of the content is FORMAT, with the file's name before it. */
static enum sotto_status
finish(const struct safetensors *file, const char *name,
       struct sotto_model **ret_model, struct sotto_error *err)
{
    struct sotto_error cause = {SOTTO_STATUS_OK, 0, ""};
    enum sotto_status status = read_model(file, ret_model, &cause);
    if (status == SOTTO_STATUS_MEMORY) {
        return host_fail_memory(err);
    }
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, SOTTO_STATUS_FORMAT, cause.position,
                         "'%s' is not a usable model: %s", host_shown(name),
                         cause.message);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_model_read(const char *path, struct sotto_model **ret_model,
                 struct sotto_error *err)
{
    struct safetensors *file = NULL;
    enum sotto_status status = safetensors_read(path, FILE_MOST, &file, err);
    if (status == SOTTO_STATUS_OK) {
        status = finish(file, path, ret_model, err);
    }
    safetensors_free(file);
    return status;
}

enum sotto_status
model_parse(const void *data, size_t size, const char *name,
            struct sotto_model **ret_model, struct sotto_error *err)
{
    struct safetensors *file = NULL;
    enum sotto_status status = safetensors_parse(data, size, name, &file, err);
    if (status == SOTTO_STATUS_OK) {
        status = finish(file, name, ret_model, err);
    }
    safetensors_free(file);
    return status;
}
