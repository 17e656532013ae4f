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
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/connections.h"
#include "fail_alloc.h"

#define MOST ((size_t)8)
#define ADDRESS_MOST ((size_t)6)

static struct sotto_error err;
static struct metrics metrics;
static struct refusals refusals;
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
    refusals_init(&refusals, NULL, NULL, 60, 600);
    return connections_new(&limits, &metrics, &refusals, &all, &err) ==
                   SOTTO_STATUS_OK
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
    refusals_clear(&refusals);
    return 0;
}

/* A connection that was let in; none: `connection` is NULL. The one that was
   WAITING and gave way for it is closed. */
static struct one
admit_one(const char *text)
{
    int pair[2], leaver = -1;
    struct one one = {NULL, -1, -1};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    one.connection = connections_admit(all, pair[0], from(text), &leaver);
    if (leaver >= 0) {
        assert_int_equal(shutdown(leaver, SHUT_RDWR), 0);
    }
    one.near = pair[0];
    one.far = pair[1];
    if (one.connection == NULL) {
        assert_int_equal(close(one.near), 0);
        assert_int_equal(close(one.far), 0);
    }
    return one;
}

static bool
is_let_in(const char *text)
{
    struct one one = admit_one(text);
    if (one.connection != NULL) {
        connections_close(all, one.connection);
        assert_int_equal(close(one.near), 0);
        assert_int_equal(close(one.far), 0);
    }
    return one.connection != NULL;
}

/* One that has sent nothing, or something. */
static struct one
open_silent(const char *text)
{
    struct one one = admit_one(text);
    assert_non_null(one.connection);
    return one;
}

static struct one
open_one(const char *text)
{
    struct one one = open_silent(text);
    assert_true(connection_heard(one.connection));
    connection_taken(one.connection);
    return one;
}

static void
close_one(struct one one)
{
    /* One that gave way in silence is forgotten already. */
    if (connections_find(all, one.near) == one.connection) {
        connections_close(all, one.connection);
    }
    assert_int_equal(close(one.near), 0);
    assert_int_equal(close(one.far), 0);
}

static unsigned
count_of(enum refusal kind)
{
    return (unsigned)atomic_load(&refusals.count[kind]);
}

/* Lets it have a request answered: it is between requests. */
static void
make_idle(struct one one)
{
    connection_line(one.connection);
    assert_true(connection_complete(one.connection));
    connection_answered(one.connection, false);
    connection_sent(one.connection);
}

/* The same with success. */
static void
make_proven(struct one one)
{
    connection_line(one.connection);
    assert_true(connection_complete(one.connection));
    connection_answered(one.connection, true);
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

/* All places are taken by requests that are being answered: an origin's first
   connection is let in beyond them, for a while; its second is not. */
static void
test_total(void **state)
{
    struct one one[MOST + CONNECTIONS_BEYOND];
    char name[32];
    (void)state;
    for (size_t i = 0; i < MOST + CONNECTIONS_BEYOND; i++) {
        assert_true(connections_ready(all));
        (void)snprintf(name, sizeof name, "192.0.%zu.1", i);
        one[i] = open_one(name);
        connection_line(one[i].connection);
        assert_true(connection_complete(one[i].connection));
        if (i + 1 == MOST) {
            assert_false(is_let_in("192.0.0.1"));
            assert_int_equal(count_of(REFUSAL_FULL), 1);
        }
    }
    assert_false(connections_ready(all));
    assert_false(is_let_in("198.51.100.1"));
    assert_int_equal(metrics.turned_away, 2);
    assert_int_equal(metrics.connections, MOST + CONNECTIONS_BEYOND);
    for (size_t i = 0; i < MOST + CONNECTIONS_BEYOND; i++) {
        close_one(one[i]);
    }
    assert_int_equal(metrics.connections, 0);
    assert_true(is_let_in("198.51.100.1"));
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
            one[j] = open_one(cases[i].full);
            connection_line(one[j].connection);
        }
        assert_false(is_let_in(cases[i].full));
        assert_false(is_let_in(cases[i].same));
        assert_true(is_let_in(cases[i].other));
        assert_int_equal(count_of(REFUSAL_ADDRESS), 2 * (i + 1));
        for (size_t j = 0; j < ADDRESS_MOST; j++) {
            close_one(one[j]);
        }
    }
}

/* Of an origin that is full the one between requests gives way to the origin's
   own next one, be it one that finishes or not: those behind one address are
   not shut out by each other. */
static void
test_own(void **state)
{
    struct one one[ADDRESS_MOST];
    (void)state;
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        one[i] = open_one("192.0.2.1");
        connection_line(one[i].connection);
    }
    assert_false(is_let_in("192.0.2.1"));
    assert_true(connection_complete(one[3].connection));
    connection_answered(one[3].connection, true);
    connection_sent(one[3].connection);
    struct one next = open_one("192.0.2.1");
    assert_true(is_shut(one[3], 0));
    assert_int_equal(count_of(REFUSAL_IDLE), 1);
    close_one(next);
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        close_one(one[i]);
    }
}

/* Silent ones first, whatever they weigh; then idle ones; then slow ones; then
   any of an origin that weighs more. */
