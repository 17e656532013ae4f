/*
 * test_codebook_books.c: several codebooks of the same representations, of
 * which a device asks one by lot.
 */
#include "encoder/codebook.h"

#include "encoder/analyst.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "mechanism/rows.h"

enum { ROWS = 300, BOOKS = 3, K = 5 };

static struct sotto_table *table;
static struct sotto_mechanism *encoder;

static int
setup_encoder(void **state)
{
    static const uint32_t hidden[] = {6};
    struct vlm_options options = {.eps = "4",
                                  .label = "kind",
                                  .d = 3,
                                  .hidden = hidden,
                                  .hiddens = 1,
                                  .epochs = 3,
                                  .threads = 1};
    if (setup(state) != 0) {
        return -1;
    }
    table = people(ROWS);
    must(train_vlm(table, &options, in_folder("e.sotto"), NULL, NULL, &encoder,
                   &err));
    return 0;
}

static int
teardown_encoder(void **state)
{
    sotto_mechanism_free(encoder);
    sotto_table_free(table);
    encoder = NULL;
    return teardown(state);
}

/* Writes a codebook of so many books; returns its mechanism. */
static struct sotto_mechanism *
write_books(size_t books, unsigned threads, struct sotto_analyst **ret_analyst)
{
    const struct sotto_codebook_options options = {
        .label = "kind", .cells = 20, .seed = 4, .threads = threads};
    const struct sotto_codebook_choice choice = {
        .k = K, .channel = "subset", .books = books};
    struct sotto_codebook *codebook = NULL;
    struct sotto_mechanism *mechanism = NULL;
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    must(sotto_codebook_write(codebook, &choice, "0.5", NULL,
                              in_folder("b.analyst"), &mechanism, &err));
    must(sotto_analyst_read(in_folder("b.analyst"), ret_analyst, &err));
    sotto_codebook_free(codebook);
    return mechanism;
}

/* Checks that the analyst file has every record's codes, as devices find them
   book by book, and that books differ. */
static void
check_codes(struct sotto_mechanism *mechanism,
            const struct sotto_analyst *analyst)
{
    const int32_t *prior = sotto_analyst_prior(analyst);
    struct rows rows;
    size_t differ = 0;
    must(rows_init(&rows, mechanism, table, &err));
    assert_int_equal(rows_q_width(&rows), BOOKS);
    for (size_t i = 0; i < ROWS; i++) {
        int32_t q[BOOKS];
        rows_q(&rows, i, q);
        for (size_t b = 0; b < BOOKS; b++) {
            assert_int_equal(q[b] / 3, prior[i * BOOKS + b]);
            assert_in_range(prior[i * BOOKS + b], 0, K - 1);
        }
        differ += q[0] != q[1] || q[0] != q[2];
    }
    assert_true(differ > ROWS / 10);
    rows_clear(&rows);
}

static void
test_books(void **state)
{
    struct sotto_analyst *analyst = NULL, *plain = NULL;
    struct sotto_mechanism *mechanism = write_books(BOOKS, 1, &analyst);
    struct sotto_mechanism *one = write_books(1, 1, &plain);
    struct sotto_mechanism_info info, other;
    struct sotto_part_info part;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    sotto_mechanism_info(one, &other);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_int_equal(info.books, BOOKS);
    assert_int_equal(other.books, 1);
    assert_int_equal(info.report_size, other.report_size + 1);
    assert_true(info.eps == 0.5 && part.eps == 0.5);
    assert_int_equal(part.size, K * 3);
    assert_int_equal(sotto_analyst_width(analyst), BOOKS);
    assert_int_equal(sotto_analyst_z_width(analyst), BOOKS * K);
    assert_int_equal(sotto_analyst_points(analyst), ROWS);
    check_codes(mechanism, analyst);
    /* the first book is the one that there is without others */
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(sotto_analyst_prior(analyst)[i * BOOKS],
                         sotto_analyst_prior(plain)[i]);
    }
    sotto_analyst_free(analyst);
    sotto_analyst_free(plain);
    sotto_mechanism_free(mechanism);
    sotto_mechanism_free(one);
}

