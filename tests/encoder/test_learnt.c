/*
 * test_learnt.c: auxiliary rows as vectors, and the blocks they are made of.
 */
#include "encoder/learnt.h"

#include "learnt_fixture.h"

static struct sotto_table *
parse(const char *text)
{
    struct sotto_table *table = NULL;
    must(sotto_table_parse(text, strlen(text), "-", NULL, &table, &err));
    return table;
}

static void
test_x(void **state)
{
    static const char text[] = "n,c,m,y,o\n"
                               "1,red,5,u,p\n"
                               "3,blue,5,v,q\n"
                               ",red,5,u,\n";
    static const float expected[3][10] = {
        {-1, 0, 1, 0, 0, 1, 0, 0},
        {1, 1, 0, 0, 0, 0, 1, 0},
        {0, 0, 1, 0, 0, 0, 0, 1},
    };
    const struct sotto_train_options options = {.eps = "2", .label = "y"};
    const struct learnt_settings set = {
        .lambda = 0.25, .label_channel = "flip", .d = 8, .steps = 4096};
    struct sotto_table *table = parse(text);
    const struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &options};
    struct learnt learnt;
    (void)state;
    must(learnt_begin(&learnt, &job, &set, &err));
    assert_int_equal(learnt.n, 3);
    assert_int_equal(learnt.width, 8);
    assert_int_equal(learnt.label, 3);
    assert_int_equal(learnt.set.d, 8);
    assert_int_equal(learnt.set.steps, 4096);
    assert_true(learnt.eps_x == UINT64_C(500000000000));
    assert_true(learnt.eps_y == UINT64_C(1500000000000));
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 8; j++) {
            assert_true(learnt.x[8 * i + j] == expected[i][j]);
        }
    }
    assert_int_equal(learnt.blocks, 4);
    assert_int_equal(learnt.block[0].likelihood, ANALYST_GAUSSIAN);
    assert_int_equal(learnt.block[1].likelihood, ANALYST_CATEGORICAL);
    assert_int_equal(learnt.block[1].from, 1);
    assert_int_equal(learnt.block[1].count, 3);
    assert_int_equal(learnt.block[2].likelihood, ANALYST_GAUSSIAN);
    assert_int_equal(learnt.block[3].from, 5);
    learnt_clear(&learnt);
    sotto_table_free(table);
}

/* Where a schema says missing = told, whether a value is missing is an input:
   an entry behind a number's, a symbol of a category. */
static void
test_missing(void **state)
{
    static const char text[] = "n,c\n1,red\n3,\n,blue\n2,grey\n";
    static const char words[] =
        "sotto-schema = 1\n[n]\ntype = number\nrange = 0 : 9\n"
        "missing = told\n[c]\ntype = category\nvalues = blue, red\n"
        "missing = told\n";
    static const float missing[4][5] = {
        {0, 0, 1, 0, 0}, {0, 0, 0, 1, 0}, {1, 1, 0, 0, 0}, {0, 0, 0, 0, 1}};
    struct sotto_schema *schema = NULL;
    struct sotto_table *table = parse(text);
    const struct learnt_settings set = {
        .label_channel = "flip", .d = 8, .steps = 4096};
    struct learnt learnt;
    (void)state;
    must(sotto_schema_parse(words, strlen(words), "-", &schema, &err));
    const struct sotto_train_options options = {.eps = "2", .schema = schema};
    const struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &options};
    must(learnt_begin(&learnt, &job, &set, &err));
    assert_int_equal(learnt.width, 6);
    assert_int_equal(learnt.blocks, 2);
    assert_int_equal(learnt.block[0].count, 2);
    assert_int_equal(learnt.block[1].from, 2);
    assert_int_equal(learnt.block[1].count, 4);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 5; j++) {
            assert_true(learnt.x[6 * i + 1 + j] == missing[i][j]);
        }
    }
    assert_true(learnt.x[12] == 0);
    learnt_clear(&learnt);
    sotto_schema_free(schema);
    sotto_table_free(table);
}

/* Numbers beside one another are one block; two categories are two. */
static void
test_blocks(void **state)
{
    const struct sotto_train_options options = {.eps = "2"};
    const struct learnt_settings set = {
        .label_channel = "flip", .d = 8, .steps = 4096};
    struct sotto_table *table = parse("a,b,c,d,e\n1,2,3,x,y\n4,5,6,z,y\n");
    struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &options};
    struct learnt learnt;
    (void)state;
    must(learnt_begin(&learnt, &job, &set, &err));
    assert_int_equal(learnt.blocks, 3);
    assert_int_equal(learnt.block[0].count, 3);
    assert_int_equal(learnt.block[1].count, 3);
    assert_int_equal(learnt.block[2].count, 2);
    assert_true(learnt.eps_x == UINT64_C(2000000000000) && learnt.eps_y == 0);
    learnt_clear(&learnt);
    sotto_table_free(table);
    job.table = table = images(5);
    must(learnt_begin(&learnt, &job, &set, &err));
    assert_int_equal(learnt.blocks, 1);
    assert_int_equal(learnt.block[0].likelihood, ANALYST_BERNOULLI);
    assert_int_equal(learnt.width, 16);
    for (size_t i = 0; i < 5 * 16; i++) {
        struct sotto_value cell = sotto_table_cell(table, i / 16, 0);
        double byte = ((const uint8_t *)cell.data)[i % 16];
        assert_true(fabs((double)learnt.x[i] - byte / 255) < 1e-7);
    }
    learnt_clear(&learnt);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_x),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
