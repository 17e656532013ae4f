/*
 * collector_bench.c: how many reports a second a collector takes.
 *
 * Ours and the limit take turns, each with its own store, and the limit puts as
 * many reports as ours took: so both stores grow alike, and a machine that is
 * slow for a while slows both. A collector runs only while it is timed.
 */
#include "bench/collector_bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/collector_limit.h"
#include "bench/collector_place.h"
#include "bench/load.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/heap.h"
#include "host/sort.h"
#include "host/text.h"
#include "report/report.h"

#define WINDOW_S 3600u /* none ends by the clock */
#define TAG_BYTES 16u  /* beside a payload in the store */

static const size_t batches[] = {1, 10, 100, 1000, 0};

const struct collector_bench_size collector_bench_full = {batches, 64, 5,
                                                          2,       0,  NULL};
const struct collector_memory_size collector_memory_full = {1000000, 10, 1000,
                                                            64, NULL};

/* ---- Ours ---------------------------------------------------------------- */

static enum sotto_status
start(const struct collector_place *place, const char *url,
      struct sotto_collector **ret_collector, struct sotto_error *err)
{
    const struct sotto_collector_options options = {
        .mechanisms = place->mechanism,
        .pub = place->pub,
        .store = url,
        .listen = "127.0.0.1:0",
        .simulation = true,
        .window_s = WINDOW_S,
    };
    host_heap_give_back(); /* as sotto serve does */
    return sotto_collector_start(&options, ret_collector, err);
}

static enum sotto_status
send_load(const struct collector_place *place,
          struct sotto_collector *collector, struct load_options *options,
          struct load_tally *tally, struct sotto_error *err)
{
    options->port = sotto_collector_port(collector);
    options->campaign = COLLECTOR_PLACE_CAMPAIGN;
    options->reports = place->reports;
    options->kinds = COLLECTOR_PLACE_KINDS;
    options->report_size = place->report_size;
    return load_run(options, tally, err);
}

/* What one round came to. */
struct round {
    uint64_t reports;
    double seconds;
    size_t group; /* reports that shared a flush, on average */
};

static enum sotto_status
run_ours(const struct collector_place *place, const char *url,
         struct load_options *options, struct load_tally *tally,
         struct round *ret_round, struct sotto_error *err)
{
    struct sotto_collector *collector = NULL;
    struct sotto_collector_counts counts = {0};
    uint64_t before = tally->reports;
    double seconds = tally->seconds;
    enum sotto_status status = start(place, url, &collector, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = send_load(place, collector, options, tally, err);
    sotto_collector_count(collector, &counts);
    sotto_collector_stop(collector);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    ret_round->reports = tally->reports - before;
    ret_round->seconds = tally->seconds - seconds;
    ret_round->group =
        counts.commits > 0 ? (size_t)(counts.accepted / counts.commits) : 0;
    ret_round->group = ret_round->group > 0 ? ret_round->group : 1;
    return counts.accepted >= ret_round->reports
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_CHECK, 0,
                           "the collector counts fewer reports than it said "
                           "it took");
}

/* ---- A setting ----------------------------------------------------------- */

struct setting {
    const struct collector_bench_size *size;
    struct collector_place place;
    char *ours_url, *limit_url;
    struct load_tally tally;
    size_t rounds;
    double ours[COLLECTOR_BENCH_ROUNDS_MAX];
    double limit[COLLECTOR_BENCH_ROUNDS_MAX];
    double group[COLLECTOR_BENCH_ROUNDS_MAX];
    double flushes[COLLECTOR_BENCH_ROUNDS_MAX];
};

