/*
 * ledger_sqlite.c: one person, one campaign, one report, for good (invariant
 * 5), in an SQLite file. A second mechanism of a campaign is refused unless the
 * person agrees again, and then both add up under the caps.
 *
 *     IDLE --begin: BEGIN IMMEDIATE--> LOCKED --commit: INSERT, COMMIT--> IDLE
 *       ^         found: the report      |
 *       |         no room: REFUSED       |
 *       `----------- ROLLBACK -----------'--cancel: ROLLBACK
 *
 * From begin to commit the file is locked against other writers, so the room
 * that was seen is the room that is used. Commit looks again all the same: the
 * caps hold whatever the caller does. It is not said to have worked before
 * SQLite has flushed the row, the journal's deletion and the folder, and the
 * mark is raised to the row's sequence: a ledger that has fewer charges than
 * its mark, or than the queue's, was put back from a backup, and makes no new
 * one. A kill between commit and mark leaves the mark below, which is no
 * matter: the next to open the ledger, or to find the row, raises it.
 *
 * Sums are SQLite's, which fails where an integer would overflow; caps are at
 * most 10^18 units, so what passes them fits.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "base/decimal.h"
#include "host/amount.h"
#include "host/error.h"
#include "host/text.h"
#include "host/wipe.h"
#include "report/report.h"
#include "store/ledger.h"
#include "store/sql_file.h"

_Static_assert(DECIMAL_TEXT_SIZE <= SOTTO_UNITS_SIZE, "amounts fit");

/* ---- Opening ------------------------------------------------------------ */

static enum sotto_status
take_secret(struct sotto_ledger *ledger, const uint8_t *wanted,
            struct sotto_error *err)
{
    uint8_t check[LEDGER_CHECK_SIZE];
    enum sotto_status status =
        ledger_secret_read(ledger->path, ledger->secret, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    ledger_secret_check(ledger->secret, check);
    if (sodium_memcmp(check, wanted, sizeof check) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "'%s.secret' belongs to another ledger: with it "
                         "everybody could be asked again; put the file made "
                         "with the ledger back",
                         host_shown(ledger->path));
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
ledger_sequence(const struct sotto_ledger *ledger, uint64_t *ret_sequence,
                struct sotto_error *err)
{
    return sql_read(&ledger->sql,
                    "SELECT coalesce(max(sequence), 0) FROM charge", SQL_NONE,
                    SQL_TARGETS(SQL_INTO(ret_sequence)), err);
}

enum sotto_status
ledger_compare(struct sotto_ledger *ledger, uint64_t mark,
               struct sotto_error *err)
{
    uint64_t sequence = 0;
    enum sotto_status status = ledger_sequence(ledger, &sequence, err);
    if (status == SOTTO_STATUS_OK && mark > sequence) {
        ledger->behind = mark;
    }
    return status;
}

/* Another program may have been killed before its commit was in the folder: a
   mark above a charge that a loss of power undoes would lock everybody out. */
enum sotto_status
ledger_settle(const struct sotto_ledger *ledger, uint64_t *ret_sequence,
              struct sotto_error *err)
{
    enum sotto_status status = ledger_sequence(ledger, ret_sequence, err);
    return HOST_THEN(status, sql_file_settle(ledger->path, err));
}

/* Raises the mark to a charge that is committed. */
static enum sotto_status
raise_mark(struct sotto_ledger *ledger, uint64_t sequence,
           struct sotto_error *err)
{
    uint64_t found = 0;
    enum sotto_status status =
        ledger_mark_raise(ledger->path, ledger->secret, sequence, &found, err);
    if (status == SOTTO_STATUS_OK && found == LEDGER_MARK_LOST) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "'%s.mark' was taken away while the ledger was in "
                         "use; put it back",
                         host_shown(ledger->path));
    }
    if (status == SOTTO_STATUS_OK) {
        ledger->mark = found > sequence ? found : sequence;
    }
    return status;
}

/* The mark comes first: another program may charge in between, and commits
   before it raises the mark. */
