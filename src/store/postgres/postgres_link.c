/*
 * postgres_link.c: calling PostgreSQL.
 *
 * Of the server's messages only the first line is shown, and never its detail:
 * that may have a row's values.
 */
#include "store/postgres/postgres_link.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"

#define OLDEST 130000 /* log_parameter_max_length came with it */
#define UUID_OID 2950u

/* ---- Failures ------------------------------------------------------------ */

/* SQLSTATEs of what is not as we made it, or is damaged. */
static bool
is_damage(const char *state)
{
    static const char *const damaged[] = {
        "42P01" /* no such table */,    "42703" /* no such column */,
        "42883" /* no such operator */, "42804" /* another type */,
        "XX001" /* data corrupted */,   "XX002" /* index corrupted */};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        if (strcmp(state, damaged[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Without the line's end that libpq puts behind what it says. */
static void
copy_line(const char *from, char *to, size_t room)
{
    size_t size = strcspn(from, "\n");
    size = size < room ? size : room - 1;
    memcpy(to, from, size);
    to[size] = '\0';
}

static enum sotto_status
fail_connection(const struct postgres_link *link, struct sotto_error *err)
{
    char line[300];
    copy_line(PQerrorMessage(link->db), line, sizeof line);
    return host_fail(err, SOTTO_STATUS_IO, 0,
                     "the server of '%s' cannot be reached: %s; what was not "
                     "acknowledged is not stored",
                     host_shown(link->url),
                     line[0] != '\0' ? line : "the connection is lost");
}

enum sotto_status
postgres_fail(const struct postgres_link *link, PGresult *result,
              struct sotto_error *err)
{
    if (!postgres_is_up(link)) {
        PQclear(result);
        return fail_connection(link, err);
    }
    if (result == NULL) {
        return host_fail_memory(err);
    }
    char line[300];
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *said = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    enum sotto_status status = state != NULL && is_damage(state)
                                   ? SOTTO_STATUS_FORMAT
                                   : SOTTO_STATUS_IO;
    copy_line(said != NULL ? said : "it gave what was not asked for", line,
              sizeof line);
    PQclear(result);
    return host_fail(err, status, 0, "the server of '%s' says: %s",
                     host_shown(link->url), line);
}

/* ---- Connecting ---------------------------------------------------------- */

/* Everybody on the machine sees a command line, and a url is shown in messages.
   A star is libpq's mark of what is not to be shown. */
static enum sotto_status
check_password(PQconninfoOption *options, struct sotto_error *err)
{
    for (PQconninfoOption *o = options; o->keyword != NULL; o++) {
        if (o->dispchar[0] == '*' && o->val != NULL) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "a store's url with a password in it would be "
                             "shown to everybody who lists programs: keep the "
                             "password in a file of mode 0600 (~/.pgpass, or "
                             "passfile=F in the url)");
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
postgres_init(struct postgres_link *link, const char *url,
              struct sotto_error *err)
{
    char *said = NULL;
    *link = (struct postgres_link){.url = host_text_copy(url, strlen(url))};
    if (link->url == NULL) {
        return host_fail_memory(err);
    }
    PQconninfoOption *options = PQconninfoParse(url, &said);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (options != NULL) {
        status = check_password(options, err);
    } else if (said == NULL) {
        status = host_fail_memory(err);
    } else {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the store's url is none that PostgreSQL takes: %s",
                           said);
    }
    PQconninfoFree(options);
    PQfreemem(said);
    return status;
}

void
postgres_clear(struct postgres_link *link)
{
    PQfinish(link->db);
    free(link->url);
    *link = (struct postgres_link){0};
}

bool
postgres_is_up(const struct postgres_link *link)
{
    return PQstatus(link->db) == CONNECTION_OK;
}

/* Notices may name what a statement was about. */
static void
drop_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/*
 * All names are of one schema, whatever others may make in another; and plans
 * are those for large tables from the first day on, for a plan outlives the
 * size that it was made for.
 */
static const char session[] =
    "SELECT set_config('search_path', quote_ident(current_schema()) || "
    "', pg_temp', false); "
    "SET client_min_messages = error; SET lock_timeout = '10s'; "
    "SET log_parameter_max_length_on_error = 0; "
    "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; "
    "SET jit = off; SET plan_cache_mode = force_generic_plan; "
    "SET enable_seqscan = off";

static enum sotto_status
set_up(const struct postgres_link *link, bool reader, struct sotto_error *err)
{
    PGresult *result = NULL;
    if (PQserverVersion(link->db) < OLDEST) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "the server of '%s' is of version %d; take 13 or "
                         "later",
                         host_shown(link->url),
                         PQserverVersion(link->db) / 10000);
    }
    enum sotto_status status = postgres_query(link, "SELECT current_schema()",
                                              POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK && PQgetisnull(result, 0, 0)) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "'%s' has no schema to keep a store in: make one "
                           "(CREATE SCHEMA), or mend the search_path",
                           host_shown(link->url));
    }
    PQclear(result);
    status = HOST_THEN(status, postgres_run(link, session, err));
    return !reader ? status
                   : HOST_THEN(status,
                               postgres_run(link,
                                            "SET default_transaction_read_only "
                                            "= on",
                                            err));
}

