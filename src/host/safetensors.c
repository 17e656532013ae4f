/*
 * safetensors.c: reading safetensors files on a host.
 *
 *     8 bytes   size of the header, little-endian
 *     header    {"NAME":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},
 *                "__metadata__":{"sotto":"{...}"}}, and spaces
 *     data      the tensors, without gaps
 *
 * Nothing is allocated by what the header claims before its sizes were found
 * to multiply out to just the bytes that are there. The tensors are copied,
 * each to a multiple of 8: in the file only the first need be aligned.
 */
#include "host/safetensors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/file.h"
#include "host/printable.h"
#include "host/safetensors_type.h"

#define LENGTH_SIZE 8u
#define HEADER_MAX ((size_t)16 << 20)
#define ALIGNMENT ((size_t)8)
#define SHOWN_CHARACTERS 60

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "tensors are used as they lie in the file");

struct safetensors {
    char *name;     /* of the file */
    json_t *header; /* owns the tensors' names */
    json_t *metadata;
    struct safetensors_entry *entry;
    size_t count;
    uint8_t *memory;
};

/* Where a tensor lies in the file's data. */
struct span {
    size_t begin, end;
    size_t entry;
};
struct parsing {
    struct safetensors *file;
    struct span *span;
    const char *name; /* of the file, for messages */
};

const char *
safetensors_type_name(enum safetensors_type type)
{
    static const char *const names[] = {"F32", "F64", "I32", "U8", "U64"};
    return (size_t)type < sizeof names / sizeof *names ? names[type] : NULL;
}

size_t
safetensors_type_size(enum safetensors_type type)
{
    static const size_t sizes[] = {4, 8, 4, 1, 8};
    return (size_t)type < sizeof sizes / sizeof *sizes ? sizes[type] : 0;
}

/* The product of the shape and the type's size; false if it is too large. */
bool
safetensors_size(const struct safetensors_entry *entry, size_t *ret_size)
{
    size_t size = safetensors_type_size(entry->type);
    for (size_t i = 0; i < entry->rank; i++) {
        if (__builtin_mul_overflow(size, entry->shape[i], &size)) {
            return false;
        }
    }
    *ret_size = size;
    return true;
}

/* ---- Messages ----------------------------------------------------------- */

/* "FILE: the tensor 'NAME' WHAT", its name made safe to show. */
static enum sotto_status
fail_tensor(const char *file, const char *tensor, const char *what,
            struct sotto_error *err)
{
    struct host_text shown;
    host_text_init(&shown, 1024);
    host_printable_add(&shown, tensor, SHOWN_CHARACTERS);
    enum sotto_status status =
        host_fail(err, SOTTO_STATUS_FORMAT, 0, "%s: the tensor '%s' %s",
                  host_shown(file), shown.data == NULL ? "" : shown.data, what);
    host_text_clear(&shown);
    return status;
}

/* jansson has nothing to say where an object could not be made. */
static bool
is_memory(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    return code == json_error_out_of_memory || code == json_error_unknown;
}

/* An object from JSON text; duplicate keys are refused. */
static enum sotto_status
load_object(const char *file, const char *what, const char *text, size_t size,
            size_t position, json_t **ret_object, struct sotto_error *err)
{
    json_error_t problem;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (object == NULL && is_memory(&problem)) {
        return host_fail_memory(err);
    }
    if (object == NULL) {
        int at = problem.position < 0 ? 0 : problem.position;
        return host_fail(err, SOTTO_STATUS_FORMAT, position + (size_t)at,
                         "%s: %s is not JSON without duplicate keys (at its "
                         "byte %d)",
                         host_shown(file), what, at);
    }
    if (!json_is_object(object)) {
        json_decref(object);
        return host_fail(err, SOTTO_STATUS_FORMAT, position,
                         "%s: %s is not a JSON object", host_shown(file), what);
    }
    *ret_object = object;
    return SOTTO_STATUS_OK;
}

/* ---- The header --------------------------------------------------------- */

static bool
read_type(const json_t *value, enum safetensors_type *ret_type)
{
    const char *text = json_string_value(value);
    for (int t = SAFETENSORS_F32; text != NULL && t <= SAFETENSORS_U64; t++) {
        if (strcmp(text, safetensors_type_name((enum safetensors_type)t)) ==
            0) {
            *ret_type = (enum safetensors_type)t;
            return true;
        }
    }
    return false;
}

/* A list of at most `most` sizes; false if it is anything else. */
static bool
read_sizes(const json_t *list, size_t most, size_t *sizes, size_t *ret_count)
{
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > most) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return false;
        }
        sizes[i] = (size_t)json_integer_value(value);
    }
    *ret_count = count;
    return true;
}