static enum sotto_status
check_mark(struct sotto_ledger *ledger, struct sotto_error *err)
{
    uint64_t sequence = 0;
    enum sotto_status status =
        ledger_mark_raise(ledger->path, ledger->secret, 0, &ledger->mark, err);
    status = HOST_THEN(status, ledger_compare(ledger, ledger->mark, err));
    status = HOST_THEN(status, ledger_settle(ledger, &sequence, err));
    return status == SOTTO_STATUS_OK && ledger->behind == 0 &&
                   ledger->mark < sequence
               ? raise_mark(ledger, sequence, err)
               : status;
}

/* Before the file is of this version it has a mark: one of this version that
   has none has lost it. */
static enum sotto_status
upgrade_ledger(struct sotto_ledger *ledger, struct sotto_error *err)
{
    int64_t version = 0;
    uint64_t sequence = 0;
    enum sotto_status status =
        sql_integer(&ledger->sql, "PRAGMA user_version", &version, err);
    if (status != SOTTO_STATUS_OK || version != 1) {
        return status;
    }
    status = ledger_sequence(ledger, &sequence, err);
    status = HOST_THEN(status, ledger_mark_create(ledger->path, ledger->secret,
                                                  sequence, err));
    return HOST_THEN(status, ledger_file_upgrade(&ledger->sql, err));
}

enum sotto_status
sotto_ledger_open(const char *path, struct sotto_ledger **ret_ledger,
                  struct sotto_error *err)
{
    uint8_t check[LEDGER_CHECK_SIZE];
    struct sotto_ledger *ledger = calloc(1, sizeof *ledger);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (ledger == NULL) {
        return host_fail_memory(err);
    }
    ledger->owner = getpid();
    ledger->path = host_text_copy(path, strlen(path));
    status = ledger->path == NULL ? host_fail_memory(err)
                                  : ledger_file_open(ledger->path, &ledger->sql,
                                                     &ledger->caps, check, err);
    status = HOST_THEN(status, take_secret(ledger, check, err));
    status = HOST_THEN(status, upgrade_ledger(ledger, err));
    status = HOST_THEN(status, check_mark(ledger, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_ledger = ledger;
    } else {
        sotto_ledger_free(ledger);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

/* In a forked child the connection is left as it is: to close it there would
   undo what the parent is about to commit. */
void
sotto_ledger_free(struct sotto_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    if (ledger->owner == getpid()) {
        (void)sqlite3_close(ledger->sql.db);
    }
    free(ledger->path);
    host_wipe_free(ledger, sizeof *ledger);
}

void
sotto_ledger_again(struct sotto_ledger *ledger, bool again)
{
    ledger->again = again;
}

void
ledger_check(const struct sotto_ledger *ledger,
             uint8_t ret_check[LEDGER_CHECK_SIZE])
{
    ledger_secret_check(ledger->secret, ret_check);
}

enum sotto_status
ledger_usable(const struct sotto_ledger *ledger, bool locked,
              struct sotto_error *err)
{
    if (ledger->owner != getpid()) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a forked process may not use its parent's ledger "
                         "'%s'; open it again",
                         host_shown(ledger->path));
    }
    if (ledger->locked != locked) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "the ledger '%s' has %s charge begun",
                         host_shown(ledger->path), locked ? "no" : "another");
    }
    return SOTTO_STATUS_OK;
}

/* ---- Sums and caps ------------------------------------------------------ */

enum sotto_status
ledger_spent(const struct sotto_ledger *ledger,
             const uint8_t person[LEDGER_PERSON_SIZE], const char *campaign,
             size_t campaign_size, struct ledger_budgets *ret_spent,
             struct sotto_error *err)
{
    return sql_read(&ledger->sql,
                    "SELECT coalesce(sum(eps), 0), coalesce(sum(delta), 0), "
                    "coalesce(sum(eps) FILTER (WHERE campaign = ?2), 0), "
                    "coalesce(sum(delta) FILTER (WHERE campaign = ?2), 0) "
                    "FROM charge WHERE person = ?1",
                    SQL_VALUES(SQL_BLOB(person, LEDGER_PERSON_SIZE),
                               SQL_TEXT(campaign, campaign_size)),
                    SQL_TARGETS(SQL_INTO(&ret_spent->lifetime.eps),
                                SQL_INTO(&ret_spent->lifetime.delta),
                                SQL_INTO(&ret_spent->campaign.eps),
                                SQL_INTO(&ret_spent->campaign.delta)),
                    err);
}

