/*
 * row_store.h: the rows of an experiment, in a CSV file that only grows.
 *
 * A row is on the disk before anyone hears of it. A program killed while it
 * writes leaves half a line at the end, which the next one cuts off; so the
 * file always holds whole rows and nothing else. Rows are found by their key,
 * which is the text of their first fields: everything that decides a row.
 */
#ifndef SOTTO_EXPERIMENT_ROW_STORE_H
#define SOTTO_EXPERIMENT_ROW_STORE_H

#include "sotto/sotto.h"

/* What decides a row. Texts are the caller's. */
struct row_key {
    const char *experiment, *mechanism, *level;
    double aux_share, eps;
    uint32_t trial, draw;
    uint64_t seed;
    const char *setting;
    const char *data; /* SHA-256 */
    const char *version;
};

/* What it came to, and who made it. */
struct row_value {
    double measured; /* the accuracy, or what else the store is of */
    double seconds;
    const char *command, *commit; /* "" if not said; never NULL */
    const char *note;             /* likewise */
};

struct row_store;

/*
 * Opens FOLDER/NAME.csv, making it if it is not there, and cuts off half a row
 * at its end. `measure` names what is measured, as its column does. One of
 * accuracies from before there were notes is given the column. Statuses: IO,
 * INPUT (it holds something else: names the line), LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
row_store_open(const char *folder, const char *name, const char *measure,
               struct row_store **ret_store, struct sotto_error *err);
void row_store_close(struct row_store *store);

/* The row of that key, as long as the store is open; NULL: not there. */
const struct row_value *row_store_find(const struct row_store *store,
                                       const struct row_key *key);

/* Appends a row and flushes it to the disk; `ret_value`, if not NULL, is then
   what row_store_find returns. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
row_store_add(struct row_store *store, const struct row_key *key,
              const struct row_value *value, const struct row_value **ret_value,
              struct sotto_error *err);

#endif
