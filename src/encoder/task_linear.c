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
#include "encoder/task_basis.h"
#include "encoder/task_design.h"
#include "encoder/task_matrix.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/wipe.h"
#include "report/domain.h"
#include "tensor/dense.h"

#define WIDTH_MAX ((size_t)8192) /* as pca's: matrices have its square */
#define SHOWN_COLUMNS 12u        /* of which people are told what is kept */
#define SHOWN_BESIDE 4u          /* of them, on a line */

struct settings {
    struct learnt_settings common;
    const char *task, *weights, *target;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    SETTING("task", TEXT, AT(task), 0, 0, NULL, "K.csv",
            "what reports are for: a header of columns, and a\n"
            "row of weights for each output (none)"),
    SETTING("weights", TEXT, AT(weights), 0, 0, NULL, "COL=W,...",
            "the same as weights of columns, each measured by\n"
            "its own deviation (none)"),
    SETTING("target", TEXT, AT(target), 0, 0, NULL, "COL",
            "the same as a column to be told from the others,\n"
            "which is no input (none)"),
    SETTING("d", WHOLE, AT(common.d), 1, CHANNEL_D_MAX, NULL, NULL,
            "numbers in the representation, at most (as many\n"
            "as leave the least loss)"),
    LEARNT_COMMON_SETTINGS(settings),
    SETTING_END};

