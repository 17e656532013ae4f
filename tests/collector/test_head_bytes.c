/*
 * test_head_bytes.c: heads as the server leaves them, from bytes as they come:
 * each way of saying a thing that another reader could take for another one is
 * found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "collector/head_bytes.h"

/* Takes a head apart as the server does: NULs for the blanks around the target,
   for a line's first colon, and for what ends a line, which is CR LF or LF. */
static bool
is_plain(const char *data, size_t size)
{
    char head[1024];
    char *first, *second, *line, *end = head + size;
    assert_true(size < sizeof head);
    memcpy(head, data, size);
    head[size] = '\0';
    first = memchr(head, ' ', size);
    assert_non_null(first);
    line = memchr(head, '\n', size);
    assert_non_null(line);
    for (second = line; *second != ' '; second--) {
    }
    if (second <= first) {
        return false; /* the library answers it */
    }
    *first = *second = '\0';
    for (char *at = head, *from = line + 1; at < end; at++) {
        if (*at == '\n') {
            char *colon;
            *at = '\0';
            if (at > head && at[-1] == '\r') {
                at[-1] = '\0';
            }
            colon = at > from ? memchr(from, ':', (size_t)(at - from)) : NULL;
            if (colon != NULL) {
                *colon = '\0';
            }
            from = at > line ? at + 1 : from;
        }
    }
    return head_bytes_target(first + 1) &&
           head_bytes_plain(head, size, (size_t)(second + 1 - head),
                            strlen(first + 1));
}

#define GET "GET /a?b=c HTTP/1.1\r\n"
#define BYTES(text) text, sizeof(text) - 1

struct one {
    const char *data;
    size_t size;
};

static void
test_plain(void **state)
{
    static const struct one cases[] = {
        {BYTES(GET "\r\n")},
        {BYTES("GET / HTTP/1.0\r\n\r\n")},
        {BYTES(GET "Host: x\r\n\r\n")},
        {BYTES(GET "Host:x\r\nX:\r\nY: \t y z \t\r\n\r\n")},
        {BYTES(GET "Host: x\r\nContent-Length: 0\r\n\r\n")},
        {BYTES(GET "Content-Length: 123 \r\nContent-Type: a\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: Chunked\r\n\r\n")},
        {BYTES(GET "Accept: a\r\nAccept: b\r\nCookie: a=b; c=d\r\n\r\n")},
        {BYTES(GET "X: a:b\r\nX_Y: \xc3\xa4\r\n\r\n")},
        {BYTES("P~T /~a%00!$&'()*+,;=:@ HTTP/1.1\r\nA: \"\r\n\r\n")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!is_plain(cases[i].data, cases[i].size)) {
            fail_msg("not plain: %s", cases[i].data);
        }
    }
}

