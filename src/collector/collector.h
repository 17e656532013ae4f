/*
 * collector.h: what the files of the collector share.
 *
 *     collector.c   its life: starting, reading mechanisms again, stopping
 *     handler.c     one request: from the server's callbacks to an answer
 *     head.c        what of its head decides
 *     answers.c     an answer as the server takes it
 *     routes.c      what is asked: no socket
 *     judge.c       what of a body is taken: no socket
 *     writer.c      the store's thread, and
 *     mover.c       what it does about windows
 *     pages.c       what is shown to who looks, made by a thread of its own, from
 *     known.c       what it has read of released reports
 *     connections.c who is connected, the clock over requests, their memory
 */
#ifndef SOTTO_COLLECTOR_COLLECTOR_H
#define SOTTO_COLLECTOR_COLLECTOR_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#include "collector/campaigns.h"
#include "collector/connections.h"
#include "collector/metrics.h"
#include "collector/pages.h"
#include "collector/routes.h"
#include "collector/token.h"
#include "collector/writer.h"

struct sotto_collector {
    struct sotto_collector_options options; /* the strings are copies */
    struct metrics metrics;
    struct token token;

    pthread_mutex_t lock; /* of `campaigns`, the pointer */
    struct campaigns *campaigns;
    pthread_mutex_t reading; /* one reload at a time */
    pthread_mutex_t batches; /* one batch is read at a time */

    struct writer *writer;
    struct pages *pages; /* NULL: there is no token, and so nobody may look */
    struct connections *connections;
    struct MHD_Daemon *daemon;
    int listener;
    unsigned port;
    bool basic; /* see struct routes_state */

    struct MHD_Response *accepted_one, *busy; /* the commonest; for no memory */
    atomic_size_t active;       /* requests between first line and last byte */
    atomic_size_t batches_held; /* in memory, until their reader has them */
    atomic_bool stopping;
};

/* The snapshot as it is now, held. */
struct campaigns *collector_campaigns(struct sotto_collector *collector);
__attribute__((format(printf, 3, 4))) void
collector_log(const struct sotto_collector *collector,
              enum sotto_log_level level, const char *format, ...);

/* ---- handler.c: what the server calls ------------------------------------ */

enum MHD_Result handler_accept(void *collector, const struct sockaddr *address,
                               socklen_t size);
void handler_connection(void *collector, struct MHD_Connection *connection,
                        void **socket_context,
                        enum MHD_ConnectionNotificationCode code);
void *handler_line(void *collector, const char *uri,
                   struct MHD_Connection *connection);
enum MHD_Result handler_access(void *collector,
                               struct MHD_Connection *connection,
                               const char *path, const char *method,
                               const char *version, const char *data,
                               size_t *data_size, void **request);
void handler_completed(void *collector, struct MHD_Connection *connection,
                       void **request, enum MHD_RequestTerminationCode code);

/* ---- head.c -------------------------------------------------------------- */

/* Fills all of a head but method and path; `line_end` is where the path and the
   query, as they came, ended. */
void head_read(struct MHD_Connection *connection, const char *line_end,
               const char *version, struct routes_head *head);

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

#define ANSWERS_RETRY_S 5u /* until it is worth trying again */

#endif
