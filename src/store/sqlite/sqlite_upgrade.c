/*
 * sqlite_upgrade.c: what a store of version 1 becomes: its payloads get their
 * sums. sqlite_file.c has the statements; here is what they call.
 */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite_store.h"

/* A row's records, each `skip` bytes and a payload, with sums behind the
   payloads. */
static uint8_t *
add_sums(const uint8_t *from, size_t count, size_t skip, size_t payload)
{
    size_t old = skip + payload, new = old + SUM_SIZE;
    uint8_t *to = sqlite3_malloc64(count * new + 1);
    for (size_t i = 0; to != NULL && i < count; i++) {
        memcpy(to + i * new, from + i * old, old);
        sqlite_batch_sum(to + i * new + skip, payload);
    }
    return to;
}

/* with_sums(records, skip, payload's size) */
static void
with_sums(sqlite3_context *context, int count, sqlite3_value **value)
{
    const uint8_t *from = sqlite3_value_blob(value[0]);
    sqlite3_int64 size = sqlite3_value_bytes(value[0]);
    sqlite3_int64 skip = sqlite3_value_int64(value[1]);
    sqlite3_int64 payload = sqlite3_value_int64(value[2]);
    (void)count;
    if (from == NULL || skip < 0 || payload <= 0 || payload > INT32_MAX ||
        size % (skip + payload) != 0) {
        sqlite3_result_error_code(context, SQLITE_CORRUPT);
        return;
    }
    size_t records = (size_t)(size / (skip + payload));
    uint8_t *to = add_sums(from, records, (size_t)skip, (size_t)payload);
    if (to == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_blob64(context, to,
                          records * ((size_t)(skip + payload) + SUM_SIZE),
                          sqlite3_free);
}

enum sotto_status
sqlite_upgrade_prepare(const struct sql *sql, struct sotto_error *err)
{
    int code = sqlite3_create_function_v2(sql->db, "with_sums", 3,
                                          SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, with_sums, NULL, NULL, NULL);
    return code == SQLITE_OK ? SOTTO_STATUS_OK : sql_fail(sql, code, err);
}
