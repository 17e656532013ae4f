/*
 * sqlite_look.c: looking at a page of the file as it is on the disk.
 *
 * A writer may be writing the log back into the file: a page that does not fit
 * its sum is read again, some moments later, unless nobody has written there
 * for a while. What the log has of a page stands
 * for what the file has: a loss of power may have left half of it there, and
 * the next writer writes it anew.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "host/error.h"
#include "host/text.h"
#include "store/sql_sums.h"
#include "store/sqlite/sqlite_store.h"

#define TRIES 4
#define PAUSE_NS 20000000
#define QUIET_S 2 /* behind the last change, a file is at rest */

/* Whether somebody may be writing to a file. */
static bool
is_busy(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || time(NULL) - info.st_mtime <= QUIET_S;
}

/* Reads a page that did not fit until it does, some times. */
static int
read_patiently(const struct sql *sql, uint32_t number, uint8_t *page)
{
    const struct timespec pause = {0, PAUSE_NS};
    int code = sql_sums_read(sql->db, number, page);
    for (int i = 1; i < TRIES && code != SQLITE_OK && is_busy(sql->path); i++) {
        (void)nanosleep(&pause, NULL);
        code = sql_sums_read(sql->db, number, page);
    }
    return code;
}

enum sotto_status
sqlite_look_at_page(const struct sql *sql, uint32_t number,
                    enum sqlite_page *ret_page, struct sotto_error *err)
{
    uint8_t page[SQL_SUMS_PAGE];
    *ret_page = SQLITE_PAGE_SOUND;
    if (number == SQL_SUMS_LOCKS) {
        return SOTTO_STATUS_OK;
    }
    int code = sql_sums_read(sql->db, number, page);
    if (code == SQLITE_OK) {
        return SOTTO_STATUS_OK;
    }
    char *log = host_text_path("%s-wal", sql->path);
    if (log == NULL) {
        return host_fail_memory(err);
    }
    if (!sql_log_has(log, number)) {
        code = read_patiently(sql, number, page);
        *ret_page = code == SQLITE_OK           ? SQLITE_PAGE_SOUND
                    : code != SQLITE_IOERR_DATA ? SQLITE_PAGE_GONE
                    : host_checksum_read(page + SQL_SUMS_USED) == 0
                        ? SQLITE_PAGE_FOREIGN
                        : SQLITE_PAGE_DAMAGED;
    }
    free(log);
    return SOTTO_STATUS_OK;
}

enum sotto_status
sqlite_look_at_log(const struct sql *sql, struct sql_log_look *ret_look,
                   struct sotto_error *err)
{
    const struct timespec pause = {0, PAUSE_NS};
    char *log = host_text_path("%s-wal", sql->path);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (log == NULL) {
        return host_fail_memory(err);
    }
    for (int i = 0; i < TRIES && status == SOTTO_STATUS_OK; i++) {
        status = sql_log_look(log, ret_look, err);
        if (ret_look->damaged == 0 || !is_busy(log)) {
            break;
        }
        (void)nanosleep(&pause, NULL);
    }
    free(log);
    return status;
}
