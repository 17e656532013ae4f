/*
 * test_books.c: what a host knows of codebooks of which a lot asks one: shape,
 * points, lines of JSON, refused reports, estimates, the page, other budgets.
 */
#include "mechanism_fixture.h"

#include <stdio.h>

#include "mechanism/depend.h"
#include "mechanism/rebudget.h"
#include "mechanism/report_json.h"
#include "mechanism/same.h"
#include "mechanism/stages.h"

#define BOOKS 3u
#define K 2u
#define REPORTS 60000u

static struct sotto_error err;

/* Three books of two codes, the six bytes of a column, with the label. */
static const struct schema_column columns[] = {
    {"pixels", SOTTO_COLUMN_BYTES, BOOKS *K, NULL, false, 127.5, 1 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 0}};
static const struct compose_part part = {.covers = "both",
                                         .channel = "subset",
                                         .eps = 2 * DECIMAL_UNIT,
                                         .blocks = 1,
                                         .factor = {{false, 0, K}, {true, 1}},
                                         .factors = 2,
                                         .books = BOOKS};
static const struct compose_spec spec = {.name = "books",
                                         .campaign = "spring",
                                         .auxiliary = "none",
                                         .eps = 2 * DECIMAL_UNIT,
                                         .column = columns,
                                         .columns = 2,
                                         .part = &part,
                                         .parts = 1};

static const uint8_t pixels[BOOKS * K] = {9, 1, 1, 9, 1, 9}; /* codes 0, 1, 1 */

static struct sotto_mechanism *
open_books(void)
{
    return fixture_open(&spec);
}

static void
make_report(struct sotto_mechanism *mechanism, uint64_t stream, uint8_t *report)
{
    struct sotto_value values[2] = {
        {SOTTO_VALUE_BYTES, 0, pixels, sizeof pixels},
        {SOTTO_VALUE_TEXT, 0, "yes", 3}};
    assert_int_equal(sotto_simulate(mechanism, 1, stream, values, 2, report,
                                    mechanism->shape.report_size),
                     SOTTO_STATUS_OK);
}

/* ---- Shape and points ---------------------------------------------------- */

static void
test_shape(void **state)
{
    struct sotto_mechanism *mechanism = open_books();
    const struct shape *shape = &mechanism->shape;
    struct sotto_mechanism_info info;
    struct sotto_part_info about;
    struct sotto_value values[2] = {
        {SOTTO_VALUE_BYTES, 0, pixels, sizeof pixels},
        {SOTTO_VALUE_TEXT, 0, "yes", 3}};
    int32_t q[BOOKS];
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    sotto_mechanism_part(mechanism, 0, &about);
    assert_int_equal(mechanism->device.terms->version, 2);
    assert_int_equal(info.books, BOOKS);
    assert_int_equal(about.books, BOOKS);
    assert_int_equal(about.size, K * 3);
    assert_true(info.eps == 2 && about.eps == 2 && info.eps_label == 2);
    assert_int_equal(info.report_size, REPORT_HEADER_SIZE + 1 + 1);
    assert_int_equal(shape->part[0].offset, REPORT_HEADER_SIZE + 1);
    assert_int_equal(shape->part[0].role, SHAPE_PAIR);
    assert_int_equal(shape->part[0].cells, K);
    assert_int_equal(shape->q, BOOKS);
    assert_int_equal(stages_points_width(mechanism), BOOKS);
    stages_encode(mechanism, values);
    stages_points(mechanism, q);
    assert_int_equal(q[0], 0 * 3 + 1);
    assert_int_equal(q[1], 1 * 3 + 1);
    assert_int_equal(q[2], 1 * 3 + 1);
    for (size_t i = 0; i < BOOKS; i++) {
        assert_int_equal(stages_point(mechanism, 0, 0, i)[0], q[i]);
    }
    stages_wipe(mechanism);
    /* each column in whichever book: at most the part's epsilon, once */
    assert_int_equal(depend_eps(mechanism, 0), 2 * DECIMAL_UNIT);
    assert_int_equal(depend_eps(mechanism, 1), 2 * DECIMAL_UNIT);
    sotto_mechanism_free(mechanism);
}

