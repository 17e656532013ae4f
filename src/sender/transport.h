/*
 * transport.h: one connection to a collector, and requests over it.
 *
 * What a request is, byte for byte, is in docs/collector.md. Peer and host are
 * verified, with TLS 1.2 or newer; no session is resumed, no redirect followed,
 * no cookie taken, no proxy used but the one that is named.
 */
#ifndef SOTTO_SENDER_TRANSPORT_H
#define SOTTO_SENDER_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/text.h"
#include "sender/address.h"
#include "sotto/work.h"

#define TRANSPORT_AGENT "sotto"
#define TRANSPORT_TYPE "application/octet-stream"

struct transport;

/* What the caller says once; all of it must outlive the transport. */
struct transport_settings {
    const struct address *address;
    const char *ca;     /* NULL: the system's */
    const char *proxy;  /* NULL: none, whatever the environment says */
    const char *bearer; /* what lets an analyst in; NULL: nothing */
    unsigned timeout_s;
    const struct sotto_watch *watch;
};

/* Nothing is connected before the first request. Statuses: MEMORY, USAGE (the
   library cannot do what is needed). */
SOTTO_CHECKED enum sotto_status
transport_open(const struct transport_settings *settings,
               struct transport **ret_transport, struct sotto_error *err);
/* Closes the connection. */
void transport_free(struct transport *transport);

/* What goes out: to the address' path and `tail`. */
struct transport_request {
    const char *tail;    /* "/reports" */
    const uint8_t *body; /* NULL: a GET, else a POST */
    size_t size;
    size_t most;          /* bytes of the answer's body */
    bool may_be_none;     /* 204, nothing there, is an answer as good as 200; */
    bool may_be_gone;     /* and 410, what there was cannot be read any more */
    const char *what;     /* for the watch, with steps `done` of `total`; */
    uint64_t done, total; /* total 0: the bytes that came */
    const char *stays;    /* what a failure leaves for another time; NULL:
                             nothing */
};

/* What came back. */
struct transport_answer {
    long code;             /* of HTTP; 0: none came */
    bool again;            /* on failure: another try may do better */
    int64_t retry_after;   /* seconds; -1: none is said */
    uint64_t batch;        /* the number that Sotto-Batch has; 0: none */
    uint64_t damaged;      /* likewise, Sotto-Damaged */
    bool odd;              /* one of the two is no such number, or came twice */
    struct host_text body; /* host_text_clear frees, also on failure */
};

/*
 * One request and its answer, whatever the code; once, but that a connection
 * which turned out to be closed is opened again. Statuses: IO, LIMIT (the
 * answer is too long), STOPPED, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
transport_ask(struct transport *transport,
              const struct transport_request *request,
              struct transport_answer *ret_answer, struct sotto_error *err);

/* The head of a request with a body of `size` bytes, as it goes out. */
void transport_head(const struct address *address, size_t size,
                    struct host_text *to);

#endif
