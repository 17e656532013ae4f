/*
 * test_train.c: the one training loop: which rows a step gets, and when; early
 * stopping; divergence; a run that was stopped and went on is the run that
 * never stopped; lack of memory.
 */
#include "fail_alloc.h"
#include "nn_fixture.h"
#include "scratch.h"

#include <unistd.h>

#include "nn/train.h"

#define ROWS 10u
#define SEEN 400u

static struct sotto_error err;

static const struct layer layers[] = {
    {.out = 3, .activation = ACTIVATION_NONE, .norm = false}};

/* A task that notes what it is asked, and steps down a fixed slope: the loss
   is the first weight, the score what `scores` says. */
struct toy {
    struct model model;
    uint32_t row[SEEN];
    size_t size[SEEN], steps, seen;
    const double *scores;
    size_t scored;
    uint64_t diverges; /* at this epoch; 0: never */
    uint64_t stop;     /* at this tick, counted over the run; 0: never */
    uint64_t ticks, done, total;
};

static double
step(void *context, const uint32_t *row, size_t n, uint64_t epoch)
{
    struct toy *toy = context;
    for (size_t i = 0; i < n; i++) {
        toy->row[toy->seen++] = row[i];
    }
    toy->size[toy->steps++] = n;
    (void)model_loss(&toy->model, cpu[0], false);
    toy->model.arena.gradient[0] += (float)row[0];
    return toy->diverges > 0 && epoch + 1 == toy->diverges ? NAN : (double)n;
}

static double
score(void *context)
{
    struct toy *toy = context;
    return toy->scores[toy->scored++];
}

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct toy *toy = context;
    assert_string_equal(what, "training");
    assert_true(done < total);
    toy->done = done;
    toy->total = total;
    return ++toy->ticks != toy->stop;
}

static void
toy_make(struct toy *toy)
{
    *toy = (struct toy){.seen = 0};
    model_make(&toy->model, 9, 4, layers, 1);
}

static enum sotto_status
run(struct toy *toy, struct nn_plan plan, struct nn_trained *ret_trained)
{
    struct nn_task task = {.rows = ROWS,
                           .step = step,
                           .score = toy->scores != NULL ? score : NULL,
                           .context = toy};
    struct sotto_watch watch = {tick, toy};
    plan.optimiser.rate = 0.01F;
    plan.optimiser.schedule = NN_SCHEDULE_COSINE;
    plan.what = "training";
    plan.key = "key";
    plan.watch = &watch;
    return nn_train(&task, &plan, &toy->model.arena, cpu[0], ret_trained, &err);
}

static int
setup(void **state)
{
    (void)state;
    memset(&err, 0xa5, sizeof err);
    return scratch_make();
}

/* ---- Batches and orders -------------------------------------------------- */

static void
check_sizes(enum nn_batches batches, const size_t *size, size_t count)
{
    struct toy toy;
    struct nn_trained trained;
    struct nn_plan plan = {.batch = 4, .batches = batches, .epochs = 2};
    toy_make(&toy);
    assert_int_equal(run(&toy, plan, &trained), SOTTO_STATUS_OK);
    assert_int_equal(nn_plan_steps(&plan, ROWS), 2 * count);
    assert_int_equal(toy.steps, 2 * count);
    assert_int_equal(toy.model.arena.step, 2 * count);
    for (size_t i = 0; i < toy.steps; i++) {
        assert_int_equal(toy.size[i], size[i % count]);
    }
    assert_int_equal(trained.epochs, 2);
    assert_true(trained.loss == (double)(toy.seen / 2) / (double)count);
    assert_false(trained.resumed);
    assert_int_equal(toy.done, toy.total - 1);
    assert_int_equal(toy.total, 2 * count);
    model_free(&toy.model);
}

static void
test_batches(void **state)
{
    static const size_t all[] = {4, 4, 2}, even[] = {3, 3, 4};
    (void)state;
    check_sizes(NN_BATCHES_ALL, all, 3);
    check_sizes(NN_BATCHES_WHOLE, all, 2);
    check_sizes(NN_BATCHES_EVEN, even, 3);
}

/* An epoch's order is of (seed, stream + epoch): of the rows as they were, or
   as the last epoch left them. */
static void
check_order(enum permute_way way, bool goes_on, const uint32_t *row)
{
    struct toy toy;
    struct nn_trained trained;
    struct nn_task task = {
        .rows = ROWS, .row = row, .step = step, .context = &toy};
    struct nn_plan plan = {.batch = 4,
                           .epochs = 3,
                           .seed = 5,
                           .stream = 70,
                           .way = way,
                           .goes_on = goes_on,
                           .what = "training"};
    uint32_t order[ROWS];
    toy_make(&toy);
    assert_int_equal(
        nn_train(&task, &plan, &toy.model.arena, cpu[0], &trained, &err),
        SOTTO_STATUS_OK);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        for (uint32_t i = 0; (epoch == 0 || !goes_on) && i < ROWS; i++) {
            order[i] = row != NULL ? row[i] : i;
        }
        permute(order, sizeof *order, ROWS, way, 5, 70 + epoch);
        assert_memory_equal(toy.row + epoch * ROWS, order, sizeof order);
    }
    model_free(&toy.model);
}

