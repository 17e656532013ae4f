/*
 * postgres_schema.c: the tables, and what a server must be like.
 *
 * `meta` has the version. What brings version n to n + 1 is one text, and the
 * first one makes all of it from nothing; all of them run in one transaction,
 * one collector at a time.
 *
 * Tags are in partitions of a campaign and a sixteenth of their range each, so
 * that each has an index of its own and can be on a machine of its own; to drop
 * a campaign's partitions is to forget its tags. Batches are in rows of bounded
 * size, in a partition a campaign.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "store/postgres/postgres_store.h"

#define RANGES 16u /* of a campaign's tags */
#define LATEST (sizeof steps / sizeof steps[0])

/* docs/postgres.md explains every table. */
static const char *const steps[] = {
    "CREATE TABLE meta (one smallint PRIMARY KEY CHECK (one = 1),"
    " version integer NOT NULL, simulation boolean NOT NULL);"
    "CREATE TABLE secret (one smallint PRIMARY KEY CHECK (one = 1),"
    " tag_key bytea NOT NULL CHECK (octet_length(tag_key) = 32));"
    "CREATE TABLE campaign (number integer PRIMARY KEY CHECK (number > 0),"
    " hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),"
    " name text NOT NULL,"
    " payload_size integer NOT NULL CHECK (payload_size > 0),"
    " released bigint NOT NULL, batches bigint NOT NULL,"
    " closed boolean NOT NULL);"
    "CREATE TABLE collector (id uuid PRIMARY KEY,"
    " active smallint NOT NULL CHECK (active IN (0, 1)),"
    " key_0 bigint NOT NULL, key_1 bigint NOT NULL,"
    " stage smallint NOT NULL CHECK (stage IN (0, 1, 2)),"
    " campaign integer NOT NULL, tag uuid NOT NULL);"
    "CREATE TABLE incoming ("
    " collector uuid NOT NULL REFERENCES collector ON DELETE CASCADE,"
    " key bigint NOT NULL, campaign integer NOT NULL, place uuid NOT NULL,"
    " count integer NOT NULL CHECK (count > 0), sealed bytea NOT NULL,"
    " PRIMARY KEY (collector, key, campaign, place));"
    "CREATE TABLE dropped ("
    " collector uuid NOT NULL REFERENCES collector ON DELETE CASCADE,"
    " key bigint NOT NULL, campaign integer NOT NULL, place uuid NOT NULL,"
    " sealed bytea NOT NULL,"
    " PRIMARY KEY (collector, key, campaign, place));"
    "CREATE TABLE held ("
    " collector uuid NOT NULL REFERENCES collector ON DELETE CASCADE,"
    " key bigint NOT NULL, campaign integer NOT NULL, place uuid NOT NULL,"
    " count integer NOT NULL CHECK (count > 0), sealed bytea NOT NULL,"
    " PRIMARY KEY (collector, campaign, place));"
    "CREATE TABLE seen (campaign integer NOT NULL, tag uuid NOT NULL,"
    " PRIMARY KEY (campaign, tag)) PARTITION BY LIST (campaign);"
    "CREATE TABLE batch (campaign integer NOT NULL,"
    " number bigint NOT NULL CHECK (number > 0),"
    " count integer NOT NULL CHECK (count > 0),"
    " parts integer NOT NULL CHECK (parts > 0),"
    " PRIMARY KEY (campaign, number));"
    "CREATE TABLE part (campaign integer NOT NULL, number bigint NOT NULL,"
    " part integer NOT NULL, reports bytea NOT NULL,"
    " PRIMARY KEY (campaign, number, part)) PARTITION BY LIST (campaign);"
    /* random bytes: to compress them is in vain */
    "ALTER TABLE incoming ALTER sealed SET STORAGE EXTERNAL;"
    "ALTER TABLE held ALTER sealed SET STORAGE EXTERNAL;"
    "ALTER TABLE part ALTER reports SET STORAGE EXTERNAL;"};

/* ---- Locks --------------------------------------------------------------- */

/* "SOTT", and the schema: stores of one database do not wait for each other. */
enum sotto_status
postgres_schema_lock(const struct postgres_link *link, struct sotto_error *err)
{
    return postgres_query(link,
                          "SELECT pg_advisory_xact_lock(1397707860, "
                          "hashtext(current_schema()))",
                          POSTGRES_NONE, NULL, err);
}

/* ---- Versions ------------------------------------------------------------ */

