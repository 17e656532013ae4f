/*
 * scores_print.h: the scores of a model, as text and as JSON.
 */
#ifndef SOTTO_VERB_SCORES_PRINT_H
#define SOTTO_VERB_SCORES_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "sotto/sotto.h"

/* "clean" or "privatised" says what the model saw. */
void scores_print(const struct sotto_model *model,
                  const struct sotto_scores *scores, const char *records,
                  FILE *to);
/* One object for the model, one for each cell of the confusion that is not 0,
   each class and each bin of the calibration. */
void scores_print_json(const struct sotto_model *model,
                       const struct sotto_scores *scores, bool private_records,
                       FILE *to);

#endif