/* A column that only the last book reads is read all the same. */
static void
test_depends_on_any_book(void **state)
{
    static const struct schema_column apart[] = {
        {"first", SOTTO_COLUMN_BYTES, 4, NULL, false, 0, 1},
        {"last", SOTTO_COLUMN_BYTES, 2, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 3, fixture_labels, false, 0, 0},
        {"behind", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1}};
    struct compose_part own = part;
    struct compose_spec other = spec;
    struct sotto_mechanism *mechanism;
    (void)state;
    own.factor[1].at = 2;
    other.part = &own;
    other.column = apart;
    other.columns = 4;
    mechanism = fixture_open(&other);
    assert_int_equal(depend_blocks(mechanism, 0, 0), 1);
    assert_int_equal(depend_blocks(mechanism, 0, 1), 1);
    assert_int_equal(depend_blocks(mechanism, 0, 2), 1);
    assert_int_equal(depend_blocks(mechanism, 0, 3), 0);
    sotto_mechanism_free(mechanism);
}

/* ---- Reports ------------------------------------------------------------- */

static void
test_lines(void **state)
{
    struct sotto_mechanism *mechanism = open_books();
    size_t size = mechanism->shape.report_size;
    int64_t values[8];
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        uint8_t report[64], back[64] = {0};
        char *line = NULL, key[16], *at;
        make_report(mechanism, i, report);
        assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                         SOTTO_STATUS_OK);
        (void)snprintf(key, sizeof key, ",\"book\":%u,", report[52]);
        at = strstr(line, key);
        assert_non_null(at);
        assert_int_equal(
            report_json_read(mechanism, line, strlen(line), values, back, &err),
            SOTTO_STATUS_OK);
        assert_memory_equal(back, report, size);
        at[8] = '3'; /* no such book */
        assert_int_equal(
            report_json_read(mechanism, line, strlen(line), values, back, &err),
            SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "from 0 to 2"));
        memmove(at, at + strlen(key) - 1, strlen(at + strlen(key) - 1) + 1);
        assert_int_equal(
            report_json_read(mechanism, line, strlen(line), values, back, &err),
            SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "lacks the key \"book\""));
        free(line);
    }
    sotto_mechanism_free(mechanism);
}

/* A byte that is no book is refused, and the message says so. */
static void
test_refused(void **state)
{
    struct sotto_mechanism *mechanism = open_books();
    struct sotto_report_reader *reader = NULL;
    size_t size = mechanism->shape.report_size;
    uint8_t report[64];
    (void)state;
    make_report(mechanism, 1, report);
    for (unsigned byte = 0; byte < 256; byte++) {
        report[REPORT_HEADER_SIZE] = (uint8_t)byte;
        enum sotto_status status = sotto_report_reader_parse(
            mechanism, report, size, "reports", &reader, &err);
        assert_int_equal(status,
                         byte < BOOKS ? SOTTO_STATUS_OK : SOTTO_STATUS_INPUT);
        if (status == SOTTO_STATUS_OK) {
            assert_int_equal(sotto_report_book(mechanism, report), byte);
            sotto_report_reader_free(reader);
        } else {
            assert_non_null(strstr(err.message, "is none of the 3"));
        }
    }
    sotto_mechanism_free(mechanism);
}

/* The shares of each book from its own reports: the truth, within six standard
   deviations of the noise. */
