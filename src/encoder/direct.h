/*
 * direct.h: what the files of the direct baseline share.
 */
#ifndef SOTTO_ENCODER_DIRECT_H
#define SOTTO_ENCODER_DIRECT_H

#include "channel/channel.h"
#include "encoder/encoder.h"
#include "mechanism/compose.h"
#include "sotto/sotto.h"

/* A public range for a number column. */
struct direct_range {
    char *column;
    double low, high;
};

struct direct_settings {
    size_t ranges;                                    /* how many are given */
    const char *numbers, *categories, *label_channel; /* NULL: not given */
    const char *delta;                                /* likewise */
    bool label_only; /* the label's column alone, and the mark that says so */
    uint32_t l;      /* steps from a range's middle to its end; 0: not given */
};

struct direct {
    const struct sotto_table *table;
    const struct sotto_train_options *options;
    const struct direct_settings *set;
    struct direct_range *range;
    size_t ranges;
    size_t *kept; /* columns of the table, in its order */
    size_t columns;
    size_t label;   /* of the table; SIZE_MAX: none */
    uint64_t eps;   /* stated total */
    uint64_t delta; /* likewise; 0: none */
    uint64_t each;  /* epsilon of one number or category */
    bool ranges_fitted, categories_fitted; /* taken from the data */
    struct schema schema;
    struct compose_part *part;
    size_t parts;
};

/* direct.c: a column of the table's name. */
const char *direct_name(const struct direct *direct, size_t column);

/* direct_columns.c: adds a column of the table to the schema. Statuses: INPUT,
   MEMORY. */
SOTTO_CHECKED enum sotto_status direct_fit_column(struct direct *direct,
                                                  size_t column,
                                                  struct sotto_error *err);

/*
 * direct_parts.c: fills `part` (room for every column) from the fitted
 * columns, which a ball may scale once more, and shares delta out. Statuses:
 * USAGE (a channel's name, a delta that is missing or not wanted), LIMIT.
 */
SOTTO_CHECKED enum sotto_status direct_add_parts(struct direct *direct,
                                                 struct sotto_error *err);
/* What to do about a part beyond what its channel allows; `status` is what
   putting the parts together failed with, and comes back. */
SOTTO_CHECKED enum sotto_status direct_explain(const struct direct *direct,
                                               enum sotto_status status,
                                               struct sotto_error *err);

#endif
