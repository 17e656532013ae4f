/*
 * report_source.c: the reports that a verb is given.
 */
#include "verb/report_source.h"

enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err)
{
    enum sotto_status status;
    if (!sotto_store_named(source)) {
        return sotto_report_reader_new(mechanism, source, ret_reader, err);
    }
    status = sotto_store_reports(mechanism, source, false, ret_reader, err);
    if (status == SOTTO_STATUS_REFUSED) { /* simulated, then */
        status = sotto_store_reports(mechanism, source, true, ret_reader, err);
    }
    return status;
}
