/*
 * smooth.h: which labels the parts of a representation have, from reports about
 * codes and labels, where labels are a smooth function of the representation
 * (docs/codebook.md).
 *
 *     leaf l      one of many small cells of z; tau_ly = p(y | l) is wanted
 *     f = A e     a Gaussian process over leaves, e standard normal
 *     tau = softmax(f)        J^b_cy = sum_l W^b_lc tau_ly     for book b
 *
 * Leaves are finer than codes: reports say what the leaves of a code have in
 * common, and the process what neighbours have.
 */
#ifndef SOTTO_LEARN_SMOOTH_H
#define SOTTO_LEARN_SMOOTH_H

#include "learn/codes/codes.h"
#include "tensor/tensor.h"

/* ---- smooth_features.c: the process --------------------------------------
 */

#define SMOOTH_SCALES 5u /* a constant, three lengths, and codes */

/* A: leaves rows of `count` features, those of scale m in
   [first[m], first[m + 1]). The features of a scale have the length 1 at every
   leaf, so that a scale's factor is the deviation of f; or 0 where the scale
   says nothing of the leaf. */
struct smooth_features {
    size_t leaves, count;
    size_t first[SMOOTH_SCALES + 1];
    double codes; /* the middle of the factor of codes */
    float *a;
};
#define SMOOTH_CODES 4.0   /* where codes are of cells, */
#define SMOOTH_COLUMNS 1.5 /* and where they are of columns */

/* Makes features from the leaves' centres, rows of d. `watch` may be NULL.
   Statuses: MEMORY, STOPPED, INPUT (not finite). */
SOTTO_CHECKED enum sotto_status
smooth_features_init(struct smooth_features *features, const float *centre,
                     size_t leaves, size_t d, const struct sotto_watch *watch,
                     struct sotto_error *err);
/* Makes a constant alone, for leaves that have nothing in common but their
   codes. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
smooth_features_plain(struct smooth_features *features, size_t leaves,
                      struct sotto_error *err);
void smooth_features_clear(struct smooth_features *features);
/* Adds features of codes, once: what the leaves of a code have in common.
   `share` has leaves rows of `codes` numbers, 0 or more: how much of a leaf
   each code has, of one book behind the other. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
smooth_features_add_codes(struct smooth_features *features, const double *share,
                          size_t codes, struct sotto_error *err);
/* The most features that so many leaves can have, with so many codes. */
size_t smooth_features_most(size_t leaves, size_t codes);

/* ---- smooth_expand.c: the likelihood to second order ----------------------
 */

#define SMOOTH_DENSE 1280u /* pairs up to which H is kept whole */

/*
 * sum_i ln s_i(J) = log_p + g'(J - at) - (J - at)' H (J - at) / 2 + ..., for
 * tables J with the rows' sums of `at`.
 */
struct smooth_expansion {
    double log_p;
    double *at; /* pairs */
    float *g;   /* pairs; the mean of a row is 0 */
    float *h;   /* pairs rows of pairs; of its diagonal alone, if not dense */
    bool dense;
};

SOTTO_CHECKED enum sotto_status
smooth_expansion_init(struct smooth_expansion *expansion,
                      const struct codes *codes, struct sotto_error *err);
void smooth_expansion_clear(struct smooth_expansion *expansion);
/* Expands about `at`; with `curved` H as well, else H stays. `watch` may be
   NULL. Statuses: MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
smooth_expansion_set(struct smooth_expansion *expansion, struct codes *codes,
                     const double *at, bool curved,
                     struct tensor_backend *backend,
                     const struct sotto_watch *watch, struct sotto_error *err);

/* Sets what every fold adds to the gradient where it was expanded: folds rows
   of pairs, sum_i L_ip / s_i - 1 over reports i = fold, fold + folds, ...
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
smooth_expansion_scores(const struct smooth_expansion *expansion,
                        const struct codes *codes, size_t folds,
                        float *ret_scores, struct sotto_error *err);

/* ---- smooth_energy.c: all particles at a time -----------------------------
 */

/* The reports of one codebook. */
struct smooth_book {
    struct codes *codes;
    const double *joint; /* leaves rows of cells: the share of the people who
                            are in both; all of them add up to 1 */
};

#define SMOOTH_WIDTH 0.1 /* of a label's share, relative, where it is known */
#define SMOOTH_COUNT 4.0 /* pseudo-people a class, where it is not */

/* What is to be learnt from what. */
struct smooth_problem {
    const struct smooth_book *book;
    size_t books, leaves, classes;
    const struct smooth_features *features;
    const double *share; /* of the classes; NULL: not known */
    double width;        /* of these; 0: SMOOTH_WIDTH */
    bool plain; /* each book is about a column: what reports say of an answer
                   that hangs on all of them is not asked (smooth_check.c) */
    struct host_pool *pool;
    struct tensor_backend *backend;
};

/*
 * Particles, the label fastest:
 *
 *     e     features rows of particles * classes
 *     u     SMOOTH_SCALES rows of particles: ln s_m = MEAN_m + DEVIATION u_m
 *     tau   leaves rows of particles * classes
 *
 * value = ln of what is tempered: the reports' likelihood, expanded, and the
 * prior on shares.
 */
