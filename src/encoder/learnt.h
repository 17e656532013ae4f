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

#include "channel/channel.h"
#include "encoder/analyst.h"
#include "encoder/encoder.h"
#include "nn/graph.h"
#include "schema/schema_fit.h"
#include "sotto/sotto.h"

#define LEARNT_LAYERS_MAX 16u /* of an encoder or decoder */

/* What every kind takes, at the front of its own settings as `common`. */
struct learnt_settings {
    double lambda; /* 0: not given */
    const char *label_channel;
    const char *channel; /* NULL: laplace */
    const char *delta;   /* NULL: not given */
    uint32_t d;
    uint32_t steps; /* 0: as suits the channel */
};

/* Their rows; the kinds differ in d, and one has no choice of it. */
/* clang-format off */
#define LEARNT_SETTINGS(own, d_initial)                                        \
    {.name = "d", SETTING_WHOLE, offsetof(struct own, common.d), 1,            \
     CHANNEL_D_MAX, d_initial, "numbers in the representation"},               \
    LEARNT_COMMON_SETTINGS(own)
#define LEARNT_COMMON_SETTINGS(own)                                            \
    {.name = "channel", SETTING_TEXT, offsetof(struct own, common.channel), 0, \
     0, "laplace", "the record's: laplace, gaussian or duchi", "CHANNEL",      \
     .unshared = true},                                                        \
    {.name = "delta", SETTING_TEXT, offsetof(struct own, common.delta), 0, 0,  \
     NULL,                                                                     \
     "with gaussian: the report's delta, a decimal\n"                          \
     "far below one in the number of people", "D", .unshared = true},          \
    LEARNT_LABEL_SETTINGS(own),                                                \
    {.name = "steps", SETTING_WHOLE, offsetof(struct own, common.steps), 1,    \
     CHANNEL_L_MAX, NULL,                                                      \
     "the radius of the channel's domain, in whole\n"                          \
     "numbers (4096; with gaussian 256)", .late = true}
/* Of these, what a kind takes whose reports are codes. */
#define LEARNT_LABEL_SETTINGS(own)                                             \
    {.name = "lambda", SETTING_NUMBER, offsetof(struct own, common.lambda),    \
     0.000001, 0.999999, NULL,                                                 \
     "the record's share of epsilon, the rest is the\n"                        \
     "label's (0.7)", .late = true},                                           \
    {.name = "label-channel", SETTING_TEXT,                                    \
     offsetof(struct own, common.label_channel), 0, 0, "flip",                 \
     "the label's: flip or subset", "CHANNEL", .late = true}
/* clang-format on */

struct host_pool;

struct learnt {
    const struct encoder_job *job;
    struct learnt_settings set; /* defaults filled in */
    struct schema_choice choice;
    struct schema schema;
    size_t label; /* of the chosen columns; SIZE_MAX: none */
    uint64_t eps, eps_x, eps_y;
    const struct channel *channel; /* of the record */
    uint64_t delta;                /* 0: the channel takes none */
    struct analyst_block *block;
    size_t blocks;
    float *x;    /* n rows of width: people's records, wiped at the end */
    float *gain; /* width: x is the device's times this, of variance 1 where it
                    is of numbers; NULL, where a kind is not robust: 1 */
    size_t n, width;
    struct host_pool *pool;
    struct tensor_backend *backend;
};

/* Checks channel and delta against each other, and sets the channel's own
   defaults. Statuses: USAGE, BUDGET, FORMAT, LIMIT. */
SOTTO_CHECKED enum sotto_status
learnt_settings_check(struct learnt_settings *set, struct sotto_error *err);

/* Checks the options, fits the columns, fills x, starts the job's threads;
   `job` must outlive it. Clear it in any case. Statuses: USAGE, BUDGET, FORMAT,
   LIMIT, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status learnt_begin(struct learnt *learnt,
                                             const struct encoder_job *job,
                                             const struct learnt_settings *set,
                                             struct sotto_error *err);
void learnt_clear(struct learnt *learnt);

#define LEARNT_KEY_SIZE 65u

/*
 * Hashes all that trained weights depend on: the data, the settings in `own`
 * but the late ones, `algorithm`, which a kind counts up with every change
 * after which the same settings give other weights, and `version`, the
 * program's. Another run's checkpoint has another key, and another program's,
 * whose steps may be other ones: neither is gone on from. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status learnt_key(const struct learnt *learnt,
                                           const void *own, unsigned algorithm,
                                           const char *version,
                                           char ret_key[LEARNT_KEY_SIZE],
                                           struct sotto_error *err);

/* A trained graph's layers as a device gets them, in one block of floats. */
struct learnt_layers {
    struct layer layer[LEARNT_LAYERS_MAX];
    size_t count;
    float *memory; /* to be freed */
};
/* The last layer's outputs are multiplied by `scale`, and what goes into the
   first by `gain`, unless it is NULL: then the first is dense. Statuses:
   MEMORY.
 */
SOTTO_CHECKED enum sotto_status
learnt_layers_init(struct learnt_layers *layers, const struct nn_graph *graph,
                   const float *gain, double scale, struct sotto_error *err);

/* What training came to. */
struct learnt_result {
    const struct layer *encoder; /* x to z, the unit ball its domain; or to the
                                    scores of codes */
    size_t encoder_layers;
    size_t codes; /* of these scores, of which the largest goes through flip; 0:
                     there are none */
    const float *representation; /* of codes: what goes into the layer of the
                                    scores, of every row */
    const struct layer *decoder; /* z likewise, or a code's indicator, to x */
    size_t decoder_layers;
    const struct analyst_block *block; /* what the decoder's outputs are */
    size_t blocks;
    bool at_eps; /* the decoder is for eps_x, and no other */
    const json_t *facts;
    const char *task; /* what it was learnt for, in a line for people: columns,
                         or a model; NULL: the record itself */
};

/*
 * Composes the mechanism, runs every row through it as a device would, and
 * writes both files where the job wants them. Statuses: LIMIT, USAGE, MEMORY,
 * IO, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
learnt_finish(const struct learnt *learnt, const struct learnt_result *result,
              struct sotto_error *err);

#endif