/* A report about a book is estimated among that book's codes alone. */
static void
test_estimate(void **state)
{
    struct sotto_analyst *analyst = NULL;
    struct sotto_mechanism *mechanism = write_books(BOOKS, 1, &analyst);
    struct rows rows;
    size_t seen[BOOKS] = {0};
    (void)state;
    must(rows_init(&rows, mechanism, table, &err));
    for (uint64_t i = 0; i < 60; i++) {
        uint8_t report[128];
        double z[BOOKS * K];
        must(sotto_simulate(mechanism, 1, i, rows_at(&rows, i), rows.count,
                            report, mechanism->shape.report_size));
        size_t book = sotto_report_book(mechanism, report);
        seen[book]++;
        sotto_analyst_estimate(analyst, mechanism, report, z);
        for (size_t j = 0; j < BOOKS * K; j++) {
            assert_true((z[j] != 0) == (j / K == book));
        }
    }
    for (size_t b = 0; b < BOOKS; b++) {
        assert_true(seen[b] > 0);
    }
    rows_clear(&rows);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
}

/* More codes than the cells of any book are refused before a layer is trained
   for the others. */
static void
test_fewest(void **state)
{
    const struct sotto_codebook_options options = {
        .label = "kind", .cells = 20, .threads = 1};
    const struct sotto_codebook_choice choice = {
        .k = K, .channel = "subset", .books = 2};
    struct sotto_codebook *codebook = NULL;
    size_t cells;
    (void)state;
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    must(codebook_prepare(codebook, 2, K, &err));
    cells = codebook->more[0].clustering.cells;
    codebook->more[0].clustering.cells = K - 1;
    assert_int_equal(sotto_codebook_cells(codebook), K - 1);
    must_fail(
        SOTTO_STATUS_USAGE, "from 2 to 4",
        sotto_codebook_write(codebook, &choice, "1", NULL, NULL, NULL, &err));
    assert_null(codebook->cut);
    codebook->more[0].clustering.cells = cells;
    sotto_codebook_free(codebook);
}

/* The same seed gives the same file at one thread and at two. */
static void
test_threads(void **state)
{
    struct sotto_analyst *analyst[2] = {NULL, NULL};
    struct sotto_mechanism *first = write_books(BOOKS, 1, &analyst[0]);
    struct sotto_mechanism *second = write_books(BOOKS, 2, &analyst[1]);
    (void)state;
    assert_memory_equal(first->shape.hash, second->shape.hash, SOTTO_HASH_SIZE);
    assert_memory_equal(sotto_analyst_prior(analyst[0]),
                        sotto_analyst_prior(analyst[1]),
                        (size_t)ROWS * BOOKS * sizeof(int32_t));
    for (int i = 0; i < 2; i++) {
        sotto_analyst_free(analyst[i]);
    }
    sotto_mechanism_free(first);
    sotto_mechanism_free(second);
}

static void
test_memory(void **state)
{
    const struct sotto_codebook_options options = {
        .label = "kind", .cells = 8, .threads = 1};
    const struct sotto_codebook_choice choice = {
        .k = 3, .channel = "subset", .books = 2};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct sotto_codebook *codebook = NULL;
        struct sotto_mechanism *mechanism = NULL;
        fail_alloc_at(n += n < 300 ? 1 : 7);
        status = sotto_codebook_new(table, encoder, &options, &codebook, &err);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_codebook_write(codebook, &choice, "1", NULL, NULL,
                                          &mechanism, &err);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sotto_mechanism_free(mechanism);
        sotto_codebook_free(codebook);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup_encoder, teardown_encoder)
    const struct CMUnitTest tests[] = {
        TEST(test_books),   TEST(test_estimate), TEST(test_fewest),
        TEST(test_threads), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
