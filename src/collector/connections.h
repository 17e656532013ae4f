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
 *
 * An origin is an IPv4 address, or the first 56 bits of an IPv6 one: what is
 * behind them is one customer's to choose. It may have so many connections, and
 * so much of the memory that all requests share; when all connections are
 * taken, one of the origin that has most gives way to a newcomer.
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
    size_t memory_most, memory_address_most; /* bytes: of all, of an origin */
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

/*
 * Whether one more from this address is within the limits. Where all
 * connections are taken, one is cut for it: of the origin that has most, the
 * one that has been between requests for longest; or, of an origin that has
 * more than an eighth of all and is not the newcomer's, one whose request has
 * been arriving for a second or more.
 */
bool connections_room(struct connections *connections,
                      const struct sockaddr *address);

/* NULL: no memory; the other functions take that, and then nobody looks at the
   clock but the server's own timeout. */
struct connection *connections_open(struct connections *connections, int fd,
                                    const struct sockaddr *address);
void connections_close(struct connections *connections,
                       struct connection *connection);

/* Takes so many bytes of the memory that all share, for a request; false: they
   are not there, or not for this origin. What was taken is to be given back
   before the connection is closed. Without a connection there is none. */
bool connections_take(struct connections *connections,
                      struct connection *connection, size_t size);
void connections_give(struct connections *connections,
                      struct connection *connection, size_t size);

/* A request's first line came. */
void connection_line(struct connection *connection);
/* All of a request came; false: too late, it is being cut. */
bool connection_complete(struct connection *connection);
/* The answer was sent. */
void connection_sent(struct connection *connection);

#endif
