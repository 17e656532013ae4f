/*
 * store.c: finds the back-end that a url names, and hands it every call.
 */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/store_disk.h"

static const struct {
    const char *begin; /* of a url, up to where its place begins */
    const struct store_backend *backend;
} kinds[] = {
    {"sqlite:", &store_sqlite},
    {"postgres:", &store_postgres},
    {"postgresql:", &store_postgres},
};

struct store {
    const struct store_backend *backend;
    void *own;
};

struct store_checker {
    const struct store_backend *backend;
    void *own;
};

struct store_reader {
    const struct store_backend *backend;
    void *own;
};

/* The back-end, and where its place begins in the url; NULL: there is none. */
static const struct store_backend *
find_backend(const char *url, const char **ret_place)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t size = strlen(kinds[i].begin);
        if (strncmp(url, kinds[i].begin, size) == 0 && url[size] != '\0') {
            *ret_place = url + size;
            return kinds[i].backend;
        }
    }
    return NULL;
}

bool
store_is_url(const char *url)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(url, kinds[i].begin, strlen(kinds[i].begin)) == 0) {
            return true;
        }
    }
    return false;
}

static enum sotto_status
fail_url(const char *url, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "'%s' names no store; one is written sqlite:PATH, or "
                     "postgres://HOST/DATABASE",
                     host_shown(url));
}

/* ---- Trying -------------------------------------------------------------- */

/* Keys go with a server, and with nothing else. */
static enum sotto_status
check_keys(const struct store_backend *backend, const char *url,
           const char *keys, struct sotto_error *err)
{
    bool wanted = backend->open_with_keys != NULL;
    if (wanted == (keys != NULL)) {
        return SOTTO_STATUS_OK;
    }
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     wanted ? "'%s' is on a server, which remembers what is "
                              "deleted: give a folder of this collector's own "
                              "for the keys of its windows (window-keys)"
                            : "'%s' takes no folder of keys (window-keys)",
                     host_shown(url));
}

/* A file: whether it can be read, or made where there is none. */
static enum sotto_status
try_file(const char *url, bool *ret_new, struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    *ret_new = store_disk_missing(url);
    if (!*ret_new) {
        enum sotto_status status = store_reader_open(url, &reader, NULL, err);
        store_reader_free(reader);
        return status;
    }
    return store_disk_makeable(url)
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_IO, 0,
                           "'%s' is not there and cannot be made: look at its "
                           "folder's mode",
                           host_shown(url));
}

enum sotto_status
store_try(const char *url, const char *keys, bool simulation, bool *ret_new,
          struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    enum sotto_status status = check_keys(backend, url, keys, err);
    if (status == SOTTO_STATUS_OK) {
        status = backend->try_open == NULL
                     ? try_file(url, ret_new, err)
                     : backend->try_open(place, keys, simulation, ret_new, err);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, url);
}

/* ---- Writing ------------------------------------------------------------- */

enum sotto_status
store_open(const char *url, bool simulation, struct store **ret_store,
           struct sotto_error *err)
{
    return store_open_with_keys(url, NULL, simulation, ret_store, err);
}

enum sotto_status
store_open_with_keys(const char *url, const char *keys, bool simulation,
                     struct store **ret_store, struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    enum sotto_status status = check_keys(backend, url, keys, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        return host_fail_memory(err);
    }
    store->backend = backend;
    status = keys != NULL ? backend->open_with_keys(place, keys, simulation,
                                                    &store->own, err)
                          : backend->open(place, simulation, &store->own, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_store = store;
    } else {
        free(store);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, url);
}

void
store_free(struct store *store)
{
    if (store != NULL) {
        store->backend->close(store->own);
    }
    free(store);
}

void
store_found(const struct store *store, struct store_found *ret_found)
{
    *ret_found = (struct store_found){0};
    if (store->backend->found != NULL) {
        store->backend->found(store->own, ret_found);
    }
}

