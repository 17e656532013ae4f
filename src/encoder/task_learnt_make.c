/*
 * task_learnt_make.c: from a table to the best net: the task function, how many
 * numbers a report has, and their checkpoints.
 *
 *     targets, or a model --> f --> y = f(x)
 *     d = 1, 2, 4, ...    --> a net each, as long as the loss on rows held out
 *                             falls
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "encoder/task_learnt.h"
#include "host/error.h"
#include "host/wipe.h"
#include "random/permute.h"

#define ALGORITHM                                                              \
    1u /* goes up with every change after which the same settings              \
          give other weights */
#define FUNCTION_SIZE                                                          \
    1.5                  /* hidden units of f for an input, as in the paper    \
                          */
#define D_MOST 64u       /* of those tried */
#define GAIN_LEAST 0.005 /* of the loss, for a code twice as long */
#define DRAWS 16u        /* noises of a score */
#define STEPS 4000u      /* of a training that is not told its epochs */
#define EPOCHS_LEAST 20u
#define EPOCHS_MOST 1000u
#define FUNCTION_PATIENCE 30u
#define STREAM_SPLIT (UINT64_C(1) << 32)
#define STREAM_EPOCH (UINT64_C(2) << 32)
#define STREAM_FUNCTION (UINT64_C(3) << 32)

/* ---- x and y ------------------------------------------------------------- */

/* Splits the rows, in an order of the seed. */
static enum sotto_status
split_rows(struct task_making *making, struct sotto_error *err)
{
    size_t n = making->learnt.n;
    making->row = calloc(n + 1, sizeof *making->row);
    making->known = calloc(n + 1, sizeof *making->known);
    if (making->row == NULL || making->known == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        making->row[i] = (uint32_t)i;
    }
    permute(making->row, sizeof *making->row, n, PERMUTE_DOWN,
            making->set->seed, STREAM_SPLIT);
    making->held = (size_t)floor(making->set->validation * (double)n + 0.5);
    making->held = making->held < n ? making->held : n - 1;
    making->rows = n - making->held;
    for (size_t i = 0; i < n; i++) {
        if (making->aim.known[making->row[i]]) {
            making->known[making->known_held + making->known_rows] =
                making->row[i];
            making->known_held += i < making->held;
            making->known_rows += i >= making->held;
        }
    }
    return making->known_rows > 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "no row to learn from has all its targets");
}

/* Names a model by its file, without the folder. */
static void
name_model(struct task_making *making)
{
    const char *path = making->set->model, *name = strrchr(path, '/');
    struct task_aim *aim = &making->aim;
    char weights[TASK_WORDS_SIZE];
    (void)snprintf(weights, sizeof weights, "%s", aim->words);
    int size = snprintf(aim->words, sizeof aim->words, "the model %.60s%s%s",
                        name != NULL ? name + 1 : path,
                        aim->weighteds > 0 ? "; " : "", weights);
    task_words_end(aim->words, size > 0 ? (size_t)size : 0);
}

/* Reads the task, and makes x and y of the table. */
static enum sotto_status
begin_making(struct task_making *making, struct sotto_error *err)
{
    const struct encoder_job *job = making->job;
    struct task_settings *set = making->set;
    enum sotto_status status = task_aim_read(&making->aim, job->options, err);
    status = HOST_THEN(
        status, task_aim_find(&making->aim, job->table, job->options, err));
    if (status == SOTTO_STATUS_OK && set->model != NULL) {
        name_model(making);
        status = job->function != NULL
                     ? job->function(set->model, &making->model, err)
                     : settings_fail(err, "model", "cannot be read here");
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    making->options = *job->options;
    making->options.drop = making->aim.drop;
    making->options.drops = making->aim.drops;
    making->own = *job;
    making->own.options = &making->options;
    making->own.columns = making->model.schema;
    status = learnt_begin(&making->learnt, &making->own, &set->common, err);
    status = HOST_THEN(status, task_aim_fill(&making->aim, &making->learnt,
                                             making->model.classes, err));
    if (status == SOTTO_STATUS_OK && making->model.layers > 0 &&
        making->model.layer[0].in != making->learnt.width) {
        return settings_fail(err, "model",
                             "%.80s takes %u numbers of a record that has %zu",
                             set->model, (unsigned)making->model.layer[0].in,
                             making->learnt.width);
    }
    if (status == SOTTO_STATUS_OK && !(set->eps_pre > 0)) {
        set->eps_pre = (double)making->learnt.eps_x / (double)SOTTO_UNIT;
    }
    return HOST_THEN(status, split_rows(making, err));
}

/* ---- Checkpoints --------------------------------------------------------- */

/* PATH of the first training, PATH.1 of the next, for the caller to free. */
static char *
name_checkpoint(const char *path, size_t training)
{
    size_t room = strlen(path) + 24;
    char *text = malloc(room);
    if (text != NULL) {
        (void)snprintf(text, room, training > 0 ? "%s.%zu" : "%s", path,
                       training);
    }
    return text;
}

static void
hash(crypto_generichash_state *state, const void *data, size_t size)
{
    (void)crypto_generichash_update(state, data, size);
}

/* Of what all that is trained here hangs on besides settings and records: the
   task's words, y, and the weights of a function. */
static void
hash_task(struct task_making *making, const struct layer *layer, size_t layers,
          const float *y, size_t out)
{
    const struct task_aim *aim = &making->aim;
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, making->key, sizeof making->key,
                                  sizeof making->key);
    hash(&state, aim->words, strlen(aim->words));
    for (size_t i = 0; i < aim->blocks + aim->rebuilts; i++) {
        const struct task_block *block =
            i < aim->blocks ? &aim->block[i] : &aim->rebuilt[i - aim->blocks];
        hash(&state, &block->from, sizeof block->from);
        hash(&state, &block->weight, sizeof block->weight);
    }
    hash(&state, y, making->learnt.n * out * sizeof *y);
    for (size_t i = 0; i < layers; i++) {
        size_t biases = layer_biases(&layer[i]);
        hash(&state, layer[i].weight,
             layer_fan(&layer[i]) * biases * sizeof(float));
        hash(&state, layer[i].bias, biases * sizeof(float));
    }
    (void)crypto_generichash_final(&state, making->key, sizeof making->key);
}

