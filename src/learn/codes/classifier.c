/*
 * classifier.c: a network for what is known of cells.
 *
 * First cross-entropy with the soft target tau_c at every auxiliary record of
 * cell c, in batches; then Adam on the likelihood of the reports, all auxiliary
 * records at a time. Inputs are made even first, and the network's first layer
 * takes that back at the end.
 */
#include "learn/codes/classifier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"
#include "learn/trainer.h"
#include "nn/train.h"

#define BATCH 256u
#define EPOCHS 20u
#define STEPS_LEAST 1000u /* of the first part */
#define RATE 2e-3
#define FLOOR 0.1F
#define DECAY 1e-3
#define GAIN_LEAST 2.0    /* nats of what scores, to climb at all */
#define CLIMB_ROWS 32768u /* auxiliary records, the most */
#define CLIMB_SHARE 0.5F  /* of the rate */
#define PATIENCE 20u
#define ORDER_STREAM UINT64_C(0x736d6f6f74680000)

/* ---- Making and freeing ------------------------------------------------- */

enum sotto_status
classifier_new(size_t in, size_t cells, size_t classes,
               const struct networks_plan *plan,
               struct classifier **ret_classifier, struct sotto_error *err)
{
    struct classifier *classifier = calloc(1, sizeof *classifier);
    enum sotto_status status;
    if (classifier == NULL) {
        return host_fail_memory(err);
    }
    classifier->in = in;
    classifier->cells = cells;
    classifier->classes = classes;
    classifier->pi = calloc(cells, sizeof *classifier->pi);
    classifier->share = calloc(classes, sizeof *classifier->share);
    classifier->tau = calloc(cells * classes, sizeof *classifier->tau);
    classifier->tau_bar = calloc(cells * classes, sizeof *classifier->tau_bar);
    status = classifier->pi != NULL && classifier->share != NULL &&
                     classifier->tau != NULL && classifier->tau_bar != NULL
                 ? networks_init(&classifier->networks, plan, in, classes, err)
                 : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK) {
        *ret_classifier = classifier;
    } else {
        classifier_free(classifier);
    }
    return status;
}

void
classifier_free(struct classifier *classifier)
{
    if (classifier == NULL) {
        return;
    }
    networks_clear(&classifier->networks);
    free(classifier->pi);
    free(classifier->share);
    free(classifier->tau);
    free(classifier->tau_bar);
    free(classifier->exchanged);
    free(classifier);
}

/* ---- What both parts use ------------------------------------------------- */

struct training {
    struct classifier *classifier;
    const struct classifier_aux *aux;
    const struct learn_options *options;
    uint32_t steps;
    struct tensor_backend *backend;
    struct codes *codes, *held; /* held NULL: nothing scores */
    float *x;                   /* aux->z made even */
    float *batch;               /* rows of x */
    float *p, *dp;              /* rows of classes */
    size_t rows;                /* of p and dp */
    double *room;               /* 2 cells * classes */
    double least;               /* log p of `held` for a step to be kept */
    bool begun;                 /* it is set */
    float *shift;               /* and scale, after it */
};

static float
rate_of(const struct training *training)
{
    double rate = training->options->rate;
    return (float)(rate > 0 ? rate : RATE);
}

static float
decay_of(const struct training *training)
{
    double decay = training->options->decay;
    return (float)(decay >= 0 ? decay : DECAY);
}

/* ---- Targets ------------------------------------------------------------- */

const double *
classifier_target(const struct classifier *classifier,
                  const struct classifier_aux *aux, size_t row)
{
    size_t classes = classifier->classes;
    return aux->leaf != NULL ? aux->leaf_tau + aux->leaf[row] * classes
                             : classifier->tau + aux->code[row] * classes;
}

static double
step_targets(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct training *training = context;
    struct classifier *classifier = training->classifier;
    struct tensor_backend *backend = training->backend;
    struct nn_graph *stack = &classifier->networks.net[0].stack;
    size_t classes = classifier->classes;
    const float *logits;
    double loss;
    (void)epoch;
    backend->ops->gather(backend, n, classifier->in, training->x, row,
                         training->batch);
    for (size_t i = 0; i < n; i++) {
        const double *tau =
            classifier_target(classifier, training->aux, row[i]);
        for (size_t y = 0; y < classes; y++) {
            training->p[i * classes + y] = (float)tau[y];
        }
    }
    logits = nn_graph_forward(stack, backend, training->batch, n, true);
    loss = backend->ops->categorical(backend, n, classes, logits, training->p,
                                     1 / (float)n, nn_graph_dy(stack));
    nn_graph_backward(stack, backend, training->batch, n, nn_graph_dy(stack),
                      NULL);
    return loss;
}

