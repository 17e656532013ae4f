/*
 * task_learned_methods.c: the losses of learnt encoders, and of cells, on one
 * problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_cells.h"
#include "experiment/task_learned_problem.h"
#include "host/error.h"
#include "host/sort.h"

#define HELD 0.2  /* of auxiliary rows: they choose Z and radius */
#define BATCH 64u /* of a training of ours */
#define DRAWS 32u /* noises of a test row */
#define CHOICE_DRAWS 8u
#define CELLS_MOST 64u
#define CELL_ROWS 4u /* to each of them, at least */
#define CELLS_RESTARTS 8u
#define STREAM_NET (UINT64_C(2) << 40)
#define STREAM_AGAIN (UINT64_C(3) << 40)

/* ---- Nets ---------------------------------------------------------------- */

/* The layers of a net, an identity encoder's weights with them. */
struct net_layers {
    struct layer up[2], down[2];
    float *weight; /* that the encoder begins with; NULL: by lot */
};

static struct task_shape
shape_net(const struct task_learned *learned, bool paper, size_t z, double l,
          double b, uint64_t seed, struct net_layers *layers)
{
    const struct task_learned_spec *spec = learned->spec;
    const struct task_function *function =
        paper ? &learned->paper : &learned->function;
    size_t width = learned->data.width, count = spec->hidden > 0 ? 2 : 1;
    memset(layers, 0, sizeof *layers);
    if (spec->hidden > 0) {
        layers->up[0].out = layers->down[0].out = spec->hidden;
        layers->up[0].activation = layers->down[0].activation =
            spec->activation;
    }
    layers->up[count - 1].out = (uint32_t)z;
    layers->down[count - 1].out = (uint32_t)width;
    return (struct task_shape){.width = width,
                               .d = z,
                               .out = learned->data.out,
                               .encoder = layers->up,
                               .encoders = count,
                               .decoder = layers->down,
                               .decoders = count,
                               .function = function->layer,
                               .functions = function->layers,
                               .block = &learned->block,
                               .blocks = 1,
                               .l = l,
                               .b = b,
                               .seed = seed,
                               .batch = (uint32_t)learned->data.rows};
}

/* What a training of ours has: rows that train, rows that choose. */
static struct task_data
data_of(const struct task_learned *learned, const float *x, double held)
{
    size_t helds = (size_t)(held * (double)learned->data.aux);
    return (struct task_data){.x = x,
                              .y = learned->data.y,
                              .held = learned->row,
                              .helds = helds,
                              .row = learned->row + helds,
                              .rows = learned->data.aux - helds};
}

static struct task_plan
plan_ours(const struct task_learned *learned, size_t rows, uint64_t stream)
{
    const struct task_learned_spec *spec = learned->spec;
    size_t steps = (rows + BATCH - 1) / BATCH;
    return (struct task_plan){.rate = spec->rate,
                              .schedule = NN_SCHEDULE_COSINE,
                              .epochs = (uint32_t)(spec->steps / steps + 1),
                              .batch = BATCH,
                              .draws = CHOICE_DRAWS,
                              .stream = stream,
                              .what = "training"};
}

static double
test_loss(struct task_learned *learned, struct task_net *net, const float *x)
{
    const struct task_data data = {.x = x, .y = learned->data.y};
    return task_net_loss(net, &data, learned->row + learned->data.aux,
                         learned->data.rows - learned->data.aux, DRAWS);
}

/* The encoder's last layer: weights, rows of `in`, then biases. */
static void
last_layer(struct task_net *net, float **ret_weight, float **ret_bias,
           size_t *ret_in)
{
    const struct nn_place *place = &net->encoder.layer[net->encoder.layers - 1];
    *ret_weight = nn_arena_value(&net->arena, place->weight);
    *ret_bias = nn_arena_value(&net->arena, place->bias);
    *ret_in = place->in;
}

/* Moves the mean of auxiliary rows' codes to 0, and divides codes so that the
   share `inside` of them is in the unit ball. */
