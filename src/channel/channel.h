/*
 * channel.h: exact randomisers on public finite domains.
 *
 * A channel takes a point q of its domain and gives a report. Domains:
 *
 *   lattice   q in Z^d with |q_1| + ... + |q_d| <= l     (d = size, l)
 *   symbols   q in {0, ..., k-1}                          (k = size)
 *             of pairs (c, y): q = c k_2 + y, k = k_1 k_2   (k_1 = rows)
 *   ball      q in Z^d with q_1^2 + ... + q_d^2 <= l^2    (d = size, l)
 *   cube      q in Z^d with every |q_i| <= l              (d = size, l)
 *
 * Neighbours are any two points, so the sensitivity is a property of the
 * domain (invariant 1): 2l in the L1, L2 or maximum norm. Every noise parameter
 * is computed here from (domain, epsilon, delta); none is taken from a file.
 *
 * A new channel is one file with one struct channel, and one row in
 * registry.c. All of it is freestanding. What a report says of the point is
 * the host's to ask: likelihood/likelihood.h.
 */
#ifndef SOTTO_CHANNEL_CHANNEL_H
#define SOTTO_CHANNEL_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/random.h"
#include "sotto/client.h"

enum channel_domain {
    CHANNEL_DOMAIN_LATTICE = 0,
    CHANNEL_DOMAIN_SYMBOLS = 1,
    CHANNEL_DOMAIN_BALL = 2,
    CHANNEL_DOMAIN_CUBE = 3
};

#define CHANNEL_D_MAX 4096u
#define CHANNEL_K_MAX 65536u
#define CHANNEL_L_MAX (1u << 20)

struct channel;

/* A channel set up for a domain and an epsilon. Read-only once made. */
struct channel_instance {
    const struct channel *channel;
    uint32_t size;  /* d, or k */
    uint32_t rows;  /* of a channel of pairs, k_1: k / k_1 to a row; else 0 */
    uint32_t l;     /* the domain's radius; 0 for symbols */
    uint64_t eps;   /* stated, in units of 10^-12 */
    uint64_t delta; /* likewise; 0 for a channel that is not approximate */

    uint32_t wire_size;    /* bytes of one report */
    uint32_t entropy_size; /* bytes one sample draws, almost surely */

    const void *own; /* the channel's parameters */
};

struct channel {
    const char *name;
    enum channel_domain domain;
    const char *promise; /* what it does, in a layman's words */
    bool approximate;    /* it keeps (epsilon, delta), and needs a delta */
    bool scalar;         /* it takes one number: d = 1 */
    bool pairs;          /* its symbols are pairs: two factors */
    size_t own_size;     /* bytes of `own`, aligned to 8 */

    /* Fills everything after `delta`; own_size bytes at `own` stay in use.
       Statuses: LIMIT. */
    enum sotto_status (*init)(struct channel_instance *instance, void *own);

    /* Draws a report of q: the only thing a device does with a channel. The
       steps taken depend on neither q nor the noise (invariant 7). */
    void (*sample)(const struct channel_instance *instance, const int32_t *q,
                   struct random *random, uint8_t *ret_wire);

    /* Whether these bytes can be a report at all. */
    bool (*valid)(const struct channel_instance *instance, const uint8_t *wire);
};

/* The channels that devices run, in order, then NULL. */
extern const struct channel *const channel_exact[];
/* The one of a list that has that name, not terminated; NULL if there is none.
   A reader of mechanisms takes its list as an argument, so that a device can
   open no channel but the exact ones. */
const struct channel *channel_find(const struct channel *const *list,
                                   const char *name, size_t size);

/*
 * Sets up `channel` on a domain of this size (and radius) at eps and delta,
 * with `own` of channel->own_size bytes, aligned to 8. `rows` is the size of
 * the first of the domain's two factors, 0 for a domain without two: a channel
 * of pairs needs it, with two or more to each row and in each column, and
 * others do not look at it. Statuses: LIMIT (size, rows or l out of range),
 * BUDGET (eps or delta out of range; a delta that the channel needs or does not
 * take).
 */
SOTTO_CHECKED enum sotto_status channel_init(struct channel_instance *instance,
                                             const struct channel *channel,
                                             uint32_t size, uint32_t rows,
                                             uint32_t l, uint64_t eps,
                                             uint64_t delta, void *own);

/* Entries of a point: `size`, but one for symbols. */
static inline uint32_t
channel_width(const struct channel_instance *instance)
{
    return instance->channel->domain == CHANNEL_DOMAIN_SYMBOLS ? 1
                                                               : instance->size;
}

#endif
