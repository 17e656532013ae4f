/*
 * sqlite_runs.c: the tags of windows that have ended, for good: which runs
 * (tag_run.h) there are, in PATH-tags, and looking tags up in them.
 *
 * A run is a file that never changes. New ones are written by threads of their
 * own, beside the writer (sqlite_jobs.c); they are flushed with their folder,
 * and then the transaction that names them forgets those they were made of.
 * Files are removed when that is durable. So a crash leaves files that the
 * table does not name, and the next start removes them.
 *
 * The filters of runs are read by a thread of their own after a start, so that
 * it takes as long at any size; until then tags are looked for in pages.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "host/clock.h"
#include "host/error.h"
#include "host/text.h"
#include "store/sql_file.h"
#include "store/sqlite/sqlite_runs.h"

#define RUN_ENDING ".tags"

/* ---- Names --------------------------------------------------------------- */

char *
sqlite_runs_name(const char *path, int64_t number)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%016" PRIx64 RUN_ENDING,
                   (uint64_t)number);
    return host_text_path("%s-tags/%s", path, name);
}

int64_t
sqlite_runs_number(const char *name)
{
    char *end = NULL;
    long long number = strtoll(name, &end, 16);
    return end != name && strcmp(end, RUN_ENDING) == 0 && number > 0 ? number
                                                                     : 0;
}

void
sqlite_runs_owner(const uint8_t *key, uint8_t owner[RUN_OWNER_SIZE])
{
    (void)crypto_generichash_blake2b_salt_personal(
        owner, RUN_OWNER_SIZE, NULL, 0, key, TAG_KEY_SIZE, NULL,
        (const unsigned char *)"sotto.runs\0\0\0\0\0\0");
}

enum sotto_status
sqlite_runs_folder(const char *path, struct sotto_error *err)
{
    struct stat info;
    char *name = host_text_path("%s-tags", path);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (name == NULL) {
        return host_fail_memory(err);
    }
    bool made = mkdir(name, 0700) == 0;
    if ((!made && errno != EEXIST) || lstat(name, &info) != 0 ||
        !S_ISDIR(info.st_mode) ||
        ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0 && chmod(name, 0700) != 0)) {
        status = host_fail(err, SOTTO_STATUS_IO, 0,
                           "cannot have a folder '%s' that is its owner's "
                           "alone: %s",
                           host_shown(name), strerror(errno));
    }
    free(name);
    return status == SOTTO_STATUS_OK && made ? sql_file_settle(path, err)
                                             : status;
}

static void
remove_run(const struct sqlite_store *store, int64_t number)
{
    char *name = sqlite_runs_name(store->path, number);
    if (name != NULL) {
        (void)unlink(name); /* else the next start does it */
    }
    free(name);
}

static bool
is_named(const struct sqlite_store *store, int64_t number)
{
    const struct sqlite_runs *runs = &store->runs;
    bool named = false;
    for (unsigned i = 0; i < LEVELS; i++) {
        named = named || (runs->settled[i].file != NULL &&
                          runs->settled[i].number == number);
        named = named || (runs->descending[i].file != NULL &&
                          runs->descending[i].number == number);
    }
    return named;
}

void
sqlite_runs_remove_others(const struct sqlite_store *store)
{
    char *folder = host_text_path("%s-tags", store->path);
    DIR *all = folder != NULL ? opendir(folder) : NULL;
    const struct dirent *entry = NULL;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        int64_t number = sqlite_runs_number(entry->d_name);
        if (number > 0 && !is_named(store, number)) {
            remove_run(store, number);
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    free(folder);
}

/* ---- Opening ------------------------------------------------------------- */

enum sotto_status
sqlite_runs_open(const struct sqlite_store *store, struct sqlite_run *run,
                 struct sotto_error *err)
{
    uint8_t owner[RUN_OWNER_SIZE];
    char *name = sqlite_runs_name(store->path, run->number);
    struct tag_run *file = NULL;
    if (name == NULL) {
        return host_fail_memory(err);
    }
    sqlite_runs_owner(store->key, owner);
    enum sotto_status status = tag_run_open(name, owner, &file, err);
    if (status == SOTTO_STATUS_OK && tag_run_count(file) != run->tags) {
        tag_run_close(file);
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s' is not the file that '%s' knows by that name",
                           host_shown(name), host_shown(store->path));
    }
    if (status == SOTTO_STATUS_OK) {
        run->file = file;
    }
    free(name);
    return status;
}

void
sqlite_runs_shut(struct sqlite_run *run)
{
    tag_run_close(run->file);
    *run = (struct sqlite_run){0};
}

