/*
 * task_linear.c: the mechanism that keeps of a record what a linear task needs
 * (P2 4.1; docs/task-aware.md).
 *
 *     y = K x                      the task
 *     z_i = s_i v_i                directions v of task_basis.h, the scales of
 *                                  task_design.h, for the domain of radius 1
 *     q = domain(z)                the device's clip and rounding: the lattice,
 *                                  or another channel's
 *     x^ = mean x + D (q' / l - mean c),   D = Cov(x, c) (Cov(c) + s2 I)^-1
 *
 * c = q / l are the codes as a device makes them, s2 the variance of the
 * channel's own noise on a report over l^2. D is the best for every task at
 * once, the given one among them. Not private towards the auxiliary data, and
 * both files say so.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/learnt_channel.h"
#include "encoder/task_design.h"
#include "encoder/task_ground.h"
#include "host/error.h"
#include "host/wipe.h"
#include "report/domain.h"
#include "tensor/dense.h"

struct settings {
    struct learnt_settings common;
    struct task_given given;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    TASK_GIVEN_SETTINGS(settings),
    SETTING("d", WHOLE, AT(common.d), 1, CHANNEL_D_MAX, NULL, NULL,
            "numbers in the representation, at most (as many\n"
            "as leave the least loss)"),
    LEARNT_COMMON_SETTINGS(settings), SETTING_END};

struct task_linear {
    struct task_ground ground;
    struct task_design design;
    double *ratios; /* of the channel, for 1, 2, ... numbers: variance of its
                       noise over l^2 */
    double loss;    /* of the codes as devices make them, as task_code's */
    float *encoder, *decoder; /* weights, then biases */
};

/* ---- The channel --------------------------------------------------------- */

static enum task_ball
ball_of(enum channel_domain domain)
{
    return domain == CHANNEL_DOMAIN_BALL   ? TASK_BALL_L2
           : domain == CHANNEL_DOMAIN_CUBE ? TASK_BALL_CUBE
                                           : TASK_BALL_L1;
}

/* Of 1, 2, ... `most` numbers the variance of the channel's noise where the
   domain's radius is 1. */
static enum sotto_status
find_ratios(struct task_linear *task, size_t most, struct sotto_error *err)
{
    const struct learnt *learnt = &task->ground.learnt;
    bool joint = learnt->channel->domain == CHANNEL_DOMAIN_CUBE;
    enum sotto_status status = SOTTO_STATUS_OK;
    task->ratios = calloc(most, sizeof *task->ratios);
    if (task->ratios == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < most; i++) {
        task->ratios[i] = task->ratios[0];
        status = i == 0 || joint
                     ? learnt_noise_ratio(learnt, i + 1, &task->ratios[i], err)
                     : SOTTO_STATUS_OK;
    }
    return status;
}

/* ---- The encoder --------------------------------------------------------- */

