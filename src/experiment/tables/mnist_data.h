/*
 * mnist_data.h: the four files of MNIST, or of a set in its layout, and the
 * papers' splits of it.
 */
#ifndef SOTTO_EXPERIMENT_TABLES_MNIST_DATA_H
#define SOTTO_EXPERIMENT_TABLES_MNIST_DATA_H

#include "experiment/experiment.h"

/* Where the files are; the tables are read when they are first needed. */
struct mnist_data {
    char *folder;
    struct sotto_table *train, *test; /* columns "image" and "label" */
};

/*
 * The folder given, or the cache's (NULL), and a hash of all four files: the
 * SHA-256 of their own in a row (hexadecimal; training images, their labels,
 * test images, theirs), each unpacked if it is gzipped. Statuses: INPUT (a
 * file is not there: says which), IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
mnist_data_open(const char *folder, struct mnist_data *ret_data,
                char ret_hash[EXPERIMENT_HASH_SIZE], struct sotto_error *err);
void mnist_data_close(struct mnist_data *data);

/* Reads the tables if they are not read yet. Statuses: INPUT, IO, LIMIT,
   MEMORY. */
SOTTO_CHECKED enum sotto_status mnist_data_read(struct mnist_data *data,
                                                struct sotto_error *err);

/*
 * One trial's splits (P0 4.1, D.1.1): of the training images three quarters in
 * a random order, of which the first `aux_share` (of all) are auxiliary; the
 * last quarter are the people, the same for every share. Of the test images
 * the last quarter of one random order, whatever the trial, tests the
 * classifier; the others are for finding settings, and are used here for
 * nothing.
 */
struct mnist_split {
    struct sotto_table *aux, *people, *test;
    struct sotto_table *reporting, *asked; /* the people, 9 to 1 (P0 D.1.1) */
};
typedef enum sotto_status mnist_split_fn(struct mnist_split *split,
                                         const struct mnist_data *data,
                                         double aux_share, uint64_t seed,
                                         struct sotto_error *err);
SOTTO_CHECKED mnist_split_fn mnist_split_init;
/* mnist_split_novel.c: likewise, of the images of 0 to 8 `aux_share`, and with
   a label that says whether it is a 9. Nobody is asked. Statuses: also INPUT
   (no 9s, or nothing else). */
SOTTO_CHECKED mnist_split_fn mnist_split_novel;
void mnist_split_clear(struct mnist_split *split);

/* Of either set: people, and the classifier's test. Of the people: asked. */
#define MNIST_PEOPLE 0.25
#define MNIST_ASKED 0.1
#define MNIST_TEST_SEED 0u /* of every trial: what tests is never tuned on */
/* The class that no mechanism saw, and the share of the others that train. */
#define MNIST_NOVEL "9"
#define MNIST_NOVEL_AUX (8.0 / 9)

#endif
