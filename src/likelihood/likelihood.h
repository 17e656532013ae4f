/*
 * likelihood.h: the host's half of every channel: what a report says.
 *
 * A device sets a channel up and samples it (channel/channel.h). A collector,
 * an analyst or a simulation asks what a report says of the point: how likely
 * it was, an estimate of the point, its integers for people. No device holds
 * any of this. `valid` is the channel's; all functions here but `pack` are for
 * valid reports only.
 *
 * A new channel's half is one file with one struct likelihood, and one row in
 * registry.c.
 */
#ifndef SOTTO_LIKELIHOOD_LIKELIHOOD_H
#define SOTTO_LIKELIHOOD_LIKELIHOOD_H

#include "channel/channel.h"

struct likelihood;

#define LIKELIHOOD_OWN 4u

/* What reports of one channel instance say. Read-only once made. */
struct likelihood_instance {
    const struct likelihood *likelihood;
    const struct channel_instance *instance;
    uint32_t values;   /* integers in one unpacked report */
    uint64_t realised; /* the epsilon of the tables as they are, rounded up to
                          units of 10^-12 (realised.h), with the stated
                          delta; REALISED_NONE: not known, or they keep none */

    /* The estimator's variance for the entry that is the truth, and for the
       others (the same but for symbols; the largest where it depends on q),
       and the most its mean can be off. */
    double variance_true;
    double variance_other;
    double bias;
    /* The least and the largest estimate that a valid report can give of an
       entry, and the size of the larger: what a forged one can do. */
    double low, high, most;
    double mean_low, mean_high; /* where the mean of an honest device's reports
                                   lies, whatever its owner answers */
    double unit; /* numbers: the estimate of an entry is its integer (unpack)
                    times this; 0 for symbols */

    double own[LIKELIHOOD_OWN]; /* the likelihood's constants */
};

struct likelihood {
    const char *name; /* the channel's */

    /* Fills `values`, the moments and `own`. */
    void (*init)(struct likelihood_instance *at);

    /* Finds the epsilon of the instance's tables (realised.h). */
    uint64_t (*realised)(const struct channel_instance *instance);

    /* ln p(report | q), and the same for n points stored one after another
       (one integer each for symbols, else `size` each). */
    double (*log_p)(const struct likelihood_instance *at, const uint8_t *wire,
                    const int32_t *q);
    void (*log_p_many)(const struct likelihood_instance *at,
                       const uint8_t *wire, const int32_t *q, size_t n,
                       double *ret_log_p);

    /* An unbiased estimate (but for `bias`) of q, or of the indicator of each
       symbol: `size` numbers. A channel of pairs may see only how the two go
       together: `bias` is then what their own frequencies can add. */
    void (*estimate)(const struct likelihood_instance *at, const uint8_t *wire,
                     double *ret_estimate);

    /* A report as `values` integers, for people; and back, false if those
       integers are no report. */
    void (*unpack)(const struct likelihood_instance *at, const uint8_t *wire,
                   int64_t *ret_values);
    bool (*pack)(const struct likelihood_instance *at, const int64_t *values,
                 uint8_t *ret_wire);

    /* The same as the channel's `valid`, for a collector that looks at millions
       of reports; NULL: there is none that is faster. */
    bool (*valid)(const struct likelihood_instance *at, const uint8_t *wire);

    /* Symbols, NULL for numbers. Adds to count[i] how many of n valid reports,
       `stride` bytes from one to the next, name symbol i; and the mean of their
       estimates, from these counts and no more: `size` numbers. */
    void (*count)(const struct likelihood_instance *at, const uint8_t *wire,
                  size_t stride, size_t n, uint64_t *count);
    void (*mean)(const struct likelihood_instance *at, const uint64_t *count,
                 uint64_t n, double *ret_mean);
};

/* Whether the bytes can be a report of the channel at all. */
static inline bool
likelihood_valid(const struct likelihood_instance *at, const uint8_t *wire)
{
    return at->likelihood->valid != NULL
               ? at->likelihood->valid(at, wire)
               : at->instance->channel->valid(at->instance, wire);
}

/* The likelihood of the channel of that name; NULL if there is none. */
const struct likelihood *likelihood_find(const char *name);

/* Sets up what reports of `instance`, which stays in use, say. Statuses: USAGE
   (a channel without a likelihood). */
SOTTO_CHECKED enum sotto_status
likelihood_init(struct likelihood_instance *at,
                const struct channel_instance *instance);
/* Sets it up with a likelihood that is at hand, which need not be that of the
   channel: `realised` is not looked for. */
void likelihood_bind(struct likelihood_instance *at,
                     const struct likelihood *likelihood,
                     const struct channel_instance *instance);

#endif
