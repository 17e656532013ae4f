/*
 * sqlite_jobs.c: merging runs of tags (sqlite_runs.c), beside the writer.
 *
 *     level   tags at most   descends
 *     0       2^20           each tag by the toss of a coin
 *     1       2^22           as a whole
 *     2       2^25           as a whole
 *     3       2^28           as a whole
 *     4
 *
 * What levels tell of the order in which tags came, docs/collector.md says.
 * Whatever runs there are, the newest window is never alone in one: it is mixed
 * with the half of level 0 that stayed, or with all tags there are.
 *
 * While a level is merged, the filter of what it becomes grows in memory, and
 * those of its sources shrink (tag_filter.c); a merge that fails leaves them to
 * be read again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/error.h"
#include "store/sqlite/sqlite_runs.h"

/* ---- Jobs ---------------------------------------------------------------- */

/* A merge: of a window into level 0, or of what descends into a level above.
   It holds its sources, for the store may close them. */
struct sqlite_job {
    pthread_t thread;
    bool begun;
    size_t rows; /* that slices would have moved meanwhile */
    atomic_bool stop, done;
    struct tag_merge merge;
    uint8_t owner[RUN_OWNER_SIZE];
    struct tag_run *source[TAG_MERGE_RUNS];
    size_t sources;
    struct window_tag *tag;
    char *name[2];
    int64_t number[2];
    uint64_t lost; /* of the sources, before */
    enum sotto_status status;
    struct sotto_error err;
};

static struct sqlite_job *
make_job(const struct sqlite_store *store)
{
    struct sqlite_job *job = calloc(1, sizeof *job);
    if (job != NULL) {
        sqlite_runs_owner(store->key, job->owner);
        job->merge.owner = job->owner;
        job->merge.stop = &job->stop;
    }
    return job;
}

