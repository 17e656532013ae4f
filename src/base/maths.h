/*
 * maths.h: the few real functions the trusted part needs, without libm.
 *
 * They serve the encoder's activations and the collector's log-likelihoods.
 * Privacy rests on them in one place: the gaussian channel chooses sigma by
 * doubles, with a margin eight times their error (channel/gaussian.c).
 * IEEE doubles, no contraction: the same bits on every platform. All but
 * maths_log execute the same instructions whatever x is.
 */
#ifndef SOTTO_BASE_MATHS_H
#define SOTTO_BASE_MATHS_H

/* e^x, to a few units in the last place; 0 and infinity at the ends. */
double maths_exp(double x);
/* ln x for finite x > 0, to a few units in the last place. */
double maths_log(double x);
/* sign(x) ln(1 + |x|), ln to a few units in the last place, for finite x that
   is 0 or normal; some finite number for an infinity and a NaN. */
double maths_log_signed(double x);

float maths_relu(float x);
float maths_sigmoid(float x);
float maths_tanh(float x);

#endif
