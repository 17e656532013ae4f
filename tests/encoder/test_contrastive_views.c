/*
 * test_contrastive_views.c: what two views of a record have in common, and what
 * not.
 */
#include "contrastive_fixture.h"
#include "host/pool.h"

enum { ROWS = 400, WIDTH = 5 }; /* a, colour (3), b */

static void
fill_rows(uint32_t *row, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        row[i] = n - 1 - i;
    }
}

/* Numbers have variance 1, so that one replaced with probability 0.3 and a
   noise of 0.3 move it by 0.3^2 + 0.3 x 2 squared, on average (n = 400 x 2 x 2:
   within 5 standard errors of about 0.035); a code is replaced as a whole. */
static void
test_corrupt(void **state)
{
    struct sotto_table *table = people(ROWS);
    const struct clm_options options = {.label = "kind", .seed = 4};
    struct begun begun = {0};
    struct contrastive_views views;
    uint32_t row[ROWS];
    static float made[2][ROWS * WIDTH];
    double moved = 0, turned = 0, red = 0;
    (void)state;
    fill_rows(row, ROWS);
    begun_make(&begun, table, &options);
    assert_string_equal(begun.set.augment, "corrupt");
    must(contrastive_views_init(&views, &begun.learnt, &begun.set, &err));
    for (uint32_t view = 0; view < 2; view++) {
        contrastive_views_make(&views, NULL, row, ROWS, 3, view, made[view]);
        for (size_t i = 0; i < ROWS; i++) {
            const float *x = begun.learnt.x + row[i] * WIDTH;
            const float *v = made[view] + i * WIDTH;
            moved += (double)((v[0] - x[0]) * (v[0] - x[0]));
            moved += (double)((v[4] - x[4]) * (v[4] - x[4]));
            turned += v[1] != x[1];
            red += (double)x[1];
            assert_true(v[1] + v[2] + v[3] == 1);
            assert_true(v[1] * v[2] == 0 && v[1] * v[3] == 0);
        }
    }
    assert_true(fabs(moved / (4 * ROWS) - 0.69) < 0.175);
    red /= 2 * ROWS;
    assert_true(fabs(turned / (2 * ROWS) - 0.3 * 2 * red * (1 - red)) < 0.065);
    begun_clear(&begun);
    sotto_table_free(table);
}

/* Bytes are replaced one by one, by some record's, and get no noise. */
static void
test_corrupt_bytes(void **state)
{
    enum { N = 40, SIZE = 9 };
    struct sotto_table *table = pictures(N, 1, SIZE, 1);
    const struct clm_options options = {.seed = 4};
    struct begun begun = {0};
    struct contrastive_views views;
    uint32_t row[N];
    float made[N * SIZE];
    size_t changed = 0;
    (void)state;
    fill_rows(row, N);
    begun_make(&begun, table, &options);
    assert_null(begun.learnt.gain);
    must(contrastive_views_init(&views, &begun.learnt, &begun.set, &err));
    contrastive_views_make(&views, NULL, row, N, 3, 0, made);
    for (size_t i = 0; i < N * SIZE; i++) {
        bool found = false;
        for (size_t j = 0; j < N; j++) {
            found |= begun.learnt.x[j * SIZE + i % SIZE] == made[i];
        }
        assert_true(found);
        changed += made[i] != begun.learnt.x[row[i / SIZE] * SIZE + i % SIZE];
    }
    assert_in_range(changed, N * SIZE / 8, N * SIZE * 2 / 5);
    begun_clear(&begun);
    sotto_table_free(table);
}

