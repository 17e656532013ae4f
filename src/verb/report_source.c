/*
 * report_source.c: the reports that a verb is given.
 */
#include "verb/report_source.h"

#include <string.h>

#include "host/error.h"

enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err)
{
    enum sotto_status status;
    if (strcmp(source, "-") == 0) {
        source = "/dev/stdin";
    }
    if (!sotto_store_named(source)) {
        return sotto_report_reader_new(mechanism, source, ret_reader, err);
    }
    status = sotto_store_reports(mechanism, source, false, ret_reader, err);
    if (status == SOTTO_STATUS_REFUSED) { /* simulated, then */
        status = sotto_store_reports(mechanism, source, true, ret_reader, err);
    }
    return status;
}

/* A collector gives reports new ids, so of a store and a file nobody can tell
   what came twice; what was read of standard input is gone. */
static enum sotto_status
check_sources(const char *const *source, size_t sources,
              struct sotto_error *err)
{
    size_t inputs = 0;
    for (size_t i = 0; i < sources; i++) {
        inputs += strcmp(source[i], "-") == 0 ? 1 : 0;
        if (sotto_store_named(source[i])) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "'%s' is a collector's store, which gives reports "
                             "new ids: beside other sources nobody could tell "
                             "what came twice; give it alone",
                             host_shown(source[i]));
        }
    }
    return inputs < 2 ? SOTTO_STATUS_OK
                      : host_fail(err, SOTTO_STATUS_USAGE, 0,
                                  "standard input (-) can be read once only");
}

static enum sotto_status
add_source(const struct sotto_mechanism *mechanism, const char *source,
           struct sotto_report_reader *reader, struct sotto_error *err)
{
    struct sotto_report_reader *more = NULL;
    enum sotto_status status =
        report_source_open(mechanism, source, &more, err);
    status =
        HOST_THEN(status, sotto_report_reader_join(reader, more, source, err));
    sotto_report_reader_free(more);
    return status;
}

enum sotto_status
report_source_open_all(const struct sotto_mechanism *mechanism,
                       const char *const *source, size_t sources,
                       struct sotto_report_reader **ret_reader,
                       struct sotto_error *err)
{
    struct sotto_report_reader *reader = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (sources > 1) {
        status = check_sources(source, sources, err);
    }
    status = HOST_THEN(status,
                       report_source_open(mechanism, source[0], &reader, err));
    for (size_t i = 1; i < sources && status == SOTTO_STATUS_OK; i++) {
        status = add_source(mechanism, source[i], reader, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_report_reader_free(reader);
        return status;
    }
    *ret_reader = reader;
    return SOTTO_STATUS_OK;
}