/* A training's key: of records and settings, and of the task. */
static enum sotto_status
make_key(const struct task_making *making, const struct task_settings *set,
         char ret_key[2 * LEARNT_KEY_SIZE], struct sotto_error *err)
{
    enum sotto_status status = learnt_key(&making->learnt, set, ALGORITHM,
                                          SOTTO_VERSION, ret_key, err);
    if (status == SOTTO_STATUS_OK) {
        (void)sodium_bin2hex(ret_key + LEARNT_KEY_SIZE - 1, LEARNT_KEY_SIZE,
                             making->key, sizeof making->key);
    }
    return status;
}

/* ---- The task function --------------------------------------------------- */

/* So many epochs that there are enough steps. */
static uint32_t
count_epochs(uint32_t given, size_t rows, size_t batch)
{
    size_t steps = (rows + batch - 1) / batch;
    size_t epochs = STEPS / (steps > 0 ? steps : 1) + 1;
    epochs = epochs < EPOCHS_LEAST ? EPOCHS_LEAST : epochs;
    epochs = epochs > EPOCHS_MOST ? EPOCHS_MOST : epochs;
    return given > 0 ? given : (uint32_t)epochs;
}

static const struct layer *
function_layers(const struct task_making *making, size_t *ret_layers)
{
    *ret_layers = making->model.layers > 0 ? making->model.layers
                                           : making->function.layers;
    return making->model.layers > 0 ? making->model.layer
                                    : making->function.layer;
}

/* Hidden layers with ReLU, then y. */
static size_t
plan_function(const struct task_making *making,
              struct layer layer[LEARNT_LAYERS_MAX])
{
    const struct setting_list *hidden = &making->set->task_hidden;
    size_t layers = hidden->count;
    for (size_t i = 0; i < layers; i++) {
        layer[i] = (struct layer){.out = hidden->value[i],
                                  .activation = ACTIVATION_RELU};
    }
    if (layers == 0) {
        double units = ceil(FUNCTION_SIZE * (double)making->learnt.width);
        layer[layers++] = (struct layer){.out = (uint32_t)units,
                                         .activation = ACTIVATION_RELU};
    }
    layer[layers++] = (struct layer){.out = (uint32_t)making->aim.out};
    return layers;
}

/* Trains with a checkpoint of its own. */
static enum sotto_status
begin_training(struct task_making *making, const struct task_settings *set,
               struct task_plan *plan, char **ret_checkpoint,
               char key[2 * LEARNT_KEY_SIZE], struct sotto_error *err)
{
    const char *path = making->job->options->checkpoint;
    *ret_checkpoint =
        path != NULL ? name_checkpoint(path, making->trainings) : NULL;
    making->trainings++;
    if (path != NULL && *ret_checkpoint == NULL) {
        return host_fail_memory(err);
    }
    plan->rate = set->rate;
    plan->schedule = NN_SCHEDULE_COSINE;
    plan->batch = set->batch;
    plan->checkpoint = *ret_checkpoint;
    plan->key = key;
    plan->watch = &making->job->options->watch;
    return make_key(making, set, key, err);
}

