/*
 * sender.h: what the sender's files share.
 *
 *     address.c     where reports go
 *     backoff.c     when, and again after a failure
 *     transport.c   one connection, by libcurl
 *     exchange.c    a request, with its tries
 *     answer.c      what the collector says
 *     obtain.c      the mechanism: fetched, or the same as the collector's
 *     explain.c     every byte, for people
 *     sender.c      the queue, and sending
 */
#ifndef SOTTO_SENDER_SENDER_H
#define SOTTO_SENDER_SENDER_H

#include "sender/address.h"
#include "sender/exchange.h"
#include "sotto/sotto.h"
#include "store/queue.h"

struct sotto_sender {
    struct address address;
    struct queue *queue;
    const struct sotto_ledger *ledger; /* whose the queue is; NULL: nobody's */
    char *ca, *proxy;                  /* may be NULL */
    size_t batch;
    unsigned tries, wait_ms, timeout_s;
    bool simulation, look;
    struct sotto_watch watch;
    double due;        /* when sending may begin, on host_seconds' clock, */
    unsigned grid;     /* or so many seconds later, or twice as many, ... */
    double asked;      /* when the collector was, before a record was read */
    uint64_t made;     /* reports queued since, which took time to make, */
    uint64_t expected; /* or as many as will be */
    const struct sotto_mechanism *mechanism; /* that the collector has; NULL: it
                                                was not asked */
    const struct sotto_mechanism *known; /* whose reports are queued; NULL: none
                                            can be */
};

/* An exchange over a new connection, which transport_free closes. Statuses:
   transport_open's. */
SOTTO_CHECKED enum sotto_status
sender_connect(const struct sotto_sender *sender, struct exchange *ret_exchange,
               struct sotto_error *err);

#endif
