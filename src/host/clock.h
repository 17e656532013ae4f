/*
 * clock.h: how long something takes.
 */
#ifndef SOTTO_HOST_CLOCK_H
#define SOTTO_HOST_CLOCK_H

/* Seconds since a moment that stays the same while the system runs: only
   differences mean something, and they are never negative. */
double host_seconds(void);

#endif
