/*
 * test_direct_parts.c: mixed columns through every channel there is.
 */
#include "direct_fixture.h"

#include "base/decimal.h"
#include "client/device.h"
#include "fail_alloc.h"
#include "mechanism/mechanism.h"

/* Categories stand between the numbers; the label is a number, too. */
static const char mixed[] = "a,colour,b,c,size,y\n"
                            "0,red,-10,100,S,5\n"
                            "2,blue,30,500,M,9\n"
                            "1,red,0,300,L,7\n";

/* What a part must be; l 0 for symbols. */
struct expected {
    const char *covers, *channel, *domain;
    size_t blocks, size, l;
    double eps;
};

static void
assert_parts(const struct sotto_mechanism *mechanism,
             const struct expected *expected, size_t count)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(mechanism, &info);
    assert_int_equal(info.parts, count);
    for (size_t i = 0; i < count; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        assert_string_equal(part.covers, expected[i].covers);
        assert_string_equal(part.channel, expected[i].channel);
        assert_string_equal(part.domain, expected[i].domain);
        assert_int_equal(part.blocks, expected[i].blocks);
        assert_int_equal(part.size, expected[i].size);
        assert_int_equal(part.l, expected[i].l);
        assert_true(part.eps == expected[i].eps);
    }
}

static void
check_parts(const struct direct_options *options,
            const struct expected *expected, size_t count)
{
    struct sotto_table *table = parse(mixed, strlen(mixed));
    struct sotto_mechanism *mechanism = train(table, options);
    assert_parts(mechanism, expected, count);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Six shares of 0.5: three numbers, two categories, the label. */
static void
test_channels(void **state)
{
    static const struct expected laplace[] = {
        {"features", "laplace", "lattice", 3, 1, 4096, 0.5},
        {"label", "window", "lattice", 1, 1, 4096, 0.5},
        {"features", "flip", "symbols", 1, 3, 0, 0.5},
        {"features", "flip", "symbols", 1, 4, 0, 0.5}};
    static const struct expected window[] = {
        {"features", "window", "lattice", 3, 1, 4096, 0.5},
        {"label", "laplace", "lattice", 1, 1, 4096, 0.5},
        {"features", "subset", "symbols", 1, 3, 0, 0.5},
        {"features", "subset", "symbols", 1, 4, 0, 0.5}};
    static const struct expected duchi[] = {
        {"features", "duchi", "cube", 1, 3, 4096, 1.5},
        {"label", "window", "lattice", 1, 1, 4096, 0.5},
        {"features", "flip", "symbols", 1, 3, 0, 0.5},
        {"features", "flip", "symbols", 1, 4, 0, 0.5}};
    static const struct expected gaussian[] = {
        {"features", "gaussian", "ball", 1, 3, 256, 1.5},
        {"label", "duchi", "cube", 1, 1, 4096, 0.5},
        {"features", "flip", "symbols", 1, 3, 0, 0.5},
        {"features", "flip", "symbols", 1, 4, 0, 0.5}};
    struct direct_options options = {.eps = "3", .label = "y"};
    (void)state;
    check_parts(&options, laplace, 4);
    options.numbers = "window";
    options.categories = "subset";
    options.label_channel = "laplace";
    check_parts(&options, window, 4);
    options.numbers = "duchi";
    options.categories = "flip";
    options.label_channel = NULL;
    check_parts(&options, duchi, 4);
    options.numbers = "gaussian";
    options.label_channel = "duchi";
    options.delta = "0.000001";
    check_parts(&options, gaussian, 4);
}

/* The label in the middle makes two runs, which share the delta. */
static void
test_runs(void **state)
{
    static const struct expected runs[] = {
        {"features", "gaussian", "ball", 1, 1, 64, 0.5},
        {"label", "window", "lattice", 1, 1, 64, 0.5},
        {"features", "gaussian", "ball", 1, 2, 64, 1},
        {"features", "flip", "symbols", 1, 3, 0, 0.5},
        {"features", "flip", "symbols", 1, 4, 0, 0.5}};
    struct direct_options options = {.eps = "3",
                                     .label = "b",
                                     .numbers = "gaussian",
                                     .delta = "0.000000000005",
                                     .l = 64};
    struct sotto_table *table = parse(mixed, strlen(mixed));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    (void)state;
    assert_parts(mechanism, runs, 5);
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.delta_text, "0.000000000004");
    sotto_mechanism_part(mechanism, 2, &part);
    assert_true(part.delta == 2e-12);
    assert_int_equal(sotto_mechanism_client(mechanism)->report.part[2].from, 2);
    sotto_mechanism_free(mechanism);
    options.label_channel = "gaussian";
    options.delta = "0.000000000003";
    mechanism = train(table, &options);
    sotto_mechanism_part(mechanism, 1, &part);
    assert_string_equal(part.channel, "gaussian");
    assert_true(part.delta == 1e-12);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* An image's samples are numbers like others; a part has at most 4096. */
static struct sotto_table *
images(uint32_t count)
{
    uint8_t *file = calloc(1, 16 + count);
    struct sotto_table *table;
    assert_non_null(file);
    file[2] = 8; /* bytes, 3 dimensions: 1 x 1 x count */
    file[3] = 3;
    file[7] = file[11] = 1;
    for (int i = 0; i < 4; i++) {
        file[12 + i] = (uint8_t)(count >> (24 - 8 * i));
    }
    table = parse(file, 16 + count);
    free(file);
    return table;
}

static void
test_images(void **state)
{
    static const struct expected joint[] = {
        {"features", "duchi", "cube", 1, 4096, 4096, 4.096},
        {"features", "duchi", "cube", 1, 1, 4096, 0.001}};
    struct direct_options options = {.eps = "4.097", .numbers = "duchi"};
    struct sotto_table *table = images(4096), *other = parse("n\n1\n", 4);
    struct sotto_mechanism *mechanism;
    struct sotto_column_info column;
    (void)state;
    assert_int_equal(sotto_table_join(table, other, &err), SOTTO_STATUS_OK);
    mechanism = train(table, &options);
    assert_parts(mechanism, joint, 2);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
    (void)unlink(path);

    table = images(9);
    options.numbers = "gaussian";
    options.delta = "0.01";
    mechanism = train(table, &options);
    sotto_mechanism_column(mechanism, 0, &column);
    assert_true(fabs(column.low) < 1e-9 && fabs(column.high - 255) < 1e-9);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
    (void)unlink(path);

    table = images(4097);
    assert_int_equal(train_direct(table, &options, path, NULL, &err),
                     SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "at most 4096 numbers together"));
    sotto_table_free(table);
}

