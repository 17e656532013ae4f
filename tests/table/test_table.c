/*
 * test_table.c: telling a file's format, looking at cells, joining.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "fail_alloc.h"
#include "table/table.h"

static char folder[64];
static struct sotto_error err;

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/test_table.XXXXXX");
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Writes FOLDER/name, gzipped or not; the path is good until the next call. */
static const char *
put(const char *name, const void *bytes, size_t size, bool gzipped)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile file = gzopen(path, gzipped ? "wb" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, bytes, (unsigned)size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
    return path;
}

static struct sotto_table *
parse(const void *bytes, size_t size)
{
    struct sotto_table *table = NULL;
    assert_int_equal(sotto_table_parse(bytes, size, "-", NULL, &table, &err),
                     SOTTO_STATUS_OK);
    return table;
}

static struct sotto_table *
parse_text(const char *text)
{
    return parse(text, strlen(text));
}

static struct sotto_table *
parse_labels(void)
{
    static const uint8_t file[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 42};
    return parse(file, sizeof file);
}

static struct sotto_table *
parse_images(void)
{
    static const uint8_t file[] = {0, 0, 8, 2, 0, 0, 0, 2,
                                   0, 0, 0, 2, 1, 2, 3, 4};
    return parse(file, sizeof file);
}

static void
assert_error(enum sotto_status status, enum sotto_status expected,
             const char *message)
{
    assert_int_equal(status, expected);
    assert_int_equal(err.status, expected);
    assert_int_equal(err.position, 0);
    assert_string_equal(err.message, message);
    memset(&err, 0xa5, sizeof err);
}

/* ---- Reading ------------------------------------------------------------ */

static void
test_read(void **state)
{
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 42};
    (void)state;
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        struct sotto_table *table = NULL;
        const char *path = put("a.csv", "a,b\n1,x\n", 8, gzipped);
        assert_int_equal(sotto_table_read(path, NULL, &table, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_table_columns(table), 2);
        assert_string_equal(sotto_table_name(table, 1), "b");
        sotto_table_free(table);

        path = put("b", idx, sizeof idx, gzipped);
        assert_int_equal(sotto_table_read(path, NULL, &table, &err),
                         SOTTO_STATUS_OK);
        assert_true(sotto_table_cell(table, 1, 0).number == 42.0);
        sotto_table_free(table);
    }
}

static void
test_read_failures(void **state)
{
    const struct sotto_table_options options = {.header = 1};
    struct sotto_table *table = NULL;
    char path[256];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/none.csv", folder);
    assert_int_equal(sotto_table_read(path, &options, &table, &err),
                     SOTTO_STATUS_IO);
    assert_int_equal(err.status, SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "none.csv"));

    const char *bad = put("bad.csv.gz", "a,b\n1\n", 6, true);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_table_read(bad, &options, &table, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 4);
    assert_non_null(strstr(err.message, "bad.csv.gz: row 1 (line 2) has 1"));

    assert_int_equal(truncate(bad, 15), 0);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_table_read(bad, &options, &table, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 15);
    assert_non_null(strstr(err.message, "bad.csv.gz: the gzip data is cut"));
    assert_int_equal(sotto_table_read(bad, &options, &table, NULL),
                     SOTTO_STATUS_INPUT);
    assert_null(table);
}

/* A size too large is refused before anything is allocated or read. */
static void
test_too_large(void **state)
{
    struct sotto_table *table = NULL;
    (void)state;
    assert_error(sotto_table_parse("", TABLE_MAX_BYTES + 1, "big.csv", NULL,
                                   &table, &err),
                 SOTTO_STATUS_LIMIT,
                 "big.csv: has 4294967296 bytes, more than 4294967295, the "
                 "most that is read: split it");
    assert_null(table);
}

/* Of a very long name the end is shown, and what is wrong after it. */
static void
test_long_name(void **state)
{
    struct sotto_table *table = NULL;
    char name[1001];
    (void)state;
    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 8, "end.csv", 8);
    assert_int_equal(sotto_table_parse("a,b\n1\n", 6, name, NULL, &table, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "nend.csv: row 1 (line 2) has 1"));
    assert_non_null(strstr(err.message, "must stand in quotes"));
}

/* ---- Looking ------------------------------------------------------------ */

static void
test_out_of_range(void **state)
{
    struct sotto_table *table = parse_text("a,b\n1,x\n");
    (void)state;
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);
    assert_int_equal(sotto_table_cell(table, 0, 2).kind, SOTTO_VALUE_MISSING);
    assert_null(sotto_table_cell(table, SIZE_MAX, SIZE_MAX).data);
    assert_string_equal(sotto_table_name(table, 2), "");
    assert_int_equal(sotto_table_kind(table, 2), SOTTO_COLUMN_NUMBER);
    assert_int_equal(sotto_table_width(table, 2), 0);
    assert_int_equal(sotto_table_line(table, 1), 0);
    sotto_table_free(table);
    sotto_table_free(NULL);
}

