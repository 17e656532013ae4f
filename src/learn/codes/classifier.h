/*
 * classifier.h: a classifier of representations from reports about codes and
 * labels, by way of the cells' labels (docs/codebook.md).
 *
 *     tau(c, y)       cells.h
 *     p(y | z)        a network, fitted to tau at the auxiliary records, then
 *                     to the reports themselves
 *     tau_bar(c, y)   its mean over the auxiliary records of a cell
 */
#ifndef SOTTO_LEARN_CLASSIFIER_H
#define SOTTO_LEARN_CLASSIFIER_H

#include "learn/codes/cells.h"
#include "learn/codes/smooth.h"
#include "learn/networks.h"
#include "learn/options.h"

#define CLASSIFIER_STEPS 300u
#define CLASSIFIER_SMOOTH_CELLS 250u /* up to which labels are by leaves */
#define CLASSIFIER_CELLS_CLIMB 10u   /* cells a class from which on to climb */
#define CLASSIFIER_ERROR_CLIMB                                                 \
    1.0 /* codes_error below which reports say enough                          \
         */

/* Auxiliary records: representations, n rows of d, and their codes, of one book
   behind those of the other; and, where labels were learnt by leaves, which of
   these each is in and their tau. */
struct classifier_aux {
    const float *z;
    const uint32_t *code; /* books runs of n, as many as the shape has */
    size_t n, d;
    bool unit;            /* codes depend on z's direction alone */
    bool plain;           /* each book is about a column of the record */
    const uint32_t *leaf; /* NULL: the network is fitted to tau of the code */
    const double *leaf_tau;
};

struct classifier {
    struct networks networks; /* one; several, from clean records; they take z
                                 as it is */
    size_t in, cells, classes;
    double *pi;        /* cells: their shares among the people */
    double *share;     /* classes: likewise, known or estimated */
    double *tau;       /* cells rows of classes: what reports say */
    double *tau_bar;   /* likewise: what the network makes of it */
    double *exchanged; /* classes rows of classes: the probability that what is
                          called y should be called y'; NULL: not known */
};

struct classifier_info {
    struct cells_info cells;
    struct smooth_info smooth; /* no particles: not by leaves */
    uint64_t epochs;           /* on what is known of cells */
    uint64_t steps;            /* up the likelihood */
    double log_p;      /* mean log-likelihood of the reports learnt from */
    double validation; /* of those that scored; 0: none */
    double memory;     /* bytes of what the reports say */
};

/* Makes one that is planned, without weights; the rest is zeroed. Statuses:
 * MEMORY, LIMIT. */
SOTTO_CHECKED enum sotto_status
classifier_new(size_t in, size_t cells, size_t classes,
               const struct networks_plan *plan,
               struct classifier **ret_classifier, struct sotto_error *err);
void classifier_free(struct classifier *classifier);

/*
 * Trains the network on classifier->tau, then takes `steps` steps up the
 * likelihood of `codes`; with `held` at most that many, and back to where the
 * likelihood of that was best, and info->steps says after how many; sets
 * tau_bar. Of `options` it takes rate (0: 2e-3), decay (negative: 1e-3), epochs
 * (0: 20, but 1,000 steps at least), seed and watch. Statuses: MEMORY, LIMIT,
 * STOPPED.
 */
SOTTO_CHECKED enum sotto_status
classifier_train(struct classifier *classifier,
                 const struct classifier_aux *aux, struct codes *codes,
                 struct codes *held, const struct learn_options *options,
                 uint32_t steps, struct tensor_backend *backend,
                 struct classifier_info *info, struct sotto_error *err);

/* What the network is fitted to at an auxiliary record: tau of its leaf, or of
   its code. */
const double *classifier_target(const struct classifier *classifier,
                                const struct classifier_aux *aux, size_t row);
/* Means of p, aux->n rows of classes, by cell; a cell with no record keeps what
   `tau` says. `count` is room for the cells' numbers of records. Takes code and
   n of aux. */
void classifier_means(const struct classifier_aux *aux, size_t cells,
                      size_t classes, const double *tau, const float *p,
                      double *ret_mean, double *count);

/* The gradient of -log p by the network's probabilities p (aux->n rows of
   classes), and log p itself: for classifier_train, and to be tested. `room` is
   for 2 cells * classes. */
double classifier_gradient(struct codes *codes,
                           const struct classifier_aux *aux, const double *pi,
                           const double *tau, const float *p, double *room,
                           float *ret_dp);

/*
 * classifier_fit.c: does all of it, from reports. Of `options` it takes hidden,
 * hiddens, linear, other, balanced, shifted (the people's cells have other
 * shares than the auxiliary records', and those are estimated too), epochs,
 * rate, decay, validation, seed and watch. `ret_target`, unless NULL, is set to
 * classifier_target of every auxiliary record, rows of the shape's classes;
 * `ret_info` may be NULL.
 * Where the shape has several books, labels are always learnt by leaves, which
 * are what the books have in common; pi, tau and tau_bar are the first book's.
 * Statuses: INPUT (no label; no reports, or none about one of the books; no
 * auxiliary records, a code that is none), USAGE (shifted, with several books),
 * MEMORY, LIMIT, STOPPED.
 */
SOTTO_CHECKED enum sotto_status classifier_fit(
    const struct codes_shape *shape, const struct codes_reports *reports,
    const struct classifier_aux *aux, const struct learn_options *options,
    struct host_pool *pool, struct tensor_backend *backend,
    struct classifier **ret_classifier, float *ret_target,
    struct classifier_info *ret_info, struct sotto_error *err);

#endif
