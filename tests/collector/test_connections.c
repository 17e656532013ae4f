/*
 * test_connections.c: the limits of connections, the memory they share, and the
 * clock over requests. The sockets are pairs, the addresses made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/connections.h"

#define MOST ((size_t)8)
#define ADDRESS_MOST ((size_t)6)

static struct sotto_error err;
static struct metrics metrics;
static struct connections *all;

/* A connection, and the client's end of it. */
struct one {
    struct connection *connection;
    int near, far;
};

static union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} address;

static const struct sockaddr *
from(const char *text)
{
    memset(&address, 0, sizeof address);
    if (inet_pton(AF_INET, text, &address.four.sin_addr) == 1) {
        address.any.sa_family = AF_INET;
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &address.six.sin6_addr), 1);
        address.any.sa_family = AF_INET6;
    }
    return &address.any;
}

static int
make(unsigned seconds)
{
    const struct connections_limits limits = {
        .most = MOST,
        .address_most = ADDRESS_MOST,
        .memory_most = 1000,
        .memory_address_most = 250,
        .request_s = seconds,
        .idle_s = 60,
        .answer_s = seconds,
        .plain = true,
    };
    metrics_init(&metrics);
    return connections_new(&limits, &metrics, &all, &err) == SOTTO_STATUS_OK
               ? 0
               : -1;
}

static int
set_up(void **state)
{
    (void)state;
    return make(1);
}

static int
set_up_patient(void **state)
{
    (void)state;
    return make(60);
}

static int
tear_down(void **state)
{
    (void)state;
    connections_free(all);
    return 0;
}

static struct one
open_one(const char *text)
{
    int pair[2];
    struct one one;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    one.near = pair[0];
    one.far = pair[1];
    one.connection = connections_open(all, one.near, from(text));
    assert_non_null(one.connection);
    return one;
}

static void
close_one(struct one one)
{
    connections_close(all, one.connection);
    assert_int_equal(close(one.near), 0);
    assert_int_equal(close(one.far), 0);
}

/* Lets it have a request answered: it is between requests. */
static void
make_idle(struct one one)
{
    connection_line(one.connection);
    assert_true(connection_complete(one.connection));
    connection_sent(one.connection);
}

/* Whether the collector's side was shut, within so long. */
static bool
is_shut(struct one one, int ms)
{
    struct pollfd look = {.fd = one.far, .events = POLLRDHUP};
    return poll(&look, 1, ms) == 1 && (look.revents & POLLRDHUP) != 0;
}

static void
pause_ms(int ms)
{
    assert_int_equal(poll(NULL, 0, ms), 0);
}

/* ---- Counting ------------------------------------------------------------ */

static void
test_total(void **state)
{
    static const char *const names[MOST] = {
        "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4",
        "192.0.2.5", "192.0.2.6", "192.0.2.7", "192.0.2.8"};
    struct one one[MOST];
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        assert_true(connections_room(all, from(names[i])));
        one[i] = open_one(names[i]);
    }
    /* They are arriving, and of an origin each: nobody gives way. */
    assert_false(connections_room(all, from("192.0.2.9")));
    assert_int_equal(metrics.turned_away, 1);
    assert_int_equal(metrics.connections, MOST);
    close_one(one[3]);
    assert_true(connections_room(all, from("192.0.2.9")));
    for (size_t i = 0; i < MOST; i++) {
        if (i != 3) {
            close_one(one[i]);
        }
    }
    assert_int_equal(metrics.connections, 0);
}

/* Fills an origin and asks for others: who counts with it? */
static void
test_origins(void **state)
{
    static const struct {
        const char *full, *same, *other;
    } cases[] = {
        {"192.0.2.1", "192.0.2.1", "192.0.2.2"},
        {"192.0.2.1", "::ffff:192.0.2.1", "::ffff:192.0.2.2"},
        {"2001:db8:0:100::1", "2001:db8:0:1ff:ffff::2", "2001:db8:0:200::1"},
        {"2001:db8::1", "2001:db8::2", "2001:db9::1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct one one[ADDRESS_MOST];
        for (size_t j = 0; j < ADDRESS_MOST; j++) {
            assert_true(connections_room(all, from(cases[i].full)));
            one[j] = open_one(cases[i].full);
        }
        assert_false(connections_room(all, from(cases[i].full)));
        assert_false(connections_room(all, from(cases[i].same)));
        assert_true(connections_room(all, from(cases[i].other)));
        for (size_t j = 0; j < ADDRESS_MOST; j++) {
            close_one(one[j]);
        }
    }
}

/* Idle ones of the origin that has most give way, the longest idle first; an
   origin that has most itself gets nothing from others. */
static void
test_giving_way(void **state)
{
    struct one many[ADDRESS_MOST], few[2];
    (void)state;
    few[0] = open_one("192.0.2.2");
    make_idle(few[0]);
    pause_ms(20); /* the clock is coarse */
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        many[i] = open_one("192.0.2.1");
        if (i != 0) {
            make_idle(many[i]);
            pause_ms(20);
        }
    }
    few[1] = open_one("192.0.2.2");
    make_idle(few[1]);
    assert_true(connections_room(all, from("192.0.2.3")));
    assert_true(is_shut(many[1], 0));
    assert_false(is_shut(many[0], 0));
    /* What is shut can conclude nothing. */
    connection_line(many[1].connection);
    assert_false(connection_complete(many[1].connection));
    assert_true(connections_room(all, from("192.0.2.3")));
    struct one third = open_one("192.0.2.3");
    assert_true(connections_room(all, from("192.0.2.3")));
    assert_true(is_shut(many[2], 0));
    assert_false(is_shut(few[0], 0));
    close_one(third);
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        close_one(many[i]);
    }
    close_one(few[0]);
    close_one(few[1]);
    assert_int_equal(metrics.turned_away, 0);
}

