/*
 * confidence.c: from a confidence to standard errors.
 */
#include "host/confidence.h"

#include <math.h>

/* P(|Z| > z) = erfc(z / sqrt(2)) falls from 1: halving finds the place. */
double
confidence_z(double confidence)
{
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double z = (low + high) / 2;
        if (erfc(z / sqrt(2.0)) > 1 - confidence) {
            low = z;
        } else {
            high = z;
        }
    }
    return (low + high) / 2;
}
