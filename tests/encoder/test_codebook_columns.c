/*
 * test_codebook_columns.c: a book for each column of a table.
 */
#include "encoder/codebook.h"

#include "encoder/analyst.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "mechanism/rows.h"

enum { ROWS = 400, BOOKS = 3 };

static struct sotto_table *table;
static struct sotto_mechanism *encoder;

/* `age` is 0 to 99 evenly, `few` is 0, 1 or 2, `city` one of four of which a
   half, a quarter and two eighths of the rows have each; `rare` is told of one
   row in 80. */
static struct sotto_table *
make_table(size_t rows)
{
    static const char *const city[] = {"a", "b", "a", "c", "a", "b", "a", "d"};
    size_t room = 64 * (rows + 1), used;
    char *text = malloc(room);
    struct sotto_table *made = NULL;
    assert_non_null(text);
    used = (size_t)snprintf(text, room, "age,few,city,rare,kind\n");
    for (size_t i = 0; i < rows; i++) {
        used += (size_t)snprintf(
            text + used, room - used, "%zu,%zu,%s,%s,%s\n", i % 100, i % 3,
            city[i % 8], i % 80 == 7 ? "yes" : "no", i % 2 == 0 ? "x" : "y");
    }
    must(sotto_table_parse(text, used, "made", NULL, &made, &err));
    free(text);
    return made;
}

static int
setup_encoder(void **state)
{
    const struct sotto_train_options options = {
        .eps = "4", .label = "kind", .threads = 1};
    if (setup(state) != 0) {
        return -1;
    }
    table = make_table(ROWS);
    must(sotto_train(table, "identity", &options, NULL, NULL, NULL, &encoder,
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

static struct sotto_codebook *
new_codebook(unsigned threads)
{
    const struct sotto_codebook_options options = {
        .label = "kind", .seed = 4, .threads = threads};
    struct sotto_codebook *codebook = NULL;
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    return codebook;
}

/* How many records have each code of a book, the codes of `all` in it. */
static void
count_codes(const struct codebook_cut *all, size_t book, size_t k,
            size_t *ret_count)
{
    memset(ret_count, 0, k * sizeof *ret_count);
    for (size_t i = 0; i < ROWS; i++) {
        int32_t code = all->code[i * BOOKS + book];
        assert_in_range(code, 0, k - 1);
        ret_count[code]++;
    }
}

static void
clear_cut(struct codebook_cut *all)
{
    codebook_head_clear(&all->head);
    free(all->code);
}

/* The column that hardly varies has no book. Numbers are cut evenly, between
   values and not through one; of categories the commonest have a code each. */
static void
test_codes(void **state)
{
    struct sotto_codebook *codebook = new_codebook(1);
    struct codebook_cut all = {.n = 0};
    size_t count[5];
    (void)state;
    assert_int_equal(codebook->columns, BOOKS);
    assert_string_equal(codebook_tree(codebook), "columns");
    must(codebook_books_join(codebook, BOOKS, 2, &all, &err));
    count_codes(&all, 0, 2, count);
    assert_int_equal(count[0], ROWS / 2);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(all.code[i * BOOKS], i % 100 >= 50);
        assert_int_equal(all.code[i * BOOKS + 2], i % 2); /* "a", or not */
    }
    clear_cut(&all);
    must(codebook_books_join(codebook, BOOKS, 5, &all, &err));
    count_codes(&all, 0, 5, count);
    for (size_t c = 0; c < 5; c++) {
        assert_int_equal(count[c], ROWS / 5);
    }
    count_codes(&all, 1, 5, count); /* three values: two codes are nobody's */
    assert_true(count[0] > 130 && count[1] > 130 && count[2] > 130);
    assert_true(count[3] == 0 && count[4] == 0);
    count_codes(&all, 2, 5, count); /* a, b; c and d in one order or other */
    assert_true(count[0] == ROWS / 2 && count[1] == ROWS / 4);
    assert_true(count[2] == ROWS / 8 && count[3] == ROWS / 8 && count[4] == 0);
    clear_cut(&all);
    must(codebook_books_join(codebook, BOOKS, 3, &all, &err));
    count_codes(&all, 2, 3, count); /* all others share the last code */
    assert_true(count[0] == ROWS / 2 && count[2] == ROWS / 4);
    clear_cut(&all);
    sotto_codebook_free(codebook);
}

/* The mechanism has a book for each column, whatever the choice says of books;
   devices find the codes that the analyst file has. */
static void
test_mechanism(void **state)
{
    const struct sotto_codebook_choice choice = {.k = 3, .channel = "subset"};
    struct sotto_codebook *codebook = new_codebook(2);
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_analyst *analyst = NULL;
    struct rows rows;
    (void)state;
    must(sotto_codebook_write(codebook, &choice, "1", NULL,
                              in_folder("c.analyst"), &mechanism, &err));
    must(sotto_analyst_read(in_folder("c.analyst"), &analyst, &err));
    assert_int_equal(mechanism->shape.books, BOOKS);
    assert_true(mechanism->shape.plain && mechanism->shape.columns);
    assert_false(encoder->shape.columns);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        int32_t q[BOOKS];
        rows_q(&rows, i, q);
        for (size_t b = 0; b < BOOKS; b++) {
            assert_int_equal(q[b] / 3,
                             sotto_analyst_prior(analyst)[i * BOOKS + b]);
        }
    }
    rows_clear(&rows);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_codebook_free(codebook);
}

/* A category of which the commonest value is rare varies all the more; of
   categories alone there are no more codes than the widest has. */
static void
test_even(void **state)
{
    const struct sotto_train_options train = {
        .eps = "4", .label = "kind", .threads = 1};
    const struct sotto_codebook_options options = {.label = "kind",
                                                   .threads = 1};
    const struct sotto_codebook_wanted wanted = {.eps = "8", .people = 100000};
    struct sotto_codebook_choice choice = {0};
    struct sotto_mechanism *plain = NULL;
    struct sotto_codebook *codebook = NULL;
    struct sotto_table *made = NULL;
    char text[40 * ROWS];
    size_t used = (size_t)snprintf(text, sizeof text, "town,sex,kind\n");
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "t%zu,%s,%s\n",
                             i % 5, i % 2 ? "f" : "m", i % 3 ? "x" : "y");
    }
    must(sotto_table_parse(text, used, "made", NULL, &made, &err));
    must(sotto_train(made, "identity", &train, NULL, NULL, NULL, &plain, &err));
    must(sotto_codebook_new(made, plain, &options, &codebook, &err));
    assert_int_equal(codebook->columns, 2);
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.k, 6); /* five towns, and others */
    sotto_codebook_free(codebook);
    sotto_mechanism_free(plain);
    sotto_table_free(made);
}