/* The version of the tables; 0: there are none. */
static enum sotto_status
read_version(const struct postgres_link *link, uint64_t *ret_version,
             bool *ret_simulation, struct sotto_error *err)
{
    PGresult *result = NULL;
    uint64_t simulation = 0;
    enum sotto_status status =
        postgres_query(link, "SELECT to_regclass('meta') IS NOT NULL",
                       POSTGRES_NONE, &result, err);
    bool there = status == SOTTO_STATUS_OK &&
                 postgres_number(result, 0, 0, ret_version) &&
                 *ret_version == 1;
    PQclear(result);
    result = NULL;
    *ret_version = 0;
    if (status != SOTTO_STATUS_OK || !there) {
        return status;
    }
    status = postgres_query(link, "SELECT version, simulation FROM meta",
                            POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK &&
        (PQntuples(result) != 1 ||
         !postgres_number(result, 0, 0, ret_version) ||
         !postgres_number(result, 0, 1, &simulation))) {
        status = host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the table meta of '%s' is no store's, or damaged",
                           host_shown(link->url));
    }
    *ret_simulation = simulation != 0;
    PQclear(result);
    return status;
}

static enum sotto_status
check_version(const struct postgres_link *link, uint64_t version,
              struct sotto_error *err)
{
    return version <= LATEST
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "the store '%s' is of version %llu, which a later "
                           "sotto made; this one knows %zu: take that one",
                           host_shown(link->url), (unsigned long long)version,
                           LATEST);
}

static enum sotto_status
insert_meta(const struct postgres_link *link, bool simulation,
            struct sotto_error *err)
{
    uint8_t key[TAG_KEY_SIZE];
    if (sotto_entropy(key, sizeof key) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                         "the system gave no entropy; no store was made");
    }
    enum sotto_status status =
        postgres_query(link, "INSERT INTO meta VALUES (1, 0, $1::int8 = 1)",
                       POSTGRES_VALUES(POSTGRES_NUMBER(simulation)), NULL, err);
    status = HOST_THEN(
        status, postgres_query(link, "INSERT INTO secret VALUES (1, $1::bytea)",
                               POSTGRES_VALUES(POSTGRES_BYTES(key, sizeof key)),
                               NULL, err));
    sodium_memzero(key, sizeof key);
    return status;
}

/* In a transaction, and alone. */
static enum sotto_status
upgrade(const struct postgres_link *link, bool simulation,
        struct sotto_error *err)
{
    uint64_t version = 0;
    bool ignored = false;
    enum sotto_status status = read_version(link, &version, &ignored, err);
    status = HOST_THEN(status, check_version(link, version, err));
    if (status != SOTTO_STATUS_OK || version == LATEST) {
        return status;
    }
    for (uint64_t i = version; i < LATEST && status == SOTTO_STATUS_OK; i++) {
        status = postgres_run(link, steps[i], err);
        if (status == SOTTO_STATUS_OK && i == 0) {
            status = insert_meta(link, simulation, err);
        }
    }
    return HOST_THEN(status,
                     postgres_query(link, "UPDATE meta SET version = $1::int8",
                                    POSTGRES_VALUES(POSTGRES_NUMBER(LATEST)),
                                    NULL, err));
}

enum sotto_status
postgres_schema_prepare(const struct postgres_link *link, bool simulation,
                        struct sotto_error *err)
{
    struct postgres_link own = *link;
    enum sotto_status status = postgres_begin(&own, err);
    status = HOST_THEN(status, postgres_schema_lock(&own, err));
    status = HOST_THEN(status, upgrade(&own, simulation, err));
    status = HOST_THEN(status, postgres_commit(&own, err));
    postgres_roll_back(&own);
    return status;
}

enum sotto_status
postgres_schema_check(const struct postgres_link *link, bool *ret_simulation,
                      struct sotto_error *err)
{
    uint64_t version = 0;
    bool simulation = false;
    enum sotto_status status = read_version(link, &version, &simulation, err);
    status = HOST_THEN(status, check_version(link, version, err));
    if (status == SOTTO_STATUS_OK && version < LATEST) {
        status =
            version == 0
                ? host_fail(err, SOTTO_STATUS_IO, 0,
                            "'%s' has no store: check the url, and that it may "
                            "be read (docs/postgres.md)",
                            host_shown(link->url))
                : host_fail(err, SOTTO_STATUS_FORMAT, 0,
                            "the store '%s' is of version %llu, which the next "
                            "collector brings to %zu",
                            host_shown(link->url), (unsigned long long)version,
                            LATEST);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_simulation = simulation;
    }
    return status;
}

enum sotto_status
postgres_schema_check_purpose(const struct postgres_link *link, bool simulation,
                              bool wanted, struct sotto_error *err)
{
    return simulation == wanted
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the store '%s' was made for %s reports; take "
                           "another one for %s",
                           host_shown(link->url),
                           wanted ? "devices'" : "simulated",
                           wanted ? "simulated reports" : "devices'");
}

/* ---- Trying -------------------------------------------------------------- */

/* Whether a question is answered with yes; `no` says what to do otherwise. */
static enum sotto_status
ask_right(const struct postgres_link *link, const char *question,
          const char *no, struct sotto_error *err)
{
    PGresult *result = NULL;
    uint64_t yes = 0;
    enum sotto_status status =
        postgres_query(link, question, POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK) {
        (void)postgres_number(result, 0, 0, &yes);
    }
    PQclear(result);
    return status != SOTTO_STATUS_OK || yes != 0
               ? status
               : host_fail(err, SOTTO_STATUS_IO, 0, "'%s': %s",
                           host_shown(link->url), no);
}

