/*
 * idealised.h: channels in doubles, to compare the exact ones with.
 *
 * Benchmarks only. What doubles round away is part of no proof here: a report
 * is a row of doubles, whose last bits may tell of the point (invariant 2). So
 * no device has these channels. A reader of mechanisms takes its list of
 * channels as an argument, and gets channel_exact; no list of channels contains
 * these. They are drawn by a simulation's generator (struct simulation), never
 * from the operating system's entropy.
 *
 * Each is a struct channel and a struct likelihood like any other, so what
 * needs no more than these two takes it. What differs:
 *
 * - a report is doubles in little-endian order, and unpacked each double is the
 *   integer of its 64 bits, so `unit` is 0;
 * - log_p is of a density: with respect to what is said at each channel, the
 *   same for all points, so that differences between points are what they are
 *   for the exact ones;
 * - own memory is made with libm, and `realised` is not known.
 *
 * Densities, parameters and proofs: docs/idealised.md.
 */
#ifndef SOTTO_IDEALISED_IDEALISED_H
#define SOTTO_IDEALISED_IDEALISED_H

#include "idealised/names.h"
#include "likelihood/likelihood.h"

struct idealised {
    const struct channel *channel;
    const struct likelihood *likelihood;
    /* The sum over all entries of the variance of the estimate of q: what the
       papers' formulas give, times l^2. */
    double (*variance)(const struct likelihood_instance *at, const int32_t *q);
};

/* All of them; ends with one without a channel. */
extern const struct idealised idealised_table[];
/* The one of that name; NULL if there is none. */
const struct idealised *idealised_find(const char *name);

/* Sets both up on d numbers of radius l, with channel->own_size bytes at `own`,
   aligned to 8, which stay in use. Statuses: those of channel_init. */
SOTTO_CHECKED enum sotto_status
idealised_init(const struct idealised *idealised, uint32_t d, uint32_t l,
               uint64_t eps, void *own, struct channel_instance *ret_instance,
               struct likelihood_instance *ret_at);

/* Draws a report of q, of wire_size bytes; of an exact channel, too. */
void idealised_draw(const struct channel_instance *instance, const int32_t *q,
                    struct simulation *simulation, uint8_t *ret_wire);

#endif
