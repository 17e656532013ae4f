/*
 * test_population.c: people's reports are the same at any number of threads,
 * and what the decoder makes of them looks like them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "blobs.h"
#include "experiment/data_set.h"
#include "experiment/experiment.h"
#include "experiment/population.h"
#include "freed.h"
#include "mechanism/rows.h"
#include "scratch.h"
#include "train_fixture.h"

#define ROWS 300u /* more than a task, not a multiple of one */

static struct sotto_error err;
static struct data_records data;
static struct sotto_mechanism *mechanism;
static struct sotto_analyst *analyst;

/* Principal components of the blobs. */
static int
setup(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    struct pca_options options = {.eps = "32", .label = "label"};
    (void)state;
    if (scratch_make() != 0 || blobs_write(folder, ROWS, 40) != 0 ||
        data_records_open(&data_set_mnist, folder, &data, hash, &err) !=
            SOTTO_STATUS_OK ||
        data_records_read(&data, &err) != SOTTO_STATUS_OK ||
        train_pca(data.train, &options, in_folder("m.sotto"),
                  in_folder("m.analyst"), &mechanism,
                  &err) != SOTTO_STATUS_OK) {
        return -1;
    }
    return sotto_analyst_read(in_folder("m.analyst"), &analyst, &err) ==
                   SOTTO_STATUS_OK
               ? 0
               : -1;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    data_records_close(&data);
    return scratch_remove();
}

static struct sotto_report_reader *
report(uint64_t seed, unsigned threads)
{
    struct sotto_report_reader *reader = NULL;
    assert_int_equal(population_report(mechanism, data.train, seed, false,
                                       threads, NULL, &reader, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_reader_count(reader), ROWS);
    return reader;
}

static bool
same(const struct sotto_report_reader *a, const struct sotto_report_reader *b)
{
    struct sotto_mechanism_info info;
    size_t differ = 0;
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < ROWS; i++) {
        const uint8_t *left = sotto_report_reader_at(a, i);
        differ +=
            memcmp(left, sotto_report_reader_at(b, i), info.report_size) != 0
                ? 1
                : 0;
        assert_true(sotto_report_simulated(left));
    }
    assert_true(differ == 0 || differ == ROWS);
    return differ == 0;
}

static void
test_threads(void **state)
{
    struct sotto_report_reader *one = report(1, 1);
    struct sotto_report_reader *three = report(1, 3);
    struct sotto_report_reader *other = report(2, 2);
    (void)state;
    assert_true(same(one, three));
    assert_false(same(one, other));
    sotto_report_reader_free(one);
    sotto_report_reader_free(three);
    sotto_report_reader_free(other);
}

/* Mean distance of the first part's numbers from the points they are about, in
   units of the noise's scale b = 2l / eps, whose mean it is. */
