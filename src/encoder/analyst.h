/*
 * analyst.h: decoder and prior of a mechanism, in a file for the analyst.
 *
 *     decoder.I.weight, decoder.I.bias   z in units of the domain to the
 *                                        parameters of x, one row a layer
 *     prior                              q of every auxiliary record, as the
 *                                        device computes it: n rows of d
 *     representation                     of a codebook only: z of every
 *                                        auxiliary record, before the code;
 *                                        its prior is the code, d = 1, and the
 *                                        decoder takes the code's indicator
 *     metadata                           kind, digest of the mechanism's
 *                                        encoder, the decoder's activations,
 *                                        blocks of x, facts of the training;
 *                                        the epsilon that a decoder is for
 *
 * It tells of the auxiliary people, one by one: for its owner alone (0600).
 */
#ifndef SOTTO_ENCODER_ANALYST_H
#define SOTTO_ENCODER_ANALYST_H

#include <jansson.h>

#include "channel/channel.h"
#include "mechanism/compose.h"
#include "sotto/sotto.h"
#include "tensor/tensor.h"

/* What the decoder's outputs are, and so the mean of x. */
enum analyst_likelihood {
    ANALYST_BERNOULLI = 0,  /* logits; x in [0, 1] */
    ANALYST_GAUSSIAN = 1,   /* means; variance 1 */
    ANALYST_CATEGORICAL = 2 /* logits of one one-hot code */
};

/* Entries of x beside one another with one likelihood. */
struct analyst_block {
    enum analyst_likelihood likelihood;
    size_t from, count;
};

#define ANALYST_LAYERS_MAX 16u

/* What is written. */
struct analyst_draft {
    const char *kind; /* "vlm", "pca", "codebook" */
    const struct sotto_mechanism *mechanism;
    const struct layer *layer; /* of the decoder */
    size_t layers;
    const struct analyst_block *block;
    size_t blocks;
    const int32_t *prior;
    size_t points, width;
    enum channel_domain domain; /* of numbers; a codebook's is not looked at */
    uint32_t l;                 /* its radius */
    uint64_t eps; /* of the record, if the decoder is for it alone; else 0 */
    const json_t *facts;
    /* Of a codebook, whose l is the largest code; else zeros. */
    const float *representation; /* `points` rows */
    size_t z_width;
    size_t z_layers; /* of the encoder, up to it */
    size_t symbols;  /* of the label in its pairs; 1: there is none */
};

/* Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status analyst_write(const struct analyst_draft *draft,
                                              const char *path,
                                              struct sotto_error *err);
/* sotto_analyst_read from memory; `name` stands for the path. */
SOTTO_CHECKED enum sotto_status analyst_parse(const void *data, size_t size,
                                              const char *name,
                                              struct sotto_analyst **ret,
                                              struct sotto_error *err);
/* The file's metadata, as read. */
const json_t *analyst_metadata(const struct sotto_analyst *analyst);
/* z of every point of the prior, `ret_width` numbers each, which the first
   `ret_layers` layers of the encoder give; NULL if it has none. */
const float *analyst_representation(const struct sotto_analyst *analyst,
                                    size_t *ret_width, uint32_t *ret_layers);

#endif
