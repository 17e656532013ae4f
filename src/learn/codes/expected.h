/*
 * expected.h: how often the class told from one report about a code is right,
 * as a classifier expects of itself.
 *
 *     sum_r max_y sum_c pi_c P(r | c) tau_cy
 *
 * over all reports r: the likeliest class given r is told. It needs no records
 * and no labels, so it can choose the channel, and how many codes there are,
 * before anything is sent (docs/codebook.md). It is as right as pi and tau are.
 */
#ifndef SOTTO_LEARN_EXPECTED_H
#define SOTTO_LEARN_EXPECTED_H

#include "encoder/codebook.h"
#include "learn/codes/codes.h"
#include "likelihood/likelihood.h"

/* What cells tell of classes. */
struct expected_cells {
    size_t cells, classes;
    double *pi;  /* shares of the cells */
    double *tau; /* cells rows of classes */
};

/* Counts n auxiliary records: their codes, below `cells`, and what a classifier
   says of them, rows of classes. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
expected_cells_init(struct expected_cells *cells, size_t count, size_t classes,
                    const int32_t *code, const float *p, size_t n,
                    struct sotto_error *err);
void expected_cells_clear(struct expected_cells *cells);

/* Of k-ary response at `eps`, which is flip, exactly. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
expected_flip(const struct expected_cells *cells, double eps,
              double *ret_accuracy, struct sotto_error *err);
/*
 * Of any channel on the codes, from up to EXPECTED_DRAWS simulated reports,
 * which are always the same ones: what is found, and its standard error.
 * Statuses: MEMORY.
 */
#define EXPECTED_DRAWS ((size_t)20000)
SOTTO_CHECKED enum sotto_status
expected_channel(const struct expected_cells *cells,
                 const struct likelihood_instance *channel,
                 double *ret_accuracy, double *ret_error,
                 struct sotto_error *err);
/* flip, or subset if more is expected of it by two standard errors, at `eps`
   (units). Statuses: MEMORY, LIMIT, BUDGET. */
SOTTO_CHECKED enum sotto_status
expected_choose_channel(const struct expected_cells *cells, uint64_t eps,
                        const char **ret_channel, struct sotto_error *err);

/*
 * The cut of a codebook, into one of the numbers of codes (ascending), that a
 * classifier expects most of through flip; p is what it says of the codebook's
 * records. For the caller to clear. Statuses: INPUT (fewer cells than the least
 * of them), and those of codebook_cut.
 */
SOTTO_CHECKED enum sotto_status
expected_choose_cut(struct sotto_codebook *codebook, const size_t *count,
                    size_t counts, size_t classes, const float *p, double eps,
                    struct expected_cells *ret_cells, struct sotto_error *err);

/*
 * Sets p(y | report) = sum_c p(c | report) tau(c, y) of n reports of `size`
 * bytes, the label in them ignored, in rows of classes. The shape may be
 * another mechanism's, of the same cells. Statuses: MEMORY, INPUT (other
 * cells).
 */
SOTTO_CHECKED enum sotto_status
expected_predict(const struct expected_cells *cells,
                 const struct codes_shape *shape, const uint8_t *reports,
                 size_t size, size_t n, double *ret_p, struct sotto_error *err);

#endif
