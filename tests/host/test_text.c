/*
 * test_text.c: a growable buffer with a ceiling.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "host/text.h"

static void
test_grows(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 100000);
    assert_null(text.data);
    host_text_add(&text, NULL, 0);
    assert_string_equal(text.data, "");
    for (size_t i = 0; i < 1000; i++) {
        host_text_add(&text, "ab", 2);
        host_text_print(&text, "%s%d", "c", (int)(i % 10));
        assert_int_equal(text.size, 4 * (i + 1));
        assert_int_equal(strlen(text.data), text.size);
        assert_memory_equal(text.data + 4 * i, "abc", 3);
        assert_int_equal(text.data[4 * i + 3], '0' + (int)(i % 10));
    }
    host_text_print(&text, "%s", "");
    assert_int_equal(text.size, 4000);
    assert_false(text.failed);
    host_text_clear(&text);
    assert_null(text.data);
    assert_int_equal(text.size, 0);
    assert_int_equal(text.most, 100000);
    host_text_add(&text, "a\0b", 3); /* bytes as well as text */
    assert_int_equal(text.size, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    host_text_clear(&text);
    host_text_clear(&text);
}

/* What would go over the ceiling is not added, nor anything after it. */
static void
test_ceiling(void **state)
{
    struct host_text text;
    (void)state;
    host_text_init(&text, 5);
    host_text_add(&text, "abc", 3);
    host_text_print(&text, "%d", 12);
    assert_false(text.failed);
    assert_string_equal(text.data, "abc12");
    host_text_add(&text, "", 0);
    assert_false(text.failed);
    host_text_print(&text, "x");
    assert_true(text.failed);
    assert_string_equal(text.data, "abc12");
    host_text_add(&text, "", 0);
    host_text_add(&text, "y", 1);
    assert_string_equal(text.data, "abc12");
    assert_int_equal(text.size, 5);
    host_text_clear(&text);
    assert_false(text.failed);
    host_text_add(&text, "abcdef", 6);
    assert_true(text.failed);
    assert_null(text.data);
    host_text_clear(&text);
    host_text_init(&text, SIZE_MAX / 4);
    host_text_add(&text, "a", 1);
    host_text_add(&text, "", SIZE_MAX - 4); /* no overflow */
    assert_true(text.failed);
    host_text_clear(&text);
}

static void
test_memory(void **state)
{
    struct host_text text;
    (void)state;
    for (long n = 1; n < 4; n++) {
        host_text_init(&text, 100000);
        fail_alloc_at(n);
        for (size_t i = 0; i < 200; i++) {
            host_text_print(&text, "%s", "0123456789");
        }
        fail_alloc_at(0);
        assert_true(text.failed);
        assert_int_equal(text.size % 10, 0);
        assert_true(text.size < 2000);
        assert_int_equal(text.data == NULL, n == 1);
        host_text_add(&text, "z", 1); /* sticky */
        assert_int_equal(text.size % 10, 0);
        host_text_clear(&text);
    }
}

static void
test_copy(void **state)
{
    (void)state;
    char *copy = host_text_copy("a\0bc", 3);
    assert_memory_equal(copy, "a\0b", 4);
    free(copy);
    copy = host_text_copy(NULL, 0);
    assert_string_equal(copy, "");
    free(copy);
    assert_null(host_text_copy("", SIZE_MAX));
    fail_alloc_at(1);
    assert_null(host_text_copy("a", 1));
    fail_alloc_at(0);
}

static void
test_path(void **state)
{
    (void)state;
    char *path = host_text_path("%s/%.2s-%u.x", "a b", "cdef", 7u);
    assert_string_equal(path, "a b/cd-7.x");
    free(path);
    path = host_text_path("%065536d", 0); /* the longest */
    assert_int_equal(strlen(path), 65536);
    free(path);
    assert_null(host_text_path("%065537d", 0));
    fail_alloc_at(1);
    assert_null(host_text_path("%s/b", "a"));
    fail_alloc_at(0);
}

/* An array grows when it is full, and is as it was when it cannot. */
static void
test_array(void **state)
{
    size_t room = 0, *array = NULL;
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        size_t *grown = host_grow(array, sizeof *array, i, &room);
        assert_non_null(grown);
        assert_true(room > i);
        array = grown;
        array[i] = i;
    }
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(array[i], i);
    }
    assert_int_equal(room, 1024);
    fail_alloc_at(1);
    assert_null(host_grow(array, sizeof *array, room, &room));
    fail_alloc_at(0);
    assert_int_equal(room, 1024);
    assert_int_equal(array[999], 999);
    assert_null(host_grow(array, SIZE_MAX / 1024, room, &room));
    free(array);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),  cmocka_unit_test(test_ceiling),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_copy),
        cmocka_unit_test(test_path),   cmocka_unit_test(test_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
