/*
 * connections.c: the limits of connections, who gives way, and the clock over
 * requests.
 */
#include "collector/connections.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/giving_way.h"
#include "host/error.h"
#include "host/wipe.h"

#define SWEEP_NS 250000000L
#define GONE_MS 1000u /* of silence, then it is looked */
#define GONE_LOOKS 4u /* in turn that must find one gone in a request */
#define RESERVE 8u    /* one place of so many, for those who finish */

struct connections {
    struct connections_limits limits;
    struct metrics *metrics;
    struct refusals *refusals;
    pthread_t sweeper;
    pthread_mutex_t lock; /* of the lists, and of closing against shutting */
    pthread_cond_t stop;
    bool stopping;
    struct connection *first;
    struct connection **by_fd;
    size_t fds;
    struct origins *origins;
    atomic_size_t count, leaving; /* all; those that are leaving */
    atomic_size_t proven;
    size_t taken;    /* bytes */
    size_t returned; /* of them, of those that are leaving: as good as there */
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
    unsigned seconds = state == IDLE ? limits->idle_s
                       : state == ANSWERING || state == SENDING
                           ? limits->answer_s
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
    if (state != IDLE && !gone) {
        atomic_fetch_add(&connections->metrics->late, 1);
        refusals_count(connections->refusals, REFUSAL_LATE);
    }
    (void)shutdown(connection->fd, SHUT_RDWR);
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
   Who has sent nothing is the door's to watch. */
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
        uint64_t age = giving_way_age(c, now);
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
        /* Whoever reads the log may be slow: nobody else waits for that. */
        (void)pthread_mutex_unlock(&connections->lock);
        refusals_tell(connections->refusals, now_ms());
        (void)pthread_mutex_lock(&connections->lock);
        if (connections->stopping) {
            break;
        }
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

static enum sotto_status
start_sweeper(struct connections *connections, struct sotto_error *err)
{
    pthread_condattr_t monotonic;
    int failed;
    (void)pthread_mutex_init(&connections->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&connections->stop, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    failed = pthread_create(&connections->sweeper, NULL, sweep_on, connections);
    if (failed == 0) {
        return SOTTO_STATUS_OK;
    }
    (void)pthread_cond_destroy(&connections->stop);
    (void)pthread_mutex_destroy(&connections->lock);
    return host_fail(err, SOTTO_STATUS_IO, 0, "cannot start a thread: %s",
                     strerror(failed));
}

enum sotto_status
connections_new(const struct connections_limits *limits,
                struct metrics *metrics, struct refusals *refusals,
                struct connections **ret_connections, struct sotto_error *err)
{
    struct connections *connections = calloc(1, sizeof *connections);
    enum sotto_status status;
    if (connections == NULL) {
        return host_fail_memory(err);
    }
    connections->limits = *limits;
    connections->metrics = metrics;
    connections->refusals = refusals;
    connections->origins = origins_new(limits->most);
    status = connections->origins != NULL ? start_sweeper(connections, err)
                                          : host_fail_memory(err);
    if (status != SOTTO_STATUS_OK) {
        origins_free(connections->origins);
        free(connections);
        return status;
    }
    *ret_connections = connections;
    return SOTTO_STATUS_OK;
}

void
connections_free(struct connections *connections)
{
    if (connections == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&connections->lock);
    connections->stopping = true;
    (void)pthread_cond_signal(&connections->stop);
    (void)pthread_mutex_unlock(&connections->lock);
    (void)pthread_join(connections->sweeper, NULL);
    (void)pthread_cond_destroy(&connections->stop);
    while (connections->first != NULL) {
        connections_close(connections, connections->first);
    }
    (void)pthread_mutex_destroy(&connections->lock);
    origins_free(connections->origins);
    free(connections->by_fd);
    free(connections);
}

bool
connections_ready(const struct connections *connections)
{
    return atomic_load(&connections->count) <
           connections->limits.most + CONNECTIONS_BEYOND;
}

/* ---- Giving way ---------------------------------------------------------- */

static void
forget_connection(struct connections *connections,
                  struct connection *connection)
{
    if (connection->last != NULL) {
        connection->last->next = connection->next;
    } else {
        connections->first = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->last = connection->last;
    }
    if (connections->by_fd[connection->fd] == connection) {
        connections->by_fd[connection->fd] = NULL;
    }
    if (connection->leaving) {
        atomic_fetch_sub(&connections->leaving, 1);
    } else {
        origins_discount(connection->origin);
    }
    if (atomic_load(&connection->proven)) {
        atomic_fetch_sub(&connections->proven, 1);
    }
    origins_leave(connections->origins, connection->origin);
    atomic_fetch_sub(&connections->count, 1);
    atomic_fetch_sub(&connections->metrics->connections, 1);
    host_wipe_free(connection, sizeof *connection);
}

/* One that is LATE already. */
static void
send_away(struct connections *connections, struct connection *leaver)
{
    leaver->leaving = true;
    connections->returned += leaver->memory;
    origins_discount(leaver->origin);
    atomic_fetch_add(&connections->leaving, 1);
    (void)shutdown(leaver->fd, SHUT_RDWR);
}

/* Cuts one for a newcomer; false: none gives way. */
static bool
make_way(struct connections *connections,
         const struct giving_way_newcomer *newcomer, int *ret_close)
{
    static const enum refusal kinds[] = {REFUSAL_SILENT, REFUSAL_IDLE,
                                         REFUSAL_SLOW, REFUSAL_FRESH};
    struct giving_way best =
        giving_way_choose(connections->first, now_ms(), newcomer);
    struct connection *leaver = best.connection;
    if (leaver == NULL ||
        !atomic_compare_exchange_strong(&leaver->state, &best.state, LATE)) {
        return false;
    }
    refusals_count(connections->refusals,
                   best.state == WAITING ? REFUSAL_SILENT : kinds[best.way]);
    if (best.state == WAITING) {
        *ret_close = leaver->fd;
        forget_connection(connections, leaver);
        return true;
    }
    send_away(connections, leaver);
    return true;
}

/* ---- One ----------------------------------------------------------------- */

/* A place for its socket's number; false: no memory. */
static bool
grow_fds(struct connections *connections, int fd)
{
    size_t need = (size_t)fd + 1, most = connections->fds;
    struct connection **moved;
    if (need <= most) {
        return true;
    }
    need = need < 2 * most ? 2 * most : need;
    moved = realloc(connections->by_fd, need * sizeof(struct connection *));
    if (moved == NULL) {
        return false;
    }
    memset(moved + most, 0, (need - most) * sizeof(struct connection *));
    connections->by_fd = moved;
    connections->fds = need;
    return true;
}

static struct connection *
add_connection(struct connections *connections, int fd,
               const struct sockaddr *address)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        return NULL;
    }
    connection->origin = grow_fds(connections, fd)
                             ? origins_join(connections->origins, address)
                             : NULL;
    if (connection->origin == NULL) {
        free(connection);
        return NULL;
    }
    connection->fd = fd;
    connection->all = connections;
    atomic_init(&connection->state, WAITING);
    atomic_init(&connection->since, now_ms());
    connection->next = connections->first;
    if (connections->first != NULL) {
        connections->first->last = connection;
    }
    connections->first = connection;
    connections->by_fd[fd] = connection;
    atomic_fetch_add(&connections->count, 1);
    atomic_fetch_add(&connections->metrics->connections, 1);
    return connection;
}

