/*
 * giving_way.h: who leaves when all places are taken: the rule of
 * connections.h, on its list.
 */
#ifndef SOTTO_COLLECTOR_GIVING_WAY_H
#define SOTTO_COLLECTOR_GIVING_WAY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/origins.h"

struct connections;

enum connection_state {
    WAITING,
    OPENED,
    ARRIVING,
    ANSWERING,
    SENDING,
    IDLE,
    LATE
};

struct connection {
    struct connection *next, *last;
    struct connections *all;
    int fd;
    struct origin *origin;
    bool leaving; /* cut for another: it is counted no more */
    bool heard;   /* it was given away */
    bool taken;   /* a server has it */
    bool good;    /* the server's: its last answer is one of success */
    atomic_bool proven;
    atomic_int state;
    atomic_uint_fast64_t since; /* milliseconds of the monotonic clock */
    atomic_size_t bytes;        /* of a body, so far */
    unsigned gone;              /* the sweeper's: looks that found it gone */
    size_t memory;              /* bytes of what all share */
};

/* Who asks for a place. */
struct giving_way_newcomer {
    const struct origin *origin; /* NULL: it has no connection yet */
    size_t weight;
    bool full;    /* its own origin is: no other can make room */
    bool reserve; /* those who finish are few: they stay */
};

/* In the order in which they leave. */
enum giving_way_kind { WAY_SILENT, WAY_IDLE, WAY_SLOW, WAY_FRESH, WAY_NEVER };

struct giving_way {
    struct connection *connection; /* NULL: none gives way */
    enum giving_way_kind way;
    int state;
    size_t weight;
    uint64_t age;
};

/* Milliseconds since it came into its state. */
uint64_t giving_way_age(const struct connection *connection, uint64_t now);
/* The one of a list that leaves for a newcomer. */
struct giving_way giving_way_choose(struct connection *first, uint64_t now,
                                    const struct giving_way_newcomer *newcomer);

/* The one whose memory is wanted for an origin's: it is slow to arrive, and its
   origin has more of it than that one, and most; NULL: there is none. */
struct connection *giving_way_memory(struct connection *first, uint64_t now,
                                     const struct origin *origin);

#endif
