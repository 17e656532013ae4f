/*
 * test_load.c: the load generator, against answers written here: what it
 * counts, what it sends again, and what it does not believe.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/load.h"
#include "client/device.h"
#include "fail_alloc.h"

#define SIZE ((size_t)REPORT_HEADER_SIZE + 3)
#define BATCH ((size_t)2)
#define ANSWERS 8u
#define ALL_NEW                                                                \
    "{\"accepted\":2,\"duplicate\":0,\"refused\":0,\"duplicates\":[],"         \
    "\"refusals\":[]}\n"
#define KNOWN                                                                  \
    "{\"accepted\":1,\"duplicate\":1,\"refused\":0,\"duplicates\":[1],"        \
    "\"refusals\":[]}\n"

static struct sotto_error err;

/* ---- A server of one connection ------------------------------------------ */

struct server {
    int listener;
    unsigned port;
    pthread_t thread;
    const char *status[ANSWERS], *body[ANSWERS]; /* NULL: it hangs up */
    size_t asked;
    uint8_t seen[ANSWERS][BATCH * SIZE]; /* bodies */
    char head[1024];                     /* of the first request */
};

static bool
read_all(int fd, void *to, size_t size)
{
    uint8_t *at = to;
    while (size > 0) {
        ssize_t got = recv(fd, at, size, 0);
        if (got <= 0) {
            return false;
        }
        at += got;
        size -= (size_t)got;
    }
    return true;
}

/* Up to the empty line, byte by byte. */
static bool
read_head(int fd, char head[1024])
{
    size_t size = 0;
    while (size < 1023 && read_all(fd, head + size, 1)) {
        head[++size] = '\0';
        if (size >= 4 && memcmp(head + size - 4, "\r\n\r\n", 4) == 0) {
            return true;
        }
    }
    return false;
}

