/*
 * checkpoint.c: all of a training run's state in one safetensors file.
 *
 *     metadata  {"key": KEY, "digest": BLAKE2b of the tensors below, in hex}
 *     value, first, second, kept     F32, the arena's, whole
 *     counters                       U64: step, epoch, patience, since
 *     scores                         F64: best, loss
 *
 * A float that was damaged looks like any other, hence the digest. Nothing is
 * handed out before all was found whole.
 */
#include "nn/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "host/error.h"
#include "host/safetensors.h"

#define FILE_MAX ((size_t)1 << 34)
#define DIGEST_SIZE 32u
#define ENTRIES 6u

enum counter {
    COUNTER_STEP = 0,
    COUNTER_EPOCH = 1,
    COUNTER_PATIENCE = 2,
    COUNTER_SINCE = 3,
    COUNTERS = 4
};

/* ---- The digest --------------------------------------------------------- */

static void
digest_entries(const struct safetensors_entry *const entry[ENTRIES],
               char ret_hex[2 * DIGEST_SIZE + 1])
{
    crypto_generichash_state state;
    uint8_t hash[DIGEST_SIZE];
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    for (size_t i = 0; i < ENTRIES; i++) {
        (void)crypto_generichash_update(&state, entry[i]->data, entry[i]->size);
    }
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(ret_hex, 2 * DIGEST_SIZE + 1, hash, sizeof hash);
}

/* ---- Writing ------------------------------------------------------------ */

enum sotto_status
nn_checkpoint_write(const char *path, const char *key,
                    const struct nn_arena *arena,
                    const struct nn_stopping *stopping,
                    const struct nn_progress *progress, struct sotto_error *err)
{
    static const struct nn_stopping none = {.best = INFINITY};
    const struct nn_stopping *s = stopping == NULL ? &none : stopping;
    uint64_t counters[COUNTERS] = {arena->step, progress->epoch, s->patience,
                                   s->since};
    double scores[2] = {s->best, progress->loss};
    size_t floats = arena->size;
    size_t kept = s->kept == NULL ? 0 : floats;
    struct safetensors_entry entry[ENTRIES] = {
        {"value", SAFETENSORS_F32, 1, {floats}, arena->value, 4 * floats},
        {"first", SAFETENSORS_F32, 1, {floats}, arena->first, 4 * floats},
        {"second", SAFETENSORS_F32, 1, {floats}, arena->second, 4 * floats},
        {"kept", SAFETENSORS_F32, 1, {kept}, s->kept, 4 * kept},
        {"counters", SAFETENSORS_U64, 1, {COUNTERS}, counters, sizeof counters},
        {"scores", SAFETENSORS_F64, 1, {2}, scores, sizeof scores}};
    const struct safetensors_entry *entries[ENTRIES];
    char hex[2 * DIGEST_SIZE + 1];
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i] = &entry[i];
    }
    digest_entries(entries, hex);
    json_t *metadata = json_pack("{s:s, s:s}", "key", key, "digest", hex);
    if (metadata == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        safetensors_write(path, 0600, metadata, entry, ENTRIES, err);
    json_decref(metadata);
    return status;
}

/* ---- Reading ------------------------------------------------------------ */

