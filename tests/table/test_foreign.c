/*
 * test_foreign.c: files in other forms are told by their first bytes, and no
 * table is taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sotto/sotto.h"

static enum sotto_status
parse(const char *data, size_t size, struct sotto_error *err)
{
    struct sotto_table *table = NULL;
    enum sotto_status status =
        sotto_table_parse(data, size, "x", NULL, &table, err);
    sotto_table_free(table);
    return status;
}

static void
test_others(void **state)
{
    static const struct {
        const char *start;
        size_t size;
        const char *said;
    } row[] = {{"PK\003\004\024", 5, "x: this is a zip archive"},
               {"PAR1\025\004", 6, "x: this is a Parquet file"},
               {"\x80\004\x95", 3, "x: this is a pickle"},
               {"SQLite format 3", 16, "x: this is an SQLite database"},
               {"X\n\0\0\0\3", 6, "x: this is R's own data"},
               {"[{\"a\": 1}]", 10, "x: this is JSON"},
               {"<html><p>a,b\n", 13, "x: this is a web page"},
               {"12345678{\"__metadata__\":{}}", 27, "x: this is a mechanism"}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct sotto_error err;
        memset(&err, 0x5a, sizeof err);
        assert_int_equal(parse(row[i].start, row[i].size, &err),
                         SOTTO_STATUS_INPUT);
        assert_int_equal(err.status, SOTTO_STATUS_INPUT);
        assert_memory_equal(err.message, row[i].said, strlen(row[i].said));
    }
}

static void
test_tables(void **state)
{
    static const char *const good[] = {"X\n1\n2\n",     "PAR1,PAR2\n1,2\n",
                                       "STO1,b\n1,2\n", "RDX2\n1\n",
                                       "PK,b\n1,2\n",   "[a],{b}\n1,2\n"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct sotto_error err = {0};
        assert_int_equal(parse(good[i], strlen(good[i]), &err),
                         SOTTO_STATUS_OK);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_others),
                                       cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
