/*
 * doubles.c: doubles out of a generator, and in a report.
 */
#include "idealised/doubles.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

#define TURN 6.283185307179586476925286766559

double
doubles_uniform(struct random *random)
{
    return ((double)(random_u56(random) >> 3) + 0.5) / 9007199254740992.0;
}

/* Two at a time, by the angle and the length of a point (Box and Muller). */
void
doubles_normal(struct random *random, uint32_t n, double *ret_normal)
{
    for (uint32_t i = 0; i < n; i += 2) {
        double length = sqrt(-2 * log(doubles_uniform(random)));
        double angle = TURN * doubles_uniform(random);
        ret_normal[i] = length * cos(angle);
        if (i + 1 < n) {
            ret_normal[i + 1] = length * sin(angle);
        }
    }
}

int64_t
doubles_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double
doubles_of_bits(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void
doubles_store(uint8_t *to, double value)
{
    bytes_store(to, 8, (uint64_t)doubles_bits(value));
}

double
doubles_load(const uint8_t *from)
{
    return doubles_of_bits((int64_t)bytes_load(from, 8));
}
