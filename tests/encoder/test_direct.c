/*
 * test_direct.c: each column through its own channel.
 */
#include "client/device.h"
#include "direct_fixture.h"
#include "fail_alloc.h"

static const char people[] = "age,colour,height,label\n"
                             "20,red,1.5,yes\n"
                             "70,blue,,no\n"
                             ",red,1.9,\n"
                             "30,,1.7,yes\n";

/* ---- What is made ------------------------------------------------------- */

static void
test_parts(void **state)
{
    struct direct_options options = {.eps = "1", .label = "label"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_mechanism_info info;
    struct sotto_column_info column;
    struct sotto_part_info part;
    struct stat file;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "direct");
    assert_string_equal(info.campaign, "direct");
    assert_string_equal(info.auxiliary,
                        "none: ranges, categories and what may be missing were "
                        "taken from the auxiliary data");
    assert_string_equal(info.eps_text, "1");
    assert_true(info.eps_features == 0.75 && info.eps_label == 0.25);
    assert_int_equal(info.parts, 3);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.channel, "laplace");
    assert_int_equal(part.blocks, 2);
    assert_int_equal(part.size, 2); /* a value, and whether it is missing */
    assert_int_equal(part.l, 4096);
    assert_true(part.eps == 0.25);
    sotto_mechanism_part(mechanism, 1, &part);
    assert_string_equal(part.channel, "flip");
    assert_string_equal(part.covers, "features");
    assert_int_equal(part.size, 4); /* blue, red, missing, other */
    sotto_mechanism_part(mechanism, 2, &part);
    assert_string_equal(part.covers, "label");
    sotto_mechanism_column(mechanism, 0, &column);
    assert_string_equal(column.name, "age");
    assert_true(fabs(column.low - 20) < 1e-9 && fabs(column.high - 70) < 1e-9);
    sotto_mechanism_column(mechanism, 2, &column);
    assert_true(fabs(column.low - 1.5) < 1e-9);
    assert_string_equal(sotto_mechanism_category(mechanism, 1, 0), "blue");
    assert_string_equal(sotto_mechanism_category(mechanism, 1, 1), "red");
    assert_string_equal(sotto_mechanism_category(mechanism, 3, 0), "no");
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0644);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* The ends of a range come out at -l and l, the middle for a missing one. */
static void
test_scaling(void **state)
{
    struct direct_options options = {.eps = "32", .l = 1000};
    struct sotto_table *table = parse("a\n-3\n7\n", 7);
    struct sotto_mechanism *mechanism = train(table, &options);
    static const double in[] = {-3, 7, 2, 4.5, -100, 100, NAN};
    static const double expected[] = {-1, 1, 0, 0.5, -1, 1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER,
                                    .number = in[i]};
        struct sotto_client *client = sotto_mechanism_client(mechanism);
        int32_t q;
        schema_apply(&client->encoder, &value);
        domain_lattice(client->encoder.x, 1, 1000, &q);
        assert_int_equal(q, (int32_t)(1000 * expected[i]));
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* With every range given and no categories, the data is not used. */
static void
test_ranges(void **state)
{
    static const struct range ranges[] = {{"height", 0, 3}, {"age", 0, 120}};
    static const char *const drop[] = {"colour", "label"};
    struct direct_options options = {.eps = "0.5",
                                     .name = "heights",
                                     .campaign = "c",
                                     .drop = drop,
                                     .drops = 2,
                                     .ranges = ranges,
                                     .range_count = 2,
                                     .no_missing = true};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_mechanism_info info;
    struct sotto_column_info column;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "heights");
    assert_string_equal(info.campaign, "c");
    assert_string_equal(info.auxiliary, "not used");
    assert_int_equal(info.columns, 2);
    sotto_mechanism_column(mechanism, 1, &column);
    assert_true(fabs(column.low) < 1e-9 && fabs(column.high - 3) < 1e-9);
    sotto_mechanism_free(mechanism);

    options.range_count = 1; /* age from the data */
    mechanism = train(table, &options);
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.auxiliary,
                        "none: ranges were taken from the auxiliary data");
    sotto_mechanism_free(mechanism);

    options.range_count = 2;
    options.drops = 1; /* drops no label */
    mechanism = train(table, &options);
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.auxiliary,
                        "none: categories were taken from the auxiliary data");
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* What the ball's scaling rounds is not shown: 0 is 0. */
static void
test_range_in_a_ball(void **state)
{
    static const struct range ranges[] = {{"height", -200, 0}, {"age", 0, 120}};
    static const char *const drop[] = {"colour", "label"};
    struct direct_options options = {.eps = "1",
                                     .drop = drop,
                                     .drops = 2,
                                     .ranges = ranges,
                                     .range_count = 2,
                                     .no_missing = true,
                                     .numbers = "gaussian",
                                     .delta = "0.000001"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_column_info column;
    (void)state;
    sotto_mechanism_column(mechanism, 0, &column);
    assert_true(column.low == 0 && fabs(column.high - 120) < 1e-9);
    sotto_mechanism_column(mechanism, 1, &column);
    assert_true(column.high == 0 && fabs(column.low + 200) < 1e-9);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A number as the label has a part of its own, wherever it stands. */
static void
test_number_label(void **state)
{
    static const struct {
        const char *label;
        size_t parts;
        const char *covers[3];
        size_t blocks[3];
    } rows[] = {{"a", 2, {"label", "features", NULL}, {1, 2, 0}},
                {"b", 3, {"features", "label", "features"}, {1, 1, 1}},
                {"c", 2, {"features", "label", NULL}, {2, 1, 0}}};
    struct sotto_table *table = parse("a,b,c\n1,2,3\n4,5,6\n", 18);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct direct_options options = {.eps = "1", .label = rows[i].label};
        struct sotto_mechanism *mechanism = train(table, &options);
        struct sotto_client *client = sotto_mechanism_client(mechanism);
        uint32_t from = 0;
        assert_int_equal(client->sizes.parts, rows[i].parts);
        for (size_t j = 0; j < rows[i].parts; j++) {
            struct sotto_part_info part;
            sotto_mechanism_part(mechanism, j, &part);
            assert_string_equal(part.covers, rows[i].covers[j]);
            assert_int_equal(part.blocks, rows[i].blocks[j]);
            assert_true(part.eps == 0.333333333333);
            assert_int_equal(client->report.part[j].from, from);
            from += client->report.part[j].blocks;
        }
        sotto_mechanism_free(mechanism);
    }
    sotto_table_free(table);
}

/* Every sample of an image is a number, and counts as one in the split. */
static void
test_images(void **state)
{
    static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0,
                                     0, 2, 0, 0, 0, 2, 0, 1, 2, 255};
    static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 1, 7};
    struct direct_options options = {.eps = "1", .label = "label"};
    struct sotto_table *table = parse(images, sizeof images);
    struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    struct sotto_column_info column;
    (void)state;
    assert_int_equal(
        sotto_table_join(table, parse(labels, sizeof labels), &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_set_category(table, 1, &err), SOTTO_STATUS_OK);
    mechanism = train(table, &options);
    sotto_mechanism_info(mechanism, &info);
    assert_true(info.eps_features == 0.8 && info.eps_label == 0.2);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_int_equal(part.blocks, 4);
    assert_true(part.eps == 0.2);
    sotto_mechanism_column(mechanism, 0, &column);
    assert_int_equal(column.kind, SOTTO_COLUMN_BYTES);
    assert_true(fabs(column.low) < 1e-9 && fabs(column.high - 255) < 1e-9);
    assert_string_equal(sotto_mechanism_category(mechanism, 1, 0), "7");
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Awkward data: constants, numbers far apart, odd categories, one symbol. */
static void
test_awkward(void **state)
{
    static const char text[] = "a,b,\"odd\nname\"\n5,-1.7e308,\"\"\n"
                               "5,1.7e308,(other)\n5,0,b\n5,0,ba\n5,0,B\n";
    static const char *const sorted[] = {"(other)", "B",         "b",
                                         "ba",      "(missing)", "(other)"};
    struct direct_options options = {.eps = "2"};
    struct sotto_table *table = parse(text, strlen(text));
    struct sotto_mechanism *mechanism = train(table, &options);
    struct sotto_column_info column;
    (void)state;
    sotto_mechanism_column(mechanism, 0, &column);
    assert_true(column.low == 5 && column.high == 5);
    sotto_mechanism_column(mechanism, 1, &column);
    /* the least scale that devices take; what is beyond is cut off there */
    assert_true(column.low == -0x1p480 && column.high == 0x1p480);
    sotto_mechanism_column(mechanism, 2, &column);
    assert_int_equal(column.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(sotto_mechanism_category(mechanism, 2, i),
                            sorted[i]);
    }
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- What is refused ---------------------------------------------------- */

static void
test_usage(void **state)
{
    static const char *const drop[] = {"age", "colour", "height", "label"};
    static const char *const unknown[] = {"ag\x1b"};
    struct direct_options options = {.eps = "1"};
    struct range range = {"age", 1, 1};
    (void)state;
    options.label = "lable";
    assert_refused(
        people, &options, SOTTO_STATUS_USAGE,
        "label: there is no column \"lable\": did you mean \"label\"?");
    options.label = "outcome";
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "label: there is no column \"outcome\"; the columns are "
                   "age, colour, height, label");
    options.label = "age";
    options.drop = drop;
    options.drops = 1;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "column \"age\" cannot be both the label and dropped");
    options.label = NULL;
    options.drops = 4;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "every column is dropped");
    options.drop = unknown;
    options.drops = 1;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "drop: there is no column \"ag\xef\xbf\xbd\"");
    options.drops = 0;
    options.ranges = &range;
    options.range_count = 1;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "LOW and HIGH must be numbers, LOW the smaller");
    range.high = INFINITY;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "LOW and HIGH must be numbers");
    range.low = NAN;
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "LOW and HIGH must be numbers");
    range.low = 0;
    range.high = 2;
    range.column = "colour";
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "\"colour\" is dropped or does not hold numbers");
    range.column = "ages";
    assert_refused(people, &options, SOTTO_STATUS_USAGE,
                   "range: there is no column \"ages\"");
    static const struct range twice[] = {{"age", 0, 1}, {"age", 0, 2}};
    options.ranges = twice;
    options.range_count = 2;
    assert_refused(people, &options, SOTTO_STATUS_USAGE, "has two ranges");
    options.range_count = 0;
    options.l = (UINT32_C(1) << 20) + 1;
    assert_refused(people, &options, SOTTO_STATUS_USAGE, "from 1 to 1048576");
    options.l = 0;
    options.name = "a\"b";
    assert_refused(people, &options, SOTTO_STATUS_USAGE, "the name may hold");
}

