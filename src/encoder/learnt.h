/*
 * learnt.h: what learnt mechanisms have in common: auxiliary rows as vectors x,
 * and, once there are an encoder and a decoder, the two files.
 *
 *     table --columns fitted--> schema --the device's own--> x     learnt_begin
 *     encoder, decoder --> M.sotto, prior --> M.analyst learnt_finish
 *
 * The auxiliary data gets no guarantee, and the mechanism says so.
 */
#ifndef SOTTO_ENCODER_LEARNT_H
#define SOTTO_ENCODER_LEARNT_H

#include "encoder/analyst.h"
#include "encoder/schema_fit.h"
#include "sotto/sotto.h"

#define LEARNT_LAYERS_MAX 16u /* of an encoder or decoder */

/* What every kind takes. */
struct learnt_options {
    const char *kind; /* "vlm": the name, too, if there is none */
    const char *eps;
    double lambda; /* 0: 0.7 */
    const char *label;
    const char *label_channel; /* NULL: "flip" */
    const char *name, *campaign;
    const char *const *drop;
    size_t drops;
    size_t d;       /* 0: 8 */
    uint32_t steps; /* 0: 4096 */
    unsigned threads;
    struct sotto_watch watch;
};

/* The same from the options of a kind, which have them by these names. */
#define LEARNT_OPTIONS(word, given)                                            \
    {                                                                          \
        .kind = (word), .eps = (given)->eps, .lambda = (given)->lambda,        \
        .label = (given)->label, .label_channel = (given)->label_channel,      \
        .name = (given)->name, .campaign = (given)->campaign,                  \
        .drop = (given)->drop, .drops = (given)->drops, .d = (given)->d,       \
        .steps = (given)->steps, .threads = (given)->threads                   \
    }

struct learnt {
    struct learnt_options options; /* defaults filled in */
    const struct sotto_table *table;
    struct schema_choice choice;
    struct compose_column *column;
    size_t label; /* of the chosen columns; SIZE_MAX: none */
    uint64_t eps, eps_x, eps_y;
    struct analyst_block *block;
    size_t blocks;
    float *x; /* n rows of width: people's records, wiped at the end */
    size_t n, width;
};

/* Checks the options, fits the columns, fills x. Clear it in any case.
   Statuses: USAGE, BUDGET, FORMAT, LIMIT, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status learnt_begin(struct learnt *learnt,
                                             const struct sotto_table *table,
                                             const struct learnt_options *given,
                                             struct sotto_error *err);
void learnt_clear(struct learnt *learnt);

/* What training came to. */
struct learnt_result {
    const struct layer *encoder; /* x to z, the unit ball its domain */
    size_t encoder_layers;
    const struct layer *decoder; /* z likewise, to x */
    size_t decoder_layers;
    const struct analyst_block *block; /* what the decoder's outputs are */
    size_t blocks;
    const json_t *facts;
};

/*
 * Composes the mechanism, runs every row through it as a device would, and
 * writes both files; `analyst_path` and `ret_mechanism` may be NULL. Statuses:
 * LIMIT, USAGE, MEMORY, IO, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
learnt_finish(const struct learnt *learnt, const struct learnt_result *result,
              const char *path, const char *analyst_path,
              struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

#endif
