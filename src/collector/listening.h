/*
 * listening.h: the socket that a collector listens on.
 */
#ifndef SOTTO_COLLECTOR_LISTENING_H
#define SOTTO_COLLECTOR_LISTENING_H

#include <stdbool.h>

#include "sotto/sotto.h"

/*
 * Listens at HOST:PORT, [IPv6]:PORT or :PORT, which is every address of the
 * machine. `open` says that requests may come from other machines: without it
 * only a loopback address is taken; `ret_loopback` says whether it is one. The
 * caller closes `ret_fd`. Statuses: USAGE (no such place), REFUSED (not a
 * loopback address), IO.
 */
SOTTO_CHECKED enum sotto_status listening_open(const char *place, bool open,
                                               int *ret_fd, unsigned *ret_port,
                                               bool *ret_loopback,
                                               struct sotto_error *err);

/* The same without listening. Statuses: USAGE, REFUSED. */
SOTTO_CHECKED enum sotto_status listening_check(const char *place, bool open,
                                                struct sotto_error *err);

#endif