/* What the url does not say: a server that is gone without a word is found out
   in half a minute. */
enum sotto_status
postgres_connect(struct postgres_link *link, bool reader,
                 struct sotto_error *err)
{
    static const char *const name[] = {"application_name",
                                       "connect_timeout",
                                       "keepalives_idle",
                                       "keepalives_interval",
                                       "keepalives_count",
                                       "tcp_user_timeout",
                                       "dbname",
                                       "client_encoding",
                                       NULL};
    const char *const value[] = {"sotto", "5",       "10",   "5", "3",
                                 "30000", link->url, "UTF8", NULL};
    PQfinish(link->db);
    link->begun = false;
    memset(link->prepared, 0, sizeof link->prepared);
    link->db = PQconnectdbParams(name, value, 1);
    if (link->db == NULL) {
        return host_fail_memory(err);
    }
    if (!postgres_is_up(link)) {
        return fail_connection(link, err);
    }
    (void)PQsetNoticeReceiver(link->db, drop_notice, NULL);
    return set_up(link, reader, err);
}

/* ---- Statements ---------------------------------------------------------- */

/* Parameters as libpq takes them. */
struct bound {
    int count;
    const char *value[POSTGRES_VALUES_MOST];
    int size[POSTGRES_VALUES_MOST], format[POSTGRES_VALUES_MOST];
    uint8_t number[POSTGRES_VALUES_MOST][8];
};

static void
write_be(uint64_t number, uint8_t *to, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
    }
}

static void
bind_values(struct bound *bound, const struct postgres_value *values)
{
    int i = 0;
    for (; values[i].kind != POSTGRES_END; i++) {
        bool number = values[i].kind == POSTGRES_KIND_NUMBER;
        write_be((uint64_t)values[i].number, bound->number[i], 8);
        bound->value[i] =
            number ? (const char *)bound->number[i] : values[i].bytes;
        bound->size[i] = number ? 8 : (int)values[i].size;
        bound->format[i] = 1;
    }
    bound->count = i;
}

