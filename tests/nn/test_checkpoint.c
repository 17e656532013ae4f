/*
 * test_checkpoint.c: a run that was stopped and went on is the run that never
 * stopped; another run's or a damaged checkpoint is not taken.
 */
#include "fail_alloc.h"
#include "nn_fixture.h"
#include "scratch.h"

#include <unistd.h>

#include "host/file.h"
#include "nn/checkpoint.h"

static struct sotto_error err;

static const struct layer layers[] = {
    {.out = 6, .activation = ACTIVATION_RELU, .norm = true},
    {.out = 3, .activation = ACTIVATION_NONE, .norm = false},
};

struct run {
    struct model model;
    struct nn_stopping stopping;
    struct nn_progress progress;
};

static void
run_make(struct run *run)
{
    memset(run, 0, sizeof *run);
    model_make(&run->model, 9, 4, layers, 2);
    assert_int_equal(
        nn_stopping_init(&run->stopping, &run->model.arena, 3, &err),
        SOTTO_STATUS_OK);
}

static void
run_free(struct run *run)
{
    nn_stopping_clear(&run->stopping);
    model_free(&run->model);
}

static void
train(struct run *run, size_t steps)
{
    const struct nn_optimiser o = {
        .rate = 0.01F, .schedule = NN_SCHEDULE_COSINE, .steps = 100};
    for (size_t i = 0; i < steps; i++) {
        run->progress.loss = model_loss(&run->model, cpu[0], false);
        nn_step(&o, cpu[0], &run->model.arena);
        (void)nn_stopping_score(&run->stopping, &run->model.arena,
                                run->progress.loss);
        run->progress.epoch++;
    }
}

static enum sotto_status
keep(const struct run *run)
{
    return nn_checkpoint_write(in_folder("c"), "key \xc3\xa9 1",
                               &run->model.arena, &run->stopping,
                               &run->progress, &err);
}

static enum sotto_status
take(struct run *run, const char *key, bool *found)
{
    return nn_checkpoint_read(in_folder("c"), key, &run->model.arena,
                              &run->stopping, &run->progress, found, &err);
}

static void
assert_same_run(const struct run *a, const struct run *b)
{
    size_t size = a->model.arena.size;
    assert_int_equal(a->model.arena.step, b->model.arena.step);
    assert_same(a->model.arena.value, b->model.arena.value, size);
    assert_same(a->model.arena.first, b->model.arena.first, size);
    assert_same(a->model.arena.second, b->model.arena.second, size);
    assert_same(a->stopping.kept, b->stopping.kept, size);
    assert_memory_equal(&a->stopping.best, &b->stopping.best, sizeof(double));
    assert_int_equal(a->stopping.since, b->stopping.since);
    assert_int_equal(a->stopping.patience, b->stopping.patience);
    assert_int_equal(a->progress.epoch, b->progress.epoch);
    assert_memory_equal(&a->progress.loss, &b->progress.loss, sizeof(double));
}

static int
setup(void **state)
{
    (void)state;
    memset(&err, 0xa5, sizeof err);
    return scratch_make();
}

/* ---- Going on ----------------------------------------------------------- */

static void
test_going_on(void **state)
{
    struct run whole;
    struct run stopped;
    struct run resumed;
    bool found = false;
    (void)state;
    run_make(&whole);
    train(&whole, 30);
    run_make(&stopped);
    train(&stopped, 17);
    assert_int_equal(keep(&stopped), SOTTO_STATUS_OK);
    run_make(&resumed);
    assert_int_equal(take(&resumed, "key \xc3\xa9 1", &found), SOTTO_STATUS_OK);
    assert_true(found);
    assert_same_run(&resumed, &stopped);
    train(&resumed, 13);
    assert_same_run(&resumed, &whole);
    run_free(&resumed);
    run_free(&stopped);
    run_free(&whole);
}

/* Before the first score, the best one is infinite. */
static void
test_fresh(void **state)
{
    struct run fresh;
    struct run other;
    bool found = false;
    (void)state;
    run_make(&fresh);
    run_make(&other);
    train(&other, 3);
    fresh.stopping.since = 2;
    assert_int_equal(keep(&fresh), SOTTO_STATUS_OK);
    assert_int_equal(take(&other, "key \xc3\xa9 1", &found), SOTTO_STATUS_OK);
    assert_true(found);
    assert_true(isinf(other.stopping.best));
    assert_same_run(&other, &fresh);
    run_free(&other);
    run_free(&fresh);
}

