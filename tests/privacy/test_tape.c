/*
 * test_tape.c: the primitives on a tape: every branch, its exact probability,
 * and what a sampler may not do.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "privacy/tape.h"
#include "random/draw.h"

#define HALF (UINT64_C(1) << 55) /* of 2^56 */

/* S_1 = 3/4, S_2 = 1/4, S_3 = 2^-256; the rest zero. */
static struct draw_threshold table[DRAW_FULL];

static int
fill_table(void **state)
{
    (void)state;
    memset(table, 0, sizeof table);
    table[0].high = HALF + HALF / 2;
    table[1].high = HALF / 2;
    table[2].low[0] = 1;
    return 0;
}

static struct draw_tables tables;

static uint32_t
sample_below(struct random *random)
{
    return draw_below(random, 5);
}

static uint32_t
sample_bernoulli(struct random *random)
{
    return draw_bernoulli(random, 1, 3);
}

static uint32_t
sample_symbol(struct random *random)
{
    draw_tables(random, table, DRAW_FULL, &tables);
    return draw_symbol(random, &tables, 0, DRAW_FULL);
}

static uint32_t
sample_under(struct random *random)
{
    draw_tables(random, table, DRAW_FULL, &tables);
    return draw_under(random, &tables, 0, 1);
}

/* The outcomes of one draw come in order, each with its probability. */
static void
check_one(uint32_t (*sample)(struct random *), uint32_t branches,
          const double *expected)
{
    struct tape *tape = tape_new();
    struct random random;
    uint32_t count = 0;
    do {
        uint32_t outcome;
        tape_random(tape, &random);
        outcome = sample(&random);
        assert_int_equal(outcome, count);
        assert_null(tape_fault(tape));
        assert_int_equal(tape_steps(tape), 1);
        mpq_t p;
        mpq_init(p);
        mpz_set(mpq_numref(p), tape_numerator(tape));
        mpz_set(mpq_denref(p), tape_denominator(tape));
        assert_true(fabs(mpq_get_d(p) / expected[outcome] - 1) < 1e-15);
        mpq_clear(p);
        count++;
    } while (tape_next(tape));
    assert_int_equal(count, branches);
    tape_free(tape);
}

static void
test_each_primitive_takes_every_choice(void **state)
{
    static const double fifth[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    static const double third[] = {2.0 / 3, 1.0 / 3};
    static const double symbol[] = {0.25, 0.5, 0.25, 0x1p-256};
    static const double under[] = {0.25, 0.75};
    (void)state;
    check_one(sample_below, 5, fifth);
    check_one(sample_bernoulli, 2, third);
    check_one(sample_symbol, 4, symbol);
    check_one(sample_under, 2, under);
}

/* Index 0 is certain, an index past the thresholds in use impossible. */
static void
test_under_at_its_ends(void **state)
{
    struct tape *tape = tape_new();
    struct random random;
    (void)state;
    tape_random(tape, &random);
    draw_tables(&random, table, DRAW_FULL, &tables);
    assert_int_equal(draw_under(&random, &tables, 0, 0), 1);
    assert_int_equal(mpz_cmp(tape_numerator(tape), tape_denominator(tape)), 0);
    assert_false(tape_next(tape));
    tape_random(tape, &random);
    assert_int_equal(draw_under(&random, &tables, 0, DRAW_FULL), 0);
    assert_false(tape_next(tape));
    assert_null(tape_fault(tape));
    tape_free(tape);
}

/* Depth first, all probabilities adding up to one. */
static void
test_branches_of_several_draws(void **state)
{
    struct tape *tape = tape_new();
    uint64_t shape = 0;
    uint32_t branches = 0;
    mpz_t sum, whole;
    (void)state;
    mpz_inits(sum, whole, NULL);
    do {
        struct random random;
        tape_random(tape, &random);
        (void)sample_below(&random);
        (void)sample_symbol(&random);
        (void)sample_bernoulli(&random);
        mpz_add(sum, sum, tape_numerator(tape));
        mpz_set(whole, tape_denominator(tape));
        assert_true(branches == 0 || shape == tape_shape(tape));
        shape = tape_shape(tape);
        branches++;
    } while (tape_next(tape));
    assert_int_equal(branches, 5 * 4 * 2);
    assert_int_equal(mpz_cmp(sum, whole), 0);
    mpz_clears(sum, whole, NULL);
    tape_free(tape);
}

static uint32_t
attempt(struct random *random, void *context, uint32_t place)
{
    uint32_t *kept = context;
    kept[place] = draw_below(random, 4);
    return kept[place] != 3;
}

static void
test_rejections_are_told(void **state)
{
    struct tape *tape = tape_new();
    uint32_t branches = 0, rejected = 0;
    (void)state;
    do {
        uint32_t kept[3];
        struct random random;
        tape_random(tape, &random);
        draw_accepted(&random, attempt, kept, 2, 100);
        assert_int_equal(tape_rejected(tape), kept[0] == 3 || kept[1] == 3);
        branches++;
        rejected += tape_rejected(tape);
    } while (tape_next(tape));
    assert_int_equal(branches, 16);
    assert_int_equal(rejected, 7);
    assert_null(tape_fault(tape));
    tape_free(tape);
}

static void
test_rewind(void **state)
{
    struct tape *tape = tape_new();
    struct random random;
    (void)state;
    tape_random(tape, &random);
    (void)draw_below(&random, 7);
    (void)draw_below(&random, 7);
    assert_true(tape_next(tape));
    tape_rewind(tape);
    assert_int_equal(tape_steps(tape), 0);
    assert_int_equal(mpz_cmp(tape_numerator(tape), tape_denominator(tape)), 0);
    tape_random(tape, &random);
    assert_int_equal(draw_below(&random, 3), 0); /* another draw is no fault */
    assert_null(tape_fault(tape));
    tape_free(tape);
}

/* What is drawn shows; a secret index does not. */
static void
test_shape(void **state)
{
    uint64_t shape[4];
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct tape *tape = tape_new();
        struct random random;
        tape_random(tape, &random);
        if (i < 2) {
            (void)draw_below(&random, 2 + i);
        } else {
            (void)draw_under(&random, &tables, 0, i);
        }
        shape[i] = tape_shape(tape);
        tape_free(tape);
    }
    assert_true(shape[0] != shape[1]);
    assert_true(shape[0] != shape[2]);
    assert_true(shape[2] == shape[3]);
}