static enum sotto_status
place_codes(struct task_learned *learned, struct task_net *net, double inside,
            struct sotto_error *err)
{
    size_t aux = learned->data.aux, d = net->shape.d, in;
    float *h = calloc(aux, d * sizeof *h), *weight, *bias;
    double *norm = calloc(aux, sizeof *norm), radius;
    if (h == NULL || norm == NULL) {
        free(h);
        free(norm);
        return host_fail_memory(err);
    }
    last_layer(net, &weight, &bias, &in);
    task_net_codes(net, learned->data.x, aux, h);
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t i = 0; i < aux; i++) {
            mean += (double)h[i * d + j] / (double)aux;
        }
        bias[j] -= (float)mean;
        for (size_t i = 0; i < aux; i++) {
            norm[i] += fabs((double)h[i * d + j] - mean);
        }
    }
    host_sort_doubles(norm, aux);
    radius = norm[(size_t)ceil(inside * (double)aux) - 1];
    for (size_t i = 0; radius > 0 && i < d * in; i++) {
        weight[i] = (float)((double)weight[i] / radius);
    }
    for (size_t i = 0; radius > 0 && i < d; i++) {
        bias[i] = (float)((double)bias[i] / radius);
    }
    free(h);
    free(norm);
    return SOTTO_STATUS_OK;
}

/* ---- Sound --------------------------------------------------------------- */

struct method;
typedef enum sotto_status
make_fn(struct task_learned *learned, const struct method *method,
        const struct study_point *point, size_t z, double inside, double held,
        struct task_net *net, struct task_trained *ret_trained,
        struct sotto_error *err);

/* A method by its name. */
struct method {
    const char *name;
    enum sotto_status (*measure)(struct task_learned *learned,
                                 const struct method *method,
                                 const struct study_point *point,
                                 struct study_outcome *ret_outcome,
                                 struct sotto_error *err);
    make_fn *make; /* a net for this Z, whose codes begin, or end, inside */
    bool identity; /* Z is the record's width */
    bool aware;    /* the encoder learns under noise, too */
    bool paper_z;  /* Z is the paper's */
    double share;  /* of unsound ones: of the paper's noise's scale */
};

/* Under noise, once the encoder's codes are in place: the decoder, and the
   encoder, too, where the method is task-aware. */
static enum sotto_status
train_noisy(struct task_learned *learned, const struct method *method,
            const struct study_point *point, double inside, double held,
            struct task_net *net, struct task_trained *ret_trained,
            struct sotto_error *err)
{
    struct task_data data = data_of(learned, learned->data.x, held);
    struct task_plan plan = plan_ours(learned, data.rows, STREAM_AGAIN);
    enum sotto_status status = place_codes(learned, net, inside, err);
    plan.frozen = !method->aware;
    if (status == SOTTO_STATUS_OK) {
        task_net_set_l(net, 1);
        task_net_set_b(net, 2 / point->eps);
        status = task_net_train(net, &data, &plan, ret_trained, err);
    }
    return status;
}

/* Encoder and decoder without noise, then under it. */
static enum sotto_status
make_learnt(struct task_learned *learned, const struct method *method,
            const struct study_point *point, size_t z, double inside,
            double held, struct task_net *net, struct task_trained *ret_trained,
            struct sotto_error *err)
{
    struct net_layers layers;
    struct task_shape shape =
        shape_net(learned, false, z, 0, 0, point->seed, &layers);
    struct task_data data = data_of(learned, learned->data.x, held);
    struct task_plan plan = plan_ours(learned, data.rows, STREAM_NET);
    enum sotto_status status =
        task_net_init(net, &shape, learned->backend, err);
    status =
        HOST_THEN(status, task_net_train(net, &data, &plan, ret_trained, err));
    return HOST_THEN(status, train_noisy(learned, method, point, inside, held,
                                         net, ret_trained, err));
}

/* Makes the encoder of a shape the identity: one layer. The caller frees
   layers->weight. */
