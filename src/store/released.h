/*
 * released.h: reports that a collector has released, from wherever they were
 * read, as a reader.
 */
#ifndef SOTTO_STORE_RELEASED_H
#define SOTTO_STORE_RELEASED_H

#include "host/text.h"
#include "sotto/sotto.h"

#define RELEASED_MOST ((size_t)1 << 36) /* bytes, as of a report file */

/*
 * Puts reports, one behind the other, in the order of their payloads, and reads
 * them; `from` names where they are from. Statuses:
 * sotto_report_reader_parse's; INPUT (there are none).
 */
SOTTO_CHECKED enum sotto_status
released_read(const struct sotto_mechanism *mechanism,
              struct host_text *reports, const char *from,
              struct sotto_report_reader **ret_reader, struct sotto_error *err);

#endif
