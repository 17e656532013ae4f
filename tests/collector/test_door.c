/*
 * test_door.c: connections are passed on with their first byte, and not before;
 * those that end in silence are forgotten; a proxy's header is taken away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "collector/door.h"
#include "collector/listening.h"

#define MOST ((size_t)4)

static struct sotto_error err;
static struct metrics metrics;
static struct refusals refusals;
static struct connections *all;
static struct door *door;
static int listener = -1;
static unsigned port;

/* What was passed on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int passed[64];
static size_t count;
static bool refuse;

static bool
take(void *context, int fd, const struct sockaddr *address, socklen_t size)
{
    assert_ptr_equal(context, passed);
    assert_int_equal(address->sa_family, AF_INET);
    assert_int_equal(size, sizeof(struct sockaddr_in));
    if (refuse) {
        (void)close(fd);
        return false;
    }
    (void)pthread_mutex_lock(&lock);
    passed[count++] = fd;
    (void)pthread_mutex_unlock(&lock);
    connection_taken(connections_find(all, fd));
    return true;
}

static size_t
passed_count(void)
{
    (void)pthread_mutex_lock(&lock);
    size_t now = count;
    (void)pthread_mutex_unlock(&lock);
    return now;
}

static int
open_door(bool proxied)
{
    const struct connections_limits limits = {.most = MOST,
                                              .address_most = MOST,
                                              .request_s = 60,
                                              .idle_s = 60,
                                              .answer_s = 60};
    bool loopback;
    metrics_init(&metrics);
    refusals_init(&refusals, NULL, NULL, 60, 600);
    count = 0;
    refuse = false;
    if (listening_open("127.0.0.1:0", false, &listener, &port, &loopback,
                       &err) != SOTTO_STATUS_OK ||
        connections_new(&limits, &metrics, &refusals, &all, &err) !=
            SOTTO_STATUS_OK) {
        return -1;
    }
    const struct door_options options = {.listener = listener,
                                         .proxied = proxied,
                                         .connections = all,
                                         .refusals = &refusals,
                                         .pass = take,
                                         .context = passed};
    return door_open(&options, &door, &err) == SOTTO_STATUS_OK ? 0 : -1;
}

static int
set_up(void **state)
{
    (void)state;
    return open_door(false);
}

static int
set_up_proxied(void **state)
{
    (void)state;
    return open_door(true);
}

static int
tear_down(void **state)
{
    (void)state;
    door_close(door);
    for (size_t i = 0; i < count; i++) {
        connections_close(all, connections_find(all, passed[i]));
        (void)close(passed[i]);
    }
    int left = (int)atomic_load(&metrics.connections);
    connections_free(all);
    refusals_clear(&refusals);
    (void)close(listener);
    return left == 0 ? 0 : -1;
}

static int
connect_one(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void
say(int fd, const void *data, size_t size)
{
    assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), size);
}

#define UNTIL(truth)                                                           \
    do {                                                                       \
        for (int tries = 0; !(truth) && tries < 1000; tries++) {               \
            (void)poll(NULL, 0, 10);                                           \
        }                                                                      \
        assert_true(truth);                                                    \
    } while (0)

static bool
is_closed(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void
test_first_byte(void **state)
{
    int one = connect_one(), other = connect_one(), gone = connect_one();
    char text[8] = "";
    (void)state;
    UNTIL(atomic_load(&metrics.connections) == 3);
    assert_int_equal(passed_count(), 0);
    say(other, "GET", 3);
    UNTIL(passed_count() == 1);
    assert_int_equal(recv(passed[0], text, sizeof text, 0), 3);
    assert_string_equal(text, "GET");
    (void)close(gone);
    UNTIL(atomic_load(&metrics.connections) == 2);
    say(one, "x", 1);
    UNTIL(passed_count() == 2);
    (void)close(one);
    (void)close(other);
}

/* All places are taken in silence: the oldest goes, and is told so. */
static void
test_silence(void **state)
{
    int held[MOST], next;
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        held[i] = connect_one();
        UNTIL(atomic_load(&metrics.connections) == i + 1);
        (void)poll(NULL, 0, 20);
    }
    next = connect_one();
    say(next, "x", 1);
    UNTIL(passed_count() == 1);
    UNTIL(is_closed(held[0]));
    assert_false(is_closed(held[1]));
    assert_int_equal(atomic_load(&metrics.connections), MOST);
    assert_int_equal(atomic_load(&refusals.count[REFUSAL_SILENT]), 1);
    for (size_t i = 0; i < MOST; i++) {
        (void)close(held[i]);
    }
    (void)close(next);
}

/* A server that cannot take one has closed it: nothing of it is left. */
static void
test_refused(void **state)
{
    int one;
    (void)state;
    refuse = true;
    one = connect_one();
    say(one, "x", 1);
    UNTIL(is_closed(one));
    UNTIL(atomic_load(&metrics.connections) == 0);
    (void)close(one);
}

static void
test_proxied(void **state)
{
    static const char header[] = "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n";
    int one = connect_one(), wrong = connect_one(), silent = connect_one();
    char text[8] = "";
    (void)state;
    say(one, header, 10);
    (void)poll(NULL, 0, 50);
    assert_int_equal(atomic_load(&metrics.connections), 0);
    say(one, header + 10, sizeof header - 1 - 10);
    UNTIL(atomic_load(&metrics.connections) == 1);
    assert_int_equal(passed_count(), 0);
    say(one, "GET", 3);
    UNTIL(passed_count() == 1);
    assert_int_equal(recv(passed[0], text, sizeof text, 0), 3);
    assert_string_equal(text, "GET");
    say(wrong, "GET / HTTP/1.1\r\n", 16);
    UNTIL(is_closed(wrong));
    assert_int_equal(atomic_load(&refusals.count[REFUSAL_PROXY]), 1);
    /* One that says nothing has some seconds. */
    assert_false(is_closed(silent));
    UNTIL(is_closed(silent));
    assert_int_equal(atomic_load(&refusals.count[REFUSAL_PROXY]), 2);
    (void)close(one);
    (void)close(wrong);
    (void)close(silent);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_first_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_silence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_proxied, set_up_proxied,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
