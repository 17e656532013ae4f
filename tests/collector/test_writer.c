/*
 * test_writer.c: the thread that owns the store, over a store that fails when
 * it is told to.
 */
#include "fake_store.h"

#include "fail_alloc.h"

/* Nobody is told before the commit has returned. */
static void
test_on_disk_first(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    struct body body;
    (void)state;
    body_make(&body, writer, 3);
    FAKE(fake.hold = true);
    body_submit(&body);
    FAKE_UNTIL(fake.holding);
    pause_ns(30000000);
    assert_int_equal(atomic_load(&body.done), 0);
    assert_int_equal(fake.disk.ids, 0);
    assert_int_equal(atomic_load(&metrics.waiting), 3);
    FAKE(fake.hold = false);
    body_wait(&body);
    assert_true(body.job.stored);
    assert_int_equal(body.judge.found[JUDGE_ACCEPTED], 3);
    assert_int_equal(fake.disk.ids, 3);
    judge_clear(&body.judge);
    writer_free(writer);
    assert_int_equal(atomic_load(&metrics.waiting), 0);
}

/* While one group is being flushed the others wait, and share the next. */
static void
test_groups(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    static struct body body[5];
    size_t commits;
    (void)state;
    FAKE(fake.hold = true; commits = fake.commits);
    for (size_t i = 0; i < 5; i++) {
        body_make(&body[i], writer, 2);
        body_submit(&body[i]);
        FAKE_UNTIL(fake.holding);
    }
    FAKE(fake.hold = false);
    for (size_t i = 0; i < 5; i++) {
        body_wait(&body[i]);
        assert_true(body[i].job.stored);
        judge_clear(&body[i].judge);
    }
    assert_int_equal(fake.commits - commits, 2);
    assert_int_equal(atomic_load(&metrics.commits), 2);
    writer_free(writer);
}

/* After a failure that may pass it is well again, so that somebody tries; after
   one that does not pass it is not. */
static void
test_health(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    (void)state;
    options.sick_s = 0.05;
    writer = start_settled(&options);
    FAKE(fake.fail_begin = true);
    assert_false(send_new(writer, 1));
    FAKE_UNTIL(atomic_load(&metrics.healthy));
    FAKE(fake.fail_begin = false; fake.others = true);
    assert_false(send_new(writer, 1));
    pause_ns(200000000);
    assert_false(atomic_load(&metrics.healthy));
    FAKE(fake.others = false);
    assert_true(send_new(writer, 1));
    assert_true(atomic_load(&metrics.healthy));
    writer_free(writer);
}

/* Jobs of a campaign that another program closed are turned away, before or
   with the commit; the others of their group are stored, and all is well. */
static void
test_closed(void **state)
{
    struct writer_options options = usual();
    static struct body body[5];
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        assert_int_equal(set_up(NULL), 0);
        struct writer *writer = start_settled(&options);
        FAKE(fake.hold = true);
        for (size_t i = 0; i < 5; i++) { /* the first alone, then a group */
            body_make(&body[i], writer, 2);
            body[i].job.campaign = i % 2 == 0 ? 2 : 1;
            body_submit(&body[i]);
            FAKE_UNTIL(fake.holding);
        }
        FAKE(fake.closed = late == 0 ? 1 : 0; fake.closing = late == 0 ? 0 : 1;
             fake.hold = false);
        for (size_t i = 0; i < 5; i++) {
            bool stored = i % 2 == 0;
            body_wait(&body[i]);
            assert_int_equal(body[i].job.stored, stored);
            assert_int_equal(body[i].job.closed, !stored);
            assert_int_equal(body[i].judge.found[JUDGE_ACCEPTED],
                             stored ? 2 : 0);
            judge_clear(&body[i].judge);
        }
        assert_int_equal(fake.disk.ids, 6);
        assert_true(atomic_load(&metrics.healthy));
        assert_int_equal(atomic_load(&metrics.failures), 0);
        assert_int_equal(said("windows-stuck"), 0);
        writer_free(writer);
    }
}

