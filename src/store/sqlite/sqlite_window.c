/*
 * sqlite_window.c: moving on a window that has ended.
 *
 * First its tags are merged into the runs, beside the writer (sqlite_runs.c).
 * Then,
 * campaign by campaign, each in one transaction, its payloads are released or
 * held (sqlite_payloads.c). A campaign that fails by itself, for lack of memory
 * say, is set aside when it is tried again, so that the others' go on.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "store/sqlite/sqlite_store.h"

#define WAITING_MOST 2 /* full windows in one, if the last is not moved on */

/* ---- Ending a window ----------------------------------------------------- */

static bool
window_has(const struct sqlite_store *store, uint64_t times)
{
    const struct sqlite_total *total = &store->incoming[store->move.active];
    return total->reports >= times * STORE_WINDOW_MOST ||
           total->bytes >= times * store->limits.window_bytes;
}

/* Writes `move` into its table, and then takes it over. */
static enum sotto_status
set_move(struct sqlite_store *store, const struct sqlite_move *move,
         struct sotto_error *err)
{
    enum sotto_status status = sql_execute(
        &store->sql, "UPDATE move SET active = ?1, stage = ?2, campaign = ?3",
        SQL_VALUES(SQL_NUMBER(move->active), SQL_NUMBER(move->stage),
                   SQL_NUMBER(move->campaign)),
        err);
    if (status == SOTTO_STATUS_OK) {
        store->move = *move;
    }
    return status;
}

enum sotto_status
sqlite_window_end(void *own, struct sotto_error *err)
{
    struct sqlite_store *store = own;
    struct sqlite_move move = {1 - store->move.active, STAGE_TAGS, 0};
    enum sotto_status status = sqlite_check_begun(store, err);
    if (status == SOTTO_STATUS_OK && store->move.stage == STAGE_NONE) {
        status = sqlite_put_blocks(store, err); /* they are of this window */
        status = HOST_THEN(status, set_move(store, &move, err));
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
sqlite_window_make_room(struct sqlite_store *store, struct sotto_error *err)
{
    if (!window_has(store, 1)) {
        return SOTTO_STATUS_OK;
    }
    if (store->move.stage != STAGE_NONE && window_has(store, WAITING_MOST)) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "reports come faster than '%s' moves the last window "
                         "on; try again",
                         host_shown(store->path));
    }
    return sqlite_window_end(store, err);
}

/* ---- Tags ---------------------------------------------------------------- */

/* Goes on with payloads when the runs have the window's tags. */
static enum sotto_status
move_tags(struct sqlite_store *store, size_t rows, bool *ret_done,
          struct sotto_error *err)
{
    struct sqlite_move move = {store->move.active, STAGE_PAYLOADS, 0};
    enum sotto_status status = sqlite_runs_move(store, rows, ret_done, err);
    return status == SOTTO_STATUS_OK && *ret_done ? set_move(store, &move, err)
                                                  : status;
}

/* ---- Both ---------------------------------------------------------------- */

/* The next campaign to be moved; 0: none. */
static uint32_t
next_campaign(const struct sqlite_store *store, size_t batch_min)
{
    for (uint32_t i = store->move.campaign; i < store->campaigns; i++) {
        const struct sqlite_campaign *campaign = &store->campaign[i];
        if (campaign->incoming[1 - store->move.active] > 0 ||
            campaign->held >= batch_min) {
            return i + 1;
        }
    }
    return 0;
}

/* Whether it concerns one campaign alone. */
static bool
is_own_failure(enum sotto_status status)
{
    return status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_REFUSED ||
           status == SOTTO_STATUS_USAGE;
}

/* Moves the payloads of one campaign, or says that all are moved. */
static enum sotto_status
move_payloads(struct sqlite_store *store, size_t batch_min, size_t *ret_rows,
              struct sotto_error *err)
{
    uint32_t number = next_campaign(store, batch_min);
    if (number == 0) {
        struct sqlite_move move = {store->move.active, STAGE_NONE, 0};
        *ret_rows = 0;
        store->aside = 0;
        window_tags_clear(&store->tags[1 - store->move.active]);
        return set_move(store, &move, err);
    }
    const struct sqlite_campaign *campaign = &store->campaign[number - 1];
    *ret_rows =
        (size_t)(campaign->incoming[1 - store->move.active] + campaign->held);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (store->aside == number) {
        *ret_rows = SIZE_MAX; /* enough: another one that fails undoes none */
        status = sqlite_payloads_set_aside(store, number, err);
    } else {
        status = sqlite_payloads_move(store, number, batch_min, err);
        store->aside = is_own_failure(status) ? number : store->aside;
    }
    struct sqlite_move move = store->move;
    move.campaign = number;
    return HOST_THEN(status, set_move(store, &move, err));
}

enum sotto_status
sqlite_window_advance(void *own, size_t rows, size_t batch_min, bool *ret_done,
                      struct sotto_error *err)
{
    struct sqlite_store *store = own;
    enum sotto_status status = sqlite_check_begun(store, err);
    size_t left = rows > 0 ? rows : 1, moved = 0;
    bool going = true;
    status = HOST_THEN(status, sqlite_runs_tend(store, err));
    while (status == SOTTO_STATUS_OK && left > 0 && going &&
           store->move.stage != STAGE_NONE) {
        if (store->move.stage == STAGE_TAGS) {
            moved = (size_t)store->incoming[1 - store->move.active].reports;
            status = move_tags(store, left, &going, err);
        } else {
            status = move_payloads(store, batch_min, &moved, err);
        }
        left -= moved < left ? moved : left;
    }
    store->failed = store->failed || status != SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK) {
        *ret_done = store->move.stage == STAGE_NONE;
    }
    return status;
}
