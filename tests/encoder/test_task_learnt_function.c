/*
 * test_task_learnt_function.c: the task function: it learns, says what a plain
 * loop says, and goes on from its checkpoint.
 */
#include "encoder/task_learnt.h"

#include "fail_alloc.h"
#include "learnt_fixture.h"

#define ROWS ((size_t)400)
#define WIDTH ((size_t)3)
#define OUT ((size_t)3)

/* |x0| + x1, and whether x2 is positive. */
static const struct task_block blocks[] = {{ANALYST_GAUSSIAN, 0, 1, 1},
                                           {ANALYST_CATEGORICAL, 1, 2, 1}};
static const struct layer layers[] = {{.out = 8, .activation = ACTIVATION_RELU},
                                      {.out = OUT}};

struct small {
    struct tensor_backend *backend;
    struct task_function_shape shape;
    struct task_data data;
    float x[ROWS * WIDTH], y[ROWS * OUT];
    uint32_t row[ROWS];
};

static void
small_make(struct small *small)
{
    struct seeded seeded;
    seeded_init(&seeded, 2, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        float *x = small->x + i * WIDTH, *y = small->y + i * OUT;
        for (size_t j = 0; j < WIDTH; j++) {
            x[j] = (float)(2 * uniform(&seeded) - 1);
        }
        y[0] = (float)(fabs((double)x[0]) + (double)x[1]);
        y[1] = x[2] > 0 ? 1 : 0;
        y[2] = 1 - y[1];
        small->row[i] = i;
    }
    must(tensor_new("plain", NULL, &small->backend, &err));
    small->shape = (struct task_function_shape){.width = WIDTH,
                                                .out = OUT,
                                                .layer = layers,
                                                .layers = 2,
                                                .block = blocks,
                                                .blocks = 2,
                                                .seed = 4};
    small->data = (struct task_data){.x = small->x,
                                     .y = small->y,
                                     .held = small->row,
                                     .helds = 50,
                                     .row = small->row + 50,
                                     .rows = ROWS - 50};
}

static struct task_plan
small_plan(uint32_t epochs)
{
    return (struct task_plan){.rate = 0.02,
                              .epochs = epochs,
                              .batch = 50,
                              .patience = 20,
                              .what = "learning"};
}

static void
test_learns(void **state)
{
    struct small small;
    struct task_function function = {.layers = 0};
    struct task_plan plan = small_plan(150);
    struct task_trained trained;
    struct task_function_shape found;
    float *y = calloc(ROWS, OUT * sizeof *y);
    double loss, wrong = 0, squares = 0;
    (void)state;
    assert_non_null(y);
    small_make(&small);
    must(task_function_train(&function, &small.shape, &small.data, &plan,
                             small.backend, &trained, &err));
    assert_true(trained.held < 0.15);
    assert_int_equal(function.layers, 2);
    found = small.shape;
    found.layer = function.layer;
    must(task_function_run(&found, small.x, ROWS, small.backend, y, &err));
    for (size_t i = 0; i < ROWS; i++) {
        const float *x = small.x + i * WIDTH;
        double out[OUT], p;
        for (size_t k = 0; k < OUT; k++) { /* by a plain loop */
            out[k] = (double)function.layer[1].bias[k];
            for (size_t j = 0; j < 8; j++) {
                double h = (double)function.layer[0].bias[j];
                for (size_t m = 0; m < WIDTH; m++) {
                    h += (double)function.layer[0].weight[j * WIDTH + m] *
                         (double)x[m];
                }
                out[k] += (double)function.layer[1].weight[k * 8 + j] *
                          (h > 0 ? h : 0);
            }
        }
        p = 1 / (1 + exp(out[2] - out[1]));
        assert_true(fabs(out[0] - (double)y[i * OUT]) < 1e-4);
        assert_true(fabs(p - (double)y[i * OUT + 1]) < 1e-4);
        assert_true(fabs(1 - p - (double)y[i * OUT + 2]) < 1e-4);
        wrong += (p > 0.5) != (small.y[i * OUT + 1] > 0);
        squares += pow(out[0] - (double)small.y[i * OUT], 2) / ROWS;
    }
    assert_true(wrong < 0.05 * ROWS && squares < 0.02);
    must(task_function_loss(&found, &small.data, small.backend, &loss, &err));
    assert_true(fabs(loss - trained.loss) < 1e-5);
    free(y);
    task_function_clear(&function);
    tensor_backend_free(small.backend);
}