static enum sotto_status
find_design(struct task_linear *task, double *v, struct sotto_error *err)
{
    struct learnt *learnt = &task->ground.learnt;
    const struct task_basis *basis = &task->ground.basis;
    size_t most = basis->rank < CHANNEL_D_MAX ? basis->rank : CHANNEL_D_MAX;
    struct task_design_wanted wanted = {
        .ball = ball_of(learnt->channel->domain),
        .most = learnt->set.d > 0 ? learnt->set.d : CHANNEL_D_MAX};
    enum sotto_status status =
        task_basis_apply(basis, task->ground.x, learnt->n, basis->rank, v, err);
    status = HOST_THEN(status, find_ratios(task, most, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    wanted.ratio = task->ratios[0];
    wanted.ratios = task->ratios;
    status = task_design_find(&task->design, v, learnt->n, basis->lambda,
                              basis->rank, &wanted, err);
    if (status == SOTTO_STATUS_OK) {
        learnt->set.d = (uint32_t)task->design.kept;
    }
    return status;
}

/* z = S V (x - mean) has the bias -S V mean. */
static enum sotto_status
fill_encoder(struct task_linear *task, struct sotto_error *err)
{
    size_t d = task->design.kept, width = task->ground.learnt.width;
    task->encoder = calloc(d, (width + 1) * sizeof *task->encoder);
    if (task->encoder == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < d; i++) {
        const double *v = task->ground.basis.direction + i * width;
        double bias = 0;
        for (size_t j = 0; j < width; j++) {
            task->encoder[i * width + j] =
                (float)(task->design.scale[i] * v[j]);
            bias -= task->design.scale[i] * v[j] * task->ground.basis.mean[j];
        }
        task->encoder[d * width + i] = (float)bias;
    }
    return SOTTO_STATUS_OK;
}

/* ---- The decoder --------------------------------------------------------- */

/* c = q / l of every row, d numbers each: what a device's domain makes of z. */
static enum sotto_status
find_codes(const struct task_linear *task, const double *v, double *ret_c,
           struct sotto_error *err)
{
    size_t d = task->design.kept, rank = task->ground.basis.rank;
    uint32_t l = task->ground.learnt.set.steps;
    float *z = calloc(d, sizeof *z);
    int32_t *q = calloc(d, sizeof *q);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (z == NULL || q == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < task->ground.learnt.n; i++) {
        for (size_t j = 0; j < d; j++) {
            z[j] = (float)(task->design.scale[j] * v[i * rank + j]);
        }
        domain_place(task->ground.learnt.channel->domain)(z, (uint32_t)d, l, q);
        for (size_t j = 0; j < d; j++) {
            ret_c[i * d + j] = (double)q[j] / l;
        }
    }
done:
    host_wipe_free(z, d * sizeof *z);
    host_wipe_free(q, d * sizeof *q);
    return status;
}

/* Cov(x, c) A^-1, width rows of d: c is centred, so x need not be. */
static enum sotto_status
fill_decoder(struct task_linear *task, const struct task_fitting *fitting,
             struct sotto_error *err)
{
    size_t d = task->design.kept, width = task->ground.learnt.width;
    size_t n = task->ground.learnt.n;
    double *moment = calloc(width, d * sizeof *moment);
    double *decoder = calloc(width, d * sizeof *decoder);
    enum sotto_status status = SOTTO_STATUS_OK;
    task->decoder = calloc(width, (d + 1) * sizeof *task->decoder);
    if (moment == NULL || decoder == NULL || task->decoder == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    tensor_dense_multiply(true, false, width, d, n, 1 / (double)n,
                          task->ground.x, fitting->c, 0, moment);
    tensor_dense_multiply(false, false, width, d, d, 1, moment,
                          fitting->inverse, 0, decoder);
    for (size_t j = 0; j < width; j++) {
        double bias = task->ground.basis.mean[j];
        for (size_t i = 0; i < d; i++) {
            task->decoder[j * d + i] = (float)decoder[j * d + i];
            bias -= decoder[j * d + i] * fitting->mean[i];
        }
        task->decoder[width * d + j] = (float)bias;
    }
done:
    free(moment);
    free(decoder);
    return status;
}

/* Fits to the codes that devices make. The task's outputs are sqrt(lambda) v
   but for a rotation, which changes no loss. */
static enum sotto_status
fit_decoder(struct task_linear *task, double *v, struct sotto_error *err)
{
    enum channel_domain domain = task->ground.learnt.channel->domain;
    size_t n = task->ground.learnt.n, rank = task->ground.basis.rank;
    size_t kept = task->design.kept;
    double *c = calloc(n, kept * sizeof *c), loss = 0;
    struct task_fitting fitting = {0};
    enum sotto_status status;
    if (c == NULL) {
        return host_fail_memory(err);
    }
    status = find_codes(task, v, c, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n * rank; i++) {
        v[i] *= sqrt(task->ground.basis.lambda[i % rank]);
    }
    status =
        HOST_THEN(status, task_fitting_init(&fitting, v, n, rank, kept, err));
    status =
        HOST_THEN(status, task_fitting_fit(&fitting, c, kept, ball_of(domain),
                                           1, task->ratios[kept - 1], &loss,
                                           &task->loss, err));
    status = HOST_THEN(status, fill_decoder(task, &fitting, err));
    task_fitting_clear(&fitting);
    host_wipe_free(c, n * kept * sizeof *c);
    return status;
}

/* ---- What is kept -------------------------------------------------------- */

/* The part that v_1 to v_d explain: sum_i Cov(x_j, v_i)^2, for they are
   uncorrelated and of variance 1. */
static enum sotto_status
find_kept(struct task_linear *task, const double *v, struct sotto_error *err)
{
    size_t width = task->ground.learnt.width, rank = task->ground.basis.rank;
    size_t n = task->ground.learnt.n;
    double *moment = calloc(width, rank * sizeof *moment);
    if (moment == NULL) {
        return host_fail_memory(err);
    }
    tensor_dense_multiply(true, false, width, rank, n, 1 / (double)n,
                          task->ground.x, v, 0, moment);
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < task->design.kept; i++) {
            double along = moment[j * rank + i];
            task->ground.kept[j].part += along * along;
        }
    }
    free(moment);
    return SOTTO_STATUS_OK;
}

/* ---- What is said -------------------------------------------------------- */

#define KEPT_BY "the kept directions explain"

static void
tell(const struct task_linear *task)
{
    struct sotto_train_facts *facts = task->ground.learnt.job->facts;
    double all = task_ground_without(&task->ground);
    task_ground_tell(&task->ground, facts);
    fact_whole(facts, "d", task->design.kept);
    fact_number(facts, "loss", task->loss);
    fact_number(facts, "without", all);
    fact_say(facts,
             "For %s, %zu of %zu direction%s %s kept.\nThe task's loss for one "
             "report is %.4g; it is %.4g without reports (%.0f%%).\n",
             task->ground.matrix.said, task->design.kept,
             task->ground.basis.rank, task->ground.basis.rank == 1 ? "" : "s",
             task->design.kept == 1 ? "is" : "are", task->loss, all,
             100 * task->loss / all);
    if (!(task->loss < all)) {
        fact_say(facts, "So a report tells nothing of the task: give more "
                        "records or a larger epsilon.\n");
    }
    task_kept_say(&task->ground, KEPT_BY, facts);
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
write_files(const struct task_linear *task, struct sotto_error *err)
{
    const struct learnt *learnt = &task->ground.learnt;
    uint32_t d = (uint32_t)task->design.kept, width = (uint32_t)learnt->width;
    struct layer encoder = {.in = width,
                            .out = d,
                            .activation = ACTIVATION_NONE,
                            .weight = task->encoder,
                            .bias = task->encoder + (size_t)d * width};
    struct layer decoder = {.in = d,
                            .out = width,
                            .activation = ACTIVATION_NONE,
                            .weight = task->decoder,
                            .bias = task->decoder + (size_t)d * width};
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, width};
    json_t *facts = json_pack(
        "{s:I, s:s, s:f, s:f, s:f, s:o}", "rows", (json_int_t)learnt->n, "task",
        task->ground.matrix.said, "loss", task->loss, "without",
        task_ground_without(&task->ground), "predicted", task->design.predicted,
        "columns", task_kept_pack(&task->ground));
    struct learnt_result result = {.encoder = &encoder,
                                   .encoder_layers = 1,
                                   .decoder = &decoder,
                                   .decoder_layers = 1,
                                   .block = &block,
                                   .blocks = 1,
                                   .at_eps = true,
                                   .task = task->ground.matrix.said,
                                   .facts = facts};
    enum sotto_status status = facts != NULL
                                   ? learnt_finish(learnt, &result, err)
                                   : host_fail_memory(err);
    json_decref(facts);
    return status;
}

/* All that follows from v, rows of the basis's rank. */
static enum sotto_status
fit_directions(struct task_linear *task, struct sotto_error *err)
{
    size_t size =
        task->ground.learnt.n * task->ground.basis.rank * sizeof(double);
    double *v = malloc(size);
    enum sotto_status status;
    if (v == NULL) {
        return host_fail_memory(err);
    }
    status = find_design(task, v, err);
    status = HOST_THEN(status, fill_encoder(task, err));
    status = HOST_THEN(status, find_kept(task, v, err));
    status = HOST_THEN(status, fit_decoder(task, v, err));
    host_wipe_free(v, size);
    return status;
}

static void
task_linear_clear(struct task_linear *task)
{
    task_ground_clear(&task->ground);
    task_design_clear(&task->design);
    free(task->ratios);
    free(task->encoder);
    free(task->decoder);
}

static enum sotto_status
check_settings(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    struct settings *set = own;
    (void)job;
    return task_ground_check(&set->common, &set->given, err);
}

static enum sotto_status
fit_task_linear(const struct encoder_job *job, void *own,
                struct sotto_error *err)
{
    struct settings *set = own;
    struct task_linear task = {.loss = 0};
    enum sotto_status status =
        task_ground_init(&task.ground, job, &set->common, &set->given, err);
    status = HOST_THEN(status, fit_directions(&task, err));
    if (status == SOTTO_STATUS_OK) {
        set->common.d = task.ground.learnt.set.d;
        tell(&task);
        status = write_files(&task, err);
    }
    task_linear_clear(&task);
    return status;
}

const struct encoder encoder_task_linear = {
    .kind = {.name = "task-linear",
             .about = "what a linear task needs of a record, and no more.",
             .analyst = "decoder and prior",
             .example = "weights=radius_mean=1"},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .check = check_settings,
    .fit = fit_task_linear,
};
