/*
 * test_task_learnt_aim.c: targets and weights, from a table to y and its
 * blocks.
 */
#include "encoder/task_learnt.h"

#include "fail_alloc.h"
#include "task_learnt_fixture.h"

struct aimed {
    struct task_asked asked;
    struct sotto_table *table;
    struct task_aim aim;
    struct encoder_job job;
    struct learnt learnt;
};

static const struct learnt_settings common = {
    .label_channel = "flip", .d = 2, .steps = 4096};

/* Up to x; y is left. */
static enum sotto_status
aim_at(struct aimed *aimed, const char *text)
{
    enum sotto_status status;
    aimed->asked.options.set = aimed->asked.set;
    aimed->asked.options.sets = aimed->asked.sets;
    aimed->asked.options.eps = "2";
    must(sotto_table_parse(text, strlen(text), "-", NULL, &aimed->table, &err));
    status = task_aim_read(&aimed->aim, &aimed->asked.options, &err);
    if (status == SOTTO_STATUS_OK) {
        status = task_aim_find(&aimed->aim, aimed->table, &aimed->asked.options,
                               &err);
    }
    if (status == SOTTO_STATUS_OK) {
        aimed->asked.options.drop = aimed->aim.drop;
        aimed->asked.options.drops = aimed->aim.drops;
        aimed->job = (struct encoder_job){.encoder = &encoder_task,
                                          .table = aimed->table,
                                          .options = &aimed->asked.options};
        status = learnt_begin(&aimed->learnt, &aimed->job, &common, &err);
    }
    return status;
}

static void
aimed_clear(struct aimed *aimed)
{
    task_aim_clear(&aimed->aim);
    learnt_clear(&aimed->learnt);
    sotto_table_free(aimed->table);
}

static const char people_text[] = "n,c,t,u=3,k\n"
                                  "1,red,5,yes,8\n"
                                  "3,blue,7,no,6\n"
                                  "5,red,,yes,6\n"
                                  "7,red,9,,4\n";

static void
test_blocks(void **state)
{
    struct aimed aimed = {.table = NULL};
    const struct task_block *block;
    (void)state;
    ask(&aimed.asked, "target", "t=2");
    ask(&aimed.asked, "target", "u=3"); /* a name, not a weight */
    ask(&aimed.asked, "weights", "n=0.5,c=3");
    must(aim_at(&aimed, people_text));
    assert_int_equal(aimed.learnt.width, 1 + 3 + 1); /* n, c, k */
    must(task_aim_fill(&aimed.aim, &aimed.learnt, 0, &err));
    assert_string_equal(aimed.aim.words, "target t=2,u=3; weights n=0.5,c=3");
    assert_int_equal(aimed.aim.out, 1 + 3);
    assert_int_equal(aimed.aim.blocks, 2);
    block = aimed.aim.block;
    assert_int_equal(block[0].likelihood, ANALYST_GAUSSIAN);
    assert_int_equal(block[0].from, 0);
    assert_int_equal(block[0].count, 1);
    assert_true(block[0].weight == 2);
    assert_int_equal(block[1].likelihood, ANALYST_CATEGORICAL);
    assert_int_equal(block[1].from, 1);
    assert_int_equal(block[1].count, 3);
    assert_true(block[1].weight == 1);
    block = aimed.aim.rebuilt;
    assert_int_equal(aimed.aim.rebuilts, 2);
    assert_int_equal(block[0].from, 0);
    assert_int_equal(block[0].count, 1);
    assert_true(fabs(block[0].weight - 0.25) < 1e-6); /* x has variance 1 */
    assert_int_equal(block[1].from, 1);
    assert_int_equal(block[1].count, 3);
    assert_true(block[1].weight == 9);
    /* t is 5, 7, 9 about 7, with a deviation of sqrt(8/3). */
    assert_true(fabs((double)aimed.aim.y[0] + 2 / sqrt(8.0 / 3)) < 1e-6);
    assert_true(aimed.aim.y[4] == 0);
    assert_true(aimed.aim.y[1] == 0 && aimed.aim.y[2] == 1); /* no, yes */
    assert_true(aimed.aim.known[0] && aimed.aim.known[1]);
    assert_false(aimed.aim.known[2] || aimed.aim.known[3]);
    aimed_clear(&aimed);
}

/* A number's weight is per variance of x, whatever x's scale. */
static void
test_variance(void **state)
{
    struct aimed aimed = {.table = NULL};
    (void)state;
    ask(&aimed.asked, "weights", "n=4");
    must(aim_at(&aimed, people_text));
    for (size_t i = 0; i < aimed.learnt.n; i++) {
        aimed.learnt.x[i * aimed.learnt.width] *= 10;
    }
    must(task_aim_fill(&aimed.aim, &aimed.learnt, 0, &err));
    assert_true(fabs(aimed.aim.rebuilt[0].weight - 0.16) < 1e-7);
    assert_int_equal(aimed.aim.blocks, 0);
    assert_null(aimed.aim.y);
    aimed_clear(&aimed);
}

