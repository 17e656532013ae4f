/*
 * record.h: learning where the collector holds the records: reports are about
 * the label alone, and a network on the record itself is fitted to them.
 *
 *     records --columns--> x --network--> p(y | x)
 *     reports ------------------------> t_i(y)      sum_i log sum_y t_i(y)
 *                                                   p(y | x_i): Eq. 12
 *
 * The network is the encoder of the model's own mechanism, whose outputs are
 * the logits; a model is that mechanism and nothing else. It never goes to a
 * device: it is what a model says of itself.
 */
#ifndef SOTTO_LEARN_RECORD_RECORD_H
#define SOTTO_LEARN_RECORD_RECORD_H

#include "learn/labels.h"
#include "learn/learner.h"
#include "mechanism/decompose.h"
#include "nn/graph.h"

extern const struct learner learner_record;

/* ---- record_match.c: whose report it is ---------------------------------- */

/*
 * Finds the row of `records` that each report is about. `keys` has the columns
 * "id", of reports, and one more, whose name and values are those of a column
 * of the records; NULL: row i is report i's. Statuses: INPUT about "records" or
 * "keys", MEMORY.
 */
SOTTO_CHECKED enum sotto_status
record_match(const struct sotto_report_reader *reader,
             const struct sotto_table *records, const struct sotto_table *keys,
             size_t *ret_row, struct sotto_error *err);
/* Finds the column of `keys` that is not "id". Statuses: INPUT. */
SOTTO_CHECKED enum sotto_status record_match_key(const struct sotto_table *keys,
                                                 size_t *ret_column,
                                                 struct sotto_error *err);

/* ---- record_net.c: a network on x ---------------------------------------- */

#define RECORD_LAYERS_MAX 24u
#define RECORD_HEAD 128u /* units between a representation and the classes */

/* What it is fitted to. */
struct record_data {
    float *x; /* n rows of width; scaled and put back where that helps */
    size_t n, width;
    struct sotto_image image; /* all 0: x is none */
    const struct labels *labels;
    uint64_t seed;
    double validation; /* share of the reports that only score */
};

/* How it is trained. */
struct record_plan {
    double rate, decay;
    double views; /* strength of the images' distortions; 0: none */
    uint32_t epochs, batch;
    uint64_t stream; /* of the rows' order and the first weights */
    bool even;       /* the inputs are made even first; of dense layers alone */
    struct host_pool *pool;
    struct tensor_backend *backend;
    const struct sotto_watch *watch;
    const char *what;
};

/* Layers as a device runs them, weights in `room`. */
struct record_net {
    struct layer layer[RECORD_LAYERS_MAX];
    size_t layers;
    float *room;
};

struct record_fitted {
    uint64_t epochs;
    double log_p, validation; /* means over reports; validation 0: none */
};

/* Adds the layers that x begins with: convolutions for images of at least 8x8
   pixels, to a representation; or hidden ones. Then those of the classes.
   Their weights are not set. Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status
record_net_plan(struct record_net *net, const struct record_data *data,
                const struct learn_options *options, struct sotto_error *err);
/* Adds the hidden layer between a representation and the classes, and theirs.
   Statuses: LIMIT. */
SOTTO_CHECKED enum sotto_status record_net_add_head(struct record_net *net,
                                                    size_t classes,
                                                    struct sotto_error *err);
/* Trains the layers by Eq. 12, from the weights they have, or by lot where
   they have none; then they have those found. Clear the net in any case.
   Statuses: MEMORY, LIMIT, STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
record_net_train(struct record_net *net, const struct record_data *data,
                 const struct record_plan *plan,
                 struct record_fitted *ret_fitted, struct sotto_error *err);
/* What layers make of x, n rows of the last one's outputs. Statuses: MEMORY,
   LIMIT. */
SOTTO_CHECKED enum sotto_status
record_net_run(const struct layer *layer, size_t layers, const float *x,
               size_t n, size_t width, struct tensor_backend *backend,
               float *ret_z, struct sotto_error *err);
void record_net_clear(struct record_net *net);

/* ---- record_fit.c -------------------------------------------------------- */

enum sotto_status record_fit(struct sotto_model *model,
                             const struct learn_job *job,
                             struct sotto_fit_info *ret_info,
                             struct sotto_error *err);
/* How many classes a label's column has. */
size_t record_classes(const struct sotto_mechanism *mechanism, bool other);

#endif