static double
mean_noise(const struct sotto_report_reader *reader)
{
    struct sotto_part_info part;
    struct rows rows;
    int64_t value[64];
    int32_t q[64];
    double sum = 0;
    sotto_mechanism_part(mechanism, 0, &part);
    assert_true(part.values <= 64);
    assert_int_equal(rows_init(&rows, mechanism, data.train, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < ROWS; i++) {
        const uint8_t *at = sotto_report_reader_at(reader, i);
        sotto_report_values(mechanism, at, 0, 0, value);
        rows_q(&rows, i, q);
        for (size_t j = 0; j < part.values; j++) {
            sum += fabs((double)(value[j] - q[j]));
        }
    }
    rows_clear(&rows);
    return sum / (double)(ROWS * part.values) / (2 * (double)part.l / part.eps);
}

/* The same noise by floats and exactly: the mean of n exponentials is within
   5 / sqrt(n) of theirs but for one case in a million. */
static void
test_floats(void **state)
{
    struct sotto_report_reader *exact = report(1, 2), *floats = NULL;
    struct sotto_part_info part;
    (void)state;
    sotto_mechanism_part(mechanism, 0, &part);
    double most = 5 / sqrt((double)(ROWS * part.values));
    assert_int_equal(population_report(mechanism, data.train, 1, true, 2, NULL,
                                       &floats, &err),
                     SOTTO_STATUS_OK);
    assert_true(fabs(mean_noise(exact) - 1) < most);
    assert_true(fabs(mean_noise(floats) - 1) < most);
    assert_false(same(exact, floats));
    sotto_report_reader_free(exact);
    sotto_report_reader_free(floats);
}

static void
refuse_far(const struct sotto_table *table)
{
    static const char text[] = "a,b,label\n1e300,-1e300,x\n";
    struct pca_options options = {.eps = "1", .label = "label", .d = 2};
    struct sotto_table *far = NULL;
    struct sotto_mechanism *pca = NULL;
    struct sotto_report_reader *reader = NULL;
    assert_int_equal(
        sotto_table_parse(text, sizeof text - 1, "-", NULL, &far, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        train_pca(table, &options, in_folder("f.sotto"), NULL, &pca, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        population_report(pca, far, 1, true, 1, NULL, &reader, &err),
        SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "does not fit into a report"));
    assert_null(reader);
    sotto_mechanism_free(pca);
    sotto_table_free(far);
}

/* Where there is no such lattice there are no reports; nor where a record is
   so far out that it is no number: never the exact channel's instead. */
static void
test_floats_refused(void **state)
{
    static const char *const numbers[] = {"laplace", "window"};
    static const char text[] = "a,b,label\n1,2,x\n2,1,y\n3,5,x\n";
    struct sotto_table *table = NULL;
    (void)state;
    assert_int_equal(
        sotto_table_parse(text, sizeof text - 1, "-", NULL, &table, &err),
        SOTTO_STATUS_OK);
    for (size_t i = 0; i < 2; i++) {
        struct direct_options options = {
            .eps = "1", .label = "label", .numbers = numbers[i]};
        struct sotto_mechanism *direct = NULL;
        struct sotto_report_reader *reader = NULL;
        assert_int_equal(
            train_direct(table, &options, in_folder("d.sotto"), &direct, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(
            population_report(direct, table, 1, true, 1, NULL, &reader, &err),
            SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "floating-point noise"));
        assert_null(reader);
        sotto_mechanism_free(direct);
    }
    refuse_far(table);
    sotto_table_free(table);
}

static bool
refuse(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context;
    assert_non_null(what);
    assert_true(done <= total);
    return false;
}

static void
test_stopped(void **state)
{
    struct sotto_watch watch = {refuse, NULL};
    struct sotto_report_reader *reader = NULL;
    struct sotto_table *table = NULL;
    (void)state;
    assert_int_equal(population_report(mechanism, data.train, 1, false, 1,
                                       &watch, &reader, &err),
                     SOTTO_STATUS_STOPPED);
    assert_null(reader);
    assert_int_equal(
        population_decode(mechanism, analyst, data.train, &watch, &table, &err),
        SOTTO_STATUS_STOPPED);
    assert_null(table);
}

static double
pixel(const struct sotto_table *table, size_t row, size_t at)
{
    return ((const uint8_t *)sotto_table_cell(table, row, 0).data)[at];
}

/* Eight components of ten kinds of discs: well nearer to the pictures than
   their mean is. */
static void
test_decoded(void **state)
{
    struct sotto_table *table = NULL;
    double left = 0, total = 0;
    (void)state;
    assert_int_equal(
        population_decode(mechanism, analyst, data.train, NULL, &table, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_rows(table), ROWS);
    assert_int_equal(sotto_table_width(table, 0), 784);
    assert_string_equal(sotto_table_name(table, 1), "label");
    for (size_t i = 0; i < ROWS; i++) {
        struct sotto_value label = sotto_table_cell(table, i, 1);
        assert_int_equal(label.kind, SOTTO_VALUE_TEXT);
        assert_true(label.number == sotto_table_cell(data.train, i, 1).number);
    }
    for (size_t j = 0; j < 784; j++) {
        double mean = 0;
        for (size_t i = 0; i < ROWS; i++) {
            mean += pixel(data.train, i, j) / ROWS;
        }
        for (size_t i = 0; i < ROWS; i++) {
            double truth = pixel(data.train, i, j);
            left += pow(truth - pixel(table, i, j), 2);
            total += pow(truth - mean, 2);
        }
    }
    assert_true(left < 0.5 * total);
    sotto_table_free(table);
}

/* A table of something else. */
/* Nothing that is freed still holds a person's point, decoded or trained on. */
static void
test_wiped(void **state)
{
    struct pca_options options = {.eps = "32", .label = "label"};
    struct sotto_part_info part;
    struct rows rows;
    int32_t q[FREED_MAX];
    double z[4];
    (void)state;
    sotto_mechanism_part(mechanism, 0, &part);
    assert_int_equal(rows_init(&rows, mechanism, data.train, &err),
                     SOTTO_STATUS_OK);
    assert_in_range(rows_q_width(&rows), 4, FREED_MAX);
    for (int what = 0; what < 3; what++) {
        struct sotto_table *decoded = NULL;
        rows_q(&rows, ROWS - 1, q); /* the last, which stays */
        for (size_t i = 0; i < 4; i++) {
            z[i] = q[i] / (double)part.l;
        }
        freed_watch(what == 1 ? (const void *)z : q,
                    what == 1 ? sizeof z : 4 * sizeof *q);
        if (what < 2) {
            assert_int_equal(population_decode(mechanism, analyst, data.train,
                                               NULL, &decoded, &err),
                             SOTTO_STATUS_OK);
        } else {
            assert_int_equal(train_pca(data.train, &options,
                                       in_folder("w.sotto"),
                                       in_folder("w.analyst"), NULL, &err),
                             SOTTO_STATUS_OK);
        }
        sotto_table_free(decoded);
        assert_int_equal(freed_found(), 0);
    }
    rows_clear(&rows);
}

static void
test_wrong(void **state)
{
    static const char csv[] = "age\n1\n2\n";
    struct sotto_table *table = NULL, *decoded = NULL;
    struct sotto_report_reader *reader = NULL;
    (void)state;
    assert_int_equal(
        sotto_table_parse(csv, sizeof csv - 1, "csv", NULL, &table, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(
        population_report(mechanism, table, 1, false, 1, NULL, &reader, &err),
        SOTTO_STATUS_INPUT);
    assert_int_equal(
        population_decode(mechanism, analyst, table, NULL, &decoded, &err),
        SOTTO_STATUS_INPUT);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_floats_refused), cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_decoded),        cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