static enum sotto_status
run_round(struct setting *setting, size_t batch, size_t at,
          struct sotto_error *err)
{
    const struct collector_bench_size *size = setting->size;
    struct load_options options = {.batch = batch,
                                   .connections = size->connections,
                                   .most = size->most,
                                   .seconds = size->seconds};
    struct round round = {0};
    double seconds = 0;
    enum sotto_status status = run_ours(&setting->place, setting->ours_url,
                                        &options, &setting->tally, &round, err);
    status = HOST_THEN(
        status, collector_limit_run(&setting->place, setting->limit_url,
                                    round.reports, round.group, &seconds, err));
    if (status == SOTTO_STATUS_OK) {
        size_t pair =
            TAG_BYTES + setting->place.report_size - REPORT_HEADER_SIZE;
        setting->ours[at] = (double)round.reports / round.seconds;
        setting->limit[at] = (double)round.reports / seconds;
        setting->group[at] = (double)round.group;
        status = collector_limit_flush(&setting->place, round.group * pair,
                                       size->seconds / 3, &setting->flushes[at],
                                       err);
    }
    return status;
}

static double
median(double *values, size_t count)
{
    host_sort_doubles(values, count);
    return values[count / 2];
}

static void
tell_collector(struct setting *setting, size_t batch,
               void (*row)(void *context, const struct sotto_bench_row *row),
               void *context)
{
    char text[64];
    struct sotto_bench_row line = {.name = "collector",
                                   .setting = text,
                                   .against = "the store alone",
                                   .batch = batch,
                                   .store = "sqlite"};
    (void)snprintf(text, sizeof text, "%zu connections",
                   setting->size->connections);
    line.ours = line.rate = median(setting->ours, setting->rounds);
    line.microseconds = 1e6 / line.rate;
    line.limit = median(setting->limit, setting->rounds);
    line.ratio = line.ratio_limit = line.ours / line.limit;
    line.p99_ms = 1e3 * load_quantile(&setting->tally, 0.99);
    line.group = median(setting->group, setting->rounds);
    line.flushes = median(setting->flushes, setting->rounds);
    row(context, &line);
}

static enum sotto_status
run_setting(const struct collector_bench_size *size, size_t batch,
            void (*row)(void *context, const struct sotto_bench_row *row),
            void *context, struct sotto_error *err)
{
    struct setting setting = {.size = size};
    enum sotto_status status =
        collector_place_init(&setting.place, size->where, err);
    setting.rounds = size->rounds < COLLECTOR_BENCH_ROUNDS_MAX
                         ? size->rounds
                         : COLLECTOR_BENCH_ROUNDS_MAX;
    status = HOST_THEN(status, collector_place_store(&setting.place, "ours",
                                                     &setting.ours_url, err));
    status = HOST_THEN(status, collector_place_store(&setting.place, "limit",
                                                     &setting.limit_url, err));
    for (size_t i = 0; i < setting.rounds && status == SOTTO_STATUS_OK; i++) {
        status = run_round(&setting, batch, i, err);
    }
    if (status == SOTTO_STATUS_OK) {
        tell_collector(&setting, batch, row, context);
    }
    free(setting.ours_url);
    free(setting.limit_url);
    collector_place_clear(&setting.place);
    return status;
}

enum sotto_status
collector_bench_run(const struct collector_bench_size *size,
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

/* ---- Memory -------------------------------------------------------------- */

/* From now on, the most memory is looked for anew. */
static void
forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        (void)fputs("5", file);
        (void)fclose(file);
    }
}

/* The most bytes of this program that were in memory, but for the requests that
   the load has ready, which no collector has; 0: the system does not say. */
