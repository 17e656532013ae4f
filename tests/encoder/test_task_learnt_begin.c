/*
 * test_task_learnt_begin.c: where a net begins: the directions of a linear
 * task, known by hand; codes within the ball; the way back.
 */
#include "encoder/task_learnt.h"

#include "fail_alloc.h"
#include "learnt_fixture.h"

#define ROWS ((size_t)600)
#define WIDTH ((size_t)4)
#define D ((size_t)2)
#define OUT ((size_t)2)

static const struct task_block both[] = {{ANALYST_GAUSSIAN, 0, OUT, 1}};
static const struct task_block logits[] = {{ANALYST_CATEGORICAL, 0, OUT, 1}};
static const struct layer up[] = {{.out = D}}, down[] = {{.out = WIDTH}};
static const struct layer deep[] = {{.out = 7, .activation = ACTIVATION_RELU},
                                    {.out = D}};
static const struct layer deep_down[] = {
    {.out = 7, .activation = ACTIVATION_RELU}, {.out = WIDTH}};
/* y = 3 x0, x1: of deviations 1, 2, 5, 0.1. */
static const float weight[] = {3, 0, 0, 0, 0, 1, 0, 0}, bias[] = {0.5F, 0};
static const struct layer lines[] = {
    {.out = OUT, .weight = weight, .bias = bias}};

struct small {
    struct tensor_backend *backend;
    struct task_net net;
    struct task_data data;
    struct task_shape shape;
    float x[ROWS * WIDTH], y[ROWS * OUT];
    uint32_t row[ROWS];
};

static void
small_fill(struct small *small)
{
    static const double deviation[WIDTH] = {1, 2, 5, 0.1};
    struct seeded seeded;
    seeded_init(&seeded, 8, 0);
    memset(small->y, 0, sizeof small->y);
    for (uint32_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++) {
            double u = sqrt(12) * (uniform(&seeded) - 0.5);
            small->x[i * WIDTH + j] = (float)(10 + deviation[j] * u);
        }
        small->row[i] = i;
    }
    small->shape = (struct task_shape){.width = WIDTH,
                                       .d = D,
                                       .out = OUT,
                                       .encoder = up,
                                       .encoders = 1,
                                       .decoder = down,
                                       .decoders = 1,
                                       .function = lines,
                                       .functions = 1,
                                       .block = both,
                                       .blocks = 1,
                                       .l = 1,
                                       .b = 0.01,
                                       .seed = 6,
                                       .batch = 64};
    small->data = (struct task_data){
        .x = small->x, .y = small->y, .row = small->row, .rows = ROWS};
    must(tensor_new("plain", NULL, &small->backend, &err));
}

static void
small_begin(struct small *small)
{
    must(task_net_init(&small->net, &small->shape, small->backend, &err));
    must(task_net_begin(&small->net, &small->data, &err));
}

static void
small_clear(struct small *small)
{
    task_net_clear(&small->net);
    tensor_backend_free(small->backend);
}

/* Mean of |h|_1. */
static double
mean_norm(struct small *small)
{
    float *h = calloc(ROWS, D * sizeof *h);
    double sum = 0;
    assert_non_null(h);
    task_net_codes(&small->net, small->x, ROWS, h);
    for (size_t i = 0; i < ROWS * D; i++) {
        sum += fabs((double)h[i]);
    }
    free(h);
    return sum / ROWS;
}

/* lambda is 9 for x0 and 4 for x1: the code has them, of variances as 3 to 2,
   and not x2, which varies most. */
static void
test_directions(void **state)
{
    struct small small;
    const float *code;
    double at[2], variance[2];
    (void)state;
    small_fill(&small);
    small_begin(&small);
    code = nn_arena_value(&small.net.arena, small.net.encoder.layer[0].weight);
    at[0] = fabs((double)code[0]);
    at[1] = fabs((double)code[WIDTH + 1]);
    for (size_t i = 0; i < D; i++) {
        for (size_t j = 0; j < WIDTH; j++) {
            assert_true(i == j ||
                        fabs((double)code[i * WIDTH + j]) < 0.25 * at[i]);
        }
        variance[i] = i == 0 ? at[0] * at[0] : 4 * at[1] * at[1];
    }
    assert_true(fabs(variance[0] / variance[1] - 1.5) < 0.15);
    assert_true(fabs(mean_norm(&small) - 0.5) < 1e-3);
    small_clear(&small);
}

/* With hardly any noise the way back tells what the code has, and the mean of
   what it has not. */