/* ---- Faults -------------------------------------------------------------- */

static void
take_bytes(struct random *random, uint32_t run)
{
    (void)run;
    (void)random_u32(random);
}

static void
change_question(struct random *random, uint32_t run)
{
    (void)draw_below(random, 2 + run);
}

static void
ask_less(struct random *random, uint32_t run)
{
    (void)draw_below(random, 2);
    if (run == 0) {
        (void)draw_below(random, 2);
    }
}

static void
draw_on(struct random *random, uint32_t run)
{
    (void)run;
    for (uint32_t i = 0; i <= TAPE_STEPS_MOST; i++) {
        (void)draw_below(random, 1);
    }
}

static void
draw_improper(struct random *random, uint32_t run)
{
    (void)run;
    (void)draw_bernoulli(random, 4, 3);
}

static void
draw_past_table(struct random *random, uint32_t run)
{
    (void)run;
    (void)draw_under(random, &tables, 0, DRAW_FULL + 1);
}

static void
draw_rising(struct random *random, uint32_t run)
{
    static const struct draw_threshold rising[DRAW_SMALL] = {{1, {0}},
                                                             {HALF, {0}}};
    struct draw_tables own;
    (void)run;
    draw_tables(random, rising, DRAW_SMALL, &own);
    (void)draw_symbol(random, &own, 0, DRAW_SMALL);
}

static void
test_each_fault_is_named(void **state)
{
    static const struct {
        void (*sample)(struct random *, uint32_t);
        const char *words;
    } fault[] = {
        {take_bytes, "past the exact primitives"},
        {change_question, "asked another question"},
        {ask_less, "asked fewer questions"},
        {draw_on, "without end"},
        {draw_improper, "no probability"},
        {draw_past_table, "no probability"},
        {draw_rising, "do not fall"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        struct tape *tape = tape_new();
        uint32_t run = 0;
        do {
            struct random random;
            tape_random(tape, &random);
            fault[i].sample(&random, run++);
        } while (tape_next(tape));
        assert_non_null(tape_fault(tape));
        if (strstr(tape_fault(tape), fault[i].words) == NULL) {
            fail_msg("'%s' is not '%s'", tape_fault(tape), fault[i].words);
        }
        tape_free(tape);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_primitive_takes_every_choice),
        cmocka_unit_test(test_under_at_its_ends),
        cmocka_unit_test(test_branches_of_several_draws),
        cmocka_unit_test(test_rejections_are_told),
        cmocka_unit_test(test_rewind),
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_each_fault_is_named),
    };
    return cmocka_run_group_tests(tests, fill_table, NULL);
}