/* Whether it went well; frees it unless it is asked for. */
static enum sotto_status
take_result(const struct postgres_link *link, PGresult *result,
            PGresult **ret_result, struct sotto_error *err)
{
    ExecStatusType code = PQresultStatus(result);
    if (code != PGRES_TUPLES_OK && code != PGRES_COMMAND_OK) {
        return postgres_fail(link, result, err);
    }
    if (ret_result != NULL) {
        *ret_result = result;
    } else {
        PQclear(result);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
postgres_run(const struct postgres_link *link, const char *text,
             struct sotto_error *err)
{
    return take_result(link, PQexec(link->db, text), NULL, err);
}

enum sotto_status
postgres_query(const struct postgres_link *link, const char *text,
               const struct postgres_value *values, PGresult **ret_result,
               struct sotto_error *err)
{
    struct bound bound;
    bind_values(&bound, values);
    return take_result(link,
                       PQexecParams(link->db, text, bound.count, NULL,
                                    bound.value, bound.size, bound.format, 1),
                       ret_result, err);
}

/* The number of a statement that is prepared. */
static enum sotto_status
prepare(struct postgres_link *link, const char *text, char name[16],
        struct sotto_error *err)
{
    unsigned i = 0;
    while (link->prepared[i] != NULL && link->prepared[i] != text) {
        i++;
    }
    (void)snprintf(name, 16, "s%u", i);
    if (link->prepared[i] == text) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        take_result(link, PQprepare(link->db, name, text, 0, NULL), NULL, err);
    if (status == SOTTO_STATUS_OK) {
        link->prepared[i] = text;
    }
    return status;
}

enum sotto_status
postgres_call(struct postgres_link *link, const char *text,
              const struct postgres_value *values, PGresult **ret_result,
              struct sotto_error *err)
{
    struct bound bound;
    char name[16];
    enum sotto_status status = prepare(link, text, name, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    bind_values(&bound, values);
    return take_result(link,
                       PQexecPrepared(link->db, name, bound.count, bound.value,
                                      bound.size, bound.format, 1),
                       ret_result, err);
}

enum sotto_status
postgres_each(const struct postgres_link *link, const char *text,
              const struct postgres_value *values, postgres_take *take,
              void *context, struct sotto_error *err)
{
    struct bound bound;
    enum sotto_status status = SOTTO_STATUS_OK;
    PGresult *row;
    bind_values(&bound, values);
    if (PQsendQueryParams(link->db, text, bound.count, NULL, bound.value,
                          bound.size, bound.format, 1) == 0 ||
        PQsetSingleRowMode(link->db) == 0) {
        return fail_connection(link, err);
    }
    /* All of it is read, also behind a failure: the connection is of no use
       before that. */
    while ((row = PQgetResult(link->db)) != NULL) {
        ExecStatusType code = PQresultStatus(row);
        if (code == PGRES_SINGLE_TUPLE) {
            status = HOST_THEN(status, take(context, row, err));
        } else if (code != PGRES_TUPLES_OK && status == SOTTO_STATUS_OK) {
            status = postgres_fail(link, row, err);
            continue;
        }
        PQclear(row);
    }
    return status;
}

/* ---- Transactions -------------------------------------------------------- */

enum sotto_status
postgres_begin(struct postgres_link *link, struct sotto_error *err)
{
    if (link->begun) {
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status =
        postgres_run(link, "BEGIN ISOLATION LEVEL READ COMMITTED", err);
    link->begun = status == SOTTO_STATUS_OK;
    return status;
}

enum sotto_status
postgres_commit(struct postgres_link *link, struct sotto_error *err)
{
    if (!link->begun) {
        return SOTTO_STATUS_OK;
    }
    link->begun = false;
    PGresult *result = PQexec(link->db, "COMMIT");
    /* A transaction that has failed is "committed" with a success that says
       ROLLBACK. */
    if (PQresultStatus(result) != PGRES_COMMAND_OK ||
        strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        return postgres_fail(link, result, err);
    }
    PQclear(result);
    return SOTTO_STATUS_OK;
}

void
postgres_roll_back(struct postgres_link *link)
{
    if (postgres_is_up(link) && PQtransactionStatus(link->db) != PQTRANS_IDLE) {
        PQclear(PQexec(link->db, "ROLLBACK"));
    }
    link->begun = false;
}

/* ---- Rows ---------------------------------------------------------------- */

bool
postgres_number(const PGresult *result, int row, int column,
                uint64_t *ret_number)
{
    int size = PQgetlength(result, row, column);
    const uint8_t *from = (const uint8_t *)PQgetvalue(result, row, column);
    uint64_t number = 0;
    if (PQgetisnull(result, row, column) != 0 ||
        (size != 1 && size != 2 && size != 4 && size != 8) ||
        from[0] > INT8_MAX) {
        return false;
    }
    for (int i = 0; i < size; i++) {
        number = number << 8 | from[i];
    }
    *ret_number = number;
    return true;
}

bool
postgres_bytes(const PGresult *result, int row, int column, void *to,
               size_t size)
{
    if (PQgetisnull(result, row, column) != 0 ||
        PQgetlength(result, row, column) != (int)size) {
        return false;
    }
    memcpy(to, PQgetvalue(result, row, column), size);
    return true;
}

/* ---- Tags ---------------------------------------------------------------- */

/* dimensions 1 | no null | type | count | first is 1 | (16 | tag)... */
uint8_t *
postgres_tags(const uint8_t *tag, size_t count, size_t stride, size_t *ret_size)
{
    size_t size = 20 + count * (4 + TAG_SIZE);
    uint8_t *array = malloc(size), *to = array;
    if (array == NULL) {
        return NULL;
    }
    const uint32_t head[] = {1, 0, UUID_OID, (uint32_t)count, 1};
    for (size_t i = 0; i < 5; i++, to += 4) {
        write_be(head[i], to, 4);
    }
    for (size_t i = 0; i < count; i++, to += 4 + TAG_SIZE) {
        write_be(TAG_SIZE, to, 4);
        memcpy(to + 4, tag + i * stride, TAG_SIZE);
    }
    *ret_size = size;
    return array;
}
