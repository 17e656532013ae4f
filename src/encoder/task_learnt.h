/*
 * task_learnt.h: what the files of the learnt task-aware mechanism share. The
 * mathematics: docs/task-learnt.md.
 *
 *     x --encoder--> h --nu--> phi --+ b noise--> z --decoder--> x^ --f--> y^
 *
 * The task function f is fixed; the loss is of y^ against y, which is f(x) or
 * what the auxiliary records say, and where asked for of x^ against x.
 *
 * Letters: n rows of a batch, d entries of z, width entries of x, out entries
 * of y.
 */
#ifndef SOTTO_ENCODER_TASK_LEARNT_H
#define SOTTO_ENCODER_TASK_LEARNT_H

#include "encoder/learnt_channel.h"
#include "nn/arena.h"
#include "nn/graph.h"
#include "nn/train.h"

/* Entries of y, or of x, beside one another, whose errors count `weight` times:
   gaussian, (a - y)^2 summed; categorical, the cross-entropy of the softmax of
   a and the distribution y; bernoulli, that of the logits a and y in [0, 1]. */
struct task_block {
    enum analyst_likelihood likelihood;
    size_t from, count;
    double weight;
};

/* ---- task_learnt_net.c: the networks, and what one batch does to them ------
 */

/* What a net is made of. Layers whose weights are NULL begin by lot. */
struct task_shape {
    size_t width, d, out;
    const struct layer *encoder, *decoder, *function;
    size_t encoders, decoders;
    size_t functions;               /* 0: y^ is x^, and out is width */
    const struct task_block *block; /* of y^ */
    size_t blocks;
    const struct task_block *rebuilt; /* of x^ */
    size_t rebuilts;
    enum channel_domain domain; /* that h is clipped to; its noise */
    double l;                   /* its radius; 0: h is not clipped */
    double b; /* scale of the noise, 2l / eps for laplace; 0: there is none.
                 Any eps: what a channel allows is not asked here */
    uint64_t seed;
    size_t batch; /* the most rows of a step */
};

struct task_net {
    struct tensor_backend *backend;
    struct task_shape shape; /* the blocks are the caller's, the layers gone */
    struct nn_arena arena;   /* of encoder, then decoder */
    struct nn_graph encoder, decoder;
    struct nn_arena function_arena; /* nothing moves it */
    struct nn_graph function;
    size_t b;          /* row of the arena, fixed */
    size_t decoder_at; /* where the decoder's floats begin */
    size_t reserved;
    float *x, *y, *dx, *phi, *noise, *z, *dz, *scratch;
    void *memory;
    size_t floats;
};

/* The blocks in `shape` must outlive the net, the layers need not. Statuses:
   MEMORY, LIMIT, INPUT (layers that do not fit together). */
SOTTO_CHECKED enum sotto_status task_net_init(struct task_net *net,
                                              const struct task_shape *shape,
                                              struct tensor_backend *backend,
                                              struct sotto_error *err);
void task_net_clear(struct task_net *net);
/* The noise's scale as it stands, and another one. */
double task_net_b(const struct task_net *net);
void task_net_set_b(struct task_net *net, double b);
/* Another radius; 0: no clip. */
void task_net_set_l(struct task_net *net, double l);
/* Scales the encoder's last layer so that the mean of |h|, in the domain's
   norm, over n rows of `all` is `share` of l: a record far outside has hardly a
   gradient.
 */
void task_net_center(struct task_net *net, const float *all,
                     const uint32_t *row, size_t n, double share);
/* h of n rows, before the clip. */
void task_net_codes(struct task_net *net, const float *x, size_t n,
                    float *ret_h);
/* y^ of n rows of `all`, under the noise number `draw`. */
void task_net_answers(struct task_net *net, const float *all,
                      const uint32_t *row, size_t n, uint32_t draw,
                      float *ret_y);

/* What the decoder's last layer takes of n rows (at most net->reserved) of
   `all`, under the noise number `draw`: `ret_width` numbers each, until the
   next call. */
const float *task_net_features(struct task_net *net, const float *all,
                               const uint32_t *row, size_t n, uint32_t draw,
                               size_t *ret_width);

/* Sums over records. */
struct task_sums {
    double loss, rows;
    double clipped; /* records outside the ball */
};

/* Puts the weights that layers have in place of a graph's own. */
void task_take_weights(const struct nn_graph *graph, const struct layer *layer);
/*
 * The blocks' losses of n rows of width, summed; `da` is set to `scale` times
 * their gradient, 0 for what is in no block. `scratch` has room for three such
 * matrices.
 */
double task_loss(struct tensor_backend *backend, const struct task_block *block,
                 size_t blocks, size_t n, size_t width, const float *a,
                 const float *y, double scale, float *scratch, float *da);

