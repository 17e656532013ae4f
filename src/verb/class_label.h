/*
 * class_label.h: a column of numbers as a label of classes, for the verbs that
 * simulate campaigns.
 */
#ifndef SOTTO_VERB_CLASS_LABEL_H
#define SOTTO_VERB_CLASS_LABEL_H

#include <stdbool.h>

#include "cli/cli.h"

#define CLASS_LABEL_MOST 20u /* different whole numbers that may be classes */

/* Whether a column holds no numbers, or so few different whole ones that they
   are taken for classes. */
bool class_label_fits(const struct sotto_table *table, size_t column);
/* Makes a category of a column that fits; sets whether it held numbers. The
   exit status. */
int class_label_take(struct sotto_table *table, size_t column,
                     bool *ret_number);

#endif
