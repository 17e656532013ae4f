/*
 * sqlite_retag.c: the files of tags of a store that is repaired.
 *
 * Files never change: what is sound stays as it is, and of others what can be
 * saved is written into new ones (tag_salvage.h), which the old store does not
 * name. If the table of them is gone, with its twin, all files of this store
 * are taken, those of a merge that was not done yet, too: a tag that is in two
 * of them comes once.
 *
 * Where the table and its twin are of two moments, two files may have one place
 * between them: then all that are named get places anew. One that only one of
 * the two names, and that is not there, was merged and removed.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sqlite/sqlite_repair.h"
#include "store/tag_salvage.h"

struct retag {
    struct repair *repair;
    uint8_t owner[RUN_OWNER_SIZE];
    uint32_t *campaign; /* of which tags are kept */
    size_t campaigns;
    struct sqlite_run *run;
    size_t runs;
    int64_t next; /* number of the next file */
};

static enum sotto_status
add_run(struct retag *retag, int64_t number, uint64_t tags, uint64_t lost,
        struct sotto_error *err)
{
    struct sqlite_run *more =
        realloc(retag->run, (retag->runs + 1) * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    retag->run = more;
    more[retag->runs++] = (struct sqlite_run){number, tags, lost, NULL};
    return SOTTO_STATUS_OK;
}

static enum sotto_status
take_run(void *context, sqlite3_stmt *row, struct sotto_error *err)
{
    return add_run(context, sqlite3_column_int64(row, 0),
                   (uint64_t)sqlite3_column_int64(row, 1),
                   (uint64_t)sqlite3_column_int64(row, 2), err);
}

/* Numbers of files that are there; all of them are runs, if `take`. */
static enum sotto_status
look_at_folder(struct retag *retag, bool take, struct sotto_error *err)
{
    char *folder = host_text_path("%s-tags", retag->repair->path);
    DIR *all = folder != NULL ? opendir(folder) : NULL;
    const struct dirent *entry = NULL;
    enum sotto_status status =
        folder != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    while (status == SOTTO_STATUS_OK && all != NULL &&
           (entry = readdir(all)) != NULL) {
        int64_t number = sqlite_runs_number(entry->d_name);
        if (number > 0) {
            retag->next = number >= retag->next ? number + 1 : retag->next;
            status = take ? add_run(retag, number, UINT64_MAX, 0, err) : status;
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    free(folder);
    return status;
}

/* ---- Saving -------------------------------------------------------------- */

/* A file without tags, so that what is lost has a row to be told in. */
static enum sotto_status
write_empty(const struct retag *retag, const char *to, struct sotto_error *err)
{
    struct tag_merge merge = {.owner = retag->owner, .path = {to, NULL}};
    enum sotto_status status = tag_merge(&merge, err);
    tag_merge_clear(&merge);
    return status;
}

static void
tell_saved(const struct retag *retag, const struct sqlite_run *run,
           const struct tag_salvage *salvage)
{
    repair_tell(retag->repair,
                "tags, file %" PRId64 ": %" PRIu64 " page%s put right, %" PRIu64
                " lost",
                run->number, salvage->mended,
                salvage->mended == 1 ? " was" : "s were", salvage->lost);
}

/* Makes a run sound: under its number or the next one. */
static enum sotto_status
save_run(struct retag *retag, struct sqlite_run *run, struct sotto_error *err)
{
    struct sotto_error why = {0};
    char *from = sqlite_runs_name(retag->repair->path, run->number);
    char *to = sqlite_runs_name(retag->repair->path, retag->next);
    struct tag_salvage salvage = {.path = from,
                                  .owner = retag->owner,
                                  .campaign = retag->campaign,
                                  .campaigns = retag->campaigns,
                                  .to = to};
    enum sotto_status status = from != NULL && to != NULL
                                   ? tag_salvage(&salvage, &why)
                                   : host_fail_memory(&why);
    if (status == SOTTO_STATUS_FORMAT) {
        repair_tell(retag->repair, "tags, file %" PRId64 ": %s", run->number,
                    why.message);
        salvage.lost =
            1 + (run->tags == UINT64_MAX ? 0 : run->tags / RUN_PAGE_TAGS);
        status = write_empty(retag, to, &why);
    } else if (status == SOTTO_STATUS_OK && !salvage.sound) {
        tell_saved(retag, run, &salvage);
    }
    if (status == SOTTO_STATUS_OK) {
        if (!salvage.sound) {
            sqlite_file_give(retag->repair->path, to);
        }
        run->number = salvage.sound ? run->number : retag->next++;
        run->tags = salvage.count;
        run->lost += salvage.lost;
        retag->repair->counts.mended += salvage.mended;
        retag->repair->counts.tags += salvage.lost;
    } else if (err != NULL) {
        *err = why;
    }
    free(from);
    free(to);
    return status;
}

/* ---- Without the table --------------------------------------------------- */

static int
compare_runs(const void *a, const void *b)
{
    const struct sqlite_run *x = a, *y = b;
    return x->tags != y->tags ? (x->tags > y->tags ? -1 : 1) : 0;
}

/* Merges the two smallest, which are the last. */
static enum sotto_status
merge_last(struct retag *retag, struct sotto_error *err)
{
    struct sqlite_run *run = retag->run + retag->runs - 2;
    struct tag_run *file[2] = {NULL, NULL};
    char *to = sqlite_runs_name(retag->repair->path, retag->next);
    enum sotto_status status =
        to != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    for (size_t i = 0; i < 2 && status == SOTTO_STATUS_OK; i++) {
        char *from = sqlite_runs_name(retag->repair->path, run[i].number);
        status = from != NULL ? tag_run_open(from, retag->owner, &file[i], err)
                              : host_fail_memory(err);
        free(from);
    }
    struct tag_merge merge = {
        .owner = retag->owner, .run = {file[0], file[1]}, .path = {to, NULL}};
    status = HOST_THEN(status, tag_merge(&merge, err));
    if (status == SOTTO_STATUS_OK) {
        sqlite_file_give(retag->repair->path, to);
        run[0] =
            (struct sqlite_run){retag->next++, merge.count[0],
                                run[0].lost + run[1].lost + merge.lost, NULL};
        retag->runs--;
    }
    tag_merge_clear(&merge);
    tag_run_close(file[0]);
    tag_run_close(file[1]);
    free(to);
    return status;
}

/* The largest becomes the last level, and so on. */
static enum sotto_status
place_runs(struct retag *retag, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    while (status == SOTTO_STATUS_OK && retag->runs > LEVELS) {
        qsort(retag->run, retag->runs, sizeof *retag->run, compare_runs);
        status = merge_last(retag, err);
    }
    if (retag->runs > 1) {
        qsort(retag->run, retag->runs, sizeof *retag->run, compare_runs);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < retag->runs; i++) {
        const struct sqlite_run *run = &retag->run[i];
        status = sql_execute(
            &retag->repair->to, "INSERT INTO run VALUES (?1, ?2, 0, ?3, ?4)",
            SQL_VALUES(SQL_NUMBER(run->number), SQL_NUMBER(LEVELS - 1 - i),
                       SQL_NUMBER(run->tags), SQL_NUMBER(run->lost)),
            err);
    }
    return status;
}

/* ---- All of them --------------------------------------------------------- */

static enum sotto_status
list_campaigns(struct retag *retag, struct sotto_error *err)
{
    const struct repair *repair = retag->repair;
    retag->campaign =
        calloc((size_t)repair->campaigns + 1, sizeof *retag->campaign);
    for (uint32_t i = 0; retag->campaign != NULL && i < repair->campaigns;
         i++) {
        if (!repair->campaign[i].closed) {
            retag->campaign[retag->campaigns++] = i + 1;
        }
    }
    return retag->campaign != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
}

static enum sotto_status
save_named(struct retag *retag, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < retag->runs; i++) {
        struct sqlite_run *run = &retag->run[i];
        int64_t number = run->number;
        status = save_run(retag, run, err);
        status = HOST_THEN(
            status,
            sql_execute(&retag->repair->to,
                        "UPDATE run SET number = ?2, tags = ?3, lost = ?4 "
                        "WHERE number = ?1",
                        SQL_VALUES(SQL_NUMBER(number), SQL_NUMBER(run->number),
                                   SQL_NUMBER(run->tags),
                                   SQL_NUMBER(run->lost)),
                        err));
    }
    return status;
}

/* Files of others, or of which nothing is left, are passed over. */
static enum sotto_status
save_found(struct retag *retag, struct sotto_error *err)
{
    size_t kept = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < retag->runs; i++) {
        struct sqlite_run run = retag->run[i];
        status = save_run(retag, &run, err);
        if (status == SOTTO_STATUS_OK && (run.tags > 0 || run.lost > 0)) {
            retag->run[kept++] = run;
        }
    }
    retag->runs = kept;
    return HOST_THEN(status, place_runs(retag, err));
}

/* Whether the table and its twin are two that are read, and differ in a run. */
static bool
is_of_one_twin(const struct repair *repair, int64_t number)
{
    bool once = false, other = false;
    uint32_t page = 0;
    for (size_t i = 0; i < repair->runs; i++) {
        if (repair->run[i].number == number) {
            once = !repair->run[i].twice;
            page = repair->run[i].page;
        }
    }
    for (size_t i = 0; i < repair->runs; i++) {
        other = other || repair->run[i].twice || repair->run[i].page != page;
    }
    return once && other;
}

static enum sotto_status
drop_removed(struct retag *retag, struct sotto_error *err)
{
    size_t kept = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < retag->runs; i++) {
        int64_t number = retag->run[i].number;
        char *name = sqlite_runs_name(retag->repair->path, number);
        if (name == NULL) {
            status = host_fail_memory(err);
        } else if (is_of_one_twin(retag->repair, number) &&
                   access(name, F_OK) != 0 && errno == ENOENT) {
            status = sql_execute(&retag->repair->to,
                                 "DELETE FROM run WHERE number = ?1",
                                 SQL_VALUES(SQL_NUMBER(number)), err);
        } else {
            retag->run[kept++] = retag->run[i];
        }
        free(name);
    }
    retag->runs = kept;
    return status;
}