/* Without one between requests, a slow one of an origin that has more than an
   eighth of all; never one that is being answered. */
static void
test_slow(void **state)
{
    struct one many[ADDRESS_MOST], few[MOST - ADDRESS_MOST];
    (void)state;
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        many[i] = open_one("192.0.2.1");
        connection_line(many[i].connection);
        if (i > 0) {
            assert_true(connection_complete(many[i].connection));
        }
    }
    few[0] = open_one("192.0.2.2");
    few[1] = open_one("192.0.2.3");
    assert_false(connections_room(all, from("192.0.2.4")));
    pause_ms(1005);
    assert_true(connections_room(all, from("192.0.2.4")));
    assert_true(is_shut(many[0], 0));
    assert_false(connections_room(all, from("192.0.2.1")));
    struct one newcomer = open_one("192.0.2.4");
    assert_false(connections_room(all, from("192.0.2.5")));
    close_one(newcomer);
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        close_one(many[i]);
    }
    close_one(few[0]);
    close_one(few[1]);
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    static const char *const names[] = {"192.0.2.1", "192.0.2.2", "192.0.2.3",
                                        "192.0.2.4", "192.0.2.5", "192.0.2.1"};
    struct one one[6];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        one[i] = open_one(names[i]);
    }
    assert_false(connections_take(all, one[0].connection, 251));
    assert_true(connections_take(all, one[0].connection, 200));
    assert_false(connections_take(all, one[0].connection, 51));
    /* The origin's share, not the connection's. */
    assert_false(connections_take(all, one[5].connection, 51));
    assert_true(connections_take(all, one[5].connection, 50));
    for (size_t i = 1; i < 4; i++) {
        assert_true(connections_take(all, one[i].connection, 250));
    }
    assert_false(connections_take(all, one[4].connection, 1));
    assert_true(connections_take(all, one[4].connection, 0));
    connections_give(all, one[5].connection, 50);
    assert_false(connections_take(all, one[4].connection, 51));
    assert_true(connections_take(all, one[4].connection, 50));
    assert_false(connections_take(all, NULL, 1));
    connections_give(all, NULL, 1);
    connections_give(all, one[4].connection, 50);
    connections_give(all, one[0].connection, 200);
    for (size_t i = 1; i < 4; i++) {
        connections_give(all, one[i].connection, 250);
    }
    assert_true(connections_take(all, one[0].connection, 250));
    connections_give(all, one[0].connection, 250);
    for (size_t i = 0; i < 6; i++) {
        close_one(one[i]);
    }
}

/* ---- The clock ----------------------------------------------------------- */

/* A request and an answer that take too long are cut; the request concludes
   nothing any more, and is told why. */
static void
test_late(void **state)
{
    struct one opened = open_one("192.0.2.1");
    struct one arriving = open_one("192.0.2.1");
    struct one answering = open_one("192.0.2.1");
    struct one idle = open_one("192.0.2.1");
    char text[64] = "";
    (void)state;
    connection_line(arriving.connection);
    connection_line(answering.connection);
    assert_true(connection_complete(answering.connection));
    make_idle(idle);
    assert_true(is_shut(opened, 5000));
    assert_true(is_shut(arriving, 5000));
    assert_true(is_shut(answering, 5000));
    assert_false(is_shut(idle, 0));
    assert_int_equal(recv(arriving.far, text, 12, 0), 12);
    assert_string_equal(text, "HTTP/1.1 408");
    assert_int_equal(recv(answering.far, text, 12, 0), 0);
    assert_int_equal(metrics.late, 3);
    assert_false(connection_complete(arriving.connection));
    connection_line(opened.connection);
    assert_false(connection_complete(opened.connection));
    close_one(opened);
    close_one(arriving);
    close_one(answering);
    close_one(idle);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_total, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_origins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_giving_way, set_up_patient,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_slow, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
