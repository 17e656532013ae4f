/*
 * test_crew.c: rows through a device for each thread: what one device gives.
 */
#include "mechanism/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "fail_alloc.h"
#include "host/pool.h"
#include "mechanism/compose.h"

enum { ROWS = 500, THREADS = 4 };

static struct sotto_error err;

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* z = (a + b, a - b) */
static struct sotto_mechanism *
make(void)
{
    static const struct schema_column column[] = {
        {"a", SOTTO_COLUMN_NUMBER, 0, NULL, true, 0, 1},
        {"b", SOTTO_COLUMN_NUMBER, 0, NULL, true, 0, 1},
    };
    static const float weight[] = {1, 1, 1, -1}, bias[] = {0, 0};
    static const struct layer layer = {2, 2, ACTIVATION_NONE, weight, bias};
    static const struct compose_part part = {.covers = "features",
                                             .channel = "laplace",
                                             .eps = DECIMAL_UNIT,
                                             .blocks = 1,
                                             .d = 2,
                                             .l = 100};
    struct compose_spec spec = {"crew", "crew", "not used", DECIMAL_UNIT,
                                column, 2,      &layer,     1,
                                &part,  1};
    struct sotto_mechanism *mechanism = NULL;
    must(compose_open(&spec, &mechanism, &err));
    return mechanism;
}

/* Row i has a = i, b = 1. */
static struct sotto_table *
numbers(const char *second, size_t n)
{
    char *text = malloc(32 * (n + 2)), *at = text;
    struct sotto_table *table = NULL;
    assert_non_null(text);
    at += sprintf(at, "a,%s\n", second);
    for (size_t i = 0; i < n; i++) {
        at += sprintf(at, "%zu,1\n", i);
    }
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    free(text);
    return table;
}

struct result {
    float z[ROWS][2];
    unsigned times[ROWS];
};

static void
encode(void *context, struct rows *rows, size_t row, unsigned worker)
{
    struct result *result = context;
    assert_true(worker < THREADS);
    rows_encode(rows, row, NULL, result->z[row]);
    result->times[row]++;
}

/* Every number of the range once, and none beside it. */
static void
test_rows(void **state)
{
    static const size_t range[][2] = {
        {0, ROWS}, {0, 1}, {3, 3}, {7, 40}, {ROWS - 1, ROWS}};
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = numbers("b", ROWS);
    (void)state;
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        struct host_pool *pool = NULL;
        struct crew crew;
        must(host_pool_new(threads, &pool, &err));
        must(crew_init(&crew, mechanism, table, pool, &err));
        assert_int_equal(crew.devices, threads);
        assert_ptr_equal(crew.rows[0].mechanism, mechanism);
        for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
            static struct result result;
            memset(&result, 0, sizeof result);
            crew_run(&crew, range[i][0], range[i][1], encode, &result);
            for (size_t row = 0; row < ROWS; row++) {
                bool in = row >= range[i][0] && row < range[i][1];
                assert_int_equal(result.times[row], in);
                assert_true(!in || (result.z[row][0] == (float)(row + 1) &&
                                    result.z[row][1] == (float)row - 1));
            }
        }
        crew_clear(&crew);
        host_pool_free(pool);
    }
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

static unsigned ticks;

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    const unsigned *most = context;
    assert_string_equal(what, "encoding");
    assert_true(done < total);
    return ticks++ < *most;
}

static void
count_row(void *context, struct rows *rows, size_t row, unsigned worker)
{
    size_t *most = context;
    (void)rows;
    (void)worker;
    *most = row > *most ? row : *most;
}

/* Numbers that are no rows, a round at a time, until somebody says stop. */
static void
test_watched(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = numbers("b", ROWS);
    unsigned most = 3;
    const struct sotto_watch watch = {.tick = tick, .context = &most};
    const struct sotto_watch none = {0};
    struct crew crew;
    size_t last = 0;
    (void)state;
    must(crew_init(&crew, mechanism, table, NULL, &err));
    must(crew_run_watched(&crew, 5000, &watch, "encoding", count_row, &last,
                          &err));
    assert_int_equal(last, 4999);
    assert_int_equal(ticks, 3);
    assert_int_equal(crew_run_watched(&crew, 5000, &watch, "encoding",
                                      count_row, &last, &err),
                     SOTTO_STATUS_STOPPED);
    assert_string_equal(err.message, "stopped while encoding");
    assert_int_equal(ticks, 4);
    must(crew_run_watched(&crew, 6000, &none, "encoding", count_row, &last,
                          &err));
    assert_int_equal(last, 5999);
    crew_clear(&crew);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

/* A few rows are no work for many devices; no pool is one thread. */
static void
test_few(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *few = numbers("b", 3), *many = numbers("b", ROWS);
    struct host_pool *pool = NULL;
    static struct result result;
    struct crew crew;
    (void)state;
    must(host_pool_new(THREADS, &pool, &err));
    must(crew_init(&crew, mechanism, few, pool, &err));
    assert_int_equal(crew.devices, 1);
    crew_run(&crew, 0, 3, encode, &result);
    assert_true(result.z[2][0] == 3);
    crew_clear(&crew);
    must(crew_init(&crew, mechanism, many, NULL, &err));
    assert_int_equal(crew.devices, 1);
    crew_run(&crew, 0, ROWS, encode, &result);
    assert_true(result.z[ROWS - 1][0] == ROWS);
    crew_clear(&crew);
    host_pool_free(pool);
    sotto_table_free(few);
    sotto_table_free(many);
    sotto_mechanism_free(mechanism);
}

static void
test_refused(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = numbers("c", ROWS);
    struct crew crew;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(crew_init(&crew, mechanism, table, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "no column \"b\""));
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = make();
    struct sotto_table *table = numbers("b", ROWS);
    struct host_pool *pool = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    must(host_pool_new(2, &pool, &err));
    do {
        struct crew crew;
        fail_alloc_at(++n);
        status = crew_init(&crew, mechanism, table, pool, &err);
        if (status == SOTTO_STATUS_OK) {
            crew_clear(&crew);
        } else {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 5);
    host_pool_free(pool);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_watched),
        cmocka_unit_test(test_few),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