static void *
serve(void *context)
{
    struct server *server = context;
    char head[1024], answer[1024];
    int fd = accept(server->listener, NULL, NULL);
    while (fd >= 0 && server->asked < ANSWERS && read_head(fd, head) &&
           read_all(fd, server->seen[server->asked], BATCH * SIZE)) {
        size_t at = server->asked++;
        const char *body = server->body[at];
        if (at == 0) {
            memcpy(server->head, head, sizeof head);
        }
        if (body == NULL) {
            break;
        }
        int size = snprintf(answer, sizeof answer,
                            "HTTP/1.1 %s\r\nConnection: Keep-Alive\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            server->status[at], strlen(body), body);
        /* In two pieces, to be put together. */
        (void)send(fd, answer, 20, MSG_NOSIGNAL);
        (void)usleep(2000);
        (void)send(fd, answer + 20, (size_t)size - 20, MSG_NOSIGNAL);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return NULL;
}

static void
start(struct server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(
        bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(server->listener, 4), 0);
    assert_int_equal(
        getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void
stop(struct server *server)
{
    (void)pthread_join(server->thread, NULL);
    (void)close(server->listener);
}

static enum sotto_status
run(struct server *server, uint64_t most, struct load_tally *tally)
{
    static const uint8_t reports[3 * SIZE] = {[SIZE - 1] = 'a',
                                              [2 * SIZE - 1] = 'b'};
    struct load_options options = {.port = server->port,
                                   .campaign = "spring",
                                   .reports = reports,
                                   .kinds = 2,
                                   .report_size = SIZE,
                                   .batch = BATCH,
                                   .connections = 1,
                                   .most = most};
    return load_run(&options, tally, &err);
}

static const uint8_t *
id_of(const struct server *server, size_t request, size_t report)
{
    return sotto_report_id(server->seen[request] + report * SIZE);
}

/* ---- Runs ---------------------------------------------------------------- */

static void
test_counts(void **state)
{
    struct server server = {.status = {"200 OK", "200 OK", "200 OK"},
                            .body = {ALL_NEW, ALL_NEW, ALL_NEW}};
    struct load_tally tally = {.reports = 1};
    (void)state;
    start(&server);
    /* A request that would go beyond is whole. */
    assert_int_equal(run(&server, 5, &tally), SOTTO_STATUS_OK);
    stop(&server);
    assert_int_equal(tally.reports, 1 + 6);
    assert_int_equal(tally.requests, 3);
    assert_int_equal(tally.later, 0);
    assert_int_equal(server.asked, 3);
    assert_true(tally.seconds > 0.005 && load_quantile(&tally, 1) > 0.001);
    assert_non_null(strstr(server.head, "POST /v1/campaigns/spring/reports "
                                        "HTTP/1.1\r\n"));
    assert_non_null(strstr(server.head, "Content-Length: 110\r\n"));
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(server.seen[i / 2][i % 2 * SIZE + SIZE - 1],
                         i % 2 == 0 ? 'a' : 'b');
        for (size_t j = 0; j < i; j++) {
            assert_memory_not_equal(id_of(&server, i / 2, i % 2),
                                    id_of(&server, j / 2, j % 2),
                                    SOTTO_ID_SIZE);
        }
    }
}

/* "Later" makes it send the same bytes, and then a duplicate is right. */
static void
test_later(void **state)
{
    struct server server = {
        .status = {"503 Service Unavailable", "200 OK", "200 OK"},
        .body = {"{\"error\":\"later\"}\n", KNOWN, ALL_NEW}};
    struct load_tally tally = {0};
    (void)state;
    start(&server);
    assert_int_equal(run(&server, 4, &tally), SOTTO_STATUS_OK);
    stop(&server);
    assert_int_equal(tally.reports, 4);
    assert_int_equal(tally.requests, 2);
    assert_int_equal(tally.later, 1);
    assert_memory_equal(server.seen[0], server.seen[1], BATCH * SIZE);
    assert_memory_not_equal(server.seen[0], server.seen[2], BATCH * SIZE);
    assert_true(load_quantile(&tally, 1) >= 0.1);
}

static void
test_wrong(void **state)
{
    static const struct {
        const char *status, *body, *said;
        enum sotto_status result;
    } row[] = {
        {"200 OK", KNOWN, "200 OK", SOTTO_STATUS_CHECK},
        {"200 OK", "{}\n", "200 OK", SOTTO_STATUS_CHECK},
        {"200 OK",
         "{\"accepted\":1,\"duplicate\":0,\"refused\":1,\"duplicates\":[],"
         "\"refusals\":[{\"report\":0,\"code\":\"hash\",\"why\":\"it\"}]}\n",
         "200 OK", SOTTO_STATUS_CHECK},
        {"404 Not Found", ALL_NEW, "404 Not Found", SOTTO_STATUS_CHECK},
        {"4o4 Not Found", ALL_NEW, "4o4", SOTTO_STATUS_CHECK},
        {NULL, NULL, "broke off", SOTTO_STATUS_IO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct server server = {.status = {row[i].status},
                                .body = {row[i].body}};
        struct load_tally tally = {0};
        start(&server);
        assert_int_equal(run(&server, 2, &tally), row[i].result);
        stop(&server);
        assert_non_null(strstr(err.message, row[i].said));
        assert_int_equal(tally.reports, 0);
    }
}

static void
test_nobody(void **state)
{
    struct server server = {.port = 1};
    struct load_tally tally = {0};
    (void)state;
    assert_int_equal(run(&server, 2, &tally), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "is not there"));
    assert_int_equal(run(&server, 0, &tally), SOTTO_STATUS_USAGE);
}

static void
test_memory(void **state)
{
    struct server server = {.port = 1};
    struct load_tally tally = {0};
    (void)state;
    for (long n = 1; n <= 3; n++) {
        fail_alloc_at(n);
        assert_int_equal(run(&server, 2, &tally), SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
}

/* ---- Parts --------------------------------------------------------------- */

static enum load_progress
parse(const char *text, struct load_answer *ret_answer)
{
    return load_parse(text, strlen(text), ret_answer);
}

static void
test_parse(void **state)
{
    static const char whole[] =
        "HTTP/1.1 200 OK\r\nX: y\r\ncontent-length:  3\r\n\r\nabc";
    static const char *const wrong[] = {
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 20x OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3x\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 \r\nTransfer-Encoding: x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc",
    };
    struct load_answer answer = {0, 0, 0};
    char endless[1100];
    (void)state;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        assert_int_equal(load_parse(whole, i, &answer), LOAD_PART);
    }
    assert_int_equal(parse(whole, &answer), LOAD_WHOLE);
    assert_int_equal(answer.status, 200);
    assert_int_equal(answer.size, 3);
    assert_memory_equal(whole + answer.body, "abc", 3);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(parse(wrong[i], &answer), LOAD_WRONG);
    }
    memset(endless, 'x', sizeof endless);
    assert_int_equal(load_parse(endless, sizeof endless, &answer), LOAD_WRONG);
}

/* Times of 1 us to 1,000 s are told within 3%. */
static void
test_quantile(void **state)
{
    struct load_tally tally = {0};
    (void)state;
    assert_true(load_quantile(&tally, 0.99) == 0);
    tally.requests = 100;
    tally.time[3] = 50;  /* below 4 us */
    tally.time[32] = 49; /* 32 us to 33 us */
    tally.time[192] = 1; /* 1,024 us to 1,056 us */
    assert_true(fabs(1e6 * load_quantile(&tally, 0.5) - 4) < 1e-3);
    assert_true(fabs(1e6 * load_quantile(&tally, 0.99) - 33) < 1e-3);
    assert_true(fabs(1e6 * load_quantile(&tally, 1) - 1056) < 1e-3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_later),
        cmocka_unit_test(test_wrong),    cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_parse),
        cmocka_unit_test(test_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
