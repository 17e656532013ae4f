/*
 * sotto/training.h: making mechanisms, straight or learnt from auxiliary
 * records, and the analyst files beside learnt ones.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_TRAINING_H
#define SOTTO_TRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Training ------------------------------------------------------------ */

/* A public range for a number column. */
struct sotto_range {
    const char *column;
    double low, high;
};

struct sotto_direct_options {
    const char *eps;         /* total per report, decimal text */
    const char *label;       /* the label's column, or NULL */
    const char *name;        /* for people; NULL: "direct" */
    const char *campaign;    /* NULL: the same as the name */
    const char *const *drop; /* columns to leave out */
    size_t drops;
    const struct sotto_range *ranges; /* those not here come from the data */
    size_t range_count;
    uint32_t l; /* steps from a range's middle to its end; 0: 4096, for gaussian
                   256 */
    const char *numbers;       /* their channel: "laplace" (NULL), "window",
                                  "duchi" or "gaussian" */
    const char *categories;    /* likewise: "flip" (NULL) or "subset" */
    const char *label_channel; /* the label's; NULL: "window" for a number,
                                  "flip" for a category */
    const char *delta; /* total per report, decimal text: with gaussian, and
                          only with it; NULL: none */
};

/*
 * The papers' baseline: columns straight through channels, the budget split
 * evenly. Numbers have a channel each with laplace and window, and one for all
 * of them with duchi and gaussian, which has their shares together. Ranges and
 * categories come from `table` (auxiliary data, which gets no guarantee unless
 * every range is given and there are no categories), so fit it on public data.
 * Writes the mechanism to `path` (NULL: nowhere). `ret_mechanism`, if not NULL,
 * receives it opened, from the very bytes written, which the caller frees; so
 * `path` may be a pipe. Statuses: USAGE, BUDGET, FORMAT, LIMIT (epsilon, or
 * what a channel can do), INPUT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_train_direct(const struct sotto_table *table,
                   const struct sotto_direct_options *options, const char *path,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err);

/* ---- Learnt mechanisms --------------------------------------------------- */

/*
 * The variational mechanism (docs/variational.md): an encoder trained together
 * with a decoder under Laplace noise. Zeros stand for what is said behind them.
 */
struct sotto_vlm_options {
    const char *eps;   /* total per report, decimal text */
    double lambda;     /* the record's share of it, 0.7; without a label 1 */
    const char *label; /* the label's column, or NULL */
    const char *label_channel; /* NULL: "flip"; "subset" is better at small
                                  epsilon */
    const char *name;          /* for people; NULL: "vlm" */
    const char *campaign;      /* NULL: the same as the name */
    const char *const *drop;
    size_t drops;
    size_t d;               /* of the representation, 8 */
    const uint32_t *hidden; /* the encoder's layers; the decoder's are the same
                               backwards; NULL: 400, 150, 50 */
    size_t hiddens;
    bool linear;       /* no hidden layer at all */
    double l;          /* radius of the ball in training, 5 */
    double eps_pre;    /* training noise is b = 2l / eps_pre; 0: b is learnt */
    double autogen;    /* m: reconstruction counts 1 + m times (P1 Eq. 3.10) */
    uint32_t epochs;   /* 60 */
    uint32_t batch;    /* 64 */
    double rate;       /* Adam's, 0.001, down to a tenth along a cosine */
    uint32_t patience; /* epochs without a better validation score, then the
                          best weights are taken; 0: never stops early, and
                          the last ones are */
    double validation; /* share of the rows that only score, 0.1; used for the
                          prior all the same */
    uint32_t steps;    /* the lattice's radius, 4096 */
    uint64_t seed;
    unsigned threads;       /* 0: all cores; the result does not depend on it */
    const char *checkpoint; /* file to go on from and to write to, after every
                               epoch and when stopped; removed at the end; NULL:
                               none */
    struct sotto_watch watch;
};

