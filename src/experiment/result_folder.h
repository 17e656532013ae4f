/*
 * result_folder.h: all tables of a folder of results.
 */
#ifndef SOTTO_EXPERIMENT_RESULT_FOLDER_H
#define SOTTO_EXPERIMENT_RESULT_FOLDER_H

#include "experiment/result_read.h"

/* All of a folder. */
struct result_folder {
    struct result_table *table; /* in the registry's order, of experiments and
                                   of mechanisms */
    size_t tables, table_room;
    char **other; /* names of .csv files that no experiment wrote, sorted */
    size_t others, other_room;
};

/* Reads every .csv file of a folder; cleared by the next. Statuses: those of
   result_read. */
SOTTO_CHECKED enum sotto_status
result_folder_read(const char *path, struct result_folder *ret_folder,
                   struct sotto_error *err);
void result_folder_clear(struct result_folder *folder);

#endif
