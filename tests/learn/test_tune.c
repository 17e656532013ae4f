/*
 * test_tune.c: a plan's places, which nobody has two of; its rounds; and the
 * last estimate, which the choice does not bias.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/asking.h"
#include "learn/halving.h"
#include "learn/tune.h"

#define PEOPLE 4000u
#define PATHS                                                                  \
    {                                                                          \
        "one.sotto", "two.sotto"                                               \
    }

/* Two mechanisms and three values: six candidates. */
struct fixture {
    struct sotto_mechanism *mechanism[2];
    const char *path[2];
    struct sotto_setting grid[1];
    struct sotto_tune_options options;
};

static void
fixture_init(struct fixture *f)
{
    *f = (struct fixture){
        .mechanism = {open_line(DECIMAL_UNIT, DECIMAL_UNIT),
                      open_line(2 * DECIMAL_UNIT, DECIMAL_UNIT)},
        .path = PATHS,
        .grid = {{"epochs", "10,20,40"}}};
    f->options = (struct sotto_tune_options){.mechanism = f->mechanism,
                                             .path = f->path,
                                             .mechanisms = 2,
                                             .grid = f->grid,
                                             .grids = 1,
                                             .eps = "1",
                                             .train = 0.5,
                                             .final = 0.2};
}

static void
fixture_clear(struct fixture *f)
{
    sotto_mechanism_free(f->mechanism[0]);
    sotto_mechanism_free(f->mechanism[1]);
}

/* Answers of `reports` people, with that share. */
static struct sotto_right
answers(size_t reports, double share)
{
    return (struct sotto_right){.reports = reports, .share = share};
}

static void
test_grid(void **state)
{
    struct fixture f;
    struct sotto_tune *tune = NULL;
    struct sotto_tune_info info;
    struct sotto_tune_candidate candidate;
    (void)state;
    fixture_init(&f);
    must(sotto_tune_new(&f.options, &tune, &err));
    sotto_tune_info(tune, &info);
    assert_int_equal(info.candidates, 6);
    assert_int_equal(info.rounds, 3);
    assert_int_equal(info.questions, 2);
    assert_string_equal(info.campaign, "c");
    sotto_tune_candidate(tune, 4, &candidate);
    assert_int_equal(candidate.mechanism, 1);
    assert_string_equal(candidate.set[0].name, "epochs");
    assert_string_equal(candidate.set[0].value, "20");
    assert_true(candidate.left);
    sotto_tune_free(tune);
    fixture_clear(&f);
}

/* Over all stages together a person is asked at most once, and everybody is
   whose place comes; shares are as planned. */
static void
test_places(void **state)
{
    struct fixture f;
    struct sotto_tune *tune = NULL;
    struct sotto_tune_info info;
    size_t asked[PEOPLE] = {0}, stage[3] = {0};
    (void)state;
    fixture_init(&f);
    must(sotto_tune_new(&f.options, &tune, &err));
    for (sotto_tune_info(tune, &info); info.stage != SOTTO_TUNE_DONE;
         sotto_tune_info(tune, &info)) {
        for (size_t i = 0; i < PEOPLE; i++) {
            size_t place = sotto_tune_place(tune, &i, sizeof i);
            if (place != SIZE_MAX) {
                assert_true(place < info.questions);
                asked[i]++;
                stage[info.stage]++;
            }
        }
        for (size_t i = 0; i < info.questions; i++) {
            struct sotto_tune_question question;
            struct sotto_right right =
                answers(10 + info.round, 0.1 * (double)i);
            sotto_tune_question(tune, i, &question);
            sotto_tune_learnt(tune, question.mechanism, 10);
            sotto_tune_answered(tune, question.candidate, &right);
        }
        must(sotto_tune_next(tune, &err));
    }
    for (size_t i = 0; i < PEOPLE; i++) {
        assert_int_equal(asked[i], 1);
    }
    /* 6 deviations of a share: fails once in 10^9 */
    assert_true(fabs((double)stage[0] / PEOPLE - 0.5) <
                6 * sqrt(0.25 / PEOPLE));
    assert_true(fabs((double)stage[1] / PEOPLE - 0.3) <
                6 * sqrt(0.25 / PEOPLE));
    assert_int_equal(sotto_tune_next(tune, &err), SOTTO_STATUS_USAGE);
    sotto_tune_free(tune);
    fixture_clear(&f);
}

