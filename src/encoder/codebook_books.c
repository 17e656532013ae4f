/*
 * codebook_books.c: several codebooks of the same representations.
 *
 *     scores   book 0: k | book 1: k | ...      one dense layer of all of them
 *     codes    record 0: of each book | record 1: of each book | ...
 *
 * What one tree puts together another may keep apart. Every person answers with
 * one book, drawn by lot, so that all of epsilon is spent on it; what the books
 * have in common is the learner's to find.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "host/wipe.h"

#define BOOK_SEED UINT64_C(0x9e3779b97f4a7c15) /* between books' seeds */
#define BOOKS_MANY ((size_t)3)
#define BOOKS_EPS DECIMAL_UNIT     /* up to which many serve better than one */
#define BOOKS_CLASSES ((size_t)50) /* so many can be learnt from several */

size_t
codebook_books_for(uint64_t eps, size_t classes)
{
    return eps <= BOOKS_EPS && classes >= 2 && classes <= BOOKS_CLASSES
               ? BOOKS_MANY
               : 1;
}

enum sotto_status
codebook_books_make(struct sotto_codebook *codebook, size_t books,
                    struct sotto_error *err)
{
    const struct sotto_codebook_options *options = &codebook->options;
    enum sotto_status status = SOTTO_STATUS_OK;
    struct codebook_book *more;
    if (books <= codebook->books) {
        return SOTTO_STATUS_OK;
    }
    more = realloc(codebook->more, books * sizeof *more);
    if (more == NULL) {
        return host_fail_memory(err);
    }
    codebook->more = more;
    while (status == SOTTO_STATUS_OK && codebook->books < books) {
        struct codebook_book book = {.seed = options->seed +
                                             codebook->books * BOOK_SEED};
        status = codebook_cluster(codebook, codebook->asked, book.seed,
                                  &book.clustering, err);
        if (status == SOTTO_STATUS_OK) {
            more[codebook->books++ - 1] = book;
        }
    }
    return status;
}

void
codebook_books_clear(struct sotto_codebook *codebook)
{
    for (size_t i = 1; codebook->more != NULL && i < codebook->books; i++) {
        codebook_cuts_free(codebook->more[i - 1].cut);
        clustering_clear(&codebook->more[i - 1].clustering);
    }
    free(codebook->more);
    codebook->more = NULL;
    codebook->books = 1;
}

/* Puts the scores and the codes of a book among those of all. */
static void
copy_book(const struct codebook_cut *cut, size_t book, size_t books,
          struct codebook_cut *all)
{
    const struct codebook_head *head = &cut->head;
    memcpy(all->head.weight + book * head->k * head->d, head->weight,
           head->k * head->d * sizeof *head->weight);
    memcpy(all->head.bias + book * head->k, head->bias,
           head->k * sizeof *head->bias);
    for (size_t i = 0; i < cut->n; i++) {
        all->code[i * books + book] = cut->code[i];
    }
}

enum sotto_status
codebook_books_join(struct sotto_codebook *codebook, size_t books, size_t k,
                    struct codebook_cut *ret_all, struct sotto_error *err)
{
    struct codebook_cut all = {.n = codebook->n * books,
                               .head = {.k = books * k, .d = codebook->d}};
    enum sotto_status status = SOTTO_STATUS_OK;
    if (codebook->columns > 0) {
        return codebook_columns_join(codebook, k, ret_all, err);
    }
    all.head.weight = calloc(all.head.k * all.head.d + 1, sizeof(float));
    all.head.bias = calloc(all.head.k + 1, sizeof(float));
    all.code = calloc(all.n + 1, sizeof *all.code);
    if (all.head.weight == NULL || all.head.bias == NULL || all.code == NULL) {
        status = host_fail_memory(err);
    }
    for (size_t i = 0;
         status == SOTTO_STATUS_OK && all.code != NULL && i < books; i++) {
        const struct codebook_cut *cut = NULL;
        status = codebook_cut_book(codebook, i, k, &cut, err);
        if (status == SOTTO_STATUS_OK) {
            copy_book(cut, i, books, &all);
        }
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_all = all;
        return status;
    }
    codebook_head_clear(&all.head);
    host_wipe_free(all.code, all.n * sizeof *all.code);
    return status;
}
