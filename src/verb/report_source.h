/*
 * report_source.h: the reports that a verb is given: a file of them, or a
 * collector's store.
 */
#ifndef SOTTO_VERB_REPORT_SOURCE_H
#define SOTTO_VERB_REPORT_SOURCE_H

#include "sotto/sotto.h"

/* A file in either form, or what sqlite:PATH has released, simulated or not:
   the reports themselves say which. Statuses: sotto_report_reader_new's,
   sotto_store_reports'. */
SOTTO_CHECKED enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err);

#endif
