/*
 * test_device_table.c: a device's file to rows: which facts are public, and
 * that no content is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "freed.h"
#include "scratch.h"
#include "table/table.h"

static const char *const asked[] = {"age", "colour", "name"};
static const char *const made[] = {"c1", "c3"};
static const char *const label[] = {"label"};

static struct sotto_table *table;
static struct sotto_device_odd odd;
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    table = NULL;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    sotto_table_free(table);
    return scratch_remove();
}

static struct sotto_device_file
ask_named(bool header)
{
    return (struct sotto_device_file){
        .names = asked, .count = 3, .person = "name", .header = header};
}

static struct sotto_device_file
ask_made(bool header)
{
    return (struct sotto_device_file){
        .names = made, .count = 2, .person = "c1", .header = header};
}

static struct sotto_device_file
ask_labels(size_t rows, bool header)
{
    return (struct sotto_device_file){
        .names = label, .count = 1, .rows = rows, .header = header};
}

static enum sotto_status
parse(const char *text, struct sotto_device_file file)
{
    sotto_table_free(table);
    table = NULL;
    return sotto_device_table_parse(text, strlen(text), "file.csv", &file,
                                    &table, &odd, &err);
}

static void
parse_rows(const char *text, struct sotto_device_file file, size_t rows)
{
    assert_int_equal(parse(text, file), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), rows);
}

static void
refuse(const char *text, struct sotto_device_file file, const char *message)
{
    assert_int_equal(parse(text, file), SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, message));
    assert_null(table);
}

/* A cell has this text; NULL: it is missing. */
static void
check_cell(size_t at, size_t column, const char *text)
{
    struct sotto_value value = sotto_table_cell(table, at, column);
    if (text == NULL) {
        assert_int_equal(value.kind, SOTTO_VALUE_MISSING);
        return;
    }
    assert_int_equal(value.kind, SOTTO_VALUE_TEXT);
    assert_int_equal(value.size, strlen(text));
    assert_memory_equal(value.data, text, value.size);
}

/* ---- Headers ------------------------------------------------------------ */

static void
test_header(void **state)
{
    (void)state;
    parse_rows("name,extra,colour,age\nann,x,red,30\n", ask_named(true), 1);
    assert_int_equal(sotto_table_columns(table), 4);
    assert_string_equal(sotto_table_name(table, 1), "extra");
    check_cell(0, 0, "ann");
    assert_true(sotto_table_cell(table, 0, 3).number == 30.0);
    assert_true(isnan(sotto_table_cell(table, 0, 2).number));
    assert_int_equal(sotto_table_line(table, 0), 2);
    parse_rows("\xef\xbb\xbfname, \"age\" ,colour\r\nann,30,red",
               ask_named(true), 1);
    check_cell(0, 2, "red");
    parse_rows("name,age,colour\n\n \n", ask_named(true), 0);
    parse_rows("name,age,colour", ask_named(true), 0);
    /* Names that nobody asks for need not be readable. */
    parse_rows("name,,n\xff,age,colour\nann,1,2,30,red", ask_named(true), 1);
    assert_string_equal(sotto_table_name(table, 1), "c2");
    assert_string_equal(sotto_table_name(table, 2), "c3");
}

static void
test_public_errors(void **state)
{
    (void)state;
    refuse("", ask_named(true), "empty");
    refuse(" \n\n", ask_made(false), "empty");
    refuse("name,age\nann,30\n", ask_named(true), "no column \"colour\"");
    refuse("nme,age,colour\nann,30,red\n", ask_named(true),
           "no column \"name\"");
    refuse("nme,age,colour\nann,30,red\n", ask_named(true),
           "no column \"name\"");
    refuse("ann,30,red\n", ask_named(false), "no column \"name\"");
    refuse("name,age,colour,age\nann,30,red,31\n", ask_named(true),
           "two columns \"age\"");
    /* What nobody asks for is not printed: it may be a record all the same. */
    refuse("name,age,colour,x,x\nann,30,red,1,2\n", ask_named(true),
           "column 5 has the name of one before");
    refuse("a,b\n7,1\n", ask_labels(1, true), "has 2 columns");
    struct sotto_device_file none = {.count = 0};
    assert_int_equal(parse("a\n", none), SOTTO_STATUS_USAGE);
}