static enum sotto_status
train_function(struct task_making *making, struct sotto_error *err)
{
    const struct task_settings *set = making->set;
    struct task_aim *aim = &making->aim;
    struct layer layer[LEARNT_LAYERS_MAX];
    struct task_function_shape shape = {.width = making->learnt.width,
                                        .out = aim->out,
                                        .layer = layer,
                                        .layers = plan_function(making, layer),
                                        .block = aim->block,
                                        .blocks = aim->blocks,
                                        .seed = set->seed};
    struct task_data data = {.x = making->learnt.x,
                             .y = aim->y,
                             .held = making->known,
                             .helds = making->known_held,
                             .row = making->known + making->known_held,
                             .rows = making->known_rows};
    struct task_plan plan = {
        .epochs = count_epochs(set->task_epochs, data.rows, set->batch),
        .patience = FUNCTION_PATIENCE,
        .stream = STREAM_FUNCTION,
        .what = "learning the task"};
    char key[2 * LEARNT_KEY_SIZE], *checkpoint = NULL;
    enum sotto_status status;
    hash_task(making, NULL, 0, aim->y, aim->out);
    status = begin_training(making, set, &plan, &checkpoint, key, err);
    status =
        HOST_THEN(status, task_function_train(&making->function, &shape, &data,
                                              &plan, making->learnt.backend,
                                              &making->function_trained, err));
    free(checkpoint);
    return status;
}

static struct task_function_shape
shape_function(const struct task_making *making)
{
    const struct task_aim *aim = &making->aim;
    struct task_function_shape shape = {.width = making->learnt.width,
                                        .out = aim->out,
                                        .block = aim->block,
                                        .blocks = aim->blocks};
    shape.layer = function_layers(making, &shape.layers);
    return shape;
}

/* Sets what f says of every row, unless the truth is asked for. */
static enum sotto_status
find_answers(struct task_making *making, struct sotto_error *err)
{
    struct task_function_shape shape = shape_function(making);
    if (shape.layers == 0 || making->set->truth) {
        return SOTTO_STATUS_OK;
    }
    making->answers =
        calloc(making->learnt.n + 1, shape.out * sizeof *making->answers);
    return making->answers != NULL
               ? task_function_run(&shape, making->learnt.x, making->learnt.n,
                                   making->learnt.backend, making->answers, err)
               : host_fail_memory(err);
}

/* ---- A net --------------------------------------------------------------- */

/* What y^ is compared with. Without targets it is x^ itself, and all that
   counts is rebuilt. */
static const float *
find_y(const struct task_making *making)
{
    return making->answers != NULL ? making->answers
           : making->aim.y != NULL ? making->aim.y
                                   : making->learnt.x;
}

struct net_layers {
    struct layer up[LEARNT_LAYERS_MAX], down[LEARNT_LAYERS_MAX];
};

/* Shapes a net whose code has d numbers. */
static struct task_shape
shape_net(const struct task_making *making, size_t d, struct net_layers *layers)
{
    const struct task_settings *set = making->set;
    const struct task_aim *aim = &making->aim;
    size_t hiddens = set->hidden.count;
    struct task_shape shape = {.width = making->learnt.width,
                               .d = d,
                               .out = aim->blocks > 0 ? aim->out
                                                      : making->learnt.width,
                               .encoder = layers->up,
                               .decoder = layers->down,
                               .encoders = hiddens + 1,
                               .decoders = hiddens + 1,
                               .block = aim->block,
                               .blocks = aim->blocks,
                               .rebuilt = aim->rebuilt,
                               .rebuilts = aim->rebuilts,
                               .domain = making->learnt.channel->domain,
                               .l = TASK_RADIUS,
                               .seed = set->seed,
                               .batch = set->batch};
    shape.function = function_layers(making, &shape.functions);
    memset(layers, 0, sizeof *layers);
    for (size_t i = 0; i < hiddens; i++) {
        layers->up[i] = (struct layer){.out = set->hidden.value[i],
                                       .activation = ACTIVATION_RELU};
        layers->down[i] =
            (struct layer){.out = set->hidden.value[hiddens - 1 - i],
                           .activation = ACTIVATION_RELU};
    }
    layers->up[hiddens].out = (uint32_t)d;
    layers->down[hiddens].out = (uint32_t)making->learnt.width;
    return shape;
}

static struct task_data
find_data(const struct task_making *making)
{
    bool truth = making->set->truth;
    size_t held = truth ? making->known_held : making->held;
    const uint32_t *row = truth ? making->known : making->row;
    return (struct task_data){.x = making->learnt.x,
                              .y = find_y(making),
                              .held = row,
                              .helds = held,
                              .row = row + held,
                              .rows =
                                  truth ? making->known_rows : making->rows};
}

