/*
 * identity.c: no encoder: the columns themselves, brought to one ball.
 *
 *     z = r g x       g: numbers get variance 1, categories stay 0 and 1
 *                     r: the share `inside` of rows has |z|_1 <= 1, or the norm
 *                     of another channel's domain; in a cube, r_i: of each x_i
 *
 * The mechanism that the papers call Laplace on the record: the baseline that
 * every learnt one is to beat. And what a codebook of columns is made on, whose
 * books each look at one of them (codebook_columns.c). Nothing is learnt but
 * scales; not private towards the auxiliary data, and both files say so.
 */
#include <math.h>
#include <stdlib.h>

#include "encoder/learnt_channel.h"
#include "host/error.h"

#define WIDTH_MAX ((size_t)1024) /* a device has its square in weights */
#define INSIDE "0.9"

struct settings {
    struct learnt_settings common;
    double inside;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    LEARNT_COMMON_SETTINGS(settings),
    {.name = "inside",
     SETTING_NUMBER,
     AT(inside),
     0.000001,
     1,
     INSIDE,
     "the share of records that are not clipped",
     .late = true},
    SETTING_END};

/* x_i of a row: a learnt_entry_fn. */
static double
find_entry(const void *context, size_t row, size_t i)
{
    const struct learnt *learnt = context;
    return (double)learnt->x[row * learnt->width + i];
}

/* Writes the files; `diagonal` is room for two layers' weights and biases. */
static enum sotto_status
write_files(const struct learnt *learnt, double inside, const double *r,
            float *diagonal, struct sotto_error *err)
{
    uint32_t width = (uint32_t)learnt->width;
    size_t square = learnt->width * learnt->width;
    float *back = diagonal + square, *none = back + square;
    struct layer encoder = {.in = width,
                            .out = width,
                            .activation = ACTIVATION_NONE,
                            .weight = diagonal,
                            .bias = none};
    struct layer decoder = encoder;
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, width};
    struct learnt_result result = {.encoder = &encoder,
                                   .encoder_layers = 1,
                                   .decoder = &decoder,
                                   .decoder_layers = 1,
                                   .block = &block,
                                   .blocks = 1};
    json_t *facts = json_pack("{s:I, s:f}", "rows", (json_int_t)learnt->n,
                              "inside", inside);
    enum sotto_status status;
    if (facts == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < width; i++) {
        double gain =
            r[i] * (learnt->gain != NULL ? (double)learnt->gain[i] : 1);
        diagonal[i * width + i] = (float)gain;
        back[i * width + i] = (float)(1 / gain);
    }
    decoder.weight = back;
    result.facts = facts;
    status = learnt_finish(learnt, &result, err);
    json_decref(facts);
    return status;
}

static enum sotto_status
check_identity(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    struct settings *set = own;
    (void)job;
    return learnt_settings_check(&set->common, err);
}

static enum sotto_status
fit_identity(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    const struct settings *set = own;
    struct learnt learnt = {0};
    float *diagonal = NULL;
    double *r = NULL;
    enum sotto_status status = learnt_begin(&learnt, job, &set->common, err);
    if (status == SOTTO_STATUS_OK && learnt.width > WIDTH_MAX) {
        status = host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, 0,
                      "%zu inputs are too many to be taken as they are: at "
                      "most %zu; drop some",
                      learnt.width, WIDTH_MAX),
            err, "drop");
    }
    if (status == SOTTO_STATUS_OK) {
        r = calloc(learnt.width, sizeof *r);
        status = r != NULL
                     ? learnt_find_scales(learnt.channel->domain, learnt.n,
                                          learnt.width, set->inside, find_entry,
                                          &learnt, r, err)
                     : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK && r != NULL) {
        learnt.set.d = (uint32_t)learnt.width;
        diagonal = calloc(2 * learnt.width * learnt.width + learnt.width,
                          sizeof *diagonal);
        status = diagonal != NULL
                     ? write_files(&learnt, set->inside, r, diagonal, err)
                     : host_fail_memory(err);
    }
    free(diagonal);
    free(r);
    learnt_clear(&learnt);
    return status;
}

const struct encoder encoder_identity = {
    .kind = {.name = "identity",
             .about = "the columns themselves, as a baseline without an "
                      "encoder.",
             .analyst = "decoder and prior",
             .example = "inside=0.9"},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .robust = true,
    .check = check_identity,
    .fit = fit_identity,
};