/*
 * At the corners of their ranges d numbers have the length sqrt(d), and the
 * ball's radius: each comes to +-l/sqrt(d), rounded, and none is clipped. The
 * range is told as it was given.
 */
static void
test_ball_holds_every_corner(void **state)
{
    static const double low[] = {0, -10, 100}, high[] = {2, 30, 500};
    struct direct_options options = {.eps = "3",
                                     .label = "y",
                                     .numbers = "gaussian",
                                     .delta = "0.000001",
                                     .l = 1000};
    struct sotto_table *table = parse(mixed, strlen(mixed));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    static const size_t column[] = {0, 2, 3};
    (void)state;
    for (unsigned corner = 0; corner < 8; corner++) {
        struct sotto_value values[6] = {{.kind = SOTTO_VALUE_MISSING}};
        int32_t q[3];
        for (size_t i = 0; i < 3; i++) {
            values[column[i]].kind = SOTTO_VALUE_NUMBER;
            values[column[i]].number = corner >> i & 1 ? high[i] : low[i];
        }
        schema_apply(&client->encoder, values);
        domain_ball(client->encoder.x, 3, 1000, q);
        for (size_t i = 0; i < 3; i++) { /* 1000/sqrt(3) = 577.35 */
            assert_int_equal(q[i], corner >> i & 1 ? 577 : -577);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        struct sotto_column_info info;
        sotto_mechanism_column(mechanism, column[i], &info);
        assert_true(fabs(info.low - low[i]) < 1e-9);
        assert_true(fabs(info.high - high[i]) < 1e-9);
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- Estimates ---------------------------------------------------------- */

#define REPORTS 4000u
#define Z 4.0 /* two-sided: 1 in 15,000 for each of 6 x 4 intervals */

/* Reports of records (1.5, 20, 200, 6) for the columns a, b, c and y. */
static struct sotto_estimate *
collect(struct sotto_mechanism *mechanism)
{
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    size_t size = sotto_client_report_size(client);
    uint8_t *report = malloc(size);
    struct sotto_estimate *estimate = NULL;
    struct sotto_value values[6] = {
        {.kind = SOTTO_VALUE_NUMBER, .number = 1.5},
        {.kind = SOTTO_VALUE_TEXT, .data = "red", .size = 3},
        {.kind = SOTTO_VALUE_NUMBER, .number = 20},
        {.kind = SOTTO_VALUE_NUMBER, .number = 200},
        {.kind = SOTTO_VALUE_TEXT, .data = "M", .size = 1},
        {.kind = SOTTO_VALUE_NUMBER, .number = 6}};
    assert_non_null(report);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    for (uint32_t i = 0; i < REPORTS; i++) {
        assert_int_equal(
            sotto_simulate(mechanism, 11, i, values, 6, report, size),
            SOTTO_STATUS_OK);
        sotto_estimate_add(estimate, report);
    }
    free(report);
    return estimate;
}

static void
check_estimate(const struct sotto_estimate_row *row)
{
    static const struct {
        const char *name;
        double value, range;
    } truth[] = {{"a", 1.5, 2}, {"b", 20, 40}, {"c", 200, 400}, {"y", 6, 4}};
    bool found = row->category != NULL;
    for (size_t i = 0; i < 4 && !found; i++) {
        found = strcmp(truth[i].name, row->name) == 0;
        if (found) {
            assert_true(row->low <= truth[i].value &&
                        truth[i].value <= row->high);
            assert_true(row->high - row->low < truth[i].range / 2);
            assert_true(fabs(row->value - truth[i].value) <
                        Z * row->noise_deviation + truth[i].range / 100);
        }
    }
    assert_true(found);
}

/* In the columns' own units, whatever the channel: the ball's scaling is
   undone. */
static void
test_estimates(void **state)
{
    static const char *const numbers[] = {"laplace", "window", "duchi",
                                          "gaussian"};
    struct sotto_table *table = parse(mixed, strlen(mixed));
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct direct_options options = {.eps = "24",
                                         .label = "y",
                                         .numbers = numbers[i],
                                         .delta = i == 3 ? "0.000001" : NULL};
        struct sotto_mechanism *mechanism = train(table, &options);
        struct sotto_estimate *estimate = collect(mechanism);
        assert_int_equal(sotto_estimate_rows(estimate), 4 + 3 + 4);
        for (size_t j = 0; j < sotto_estimate_rows(estimate); j++) {
            struct sotto_estimate_row row;
            sotto_estimate_row(estimate, j, Z, &row);
            check_estimate(&row);
        }
        sotto_estimate_free(estimate);
        sotto_mechanism_free(mechanism);
        (void)unlink(path);
    }
    sotto_table_free(table);
}

/* ---- What is refused ---------------------------------------------------- */

static void
test_names(void **state)
{
    struct direct_options options = {.eps = "3", .numbers = "flip"};
    (void)state;
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE,
                   "numbers flip: the channels for numbers are ");
    options.numbers = "lap\x1blace";
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE, "for numbers are ");
    assert_null(strchr(err.message, '\x1b'));
    options.numbers = NULL;
    options.categories = "laplace";
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE,
                   "categories laplace: the channels for categories are "
                   "flip, subset");
    options.categories = "nonesuch";
    assert_refused("n\n1\n2\n", &options, SOTTO_STATUS_USAGE, "nonesuch");
    options.categories = NULL;
    options.label_channel = "window";
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE,
                   "label-channel needs a label");
    options.label = "colour";
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE,
                   "label-channel window: the channels for categories");
    options.label = "y";
    options.label_channel = "subset";
    assert_refused(mixed, &options, SOTTO_STATUS_USAGE,
                   "label-channel subset: the channels for numbers");
}