static enum sotto_status
fit_targets(struct training *training, uint64_t *ret_epochs,
            struct sotto_error *err)
{
    size_t n = training->aux->n, batches = (n + BATCH - 1) / BATCH;
    size_t least = (STEPS_LEAST + batches - 1) / batches;
    uint32_t given = training->options->epochs;
    struct nn_task task = {
        .rows = n, .step = step_targets, .context = training};
    struct nn_plan plan = {.optimiser = {.rate = rate_of(training),
                                         .decay = decay_of(training),
                                         .schedule = NN_SCHEDULE_COSINE,
                                         .floor = FLOOR},
                           .batch = BATCH,
                           .batches = NN_BATCHES_EVEN,
                           .epochs = given > 0        ? given
                                     : least > EPOCHS ? least
                                                      : EPOCHS,
                           .seed = training->options->seed,
                           .stream = ORDER_STREAM,
                           .goes_on = true,
                           .what = "fitting cells",
                           .watch = &training->options->watch};
    struct nn_trained trained;
    *ret_epochs = plan.epochs;
    return nn_train(&task, &plan, &training->classifier->networks.net[0].arena,
                    training->backend, &trained, err);
}

/* ---- The likelihood ------------------------------------------------------ */

void
classifier_means(const struct classifier_aux *aux, size_t cells, size_t classes,
                 const double *tau, const float *p, double *ret_mean,
                 double *count)
{
    memset(ret_mean, 0, cells * classes * sizeof *ret_mean);
    memset(count, 0, cells * sizeof *count);
    for (size_t m = 0; m < aux->n; m++) {
        double *to = ret_mean + aux->code[m] * classes;
        for (size_t y = 0; y < classes; y++) {
            to[y] += (double)p[m * classes + y];
        }
        count[aux->code[m]]++;
    }
    for (size_t i = 0; i < cells * classes; i++) {
        double n = count[i / classes];
        ret_mean[i] = n > 0 ? ret_mean[i] / n : tau[i];
    }
}

/* J = pi tau_bar; dp = -G_cy pi_c / n_c. */
double
classifier_gradient(struct codes *codes, const struct classifier_aux *aux,
                    const double *pi, const double *tau, const float *p,
                    double *room, float *ret_dp)
{
    size_t cells = codes->cells, classes = codes->classes;
    double *j = room, *g = room + codes->pairs, log_p;
    /* The counts lie in g until it is set: classes >= 1. */
    classifier_means(aux, cells, classes, tau, p, j, g);
    for (size_t i = 0; i < codes->pairs; i++) {
        j[i] *= pi[i / classes];
    }
    if (ret_dp == NULL) {
        return codes_pass(codes, j, NULL);
    }
    log_p = codes_pass(codes, j, g);
    memset(j, 0, cells * sizeof *j);
    for (size_t m = 0; m < aux->n; m++) {
        j[aux->code[m]]++;
    }
    for (size_t m = 0; m < aux->n; m++) {
        size_t c = aux->code[m];
        for (size_t y = 0; y < classes; y++) {
            ret_dp[m * classes + y] =
                (float)(-g[c * classes + y] * pi[c] / j[c]);
        }
    }
    return log_p;
}

static void
forward_aux(struct training *training)
{
    struct classifier *classifier = training->classifier;
    const float *logits =
        nn_graph_forward(&classifier->networks.net[0].stack, training->backend,
                         training->x, training->rows, true);
    training->backend->ops->softmax(training->backend, training->rows,
                                    classifier->classes, logits, training->p);
}

/* The network at the rows that climb. */
static double
log_p_of(struct training *training, struct codes *codes, float *ret_dp)
{
    const struct classifier *classifier = training->classifier;
    struct classifier_aux some = *training->aux;
    some.n = training->rows;
    return classifier_gradient(codes, &some, classifier->pi, classifier->tau,
                               training->p, training->room, ret_dp);
}

static double
step_climb(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct training *training = context;
    struct classifier *classifier = training->classifier;
    struct nn_graph *stack = &classifier->networks.net[0].stack;
    struct tensor_backend *backend = training->backend;
    size_t size = training->rows * classifier->classes;
    (void)row;
    (void)n;
    (void)epoch;
    if (training->held == NULL) { /* else the score did it */
        forward_aux(training);
    }
    (void)log_p_of(training, training->codes, training->dp);
    for (size_t i = 0; i < size; i++) {
        training->dp[i] /= (float)training->codes->reports;
    }
    backend->ops->softmax_back(backend, training->rows, classifier->classes,
                               training->p, training->dp, nn_graph_dy(stack));
    nn_graph_backward(stack, backend, training->x, training->rows,
                      nn_graph_dy(stack), NULL);
    return 0; /* what diverges scores badly */
}

/* Adam begins anew. */
static void
forget_steps(struct nn_arena *arena)
{
    memset(arena->first, 0, arena->size * sizeof(float));
    memset(arena->second, 0, arena->size * sizeof(float));
    arena->step = 0;
}

/* Minus the likelihood of `held`; INFINITY, so that the step is counted and not
   kept, if it is better than the first by less than GAIN_LEAST. */
