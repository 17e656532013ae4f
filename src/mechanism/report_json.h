/*
 * report_json.h: one report as one line of JSON, and back.
 *
 *     {"mechanism":"<64 hex>","id":"<32 hex>","simulated":false,
 *      "parts":[[...],[...]]}
 *
 * without blanks and in this order when written; parts[i] holds the integers
 * of all blocks of part i, one block behind the other. Integers only: what a
 * channel's unpack gives, all below 2^53 in size, so that every JSON reader
 * has them exactly. Text -> report -> text and back lose nothing.
 */
#ifndef SOTTO_MECHANISM_REPORT_JSON_H
#define SOTTO_MECHANISM_REPORT_JSON_H

#include "host/text.h"
#include "mechanism/mechanism.h"

/* The most integers a block of any part has; at least 1. */
size_t report_json_values(const struct sotto_mechanism *mechanism);

/* The most bytes that a line with a report is read from: twice what the longest
   one written has, and 1,024, for blanks and escapes. */
size_t report_json_most(const struct sotto_mechanism *mechanism);

/* Appends a valid report, without a line break. `values` has room for
   report_json_values integers. */
void report_json_write(const struct sotto_mechanism *mechanism,
                       const uint8_t *report, int64_t *values,
                       struct host_text *text);

/*
 * Reads one line into the client's report_size bytes at `ret_report`, which
 * are written even on failure, the first REPORT_MAGIC_SIZE only once the header
 * was right; `values` as above. The message says what is wrong within the line;
 * the caller says which line. One above report_json_most is refused
 * before it is parsed, so that memory depends on the mechanism and not on the
 * line. Statuses: INPUT, PIN (of another mechanism), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
report_json_read(const struct sotto_mechanism *mechanism, const char *line,
                 size_t size, int64_t *values, uint8_t *ret_report,
                 struct sotto_error *err);

/* What to say of a report whose hash is another mechanism's: PIN. */
SOTTO_CHECKED enum sotto_status
report_json_fail_hash(const struct sotto_mechanism *mechanism,
                      const uint8_t *hash, struct sotto_error *err);

#endif
