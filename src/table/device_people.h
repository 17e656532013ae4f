/*
 * device_people.h: the rows of a device's file, by a public list of people.
 */
#ifndef SOTTO_TABLE_DEVICE_PEOPLE_H
#define SOTTO_TABLE_DEVICE_PEOPLE_H

#include "table/table.h"

/*
 * Makes a table with a row for each name in the list `people`, in its order:
 * the row of `table` whose column `person` is that name, or, if none or more
 * than one is, the last, in which all is missing. The names are the list's, in
 * the last column. `odd` gets what the lines and the list do not share.
 * Statuses: MEMORY, INPUT (the list has no column of the person's name; a name
 * in it is missing, above SOTTO_PERSON_MAX bytes or there twice).
 */
SOTTO_CHECKED enum sotto_status
device_people_select(const struct sotto_table *table, size_t person,
                     const struct sotto_table *people,
                     struct sotto_table **ret_table,
                     struct sotto_device_odd *odd, struct sotto_error *err);

#endif