struct task_linear {
    struct learnt *learnt;
    const double *x; /* learnt->x in doubles */
    struct task_matrix matrix;
    struct task_basis basis;
    struct task_design design;
    double *ratios; /* of the channel, for 1, 2, ... numbers: variance of its
                       noise over l^2 */
    double loss;    /* of the codes as devices make them, as task_code's */
    double *kept;   /* of every entry of x: its variance, and the part that
                       the kept directions explain */
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
    const struct learnt *learnt = task->learnt;
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
    struct learnt *learnt = task->learnt;
    size_t rank = task->basis.rank;
    size_t most = rank < CHANNEL_D_MAX ? rank : CHANNEL_D_MAX;
    struct task_design_wanted wanted = {
        .ball = ball_of(learnt->channel->domain),
        .most = learnt->set.d > 0 ? learnt->set.d : CHANNEL_D_MAX};
    enum sotto_status status =
        task_basis_apply(&task->basis, task->x, learnt->n, rank, v, err);
    status = HOST_THEN(status, find_ratios(task, most, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    wanted.ratio = task->ratios[0];
    wanted.ratios = task->ratios;
    status =
        HOST_THEN(status, task_design_find(&task->design, v, learnt->n,
                                           task->basis.lambda, task->basis.rank,
                                           &wanted, err));
    if (status == SOTTO_STATUS_OK) {
        learnt->set.d = (uint32_t)task->design.kept;
    }
    return status;
}

/* z = S V (x - mean) has the bias -S V mean. */
static enum sotto_status
fill_encoder(struct task_linear *task, struct sotto_error *err)
{
    size_t d = task->design.kept, width = task->learnt->width;
    task->encoder = calloc(d, (width + 1) * sizeof *task->encoder);
    if (task->encoder == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < d; i++) {
        const double *v = task->basis.direction + i * width;
        double bias = 0;
        for (size_t j = 0; j < width; j++) {
            task->encoder[i * width + j] =
                (float)(task->design.scale[i] * v[j]);
            bias -= task->design.scale[i] * v[j] * task->basis.mean[j];
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
    size_t d = task->design.kept, rank = task->basis.rank;
    uint32_t l = task->learnt->set.steps;
    float *z = calloc(d, sizeof *z);
    int32_t *q = calloc(d, sizeof *q);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (z == NULL || q == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < task->learnt->n; i++) {
        for (size_t j = 0; j < d; j++) {
            z[j] = (float)(task->design.scale[j] * v[i * rank + j]);
        }
        domain_place(task->learnt->channel->domain)(z, (uint32_t)d, l, q);
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
    size_t d = task->design.kept, width = task->learnt->width;
    size_t n = task->learnt->n;
    double *moment = calloc(width, d * sizeof *moment);
    double *decoder = calloc(width, d * sizeof *decoder);
    enum sotto_status status = SOTTO_STATUS_OK;
    task->decoder = calloc(width, (d + 1) * sizeof *task->decoder);
    if (moment == NULL || decoder == NULL || task->decoder == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    tensor_dense_multiply(true, false, width, d, n, 1 / (double)n, task->x,
                          fitting->c, 0, moment);
    tensor_dense_multiply(false, false, width, d, d, 1, moment,
                          fitting->inverse, 0, decoder);
    for (size_t j = 0; j < width; j++) {
        double bias = task->basis.mean[j];
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
    enum channel_domain domain = task->learnt->channel->domain;
    size_t n = task->learnt->n, rank = task->basis.rank;
    size_t kept = task->design.kept;
    double *c = calloc(n, kept * sizeof *c), loss = 0;
    struct task_fitting fitting = {0};
    enum sotto_status status;
    if (c == NULL) {
        return host_fail_memory(err);
    }
    status = find_codes(task, v, c, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < n * rank; i++) {
        v[i] *= sqrt(task->basis.lambda[i % rank]);
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

/* Of entry j of x, kept[2 j] is the variance, and kept[2 j + 1] the part that
   v_1 to v_d explain: sum_i Cov(x_j, v_i)^2, for they are uncorrelated and of
   variance 1. */
static enum sotto_status
find_kept(struct task_linear *task, const double *v, struct sotto_error *err)
{
    size_t width = task->learnt->width, rank = task->basis.rank;
    size_t n = task->learnt->n;
    double *moment = calloc(width, rank * sizeof *moment);
    task->kept = calloc(width, 2 * sizeof *task->kept);
    if (moment == NULL || task->kept == NULL) {
        free(moment);
        return host_fail_memory(err);
    }
    tensor_dense_multiply(true, false, width, rank, n, 1 / (double)n, task->x,
                          v, 0, moment);
    for (size_t i = 0; i < n * width; i++) {
        double from = task->x[i] - task->basis.mean[i % width];
        task->kept[2 * (i % width)] += from * from / (double)n;
    }
    for (size_t j = 0; j < width; j++) {
        for (size_t i = 0; i < task->design.kept; i++) {
            double along = moment[j * rank + i];
            task->kept[2 * j + 1] += along * along;
        }
    }
    free(moment);
    return SOTTO_STATUS_OK;
}

/* The share of a column's variance that is kept; -1: it does not vary. */
static double
share_of(const struct task_linear *task, const struct schema_column *column)
{
    double all = 0, kept = 0;
    for (size_t j = column->at; j < column->at + column->inputs; j++) {
        all += task->kept[2 * j];
        kept += task->kept[2 * j + 1];
    }
    return all > 0 ? fmin(kept / all, 1) : -1;
}

static bool
is_told(const struct task_linear *task, size_t i)
{
    return i != task->learnt->label &&
           share_of(task, &task->learnt->schema.column[i]) >= 0;
}

/* ---- What is said -------------------------------------------------------- */

static double
sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

static void
say_kept(const struct task_linear *task, struct sotto_train_facts *facts)
{
    const struct schema *schema = &task->learnt->schema;
    size_t shown = 0, more = 0;
    fact_say(facts, "Of a column's variance the kept directions explain, and "
                    "no report tells the rest:\n ");
    for (size_t i = 0; i < schema->columns; i++) {
        struct host_text name;
        if (!is_told(task, i)) {
            continue;
        }
        if (shown == SHOWN_COLUMNS) {
            more++;
            continue;
        }
        host_text_init(&name, 200);
        host_printable_add(&name, schema->column[i].name, 30);
        fact_say(facts, "%s %s %.0f%%",
                 shown == 0                  ? ""
                 : shown % SHOWN_BESIDE == 0 ? ",\n "
                                             : ",",
                 name.data != NULL ? name.data : "",
                 100 * share_of(task, &schema->column[i]));
        host_text_clear(&name);
        shown++;
    }
    if (more > 0) {
        fact_say(facts, ",\n  and %zu more (sotto inspect of the analyst file)",
                 more);
    }
    fact_say(facts, ".\n");
}

static void
tell(const struct task_linear *task)
{
    struct sotto_train_facts *facts = task->learnt->job->facts;
    double all = sum_of(task->basis.lambda, task->basis.rank);
    fact_text(facts, "task", task->matrix.said);
    fact_whole(facts, "d", task->design.kept);
    fact_number(facts, "loss", task->loss);
    fact_number(facts, "without", all);
    if (!isnan(task->matrix.told)) {
        fact_number(facts, "target_told", task->matrix.told);
        fact_say(facts,
                 "A linear predictor from the inputs tells %.0f%% of the "
                 "target's variance.\n",
                 100 * task->matrix.told);
    }
    fact_say(facts,
             "For %s, %zu of %zu direction%s %s kept.\nThe task's loss for one "
             "report is %.4g; it is %.4g without reports (%.0f%%).\n",
             task->matrix.said, task->design.kept, task->basis.rank,
             task->basis.rank == 1 ? "" : "s",
             task->design.kept == 1 ? "is" : "are", task->loss, all,
             100 * task->loss / all);
    say_kept(task, facts);
}

/* The columns' shares, as the analyst file has them; NULL: no memory. */
static json_t *
pack_columns(const struct task_linear *task)
{
    const struct schema *schema = &task->learnt->schema;
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < schema->columns; i++) {
        struct host_text name;
        int failed = 0;
        if (!is_told(task, i)) {
            continue;
        }
        host_text_init(&name, 2048);
        host_printable_add(&name, schema->column[i].name, 400);
        failed = json_array_append_new(
            array,
            json_pack("{s:s, s:f}", "name", name.data != NULL ? name.data : "",
                      "kept", share_of(task, &schema->column[i])));
        host_text_clear(&name);
        if (failed != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
write_files(const struct task_linear *task, struct sotto_error *err)
{
    const struct learnt *learnt = task->learnt;
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
        task->matrix.said, "loss", task->loss, "without",
        sum_of(task->basis.lambda, task->basis.rank), "predicted",
        task->design.predicted, "columns", pack_columns(task));
    struct learnt_result result = {.encoder = &encoder,
                                   .encoder_layers = 1,
                                   .decoder = &decoder,
                                   .decoder_layers = 1,
                                   .block = &block,
                                   .blocks = 1,
                                   .task = task->matrix.said,
                                   .facts = facts};
    enum sotto_status status = facts != NULL
                                   ? learnt_finish(learnt, &result, err)
                                   : host_fail_memory(err);
    json_decref(facts);
    return status;
}

static enum sotto_status
check_width(const struct learnt *learnt, struct sotto_error *err)
{
    return learnt->width <= WIDTH_MAX
               ? SOTTO_STATUS_OK
               : host_remedy(host_fail(err, SOTTO_STATUS_LIMIT, 0,
                                       "%zu inputs are too many for a linear "
                                       "task: at most %zu; drop some",
                                       learnt->width, WIDTH_MAX),
                             err, "drop");
}

/* learnt->x in doubles, for the caller to wipe; NULL: no memory. */
static double *
copy_x(const struct learnt *learnt)
{
    size_t count = learnt->n * learnt->width;
    double *x = malloc(count * sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++) {
        x[i] = (double)learnt->x[i];
    }
    return x;
}

/* All that follows from v, rows of the basis's rank. */
static enum sotto_status
fit_directions(struct task_linear *task, struct sotto_error *err)
{
    size_t size = task->learnt->n * task->basis.rank * sizeof(double);
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

static enum sotto_status
fit(struct task_linear *task, const struct task_given *given,
    struct sotto_error *err)
{
    struct learnt *learnt = task->learnt;
    double *x = copy_x(learnt);
    enum sotto_status status;
    if (x == NULL) {
        return host_fail_memory(err);
    }
    task->x = x;
    status = task_matrix_init(&task->matrix, given, learnt, x, err);
    status = HOST_THEN(status, task_basis_init(&task->basis, x, learnt->n,
                                               learnt->width, task->matrix.K,
                                               task->matrix.outputs, err));
    status = HOST_THEN(status, fit_directions(task, err));
    task->x = NULL;
    host_wipe_free(x, learnt->n * learnt->width * sizeof *x);
    return status;
}

static void
task_linear_clear(struct task_linear *task)
{
    task_matrix_clear(&task->matrix);
    task_basis_clear(&task->basis);
    task_design_clear(&task->design);
    free(task->ratios);
    free(task->kept);
    free(task->encoder);
    free(task->decoder);
}

/* The options, with the target left out of the columns unless it is the label,
   which is no input anyway. The list is the caller's to free. */
static enum sotto_status
drop_target(struct sotto_train_options *options, const char *target,
            const char ***ret_drop, struct sotto_error *err)
{
    const char **drop = calloc(options->drops + 1, sizeof *drop);
    if (drop == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < options->drops; i++) {
        drop[i] = options->drop[i];
    }
    if (target != NULL &&
        (options->label == NULL || strcmp(target, options->label) != 0)) {
        drop[options->drops++] = target;
    }
    options->drop = drop;
    *ret_drop = drop;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_settings(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    struct settings *set = own;
    struct task_given given = {set->task, set->weights, set->target};
    enum sotto_status status = learnt_settings_check(&set->common, err);
    (void)job;
    return HOST_THEN(status, task_given_check(&given, err));
}

static enum sotto_status
fit_task_linear(const struct encoder_job *job, void *own,
                struct sotto_error *err)
{
    struct settings *set = own;
    struct task_given given = {set->task, set->weights, set->target};
    struct sotto_train_options options = *job->options;
    struct encoder_job narrower = *job;
    struct learnt learnt = {0};
    struct task_linear task = {.learnt = &learnt};
    const char **drop = NULL;
    size_t column = 0;
    enum sotto_status status =
        set->target != NULL
            ? task_target_find(job->table, set->target, &column, err)
            : SOTTO_STATUS_OK;
    narrower.options = &options;
    status = HOST_THEN(status, drop_target(&options, set->target, &drop, err));
    status =
        HOST_THEN(status, learnt_begin(&learnt, &narrower, &set->common, err));
    status = HOST_THEN(status, check_width(&learnt, err));
    status = HOST_THEN(status, fit(&task, &given, err));
    if (status == SOTTO_STATUS_OK) {
        set->common.d = learnt.set.d;
        tell(&task);
        status = write_files(&task, err);
    }
    task_linear_clear(&task);
    learnt_clear(&learnt);
    free(drop);
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