enum sotto_status
store_campaign(struct store *store, const uint8_t hash[SOTTO_HASH_SIZE],
               const char *name, size_t payload_size, uint32_t *ret_campaign,
               struct sotto_error *err)
{
    enum sotto_status status = store_check_batch(2, payload_size, err);
    return HOST_THEN(status,
                     store->backend->campaign(store->own, hash, name,
                                              payload_size, ret_campaign, err));
}

enum sotto_status
store_begin(struct store *store, struct sotto_error *err)
{
    return store->backend->begin(store->own, err);
}

enum sotto_status
store_put(struct store *store, uint32_t campaign, const uint8_t *report,
          enum store_answer *ret_answer, struct sotto_error *err)
{
    return store->backend->put(store->own, campaign, report, ret_answer, err);
}

enum sotto_status
store_put_many(struct store *store, uint32_t campaign,
               const uint8_t *const *report, size_t count,
               enum store_answer *ret_answers, struct sotto_error *err)
{
    const struct store_backend *backend = store->backend;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (backend->put_many != NULL) {
        return backend->put_many(store->own, campaign, report, count,
                                 ret_answers, err);
    }
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        status =
            backend->put(store->own, campaign, report[i], &ret_answers[i], err);
    }
    return status;
}

enum sotto_status
store_commit(struct store *store, struct sotto_error *err)
{
    return store->backend->commit(store->own, err);
}

void
store_rollback(struct store *store)
{
    store->backend->rollback(store->own);
}

enum sotto_status
store_end_window(struct store *store, struct sotto_error *err)
{
    return store->backend->end_window(store->own, err);
}

enum sotto_status
store_check_batch(size_t batch_min, size_t payload_size,
                  struct sotto_error *err)
{
    size_t most = STORE_BATCH_BYTES / 2; /* of one report: neither overflows */
    if (batch_min < 2 || batch_min > STORE_WINDOW_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a batch must have at least 2 to %zu reports, not %zu",
                         STORE_WINDOW_MOST, batch_min);
    }
    if (payload_size == 0 || payload_size > most - SOTTO_ID_SIZE ||
        batch_min > STORE_BATCH_BYTES / (SOTTO_ID_SIZE + payload_size)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "batches of at least %zu reports of %zu bytes each "
                         "cannot be held back: they may have %zu MiB together, "
                         "with a key of %u bytes each",
                         batch_min, payload_size, STORE_BATCH_BYTES >> 20,
                         (unsigned)SOTTO_ID_SIZE);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
store_advance(struct store *store, size_t rows, size_t batch_min,
              bool *ret_done, struct sotto_error *err)
{
    enum sotto_status status = store_check_batch(batch_min, 1, err);
    return HOST_THEN(status, store->backend->advance(store->own, rows,
                                                     batch_min, ret_done, err));
}

enum sotto_status
store_scrub(struct store *store, bool *ret_clean, struct sotto_error *err)
{
    return store->backend->scrub(store->own, ret_clean, err);
}

enum sotto_status
store_count(struct store *store, uint32_t campaign,
            struct store_counts *ret_counts, struct sotto_error *err)
{
    return store->backend->count(store->own, campaign, ret_counts, err);
}

/* ---- Reading ------------------------------------------------------------- */

enum sotto_status
store_reader_open(const char *url, struct store_reader **ret,
                  bool *ret_simulation, struct sotto_error *err)
{
    const char *place = NULL;
    bool simulation = false;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    struct store_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        return host_fail_memory(err);
    }
    reader->backend = backend;
    enum sotto_status status =
        backend->reader_open(place, &reader->own, &simulation, err);
    if (status != SOTTO_STATUS_OK) {
        free(reader);
        return status;
    }
    if (ret_simulation != NULL) {
        *ret_simulation = simulation;
    }
    *ret = reader;
    return SOTTO_STATUS_OK;
}

void
store_reader_free(struct store_reader *reader)
{
    if (reader != NULL) {
        reader->backend->reader_close(reader->own);
    }
    free(reader);
}

enum sotto_status
store_reader_next(struct store_reader *reader,
                  const uint8_t hash[SOTTO_HASH_SIZE], uint64_t after,
                  struct store_batch *ret_batch, struct sotto_error *err)
{
    return reader->backend->reader_next(reader->own, hash, after, ret_batch,
                                        err);
}

