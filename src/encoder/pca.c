/*
 * pca.c: the linear mechanism: the first d principal components of x.
 *
 *     mean, C = (1/n) sum (x - mean)(x - mean)^T          C v_i = w_i v_i
 *     t_i = v_i . (x - mean)                              whitened: / sqrt(w_i)
 *     z = r t       r: the share `inside` of rows has |z|_1 <= 1, or the norm
 *                   of another channel's domain; in a cube, r_i: of each t_i
 *     x ~ mean + sum t_i v_i                              the least squares
 *
 * Not private towards the auxiliary data, and both files say so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/learnt_channel.h"
#include "host/error.h"
#include "host/wipe.h"
#include "tensor/symmetric.h"
#include "tensor/tensor.h"

#define CHUNK ((size_t)1024)     /* rows centred and multiplied at a time */
#define WIDTH_MAX ((size_t)8192) /* C has its square */

/* Of the largest variance: what is a component. Products of CHUNK rows are
   floats, which leaves up to 2e-6 where there is nothing (one-hot columns, of
   which one follows from the others, are the worst case known). */
#define RANK_LEAST 4e-6

struct settings {
    struct learnt_settings common;
    double inside;
    bool whiten;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    LEARNT_SETTINGS(settings, "8"),
    {.name = "inside",
     SETTING_NUMBER,
     AT(inside),
     0.000001,
     1,
     "0.9",
     "the share of records that are not clipped",
     .late = true},
    SETTING("whiten", FLAG, AT(whiten), 0, 0, NULL, NULL,
            "components to unit variance first"),
    SETTING_END};

struct pca {
    struct learnt *learnt;
    const struct settings *set;
    bool given;       /* d was asked for; else there may be fewer components */
    double *mean;     /* width */
    double *vector;   /* C, then its eigenvectors, one a row */
    double *variance; /* eigenvalues, falling */
    double *r;        /* d */
    float *encoder, *decoder; /* weights, then biases */
};

/* ---- Moments ------------------------------------------------------------- */

static void
find_mean(struct pca *pca)
{
    const struct learnt *learnt = pca->learnt;
    for (size_t i = 0; i < learnt->n; i++) {
        for (size_t j = 0; j < learnt->width; j++) {
            pca->mean[j] += (double)learnt->x[i * learnt->width + j];
        }
    }
    for (size_t j = 0; j < learnt->width; j++) {
        pca->mean[j] /= (double)learnt->n;
    }
}

/* Products of up to CHUNK rows in floats, their sums in doubles: the rounding
   does not grow with n. */
static enum sotto_status
find_covariance(struct pca *pca, struct sotto_error *err)
{
    const struct learnt *learnt = pca->learnt;
    size_t width = learnt->width, n = learnt->n;
    float *centred = calloc(CHUNK, width * sizeof *centred);
    float *product = calloc(width, width * sizeof *product);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (centred == NULL || product == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t rows = n - from < CHUNK ? n - from : CHUNK;
        const float *x = learnt->x + from * width;
        for (size_t i = 0; i < rows * width; i++) {
            centred[i] = (float)(x[i] - pca->mean[i % width]);
        }
        learnt->backend->ops->multiply(learnt->backend, true, false, width,
                                       width, rows, 1, centred, centred, 0,
                                       product);
        for (size_t i = 0; i < width * width; i++) {
            pca->vector[i] += (double)product[i] / (double)n;
        }
    }
done:
    host_wipe_free(centred, CHUNK * width * sizeof *centred);
    free(product);
    return status;
}

/* ---- The map ------------------------------------------------------------- */

/* What a component is multiplied by before the scaling: 1, or to variance 1. */
static double
gain_of(const struct pca *pca, size_t i)
{
    return pca->set->whiten ? 1 / sqrt(pca->variance[i]) : 1;
}

static enum sotto_status
check_rank(const struct pca *pca, struct sotto_error *err)
{
    size_t d = pca->learnt->set.d;
    if (!(pca->variance[0] > 0)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the data does not vary: all records are alike but "
                         "for the label, so there is no component to find");
    }
    for (size_t i = 1; i < d; i++) {
        if (!(pca->variance[i] > RANK_LEAST * pca->variance[0])) {
            if (!pca->given) {
                pca->learnt->set.d = (uint32_t)i;
                break;
            }
            (void)host_fail(err, SOTTO_STATUS_INPUT, 0,
                            "d is %zu, and the data varies in %zu direction%s "
                            "only: give %zu or less",
                            d, i, i == 1 ? "" : "s", i);
            return host_about(SOTTO_STATUS_INPUT, err, SOTTO_ABOUT_SETTING,
                              "d");
        }
    }
    return SOTTO_STATUS_OK;
}

/* t_i of a row, gain included: a learnt_entry_fn. */
static double
find_entry(const void *context, size_t row, size_t i)
{
    const struct pca *pca = context;
    size_t width = pca->learnt->width;
    const float *x = pca->learnt->x + row * width;
    const double *v = pca->vector + i * width;
    double t = 0;
    for (size_t j = 0; j < width; j++) {
        t += v[j] * (x[j] - pca->mean[j]);
    }
    return t * gain_of(pca, i);
}

static enum sotto_status
find_scale(struct pca *pca, struct sotto_error *err)
{
    const struct learnt *learnt = pca->learnt;
    return learnt_find_scales(learnt->channel->domain, learnt->n, learnt->set.d,
                              pca->set->inside, find_entry, pca, pca->r, err);
}

