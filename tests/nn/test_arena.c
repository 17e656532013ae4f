/*
 * test_arena.c: where the rows of a model lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "nn/arena.h"

static struct sotto_error err;

static void
test_layout(void **state)
{
    struct nn_arena arena;
    (void)state;
    nn_arena_init(&arena);
    assert_int_equal(nn_arena_add(&arena, "w", 3, 7, false), 0);
    assert_int_equal(nn_arena_add(&arena, "mean", 5, 0, true), 1);
    assert_int_equal(nn_arena_add(&arena, "b", 16, 0, false), 2);
    assert_int_equal(nn_arena_allocate(&arena, &err), SOTTO_STATUS_OK);
    /* w: 21 floats in 32; b: 16; then the fixed mean: 5 in 16 */
    assert_int_equal(arena.row[0].offset, 0);
    assert_int_equal(arena.row[2].offset, 32);
    assert_int_equal(arena.row[1].offset, 48);
    assert_int_equal(arena.moved, 48);
    assert_int_equal(arena.size, 64);
    assert_int_equal((uintptr_t)arena.value % 64, 0);
    assert_ptr_equal(arena.gradient, arena.value + 64);
    assert_ptr_equal(arena.second, arena.value + 192);
    assert_ptr_equal(nn_arena_value(&arena, 2), arena.value + 32);
    assert_ptr_equal(nn_arena_gradient(&arena, 1), arena.gradient + 48);
    assert_null(nn_arena_value(&arena, 3));
    assert_null(nn_arena_gradient(&arena, SIZE_MAX));
    for (size_t i = 0; i < 4 * arena.size; i++) {
        assert_true(arena.value[i] == 0.0F);
        arena.value[i] = 1;
    }
    nn_arena_clear(&arena);
    assert_int_equal(arena.count, 0);
    nn_arena_clear(&arena);
}

static void
test_full(void **state)
{
    struct nn_arena arena;
    char name[NN_NAME_MAX + 1];
    (void)state;
    nn_arena_init(&arena);
    memset(name, 'n', NN_NAME_MAX);
    name[NN_NAME_MAX] = '\0';
    assert_int_equal(nn_arena_add(&arena, name, 1, 1, false), SIZE_MAX);
    name[NN_NAME_MAX - 1] = '\0';
    for (size_t i = 0; i < 1024; i++) {
        assert_int_equal(nn_arena_add(&arena, name, 1, 1, false), i);
    }
    fail_alloc_at(1);
    assert_int_equal(nn_arena_add(&arena, name, 1, 1, false), SIZE_MAX);
    fail_alloc_at(0);
    assert_int_equal(arena.count, 1024);
    assert_int_equal(nn_arena_allocate(&arena, &err), SOTTO_STATUS_OK);
    assert_int_equal(arena.row[1023].offset, 1023 * 16);
    nn_arena_clear(&arena);
}

static void
test_too_large(void **state)
{
    const size_t sizes[][2] = {{SIZE_MAX, 0},
                               {SIZE_MAX / 2, 3},
                               {(size_t)1 << 32, (size_t)1 << 32},
                               {SIZE_MAX / 32 - 1, 1}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct nn_arena arena;
        nn_arena_init(&arena);
        (void)nn_arena_add(&arena, "a", 1, 1, false);
        (void)nn_arena_add(&arena, "w", sizes[i][0], sizes[i][1], i % 2 == 1);
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(nn_arena_allocate(&arena, &err), SOTTO_STATUS_LIMIT);
        assert_int_equal(err.status, SOTTO_STATUS_LIMIT);
        assert_null(arena.value);
        nn_arena_clear(&arena);
    }
    struct nn_arena arena;
    nn_arena_init(&arena);
    (void)nn_arena_add(&arena, "a", 1, 1, false);
    fail_alloc_at(1);
    assert_int_equal(nn_arena_allocate(&arena, &err), SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_null(arena.value);
    nn_arena_clear(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