enum sotto_status
ledger_first(const struct sotto_ledger *ledger, const char *campaign,
             size_t campaign_size, const struct ledger_budget *otherwise,
             struct ledger_budget *ret_first, struct sotto_error *err)
{
    return sql_read(
        &ledger->sql,
        "SELECT coalesce(max(eps), ?2), coalesce(max(delta), ?3) "
        "FROM charge WHERE sequence = (SELECT min(sequence) FROM "
        "charge WHERE campaign = ?1)",
        SQL_VALUES(SQL_TEXT(campaign, campaign_size),
                   SQL_NUMBER(otherwise->eps), SQL_NUMBER(otherwise->delta)),
        SQL_TARGETS(SQL_INTO(&ret_first->eps), SQL_INTO(&ret_first->delta)),
        err);
}

uint64_t
ledger_left(uint64_t cap, uint64_t spent)
{
    return spent < cap ? cap - spent : 0;
}

/* Whether `asked` fits under one cap. */
static enum sotto_status
check_cap(const struct sotto_ledger *ledger, const char *what, uint64_t cap,
          uint64_t spent, uint64_t asked, struct sotto_error *err)
{
    char amount[4][DECIMAL_TEXT_SIZE];
    if (asked <= ledger_left(cap, spent)) {
        return SOTTO_STATUS_OK;
    }
    (void)amount_write(cap, amount[0]);
    (void)amount_write(spent, amount[1]);
    (void)amount_write(asked, amount[2]);
    (void)amount_write(ledger_left(cap, spent), amount[3]);
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     "refused: the cap of a person's %s is %s; %s is spent, "
                     "%s was asked, %s is left (ledger '%s')",
                     what, amount[0], amount[1], amount[2], amount[3],
                     host_shown(ledger->path));
}

#define BY_FIRST                                                               \
    " in a campaign, which is what its first mechanism costs unless the "      \
    "person agrees again (--again),"

static enum sotto_status
check_room(const struct sotto_ledger *ledger,
           const uint8_t person[LEDGER_PERSON_SIZE],
           const struct sotto_charge *charge, struct sotto_error *err)
{
    const struct ledger_budgets *caps = &ledger->caps;
    const struct ledger_budget cost = {charge->eps, charge->delta};
    struct ledger_budgets spent = {{0, 0}, {0, 0}};
    struct ledger_budget first = caps->lifetime;
    enum sotto_status status = ledger_spent(ledger, person, charge->campaign,
                                            charge->campaign_size, &spent, err);
    if (status == SOTTO_STATUS_OK && !ledger->again) {
        status = ledger_first(ledger, charge->campaign, charge->campaign_size,
                              &cost, &first, err);
    }
    bool eps_set = caps->campaign.eps != LEDGER_BY_FIRST;
    bool delta_set = caps->campaign.delta != LEDGER_BY_FIRST;
    const struct {
        const char *what;
        uint64_t cap, spent, asked;
    } row[] = {
        {"epsilon over a lifetime", caps->lifetime.eps, spent.lifetime.eps,
         charge->eps},
        {"delta over a lifetime", caps->lifetime.delta, spent.lifetime.delta,
         charge->delta},
        {eps_set ? "epsilon in a campaign" : "epsilon" BY_FIRST,
         eps_set ? caps->campaign.eps : first.eps, spent.campaign.eps,
         charge->eps},
        {delta_set ? "delta in a campaign" : "delta" BY_FIRST,
         delta_set ? caps->campaign.delta : first.delta, spent.campaign.delta,
         charge->delta},
    };
    for (size_t i = 0; i < 4 && status == SOTTO_STATUS_OK; i++) {
        status = check_cap(ledger, row[i].what, row[i].cap, row[i].spent,
                           row[i].asked, err);
    }
    return status;
}

/* ---- The port ----------------------------------------------------------- */

/* The three columns that find a charge, from ?1 on. */
#define CHARGE_VALUES(person, charge)                                          \
    SQL_BLOB(person, LEDGER_PERSON_SIZE),                                      \
        SQL_TEXT((charge)->campaign, (charge)->campaign_size),                 \
        SQL_BLOB((charge)->mechanism, SOTTO_HASH_SIZE)

