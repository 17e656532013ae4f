/*
 * test_draw.c: the primitives themselves, on bytes made up to lie on every
 * edge. No statistics: which integers lead to which outcome is checked against
 * GMP, and independence by going through every case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gmp.h>

#include "base/bytes.h"
#include "random/draw.h"
#include "random/seeded.h"

#define SCRIPT_MAX 512u
#define TAIL_WORDS 7u

/* A source that replays bytes; past their end it gives zeros. */
struct script {
    struct random random;
    uint8_t buffer[SCRIPT_MAX];
    uint8_t byte[SCRIPT_MAX];
    size_t size;
};

static int
replay(void *context, void *buffer, size_t size)
{
    const struct script *script = context;
    assert_int_equal(size, SCRIPT_MAX);
    memcpy(buffer, script->byte, size);
    return 0;
}

static void
script_init(struct script *script)
{
    memset(script, 0, sizeof *script);
    random_init(&script->random, script->buffer, SCRIPT_MAX, replay, script);
}

static void
script_add(struct script *script, size_t width, uint64_t value)
{
    assert_true(script->size + width <= SCRIPT_MAX);
    bytes_store(script->byte + script->size, width, value);
    script->size += width;
}

/* Bytes drawn so far. */
static size_t
script_used(const struct script *script)
{
    return script->random.next;
}

/* ---- draw_below -----------------------------------------------------------
 */

/* 96 bits, in the order draw_below takes them: lowest limb first. */
static void
add_uniform(struct script *script, mpz_srcptr u)
{
    mpz_t rest;
    mpz_init_set(rest, u);
    for (int i = 0; i < 3; i++) {
        script_add(script, 4, mpz_get_ui(rest) & UINT32_MAX);
        mpz_fdiv_q_2exp(rest, rest, 32);
    }
    assert_int_equal(mpz_sgn(rest), 0);
    mpz_clear(rest);
}

static void
check_accepted(uint32_t n, mpz_srcptr u, uint32_t outcome)
{
    struct script script;
    script_init(&script);
    add_uniform(&script, u);
    assert_int_equal(draw_below(&script.random, n), outcome);
    assert_int_equal(script_used(&script), DRAW_BELOW_SIZE);
    assert_false(script.random.failed);
}

/* u is refused and the next one, 2^96 - 1, taken: outcome n - 1. */
static void
check_rejected(uint32_t n, mpz_srcptr u)
{
    struct script script;
    mpz_t most;
    mpz_init_set_ui(most, 1);
    mpz_mul_2exp(most, most, 96);
    mpz_sub_ui(most, most, 1);
    script_init(&script);
    add_uniform(&script, u);
    add_uniform(&script, most);
    assert_int_equal(draw_below(&script.random, n), n - 1);
    assert_int_equal(script_used(&script), 2 * DRAW_BELOW_SIZE);
    mpz_clear(most);
}

/*
 * Outcome i is to have the u with i 2^96 + e <= u n < (i+1) 2^96, where
 * e = 2^96 mod n: floor(2^96 / n) of them, the same for every i. Their ends,
 * and the u between them and the last outcome's, are tried.
 */
static void
check_outcome(uint32_t n, uint32_t i)
{
    mpz_t whole, excess, first, last, count, before;
    mpz_inits(whole, excess, first, last, count, before, NULL);
    mpz_set_ui(whole, 1);
    mpz_mul_2exp(whole, whole, 96);
    mpz_mod_ui(excess, whole, n);
    mpz_mul_ui(first, whole, i);
    mpz_sub_ui(before, first, 1);
    mpz_fdiv_q_ui(before, before, n); /* the last u of i - 1; -1 for i = 0 */
    mpz_add(first, first, excess);
    mpz_cdiv_q_ui(first, first, n);
    mpz_mul_ui(last, whole, (uint64_t)i + 1);
    mpz_sub_ui(last, last, 1);
    mpz_fdiv_q_ui(last, last, n);
    mpz_fdiv_q_ui(count, whole, n);
    mpz_add(count, count, first);
    mpz_sub_ui(count, count, 1);
    assert_int_equal(mpz_cmp(count, last), 0);
    check_accepted(n, first, i);
    check_accepted(n, last, i);
    mpz_add_ui(before, before, 1);
    for (; mpz_cmp(before, first) < 0; mpz_add_ui(before, before, 1)) {
        check_rejected(n, before);
    }
    mpz_clears(whole, excess, first, last, count, before, NULL);
}

