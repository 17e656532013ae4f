/*
 * train.h: the one training loop.
 *
 *     for every epoch:  an order of the rows, of (seed, stream + epoch)
 *                       for every batch:  the task's step sets the gradients,
 *                                         the optimiser moves the weights
 *                       the task's score: the best weights are kept
 *                       the checkpoint
 *
 * A task says what a step computes, a plan how the steps follow each other.
 * Order and rate are functions of (seed, epoch) and of the step; if the task's
 * own draws are functions of (seed, epoch, row), then a run that was stopped
 * and goes on from its checkpoint ends with the same weights, at any thread
 * count.
 *
 *     struct nn_task task = {.rows = n, .step = step, .context = &mine};
 *     struct nn_plan plan = {.optimiser = {.rate = 0.001F}, .batch = 64,
 *                            .epochs = 20, .seed = seed, .what = "training"};
 *     status = nn_train(&task, &plan, &arena, backend, &trained, err);
 */
#ifndef SOTTO_NN_TRAIN_H
#define SOTTO_NN_TRAIN_H

#include "nn/arena.h"
#include "nn/optimiser.h"
#include "random/permute.h"

struct nn_task {
    size_t rows;         /* at least 1 */
    const uint32_t *row; /* their numbers; NULL: 0 to rows - 1 */
    /* Sets the arena's gradients for n rows; returns their mean loss. A loss
       that is not finite ends the training as diverged: 0 where the task does
       not want that. */
    double (*step)(void *context, const uint32_t *row, size_t n,
                   uint64_t epoch);
    /* Scores the weights after an epoch, lower is better; NULL: the last
       weights are the result. */
    double (*score)(void *context);
    void *context;
};

enum nn_batches {
    NN_BATCHES_ALL = 0,   /* the last one takes what is left */
    NN_BATCHES_WHOLE = 1, /* what is left waits for another epoch */
    NN_BATCHES_EVEN = 2   /* as many as ALL, of about one size */
};

struct nn_plan {
    struct nn_optimiser optimiser; /* but for `warmup` and `steps` */
    double warmup;                 /* a share of all steps */
    size_t batch;
    enum nn_batches batches;
    uint64_t epochs;
    uint64_t seed, stream; /* of the rows' order; stream + epoch */
    enum permute_way way;
    bool goes_on;      /* an epoch's order is made of the last one's */
    uint64_t patience; /* scores without a better one, then it ends; 0: all
                          epochs */
    bool score_first;  /* the weights it begins with may be the best */
    const char *checkpoint, *key;    /* nn/checkpoint.h; NULL: none */
    const char *what;                /* the watch's word, and the messages' */
    const struct sotto_watch *watch; /* NULL: nobody watches */
    size_t turn; /* so many floats of the arena move first, and the others by
                    gradients taken behind that; 0: all move at once */
    uint64_t done, total; /* steps of earlier runs, and of all; total 0: this
                             run's alone */
};

struct nn_trained {
    uint64_t epochs; /* done, those before a checkpoint included */
    uint64_t best;   /* epochs after which the score was best, if one was */
    double loss;     /* mean over the last epoch's batches */
    bool resumed;
};

/* Steps of all epochs. */
uint64_t nn_plan_steps(const struct nn_plan *plan, size_t rows);

/*
 * Trains the arena's weights, or goes on from the checkpoint, which stays: the
 * caller removes it once what it led to is written. With a score the best
 * weights are put back. Statuses: MEMORY, STOPPED, INPUT (diverged: the subject
 * is the rate; or a checkpoint of another training), FORMAT, IO.
 */
SOTTO_CHECKED enum sotto_status
nn_train(const struct nn_task *task, const struct nn_plan *plan,
         struct nn_arena *arena, struct tensor_backend *backend,
         struct nn_trained *ret_trained, struct sotto_error *err);

/* Says that a training diverged: also for its very last step, which only the
   caller can see. */
enum sotto_status nn_fail_diverged(const char *what, uint64_t epoch,
                                   struct sotto_error *err);

#endif
