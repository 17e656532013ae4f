/*
 * door.c: a thread that accepts connections and keeps those that have sent
 * nothing.
 *
 * Events name a socket by its number. One that was closed since may have its
 * number used by another: that one is looked at, has nothing to say, and waits
 * on.
 */
#include "collector/door.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "collector/proxy_header.h"
#include "host/clock.h"
#include "host/error.h"

#define EVENTS 64
#define ACCEPTS 64      /* in turn, before those that wait are looked at */
#define PAUSE_MS 2      /* while others leave, or there is no file */
#define LOOK_MS 1000    /* at how long headers of proxies take */
#define UNNAMED_MOST 64 /* connections whose proxy has not said who it is */
#define UNNAMED_S 3.0

/* A proxy's connection, before its header. */
struct unnamed {
    int fd; /* -1: free */
    double since;
};

struct door {
    struct door_options options;
    pthread_t thread;
    int epoll, stop;
    bool paused; /* the listener is not looked at */
    struct unnamed unnamed[UNNAMED_MOST];
};

/* ---- Those that wait ----------------------------------------------------- */

/* Looks at a socket from now on, as long as it is open. */
static bool
watch_socket(struct door *door, int fd, uint32_t more)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | more,
                                .data.fd = fd};
    return epoll_ctl(door->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void
forget_socket(struct door *door, struct connection *connection, int fd)
{
    connections_close(door->options.connections, connection);
    (void)close(fd);
}

static void
pass_socket(struct door *door, struct connection *connection, int fd)
{
    const struct door_options *options = &door->options;
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    (void)epoll_ctl(door->epoll, EPOLL_CTL_DEL, fd, NULL);
    if (!connection_heard(connection) ||
        getpeername(fd, (struct sockaddr *)&address, &size) != 0) {
        forget_socket(door, connection, fd);
    } else if (!options->pass(options->context, fd, (struct sockaddr *)&address,
                              size)) {
        connections_lose(options->connections, fd);
    }
    explicit_bzero(&address, sizeof address);
}

/* What a socket that waits has to say: bytes, its end, or nothing yet: true. */
static bool
look_at(struct door *door, struct connection *connection, int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    if (got > 0) {
        pass_socket(door, connection, fd);
    } else {
        forget_socket(door, connection, fd);
    }
    return false;
}

static void
admit_socket(struct door *door, int fd, const struct sockaddr *address)
{
    int leaver = -1;
    struct connection *connection =
        connections_admit(door->options.connections, fd, address, &leaver);
    if (leaver >= 0) {
        (void)close(leaver);
    }
    if (connection == NULL) {
        (void)close(fd);
        return;
    }
    if (look_at(door, connection, fd) && !watch_socket(door, fd, 0)) {
        forget_socket(door, connection, fd);
    }
}

/* ---- Behind a proxy ------------------------------------------------------ */

static void
refuse_unnamed(struct door *door, struct unnamed *unnamed)
{
    refusals_count(door->options.refusals, REFUSAL_PROXY);
    (void)close(unnamed->fd);
    unnamed->fd = -1;
}

/* Takes the header away and lets in whom it names; one without a name (the
   proxy asks for itself) has the proxy's address. */
static void
name_unnamed(struct door *door, struct unnamed *unnamed, size_t size,
             const union proxy_address *named)
{
    uint8_t header[PROXY_HEADER_MOST];
    struct sockaddr_storage peer = {0};
    socklen_t peer_size = sizeof peer;
    int fd = unnamed->fd;
    bool itself = named->any.sa_family == AF_UNSPEC;
    (void)epoll_ctl(door->epoll, EPOLL_CTL_DEL, fd, NULL);
    if (recv(fd, header, size, MSG_DONTWAIT) != (ssize_t)size ||
        (itself &&
         getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0)) {
        refuse_unnamed(door, unnamed);
    } else {
        unnamed->fd = -1;
        admit_socket(door, fd, itself ? (struct sockaddr *)&peer : &named->any);
    }
    explicit_bzero(header, sizeof header);
}

static void
look_at_header(struct door *door, struct unnamed *unnamed)
{
    uint8_t header[PROXY_HEADER_MOST];
    union proxy_address named;
    size_t size = 0;
    ssize_t got =
        recv(unnamed->fd, header, sizeof header, MSG_PEEK | MSG_DONTWAIT);
    enum proxy_header read = PROXY_HEADER_CUT;
    if (got > 0) {
        read = proxy_header_read(header, (size_t)got, &size, &named);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        read = PROXY_HEADER_WRONG;
    }
    if (read == PROXY_HEADER_WHOLE) {
        name_unnamed(door, unnamed, size, &named);
        explicit_bzero(&named, sizeof named);
    } else if (read == PROXY_HEADER_WRONG) {
        refuse_unnamed(door, unnamed);
    }
    explicit_bzero(header, sizeof header);
}

/* One more that is to say who it is; the oldest such gives way. */
static void
take_unnamed(struct door *door, int fd)
{
    struct unnamed *place = &door->unnamed[0];
    for (size_t i = 0; i < UNNAMED_MOST && place->fd >= 0; i++) {
        struct unnamed *other = &door->unnamed[i];
        if (other->fd < 0 || other->since < place->since) {
            place = other;
        }
    }
    if (place->fd >= 0) {
        refuse_unnamed(door, place);
    }
    *place = (struct unnamed){fd, host_seconds()};
    /* at edges: what is there of a header stays there until it is whole */
    if (watch_socket(door, fd, EPOLLET)) {
        look_at_header(door, place);
    } else {
        refuse_unnamed(door, place);
    }
}

static void
sweep_unnamed(struct door *door)
{
    double now = host_seconds();
    for (size_t i = 0; door->options.proxied && i < UNNAMED_MOST; i++) {
        struct unnamed *unnamed = &door->unnamed[i];
        if (unnamed->fd >= 0 && now - unnamed->since > UNNAMED_S) {
            refuse_unnamed(door, unnamed);
        }
    }
}

/* ---- The thread ---------------------------------------------------------- */

/* Looks at the listener, or does not for a moment. */
static void
pause_listener(struct door *door, bool paused)
{
    struct epoll_event event = {.events = paused ? 0 : EPOLLIN,
                                .data.fd = door->options.listener};
    if (paused != door->paused &&
        epoll_ctl(door->epoll, EPOLL_CTL_MOD, door->options.listener, &event) ==
            0) {
        door->paused = paused;
    }
}

static void
accept_some(struct door *door)
{
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage address = {0};
        socklen_t size = sizeof address;
        int fd;
        if (!connections_ready(door->options.connections)) {
            pause_listener(door, true);
            return;
        }
        fd = accept4(door->options.listener, (struct sockaddr *)&address, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                errno == ENOBUFS) {
                refusals_count(door->options.refusals, REFUSAL_FILES);
                pause_listener(door, true);
            }
            return;
        }
        if (door->options.proxied) {
            take_unnamed(door, fd);
        } else {
            admit_socket(door, fd, (struct sockaddr *)&address);
        }
        explicit_bzero(&address, sizeof address);
    }
}

