/*
 * report_source.h: the reports that a verb is given: files of them, standard
 * input, or a collector's store.
 */
#ifndef SOTTO_VERB_REPORT_SOURCE_H
#define SOTTO_VERB_REPORT_SOURCE_H

#include "sotto/sotto.h"

/*
 * All reports of some sources, one block after the other: files in either form,
 * "-" for standard input, in their order, of which one that came twice, in
 * whichever of them, counts once; or what sqlite:PATH has released, simulated
 * or not: the reports themselves say which. Statuses:
 * sotto_report_stream_new's, sotto_store_stream's; USAGE (a store among
 * several).
 */
SOTTO_CHECKED enum sotto_status
report_source_stream(const struct sotto_mechanism *mechanism,
                     const char *const *source, size_t sources,
                     struct sotto_report_stream **ret_stream,
                     struct sotto_error *err);
/* Fails, at the end of a stream, if it had no report: a store's that has
   released none. Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status
report_source_check(const char *source, const struct sotto_report_seen *seen,
                    struct sotto_error *err);
/* Says which reports came more than once, and which are damaged. */
void report_source_note(const struct sotto_report_seen *seen);

/* All of one source at once: a file's in its order, a store's in that of their
   payloads. */
SOTTO_CHECKED enum sotto_status
report_source_open(const struct sotto_mechanism *mechanism, const char *source,
                   struct sotto_report_reader **ret_reader,
                   struct sotto_error *err);
/* The same of several. */
SOTTO_CHECKED enum sotto_status
report_source_open_all(const struct sotto_mechanism *mechanism,
                       const char *const *source, size_t sources,
                       struct sotto_report_reader **ret_reader,
                       struct sotto_error *err);

#endif
