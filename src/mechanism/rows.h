/*
 * rows.h: the rows of a table as records of a mechanism.
 */
#ifndef SOTTO_MECHANISM_ROWS_H
#define SOTTO_MECHANISM_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

/* Which column of the table each column of the mechanism is: by name. */
struct rows {
    struct sotto_mechanism *mechanism;
    const struct sotto_table *table;
    size_t *column; /* SIZE_MAX: not in the table, so missing in every row */
    struct sotto_value *value;
    size_t count;
};

/*
 * Matches by name. A feature column that is not in the table is INPUT with its
 * name; one for the label alone may be absent. Statuses: INPUT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status rows_init(struct rows *rows,
                                          struct sotto_mechanism *mechanism,
                                          const struct sotto_table *table,
                                          struct sotto_error *err);
void rows_clear(struct rows *rows);
/* The record in a row: `count` values, until the next call. */
const struct sotto_value *rows_at(struct rows *rows, size_t row);

/* Entries of x (the encoder's input) and of z (its output). */
size_t rows_x_width(const struct rows *rows);
size_t rows_z_width(const struct rows *rows);
/* The device's own schema and encoder on a row; either result may be NULL. */
void rows_encode(struct rows *rows, size_t row, float *ret_x, float *ret_z);
/* Output of the first `layers` layers of the encoder, no more than it has, on a
   row: 0 is x; and its width. */
size_t rows_representation_width(const struct rows *rows, uint32_t layers);
void rows_representation(struct rows *rows, size_t row, uint32_t layers,
                         float *ret_z);
/* Input and output of the encoder's last layer, whose widths are those of one
   layer less and of z; both are x if it has none. One pass for both. */
void rows_scores(struct rows *rows, size_t row, float *ret_input, float *ret_z);
/* The point of every block of every part that covers features, one after
   another, as the channel takes it: what a report is about, before noise. */
size_t rows_q_width(const struct rows *rows);
void rows_q(struct rows *rows, size_t row, int32_t *ret_q);
/* The class of a row: the symbol of the label's column, of a part for the label
   or of pairs of a code and the label, as the device takes it, so the last one,
   "(other)", if it is missing or none of the mechanism's; whether that is a
   class is for the caller to say. SIZE_MAX if the table has no such column, or
   the mechanism no such label. */
size_t rows_class(struct rows *rows, size_t row);

#endif
