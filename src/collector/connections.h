/*
 * connections.h: who is connected, and for how long a request has been on its
 * way. What is known of a connection is forgotten when it ends; addresses are
 * in memory alone, to count those of one origin.
 *
 *     OPENED --line--> ARRIVING --complete--> ANSWERING --sent--> IDLE
 *                          ^                                        |
 *                          +----------------- line -----------------+
 *
 * A first request may take request_s from the connection's beginning, a later
 * one from its first line, which must come within idle_s. Bytes that drip in
 * win no time: a thread of its own looks at the clock and shuts sockets down.
 */
#ifndef SOTTO_COLLECTOR_CONNECTIONS_H
#define SOTTO_COLLECTOR_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "collector/metrics.h"
#include "sotto/sotto.h"

struct connections;
struct connection;

struct connections_limits {
    size_t most, address_most;
    unsigned request_s, idle_s, answer_s;
    bool plain; /* a request that is late can be told so: 408 */
};

/* Statuses: MEMORY, IO (the system gave no thread). */
SOTTO_CHECKED enum sotto_status
connections_new(const struct connections_limits *limits,
                struct metrics *metrics, struct connections **ret_connections,
                struct sotto_error *err);
/* No connection may be open any more. NULL is fine. */
void connections_free(struct connections *connections);

/* Whether one more from this address is within the limits. Of an IPv6 address
   the first half counts: the rest is the owner's to choose. */
bool connections_room(struct connections *connections,
                      const struct sockaddr *address);

/* NULL: no memory; the other functions take that, and then nobody looks at the
   clock but the server's own timeout. */
struct connection *connections_open(struct connections *connections, int fd,
                                    const struct sockaddr *address);
void connections_close(struct connections *connections,
                       struct connection *connection);

/* A request's first line came. */
void connection_line(struct connection *connection);
/* All of a request came; false: too late, it is being cut. */
bool connection_complete(struct connection *connection);
/* The answer was sent. */
void connection_sent(struct connection *connection);

#endif
