/*
 * test_pca.c: principal components as a mechanism.
 */
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "mechanism/rows.h"
#include "random/draw.h"

/* Rows along (3, 4)/5 with deviation 2, across it with 1/2; about (10, -20). */
static struct sotto_table *
ellipse(size_t rows, bool flat)
{
    size_t room = 64 * (rows + 1), used;
    char *text = malloc(room);
    struct sotto_table *table = NULL;
    struct seeded seeded;
    assert_non_null(text);
    seeded_init(&seeded, 4, 0);
    used = (size_t)snprintf(text, room, "x,y,k\n");
    for (size_t i = 0; i < rows; i++) {
        double along = sqrt(12) * 2 * (uniform(&seeded) - 0.5);
        double across = sqrt(12) * 0.5 * (uniform(&seeded) - 0.5);
        across = flat ? 0 : across;
        used += (size_t)snprintf(text + used, room - used, "%.9f,%.9f,%s\n",
                                 10 + 0.6 * along - 0.8 * across,
                                 -20 + 0.8 * along + 0.6 * across,
                                 along > 0 ? "up" : "down");
    }
    must(sotto_table_parse(text, used, "ellipse", NULL, &table, &err));
    free(text);
    return table;
}

static struct sotto_mechanism *
train(const struct sotto_table *table, const struct pca_options *options)
{
    struct sotto_mechanism *mechanism = NULL;
    must(train_pca(table, options, in_folder("m.sotto"), in_folder("m.analyst"),
                   &mechanism, &err));
    return mechanism;
}

/* The share inside is as asked, components are uncorrelated and in the order
   of their variance, whitened ones of equal variance. */
static void
check_map(bool whiten)
{
    enum { ROWS = 2000 };
    struct pca_options options = {.eps = "5",
                                  .label = "k",
                                  .d = 2,
                                  .inside = 0.8,
                                  .whiten = whiten,
                                  .threads = 1};
    struct sotto_table *table = ellipse(ROWS, false);
    struct sotto_mechanism *mechanism = train(table, &options);
    struct rows rows;
    size_t inside = 0;
    double sum[2] = {0}, xx = 0, yy = 0, xy = 0;
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        float z[2];
        rows_encode(&rows, i, NULL, z);
        inside += fabsf(z[0]) + fabsf(z[1]) <= 1;
        sum[0] += (double)z[0];
        sum[1] += (double)z[1];
        xx += (double)z[0] * (double)z[0];
        yy += (double)z[1] * (double)z[1];
        xy += (double)z[0] * (double)z[1];
    }
    assert_int_equal(inside, 1600);
    assert_true(fabs(sum[0]) < 1e-2 && fabs(sum[1]) < 1e-2);
    assert_true(fabs(xy) < 1e-3 * sqrt(xx * yy));
    if (whiten) {
        assert_true(fabs(xx / yy - 1) < 1e-3);
    } else {
        assert_true(xx > 3 * yy);
    }
    rows_clear(&rows);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_map(void **state)
{
    (void)state;
    check_map(false);
    check_map(true);
}

/* With all components the way back is exact; with one it is the nearest point
   of a line, so the error is what the other one varies. */
static void
check_decoder(size_t d, bool whiten, double most)
{
    enum { ROWS = 300 };
    struct pca_options options = {.eps = "5",
                                  .label = "k",
                                  .d = d,
                                  .inside = 1,
                                  .whiten = whiten,
                                  .steps = 1u << 20};
    struct sotto_table *table = ellipse(ROWS, false);
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_analyst *analyst = NULL;
    struct rows rows;
    double error = 0;
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    assert_int_equal(sotto_analyst_x_width(analyst), 2);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        const int32_t *q = sotto_analyst_prior(analyst) + i * d;
        float x[2], back[2];
        int32_t again[2];
        double z[2];
        for (size_t j = 0; j < d; j++) {
            z[j] = q[j] / 0x1p20;
        }
        rows_q(&rows, i, again);
        assert_memory_equal(q, again, d * sizeof *q);
        rows_encode(&rows, i, x, NULL);
        must(sotto_analyst_decode(analyst, z, 1, back, &err));
        error +=
            pow((double)(x[0] - back[0]), 2) + pow((double)(x[1] - back[1]), 2);
    }
    if (!(error / ROWS < most) || (d == 1 && error / ROWS < most / 10)) {
        fail_msg("d %zu: mean squared error %g", d, error / ROWS);
    }
    rows_clear(&rows);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_decoder(void **state)
{
    (void)state;
    check_decoder(2, false, 1e-8);
    check_decoder(2, true, 1e-8);
    check_decoder(1, false, 0.3);
    check_decoder(1, true, 0.3);
}

