/*
 * result_folder.c: all tables of a folder of results, in one order.
 */
#include "experiment/result_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

#define ENDING ".csv"

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* By experiment, then by mechanism, then latent before feature, then by
   falling share. */
static int
compare_tables(const void *a, const void *b)
{
    const struct result_table *left = a, *right = b;
    const char *at, *about;
    int level = strcmp(right->rows[0].level, left->rows[0].level);
    if (left->experiment != right->experiment) {
        for (size_t i = 0; (at = sotto_experiment_at(i, &about)) != NULL; i++) {
            if (at == left->experiment->name || at == right->experiment->name) {
                return at == left->experiment->name ? -1 : 1;
            }
        }
    }
    if (left->mechanism != right->mechanism) {
        return left->mechanism < right->mechanism ? -1 : 1;
    }
    return level != 0
               ? level
               : (left->rows[0].aux_share < right->rows[0].aux_share) -
                     (left->rows[0].aux_share > right->rows[0].aux_share);
}

static bool
add_name(struct result_folder *folder, const char *name, size_t size)
{
    char *copy = host_text_copy(name, size);
    void *other = host_grow(folder->other, sizeof *folder->other,
                            folder->others, &folder->other_room);
    folder->other = other != NULL ? other : folder->other;
    if (other == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    folder->other[folder->others++] = copy;
    return true;
}

/* The names of all .csv files, without the ending, sorted. */
static enum sotto_status
list_names(const char *path, struct result_folder *folder,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    DIR *all = opendir(path);
    if (all == NULL) {
        return host_file_fail_read(err, path, errno);
    }
    for (struct dirent *at;
         status == SOTTO_STATUS_OK && (at = readdir(all)) != NULL;) {
        size_t size = strlen(at->d_name), ending = strlen(ENDING);
        if (at->d_name[0] != '.' && size > ending &&
            strcmp(at->d_name + size - ending, ENDING) == 0 &&
            !add_name(folder, at->d_name, size - ending)) {
            status = host_fail_memory(err);
        }
    }
    (void)closedir(all);
    if (folder->others > 0) {
        qsort(folder->other, folder->others, sizeof *folder->other,
              compare_names);
    }
    return status;
}

enum sotto_status
result_folder_read(const char *path, struct result_folder *ret_folder,
                   struct sotto_error *err)
{
    struct result_folder folder = {0};
    enum sotto_status status = list_names(path, &folder, err);
    size_t kept = 0;
    for (size_t i = 0; i < folder.others; i++) {
        char *name = folder.other[i];
        bool ours = false;
        void *table = status != SOTTO_STATUS_OK
                          ? NULL
                          : host_grow(folder.table, sizeof *folder.table,
                                      folder.tables, &folder.table_room);
        if (table != NULL) {
            folder.table = table;
            status = result_read(path, name, &ours,
                                 &folder.table[folder.tables], err);
        } else if (status == SOTTO_STATUS_OK) {
            status = host_fail_memory(err);
        }
        if (status == SOTTO_STATUS_OK && ours) {
            folder.tables++;
            free(name);
        } else {
            folder.other[kept++] = name;
        }
    }
    folder.others = kept;
    if (folder.tables > 0) {
        qsort(folder.table, folder.tables, sizeof *folder.table,
              compare_tables);
    }
    if (status != SOTTO_STATUS_OK) {
        result_folder_clear(&folder);
    }
    *ret_folder = folder;
    return status;
}

void
result_folder_clear(struct result_folder *folder)
{
    for (size_t i = 0; i < folder->tables; i++) {
        result_table_clear(&folder->table[i]);
    }
    for (size_t i = 0; i < folder->others; i++) {
        free(folder->other[i]);
    }
    free(folder->table);
    free(folder->other);
    memset(folder, 0, sizeof *folder);
}