/* k follows the people to each column; few of them are too few. */
static void
test_choice(void **state)
{
    struct sotto_codebook *codebook = new_codebook(1);
    struct sotto_codebook_wanted wanted = {.eps = "1", .people = 60};
    struct sotto_codebook_choice choice = {0};
    (void)state;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_THIN);
    assert_true(choice.k == 2 && choice.books == BOOKS);
    wanted.people = 1000;
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_COLUMNS);
    assert_int_equal(choice.k, 2);
    wanted.eps = "4";
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_COLUMNS);
    assert_in_range(choice.k, 5, 8); /* 1000 * 13 / (3 * 25) is above 100 */
    wanted.classes = 40; /* a column's codes say little of one of many */
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_THIN);
    wanted.classes = 0;
    wanted.people = 60; /* loud, and still 20 to a column */
    must(sotto_codebook_choose(codebook, &wanted, &choice, &err));
    assert_int_equal(choice.bound, SOTTO_CODEBOOK_THIN);
    wanted.books = 2;
    must_fail(SOTTO_STATUS_USAGE, "each of the 3 columns",
              sotto_codebook_choose(codebook, &wanted, &choice, &err));
    sotto_codebook_free(codebook);
}

/* train codebook takes columns where reports tell enough of each, and an
   encoder's cells where they do not, or where these are asked for. */
static void
test_default(void **state)
{
    struct sotto_setting set[] = {{"people", "1000"}, {"k", "2"}};
    struct sotto_train_options options = {
        .eps = "2", .label = "kind", .set = set, .sets = 1, .threads = 1};
    struct sotto_mechanism *mechanism = NULL;
    (void)state;
    must(sotto_train(table, "codebook", &options, NULL, NULL, NULL, &mechanism,
                     &err));
    assert_true(mechanism->shape.plain);
    assert_int_equal(mechanism->shape.books, BOOKS);
    sotto_mechanism_free(mechanism);
    options.sets = 2;
    must(sotto_train(table, "codebook", &options, NULL, NULL, NULL, &mechanism,
                     &err));
    assert_false(mechanism->shape.plain);
    sotto_mechanism_free(mechanism);
    set[0].value = "50";
    options.sets = 1;
    must(sotto_train(table, "codebook", &options, NULL, NULL, NULL, &mechanism,
                     &err));
    assert_false(mechanism->shape.plain);
    sotto_mechanism_free(mechanism);
}

/* Every allocation fails in turn. */
static void
test_no_memory(void **state)
{
    const struct sotto_codebook_options options = {.label = "kind",
                                                   .threads = 1};
    const struct sotto_codebook_choice choice = {.k = 3, .channel = "subset"};
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        struct sotto_codebook *codebook = NULL;
        fail_alloc_at(n += n < 300 ? 1 : 7);
        status = sotto_codebook_new(table, encoder, &options, &codebook, &err);
        if (status == SOTTO_STATUS_OK) {
            status = sotto_codebook_write(codebook, &choice, "1", NULL, NULL,
                                          NULL, &err);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sotto_codebook_free(codebook);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_codes, setup_encoder,
                                        teardown_encoder),
        cmocka_unit_test_setup_teardown(test_mechanism, setup_encoder,
                                        teardown_encoder),
        cmocka_unit_test_setup_teardown(test_even, setup_encoder,
                                        teardown_encoder),
        cmocka_unit_test_setup_teardown(test_choice, setup_encoder,
                                        teardown_encoder),
        cmocka_unit_test_setup_teardown(test_default, setup_encoder,
                                        teardown_encoder),
        cmocka_unit_test_setup_teardown(test_no_memory, setup_encoder,
                                        teardown_encoder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
