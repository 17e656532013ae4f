/*
 * connections.h: who is connected, and for how long a request has been on its
 * way. What is known of a connection is forgotten when it ends; addresses are
 * in memory alone, to count those of one origin (collector/origins.h).
 *
 *     WAITING --byte--> OPENED --line--> ARRIVING --complete--> ANSWERING
 *     (the door's)                          ^                       | answer
 *                                           |                       v
 *                                          IDLE <------ sent --- SENDING
 *
 * A first request may take request_s from the connection's beginning, a later
 * one from its first line, which must come within idle_s. Bytes that drip in
 * win no time: a thread of its own looks at the clock and shuts sockets down.
 *
 * When all places are taken, one gives way to a newcomer. Who that is, in this
 * order; of several the one whose origin weighs most, then the one that has
 * been so for longest:
 *
 *     silent  it has sent nothing for a second
 *     idle    it is between requests
 *     slow    its request has been arriving for a second or more, at less than
 *             4 KiB/s, or its answer has not been taken for as long
 *     fresh   it has not sent anything yet, or its request has been arriving,
 *             for less than that, or arrives faster
 *
 * One whose request is complete and not answered never does. A
 * silent one gives way to anybody; idle and slow ones to an origin that weighs
 * no more than theirs, fresh ones to one that weighs less. So a newcomer
 * whose origin has nothing yet is let in, however many origins there are beside
 * it. An eighth of the places is a reserve of those whose requests were
 * answered with success: as long as these are no more than that, none of them
 * gives way to another origin's.
 */
#ifndef SOTTO_COLLECTOR_CONNECTIONS_H
#define SOTTO_COLLECTOR_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "collector/metrics.h"
#include "collector/refusals.h"
#include "sotto/sotto.h"

struct connections;
struct connection;

/* Connections beyond the limit at a time: that are leaving, or for which none
   could give way. */
#define CONNECTIONS_BEYOND ((size_t)32)

struct connections_limits {
    size_t most, address_most;
    size_t memory_most, memory_address_most; /* bytes: of all, of an origin */
    unsigned request_s, idle_s, answer_s;
    bool plain;    /* a request that is late can be told so: 408 */
    void *context; /* for connection_context */
};

/* What is counted is counted in both, which outlive it. Statuses: MEMORY, IO
   (the system gave no thread). */
SOTTO_CHECKED enum sotto_status
connections_new(const struct connections_limits *limits,
                struct metrics *metrics, struct refusals *refusals,
                struct connections **ret_connections, struct sotto_error *err);
/* Whoever had sockets has closed them. NULL is fine. */
void connections_free(struct connections *connections);

/* Whether another connection may be looked at now: false while as many as can
   be are still leaving, which takes a moment. */
bool connections_ready(const struct connections *connections);

/*
 * Lets a connection in, WAITING; NULL: it is to be closed, and was counted.
 * Another one may have to give way: if that was WAITING, too, it is forgotten,
 * and `ret_close` is its socket, for the caller, who has all that wait, to
 * close; else -1, and its socket is shut down.
 */
struct connection *connections_admit(struct connections *connections, int fd,
                                     const struct sockaddr *address,
                                     int *ret_close);
/* The connection with this socket; NULL: there is none. */
struct connection *connections_find(struct connections *connections, int fd);
/* The same of one that has not been heard of; only who admits them may ask. */
struct connection *connections_waiting(struct connections *connections, int fd);
/* The socket of any such; -1: there is none. */
int connections_any_waiting(struct connections *connections);
/* Forgets it, before its socket is closed. NULL is fine. */
void connections_close(struct connections *connections,
                       struct connection *connection);
/* The same of a socket that was handed to a server which closed it without
   having taken it (connection_taken). */
void connections_lose(struct connections *connections, int fd);

/* Says that a connection's requests are from another address than its peer's,
   as a proxy has it; false: that one has as many as it may. */
bool connections_claim(struct connections *connections,
                       struct connection *connection,
                       const struct sockaddr *address);

/* Takes so many bytes of the memory that all share, for a request; slow
   requests of origins that have more give theirs. False: they are not there, or
   not for this origin. What was taken is to be given back before the connection
   is closed. Without a connection there is none. */
bool connections_take(struct connections *connections,
                      struct connection *connection, size_t size);
void connections_give(struct connections *connections,
                      struct connection *connection, size_t size);

/* In each of these a connection may be NULL. */

/* Its first byte came: who admitted it gives it away; false: too late, it is
   being cut, and stays. */
bool connection_heard(struct connection *connection);
/* A server has it, and will close it. */
void connection_taken(struct connection *connection);
/* A request's first line came. */
void connection_line(struct connection *connection);
/* So many bytes of a body came. */
void connection_grew(struct connection *connection, size_t size);
/* All of a request came; false: too late, it is being cut. */
bool connection_complete(struct connection *connection);
/* There is an answer to send; `good`: it is one of success. */
void connection_answered(struct connection *connection, bool good);
/* The answer was sent. */
void connection_sent(struct connection *connection);
/* The limits' `context`; NULL: none. */
void *connection_context(const struct connection *connection);
/* Whether bytes came, and never a request's first line. */
bool connection_mute(const struct connection *connection);
/* Whether it was cut. */
bool connection_cut(const struct connection *connection);

#endif
