/*
 * test_seen.c: the rows that a mechanism was fitted to are known again, also
 * among others and where people are alike; other people's are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "random/seeded.h"
#include "scratch.h"
#include "sotto/seen.h"
#include "sotto/sotto.h"

#define ROWS 400u

static struct sotto_error err;

static int
setup(void **state)
{
    (void)state;
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    return scratch_remove();
}

/* People with one of `values` numbers each, and a class; the `own` first rows
   are the table's with seed 1. Numbers are written with so many zeros. */
static struct sotto_table *
make_table(size_t rows, size_t values, size_t own, uint64_t seed,
           const char *zeros)
{
    char *text = malloc(rows * 40 + 40);
    struct sotto_table *table = NULL;
    struct seeded first, other;
    size_t size = 0;
    assert_non_null(text);
    seeded_init(&first, 1, 0);
    seeded_init(&other, seed, 0);
    size += (size_t)sprintf(text, "id,age,class\n");
    for (size_t i = 0; i < rows; i++) {
        struct random *random = i < own ? &first.random : &other.random;
        unsigned age = random_u32(random) % (unsigned)values;
        size += (size_t)sprintf(text + size, "%zu,%u%s,%s\n", i, age, zeros,
                                random_u32(random) % 2 > 0 ? "a" : "b");
    }
    assert_int_equal(sotto_table_parse(text, size, "table", NULL, &table, &err),
                     SOTTO_STATUS_OK);
    free(text);
    return table;
}

static struct sotto_mechanism *
make_mechanism(const struct sotto_table *table)
{
    static const char *const drop[] = {"id"};
    const struct sotto_train_options options = {
        .eps = "4", .label = "class", .drop = drop, .drops = 1};
    struct sotto_mechanism *mechanism = NULL;
    assert_int_equal(sotto_train(table, "direct", &options, NULL, NULL, NULL,
                                 &mechanism, &err),
                     SOTTO_STATUS_OK);
    return mechanism;
}

/* Looks for a table's rows among those of one with `values` numbers. */
static struct sotto_seen
look(size_t values, struct sotto_table *table)
{
    struct sotto_table *aux = make_table(ROWS, values, ROWS, 1, "");
    struct sotto_mechanism *mechanism = make_mechanism(aux);
    struct sotto_seen seen;
    assert_int_equal(
        sotto_seen_write(mechanism, aux, in_folder("m.seen"), &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_seen_look(mechanism, table, in_folder("m.seen"), &seen, &err),
        SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
    sotto_table_free(aux);
    sotto_table_free(table);
    return seen;
}

static void
test_known_again(void **state)
{
    struct sotto_seen seen =
        look(1u << 30, make_table(ROWS, 1u << 30, ROWS, 1, ""));
    (void)state;
    assert_int_equal(seen.rows, ROWS);
    assert_int_equal(seen.same, ROWS);
    assert_true(seen.auxiliary);
    /* A few of them among others, with their numbers written otherwise. */
    seen = look(1u << 30, make_table(ROWS, 1u << 30, 20, 2, ".0"));
    assert_int_equal(seen.same, 20);
    assert_true(seen.auxiliary);
    /* Three alone. */
    assert_true(look(1u << 30, make_table(3, 1u << 30, 3, 2, "")).auxiliary);
}

static void
test_others(void **state)
{
    struct sotto_seen seen =
        look(1u << 30, make_table(ROWS, 1u << 30, 0, 2, ""));
    (void)state;
    assert_int_equal(seen.same, 0);
    assert_false(seen.auxiliary);
    /* One row that is the same may be chance: twins are not ruled out. */
    seen = look(1u << 30, make_table(ROWS, 1u << 30, 1, 2, ""));
    assert_int_equal(seen.same, 1);
    assert_false(seen.auxiliary);
}

/* Where people are alike, others have the same rows too, but not all of them:
   of 300 numbers and 400 rows about a quarter have no twin. */
static void
test_alike(void **state)
{
    struct sotto_seen seen = look(300, make_table(ROWS, 300, 0, 2, ""));
    (void)state;
    assert_true(seen.same > ROWS / 4);
    assert_false(seen.auxiliary);
    assert_true(look(300, make_table(ROWS, 300, ROWS, 2, "")).auxiliary);
    /* Of 10 numbers all have twins: nothing can be told, and nothing is. */
    assert_false(look(10, make_table(ROWS, 10, 0, 2, "")).auxiliary);
}

/* For its owner alone, under another salt each time; broken, it is refused. */
static void
test_file(void **state)
{
    struct sotto_table *aux = make_table(ROWS, 1000, ROWS, 1, "");
    struct sotto_mechanism *mechanism = make_mechanism(aux);
    struct sotto_seen seen;
    struct stat file;
    uint8_t first[200], second[200];
    FILE *stream;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(
            sotto_seen_write(mechanism, aux, in_folder("m.seen"), &err),
            SOTTO_STATUS_OK);
        stream = fopen(in_folder("m.seen"), "rb");
        assert_non_null(stream);
        assert_int_equal(fread(i > 0 ? second : first, 1, 200, stream), 200);
        (void)fclose(stream);
    }
    assert_int_equal(stat(in_folder("m.seen"), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(file.st_size, 13 + 32 + 32 + 8 * ROWS);
    assert_memory_equal(first, second, 13 + 32); /* of the mechanism */
    assert_memory_not_equal(first + 45, second + 45, 32);
    assert_memory_not_equal(first + 77, second + 77, 8);
    stream = fopen(in_folder("m.seen"), "r+b");
    assert_non_null(stream);
    (void)fputs("x", stream);
    (void)fclose(stream);
    assert_int_equal(
        sotto_seen_look(mechanism, aux, in_folder("m.seen"), &seen, &err),
        SOTTO_STATUS_FORMAT);
    assert_int_equal(
        sotto_seen_look(mechanism, aux, in_folder("none.seen"), &seen, &err),
        SOTTO_STATUS_IO);
    sotto_mechanism_free(mechanism);
    sotto_table_free(aux);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_again), cmocka_unit_test(test_others),
        cmocka_unit_test(test_alike), cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
