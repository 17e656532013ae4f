/*
 * results.h: what the files of the page of results share: texts of others made
 * safe, numbers as people read them, and the values that fill the template.
 */
#ifndef SOTTO_MECHANISM_RESULTS_H
#define SOTTO_MECHANISM_RESULTS_H

#include <jansson.h>

#include "host/text.h"
#include "sotto/results.h"

#define RESULTS_TEXT_MOST ((size_t)4 << 20)

/* Sets a value to a text of others: printable, and of `most` characters. */
void results_shown(json_t *values, const char *name, const char *text,
                   size_t most);
/* Writes a count with commas between its thousands. */
#define RESULTS_COUNT_SIZE 32u
const char *results_count(uint64_t count, char text[RESULTS_COUNT_SIZE]);
void results_set_count(json_t *values, const char *name, uint64_t count);
/* Appends an empty object to an array; NULL: no memory. */
json_t *results_append(json_t *list);
/* Sets a value to an array, which is taken over, if it has `count` items: else
   memory gave out, and the value is missing. */
void results_set_list(json_t *values, const char *name, json_t *list,
                      size_t count);

/* results_chart.c: lists of one, or none where there is nothing to draw: the
   reports that were released, and how accurate models will be. */
void results_chart_released(json_t *values,
                            const struct sotto_results_campaign *campaign);
void results_chart_accuracy(json_t *values,
                            const struct sotto_results_campaign *campaign);

/* results_rows.c: the tables of estimates, of `most` rows at most each. */
void results_rows(json_t *values, const struct sotto_results_campaign *campaign,
                  double z, size_t most);

/* results_plan.c: sotto_results_plan, from memory; `name` stands for the
   path. */
SOTTO_CHECKED enum sotto_status
results_plan_parse(const char *text, size_t size, const char *name, double eps,
                   struct sotto_results_accuracy **ret_accuracy,
                   size_t *ret_count, struct sotto_error *err);

#endif