static enum sotto_status
set_identity(struct task_shape *shape, struct net_layers *layers,
             struct sotto_error *err)
{
    size_t n = shape->width;
    layers->weight = calloc(n + 1, n * sizeof *layers->weight);
    if (layers->weight == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        layers->weight[i * n + i] = 1;
    }
    layers->up[0] = (struct layer){.out = (uint32_t)n,
                                   .weight = layers->weight,
                                   .bias = layers->weight + n * n};
    shape->encoders = 1;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
make_agnostic(struct task_learned *learned, const struct method *method,
              const struct study_point *point, size_t z, double inside,
              double held, struct task_net *net,
              struct task_trained *ret_trained, struct sotto_error *err)
{
    struct net_layers layers;
    struct task_shape shape =
        shape_net(learned, false, z, 0, 0, point->seed, &layers);
    enum sotto_status status = set_identity(&shape, &layers, err);
    status =
        HOST_THEN(status, task_net_init(net, &shape, learned->backend, err));
    free(layers.weight);
    return HOST_THEN(status, train_noisy(learned, method, point, inside, held,
                                         net, ret_trained, err));
}

/* Shares of auxiliary rows that are not clipped. */
static const double insides[] = {0.02, 0.1, 0.3, 0.6, 1};
#define INSIDES (sizeof insides / sizeof *insides)

/* Z and the clip by rows held out, then a net of all auxiliary rows. */
static enum sotto_status
measure_chosen(struct task_learned *learned, const struct method *method,
               const struct study_point *point,
               struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const size_t one[] = {method->identity  ? learned->data.width
                          : point->most > 0 ? point->most
                                            : learned->spec->paper_z,
                          0};
    bool fixed = method->identity || method->paper_z || point->most > 0;
    const size_t *sizes = fixed ? one : learned->spec->sizes;
    size_t z = sizes[0];
    double inside = insides[0], least = INFINITY;
    struct task_trained trained = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; sizes[i] > 0; i++) {
        for (size_t j = 0; j < INSIDES && status == SOTTO_STATUS_OK; j++) {
            struct task_net net = {.backend = NULL};
            status = method->make(learned, method, point, sizes[i], insides[j],
                                  HELD, &net, &trained, err);
            task_net_clear(&net);
            if (status == SOTTO_STATUS_OK && trained.held < least) {
                least = trained.held;
                z = sizes[i];
                inside = insides[j];
            }
        }
    }
    struct task_net net = {.backend = NULL};
    status = HOST_THEN(status, method->make(learned, method, point, z, inside,
                                            0, &net, &trained, err));
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->loss = test_loss(learned, &net, learned->data.x);
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note,
                       "Z=%zu clipped %.0f%%", z, 100 * trained.clipped);
    }
    task_net_clear(&net);
    return status;
}

static enum sotto_status
measure_codes(struct task_learned *learned, const struct method *method,
              const struct study_point *point,
              struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const struct task_learned_data *data = &learned->data;
    size_t out = data->out, test = data->aux * out;
    bool classes = learned->spec->likelihood == ANALYST_CATEGORICAL;
    struct task_cells_plan plan = {.loss = classes ? TASK_CELLS_LOG
                                                   : TASK_CELLS_SQUARED,
                                   .eps = point->eps,
                                   .seed = point->seed};
    struct task_cells cells = {.d = 0};
    size_t most = point->most > 0 ? point->most : CELLS_MOST;
    size_t rows = data->aux / CELL_ROWS;
    enum sotto_status status =
        task_cells_choose(&plan, most < rows ? most : rows, learned->honest,
                          learned->truth, data->aux, out, err);
    (void)method;
    plan.restarts = CELLS_RESTARTS;
    status =
        HOST_THEN(status, task_cells_init(&cells, &plan, learned->honest,
                                          learned->truth, data->aux, out, err));
    if (status == SOTTO_STATUS_OK) {
        ret_outcome->loss = task_cells_loss(&cells, learned->honest + test,
                                            learned->truth + test,
                                            data->rows - data->aux, NULL);
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "k=%zu %s",
                       plan.k, plan.w > 1 ? "subset" : "flip");
    }
    task_cells_clear(&cells);
    return status;
}

/* ---- As in the paper ----------------------------------------------------- */

