/*
 * safetensors.h: reading and writing safetensors files on a host: analyst
 * files, models, checkpoints. A mechanism has a reader of its own, on the
 * device (src/client/bundle.c).
 *
 * What is written is in the order given, aligned to 8 bytes, with one metadata
 * entry, "sotto", that holds a JSON object as text. What is read is checked to
 * the last byte: no gaps, no overlaps, sizes that multiply out.
 */
#ifndef SOTTO_HOST_SAFETENSORS_H
#define SOTTO_HOST_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "sotto/sotto.h"

enum safetensors_type {
    SAFETENSORS_F32 = 0,
    SAFETENSORS_F64 = 1,
    SAFETENSORS_I32 = 2,
    SAFETENSORS_U8 = 3,
    SAFETENSORS_U64 = 4
};

#define SAFETENSORS_RANK_MAX 4u

struct safetensors_entry {
    const char *name;
    enum safetensors_type type;
    size_t rank;
    size_t shape[SAFETENSORS_RANK_MAX];
    const void *data; /* little-endian, aligned to 8 when read */
    size_t size;      /* bytes; filled by the reader and by the writer */
};

/* Writes the file in one step (sotto_output). `metadata` is a JSON object.
   Statuses: IO, MEMORY, USAGE. */
SOTTO_CHECKED enum sotto_status
safetensors_write(const char *path, unsigned mode, const json_t *metadata,
                  struct safetensors_entry *entry, size_t count,
                  struct sotto_error *err);

struct safetensors;

/* Messages name the file. Statuses: IO, LIMIT, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status safetensors_read(const char *path, size_t limit,
                                                 struct safetensors **ret_file,
                                                 struct sotto_error *err);
/* The same from memory, which is copied; `name` stands for the path. */
SOTTO_CHECKED enum sotto_status safetensors_parse(const void *data, size_t size,
                                                  const char *name,
                                                  struct safetensors **ret_file,
                                                  struct sotto_error *err);
void safetensors_free(struct safetensors *file);

/* The "sotto" metadata; never NULL (an empty object if there is none). */
const json_t *safetensors_metadata(const struct safetensors *file);
size_t safetensors_count(const struct safetensors *file);
const struct safetensors_entry *safetensors_at(const struct safetensors *file,
                                               size_t i);
/* The entry of that name; NULL if there is none. */
const struct safetensors_entry *safetensors_find(const struct safetensors *file,
                                                 const char *name);

/*
 * The entry of that name, type and shape (rank 1 or 2; a `rows` of SIZE_MAX
 * takes any, which is then shape[0]). Statuses: FORMAT, with a message that
 * says what is there.
 */
SOTTO_CHECKED enum sotto_status
safetensors_want(const struct safetensors *file, const char *name,
                 enum safetensors_type type, size_t rank, size_t rows,
                 size_t columns, const struct safetensors_entry **ret_entry,
                 struct sotto_error *err);

#endif
