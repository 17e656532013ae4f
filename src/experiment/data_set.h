/*
 * data_set.h: a data set as experiments see it: its files, its records, and how
 * they are split between the trainer, the people and the test.
 *
 * A data set is one struct data_set in a file of tables/, with its experiments.
 */
#ifndef SOTTO_EXPERIMENT_DATA_SET_H
#define SOTTO_EXPERIMENT_DATA_SET_H

#include "experiment/experiment.h"

struct data_records;

struct data_set {
    const char *name;         /* of the cache, as sotto data lists it */
    const char *const *files; /* all that it is made of; ends with NULL */
    const char *form;         /* of the files: "the four IDX files" */
    /* Reads data->train and data->test: records, and behind them the category
       "label". Statuses: INPUT, IO, LIMIT, MEMORY. */
    enum sotto_status (*read)(struct data_records *data,
                              struct sotto_error *err);
    /* How its mechanisms are trained and learnt from: trial_settings.h. Both
       end with a row without an epsilon. */
    const struct trial_encoder *encoders;
    const struct trial_fit *fits;
};

/* Where the files are; the tables are read when they are first needed. */
struct data_records {
    const struct data_set *set;
    char *folder;
    struct sotto_table *train, *test;
};

/*
 * The folder given, or the cache's (NULL), and a hash of all files: the SHA-256
 * of their own in a row (hexadecimal, in the set's order), each unpacked if it
 * is gzipped. Statuses: INPUT (a file is not there: says which), IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
data_records_open(const struct data_set *set, const char *folder,
                  struct data_records *ret_data,
                  char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err);
void data_records_close(struct data_records *data);

/* Reads the tables if they are not read yet. Statuses: as the set's read. */
SOTTO_CHECKED enum sotto_status data_records_read(struct data_records *data,
                                                  struct sotto_error *err);

/* For a set's read: one of its files, also gzipped; and a file of images with
   the labels of another beside them, as a category. */
SOTTO_CHECKED enum sotto_status data_file_read(const struct data_records *data,
                                               const char *name,
                                               struct sotto_table **ret_table,
                                               struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
data_images_read(const struct data_records *data, const char *images,
                 const char *labels, struct sotto_table **ret_table,
                 struct sotto_error *err);

/*
 * One trial's splits (P0 4.1, D.1.1): of the training records the experiment's
 * largest auxiliary share (three quarters) in a random order, of which the
 * first `aux_share` (of all) are auxiliary; the others are the people, the same
 * for every share. Of the test records as many as the people's share, the last
 * of one random order, whatever the trial, test the classifier; the others are
 * for finding settings, and are used here for nothing.
 */
struct data_split {
    struct sotto_table *aux, *people, *test;
    struct sotto_table *reporting, *asked; /* the people, 9 to 1 (P0 D.1.1) */
};
SOTTO_CHECKED enum sotto_status
data_split_init(struct data_split *split, const struct data_records *data,
                const struct experiment *experiment, double aux_share,
                uint64_t seed, struct sotto_error *err);
/* split_novel.c: likewise, of the records that are not of the experiment's
   novel class, and with a label that says whether one is. Nobody is asked.
   Statuses: also INPUT (there are none of it, or no others). */
SOTTO_CHECKED enum sotto_status
data_split_novel(struct data_split *split, const struct data_records *data,
                 const struct experiment *experiment, double aux_share,
                 uint64_t seed, struct sotto_error *err);
void data_split_clear(struct data_split *split);

#define DATA_TEST_SEED 0u /* of every trial: what tests is never tuned on */

extern const struct data_set data_set_mnist;

#endif
