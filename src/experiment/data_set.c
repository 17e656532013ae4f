/*
 * data_set.c: finding, hashing and reading a data set's files, and the papers'
 * splits of its records.
 */
#include "experiment/data_set.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/text.h"
#include "schema/column.h"

#define FILES_MOST 16u
#define ASKED 0.1 /* of the people */

/* ---- Files -------------------------------------------------------------- */

/* FOLDER/NAME, or FOLDER/NAME.gz if only that is there; the caller frees. */
static enum sotto_status
find_file(const struct data_records *data, const char *name, char **ret_path,
          struct sotto_error *err)
{
    const char *folder = data->folder;
    struct host_text path;
    host_text_init(&path, 65536);
    host_text_print(&path, "%s/%s", folder, name);
    if (!path.failed && access(path.data, R_OK) != 0) {
        host_text_print(&path, ".gz");
    }
    if (path.failed) {
        host_text_clear(&path);
        return host_fail_memory(err);
    }
    if (access(path.data, R_OK) != 0) {
        host_text_clear(&path);
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "there is no file '%s' (nor %s.gz) in '%s': name the "
                         "folder of %s",
                         name, name, host_shown(folder), data->set->form);
    }
    *ret_path = path.data;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
hash_file(const struct data_records *of, const char *name,
          char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    char *path = NULL;
    enum sotto_status status = find_file(of, name, &path, err);
    status = HOST_THEN(status, experiment_hash_file(path, ret_hash, err));
    free(path);
    return status;
}

enum sotto_status
data_records_open(const struct data_set *set, const char *folder,
                  struct data_records *ret_data,
                  char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    char hashes[FILES_MOST * EXPERIMENT_HASH_SIZE];
    size_t size = 0;
    struct data_records data = {.set = set};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (folder != NULL) {
        data.folder = host_text_copy(folder, strlen(folder));
        status = data.folder != NULL ? SOTTO_STATUS_OK : host_fail_memory(err);
    } else {
        status = sotto_dataset_find(set->name, &data.folder, err);
    }
    for (size_t i = 0;
         i < FILES_MOST && set->files[i] != NULL && status == SOTTO_STATUS_OK;
         i++) {
        status = hash_file(&data, set->files[i], hashes + size, err);
        size += EXPERIMENT_HASH_SIZE - 1; /* over its NUL */
    }
    if (status != SOTTO_STATUS_OK) {
        data_records_close(&data);
        return status;
    }
    experiment_hash(hashes, size, ret_hash);
    *ret_data = data;
    return SOTTO_STATUS_OK;
}

void
data_records_close(struct data_records *data)
{
    sotto_table_free(data->train);
    sotto_table_free(data->test);
    free(data->folder);
    memset(data, 0, sizeof *data);
}

enum sotto_status
data_file_read(const struct data_records *data, const char *name,
               struct sotto_table **ret_table, struct sotto_error *err)
{
    char *path = NULL;
    enum sotto_status status = find_file(data, name, &path, err);
    status = HOST_THEN(status, sotto_table_read(path, NULL, ret_table, err));
    free(path);
    return status;
}

enum sotto_status
data_images_read(const struct data_records *data, const char *images,
                 const char *labels, struct sotto_table **ret_table,
                 struct sotto_error *err)
{
    struct sotto_table *table = NULL, *label = NULL;
    enum sotto_status status = data_file_read(data, images, &table, err);
    status = HOST_THEN(status, data_file_read(data, labels, &label, err));
    if (status == SOTTO_STATUS_OK &&
        (sotto_table_width(table, 0) == 0 ||
         !schema_kind(sotto_table_kind(label, 0))->ranged)) {
        status =
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "'%s' must hold images and '%s' labels", images, labels);
    }
    status = HOST_THEN(status, sotto_table_set_category(label, 0, err));
    status = HOST_THEN(status, sotto_table_join(table, label, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        sotto_table_free(label);
        return status;
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

enum sotto_status
data_records_read(struct data_records *data, struct sotto_error *err)
{
    return data->train != NULL && data->test != NULL
               ? SOTTO_STATUS_OK
               : data->set->read(data, err);
}

/* ---- Splits ------------------------------------------------------------- */

/* Splits rows in two parts, the second the people's share. */
static enum sotto_status
split_two(const struct experiment *experiment, size_t count, uint64_t seed,
          size_t **ret_rows, size_t sizes[2], struct sotto_error *err)
{
    const double shares[] = {experiment->aux_share_most,
                             1 - experiment->aux_share_most};
    size_t *rows = calloc(count, sizeof *rows);
    if (rows == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status =
        sotto_split_shares(count, shares, 2, seed, rows, sizes, err);
    if (status != SOTTO_STATUS_OK) {
        free(rows);
        return status;
    }
    *ret_rows = rows;
    return SOTTO_STATUS_OK;
}

/* Those who report, and those who are asked to choose. */
static enum sotto_status
split_people(const size_t *row, size_t count, const struct sotto_table *train,
             struct data_split *split, struct sotto_error *err)
{
    size_t asked = (size_t)(ASKED * (double)count + 0.5);
    asked = asked > 0 ? asked : 1;
    enum sotto_status status =
        sotto_table_select(train, row, count - asked, &split->reporting, err);
    status = HOST_THEN(status, sotto_table_select(train, row + count - asked,
                                                  asked, &split->asked, err));
    return status;
}

enum sotto_status
data_split_init(struct data_split *split, const struct data_records *data,
                const struct experiment *experiment, double aux_share,
                uint64_t seed, struct sotto_error *err)
{
    size_t *train = NULL, *test = NULL, of_train[2], of_test[2];
    size_t count = sotto_table_rows(data->train);
    struct data_split made = {0};
    enum sotto_status status =
        split_two(experiment, count, seed, &train, of_train, err);
    status =
        HOST_THEN(status, split_two(experiment, sotto_table_rows(data->test),
                                    DATA_TEST_SEED, &test, of_test, err));
    if (status == SOTTO_STATUS_OK) {
        size_t aux = (size_t)(aux_share * (double)count + 0.5);
        aux = aux < of_train[0] ? aux : of_train[0];
        status = sotto_table_select(data->train, train, aux, &made.aux, err);
    }
    status =
        HOST_THEN(status, sotto_table_select(data->train, train + of_train[0],
                                             of_train[1], &made.people, err));
    status = HOST_THEN(status, split_people(train + of_train[0], of_train[1],
                                            data->train, &made, err));
    status = HOST_THEN(status, sotto_table_select(data->test, test + of_test[0],
                                                  of_test[1], &made.test, err));
    free(train);
    free(test);
    if (status != SOTTO_STATUS_OK) {
        data_split_clear(&made);
        return status;
    }
    *split = made;
    return SOTTO_STATUS_OK;
}

void
data_split_clear(struct data_split *split)
{
    sotto_table_free(split->aux);
    sotto_table_free(split->people);
    sotto_table_free(split->test);
    sotto_table_free(split->reporting);
    sotto_table_free(split->asked);
    memset(split, 0, sizeof *split);
}