static void
free_job(struct sqlite_job *job)
{
    for (size_t i = 0; i < job->sources; i++) {
        job->source[i]->next = NULL;
        tag_run_close(job->source[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        free(job->name[i]);
    }
    tag_merge_clear(&job->merge);
    free(job->tag);
    free(job);
}

/* Sorts, and merges. */
static void *
run_job(void *context)
{
    struct sqlite_job *job = context;
    window_tags_sort(job->tag, job->merge.tags);
    job->status = tag_merge(&job->merge, &job->err);
    atomic_store(&job->done, true);
    return NULL;
}

/* `moves`: its filter is given back meanwhile. */
static void
add_source(struct sqlite_job *job, const struct sqlite_run *run, bool moves)
{
    if (run->file == NULL) {
        return;
    }
    struct tag_run *file = tag_run_hold(run->file);
    job->lost += run->lost;
    job->merge.run[job->sources] = file;
    job->source[job->sources++] = file;
    job->merge.moves = moves;
    file->next = moves ? &job->merge.filter[0] : NULL;
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

/* The window that has ended, which level 0 takes; it is divided if it has
   become too large and nothing descends. */
static enum sotto_status
add_window(struct sqlite_store *store, struct sqlite_job *job,
           struct sotto_error *err)
{
    const struct sqlite_runs *runs = &store->runs;
    const struct window_tags *tags = &store->tags[1 - store->move.active];
    job->tag = window_tags_listed(tags);
    if (job->tag == NULL) {
        return host_fail_memory(err);
    }
    job->merge.tag = job->tag;
    job->merge.tags = tags->count;
    return runs->descending[1].file == NULL &&
                   runs->settled[0].tags + tags->count > runs->most[0]
               ? add_output(store, job, 1, err)
               : SOTTO_STATUS_OK;
}

/* Everything that a merge into a level needs. */
static enum sotto_status
new_job(struct sqlite_store *store, unsigned level, struct sqlite_job **ret,
        struct sotto_error *err)
{
    const struct sqlite_runs *runs = &store->runs;
    struct sqlite_job *job = make_job(store);
    if (job == NULL) {
        return host_fail_memory(err);
    }
    add_source(job, &runs->settled[level], level > 0);
    add_source(job, &runs->descending[level], level > 0);
    enum sotto_status status = add_output(store, job, 0, err);
    if (status == SOTTO_STATUS_OK && level == 0) {
        status = add_window(store, job, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret = job;
    } else {
        free_job(job);
    }
    return status;
}

void
sqlite_runs_drop(struct sqlite_store *store, unsigned level)
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
    sqlite_filters_begin(store);
}

/* ---- Taking over --------------------------------------------------------- */

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
        sqlite_runs_doom(&store->superfluous, run->number);
        sqlite_runs_shut(run);
    }
    return status;
}

/* Names what a job wrote, and takes its filter over; a run without tags needs
   no name. */
static enum sotto_status
name_run(struct sqlite_store *store, struct sqlite_job *job, size_t which,
         unsigned level, bool descending, struct sotto_error *err)
{
    struct sqlite_run run = {job->number[which], job->merge.count[which],
                             which == 0 ? job->lost + job->merge.lost : 0,
                             NULL};
    if (run.tags == 0 && run.lost == 0) {
        (void)unlink(job->name[which]);
        return SOTTO_STATUS_OK;
    }
    sqlite_runs_doom(&store->unnamed, run.number);
    enum sotto_status status = sqlite_runs_open(store, &run, err);
    status = HOST_THEN(
        status,
        sql_execute(&store->sql, "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5)",
                    SQL_VALUES(SQL_NUMBER(run.number), SQL_NUMBER(level),
                               SQL_NUMBER(descending), SQL_NUMBER(run.tags),
                               SQL_NUMBER(run.lost)),
                    err));
    if (status == SOTTO_STATUS_OK) {
        run.file->filter = atomic_exchange(&job->merge.filter[which], NULL);
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
        sqlite_runs_drop(store, level);
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
    sqlite_runs_drop(store, level);
    store->resting[level] = host_seconds() + RUNS_REST_S;
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
    return run->file != NULL &&
           tag_run_section(run->file->section, run->file->sections, campaign) !=
               NULL;
}

/* Takes the place of all runs: one of level 0, and one of the level above where
   all others fit. */
static enum sotto_status
take_all(struct sqlite_store *store, struct sqlite_job *job,
         struct sotto_error *err)
{
    struct sqlite_runs *runs = &store->runs;
    enum sotto_status status = SOTTO_STATUS_OK;
    unsigned level = 1;
    for (unsigned i = 0; i < LEVELS; i++) {
        status = HOST_THEN(status, forget_run(store, &runs->settled[i], err));
        status =
            HOST_THEN(status, forget_run(store, &runs->descending[i], err));
    }
    while (level < LEVELS - 1 && job->merge.count[1] > runs->most[level]) {
        level++;
    }
    status = HOST_THEN(status, name_run(store, job, 0, 0, false, err));
    return HOST_THEN(status, name_run(store, job, 1, level, false, err));
}

/*
 * The next window must not be nearly alone in level 0 because most of what was
 * there belonged to this campaign: so half a level's tags of every other one,
 * or all it has, are drawn from whatever level they were of. Nothing of their
 * age is left.
 */
enum sotto_status
sqlite_runs_forget(struct sqlite_store *store, uint32_t campaign,
                   struct sotto_error *err)
{
    const struct sqlite_runs *runs = &store->runs;
    enum sotto_status status = SOTTO_STATUS_OK;
    bool has = false;
    sqlite_runs_close(store); /* what is being merged has its tags, too */
    struct sqlite_job *job = make_job(store);
    if (job == NULL) {
        return host_fail_memory(err);
    }
    for (unsigned i = 0; i < LEVELS; i++) {
        has = has || has_campaign(&runs->settled[i], campaign) ||
              has_campaign(&runs->descending[i], campaign);
        add_source(job, &runs->settled[i], false);
        add_source(job, &runs->descending[i], false);
    }
    job->merge.without = campaign;
    job->merge.drawn = runs->most[0] / 2;
    if (has) {
        status = add_output(store, job, 0, err);
        status = HOST_THEN(status, add_output(store, job, 1, err));
        status = HOST_THEN(status, tag_merge(&job->merge, err));
        status = HOST_THEN(status, take_all(store, job, err));
    }
    free_job(job);
    return status;
}