static void
test_below_is_uniform_at_every_boundary_of_small_n(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 130; n++) {
        for (uint32_t i = 0; i < n; i++) {
            check_outcome(n, i);
        }
    }
}

static void
test_below_is_uniform_at_boundaries_of_large_n(void **state)
{
    static const uint32_t n[] = {255,
                                 256,
                                 257,
                                 1000,
                                 65535,
                                 65536,
                                 65537,
                                 1000003,
                                 UINT32_C(0x7fffffff),
                                 UINT32_C(0x80000000),
                                 UINT32_C(0x80000001),
                                 UINT32_C(0xfffffffb),
                                 UINT32_MAX - 1,
                                 UINT32_MAX};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, 1, 0);
    for (size_t j = 0; j < sizeof n / sizeof n[0]; j++) {
        for (uint32_t i = 0; i < 40; i++) {
            check_outcome(n[j], i);
            check_outcome(n[j], n[j] - 1 - i);
            check_outcome(n[j], n[j] / 2 - 20 + i);
            check_outcome(n[j], random_u32(&seeded.random) % n[j]);
        }
    }
}

static void
test_below_gives_up_after_eight_rejections(void **state)
{
    struct script script;
    (void)state;
    script_init(&script); /* all zeros: u = 0, refused for n = 3 */
    assert_int_equal(draw_below(&script.random, 3), 0);
    assert_true(script.random.failed);
    assert_int_equal(script_used(&script), 8 * DRAW_BELOW_SIZE);
}

/* The last u of outcome m - 1 gives 1, the first of outcome m gives 0. */
static void
check_bernoulli(uint32_t numerator, uint32_t denominator, uint32_t outcome)
{
    struct script script;
    mpz_t u;
    mpz_init_set_ui(u, 1);
    mpz_mul_2exp(u, u, 96);
    mpz_mul_ui(u, u, outcome);
    mpz_cdiv_q_ui(u, u, denominator);
    mpz_add_ui(u, u, 1); /* past a rejection */
    script_init(&script);
    add_uniform(&script, u);
    assert_int_equal(draw_bernoulli(&script.random, numerator, denominator),
                     outcome < numerator);
    assert_int_equal(script_used(&script), DRAW_BELOW_SIZE);
    mpz_clear(u);
}

static void
test_bernoulli_counts_outcomes_below_its_numerator(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 20; n++) {
        for (uint32_t m = 0; m <= n; m++) {
            for (uint32_t i = 0; i < n; i++) {
                check_bernoulli(m, n, i);
            }
        }
    }
    check_bernoulli(UINT32_MAX, UINT32_MAX, UINT32_MAX - 1);
    check_bernoulli(UINT32_MAX - 1, UINT32_MAX, UINT32_MAX - 1);
    check_bernoulli(0, UINT32_MAX, 0);
}

/* ---- draw_symbol ----------------------------------------------------------
 */

/* high 2^200 + low, the threshold or the uniform times 2^256. */
static void
exact_value(uint64_t high, const uint32_t low[TAIL_WORDS], mpz_t ret)
{
    mpz_set_ui(ret, high);
    mpz_mul_2exp(ret, ret, 8);
    mpz_add_ui(ret, ret, low[6] & 0xff);
    for (int i = 5; i >= 0; i--) {
        mpz_mul_2exp(ret, ret, 32);
        mpz_add_ui(ret, ret, low[i]);
    }
}

/* How many thresholds lie above U, by GMP. */
static uint32_t
expected_symbol(const struct draw_threshold *threshold, uint32_t size,
                uint64_t u, const uint32_t tail[TAIL_WORDS])
{
    uint32_t above = 0;
    mpz_t uniform, value;
    mpz_inits(uniform, value, NULL);
    exact_value(u, tail, uniform);
    for (uint32_t i = 0; i < size; i++) {
        exact_value(threshold[i].high, threshold[i].low, value);
        above += mpz_cmp(uniform, value) < 0;
    }
    mpz_clears(uniform, value, NULL);
    return above;
}

static void
add_tail(struct script *script, const uint32_t tail[TAIL_WORDS])
{
    for (uint32_t i = 0; i < TAIL_WORDS; i++) {
        script_add(script, 4, tail[i]);
    }
}

