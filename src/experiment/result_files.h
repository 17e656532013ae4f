/*
 * result_files.h: an experiment's rows as a CSV file, a table and a plot.
 */
#ifndef SOTTO_EXPERIMENT_RESULT_FILES_H
#define SOTTO_EXPERIMENT_RESULT_FILES_H

#include "experiment/experiment.h"

/* RESULTS/EXPERIMENT-MECHANISM[-LEVEL][-SHARE] in memory the caller frees;
   level and share only where they are not the usual ones. NULL: no memory. */
char *result_files_path(const struct experiment_run *run);

/*
 * Writes PATH.csv (all rows), PATH.md and PATH.svg (the means), each in one
 * step. A mean's command and commit are the run's. Statuses: IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
result_files_write(const struct experiment_run *run,
                   const struct sotto_experiment_row *rows, size_t count,
                   struct sotto_error *err);

/* The three texts, for result_files_write and its tests. */
struct host_text;
void result_files_csv(struct host_text *text,
                      const struct sotto_experiment_row *rows, size_t count);
void result_files_markdown(struct host_text *text,
                           const struct experiment_run *run,
                           const struct sotto_experiment_row *rows,
                           size_t count);
void result_files_plot(struct host_text *text, const struct experiment_run *run,
                       const struct sotto_experiment_row *rows, size_t count);

/* Parts of the second, which the page of all tables has, too: what was measured
   and what must be said beside it; the means (one of no runs was not run); the
   papers' mechanisms without an encoder. */
void result_files_level(struct host_text *text,
                        const struct experiment_run *run);
void result_files_means(struct host_text *text,
                        const struct sotto_experiment_row *rows, size_t count);
void result_files_others(struct host_text *text,
                         const struct experiment_run *run);

#endif
