/*
 * test_rowwise.c: softmax, clipping and gathering against plain loops.
 */
#include "tensor_fixture.h"

static const size_t ns[] = {1, 3, 65, 700};
static const size_t widths[] = {1, 7, 10, 784};
#define L 2.5F

enum op { SOFTMAX, SOFTMAX_BACK, CLIP, CLIP_BACK, GATHER, OPS };

static float *
result(struct tensor_backend *b, enum op op, size_t n, size_t width)
{
    float *x = numbers(n * width, 1, 3);
    float *dy = numbers(n * width, 2, 1);
    float *y = numbers(n * width, 3, 1);
    uint32_t *row = malloc(n * sizeof *row);
    assert_non_null(row);
    for (size_t r = 0; r < n; r++) {
        row[r] = (uint32_t)((r * 7 + 3) % n);
        for (size_t i = 0; i < width; i++) { /* some rows inside the ball */
            x[r * width + i] *= r % 2 == 0 ? 1 : 0.2F / (float)width;
        }
    }
    switch (op) {
    case SOFTMAX:
        b->ops->softmax(b, n, width, x, y);
        break;
    case SOFTMAX_BACK:
        b->ops->softmax_back(b, n, width, x, dy, y);
        break;
    case CLIP:
        b->ops->clip_l1(b, n, width, L, x, y);
        break;
    case CLIP_BACK:
        b->ops->clip_l1_back(b, n, width, L, x, dy, y);
        break;
    case GATHER:
    case OPS:
        b->ops->gather(b, n, width, x, row, y);
        for (size_t r = 0; r < n; r++) {
            assert_same(y + r * width, x + row[r] * width, width);
        }
        break;
    }
    free(row);
    free(dy);
    free(x);
    return y;
}

static void
check_op(enum op op, size_t n, size_t width)
{
    float *expected = result(plain, op, n, width);
    float *first = result(cpu[0], op, n, width);
    assert_close(first, expected, n * width, 1e-6);
    for (unsigned t = 1; t < CPUS; t++) {
        float *y = result(cpu[t], op, n, width);
        assert_same(y, first, n * width);
        free(y);
    }
    free(first);
    free(expected);
}

static void
test_rows(void **state)
{
    (void)state;
    for (int op = 0; op < OPS; op++) {
        for (size_t i = 0; i < 4; i++) {
            for (size_t j = 0; j < 4; j++) {
                check_op((enum op)op, ns[i], widths[j]);
            }
        }
    }
}

/* A row's softmax and its gradient have the same bits in a block of rows and
   alone; in place, too. */
static void
test_softmax_alone(void **state)
{
    const size_t width[] = {1, 2, 10, 64, 65};
    const size_t n = 37; /* two blocks and a rest */
    (void)state;
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        size_t size = n * width[i];
        float *a = numbers(size, 4, 20), *dy = numbers(size, 5, 1);
        float *p = numbers(size, 6, 1), *alone = numbers(size, 7, 1);
        cpu[0]->ops->softmax(cpu[0], n, width[i], a, p);
        for (size_t at = 0; at < size; at += width[i]) {
            cpu[0]->ops->softmax(cpu[0], 1, width[i], a + at, alone + at);
        }
        assert_same(p, alone, size);
        cpu[0]->ops->softmax(cpu[0], n, width[i], a, a);
        assert_same(a, p, size);
        for (size_t at = 0; at < size; at += width[i]) {
            cpu[0]->ops->softmax_back(cpu[0], 1, width[i], p + at, dy + at,
                                      alone + at);
        }
        cpu[0]->ops->softmax_back(cpu[0], n, width[i], p, dy, dy);
        assert_same(dy, alone, size);
        free(alone);
        free(p);
        free(dy);
        free(a);
    }
}

/* P0 Eq. 4 by hand: inside the ball nothing changes, outside |z|_1 = l. */
static void
test_clip_known(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[0], cpu[1]};
    const float h[] = {1, -1, 0.25F, 3, -1, 0, 0, 0, 0};
    const float expected[] = {1, -1, 0.25F, 1.875F, -0.625F, 0, 0, 0, 0};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float z[9];
        all[i]->ops->clip_l1(all[i], 3, 3, L, h, z);
        assert_close(z, expected, 9, 1e-7);
    }
}

static void
test_softmax_known(void **state)
{
    struct tensor_backend *all[] = {plain, cpu[0], cpu[1]};
    const float a[] = {500, 500, -500, -1000, 1, 1};
    const float expected[] = {0.5F, 0.5F, 0, 0, 0.5F, 0.5F};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        float p[6];
        all[i]->ops->softmax(all[i], 2, 3, a, p);
        assert_close(p, expected, 6, 1e-7);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_softmax_alone),
        cmocka_unit_test(test_clip_known),
        cmocka_unit_test(test_softmax_known),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
