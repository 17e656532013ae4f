/*
 * test_codes_choose.c: as many codes as reports can tell apart, between what
 * classes need and what records allow.
 */
#include "learn/codes/codes_choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"

static struct sotto_error err;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* A codebook of so many records and cells: no more is looked at. */
static struct sotto_codebook *
book(size_t records, size_t cells, size_t classes)
{
    const struct schema_column column = {.name = "label",
                                         .count = (uint32_t)classes + 1};
    struct sotto_codebook *codebook = calloc(1, sizeof *codebook);
    assert_non_null(codebook);
    codebook->n = codebook->records = records;
    codebook->d = 1;
    codebook->label = 0;
    codebook->clustering.cells = cells;
    must(schema_init(&codebook->schema, 1, &err));
    must(schema_add(&codebook->schema, &column, &err));
    return codebook;
}

static struct sotto_codebook_choice
choose(size_t records, size_t classes, size_t people, const char *eps)
{
    struct sotto_codebook *codebook = book(records, records / 20, classes);
    struct sotto_codebook_wanted wanted = {
        .eps = eps, .people = people, .balanced = true};
    struct sotto_codebook_choice choice = {0};
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    sotto_codebook_free(codebook);
    return choice;
}

/* The numbers that the derivation has for 15,000 people and 10 classes. */
static void
test_numbers(void **state)
{
    static const struct {
        const char *eps, *channel;
        size_t k, informed;
        enum sotto_codebook_bound bound;
    } row[] = {{"0.5", "signs", 10, 7, SOTTO_CODEBOOK_CLASSES},
               {"1", "subset", 12, 12, SOTTO_CODEBOOK_INFORMATION},
               {"2", "subset", 29, 29, SOTTO_CODEBOOK_INFORMATION},
               {"4", "subset", 90, 90, SOTTO_CODEBOOK_INFORMATION},
               {"10", "subset", 1000, 2440, SOTTO_CODEBOOK_RECORDS}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct sotto_codebook_choice choice =
            choose(45000, 10, 15000, row[i].eps);
        assert_string_equal(choice.channel, row[i].channel);
        assert_int_equal(choice.informed, row[i].informed);
        assert_int_equal(choice.k, row[i].k);
        assert_int_equal(choice.bound, row[i].bound);
        assert_int_equal(choice.people, 15000);
        assert_int_equal(choice.least, 10);
    }
}

/* subset at the w that is best has p = 1/2 and q = 1 / (e^eps + 1) nearly, so g
   is known: k grows as the root of the people. */
static void
test_root(void **state)
{
    double g, q = 1 / (exp(2) + 1);
    (void)state;
    g = (0.5 - q) * (0.5 - q) / (q * (1 - q));
    for (size_t people = 400; people <= 60000; people = people * 5 / 2) {
        size_t k = choose(200000, 2, people, "2").informed;
        double wanted = sqrt((double)people * g / CODES_CHOOSE_SIGNAL);
        assert_true((double)k > 0.98 * wanted - 1);
        assert_true((double)k < 1.05 * wanted + 1);
    }
}

/* More people, a larger epsilon, never fewer codes. */
static void
test_monotone(void **state)
{
    static const char *const eps[] = {"0.7", "1", "1.7", "3", "6", "11", "32"};
    size_t last = 0;
    (void)state;
    for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
        size_t k = choose(20000, 5, 5000, eps[i]).informed;
        assert_true(k >= last);
        assert_true(choose(20000, 5, 6000, eps[i]).informed >= k);
        last = k;
    }
}

/* The bounds cross: records hold, and the choice says so. */
static void
test_bounds(void **state)
{
    struct sotto_codebook_choice choice = choose(1172, 28, 1172, "4");
    (void)state;
    assert_int_equal(choice.k, 26);
    assert_int_equal(choice.least, 28);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_RECORDS);
    choice = choose(1172, 28, 1172, "1"); /* so few can be told apart */
    assert_int_equal(choice.k, CODES_CHOOSE_STRETCH * choice.informed);
    assert_int_equal(choice.least, 28);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_CLASSES);
    choice = choose(60, 2, 10, "1");
    assert_int_equal(choice.k, 2);
    choice = choose(20000, 300, 100000, "12"); /* as many pairs as there are */
    assert_true(choice.k == CHANNEL_K_MAX / 301);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_PAIRS);
    choice = choose(45000, 400, 40000, "3"); /* fewer than classes need */
    assert_true(choice.k == CHANNEL_K_MAX / 401);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_PAIRS);
    choice = choose(4000, 2, 0, "4"); /* as many people as records */
    assert_int_equal(choice.people, 4000);
}

