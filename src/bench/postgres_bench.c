/*
 * postgres_bench.c: how many reports a second collectors put into PostgreSQL.
 *
 * One collector, COPY and two collectors take turns, each with a schema of its
 * own, so that all grow alike and a machine that is slow for a while slows all.
 * COPY is one connection in the binary form: what a program could do that keeps
 * tags beside payloads, in the order in which they come, and says of none
 * whether it was there.
 */
#include "bench/postgres_bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/collector_limit.h"
#include "bench/collector_place.h"
#include "bench/load.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/text.h"
#include "report/report.h"

#define ROUNDS_MOST 16u
#define COLLECTORS_MOST 2u
#define WINDOW_S 3600u /* none ends by the clock */
#define TAG_BYTES 16u
#define SCHEMAS 3u /* one collector's, COPY's, two collectors' */

static const size_t batches[] = {1, 10, 100, 1000, 0};

const struct postgres_bench_size postgres_bench_full = {batches, 64, 5, 2};

struct setting {
    const struct postgres_bench_size *size;
    size_t batch, rounds;
    struct collector_place place;
    PGconn *db;
    char *url[SCHEMAS], *keys[COLLECTORS_MOST + 1];
    struct load_tally tally[COLLECTORS_MOST];
    double one[ROUNDS_MOST], copy[ROUNDS_MOST], two[ROUNDS_MOST];
    double group[ROUNDS_MOST], flushes[ROUNDS_MOST];
};

/* ---- The server ---------------------------------------------------------- */

static enum sotto_status
fail_server(const struct setting *setting, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_IO, 0,
                     "the server that PGHOST, PGUSER and PGDATABASE name: %s",
                     PQerrorMessage(setting->db));
}

static enum sotto_status
say(const struct setting *setting, const char *text, struct sotto_error *err)
{
    PGresult *result = PQexec(setting->db, text);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK;
    PQclear(result);
    return good ? SOTTO_STATUS_OK : fail_server(setting, err);
}

static void
name_schema(size_t i, const char *before, const char *behind, char text[160])
{
    (void)snprintf(text, 160, "%ssotto_bench_%ld_%zu%s", before, (long)getpid(),
                   i, behind);
}

static enum sotto_status
make_schemas(struct setting *setting, struct sotto_error *err)
{
    char text[160];
    enum sotto_status status = SOTTO_STATUS_OK;
    setting->db = PQconnectdb("");
    if (PQstatus(setting->db) != CONNECTION_OK) {
        return fail_server(setting, err);
    }
    for (size_t i = 0; i < SCHEMAS && status == SOTTO_STATUS_OK; i++) {
        name_schema(i, "CREATE SCHEMA ", "", text);
        status = say(setting, text, err);
        name_schema(i, "postgres:///?options=-csearch_path%3D", "", text);
        setting->url[i] = host_text_copy(text, strlen(text));
        if (setting->url[i] == NULL) {
            status = host_fail_memory(err);
        }
    }
    name_schema(1, "CREATE TABLE ",
                ".t (campaign integer, tag uuid, payload bytea, "
                "PRIMARY KEY (campaign, tag))",
                text);
    return HOST_THEN(status, say(setting, text, err));
}

static void
drop_schemas(struct setting *setting)
{
    char text[160];
    for (size_t i = 0; i < SCHEMAS; i++) {
        name_schema(i, "DROP SCHEMA IF EXISTS ", " CASCADE", text);
        if (PQstatus(setting->db) == CONNECTION_OK) {
            PQclear(PQexec(setting->db, "SET client_min_messages = error"));
            PQclear(PQexec(setting->db, text));
        }
        free(setting->url[i]);
    }
    PQfinish(setting->db);
}

/* ---- Collectors ---------------------------------------------------------- */

/* One of them, and who sends to it. */
struct sending {
    struct sotto_collector *collector;
    struct load_options load;
    struct load_tally *tally;
    enum sotto_status status;
    struct sotto_error err;
    pthread_t thread;
    bool started;
};

static void *
send_reports(void *context)
{
    struct sending *sending = context;
    sending->status = load_run(&sending->load, sending->tally, &sending->err);
    return NULL;
}

static enum sotto_status
start_collector(const struct setting *setting, const char *url,
                const char *keys, size_t of, struct sending *sending,
                struct sotto_error *err)
{
    const struct collector_place *place = &setting->place;
    const struct sotto_collector_options options = {
        .mechanisms = place->mechanism,
        .pub = place->pub,
        .store = url,
        .window_keys = keys,
        .listen = "127.0.0.1:0",
        .simulation = true,
        .window_s = WINDOW_S,
    };
    enum sotto_status status =
        sotto_collector_start(&options, &sending->collector, err);
    if (status == SOTTO_STATUS_OK) {
        sending->load = (struct load_options){
            .port = sotto_collector_port(sending->collector),
            .campaign = COLLECTOR_PLACE_CAMPAIGN,
            .reports = place->reports,
            .kinds = COLLECTOR_PLACE_KINDS,
            .report_size = place->report_size,
            .batch = setting->batch,
            .connections = setting->size->connections / of,
            .seconds = setting->size->seconds};
    }
    return status;
}

