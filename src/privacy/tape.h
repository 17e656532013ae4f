/*
 * tape.h: the primitives of random/draw.h on a tape that takes every branch.
 *
 * A sampler that is given the tape's source draws nothing: every primitive
 * gives the next choice on the tape and multiplies up that choice's exact
 * probability. Running a sampler once for each branch enumerates its exact
 * output distribution, and it is the sampler that ships, not its formula, that
 * is enumerated:
 *
 *     struct tape *tape = tape_new();
 *     struct random random;
 *     tape_random(tape, &random);
 *     do {
 *         sample(..., &random, report);
 *         if (!tape_rejected(tape))
 *             p(report) += tape_numerator(tape) / tape_denominator(tape) ...
 *     } while (tape_next(tape));
 *     tape_free(tape);
 *
 * The order is depth first. Choices of probability zero are skipped. With
 * rejection sampling (draw_accepted) the sum falls short of 1 by the branches
 * rejected; the distribution is the rest, divided by its sum.
 *
 * Big integers are GMP's, which ends the program where there is no memory for
 * one: a few kilobytes each.
 */
#ifndef SOTTO_PRIVACY_TAPE_H
#define SOTTO_PRIVACY_TAPE_H

#include <gmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "random/random.h"

/* More draws than this in one run are "without end". */
#define TAPE_STEPS_MOST 1024u

struct tape;

/* NULL if there is no memory. */
struct tape *tape_new(void);
void tape_free(struct tape *tape);

/* A source whose draws come from this tape. */
void tape_random(struct tape *tape, struct random *ret_random);

/* Goes back to the start, on the next branch; false once all were taken, and
   then the tape is as new. */
bool tape_next(struct tape *tape);

/* Forgets every choice: for a sampler that was not enumerated to the end. */
void tape_rewind(struct tape *tape);

/*
 * What the sampler did that none may do, NULL if nothing: took bytes past the
 * primitives, drew something else when run again with the same answers, drew
 * without end, or asked for what is no probability. Sticky; what the tape says
 * from then on means nothing.
 */
const char *tape_fault(const struct tape *tape);

/* How many draws the branch just run made. */
uint32_t tape_steps(const struct tape *tape);

/* The exact probability of the branch just run, not reduced. */
mpz_srcptr tape_numerator(const struct tape *tape);
mpz_srcptr tape_denominator(const struct tape *tape);

/* Whether an attempt of draw_accepted was rejected on the branch just run. */
bool tape_rejected(const struct tape *tape);

/*
 * A fingerprint of which primitives were called, with which public arguments.
 * It is the same on every branch and for every record if and only if (but for
 * collisions) the sampler's draws depend on neither (invariant 7).
 */
uint64_t tape_shape(const struct tape *tape);

#endif
