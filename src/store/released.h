/*
 * released.h: reports that a collector has released, as a stream.
 */
#ifndef SOTTO_STORE_RELEASED_H
#define SOTTO_STORE_RELEASED_H

#include "sotto/sotto.h"

/*
 * Collects a stream of a collector's reports in the order of their payloads,
 * and frees it; `from` names where they are from. Statuses:
 * sotto_report_stream_next's; INPUT (there are none).
 */
SOTTO_CHECKED enum sotto_status
released_collect(struct sotto_report_stream *stream, const char *from,
                 struct sotto_report_reader **ret_reader,
                 struct sotto_error *err);

#endif
