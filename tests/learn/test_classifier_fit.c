/*
 * test_classifier_fit.c: a classifier from the reports of a codebook mechanism,
 * by way of a report file.
 */
#include "learn_fixture.h"

#include "fit_classifier.h"

#include "learn/codes/classifier.h"
#include "learn_codebook.h"

#define PEOPLE 4000u
#define AUX 300u

static float z[AUX * 3];
static uint32_t code[AUX];
static const struct classifier_aux aux = {z, code, AUX, 3};

/* The label is yes where b is the largest of (a, -a, b): code 2. */
static struct sotto_table *
people(void)
{
    char *text = malloc(64 + 48 * PEOPLE), *at = text;
    struct sotto_table *table;
    struct seeded seeded;
    seeded_init(&seeded, 9, 0);
    at += sprintf(at, "a,b,label\n");
    for (size_t i = 0; i < PEOPLE; i++) {
        double a = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        double b = (draw_below(&seeded.random, 2001) - 1000.0) / 1000;
        at += sprintf(at, "%.4f,%.4f,%s\n", a, b, b > fabs(a) ? "yes" : "no");
    }
    table = table_of(text);
    free(text);
    return table;
}

/* The device's own scores of the first people stand for others' records. */
static void
make_aux(struct sotto_mechanism *mechanism, const struct sotto_table *table)
{
    struct rows rows;
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t m = 0; m < AUX; m++) {
        float *to = z + 3 * m;
        rows_encode(&rows, m, NULL, to);
        code[m] = to[1] > to[0];
        code[m] = to[2] > to[code[m]] ? 2 : code[m];
    }
    rows_clear(&rows);
}

/* From the reports of a reader, at the mechanism's shape. */
static enum sotto_status
fit(const struct sotto_mechanism *mechanism,
    const struct sotto_report_reader *reader,
    const struct learn_options *options, struct classifier **ret_classifier)
{
    const uint8_t *report[PEOPLE];
    struct codes_shape shape;
    enum sotto_status status = codes_shape_init(&shape, mechanism, false, &err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < PEOPLE; i++) {
        report[i] = sotto_report_reader_at(reader, i);
    }
    return fit_classifier(&shape, report, PEOPLE, &aux, options, ret_classifier,
                          NULL, &err);
}

static void
test_reports(void **state)
{
    (void)state;
    for (size_t pairs = 0; pairs < 2; pairs++) {
        const struct learn_options options = {
            .decay = -1, .seed = 1, .threads = 1};
        struct sotto_mechanism *mechanism =
            open_codebook(2 * DECIMAL_UNIT, pairs == 1);
        struct sotto_table *table = people();
        struct sotto_report_reader *reader = read_back(mechanism, table, 5);
        struct classifier *classifier = NULL;
        make_aux(mechanism, table);
        must(fit(mechanism, reader, &options, &classifier));
        assert_int_equal(classifier->cells, 3);
        assert_int_equal(classifier->classes, 2);
        assert_true(classifier->tau_bar[0] > 0.7); /* no */
        assert_true(classifier->tau_bar[2] > 0.7);
        assert_true(classifier->tau_bar[5] > 0.7); /* yes */
        assert_true(fabs(classifier->share[0] - 0.75) < 0.1);
        classifier_free(classifier);
        sotto_report_reader_free(reader);
        sotto_table_free(table);
        sotto_mechanism_free(mechanism);
    }
}

static void
test_no_code(void **state)
{
    const struct learn_options options = {.decay = -1, .threads = 1};
    struct sotto_mechanism *mechanism = open_no_codebook();
    struct sotto_table *table = people();
    struct sotto_report_reader *reader = read_back(mechanism, table, 5);
    struct classifier *classifier = NULL;
    (void)state;
    assert_int_equal(fit(mechanism, reader, &options, &classifier),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "has no code"));
    assert_null(classifier);
    sotto_report_reader_free(reader);
    sotto_table_free(table);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_no_code),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