static void
test_threads(void **state)
{
    struct pca_options options = {.eps = "5", .threads = 1};
    struct sotto_table *table = images(500);
    (void)state;
    must(train_pca(table, &options, in_folder("a.sotto"),
                   in_folder("a.analyst"), NULL, &err));
    options.threads = 3;
    must(train_pca(table, &options, in_folder("b.sotto"),
                   in_folder("b.analyst"), NULL, &err));
    assert_true(same_files(in_folder("a.sotto"), in_folder("b.sotto")));
    assert_true(same_files(in_folder("a.analyst"), in_folder("b.analyst")));
    sotto_table_free(table);
}

/* One of three colours each: their indicators add up to 1. */
static struct sotto_table *
colours(size_t rows)
{
    static const char *const colour[] = {"blue", "red", "green"};
    struct sotto_table *table = NULL;
    struct seeded seeded;
    char *text = malloc(16 * (rows + 1)), *at = text;
    seeded_init(&seeded, 1, 1);
    at += sprintf(at, "k,c\n");
    for (size_t i = 0; i < rows; i++) {
        at += sprintf(at, "%s,%s\n", i % 2 == 0 ? "x" : "y",
                      colour[draw_below(&seeded.random, 3)]);
    }
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    free(text);
    return table;
}

static void
test_refused(void **state)
{
    struct pca_options options = {.eps = "5", .label = "k", .d = 2};
    struct sotto_table *table = ellipse(50, true), *whole = ellipse(50, false);
    struct sotto_table *constant = NULL, *dependent = colours(300);
    static const char text[] = "k,a,b\nx,1,2\ny,1,2\nx,1,2\n";
    (void)state;
    must(sotto_table_parse(text, sizeof text - 1, "-", NULL, &constant, &err));
#define REFUSED(status, message, rows)                                         \
    must_fail(                                                                 \
        SOTTO_STATUS_##status, message,                                        \
        train_pca(rows, &options, in_folder("m.sotto"), NULL, NULL, &err));    \
    assert_int_equal(entries(), 0)
    REFUSED(INPUT, "1 direction only", table); /* all on one line */
    options.d = 3;
    REFUSED(LIMIT, "d is 3, and 2 inputs have", whole);
    REFUSED(LIMIT, "give 2 or less", whole);
    options.d = 2;
    REFUSED(INPUT, "does not vary", constant);
    options.d = 1;
    REFUSED(INPUT, "does not vary", constant);
    options.d = 4; /* blue, red, green and other: the last never */
    REFUSED(INPUT, "2 directions only: give 2 or less", dependent);
    options.d = 2;
    options.inside = 1.5;
    REFUSED(USAGE, "inside", whole);
    options.inside = NAN;
    REFUSED(USAGE, "inside", whole);
    options.inside = 0;
    options.eps = NULL;
    REFUSED(USAGE, "eps is missing", whole);
#undef REFUSED
    sotto_table_free(table);
    sotto_table_free(whole);
    sotto_table_free(constant);
    sotto_table_free(dependent);
}

static void
test_memory(void **state)
{
    struct pca_options options = {
        .eps = "5", .label = "k", .d = 1, .threads = 1};
    struct sotto_table *table = ellipse(20, false);
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train_pca(table, &options, in_folder("m.sotto"),
                           in_folder("m.analyst"), &mechanism, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 20);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_map),     TEST(test_decoder), TEST(test_threads),
        TEST(test_refused), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
