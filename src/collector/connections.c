/*
 * connections.c: the limits of connections, and the clock over requests.
 */
#include "collector/connections.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/error.h"
#include "host/wipe.h"

#define SWEEP_NS 250000000L
#define GONE_MS 1000u /* of silence, then it is looked */
#define GONE_LOOKS 4u /* in turn that must find one gone in a request */
#define SLOW_MS 1000u /* to arrive: then it may have to give way */
#define LEAVING_MOST 32u
#define SIX_SIZE 7u    /* bytes of an IPv6 address that make an origin: /56 */
#define ORIGIN_SIZE 8u /* family, and an IPv4 address or SIX_SIZE */

enum state { OPENED, ARRIVING, ANSWERING, IDLE, LATE };

/* As long as it has a connection. */
struct origin {
    struct origin *next, *last;
    uint8_t name[ORIGIN_SIZE];
    size_t count; /* connections */
    size_t taken; /* bytes */
};

struct connection {
    struct connection *next, *last;
    int fd;
    struct origin *origin;
    bool leaving; /* cut for another: it is counted no more */
    atomic_int state;
    atomic_uint_fast64_t since; /* milliseconds of the monotonic clock */
    unsigned gone;              /* the sweeper's: looks that found it gone */
};

struct connections {
    struct connections_limits limits;
    struct metrics *metrics;
    pthread_t sweeper;
    pthread_mutex_t lock; /* of the lists, and of closing against shutting */
    pthread_cond_t stop;
    bool stopping;
    struct connection *first;
    struct origin *origins;
    size_t count, leaving; /* all; those that are leaving */
    size_t taken;          /* bytes */
};

static uint64_t
now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- The clock ----------------------------------------------------------- */

static uint64_t
limit_ms(const struct connections *connections, int state)
{
    const struct connections_limits *limits = &connections->limits;
    unsigned seconds = state == IDLE        ? limits->idle_s
                       : state == ANSWERING ? limits->answer_s
                                            : limits->request_s;
    return (uint64_t)seconds * 1000;
}

