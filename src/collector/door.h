/*
 * door.h: a thread that accepts connections and keeps those that have sent
 * nothing, so that silence costs a file and never a place in the server:
 *
 *     listener --> [PROXY header] --> admitted, WAITING --first byte--> pass
 *
 * While as many as can be are leaving it accepts none: newcomers wait in the
 * system's queue for a moment and are not turned away.
 */
#ifndef SOTTO_COLLECTOR_DOOR_H
#define SOTTO_COLLECTOR_DOOR_H

#include <stdbool.h>
#include <sys/socket.h>

#include "collector/connections.h"
#include "collector/refusals.h"
#include "sotto/sotto.h"

struct door;

struct door_options {
    int listener;
    bool proxied; /* connections begin with a header of the PROXY protocol */
    struct connections *connections;
    struct refusals *refusals;
    /* Takes a connection over; false: its socket was closed. */
    bool (*pass)(void *context, int fd, const struct sockaddr *address,
                 socklen_t size);
    void *context;
};

/* Statuses: MEMORY, IO. */
SOTTO_CHECKED enum sotto_status door_open(const struct door_options *options,
                                          struct door **ret_door,
                                          struct sotto_error *err);
/* Accepts no more and closes what it keeps. NULL is fine. */
void door_close(struct door *door);

#endif
