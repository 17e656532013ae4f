/*
 * learnt_channel.c: the channel of a learnt representation, and its clip and
 * noise while an encoder learns.
 */
#include "encoder/learnt_channel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/noise.h"
#include "host/error.h"
#include "host/sort.h"
#include "host/wipe.h"
#include "idealised/names.h"
#include "likelihood/likelihood.h"
#include "mechanism/rebudget.h"

#define CHANNEL_DEFAULT "laplace"
#define STEPS_DEFAULT 4096u
#define STEPS_BALL 256u /* its noise grows with it, and is sampled in steps */
#define UNIT ((double)DECIMAL_UNIT)

/* ---- Settings ------------------------------------------------------------ */

/* Whether it takes a vector. */
static bool
takes_vector(const struct channel *channel)
{
    return channel->domain != CHANNEL_DOMAIN_SYMBOLS && !channel->scalar;
}

const char *
learnt_channel_note(const char *given)
{
    return idealised_named(given)
               ? " works in floating point and is for benchmarks alone: no "
                 "mechanism can have it"
               : "";
}

static enum sotto_status
fail_channel(const char *given, struct sotto_error *err)
{
    struct host_text there;
    host_text_init(&there, 1024);
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        if (takes_vector(channel_exact[i])) {
            host_text_print(&there, "%s%s", there.size > 0 ? ", " : "",
                            channel_exact[i]->name);
        }
    }
    (void)settings_fail(err, "channel",
                        "%s%s: the channels for a representation are %s",
                        host_shown(given), learnt_channel_note(given),
                        there.data != NULL ? there.data : CHANNEL_DEFAULT);
    host_text_clear(&there);
    return SOTTO_STATUS_USAGE;
}

const struct channel *
learnt_channel_of(const struct learnt_settings *set)
{
    return channel_find(channel_exact, set->channel, strlen(set->channel));
}

static enum sotto_status
check_delta(const struct learnt_settings *set, struct sotto_error *err)
{
    const struct channel *channel = learnt_channel_of(set);
    uint64_t delta;
    if (set->delta == NULL) {
        return channel->approximate
                   ? settings_fail(err, "delta",
                                   "is missing, and the channel '%s' needs "
                                   "one: give one far below one in the number "
                                   "of people, such as 0.000001",
                                   channel->name)
                   : SOTTO_STATUS_OK;
    }
    if (!channel->approximate) {
        return settings_fail(err, "delta",
                             "is for gaussian, and the channel is %s: leave it "
                             "out",
                             channel->name);
    }
    return rebudget_read_delta(set->delta, &delta, err);
}

enum sotto_status
learnt_settings_check(struct learnt_settings *set, struct sotto_error *err)
{
    const struct channel *channel;
    set->channel = set->channel != NULL ? set->channel : CHANNEL_DEFAULT;
    channel = learnt_channel_of(set);
    if (channel == NULL || !takes_vector(channel)) {
        return fail_channel(set->channel, err);
    }
    if (set->steps == 0) {
        set->steps =
            channel->domain == CHANNEL_DOMAIN_BALL ? STEPS_BALL : STEPS_DEFAULT;
    }
    return check_delta(set, err);
}

enum sotto_status
learnt_channel_check_pre(const struct learnt_settings *set, double eps_pre,
                         struct sotto_error *err)
{
    double units = eps_pre * UNIT;
    if (learnt_channel_of(set)->domain != CHANNEL_DOMAIN_LATTICE &&
        (units < (double)DECIMAL_EPS_MIN || units > (double)DECIMAL_EPS_MAX)) {
        return settings_fail(err, "eps-pre",
                             "is %g, and training noise of '%s' is that of a "
                             "report: give 0.000001 to 32",
                             eps_pre, set->channel);
    }
    return SOTTO_STATUS_OK;
}

/* ---- The channel's noise ------------------------------------------------- */

