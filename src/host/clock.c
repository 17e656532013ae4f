/*
 * clock.c: how long something takes.
 */
#include "host/clock.h"

#include <time.h>

double
host_seconds(void)
{
    struct timespec at = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
