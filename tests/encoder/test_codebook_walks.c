/*
 * test_codebook_walks.c: whose cells are of walks among neighbours, and when.
 */
#include "encoder/codebook.h"

#include "contrastive_fixture.h"
#include "encoder/diffusion.h"
#include "fail_alloc.h"

enum { ROWS = 600, SIDE = 6 };

static struct sotto_table *table;
static struct sotto_mechanism *encoder;

static struct sotto_mechanism *
train(const struct sotto_table *from)
{
    struct pca_options options = {.eps = "4", .d = 3, .threads = 1};
    struct sotto_mechanism *made = NULL;
    must(train_pca(from, &options, in_folder("e.sotto"), NULL, &made, &err));
    return made;
}

static int
setup_pictures(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    table = pictures(ROWS, SIDE, SIDE, 1);
    encoder = train(table);
    return 0;
}

static int
teardown_pictures(void **state)
{
    sotto_mechanism_free(encoder);
    sotto_table_free(table);
    encoder = NULL;
    return teardown(state);
}

static struct sotto_codebook *
new_codebook(const struct sotto_table *from, const struct sotto_mechanism *with,
             unsigned threads)
{
    struct sotto_codebook_options options = {.seed = 4, .threads = threads};
    struct sotto_codebook *codebook = NULL;
    must(sotto_codebook_new(from, with, &options, &codebook, &err));
    return codebook;
}

/* The codes of a cut, to free. */
static int32_t *
codes_of(struct sotto_codebook *codebook, size_t k)
{
    const struct codebook_cut *cut = NULL;
    int32_t *code = calloc(codebook->n, sizeof *code);
    assert_non_null(code);
    must(codebook_prepare(codebook, 2, k, &err));
    must(codebook_cut_book(codebook, 1, k, &cut, &err));
    memcpy(code, cut->code, codebook->n * sizeof *code);
    return code;
}

/* As many codes as there are coordinates are of walks, more are of z, and the
   way back leads to the same codes. */
static void
test_when(void **state)
{
    struct sotto_codebook *codebook = new_codebook(table, encoder, 1);
    size_t width = diffusion_width(ROWS);
    int32_t *first, *more, *again;
    (void)state;
    assert_false(codebook->walks);
    assert_int_equal(width, 30);
    first = codes_of(codebook, 12);
    assert_true(codebook->walks);
    assert_ptr_equal(codebook_ground(codebook).x, codebook->walked);
    assert_int_equal(codebook->clustering.d, width);
    assert_int_equal(codebook->more[0].clustering.d, width);
    assert_true(codebook->more[0].clustering.least > CLUSTERING_LEAST);
    must(codebook_prepare(codebook, 1, width, &err));
    assert_true(codebook->walks);
    /* 30 cells of 20 records each are all that there are. */
    assert_int_equal(sotto_codebook_cells(codebook), 30);
    codebook->options.cells = 60;
    more = codes_of(codebook, width + 1);
    assert_false(codebook->walks);
    assert_ptr_equal(codebook_ground(codebook).x, codebook->place);
    assert_int_equal(codebook->clustering.d, 3);
    codebook->options.cells = 0;
    again = codes_of(codebook, 12);
    assert_true(codebook->walks);
    assert_memory_equal(first, again, ROWS * sizeof *first);
    assert_memory_not_equal(first, more, ROWS * sizeof *first);
    free(first);
    free(more);
    free(again);
    sotto_codebook_free(codebook);
}

/* Too few pictures, and tables, are not walked among. */
static void
test_not(void **state)
{
    struct sotto_table *few = pictures(199, SIDE, SIDE, 1);
    struct sotto_table *rows = people(ROWS);
    struct sotto_mechanism *other = train(rows);
    struct sotto_codebook *a = new_codebook(few, encoder, 1);
    struct sotto_codebook *b = new_codebook(rows, other, 1);
    (void)state;
    must(codebook_prepare(a, 1, 4, &err));
    must(codebook_prepare(b, 1, 4, &err));
    assert_false(a->walks || b->walks);
    assert_true(a->walked == NULL && b->walked == NULL);
    sotto_codebook_free(a);
    sotto_codebook_free(b);
    sotto_mechanism_free(other);
    sotto_table_free(rows);
    sotto_table_free(few);
}

/* The options decide otherwise, or say why they cannot. */
static void
test_asked(void **state)
{
    struct sotto_table *rows = people(ROWS);
    struct sotto_mechanism *other = train(rows);
    struct sotto_codebook *a = new_codebook(table, encoder, 1);
    struct sotto_codebook *b = new_codebook(rows, other, 1);
    (void)state;
    a->options.tree = "distances";
    must(codebook_prepare(a, 1, 4, &err));
    assert_false(a->walks);
    assert_string_equal(codebook_tree(a), "distances");
    b->options.tree = "neighbours";
    must(codebook_prepare(b, 1, 4, &err));
    assert_true(b->walks);
    assert_string_equal(codebook_tree(b), "neighbours");
    must_fail(SOTTO_STATUS_USAGE, "at most 30 codes",
              codebook_prepare(b, 1, 31, &err));
    assert_string_equal(err.subject, "tree");
    assert_true(b->walks);
    sotto_codebook_free(a);
    sotto_codebook_free(b);
    sotto_mechanism_free(other);
    sotto_table_free(rows);
}

static void
test_threads(void **state)
{
    struct sotto_codebook *one = new_codebook(table, encoder, 1);
    struct sotto_codebook *two = new_codebook(table, encoder, 2);
    int32_t *a = codes_of(one, 9), *b = codes_of(two, 9);
    (void)state;
    assert_memory_equal(a, b, ROWS * sizeof *a);
    free(a);
    free(b);
    sotto_codebook_free(one);
    sotto_codebook_free(two);
}

static void
test_memory(void **state)
{
    struct sotto_table *few = pictures(200, SIDE, SIDE, 1);
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct sotto_codebook *codebook;
        fail_alloc_at(0);
        codebook = new_codebook(few, encoder, 1);
        fail_alloc_at(++n);
        status = codebook_prepare(codebook, 2, 5, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
        }
        if (n % 8 == 0) { /* what failed can be asked for again */
            fail_alloc_at(0);
            must(codebook_prepare(codebook, 2, 5, &err));
            assert_int_equal(sotto_codebook_cells(codebook), 10);
            assert_int_equal(codebook->books, 2);
        }
        sotto_codebook_free(codebook);
    } while (status != SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 20);
    sotto_table_free(few);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup_pictures, teardown_pictures)
    const struct CMUnitTest tests[] = {TEST(test_when), TEST(test_not),
                                       TEST(test_asked), TEST(test_threads),
                                       TEST(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