/* ---- Filters ------------------------------------------------------------- */

#define RUNS_MOST ((size_t)2 * LEVELS)

/* Reads the filters of runs into memory, beside the writer. */
struct sqlite_loader {
    pthread_t thread;
    atomic_bool stop, done;
    struct tag_run *run[RUNS_MOST];
    size_t runs;
};

static void *
load_filters(void *context)
{
    struct sqlite_loader *loader = context;
    for (size_t i = 0; i < loader->runs; i++) {
        tag_filter_load(loader->run[i], &loader->stop);
    }
    atomic_store(&loader->done, true);
    return NULL;
}

static void
free_loader(struct sqlite_loader *loader)
{
    for (size_t i = 0; loader != NULL && i < loader->runs; i++) {
        tag_run_close(loader->run[i]);
    }
    free(loader);
}

static void
end_loader(struct sqlite_runs *runs)
{
    if (runs->loader != NULL) {
        atomic_store(&runs->loader->stop, true);
        (void)pthread_join(runs->loader->thread, NULL);
        free_loader(runs->loader);
        runs->loader = NULL;
    }
}

/* A run whose filter is not in memory, and that nobody merges; false: there is
   no memory for it. */
static bool
add_run(struct sqlite_loader *loader, struct tag_run *run, bool merged)
{
    if (run == NULL || merged || tag_filter_is_whole(run)) {
        return true;
    }
    if (!tag_filter_prepare(run)) {
        return false;
    }
    loader->run[loader->runs++] = tag_run_hold(run);
    return true;
}

static bool
start_loader(struct sqlite_store *store, struct sqlite_loader *loader)
{
    const struct sqlite_runs *runs = &store->runs;
    for (unsigned i = 0; i < LEVELS; i++) {
        bool merged = store->job[i] != NULL;
        if (!add_run(loader, runs->settled[i].file, merged) ||
            !add_run(loader, runs->descending[i].file, merged)) {
            return false;
        }
    }
    return loader->runs == 0 ||
           pthread_create(&loader->thread, NULL, load_filters, loader) == 0;
}

void
sqlite_filters_begin(struct sqlite_store *store)
{
    struct sqlite_runs *runs = &store->runs;
    if (runs->loader != NULL && !atomic_load(&runs->loader->done)) {
        return;
    }
    end_loader(runs);
    bool whole = true;
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct tag_run *run[2] = {runs->settled[i].file,
                                        runs->descending[i].file};
        for (size_t j = 0; j < 2; j++) {
            whole = whole && (run[j] == NULL || store->job[i] != NULL ||
                              tag_filter_is_whole(run[j]));
        }
    }
    if (whole || host_seconds() < runs->load_at) {
        return;
    }
    struct sqlite_loader *loader = calloc(1, sizeof *loader);
    if (loader != NULL && start_loader(store, loader) && loader->runs > 0) {
        runs->loader = loader;
        return;
    }
    free_loader(loader);
    runs->load_at = host_seconds() + RUNS_REST_S;
}

/* ---- Loading ------------------------------------------------------------- */

/* Takes the run that was open with that number, or opens it. */
static enum sotto_status
open_again(struct sqlite_store *store, const struct sqlite_runs *before,
           struct sqlite_run *run, struct sotto_error *err)
{
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct sqlite_run *old[2] = {&before->settled[i],
                                           &before->descending[i]};
        for (size_t j = 0; j < 2; j++) {
            if (old[j]->file != NULL && old[j]->number == run->number &&
                old[j]->tags == run->tags) {
                run->file = tag_run_hold(old[j]->file);
                return SOTTO_STATUS_OK;
            }
        }
    }
    return sqlite_runs_open(store, run, err);
}

/* What is read, and what was open before. */
struct reading {
    struct sqlite_store *store;
    struct sqlite_runs before;
};

static enum sotto_status
take_run(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct reading *reading = context;
    struct sqlite_runs *runs = &reading->store->runs;
    struct sqlite_run run = {sqlite3_column_int64(row, 0),
                             (uint64_t)sqlite3_column_int64(row, 3),
                             (uint64_t)sqlite3_column_int64(row, 4), NULL};
    int64_t level = sqlite3_column_int64(row, 1);
    bool descending = sqlite3_column_int64(row, 2) != 0;
    if (level < 0 || level >= (int64_t)LEVELS) {
        return sqlite_fail_damaged(reading->store, "a run of tags has no level",
                                   err);
    }
    struct sqlite_run *to =
        descending ? &runs->descending[level] : &runs->settled[level];
    if (to->file != NULL) {
        return sqlite_fail_damaged(reading->store, "two runs of tags are one",
                                   err);
    }
    enum sotto_status status =
        open_again(reading->store, &reading->before, &run, err);
    if (status == SOTTO_STATUS_OK) {
        *to = run;
        runs->next = run.number >= runs->next ? run.number + 1 : runs->next;
    }
    return status;
}

