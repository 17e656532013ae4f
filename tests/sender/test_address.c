/*
 * test_address.c: which addresses reports go to, and which not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "sender/address.h"

static void
test_right(void **state)
{
    static const struct {
        const char *text, *url, *host;
        bool tls;
    } row[] = {
        {"https://example.org/v1/campaigns/spring",
         "https://example.org/v1/campaigns/spring", "example.org", true},
        {"HTTPS://Example.ORG:443/v1/campaigns/Spring_2-x",
         "https://example.org/v1/campaigns/Spring_2-x", "example.org", true},
        {"https://a.b:8443/v1/campaigns/x", "https://a.b:8443/v1/campaigns/x",
         "a.b:8443", true},
        {"https://10.0.0.1:80/v1/campaigns/x",
         "https://10.0.0.1:80/v1/campaigns/x", "10.0.0.1:80", true},
        {"https://[2001:DB8::1]:8443/v1/campaigns/x",
         "https://[2001:db8::1]:8443/v1/campaigns/x", "[2001:db8::1]:8443",
         true},
        {"http://127.0.0.1:80/v1/campaigns/x",
         "http://127.0.0.1/v1/campaigns/x", "127.0.0.1", false},
        {"http://127.255.0.9:8470/v1/campaigns/x",
         "http://127.255.0.9:8470/v1/campaigns/x", "127.255.0.9:8470", false},
        {"http://LocalHost:1/v1/campaigns/x",
         "http://localhost:1/v1/campaigns/x", "localhost:1", false},
        {"http://[::1]:65535/v1/campaigns/x",
         "http://[::1]:65535/v1/campaigns/x", "[::1]:65535", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct address address;
        struct sotto_error err = {0};
        if (address_parse(row[i].text, &address, &err) != SOTTO_STATUS_OK) {
            fail_msg("%s: %s", row[i].text, err.message);
        }
        assert_string_equal(address.url, row[i].url);
        assert_string_equal(address.host, row[i].host);
        assert_string_equal(address.path, strstr(row[i].url, "/v1/"));
        assert_int_equal(address.tls, row[i].tls);
    }
}

static void
expect_wrong(const char *text, const char *piece)
{
    struct address address;
    struct sotto_error err;
    memset(&address, 0x5a, sizeof address);
    memset(&err, 0xa5, sizeof err);
    if (address_parse(text, &address, &err) != SOTTO_STATUS_USAGE) {
        fail_msg("%s is taken", text);
    }
    assert_int_equal(err.status, SOTTO_STATUS_USAGE);
    if (strstr(err.message, piece) == NULL) {
        fail_msg("%s: no '%s' in '%s'", text, piece, err.message);
    }
    assert_null(strstr(err.message, "sec")); /* a password */
    assert_int_equal((uint8_t)address.url[0], 0x5a);
}

static void
test_wrong(void **state)
{
    static const char *const row[][2] = {
        {"", "neither"},
        {"example.org/v1/campaigns/x", "neither"},
        {"ftp://a/v1/campaigns/x", "neither"},
        {"file:///v1/campaigns/x", "neither"},
        {" https://a/v1/campaigns/x", "neither"},
        {"https:///v1/campaigns/x", "no host"},
        {"https://a@b/v1/campaigns/x", "no user"},
        {"https://a:secret@c/v1/campaigns/x", "no user"},
        {"a:secret@c/v1/campaigns/x", "no user"},
        {"https://a:sec/ret@c/v1/campaigns/x", "no user"},
        {"https://a b/v1/campaigns/x", "other characters"},
        {"https://a%2f/v1/campaigns/x", "other characters"},
        {"https://-a/v1/campaigns/x", "other characters"},
        {"https://\xc3\xa4/v1/campaigns/x", "other characters"},
        {"https://a\r\nX: y/v1/campaigns/x", "other characters"},
        {"https://a?/v1/campaigns/x", "other characters"},
        {"https://a#/v1/campaigns/x", "other characters"},
        {"https://[::1/v1/campaigns/x", "IPv6"},
        {"https://[::g]/v1/campaigns/x", "IPv6"},
        {"https://[]/v1/campaigns/x", "IPv6"},
        {"https://[::1]x/v1/campaigns/x", "IPv6"},
        {"https://[fe80::1%25eth0]/v1/campaigns/x", "IPv6"},
        {"https://a:/v1/campaigns/x", "1 to 65535"},
        {"https://a:0/v1/campaigns/x", "1 to 65535"},
        {"https://a:65536/v1/campaigns/x", "1 to 65535"},
        {"https://a:99999999999999999999/v1/campaigns/x", "1 to 65535"},
        {"https://a:1x/v1/campaigns/x", "no number"},
        {"https://a:+1/v1/campaigns/x", "no number"},
        {"https://a", "does not begin"},
        {"https://a/", "does not begin"},
        {"https://a/v2/campaigns/x", "does not begin"},
        {"https://a/v1/campaigns/", "campaign's name"},
        {"https://a/v1/campaigns/x/", "campaign's name"},
        {"https://a/v1/campaigns/x/reports", "campaign's name"},
        {"https://a/v1/campaigns/x?y", "campaign's name"},
        {"https://a/v1/campaigns/x#y", "campaign's name"},
        {"https://a/v1/campaigns/..", "campaign's name"},
        {"https://a/v1/campaigns/x\r\nCookie: y", "campaign's name"},
        {"http://example.org/v1/campaigns/x", "without TLS"},
        {"http://126.0.0.1/v1/campaigns/x", "without TLS"},
        {"http://127.1/v1/campaigns/x", "without TLS"},
        {"http://127.0.0.1.example.org/v1/campaigns/x", "without TLS"},
        {"http://2130706433/v1/campaigns/x", "without TLS"},
        {"http://localhost.example.org/v1/campaigns/x", "without TLS"},
        {"http://localhost./v1/campaigns/x", "without TLS"},
        {"http://[::2]/v1/campaigns/x", "without TLS"},
        {"http://[::ffff:127.0.0.1]/v1/campaigns/x", "without TLS"},
    };
    char text[600];
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        expect_wrong(row[i][0], row[i][1]);
    }
    (void)snprintf(text, sizeof text, "https://%0254d/v1/campaigns/x", 7);
    expect_wrong(text, "too long");
    (void)snprintf(text, sizeof text, "https://a/v1/campaigns/%065d", 7);
    expect_wrong(text, "1 to 64");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
