/*
 * test_device_people.c: a device's file by a list of people: one row each,
 * whatever its lines hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "freed.h"
#include "table/device_people.h"

static const char *const asked[] = {"colour", "name"};

static struct sotto_table *table, *people;
static struct sotto_device_odd odd;
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    sotto_table_free(people);
    table = people = NULL;
    return 0;
}

static void
list(const char *text)
{
    struct sotto_table_options options = {.header = 1};
    sotto_table_free(people);
    assert_int_equal(
        sotto_table_parse(text, strlen(text), "list", &options, &people, &err),
        SOTTO_STATUS_OK);
}

static enum sotto_status
parse(const char *text)
{
    const struct sotto_device_file file = {.names = asked,
                                           .count = 2,
                                           .person = "name",
                                           .header = true,
                                           .people = people};
    sotto_table_free(table);
    table = NULL;
    return sotto_device_table_parse(text, strlen(text), "file.csv", &file,
                                    &table, &odd, &err);
}

static void
refuse(const char *names, const char *message)
{
    list(names);
    assert_int_equal(parse("name,colour\nann,red\n"), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, message));
    assert_null(table);
}

/* The row of a name has this colour; NULL: it is missing. */
static void
check_row(size_t row, const char *name, const char *colour)
{
    struct sotto_value who =
        sotto_table_cell(table, row, sotto_table_find(table, "name"));
    struct sotto_value what =
        sotto_table_cell(table, row, sotto_table_find(table, "colour"));
    assert_int_equal(who.size, strlen(name));
    assert_memory_equal(who.data, name, who.size);
    assert_int_equal(what.kind,
                     colour == NULL ? SOTTO_VALUE_MISSING : SOTTO_VALUE_TEXT);
    assert_int_equal(what.size, colour == NULL ? 0 : strlen(colour));
    if (colour != NULL) {
        assert_memory_equal(what.data, colour, what.size);
    }
}

static void
check_rows(const char *text, const char *ann, const char *bob, size_t strangers)
{
    assert_int_equal(parse(text), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 2);
    check_row(0, "ann", ann);
    check_row(1, "bob", bob);
    assert_int_equal(odd.strangers, strangers);
    assert_int_equal(odd.absent, (ann == NULL) + (bob == NULL));
}

/* ---- Tests -------------------------------------------------------------- */

static void
test_rows(void **state)
{
    (void)state;
    list("name\nann\nbob\n");
    check_rows("name,colour\nann,red\nbob,blue\n", "red", "blue", 0);
    check_rows("name,colour\nbob,blue\nann,red\n", "red", "blue", 0);
    check_rows("colour,name\nred,ann\nblue,bob\n", "red", "blue", 0);
    assert_int_equal(sotto_table_line(table, 1), 3);
    check_rows("name,colour\n", NULL, NULL, 0);
    check_rows("name,colour\neve,red\n\n\xff\nbob,red\n", NULL, "red", 3);
    assert_int_equal(odd.first_stranger, 2);
    list("name\nzoe\nbob\nad\n");
    assert_int_equal(parse("name,colour\nad,red\nbob,blue\nzoe,green\n"),
                     SOTTO_STATUS_OK);
    check_row(0, "zoe", "green");
    check_row(1, "bob", "blue");
    check_row(2, "ad", "red");
}

/* A line break in a field adds nobody, and takes nobody's place. */
static void
test_breaks(void **state)
{
    (void)state;
    list("name\nann\nbob\n");
    assert_int_equal(parse("name,colour\nann,\"red\nblue\"\nbob,blue\n"),
                     SOTTO_STATUS_OK);
    check_row(0, "ann", NULL);
    check_row(1, "bob", "blue");
    assert_int_equal(odd.strangers, 1);
    assert_int_equal(odd.first_stranger, 3);
    check_rows("name,colour\nann,red\nbob,forged\nbob,blue\n", "red", NULL, 0);
    check_rows("name,colour\nann,x\nbob,y\nann,x\nann,z\n", NULL, "y", 0);
}

static void
test_list(void **state)
{
    (void)state;
    refuse("name\nann\n\"\"\n", "line 3: give everybody");
    refuse("name\nann\nNA\n", "line 3: give everybody");
    refuse("name\nann\nbob\nann\n", "line 4: the name is there twice");
    refuse("person\nann\n", "no column \"name\"");
    char text[300] = "name\n";
    memset(text + 5, 'x', 257);
    refuse(text, "line 2: give everybody");
    /* Numbers are names, too, and other columns of the list are let be. */
    list("age,name\n1,7\n2,8\n");
    assert_int_equal(parse("name,colour\n8,red\n7,blue\n"), SOTTO_STATUS_OK);
    check_row(0, "7", "blue");
    check_row(1, "8", "red");
    assert_int_equal(sotto_table_columns(table), 2);
}

static void
test_memory(void **state)
{
    (void)state;
    const char *text = "name,colour\nann,crimson\nbob,crimson\n";
    list("name\nann\nbob\n");
    freed_watch("crimson", 7);
    fail_alloc_at(0);
    assert_int_equal(parse(text), SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    assert_true(count > 10);
    for (long i = 1; i <= count; i++) {
        sotto_table_free(table);
        table = NULL;
        fail_alloc_at(i);
        assert_int_equal(parse(text), SOTTO_STATUS_MEMORY);
        assert_null(table);
    }
    fail_alloc_at(0);
    assert_int_equal(freed_found(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_breaks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