/* Whether there is a place; REFUSALS: there is, else why there is none. Where
   none gives way, an origin's first connection is let in beyond the limit. */
static enum refusal
find_place(struct connections *connections, const struct sockaddr *address,
           int *ret_close)
{
    const struct connections_limits *limits = &connections->limits;
    const struct origin *own = origins_find(connections->origins, address);
    size_t has = own != NULL ? own->count : 0;
    const struct giving_way_newcomer newcomer = {
        .origin = own,
        .weight = origins_weight_of(connections->origins, address),
        .full = has >= limits->address_most,
        .reserve = atomic_load(&connections->proven) <= limits->most / RESERVE,
    };
    size_t count =
        atomic_load(&connections->count) - atomic_load(&connections->leaving);
    if (newcomer.full) {
        return make_way(connections, &newcomer, ret_close) ? REFUSALS
                                                           : REFUSAL_ADDRESS;
    }
    if (count < limits->most || make_way(connections, &newcomer, ret_close)) {
        return REFUSALS;
    }
    return has == 0 && connections_ready(connections) ? REFUSALS : REFUSAL_FULL;
}

struct connection *
connections_admit(struct connections *connections, int fd,
                  const struct sockaddr *address, int *ret_close)
{
    struct connection *connection = NULL;
    enum refusal refusal;
    *ret_close = -1;
    (void)pthread_mutex_lock(&connections->lock);
    if ((size_t)fd < connections->fds && connections->by_fd[fd] != NULL) {
        /* A server has closed it, and not said so. */
        forget_connection(connections, connections->by_fd[fd]);
    }
    refusal = find_place(connections, address, ret_close);
    if (refusal == REFUSALS) {
        connection = add_connection(connections, fd, address);
        refusal = connection != NULL ? REFUSALS : REFUSAL_MEMORY;
    }
    (void)pthread_mutex_unlock(&connections->lock);
    if (refusal != REFUSALS) {
        atomic_fetch_add_explicit(&connections->metrics->turned_away, 1,
                                  memory_order_relaxed);
        refusals_count(connections->refusals, refusal);
    }
    return connection;
}