enum sotto_status
postgres_schema_try(const struct postgres_link *link, bool simulation,
                    bool *ret_new, struct sotto_error *err)
{
    static const char may_make[] =
        "SELECT has_schema_privilege(current_schema(), 'CREATE')";
    static const char may_write[] =
        "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class "
        "WHERE oid IN ('seen'::regclass, 'part'::regclass)";
    uint64_t version = 0;
    bool found = simulation;
    enum sotto_status status = read_version(link, &version, &found, err);
    status = HOST_THEN(status, check_version(link, version, err));
    status = HOST_THEN(
        status, postgres_schema_check_purpose(link, found, simulation, err));
    status = HOST_THEN(
        status,
        ask_right(link, may_make,
                  "its role may make no tables, and each campaign needs some: "
                  "GRANT CREATE ON SCHEMA ... TO it, or give it the schema",
                  err));
    if (status == SOTTO_STATUS_OK && version > 0) {
        status = ask_right(link, may_write,
                           "its tables are another role's: collectors need "
                           "the role that made them, or to be members of it",
                           err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_new = version == 0;
    }
    return status;
}

/* ---- The server ---------------------------------------------------------- */

/* Parameters are tags in the order in which reports come. */
static const char server[] =
    "SELECT current_setting('fsync') = 'on',"
    " (current_setting('log_parameter_max_length') = '0' OR ("
    " current_setting('log_statement') NOT IN ('mod', 'all')"
    " AND current_setting('log_min_duration_statement') = '-1'"
    " AND current_setting('log_min_duration_sample') = '-1'"
    " AND current_setting('log_duration') = 'off'"
    " AND current_setting('log_transaction_sample_rate') = '0'))"
    " AND (coalesce(current_setting('auto_explain.log_min_duration', true),"
    " '-1') = '-1' OR"
    " coalesce(current_setting('auto_explain.log_parameter_max_length', true),"
    " '-1') = '0')"
    " AND coalesce(current_setting('pgaudit.log_parameter', true),"
    " 'off') = 'off',"
    " set_config('synchronous_commit', CASE WHEN"
    " current_setting('synchronous_commit') IN ('on', 'remote_apply')"
    " THEN current_setting('synchronous_commit') ELSE 'on' END, false)";

enum sotto_status
postgres_schema_check_server(const struct postgres_link *link,
                             struct sotto_error *err)
{
    PGresult *result = NULL;
    uint64_t flushes = 0, discreet = 0;
    enum sotto_status status =
        postgres_query(link, server, POSTGRES_NONE, &result, err);
    if (status == SOTTO_STATUS_OK) {
        (void)postgres_number(result, 0, 0, &flushes);
        (void)postgres_number(result, 0, 1, &discreet);
    }
    PQclear(result);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (flushes == 0) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the server of '%s' does not flush what it says it "
                         "has stored: set fsync = on",
                         host_shown(link->url));
    }
    return discreet != 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_REFUSED, 0,
                           "the server of '%s' logs statements with their "
                           "parameters, and so which report came when: a "
                           "superuser can end that for this role, ALTER ROLE "
                           "... SET log_parameter_max_length = 0 (and see "
                           "auto_explain and pgaudit)",
                           host_shown(link->url));
}

/* ---- Partitions ---------------------------------------------------------- */

/* The first tag of a range, as SQL. */
static void
write_bound(unsigned range, char text[48])
{
    if (range == 0 || range == RANGES) {
        (void)snprintf(text, 48, "%s", range == 0 ? "MINVALUE" : "MAXVALUE");
    } else {
        (void)snprintf(text, 48, "'%02x000000-0000-0000-0000-000000000000'",
                       range * (256 / RANGES));
    }
}

enum sotto_status
postgres_schema_partition(const struct postgres_link *link, uint32_t number,
                          struct sotto_error *err)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "CREATE TABLE part_%u PARTITION OF part FOR VALUES IN (%u);"
                   "CREATE TABLE seen_%u PARTITION OF seen FOR VALUES IN (%u) "
                   "PARTITION BY RANGE (tag)",
                   number, number, number, number);
    enum sotto_status status = postgres_run(link, text, err);
    for (unsigned i = 0; i < RANGES && status == SOTTO_STATUS_OK; i++) {
        char low[48], high[48];
        write_bound(i, low);
        write_bound(i + 1, high);
        (void)snprintf(text, sizeof text,
                       "CREATE TABLE seen_%u_%x PARTITION OF seen_%u "
                       "FOR VALUES FROM (%s) TO (%s)",
                       number, i, number, low, high);
        status = postgres_run(link, text, err);
    }
    return status;
}