/* Several books where epsilon is small, unless asked otherwise. */
static void
test_books(void **state)
{
    static const struct {
        const char *eps;
        size_t asked, books;
    } case_[] = {{"0.5", 0, 3}, {"1", 0, 3}, {"1.01", 0, 1},
                 {"1", 2, 2},   {"4", 2, 2}, {"4", 5, 5}};
    struct sotto_codebook *codebook = book(45000, 500, 10);
    (void)state;
    for (size_t i = 0; i < sizeof case_ / sizeof *case_; i++) {
        struct sotto_codebook_wanted wanted = {
            .eps = case_[i].eps, .people = 15000, .books = case_[i].asked};
        struct sotto_codebook_choice choice = {0};
        must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
        assert_int_equal(choice.books, case_[i].books);
        wanted.k = 7;
        wanted.channel = "flip";
        must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
        assert_int_equal(choice.books, case_[i].books);
        wanted.eps = NULL;
        must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
        assert_int_equal(choice.books, case_[i].asked > 0 ? case_[i].asked : 1);
    }
    sotto_codebook_free(codebook);
    assert_int_equal(choose(45000, 50, 15000, "1").books, 3);
    assert_int_equal(choose(45000, 51, 15000, "1").books, 1);
    /* Records for fewer codes than classes, and reports that say more. */
    assert_int_equal(choose(100, 4, 15000, "8").books, 8);
    assert_int_equal(choose(100, 4, 15000, "8").k, 2);
    assert_int_equal(choose(100, 2, 15000, "8").books, 1);
    assert_int_equal(choose(100, 51, 15000, "8").books, 1);
    assert_int_equal(choose(45000, 4, 15000, "8").books, 1);
    assert_int_equal(choose(100, 4, 30, "2").books, 1);
}

/* Cells are fewer than records allow, in one of the books at least. */
static void
test_cells(void **state)
{
    struct sotto_codebook *codebook = book(45000, 500, 10);
    struct sotto_codebook_wanted wanted = {.eps = "10", .people = 15000};
    struct sotto_codebook_choice choice = {0};
    (void)state;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 1000); /* finer cells can be made */
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_RECORDS);
    codebook->options.cells = codebook->asked = 500;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 500);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_CELLS);
    codebook->books = 3;
    codebook->more = calloc(3, sizeof *codebook->more);
    assert_non_null(codebook->more);
    codebook->more[0].clustering.cells = 499;
    codebook->more[1].clustering.cells = 498;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 498);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_CELLS);
    codebook->options.cells = codebook->asked = 1200;
    codebook->n = 6000; /* a look: bounds are those of all records */
    codebook->more[0].clustering.cells = 1200;
    codebook->more[1].clustering.cells = 1200;
    codebook->clustering.cells = 1200;
    wanted.people = 0;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 1000);
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_RECORDS);
    assert_int_equal(choice.people, 45000);
    sotto_codebook_free(codebook);
}

/* What is given is not chosen. */
static void
test_given(void **state)
{
    struct sotto_codebook *codebook = book(1000, 50, 4);
    struct sotto_codebook_wanted wanted = {
        .eps = "2", .k = 9, .people = 500, .classes = 3};
    struct sotto_codebook_choice choice = {0};
    (void)state;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 9);
    assert_string_equal(choice.channel, "subset");
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_GIVEN);
    wanted.eps = "0.5"; /* shares are not known: no signs */
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_string_equal(choice.channel, "subset");
    wanted.balanced = true;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_string_equal(choice.channel, "signs");
    wanted.channel = "flip";
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 9);
    assert_string_equal(choice.channel, "flip");
    wanted.k = 0;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_string_equal(choice.channel, "flip");
    assert_int_equal(choice.least, 3);
    codebook->label = SIZE_MAX; /* none: nothing to tell apart */
    wanted.channel = NULL;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 32);
    assert_string_equal(choice.channel, "subset");
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_GIVEN);
    sotto_codebook_free(codebook);
}

static void
refused(struct sotto_codebook *codebook,
        const struct sotto_codebook_wanted *wanted, enum sotto_status status,
        const char *message)
{
    struct sotto_codebook_choice choice = {.k = 77};
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_codebook_choose(codebook, wanted, &choice, &err),
                     status);
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, message));
    assert_int_equal(choice.k, 77);
}

static void
test_refused(void **state)
{
    struct sotto_codebook *codebook = book(200, 10, 4);
    (void)state;
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "1", .classes = 1},
            SOTTO_STATUS_USAGE, "1 class: at least 2");
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "0"},
            SOTTO_STATUS_BUDGET, "");
    refused(codebook,
            &(struct sotto_codebook_wanted){.eps = "1", .channel = "laplace"},
            SOTTO_STATUS_USAGE, "laplace");
    refused(codebook,
            &(struct sotto_codebook_wanted){.eps = "1", .classes = 40000},
            SOTTO_STATUS_LIMIT, "40000 classes");
    fail_alloc_at(1);
    refused(codebook, &(struct sotto_codebook_wanted){.eps = "1"},
            SOTTO_STATUS_MEMORY, "");
    fail_alloc_at(0);
    sotto_codebook_free(codebook);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_root),
        cmocka_unit_test(test_monotone), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_books),    cmocka_unit_test(test_cells),
        cmocka_unit_test(test_given),    cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