static void
test_budget(void **state)
{
    static const struct {
        const char *eps;
        enum sotto_status status;
    } rows[] = {
        {"x", SOTTO_STATUS_FORMAT},  {"", SOTTO_STATUS_FORMAT},
        {"-1", SOTTO_STATUS_FORMAT}, {"1.0000000000001", SOTTO_STATUS_LIMIT},
        {"33", SOTTO_STATUS_BUDGET}, {"0", SOTTO_STATUS_BUDGET}};
    struct direct_options options = {.eps = NULL};
    (void)state;
    assert_refused(people, &options, SOTTO_STATUS_USAGE, "eps is missing");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        options.eps = rows[i].eps;
        assert_refused(people, &options, rows[i].status, "epsilon");
    }
    options.eps = "0.000003999999";
    assert_refused(people, &options, SOTTO_STATUS_BUDGET,
                   "epsilon 0.000003999999 over 4 numbers and categories "
                   "leaves each less than 0.000001: drop columns");
    options.eps = "0.000004";
    struct sotto_table *table = parse(people, strlen(people));
    sotto_mechanism_free(train(table, &options));
    sotto_table_free(table);
}

static void
test_input(void **state)
{
    static const struct range range = {"b", 0, 1};
    struct direct_options options = {.eps = "1"};
    char *many = malloc(20000), *at = many;
    (void)state;
    assert_refused("a,b\n1,\n2,NA\n", &options, SOTTO_STATUS_INPUT,
                   "column \"b\" has no value in any row: leave it out");
    options.ranges = &range;
    options.range_count = 1;
    struct sotto_table *table = parse("a,b\n1,\n2,NA\n", 12);
    sotto_mechanism_free(train(table, &options));
    sotto_table_free(table);
    (void)unlink(path);

    assert_non_null(many);
    at += sprintf(at, "b,name\n");
    for (int i = 0; i < 1024; i++) {
        at += sprintf(at, "0,n%d\n", i);
    }
    table = parse(many, strlen(many));
    sotto_mechanism_free(train(table, &options));
    sotto_table_free(table);
    (void)unlink(path);
    (void)sprintf(at, "0,one more\n");
    assert_refused(many, &options, SOTTO_STATUS_INPUT,
                   "column \"name\" has more than 1024 different values: group "
                   "them, or leave it out");
    free(many);
}

static void
test_unwritable(void **state)
{
    struct direct_options options = {.eps = "1"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *opened = NULL;
    (void)state;
    assert_int_equal(
        train_direct(table, &options, "/nonexistent/m", &opened, &err),
        SOTTO_STATUS_IO);
    assert_null(opened);
    sotto_table_free(table);
}

/* ---- Lack of memory ----------------------------------------------------- */

static void
test_memory(void **state)
{
    struct direct_options options = {.eps = "1", .label = "label"};
    struct sotto_table *table = parse(people, strlen(people));
    struct sotto_mechanism *opened = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train_direct(table, &options, path, &opened, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(opened);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
            assert_int_equal(access(path, F_OK), -1);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 15);
    sotto_mechanism_free(opened);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_parts),           TEST(test_scaling),      TEST(test_ranges),
        TEST(test_range_in_a_ball), TEST(test_number_label), TEST(test_images),
        TEST(test_awkward),         TEST(test_usage),        TEST(test_budget),
        TEST(test_input),           TEST(test_unwritable),   TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