/* A bernoulli block's answers are probabilities. */
static void
test_bernoulli(void **state)
{
    static const struct task_block block[] = {{ANALYST_BERNOULLI, 0, 1, 1}};
    static const float weight[WIDTH] = {1, 0, -2}, bias[1] = {0.5F};
    const struct layer layer[] = {{.out = 1, .weight = weight, .bias = bias}};
    struct small small;
    float y[2];
    (void)state;
    small_make(&small);
    small.shape.out = 1;
    small.shape.layer = layer;
    small.shape.layers = 1;
    small.shape.block = block;
    small.shape.blocks = 1;
    must(task_function_run(&small.shape, small.x, 2, small.backend, y, &err));
    for (size_t i = 0; i < 2; i++) {
        double a = 0.5 + (double)small.x[i * WIDTH] -
                   2 * (double)small.x[i * WIDTH + 2];
        assert_true(fabs((double)y[i] - 1 / (1 + exp(-a))) < 1e-6);
    }
    tensor_backend_free(small.backend);
}

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    (void)what;
    (void)total;
    return done < 23;
}

static void
test_resume(void **state)
{
    struct small small;
    struct task_function whole = {.layers = 0}, parts = {.layers = 0};
    struct task_plan plan = small_plan(6);
    struct task_trained trained;
    struct sotto_watch watch = {tick, NULL};
    char path[512];
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("c"));
    small_make(&small);
    must(task_function_train(&whole, &small.shape, &small.data, &plan,
                             small.backend, &trained, &err));
    plan.checkpoint = path;
    plan.key = "key";
    plan.watch = &watch;
    must_fail(SOTTO_STATUS_STOPPED, "learning was stopped",
              task_function_train(&parts, &small.shape, &small.data, &plan,
                                  small.backend, &trained, &err));
    plan.watch = NULL;
    must(task_function_train(&parts, &small.shape, &small.data, &plan,
                             small.backend, &trained, &err));
    assert_true(trained.resumed);
    assert_memory_equal(whole.layer[0].weight, parts.layer[0].weight,
                        8 * WIDTH * sizeof(float));
    task_function_clear(&whole);
    task_function_clear(&parts);
    tensor_backend_free(small.backend);
}

static void
test_refused(void **state)
{
    struct small small;
    struct task_function function = {.layers = 0};
    struct task_plan plan = small_plan(1);
    struct task_trained trained;
    struct layer many[LEARNT_LAYERS_MAX + 1] = {{.out = OUT}};
    (void)state;
    small_make(&small);
    small.shape.out = OUT + 1;
    must_fail(SOTTO_STATUS_INPUT, "3 outputs for 4",
              task_function_train(&function, &small.shape, &small.data, &plan,
                                  small.backend, &trained, &err));
    small.shape.layer = many;
    small.shape.layers = LEARNT_LAYERS_MAX + 1;
    must_fail(SOTTO_STATUS_LIMIT, "more than 16 layers",
              task_function_train(&function, &small.shape, &small.data, &plan,
                                  small.backend, &trained, &err));
    task_function_clear(&function);
    tensor_backend_free(small.backend);
}

static void
test_memory(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(1);
    enum sotto_status status;
    long n = 0;
    (void)state;
    small_make(&small);
    do {
        struct task_function function = {.layers = 0};
        struct task_trained trained;
        fail_alloc_at(++n);
        status = task_function_train(&function, &small.shape, &small.data,
                                     &plan, small.backend, &trained, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        task_function_clear(&function);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 6);
    tensor_backend_free(small.backend);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_learns),  TEST(test_bernoulli), TEST(test_resume),
        TEST(test_refused), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
