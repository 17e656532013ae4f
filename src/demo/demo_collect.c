/*
 * demo_collect.c: from people to collected reports. Those of one epsilon take
 * the whole way: a collector starts, takes them over HTTP from people's devices
 * until all are released, and stops; the analyst reads its store.
 *
 *     campaigns/ -> collector <-- HTTP -- devices (demo_devices.c)
 *                      |
 *                 collected.db --> sotto_fit
 *
 * In life a person is asked once. Reports at other epsilons, and those of
 * numbers, are here to compare with, and go by file.
 *
 * Reports are simulated from the seed, so that the demo tells the same story
 * twice; they say so, and go to no collector but one for simulation (invariant
 * 3). What the store releases has other ids each time, and comes in the order
 * of payloads: model and page are the same.
 */
#include <dirent.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "demo/demo.h"
#include "host/error.h"

#define URL_SIZE (DEMO_PATH_SIZE + 16u)
#define RELEASE_S 120 /* far longer than a window */
#define LOOK_NS 50000000L

/* ---- The store ----------------------------------------------------------- */

static const char *
store_url(const struct demo *demo, char url[URL_SIZE])
{
    char path[DEMO_PATH_SIZE];
    (void)snprintf(url, URL_SIZE, "sqlite:%s",
                   demo_place(demo, DEMO_STORE, path));
    return url;
}

/* Empties and removes the folder of a store's tags. */
static void
remove_tags(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
}

/* An earlier demo's would know the ids. */
static void
remove_store(const struct demo *demo)
{
    static const char *const names[] = {DEMO_STORE, DEMO_STORE "-wal",
                                        DEMO_STORE "-shm", DEMO_STORE ".lock"};
    char path[DEMO_PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unlink(demo_place(demo, names[i], path));
    }
    remove_tags(demo_place(demo, DEMO_STORE "-tags", path));
}

/* What the store has released, if that is everybody's; else NULL. */
static enum sotto_status
read_store(const struct demo *demo, const struct sotto_mechanism *mechanism,
           struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    char url[URL_SIZE];
    struct sotto_report_reader *reader = NULL;
    enum sotto_status status = sotto_store_reports(
        mechanism, store_url(demo, url), true, &reader, err);
    if (status == SOTTO_STATUS_OK &&
        sotto_report_reader_count(reader) == demo->people) {
        *ret_reader = reader;
        return status;
    }
    sotto_report_reader_free(reader);
    return status == SOTTO_STATUS_INPUT ? SOTTO_STATUS_OK : status;
}