/* z = W (x - mean) has the bias -W mean; the way back W' z + mean. */
static void
fill_layers(struct pca *pca)
{
    size_t d = pca->learnt->set.d, width = pca->learnt->width;
    for (size_t i = 0; i < d; i++) {
        const double *v = pca->vector + i * width;
        double gain = pca->r[i] * gain_of(pca, i), bias = 0;
        for (size_t j = 0; j < width; j++) {
            pca->encoder[i * width + j] = (float)(gain * v[j]);
            pca->decoder[j * d + i] = (float)(v[j] / gain);
            bias -= gain * v[j] * pca->mean[j];
        }
        pca->encoder[d * width + i] = (float)bias;
    }
    for (size_t j = 0; j < width; j++) {
        pca->decoder[d * width + j] = (float)pca->mean[j];
    }
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
fit(struct pca *pca, struct sotto_error *err)
{
    const struct learnt *learnt = pca->learnt;
    size_t d = learnt->set.d, width = learnt->width;
    enum sotto_status status;
    if (d > width && !pca->given) {
        d = width;
        pca->learnt->set.d = (uint32_t)width;
    }
    if (width > WIDTH_MAX) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, 0,
                      "%zu inputs are too many for principal components: "
                      "at most %zu; drop some",
                      width, WIDTH_MAX),
            err, "drop");
    }
    if (d > width) {
        (void)host_fail(err, SOTTO_STATUS_LIMIT, 0,
                        "d is %zu, and %zu input%s as many components at "
                        "most: give %zu or less",
                        d, width, width == 1 ? " has" : "s have", width);
        return host_about(SOTTO_STATUS_LIMIT, err, SOTTO_ABOUT_SETTING, "d");
    }
    pca->mean = calloc(width, sizeof *pca->mean);
    pca->vector = calloc(width, width * sizeof *pca->vector);
    pca->variance = calloc(width, sizeof *pca->variance);
    pca->r = calloc(d, sizeof *pca->r);
    pca->encoder = calloc(d, (width + 1) * sizeof *pca->encoder);
    pca->decoder = calloc(width, (d + 1) * sizeof *pca->decoder);
    if (pca->mean == NULL || pca->vector == NULL || pca->variance == NULL ||
        pca->r == NULL || pca->encoder == NULL || pca->decoder == NULL) {
        return host_fail_memory(err);
    }
    find_mean(pca);
    status = find_covariance(pca, err);
    status = HOST_THEN(
        status, tensor_symmetric(width, pca->vector, pca->variance, err));
    status = HOST_THEN(status, check_rank(pca, err));
    status = HOST_THEN(status, find_scale(pca, err));
    if (status == SOTTO_STATUS_OK) {
        fill_layers(pca);
    }
    return status;
}

/* The share of the variance that d components have. */
static double
explained(const struct pca *pca)
{
    double kept = 0, all = 0;
    for (size_t i = 0; pca->variance != NULL && i < pca->learnt->width; i++) {
        all += pca->variance[i];
        kept += i < pca->learnt->set.d ? pca->variance[i] : 0;
    }
    return kept / all;
}

static enum sotto_status
write_files(const struct pca *pca, struct sotto_error *err)
{
    const struct learnt *learnt = pca->learnt;
    uint32_t d = (uint32_t)learnt->set.d, width = (uint32_t)learnt->width;
    struct layer encoder = {.in = width,
                            .out = d,
                            .activation = ACTIVATION_NONE,
                            .weight = pca->encoder,
                            .bias = pca->encoder + (size_t)d * width};
    struct layer decoder = {.in = d,
                            .out = width,
                            .activation = ACTIVATION_NONE,
                            .weight = pca->decoder,
                            .bias = pca->decoder + (size_t)d * width};
    struct analyst_block block = {ANALYST_GAUSSIAN, 0, width};
    json_t *facts =
        json_pack("{s:I, s:f, s:f, s:b}", "rows", (json_int_t)learnt->n,
                  "explained", explained(pca), "inside", pca->set->inside,
                  "whiten", (int)pca->set->whiten);
    struct learnt_result result = {.encoder = &encoder,
                                   .encoder_layers = 1,
                                   .decoder = &decoder,
                                   .decoder_layers = 1,
                                   .block = &block,
                                   .blocks = 1,
                                   .facts = facts};
    enum sotto_status status = facts != NULL
                                   ? learnt_finish(learnt, &result, err)
                                   : host_fail_memory(err);
    json_decref(facts);
    return status;
}

static void
pca_clear(struct pca *pca)
{
    free(pca->mean);
    free(pca->vector);
    free(pca->variance);
    free(pca->r);
    free(pca->encoder);
    free(pca->decoder);
}

static bool
is_given(const struct encoder_job *job, const char *name)
{
    for (size_t i = 0; i < job->options->sets; i++) {
        if (strcmp(job->options->set[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum sotto_status
check_pca(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct settings *set = own;
    (void)job;
    return learnt_settings_check(&set->common, err);
}

static enum sotto_status
fit_pca(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct learnt learnt = {0};
    struct settings *set = own;
    struct pca pca = {
        .learnt = &learnt, .set = set, .given = is_given(job, "d")};
    enum sotto_status status = learnt_begin(&learnt, job, &set->common, err);
    status = HOST_THEN(status, fit(&pca, err));
    set->common.d = learnt.set.d > 0 ? learnt.set.d : set->common.d;
    status = HOST_THEN(status, write_files(&pca, err));
    pca_clear(&pca);
    learnt_clear(&learnt);
    return status;
}

const struct encoder encoder_pca = {
    .kind = {.name = "pca",
             .about = "the first principal components, as a baseline.",
             .analyst = "decoder and prior",
             .example = "d=2"},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .check = check_pca,
    .fit = fit_pca,
};
