/*
 * sotto/records.h: the rows of a table as records of a mechanism.
 *
 *     sotto_records_new(mechanism, table, &records, &err);
 *     sotto_client_privatise(client, sotto_records_at(records, row),
 *                            sotto_records_columns(records), report, size);
 *     sotto_records_free(records);
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_RECORDS_H
#define SOTTO_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"
#include "sotto/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sotto_records;

/*
 * Finds each column of the mechanism in the table, by name. A column for the
 * label alone may be absent: then it is missing in every record. Mechanism and
 * table must outlive the records. Statuses: INPUT (another column is not in the
 * table: says which), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_records_new(struct sotto_mechanism *mechanism,
                  const struct sotto_table *table,
                  struct sotto_records **ret_records, struct sotto_error *err);
void sotto_records_free(struct sotto_records *records);
/*
 * The record in a row, until the next call. A field is what it says, whatever
 * the rest of its column looks like: one stray word makes a column text, and
 * the numbers around it are numbers still.
 */
const struct sotto_value *sotto_records_at(struct sotto_records *records,
                                           size_t row);
/* Values of a record: the mechanism's columns. */
size_t sotto_records_columns(const struct sotto_records *records);

/* How many values of a column do not fit it: for whoever holds the records, and
   nobody else. */
struct sotto_misfit {
    size_t records;
    size_t missing;
    size_t unread;  /* text for a number, an image of another size */
    size_t unknown; /* categories that the mechanism does not have */
    size_t beyond;  /* numbers outside the range; if none is cut off there, ten
                       times as far from its middle as its ends are */
    bool cut;       /* the device takes those as the nearer end */
};
/* Counts a record, as sotto_records_at gives it, into one entry a column. The
   caller begins with zeros. */
void sotto_mechanism_misfit(const struct sotto_mechanism *mechanism,
                            const struct sotto_value *values,
                            struct sotto_misfit *misfit);

#ifdef __cplusplus
}
#endif

#endif
