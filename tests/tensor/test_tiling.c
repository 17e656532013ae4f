/*
 * test_tiling.c: tiles cover a product, each element once, and are no larger
 * than the kernels without packing take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tensor/cpu/tiling.h"

static const size_t sizes[] = {1, 7, 16, 33, 64, 150, 400, 784, 1024};
#define SIZES (sizeof sizes / sizeof *sizes)

/* Counts how often each element is in a tile; the largest tile's area. */
static size_t
cover(const struct tiling_shape *shape, struct tiling tiling)
{
    uint8_t *seen = calloc(shape->m * shape->n, 1);
    size_t largest = 0;
    assert_non_null(seen);
    for (size_t i = 0; i < tiling.rows * tiling.columns; i++) {
        struct tile tile = tiling_tile(shape, tiling, i);
        size_t area = tile.rows * tile.columns;
        largest = area > largest ? area : largest;
        assert_true(tile.row + tile.rows <= shape->m);
        assert_true(tile.column + tile.columns <= shape->n);
        for (size_t r = 0; r < tile.rows; r++) {
            for (size_t c = 0; c < tile.columns; c++) {
                seen[(tile.row + r) * shape->n + tile.column + c]++;
            }
        }
    }
    for (size_t i = 0; i < shape->m * shape->n; i++) {
        assert_int_equal(seen[i], 1);
    }
    free(seen);
    return largest;
}

static void
check_shape(size_t m, size_t n, size_t k)
{
    for (unsigned kind = 0; kind < 8; kind++) {
        struct tiling_shape shape = {kind % 2 == 1, kind / 2 % 2 == 1, m, n, k};
        struct tiling tiling = tiling_choose(&shape, kind / 4 == 1);
        size_t largest = cover(&shape, tiling);
        if (m * n * k <= 131072) {
            assert_int_equal(tiling.rows * tiling.columns, 1);
        } else if (kind / 4 == 1 && !shape.transpose_b) {
            assert_true(largest * k <= 1000000);
        }
    }
}

static void
test_cover(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        for (size_t j = 0; j < SIZES; j += 2) {
            check_shape(sizes[i], sizes[j], sizes[(i + j) % SIZES]);
        }
    }
}

/* The shapes that tiling.c was measured on. */
static void
test_known(void **state)
{
    const struct tiling_shape forward = {false, true, 64, 400, 784};
    const struct tiling_shape weights = {true, false, 400, 784, 64};
    const struct tiling_shape deep = {false, false, 64, 64, 5000};
    struct tiling tiling = tiling_choose(&forward, true);
    (void)state;
    assert_int_equal(tiling.rows, 1);
    assert_int_equal(tiling.columns, 25); /* 64 x 16 */
    tiling = tiling_choose(&forward, false);
    assert_int_equal(tiling.rows, 1);
    assert_int_equal(tiling.columns, 2);
    tiling = tiling_choose(&weights, true);
    assert_int_equal(tiling.rows, 4);
    assert_int_equal(tiling.columns, 7);
    tiling = tiling_choose(&deep, true); /* nothing without packing: packed */
    assert_int_equal(tiling.rows * tiling.columns, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