static double
most_memory(const struct load_tally *tally)
{
    static const char name[] = "VmHWM:";
    FILE *file = fopen("/proc/self/status", "r");
    char line[256], *end = NULL;
    double bytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, sizeof name - 1) == 0) {
            bytes = 1024 * (double)strtoul(line + sizeof name - 1, &end, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    double held = (double)tally->requests_held;
    return bytes > held ? bytes - held : 0;
}

static enum sotto_status
run_step(const struct collector_memory_size *size, size_t at,
         const struct collector_place *place, struct sotto_collector *collector,
         void (*row)(void *context, const struct sotto_bench_row *row),
         void *context, struct sotto_error *err)
{
    struct load_options options = {.batch = size->batch,
                                   .connections = size->connections,
                                   .most = size->step};
    struct load_tally tally = {0};
    char text[64];
    struct sotto_bench_row line = {.name = "collector memory", .setting = text};
    forget_peak();
    enum sotto_status status =
        send_load(place, collector, &options, &tally, err);
    if (status == SOTTO_STATUS_OK) {
        line.memory_ours = most_memory(&tally);
        line.rate = (double)tally.reports / tally.seconds;
        line.microseconds = 1e6 / line.rate;
        (void)snprintf(text, sizeof text, "after %llu reports",
                       (unsigned long long)size->step * (at + 1));
        row(context, &line);
    }
    return status;
}

enum sotto_status
collector_memory_run(const struct collector_memory_size *size,
                     void (*row)(void *context,
                                 const struct sotto_bench_row *row),
                     void *context, struct sotto_error *err)
{
    struct collector_place place;
    struct sotto_collector *collector = NULL;
    char *url = NULL;
    enum sotto_status status = collector_place_init(&place, size->where, err);
    status =
        HOST_THEN(status, collector_place_store(&place, "ours", &url, err));
    status = HOST_THEN(status, start(&place, url, &collector, err));
    for (size_t i = 0; i < size->steps && status == SOTTO_STATUS_OK; i++) {
        status = run_step(size, i, &place, collector, row, context, err);
    }
    sotto_collector_stop(collector);
    free(url);
    collector_place_clear(&place);
    return status;
}

/* ---- Growth -------------------------------------------------------------- */

/* Bytes of the files in a folder. */
static double
folder_bytes(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    double bytes = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        struct stat info;
        char *name = host_text_path("%s/%s", folder, entry->d_name);
        if (name != NULL && stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
            bytes += (double)info.st_size;
        }
        free(name);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return bytes;
}

static double
store_bytes(const struct collector_place *place)
{
    char *tags = host_text_path("%s/ours-tags", place->folder);
    double bytes = folder_bytes(place->folder);
    bytes += tags != NULL ? folder_bytes(tags) : 0;
    free(tags);
    return bytes;
}

static enum sotto_status
grow(const struct collector_growth_size *size, uint64_t *count,
     const struct collector_place *place, const char *url,
     struct sotto_bench_row *line, struct sotto_error *err)
{
    uint64_t left = size->most - *count;
    struct load_options options = {.batch = size->batch,
                                   .connections = size->connections,
                                   .most =
                                       left < size->step ? left : size->step};
    struct load_tally tally = {0};
    struct sotto_collector *collector = NULL;
    double begin = host_seconds();
    forget_peak();
    enum sotto_status status = start(place, url, &collector, err);
    line->start_s = host_seconds() - begin;
    status =
        HOST_THEN(status, send_load(place, collector, &options, &tally, err));
    sotto_collector_stop(collector);
    line->memory_ours = most_memory(&tally);
    if (status == SOTTO_STATUS_OK) {
        *count += tally.reports;
        line->rate = (double)tally.reports / tally.seconds;
        line->microseconds = 1e6 / line->rate;
        line->p99_ms = 1e3 * load_quantile(&tally, 0.99);
        line->bytes = store_bytes(place) / (double)*count;
    }
    return status;
}

enum sotto_status
collector_growth_run(const struct collector_growth_size *size,
                     void (*row)(void *context,
                                 const struct sotto_bench_row *row),
                     void *context, struct sotto_error *err)
{
    struct collector_place place;
    char *url = NULL;
    uint64_t count = 0;
    enum sotto_status status = collector_place_init(&place, size->where, err);
    status =
        HOST_THEN(status, collector_place_store(&place, "ours", &url, err));
    while (status == SOTTO_STATUS_OK && count < size->most) {
        char text[64];
        struct sotto_bench_row line = {.name = "collector growth",
                                       .setting = text};
        status = grow(size, &count, &place, url, &line, err);
        if (status == SOTTO_STATUS_OK) {
            (void)snprintf(text, sizeof text, "%llu reports",
                           (unsigned long long)count);
            row(context, &line);
        }
    }
    free(url);
    collector_place_clear(&place);
    return status;
}