static void
test_orders(void **state)
{
    static const uint32_t row[ROWS] = {90, 1, 80, 2, 70, 3, 60, 4, 50, 5};
    (void)state;
    check_order(PERMUTE_DOWN, false, NULL);
    check_order(PERMUTE_UP, false, NULL);
    check_order(PERMUTE_DOWN, true, NULL);
    check_order(PERMUTE_DOWN, false, row);
}

/* Steps of other runs count in what the watch is told. */
static void
test_ticks(void **state)
{
    struct toy toy;
    struct nn_trained trained;
    struct nn_plan plan = {.batch = 5, .epochs = 2, .done = 4, .total = 12};
    (void)state;
    toy_make(&toy);
    assert_int_equal(run(&toy, plan, &trained), SOTTO_STATUS_OK);
    assert_int_equal(toy.done, 4 + 3);
    assert_int_equal(toy.total, 12);
    model_free(&toy.model);
}

/* The rate rises over a share of all steps: a half of 6 here. */
static void
test_warmup(void **state)
{
    struct toy toy[2];
    struct nn_trained trained;
    struct nn_plan plan = {.batch = 5, .epochs = 3, .warmup = 0.5};
    struct nn_optimiser by_hand = {
        .rate = 0.01F, .schedule = NN_SCHEDULE_COSINE, .warmup = 3, .steps = 6};
    (void)state;
    toy_make(&toy[0]);
    toy_make(&toy[1]);
    assert_int_equal(run(&toy[0], plan, &trained), SOTTO_STATUS_OK);
    for (size_t i = 0; i < 6; i++) {
        (void)step(&toy[1], toy[0].row + 5 * i, 5, i / 2);
        nn_step(&by_hand, cpu[0], &toy[1].model.arena);
    }
    assert_same(toy[0].model.arena.value, toy[1].model.arena.value,
                toy[0].model.arena.size);
    model_free(&toy[0].model);
    model_free(&toy[1].model);
}

/* The first floats move before the gradients of the others are taken; one
   step is counted. A toy's gradients are of its weights as they stand. */
static void
test_turns(void **state)
{
    struct toy toy[2];
    struct nn_trained trained;
    struct nn_plan plan = {.batch = 5, .epochs = 2, .turn = 16};
    struct nn_optimiser by_hand = {
        .rate = 0.01F, .schedule = NN_SCHEDULE_COSINE, .steps = 4};
    (void)state;
    toy_make(&toy[0]);
    toy_make(&toy[1]);
    assert_int_equal(run(&toy[0], plan, &trained), SOTTO_STATUS_OK);
    assert_int_equal(toy[0].steps, 8);
    assert_int_equal(toy[0].model.arena.step, 4);
    for (size_t i = 0; i < 4; i++) {
        struct nn_arena *arena = &toy[1].model.arena;
        assert_memory_equal(toy[0].row + 10 * i, toy[0].row + 10 * i + 5,
                            5 * sizeof toy[0].row[0]);
        (void)step(&toy[1], toy[0].row + 10 * i, 5, i / 2);
        nn_step_part(&by_hand, cpu[0], arena, 0, 16);
        assert_int_equal(arena->step, i);
        (void)step(&toy[1], toy[0].row + 10 * i, 5, i / 2);
        nn_step_part(&by_hand, cpu[0], arena, 16, arena->moved);
        arena->step++;
    }
    assert_same(toy[0].model.arena.value, toy[1].model.arena.value,
                toy[0].model.arena.size);
    model_free(&toy[0].model);
    model_free(&toy[1].model);
}

/* ---- Scores -------------------------------------------------------------- */

static void
check_scores(bool first, uint64_t patience, const double *scores,
             uint64_t epochs, uint64_t best)
{
    struct toy toy, shorter;
    struct nn_trained trained;
    struct nn_plan plan = {
        .batch = 5, .epochs = 6, .patience = patience, .score_first = first};
    toy_make(&toy);
    toy.scores = scores;
    assert_int_equal(run(&toy, plan, &trained), SOTTO_STATUS_OK);
    assert_int_equal(trained.epochs, epochs);
    assert_int_equal(trained.best, best);
    assert_int_equal(toy.scored, epochs + (first ? 1 : 0));
    /* The weights are those after the best epoch. */
    toy_make(&shorter);
    shorter.stop = 2 * best + 1;
    assert_int_equal(run(&shorter, plan, &trained),
                     best < 6 ? SOTTO_STATUS_STOPPED : SOTTO_STATUS_OK);
    assert_same(toy.model.arena.value, shorter.model.arena.value,
                toy.model.arena.size);
    model_free(&toy.model);
    model_free(&shorter.model);
}

