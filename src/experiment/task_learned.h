/*
 * task_learned.h: a task that is a network, on records split in two, and the
 * losses of the methods that P2 compares with learnt encoders and decoders
 * (Algorithm 1, appendix A.7 and A.8).
 *
 *     clean auxiliary rows --train--> task function f, then fixed
 *     x --encoder, clip, noise, decoder--> x^ --f--> y^    against the true y
 *
 * Losses are of test rows under noise that is drawn, many times a row; those of
 * codes are exact.
 */
#ifndef SOTTO_EXPERIMENT_TASK_LEARNED_H
#define SOTTO_EXPERIMENT_TASK_LEARNED_H

#include "encoder/task_learnt.h"
#include "experiment/study.h"

/* What a table says of its task. */
struct task_learned_spec {
    enum analyst_likelihood likelihood; /* of y^: gaussian or categorical */
    uint32_t function_hidden; /* units of f's hidden layer, ReLU; 0: f is linear
                               */
    bool function_relu;       /* ReLU behind f, too */
    bool paper_relu;          /* likewise in the runs as in the paper */
    uint32_t function_epochs, function_batch; /* 0: all rows at once */
    uint32_t hidden;            /* units of encoder and decoder; 0: linear */
    enum activation activation; /* of these */
    const size_t *sizes;        /* Z that are tried, rising, 0 at the end */
    uint32_t steps;             /* of a training of ours, of 64 rows */
    double rate;                /* of it */
    size_t paper_z;
    double eta;
    uint32_t paper_batch,
        paper_epochs;      /* a step of encoder and of decoder for
                              each batch of an epoch; 0 rows: all */
    uint32_t paper_period; /* steps before noise is measured and drawn anew */
    uint32_t clear_epochs; /* of the privacy-agnostic encoder, without noise */
};

/* x and y: `rows` rows of width and of out, the first `aux` auxiliary. `all` is
   x scaled as in the paper, by test rows too. Taken over by init, whatever
   comes of it. */
struct task_learned_data {
    size_t rows, aux, width, out;
    float *x, *all, *y;
};

struct task_learned;

/* Trains the task functions: one on all auxiliary rows; one as in the paper;
   and for codes one without each of four parts, so that there is an honest
   f(x) of every auxiliary row. Statuses: MEMORY, LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
task_learned_new(const struct task_learned_spec *spec,
                 struct task_learned_data *data, uint64_t seed,
                 struct task_learned **ret_learned, struct sotto_error *err);
void task_learned_free(struct task_learned *learned);

/* The losses of f itself on test rows: of records in the clear, and of the best
   answer without any report. */
void task_learned_bounds(const struct task_learned *learned, double *ret_clear,
                         double *ret_constant);

/* Makes the nets measured from now on as another spec says, whose task function
   must be the same. The spec must outlive its use. */
void task_learned_set_nets(struct task_learned *learned,
                           const struct task_learned_spec *spec);

/*
 * Measures the loss of the point's method, by its name:
 *
 *     task-aware           encoder and decoder learnt without noise, centred,
 *                          then both under the clip and fresh noise; Z and
 *                          where codes begin by auxiliary rows held out
 *     task-codes           cells of f(x), the decoder learnt from true y
 *     task-agnostic        x itself, centred and clipped, decoder learnt
 *     privacy-agnostic     encoder learnt without noise, centred and clipped,
 *                          decoder learnt under noise; Z and radius chosen;
 *                          privacy-agnostic-3 and -10: Z is the paper's
 *
 * and as Algorithm 1 has them, unsound: unsound-aware, unsound-agnostic,
 * unsound-privacy-agnostic, with -code behind for their code's noise.
 * Statuses: USAGE (no such method), MEMORY, LIMIT, INPUT.
 */
SOTTO_CHECKED enum sotto_status task_learned_measure(
    struct task_learned *learned, const struct study_point *point,
    struct study_outcome *ret_outcome, struct sotto_error *err);

