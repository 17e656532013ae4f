/*
 * head_codes.h: the codes that a codebook's head gives to rows, by its weights.
 */
#ifndef SOTTO_TESTS_HEAD_CODES_H
#define SOTTO_TESTS_HEAD_CODES_H

#include <stdlib.h>

#include "encoder/codebook_head.h"
#include "host/error.h"

#define HEAD_CHUNK ((size_t)2048)

/* Gives every row its code: of the largest scores, the first. Statuses:
   MEMORY. */
static inline enum sotto_status
head_codes(const struct codebook_head *head, struct tensor_backend *backend,
           const float *z, size_t n, uint32_t *ret_code,
           struct sotto_error *why)
{
    float *score = malloc(HEAD_CHUNK * head->k * sizeof *score);
    if (score == NULL) {
        return host_fail_memory(why);
    }
    for (size_t from = 0; from < n; from += HEAD_CHUNK) {
        size_t rows = n - from < HEAD_CHUNK ? n - from : HEAD_CHUNK;
        backend->ops->dense(backend, rows, head->d, head->k, z + from * head->d,
                            head->weight, head->bias, ACTIVATION_NONE, score);
        for (size_t i = 0; i < rows; i++) {
            uint32_t best = 0;
            for (uint32_t c = 1; c < head->k; c++) {
                if (score[i * head->k + c] > score[i * head->k + best]) {
                    best = c;
                }
            }
            ret_code[from + i] = best;
        }
    }
    free(score);
    return SOTTO_STATUS_OK;
}

#endif
