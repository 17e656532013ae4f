/*
 * smooth_sampler.h: particles, and how they move (smooth.c says why). For
 * smooth.c alone.
 */
#ifndef SOTTO_LEARN_SMOOTH_SAMPLER_H
#define SOTTO_LEARN_SMOOTH_SAMPLER_H

#include "learn/codes/smooth.h"
#include "random/seeded.h"

struct sampler_state {
    float *e, *u;   /* where particles are */
    float *de, *du; /* the gradient of V there */
    double *value;  /* V */
};

struct sampler {
    const struct smooth_problem *problem;
    const struct smooth_options *options;
    struct smooth_energy energy;
    size_t particles, columns, features;
    struct sampler_state now, next;
    float *r, *ru;         /* momenta */
    double *log_p;         /* particles: ln of prior and momenta, before */
    double *log_p_next;    /* after */
    float *step;           /* particles */
    float *wide_step;      /* columns: the step of a column's particle */
    bool *taken;           /* particles */
    uint32_t *from;        /* particles: whom each was drawn from */
    uint32_t *pair;        /* particles: two labels to exchange */
    double *sum;           /* leaves rows of classes: tau, summed */
    size_t kept;           /* in it */
    struct seeded *seeded; /* particles, and one for all */
    double beta, length, acceptance;
    bool settled; /* no exchange of labels was taken since V is what it is */
    size_t stage;
    double done;              /* of all the work, about */
    struct sotto_watch watch; /* tells the caller's how much is done */
};

/* Makes room for `particles` of the problem, which it has, as it has the
   options. Clear it in any case. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status sampler_init(struct sampler *sampler,
                                             struct sotto_error *err);
void sampler_clear(struct sampler *sampler);

/* Returns one of 2^32 numbers between 0 and 1. */
double sampler_uniform(struct seeded *seeded);
/* Draws every particle from the prior. */
void sampler_start(struct sampler *sampler);
/* Sets V and its gradient at every particle of a state. */
void sampler_evaluate(struct sampler *sampler, struct sampler_state *state);
/* Copies particles: all, or those that are taken; each from the place that
   `source` says, or from its own if that is NULL. */
void sampler_copy(const struct sampler *sampler, const bool *taken,
                  const uint32_t *source, const struct sampler_state *from,
                  struct sampler_state *to);
/* Makes one Hamiltonian move of every particle. */
void sampler_move(struct sampler *sampler);
/* Proposes to every particle, several times, to exchange two labels
   everywhere. */
void sampler_exchange(struct sampler *sampler);

#endif
