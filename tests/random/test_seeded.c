/*
 * test_seeded.c: the generator for training and simulation: known answers,
 * streams that do not depend on scheduling, and a type that the device's path
 * does not take (invariant 3).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/device.h"
#include "random/seeded.h"

#define STREAMS 8u
#define WORDS 1000u

static void
check_philox(const uint32_t counter[4], const uint32_t key[2],
             const uint32_t expected[4])
{
    uint32_t block[4];
    seeded_philox(counter, key, block);
    assert_memory_equal(block, expected, sizeof block);
}

/* The known answers of Random123 for philox4x32 with 10 rounds. */
static void
test_philox_known_answers(void **state)
{
    static const uint32_t zeros[4],
        ones[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    static const uint32_t pi[6] = {0x243f6a88, 0x85a308d3, 0x13198a2e,
                                   0x03707344, 0xa4093822, 0x299f31d0};
    static const uint32_t of_zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                         0x9b00dbd8};
    static const uint32_t of_ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6,
                                        0x6d5451fd};
    static const uint32_t of_pi[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420,
                                      0x24126ea1};
    (void)state;
    check_philox(zeros, zeros, of_zeros);
    check_philox(ones, ones, of_ones);
    check_philox(pi, pi + 4, of_pi);
}

/* Word i of a stream is word i % 4 of block i / 4: a pure function. */
static void
test_bytes_are_blocks_in_order(void **state)
{
    const uint64_t seed = UINT64_C(0x0123456789abcdef);
    const uint64_t stream = UINT64_C(0xfedcba9876543210);
    const uint32_t key[2] = {0x89abcdef, 0x01234567};
    struct seeded seeded;
    (void)state;
    seeded_init(&seeded, seed, stream);
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t counter[4] = {i / 4, 0, 0x76543210, 0xfedcba98};
        uint32_t block[4];
        seeded_philox(counter, key, block);
        assert_int_equal(random_u32(&seeded.random), block[i % 4]);
    }
    assert_false(seeded.random.failed);
}

/* ---- Streams and threads ---------------------------------------------------
 */

static uint32_t drawn[STREAMS][WORDS];

static void
draw_stream(uint32_t stream)
{
    struct seeded seeded;
    seeded_init(&seeded, 42, stream);
    for (uint32_t i = 0; i < WORDS; i++) {
        drawn[stream][i] = random_u32(&seeded.random);
    }
}

/* Every other stream, from the one given, last first. */
static void *
draw_half(void *first)
{
    for (uint32_t i = STREAMS; i-- > 0;) {
        if (i % 2 == *(const uint32_t *)first) {
            draw_stream(i);
        }
    }
    return NULL;
}

static void
test_streams_do_not_depend_on_who_draws_them(void **state)
{
    static uint32_t alone[STREAMS][WORDS];
    uint32_t half[2] = {0, 1};
    pthread_t thread[2];
    (void)state;
    for (uint32_t i = 0; i < STREAMS; i++) {
        draw_stream(i);
    }
    memcpy(alone, drawn, sizeof alone);
    memset(drawn, 0, sizeof drawn);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, draw_half, &half[i]),
                         0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
    assert_memory_equal(alone, drawn, sizeof alone);
}

static void
test_seeds_and_streams_differ(void **state)
{
    struct seeded seeded;
    uint32_t word[64];
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        seeded_init(&seeded, i / 8, i % 8);
        word[i] = random_u32(&seeded.random);
        for (uint32_t j = 0; j < i; j++) {
            assert_int_not_equal(word[i], word[j]);
        }
    }
}

/* ---- Types ------------------------------------------------------------------
 */

#define IS_ENTROPY(pointer)                                                    \
    _Generic((pointer), struct entropy * : 1, default : 0)

static void
test_the_device_holds_entropy_and_seeded_is_not_that(void **state)
{
    struct seeded seeded;
    struct sotto_client *client = NULL;
    (void)state;
    assert_int_equal(IS_ENTROPY(&client->entropy), 1);
    assert_int_equal(IS_ENTROPY(&seeded), 0);
    assert_int_equal(IS_ENTROPY(&seeded.random), 0);
}

/* Whether the compiler takes a call f(&argument) of f(struct entropy *). */
static int
compile_call(const char *argument)
{
    char command[1024];
    snprintf(command, sizeof command,
             "printf '#include \"random/seeded.h\"\\n"
             "void f(struct entropy *e); void g(%s *a); "
             "void g(%s *a) { f(a); }\\n' | cc -std=c11 -fsyntax-only "
             "-Werror -x c -I%s/src -I%s/include - 2>/dev/null",
             argument, argument, SOTTO_SOURCE_DIR, SOTTO_SOURCE_DIR);
    return system(command);
}

static void
test_passing_seeded_for_entropy_does_not_compile(void **state)
{
    (void)state;
    if (system("cc --version >/dev/null 2>&1") != 0) {
        skip();
    }
    assert_int_equal(compile_call("struct entropy"), 0);
    assert_int_not_equal(compile_call("struct seeded"), 0);
    assert_int_not_equal(compile_call("struct simulation"), 0);
    assert_int_not_equal(compile_call("struct random"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_philox_known_answers),
        cmocka_unit_test(test_bytes_are_blocks_in_order),
        cmocka_unit_test(test_streams_do_not_depend_on_who_draws_them),
        cmocka_unit_test(test_seeds_and_streams_differ),
        cmocka_unit_test(test_the_device_holds_entropy_and_seeded_is_not_that),
        cmocka_unit_test(test_passing_seeded_for_entropy_does_not_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
