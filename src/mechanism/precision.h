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
    /* Of shares. */
    struct interval_share share;
    double *shares;
    bool part_of_pair; /* its estimate is a sum over the codes of a codebook */
    /* Of a mean: in the column's units, but noise, off, rounding, pair_bias and
       steps in the channel's. */
    double low, high, unit;
    double centre; /* the value that the channel has at 0 */
    double mean, spread;
    double noise, off; /* deviation; what clamping and rounding can do */
    double most;       /* of a symbol or a number: struct likelihood_instance */
    /* Of a number whose report says, in its next entry, that it is missing. */
    bool gap;         /* the mean is of those who have a value */
    bool missing;     /* the question is the share that has none: a mean of 0
                         and 1 */
    double absent;    /* the table's share without a value; 0: none is known */
    double steps;     /* the channel's l */
    double rounding;  /* of off, what rounding can do */
    double pair_bias; /* the most that the mean of each entry can be off */
};

const struct precision_question *
precision_at(const struct sotto_precision *precision, size_t i);
/* The standard error of n reports; `share` is not looked at for a mean. */
double precision_deviation(const struct precision_question *question,
                           double share, double n);

/* precision_gap.c: the same of those who have a value; half the width that
   decode prints, INFINITY where it prints none; and what liars move, to first
   order. */
double precision_gap_deviation(const struct precision_question *question,
                               double n);
double precision_gap_half(const struct precision_question *question, double n,
                          double z);
void precision_gap_lies(const struct precision_question *question, double liars,
                        double *ret_lied, double *ret_forged);

#endif