static void
test_order(void **state)
{
    struct one silent, idle, slow, fast, one[4], newcomer[5];
    (void)state;
    silent = open_silent("192.0.1.1");
    slow = open_one("192.0.2.1");
    connection_line(slow.connection);
    fast = open_one("192.0.3.1");
    connection_line(fast.connection);
    for (size_t i = 0; i < 4; i++) { /* the heaviest, all being answered */
        one[i] = open_one("192.0.4.1");
        connection_line(one[i].connection);
        assert_true(connection_complete(one[i].connection));
    }
    pause_ms(1005);
    connection_grew(fast.connection, 100000);
    idle = open_one("192.0.5.1");
    make_idle(idle);
    newcomer[0] = open_one("198.51.100.1");
    assert_true(is_shut(silent, 0));
    assert_false(is_shut(idle, 0));
    newcomer[1] = open_one("198.51.101.1");
    assert_true(is_shut(idle, 0));
    assert_false(is_shut(slow, 0));
    newcomer[2] = open_one("198.51.102.1");
    assert_true(is_shut(slow, 0));
    assert_false(is_shut(fast, 0));
    connection_line(newcomer[0].connection);
    newcomer[3] = open_one("198.51.103.1");
    assert_true(is_shut(fast, 0));
    assert_int_equal(count_of(REFUSAL_SILENT), 1);
    assert_int_equal(count_of(REFUSAL_IDLE), 1);
    assert_int_equal(count_of(REFUSAL_SLOW), 1);
    assert_int_equal(count_of(REFUSAL_FRESH), 1);
    /* What is shut can conclude nothing. */
    assert_false(connection_complete(fast.connection));
    /* An origin's second gets no place of one that has one. */
    assert_false(is_let_in("198.51.100.1"));
    newcomer[4] = open_one("198.51.104.1");
    assert_int_equal(count_of(REFUSAL_FRESH), 2);
    close_one(silent);
    close_one(idle);
    close_one(slow);
    close_one(fast);
    for (size_t i = 0; i < 5; i++) {
        close_one(newcomer[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        close_one(one[i]);
    }
    assert_int_equal(metrics.turned_away, 1);
}

/* Of several of a kind the one whose origin weighs most, and of these the one
   that has been so for longest; neighbours weigh, too. */
static void
test_weight(void **state)
{
    struct one alone, many[3], near[4], newcomer;
    (void)state;
    alone = open_one("192.0.2.1");
    make_idle(alone);
    pause_ms(20); /* the clock is coarse */
    for (size_t i = 0; i < 3; i++) {
        many[i] = open_one("198.51.100.1");
        make_idle(many[i]);
        pause_ms(20);
    }
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = {"203.0.113.1", "203.0.113.2",
                                            "203.0.113.3", "203.0.113.4"};
        near[i] = open_one(names[i]);
        make_idle(near[i]);
        pause_ms(20);
    }
    newcomer = open_one("2001:db8::1");
    assert_true(is_shut(many[0], 0));
    close_one(many[0]);
    close_one(many[1]);
    close_one(many[2]);
    many[0] = open_one("2001:db8::1");
    many[1] = open_one("2001:db8::1");
    connection_line(newcomer.connection);
    connection_line(many[0].connection);
    connection_line(many[1].connection);
    /* Four neighbours of one each: the oldest of them. */
    many[2] = open_one("192.0.3.1");
    assert_true(is_shut(near[0], 0));
    assert_false(is_shut(alone, 0));
    close_one(alone);
    close_one(newcomer);
    for (size_t i = 0; i < 3; i++) {
        close_one(many[i]);
    }
    for (size_t i = 0; i < 4; i++) {
        close_one(near[i]);
    }
}

/* An eighth is for those who finish requests: no other origin's takes it. */
static void
test_reserve(void **state)
{
    struct one proven, crowd[MOST];
    char name[32];
    (void)state;
    proven = open_one("192.0.2.1");
    make_proven(proven);
    pause_ms(20);                       /* the clock is coarse */
    for (size_t i = 0; i < MOST; i++) { /* the last one beyond the limit */
        (void)snprintf(name, sizeof name, "198.51.%zu.1", i);
        crowd[i] = open_one(name);
        connection_line(crowd[i].connection);
        if (i == 0) {
            pause_ms(20);
        }
    }
    assert_false(is_shut(proven, 0));
    assert_true(is_shut(crowd[0], 0));
    /* Two of them are more than an eighth. */
    assert_true(connection_complete(crowd[1].connection));
    connection_answered(crowd[1].connection, true);
    connection_sent(crowd[1].connection);
    struct one next = open_one("203.0.113.1");
    assert_true(is_shut(proven, 0));
    close_one(next);
    close_one(proven);
    for (size_t i = 0; i < MOST; i++) {
        close_one(crowd[i]);
    }
}

/* An answer that is not taken gives way as a request that does not come. */
static void
test_unread(void **state)
{
    struct one one[MOST], newcomer;
    char name[32];
    (void)state;
    for (size_t i = 0; i < MOST; i++) {
        (void)snprintf(name, sizeof name, "192.0.%zu.1", i);
        one[i] = open_one(name);
        connection_line(one[i].connection);
        assert_true(connection_complete(one[i].connection));
        if (i == 3) {
            connection_answered(one[i].connection, true);
        }
    }
    newcomer = open_one("198.51.100.1");
    assert_true(is_shut(one[3], 0));
    close_one(newcomer);
    for (size_t i = 0; i < MOST; i++) {
        close_one(one[i]);
    }
}

/* Behind a proxy: all are of its address, until they say whose they are. */
static void
test_claim(void **state)
{
    struct one one[ADDRESS_MOST], other;
    (void)state;
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        one[i] = open_one("127.0.0.1");
        assert_true(
            connections_claim(all, one[i].connection, from("192.0.2.1")));
        assert_true(
            connections_claim(all, one[i].connection, from("192.0.2.1")));
    }
    other = open_one("127.0.0.1");
    assert_false(connections_claim(all, other.connection, from("192.0.2.1")));
    assert_true(connections_claim(all, other.connection, from("192.0.2.2")));
    assert_true(connections_claim(all, one[0].connection, from("192.0.2.2")));
    assert_true(connections_take(all, one[0].connection, 250));
    assert_false(connections_take(all, other.connection, 1));
    connections_give(all, one[0].connection, 250);
    close_one(other);
    for (size_t i = 0; i < ADDRESS_MOST; i++) {
        close_one(one[i]);
    }
    assert_true(connections_claim(all, NULL, from("192.0.2.1")));
}