static struct task_plan
plan_paper(const struct task_learned *learned)
{
    const struct task_learned_spec *spec = learned->spec;
    return (struct task_plan){.rate = TASK_LEARNED_RATE,
                              .schedule = NN_SCHEDULE_CONSTANT,
                              .batch = spec->paper_batch > 0
                                           ? spec->paper_batch
                                           : (uint32_t)learned->data.aux,
                              .turns = true,
                              .stream = STREAM_NET,
                              .what = "training"};
}

/* Algorithm 1, and its benchmarks, on rows scaled by test rows too; then the
   sensitivity is that of the test rows. */
static enum sotto_status
measure_algorithm(struct task_learned *learned, const struct method *method,
                  const struct study_point *point,
                  struct study_outcome *ret_outcome, struct sotto_error *err)
{
    const struct task_learned_spec *spec = learned->spec;
    const struct task_learned_data *own = &learned->data;
    bool equal = method->paper_z;
    size_t z = method->identity  ? own->width
               : point->most > 0 ? point->most
                                 : spec->paper_z;
    struct net_layers layers;
    struct task_shape shape =
        shape_net(learned, true, z, 0, 0, point->seed, &layers);
    struct task_data data = data_of(learned, own->all, 0);
    struct task_plan plan = plan_paper(learned);
    struct task_trained trained;
    struct task_net net = {.backend = NULL};
    double distance = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (method->identity) {
        status = set_identity(&shape, &layers, err);
    }
    status =
        HOST_THEN(status, task_net_init(&net, &shape, learned->backend, err));
    free(layers.weight);
    if (equal) { /* the encoder without noise */
        plan.epochs = spec->clear_epochs;
        status = HOST_THEN(status,
                           task_net_train(&net, &data, &plan, &trained, err));
    }
    plan.epochs = spec->paper_epochs;
    plan.period = spec->paper_period;
    plan.measured = method->share / point->eps;
    plan.frozen = equal || method->identity;
    plan.eta = plan.frozen ? 0 : spec->eta;
    status =
        HOST_THEN(status, task_net_train(&net, &data, &plan, &trained, err));
    status = HOST_THEN(
        status, task_net_distance(&net, own->all, learned->row + own->aux,
                                  own->rows - own->aux, &distance, err));
    if (status == SOTTO_STATUS_OK) {
        task_net_set_b(&net, method->share / point->eps * distance);
        ret_outcome->loss = test_loss(learned, &net, own->all);
        (void)snprintf(ret_outcome->note, sizeof ret_outcome->note, "Z=%zu", z);
    }
    task_net_clear(&net);
    return status;
}

/* ---- By name ------------------------------------------------------------- */

#define CODE                                                                   \
    0.70710678118654752 /* their code's noise, of the paper's scale            \
                         */

static const struct method methods[] = {
    {.name = "task-aware", measure_chosen, make_learnt, .aware = true},
    {.name = "task-codes", measure_codes},
    {.name = "task-agnostic", measure_chosen, make_agnostic, .identity = true},
    {.name = "privacy-agnostic", measure_chosen, make_learnt},
    {.name = "privacy-agnostic-3",
     measure_chosen,
     make_learnt,
     .paper_z = true},
    {.name = "privacy-agnostic-10",
     measure_chosen,
     make_learnt,
     .paper_z = true},
    {.name = "unsound-aware", measure_algorithm, .share = 1},
    {.name = "unsound-agnostic",
     measure_algorithm,
     .identity = true,
     .share = 1},
    {.name = "unsound-privacy-agnostic",
     measure_algorithm,
     .paper_z = true,
     .share = 1},
    {.name = "unsound-aware-code", measure_algorithm, .share = CODE},
    {.name = "unsound-agnostic-code",
     measure_algorithm,
     .identity = true,
     .share = CODE},
    {.name = "unsound-privacy-agnostic-code",
     measure_algorithm,
     .paper_z = true,
     .share = CODE},
};

enum sotto_status
task_learned_measure(struct task_learned *learned,
                     const struct study_point *point,
                     struct study_outcome *ret_outcome, struct sotto_error *err)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].name, point->method->name) == 0) {
            return methods[i].measure(learned, &methods[i], point, ret_outcome,
                                      err);
        }
    }
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "a learnt task has no method '%s'", point->method->name);
}