/* A flush that fails: nothing of it counts, and it is said once. */
static void
test_fails(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    (void)state;
    FAKE(fake.fail_commit = 1);
    assert_false(send_new(writer, 3));
    assert_false(atomic_load(&metrics.healthy));
    FAKE(fake.fail_put = true);
    assert_false(send_new(writer, 3));
    FAKE(fake.fail_put = false; fake.fail_begin = true);
    assert_false(send_new(writer, 3));
    FAKE(fake.fail_begin = false);
    assert_int_equal(said("the store takes nothing: the fake fails to commit"),
                     1);
    assert_int_equal(said("\n"), 1);
    serial -= 3; /* the same again */
    assert_true(send_new(writer, 3));
    assert_true(atomic_load(&metrics.healthy));
    assert_int_equal(said("takes reports again"), 1);
    assert_int_equal(said("\n"), 2);
    assert_int_equal(atomic_load(&metrics.failures), 3);
    assert_int_equal(atomic_load(&metrics.commits), 1);
    assert_int_equal(atomic_load(&metrics.move_failures), 0);
    writer_free(writer);
}

/* A move fails, as the fake was told, with every one of 20 groups. */
static void
check_without_move(const char *why)
{
    struct writer_options options = usual();
    struct writer *writer;
    options.mover.again_s = 0; /* it is tried with every group */
    fake.disk.open = 5;        /* of an earlier life */
    writer = start(&options);
    for (size_t i = 1; i <= 20; i++) {
        assert_true(send_new(writer, 3));
    }
    assert_true(atomic_load(&metrics.healthy));
    assert_true(atomic_load(&metrics.behind));
    assert_true(atomic_load(&metrics.move_failures) >= 20);
    assert_int_equal(atomic_load(&metrics.failures), 0);
    assert_int_equal(atomic_load(&metrics.windows), 0);
    assert_int_equal(said("windows are not moved on"), 1);
    assert_int_equal(said(why), 1);
    assert_int_equal(said("\n"), 1);
    FAKE(fake.fail_move = fake.fail_moved_commit = false);
    FAKE_UNTIL(said("windows are moved on again") == 1);
    assert_false(atomic_load(&metrics.behind));
    writer_free(writer);
    assert_int_equal(said("\n"), 2);
    assert_int_equal(fake.disk.held, 65);
}

/* The group is written without the move, all of it, and the move is said to
   fail. */
static void
test_without_move(void **state)
{
    (void)state;
    fake.fail_move = true;
    check_without_move("fails to move; ");
    (void)set_up(NULL);
    fake.fail_moved_commit = true;
    check_without_move("fails to commit; ");
}

/* It is the disk that takes nothing, and not the move that fails, if the group
   is not written without it either. */
static void
test_nothing_at_all(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    bool moving;
    (void)state;
    fake.disk.open = 500;
    fake.step_most = 1;
    fake.step_ns = 1000000; /* so that it lasts */
    fake.fail_commit = 2;
    writer = start(&options);
    FAKE_UNTIL(fake.disk.moving && fake.disk.left < 499);
    assert_false(send_new(writer, 2));
    FAKE(moving = fake.disk.moving);
    assert_true(moving);
    assert_int_equal(fake.fail_commit, 0);
    assert_int_equal(said("takes nothing"), 1);
    assert_true(send_new(writer, 2));
    FAKE(fake.step_ns = 0);
    writer_free(writer);
    assert_int_equal(said("not moved on"), 0);
    assert_int_equal(atomic_load(&metrics.move_failures), 0);
    assert_int_equal(atomic_load(&metrics.windows), 2);
    assert_int_equal(fake.disk.held, 502);
}

/* A window that is full is ended by the store, and that may fail, too. */
static void
test_full_without_move(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    (void)state;
    FAKE(fake.full = 2);
    assert_true(send_new(writer, 2));
    FAKE(fake.fail_move = true);
    assert_true(send_new(writer, 2));
    assert_int_equal(said("windows are not moved on"), 1);
    FAKE(fake.fail_move = false);
    FAKE_UNTIL(!fake.disk.moving && fake.disk.held == 2);
    FAKE_UNTIL(said("windows are moved on again") == 1);
    writer_free(writer);
    assert_int_equal(atomic_load(&metrics.windows), 2);
    assert_int_equal(fake.disk.held, 4);
}

/* In the writer's thread: once more, so that the queue is never empty. */
static void
again(struct writer_job *job)
{
    struct body *body = (struct body *)job;
    if (!job->stored && body->tries-- > 0) {
        body_submit(body);
    } else {
        body_done(job);
    }
}