static enum sotto_status
send_all(struct sending *sending, size_t count, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        sending[i].started = pthread_create(&sending[i].thread, NULL,
                                            send_reports, &sending[i]) == 0;
        if (!sending[i].started) {
            status = host_fail(err, SOTTO_STATUS_IO, 0, "no thread");
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (sending[i].started) {
            (void)pthread_join(sending[i].thread, NULL);
        }
        if (status == SOTTO_STATUS_OK && sending[i].status != status) {
            status = sending[i].status;
            *err = sending[i].err;
        }
    }
    return status;
}

/* `count` collectors on the store at `url`: all their reports, the longest time
   one took, and how many reports shared a commit. */
static enum sotto_status
run_collectors(struct setting *setting, const char *url, char *const *keys,
               struct load_tally *tally, size_t count, uint64_t *ret_reports,
               double *ret_seconds, size_t *ret_group, struct sotto_error *err)
{
    struct sending sending[COLLECTORS_MOST] = {{0}};
    struct load_tally own[COLLECTORS_MOST] = {{0}};
    struct sotto_collector_counts counts = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_reports = 0;
    *ret_seconds = 0;
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        sending[i].tally = count == 1 ? tally : &own[i];
        own[i].seconds = tally->seconds;
        own[i].reports = tally->reports;
        status =
            start_collector(setting, url, keys[i], count, &sending[i], err);
    }
    uint64_t before = tally->reports;
    double start = tally->seconds;
    status = HOST_THEN(status, send_all(sending, count, err));
    for (size_t i = 0; i < count && sending[i].collector != NULL; i++) {
        double seconds = sending[i].tally->seconds - start;
        *ret_reports += sending[i].tally->reports - before;
        *ret_seconds = seconds > *ret_seconds ? seconds : *ret_seconds;
        sotto_collector_count(sending[i].collector, &counts);
        sotto_collector_stop(sending[i].collector);
    }
    *ret_group = counts.commits > 0 && counts.accepted > counts.commits
                     ? (size_t)(counts.accepted / counts.commits)
                     : 1;
    return status;
}

/* ---- COPY ---------------------------------------------------------------- */

static uint8_t *
add_number(uint8_t *to, uint32_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        *to++ = (uint8_t)(number >> 8 * (bytes - 1 - i));
    }
    return to;
}

/* Rows of (1, a random tag, a payload) in PostgreSQL's binary form. */
static size_t
write_rows(const struct setting *setting, const uint8_t *tags, size_t count,
           uint8_t *to)
{
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    const struct collector_place *place = &setting->place;
    size_t payload = place->report_size - REPORT_HEADER_SIZE;
    uint8_t *at = to;
    memcpy(at, head, 19);
    at += 19;
    for (size_t i = 0; i < count; i++) {
        at = add_number(at, 3, 2);
        at = add_number(at, 4, 4);
        at = add_number(at, 1, 4);
        at = add_number(at, TAG_BYTES, 4);
        memcpy(at, tags + i * TAG_BYTES, TAG_BYTES);
        at = add_number(at + TAG_BYTES, (uint32_t)payload, 4);
        memcpy(at,
               place->reports + i % COLLECTOR_PLACE_KINDS * place->report_size +
                   REPORT_HEADER_SIZE,
               payload);
        at += payload;
    }
    return (size_t)(add_number(at, UINT32_MAX, 2) - to);
}

static enum sotto_status
copy_group(const struct setting *setting, uint8_t *tags, uint8_t *rows,
           size_t count, struct sotto_error *err)
{
    char text[160];
    if (sotto_entropy(tags, count * TAG_BYTES) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0, "no entropy");
    }
    size_t size = write_rows(setting, tags, count, rows);
    name_schema(1, "COPY ", ".t FROM STDIN (FORMAT binary)", text);
    PQclear(PQexec(setting->db, text));
    bool good =
        PQputCopyData(setting->db, (const char *)rows, (int)size) == 1 &&
        PQputCopyEnd(setting->db, NULL) == 1;
    for (PGresult *result; (result = PQgetResult(setting->db)) != NULL;) {
        good = good && PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    return good ? SOTTO_STATUS_OK : fail_server(setting, err);
}

/* Seconds for `reports` rows, `group` a commit. */
static enum sotto_status
run_copy(const struct setting *setting, uint64_t reports, size_t group,
         double *ret_seconds, struct sotto_error *err)
{
    uint8_t *tags = malloc(group * TAG_BYTES);
    uint8_t *rows = malloc(group * (setting->place.report_size + 40) + 40);
    enum sotto_status status =
        tags == NULL || rows == NULL ? host_fail_memory(err) : SOTTO_STATUS_OK;
    double start = host_seconds();
    while (reports > 0 && status == SOTTO_STATUS_OK) {
        size_t count = reports < group ? (size_t)reports : group;
        status = copy_group(setting, tags, rows, count, err);
        reports -= count;
    }
    *ret_seconds = host_seconds() - start;
    free(tags);
    free(rows);
    return status;
}