static double
score_climb(void *context)
{
    struct training *training = context;
    double log_p, least = training->least;
    forward_aux(training);
    log_p = log_p_of(training, training->held, NULL);
    if (!training->begun) {
        training->begun = true;
        training->least = log_p + GAIN_LEAST;
        return -log_p;
    }
    return log_p < least ? INFINITY : -log_p;
}

/* Each step is an epoch of one batch, all that climbs. */
static enum sotto_status
climb_likelihood(struct training *training, struct classifier_info *info,
                 struct sotto_error *err)
{
    struct nn_arena *arena = &training->classifier->networks.net[0].arena;
    struct nn_task task = {.rows = 1,
                           .step = step_climb,
                           .score = training->held != NULL ? score_climb : NULL,
                           .context = training};
    struct nn_plan plan = {
        .optimiser = {.rate = CLIMB_SHARE * rate_of(training),
                      .decay = decay_of(training)},
        .batch = 1,
        .epochs = training->steps,
        .patience = PATIENCE,
        .score_first = true,
        .what = "learning",
        .watch = &training->options->watch};
    struct nn_trained trained = {0};
    enum sotto_status status;
    forget_steps(arena);
    status = nn_train(&task, &plan, arena, training->backend, &trained, err);
    info->steps = training->held != NULL ? trained.best : trained.epochs;
    return status;
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
training_init(struct training *training, struct sotto_error *err)
{
    const struct classifier *classifier = training->classifier;
    const struct classifier_aux *aux = training->aux;
    size_t d = aux->d, classes = classifier->classes;
    size_t pairs = classifier->cells * classes;
    training->rows = aux->n < CLIMB_ROWS ? aux->n : CLIMB_ROWS;
    training->x = malloc(aux->n * d * sizeof(float));
    training->batch = malloc(BATCH * d * sizeof(float));
    training->p = malloc((training->rows + BATCH) * classes * sizeof(float));
    training->dp = malloc(training->rows * classes * sizeof(float));
    training->room = malloc(2 * pairs * sizeof(double));
    training->shift = malloc(2 * d * sizeof(float));
    if (training->x == NULL || training->batch == NULL || training->p == NULL ||
        training->dp == NULL || training->room == NULL ||
        training->shift == NULL) {
        return host_fail_memory(err);
    }
    memcpy(training->x, aux->z, aux->n * d * sizeof(float));
    inputs_moments(training->x, aux->n, d, training->shift,
                   training->shift + d);
    inputs_apply(training->x, aux->n, d, training->shift, training->shift + d);
    return SOTTO_STATUS_OK;
}

static void
training_clear(struct training *training)
{
    size_t n = training->aux->n, d = training->aux->d;
    size_t classes = training->classifier->classes, rows = training->rows;
    host_wipe_free(training->x, n * d * sizeof(float));
    host_wipe_free(training->batch, BATCH * d * sizeof(float));
    host_wipe_free(training->p, (rows + BATCH) * classes * sizeof(float));
    host_wipe_free(training->dp, rows * classes * sizeof(float));
    free(training->room);
    free(training->shift);
}

/* tau_bar, and the likelihoods at the end. */
static void
finish_training(struct training *training, struct classifier_info *info)
{
    struct codes *codes = training->codes, *held = training->held;
    struct classifier *classifier = training->classifier;
    struct classifier_aux some = *training->aux;
    some.n = training->rows;
    forward_aux(training);
    info->log_p = log_p_of(training, codes, NULL) / (double)codes->reports;
    info->validation =
        held != NULL ? log_p_of(training, held, NULL) / (double)held->reports
                     : 0;
    classifier_means(&some, classifier->cells, classifier->classes,
                     classifier->tau, training->p, classifier->tau_bar,
                     training->room);
    inputs_fold(&classifier->networks.net[0].stack, training->shift,
                training->shift + classifier->in);
}

enum sotto_status
classifier_train(struct classifier *classifier,
                 const struct classifier_aux *aux, struct codes *codes,
                 struct codes *held, const struct learn_options *options,
                 uint32_t steps, struct tensor_backend *backend,
                 struct classifier_info *info, struct sotto_error *err)
{
    struct training training = {.classifier = classifier,
                                .aux = aux,
                                .options = options,
                                .steps = steps,
                                .backend = backend,
                                .codes = codes,
                                .held = held};
    size_t rows;
    enum sotto_status status = training_init(&training, err);
    rows = training.rows > BATCH ? training.rows : BATCH;
    status =
        HOST_THEN(status, nn_graph_reserve(&classifier->networks.net[0].stack,
                                           rows, err));
    if (status == SOTTO_STATUS_OK) {
        nn_graph_init(&classifier->networks.net[0].stack, options->seed, 0);
        status = fit_targets(&training, &info->epochs, err);
    }
    if (status == SOTTO_STATUS_OK && steps > 0) {
        status = climb_likelihood(&training, info, err);
    }
    if (status == SOTTO_STATUS_OK) {
        finish_training(&training, info);
    }
    nn_graph_release(&classifier->networks.net[0].stack);
    training_clear(&training);
    return status;
}
