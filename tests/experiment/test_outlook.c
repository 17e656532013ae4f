/*
 * test_outlook.c: what simulated campaigns say of one to come: much where the
 * column tells the label, that nothing can be told where the noise decides.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "sotto/sotto.h"

#define ROWS 400u

static struct sotto_error err;
static struct sotto_table *table;

/* "close" is above 1 where the label, two fifths of the time, is "yes". */
static int
setup(void **state)
{
    double close[ROWS];
    const char *label[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        bool yes = i % 5 < 2;
        close[i] = (yes ? 1 : 0) + (double)(i * 37 % 100) / 100;
        label[i] = yes ? "yes" : "no";
    }
    assert_int_equal(sotto_table_new(ROWS, &table, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_numbers(table, "close", close, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_add_texts(table, "label", label, &err),
                     SOTTO_STATUS_OK);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    return 0;
}

static struct sotto_outlook_point
simulate(const char *eps, size_t people)
{
    const struct sotto_campaign_options options = {
        .kind = "direct", .label = "label", .seed = 1, .threads = 1};
    const struct sotto_campaign_run run = {
        .eps = eps, .people = people, .seed = 1};
    struct sotto_outlook_point point;
    struct sotto_outlook *outlook = NULL;
    assert_int_equal(sotto_outlook_new(table, &options, 6, &outlook, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_outlook_labelled(outlook), ROWS);
    assert_int_equal(sotto_outlook_classes(outlook), 2);
    assert_true(sotto_outlook_majority(outlook) == 0.6);
    assert_int_equal(sotto_outlook_simulate(outlook, &run, 0.9, &point, &err),
                     SOTTO_STATUS_OK);
    sotto_outlook_free(outlook);
    return point;
}

static void
test_foretells(void **state)
{
    struct sotto_outlook_point point = simulate("24", 300);
    (void)state;
    assert_true(point.told && point.accuracy > 0.9);
    assert_true(point.low < point.accuracy && point.accuracy < point.high);
    assert_true(point.least <= point.accuracy && point.accuracy <= point.most);
    assert_int_equal(point.tested, 160);
    assert_int_equal(point.campaigns, 6);
}

static void
test_cannot_foretell(void **state)
{
    struct sotto_outlook_point point = simulate("0.5", 20);
    (void)state;
    assert_true(!point.told);
    assert_true(point.high - point.low > SOTTO_OUTLOOK_WIDEST);
    assert_true(point.most - point.least > 0.1);
}

static void
test_refuses(void **state)
{
    const struct sotto_campaign_options options = {.kind = "direct",
                                                   .label = "label"};
    struct sotto_outlook *outlook = NULL;
    (void)state;
    assert_int_equal(sotto_outlook_new(table, &options, 1, &outlook, &err),
                     SOTTO_STATUS_USAGE);
    assert_null(outlook);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foretells),
        cmocka_unit_test(test_cannot_foretell),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
