/*
 * postgres_link.h: calling PostgreSQL so that every failure becomes a status
 * and a message that names the server, and shows nothing that was sent to it.
 *
 * Parameters and results are binary. A statement that is called often is
 * prepared once a connection.
 */
#ifndef SOTTO_STORE_POSTGRES_POSTGRES_LINK_H
#define SOTTO_STORE_POSTGRES_POSTGRES_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "store/store_window.h"

#define POSTGRES_VALUES_MOST 8u   /* of a statement */
#define POSTGRES_PREPARED_MOST 8u /* statements of a connection */

struct pg_conn; /* libpq's PGconn and PGresult */
struct pg_result;

struct postgres_link {
    struct pg_conn *db;
    char *url;
    bool begun; /* a transaction, as far as is known here */
    const char *prepared[POSTGRES_PREPARED_MOST]; /* their texts */
};

/* ---- Connecting ---------------------------------------------------------- */

/* Takes a url, postgres://... or postgresql://... as libpq takes it but without
   a password; postgres_clear frees. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status postgres_init(struct postgres_link *link,
                                              const char *url,
                                              struct sotto_error *err);
void postgres_clear(struct postgres_link *link);

/*
 * Connects, anew if there is a connection; all names are then of the schema
 * that was first in the search path. Statuses: IO (also: no server, no right to
 * it, a version that is too old), FORMAT (no schema), MEMORY.
 */
SOTTO_CHECKED enum sotto_status postgres_connect(struct postgres_link *link,
                                                 bool reader,
                                                 struct sotto_error *err);
/* Whether there is a connection, as far as is known without asking. */
bool postgres_is_up(const struct postgres_link *link);

/* ---- Statements ---------------------------------------------------------- */

/* What a parameter is bound to. */
struct postgres_value {
    enum { POSTGRES_END, POSTGRES_KIND_NUMBER, POSTGRES_KIND_BYTES } kind;
    int64_t number;
    const void *bytes;
    size_t size;
};
#define POSTGRES_NUMBER(n)                                                     \
    ((struct postgres_value){.kind = POSTGRES_KIND_NUMBER,                     \
                             .number = (int64_t)(n)})
#define POSTGRES_BYTES(from, length)                                           \
    ((struct postgres_value){                                                  \
        .kind = POSTGRES_KIND_BYTES, .bytes = (from), .size = (length)})
#define POSTGRES_NONE ((const struct postgres_value[]){{.kind = POSTGRES_END}})
#define POSTGRES_VALUES(...)                                                   \
    ((const struct postgres_value[]){__VA_ARGS__, {.kind = POSTGRES_END}})

/* What a failed result means: MEMORY; FORMAT for what is damaged or another's;
   IO for all else, a connection that is lost among it. NULL: none came. Frees
   it. */
enum sotto_status postgres_fail(const struct postgres_link *link,
                                struct pg_result *result,
                                struct sotto_error *err);

/* Runs statements without parameters that give nothing. Statuses:
   postgres_fail's. */
SOTTO_CHECKED enum sotto_status postgres_run(const struct postgres_link *link,
                                             const char *text,
                                             struct sotto_error *err);

/* Runs a statement, which is prepared first: for those that are few and called
   often, each with one text in memory. Numbers are int8. `ret_result`, which
   PQclear frees, may be NULL. Statuses: postgres_fail's. */
SOTTO_CHECKED enum sotto_status
postgres_call(struct postgres_link *link, const char *text,
              const struct postgres_value *values,
              struct pg_result **ret_result, struct sotto_error *err);
/* The same of one that is called now and then. */
SOTTO_CHECKED enum sotto_status
postgres_query(const struct postgres_link *link, const char *text,
               const struct postgres_value *values,
               struct pg_result **ret_result, struct sotto_error *err);

/* Hands every row to `take`, one in memory at a time, until that fails; the row
   is number 0 of `row`. Statuses: postgres_fail's, take's. */
typedef enum sotto_status postgres_take(void *context,
                                        const struct pg_result *row,
                                        struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
postgres_each(const struct postgres_link *link, const char *text,
              const struct postgres_value *values, postgres_take *take,
              void *context, struct sotto_error *err);

/* Begins a transaction unless one is. Statuses: postgres_fail's. */
SOTTO_CHECKED enum sotto_status postgres_begin(struct postgres_link *link,
                                               struct sotto_error *err);
/* Commits it, if one is; on failure nothing is begun any more. Statuses:
   postgres_fail's. */
SOTTO_CHECKED enum sotto_status postgres_commit(struct postgres_link *link,
                                                struct sotto_error *err);
void postgres_roll_back(struct postgres_link *link);

/* ---- Rows ---------------------------------------------------------------- */

/* The number in a column: an int2, int4, int8 or a boolean; false: it is none,
   or negative. */
bool postgres_number(const struct pg_result *result, int row, int column,
                     uint64_t *ret_number);
/* Copies a column of just `size` bytes; false: it is none. */
bool postgres_bytes(const struct pg_result *result, int row, int column,
                    void *to, size_t size);

/* ---- Tags ---------------------------------------------------------------- */

/* An array of uuid as PostgreSQL reads it, of tags that are `stride` bytes
   apart; the caller frees it. NULL: no memory. */
uint8_t *postgres_tags(const uint8_t *tag, size_t count, size_t stride,
                       size_t *ret_size);

#endif