/* Says why to one that was sending, if nothing is being answered on it. */
static void
cut_connection(struct connections *connections, struct connection *connection,
               int state)
{
    static const char late[] =
        "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
        "Cache-Control: no-store\r\nContent-Type: application/json\r\n"
        "Content-Length: 74\r\n\r\n"
        "{\"error\":\"the request took too long to arrive: send it in one "
        "piece, now\"}";
    bool gone = connection->gone > 0;
    if (connections->limits.plain && state == ARRIVING && !gone) {
        (void)send(connection->fd, late, sizeof late - 1,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    (void)shutdown(connection->fd, SHUT_RDWR);
    atomic_fetch_add_explicit(&connections->metrics->late,
                              state == IDLE || gone ? 0 : 1,
                              memory_order_relaxed);
}

/* Whether the other side has ended, and the server has read all that came. The
   server does not see the end if it came together with the last bytes: it is
   told of news once, reads what is there, and waits for more. */
static bool
is_gone(const struct connection *connection)
{
    char byte;
    return recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Between requests one look is enough. In a request the server may just have
   read the last bytes of one who ends his side and waits for an answer, so it
   must stay like that for as long as nobody needs to handle what he has read.
 */
static bool
is_lost(struct connection *connection, int state, uint64_t age)
{
    bool looked = age > GONE_MS &&
                  (state == OPENED || state == ARRIVING || state == IDLE);
    connection->gone = looked && is_gone(connection) ? connection->gone + 1 : 0;
    return connection->gone >= (state == ARRIVING ? GONE_LOOKS : 1u);
}

static void
sweep_connections(struct connections *connections)
{
    uint64_t now = now_ms();
    for (struct connection *c = connections->first; c != NULL; c = c->next) {
        int state = atomic_load(&c->state);
        uint64_t since = atomic_load(&c->since);
        uint64_t age = now > since ? now - since : 0;
        if (state != LATE &&
            (is_lost(c, state, age) || age > limit_ms(connections, state)) &&
            atomic_compare_exchange_strong(&c->state, &state, LATE)) {
            cut_connection(connections, c, state);
        }
    }
}

static void *
sweep_on(void *context)
{
    struct connections *connections = context;
    (void)pthread_mutex_lock(&connections->lock);
    while (!connections->stopping) {
        struct timespec until;
        sweep_connections(connections);
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += SWEEP_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&connections->stop, &connections->lock,
                                     &until);
    }
    (void)pthread_mutex_unlock(&connections->lock);
    return NULL;
}

/* ---- All of them --------------------------------------------------------- */

enum sotto_status
connections_new(const struct connections_limits *limits,
                struct metrics *metrics, struct connections **ret_connections,
                struct sotto_error *err)
{
    struct connections *connections = calloc(1, sizeof *connections);
    pthread_condattr_t monotonic;
    int failed;
    if (connections == NULL) {
        return host_fail_memory(err);
    }
    connections->limits = *limits;
    connections->metrics = metrics;
    (void)pthread_mutex_init(&connections->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&connections->stop, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    failed = pthread_create(&connections->sweeper, NULL, sweep_on, connections);
    if (failed != 0) {
        (void)pthread_cond_destroy(&connections->stop);
        (void)pthread_mutex_destroy(&connections->lock);
        free(connections);
        return host_fail(err, SOTTO_STATUS_IO, 0, "cannot start a thread: %s",
                         strerror(failed));
    }
    *ret_connections = connections;
    return SOTTO_STATUS_OK;
}

void
connections_free(struct connections *connections)
{
    if (connections != NULL) {
        (void)pthread_mutex_lock(&connections->lock);
        connections->stopping = true;
        (void)pthread_cond_signal(&connections->stop);
        (void)pthread_mutex_unlock(&connections->lock);
        (void)pthread_join(connections->sweeper, NULL);
        (void)pthread_cond_destroy(&connections->stop);
        (void)pthread_mutex_destroy(&connections->lock);
        free(connections);
    }
}

/* ---- Origins ------------------------------------------------------------- */

static void
name_origin(const struct sockaddr *address, uint8_t ret_name[ORIGIN_SIZE])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
    struct sockaddr_in6 six;
    struct sockaddr_in four;
    memset(ret_name, 0, ORIGIN_SIZE);
    if (address != NULL && address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof four);
        ret_name[0] = 4;
        memcpy(ret_name + 1, &four.sin_addr, 4);
    } else if (address != NULL && address->sa_family == AF_INET6) {
        memcpy(&six, address, sizeof six);
        if (memcmp(&six.sin6_addr, mapped, sizeof mapped) == 0) {
            ret_name[0] = 4;
            memcpy(ret_name + 1, six.sin6_addr.s6_addr + 12, 4);
        } else {
            ret_name[0] = 6;
            memcpy(ret_name + 1, &six.sin6_addr, SIX_SIZE);
        }
        explicit_bzero(&six, sizeof six);
    }
}

/* NULL: it has no connection. */
static struct origin *
find_origin(const struct connections *connections,
            const uint8_t name[ORIGIN_SIZE])
{
    struct origin *origin = connections->origins;
    while (origin != NULL && memcmp(origin->name, name, ORIGIN_SIZE) != 0) {
        origin = origin->next;
    }
    return origin;
}

/* One connection more of that name; NULL: no memory. */
static struct origin *
join_origin(struct connections *connections, const uint8_t name[ORIGIN_SIZE])
{
    struct origin *origin = find_origin(connections, name);
    if (origin == NULL) {
        origin = calloc(1, sizeof *origin);
        if (origin == NULL) {
            return NULL;
        }
        memcpy(origin->name, name, ORIGIN_SIZE);
        origin->next = connections->origins;
        if (origin->next != NULL) {
            origin->next->last = origin;
        }
        connections->origins = origin;
    }
    origin->count++;
    return origin;
}

static void
leave_origin(struct connections *connections, struct origin *origin)
{
    if (--origin->count > 0) {
        return;
    }
    if (origin->last != NULL) {
        origin->last->next = origin->next;
    } else {
        connections->origins = origin->next;
    }
    if (origin->next != NULL) {
        origin->next->last = origin->last;
    }
    host_wipe_free(origin, sizeof *origin);
}

/* ---- Giving way ---------------------------------------------------------- */

struct choice {
    struct connection *connection; /* NULL: none yet */
    int state;
    uint64_t since;
};

/* Whether a connection may be cut for one of the origin `own`, which may be
   NULL. */
static bool
may_leave(const struct connections *connections, const struct connection *c,
          const struct origin *own, int state, uint64_t age)
{
    size_t has = own != NULL ? own->count : 0;
    if (c->origin != own && c->origin->count <= has) {
        return false;
    }
    if (state == IDLE) {
        return true;
    }
    return (state == OPENED || state == ARRIVING) && age >= SLOW_MS &&
           c->origin != own && c->origin->count > connections->limits.most / 8;
}

/* Of an origin with more; then rather one between requests; then the older. */
static bool
is_better(const struct connection *c, int state, uint64_t since,
          const struct choice *best)
{
    size_t count = c->origin->count;
    if (best->connection == NULL || count != best->connection->origin->count) {
        return best->connection == NULL ||
               count > best->connection->origin->count;
    }
    if ((state == IDLE) != (best->state == IDLE)) {
        return state == IDLE;
    }
    return since < best->since;
}

/* Cuts one for a newcomer; false: none gives way. */
static bool
make_way(struct connections *connections, const struct origin *own)
{
    struct choice best = {0};
    uint64_t now = now_ms();
    if (connections->leaving >= LEAVING_MOST) {
        return false;
    }
    for (struct connection *c = connections->first; c != NULL; c = c->next) {
        int state = atomic_load(&c->state);
        uint64_t since = atomic_load(&c->since);
        uint64_t age = now > since ? now - since : 0;
        if (may_leave(connections, c, own, state, age) &&
            is_better(c, state, since, &best)) {
            best = (struct choice){c, state, since};
        }
    }
    if (best.connection == NULL ||
        !atomic_compare_exchange_strong(&best.connection->state, &best.state,
                                        LATE)) {
        return false;
    }
    best.connection->leaving = true;
    connections->leaving++;
    (void)shutdown(best.connection->fd, SHUT_RDWR);
    return true;
}

bool
connections_room(struct connections *connections,
                 const struct sockaddr *address)
{
    uint8_t name[ORIGIN_SIZE];
    const struct origin *own;
    bool room;
    name_origin(address, name);
    (void)pthread_mutex_lock(&connections->lock);
    own = find_origin(connections, name);
    room = own == NULL || own->count < connections->limits.address_most;
    if (room &&
        connections->count - connections->leaving >= connections->limits.most) {
        room = make_way(connections, own);
    }
    (void)pthread_mutex_unlock(&connections->lock);
    if (!room) {
        atomic_fetch_add_explicit(&connections->metrics->turned_away, 1,
                                  memory_order_relaxed);
    }
    return room;
}

/* ---- One ----------------------------------------------------------------- */

struct connection *
connections_open(struct connections *connections, int fd,
                 const struct sockaddr *address)
{
    struct connection *connection = calloc(1, sizeof *connection);
    uint8_t name[ORIGIN_SIZE];
    if (connection == NULL) {
        return NULL;
    }
    connection->fd = fd;
    atomic_init(&connection->state, OPENED);
    atomic_init(&connection->since, now_ms());
    name_origin(address, name);
    (void)pthread_mutex_lock(&connections->lock);
    connection->origin = join_origin(connections, name);
    if (connection->origin == NULL) {
        (void)pthread_mutex_unlock(&connections->lock);
        free(connection);
        return NULL;
    }
    connection->next = connections->first;
    if (connections->first != NULL) {
        connections->first->last = connection;
    }
    connections->first = connection;
    atomic_store(&connections->metrics->connections, ++connections->count);
    (void)pthread_mutex_unlock(&connections->lock);
    return connection;
}

void
connections_close(struct connections *connections,
                  struct connection *connection)
{
    if (connection == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&connections->lock);
    if (connection->last != NULL) {
        connection->last->next = connection->next;
    } else {
        connections->first = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->last = connection->last;
    }
    connections->leaving -= connection->leaving ? 1 : 0;
    leave_origin(connections, connection->origin);
    atomic_store(&connections->metrics->connections, --connections->count);
    (void)pthread_mutex_unlock(&connections->lock);
    host_wipe_free(connection, sizeof *connection);
}

bool
connections_take(struct connections *connections, struct connection *connection,
                 size_t size)
{
    const struct connections_limits *limits = &connections->limits;
    struct origin *origin;
    bool room;
    if (size == 0 || connection == NULL) {
        return size == 0;
    }
    origin = connection->origin;
    (void)pthread_mutex_lock(&connections->lock);
    room = size <= limits->memory_most - connections->taken &&
           size <= limits->memory_address_most - origin->taken;
    if (room) {
        connections->taken += size;
        origin->taken += size;
    }
    (void)pthread_mutex_unlock(&connections->lock);
    return room;
}

void
connections_give(struct connections *connections, struct connection *connection,
                 size_t size)
{
    if (size > 0 && connection != NULL) {
        (void)pthread_mutex_lock(&connections->lock);
        connections->taken -= size;
        connection->origin->taken -= size;
        (void)pthread_mutex_unlock(&connections->lock);
    }
}

void
connection_line(struct connection *connection)
{
    int opened = OPENED, idle = IDLE;
    if (connection == NULL ||
        atomic_compare_exchange_strong(&connection->state, &opened, ARRIVING)) {
        return;
    }
    /* The time first: a sweep in between must not see an old one. */
    atomic_store(&connection->since, now_ms());
    (void)atomic_compare_exchange_strong(&connection->state, &idle, ARRIVING);
}

bool
connection_complete(struct connection *connection)
{
    int arriving = ARRIVING;
    if (connection == NULL) {
        return true;
    }
    if (!atomic_compare_exchange_strong(&connection->state, &arriving,
                                        ANSWERING)) {
        return false;
    }
    atomic_store(&connection->since, now_ms());
    return true;
}

void
connection_sent(struct connection *connection)
{
    int answering = ANSWERING, arriving = ARRIVING;
    if (connection != NULL) {
        atomic_store(&connection->since, now_ms());
        if (!atomic_compare_exchange_strong(&connection->state, &answering,
                                            IDLE)) {
            (void)atomic_compare_exchange_strong(&connection->state, &arriving,
                                                 IDLE);
        }
    }
}
