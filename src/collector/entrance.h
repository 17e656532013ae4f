/*
 * entrance.h: a place where the collector is reached: a listener with its door,
 * its connections and its server. There is one for everybody, and perhaps one
 * for operations; they share no place, no thread and no lock of each other's,
 * so that what happens at one does not keep anybody out of the other.
 */
#ifndef SOTTO_COLLECTOR_ENTRANCE_H
#define SOTTO_COLLECTOR_ENTRANCE_H

#include <microhttpd.h>
#include <stdbool.h>

#include "collector/connections.h"
#include "collector/door.h"
#include "sotto/sotto.h"

struct sotto_collector;

struct entrance {
    struct sotto_collector *collector;
    bool operations;
    bool tls;
    bool basic;   /* a page may be asked for with a password: see routes.h */
    int listener; /* -1: it is not open */
    unsigned port;
    struct connections *connections;
    struct MHD_Daemon *daemon;
    struct door *door;
};

struct entrance_options {
    const char *place;
    bool plain;   /* something in front of it does TLS */
    bool proxied; /* and sends headers of the PROXY protocol */
    unsigned threads;
    struct connections_limits limits;
};

/*
 * Listens, but lets nobody in yet: so a place that is taken is known early. A
 * collector with a certificate has TLS everywhere but at a loopback address for
 * operations. Statuses: listening_open's.
 */
SOTTO_CHECKED enum sotto_status
entrance_listen(struct entrance *entrance,
                const struct entrance_options *options,
                struct sotto_error *err);
/* Lets in. Statuses: MEMORY, IO, USAGE (no TLS in the library). */
SOTTO_CHECKED enum sotto_status
entrance_open(struct entrance *entrance, const struct entrance_options *options,
              struct sotto_error *err);
/* Lets nobody in any more; what is inside goes on. */
void entrance_shut(struct entrance *entrance);
/* Ends all that is inside. */
void entrance_close(struct entrance *entrance);

#endif
