/*
 * report_source.c: the reports that a verb is given.
 */
#include "verb/report_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "host/error.h"

#define LIST_SIZE 512u

/* A collector gives reports new ids, so of a store and a file nobody can tell
   what came twice. */
static enum sotto_status
check_sources(const char *const *source, size_t sources,
              struct sotto_error *err)
{
    for (size_t i = 0; i < sources; i++) {
        if (sotto_store_named(source[i])) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "'%s' is a collector's store, which gives reports "
                             "new ids: beside other sources nobody could tell "
                             "what came twice; give it alone",
                             host_shown(source[i]));
        }
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
report_source_stream(const struct sotto_mechanism *mechanism,
                     const char *const *source, size_t sources,
                     struct sotto_report_stream **ret_stream,
                     struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sources == 1 && sotto_store_named(source[0])) {
        status =
            sotto_store_stream(mechanism, source[0], false, 0, ret_stream, err);
        if (status == SOTTO_STATUS_REFUSED) { /* simulated, then */
            status = sotto_store_stream(mechanism, source[0], true, 0,
                                        ret_stream, err);
        }
        return status;
    }
    status = check_sources(source, sources, err);
    return HOST_THEN(status, sotto_report_stream_new(mechanism, source, sources,
                                                     ret_stream, err));
}

enum sotto_status
report_source_check(const char *source, const struct sotto_report_seen *seen,
                    struct sotto_error *err)
{
    if (seen->reports > 0) {
        return SOTTO_STATUS_OK;
    }
    return seen->unread_batches + seen->damaged > 0
               ? host_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "none of the reports that '%s' has released can be "
                           "read: it is damaged, and sotto store check says "
                           "where",
                           host_shown(source))
               : host_fail(err, SOTTO_STATUS_INPUT, 0, SOTTO_NONE_RELEASED,
                           host_shown(source));
}

/* Writes the first numbers of `batches` batches, and how many more there
   are. */
static const char *
list_batches(const uint64_t *number, size_t batches, char list[LIST_SIZE])
{
    size_t at = 0, shown = batches < SOTTO_STREAM_DAMAGED_MOST
                               ? batches
                               : SOTTO_STREAM_DAMAGED_MOST;
    for (size_t i = 0; i < shown; i++) {
        at += (size_t)snprintf(list + at, LIST_SIZE - at, "%s%" PRIu64,
                               i > 0 ? ", " : "", number[i]);
    }
    if (shown < batches) {
        (void)snprintf(list + at, LIST_SIZE - at, " and %zu more",
                       batches - shown);
    }
    return list;
}

static void
note_damaged(const struct sotto_report_seen *seen)
{
    char list[LIST_SIZE];
    size_t batches = seen->damaged_batches;
    cli_note("%" PRIu64 " of %" PRIu64 " report%s %s damaged and %s left out: "
             "batch%s %s",
             seen->damaged, seen->reports + seen->damaged,
             seen->reports + seen->damaged == 1 ? "" : "s",
             seen->damaged == 1 ? "is" : "are",
             seen->damaged == 1 ? "was" : "were", batches == 1 ? "" : "es",
             list_batches(seen->damaged_batch, batches, list));
}

static void
note_unread(const struct sotto_report_seen *seen)
{
    char list[LIST_SIZE];
    size_t batches = seen->unread_batches;
    cli_note("%zu batch%s cannot be read at all and %s left out: batch%s %s",
             batches, batches == 1 ? "" : "es", batches == 1 ? "was" : "were",
             batches == 1 ? "" : "es",
             list_batches(seen->unread_batch, batches, list));
}

static void
note_losses(const struct sotto_report_seen *seen)
{
    if (seen->damaged > 0) {
        note_damaged(seen);
    }
    if (seen->unread_batches > 0) {
        note_unread(seen);
    }
}

void
report_source_note(const struct sotto_report_seen *seen)
{
    if (seen->repeated > 0) {
        cli_note("%" PRIu64 " report%s came more than once and count%s once",
                 seen->repeated, seen->repeated == 1 ? "" : "s",
                 seen->repeated == 1 ? "s" : "");
    }
    note_losses(seen);
}

enum sotto_status
report_source_open_all(const struct sotto_mechanism *mechanism,
                       const char *const *source, size_t sources,
                       struct sotto_report_reader **ret_reader,
                       struct sotto_error *err)
{
    struct sotto_report_stream *stream = NULL;
    struct sotto_report_reader *reader = NULL;
    struct sotto_report_seen seen = {0};
    bool store = sotto_store_named(source[0]);
    enum sotto_status status =
        report_source_stream(mechanism, source, sources, &stream, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = sotto_report_stream_collect(stream, store, &reader, err);
    sotto_report_stream_seen(stream, &seen);
    sotto_report_stream_free(stream);
    status = HOST_THEN(status, report_source_check(source[0], &seen, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_report_reader_free(reader);
        return status;
    }
    note_losses(&seen);
    *ret_reader = reader;
    return SOTTO_STATUS_OK;
}

enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err)
{
    return report_source_open_all(mechanism, &source, 1, ret_reader, err);
}
