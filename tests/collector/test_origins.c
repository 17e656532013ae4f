/*
 * test_origins.c: addresses that belong together, what they weigh, and that
 * nothing of them is kept when they are gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "collector/origins.h"
#include "fail_alloc.h"

static struct origins *all;

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
set_up(void **state)
{
    (void)state;
    all = origins_new(10);
    return all != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    (void)state;
    origins_free(all);
    return 0;
}

static void
leave(struct origin *origin)
{
    origins_discount(origin);
    origins_leave(all, origin);
}

static void
test_names(void **state)
{
    static const struct {
        const char *one, *other;
        bool same, near;
    } cases[] = {
        {"192.0.2.1", "192.0.2.1", true, true},
        {"192.0.2.1", "192.0.2.2", false, true},
        {"192.0.2.1", "192.0.3.1", false, false},
        {"192.0.2.1", "::ffff:192.0.2.1", true, true},
        {"2001:db8:0:100::1", "2001:db8:0:1ff::2", true, true},
        {"2001:db8:0:100::1", "2001:db8:0:200::1", false, true},
        {"2001:db8:0:100::1", "2001:db8:1:100::1", false, false},
        {"192.0.2.1", "c000:201::", false, false},
        {"::", "0.0.0.0", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct origin *one = origins_join(all, from(cases[i].one));
        struct origin *other = origins_join(all, from(cases[i].other));
        assert_int_equal(one == other, cases[i].same);
        assert_int_equal(one->around == other->around, cases[i].near);
        assert_ptr_equal(origins_find(all, from(cases[i].other)), other);
        leave(one);
        leave(other);
        assert_null(origins_find(all, from(cases[i].one)));
        assert_int_equal(origins_weight_of(all, from(cases[i].other)), 0);
    }
    struct origin *none = origins_join(all, NULL);
    assert_non_null(none);
    assert_ptr_equal(origins_find(all, NULL), none);
    leave(none);
}

static void
test_weight(void **state)
{
    struct origin *three[3], *near;
    (void)state;
    for (int i = 0; i < 3; i++) {
        three[i] = origins_join(all, from("192.0.2.1"));
    }
    near = origins_join(all, from("192.0.2.200"));
    assert_int_equal(origins_weight(three[0]), 3 * ORIGINS_EIGHT + 4);
    assert_int_equal(origins_weight(near), ORIGINS_EIGHT + 4);
    assert_int_equal(origins_weight_of(all, from("192.0.2.7")), 4);
    assert_int_equal(origins_weight_of(all, from("192.0.7.1")), 0);
    /* One that is leaving holds its origin and weighs nothing. */
    origins_discount(three[0]);
    assert_int_equal(origins_weight(three[1]), 2 * ORIGINS_EIGHT + 3);
    origins_leave(all, three[0]);
    leave(three[1]);
    leave(three[2]);
    assert_null(origins_find(all, from("192.0.2.1")));
    assert_int_equal(origins_weight(near), ORIGINS_EIGHT + 1);
    leave(near);
}

/* More of them than the table has places. */
static void
test_many(void **state)
{
    struct origin *many[1000];
    char name[32];
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "10.%u.%u.1", i / 250, i % 250);
        many[i] = origins_join(all, from(name));
        assert_non_null(many[i]);
    }
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "10.%u.%u.1", i / 250, i % 250);
        assert_ptr_equal(origins_find(all, from(name)), many[i]);
        leave(many[i]);
        assert_null(origins_find(all, from(name)));
    }
}

static void
test_memory(void **state)
{
    struct origin *origin;
    (void)state;
    for (long n = 1; n <= 2; n++) {
        struct origins *none;
        fail_alloc_at(n);
        none = origins_new(10);
        fail_alloc_at(0);
        assert_null(none);
        fail_alloc_at(n);
        origin = origins_join(all, from("192.0.2.1"));
        fail_alloc_at(0);
        assert_null(origin);
        assert_null(origins_find(all, from("192.0.2.1")));
        assert_int_equal(origins_weight_of(all, from("192.0.2.1")), 0);
    }
    origin = origins_join(all, from("192.0.2.1"));
    assert_non_null(origin);
    leave(origin);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_weight, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