/* Trains a net whose code has d numbers; clear it in any case. */
static enum sotto_status
train_net(struct task_making *making, size_t d, struct task_net *net,
          struct task_trained *ret_trained, struct sotto_error *err)
{
    struct task_settings set = *making->set;
    struct net_layers layers;
    struct task_shape shape = shape_net(making, d, &layers);
    struct task_data data = find_data(making);
    struct task_plan plan = {.epochs =
                                 count_epochs(set.epochs, data.rows, set.batch),
                             .patience = set.patience,
                             .draws = DRAWS,
                             .stream = STREAM_EPOCH,
                             .what = "training"};
    char key[2 * LEARNT_KEY_SIZE], *checkpoint = NULL;
    enum sotto_status status = learnt_noise_scale(
        &making->learnt, d, TASK_RADIUS, set.eps_pre, &shape.b, err);
    if (status != SOTTO_STATUS_OK) {
        *net = (struct task_net){0};
        return status;
    }
    status = task_net_init(net, &shape, making->learnt.backend, err);
    status = HOST_THEN(status, task_net_begin(net, &data, err));
    set.common.d = (uint32_t)d;
    if (status == SOTTO_STATUS_OK) {
        hash_task(making, shape.function, shape.functions, data.y, shape.out);
        status = begin_training(making, &set, &plan, &checkpoint, key, err);
    }
    status =
        HOST_THEN(status, task_net_train(net, &data, &plan, ret_trained, err));
    free(checkpoint);
    return status;
}

/* Keeps a net if its loss is clearly lower than that of the best so far. */
static bool
keep_net(struct task_making *making, size_t d, size_t at,
         const struct task_trained *trained)
{
    struct task_trained *best = &making->trained;
    bool better =
        making->tries == 0 || trained->held < (1 - GAIN_LEAST) * best->held;
    making->tried[making->tries] = (double)d;
    making->losses[making->tries++] = trained->held;
    making->resumed = making->resumed || trained->resumed;
    if (better) {
        *best = *trained;
        making->best = at;
        making->learnt.set.d = (uint32_t)d;
    }
    return better;
}

/* Trains nets for 1, 2, 4, ... numbers as long as that is better, or one for as
   many as are asked for. */
static enum sotto_status
choose_net(struct task_making *making, struct sotto_error *err)
{
    size_t asked = making->set->common.d, width = making->learnt.width;
    size_t most = width < D_MOST ? width : D_MOST, d = asked > 0 ? asked : 1;
    bool goes_on = true;
    while (goes_on) {
        size_t at = making->tries == 0 ? 0 : 1 - making->best;
        struct task_trained trained = {0};
        enum sotto_status status;
        task_net_clear(&making->net[at]);
        status = train_net(making, d, &making->net[at], &trained, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        goes_on = keep_net(making, d, at, &trained) && asked == 0 && d < most;
        d = 2 * d < most ? 2 * d : most;
    }
    return SOTTO_STATUS_OK;
}

/* ---- All of it ----------------------------------------------------------- */

/* Sets between which losses that of a report lies: without noise, and without
   a report. */
static enum sotto_status
find_bounds(struct task_making *making, struct sotto_error *err)
{
    struct task_function_shape shape = shape_function(making);
    struct task_data data = find_data(making);
    making->constant = task_aim_constant(&making->aim, &making->learnt, data.y,
                                         data.held, data.helds + data.rows);
    return shape.layers > 0
               ? task_function_loss(&shape, &data, making->learnt.backend,
                                    &making->clear, err)
               : SOTTO_STATUS_OK;
}

enum sotto_status
task_making_run(struct task_making *making, struct sotto_error *err)
{
    enum sotto_status status = begin_making(making, err);
    if (status == SOTTO_STATUS_OK && making->set->targets > 0) {
        status = train_function(making, err);
    }
    status = HOST_THEN(status, find_answers(making, err));
    status = HOST_THEN(status, choose_net(making, err));
    return HOST_THEN(status, find_bounds(making, err));
}

void
task_making_forget(const struct task_making *making)
{
    const char *path = making->job->options->checkpoint;
    for (size_t i = 1; path != NULL && i < making->trainings; i++) {
        char *name = name_checkpoint(path, i);
        if (name != NULL) {
            (void)unlink(name); /* served its turn; may not exist */
        }
        free(name);
    }
}

void
task_making_clear(struct task_making *making)
{
    host_wipe_free(making->answers, making->learnt.n * making->aim.out *
                                        sizeof *making->answers);
    task_aim_clear(&making->aim);
    task_function_clear(&making->function);
    free(making->row);
    free(making->known);
    task_net_clear(&making->net[0]);
    task_net_clear(&making->net[1]);
    learnt_clear(&making->learnt);
    if (making->model.own != NULL) {
        making->model.free(making->model.own);
    }
}