static void
close_all(struct sqlite_runs *runs)
{
    for (unsigned i = 0; i < LEVELS; i++) {
        sqlite_runs_shut(&runs->settled[i]);
        sqlite_runs_shut(&runs->descending[i]);
    }
}

enum sotto_status
sqlite_runs_load(struct sqlite_store *store, struct sotto_error *err)
{
    struct reading reading = {store, store->runs};
    struct sqlite_runs *runs = &store->runs;
    memset(runs->settled, 0, sizeof runs->settled);
    memset(runs->descending, 0, sizeof runs->descending);
    runs->next = runs->next > 0 ? runs->next : 1;
    enum sotto_status status = sql_each(
        &store->sql, "SELECT number, level, descending, tags, lost FROM run",
        SQL_NONE, take_run, &reading, err);
    close_all(&reading.before);
    sqlite_filters_begin(store);
    return status;
}

void
sqlite_runs_unload(struct sqlite_store *store)
{
    close_all(&store->runs);
}

/* ---- Finding ------------------------------------------------------------- */

static int
find_in(struct sqlite_store *store, const struct sqlite_run *run,
        uint32_t campaign, const uint8_t *tag)
{
    enum tag_run_answer answer =
        run->file == NULL ? TAG_RUN_NO : tag_run_find(run->file, campaign, tag);
    store->damaged_lookups += answer == TAG_RUN_DAMAGED;
    return answer == TAG_RUN_YES      ? SQLITE_ROW
           : answer == TAG_RUN_FAILED ? SQLITE_IOERR
                                      : SQLITE_DONE;
}

void
sqlite_runs_prefetch(const struct sqlite_store *store, uint32_t campaign,
                     const uint8_t tag[TAG_SIZE])
{
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct tag_run *run[2] = {store->runs.settled[i].file,
                                        store->runs.descending[i].file};
        for (size_t j = 0; j < 2; j++) {
            if (run[j] != NULL) {
                tag_run_prefetch(run[j], campaign, tag);
            }
        }
    }
}

int
sqlite_runs_find(struct sqlite_store *store, uint32_t campaign,
                 const uint8_t tag[TAG_SIZE])
{
    int code = SQLITE_DONE;
    for (unsigned i = 0; i < LEVELS && code == SQLITE_DONE; i++) {
        code = find_in(store, &store->runs.settled[i], campaign, tag);
        if (code == SQLITE_DONE) {
            code = find_in(store, &store->runs.descending[i], campaign, tag);
        }
    }
    return code;
}

/* ---- Transactions -------------------------------------------------------- */

void
sqlite_runs_doom(struct sqlite_doomed *doomed, int64_t number)
{
    /* One more would be an orphan until the next start. */
    if (doomed->count < sizeof doomed->number / sizeof doomed->number[0]) {
        doomed->number[doomed->count++] = number;
    }
}

static void
remove_doomed(const struct sqlite_store *store, struct sqlite_doomed *doomed)
{
    for (size_t i = 0; i < doomed->count; i++) {
        if (!is_named(store, doomed->number[i])) {
            remove_run(store, doomed->number[i]);
        }
    }
    doomed->count = 0;
}

void
sqlite_runs_committed(struct sqlite_store *store)
{
    store->unnamed.count = 0;
    remove_doomed(store, &store->superfluous);
    remove_doomed(store, &store->uncertain);
}

/*
 * The window may not have ended: its job is not worth waiting for. What a
 * commit that failed had named stays until another one works: the first may be
 * on the disk all the same, and then the next start finds it there.
 */
void
sqlite_runs_rolled_back(struct sqlite_store *store)
{
    sqlite_runs_drop(store, 0);
    store->superfluous.count = 0;
    for (size_t i = 0; i < store->unnamed.count; i++) {
        if (store->committing) {
            sqlite_runs_doom(&store->uncertain, store->unnamed.number[i]);
        } else {
            remove_run(store, store->unnamed.number[i]);
        }
    }
    store->unnamed.count = 0;
}

void
sqlite_runs_close(struct sqlite_store *store)
{
    for (unsigned i = 0; i < LEVELS; i++) {
        sqlite_runs_drop(store, i);
    }
    end_loader(&store->runs);
}
