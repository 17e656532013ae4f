/*
 * test_task_learnt_train.c: how a task net is trained: what moves, which noise
 * it sees, and what the paper does besides.
 */
#include "encoder/task_learnt.h"

#include "fail_alloc.h"
#include "learnt_fixture.h"

#define ROWS ((size_t)40)
#define HELD ((size_t)8)
#define WIDTH ((size_t)4)
#define D ((size_t)2)

static const struct task_block all[] = {{ANALYST_GAUSSIAN, 0, WIDTH, 1}};
static const struct layer up[] = {{.out = D}}, down[] = {{.out = WIDTH}};

struct small {
    struct tensor_backend *backend;
    struct task_net net;
    struct task_data data;
    float x[ROWS * WIDTH];
    uint32_t row[ROWS];
};

static void
small_make(struct small *small, double l, double b)
{
    struct task_shape shape = {.width = WIDTH,
                               .d = D,
                               .out = WIDTH,
                               .encoder = up,
                               .encoders = 1,
                               .decoder = down,
                               .decoders = 1,
                               .block = all,
                               .blocks = 1,
                               .l = l,
                               .b = b,
                               .seed = 6,
                               .batch = ROWS};
    struct seeded seeded;
    seeded_init(&seeded, 1, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        double line = 2 * uniform(&seeded) - 1;
        for (uint32_t j = 0; j < WIDTH; j++) {
            small->x[i * WIDTH + j] =
                (float)(line * (j + 1) + 0.1 * uniform(&seeded));
        }
        small->row[i] = i;
    }
    must(tensor_new("plain", NULL, &small->backend, &err));
    must(task_net_init(&small->net, &shape, small->backend, &err));
    small->data = (struct task_data){.x = small->x,
                                     .y = small->x,
                                     .held = small->row,
                                     .helds = HELD,
                                     .row = small->row + HELD,
                                     .rows = ROWS - HELD};
}

static void
small_clear(struct small *small)
{
    task_net_clear(&small->net);
    tensor_backend_free(small->backend);
}

/* A plan of full batches, in which a step is an epoch. */
static struct task_plan
small_plan(uint32_t epochs)
{
    return (struct task_plan){
        .rate = 0.02, .epochs = epochs, .batch = ROWS, .what = "training"};
}

static float *
copy_values(const struct nn_arena *arena)
{
    float *copy = malloc(arena->size * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, arena->value, arena->size * sizeof *copy);
    return copy;
}

static bool
same_values(const struct task_net *a, const struct task_net *b)
{
    return memcmp(a->arena.value, b->arena.value,
                  a->arena.size * sizeof(float)) == 0;
}

/* ---- What it comes to -------------------------------------------------------
 */

static void
test_falls(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(300);
    struct task_trained trained;
    double before;
    (void)state;
    small_make(&small, 1, 0.1);
    before = task_net_loss(&small.net, &small.data, small.data.held, HELD, 4);
    plan.draws = 4;
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    assert_int_equal(trained.epochs, 300);
    assert_true(trained.held < before / 4);
    assert_true(fabs(trained.held - task_net_loss(&small.net, &small.data,
                                                  small.data.held, HELD, 4)) <
                1e-12);
    assert_true(trained.clipped > 0 && trained.clipped < 1);
    small_clear(&small);
}

/* More noise is a higher loss, and none a lower one than any. */
static void
test_noise(void **state)
{
    static const double scale[] = {0, 0.2, 2};
    double loss[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct small small;
        struct task_plan plan = small_plan(400);
        struct task_trained trained;
        small_make(&small, 1, scale[i]);
        must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
        loss[i] = trained.loss;
        small_clear(&small);
    }
    assert_true(loss[0] < loss[1] && loss[1] < loss[2]);
}

/* With patience the weights are those of the best score. */
static void
test_patience(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(400);
    struct task_trained trained;
    (void)state;
    small_make(&small, 1, 0.5);
    plan.rate = 0.3;
    plan.patience = 5;
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    assert_true(trained.epochs < 400);
    small_clear(&small);
}

static void
test_diverged(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(40);
    struct task_trained trained;
    (void)state;
    small_make(&small, 0, 0);
    plan.rate = 1e30;
    must_fail(SOTTO_STATUS_INPUT, "diverged",
              task_net_train(&small.net, &small.data, &plan, &trained, &err));
    small_clear(&small);
}

/* ---- As in the paper --------------------------------------------------------
 */

/* The encoder stays, whatever the net was trained for before. */
static void
test_frozen(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(30);
    struct task_trained trained;
    float *before;
    size_t at;
    (void)state;
    small_make(&small, 0, 0); /* privacy-agnostic: first without noise */
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    before = copy_values(&small.net.arena);
    at = small.net.decoder_at;
    task_net_set_l(&small.net, 1);
    task_net_set_b(&small.net, 0.7);
    plan.frozen = true;
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    assert_memory_equal(before, small.net.arena.value, at * sizeof *before);
    assert_memory_not_equal(before + at, small.net.arena.value + at,
                            WIDTH * sizeof *before);
    assert_true(fabs(task_net_b(&small.net) - 0.7) < 1e-7);
    free(before);
    small_clear(&small);
}

/* One step of eta by hand: Adam's first step goes by the gradient's sign. */
static void
test_eta_gradient(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(1);
    struct task_trained trained;
    float *before;
    (void)state;
    small_make(&small, 1, 0.1);
    before = copy_values(&small.net.arena);
    plan.eta = 1e6; /* nothing else counts */
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    for (size_t i = 0; i < WIDTH * D; i++) {
        double moved = (double)small.net.arena.value[i] - (double)before[i];
        assert_true(fabs(moved + copysign(0.02, (double)before[i])) < 1e-6);
    }
    free(before);
    small_clear(&small);
}

