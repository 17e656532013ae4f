/*
 * halving.h: successive halving among candidates, by private answers.
 *
 * With C candidates there are ceil(log2 C) rounds; in each the worse half is
 * dropped, by all answers so far. Who is asked, and how, is the caller's.
 */
#ifndef SOTTO_LEARN_HALVING_H
#define SOTTO_LEARN_HALVING_H

#include <stddef.h>

struct halving {
    size_t candidate; /* its number */
    double accuracy;  /* as estimated so far */
};

/* Rounds until one is left. */
size_t halving_rounds(size_t candidates);
/* How many are left after a round. */
size_t halving_left(size_t candidates);
/* Puts the best first; of equals the one with the smaller number. */
void halving_sort(struct halving *halving, size_t count);

#endif