/* What training came to. */
struct sotto_train_info {
    uint64_t epochs;   /* done, those before a checkpoint included */
    double loss;       /* negative ELBO a record, training */
    double validation; /* the same on the validation rows */
    double kl;         /* its KL part */
    double b;          /* training noise at the end */
    double clipped;    /* share of records on the ball's surface */
    bool resumed;
};

/*
 * Trains on a table of auxiliary records and writes the mechanism to `path`
 * (for devices) and decoder and prior to `analyst_path` (for the analyst, mode
 * 0600; NULL: nowhere). The auxiliary data gets no guarantee, and both files
 * say so. The label must hold categories. The same seed gives the same files on
 * the same kind of processor, also if it was stopped or killed in between and
 * called again with the same options and `checkpoint`. `ret_info` and
 * `ret_mechanism` may be NULL; the caller frees the latter. Statuses: USAGE,
 * BUDGET, FORMAT, LIMIT, INPUT (also: training diverged; or the checkpoint is
 * of another one), IO, MEMORY, STOPPED (no file but the checkpoint is written).
 */
SOTTO_CHECKED enum sotto_status
sotto_train_vlm(const struct sotto_table *table,
                const struct sotto_vlm_options *options, const char *path,
                const char *analyst_path, struct sotto_train_info *ret_info,
                struct sotto_mechanism **ret_mechanism,
                struct sotto_error *err);

/* The linear mechanism of the first d principal components, scaled so that the
   given share of the auxiliary records lies inside the ball. Likewise. */
