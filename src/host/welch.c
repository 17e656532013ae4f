/*
 * welch.c: whether two classes of measurements have the same mean.
 */
#include "host/welch.h"

#include <math.h>
#include <string.h>

#include "host/sort.h"

const double welch_crops[WELCH_CROPS] = {1,   0.999, 0.99, 0.95,
                                         0.9, 0.75,  0.5,  0.25};

/* Welford's update: no sum of squares that would cancel. */
void
welch_add(struct welch *welch, unsigned class_of, double x)
{
    double before = x - welch->mean[class_of];
    welch->n[class_of] += 1;
    welch->mean[class_of] += before / welch->n[class_of];
    welch->squares[class_of] += before * (x - welch->mean[class_of]);
}

double
welch_t(const struct welch *welch)
{
    double difference = welch->mean[1] - welch->mean[0], variance = 0;
    for (int i = 0; i < 2; i++) {
        if (welch->n[i] < 2) {
            return 0;
        }
        variance += welch->squares[i] / (welch->n[i] - 1) / welch->n[i];
    }
    if (difference == 0) {
        return 0;
    }
    return variance > 0 ? difference / sqrt(variance)
                        : copysign(INFINITY, difference);
}

double
welch_cropped(const double *x, const uint8_t *class_of, size_t count,
              double *sorted)
{
    double largest = 0;
    if (count == 0) {
        return 0;
    }
    memcpy(sorted, x, count * sizeof *x);
    host_sort_doubles(sorted, count);
    for (size_t i = 0; i < WELCH_CROPS; i++) {
        size_t kept = (size_t)ceil(welch_crops[i] * (double)count);
        double cut = sorted[kept - 1], t;
        struct welch welch = {{0}, {0}, {0}};
        for (size_t j = 0; j < count; j++) {
            if (x[j] <= cut) {
                welch_add(&welch, class_of[j], x[j]);
            }
        }
        t = welch_t(&welch);
        largest = fabs(t) > fabs(largest) ? t : largest;
    }
    return largest;
}