/* low, moved by -1, 0 or 1, modulo 2^208; with dirt where it must not matter */
static void
move_tail(const uint32_t low[TAIL_WORDS], int by, uint32_t ret[TAIL_WORDS])
{
    int64_t carry = by;
    for (uint32_t i = 0; i < TAIL_WORDS; i++) {
        int64_t sum = (int64_t)low[i] + carry;
        ret[i] = (uint32_t)sum;
        carry = sum < 0 ? -1 : sum >> 32;
    }
    ret[6] = (ret[6] & 0xff) | UINT32_C(0xdeadbe00);
}

/* Three tables one after another, as a sampler has them: 4, 32 and 32. */
#define TABLES_COUNT (DRAW_SMALL + 2 * DRAW_FULL)

static void
fill_table(struct seeded *seeded, struct draw_threshold *threshold,
           uint32_t used, uint64_t step)
{
    for (uint32_t i = 0; i < used; i++) {
        threshold[i].high = step * (used - i);
        for (uint32_t j = 0; j < TAIL_WORDS; j++) {
            threshold[i].low[j] = random_u32(&seeded->random);
        }
        threshold[i].low[6] &= 0xff;
    }
}

/*
 * Table 0: two used, far apart. Table 1: all 32, with highs one apart, so that
 * a uniform lies next to three of them at once, and some lows all zeros or all
 * ones. Table 2: five, all with the same high, sorted by low.
 */
static void
make_tables(struct draw_threshold threshold[TABLES_COUNT])
{
    struct seeded seeded;
    struct draw_threshold *same = threshold + DRAW_SMALL + DRAW_FULL;
    seeded_init(&seeded, 2, 0);
    memset(threshold, 0, TABLES_COUNT * sizeof *threshold);
    fill_table(&seeded, threshold, 2, UINT64_C(1) << 46);
    fill_table(&seeded, threshold + DRAW_SMALL, DRAW_FULL, 1);
    memset(threshold[DRAW_SMALL + 3].low, 0, sizeof same->low);
    for (uint32_t i = 0; i < TAIL_WORDS; i++) {
        threshold[DRAW_SMALL + 5].low[i] = i < 6 ? UINT32_MAX : 0xff;
    }
    fill_table(&seeded, same, 5, 0);
    for (uint32_t i = 0; i < 5; i++) {
        same[i].high = (UINT64_C(1) << 56) - 2;
        same[i].low[6] = 0x10 * (5 - i);
    }
}

static const uint32_t table_first[] = {0, DRAW_SMALL, DRAW_SMALL + DRAW_FULL};
static const uint32_t table_size[] = {DRAW_SMALL, DRAW_FULL, DRAW_FULL};

/* One draw from a fresh batch. */
static void
check_symbol(const struct draw_threshold *threshold, uint32_t table, uint64_t u,
             const uint32_t tail[TAIL_WORDS])
{
    struct script script;
    struct draw_tables tables;
    uint32_t first = table_first[table], size = table_size[table];
    script_init(&script);
    add_tail(&script, tail);
    script_add(&script, DRAW_SYMBOL_SIZE, u);
    draw_tables(&script.random, threshold, TABLES_COUNT, &tables);
    assert_int_equal(script_used(&script), DRAW_TABLES_SIZE);
    assert_int_equal(draw_symbol(&script.random, &tables, first, size),
                     expected_symbol(threshold + first, size, u, tail));
    assert_int_equal(script_used(&script), DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE);
}

static void
test_symbol_is_exact_at_every_edge(void **state)
{
    struct draw_threshold threshold[TABLES_COUNT];
    uint32_t tail[TAIL_WORDS];
    (void)state;
    make_tables(threshold);
    for (uint32_t table = 0; table < 3; table++) {
        for (uint32_t i = 0; i < table_size[table]; i++) {
            const struct draw_threshold *t = &threshold[table_first[table] + i];
            for (int by = -1; by <= 1; by++) {
                move_tail(t->low, by, tail);
                check_symbol(threshold, table, t->high + 1, tail);
                check_symbol(threshold, table, t->high, tail);
                if (t->high > 0) {
                    check_symbol(threshold, table, t->high - 1, tail);
                }
            }
        }
    }
}

static void
test_padding_is_never_above(void **state)
{
    struct draw_threshold threshold[TABLES_COUNT];
    uint32_t zeros[TAIL_WORDS] = {0};
    (void)state;
    memset(threshold, 0, sizeof threshold);
    for (uint32_t table = 0; table < 3; table++) {
        check_symbol(threshold, table, 0, zeros);
        assert_int_equal(expected_symbol(threshold, DRAW_FULL, 0, zeros), 0);
    }
}

