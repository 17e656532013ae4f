/*
 * right_print.h: what answers to "is this model right about you?" come to, in
 * words and as JSON: validate prints it, and tune at its end.
 */
#ifndef SOTTO_VERB_RIGHT_PRINT_H
#define SOTTO_VERB_RIGHT_PRINT_H

#include <stdio.h>

#include "sotto/sotto.h"

/* What is said besides of the question. */
struct right_print {
    const char *eps; /* of each answer, decimal text */
    const char *campaign;
    double confidence; /* of the interval */
    double clean;      /* in the clear; NAN: nobody knows */
};

void right_print(FILE *to, const struct sotto_right *right,
                 const struct right_print *more);
/* The fields of the same, into an object that is open. */
void right_print_json(FILE *to, const struct sotto_right *right,
                      const struct right_print *more);

#endif
