/*
 * test_mover.c: when windows end, what a life leaves to the next one, and what
 * is said when that fails; over a store that fails when it is told to.
 */
#include "fake_store.h"

/* Nothing of any window is left but what is held or released. */
static void
assert_clean_disk(void)
{
    assert_int_equal(fake.disk.open, 0);
    assert_int_equal(fake.disk.old, 0);
    assert_false(fake.disk.moving);
    assert_false(fake.dirty);
}

/* ---- Lives --------------------------------------------------------------- */

/* A stop ends the window, whatever the clock says. */
static void
test_stop(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    (void)state;
    assert_true(send_new(writer, 5));
    assert_int_equal(fake.disk.open, 5);
    writer_free(writer);
    assert_clean_disk();
    assert_int_equal(fake.disk.held, 5); /* fewer than batch_min */
    assert_int_equal(atomic_load(&metrics.windows), 1);
    options.mover.batch_min = 7;
    writer = start_settled(&options);
    assert_true(send_new(writer, 3));
    writer_free(writer);
    assert_clean_disk();
    assert_int_equal(fake.disk.released, 8);
    assert_int_equal(said("\n"), 0);
}

/* A window that moves and the one behind it: both. */
static void
test_stop_while_moving(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    (void)state;
    FAKE(fake.full = 40; fake.step_most = 1);
    assert_true(send_new(writer, 40));
    assert_true(send_new(writer, 10));
    writer_free(writer);
    assert_clean_disk();
    assert_int_equal(fake.disk.held, 50);
    assert_int_equal(atomic_load(&metrics.windows), 2);
}

/* A group that fills a window whose time is over: the store has ended it with
   the first reports, and the others are in the next one. */
static void
test_full_in_time(void **state)
{
    struct writer_options options = usual();
    const struct mover_step step = {
        .rows = 1, .end = true, .needed = true, .done = true};
    struct mover mover;
    (void)state;
    for (int took = 0; took < 2; took++) {
        mover_init(&mover, &options.mover, NULL);
        mover.took = true;
        assert_true(mover_stepped(&mover, &step, took == 1));
        assert_false(mover.took);
        assert_int_equal(mover.unknown, took == 1);
    }
}

/* What was refused is told as it was when the window ended, once it is moved:
   what is refused while it moves is the next one's. */
static void
test_refused_by_windows(void **state)
{
    struct writer_options options = usual();
    struct mover_step step = {.rows = 1, .end = true, .needed = true};
    struct mover mover;
    (void)state;
    mover_init(&mover, &options.mover, NULL);
    mover.moving = false;
    mover.took = true;
    atomic_store(&metrics.reports[JUDGE_HASH], 3);
    assert_false(mover_stepped(&mover, &step, false));
    assert_int_equal(atomic_load(&metrics.settled[JUDGE_HASH]), 0);
    atomic_store(&metrics.reports[JUDGE_HASH], 5);
    step = (struct mover_step){.rows = 1, .needed = true, .done = true};
    assert_true(mover_stepped(&mover, &step, true));
    assert_int_equal(atomic_load(&metrics.settled[JUDGE_HASH]), 3);
    assert_int_equal(atomic_load(&metrics.windows), 1);
    step = (struct mover_step){
        .rows = 1, .end = true, .needed = true, .done = true};
    assert_true(mover_stepped(&mover, &step, false));
    assert_int_equal(atomic_load(&metrics.settled[JUDGE_HASH]), 5);
}

/* There is an end to it: the next life goes on. */
static void
test_stop_in_time(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    options.stop_s = 0.1; /* of 1.2 that it needs */
    writer = start_settled(&options);
    assert_true(send_new(writer, 60));
    FAKE(fake.step_most = 1; fake.step_ns = 20000000);
    writer_free(writer);
    assert_true(fake.disk.moving);
    assert_true(fake.disk.left > 0 && fake.disk.left < 60);
    assert_int_equal(said("stopped before the last reports were moved on"), 1);
    fake.step_ns = 0;
    writer = start(&options);
    FAKE_UNTIL(!fake.disk.moving && fake.disk.held == 60);
    writer_free(writer);
    assert_clean_disk();
    assert_int_equal(said("\n"), 1);
}

