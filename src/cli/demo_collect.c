/*
 * demo_collect.c: from people to collected reports: each person's device makes
 * one from the mechanism that was checked, and all are read back.
 *
 * Reports are simulated from the seed, so that the demo tells the same story
 * twice; they say so, and are never to be sent (invariant 3).
 */
#include <stdlib.h>

#include "cli/demo.h"

static enum sotto_status
add_reports(const struct demo_story *story, struct sotto_mechanism *mechanism,
            struct records *records, struct sotto_report_writer *writer,
            struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    enum sotto_status status = SOTTO_STATUS_OK;
    sotto_mechanism_info(mechanism, &info);
    uint8_t *report = malloc(info.report_size);
    if (report == NULL) {
        err->status = SOTTO_STATUS_MEMORY;
        return SOTTO_STATUS_MEMORY;
    }
    for (size_t i = 0; i < story->demo.people && status == SOTTO_STATUS_OK;
         i++) {
        const struct sotto_value *values = records_at(records, i);
        status = sotto_simulate(mechanism, story->demo.seed, i, values,
                                records->count, report, info.report_size);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_report_writer_add(writer, report, err);
        } else {
            err->status = status;
        }
    }
    free(report);
    return status;
}

/* A report of each person into the file at `path`. */
static int
write_reports(struct demo_story *story, struct sotto_mechanism *mechanism,
              const char *path)
{
    struct records records = {0};
    struct sotto_report_writer *writer = NULL;
    struct sotto_error err = {0};
    int status = records_match(mechanism, story->people, NULL, NULL, &records);
    if (status != CLI_EXIT_DONE) {
        return status;
    }
    enum sotto_status made =
        sotto_report_writer_new(mechanism, path, &writer, &err);
    if (made == SOTTO_STATUS_OK) {
        made = add_reports(story, mechanism, &records, writer, &err);
    }
    if (made == SOTTO_STATUS_OK) {
        made = sotto_report_writer_commit(writer, &err);
        writer = NULL;
    }
    sotto_report_writer_free(writer);
    records_clear(&records);
    return made == SOTTO_STATUS_OK ? CLI_EXIT_DONE : cli_fail(&err);
}

int
demo_collect(struct demo_story *story, enum demo_kind kind,
             const struct demo_budget *budget,
             struct sotto_mechanism *mechanism,
             struct sotto_report_reader **ret_reader)
{
    char path[DEMO_PATH_SIZE], name[DEMO_NAME_SIZE];
    struct sotto_error err = {0};
    (void)demo_place(&story->demo,
                     demo_name(demo_kind_name[kind], budget, "reports", name),
                     path);
    int status = write_reports(story, mechanism, path);
    if (status == CLI_EXIT_DONE &&
        sotto_report_reader_new(mechanism, path, ret_reader, &err) !=
            SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    return status;
}
