/*
 * mnist_data.c: the four files of MNIST, or of a set in its layout, and the
 * papers' splits of it.
 */
#include "experiment/tables/mnist_data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "table/gunzip.h"

#define IMAGES_MOST ((size_t)1 << 31)

static const char train_images[] = "train-images-idx3-ubyte";
static const char train_labels[] = "train-labels-idx1-ubyte";
static const char test_images[] = "t10k-images-idx3-ubyte";
static const char test_labels[] = "t10k-labels-idx1-ubyte";

/* ---- Files -------------------------------------------------------------- */

/* FOLDER/NAME, or FOLDER/NAME.gz if only that is there; the caller frees. */
static enum sotto_status
find_file(const char *folder, const char *name, char **ret_path,
          struct sotto_error *err)
{
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
                         "folder of the four IDX files",
                         name, name, host_shown(folder));
    }
    *ret_path = path.data;
    return SOTTO_STATUS_OK;
}

/* The hash of what the file holds, so that packing it changes nothing. */
static enum sotto_status
hash_file(const char *folder, const char *name,
          char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    char *path = NULL;
    uint8_t *data = NULL, *plain = NULL;
    size_t size = 0;
    enum sotto_status status = find_file(folder, name, &path, err);
    if (status == SOTTO_STATUS_OK) {
        status = host_file_read(path, IMAGES_MOST, &data, &size, err);
    }
    if (status == SOTTO_STATUS_OK && gunzip_detect(data, size)) {
        status =
            gunzip_bytes(data, size, IMAGES_MOST, path, &plain, &size, err);
    }
    if (status == SOTTO_STATUS_OK) {
        experiment_hash(plain != NULL ? plain : data, size, ret_hash);
    }
    free(plain);
    free(data);
    free(path);
    return status;
}

enum sotto_status
mnist_data_open(const char *folder, struct mnist_data *ret_data,
                char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err)
{
    static const char *const names[] = {train_images, train_labels, test_images,
                                        test_labels};
    char hashes[4 * EXPERIMENT_HASH_SIZE];
    size_t size = 0;
    struct mnist_data data = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (folder != NULL) {
        data.folder = host_text_copy(folder, strlen(folder));
        if (data.folder == NULL) {
            return host_fail_memory(err);
        }
    } else {
        status = sotto_dataset_find("mnist", &data.folder, err);
    }
    for (size_t i = 0; i < 4 && status == SOTTO_STATUS_OK; i++) {
        status = hash_file(data.folder, names[i], hashes + size, err);
        size += EXPERIMENT_HASH_SIZE - 1; /* over its NUL */
    }
    if (status == SOTTO_STATUS_OK) {
        experiment_hash(hashes, size, ret_hash);
    }
    if (status != SOTTO_STATUS_OK) {
        mnist_data_close(&data);
        return status;
    }
    *ret_data = data;
    return SOTTO_STATUS_OK;
}

void
mnist_data_close(struct mnist_data *data)
{
    sotto_table_free(data->train);
    sotto_table_free(data->test);
    free(data->folder);
    memset(data, 0, sizeof *data);
}

static enum sotto_status
read_one(const char *folder, const char *name, struct sotto_table **ret_table,
         struct sotto_error *err)
{
    char *path = NULL;
    enum sotto_status status = find_file(folder, name, &path, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_read(path, NULL, ret_table, err);
    }
    free(path);
    return status;
}

/* Images with their labels, a category, beside them. */
static enum sotto_status
read_pair(const char *folder, const char *images, const char *labels,
          struct sotto_table **ret_table, struct sotto_error *err)
{
    struct sotto_table *table = NULL, *label = NULL;
    enum sotto_status status = read_one(folder, images, &table, err);
    if (status == SOTTO_STATUS_OK) {
        status = read_one(folder, labels, &label, err);
    }
    if (status == SOTTO_STATUS_OK &&
        (sotto_table_kind(table, 0) != SOTTO_COLUMN_BYTES ||
         sotto_table_kind(label, 0) != SOTTO_COLUMN_NUMBER)) {
        status =
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "'%s' must hold images and '%s' labels", images, labels);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_set_category(label, 0, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_join(table, label, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(table);
        sotto_table_free(label);
        return status;
    }
    *ret_table = table;
    return SOTTO_STATUS_OK;
}

enum sotto_status
mnist_data_read(struct mnist_data *data, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (data->train == NULL) {
        status = read_pair(data->folder, train_images, train_labels,
                           &data->train, err);
    }
    if (data->test == NULL && status == SOTTO_STATUS_OK) {
        status =
            read_pair(data->folder, test_images, test_labels, &data->test, err);
    }
    return status;
}

/* ---- Splits ------------------------------------------------------------- */

/* Rows in two parts, the second the people's share. */
static enum sotto_status
split_two(size_t count, uint64_t seed, size_t **ret_rows, size_t sizes[2],
          struct sotto_error *err)
{
    static const double shares[] = {1 - MNIST_PEOPLE, MNIST_PEOPLE};
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
             struct mnist_split *split, struct sotto_error *err)
{
    size_t asked = (size_t)(MNIST_ASKED * (double)count + 0.5);
    asked = asked > 0 ? asked : 1;
    enum sotto_status status =
        sotto_table_select(train, row, count - asked, &split->reporting, err);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_select(train, row + count - asked, asked,
                                    &split->asked, err);
    }
    return status;
}

enum sotto_status
mnist_split_init(struct mnist_split *split, const struct mnist_data *data,
                 double aux_share, uint64_t seed, struct sotto_error *err)
{
    size_t *train = NULL, *test = NULL, of_train[2], of_test[2];
    size_t count = sotto_table_rows(data->train);
    struct mnist_split made = {0};
    enum sotto_status status = split_two(count, seed, &train, of_train, err);
    if (status == SOTTO_STATUS_OK) {
        status = split_two(sotto_table_rows(data->test), MNIST_TEST_SEED, &test,
                           of_test, err);
    }
    if (status == SOTTO_STATUS_OK) {
        size_t aux = (size_t)(aux_share * (double)count + 0.5);
        aux = aux < of_train[0] ? aux : of_train[0];
        status = sotto_table_select(data->train, train, aux, &made.aux, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_select(data->train, train + of_train[0],
                                    of_train[1], &made.people, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = split_people(train + of_train[0], of_train[1], data->train,
                              &made, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_table_select(data->test, test + of_test[0], of_test[1],
                                    &made.test, err);
    }
    free(train);
    free(test);
    if (status != SOTTO_STATUS_OK) {
        mnist_split_clear(&made);
        return status;
    }
    *split = made;
    return SOTTO_STATUS_OK;
}

void
mnist_split_clear(struct mnist_split *split)
{
    sotto_table_free(split->aux);
    sotto_table_free(split->people);
    sotto_table_free(split->test);
    sotto_table_free(split->reporting);
    sotto_table_free(split->asked);
    memset(split, 0, sizeof *split);
}