/* n rows (at most net->reserved) of x and y, their numbers in `row`, under the
   noise that (seed, draw, row) decide: adds to `sums`, and with `training` sets
   the arena's gradients to those of the batch's mean loss. */
void task_net_run(struct task_net *net, const float *x, const float *y,
                  const uint32_t *row, size_t n, uint32_t draw, bool training,
                  struct task_sums *sums);

/* ---- task_learnt_begin.c: where a net begins -------------------------------
 */

#define TASK_BEGIN_WIDTH_MAX 2048u /* of x: wider ones begin by lot */

struct task_data {
    const float *x, *y;         /* rows of width, and of out */
    const uint32_t *row, *held; /* those that train, and that only score */
    size_t rows, helds;
};

/*
 * Begins with the closed form of the task made linear at every row: a linear
 * encoder tells the directions that the answers hang on most; its codes lie
 * within the ball; the decoder's last layer is the least squares back to x.
 * From weights by lot a net may fall into the saddle where nothing is told.
 * Needs l > 0. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status task_net_begin(struct task_net *net,
                                               const struct task_data *data,
                                               struct sotto_error *err);

/* ---- task_learnt_train.c: the epochs ---------------------------------------
 */

/* How a net is trained. What a mechanism's has at 0 is for experiments. */
struct task_plan {
    double rate;
    enum nn_schedule schedule;
    uint32_t epochs, batch, patience;
    uint32_t draws; /* of noise, for a score; 0: 1 */
    uint64_t stream;
    const char *checkpoint, *key;
    const char *what;
    const struct sotto_watch *watch;
    uint64_t done, total; /* steps: see nn/train.h */
    /* As in the paper: */
    bool turns;      /* a step of the encoder, then one of the decoder, each by
                        a gradient of its own; else both move at once */
    bool frozen;     /* the encoder stays as it is */
    double eta;      /* eta |theta_e|^2 is added to the loss */
    uint32_t period; /* steps before noise is drawn, and measured, again; 0: in
                        every epoch, so that each step of a row has its own */
    double measured; /* b is this times the largest L1 distance of two training
                        rows' codes: UNSOUND, the data decides; 0: b stays */
};

struct task_trained {
    uint64_t epochs;
    double loss, held; /* mean of the rows that train, and that score */
    double clipped;    /* share of all rows */
    bool resumed;
};

/* What of a plan is the training loop's. */
struct nn_plan task_plan_nn(const struct task_plan *plan, uint64_t seed);

/* Trains the net from the weights it has, with fresh moments, or goes on from
   the plan's checkpoint. With rows that score and `patience` the best weights
   are kept. Statuses: nn_train's. */
SOTTO_CHECKED enum sotto_status task_net_train(struct task_net *net,
                                               const struct task_data *data,
                                               const struct task_plan *plan,
                                               struct task_trained *ret_trained,
                                               struct sotto_error *err);
/* The mean loss over rows and `draws` noises that no training sees. */
double task_net_loss(struct task_net *net, const struct task_data *data,
                     const uint32_t *row, size_t rows, uint32_t draws);
/* The largest L1 distance of two of these rows' codes, before the clip: what
   the paper's Algorithm 1 takes for the sensitivity. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
task_net_distance(struct task_net *net, const float *x, const uint32_t *row,
                  size_t rows, double *ret_distance, struct sotto_error *err);

/* ---- task_learnt_function.c: the task function ----------------------------
 */

/* A function of x: layers, by lot where they have no weights; and what its
   outputs are. */
struct task_function_shape {
    size_t width, out;
    const struct layer *layer;
    size_t layers;
    const struct task_block *block; /* of y */
    size_t blocks;
    uint64_t seed;
};

/* Layers with weights, in `room`. */
struct task_function {
    struct layer layer[LEARNT_LAYERS_MAX];
    size_t layers;
    float *room; /* to be freed: task_function_clear */
};

/* Trains a function to y by the blocks' losses, without noise. Of the plan what
   is about noise and encoders does not count. Clear the function in any case.
   Statuses: nn_train's, LIMIT. */
SOTTO_CHECKED enum sotto_status
task_function_train(struct task_function *function,
                    const struct task_function_shape *shape,
                    const struct task_data *data, const struct task_plan *plan,
                    struct tensor_backend *backend,
                    struct task_trained *ret_trained, struct sotto_error *err);
void task_function_clear(struct task_function *function);
/* What a function with weights says of n rows, as losses take it: the softmax
   of a categorical block, probabilities of a bernoulli one. Statuses: MEMORY,
   LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
task_function_run(const struct task_function_shape *shape, const float *x,
                  size_t n, struct tensor_backend *backend, float *ret_y,
                  struct sotto_error *err);

/* The mean loss of what it says of the data's rows that train. Statuses:
   MEMORY, LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
task_function_loss(const struct task_function_shape *shape,
                   const struct task_data *data, struct tensor_backend *backend,
                   double *ret_loss, struct sotto_error *err);

/* ---- task_learnt_aim.c: what the task is ----------------------------------
 */

