/*
 * idealised_fixture.h: an idealised channel set up one at a time, and what the
 * tests of all of them count and integrate with.
 */
#ifndef TESTS_IDEALISED_FIXTURE_H
#define TESTS_IDEALISED_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "idealised/idealised.h"
#include "random/seeded.h"

#define GRID_L 1000u

static uint64_t own_memory[64];
static struct channel_instance instance;
static struct likelihood_instance reports;
static const struct idealised *idealised;

/* Epsilon as the decimal that it is. */
static uint64_t
units(double eps)
{
    return (uint64_t)llround(eps * (double)DECIMAL_UNIT);
}

__attribute__((unused)) static void
set_up(const char *name, uint32_t d, uint32_t l, double eps)
{
    idealised = idealised_find(name);
    assert_non_null(idealised);
    assert_true(idealised->channel->own_size <= sizeof own_memory);
    memset(&instance, 0x5a, sizeof instance);
    memset(&reports, 0x5a, sizeof reports);
    assert_int_equal(idealised_init(idealised, d, l, units(eps), own_memory,
                                    &instance, &reports),
                     SOTTO_STATUS_OK);
}

/* The chi-square that so many degrees of freedom pass with probability below
   1e-6 (Wilson and Hilferty, z = 4.9). */
__attribute__((unused)) static double
chi_square_most(double freedom)
{
    double c = 2 / (9 * freedom), root = 1 - c + 4.9 * sqrt(c);
    return freedom * root * root * root;
}

/* The mean of f over [low, high] by Simpson's rule, times its length. */
__attribute__((unused)) static double
simpson(double (*f)(double x, const void *context), const void *context,
        double low, double high, int steps)
{
    double h = (high - low) / steps, sum = 0;
    for (int n = 0; n <= steps; n++) {
        double weight = n == 0 || n == steps ? 1 : n % 2 == 1 ? 4 : 2;
        sum += weight * f(low + n * h, context);
    }
    return sum * h / 3;
}

#endif