static void
test_delta(void **state)
{
    static const struct {
        const char *numbers, *delta;
        enum sotto_status status;
        const char *message;
    } rows[] = {
        {"gaussian", NULL, SOTTO_STATUS_USAGE,
         "delta is missing, and the channel 'gaussian' needs one"},
        {"gaussian", "0", SOTTO_STATUS_BUDGET, "delta must lie between"},
        {"gaussian", "0.011", SOTTO_STATUS_BUDGET, "delta must lie between"},
        {"gaussian", "1e-6", SOTTO_STATUS_FORMAT,
         "delta 1e-6: delta must be a plain decimal number"},
        {"gaussian", "0.0000000000001", SOTTO_STATUS_LIMIT, "12 after it"},
        {"gaussian", "0.000000000001", SOTTO_STATUS_BUDGET,
         "too small to be shared by 2 parts"},
        {"duchi", "0.000001", SOTTO_STATUS_USAGE,
         "delta is for a channel that no column goes through"},
        {NULL, "0.000001", SOTTO_STATUS_USAGE,
         "delta is for a channel that no column goes through"},
    };
    struct direct_options options = {.eps = "3", .label = "b"};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        options.numbers = rows[i].numbers;
        options.delta = rows[i].delta;
        assert_refused(mixed, &options, rows[i].status, rows[i].message);
    }
    options.numbers = "gaussian"; /* and nothing is one */
    options.delta = "0.000001";
    options.label = NULL;
    assert_refused("c\nred\nblue\n", &options, SOTTO_STATUS_USAGE,
                   "delta is for a channel that no column goes through");
}

/* Noise that the channel cannot make: the message says what to do. */
static void
test_limit(void **state)
{
    struct direct_options options = {
        .eps = "0.001", .numbers = "gaussian", .delta = "0.000001", .l = 65536};
    struct sotto_table *table = parse(mixed, strlen(mixed));
    (void)state;
    assert_refused(mixed, &options, SOTTO_STATUS_LIMIT,
                   "'gaussian' cannot make the noise for 4 numbers with 65536 "
                   "steps at so small an epsilon: lower it");
    options.l = 1;
    sotto_mechanism_free(train(table, &options));
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct direct_options options = {
        .eps = "1", .label = "y", .numbers = "gaussian", .delta = "0.000001"};
    struct sotto_table *table = parse(mixed, strlen(mixed));
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train_direct(table, &options, path, NULL, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
            assert_int_equal(access(path, F_OK), -1);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_channels),  TEST(test_runs),
        TEST(test_images),    TEST(test_ball_holds_every_corner),
        TEST(test_estimates), TEST(test_names),
        TEST(test_delta),     TEST(test_limit),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
