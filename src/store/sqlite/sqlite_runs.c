/*
 * sqlite_runs.c: the tags of windows that have ended, for good: which runs
 * (tag_run.h) there are, in PATH-tags, and what is merged into what.
 *
 * A run is a file that never changes. New ones are written by threads of their
 * own, beside the writer; they are flushed with their folder, and then the
 * transaction that names them forgets those they were made of. Files are
 * removed when that is durable. So a crash leaves files that the table does not
 * name, and the next start removes them.
 *
 *     level   tags at most   descends
 *     0       2^20           each tag by the toss of a coin
 *     1       2^23           as a whole
 *     2       2^27           as a whole
 *     3
 *
 * What levels tell of the order in which tags came, docs/collector.md says.
 * Whatever runs there are, the newest window is never alone in one: it is mixed
 * with the half of level 0 that stayed, or with all tags there are.
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
#include "store/sqlite/sqlite_store.h"

#define REST_S 60.0 /* behind a merge that failed */
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
        char *end = NULL;
        long long number = strtoll(entry->d_name, &end, 16);
        if (end != NULL && strcmp(end, RUN_ENDING) == 0 &&
            !is_named(store, number)) {
            remove_run(store, number);
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    free(folder);
}

/* ---- Loading ------------------------------------------------------------- */

static enum sotto_status
open_run(const struct sqlite_store *store, int64_t number, uint64_t tags,
         struct tag_run **ret, struct sotto_error *err)
{
    uint8_t owner[RUN_OWNER_SIZE];
    char *name = sqlite_runs_name(store->path, number);
    struct tag_run *file = NULL;
    if (name == NULL) {
        return host_fail_memory(err);
    }
    sqlite_runs_owner(store->key, owner);
    enum sotto_status status = tag_run_open(name, owner, &file, err);
    if (status == SOTTO_STATUS_OK && tag_run_count(file) != tags) {
        tag_run_close(file);
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s' is not the file that '%s' knows by that name",
                           host_shown(name), host_shown(store->path));
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = file;
    }
    free(name);
    return status;
}

static enum sotto_status
take_run(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    struct sqlite_store *store = context;
    struct sqlite_run run = {sqlite3_column_int64(row, 0),
                             (uint64_t)sqlite3_column_int64(row, 3),
                             (uint64_t)sqlite3_column_int64(row, 4), NULL};
    int64_t level = sqlite3_column_int64(row, 1);
    bool descending = sqlite3_column_int64(row, 2) != 0;
    if (level < 0 || level >= (int64_t)LEVELS) {
        return sqlite_fail_damaged(store, "a run of tags has no level", err);
    }
    struct sqlite_run *to = descending ? &store->runs.descending[level]
                                       : &store->runs.settled[level];
    if (to->file != NULL) {
        return sqlite_fail_damaged(store, "two runs of tags are one", err);
    }
    enum sotto_status status =
        open_run(store, run.number, run.tags, &run.file, err);
    if (status == SOTTO_STATUS_OK) {
        *to = run;
        store->runs.next =
            run.number >= store->runs.next ? run.number + 1 : store->runs.next;
    }
    return status;
}

enum sotto_status
sqlite_runs_load(struct sqlite_store *store, struct sotto_error *err)
{
    store->runs.next = store->runs.next > 0 ? store->runs.next : 1;
    return sql_each(&store->sql,
                    "SELECT number, level, descending, tags, lost FROM run",
                    SQL_NONE, take_run, store, err);
}

static void
close_run(struct sqlite_run *run)
{
    tag_run_close(run->file);
    *run = (struct sqlite_run){0};
}

