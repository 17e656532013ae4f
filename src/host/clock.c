/*
 * clock.c: how long something takes, and when it is.
 */
#include "host/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double
host_seconds(void)
{
    struct timespec at = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

uint64_t
host_utc_now(void)
{
    time_t now = time(NULL);
    return now > 0 ? (uint64_t)now : 0;
}

void
host_utc_write(uint64_t second, char text[HOST_UTC_SIZE])
{
    time_t at = (time_t)second;
    struct tm utc;
    if (gmtime_r(&at, &utc) == NULL ||
        strftime(text, HOST_UTC_SIZE, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0) {
        (void)snprintf(text, HOST_UTC_SIZE, "second %" PRIu64, second);
    }
}

bool
host_utc_read(const char *text, uint64_t *ret_second)
{
    size_t size = strlen(text);
    bool day = size == sizeof "2030-01-31" - 1;
    bool second = size == sizeof "2030-01-31T12:30:00Z" - 1;
    struct tm utc = {0}, given;
    const char *end = day ? strptime(text, "%Y-%m-%d", &utc)
                          : strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (end == NULL || *end != '\0' || (!day && !second) ||
        strspn(text, "0123456789-T:Z") != size) {
        return false;
    }
    given = utc;
    time_t at = timegm(&utc); /* of a day that does not exist, another */
    if (at < 0 || utc.tm_mday != given.tm_mday ||
        utc.tm_hour != given.tm_hour || utc.tm_sec != given.tm_sec) {
        return false;
    }
    *ret_second = (uint64_t)at;
    return true;
}