/* ---- A setting ----------------------------------------------------------- */

static enum sotto_status
run_round(struct setting *setting, size_t at, struct sotto_error *err)
{
    uint64_t reports = 0, both = 0;
    double seconds = 1, copy = 1, together = 1;
    size_t group = 1, ignored = 1;
    enum sotto_status status =
        run_collectors(setting, setting->url[0], &setting->keys[0],
                       &setting->tally[0], 1, &reports, &seconds, &group, err);
    status = HOST_THEN(status, run_copy(setting, reports, group, &copy, err));
    status =
        HOST_THEN(status, run_collectors(setting, setting->url[2],
                                         &setting->keys[1], &setting->tally[1],
                                         2, &both, &together, &ignored, err));
    setting->one[at] = (double)reports / seconds;
    setting->copy[at] = (double)reports / copy;
    setting->two[at] = (double)both / together;
    setting->group[at] = (double)group;
    size_t pair = TAG_BYTES + setting->place.report_size - REPORT_HEADER_SIZE;
    return HOST_THEN(status,
                     collector_limit_flush(&setting->place, group * pair,
                                           setting->size->seconds / 3,
                                           &setting->flushes[at], err));
}

static double
median(double *values, size_t count)
{
    host_sort_doubles(values, count);
    return values[count / 2];
}

static void
tell_setting(struct setting *setting,
             void (*row)(void *context, const struct sotto_bench_row *row),
             void *context)
{
    char text[64];
    struct sotto_bench_row line = {.name = "collector-postgres",
                                   .setting = text,
                                   .against = "COPY",
                                   .batch = setting->batch,
                                   .store = "postgres"};
    double one = median(setting->one, setting->rounds);
    line.group = median(setting->group, setting->rounds);
    line.flushes = median(setting->flushes, setting->rounds);
    line.p99_ms = 1e3 * load_quantile(&setting->tally[0], 0.99);
    line.ours = line.rate = one;
    line.limit = median(setting->copy, setting->rounds);
    line.ratio = line.ratio_limit = line.ours / line.limit;
    (void)snprintf(text, sizeof text, "1 collector, %zu connections",
                   setting->size->connections);
    row(context, &line);
    line.against = "one collector";
    line.p99_ms = 0;
    line.ours = line.rate = median(setting->two, setting->rounds);
    line.limit = one;
    line.ratio = line.ratio_limit = line.ours / line.limit;
    (void)snprintf(text, sizeof text, "2 collectors, %zu connections",
                   setting->size->connections);
    row(context, &line);
}

static void
remove_folder(const char *path)
{
    DIR *dir = path != NULL ? opendir(path) : NULL;
    struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        (void)unlinkat(dirfd(dir), entry->d_name, 0); /* . and .. stay */
    }
    if (dir != NULL) {
        (void)closedir(dir);
        (void)rmdir(path);
    }
}

static enum sotto_status
run_setting(const struct postgres_bench_size *size, size_t batch,
            void (*row)(void *context, const struct sotto_bench_row *row),
            void *context, struct sotto_error *err)
{
    struct setting setting = {.size = size, .batch = batch};
    setting.rounds = size->rounds < ROUNDS_MOST ? size->rounds : ROUNDS_MOST;
    enum sotto_status status = collector_place_init(&setting.place, NULL, err);
    for (size_t i = 0; i <= COLLECTORS_MOST && status == SOTTO_STATUS_OK; i++) {
        setting.keys[i] =
            host_text_path("%s/keys-%zu", setting.place.folder, i);
        status = setting.keys[i] == NULL ? host_fail_memory(err) : status;
    }
    status = HOST_THEN(status, make_schemas(&setting, err));
    for (size_t i = 0; i < setting.rounds && status == SOTTO_STATUS_OK; i++) {
        status = run_round(&setting, i, err);
    }
    if (status == SOTTO_STATUS_OK) {
        tell_setting(&setting, row, context);
    }
    drop_schemas(&setting);
    for (size_t i = 0; i <= COLLECTORS_MOST; i++) {
        remove_folder(setting.keys[i]);
        free(setting.keys[i]);
    }
    collector_place_clear(&setting.place);
    return status;
}

enum sotto_status
postgres_bench_run(const struct postgres_bench_size *size,
                   void (*row)(void *context,
                               const struct sotto_bench_row *row),
                   void *context, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; size->batch[i] != 0 && status == SOTTO_STATUS_OK; i++) {
        status = run_setting(size, size->batch[i], row, context, err);
    }
    return status;
}
