/*
 * contrastive.h: what the files of the contrastive mechanism share. The
 * mathematics: docs/contrastive.md.
 *
 *     x --two views--> encoder --> z --(nu, noise)--> relu --> head --> p
 *                                  |
 *                                  what a device sends, and a codebook cuts
 *
 * The head serves training alone. Letters: n rows of a batch, so 2 n views, d
 * entries of z, m of p, width entries of x.
 */
#ifndef SOTTO_ENCODER_CONTRASTIVE_H
#define SOTTO_ENCODER_CONTRASTIVE_H

#include "data/augment.h"
#include "encoder/learnt_channel.h"
#include "nn/arena.h"
#include "nn/graph.h"
#include "nn/optimiser.h"

/* ---- contrastive_settings.c: what is asked for ----------------------------
 */

struct contrastive_settings {
    struct learnt_settings common;
    const char *network;        /* "cnn" or "mlp" */
    struct setting_list hidden; /* mlp: the encoder's layers */
    struct setting_list widths; /* cnn: channels of the convolutions, the last
                                   again where there are more */
    bool residual;       /* cnn: two more convolutions a level, under a skip */
    const char *augment; /* "line", "photo" or "corrupt" */
    double temperature;  /* of the loss */
    double l;            /* with eps_pre: radius of the domain in training */
    double eps_pre;      /* training noise is a report's at this epsilon: with
                            laplace b = 2l / eps_pre; 0: none */
    double inside;       /* without eps_pre: share of records not clipped */
    uint32_t epochs, batch; /* 2 views of each record of a batch; epochs 0:
                               as suits the records */
    double rate; /* Adam's: up over a twentieth of the steps, then down to 0
                    along a cosine */
    uint64_t seed;
};

/* What training came to. */
struct contrastive_info {
    uint64_t epochs;
    double loss;    /* a view, over the last epoch */
    double clipped; /* share of records on the ball's surface */
    bool resumed;
};

/* The rows of it. */
extern const struct setting contrastive_settings[];
/* Checks settings against each other; fills in those that depend on others, but
   for epochs, network and augmentation. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
contrastive_settings_check(struct contrastive_settings *set,
                           struct sotto_error *err);
/* Epochs, network and augmentation, as x allows. Statuses: USAGE. */
SOTTO_CHECKED enum sotto_status
contrastive_settings_suit(struct contrastive_settings *set,
                          const struct learnt *learnt, struct sotto_error *err);
/* The images that x consists of; all 0: it does not. */
struct sotto_image contrastive_image(const struct learnt *learnt);

/* ---- contrastive_views.c: what makes two views of a record ----------------
 */

struct contrastive_views {
    const struct learnt *learnt;
    struct sotto_image image;
    struct data_augment augment; /* images */
    bool corrupt;                /* in its place */
    uint64_t seed;
};

/* Of settings that suit. Statuses: USAGE, LIMIT. */
SOTTO_CHECKED enum sotto_status contrastive_views_init(
    struct contrastive_views *views, const struct learnt *learnt,
    const struct contrastive_settings *set, struct sotto_error *err);
/* View `view` of n rows of x, each a function of (seed, epoch, row, view). */
void contrastive_views_make(const struct contrastive_views *views,
                            struct host_pool *pool, const uint32_t *row,
                            size_t n, uint32_t epoch, uint32_t view,
                            float *ret);

/* ---- contrastive_loss.c: SimCLR's loss ------------------------------------
 */

/* Floats of scratch for n pairs of m. */
size_t contrastive_loss_room(size_t n, size_t m);

/*
 * With u_i = p_i / |p_i| of 2 n views, i and i + n of one record, and t the
 * temperature:
 *
 *     loss = 1/(2n) sum_i [ ln sum_{j != i} e^(u_i.u_j / t) - u_i.u_i' / t ]
 *
 * for the other view i' of i. Sets dp to its gradient.
 */
double contrastive_loss(struct tensor_backend *backend, size_t n, size_t m,
                        double temperature, const float *p, float *scratch,
                        float *dp);

/* ---- contrastive_net.c: encoder and head ----------------------------------
 */

#define CONTRASTIVE_HEAD 64u /* units of the head's layer */
#define CONTRASTIVE_OUT 32u  /* m */

#define CONTRASTIVE_LAYERS_ROOM (LEARNT_LAYERS_MAX + 3u)

/* The encoder's layers, of which more than LEARNT_LAYERS_MAX are too many.
   Returns how many there are. */
size_t contrastive_layers(const struct contrastive_settings *set,
                          struct sotto_image image, size_t d,
                          struct layer ret_layer[CONTRASTIVE_LAYERS_ROOM]);

struct contrastive_net {
    struct host_pool *pool; /* makes the views */
    struct tensor_backend *backend;
    size_t width, d, batch;
    double temperature;
    enum channel_domain domain; /* that z is clipped to */
    double l;
    double b; /* training noise; 0: none, and nothing is clipped */
    uint64_t seed;
    struct nn_arena arena;
    struct nn_graph encoder, head;
    /* One batch, 2 n rows of each. */
    float *x, *z, *relu, *dz, *scratch;
    void *memory;
    size_t size; /* bytes of it */
};

/* `batch` is at most the rows there are. Statuses: MEMORY, LIMIT, INPUT. */
SOTTO_CHECKED enum sotto_status
contrastive_net_init(struct contrastive_net *net, const struct learnt *learnt,
                     const struct contrastive_settings *set,
                     struct host_pool *pool, struct tensor_backend *backend,
                     struct sotto_error *err);
void contrastive_net_clear(struct contrastive_net *net);
/*
 * The loss of the 2 n views in net->x (n = net->batch), those of row[i] at i
 * and n + i; sets the arena's gradients.
 */
double contrastive_net_run(struct contrastive_net *net, const uint32_t *row,
                           uint32_t epoch);
/* z of n rows of x, neither clipped nor scaled: norms as a device has them. */
void contrastive_encode(struct contrastive_net *net, const float *x, size_t n,
                        float *ret_z);

/* ---- contrastive_train.c: the epochs --------------------------------------
 */

/* Goes up with every change after which the same settings give other
   weights. */
#define CONTRASTIVE_ALGORITHM 5u

/* Trains, or goes on from the job's checkpoint. `ret_info` is filled but for
   `clipped`. Statuses: IO, FORMAT, MEMORY, STOPPED, INPUT. */
SOTTO_CHECKED enum sotto_status
contrastive_train(struct contrastive_net *net, const struct learnt *learnt,
                  const struct contrastive_settings *set,
                  struct contrastive_info *ret_info, struct sotto_error *err);

#endif
