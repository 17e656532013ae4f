/*
 * model_file.c: models as safetensors files.
 *
 *     mechanism          U8   the mechanism's bytes
 *     ...                     the learner's own tensors
 *
 * and as metadata {"kind": "model", "version": 1, the learner's own}, with
 * "learner" before the last where it is not the first that takes the mechanism,
 * and "clean": true where it was fitted to clean records or labels (0.1.0 did
 * not say so). Nothing else may be in it. Shapes follow from the mechanism and
 * the metadata, so there is one spelling of a model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "learn/learner.h"
#include "mechanism/mechanism.h"

#define VERSION 1
#define FILE_MOST ((size_t)1 << 31)
/* A model with a prior tells of the auxiliary people, as an analyst file
   does. */
#define PRIVATE_MODE 0600u
#define ROOM_FIRST 16u

/* ---- Writing ------------------------------------------------------------ */

static bool
grow_model(struct model_tensors *tensors)
{
    size_t room = tensors->room > 0 ? 2 * tensors->room : ROOM_FIRST;
    void *entry = realloc(tensors->entry, room * sizeof *tensors->entry);
    void *name = NULL;
    if (entry != NULL) {
        tensors->entry = entry;
        name = realloc(tensors->name, room * sizeof *tensors->name);
    }
    if (name != NULL) {
        tensors->name = name;
        tensors->room = room;
    }
    return name != NULL;
}

void
model_tensors_add(struct model_tensors *tensors, const char *name,
                  enum safetensors_type type, size_t rows, size_t columns,
                  const void *data)
{
    size_t i = tensors->count;
    if (tensors->failed || (i == tensors->room && !grow_model(tensors))) {
        tensors->failed = true;
        return;
    }
    (void)snprintf(tensors->name[i], MODEL_NAME_SIZE, "%s", name);
    tensors->entry[i] = (struct safetensors_entry){.type = type,
                                                   .rank = columns > 0 ? 2 : 1,
                                                   .shape = {rows, columns},
                                                   .data = data};
    tensors->count++;
}

void
model_tensors_say(struct model_tensors *tensors, const char *name,
                  json_t *value)
{
    if (json_object_set_new(tensors->metadata, name, value) != 0) {
        tensors->failed = true;
    }
}

static void
fill_tensors(const struct sotto_model *model, struct model_tensors *tensors)
{
    const struct learner *learner = model->learner;
    tensors->metadata =
        json_pack("{s:s, s:i}", "kind", "model", "version", VERSION);
    if (learner_find(NULL, model->mechanism) != learner) {
        model_tensors_say(tensors, "learner", json_string(learner->name));
    }
    if (model->clean) {
        model_tensors_say(tensors, "clean", json_true());
    }
    model_tensors_add(tensors, "mechanism", SAFETENSORS_U8,
                      model->mechanism->size, 0, model->mechanism->data);
    learner->write(model, tensors);
    for (size_t i = 0; i < tensors->count; i++) { /* they have settled */
        tensors->entry[i].name = tensors->name[i];
    }
}

enum sotto_status
sotto_model_write(const struct sotto_model *model, const char *path,
                  struct sotto_error *err)
{
    struct model_tensors tensors = {0};
    enum sotto_status status;
    fill_tensors(model, &tensors);
    status = tensors.failed
                 ? host_fail_memory(err)
                 : safetensors_write(path, PRIVATE_MODE, tensors.metadata,
                                     tensors.entry, tensors.count, err);
    json_decref(tensors.metadata);
    free(tensors.entry);
    free(tensors.name);
    return status;
}

/* ---- Reading ------------------------------------------------------------ */

size_t
model_fields(const json_t *metadata)
{
    size_t fields = json_object_get(metadata, "learner") != NULL ? 3 : 2;
    bool clean = json_is_true(json_object_get(metadata, "clean"));
    return clean ? fields + 1 : fields;
}

static enum sotto_status
check_kind(const json_t *metadata, struct sotto_error *err)
{
    const char *kind = json_string_value(json_object_get(metadata, "kind"));
    if (kind == NULL || strcmp(kind, "model") != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "this is not a model");
    }
    if (json_integer_value(json_object_get(metadata, "version")) != VERSION) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "this is a model of another version");
    }
    return SOTTO_STATUS_OK;
}

/* Finds the learner that made it: the one it names, which must be one for the
   mechanism, and not the first, which goes without saying. */
static enum sotto_status
find_learner(const json_t *metadata, const struct sotto_mechanism *mechanism,
             const struct learner **ret_learner, struct sotto_error *err)
{
    const json_t *name = json_object_get(metadata, "learner");
    const struct learner *first = learner_find(NULL, mechanism);
    const struct learner *learner =
        json_is_string(name) ? learner_find(json_string_value(name), mechanism)
                             : NULL;
    *ret_learner = name == NULL ? first : learner;
    return *ret_learner != NULL && learner != first
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "no such learner takes its mechanism");
}

static enum sotto_status
read_model(const struct safetensors *file, struct sotto_model **ret_model,
           struct sotto_error *err)
{
    const json_t *metadata = safetensors_metadata(file);
    const struct safetensors_entry *entry = NULL;
    const struct learner *learner = NULL;
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_model *model = NULL;
    enum sotto_status status = check_kind(metadata, err);
    status =
        HOST_THEN(status, safetensors_want(file, "mechanism", SAFETENSORS_U8, 1,
                                           SIZE_MAX, 0, &entry, err));
    status =
        HOST_THEN(status, sotto_mechanism_parse(entry->data, entry->size,
                                                "mechanism", &mechanism, err));
    status =
        HOST_THEN(status, find_learner(metadata, mechanism, &learner, err));
    status = HOST_THEN(status, model_new(learner, mechanism, &model, err));
    status = HOST_THEN(status, learner->read(model, file, err));
    if (status == SOTTO_STATUS_OK) {
        model->clean = json_is_true(json_object_get(metadata, "clean"));
    }
    sotto_mechanism_free(mechanism);
    if (status == SOTTO_STATUS_OK) {
        *ret_model = model;
    } else {
        sotto_model_free(model);
    }
    return status;
}

/* Reports any fault of the content as FORMAT, with the file's name before
   it. */
static enum sotto_status
finish_reading(const struct safetensors *file, const char *name,
               struct sotto_model **ret_model, struct sotto_error *err)
{
    struct sotto_error cause = {0};
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
    status = HOST_THEN(status, finish_reading(file, path, ret_model, err));
    safetensors_free(file);
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

enum sotto_status
model_parse(const void *data, size_t size, const char *name,
            struct sotto_model **ret_model, struct sotto_error *err)
{
    struct safetensors *file = NULL;
    enum sotto_status status = safetensors_parse(data, size, name, &file, err);
    status = HOST_THEN(status, finish_reading(file, name, ret_model, err));
    safetensors_free(file);
    return status;
}