struct connection *
connections_find(struct connections *connections, int fd)
{
    struct connection *found = NULL;
    (void)pthread_mutex_lock(&connections->lock);
    if (fd >= 0 && (size_t)fd < connections->fds) {
        found = connections->by_fd[fd];
    }
    (void)pthread_mutex_unlock(&connections->lock);
    return found;
}

struct connection *
connections_waiting(struct connections *connections, int fd)
{
    struct connection *found = NULL;
    (void)pthread_mutex_lock(&connections->lock);
    if (fd >= 0 && (size_t)fd < connections->fds) {
        found = connections->by_fd[fd];
    }
    found = found != NULL && !found->heard ? found : NULL;
    (void)pthread_mutex_unlock(&connections->lock);
    return found;
}

int
connections_any_waiting(struct connections *connections)
{
    int fd = -1;
    (void)pthread_mutex_lock(&connections->lock);
    for (struct connection *c = connections->first; c != NULL && fd < 0;
         c = c->next) {
        fd = c->heard ? -1 : c->fd;
    }
    (void)pthread_mutex_unlock(&connections->lock);
    return fd;
}

void
connections_close(struct connections *connections,
                  struct connection *connection)
{
    if (connection != NULL) {
        (void)pthread_mutex_lock(&connections->lock);
        forget_connection(connections, connection);
        (void)pthread_mutex_unlock(&connections->lock);
    }
}

void
connections_lose(struct connections *connections, int fd)
{
    (void)pthread_mutex_lock(&connections->lock);
    if ((size_t)fd < connections->fds && connections->by_fd[fd] != NULL &&
        !connections->by_fd[fd]->taken) {
        forget_connection(connections, connections->by_fd[fd]);
    }
    (void)pthread_mutex_unlock(&connections->lock);
}

/* Another origin for a connection; false: it has as many as it may. */
static bool
change_origin(struct connections *connections, struct connection *connection,
              const struct sockaddr *address)
{
    struct origin *next = origins_join(connections->origins, address);
    bool same = next == connection->origin;
    if (next == NULL) {
        return false;
    }
    if (same || next->count > connections->limits.address_most) {
        origins_discount(next);
        origins_leave(connections->origins, next);
        return same;
    }
    origins_discount(connection->origin);
    origins_leave(connections->origins, connection->origin);
    connection->origin = next;
    return true;
}

bool
connections_claim(struct connections *connections,
                  struct connection *connection, const struct sockaddr *address)
{
    bool good = true;
    if (connection != NULL) {
        (void)pthread_mutex_lock(&connections->lock);
        good = connection->leaving ||
               change_origin(connections, connection, address);
        (void)pthread_mutex_unlock(&connections->lock);
    }
    return good;
}