/* A server that closes a socket without having taken it says nothing. */
static void
test_lost(void **state)
{
    struct one one = open_silent("192.0.2.1"), other;
    (void)state;
    assert_ptr_equal(connections_waiting(all, one.near), one.connection);
    assert_int_equal(connections_any_waiting(all), one.near);
    assert_true(connection_heard(one.connection));
    assert_null(connections_waiting(all, one.near));
    assert_int_equal(connections_any_waiting(all), -1);
    connections_lose(all, one.near);
    assert_null(connections_find(all, one.near));
    assert_int_equal(metrics.connections, 0);
    close_one(one);
    /* Or its number is there again: the old one is forgotten. */
    one = open_silent("192.0.2.1");
    assert_true(connection_heard(one.connection));
    int leaver = -1;
    other.connection =
        connections_admit(all, one.near, from("192.0.2.2"), &leaver);
    assert_non_null(other.connection);
    assert_int_equal(metrics.connections, 1);
    assert_ptr_equal(connections_find(all, one.near), other.connection);
    connection_taken(other.connection);
    connections_lose(all, one.near);
    assert_ptr_equal(connections_find(all, one.near), other.connection);
    one.connection = other.connection;
    close_one(one);
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

/* Where it is all taken, slow requests of origins that have more give theirs,
   and no others. */
static void
test_memory_way(void **state)
{
    static const char *const names[] = {"192.0.2.1", "192.0.2.2", "192.0.2.3",
                                        "192.0.2.4", "192.0.2.5"};
    struct one one[5];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        one[i] = open_one(names[i]);
        connection_line(one[i].connection);
        if (i < 4) {
            assert_true(connections_take(all, one[i].connection, 250 - i));
        }
    }
    assert_false(connections_take(all, one[4].connection, 100));
    assert_true(connection_complete(one[0].connection));
    pause_ms(1005);
    connection_grew(one[1].connection, 100000);
    assert_true(connections_take(all, one[4].connection, 100));
    assert_true(is_shut(one[2], 0));
    assert_false(is_shut(one[0], 0));
    assert_false(is_shut(one[1], 0));
    assert_false(is_shut(one[3], 0));
    /* What it had is as good as there, and counted once. */
    assert_true(connections_take(all, one[4].connection, 100));
    assert_false(connections_take(all, one[2].connection, 1));
    connections_give(all, one[2].connection, 248);
    assert_false(is_shut(one[3], 0));
    assert_true(connections_take(all, one[4].connection, 47));
    assert_true(connections_take(all, one[4].connection, 3));
    assert_false(is_shut(one[3], 0));
    connections_give(all, one[4].connection, 250);
    for (size_t i = 0; i < 4; i++) {
        if (i != 2) {
            connections_give(all, one[i].connection, 250 - i);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        close_one(one[i]);
    }
}

/* Without memory a connection is not let in, and nothing of it is kept. */
static void
test_no_memory(void **state)
{
    (void)state;
    for (long n = 1; n <= 4; n++) {
        struct one one;
        fail_alloc_at(n);
        one = admit_one("192.0.2.1");
        fail_alloc_at(0);
        if (n == 1 && one.connection != NULL) {
            fail_msg("it did not need memory");
        }
        if (one.connection != NULL) {
            close_one(one);
        }
        assert_int_equal(metrics.connections, 0);
    }
    assert_true(count_of(REFUSAL_MEMORY) >= 3);
    assert_true(is_let_in("192.0.2.1"));
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
        cmocka_unit_test_setup_teardown(test_own, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_order, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_weight, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_reserve, set_up_patient,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_unread, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_claim, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_lost, set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory_way, set_up_patient,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