static void
test_scores(void **state)
{
    static const double falling[] = {7, 6, 5, 4, 3, 2, 1};
    static const double valley[] = {3, 2, 4, 5, 1, 0, 9};
    static const double hill[] = {1, NAN, INFINITY, 2, 1, 5, 5};
    (void)state;
    check_scores(false, 2, falling, 6, 6);
    check_scores(false, 2, valley, 4, 2);
    check_scores(false, 0, valley, 6, 6);
    check_scores(false, 3, hill, 4, 1);
    check_scores(true, 3, hill, 3, 0);
}

/* ---- Ends ---------------------------------------------------------------- */

static void
test_diverged(void **state)
{
    struct toy toy;
    struct nn_trained trained;
    (void)state;
    toy_make(&toy);
    toy.diverges = 2;
    assert_int_equal(
        run(&toy, (struct nn_plan){.batch = 5, .epochs = 4}, &trained),
        SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "training diverged in epoch 2"));
    assert_string_equal(err.subject, "rate");
    assert_int_equal(toy.steps, 4);
    model_free(&toy.model);
}

/* Wherever it is stopped, and if again and again. */
static void
check_resume(const double *scores, bool goes_on)
{
    struct nn_plan plan = {.batch = 4,
                           .epochs = 6,
                           .seed = 2,
                           .goes_on = goes_on,
                           .patience = 3,
                           .checkpoint = in_folder("c")};
    struct nn_trained whole, part;
    struct toy never, toy;
    toy_make(&never);
    never.scores = scores;
    assert_int_equal(run(&never, plan, &whole), SOTTO_STATUS_OK);
    assert_int_equal(access(in_folder("c"), F_OK), 0);
    assert_int_equal(unlink(in_folder("c")), 0);
    for (uint64_t stop = 1; stop < 18; stop++) {
        enum sotto_status status = SOTTO_STATUS_STOPPED;
        size_t scored = 0;
        for (int i = 0; status == SOTTO_STATUS_STOPPED; i++) {
            toy_make(&toy);
            toy.stop = i < 2 ? stop : 0;
            toy.scores = scores != NULL ? scores + scored : NULL;
            status = run(&toy, plan, &part);
            scored += toy.scored;
            if (status == SOTTO_STATUS_STOPPED) {
                assert_non_null(strstr(err.message, "training was stopped"));
                model_free(&toy.model);
            }
        }
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_int_equal(part.epochs, whole.epochs);
        assert_int_equal(part.best, whole.best);
        assert_true(part.loss == whole.loss);
        assert_same(toy.model.arena.value, never.model.arena.value,
                    toy.model.arena.size);
        model_free(&toy.model);
        (void)unlink(in_folder("c"));
    }
    model_free(&never.model);
}

static void
test_resume(void **state)
{
    static const double scores[] = {3, 2, 4, 1, 5, 6, 0};
    (void)state;
    check_resume(NULL, false);
    check_resume(NULL, true);
    check_resume(scores, false);
}

static void
test_other_key(void **state)
{
    struct nn_plan plan = {.batch = 5,
                           .epochs = 2,
                           .checkpoint = in_folder("c"),
                           .key = "other",
                           .what = "training"};
    struct nn_task task = {.rows = ROWS, .step = step};
    struct nn_trained trained;
    struct toy toy;
    (void)state;
    toy_make(&toy);
    task.context = &toy;
    assert_int_equal(run(&toy, plan, &trained), SOTTO_STATUS_OK);
    assert_int_equal(
        nn_train(&task, &plan, &toy.model.arena, cpu[0], &trained, &err),
        SOTTO_STATUS_INPUT);
    model_free(&toy.model);
}

static void
test_memory(void **state)
{
    static const double scores[] = {3, 2, 4, 1, 5, 6, 0};
    struct nn_plan plan = {
        .batch = 5, .epochs = 2, .checkpoint = in_folder("c")};
    struct nn_trained trained;
    long count = 1;
    (void)state;
    for (long n = 0; n <= count; n++) {
        struct toy toy;
        toy_make(&toy);
        toy.scores = scores;
        fail_alloc_at(n);
        enum sotto_status status = run(&toy, plan, &trained);
        count = n == 0 ? fail_alloc_count() : count;
        fail_alloc_at(0);
        assert_int_equal(status,
                         n == 0 ? SOTTO_STATUS_OK : SOTTO_STATUS_MEMORY);
        model_free(&toy.model);
        (void)unlink(in_folder("c"));
    }
    assert_true(count > 2);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_batches),  TEST(test_orders), TEST(test_ticks),
        TEST(test_warmup),   TEST(test_turns),  TEST(test_scores),
        TEST(test_diverged), TEST(test_resume), TEST(test_other_key),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
