/*
 * collector.h: what the files of the collector share.
 *
 *     collector.c   its life: starting, reading mechanisms again, stopping
 *     collector_options.c  what can be set of it
 *     handler.c     one request: from the server's callbacks to an answer
 *     head.c        what of its head decides
 *     answers.c     an answer as the server takes it
 *     batches.c     a batch for an analyst, out of the store
 *     watching.c    what is told to whoever watches
 *     routes.c      what is asked: no socket
 *     judge.c       what of a body is taken: no socket
 *     writer.c      the store's thread, and
 *     mover.c       what it does about windows
 *     entrance.c    a place where it is reached: a server, and
 *     door.c        its listener, with those that have sent nothing
 *     pages.c       what is shown to who looks, made by a thread of its own,
 *     known.c       and what that has read of released reports
 *     connections.c who is connected, the clock over requests, their memory
 *     giving_way.c  and who leaves when all places are taken
 *     refusals.c    what is refused, counted and said
 */
#ifndef SOTTO_COLLECTOR_COLLECTOR_H
#define SOTTO_COLLECTOR_COLLECTOR_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "collector/campaigns.h"
#include "collector/certificate.h"
#include "collector/connections.h"
#include "collector/entrance.h"
#include "collector/metrics.h"
#include "collector/pages.h"
#include "collector/proxy_header.h"
#include "collector/refusals.h"
#include "collector/routes.h"
#include "collector/token.h"
#include "collector/writer.h"

struct sotto_collector {
    struct sotto_collector_options options; /* the strings are copies */
    struct metrics metrics;
    struct refusals refusals;

    pthread_mutex_t lock; /* of the tokens, and `campaigns`, the pointer */
    struct tokens tokens;
    struct campaigns *campaigns;
    pthread_mutex_t reading; /* one reload at a time */
    pthread_mutex_t batches; /* one batch is read at a time */

    struct writer *writer;
    struct pages *pages; /* NULL: there is no token, and so nobody may look */
    struct certificates *certificates; /* NULL: there is no TLS */
    struct entrance everybody, operations;

    struct MHD_Response *accepted_one, *busy; /* the commonest; for no memory */
    atomic_size_t active;       /* requests between first line and last byte */
    atomic_size_t batches_held; /* in memory, until their reader has them */
    atomic_bool stopping;

    uint64_t started_at;                           /* the second of UTC */
    atomic_uint_fast64_t reloads, reload_failures; /* and how the last went: */
    atomic_bool reload_failed;
};

/* The snapshot as it is now, held. */
struct campaigns *collector_campaigns(struct sotto_collector *collector);
/* The tokens as they are now. */
void collector_tokens(struct sotto_collector *collector,
                      struct tokens *ret_tokens);
__attribute__((format(printf, 4, 5))) void
collector_log(const struct sotto_collector *collector,
              enum sotto_log_level level, const char *code, const char *format,
              ...);

/* ---- collector_options.c ------------------------------------------------- */

/* Completes and checks options, and makes `own` of them, with copies of the
   texts that are needed later; `own` is to be freed also on failure. */
SOTTO_CHECKED enum sotto_status
options_take(struct sotto_collector_options *own,
             struct sotto_collector_options *options, struct sotto_error *err);
void options_free(struct sotto_collector_options *own);
/* Whether clients can be told apart by where they come from. */
bool options_know_clients(const struct sotto_collector_options *options);

/* ---- handler.c: what the server of an entrance calls --------------------- */

void handler_connection(void *entrance, struct MHD_Connection *connection,
                        void **socket_context,
                        enum MHD_ConnectionNotificationCode code);
void *handler_line(void *entrance, const char *uri,
                   struct MHD_Connection *connection);
enum MHD_Result handler_access(void *entrance,
                               struct MHD_Connection *connection,
                               const char *path, const char *method,
                               const char *version, const char *data,
                               size_t *data_size, void **request);
void handler_completed(void *entrance, struct MHD_Connection *connection,
                       void **request, enum MHD_RequestTerminationCode code);

/* ---- head.c -------------------------------------------------------------- */

/* A request's target as it came: the server takes it apart later. */
struct head_line {
    bool plain; /* it has letters, digits and signs alone */
    size_t size;
};
void head_line(const char *target, struct head_line *ret_line);
/* Fills all of a head but method and path. */
void head_read(struct MHD_Connection *connection, const struct head_line *line,
               const char *version, struct routes_head *head);
/* The last address in the last header of that name: whom the proxy next to us
   has seen; false: there is none. */
bool head_client(struct MHD_Connection *connection, const char *name,
                 union proxy_address *ret_address);

/* ---- watching.c ---------------------------------------------------------- */

/* Appends all there is to say of the collector to whoever watches it, for
   Prometheus. */
void watching_write(struct sotto_collector *collector,
                    const struct campaigns *campaigns, struct host_text *text);

/* ---- answers.c ----------------------------------------------------------- */

/* An answer of ours; `held`, if not NULL, is what its body is part of, and is
   taken over also on failure. NULL: no memory. */
struct MHD_Response *answers_make(const struct routes_answer *answer,
                                  struct campaigns *held);
/* The same of a body that is freed by and by; it is taken over. */
struct MHD_Response *answers_own(const char *type, void *body, size_t size);
/* A page, part of what is `held`, which is taken over also on failure; a
   browser is to run nothing and to ask nobody for anything. */
struct MHD_Response *answers_page(const char *html, size_t size,
                                  struct pages_held *held);
/* Adds a header with a number. */
bool answers_number(struct MHD_Response *response, const char *name,
                    uint64_t number);

/* ---- batches.c ----------------------------------------------------------- */

/* The status of an answer with the first batch behind `after` of a mechanism;
   the answer itself is NULL for lack of memory. */
unsigned batches_answer(struct sotto_collector *collector, const uint8_t *hash,
                        uint64_t after, struct MHD_Response **ret_response);

#define ANSWERS_RETRY_S 5u /* until it is worth trying again */

#endif