/* A batch of draws whose uniforms tie or not: how many bytes it takes. */
static void
check_batch(const uint64_t *u, uint32_t count, size_t refreshes)
{
    struct draw_threshold threshold[TABLES_COUNT];
    struct draw_tables tables;
    struct script script;
    make_tables(threshold);
    script_init(&script);
    memset(script.byte, 0x77, sizeof script.byte);
    draw_tables(&script.random, threshold, TABLES_COUNT, &tables);
    for (uint32_t i = 0; i < count; i++) {
        bytes_store(script.buffer + script_used(&script), DRAW_SYMBOL_SIZE,
                    u[i]);
        (void)draw_symbol(&script.random, &tables, 0, DRAW_SMALL);
    }
    assert_int_equal(script_used(&script), DRAW_TABLES_SIZE * (1 + refreshes) +
                                               DRAW_SYMBOL_SIZE * count);
}

static void
test_only_a_second_tie_draws_a_new_tail(void **state)
{
    const uint64_t tie = UINT64_C(1) << 46, other = UINT64_C(1) << 47;
    const uint64_t none[] = {5, tie + 9, tie - 9, other + 9, 7};
    const uint64_t once[] = {5, tie, tie + 9, other + 9, 7};
    const uint64_t twice[] = {5, tie, 7, other, 9};
    const uint64_t four[] = {tie, tie, other, 11, tie};
    (void)state;
    check_batch(none, 5, 0);
    check_batch(once, 5, 0);
    check_batch(twice, 5, 1);
    check_batch(four, 5, 3);
}

/* ---- draw_under -----------------------------------------------------------
 */

/* One coin from a fresh batch, with threshold `index` of a table of 32. */
static void
check_under(const struct draw_threshold *threshold, uint32_t first,
            uint32_t index, uint64_t u, const uint32_t tail[TAIL_WORDS])
{
    struct script script;
    struct draw_tables tables;
    uint32_t expected = 1; /* S_0 = 1 */
    if (index > 0) {
        expected = expected_symbol(threshold + first + index - 1, 1, u, tail);
    }
    script_init(&script);
    add_tail(&script, tail);
    script_add(&script, DRAW_SYMBOL_SIZE, u);
    draw_tables(&script.random, threshold, TABLES_COUNT, &tables);
    assert_int_equal(draw_under(&script.random, &tables, first, index),
                     expected);
    assert_int_equal(script_used(&script), DRAW_TABLES_SIZE + DRAW_SYMBOL_SIZE);
    assert_false(script.random.failed);
}

/* Every threshold against uniforms on and next to every threshold, its own
   tail among them; index 0, 32 and those that are zero. */
static void
test_under_is_exact_at_every_edge(void **state)
{
    const uint64_t most = (UINT64_C(1) << 56) - 1;
    struct draw_threshold threshold[TABLES_COUNT];
    uint32_t tail[TAIL_WORDS];
    (void)state;
    make_tables(threshold);
    for (uint32_t table = 1; table < 3; table++) {
        uint32_t first = table_first[table];
        for (uint32_t i = 0; i < DRAW_FULL * (DRAW_FULL + 1); i++) {
            const struct draw_threshold *t = &threshold[first + i % DRAW_FULL];
            uint32_t index = i / DRAW_FULL;
            for (int by = -1; by <= 1; by++) {
                move_tail(t->low, by, tail);
                check_under(threshold, first, index, t->high, tail);
                check_under(threshold, first, index, t->high + 1, tail);
                check_under(threshold, first, index, 0, tail);
                check_under(threshold, first, index, most, tail);
            }
        }
    }
}

