/*
 * giveaway.h: how well one column alone tells the label.
 */
#ifndef SOTTO_SCHEMA_GIVEAWAY_H
#define SOTTO_SCHEMA_GIVEAWAY_H

#include "schema/outline.h"

/* What is looked for in the columns: rows and their labels. */
struct giveaway {
    const struct sotto_table *table;
    size_t *row;  /* rows with a label, some of them if there are many */
    int *symbol;  /* the class of each; NULL: the label is a number */
    double *goal; /* or its number; NULL: it is a class */
    size_t rows;
    size_t classes;
};

struct giveaway_found {
    double share;   /* of what the best constant gets wrong, the column gets
                       right, on rows it was not fitted to: of wrong classes, or
                       of the squares of a number's distance */
    double missing; /* the same by whether the column has a value at all */
    double without; /* share of the rows of all classes but the largest in which
                       the column has a value that the largest hardly ever has;
                       0 for a number */
    size_t main_class; /* the largest */
};

/* Reads the label. Clear it in any case. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
giveaway_init(struct giveaway *giveaway, const struct sotto_table *table,
              const struct sotto_schema_column *label, struct sotto_error *err);
void giveaway_clear(struct giveaway *giveaway);
/*
 * Cuts a column into at most 24 bins of about as many rows (a number's), or one
 * a category, and one for what is missing; says the class or mean of every bin
 * from half of the rows, and tries it on the others. Zeros where there are
 * fewer than 100 rows. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
giveaway_look(const struct giveaway *giveaway,
              const struct sotto_schema_column *column,
              struct giveaway_found *ret, struct sotto_error *err);

#endif
