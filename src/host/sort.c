/*
 * sort.c: numbers in order.
 */
#include "host/sort.h"

#include <stdlib.h>

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void
host_sort_doubles(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}