/* A column that counts `weight` times. */
struct task_column {
    char *column, *text; /* the latter as it was given */
    double weight;
};

#define TASK_WORDS_SIZE 160u

struct task_aim {
    struct task_column *target, *weighted;
    size_t targets, weighteds;
    struct schema schema; /* of the targets */
    const char **drop;    /* the options', and the targets but the label */
    size_t drops;
    float *y;         /* rows of out: the targets, as their columns tell them */
    bool *known;      /* of each row: no target is missing */
    size_t rows, out; /* out 0: neither targets nor a model */
    struct task_block *block, *rebuilt; /* of y, and of x */
    size_t blocks, rebuilts;
    char words[TASK_WORDS_SIZE]; /* what the task is, in plain ASCII */
};

/* Reads COL and COL=W of the setting target, COL=W,... of weights. Clear it in
   any case. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
task_aim_read(struct task_aim *aim, const struct sotto_train_options *options,
              struct sotto_error *err);
/* Finds the targets in the table, and lists what x leaves out for them.
   Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
task_aim_find(struct task_aim *aim, const struct sotto_table *table,
              const struct sotto_train_options *options,
              struct sotto_error *err);
/* Fills y and the blocks: of the targets, or of a model's classes, whose y is
   left for its function. Statuses: USAGE, INPUT, MEMORY. */
SOTTO_CHECKED enum sotto_status task_aim_fill(struct task_aim *aim,
                                              const struct learnt *learnt,
                                              size_t classes,
                                              struct sotto_error *err);
/* The least mean loss, over these rows, of answers that do not depend on the
   record. */
double task_aim_constant(const struct task_aim *aim,
                         const struct learnt *learnt, const float *y,
                         const uint32_t *row, size_t rows);
void task_aim_clear(struct task_aim *aim);
/* Ends words that would have had `size` bytes: what was cut says "...", and
   what a mechanism's note does not take becomes "?". */
void task_words_end(char words[TASK_WORDS_SIZE], size_t size);

/* ---- task_learnt_make.c: from a table to the best net ----------------------
 */

#define TASK_RADIUS                                                            \
    1.0 /* of the domain nets learn in: the device's own                       \
         */
#define TASK_TRIED_MAX 8u

struct task_settings {
    struct learnt_settings common;
    size_t targets, weighteds; /* how many are given */
    const char *model;         /* NULL: none */
    bool truth;
    struct setting_list hidden;      /* the encoder's layers, the decoder's
                                        backwards; none: linear ones */
    struct setting_list task_hidden; /* none: one of 1.5 times the inputs */
    double eps_pre;                  /* 0: a report's */
    uint32_t epochs;                 /* 0: by the rows */
    uint32_t task_epochs;            /* likewise */
    uint32_t batch, patience;
    double rate, validation;
    uint64_t seed;
};

/* A mechanism in the making. */
struct task_making {
    const struct encoder_job *job;
    struct task_settings *set;
    struct task_aim aim;
    struct encoder_function model; /* zeros: none */
    struct task_function function; /* f, where it is trained */
    struct sotto_train_options options;
    struct encoder_job own; /* the job, with these options */
    struct learnt learnt;
    uint32_t *row;   /* those that only score, then those that train */
    uint32_t *known; /* likewise, without those whose targets are missing */
    size_t held, rows, known_held, known_rows;
    float *answers; /* f(x) of every row; NULL: y is the targets, or x */
    double clear, constant; /* losses of f(x), as if a report were the record,
                               and of answers without any report */
    uint8_t key[LEARNT_KEY_SIZE / 2]; /* of the task */
    size_t trainings;                 /* begun: each has a checkpoint */
    struct task_trained function_trained;
    struct task_net net[2]; /* the best so far, and another */
    size_t best;
    struct task_trained trained; /* the best */
    bool resumed;
    double tried[TASK_TRIED_MAX], losses[TASK_TRIED_MAX]; /* d, and its loss */
    size_t tries;
};

/* Makes x and y of the job's table, trains the task function where there are
   targets, and nets. The settings are checked; clear the rest in any case.
   Statuses: those of learnt_begin and of nn_train. */
SOTTO_CHECKED enum sotto_status task_making_run(struct task_making *making,
                                                struct sotto_error *err);
/* Removes the checkpoints but the first, which is the caller's. */
void task_making_forget(const struct task_making *making);
void task_making_clear(struct task_making *making);

#endif