/* What fails is not tried for ever when it stops. */
static void
test_stop_fails(void **state)
{
    struct writer_options options = usual();
    double begun = host_seconds();
    (void)state;
    options.stop_s = 60;
    for (int what = 0; what < 4; what++) {
        struct writer *writer;
        (void)set_up(NULL);
        writer = start_settled(&options);
        assert_true(send_new(writer, 5));
        FAKE(fake.fail_begin = what == 0; fake.fail_move = what == 1;
             fake.fail_moved_commit = what == 2;
             fake.scrub_status =
                 what == 3 ? SOTTO_STATUS_FORMAT : SOTTO_STATUS_OK);
        writer_free(writer);
        assert_int_equal(fake.disk.open, what < 3 ? 5 : 0);
        assert_int_equal(fake.disk.ids, 5);
        assert_int_equal(said("not moved on"), what < 3);
        assert_int_equal(said("stopped before"), 1);
        assert_int_equal(said("\n"), 2);
    }
    assert_true(host_seconds() - begun < 50);
}

/* What a kill left is moved on when it starts again, at once. */
static void
test_start(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    fake.disk.open = 5;
    fake.dirty = true;
    writer = start(&options);
    FAKE_UNTIL(fake.disk.held == 5 && !fake.dirty);
    assert_clean_disk();
    assert_int_equal(atomic_load(&metrics.windows), 1);
    writer_free(writer);

    (void)set_up(NULL);
    fake.disk =
        (struct fake_state){.open = 4, .old = 3, .left = 1, .moving = true};
    fake.dirty = true;
    writer = start(&options);
    FAKE_UNTIL(fake.disk.held == 7 && !fake.dirty);
    assert_clean_disk();
    writer_free(writer);
    assert_int_equal(atomic_load(&metrics.windows), 2);
    assert_int_equal(said("\n"), 0);
}

/* A life without reports has no window, and the log is looked at all the
   same. */
static void
test_start_empty(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    fake.disk.held = 7;
    fake.dirty = true;
    writer = start_settled(&options);
    assert_false(fake.dirty);
    pause_ns(20000000);
    writer_free(writer);
    assert_int_equal(atomic_load(&metrics.windows), 0);
    assert_int_equal(fake.disk.held, 7);
    assert_int_equal(fake.scrubs, 1);
}

/* ---- Windows ------------------------------------------------------------- */

/* By the clock; one that takes nothing new is none, and costs nothing. */
static void
test_clock(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    double begun;
    size_t begins;
    (void)state;
    options.mover.window_s = 1;
    begun = host_seconds();
    writer = start_settled(&options);
    assert_true(send_new(writer, 5));
    FAKE_UNTIL(fake.disk.held == 5 && !fake.dirty);
    assert_true(host_seconds() - begun >= 1);
    FAKE_UNTIL(atomic_load(&metrics.windows) == 1);
    FAKE(begins = fake.begins);
    atomic_store(&metrics.clean_at, 0);
    struct body body;
    serial -= 5;
    body_make(&body, writer, 5);
    body_submit(&body);
    body_wait(&body);
    assert_int_equal(body.judge.found[JUDGE_DUPLICATE], 5);
    judge_clear(&body.judge);
    FAKE_UNTIL(atomic_load(&metrics.clean_at) > 0);
    writer_free(writer);
    assert_int_equal(fake.begins, begins + 1);
    assert_int_equal(atomic_load(&metrics.windows), 1);
}

/* One that the store ends because it is full is moved on and scrubbed. */
static void
test_full(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    size_t scrubs;
    (void)state;
    FAKE(fake.full = 10; scrubs = fake.scrubs);
    assert_true(send_new(writer, 10));
    assert_true(send_new(writer, 3));
    FAKE_UNTIL(fake.disk.held == 10 && fake.scrubs > scrubs);
    assert_int_equal(fake.disk.open, 3);
    assert_int_equal(atomic_load(&metrics.windows), 1);
    writer_free(writer);
    assert_clean_disk();
    assert_int_equal(atomic_load(&metrics.windows), 2);
}