static void
test_back(void **state)
{
    struct small small;
    const float *way;
    size_t width;
    float decoded[WIDTH];
    (void)state;
    small_fill(&small);
    small.shape.b = 1e-4;
    small_begin(&small);
    way = nn_arena_value(&small.net.arena, small.net.decoder.layer[0].weight);
    const float *offset =
        nn_arena_value(&small.net.arena, small.net.decoder.layer[0].bias);
    const float *f =
        task_net_features(&small.net, small.x, small.row, 9, 0, &width);
    assert_int_equal(width, D);
    for (size_t i = 0; i < 9; i++) {
        const float *x = small.x + i * WIDTH;
        for (size_t j = 0; j < WIDTH; j++) {
            decoded[j] = offset[j];
            for (size_t k = 0; k < D; k++) {
                decoded[j] += way[j * D + k] * f[i * D + k];
            }
        }
        if (fabs((double)f[i * D]) + fabs((double)f[i * D + 1]) < 0.95) {
            assert_true(fabs((double)(decoded[0] - x[0])) < 0.4);
            assert_true(fabs((double)(decoded[1] - x[1])) < 0.6);
        }
        assert_true(fabs((double)decoded[2] - 10) < 2);
        assert_true(fabs((double)decoded[3] - 10) < 0.1);
    }
    small_clear(&small);
}

/* A cross-entropy's curvature: of two logits it is their difference that
   counts; columns to be told count beside it, and alone. */
static void
test_kinds(void **state)
{
    static const struct task_block told[] = {{ANALYST_GAUSSIAN, 3, 1, 1e4}};
    struct small small;
    const float *code;
    (void)state;
    small_fill(&small);
    small.shape.block = logits;
    for (size_t i = 0; i < ROWS; i++) { /* about where it is undecided */
        small.x[i * WIDTH] -= 10;
        small.x[i * WIDTH + 1] -= 10;
    }
    small_begin(&small);
    code = nn_arena_value(&small.net.arena, small.net.encoder.layer[0].weight);
    /* 3 x0 - x1, seen through variances of 1 and 4 */
    assert_true(fabs((double)code[1] / (double)code[0] + 1.0 / 3) < 0.1);
    assert_true(fabs((double)code[2]) < 0.1 * fabs((double)code[0]));
    small_clear(&small);

    small_fill(&small);
    small.shape.rebuilt = told;
    small.shape.rebuilts = 1;
    small_begin(&small);
    code = nn_arena_value(&small.net.arena, small.net.encoder.layer[0].weight);
    assert_true(fabs((double)code[3]) > 5 * fabs((double)code[0]));
    small_clear(&small);

    small_fill(&small);
    small.shape.functions = 0;
    small.shape.out = WIDTH;
    small.shape.block = told;
    small.data.y = small.x;
    small_begin(&small);
    code = nn_arena_value(&small.net.arena, small.net.encoder.layer[0].weight);
    assert_true(fabs((double)code[3]) > 100 * fabs((double)code[2]));
    small_clear(&small);
}

/* More codes than the task has directions, records that do not vary, and
   hidden layers: a net begins all the same. */
static void
test_poor(void **state)
{
    struct small small;
    struct task_sums sums = {0};
    (void)state;
    small_fill(&small);
    small.shape.block = logits; /* one direction for two codes */
    small_begin(&small);
    assert_true(fabs(mean_norm(&small) - 0.5) < 1e-3);
    small_clear(&small);

    small_fill(&small);
    for (size_t i = 0; i < ROWS * WIDTH; i++) {
        small.x[i] = 3;
    }
    small_begin(&small);
    task_net_run(&small.net, small.x, small.y, small.row, 10, 0, true, &sums);
    assert_true(isfinite(sums.loss));
    small_clear(&small);

    small_fill(&small);
    small.shape.encoder = deep;
    small.shape.decoder = deep_down;
    small.shape.encoders = small.shape.decoders = 2;
    small_begin(&small);
    assert_true(fabs(mean_norm(&small) - 0.5) < 1e-3);
    task_net_run(&small.net, small.x, small.y, small.row, 10, 0, true, &sums);
    assert_true(isfinite(sums.loss));
    small_clear(&small);
}

static void
test_memory(void **state)
{
    struct small small;
    enum sotto_status status;
    long n = 0;
    (void)state;
    small_fill(&small);
    must(task_net_init(&small.net, &small.shape, small.backend, &err));
    do {
        fail_alloc_at(++n);
        status = task_net_begin(&small.net, &small.data, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 3);
    small_clear(&small);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_directions), cmocka_unit_test(test_back),
        cmocka_unit_test(test_kinds),      cmocka_unit_test(test_poor),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