/* The variance of an estimate at this epsilon, in radius 1. */
static enum sotto_status
find_variance(const struct learnt *learnt, size_t d, uint64_t eps,
              double *ret_variance, struct sotto_error *err)
{
    const struct channel *channel = learnt->channel;
    double l = learnt->set.steps;
    struct channel_instance instance;
    struct likelihood_instance likelihood;
    void *own = malloc(channel->own_size);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = channel_init(&instance, channel, (uint32_t)d, 0, learnt->set.steps,
                          eps, learnt->delta, own);
    if (status == SOTTO_STATUS_OK) {
        likelihood_bind(&likelihood, likelihood_find(channel->name), &instance);
        *ret_variance = likelihood.variance_other / (l * l);
    } else {
        (void)host_fail(err, status, 0,
                        "steps is too large: '%s' cannot make the noise for %u "
                        "steps at so small an epsilon: lower it, or raise "
                        "epsilon",
                        channel->name, (unsigned)learnt->set.steps);
        status = host_about(status, err, SOTTO_ABOUT_SETTING, "steps");
    }
    free(own);
    return status;
}

enum sotto_status
learnt_channel_begin(struct learnt *learnt, struct sotto_error *err)
{
    double variance;
    enum sotto_status status = SOTTO_STATUS_OK;
    learnt->channel = learnt_channel_of(&learnt->set);
    if (learnt->set.delta != NULL) {
        status = rebudget_read_delta(learnt->set.delta, &learnt->delta, err);
    }
    return HOST_THEN(status,
                     find_variance(learnt, 1, learnt->eps_x, &variance, err));
}

enum sotto_status
learnt_noise_ratio(const struct learnt *learnt, size_t d, double *ret_ratio,
                   struct sotto_error *err)
{
    return find_variance(learnt, d, learnt->eps_x, ret_ratio, err);
}

enum sotto_status
learnt_noise_scale(const struct learnt *learnt, size_t d, double l,
                   double eps_pre, double *ret_scale, struct sotto_error *err)
{
    double variance = 0;
    enum sotto_status status;
    if (learnt->channel->domain == CHANNEL_DOMAIN_LATTICE) {
        *ret_scale = 2 * l / eps_pre;
        return SOTTO_STATUS_OK;
    }
    status = find_variance(learnt, d, (uint64_t)llround(eps_pre * UNIT),
                           &variance, err);
    *ret_scale = l * sqrt(variance);
    return status;
}

void
learnt_noise(enum channel_domain domain, uint64_t seed, uint32_t epoch,
             uint32_t row, size_t d, float *ret_noise)
{
    if (domain == CHANNEL_DOMAIN_LATTICE) {
        noise_laplace(seed, epoch, row, d, ret_noise);
    } else {
        noise_normal(seed, epoch, row, d, ret_noise);
    }
}

/* ---- Clip ---------------------------------------------------------------- */

/* A norm as a sum, or a maximum, over its entries. */
static double
add_to_norm(enum channel_domain domain, double norm, double entry)
{
    switch (domain) {
    case CHANNEL_DOMAIN_BALL:
        return norm + entry * entry;
    case CHANNEL_DOMAIN_CUBE:
        return fmax(norm, fabs(entry));
    default:
        return norm + fabs(entry);
    }
}

static double
end_norm(enum channel_domain domain, double norm)
{
    return domain == CHANNEL_DOMAIN_BALL ? sqrt(norm) : norm;
}

double
learnt_norm(enum channel_domain domain, const float *h, size_t d)
{
    double norm = 0;
    for (size_t i = 0; i < d; i++) {
        norm = add_to_norm(domain, norm, (double)h[i]);
    }
    return end_norm(domain, norm);
}

static void
clip_ball(size_t n, size_t d, double l, const float *h, float *z)
{
    for (size_t r = 0; r < n; r++) {
        double size = learnt_norm(CHANNEL_DOMAIN_BALL, h + r * d, d);
        double factor = size > l ? l / size : 1;
        for (size_t i = r * d; i < (r + 1) * d; i++) {
            z[i] = (float)(h[i] * factor);
        }
    }
}

