/*
 * precision.h: a question that reports answer without a model, for the files
 * that compute what to expect of it and that simulate it.
 */
#ifndef SOTTO_MECHANISM_PRECISION_H
#define SOTTO_MECHANISM_PRECISION_H

#include "likelihood/interval.h"
#include "sotto/planning.h"

struct precision_question {
    const char *name;
    size_t column, part;
    size_t categories; /* 0: a mean */
    bool told;         /* the channel tells it; else nothing here counts */
    bool known;        /* shares, or mean and spread, are the table's */
    bool complete;     /* and no number is missing there */
    /* Of shares. */
    struct interval_share share;
    double *shares;
    bool part_of_pair; /* its estimate is a sum over the codes of a codebook */
    /* Of a mean: in the column's units, but noise and off in the channel's. */
    double low, high, unit;
    double mean, spread;
    double noise, off; /* deviation; what clamping and rounding can do */
    double most;       /* of a symbol or a number: struct likelihood_instance */
};

const struct precision_question *
precision_at(const struct sotto_precision *precision, size_t i);
/* The standard error of n reports; `share` is not looked at for a mean. */
double precision_deviation(const struct precision_question *question,
                           double share, double n);

#endif