/* Whether there is memory, perhaps by cutting those that are slow. */
static bool
find_memory(struct connections *connections, const struct origin *origin,
            size_t size)
{
    const struct connections_limits *limits = &connections->limits;
    if (size > limits->memory_address_most - origin->taken) {
        return false;
    }
    while (size >
           limits->memory_most + connections->returned - connections->taken) {
        int arriving = ARRIVING;
        struct connection *leaver =
            giving_way_memory(connections->first, now_ms(), origin);
        if (leaver == NULL ||
            !atomic_compare_exchange_strong(&leaver->state, &arriving, LATE)) {
            return false;
        }
        refusals_count(connections->refusals, REFUSAL_SLOW);
        send_away(connections, leaver);
    }
    return true;
}

bool
connections_take(struct connections *connections, struct connection *connection,
                 size_t size)
{
    bool room;
    if (size == 0 || connection == NULL) {
        return size == 0;
    }
    (void)pthread_mutex_lock(&connections->lock);
    room = !connection->leaving &&
           find_memory(connections, connection->origin, size);
    if (room) {
        connections->taken += size;
        connection->origin->taken += size;
        connection->memory += size;
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
        connections->returned -= connection->leaving ? size : 0;
        connection->origin->taken -= size;
        connection->memory -= size;
        (void)pthread_mutex_unlock(&connections->lock);
    }
}

/* ---- What happens to one ------------------------------------------------- */

bool
connection_heard(struct connection *connection)
{
    int waiting = WAITING;
    bool heard = true;
    if (connection != NULL) {
        (void)pthread_mutex_lock(&connection->all->lock);
        heard = atomic_compare_exchange_strong(&connection->state, &waiting,
                                               OPENED);
        connection->heard = heard;
        (void)pthread_mutex_unlock(&connection->all->lock);
    }
    return heard;
}

void
connection_taken(struct connection *connection)
{
    if (connection != NULL) {
        (void)pthread_mutex_lock(&connection->all->lock);
        connection->taken = true;
        (void)pthread_mutex_unlock(&connection->all->lock);
    }
}

void
connection_line(struct connection *connection)
{
    int opened = OPENED, idle = IDLE;
    if (connection == NULL) {
        return;
    }
    atomic_store(&connection->bytes, 0);
    if (atomic_compare_exchange_strong(&connection->state, &opened, ARRIVING)) {
        return;
    }
    /* The time first: a sweep in between must not see an old one. */
    atomic_store(&connection->since, now_ms());
    (void)atomic_compare_exchange_strong(&connection->state, &idle, ARRIVING);
}

void
connection_grew(struct connection *connection, size_t size)
{
    if (connection != NULL) {
        atomic_fetch_add_explicit(&connection->bytes, size,
                                  memory_order_relaxed);
    }
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
connection_answered(struct connection *connection, bool good)
{
    int answering = ANSWERING;
    if (connection != NULL) {
        connection->good = good;
        atomic_store(&connection->since, now_ms());
        (void)atomic_compare_exchange_strong(&connection->state, &answering,
                                             SENDING);
    }
}

void
connection_sent(struct connection *connection)
{
    int sending = SENDING, answering = ANSWERING, arriving = ARRIVING;
    if (connection == NULL) {
        return;
    }
    if (connection->good && !atomic_exchange(&connection->proven, true)) {
        atomic_fetch_add(&connection->all->proven, 1);
    }
    atomic_store(&connection->since, now_ms());
    if (!atomic_compare_exchange_strong(&connection->state, &sending, IDLE) &&
        !atomic_compare_exchange_strong(&connection->state, &answering, IDLE)) {
        (void)atomic_compare_exchange_strong(&connection->state, &arriving,
                                             IDLE);
    }
}

void *
connection_context(const struct connection *connection)
{
    return connection != NULL ? connection->all->limits.context : NULL;
}

bool
connection_mute(const struct connection *connection)
{
    return connection != NULL && atomic_load(&connection->state) == OPENED;
}

bool
connection_cut(const struct connection *connection)
{
    return connection != NULL && atomic_load(&connection->state) == LATE;
}