/* Inside dh = dz. Outside, z = l h / s with s = |h|_2:
   dh = (l / s) (dz - h (dz . h) / s^2). */
static void
clip_ball_back(size_t n, size_t d, double l, const float *h, const float *dz,
               float *dh)
{
    for (size_t r = 0; r < n; r++) {
        const float *at = h + r * d, *slope = dz + r * d;
        double size = learnt_norm(CHANNEL_DOMAIN_BALL, at, d), along = 0;
        for (size_t i = 0; i < d && size > l; i++) {
            along += (double)slope[i] * at[i] / size;
        }
        for (size_t i = 0; i < d; i++) {
            double inside = slope[i];
            dh[r * d + i] =
                (float)(size > l ? l / size * (inside - at[i] / size * along)
                                 : inside);
        }
    }
}

void
learnt_clip(enum channel_domain domain, struct tensor_backend *backend,
            size_t n, size_t d, double l, const float *h, float *z)
{
    switch (domain) {
    case CHANNEL_DOMAIN_BALL:
        clip_ball(n, d, l, h, z);
        break;
    case CHANNEL_DOMAIN_CUBE:
        for (size_t i = 0; i < n * d; i++) {
            z[i] = (float)fmax(-l, fmin(l, (double)h[i]));
        }
        break;
    default:
        backend->ops->clip_l1(backend, n, d, (float)l, h, z);
        break;
    }
}

/* A number outside the cube has no slope by itself. Going down dz may still
   bring it back in, and then dz is let through: else one that is outside for
   every record would stay there for good. */
void
learnt_clip_back(enum channel_domain domain, struct tensor_backend *backend,
                 size_t n, size_t d, double l, const float *h, const float *dz,
                 float *dh)
{
    switch (domain) {
    case CHANNEL_DOMAIN_BALL:
        clip_ball_back(n, d, l, h, dz, dh);
        break;
    case CHANNEL_DOMAIN_CUBE:
        for (size_t i = 0; i < n * d; i++) {
            bool outward = fabs((double)h[i]) > l && h[i] * dz[i] < 0;
            dh[i] = outward ? 0 : dz[i];
        }
        break;
    default:
        backend->ops->clip_l1_back(backend, n, d, (float)l, h, dz, dh);
        break;
    }
}

/* ---- From z to the domain ------------------------------------------------ */

/* 1 / the size that the share `inside` of n does not exceed; sorts them. */
static double
scale_by(double *size, size_t n, double inside)
{
    double at;
    host_sort_doubles(size, n);
    at = size[(size_t)ceil(inside * (double)n) - 1];
    return at > 0 ? 1 / (at * (1 + 1e-6)) : 1; /* floats round, too */
}

enum sotto_status
learnt_find_scales(enum channel_domain domain, size_t n, size_t d,
                   double inside, learnt_entry_fn *entry, const void *context,
                   double *ret_scale, struct sotto_error *err)
{
    bool cube = domain == CHANNEL_DOMAIN_CUBE;
    double *size = calloc(n, sizeof *size);
    if (size == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < (cube ? d : 1); i++) {
        size_t first = cube ? i : 0, end = cube ? i + 1 : d;
        for (size_t row = 0; row < n; row++) {
            double norm = 0;
            for (size_t j = first; j < end; j++) {
                norm = add_to_norm(domain, norm, entry(context, row, j));
            }
            size[row] = end_norm(domain, norm);
        }
        ret_scale[i] = scale_by(size, n, inside);
    }
    for (size_t i = 1; !cube && i < d; i++) {
        ret_scale[i] = ret_scale[0];
    }
    host_wipe_free(size, n * sizeof *size);
    return SOTTO_STATUS_OK;
}