/* Of (seed, epoch, row, view) alone: neither of threads nor of the batch. */
static void
check_pure(struct sotto_table *table, const struct clm_options *options,
           size_t width)
{
    enum { N = 40 };
    struct begun begun = {0};
    struct contrastive_views views;
    struct host_pool *pool = NULL;
    uint32_t row[N];
    float *a = calloc(N, width * sizeof *a), *b = calloc(N, width * sizeof *b);
    size_t size = N * width * sizeof *a;
    assert_true(a != NULL && b != NULL);
    fill_rows(row, N);
    must(host_pool_new(3, &pool, &err));
    begun_make(&begun, table, options);
    assert_int_equal(begun.learnt.width, width);
    must(contrastive_views_init(&views, &begun.learnt, &begun.set, &err));
    contrastive_views_make(&views, NULL, row, N, 1, 0, a);
    contrastive_views_make(&views, pool, row, N, 1, 0, b);
    assert_memory_equal(a, b, size);
    contrastive_views_make(&views, pool, row + 7, 1, 1, 0, b);
    assert_memory_equal(a + 7 * width, b, width * sizeof *b);
    contrastive_views_make(&views, pool, row, N, 1, 1, b);
    assert_memory_not_equal(a, b, size);
    contrastive_views_make(&views, pool, row, N, 2, 0, b);
    assert_memory_not_equal(a, b, size);
    views.seed++;
    contrastive_views_make(&views, pool, row, N, 1, 0, b);
    assert_memory_not_equal(a, b, size);
    begun_clear(&begun);
    host_pool_free(pool);
    free(a);
    free(b);
}

static void
test_pure(void **state)
{
    struct clm_options options = {.label = "kind", .seed = 4};
    struct sotto_table *table = people(60);
    (void)state;
    check_pure(table, &options, WIDTH);
    sotto_table_free(table);
    options.label = NULL;
    table = pictures(60, 9, 8, 1);
    check_pure(table, &options, 72);
    options.augment = "photo";
    check_pure(table, &options, 72);
    options.augment = "corrupt";
    check_pure(table, &options, 72);
    sotto_table_free(table);
}

/* What the data suggests, and what it does not allow. */
static void
test_suit(void **state)
{
    const struct {
        size_t height, width, channels;
        const char *network, *augment;
    } cases[] = {
        {9, 8, 1, "cnn", "line"},    {8, 8, 3, "cnn", "photo"},
        {7, 9, 1, "mlp", "line"},    {4, 4, 3, "mlp", "photo"},
        {1, 9, 1, "mlp", "corrupt"}, {10, 10, 2, "cnn", "line"},
    };
    struct begun begun = {0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_table *table =
            pictures(6, cases[i].height, cases[i].width, cases[i].channels);
        struct clm_options options = {.batch = 2};
        begun_make(&begun, table, &options);
        assert_string_equal(begun.set.network, cases[i].network);
        assert_string_equal(begun.set.augment, cases[i].augment);
        if (strcmp(cases[i].network, "mlp") == 0) {
            begun.set.network = "cnn";
            must_fail(
                SOTTO_STATUS_USAGE, "8x8",
                contrastive_settings_suit(&begun.set, &begun.learnt, &err));
            begun.set.network = "mlp";
        }
        if (cases[i].height == 1) {
            begun.set.augment = "line";
            must_fail(
                SOTTO_STATUS_USAGE, "corrupt",
                contrastive_settings_suit(&begun.set, &begun.learnt, &err));
        }
        begun_clear(&begun);
        sotto_table_free(table);
    }
}

/* As many records seen whatever their number, within bounds. */
static void
test_epochs(void **state)
{
    static const struct {
        size_t n;
        uint32_t epochs;
    } cases[] = {{6, 300},    {5400, 300},  {10000, 162},  {45000, 36},
                 {60000, 27}, {135000, 12}, {1000000, 12}, {UINT32_MAX, 12}};
    struct sotto_table *table = pictures(6, 9, 8, 1);
    struct clm_options options = {.batch = 2};
    struct begun begun = {0};
    size_t n;
    (void)state;
    begun_make(&begun, table, &options);
    n = begun.learnt.n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begun.set.epochs = 0;
        begun.learnt.n = cases[i].n;
        must(contrastive_settings_suit(&begun.set, &begun.learnt, &err));
        assert_int_equal(begun.set.epochs, cases[i].epochs);
    }
    begun.set.epochs = 7;
    must(contrastive_settings_suit(&begun.set, &begun.learnt, &err));
    assert_int_equal(begun.set.epochs, 7);
    begun.learnt.n = n;
    begun_clear(&begun);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corrupt), cmocka_unit_test(test_corrupt_bytes),
        cmocka_unit_test(test_pure),    cmocka_unit_test(test_suit),
        cmocka_unit_test(test_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