static void
test_twofold(void **state)
{
    static const struct one cases[] = {
        /* Names. */
        {BYTES(GET "Transfer-Encoding : chunked\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding\t: chunked\r\n\r\n")},
        {BYTES(GET "\x0bTransfer-Encoding: chunked\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding;: chunked\r\n\r\n")},
        {BYTES(GET "Transfer\x7f-Encoding: chunked\r\n\r\n")},
        {BYTES(GET "X\xff: y\r\n\r\n")},
        {BYTES(GET ": y\r\n\r\n")},
        {BYTES(GET "X Y: y\r\n\r\n")},
        {BYTES(GET "\"X\": y\r\n\r\n")},
        {BYTES(GET "X\0: y\r\n\r\n")},
        {BYTES(GET "no colon\r\n\r\n")},
        /* Lines. */
        {BYTES(GET "A: b\r\n c\r\n\r\n")},
        {BYTES(GET "A: b\r\n\tc\r\n\r\n")},
        {BYTES(GET " A: b\r\n\r\n")},
        {BYTES(GET "A: b\rC: d\r\n\r\n")},
        {BYTES(GET "A: b\r\r\n\r\n")},
        {BYTES(GET "A: b\nC: d\r\n\r\n")},
        {BYTES(GET "A: b\r\n\n")},
        {BYTES(GET "A: b\n\r\n")},
        {BYTES("GET / HTTP/1.1\nA: b\r\n\r\n")},
        {BYTES("GET / HTTP/1.1\n\n")},
        {BYTES(GET "\n")},
        {BYTES(GET "A: b\r\n")},
        /* Values. */
        {BYTES(GET "A: b\x0b\r\n\r\n")},
        {BYTES(GET "A: \x01\r\n\r\n")},
        {BYTES(GET "A: \x7f\r\n\r\n")},
        {BYTES(GET "A: b\0\r\n\r\n")},
        {BYTES(GET "A: b\0c\r\n\r\n")},
        {BYTES(GET "A:\0b\r\n\r\n")},
        {BYTES(GET "A:\0\r\n\r\n")},
        {BYTES(GET "A: b\r\n\0\r\n\r\n")},
        /* The first line. */
        {BYTES("GET  / HTTP/1.1\r\n\r\n")},
        {BYTES("GET /  HTTP/1.1\r\n\r\n")},
        {BYTES("GET / HTTP/1.1 \r\n\r\n")},
        {BYTES("GET /a b HTTP/1.1\r\n\r\n")},
        {BYTES("GET /\t HTTP/1.1\r\n\r\n")},
        {BYTES("GET /\xff HTTP/1.1\r\n\r\n")},
        {BYTES("GET /\0 HTTP/1.1\r\n\r\n")},
        {BYTES("GET / HTTP/1.1\0\r\n\r\n")},
        {BYTES("GET / HTTP/1.2\r\n\r\n")},
        {BYTES("GET / http/1.1\r\n\r\n")},
        {BYTES("GET / HTTP/1.10\r\n\r\n")},
        {BYTES("G\x0bT / HTTP/1.1\r\n\r\n")},
        {BYTES("G(T / HTTP/1.1\r\n\r\n")},
        /* What decides. */
        {BYTES(GET "Host: x\r\nHOST: x\r\n\r\n")},
        {BYTES(GET "Content-Length: 1\r\nContent-Length: 1\r\n\r\n")},
        {BYTES(GET "Content-Length: 1\r\nContent_Length: 1\r\n\r\n")},
        {BYTES(GET "Content_Length: 1\r\n\r\n")},
        {BYTES(GET "Transfer_Encoding: chunked\r\n\r\n")},
        {BYTES(GET "Content-Length: 1, 1\r\n\r\n")},
        {BYTES(GET "Content-Length: +1\r\n\r\n")},
        {BYTES(GET "Content-Length: -1\r\n\r\n")},
        {BYTES(GET "Content-Length: 01\r\n\r\n")},
        {BYTES(GET "Content-Length: 0x1\r\n\r\n")},
        {BYTES(GET "Content-Length: 1 1\r\n\r\n")},
        {BYTES(GET "Content-Length: \r\n\r\n")},
        {BYTES(GET "Content-Length: 1111111111111111111\r\n\r\n")},
        {BYTES(GET "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: xchunked\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: chunked, identity\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: gzip, chunked\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding: identity\r\n\r\n")},
        {BYTES(GET "Transfer-Encoding:\r\n\r\n")},
        {BYTES("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")},
        {BYTES(GET "Content-Type: a\r\ncontent-type: a\r\n\r\n")},
        {BYTES(GET "Content-Encoding: a\r\nContent-Encoding: b\r\n\r\n")},
        {BYTES(GET "Authorization: a\r\nAuthorization: a\r\n\r\n")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (is_plain(cases[i].data, cases[i].size)) {
            fail_msg("case %zu is plain: %s", i, cases[i].data);
        }
    }
}

/* Cut anywhere, or with a byte more, it is no head. */
static void
test_cut(void **state)
{
    static const char whole[] = "GET\0/\0HTTP/1.1\0\0A\0 b\0\0\0\0";
    size_t size = sizeof whole - 1;
    (void)state;
    assert_true(head_bytes_plain(whole, size, 6, 1));
    for (size_t cut = 0; cut < size; cut++) {
        assert_false(head_bytes_plain(whole, cut, 6, 1));
    }
    for (size_t version = 0; version < size; version++) {
        assert_int_equal(head_bytes_plain(whole, size, version, 1),
                         version == 6);
    }
    assert_false(head_bytes_plain(whole, size, SIZE_MAX, 1));
    assert_false(head_bytes_plain(whole, size, 6, SIZE_MAX));
    assert_false(head_bytes_plain(whole, size, 6, 2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_twofold),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