/* The worse half goes, and whoever was not heard stops it. */
static void
test_halves(void **state)
{
    static const double share[] = {0.1, 0.9, 0.5, 0.6, 0.2, 0.3};
    struct fixture f;
    struct sotto_tune *tune = NULL;
    struct sotto_right right;
    struct sotto_tune_info info;
    (void)state;
    fixture_init(&f);
    must(sotto_tune_new(&f.options, &tune, &err));
    assert_int_equal(sotto_tune_next(tune, &err), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "train-1"));
    sotto_tune_learnt(tune, 0, 5);
    sotto_tune_learnt(tune, 1, 5);
    must(sotto_tune_next(tune, &err));
    for (size_t i = 0; i < 5; i++) {
        right = answers(9, share[i]);
        sotto_tune_answered(tune, i, &right);
    }
    assert_int_equal(sotto_tune_next(tune, &err), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "round1-06"));
    right = answers(9, share[5]);
    right.simulated = 9;
    sotto_tune_answered(tune, 5, &right);
    assert_int_equal(sotto_tune_next(tune, &err), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "simulated"));
    right.simulated = 0;
    sotto_tune_answered(tune, 5, &right);
    must(sotto_tune_next(tune, &err)); /* 1, 3 and 2 */
    /* Answers of the round before are none of this one. */
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(sotto_tune_next(tune, &err), SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "nobody new"));
        right = answers(20, i == 2 ? 0.99 : share[i]);
        sotto_tune_answered(tune, i, &right);
    }
    must(sotto_tune_next(tune, &err)); /* 2 and 1 */
    for (size_t i = 1; i < 3; i++) {
        right = tune->candidate[i].right;
        right.reports = 30;
        sotto_tune_answered(tune, i, &right);
    }
    must(sotto_tune_next(tune, &err));
    sotto_tune_info(tune, &info);
    assert_int_equal(info.stage, SOTTO_TUNE_FINAL);
    assert_int_equal(info.winner, 2);
    sotto_tune_free(tune);
    fixture_clear(&f);
}

/* Of 16 candidates that are all right about 70% of people, the winner's own
   answers say more; the last ones do not. 400 tunings, of which each last
   estimate has a deviation of about 0.08: their mean is within 0.02 but once in
   2 million. */
static void
test_winner(void **state)
{
    struct fixture f;
    uint8_t right[16 * 10];
    double won = 0, last = 0;
    const size_t times = 400;
    size_t covered = 0;
    (void)state;
    fixture_init(&f);
    f.options.mechanisms = 1;
    f.grid[0].value = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16";
    for (size_t i = 0; i < sizeof right; i++) {
        right[i] = i % 10 < 7;
    }
    for (size_t i = 0; i < times; i++) {
        uint8_t key[TUNE_KEY_SIZE] = {(uint8_t)i, (uint8_t)(i >> 8)};
        struct sotto_tune *tune = NULL;
        must(tune_make(&f.options, key, &tune, &err));
        sotto_tune_learnt(tune, 0, 1);
        must(sotto_tune_next(tune, &err));
        must(tune_ask_all(tune, right, 10, 4000, i, &err));
        assert_int_equal(tune->stage, SOTTO_TUNE_DONE);
        won += tune->candidate[tune->order[0]].right.share / (double)times;
        last += tune->right.share / (double)times;
        covered += tune->right.low <= 0.7 && 0.7 <= tune->right.high ? 1 : 0;
        sotto_tune_free(tune);
    }
    print_message("winner %.4f, last %.4f, of 0.7; %zu of %zu intervals\n", won,
                  last, covered, times);
    assert_true(won > 0.72);
    assert_true(fabs(last - 0.7) < 0.02);
    assert_true(covered >= 360); /* 95%: fewer once in 10^5 */
    fixture_clear(&f);
}

static void
test_refusals(void **state)
{
    struct fixture f;
    struct sotto_tune *tune = NULL;
    (void)state;
    fixture_init(&f);
    f.options.eps = "0";
    assert_int_equal(sotto_tune_new(&f.options, &tune, &err),
                     SOTTO_STATUS_BUDGET);
    f.options.eps = "1";
    f.options.final = 0.5;
    assert_int_equal(sotto_tune_new(&f.options, &tune, &err),
                     SOTTO_STATUS_USAGE);
    f.options.final = 0.2;
    f.grid[0] = (struct sotto_setting){"speed", "1"};
    assert_int_equal(sotto_tune_new(&f.options, &tune, &err),
                     SOTTO_STATUS_USAGE);
    f.grid[0] = (struct sotto_setting){
        "epochs", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,"
                  "24,25,26,27,28,29,30,31,32,33"};
    assert_int_equal(sotto_tune_new(&f.options, &tune, &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "64 candidates"));
    f.grid[0].value = "1";
    sotto_mechanism_free(f.mechanism[1]);
    f.mechanism[1] = open_line(DECIMAL_UNIT, DECIMAL_UNIT);
    assert_int_equal(sotto_tune_new(&f.options, &tune, &err),
                     SOTTO_STATUS_INPUT);
    assert_null(tune);
    fixture_clear(&f);
}

static void
test_memory(void **state)
{
    struct fixture f;
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    fixture_init(&f);
    for (long n = 1; status == SOTTO_STATUS_MEMORY; n++) {
        struct sotto_tune *tune = NULL;
        fail_alloc_at(n);
        status = sotto_tune_new(&f.options, &tune, &err);
        fail_alloc_at(0);
        sotto_tune_free(tune);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    fixture_clear(&f);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),     cmocka_unit_test(test_places),
        cmocka_unit_test(test_halves),   cmocka_unit_test(test_winner),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
