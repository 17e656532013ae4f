/*
 * variational.h: what the files of the variational mechanism share. The
 * mathematics: docs/variational.md.
 *
 *     x --encoder--> h --nu--> mu --+ b noise--> z --decoder--> parameters of x
 *
 * Letters: n rows of a batch, d entries of z, width entries of x.
 */
#ifndef SOTTO_ENCODER_VARIATIONAL_H
#define SOTTO_ENCODER_VARIATIONAL_H

#include "encoder/learnt_channel.h"
#include "nn/arena.h"
#include "nn/graph.h"
#include "nn/optimiser.h"

/* ---- variational.c: what is asked for ------------------------------------ */

struct variational_settings {
    struct learnt_settings common;
    struct setting_list hidden; /* the encoder's layers, the decoder's
                                   backwards; none: a linear one */
    bool linear, learn_b;
    double l; /* radius of the domain in training; 0: as suits the channel */
    double eps_pre; /* training noise is a report's at this epsilon: with
                       laplace b = 2l / eps_pre; 0: b is learnt */
    double autogen; /* m: reconstruction counts 1 + m times (P1 Eq. 3.10) */
    uint32_t epochs, batch;
    double rate;       /* Adam's, down to a tenth along a cosine */
    uint32_t patience; /* 0: the last weights are taken */
    double validation; /* share of the rows that only score; used for the prior
                          all the same */
    uint64_t seed;
};

/* What training came to. */
struct variational_info {
    uint64_t epochs;
    double loss;       /* negative ELBO a record, training */
    double validation; /* the same on the validation rows */
    double kl;         /* its KL part */
    double b;          /* training noise at the end */
    double clipped;    /* share of records on the ball's surface */
    bool resumed;
};

/* ---- variational_loss.c: the terms of the objective ---------------------- */

/* KL of Laplace(mu, b) from the prior Laplace(0, 1/sqrt 2), and its
   derivatives. */
struct variational_kl {
    double value, dmu, db;
};
struct variational_kl variational_kl(double mu, double b);

/* Likewise of a normal with mean mu and deviation b from the prior of mean 0
   and deviation 1. */
struct variational_kl variational_kl_normal(double mu, double b);

#define VARIATIONAL_SCORING UINT32_MAX /* the epoch of every validation */

/*
 * -ln p(x | logits), summed over n rows, block by block; `dlogits` is set to
 * the gradient of `scale` times that. `scratch` has room for three matrices of
 * n rows of width.
 */
double variational_likelihood(struct tensor_backend *backend,
                              const struct analyst_block *block, size_t blocks,
                              size_t n, size_t width, const float *logits,
                              const float *x, float scale, float *scratch,
                              float *dlogits);

/* ---- variational_net.c: encoder and decoder ------------------------------ */

struct variational_net {
    struct tensor_backend *backend;
    const struct analyst_block *block;
    size_t blocks, width, d;
    enum channel_domain domain; /* that mu is clipped to */
    double l;
    double b_fixed; /* 0: learnt */
    double autogen; /* m */
    uint64_t seed;
    struct nn_arena arena;
    struct nn_graph encoder, decoder;
    size_t log_b; /* row of the arena */
    /* One batch. */
    size_t reserved;
    float *x, *mu, *noise, *z, *dz, *dmu, *scratch;
    void *memory;
};

/* Sums over records. */
struct variational_sums {
    double likelihood; /* -ln p(x | z) */
    double kl;
    double rows;
    double clipped; /* records on the ball's surface */
};

/* The settings are checked. Statuses: MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status
variational_net_init(struct variational_net *net, const struct learnt *learnt,
                     const struct variational_settings *set,
                     struct tensor_backend *backend, struct sotto_error *err);
void variational_net_clear(struct variational_net *net);
/* Training noise as it stands. */
double variational_net_b(const struct variational_net *net);

/*
 * n rows of `all` (their numbers in `row`, at most net->reserved): adds to
 * `sums`, and with `training` sets the arena's gradients to those of the mean
 * objective of the batch,
 *
 *     (1 + m) E[-ln p(x | z)] + KL                          (P1 Eq. 3.10)
 */
void variational_net_run(struct variational_net *net, const float *all,
                         const uint32_t *row, size_t n, uint32_t epoch,
                         bool training, struct variational_sums *sums);

/* Per record: the objective, and the negative ELBO (m = 0). */
double variational_objective(const struct variational_net *net,
                             const struct variational_sums *sums);
double variational_elbo(const struct variational_sums *sums);

/* ---- variational_train.c: the epochs --------------------------------------
 */

/* Goes up with every change after which the same settings give other
   weights. */
#define VARIATIONAL_ALGORITHM 4u

/* Trains, or goes on from the job's checkpoint. `ret_info` is filled but for
   what needs the files. Statuses: IO, FORMAT, MEMORY, STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
variational_train(struct variational_net *net, const struct learnt *learnt,
                  const struct variational_settings *set,
                  struct variational_info *ret_info, struct sotto_error *err);

#endif