/* Without a header no content makes one; with it, any first line is one. */
static void
test_headless(void **state)
{
    (void)state;
    static const char *const lines[] = {"ann,red,30",   "ann,red,", "ann,,NA",
                                        "ann,c1,c3",    "c1,c2,c3", "c1",
                                        "ann,c3,thirty"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        parse_rows(lines[i], ask_made(false), 1);
        assert_int_equal(sotto_table_columns(table), 3);
        check_cell(0, 0, strncmp(lines[i], "c1", 2) == 0 ? "c1" : "ann");
        assert_int_equal(sotto_table_line(table, 0), 1);
    }
    parse_rows("c1,c3\nann,30\n", ask_made(true), 1);
    check_cell(0, 0, "ann");
    refuse("ann,red,30\n", ask_made(true), "no column \"c1\"");
    refuse("ann,red,30\n", ask_made(true), "--no-header");
}

/* Between two others a comma would move the name. */
static void
test_person_place(void **state)
{
    (void)state;
    static const char *const behind[] = {"c1", "c2"};
    refuse("age,name,colour\n30,ann,red\n", ask_named(true), "column 2");
    refuse("age,name,colour\n", ask_named(true), "put it first, or last");
    parse_rows("age,colour,name\n1,3,5,\"red,ann\n", ask_named(true), 1);
    check_cell(0, 2, "ann");
    struct sotto_device_file file = {
        .names = behind, .count = 2, .person = "c2"};
    refuse("30,ann\n", file, "put it first");
}

/* With labels one name may be elsewhere, but not the person's. */
static void
test_elsewhere(void **state)
{
    (void)state;
    struct sotto_device_file file = ask_named(true);
    file.elsewhere = 1;
    parse_rows("name,age\nann,30\n", file, 1);
    refuse("name\nann\n", file, "no column \"age\"");
    refuse("age,colour\n30,red\n", file, "no column \"name\"");
    static const char *const mixed[] = {"label", "c2", "c1"};
    file = (struct sotto_device_file){
        .names = mixed, .count = 3, .person = "c1", .elsewhere = 1};
    parse_rows("ann,label\n", file, 1);
    assert_int_equal(sotto_table_columns(table), 2);
    file.elsewhere = 0;
    refuse("ann,label\n", file, "no column \"label\"");
}

/* ---- Rows --------------------------------------------------------------- */

/* Whatever one line holds, the others are what they are without it. */
static void
test_apart(void **state)
{
    (void)state;
    static const char *const odds[] = {
        "x,\xff,1",  "x,\"red,30", "x,1,2,3", "x",        "",  "\"\"\"",
        "x,a\rb,30", "\"",         ",,,",     "name,age", "x", "x,\"a\"b,1"};
    char text[200];
    for (size_t i = 0; i < sizeof odds / sizeof *odds; i++) {
        (void)snprintf(text, sizeof text,
                       "name,colour,age\nann,red,30\n%s\nbob,blue,40\n",
                       odds[i]);
        parse_rows(text, ask_named(true), 3);
        check_cell(0, 0, "ann");
        check_cell(0, 1, "red");
        check_cell(2, 0, "bob");
        check_cell(2, 2, "40");
        assert_int_equal(sotto_table_line(table, 2), 4);
        assert_int_equal(odd.lines, 1);
        assert_int_equal(odd.first, 3);
    }
    parse_rows("name,colour,age\nann,red,30\n", ask_named(true), 1);
    assert_int_equal(odd.lines, 0);
}