/* Coins and symbols share one tail: whichever ties second draws a new one. */
static void
test_under_spends_the_tail(void **state)
{
    struct draw_threshold threshold[TABLES_COUNT];
    struct draw_tables tables;
    struct script script;
    size_t used = DRAW_TABLES_SIZE;
    (void)state;
    make_tables(threshold);
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t tie = threshold[DRAW_SMALL + 9].high;
        script_init(&script);
        memset(script.byte, 0x77, sizeof script.byte);
        draw_tables(&script.random, threshold, TABLES_COUNT, &tables);
        bytes_store(script.buffer + used, DRAW_SYMBOL_SIZE,
                    i % 2 == 0 ? tie : tie + 100);
        (void)draw_under(&script.random, &tables, DRAW_SMALL, 10);
        assert_int_equal(script_used(&script), used + DRAW_SYMBOL_SIZE);
        assert_int_equal(tables.spent, i % 2 == 0);
        bytes_store(script.buffer + used + DRAW_SYMBOL_SIZE, DRAW_SYMBOL_SIZE,
                    i / 2 == 0 ? tie : tie + 100);
        (void)draw_under(&script.random, &tables, DRAW_SMALL, 10);
        assert_int_equal(script_used(&script),
                         used + 2 * DRAW_SYMBOL_SIZE +
                             (i == 0 ? DRAW_TABLES_SIZE : 0));
    }
}

/* ---- draw_accepted --------------------------------------------------------
 */

/* Keeps a byte-sized draw below 3 of 4, at its place. */
struct attempts {
    uint32_t made;
    uint32_t kept[3 + 1];
};

static uint32_t
attempt(struct random *random, void *context, uint32_t place)
{
    struct attempts *attempts = context;
    uint32_t drawn = random_u32(random);
    attempts->made++;
    assert_in_range(place, 0, 3);
    attempts->kept[place] = drawn;
    return drawn % 4 != 3;
}

/* All ways to keep or reject six attempts: the first three kept are there, in
   order, after the same six attempts and bytes. */
static void
test_accepted_keeps_the_first(void **state)
{
    (void)state;
    for (uint32_t pattern = 0; pattern < 64; pattern++) {
        struct attempts attempts = {0, {0}};
        struct script script;
        uint32_t expected[3], count = 0;
        script_init(&script);
        for (uint32_t i = 0; i < 6; i++) {
            uint32_t drawn = 4 * (i + 1) + 3 * (pattern >> i & 1);
            script_add(&script, 4, drawn);
            if (drawn % 4 != 3 && count < 3) {
                expected[count++] = drawn;
            }
        }
        draw_accepted(&script.random, attempt, &attempts, 3, 6);
        assert_int_equal(attempts.made, 6);
        assert_int_equal(script_used(&script), 24);
        assert_int_equal(script.random.failed, count < 3);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(attempts.kept[i], expected[i]);
        }
    }
}

/* A failure stays, whatever comes after. */
static void
test_accepted_never_mends_a_failure(void **state)
{
    struct attempts attempts = {0, {0}};
    struct script script;
    (void)state;
    script_init(&script); /* zeros are kept */
    script.random.failed = true;
    draw_accepted(&script.random, attempt, &attempts, 3, 6);
    assert_true(script.random.failed);
}

/* ---- Independence of the draws of a batch ---------------------------------
 */

/*
 * The tail's first two bits decide here: thresholds whose low is 1/4, 1/2 and
 * 3/4, and four tails, each standing for a quarter of all.
 */
#define QUARTERS 4u
#define DRAWS 3u
#define SYMBOLS (DRAW_SMALL + 1)

static void
quarter_tail(uint32_t quarter, uint32_t ret[TAIL_WORDS])
{
    memset(ret, 0, TAIL_WORDS * sizeof *ret);
    ret[6] = 0x20 + 0x40 * quarter;
}

static void
make_quarter_table(struct draw_threshold threshold[DRAW_SMALL])
{
    memset(threshold, 0, DRAW_SMALL * sizeof *threshold);
    for (uint32_t i = 0; i < 3; i++) {
        static const uint64_t high[] = {1001, 1000, 500};
        threshold[i].high = high[i];
        threshold[i].low[6] = 0x40 * (i + 1);
    }
}

/* Runs DRAWS draws of given uniforms on given tails, the first of them at the
   start, each other one where a draw asks for it. */
static void
run_draws(const struct draw_threshold *threshold, const uint64_t u[DRAWS],
          uint32_t quarters, uint32_t ret_symbol[DRAWS])
{
    struct script script;
    struct draw_tables tables;
    uint32_t tail[DRAWS][TAIL_WORDS], drawn = 1;
    for (uint32_t i = 0; i < DRAWS; i++) {
        quarter_tail(quarters % QUARTERS, tail[i]);
        quarters /= QUARTERS;
    }
    script_init(&script);
    add_tail(&script, tail[0]);
    draw_tables(&script.random, threshold, DRAW_SMALL, &tables);
    for (uint32_t i = 0; i < DRAWS; i++) {
        size_t at = script_used(&script);
        bytes_store(script.buffer + at, DRAW_SYMBOL_SIZE, u[i]);
        for (uint32_t j = 0; drawn < DRAWS && j < TAIL_WORDS; j++) {
            bytes_store(script.buffer + at + DRAW_SYMBOL_SIZE + 4 * j, 4,
                        tail[drawn][j]);
        }
        ret_symbol[i] = draw_symbol(&script.random, &tables, 0, DRAW_SMALL);
        drawn += script_used(&script) > at + DRAW_SYMBOL_SIZE;
    }
}