/* Reads columns of a CSV table into data->x (scaled from 0 to 1 over auxiliary
   rows) and data->all (over all rows); the first 70% of rows are auxiliary.
   `width` columns from `from` on, or a message that names the line. */
SOTTO_CHECKED enum sotto_status
task_learned_read(const struct sotto_table *table, size_t from, size_t width,
                  struct task_learned_data *data, struct sotto_error *err);
void task_learned_data_clear(struct task_learned_data *data);

/* Texts for the tables' rows. */
#define LEARNED_AWARE_IS                                                       \
    "encoder and decoder learnt without noise, then under the clip and fresh " \
    "noise at every step; "                                                    \
    "Z by auxiliary rows held out"
#define LEARNED_CODES_IS                                                       \
    "which of k cells of the task function's answer; k and the channel by "    \
    "auxiliary rows held out, the decoder learnt from what is true"
#define LEARNED_AGNOSTIC_IS                                                    \
    "the record itself, centred and clipped at a radius of its own, decoder "  \
    "learnt under noise"
#define LEARNED_PRIVACY_IS                                                     \
    "encoder learnt without noise, then centred and clipped at a radius of "   \
    "its own, decoder learnt under noise; Z by auxiliary rows held out"
#define LEARNED_PRIVACY_Z_IS "the same with the paper's Z"
#define ALGORITHM_IS                                                           \
    "Algorithm 1: nothing is clipped, and the sensitivity is the largest "     \
    "distance between test rows' codes"
#define ALGORITHM_BENCHMARK_IS "the same way for the benchmark (A.7.4)"
#define ALGORITHM_CODE_IS                                                      \
    "nothing is clipped; the sensitivity is the largest distance between "     \
    "test rows' codes; the noise is that of the authors' code, of half the "   \
    "paper's variance"

/* The rows themselves. */
#define LEARNED_METHODS(privacy_agnostic_z)                                    \
    {.name = "task-aware", .how = STUDY_RANDOM, .beside = LEARNED_AWARE_IS},   \
        {.name = "task-codes",                                                 \
         .how = STUDY_RANDOM,                                                  \
         .beside = LEARNED_CODES_IS},                                          \
        {.name = "task-agnostic",                                              \
         .how = STUDY_RANDOM,                                                  \
         .beside = LEARNED_AGNOSTIC_IS},                                       \
        {.name = "privacy-agnostic",                                           \
         .how = STUDY_RANDOM,                                                  \
         .beside = LEARNED_PRIVACY_IS},                                        \
        {.name = (privacy_agnostic_z),                                         \
         .how = STUDY_RANDOM,                                                  \
         .beside = LEARNED_PRIVACY_Z_IS},                                      \
        {.name = "unsound-aware",                                              \
         .how = STUDY_RANDOM | STUDY_UNSOUND,                                  \
         .beside = ALGORITHM_IS},                                              \
        {.name = "unsound-agnostic",                                           \
         .how = STUDY_RANDOM | STUDY_UNSOUND,                                  \
         .beside = ALGORITHM_BENCHMARK_IS},                                    \
        {.name = "unsound-privacy-agnostic",                                   \
         .how = STUDY_RANDOM | STUDY_UNSOUND,                                  \
         .beside = ALGORITHM_BENCHMARK_IS},                                    \
        {.name = "unsound-aware-code",                                         \
         .how = STUDY_RANDOM | STUDY_UNSOUND,                                  \
         .beside = ALGORITHM_CODE_IS},                                         \
        {.name = "unsound-agnostic-code",                                      \
         .how = STUDY_RANDOM | STUDY_UNSOUND,                                  \
         .beside = ALGORITHM_CODE_IS},                                         \
    {                                                                          \
        .name = "unsound-privacy-agnostic-code",                               \
        .how = STUDY_RANDOM | STUDY_UNSOUND, .beside = ALGORITHM_CODE_IS       \
    }

#endif
