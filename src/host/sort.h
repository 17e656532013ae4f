/*
 * sort.h: numbers in order.
 */
#ifndef SOTTO_HOST_SORT_H
#define SOTTO_HOST_SORT_H

#include <stddef.h>

/* Sorts, ascending. There must be no NaN among them. */
void host_sort_doubles(double *values, size_t count);

#endif