static enum sotto_status
read_tensor(struct parsing *parsing, const char *name, const json_t *value,
            struct sotto_error *err)
{
    struct safetensors *file = parsing->file;
    struct safetensors_entry *entry = &file->entry[file->count];
    size_t offsets[2];
    size_t two = 0;
    const char *what = NULL;
    entry->name = name;
    if (!json_is_object(value) || json_object_size(value) != 3) {
        what = "is not described by dtype, shape and data_offsets alone";
    } else if (!read_type(json_object_get(value, "dtype"), &entry->type)) {
        what = "has another dtype than F32, F64, I32, U8 or U64";
    } else if (!read_sizes(json_object_get(value, "shape"),
                           SAFETENSORS_RANK_MAX, entry->shape, &entry->rank)) {
        what = "has a shape that is not a list of up to 4 sizes";
    } else if (!read_sizes(json_object_get(value, "data_offsets"), 2, offsets,
                           &two) ||
               two != 2) {
        what = "has data_offsets that are not two numbers";
    } else if (!safetensors_size(entry, &entry->size) ||
               offsets[0] > offsets[1] ||
               offsets[1] - offsets[0] != entry->size) {
        what = "has a shape that does not multiply out to its data_offsets";
    }
    if (what != NULL) {
        return fail_tensor(parsing->name, name, what, err);
    }
    parsing->span[file->count] =
        (struct span){offsets[0], offsets[1], file->count};
    file->count++;
    return SOTTO_STATUS_OK;
}

/* Strings only, as the format wants it; "sotto" holds an object. */
static enum sotto_status
read_metadata(struct parsing *parsing, json_t *value, struct sotto_error *err)
{
    const char *key;
    json_t *text;
    bool strings = json_is_object(value);
    json_object_foreach(value, key, text)
    {
        strings = strings && json_is_string(text);
    }
    if (!strings) {
        return host_fail(err, SOTTO_STATUS_FORMAT, LENGTH_SIZE,
                         "%s: its __metadata__ is not an object of strings",
                         host_shown(parsing->name));
    }
    text = json_object_get(value, "sotto");
    if (text == NULL) {
        return SOTTO_STATUS_OK;
    }
    json_t *object = NULL;
    enum sotto_status status = load_object(
        parsing->name, "the text in its metadata", json_string_value(text),
        json_string_length(text), 0, &object, err);
    if (status == SOTTO_STATUS_OK) {
        json_decref(parsing->file->metadata);
        parsing->file->metadata = object;
    }
    return status;
}

/* ---- The data ----------------------------------------------------------- */

/* By their beginnings; an empty tensor before the one that begins there. */
static int
compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;
    if (a->begin != b->begin) {
        return a->begin < b->begin ? -1 : 1;
    }
    return a->end < b->end ? -1 : a->end > b->end;
}