static void
test_estimate(void **state)
{
    static const size_t truth[BOOKS] = {0 * 3 + 1, 1 * 3 + 1, 1 * 3 + 1};
    struct sotto_mechanism *mechanism = open_books();
    struct sotto_estimate *estimate = NULL;
    size_t seen[BOOKS] = {0};
    (void)state;
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_estimate_rows(estimate), BOOKS * K * 3);
    for (uint64_t i = 0; i < REPORTS; i++) {
        uint8_t report[64];
        make_report(mechanism, i, report);
        seen[sotto_report_book(mechanism, report)]++;
        sotto_estimate_add(estimate, report);
    }
    for (size_t b = 0; b < BOOKS; b++) {
        /* a third each, within six standard deviations */
        assert_in_range(seen[b], 20000 - 700, 20000 + 700);
        for (size_t s = 0; s < K * 3; s++) {
            struct sotto_estimate_row row;
            char name[32];
            sotto_estimate_row(estimate, b * K * 3 + s, 6, &row);
            (void)snprintf(name, sizeof name, "part 1 x label (book %zu)", b);
            assert_string_equal(row.name, name);
            assert_true(row.low <= (s == truth[b]) &&
                        (s == truth[b]) <= row.high);
            assert_true(row.high - row.low < 0.2);
        }
    }
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* A small file with as many symbols as a part may have, in so many books. */
static struct sotto_mechanism *
open_many(uint32_t books)
{
    static const char *values[32767];
    static char text[32767][8];
    struct schema_column many[] = {
        {"pixels", SOTTO_COLUMN_BYTES, books * K, NULL, false, 0, 1},
        {"label", SOTTO_COLUMN_CATEGORY, 32768, values, false, 0, 0}};
    struct compose_part own = part;
    struct compose_spec other = spec;
    for (size_t i = 0; i < 32767; i++) { /* sorted */
        (void)snprintf(text[i], sizeof text[i], "%05zu", i);
        values[i] = text[i];
    }
    own.books = books;
    own.channel = "flip";
    other.column = many;
    other.part = &own;
    return fixture_open(&other);
}

/* Sixteen books of 65,536 symbols are estimated, and no more. */
static void
test_too_many(void **state)
{
    struct sotto_mechanism *mechanism = open_many(17);
    struct sotto_estimate *estimate = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(err.status, SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "17 codebooks of 65536 symbols"));
    assert_null(estimate);
    sotto_mechanism_free(mechanism);
    mechanism = open_many(16);
    assert_int_equal(sotto_estimate_new(mechanism, &estimate, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_estimate_rows(estimate), 1u << 20);
    sotto_estimate_free(estimate);
    sotto_mechanism_free(mechanism);
}

/* ---- The file ------------------------------------------------------------ */

/* The page says that one of three is asked, and that the number shows. */
static void
test_page(void **state)
{
    struct sotto_mechanism *mechanism = open_books();
    char *text = NULL;
    (void)state;
    assert_int_equal(sotto_mechanism_describe(mechanism, false, &text, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(strstr(text, "Of the 3 questions of part 1"));
    assert_non_null(strstr(text, "one of 3 such questions, by lot"));
    assert_non_null(strstr(text, "about all of the record: at most 2, as"));
    free(text);
    assert_int_equal(sotto_mechanism_describe(mechanism, true, &text, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(strstr(text, "\"books\":3"));
    free(text);
    sotto_mechanism_free(mechanism);
}

/* Another budget keeps the books; one book less is another mechanism. */
static void
test_other_budget(void **state)
{
    struct sotto_mechanism *mechanism = open_books(), *other = NULL, *fewer;
    struct sotto_mechanism *first;
    uint8_t digest[3][REBUDGET_DIGEST_SIZE];
    struct compose_part own = part;
    struct compose_spec two = spec;
    struct sotto_mechanism_info info;
    (void)state;
    assert_int_equal(
        sotto_mechanism_rebudget(mechanism, "0.5", 0, NULL, NULL, &other, &err),
        SOTTO_STATUS_OK);
    own.books = 2;
    two.part = &own;
    fewer = fixture_open(&two);
    sotto_mechanism_info(other, &info);
    assert_int_equal(info.books, BOOKS);
    assert_true(info.eps == 0.5);
    rebudget_digest(mechanism, digest[0]);
    rebudget_digest(other, digest[1]);
    rebudget_digest(fewer, digest[2]);
    assert_memory_equal(digest[0], digest[1], sizeof digest[0]);
    assert_memory_not_equal(digest[0], digest[2], sizeof digest[0]);
    assert_true(same_code(mechanism, other));
    assert_false(same_code(mechanism, fewer));
    own.books = 0; /* the first of its books alone */
    first = fixture_open(&two);
    assert_true(same_code(mechanism, first));
    assert_false(same_code(first, mechanism));
    sotto_mechanism_free(first);
    sotto_mechanism_free(mechanism);
    sotto_mechanism_free(other);
    sotto_mechanism_free(fewer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_depends_on_any_book),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_other_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