struct sotto_pca_options {
    const char *eps;
    double lambda;
    const char *label;
    const char *label_channel; /* NULL: "flip"; "subset" is better at small
                                  epsilon */
    const char *name;          /* NULL: "pca" */
    const char *campaign;
    const char *const *drop;
    size_t drops;
    size_t d;       /* 8 */
    double inside;  /* share of records that are not clipped, 0.9 */
    bool whiten;    /* components to unit variance first */
    uint32_t steps; /* 4096 */
    unsigned threads;
};
SOTTO_CHECKED enum sotto_status sotto_train_pca(
    const struct sotto_table *table, const struct sotto_pca_options *options,
    const char *path, const char *analyst_path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Codebooks ----------------------------------------------------------- */

/*
 * A mechanism that reports which of k cells a record lies in, together with its
 * label, by one channel at all of epsilon (docs/codebook.md). Cells are cut
 * from the representations that another mechanism's encoder gives auxiliary
 * records. In three steps, so that one clustering serves many epsilons:
 *
 *     sotto_codebook_new(table, encoder, &options, &codebook, &err);
 *     sotto_codebook_choose(codebook, &wanted, &choice, &err);
 *     sotto_codebook_write(codebook, &choice, "0.2", "C.sotto", "C.analyst",
 *                          NULL, &err);
 *     sotto_codebook_free(codebook);
 */
struct sotto_codebook;

struct sotto_codebook_options {
    const char *label;    /* its column, which must hold categories; or NULL */
    const char *name;     /* for people; NULL: "codebook" */
    const char *campaign; /* NULL: the same as the name */
    size_t cells; /* to cut from; 0: 500, but one to 20 records at most */
    uint64_t seed;
    unsigned threads; /* 0: all cores; the result does not depend on it */
    struct sotto_watch watch;
};

/*
 * `encoder` is a mechanism that has one (of vlm or pca; of a codebook, without
 * its last layer): its columns are taken, but a label of its own only if it is
 * the label here, and its layers. The table and the options' texts must outlive
 * the codebook; the encoder need not. Statuses: USAGE, INPUT, LIMIT, MEMORY,
 * IO, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_new(
    const struct sotto_table *table, const struct sotto_mechanism *encoder,
    const struct sotto_codebook_options *options,
    struct sotto_codebook **ret_codebook, struct sotto_error *err);
void sotto_codebook_free(struct sotto_codebook *codebook);
/* Cells, the most codes there can be; auxiliary records; and classes of the
   label, without "other": 0 if there is no label. */
size_t sotto_codebook_cells(const struct sotto_codebook *codebook);
size_t sotto_codebook_records(const struct sotto_codebook *codebook);
size_t sotto_codebook_classes(const struct sotto_codebook *codebook);

#define SOTTO_CODEBOOK_TRIES_MAX 16u

/* One that was tried: the share of records labelled rightly, and its standard
   error, over so many simulated collections. */
struct sotto_codebook_try {
    size_t k;
    const char *channel;
    size_t draws; /* 0: not simulated, it cannot be the best: score is the
                     most that it could reach */
    double score, error;
};

/* What to report: k codes by a channel ("subset", "flip", or with a label
   "signs"). To be filled in by hand (tries 0), or by sotto_codebook_choose. */
struct sotto_codebook_choice {
    size_t k;
    const char *channel;
    struct sotto_codebook_try tried[SOTTO_CODEBOOK_TRIES_MAX];
    size_t tries;
    size_t people; /* that were simulated */
};

struct sotto_codebook_wanted {
    const char *eps;     /* per report, decimal text */
    size_t people;       /* who will report; 0: as many as auxiliary records */
    size_t classes;      /* of the label; 0: those of its column */
    size_t k;            /* 0: to be chosen */
    const char *channel; /* NULL: to be chosen */
    uint64_t seed;
    struct sotto_watch watch;
};

/*
 * Chooses k and channel by simulation on the auxiliary records alone: made-up
 * labels, reports of the real channel, the learner itself. No real label is
 * looked at. Decided by the seed, whatever the threads. Statuses: USAGE (fewer
 * than 2 classes, or more than cells), BUDGET, FORMAT, LIMIT, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_choose(
    struct sotto_codebook *codebook, const struct sotto_codebook_wanted *wanted,
    struct sotto_codebook_choice *ret_choice, struct sotto_error *err);

/*
 * Writes the mechanism to `path` and codes, representations and the mean record
 * of every cell to `analyst_path` (mode 0600; NULL for either: nowhere). The
 * auxiliary
 * data gets no guarantee, and both files say so. Every report satisfies eps-LDP
 * for record and label together. `ret_mechanism` may be NULL; the caller frees
 * it. Statuses: USAGE, BUDGET, FORMAT, LIMIT, IO, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_write(
    struct sotto_codebook *codebook, const struct sotto_codebook_choice *choice,
    const char *eps, const char *path, const char *analyst_path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Another budget ------------------------------------------------------ */

/*
 * The contrastive mechanism (docs/contrastive.md): an encoder that brings two
 * distorted views of a record together, and keeps those of others apart. For
 * images, and for what a codebook is made of. Zeros stand for what is said
 * behind them.
 */
struct sotto_clm_options {
    const char *eps;   /* total per report, decimal text */
    double lambda;     /* the record's share of it, 0.7; without a label 1 */
    const char *label; /* the label's column, or NULL */
    const char *label_channel; /* NULL: "flip" */
    const char *name;          /* for people; NULL: "clm" */
    const char *campaign;      /* NULL: the same as the name */
    const char *const *drop;
    size_t drops;
    size_t d;               /* of the representation, 64 */
    const char *network;    /* "cnn" or "mlp"; NULL: cnn if there is one column
                               of images of at least 8x8 pixels, and nothing
                               beside it but the label */
    const uint32_t *hidden; /* mlp: the encoder's layers; NULL: 256, 256 */
    size_t hiddens;
    const uint32_t *widths; /* cnn: channels of the convolutions, the last again
                               where there are more; NULL: 16, 32, 64, 128 */
    size_t width_count;
    bool residual;       /* cnn: two more convolutions a level, under a skip */
    const char *augment; /* "line", "photo" or "corrupt"; NULL: for images of 3
                            channels photo, of others line, else corrupt */
    double temperature;  /* of the loss, 1 */
    double l;            /* with eps_pre: radius of the ball in training, 5 */
    double eps_pre;      /* training noise is b = 2l / eps_pre; 0: none */
    double inside;       /* without eps_pre: share of records that are not
                            clipped, 0.9 */
    uint32_t epochs;     /* 12 */
    uint32_t batch;      /* 256 records: 512 views */
    double rate;         /* Adam's, 0.003: up over a twentieth of the steps,
                            then down to 0 along a cosine */
    uint32_t steps;      /* the lattice's radius, 4096 */
    uint64_t seed;
    unsigned threads;       /* 0: all cores; the result does not depend on it */
    const char *checkpoint; /* as for vlm */
    struct sotto_watch watch;
};

struct sotto_clm_info {
    uint64_t epochs; /* done, those before a checkpoint included */
    double loss;     /* a view, over the last epoch */
    double clipped;  /* share of records on the ball's surface */
    bool resumed;
};

/* As sotto_train_vlm; the analyst file has no decoder. `path` may be NULL: then
   the mechanism is in `ret_mechanism` alone, and the checkpoint stays, for the
   caller to remove once it is no longer needed. */
SOTTO_CHECKED enum sotto_status sotto_train_clm(
    const struct sotto_table *table, const struct sotto_clm_options *options,
    const char *path, const char *analyst_path, struct sotto_clm_info *ret_info,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/*
 * The same schema, encoder and domains at another budget, written to `path`
 * (NULL: nowhere): it needs no training, and the analyst file of the one serves
 * the other. `lambda` splits eps between record and label, in units of 10^-12
 * that add up to it exactly; 0: in proportion as it was. `label_channel` is
 * "flip" or "subset"; NULL: as it was. Neither is for a mechanism without a
 * label. For mechanisms of one part for the record and at most one for the
 * label. Statuses: USAGE, BUDGET, FORMAT, LIMIT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_mechanism_rebudget(
    const struct sotto_mechanism *mechanism, const char *eps, double lambda,
    const char *label_channel, const char *path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Analyst files ------------------------------------------------------- */

/*
 * Decoder and prior of a mechanism, in one file beside it that only its owner
 * may read: it tells of the auxiliary people one by one. Never for devices.
 */
struct sotto_analyst;

/* Messages name the file. Statuses: IO, LIMIT, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_read(const char *path, struct sotto_analyst **ret_analyst,
                   struct sotto_error *err);
void sotto_analyst_free(struct sotto_analyst *analyst);
/* OK if it was made with this mechanism's encoder; INPUT otherwise. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_check(const struct sotto_analyst *analyst,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err);
/* Points of the prior, and integers in each: of a codebook one, the code. */
size_t sotto_analyst_points(const struct sotto_analyst *analyst);
size_t sotto_analyst_width(const struct sotto_analyst *analyst);
const int32_t *sotto_analyst_prior(const struct sotto_analyst *analyst);
/* Numbers that the decoder takes: as many as integers in a point, but of a
   codebook the indicator of each code. */
size_t sotto_analyst_z_width(const struct sotto_analyst *analyst);
/* Entries of a decoded record; 0 if there is no decoder. */
size_t sotto_analyst_x_width(const struct sotto_analyst *analyst);
/* Decodes n points of the representation, in units of the domain (q / l, or a
   report's estimate of it), to the mean of x. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_decode(const struct sotto_analyst *analyst, const double *z,
                     size_t n, float *ret_x, struct sotto_error *err);
/* The representation that a report estimates, without bias, in units of the
   domain: sotto_analyst_z_width numbers, to decode (of a codebook through
   signs 1/k each: its reports tell of no code by itself). The mechanism must be
   one that sotto_analyst_check takes. Several threads may call it. */
void sotto_analyst_estimate(const struct sotto_analyst *analyst,
                            const struct sotto_mechanism *mechanism,
                            const uint8_t *report, double *ret_z);

#ifdef __cplusplus
}
#endif

#endif