void
sqlite_runs_unload(struct sqlite_store *store)
{
    for (unsigned i = 0; i < LEVELS; i++) {
        close_run(&store->runs.settled[i]);
        close_run(&store->runs.descending[i]);
    }
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

/* ---- Jobs ---------------------------------------------------------------- */

/* A merge: of a window into level 0, or of what descends into a level above.
   Its sources are files of its own, for the store may close theirs. */
struct sqlite_job {
    pthread_t thread;
    bool begun;
    size_t rows; /* that slices would have moved meanwhile */
    atomic_bool stop, done;
    struct tag_merge merge;
    uint8_t owner[RUN_OWNER_SIZE];
    struct tag_run *source[TAG_MERGE_RUNS];
    struct window_tag *tag;
    char *name[2];
    int64_t number[2];
    uint64_t lost; /* of the sources, before */
    enum sotto_status status;
    struct sotto_error err;
};

static void
free_job(struct sqlite_job *job)
{
    for (size_t i = 0; i < TAG_MERGE_RUNS; i++) {
        tag_run_close(job->source[i]);
        free(job->name[i]);
    }
    free(job->tag);
    free(job);
}

/* Sorts, and merges. */
static void *
run_job(void *context)
{
    struct sqlite_job *job = context;
    if (job->merge.tags > 0) {
        qsort(job->tag, job->merge.tags, sizeof *job->tag, window_tags_compare);
    }
    job->status = tag_merge(&job->merge, &job->err);
    atomic_store(&job->done, true);
    return NULL;
}

static enum sotto_status
add_source(const struct sqlite_store *store, struct sqlite_job *job, size_t at,
           const struct sqlite_run *run, struct sotto_error *err)
{
    if (run->file == NULL) {
        return SOTTO_STATUS_OK;
    }
    job->lost += run->lost;
    enum sotto_status status =
        open_run(store, run->number, run->tags, &job->source[at], err);
    job->merge.run[at] = job->source[at];
    return status;
}

static enum sotto_status
add_output(struct sqlite_store *store, struct sqlite_job *job, size_t at,
           struct sotto_error *err)
{
    job->number[at] = store->runs.next++;
    job->name[at] = sqlite_runs_name(store->path, job->number[at]);
    job->merge.path[at] = job->name[at];
    return job->name[at] != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

/* Everything that a merge into a level needs; level 0 takes the window that has
   ended, and is divided if it has become too large and nothing descends. */
static enum sotto_status
new_job(struct sqlite_store *store, unsigned level, struct sqlite_job **ret,
        struct sotto_error *err)
{
    const struct sqlite_runs *runs = &store->runs;
    const struct window_tags *tags = &store->tags[1 - store->move.active];
    struct sqlite_job *job = calloc(1, sizeof *job);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (job == NULL) {
        return host_fail_memory(err);
    }
    sqlite_runs_owner(store->key, job->owner);
    job->merge.owner = job->owner;
    job->merge.stop = &job->stop;
    status = add_source(store, job, 0, &runs->settled[level], err);
    status = HOST_THEN(
        status, add_source(store, job, 1, &runs->descending[level], err));
    status = HOST_THEN(status, add_output(store, job, 0, err));
    if (status == SOTTO_STATUS_OK && level == 0) {
        job->tag = window_tags_listed(tags);
        job->merge.tag = job->tag;
        job->merge.tags = tags->count;
        status = job->tag != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
        if (status == SOTTO_STATUS_OK && runs->descending[1].file == NULL &&
            runs->settled[0].tags + tags->count > runs->most[0]) {
            status = add_output(store, job, 1, err);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = job;
    } else {
        free_job(job);
    }
    return status;
}

/* Ends a job, wherever it is, and removes what it wrote. */
static void
drop_job(struct sqlite_store *store, unsigned level)
{
    struct sqlite_job *job = store->job[level];
    store->job[level] = NULL;
    if (job == NULL) {
        return;
    }
    atomic_store(&job->stop, true);
    if (job->begun) {
        (void)pthread_join(job->thread, NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        if (job->name[i] != NULL) {
            (void)unlink(job->name[i]);
        }
    }
    free_job(job);
}

/* Begins it beside the writer, or does it here and now. */
static void
begin_job(struct sqlite_job *job, bool beside)
{
    job->begun =
        beside && pthread_create(&job->thread, NULL, run_job, job) == 0;
    if (!job->begun) {
        (void)run_job(job);
    }
}

void
sqlite_runs_begin(struct sqlite_store *store)
{
    for (unsigned level = 1; level < LEVELS; level++) {
        const struct sqlite_runs *runs = &store->runs;
        if (host_seconds() < store->resting[level]) {
            continue;
        }
        if (store->job[level] == NULL && runs->descending[level].file != NULL &&
            runs->settled[level].file != NULL &&
            new_job(store, level, &store->job[level], NULL) ==
                SOTTO_STATUS_OK &&
            store->job[level] != NULL) {
            begin_job(store->job[level], true);
        }
    }
}

/* ---- Taking over --------------------------------------------------------- */

static void
doom(struct sqlite_doomed *doomed, int64_t number)
{
    /* One more would be an orphan until the next start. */
    if (doomed->count < sizeof doomed->number / sizeof doomed->number[0]) {
        doomed->number[doomed->count++] = number;
    }
}

/* Forgets a run: its file goes when that is durable. */
static enum sotto_status
forget_run(struct sqlite_store *store, struct sqlite_run *run,
           struct sotto_error *err)
{
    if (run->file == NULL) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        sql_execute(&store->sql, "DELETE FROM run WHERE number = ?1",
                    SQL_VALUES(SQL_NUMBER(run->number)), err);
    if (status == SOTTO_STATUS_OK) {
        doom(&store->superfluous, run->number);
        close_run(run);
    }
    return status;
}

/* Names what a job wrote; a run without tags needs no name. */
static enum sotto_status
name_run(struct sqlite_store *store, const struct sqlite_job *job, size_t which,
         unsigned level, bool descending, struct sotto_error *err)
{
    struct sqlite_run run = {job->number[which], job->merge.count[which],
                             which == 0 ? job->lost + job->merge.lost : 0,
                             NULL};
    if (run.tags == 0 && run.lost == 0) {
        (void)unlink(job->name[which]);
        return SOTTO_STATUS_OK;
    }
    doom(&store->unnamed, run.number);
    enum sotto_status status =
        open_run(store, run.number, run.tags, &run.file, err);
    status = HOST_THEN(
        status,
        sql_execute(&store->sql, "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5)",
                    SQL_VALUES(SQL_NUMBER(run.number), SQL_NUMBER(level),
                               SQL_NUMBER(descending), SQL_NUMBER(run.tags),
                               SQL_NUMBER(run.lost)),
                    err));
    if (status == SOTTO_STATUS_OK) {
        *(descending ? &store->runs.descending[level]
                     : &store->runs.settled[level]) = run;
    } else {
        tag_run_close(run.file);
    }
    return status;
}

/* A job that is done: its runs take the place of its sources. */
static enum sotto_status
take_job(struct sqlite_store *store, unsigned level, struct sotto_error *err)
{
    struct sqlite_job *job = store->job[level];
    struct sqlite_runs *runs = &store->runs;
    if (job->begun) {
        (void)pthread_join(job->thread, NULL);
    }
    job->begun = false;
    enum sotto_status status = job->status;
    if (status != SOTTO_STATUS_OK && err != NULL) {
        *err = job->err;
    }
    status = HOST_THEN(status, forget_run(store, &runs->settled[level], err));
    status =
        HOST_THEN(status, forget_run(store, &runs->descending[level], err));
    status = HOST_THEN(status, name_run(store, job, 0, level, false, err));
    if (status == SOTTO_STATUS_OK && job->name[1] != NULL) {
        status = name_run(store, job, 1, 1, true, err);
    }
    if (status == SOTTO_STATUS_OK) {
        store->job[level] = NULL;
        free_job(job);
    } else {
        drop_job(store, level);
    }
    return status;
}

static enum sotto_status
relabel_run(struct sqlite_store *store, struct sqlite_run *from,
            struct sqlite_run *to, unsigned level, bool descending,
            struct sotto_error *err)
{
    enum sotto_status status = sql_execute(
        &store->sql,
        "UPDATE run SET level = ?2, descending = ?3 WHERE number = ?1",
        SQL_VALUES(SQL_NUMBER(from->number), SQL_NUMBER(level),
                   SQL_NUMBER(descending)),
        err);
    if (status == SOTTO_STATUS_OK) {
        *to = *from;
        *from = (struct sqlite_run){0};
    }
    return status;
}

/* A merge that failed is tried again later: windows do not wait for it, for
   lookups find in two runs what they would find in one. */
static enum sotto_status
take_or_rest(struct sqlite_store *store, unsigned level,
             struct sotto_error *err)
{
    if (store->job[level]->status == SOTTO_STATUS_OK) {
        return take_job(store, level, err);
    }
    drop_job(store, level);
    store->resting[level] = host_seconds() + REST_S;
    return SOTTO_STATUS_OK;
}

/* From the top, so that what descends finds room below. */
enum sotto_status
sqlite_runs_tend(struct sqlite_store *store, struct sotto_error *err)
{
    struct sqlite_runs *runs = &store->runs;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (unsigned l = LEVELS - 1; l > 0 && status == SOTTO_STATUS_OK; l--) {
        if (store->job[l] != NULL && atomic_load(&store->job[l]->done)) {
            status = take_or_rest(store, l, err);
        }
        if (status == SOTTO_STATUS_OK && store->job[l] == NULL &&
            l + 1 < LEVELS && runs->settled[l].tags > runs->most[l] &&
            runs->descending[l + 1].file == NULL) {
            status = relabel_run(store, &runs->settled[l],
                                 &runs->descending[l + 1], l + 1, true, err);
        }
        if (status == SOTTO_STATUS_OK && runs->settled[l].file == NULL &&
            runs->descending[l].file != NULL) {
            status = relabel_run(store, &runs->descending[l], &runs->settled[l],
                                 l, false, err);
        }
    }
    return status;
}

enum sotto_status
sqlite_runs_move(struct sqlite_store *store, size_t rows, bool *ret_done,
                 struct sotto_error *err)
{
    const struct window_tags *tags = &store->tags[1 - store->move.active];
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_done = tags->count == 0;
    if (*ret_done) {
        return status;
    }
    if (store->job[0] == NULL) {
        uint64_t work = tags->count + store->runs.settled[0].tags;
        status = new_job(store, 0, &store->job[0], err);
        if (status != SOTTO_STATUS_OK || store->job[0] == NULL) {
            return status;
        }
        begin_job(store->job[0], rows < work);
    }
    struct sqlite_job *job = store->job[0];
    job->rows = rows < SIZE_MAX - job->rows ? job->rows + rows : SIZE_MAX;
    if (atomic_load(&job->done) || job->rows >= tags->count) {
        status = take_job(store, 0, err);
        *ret_done = status == SOTTO_STATUS_OK;
    }
    return status;
}

/* ---- Forgetting ---------------------------------------------------------- */

static bool
has_campaign(const struct sqlite_run *run, uint32_t campaign)
{
    bool has = false;
    for (size_t i = 0; run->file != NULL && i < run->file->sections; i++) {
        has = has || run->file->section[i].campaign == campaign;
    }
    return has;
}

static enum sotto_status
rewrite_run(struct sqlite_store *store, struct sqlite_run *run, unsigned level,
            bool descending, uint32_t without, struct sotto_error *err)
{
    if (!has_campaign(run, without)) {
        return SOTTO_STATUS_OK;
    }
    struct sqlite_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return host_fail_memory(err);
    }
    sqlite_runs_owner(store->key, job->owner);
    job->merge.owner = job->owner;
    job->merge.without = without;
    enum sotto_status status = add_source(store, job, 0, run, err);
    status = HOST_THEN(status, add_output(store, job, 0, err));
    status = HOST_THEN(status, tag_merge(&job->merge, err));
    status = HOST_THEN(status, forget_run(store, run, err));
    status = HOST_THEN(status, name_run(store, job, 0, level, descending, err));
    free_job(job);
    return status;
}

enum sotto_status
sqlite_runs_forget(struct sqlite_store *store, uint32_t campaign,
                   struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    sqlite_runs_close(store); /* what is being merged has its tags, too */
    for (unsigned i = 0; i < LEVELS; i++) {
        status = HOST_THEN(status, rewrite_run(store, &store->runs.settled[i],
                                               i, false, campaign, err));
        status =
            HOST_THEN(status, rewrite_run(store, &store->runs.descending[i], i,
                                          true, campaign, err));
    }
    return status;
}

/* ---- Transactions -------------------------------------------------------- */

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
    drop_job(store, 0);
    store->superfluous.count = 0;
    for (size_t i = 0; store->committing && i < store->unnamed.count; i++) {
        doom(&store->uncertain, store->unnamed.number[i]);
    }
    if (store->committing) {
        store->unnamed.count = 0;
    }
    remove_doomed(store, &store->unnamed);
}

void
sqlite_runs_close(struct sqlite_store *store)
{
    for (unsigned i = 0; i < LEVELS; i++) {
        drop_job(store, i);
    }
}
