/*
 * routes.h: from a request's head to what is to be done: a function of the
 * head and of what the collector serves, without a socket.
 */
#ifndef SOTTO_COLLECTOR_ROUTES_H
#define SOTTO_COLLECTOR_ROUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/campaigns.h"
#include "collector/judge.h"
#include "collector/token.h"

/* What of a request decides; NULL: the header is not there. No other header is
   looked at. */
struct routes_head {
    const char *method;
    const char *path;  /* as it came: nothing is unescaped */
    const char *after; /* of the query */
    const char *type, *coding, *length, *transfer, *authorization;
    bool twofold; /* two readers could read the head in two ways */
};

struct routes_state {
    const struct campaigns *campaigns;
    const struct tokens *tokens;
    bool operations; /* it came in where operations are */
    bool apart;      /* they have a place of their own */
    size_t body_most;
    bool healthy;
    bool damaged; /* healthy, but something in the store is damaged */
    bool behind;  /* healthy, but windows that ended are still there */
    bool basic;   /* a page may be asked for with a password: nobody can read it
                     on its way */
};

enum routes_task {
    ROUTES_ANSWER, /* it is all there */
    ROUTES_BODY,   /* `length` bytes of reports in `form`, for `campaign` */
    ROUTES_BATCH,  /* of the mechanism with `hash`, behind number `after` */
    ROUTES_METRICS,
    ROUTES_PAGE /* to look at, of the campaign `page` or, "", of all */
};

struct routes_answer {
    unsigned status;
    const char *type;  /* of the body; NULL: there is none */
    const char *allow; /* the methods there are, for 405 */
    bool basic;        /* 401: a password would do */
    const void *body;  /* static, or the campaign's */
    size_t size;
};

struct routes_plan {
    enum routes_task task;
    struct campaign *campaign; /* NULL where it is about none */
    const uint8_t *hash;       /* the snapshot's, of one that may have ended */
    enum judge_form form;
    size_t length;
    uint64_t after;
    const char *page; /* in the head's path */
    bool cut;         /* the body's end is too far away, or not known: close */
    bool twofold;
    struct routes_answer answer;
};

void routes_plan(const struct routes_state *state,
                 const struct routes_head *head, struct routes_plan *ret_plan);

/* A status with a sentence of ours, static: {"error":"..."}. */
struct routes_answer routes_error(unsigned status, const char *sentence);
#define ROUTES_SENTENCE(text) "{\"error\":\"" text "\"}\n"

#define ROUTES_JSON "application/json"
#define ROUTES_BINARY "application/octet-stream"
#define ROUTES_LINES "application/x-ndjson"

#endif