static void
check_independence(const struct draw_threshold *threshold,
                   const uint64_t u[DRAWS])
{
    uint32_t single[DRAWS][SYMBOLS] = {{0}}, joint[SYMBOLS][SYMBOLS][SYMBOLS];
    memset(joint, 0, sizeof joint);
    for (uint32_t i = 0; i < QUARTERS * QUARTERS * QUARTERS; i++) {
        uint32_t symbol[DRAWS];
        run_draws(threshold, u, i, symbol);
        joint[symbol[0]][symbol[1]][symbol[2]]++;
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        for (uint32_t j = 0; j < QUARTERS; j++) {
            uint32_t tail[TAIL_WORDS];
            quarter_tail(j, tail);
            single[i][expected_symbol(threshold, DRAW_SMALL, u[i], tail)]++;
        }
    }
    for (uint32_t i = 0; i < SYMBOLS * SYMBOLS * SYMBOLS; i++) {
        uint32_t a = i % SYMBOLS, b = i / SYMBOLS % SYMBOLS;
        uint32_t c = i / SYMBOLS / SYMBOLS;
        assert_int_equal(joint[a][b][c],
                         single[0][a] * single[1][b] * single[2][c]);
    }
}

/*
 * Whatever the uniforms of three draws from one batch (on, next to, or away
 * from thresholds), over all tails each triple of symbols comes up exactly as
 * often as if every draw had had a tail of its own.
 */
static void
test_draws_of_a_batch_are_independent(void **state)
{
    static const uint64_t place[] = {498, 499,  500,  501,  502,  998,
                                     999, 1000, 1001, 1002, 1003, 0};
    const uint32_t places = sizeof place / sizeof place[0];
    struct draw_threshold threshold[DRAW_SMALL];
    (void)state;
    make_quarter_table(threshold);
    for (uint32_t i = 0; i < places * places * places; i++) {
        uint64_t u[DRAWS] = {place[i % places], place[i / places % places],
                             place[i / places / places]};
        check_independence(threshold, u);
    }
}

/* ---- Failure ---------------------------------------------------------------
 */

static int
fill_nothing(void *context, void *buffer, size_t size)
{
    int *calls = context;
    memset(buffer, 0xee, size);
    ++*calls;
    return -1;
}

static void
test_primitives_end_without_entropy(void **state)
{
    struct draw_threshold threshold[TABLES_COUNT];
    struct draw_tables tables;
    struct random random;
    uint8_t buffer[24];
    int calls = 0;
    (void)state;
    make_tables(threshold);
    random_init(&random, buffer, sizeof buffer, fill_nothing, &calls);
    draw_tables(&random, threshold, TABLES_COUNT, &tables);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(draw_symbol(&random, &tables, 0, DRAW_SMALL), 2);
        assert_int_equal(draw_below(&random, 7), 0);
    }
    assert_true(random.failed);
    assert_in_range(calls, 1, 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_below_is_uniform_at_every_boundary_of_small_n),
        cmocka_unit_test(test_below_is_uniform_at_boundaries_of_large_n),
        cmocka_unit_test(test_below_gives_up_after_eight_rejections),
        cmocka_unit_test(test_bernoulli_counts_outcomes_below_its_numerator),
        cmocka_unit_test(test_symbol_is_exact_at_every_edge),
        cmocka_unit_test(test_padding_is_never_above),
        cmocka_unit_test(test_only_a_second_tie_draws_a_new_tail),
        cmocka_unit_test(test_under_is_exact_at_every_edge),
        cmocka_unit_test(test_under_spends_the_tail),
        cmocka_unit_test(test_accepted_keeps_the_first),
        cmocka_unit_test(test_accepted_never_mends_a_failure),
        cmocka_unit_test(test_draws_of_a_batch_are_independent),
        cmocka_unit_test(test_primitives_end_without_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