static void
test_set_category(void **state)
{
    struct sotto_table *table = parse_text("a,b\n1.50,x\n,y\n");
    struct sotto_table *images = parse_images();
    (void)state;
    assert_int_equal(sotto_table_set_category(table, 0, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_set_category(table, 1, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_CATEGORY);
    struct sotto_value value = sotto_table_cell(table, 0, 0);
    assert_int_equal(value.kind, SOTTO_VALUE_TEXT);
    assert_true(value.number == 1.5);
    assert_int_equal(value.size, 4);
    assert_memory_equal(value.data, "1.50", 4);
    assert_int_equal(sotto_table_cell(table, 1, 0).kind, SOTTO_VALUE_MISSING);

    assert_error(sotto_table_set_category(table, 2, &err), SOTTO_STATUS_USAGE,
                 "there is no column 3: the table has 2");
    assert_error(sotto_table_set_category(images, 0, &err), SOTTO_STATUS_USAGE,
                 "column \"image\" holds images: it cannot be a category");
    sotto_table_free(table);
    sotto_table_free(images);
}

/* ---- Joining ------------------------------------------------------------ */

/* Images, labels and text in one table, which outlives its parts. */
static void
test_join(void **state)
{
    struct sotto_table *table = parse_images();
    const char *name = sotto_table_name(table, 0);
    (void)state;
    assert_int_equal(sotto_table_join(table, parse_labels(), &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_table_join(table, parse_text("a,b\n1,x\n2,y\n"), &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), 2);
    assert_int_equal(sotto_table_columns(table), 4);
    assert_ptr_equal(sotto_table_name(table, 0), name);
    assert_string_equal(sotto_table_name(table, 1), "label");
    assert_string_equal(sotto_table_name(table, 3), "b");
    assert_int_equal(sotto_table_kind(table, 0), SOTTO_COLUMN_BYTES);
    assert_int_equal(sotto_table_width(table, 0), 2);
    assert_memory_equal(sotto_table_cell(table, 1, 0).data, "\x03\x04", 2);
    assert_true(sotto_table_cell(table, 1, 1).number == 42.0);
    assert_true(sotto_table_cell(table, 0, 2).number == 1.0);
    assert_memory_equal(sotto_table_cell(table, 1, 3).data, "y", 1);
    assert_int_equal(sotto_table_line(table, 0), 0);
    sotto_table_free(table);

    table = parse_text("a,b\n1,x\n2,y\n");
    assert_int_equal(sotto_table_join(table, parse_labels(), &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_line(table, 1), 3);
    sotto_table_free(table);
}

/* Columns that no file named are numbered on. */
static void
test_join_numbers(void **state)
{
    struct sotto_table *table = parse_text("1,2\n");
    (void)state;
    assert_int_equal(sotto_table_join(table, parse_text("3,x\n"), &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_join(table, parse_text("c6\n4\n"), &err),
                     SOTTO_STATUS_OK);
    static const char *const names[] = {"c1", "c2", "c3", "c4", "c6"};
    assert_int_equal(sotto_table_columns(table), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(sotto_table_name(table, i), names[i]);
    }
    struct sotto_table *other = parse_text("5\n");
    assert_error(sotto_table_join(table, other, &err), SOTTO_STATUS_INPUT,
                 "both tables have a column \"c6\": rename one");
    assert_string_equal(sotto_table_name(other, 0), "c1");
    sotto_table_free(table);
    sotto_table_free(other);
}

static void
test_join_failures(void **state)
{
    struct sotto_table *table = parse_text("a\n1\n");
    struct sotto_table *longer = parse_text("b\n1\n2\n");
    struct sotto_table *twin = parse_text("z,a\n1,2\n");
    (void)state;
    assert_error(sotto_table_join(table, longer, &err), SOTTO_STATUS_INPUT,
                 "the tables have 1 and 2 rows: give files that describe the "
                 "same records in the same order");
    assert_error(sotto_table_join(table, twin, &err), SOTTO_STATUS_INPUT,
                 "both tables have a column \"a\": rename one");
    assert_error(sotto_table_join(table, table, &err), SOTTO_STATUS_INPUT,
                 "a table cannot be joined to itself");
    assert_int_equal(sotto_table_columns(table), 1);
    assert_int_equal(sotto_table_columns(twin), 2);
    sotto_table_free(table);
    sotto_table_free(longer);
    sotto_table_free(twin);
}

/* ---- Lack of memory ----------------------------------------------------- */

static void
test_memory_read(void **state)
{
    const char *path = put("a.csv.gz", "a,b\n1,x\n", 8, true);
    struct sotto_table *table = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        memset(&err, 0xa5, sizeof err);
        sotto_table_free(table);
        table = NULL;
        fail_alloc_at(++n);
        status = sotto_table_read(path, NULL, &table, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(table);
            assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
    sotto_table_free(table);
}

/* A join that fails leaves both tables as they were. */
static void
test_memory_join(void **state)
{
    struct sotto_table *table = parse_text("1,2\n");
    struct sotto_table *other = parse_text("3,x\n");
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_table_join(table, other, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_error(status, SOTTO_STATUS_MEMORY, "out of memory");
            assert_int_equal(sotto_table_columns(table), 2);
            assert_string_equal(sotto_table_name(table, 1), "c2");
            assert_string_equal(sotto_table_name(other, 1), "c2");
        }
    } while (status != SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_int_equal(n, 5);
    assert_string_equal(sotto_table_name(table, 3), "c4");
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_read),          TEST(test_read_failures),
        TEST(test_too_large),     TEST(test_long_name),
        TEST(test_out_of_range),  TEST(test_set_category),
        TEST(test_join),          TEST(test_join_numbers),
        TEST(test_join_failures), TEST(test_memory_read),
        TEST(test_memory_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