/* Whether this mechanism may ask at all: a campaign's first, or the person
   agrees again. */
static enum sotto_status
check_agreed(const struct sotto_ledger *ledger,
             const uint8_t person[LEDGER_PERSON_SIZE],
             const struct sotto_charge *charge, struct sotto_error *err)
{
    int64_t others = 0;
    enum sotto_status status =
        sql_read(&ledger->sql,
                 "SELECT count(*) FROM charge WHERE person = ?1 AND "
                 "campaign = ?2 AND mechanism <> ?3",
                 SQL_VALUES(CHARGE_VALUES(person, charge)),
                 SQL_TARGETS(SQL_INTO(&others)), err);
    return status == SOTTO_STATUS_OK && others > 0 && !ledger->again
               ? host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "refused: another mechanism of this campaign has "
                           "asked this person before; a second one adds its "
                           "cost, and asks only if the person agrees again "
                           "(--again; ledger '%s')",
                           host_shown(ledger->path))
               : status;
}

/* Whether the ledger has all the charges that it once had. */
static enum sotto_status
check_current(const struct sotto_ledger *ledger, struct sotto_error *err)
{
    if (ledger->behind == 0) {
        return SOTTO_STATUS_OK;
    }
    if (ledger->behind == LEDGER_MARK_LOST) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "refused: '%s.mark', which tells whether the ledger "
                         "was put back from a backup, is not there or not its "
                         "own: nobody new is asked; put it back",
                         host_shown(ledger->path));
    }
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     "refused: the ledger '%s' had %" PRIu64
                     " charges and has fewer: it was put back from a backup, "
                     "and would ask people twice; nobody new is asked; put "
                     "the newest one back",
                     host_shown(ledger->path), ledger->behind);
}

/* Whether there may be a new charge. */
static enum sotto_status
check_charge(const struct sotto_ledger *ledger,
             const uint8_t person[LEDGER_PERSON_SIZE],
             const struct sotto_charge *charge, struct sotto_error *err)
{
    enum sotto_status status = check_current(ledger, err);
    status = HOST_THEN(status, ledger_name_check(&ledger->sql, ledger->secret,
                                                 person, charge, err));
    status = HOST_THEN(status, check_agreed(ledger, person, charge, err));
    return HOST_THEN(status, check_room(ledger, person, charge, err));
}

/* The report in the row that a statement stands at. */
static enum sotto_status
take_report(const struct sotto_ledger *ledger, sqlite3_stmt *select,
            uint8_t *report, size_t size, struct sotto_error *err)
{
    const void *data = sqlite3_column_blob(select, 0);
    size_t kept = (size_t)sqlite3_column_bytes(select, 0);
    if (data == NULL && sqlite3_errcode(ledger->sql.db) == SQLITE_NOMEM) {
        return host_fail_memory(err);
    }
    if (data == NULL || kept != size) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "the ledger '%s' is damaged: it keeps %zu bytes where "
                         "a report of this mechanism has %zu",
                         host_shown(ledger->path), kept, size);
    }
    memcpy(report, data, size);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
find_report(const struct sotto_ledger *ledger,
            const uint8_t person[LEDGER_PERSON_SIZE],
            const struct sotto_charge *charge, uint8_t *report, size_t size,
            bool *ret_found, uint64_t *ret_sequence, struct sotto_error *err)
{
    sqlite3_stmt *select = NULL;
    enum sotto_status status = sql_first(
        &ledger->sql,
        "SELECT report, sequence FROM charge "
        "WHERE person = ?1 AND campaign = ?2 AND mechanism = ?3",
        SQL_VALUES(CHARGE_VALUES(person, charge)), &select, ret_found, err);
    if (status == SOTTO_STATUS_OK && *ret_found) {
        status = take_report(ledger, select, report, size, err);
        *ret_sequence = (uint64_t)sqlite3_column_int64(select, 1);
    }
    (void)sqlite3_finalize(select);
    return status;
}

/* Ends the transaction, if there is one, as if it had not been. */
static void
unlock_ledger(struct sotto_ledger *ledger)
{
    sql_roll_back(&ledger->sql);
    ledger->locked = false;
}

