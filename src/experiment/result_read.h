/*
 * result_read.h: the rows of an experiment, back from the CSV file that
 * result_files.c or study_files.c wrote.
 */
#ifndef SOTTO_EXPERIMENT_RESULT_READ_H
#define SOTTO_EXPERIMENT_RESULT_READ_H

#include "experiment/experiment.h"

/* One file. */
struct result_table {
    char *name; /* the file's, without .csv */
    const struct experiment *experiment;
    const struct experiment_mechanism *mechanism; /* NULL: of a study, all */
    struct sotto_experiment_options options; /* seed and command of the rows */
    uint32_t trials, draws;                  /* the most of any fit */
    struct sotto_experiment_row *rows;       /* paper_table is looked up */
    size_t count, room;
    char *text; /* what texts of rows point into */
};

/*
 * Reads FOLDER/NAME.csv. `ret_ours` is false, and nothing else is set, where
 * the first column is not `experiment`: some other file. Statuses: INPUT (names
 * file, line and field: no row of this version's, an experiment or mechanism
 * that it does not have, rows that belong into another file), IO, LIMIT,
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status result_read(const char *folder,
                                            const char *name, bool *ret_ours,
                                            struct result_table *ret_table,
                                            struct sotto_error *err);
void result_table_clear(struct result_table *table);

/* The run whose rows a table of accuracies has, as long as it lives. */
struct experiment_run result_table_run(const struct result_table *table);

#endif