/* The entries by the arena's shape, in the order of the digest. */
static enum sotto_status
find_entries(const struct safetensors *file, const struct nn_arena *arena,
             size_t kept, const struct safetensors_entry *ret_entry[ENTRIES],
             struct sotto_error *err)
{
    static const char *const names[ENTRIES] = {"value", "first",    "second",
                                               "kept",  "counters", "scores"};
    const size_t sizes[ENTRIES] = {arena->size, arena->size, arena->size,
                                   kept,        COUNTERS,    2};
    for (size_t i = 0; i < ENTRIES; i++) {
        enum safetensors_type type = i < 4    ? SAFETENSORS_F32
                                     : i == 4 ? SAFETENSORS_U64
                                              : SAFETENSORS_F64;
        enum sotto_status status = safetensors_want(
            file, names[i], type, 1, sizes[i], 0, &ret_entry[i], err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    return SOTTO_STATUS_OK;
}

/* The entries, found and whole. */
static enum sotto_status
check_entries(const struct safetensors *file, const struct nn_arena *arena,
              size_t kept, const struct safetensors_entry *ret_entry[ENTRIES],
              struct sotto_error *err)
{
    char hex[2 * DIGEST_SIZE + 1];
    const char *written = json_string_value(
        json_object_get(safetensors_metadata(file), "digest"));
    enum sotto_status status = find_entries(file, arena, kept, ret_entry, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    digest_entries(ret_entry, hex);
    if (written == NULL || strcmp(written, hex) != 0 ||
        safetensors_count(file) != ENTRIES) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "its numbers are not those that were written");
    }
    return SOTTO_STATUS_OK;
}

static void
copy_floats(float *to, const struct safetensors_entry *entry)
{
    if (to != NULL && entry->size > 0) {
        memcpy(to, entry->data, entry->size);
    }
}

static void
fill_checkpoint(const struct safetensors_entry *const entry[ENTRIES],
                struct nn_arena *arena, struct nn_stopping *stopping,
                struct nn_progress *progress)
{
    const uint64_t *counters = entry[4]->data;
    const double *scores = entry[5]->data;
    copy_floats(arena->value, entry[0]);
    copy_floats(arena->first, entry[1]);
    copy_floats(arena->second, entry[2]);
    arena->step = counters[COUNTER_STEP];
    progress->epoch = counters[COUNTER_EPOCH];
    progress->loss = scores[1];
    if (stopping != NULL) {
        copy_floats(stopping->kept, entry[3]);
        stopping->patience = counters[COUNTER_PATIENCE];
        stopping->since = counters[COUNTER_SINCE];
        stopping->best = scores[0];
    }
}

/* A damaged checkpoint is of no use to anybody. */
static enum sotto_status
fail_damaged(const char *path, struct sotto_error *err)
{
    struct sotto_error why = {.message = "?"};
    if (err != NULL) {
        why = *err;
    }
    return host_fail(err, SOTTO_STATUS_FORMAT, why.position,
                     "the checkpoint '%s' is damaged: remove it to start over "
                     "(%.200s)",
                     host_shown(path), why.message);
}

/* Somebody's hours of training, of other options or other data: not to be
   written over unasked. */
static enum sotto_status
fail_other(const char *path, struct sotto_error *err)
{
    return host_remedy(
        host_fail(err, SOTTO_STATUS_INPUT, 0,
                  "the checkpoint '%s' is of a training with other options "
                  "or other data: go on with those, remove it to start "
                  "over, or choose another output",
                  host_shown(path)),
        err, "output");
}

/* Whether it was written under this key. */
static enum sotto_status
check_key(const struct safetensors *file, const char *path, const char *key,
          struct sotto_error *err)
{
    const char *written =
        json_string_value(json_object_get(safetensors_metadata(file), "key"));
    if (written == NULL) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0, "it has no key");
    }
    return strcmp(written, key) == 0 ? SOTTO_STATUS_OK : fail_other(path, err);
}

enum sotto_status
nn_checkpoint_read(const char *path, const char *key, struct nn_arena *arena,
                   struct nn_stopping *stopping, struct nn_progress *progress,
                   bool *ret_found, struct sotto_error *err)
{
    const struct safetensors_entry *entry[ENTRIES];
    struct safetensors *file = NULL;
    bool kept = stopping != NULL && stopping->kept != NULL;
    if (access(path, F_OK) != 0) {
        *ret_found = false;
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = safetensors_read(path, FILE_MAX, &file, err);
    status = HOST_THEN(status, check_key(file, path, key, err));
    status = HOST_THEN(
        status, check_entries(file, arena, kept ? arena->size : 0, entry, err));
    if (status == SOTTO_STATUS_OK) {
        fill_checkpoint(entry, arena, stopping, progress);
        *ret_found = true;
    }
    safetensors_free(file);
    return host_about(status == SOTTO_STATUS_FORMAT ? fail_damaged(path, err)
                                                    : status,
                      err, SOTTO_ABOUT_FILE, path);
}
