/*
 * report_source.h: the reports that a verb is given: files of them, standard
 * input, or a collector's store.
 */
#ifndef SOTTO_VERB_REPORT_SOURCE_H
#define SOTTO_VERB_REPORT_SOURCE_H

#include "sotto/sotto.h"

/* A file in either form, "-" for standard input, or what sqlite:PATH has
   released, simulated or not: the reports themselves say which. Statuses:
   sotto_report_reader_new's, sotto_store_reports'. */
SOTTO_CHECKED enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err);
/* All reports of several sources, in their order: files and standard input. One
   that came twice, in whichever of them, counts once. Statuses: the same; USAGE
   (a store among them, or standard input twice). */
SOTTO_CHECKED enum sotto_status
report_source_open_all(const struct sotto_mechanism *mechanism,
                       const char *const *source, size_t sources,
                       struct sotto_report_reader **ret_reader,
                       struct sotto_error *err);

#endif
