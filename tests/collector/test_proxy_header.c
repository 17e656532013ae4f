/*
 * test_proxy_header.c: the PROXY protocol's headers, whole, cut and wrong; and
 * addresses as proxies write them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "collector/proxy_header.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define BYTES(text) text, sizeof(text) - 1

static void
expect_address(const union proxy_address *address, const char *wanted)
{
    char text[INET6_ADDRSTRLEN] = "none";
    if (address->any.sa_family == AF_INET) {
        assert_non_null(
            inet_ntop(AF_INET, &address->four.sin_addr, text, sizeof text));
    } else if (address->any.sa_family == AF_INET6) {
        assert_non_null(
            inet_ntop(AF_INET6, &address->six.sin6_addr, text, sizeof text));
    }
    assert_string_equal(text, wanted);
}

/* Each beginning of a header is cut, and bytes behind it are not its. */
static void
test_whole(void **state)
{
    static const struct {
        const char *data;
        size_t size;
        const char *address;
    } cases[] = {
        {BYTES("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"), "192.0.2.1"},
        {BYTES("PROXY TCP6 2001:db8::1 2001:db8::2 1 65535\r\n"),
         "2001:db8::1"},
        {BYTES("PROXY UNKNOWN\r\n"), "none"},
        {BYTES("PROXY UNKNOWN whatever it is\r\n"), "none"},
        {BYTES(SIGNATURE "\x21\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb"),
         "192.0.2.1"},
        {BYTES(SIGNATURE "\x21\x11\0\x10\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb"
                         "\4\0\1x"),
         "192.0.2.1"},
        {BYTES(SIGNATURE "\x21\x21\0\x24\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
                         "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\2\0\1\0\2"),
         "2001:db8::1"},
        {BYTES(SIGNATURE "\x20\0\0\0"), "none"},
        {BYTES(SIGNATURE "\x20\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb"),
         "none"},
        {BYTES(SIGNATURE "\x21\0\0\0"), "none"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t more[256] = {0};
        union proxy_address address;
        size_t size = 999;
        memcpy(more, cases[i].data, cases[i].size);
        for (size_t cut = 0; cut < cases[i].size; cut++) {
            assert_int_equal(proxy_header_read(more, cut, &size, &address),
                             PROXY_HEADER_CUT);
            assert_int_equal(size, 999);
        }
        memset(more + cases[i].size, 'G', 5);
        assert_int_equal(
            proxy_header_read(more, cases[i].size + 5, &size, &address),
            PROXY_HEADER_WHOLE);
        assert_int_equal(size, cases[i].size);
        expect_address(&address, cases[i].address);
    }
}

static void
test_wrong(void **state)
{
    static const struct {
        const char *data;
        size_t size;
    } cases[] = {
        {BYTES("GET / HTTP/1.1\r\n")},
        {BYTES("G")},
        {BYTES("PROXY\r\n")},
        {BYTES("PROXY \r\n")},
        {BYTES("PROXY TCP4\r\n")},
        {BYTES("PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n")},
        {BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n")},
        {BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n")},
        {BYTES("PROXY TCP4 1.2.3.4  1.2.3.4 1 2\r\n")},
        {BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n")},
        {BYTES("PROXY TCP4 1.2.3.4 1.2.3.4 1 2x\r\n")},
        {BYTES("PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n")},
        {BYTES("PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n")},
        {BYTES("PROXY TCP4 1.2.3.4\0 1.2.3.4 1 2\r\n")},
        {BYTES("PROXY UNKNOWN 678901234567890123456789012345678901234567890123"
               "456789012345678901234567890123456789012345678901234567")},
        {BYTES(SIGNATURE "\x11\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb")},
        {BYTES(SIGNATURE "\x22\x11\0\x0c\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb")},
        {BYTES(SIGNATURE "\x21\x11\0\x0b\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1")},
        {BYTES(SIGNATURE "\x21\x21\0\x0c\xc0\0\2\1\xc6\x33\x64\1\xdc\4\1\xbb")},
        {BYTES(SIGNATURE "\x21\x11\xff\xff")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union proxy_address address;
        size_t size = 999;
        assert_int_equal(proxy_header_read((const uint8_t *)cases[i].data,
                                           cases[i].size, &size, &address),
                         PROXY_HEADER_WRONG);
        assert_int_equal(size, 999);
    }
}

static void
test_addresses(void **state)
{
    static const struct {
        const char *text, *address; /* NULL: it is none */
    } cases[] = {
        {"192.0.2.1", "192.0.2.1"},
        {"192.0.2.1:80", "192.0.2.1"},
        {"2001:db8::1", "2001:db8::1"},
        {"[2001:db8::1]", "2001:db8::1"},
        {"[2001:db8::1]:443", "2001:db8::1"},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
        {"", NULL},
        {"unknown", NULL},
        {"192.0.2.1:", NULL},
        {"192.0.2.1:x", NULL},
        {"192.0.2.1:123456", NULL},
        {"[2001:db8::1", NULL},
        {"[2001:db8::1]x", NULL},
        {"[192.0.2.1]", NULL},
        {"192.0.2", NULL},
        {"_hidden", NULL},
        {"11111111111111111111111111111111111111111111111111111111111111111111",
         NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        union proxy_address address;
        assert_int_equal(
            proxy_address_read(cases[i].text, strlen(cases[i].text), &address),
            cases[i].address != NULL);
        if (cases[i].address != NULL) {
            expect_address(&address, cases[i].address);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