/* Until the window has ended and everybody's reports are out. */
static int
await_release(struct demo_story *story, const struct sotto_mechanism *mechanism,
              struct sotto_report_reader **ret_reader)
{
    struct sotto_watch port = watch_port(&story->watch);
    time_t end = time(NULL) + RELEASE_S;
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    while (read_store(&story->demo, mechanism, &reader, &err) ==
               SOTTO_STATUS_OK &&
           reader == NULL && time(NULL) < end) {
        if (!port.tick(port.context, "waiting for the window's end", 0, 1)) {
            err.status = SOTTO_STATUS_STOPPED;
            return demo_fail(&err);
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
    if (reader == NULL) {
        cli_error("the collector has not released all reports: %s",
                  err.message);
        return CLI_EXIT_FAILED;
    }
    *ret_reader = reader;
    return CLI_EXIT_DONE;
}

/* ---- The collector ------------------------------------------------------- */

static int
collect(struct demo_story *story, const struct demo_budget *budget,
        struct sotto_mechanism *mechanism,
        struct sotto_report_reader **ret_reader)
{
    char url[URL_SIZE], path[DEMO_PATH_SIZE], pub[DEMO_PATH_SIZE];
    const struct demo *demo = &story->demo;
    struct sotto_collector *collector = NULL;
    struct sotto_error err = {0};
    const struct sotto_collector_options options = {
        .mechanisms = demo_mechanism_place(demo, DEMO_KIND_CODES, budget, path),
        .pub = demo_place(demo, "collector.pub", pub),
        .store = store_url(demo, url),
        .listen = "127.0.0.1:0",
        .simulation = true,
        .window_s = 1,
        .batch_min = demo->people};
    remove_store(demo);
    if (sotto_collector_start(&options, &collector, &err) != SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    int status =
        demo_devices(story, budget, mechanism, sotto_collector_port(collector));
    status = CLI_THEN(status, await_release(story, mechanism, ret_reader));
    sotto_collector_stop(collector);
    return status;
}

/* ---- A file of reports --------------------------------------------------- */

enum sotto_status
demo_simulate(const struct demo_story *story, struct sotto_mechanism *mechanism,
              struct sotto_records *records, size_t row, uint8_t *report,
              size_t size, struct sotto_error *err)
{
    err->status = sotto_simulate(mechanism, story->demo.seed, row,
                                 sotto_records_at(records, row),
                                 sotto_records_columns(records), report, size);
    return err->status;
}

static enum sotto_status
add_reports(const struct demo_story *story, struct sotto_mechanism *mechanism,
            struct sotto_records *records, struct sotto_report_writer *writer,
            struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    uint8_t *report = malloc(info.report_size);
    err->status = report != NULL ? SOTTO_STATUS_OK : SOTTO_STATUS_MEMORY;
    enum sotto_status status = err->status;
    for (size_t i = 0; i < story->demo.people && status == SOTTO_STATUS_OK;
         i++) {
        status = demo_simulate(story, mechanism, records, i, report,
                               info.report_size, err);
        status =
            HOST_THEN(status, sotto_report_writer_add(writer, report, err));
    }
    free(report);
    return status;
}

/* A report of each person into the file at `path`. */
static int
write_reports(struct demo_story *story, struct sotto_mechanism *mechanism,
              const char *path)
{
    struct sotto_records *records = NULL;
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    enum sotto_status made =
        sotto_records_new(mechanism, story->people, &records, &err);
    if (made == SOTTO_STATUS_OK) {
        made = sotto_report_writer_new(mechanism, path, &writer, &err);
    }
    if (made == SOTTO_STATUS_OK) {
        made = add_reports(story, mechanism, records, writer, &err);
    }
    if (made == SOTTO_STATUS_OK) {
        made = sotto_report_writer_commit(writer, &err);
        writer = NULL;
    }
    sotto_report_writer_free(writer);
    sotto_records_free(records);
    return cli_exit(made, &err);
}

/* In the order of what they say, as sotto fit takes them. */
static enum sotto_status
read_sorted(const struct sotto_mechanism *mechanism, const char *path,
            struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    struct sotto_report_stream *stream = NULL;
    enum sotto_status status =
        sotto_report_stream_new(mechanism, &path, 1, &stream, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_report_stream_collect(stream, true, ret_reader, err);
    }
    sotto_report_stream_free(stream);
    return status;
}

static int
simulate(struct demo_story *story, enum demo_kind kind,
         const struct demo_budget *budget, struct sotto_mechanism *mechanism,
         struct sotto_report_reader **ret_reader)
{
    char path[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct sotto_error err = {0};
    (void)demo_place(&story->demo,
                     demo_name(demo_kind_name[kind], budget, "reports", name),
                     path);
    int status = write_reports(story, mechanism, path);
    status = CLI_THEN(
        status, cli_exit(read_sorted(mechanism, path, ret_reader, &err), &err));
    return status;
}

int
demo_collect(struct demo_story *story, enum demo_kind kind,
             const struct demo_budget *budget,
             struct sotto_mechanism *mechanism,
             struct sotto_report_reader **ret_reader)
{
    return kind == DEMO_KIND_CODES && budget == demo_headline(&story->demo)
               ? collect(story, budget, mechanism, ret_reader)
               : simulate(story, kind, budget, mechanism, ret_reader);
}