/* The steps of a plan, by hand: `period` steps under a noise each, the encoder
   first where they take turns. */
static void
step_by_hand(struct small *small, uint32_t steps, uint32_t period, bool turns)
{
    struct nn_arena *arena = &small->net.arena;
    struct nn_optimiser adam = {.rate = 0.02F, .steps = steps};
    struct task_sums sums = {0};
    size_t at = turns ? small->net.decoder_at : 0;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t order[ROWS - HELD];
        memcpy(order, small->data.row, sizeof order);
        permute(order, sizeof *order, ROWS - HELD, PERMUTE_DOWN, 6, i);
        if (turns) {
            task_net_run(&small->net, small->x, small->x, order, ROWS - HELD,
                         i / period, true, &sums);
            nn_step_part(&adam, small->backend, arena, 0, at);
        }
        task_net_run(&small->net, small->x, small->x, order, ROWS - HELD,
                     i / period, true, &sums);
        nn_step_part(&adam, small->backend, arena, at, arena->moved);
        arena->step++;
    }
}

static void
check_by_hand(uint32_t period, bool turns)
{
    enum { STEPS = 7 };
    struct small trained, by_hand, other;
    struct task_plan plan = small_plan(STEPS);
    struct task_trained info;
    small_make(&trained, 1, 0.3);
    small_make(&by_hand, 1, 0.3);
    small_make(&other, 1, 0.3);
    plan.turns = turns;
    plan.period = period;
    must(task_net_train(&trained.net, &trained.data, &plan, &info, &err));
    step_by_hand(&by_hand, STEPS, period > 0 ? period : 1, turns);
    assert_true(same_values(&trained.net, &by_hand.net));
    step_by_hand(&other, STEPS, 2, !turns);
    assert_false(same_values(&trained.net, &other.net));
    small_clear(&trained);
    small_clear(&by_hand);
    small_clear(&other);
}

/* In turns, the decoder's gradient is taken behind the encoder's step; noise is
   drawn again every `period` steps, or in every epoch, which is a step here. */
static void
test_by_hand(void **state)
{
    (void)state;
    check_by_hand(0, false);
    check_by_hand(3, false);
    check_by_hand(0, true);
    check_by_hand(3, true);
}

/* b follows the largest distance of codes, before the step. */
static void
test_measured(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(1);
    struct task_trained trained;
    double expected = 0, found;
    float h[ROWS * D];
    (void)state;
    small_make(&small, 0, 9);
    task_net_codes(&small.net, small.x, ROWS, h);
    for (size_t i = HELD; i < ROWS; i++) {
        for (size_t j = HELD; j < ROWS; j++) {
            expected =
                fmax(expected,
                     fabs((double)h[i * D] - (double)h[j * D]) +
                         fabs((double)h[i * D + 1] - (double)h[j * D + 1]));
        }
    }
    must(task_net_distance(&small.net, small.x, small.data.row, small.data.rows,
                           &found, &err));
    assert_true(fabs(found - expected) < 1e-6);
    plan.measured = 0.25;
    must(task_net_train(&small.net, &small.data, &plan, &trained, &err));
    assert_true(fabs(task_net_b(&small.net) - expected / 4) < 1e-6);
    small_clear(&small);
}

/* ---- Going on ---------------------------------------------------------------
 */

struct stop {
    uint64_t at;
};

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    const struct stop *stop = context;
    assert_string_equal(what, "training");
    assert_true(done < total);
    return done < stop->at;
}

/* All of it: turns, a measured noise, patience. */
static void
test_resume(void **state)
{
    char path[512];
    (void)state;
    (void)snprintf(path, sizeof path, "%s", in_folder("c"));
    for (uint64_t at = 1; at < 24; at += 4) {
        struct small whole, parts;
        struct task_plan plan = small_plan(24);
        struct task_trained trained;
        struct stop stop = {.at = at};
        struct sotto_watch watch = {tick, &stop};
        plan.turns = true;
        plan.measured = 0.25;
        plan.period = 6;
        plan.patience = 20;
        small_make(&whole, 0, 1);
        small_make(&parts, 0, 1);
        must(task_net_train(&whole.net, &whole.data, &plan, &trained, &err));
        plan.checkpoint = path;
        plan.key = "key";
        plan.watch = &watch;
        must_fail(
            SOTTO_STATUS_STOPPED, "stopped",
            task_net_train(&parts.net, &parts.data, &plan, &trained, &err));
        small_clear(&parts);
        small_make(&parts, 0, 1);
        plan.watch = NULL;
        must(task_net_train(&parts.net, &parts.data, &plan, &trained, &err));
        assert_true(trained.resumed);
        assert_true(same_values(&whole.net, &parts.net));
        assert_int_equal(unlink(path), 0);
        small_clear(&whole);
        small_clear(&parts);
    }
}

static void
test_memory(void **state)
{
    struct small small;
    struct task_plan plan = small_plan(2);
    struct task_trained trained;
    enum sotto_status status;
    long n = 0;
    (void)state;
    plan.measured = 1;
    plan.patience = 2;
    small_make(&small, 0, 1);
    do {
        fail_alloc_at(++n);
        status = task_net_train(&small.net, &small.data, &plan, &trained, &err);
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
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_falls),    TEST(test_noise),    TEST(test_patience),
        TEST(test_diverged), TEST(test_frozen),   TEST(test_eta_gradient),
        TEST(test_by_hand),  TEST(test_measured), TEST(test_resume),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