/* A target that is the label is not dropped: it is sent beside x. */
static void
test_label(void **state)
{
    struct aimed aimed = {.table = NULL};
    (void)state;
    aimed.asked.options.label = "c";
    ask(&aimed.asked, "target", "c");
    must(aim_at(&aimed, people_text));
    assert_int_equal(aimed.aim.drops, 0);
    assert_int_equal(aimed.learnt.label, 1);
    must(task_aim_fill(&aimed.aim, &aimed.learnt, 0, &err));
    assert_int_equal(aimed.aim.out, 3);
    assert_true(aimed.aim.y[1] == 1); /* blue, red, other */
    aimed_clear(&aimed);
}

/* A target that is the same for everybody who has it. */
static void
test_same(void **state)
{
    static const char text[] = "n,a,b\n1,4,x\n2,4,x\n3,,\n4,4,x\n";
    static const char *const target[] = {"a", "b"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct aimed aimed = {.table = NULL};
        ask(&aimed.asked, "target", target[i]);
        must(aim_at(&aimed, text));
        must_fail(SOTTO_STATUS_USAGE, "is the same in all rows",
                  task_aim_fill(&aimed.aim, &aimed.learnt, 0, &err));
        aimed_clear(&aimed);
    }
}

/* Variance of numbers, entropy of categories, as far as rows say. */
static void
test_constant(void **state)
{
    static const uint32_t row[] = {0, 1, 2, 3}, two[] = {0, 1};
    struct aimed aimed = {.table = NULL};
    double loss;
    (void)state;
    ask(&aimed.asked, "target", "c=2");
    ask(&aimed.asked, "target", "k=3");
    ask(&aimed.asked, "weights", "n=5");
    must(aim_at(&aimed, people_text));
    must(task_aim_fill(&aimed.aim, &aimed.learnt, 0, &err));
    loss = task_aim_constant(&aimed.aim, &aimed.learnt, aimed.aim.y, row, 4);
    assert_true(fabs(loss - 2 * -(0.75 * log(0.75) + 0.25 * log(0.25)) - 3 -
                     25) < 1e-5);
    loss = task_aim_constant(&aimed.aim, &aimed.learnt, aimed.aim.y, two, 2);
    /* k: 8 and 6 of variance 2; n: 1 and 3 of variance 5 */
    assert_true(fabs(loss - 2 * log(2) - 3 * 1 / 2.0 - 25 * 1 / 5.0) < 1e-5);
    aimed_clear(&aimed);
}

/* A model's classes are a block without a y. */
static void
test_classes(void **state)
{
    struct aimed aimed = {.table = NULL};
    (void)state;
    ask(&aimed.asked, "weights", "n=1");
    must(aim_at(&aimed, people_text));
    must(task_aim_fill(&aimed.aim, &aimed.learnt, 4, &err));
    assert_int_equal(aimed.aim.out, 4);
    assert_int_equal(aimed.aim.block[0].count, 4);
    assert_int_equal(aimed.aim.block[0].likelihood, ANALYST_CATEGORICAL);
    assert_null(aimed.aim.y);
    assert_true(aimed.aim.known[2]);
    aimed_clear(&aimed);
}

/* Names of two-byte letters: wherever the words end, they are plain ASCII. */
static void
test_words(void **state)
{
    (void)state;
    for (size_t letters = 66; letters < 86; letters++) {
        for (size_t odd = 0; odd < 2; odd++) {
            struct aimed aimed = {.table = NULL};
            char name[200] = "a", text[256];
            size_t size = odd;
            for (size_t i = 0; i < letters; i++) {
                memcpy(name + size, "\xc3\xa9", 3);
                size += 2;
            }
            (void)snprintf(text, sizeof text, "n,%s\n1,2\n3,5\n5,4\n", name);
            ask(&aimed.asked, "target", name);
            must(aim_at(&aimed, text));
            const char *words = aimed.aim.words;
            size_t whole = strlen("target ") + size;
            assert_int_equal(strlen(words), whole < 160 ? whole : 159);
            assert_int_equal(strspn(words, "target ?."), strlen(words));
            assert_true((strstr(words, "...") != NULL) == (whole >= 160));
            aimed_clear(&aimed);
        }
    }
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    struct aimed whole = {.table = NULL};
    long n = 0;
    (void)state;
    ask(&whole.asked, "target", "t=2");
    ask(&whole.asked, "target", "u=3");
    ask(&whole.asked, "weights", "n=0.5");
    must(aim_at(&whole, people_text));
    do {
        struct task_aim aim = {0};
        fail_alloc_at(++n);
        status = task_aim_read(&aim, &whole.asked.options, &err);
        if (status == SOTTO_STATUS_OK) {
            status =
                task_aim_find(&aim, whole.table, &whole.asked.options, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = task_aim_fill(&aim, &whole.learnt, 0, &err);
        }
        task_aim_clear(&aim);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 12);
    aimed_clear(&whole);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),  cmocka_unit_test(test_variance),
        cmocka_unit_test(test_label),   cmocka_unit_test(test_constant),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_words),   cmocka_unit_test(test_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
