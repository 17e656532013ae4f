/*
 * test_labels.c: what label reports say, and reports in order.
 */
#include "learn_fixture.h"

#include "fail_alloc.h"
#include "learn/labels.h"

#define ROWS 500u

static struct sotto_mechanism *mechanism;
static struct prior_shape shape;
static struct labels_part part;
static uint8_t *reports;
static const uint8_t *report[ROWS];

static void
test_flip(void **state)
{
    struct labels labels;
    double e = exp(1.5), top = e / (e + 2), rest = 1 / (e + 2);
    (void)state;
    must(labels_init(&labels, &part, report, ROWS, false, 0, &err));
    assert_int_equal(labels.groups, 3);
    assert_int_equal(labels.classes, 3);
    for (size_t i = 0; i < ROWS; i++) {
        uint8_t said = report[i][shape.label_offset];
        size_t g = labels.group[i];
        for (size_t y = 0; y < 3; y++) {
            double right = y == said ? top : rest;
            double got = labels.t[g * 3 + y] * exp(labels.log_t[g]);
            assert_true(fabs(got - right) < 1e-12);
        }
    }
    /* Half of them say yes, and none is another: the estimates know. */
    assert_true(fabs(labels.share[0] - 0.5) < 0.1);
    assert_true(fabs(labels.share[1] - 0.5) < 0.1);
    assert_true(labels.share[2] < 0.1);
    assert_true(fabs(labels.share[0] + labels.share[1] + labels.share[2] - 1) <
                1e-12);
    labels_clear(&labels);
}

static void
test_plain(void **state)
{
    struct labels labels;
    (void)state;
    must(labels_init(&labels, &part, report, ROWS, true, 0.3, &err));
    for (size_t g = 0; g < 3; g++) {
        for (size_t y = 0; y < 3; y++) {
            assert_true(fabs(labels.t[g * 3 + y] - (g == y ? 0.8 : 0.1)) <
                        1e-12);
        }
        assert_true(labels.log_t[g] == 0);
    }
    labels_clear(&labels);
}

static void
test_clean(void **state)
{
    static const size_t truth[] = {1, 0, 1, SIZE_MAX};
    struct labels labels;
    (void)state;
    must(labels_init_clean(&labels, 2, truth, 4, 0, &err));
    assert_true(labels.t[labels.group[0] * 2 + 1] == 1);
    assert_true(labels.t[labels.group[0] * 2] == 0);
    assert_true(labels.t[labels.group[3] * 2] == 1); /* says nothing */
    assert_true(labels.t[labels.group[3] * 2 + 1] == 1);
    labels_clear(&labels);
}

/* Every report once; batches of one size; groups together; chunks in them. */
static void
test_plan(void **state)
{
    struct labels labels;
    struct plan plan;
    bool seen[ROWS] = {false};
    size_t chunk = 0;
    (void)state;
    must(labels_init(&labels, &part, report, ROWS, false, 0, &err));
    must(plan_init(&plan, &labels, 7, 0.1, 16, 3, &err));
    assert_int_equal(plan.batch[7], 450);
    assert_int_equal(plan.batch[8], ROWS);
    for (size_t b = 0; b < 7; b++) {
        size_t size = plan.batch[b + 1] - plan.batch[b];
        assert_true(size == 64 || size == 65);
    }
    for (size_t i = 0; i < ROWS; i++) {
        assert_false(seen[plan.order[i]]);
        seen[plan.order[i]] = true;
        assert_int_equal(plan.group[i], labels.group[plan.order[i]]);
    }
    for (size_t b = 0; b <= 7; b++) {
        assert_int_equal(plan.batch_chunk[b], chunk);
        assert_int_equal(plan.chunk[chunk], plan.batch[b]);
        for (; plan.chunk[chunk] < plan.batch[b + 1]; chunk++) {
            size_t first = plan.chunk[chunk], end = plan.chunk[chunk + 1];
            assert_true(end > first && end - first <= 16);
            for (size_t i = first; i < end; i++) {
                assert_int_equal(plan.group[i], plan.group[first]);
            }
        }
    }
    assert_int_equal(chunk, plan.chunks);
    plan_clear(&plan);
    assert_int_equal(plan_init(&plan, &labels, 1000, 0, 16, 3, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(plan.batches, ROWS); /* one each */
    plan_clear(&plan);
    labels.reports = 0;
    assert_int_equal(plan_init(&plan, &labels, 4, 0.1, 16, 3, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "0 reports are too few"));
    labels.reports = ROWS;
    labels_clear(&labels);
}

/* 60 classes, of which a set names 16 or so: hardly two reports are alike, and
   there are no more groups than reports. */
static void
test_many_sets(void **state)
{
    struct sotto_mechanism *sets = open_sets(DECIMAL_UNIT);
    struct sotto_table *table = set_rows(ROWS, 2);
    uint8_t *said = simulate(sets, table, 5);
    const uint8_t *each[ROWS];
    struct prior_shape own;
    struct labels_part own_part;
    struct labels labels;
    (void)state;
    must(prior_shape_init(&own, sets, false, &err));
    own_part = label_part(&own);
    for (size_t i = 0; i < ROWS; i++) {
        each[i] = said + i * sets->shape.report_size;
    }
    must(labels_init(&labels, &own_part, each, ROWS, false, 0, &err));
    assert_int_equal(labels.classes, SET_CLASSES);
    assert_true(labels.groups > ROWS - 10 && labels.groups <= ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        const double *t = labels.t + labels.group[i] * labels.classes;
        for (size_t y = 0; y < labels.classes; y++) {
            const uint8_t *wire = each[i] + own.label_offset;
            bool named = (wire[y / 8] >> (y % 8) & 1) != 0;
            assert_true(named ? t[y] == 1 : t[y] < 1);
        }
    }
    labels_clear(&labels);
    prior_shape_clear(&own);
    free(said);
    sotto_table_free(table);
    sotto_mechanism_free(sets);
}

static void
test_memory(void **state)
{
    struct labels labels;
    struct plan plan;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = labels_init(&labels, &part, report, ROWS, false, 0, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        if (status == SOTTO_STATUS_OK) {
            status = plan_init(&plan, &labels, 7, 0.1, 16, 3, &err);
            assert_true(status == SOTTO_STATUS_OK ||
                        status == SOTTO_STATUS_MEMORY);
            labels_clear(&labels);
        }
        if (status == SOTTO_STATUS_OK) {
            plan_clear(&plan);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 11);
}

static int
setup(void **state)
{
    struct sotto_table *table = mixed_rows(ROWS, 1);
    (void)state;
    mechanism = open_mixed(DECIMAL_UNIT, 3 * (DECIMAL_UNIT / 2), 8);
    must(prior_shape_init(&shape, mechanism, true, &err));
    part = label_part(&shape);
    reports = simulate(mechanism, table, 5);
    for (size_t i = 0; i < ROWS; i++) {
        report[i] = reports + i * mechanism->shape.report_size;
    }
    sotto_table_free(table);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    free(reports);
    prior_shape_clear(&shape);
    sotto_mechanism_free(mechanism);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flip),      cmocka_unit_test(test_plain),
        cmocka_unit_test(test_clean),     cmocka_unit_test(test_plan),
        cmocka_unit_test(test_many_sets), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
