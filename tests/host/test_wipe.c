/*
 * test_wipe.c: memory that is given back empty. What is in freed memory no
 * test may look at; that content survives a move, and failure, can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "host/wipe.h"

static void
test_given_back(void **state)
{
    char *data = malloc(5);
    (void)state;
    assert_non_null(data);
    memcpy(data, "hello", 5);
    host_wipe_free(data, 5);
    host_wipe_free(NULL, 0);
}

static void
test_resize(void **state)
{
    (void)state;
    char *data = host_wipe_resize(NULL, 0, 5);
    assert_non_null(data);
    memcpy(data, "hello", 5);
    data = host_wipe_resize(data, 5, 1000);
    assert_non_null(data);
    assert_memory_equal(data, "hello", 5);
    memset(data + 5, 'x', 995);
    data = host_wipe_resize(data, 1000, 6);
    assert_non_null(data);
    assert_memory_equal(data, "hellox", 6);
    host_wipe_free(data, 6);
}

static void
test_memory(void **state)
{
    char *data = host_wipe_resize(NULL, 0, 5);
    (void)state;
    assert_non_null(data);
    memcpy(data, "hello", 5);
    fail_alloc_at(1);
    assert_null(host_wipe_resize(data, 5, 10));
    fail_alloc_at(0);
    assert_memory_equal(data, "hello", 5);
    host_wipe_free(data, 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