/*
 * A program killed in the middle of its commit may have left the row visible
 * and the journal's deletion not yet on the disk: so the folder is flushed
 * before what is found is sent again.
 */
static enum sotto_status
look_up(struct sotto_ledger *ledger, const struct sotto_charge *charge,
        uint8_t *report, size_t size, int *ret_found, struct sotto_error *err)
{
    uint8_t person[LEDGER_PERSON_SIZE];
    bool found = false;
    uint64_t sequence = 0;
    ledger_secret_person(ledger->secret, charge->person, charge->person_size,
                         person);
    enum sotto_status status = find_report(ledger, person, charge, report, size,
                                           &found, &sequence, err);
    if (status == SOTTO_STATUS_OK && found) {
        status = sql_file_settle(ledger->path, err);
        if (status == SOTTO_STATUS_OK && sequence > ledger->mark &&
            ledger->behind == 0) {
            status = raise_mark(ledger, sequence, err);
        }
    } else if (status == SOTTO_STATUS_OK) {
        status = check_charge(ledger, person, charge, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_found = found;
    }
    return status;
}

static enum sotto_status
begin_charge(void *context, const struct sotto_charge *charge, uint8_t *report,
             size_t size, int *ret_found, struct sotto_error *err)
{
    struct sotto_ledger *ledger = context;
    int found = 0;
    enum sotto_status status = ledger_usable(ledger, false, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = sql_run(&ledger->sql, "BEGIN IMMEDIATE", err);
    status =
        HOST_THEN(status, look_up(ledger, charge, report, size, &found, err));
    if (status == SOTTO_STATUS_OK && !found) {
        ledger->locked = true;
    } else {
        unlock_ledger(ledger);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_found = found;
    }
    return status;
}

static enum sotto_status
insert_charge(const struct sotto_ledger *ledger,
              const uint8_t person[LEDGER_PERSON_SIZE],
              const struct sotto_charge *charge, const uint8_t *report,
              size_t size, struct sotto_error *err)
{
    time_t now = time(NULL);
    return sql_execute(
        &ledger->sql,
        "INSERT INTO charge (person, campaign, mechanism, charged_at, eps, "
        "delta, id, report) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        SQL_VALUES(CHARGE_VALUES(person, charge), SQL_NUMBER(now > 0 ? now : 0),
                   SQL_NUMBER(charge->eps), SQL_NUMBER(charge->delta),
                   SQL_BLOB(sotto_report_id(report), SOTTO_ID_SIZE),
                   SQL_BLOB(report, size)),
        err);
}

static enum sotto_status
commit_charge(void *context, const struct sotto_charge *charge,
              const uint8_t *report, size_t size, struct sotto_error *err)
{
    struct sotto_ledger *ledger = context;
    uint8_t person[LEDGER_PERSON_SIZE];
    enum sotto_status status = ledger_usable(ledger, true, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    ledger_secret_person(ledger->secret, charge->person, charge->person_size,
                         person);
    status = size < REPORT_HEADER_SIZE
                 ? host_fail(err, SOTTO_STATUS_USAGE, 0, "that is no report")
                 : check_charge(ledger, person, charge, err);
    status = HOST_THEN(status, ledger_name_keep(&ledger->sql, ledger->secret,
                                                person, charge, err));
    status = HOST_THEN(
        status, insert_charge(ledger, person, charge, report, size, err));
    status = HOST_THEN(status, sql_run(&ledger->sql, "COMMIT", err));
    uint64_t sequence = (uint64_t)sqlite3_last_insert_rowid(ledger->sql.db);
    unlock_ledger(ledger);
    status = HOST_THEN(status, raise_mark(ledger, sequence, err));
    return status;
}

static void
cancel_charge(void *context)
{
    struct sotto_ledger *ledger = context;
    if (ledger_usable(ledger, true, NULL) == SOTTO_STATUS_OK) {
        unlock_ledger(ledger);
    }
}

struct sotto_ledger_port
sotto_ledger_port(struct sotto_ledger *ledger)
{
    struct sotto_ledger_port port = {ledger, begin_charge, commit_charge,
                                     cancel_charge};
    return port;
}