static void
test_labels(void **state)
{
    (void)state;
    static const struct {
        const char *text, *one, *two;
        size_t extra;
    } cases[] = {
        {"7\n1\n", "7", "1", 0},       {"7\n\n", "7", NULL, 0},
        {"", NULL, NULL, 0},           {"\n1", NULL, "1", 0},
        {"\n\n", NULL, NULL, 0},       {"NA\n\xff", NULL, NULL, 0},
        {"7,1\n1\n", NULL, "1", 0},    {"\"7\n1\n", NULL, "1", 0},
        {"7\n1\n7\n7\n", "7", "1", 2}, {"label\n7\n", "label", "7", 0},
    };
    char headed[64];
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        bool header = i % 2 == 1;
        (void)snprintf(headed, sizeof headed, "%s%s", header ? "label\n" : "",
                       cases[i / 2].text);
        parse_rows(headed, ask_labels(2, header), 2);
        assert_string_equal(sotto_table_name(table, 0), "label");
        check_cell(0, 0, cases[i / 2].one);
        check_cell(1, 0, cases[i / 2].two);
        assert_int_equal(odd.extra, cases[i / 2].extra);
    }
    refuse("digit\n7\n1\n", ask_labels(2, true), "no column \"label\"");
    refuse("", ask_labels(2, true), "no column \"label\"");
}

/* ---- Files -------------------------------------------------------------- */

static enum sotto_status
read_bytes(const char *name, const void *bytes, size_t size)
{
    struct sotto_device_file file = ask_made(false);
    FILE *to = fopen(in_folder(name), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    sotto_table_free(table);
    table = NULL;
    return sotto_device_table_read(in_folder(name), &file, &table, &odd, &err);
}

static void
read_file(const char *name, const void *bytes, size_t size, size_t rows)
{
    assert_int_equal(read_bytes(name, bytes, size), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), rows);
}

/* A file is what its name says, whatever it begins with. */
static void
test_formats(void **state)
{
    (void)state;
    read_file("a.csv", "\0\0\x08\x01,2,3\nann,2,3\n", 17, 2);
    read_file("b", "\x1f\x8b\x08\x01,2,3\nann,2,3\n", 17, 2);
    read_file("c.txt", "\x93NUMPY,2,3\nann,2,3\n", 19, 2);
}

static void
test_file_errors(void **state)
{
    (void)state;
    struct sotto_device_file file = ask_made(false);
    assert_int_equal(
        sotto_device_table_read("/none/at/all", &file, &table, &odd, &err),
        SOTTO_STATUS_IO);
    assert_int_equal(read_bytes("d.csv.gz", "ann,2,3\n", 8),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(read_bytes("e.npy", "ann,2,3\n", 8), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "is text"));
    assert_int_equal(read_bytes("f-ubyte", "\xff", 1), SOTTO_STATUS_INPUT);
    assert_null(table);
}

/* Nothing that was read lies in memory that was given back. */
static void
test_wiped(void **state)
{
    (void)state;
    freed_watch("crimson", 7);
    parse_rows("ann,x,crimson\nbob,x,crimson", ask_made(false), 2);
    sotto_table_free(table);
    table = NULL;
    refuse("name,age\nann,crimson", ask_named(true), "no column");
    read_file("g.csv", "ann,2,\"crimson\"", 15, 1);
    sotto_table_free(table);
    table = NULL;
    assert_int_equal(freed_found(), 0);
}

static void
test_memory(void **state)
{
    (void)state;
    const char *text = "name,colour,age\nann,red,30\nbob,\"b\"\"e\",40\n";
    fail_alloc_at(0);
    parse_rows(text, ask_named(true), 2);
    long count = fail_alloc_count();
    assert_true(count > 5);
    for (long i = 1; i <= count; i++) {
        sotto_table_free(table);
        table = NULL;
        fail_alloc_at(i);
        struct sotto_device_file file = ask_named(true);
        assert_int_equal(sotto_device_table_parse(text, strlen(text), "f",
                                                  &file, &table, &odd, &err),
                         SOTTO_STATUS_MEMORY);
        assert_null(table);
    }
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_header, setup, teardown),
        cmocka_unit_test_setup_teardown(test_public_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_headless, setup, teardown),
        cmocka_unit_test_setup_teardown(test_person_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(test_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_formats, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wiped, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