/* Saves runs that are named; where two have one place, all get places anew. */
static enum sotto_status
save_all_named(struct retag *retag, struct sotto_error *err)
{
    int64_t shared = 0;
    enum sotto_status status = drop_removed(retag, err);
    status = HOST_THEN(
        status,
        sql_integer(&retag->repair->to,
                    "SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT "
                    "level, descending FROM run)) FROM run",
                    &shared, err));
    if (status != SOTTO_STATUS_OK || shared == 0) {
        return HOST_THEN(status, save_named(retag, err));
    }
    status = sql_run(&retag->repair->to, "DELETE FROM run", err);
    return HOST_THEN(status, save_found(retag, err));
}

enum sotto_status
repair_retag(struct repair *repair, struct sotto_error *err)
{
    struct retag retag = {.repair = repair, .next = 1};
    sqlite_runs_owner(repair->key, retag.owner);
    enum sotto_status status = list_campaigns(&retag, err);
    status = HOST_THEN(status, sql_each(&repair->to,
                                        "SELECT number, tags, lost FROM run",
                                        SQL_NONE, take_run, &retag, err));
    bool named = retag.runs > 0;
    for (size_t i = 0; i < retag.runs; i++) {
        retag.next = retag.run[i].number >= retag.next ? retag.run[i].number + 1
                                                       : retag.next;
    }
    status = HOST_THEN(status, look_at_folder(&retag, !named, err));
    status = HOST_THEN(status, named ? save_all_named(&retag, err)
                                     : save_found(&retag, err));
    free(retag.campaign);
    free(retag.run);
    return status;
}
