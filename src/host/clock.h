/*
 * clock.h: how long something takes, and when it is.
 */
#ifndef SOTTO_HOST_CLOCK_H
#define SOTTO_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds since a moment that stays the same while the system runs: only
   differences mean something, and they are never negative. */
double host_seconds(void);

/* The second of UTC since 1970 that it is; 0 on a clock that is before that. */
uint64_t host_utc_now(void);

#define HOST_UTC_SIZE 40u
/* Writes a second since 1970 as "2030-01-31 00:00:00 UTC". */
void host_utc_write(uint64_t second, char text[HOST_UTC_SIZE]);
/* Reads "2030-01-31", the first second of that day, or "2030-01-31T12:30:00Z",
   both in UTC; false for anything else, and for days that do not exist. */
bool host_utc_read(const char *text, uint64_t *ret_second);

#endif