/* A store that takes no group until a window is moved on, and groups without an
   end: the window is moved on. */
static void
test_makes_room(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    struct body body;
    (void)state;
    options.mover.again_s = 0;
    fake.disk =
        (struct fake_state){.open = 4, .old = 4, .left = 4, .moving = true};
    fake.full = 2;
    fake.fail_move = true;
    writer = start(&options);
    FAKE_UNTIL(fake.begins > 2);
    body_make(&body, writer, 1);
    body.tries = 1000;
    body.job.done = again;
    FAKE(fake.fail_begin = true); /* until it has come */
    body_submit(&body);
    FAKE(fake.fail_move = fake.fail_begin = false);
    body_wait(&body);
    assert_true(body.job.stored);
    judge_clear(&body.judge);
    writer_free(writer);
}

/* No more than so many wait, and never a negative number of them. */
static void
test_waiting_most(void **state)
{
    struct writer_options options = usual();
    struct writer *writer;
    struct body first, second;
    (void)state;
    options.waiting_most = 10;
    writer = start_settled(&options);
    assert_false(writer_reserve(writer, 11));
    assert_true(writer_reserve(writer, 6));
    assert_false(writer_reserve(writer, 5));
    assert_false(writer_reserve(writer, SIZE_MAX));
    assert_true(writer_reserve(writer, 4));
    assert_false(writer_reserve(writer, 1));
    body_make(&first, writer, 6);
    body_make(&second, writer, 4);
    writer_submit(writer, &first.job);
    writer_submit(writer, &second.job);
    writer_drain(writer);
    assert_true(first.job.stored && second.job.stored);
    assert_false(writer_reserve(writer, 1)); /* it is closing */
    judge_clear(&first.judge);
    judge_clear(&second.judge);
    writer_free(writer);
    assert_int_equal(fake.disk.ids, 10);
}

/* Campaigns get their number, and their counts when a window is moved on. */
static void
test_campaigns(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = start_settled(&options);
    struct campaigns *campaigns = NULL;
    (void)state;
    assert_int_equal(
        campaigns_from("m", fixture_open(&fixture_plain), "", &campaigns, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(writer_campaigns(writer, campaigns, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(campaigns->campaign[0].number, 1);
    FAKE(fake.full = 4);
    assert_true(send_new(writer, 4));
    assert_true(send_new(writer, 1));
    FAKE_UNTIL(fake.disk.held == 4);
    FAKE_UNTIL(atomic_load(&campaigns->campaign[0].waiting) == 5);
    /* A count that fails is tried again by itself, without another window. */
    FAKE(fake.fail_count = 30; fake.disk.held += 2);
    assert_int_equal(writer_campaigns(writer, campaigns, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(atomic_load(&campaigns->campaign[0].waiting), 5);
    FAKE_UNTIL(atomic_load(&campaigns->campaign[0].waiting) == 7);
    writer_free(writer);
    campaigns_release(campaigns);
}

static void
test_no_memory(void **state)
{
    struct writer_options options = usual();
    struct writer *writer = NULL;
    (void)state;
    for (long n = 1; n <= 2; n++) {
        fail_alloc_at(n);
        assert_int_equal(writer_new(&options, &writer, &err),
                         SOTTO_STATUS_MEMORY);
        fail_alloc_at(0);
        assert_null(writer);
    }
    options.store = "elsewhere";
    assert_int_equal(writer_new(&options, &writer, &err), SOTTO_STATUS_USAGE);
    assert_null(writer);
    writer_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_on_disk_first, set_up),
        cmocka_unit_test_setup(test_groups, set_up),
        cmocka_unit_test_setup(test_closed, set_up),
        cmocka_unit_test_setup(test_health, set_up),
        cmocka_unit_test_setup(test_fails, set_up),
        cmocka_unit_test_setup(test_without_move, set_up),
        cmocka_unit_test_setup(test_nothing_at_all, set_up),
        cmocka_unit_test_setup(test_full_without_move, set_up),
        cmocka_unit_test_setup(test_makes_room, set_up),
        cmocka_unit_test_setup(test_waiting_most, set_up),
        cmocka_unit_test_setup(test_campaigns, set_up),
        cmocka_unit_test_setup(test_no_memory, set_up),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
