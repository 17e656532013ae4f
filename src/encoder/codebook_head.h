/*
 * codebook_head.h: the codebook as one dense layer: the code of z is the
 * largest of its k scores.
 *
 *     score_c(z) = w_c . z + b_c
 *
 * It begins as the Gaussian rule, w_c = m_c / s^2 and b_c = -|m_c|^2 / 2s^2 for
 * the part's mean m_c and the spread s^2 within, whose largest score is the
 * nearest mean, and learns to say to which part of the tree a record belongs
 * (softmax and cross-entropy). Many small cells make a part of any shape; the
 * layer finds the best planes between them. Without a bias the planes go
 * through 0, and the code of z is that of any multiple of it.
 */
#ifndef SOTTO_ENCODER_CODEBOOK_HEAD_H
#define SOTTO_ENCODER_CODEBOOK_HEAD_H

#include <stdbool.h>

#include "encoder/clustering.h"

struct codebook_head {
    size_t k, d;
    float *weight; /* k rows of d */
    float *bias;   /* k, all 0 if there is none */
};

/* Checks that k codes can be had from so many cells. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status codebook_head_check(size_t k, size_t cells,
                                                    struct sotto_error *err);

/* The head, with a bias or without, for a cut into k parts. z is n rows of d,
   `ground` n rows of the clustering's d: what its cells are of, z or another
   description of the same records. Statuses: MEMORY, LIMIT, STOPPED, USAGE (k
   below 2 or above the cells). */
SOTTO_CHECKED enum sotto_status codebook_head_init(
    struct codebook_head *head, const struct clustering *clustering, size_t k,
    struct host_pool *pool, struct tensor_backend *backend, const float *ground,
    const float *z, size_t n, size_t d, bool bias, uint64_t seed,
    const struct sotto_watch *watch, struct sotto_error *err);
void codebook_head_clear(struct codebook_head *head);

#endif