/* ---- Checking ------------------------------------------------------------ */

enum sotto_status
store_checker_open(const char *url,
                   void (*tell)(void *context, const char *text), void *context,
                   struct store_checker **ret, struct sotto_error *err)
{
    return store_checker_open_with_keys(url, NULL, tell, context, ret, err);
}

enum sotto_status
store_checker_open_with_keys(const char *url, const char *keys,
                             void (*tell)(void *context, const char *text),
                             void *context, struct store_checker **ret,
                             struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    if (keys != NULL && backend->checker_open_with_keys == NULL) {
        return check_keys(backend, url, keys, err);
    }
    if (backend->checker_open == NULL &&
        backend->checker_open_with_keys == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "%s: is checked by its own means", backend->kind);
    }
    struct store_checker *checker = calloc(1, sizeof *checker);
    if (checker == NULL) {
        return host_fail_memory(err);
    }
    checker->backend = backend;
    enum sotto_status status =
        backend->checker_open_with_keys != NULL
            ? backend->checker_open_with_keys(place, keys, tell, context,
                                              &checker->own, err)
            : backend->checker_open(place, tell, context, &checker->own, err);
    if (status == SOTTO_STATUS_OK) {
        *ret = checker;
    } else {
        free(checker);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, url);
}

void
store_checker_free(struct store_checker *checker)
{
    if (checker != NULL) {
        checker->backend->checker_close(checker->own);
    }
    free(checker);
}

enum sotto_status
store_checker_step(struct store_checker *checker, size_t bytes,
                   struct store_damage *ret_damage, bool *ret_done,
                   struct sotto_error *err)
{
    return checker->backend->checker_step(checker->own, bytes, ret_damage,
                                          ret_done, err);
}

/* ---- Keeping ------------------------------------------------------------- */

enum sotto_status
store_forget(struct store *store, const uint8_t hash[SOTTO_HASH_SIZE],
             struct store_counts *ret_counts, struct sotto_error *err)
{
    return store->backend->forget == NULL
               ? host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "a campaign of a store on a server is forgotten "
                           "beside its writers")
               : store->backend->forget(store->own, hash, ret_counts, err);
}

/* By its one writer. */
static enum sotto_status
forget_alone(const char *url, const uint8_t *hash,
             struct store_counts *ret_counts, struct sotto_error *err)
{
    struct store_reader *reader = NULL;
    struct store *store = NULL;
    bool simulation = false;
    enum sotto_status status =
        store_reader_open(url, &reader, &simulation, err);
    store_reader_free(reader);
    status = HOST_THEN(status, store_open(url, simulation, &store, err));
    if (status != SOTTO_STATUS_OK || store == NULL) {
        return status;
    }
    status = store_forget(store, hash, ret_counts, err);
    store_free(store);
    return status;
}

enum sotto_status
store_forget_at(const char *url, const uint8_t hash[SOTTO_HASH_SIZE],
                struct store_counts *ret_counts, struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    return backend->forget_at == NULL
               ? forget_alone(url, hash, ret_counts, err)
               : host_about(backend->forget_at(place, hash, ret_counts, err),
                            err, SOTTO_ABOUT_FILE, url);
}

enum sotto_status
store_backup(const char *url, const char *to, struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    return backend == NULL ? fail_url(url, err)
                           : backend->backup(place, to, err);
}

enum sotto_status
store_repair(const char *url, void (*tell)(void *context, const char *text),
             void *context, struct store_repaired *ret_repaired,
             struct sotto_error *err)
{
    const char *place = NULL;
    const struct store_backend *backend = find_backend(url, &place);
    if (backend == NULL) {
        return fail_url(url, err);
    }
    enum sotto_status status =
        backend->repair == NULL
            ? host_fail(err, SOTTO_STATUS_USAGE, 0,
                        "a store of %s: is repaired with the server's own "
                        "tools (pg_amcheck, a backup)",
                        backend->kind)
            : backend->repair(place, tell, context, ret_repaired, err);
    return host_about(status, err, SOTTO_ABOUT_FILE, url);
}
