/*
 * safetensors_write.c: writing safetensors files; see safetensors.c for what
 * they look like.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/safetensors_type.h"

#define LENGTH_SIZE 8u

/* Fills the sizes. What is wrong here is wrong in the program. */
static enum sotto_status
check_entries(struct safetensors_entry *entry, size_t count,
              struct sotto_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (safetensors_type_size(entry[i].type) == 0 ||
            entry[i].rank > SAFETENSORS_RANK_MAX ||
            !safetensors_size(&entry[i], &entry[i].size) ||
            __builtin_add_overflow(total, entry[i].size, &total) ||
            total > INT64_MAX) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "the tensor '%s' has no type or shape that a "
                             "safetensors file can hold",
                             entry[i].name);
        }
    }
    return SOTTO_STATUS_OK;
}

/* {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}; NULL: no memory. */
static json_t *
describe_tensor(const struct safetensors_entry *entry, size_t begin)
{
    size_t end = begin + entry->size;
    json_t *shape = json_array();
    bool failed = shape == NULL;
    for (size_t i = 0; i < entry->rank; i++) {
        failed |= json_array_append_new(
                      shape, json_integer((json_int_t)entry->shape[i])) != 0;
    }
    if (failed) {
        json_decref(shape);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype",
                     safetensors_type_name(entry->type), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)end);
}

/* Sets what is new in the header; false for lack of memory. */
static bool
add_metadata(json_t *header, const json_t *metadata)
{
    char *text = json_dumps(metadata, JSON_COMPACT);
    json_t *object = text == NULL ? NULL : json_pack("{s:s}", "sotto", text);
    free(text);
    return json_object_set_new(header, "__metadata__", object) == 0;
}

static enum sotto_status
make_header(const json_t *metadata, const struct safetensors_entry *entry,
            size_t count, json_t *header, struct sotto_error *err)
{
    size_t begin = 0;
    if (metadata != NULL && !add_metadata(header, metadata)) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (json_object_get(header, entry[i].name) != NULL) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "two tensors are named '%s'", entry[i].name);
        }
        if (json_object_set_new(header, entry[i].name,
                                describe_tensor(&entry[i], begin)) != 0) {
            return host_fail_memory(err);
        }
        begin += entry[i].size;
    }
    return SOTTO_STATUS_OK;
}

/* Header, spaces up to a multiple of 8, tensors. */
static enum sotto_status
write_all(struct sotto_output *output, const char *header,
          const struct safetensors_entry *entry, size_t count,
          struct sotto_error *err)
{
    uint8_t length[LENGTH_SIZE];
    size_t size = strlen(header);
    size_t padding = (LENGTH_SIZE - size % LENGTH_SIZE) % LENGTH_SIZE;
    bytes_store(length, sizeof length, size + padding);
    enum sotto_status status =
        sotto_output_write(output, length, sizeof length, err);
    status = HOST_THEN(status, sotto_output_write(output, header, size, err));
    status =
        HOST_THEN(status, sotto_output_write(output, "       ", padding, err));
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        status = sotto_output_write(output, entry[i].data, entry[i].size, err);
    }
    return status;
}

enum sotto_status
safetensors_write(const char *path, unsigned mode, const json_t *metadata,
                  struct safetensors_entry *entry, size_t count,
                  struct sotto_error *err)
{
    struct sotto_output *output = NULL;
    char *text = NULL;
    json_t *header = json_object();
    enum sotto_status status = check_entries(entry, count, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    if (header == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = make_header(metadata, entry, count, header, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    text = json_dumps(header, JSON_COMPACT);
    if (text == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = sotto_output_new(path, mode, false, &output, err);
    status = HOST_THEN(status, write_all(output, text, entry, count, err));
    if (status == SOTTO_STATUS_OK) {
        status = sotto_output_commit(output, err);
        output = NULL;
    }
done:
    sotto_output_free(output);
    free(text);
    json_decref(header);
    return status;
}