/* Every byte of the data in just one tensor; and the room for the copies. */
static enum sotto_status
check_spans(struct parsing *parsing, size_t size, size_t *ret_room,
            struct sotto_error *err)
{
    struct safetensors *file = parsing->file;
    size_t end = 0;
    size_t room = ALIGNMENT;
    if (file->count > 0) {
        qsort(parsing->span, file->count, sizeof *parsing->span, compare_spans);
    }
    for (size_t i = 0; i < file->count; i++) {
        const struct span *span = &parsing->span[i];
        if (span->begin != end) {
            return fail_tensor(parsing->name, file->entry[span->entry].name,
                               span->begin < end ? "overlaps another"
                                                 : "begins after a gap",
                               err);
        }
        end = span->end;
        room +=
            (span->end - span->begin + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        if (end > size) {
            break;
        }
    }
    if (end != size) {
        return host_fail(
            err, SOTTO_STATUS_FORMAT, 0,
            "%s: its header describes %zu bytes of data, but there "
            "are %zu: the file is damaged",
            host_shown(parsing->name), end, size);
    }
    *ret_room = room;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
copy_data(struct parsing *parsing, const uint8_t *data, size_t size,
          struct sotto_error *err)
{
    struct safetensors *file = parsing->file;
    size_t room = 0;
    enum sotto_status status = check_spans(parsing, size, &room, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    file->memory = malloc(room);
    if (file->memory == NULL) {
        return host_fail_memory(err);
    }
    size_t at = 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct span *span = &parsing->span[i];
        size_t bytes = span->end - span->begin;
        memcpy(file->memory + at, data + span->begin, bytes);
        file->entry[span->entry].data = file->memory + at;
        at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return SOTTO_STATUS_OK;
}

/* ---- The file ----------------------------------------------------------- */

static enum sotto_status
read_header(struct parsing *parsing, struct sotto_error *err)
{
    struct safetensors *file = parsing->file;
    enum sotto_status status = SOTTO_STATUS_OK;
    const char *key;
    json_t *value;
    size_t most = json_object_size(file->header) + 1;
    file->entry = calloc(most, sizeof *file->entry);
    parsing->span = calloc(most, sizeof *parsing->span);
    if (file->entry == NULL || parsing->span == NULL) {
        return host_fail_memory(err);
    }
    json_object_foreach(file->header, key, value)
    {
        status = strcmp(key, "__metadata__") == 0
                     ? read_metadata(parsing, value, err)
                     : read_tensor(parsing, key, value, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    return status;
}

static enum sotto_status
parse_file(struct parsing *parsing, const uint8_t *data, size_t size,
           struct sotto_error *err)
{
    struct safetensors *file = parsing->file;
    uint64_t header = size < LENGTH_SIZE ? 0 : bytes_load(data, LENGTH_SIZE);
    if (size < LENGTH_SIZE || header > size - LENGTH_SIZE ||
        header > HEADER_MAX) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "%s: not a safetensors file: a header of %" PRIu64
                         " bytes in a file of %zu",
                         host_shown(parsing->name), header, size);
    }
    enum sotto_status status = load_object(
        parsing->name, "its header", (const char *)data + LENGTH_SIZE,
        (size_t)header, LENGTH_SIZE, &file->header, err);
    status = HOST_THEN(status, read_header(parsing, err));
    status =
        HOST_THEN(status, copy_data(parsing, data + LENGTH_SIZE + header,
                                    size - LENGTH_SIZE - (size_t)header, err));
    return status;
}

enum sotto_status
safetensors_parse(const void *data, size_t size, const char *name,
                  struct safetensors **ret_file, struct sotto_error *err)
{
    enum sotto_status status;
    struct safetensors *file = calloc(1, sizeof *file);
    struct parsing parsing = {.file = file, .name = name};
    if (file == NULL) {
        return host_fail_memory(err);
    }
    file->name = strdup(name);
    file->metadata = json_object();
    if (file->name == NULL || file->metadata == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = parse_file(&parsing, data, size, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_file = file;
        file = NULL;
    }
done:
    free(parsing.span);
    safetensors_free(file);
    return status;
}

enum sotto_status
safetensors_read(const char *path, size_t limit, struct safetensors **ret_file,
                 struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status = host_file_read(path, limit, &data, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = safetensors_parse(data, size, path, ret_file, err);
    free(data);
    return status;
}

void
safetensors_free(struct safetensors *file)
{
    if (file == NULL) {
        return;
    }
    free(file->memory);
    free(file->entry);
    json_decref(file->metadata);
    json_decref(file->header);
    free(file->name);
    free(file);
}

/* ---- Looking things up -------------------------------------------------- */

const json_t *
safetensors_metadata(const struct safetensors *file)
{
    return file->metadata;
}

size_t
safetensors_count(const struct safetensors *file)
{
    return file->count;
}

const struct safetensors_entry *
safetensors_at(const struct safetensors *file, size_t i)
{
    return i < file->count ? &file->entry[i] : NULL;
}

const struct safetensors_entry *
safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->entry[i].name, name) == 0) {
            return &file->entry[i];
        }
    }
    return NULL;
}

/* "F32 [3, 4]" */
static void
describe_entry(const struct safetensors_entry *entry, struct host_text *text)
{
    host_text_print(text, "%s [", safetensors_type_name(entry->type));
    for (size_t i = 0; i < entry->rank; i++) {
        host_text_print(text, i == 0 ? "%zu" : ", %zu", entry->shape[i]);
    }
    host_text_print(text, "]");
}

enum sotto_status
safetensors_want(const struct safetensors *file, const char *name,
                 enum safetensors_type type, size_t rank, size_t rows,
                 size_t columns, const struct safetensors_entry **ret_entry,
                 struct sotto_error *err)
{
    const struct safetensors_entry *entry = safetensors_find(file, name);
    struct safetensors_entry wanted = {
        .type = type, .rank = rank, .shape = {rows, columns}};
    struct host_text text;
    if (entry == NULL) {
        return fail_tensor(file->name, name, "is missing", err);
    }
    if (rows == SIZE_MAX && entry->rank > 0) {
        wanted.shape[0] = entry->shape[0];
    }
    if (entry->type == type && entry->rank == rank &&
        memcmp(entry->shape, wanted.shape, rank * sizeof *entry->shape) == 0) {
        *ret_entry = entry;
        return SOTTO_STATUS_OK;
    }
    host_text_init(&text, 512);
    host_text_print(&text, "is ");
    describe_entry(entry, &text);
    host_text_print(&text, " and should be ");
    describe_entry(&wanted, &text);
    enum sotto_status status = fail_tensor(
        file->name, name, text.failed ? "has another shape" : text.data, err);
    host_text_clear(&text);
    return status;
}
