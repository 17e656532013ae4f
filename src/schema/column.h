/*
 * column.h: a schema, its columns, and what there is to each kind of column.
 *
 * A kind is one file (number.c, category.c, samples.c, bins.c) and one row of
 * the table in column.c; all others ask the kind's row. What a device does with
 * a value is in the device's own code.
 */
#ifndef SOTTO_SCHEMA_COLUMN_H
#define SOTTO_SCHEMA_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encode/encode.h"
#include "sotto/schemas.h"
#include "sotto/tables.h"

struct host_text;
struct random;

/* How a field of a record is read. A view: its texts belong to a struct schema,
   or to whoever wrote it down. */
struct schema_column {
    const char *name;
    enum sotto_column_kind kind;
    size_t count;              /* categories and "other", or bytes */
    const char *const *values; /* count - 1 categories, else NULL */
    bool input;                /* a category's one-hot code goes into x */
    double shift, scale;       /* x = (value - shift) scale; of bins, the range
                                  that becomes -1 to 1 is all of them */
    bool missing; /* a missing value is told: a number's has an entry of x,
                     a category's is the last of `values` */
    bool clip;    /* a number's x is kept from -1 to 1 */
    bool log;     /* a number's signed logarithm is shifted and scaled in its
                     place; not with clip */
    bool label;   /* of a mechanism: read for the label alone, may be missing */
    size_t inputs, at;   /* of a schema: entries of x, and the first of them */
    const double *edges; /* of bins: count - 2, ascending; else NULL */
};

/* Owns its columns and their texts. Those of a column lie as a device has them:
   name, then values, each NUL-terminated. */
struct schema {
    struct schema_column *column;
    size_t columns;
    void **texts; /* a block a column */
};

/* What x is to be of a column's values. */
struct schema_aim {
    bool range; /* the range becomes -1 to 1; else mean 0, variance 1 */
    bool given; /* the range is low to high; else the data's own */
    double low, high;
    bool input;   /* a category's one-hot code goes into x */
    size_t bins;  /* a number becomes one of so many ranges; 0: it does not */
    bool robust;  /* of a number, in place of the first two: where all but the
                     lowest and the highest hundredth of the values lie, or `as`
                     has its range, becomes -1 to 1, and what is beyond is cut */
    bool missing; /* a missing value is told apart: schema_column's; bytes
                     cannot */
    const struct sotto_schema_column *as; /* what the column is, with its range
                    or values; what is `given` overrules its range. NULL: what
                    the table says */
};

/* The range of a column's values, and what becomes of those beyond. */
struct schema_range {
    double low, high;
    bool cut; /* they count as the nearer end, in a report of their own */
};

/* A column of a mechanism, as a record's field is made up for it. */
struct schema_field {
    size_t at;        /* which column it is */
    size_t count;     /* as schema_column's */
    double low, high; /* of a number that is not clipped */
    const char *const *values;
    uint8_t *room; /* for count + 1 bytes, where the kind needs it */
};
#define SCHEMA_HOSTILE 20u /* kinds of hostile values */

/* What the symbol of a missing category is called. */
#define SCHEMA_MISSING "(missing)"

struct schema_kind {
    const char *name;               /* in a manifest */
    enum encode_column_kind device; /* as which a device reads it */
    bool symbols; /* a value is one of several: `count` is how many */
    bool bytes;   /* a value is `count` samples: schema_field has room */
    bool ranged;  /* a value is one number, whose range may be given */
    /* Entries of x that a column fills. */
    size_t (*inputs)(const struct schema_column *column);
    /* Fills all but name, kind and input from a column of a table. `values` is
       one block, for one free(). Statuses: INPUT, MEMORY. */
    enum sotto_status (*fit)(const struct sotto_table *table, size_t column,
                             const struct schema_aim *aim,
                             struct schema_column *ret,
                             struct sotto_error *err);
    /* The value as the device takes it, whatever the rest of a file's column
       looks like. */
    struct sotto_value (*read)(struct sotto_value value);
    /* Adds the manifest's words about it, quotes escaped, behind the name of
       the kind. */
    void (*write)(const struct schema_column *column, struct host_text *text);
    /* Adds what a value is, and what counts as what, in a layman's words. */
    void (*describe)(const struct schema_column *column,
                     const struct schema_range *range, struct host_text *text);
    /* Hostile value number `kind`, below SCHEMA_HOSTILE; another at random. */
    struct sotto_value (*hostile)(const struct schema_field *field,
                                  uint32_t kind);
    struct sotto_value (*draw)(const struct schema_field *field,
                               struct random *random);
};

extern const struct schema_kind schema_number, schema_category, schema_bytes,
    schema_bins;

/* Gives the finite numbers of a column in ascending order, for the caller to
   wipe and free: one more than the table has rows. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
schema_sort_numbers(const struct sotto_table *table, size_t column,
                    double **ret_value, size_t *ret_count,
                    struct sotto_error *err);

/* The row of a kind. */
const struct schema_kind *schema_kind(enum sotto_column_kind kind);
/* The kind of a column of a table: as a schema has it (NULL: none does), or as
   the table does. */
enum sotto_column_kind schema_kind_of(const struct sotto_schema_column *as,
                                      const struct sotto_table *table,
                                      size_t column);

/* A schema without columns, with room for `most`. Clear it in any case;
   clearing zeros is fine. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status schema_init(struct schema *schema, size_t most,
                                            struct sotto_error *err);
void schema_clear(struct schema *schema);
/* Each adds a column for which there is room: a copy of a view; one as a device
   has it; one fitted to a column of a table. Statuses: MEMORY, and schema_fit's
   INPUT. */
SOTTO_CHECKED enum sotto_status schema_add(struct schema *schema,
                                           const struct schema_column *column,
                                           struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
schema_add_device(struct schema *schema, const struct encode_column *column,
                  double shift, double scale, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status schema_fit(struct schema *schema,
                                           const struct sotto_table *table,
                                           size_t column,
                                           const struct schema_aim *aim,
                                           struct sotto_error *err);

/* The value that a number column's x stands for, and x of a value, both without
   cutting; of a scale of 0, the shift and 0. */
double schema_column_value(const struct schema_column *column, double x);
double schema_column_x(const struct schema_column *column, double value);

/* Whether a range is one: a hostile or mistaken file's may be none. */
bool schema_range_usable(const struct schema_range *range);

/* Shift and scale as devices take them (encode/flush.h): a shift too small for
   that is 0, a scale the least they take, for columns that reach beyond 2^480:
   those are cut off there, and are no constants. */
void schema_column_scaling(const struct schema_column *column,
                           double *ret_shift, double *ret_scale);

/* Fails with a sentence about a column, whose name is made printable. */
SOTTO_CHECKED enum sotto_status schema_column_fail(enum sotto_status status,
                                                   const char *before,
                                                   const char *name,
                                                   const char *after,
                                                   struct sotto_error *err);
/* The same for a column in which every value is missing: INPUT. */
SOTTO_CHECKED enum sotto_status
schema_column_missing(const struct sotto_table *table, size_t column,
                      struct sotto_error *err);

#endif
