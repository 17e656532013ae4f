/*
 * codebook_cut.c: codes of the auxiliary records, as a device finds them.
 *
 * A device adds up scores in its own order, so where two are nearly equal the
 * fast kernels may find another one the largest. The codes here are by the
 * device's own layer from the representation on. Where cells are of z / |z|,
 * the layer has no bias, so that z gets the same code.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encode/encode.h"
#include "encode/flush.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "report/domain.h"

#define TASK_ROWS ((size_t)256)

struct coding {
    const struct sotto_codebook *codebook;
    struct codebook_cut *cut;
    size_t books;
    struct layer layer;
    float *scores; /* of all books, of each thread */
};

static void
code_task(void *context, size_t index, unsigned worker)
{
    const struct coding *coding = context;
    const struct sotto_codebook *codebook = coding->codebook;
    size_t d = codebook->d, all = coding->cut->head.k, books = coding->books;
    size_t k = all / books, from = index * TASK_ROWS;
    float *scores = coding->scores + worker * all;
    for (size_t i = from; i < codebook->n && i < from + TASK_ROWS; i++) {
        forward_dense(&coding->layer, codebook->z + i * d, NULL, scores);
        for (size_t b = 0; b < books; b++) {
            coding->cut->code[i * books + b] =
                domain_largest(scores + b * k, (uint32_t)k);
        }
    }
}

/* Makes weights that devices refuse for being small 0, as a mechanism's are. */
static void
flush_weights(float *weight, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fabsf(weight[i]) < FLUSH_LEAST && weight[i] != 0) {
            weight[i] = 0;
        }
    }
}

enum sotto_status
codebook_find_codes(const struct sotto_codebook *codebook, size_t books,
                    struct codebook_cut *cut, struct sotto_error *err)
{
    struct codebook_head *head = &cut->head;
    struct host_pool *pool = codebook->pool;
    size_t room = host_pool_threads(pool) * head->k;
    struct coding coding = {.codebook = codebook,
                            .cut = cut,
                            .books = books,
                            .layer = {.in = (uint32_t)head->d,
                                      .out = (uint32_t)head->k,
                                      .weight = head->weight,
                                      .bias = head->bias},
                            .scores = calloc(room, sizeof(float))};
    cut->code = calloc(codebook->n, books * sizeof *cut->code);
    if (coding.scores == NULL || cut->code == NULL) {
        free(coding.scores);
        return host_fail_memory(err);
    }
    flush_weights(head->weight, head->d * head->k);
    flush_weights(head->bias, head->k);
    host_pool_run(pool, (codebook->n + TASK_ROWS - 1) / TASK_ROWS, code_task,
                  &coding);
    host_wipe_free(coding.scores, room * sizeof(float));
    return SOTTO_STATUS_OK;
}

enum sotto_status
codebook_cut(struct sotto_codebook *codebook, size_t k,
             const struct codebook_cut **ret, struct sotto_error *err)
{
    return codebook_cut_book(codebook, 0, k, ret, err);
}

enum sotto_status
codebook_cut_book(struct sotto_codebook *codebook, size_t book, size_t k,
                  const struct codebook_cut **ret, struct sotto_error *err)
{
    struct codebook_book *other = book > 0 ? &codebook->more[book - 1] : NULL;
    struct codebook_cut **list = other != NULL ? &other->cut : &codebook->cut;
    struct codebook_cut *cut = *list;
    struct codebook_ground ground = codebook_ground(codebook);
    enum sotto_status status;
    while (cut != NULL && cut->head.k != k) {
        cut = cut->next;
    }
    if (cut != NULL) {
        *ret = cut;
        return SOTTO_STATUS_OK;
    }
    cut = calloc(1, sizeof *cut);
    if (cut == NULL) {
        return host_fail_memory(err);
    }
    cut->n = codebook->n;
    status = codebook_head_init(
        &cut->head, other != NULL ? &other->clustering : &codebook->clustering,
        k, codebook->pool, codebook->backend, ground.x, codebook->place,
        codebook->n, codebook->d, !codebook->unit,
        other != NULL ? other->seed : codebook->options.seed,
        &codebook->options.watch, err);
    status = HOST_THEN(status, codebook_find_codes(codebook, 1, cut, err));
    if (status != SOTTO_STATUS_OK) {
        codebook_cuts_free(cut);
        return status;
    }
    cut->next = *list;
    *list = cut;
    *ret = cut;
    return SOTTO_STATUS_OK;
}

void
codebook_cuts_free(struct codebook_cut *cut)
{
    while (cut != NULL) {
        struct codebook_cut *next = cut->next;
        codebook_head_clear(&cut->head);
        host_wipe_free(cut->code, cut->n * sizeof *cut->code);
        free(cut);
        cut = next;
    }
}
