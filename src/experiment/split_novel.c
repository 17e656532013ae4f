/*
 * split_novel.c: P0's splits for a class that the mechanism never saw (P0 4.2
 * and D.1.2), with a label of two classes: "1" for that class, "0" for the
 * others. Of MNIST, with the class 9:
 *
 *     0 to 8 of the training images --random--> 8/9 auxiliary, unlabelled
 *                                               1/9 people, with all 9s
 *     0 to 8 of the test images     --random--> 1/9 test, with all 9s
 *
 * So among people, and at test, 9s are as many as the others.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/data_set.h"
#include "host/error.h"
#include "random/permute.h"

#define MIX_STREAM UINT64_C(0x6d69780000)

/* ---- Labels ------------------------------------------------------------- */

static bool
is_novel(const struct experiment *experiment, const struct sotto_table *table,
         size_t row)
{
    struct sotto_value label = sotto_table_cell(table, row, 1);
    size_t size = strlen(experiment->novel);
    return label.size == size &&
           memcmp(label.data, experiment->novel, size) == 0;
}

/* Those rows with the label of two classes; without an experiment: both by
   turns, since the trainer is told of the list of classes, and looks at
   nobody's. */
static enum sotto_status
relabel(const struct experiment *experiment, const struct sotto_table *from,
        const size_t *row, size_t count, struct sotto_table **ret_table,
        struct sotto_error *err)
{
    const char **label = calloc(count + 1, sizeof *label);
    struct sotto_table *table = NULL;
    enum sotto_status status =
        label != NULL ? sotto_table_select(from, row, count, &table, err)
                      : host_fail_memory(err);
    for (size_t i = 0; label != NULL && table != NULL && i < count; i++) {
        bool one = experiment != NULL ? is_novel(experiment, from, row[i])
                                      : i % 2 == 1;
        label[i] = one ? "1" : "0";
    }
    status = HOST_THEN(status, sotto_table_drop(table, 1, err));
    status =
        HOST_THEN(status, sotto_table_add_texts(table, "label", label, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = table;
    } else {
        sotto_table_free(table);
    }
    free(label);
    return status;
}

/* ---- Rows --------------------------------------------------------------- */

/* The rows of a table: `known` in random order, then `novel`. */
struct kinds {
    size_t *row;
    size_t known, novel;
};

static enum sotto_status
kinds_init(struct kinds *kinds, const struct experiment *experiment,
           const struct sotto_table *table, uint64_t seed,
           struct sotto_error *err)
{
    size_t n = sotto_table_rows(table), part = 0;
    static const double all = 1;
    size_t *known = calloc(n, sizeof *known), *order = calloc(n, sizeof *order);
    enum sotto_status status = SOTTO_STATUS_OK;
    *kinds = (struct kinds){.row = calloc(n, sizeof *kinds->row)};
    if (known == NULL || order == NULL || kinds->row == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        if (is_novel(experiment, table, i)) {
            kinds->row[n - ++kinds->novel] = i;
        } else {
            known[kinds->known++] = i;
        }
    }
    if (kinds->novel == 0 || kinds->known < 9) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "records of %s and of others are needed",
                           experiment->novel);
        goto done;
    }
    status = sotto_split_shares(kinds->known, &all, 1, seed, order, &part, err);
    for (size_t i = 0; i < kinds->known && status == SOTTO_STATUS_OK; i++) {
        kinds->row[i] = known[order[i]];
    }
done:
    free(known);
    free(order);
    return status;
}

/* Where the known begin that no trainer sees. */
static size_t
begin_people(const struct experiment *experiment, const struct kinds *kinds)
{
    return (size_t)(experiment->aux_share_most * (double)kinds->known + 0.5);
}

enum sotto_status
data_split_novel(struct data_split *split, const struct data_records *data,
                 const struct experiment *experiment, double aux_share,
                 uint64_t seed, struct sotto_error *err)
{
    struct data_split made = {0};
    struct kinds train = {0}, test = {0};
    size_t from, aux;
    enum sotto_status status =
        kinds_init(&train, experiment, data->train, seed, err);
    status = HOST_THEN(
        status, kinds_init(&test, experiment, data->test, DATA_TEST_SEED, err));
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    from = begin_people(experiment, &train);
    aux = (size_t)(aux_share * (double)train.known + 0.5);
    aux = aux < from ? aux : from;
    status = relabel(NULL, data->train, train.row, aux, &made.aux, err);
    if (status == SOTTO_STATUS_OK) {
        size_t count = train.known + train.novel - from;
        permute(train.row + from, sizeof *train.row, count, PERMUTE_DOWN, seed,
                MIX_STREAM);
        status = relabel(experiment, data->train, train.row + from, count,
                         &made.people, err);
    }
    if (status == SOTTO_STATUS_OK) {
        from = begin_people(experiment, &test);
        status = relabel(experiment, data->test, test.row + from,
                         test.known + test.novel - from, &made.test, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *split = made;
        memset(&made, 0, sizeof made);
    }
done:
    free(train.row);
    free(test.row);
    data_split_clear(&made);
    return status;
}
