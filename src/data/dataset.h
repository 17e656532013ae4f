/*
 * dataset.h: filling and checking the folder of a data set, whichever it is.
 * The public entries, for those known by name, are in sotto/sotto.h.
 */
#ifndef SOTTO_DATA_DATASET_H
#define SOTTO_DATA_DATASET_H

#include "sotto/sotto.h"

#define DATASET_FILES_MAX 16u

/*
 * The folder of a data set in the user's cache, which need not be there; the
 * caller frees it. Statuses: IO (nothing says where the cache is), MEMORY.
 */
SOTTO_CHECKED enum sotto_status
dataset_folder(const char *name, char **ret_folder, struct sotto_error *err);

/* What sotto_dataset_get does, into `folder`; and sotto_dataset_find. At most
   DATASET_FILES_MAX files. */
SOTTO_CHECKED enum sotto_status dataset_fill(const struct sotto_dataset *set,
                                             const char *folder,
                                             const char *from,
                                             const struct sotto_watch *watch,
                                             struct sotto_error *err);
SOTTO_CHECKED enum sotto_status dataset_check(const struct sotto_dataset *set,
                                              const char *folder,
                                              struct sotto_error *err);

#endif