static void
handle_event(struct door *door, int fd)
{
    struct connection *connection;
    for (size_t i = 0; door->options.proxied && i < UNNAMED_MOST; i++) {
        if (door->unnamed[i].fd == fd) {
            look_at_header(door, &door->unnamed[i]);
            return;
        }
    }
    connection = connections_waiting(door->options.connections, fd);
    if (connection != NULL) {
        (void)look_at(door, connection, fd);
    }
}

/* Until something is written to `stop`. */
static void *
run_door(void *context)
{
    struct door *door = context;
    struct epoll_event event[EVENTS];
    for (;;) {
        int wait = door->paused ? PAUSE_MS : LOOK_MS;
        int count = epoll_wait(door->epoll, event, EVENTS, wait);
        for (int i = 0; i < count; i++) {
            int fd = event[i].data.fd;
            if (fd == door->stop) {
                return NULL;
            }
            if (fd == door->options.listener) {
                accept_some(door);
            } else {
                handle_event(door, fd);
            }
        }
        pause_listener(door, false);
        sweep_unnamed(door);
    }
}

/* ---- Its life ------------------------------------------------------------ */

static enum sotto_status
start_door(struct door *door, struct sotto_error *err)
{
    struct epoll_event listener = {.events = EPOLLIN,
                                   .data.fd = door->options.listener};
    int failed;
    if (door->epoll < 0 || door->stop < 0 ||
        !watch_socket(door, door->stop, 0) ||
        epoll_ctl(door->epoll, EPOLL_CTL_ADD, door->options.listener,
                  &listener) != 0) {
        return host_fail(err, SOTTO_STATUS_IO, 0,
                         "connections cannot be waited for: %s",
                         strerror(errno));
    }
    failed = pthread_create(&door->thread, NULL, run_door, door);
    return failed == 0
               ? SOTTO_STATUS_OK
               : host_fail(err, SOTTO_STATUS_IO, 0, "cannot start a thread: %s",
                           strerror(failed));
}

static void
free_door(struct door *door)
{
    if (door->epoll >= 0) {
        (void)close(door->epoll);
    }
    if (door->stop >= 0) {
        (void)close(door->stop);
    }
    free(door);
}

enum sotto_status
door_open(const struct door_options *options, struct door **ret_door,
          struct sotto_error *err)
{
    struct door *door = calloc(1, sizeof *door);
    enum sotto_status status;
    if (door == NULL) {
        return host_fail_memory(err);
    }
    door->options = *options;
    for (size_t i = 0; i < UNNAMED_MOST; i++) {
        door->unnamed[i].fd = -1;
    }
    door->epoll = epoll_create1(EPOLL_CLOEXEC);
    door->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    status = start_door(door, err);
    if (status != SOTTO_STATUS_OK) {
        free_door(door);
        return status;
    }
    *ret_door = door;
    return SOTTO_STATUS_OK;
}

void
door_close(struct door *door)
{
    const uint64_t one = 1;
    int fd;
    if (door == NULL) {
        return;
    }
    while (write(door->stop, &one, sizeof one) < 0 && errno == EINTR) {
    }
    (void)pthread_join(door->thread, NULL);
    while ((fd = connections_any_waiting(door->options.connections)) >= 0) {
        forget_socket(door, connections_waiting(door->options.connections, fd),
                      fd);
    }
    for (size_t i = 0; i < UNNAMED_MOST; i++) {
        if (door->unnamed[i].fd >= 0) {
            (void)close(door->unnamed[i].fd);
        }
    }
    free_door(door);
}