struct smooth_energy {
    const struct smooth_problem *problem;
    size_t particles, columns; /* particles * classes */
    struct smooth_expansion *expansion;
    float **joint; /* of a book: joint in floats */
    double *pi;    /* leaves */
    float *scale;  /* SMOOTH_SCALES rows of columns: s_m */
    float *scaled; /* features * columns: s_m e, then its gradient */
    float *tau;    /* leaves * columns */
    float *dtau;   /* likewise */
    float *table;  /* most cells * columns */
    float *x, *y;  /* particles rows of most pairs */
    double *held;  /* particles rows of classes: the shares that tau implies */
    const struct sotto_watch *watch; /* of an expansion; NULL: nobody */
};

SOTTO_CHECKED enum sotto_status
smooth_energy_init(struct smooth_energy *energy,
                   const struct smooth_problem *problem, size_t particles,
                   struct sotto_error *err);
void smooth_energy_clear(struct smooth_energy *energy);
/* Expands about the particles' mean tau, which energy->tau holds. Statuses:
   MEMORY, STOPPED. */
SOTTO_CHECKED enum sotto_status
smooth_energy_expand(struct smooth_energy *energy, bool curved,
                     struct sotto_error *err);
/* Sets energy->tau. */
void smooth_energy_forward(struct smooth_energy *energy, const float *e,
                           const float *u);
/* Sets the value of every particle from energy->tau; and its gradient by e and
   u unless de is NULL. */
void smooth_energy_value(struct smooth_energy *energy, const float *e,
                         const float *u, double *ret_value, float *ret_de,
                         float *ret_du);
/* Sets J^b - at of every particle, from energy->tau: energy->x has particles
   rows of pairs, and energy->y x H. */
void smooth_energy_tables(struct smooth_energy *energy, size_t b);
/* Sets the expanded ln p of the reports alone, from energy->tau. */
void smooth_energy_likely(struct smooth_energy *energy, double *ret_value);
/* ln p of the reports of all books at the table of one particle. `room` is for
   leaves * classes and the most pairs of a book. */
double smooth_energy_exact(struct smooth_energy *energy, size_t particle,
                           double *room);

/* ---- smooth.c: the posterior ----------------------------------------------
 */

#define SMOOTH_PARTICLES 256u
#define SMOOTH_PARTICLES_LEAST 64u

struct smooth_options {
    uint32_t particles; /* 0: SMOOTH_PARTICLES, fewer where they cost much */
    uint64_t seed;
    const struct sotto_watch *watch; /* NULL: nobody */
};

/* The share of people whose class the leaves' answer gets right, of those with
   one of the classes: between low and high nine times in ten, if particles and
   reports are to be trusted (docs/codebook.md). */
struct smooth_expectation {
    double median, low, high;
};

/* What reports say of an answer that was found without them: the share of
   people for whom it is right, and the deviation of that estimate, INFINITY
   where they say nothing, or are fewer than ten to a pair of every book. */
struct smooth_check {
    double right, error;
    double misfit; /* by how much the prior may deceive all particles */
};

struct smooth_info {
    struct smooth_expectation right;
    struct smooth_check check;
    bool plain; /* the problem's: nobody was asked for the check */
    size_t particles;
    size_t stages;     /* of tempering */
    double acceptance; /* of the last moves */
    double gap; /* deviation, over particles, of the exact log-likelihood from
                   its expansion, in nats: below 1 the second order will do */
};

/*
 * The posterior mean of tau, leaves rows of classes; and in `ret_exchanged`,
 * unless NULL, classes rows of classes: the posterior mass of y and y' having
 * each other's place (smooth_exchanged). The same at any number of threads.
 * Statuses: MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status smooth_fit(const struct smooth_problem *problem,
                                           const struct smooth_options *options,
                                           double *ret_tau,
                                           double *ret_exchanged,
                                           struct smooth_info *ret_info,
                                           struct sotto_error *err);

/*
 * smooth_check.c: asks every fold of the reports about the answer that the
 * other folds give. The energy is of particles of the posterior, with their tau
 * and an expansion near their mean; `mean`, leaves rows of classes, is what the
 * answer is taken from. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
smooth_check_answer(struct smooth_energy *energy, const double *mean,
                    struct smooth_check *ret_check, struct sotto_error *err);

/* smooth_expected.c: what the particles, two or more, say of the answer that
   their mean gives, weighed by the check. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status smooth_expected(
    const float *tau, const double *pi, size_t leaves, size_t particles,
    size_t classes, const struct smooth_check *check,
    struct smooth_expectation *ret_expectation, struct sotto_error *err);

/*
 * smooth_exchange.c: how particles differ from their mean by a permutation of
 * the classes. Row y of the result has the share of particles in which what the
 * mean calls y is called y'; 1 on the diagonal: nobody doubts. A permutation
 * takes classes^3. `watch` may be NULL. Statuses: MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
smooth_exchanged(const float *tau, const double *mean, const double *pi,
                 size_t leaves, size_t particles, size_t classes,
                 const struct sotto_watch *watch, double *ret_exchanged,
                 struct sotto_error *err);

#endif
