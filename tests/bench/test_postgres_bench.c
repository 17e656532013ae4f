/*
 * test_postgres_bench.c: the benchmark counts what collectors took, beside
 * COPY, and leaves nothing on the server. An argument is the seconds of a
 * round.
 */
#include "../store/postgres_server.h"

#include "bench/postgres_bench.h"

static double seconds = 0.05;

struct rows {
    size_t count;
    double ratio[8];
};

static void
take_row(void *context, const struct sotto_bench_row *row)
{
    struct rows *rows = context;
    print_message("%s, %s, batches of %zu: %.0f a second, %s %.0f: %.2f; %.0f "
                  "in a group\n",
                  row->name, row->setting, row->batch, row->ours, row->against,
                  row->limit, row->ratio, row->group);
    assert_true(row->ours > 0 && row->limit > 0 && row->group >= 1);
    rows->ratio[rows->count++] = row->ratio;
}

static void
test_rows(void **state)
{
    static const size_t batches[] = {100, 0};
    const struct postgres_bench_size size = {batches, seconds > 1 ? 64 : 8,
                                             seconds > 1 ? 3 : 1, seconds};
    struct rows rows = {0};
    (void)state;
    (void)setenv("PGHOST", server.socket, 1);
    (void)setenv("PGUSER", "sotto", 1);
    (void)setenv("PGDATABASE", "postgres", 1);
    MUST(postgres_bench_run(&size, take_row, &rows, &said));
    assert_int_equal(rows.count, 2);
    assert_int_equal(server_ask("SELECT count(*) FROM pg_namespace "
                                "WHERE nspname LIKE 'sotto%'"),
                     0);
    (void)setenv("PGHOST", "/nowhere", 1);
    assert_int_equal(postgres_bench_run(&size, take_row, &rows, &said),
                     SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "PGHOST"));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
    };
    if (!server_find()) {
        return SKIPPED;
    }
    if (argc == 2) {
        seconds = strtod(argv[1], NULL);
    }
    return cmocka_run_group_tests(tests, server_set_up, server_tear_down);
}