/* ---- What is said -------------------------------------------------------- */

/* A reader that may be gone in a moment is nothing to speak of. */
static void
test_reader_for_a_moment(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    fake.reader = true;
    options.mover.patience_s = 1e6;
    options.stop_s = 0;
    writer = start(&options);
    FAKE_UNTIL(fake.scrubs >= 3);
    assert_int_equal(said("\n"), 0);
    assert_false(atomic_load(&metrics.behind));
    writer_free(writer);
    assert_int_equal(said("stopped before"), 1);
}

static void
test_reader(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    fake.reader = true;
    options.mover.patience_s = 0.1;
    writer = start(&options);
    FAKE_UNTIL(said("a reader keeps the store's log from being cut") == 1);
    size_t scrubs = fake.scrubs;
    FAKE_UNTIL(fake.scrubs >= scrubs + 3);
    assert_true(atomic_load(&metrics.behind));
    assert_true(atomic_load(&metrics.healthy));
    assert_true(atomic_load(&metrics.scrub_failures) >= 4);
    assert_int_equal(said("\n"), 1);
    atomic_store(&metrics.clean_at, 0);
    assert_true(send_new(writer, 3));
    FAKE(fake.reader = false);
    FAKE_UNTIL(said("clean again") == 1);
    assert_false(atomic_load(&metrics.behind));
    assert_true(atomic_load(&metrics.clean_at) > 0);
    writer_free(writer);
    assert_int_equal(said("\n"), 2);
}

/* Something else has written to the store: that does not go away by itself. */
static void
test_dirty(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    fake.scrub_status = SOTTO_STATUS_FORMAT;
    options.mover.patience_s = 0.02;
    writer = start(&options);
    FAKE_UNTIL(fake.scrubs >= 5);
    assert_int_equal(said("may still tell how reports came: the fake is dirty"),
                     1);
    assert_int_equal(said("\n"), 1);
    assert_true(atomic_load(&metrics.behind));
    FAKE(fake.scrub_status = SOTTO_STATUS_OK);
    FAKE_UNTIL(said("clean again") == 1);
    assert_false(atomic_load(&metrics.behind));
    writer_free(writer);
    assert_int_equal(said("\n"), 2);
}

/* A store that cannot even begin is asked again after a while, not all the
   time. */
static void
test_pause(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    double begun = host_seconds();
    size_t begins;
    (void)state;
    fake.fail_begin = true;
    options.mover.again_s = 0.05;
    writer = start(&options);
    FAKE_UNTIL(said("not moved on") == 1);
    pause_ns(200000000);
    FAKE(begins = fake.begins);
    assert_true((double)begins <= 1 + (host_seconds() - begun) / 0.05);
    FAKE(fake.fail_begin = false);
    FAKE_UNTIL(said("moved on again") == 1);
    writer_free(writer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_stop, set_up),
        cmocka_unit_test_setup(test_stop_while_moving, set_up),
        cmocka_unit_test_setup(test_full_in_time, set_up),
        cmocka_unit_test_setup(test_refused_by_windows, set_up),
        cmocka_unit_test_setup(test_stop_in_time, set_up),
        cmocka_unit_test_setup(test_stop_fails, set_up),
        cmocka_unit_test_setup(test_start, set_up),
        cmocka_unit_test_setup(test_start_empty, set_up),
        cmocka_unit_test_setup(test_clock, set_up),
        cmocka_unit_test_setup(test_full, set_up),
        cmocka_unit_test_setup(test_reader_for_a_moment, set_up),
        cmocka_unit_test_setup(test_reader, set_up),
        cmocka_unit_test_setup(test_dirty, set_up),
        cmocka_unit_test_setup(test_pause, set_up),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
