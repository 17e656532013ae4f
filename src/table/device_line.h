/*
 * device_line.h: the fields of one line of a device's file, total on content.
 */
#ifndef SOTTO_TABLE_DEVICE_LINE_H
#define SOTTO_TABLE_DEVICE_LINE_H

#include "table/table.h"

#define DEVICE_NOWHERE SIZE_MAX

/* What every row of a file should be: public facts. */
struct device_shape {
    size_t width; /* its fields, at least 1 */
    bool exact;   /* a row has no more than that; else what follows is let be */
    size_t person; /* the place of the person's field: 0, or width - 1 of an
                      exact one, or DEVICE_NOWHERE */
};

/*
 * Takes the field at *at, up to `end`, the end of its line, and leaves *at at
 * the comma behind it, or at `end`. A cell that cannot be read is missing: not
 * UTF-8, NUL, a carriage return outside quotes, over TABLE_MAX_FIELD bytes, or
 * a quote that is not closed on the line, or not at the field's end; then the
 * field ends at the next comma. Doubled quotes are undone in place. Returns
 * whether the field could be read.
 */
bool device_line_field(uint8_t *bytes, size_t *at, size_t end,
                       struct table_cell *ret_cell);

/*
 * Splits the line from `start` to `end` into the shape's `width` cells. If it
 * has not the right number of fields all of them are missing but the person's.
 * That one is read by itself, from the end of the line that it is at, and so is
 * the same whatever the other fields hold, if a name that holds a comma or a
 * quote stands in quotes. Returns whether everything could be read.
 */
bool device_line_split(uint8_t *bytes, size_t start, size_t end,
                       const struct device_shape *shape,
                       struct table_cell *ret_row);

#endif