static void
test_no_stopping(void **state)
{
    struct run run;
    struct nn_progress progress = {0};
    bool found = false;
    (void)state;
    run_make(&run);
    train(&run, 2);
    assert_int_equal(nn_checkpoint_write(in_folder("c"), "k", &run.model.arena,
                                         NULL, &run.progress, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(nn_checkpoint_read(in_folder("c"), "k", &run.model.arena,
                                        NULL, &progress, &found, &err),
                     SOTTO_STATUS_OK);
    assert_true(found);
    assert_int_equal(progress.epoch, 2);
    run_free(&run);
}

/* ---- What is not taken -------------------------------------------------- */

static void
test_another(void **state)
{
    struct run run;
    struct run before;
    bool found = true;
    (void)state;
    run_make(&run);
    run_make(&before);
    assert_int_equal(take(&run, "key", &found), SOTTO_STATUS_OK);
    assert_false(found);
    train(&run, 2);
    assert_int_equal(keep(&run), SOTTO_STATUS_OK);
    run_free(&run);
    run_make(&run);
    found = true;
    assert_int_equal(take(&run, "another key", &found), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, in_folder("c")));
    assert_non_null(strstr(err.message, "other options or other data"));
    assert_non_null(strstr(err.message, "remove it to start over"));
    assert_true(found); /* untouched */
    assert_same_run(&run, &before);
    run_free(&before);
    run_free(&run);
}

/* Any byte that changes is seen; and nothing is handed out. */
static void
test_damage(void **state)
{
    struct run run;
    struct run before;
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    run_make(&run);
    run_make(&before);
    train(&run, 2);
    assert_int_equal(keep(&run), SOTTO_STATUS_OK);
    assert_int_equal(
        host_file_read(in_folder("c"), (size_t)1 << 20, &data, &size, &err),
        SOTTO_STATUS_OK);
    for (size_t at = 0; at < size; at += at < 400 ? 3 : 97) {
        bool found = false;
        run_free(&run);
        run_make(&run);
        data[at] ^= 0x10;
        assert_int_equal(
            host_file_write(in_folder("c"), 0600, false, data, size, &err),
            SOTTO_STATUS_OK);
        data[at] ^= 0x10;
        enum sotto_status status = take(&run, "key \xc3\xa9 1", &found);
        assert_false(found);
        if (status != SOTTO_STATUS_INPUT) { /* the key itself */
            assert_int_equal(status, SOTTO_STATUS_FORMAT);
            assert_non_null(
                strstr(err.message, "is damaged: remove it to start over"));
        }
        assert_same_run(&run, &before);
    }
    free(data);
    run_free(&before);
    run_free(&run);
}

static void
test_cut(void **state)
{
    struct run run;
    bool found = true;
    (void)state;
    run_make(&run);
    assert_int_equal(keep(&run), SOTTO_STATUS_OK);
    assert_int_equal(truncate(in_folder("c"), 1500), 0);
    assert_int_equal(take(&run, "key \xc3\xa9 1", &found), SOTTO_STATUS_FORMAT);
    assert_int_equal(truncate(in_folder("c"), 0), 0);
    assert_int_equal(take(&run, "key \xc3\xa9 1", &found), SOTTO_STATUS_FORMAT);
    assert_int_equal(nn_checkpoint_read(in_folder("c"), "k", &run.model.arena,
                                        NULL, &run.progress, &found, NULL),
                     SOTTO_STATUS_FORMAT);
    assert_true(found);
    run_free(&run);
}

/* The same key with other layers: not this run's. */
static void
test_other_shape(void **state)
{
    const struct layer other[] = {
        {.out = 30, .activation = ACTIVATION_NONE, .norm = false}};
    struct run run;
    struct model model;
    struct nn_progress progress;
    bool found = true;
    (void)state;
    run_make(&run);
    assert_int_equal(keep(&run), SOTTO_STATUS_OK);
    model_make(&model, 1, 4, other, 1);
    assert_int_equal(nn_checkpoint_read(in_folder("c"), "key \xc3\xa9 1",
                                        &model.arena, NULL, &progress, &found,
                                        &err),
                     SOTTO_STATUS_FORMAT);
    model_free(&model);
    run_free(&run);
}

/* ---- Failures ----------------------------------------------------------- */

static void
test_failures(void **state)
{
    struct run run;
    bool found = true;
    (void)state;
    run_make(&run);
    assert_int_equal(nn_checkpoint_write(in_folder("no/c"), "k",
                                         &run.model.arena, NULL, &run.progress,
                                         &err),
                     SOTTO_STATUS_IO);
    fail_alloc_at(1);
    assert_int_equal(keep(&run), SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(keep(&run), SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_int_equal(take(&run, "key \xc3\xa9 1", &found), SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    for (long n = 1; n <= count; n++) {
        fail_alloc_at(n);
        enum sotto_status status = take(&run, "key \xc3\xa9 1", &found);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
    }
    run_free(&run);
}

#define WITH_FOLDER(test)                                                      \
    cmocka_unit_test_setup_teardown(test, setup, scratch_tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(test_going_on),    WITH_FOLDER(test_fresh),
        WITH_FOLDER(test_no_stopping), WITH_FOLDER(test_another),
        WITH_FOLDER(test_damage),      WITH_FOLDER(test_cut),
        WITH_FOLDER(test_other_shape), WITH_FOLDER(test_failures),
    };
    return cmocka_run_group_tests(tests, backends_make, backends_free);
}
