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
    size_t missings; /* how many columns are named that tell what is missing */
    bool no_missing; /* no others tell it, whatever the data holds */
    double lambda;   /* the record's share of epsilon; 0: not given */
    uint32_t l;      /* steps from a range's middle to its end; 0: not given */
};

struct direct {
    const struct sotto_table *table;
    const struct sotto_train_options *options;
    const struct direct_settings *set;
    struct direct_range *range;
    size_t ranges;
    size_t *kept; /* columns of the table, in its order */
    bool *told;   /* of each: what is missing is told apart */
    size_t columns;
    size_t label;        /* of the table; SIZE_MAX: none */
    uint64_t eps;        /* stated total */
    uint64_t delta;      /* likewise; 0: none */
    uint64_t each;       /* epsilon of one number or category */
    uint64_t label_each; /* likewise, of the label */
    bool ranges_fitted, categories_fitted; /* taken from the data */
    bool missing_fitted;                   /* likewise: `told` */
    struct schema schema;
    struct compose_part *part;
    size_t parts;
};

/* direct.c: a column of the table's name. */
const char *direct_name(const struct direct *direct, size_t column);

/* And its kind: as the schema has it, or the table. */
const struct schema_kind *direct_kind(const struct direct *direct,
                                      size_t column);

/* direct_missing.c: fills `told` for the columns kept. Statuses: USAGE,
   MEMORY. */
SOTTO_CHECKED enum sotto_status direct_find_missing(struct direct *direct,
                                                    struct sotto_error *err);
/* Says which columns those are, and how much of the data is missing there.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
direct_say_missing(const struct direct *direct, struct sotto_train_facts *facts,
                   struct sotto_error *err);

/* direct_columns.c: adds column `at` of those kept to the schema. Statuses:
   INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status
direct_fit_column(struct direct *direct, size_t at, struct sotto_error *err);
/* Says where epsilon is spread thin, and what a schema asks for and these
   columns do not do. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
direct_say_columns(const struct direct *direct, struct sotto_train_facts *facts,
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
