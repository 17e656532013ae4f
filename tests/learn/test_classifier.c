/*
 * test_classifier.c: the network over cells: its gradient, what it learns,
 * where people are not as auxiliary records, and private inference.
 */
#include "codes_fixture.h"
#include "fit_classifier.h"

#include "fail_alloc.h"
#include "learn/codes/classifier.h"
#include "learn/codes/expected.h"

#define AUX 600u
#define CELLS_MOST 40u

static struct crowd crowd;
static float z[AUX * 2];
static uint32_t code[AUX];
static const struct classifier_aux aux = {z, code, AUX, 2};
static const struct networks_plan plan = {
    .hidden = {50}, .hiddens = 1, .count = 1};

/* Cells side by side, five in a row; as many records in each. */
static void
make_aux(size_t cells)
{
    struct seeded seeded;
    seeded_init(&seeded, 77, 0);
    for (size_t m = 0; m < AUX; m++) {
        code[m] = (uint32_t)(m % cells);
        z[2 * m] = (float)(code[m] % 5 + draw_below(&seeded.random, 800) / 1e3);
        z[2 * m + 1] =
            (float)(code[m] / 5 + draw_below(&seeded.random, 800) / 1e3);
    }
}

/* The first half of the cells has label 0, the other label 1: what a network
   finds easier than a table does. */
static void
make_halves(size_t cells, double eps, size_t reports, bool uneven)
{
    crowd_table(&crowd, cells, 2, 0.9, 0, uneven, 5);
    for (size_t c = 0; c < cells; c++) {
        uint32_t right = c < cells / 2 ? 0 : 1;
        crowd.right[c] = right;
        crowd.tau[2 * c + right] = 0.9;
        crowd.tau[2 * c + 1 - right] = 0.1;
    }
    crowd_report(&crowd, "subset", eps, 0, cells, 2, reports, 6);
    make_aux(cells);
}

/* ---- The gradient -------------------------------------------------------- */

static void
test_gradient(void **state)
{
    static float p[AUX * 2], dp[AUX * 2];
    double room[2 * 2 * CELLS_MOST], log_p;
    struct codes codes;
    (void)state;
    make_halves(8, 2, 1200, true);
    must(codes_init(&codes, &crowd.shape, crowd.report, 1200, NULL, &err));
    for (size_t m = 0; m < AUX; m++) {
        p[2 * m] = 0.3F + (float)(m % 7) / 20;
        p[2 * m + 1] = 1 - p[2 * m];
    }
    log_p = classifier_gradient(&codes, &aux, crowd.pi, crowd.tau, p, room, dp);
    assert_true(fabs(log_p - classifier_gradient(&codes, &aux, crowd.pi,
                                                 crowd.tau, p, room, NULL)) <
                1e-9);
    for (size_t i = 0; i < 2 * 8; i++) { /* all records of a cell alike */
        double up, down, slope = 0;
        const float h = 0.02F;
        for (size_t m = 0; m < AUX; m++) {
            slope += code[m] == i / 2 ? (double)dp[2 * m + i % 2] : 0;
            p[2 * m + i % 2] += code[m] == i / 2 ? h : 0;
        }
        up = classifier_gradient(&codes, &aux, crowd.pi, crowd.tau, p, room,
                                 NULL);
        for (size_t m = 0; m < AUX; m++) {
            p[2 * m + i % 2] -= code[m] == i / 2 ? 2 * h : 0;
        }
        down = classifier_gradient(&codes, &aux, crowd.pi, crowd.tau, p, room,
                                   NULL);
        for (size_t m = 0; m < AUX; m++) {
            p[2 * m + i % 2] += code[m] == i / 2 ? h : 0;
        }
        assert_true(fabs(-(up - down) / (2 * (double)h) - slope) <
                    1e-2 * fabs(slope));
    }
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* ---- Learning ------------------------------------------------------------ */

/* From targets that say nothing, up the likelihood alone. */
static void
test_climb(void **state)
{
    const struct learn_options options = {.decay = -1};
    struct tensor_backend *backend = NULL;
    struct classifier_info info = {0};
    struct classifier *classifier = NULL;
    struct codes codes, held;
    (void)state;
    make_halves(20, 2, 6000, false);
    must(codes_init(&codes, &crowd.shape, crowd.report, 5000, NULL, &err));
    must(
        codes_init(&held, &crowd.shape, crowd.report + 5000, 1000, NULL, &err));
    must(tensor_new("cpu", NULL, &backend, &err));
    must(classifier_new(2, 20, 2, &plan, &classifier, &err));
    memcpy(classifier->pi, crowd.pi, 20 * sizeof *classifier->pi);
    for (size_t i = 0; i < 40; i++) {
        classifier->tau[i] = 0.5;
    }
    must(classifier_train(classifier, &aux, &codes, &held, &options, 200,
                          backend, &info, &err));
    assert_true(info.steps > 10);
    assert_true(accuracy(&crowd, classifier->tau_bar) > 0.85); /* of 0.9 */
    assert_true(fabs(info.validation - info.log_p) < 0.3);
    classifier_free(classifier);
    tensor_backend_free(backend);
    codes_clear(&codes);
    codes_clear(&held);
    crowd_clear(&crowd);
}

static struct classifier *
fit(size_t reports, bool shifted, unsigned threads,
    struct classifier_info *info)
{
    const struct learn_options options = {.balanced = true,
                                          .shifted = shifted,
                                          .decay = -1,
                                          .seed = 4,
                                          .threads = threads};
    struct classifier *classifier = NULL;
    must(fit_classifier(&crowd.shape, crowd.report, reports, &aux, &options,
                        &classifier, info, &err));
    return classifier;
}

/* What the network makes of one representation. */
static size_t
classify(struct classifier *classifier, float x, float y)
{
    const float at[] = {x, y};
    struct tensor_backend *backend = NULL;
    const float *logits;
    size_t best;
    must(tensor_new("cpu", NULL, &backend, &err));
    must(nn_graph_reserve(&classifier->networks.net[0].stack, 1, &err));
    logits = nn_graph_forward(&classifier->networks.net[0].stack, backend, at,
                              1, false);
    best = logits[1] > logits[0];
    tensor_backend_free(backend);
    return best;
}

static void
test_fit(void **state)
{
    struct classifier_info info;
    struct classifier *classifier;
    (void)state;
    make_halves(20, 2, 6000, false);
    classifier = fit(6000, false, 1, &info);
    assert_true(accuracy(&crowd, classifier->tau_bar) > 0.85);
    for (size_t c = 0; c < 20; c++) {
        assert_true(fabs(classifier->tau_bar[2 * c] +
                         classifier->tau_bar[2 * c + 1] - 1) < 1e-5);
    }
    /* It takes z as it is; rows 0 and 3 are far from the border. */
    assert_int_equal(classify(classifier, 2.4F, 0.4F), 0);
    assert_int_equal(classify(classifier, 2.4F, 3.4F), 1);
    /* By leaves, and nobody doubts which class is which. */
    assert_true(info.log_p < 0);
    assert_int_equal(info.smooth.particles, 256);
    assert_true(info.smooth.gap < 1);
    assert_true(classifier->exchanged[0] > 0.99);
    assert_true(info.steps == 0);
    classifier_free(classifier);
    crowd_clear(&crowd);
}

/* Takes as many particles as are asked for, and still finds the labels. */
static void
test_fit_particles(void **state)
{
    const struct learn_options options = {.balanced = true,
                                          .particles = 40,
                                          .decay = -1,
                                          .seed = 4,
                                          .threads = 1};
    struct classifier_info info;
    struct classifier *classifier = NULL;
    (void)state;
    make_halves(20, 2, 6000, false);
    must(fit_classifier(&crowd.shape, crowd.report, 6000, &aux, &options,
                        &classifier, &info, &err));
    assert_int_equal(info.smooth.particles, 40);
    assert_true(accuracy(&crowd, classifier->tau_bar) > 0.85);
    classifier_free(classifier);
    crowd_clear(&crowd);
}

/* Where reports say much, by codes, and some reports score. */
static void
test_fit_table(void **state)
{
    struct classifier_info info;
    struct classifier *classifier;
    (void)state;
    make_halves(20, 2, 6000, false);
    crowd_clear(&crowd);
    crowd_report(&crowd, "subset", 8, 0, 20, 2, 6000, 6);
    classifier = fit(6000, false, 1, &info);
    assert_true(accuracy(&crowd, classifier->tau_bar) > 0.85);
    assert_true(info.log_p < 0 && info.validation < 0);
    assert_int_equal(info.smooth.particles, 0);
    assert_null(classifier->exchanged);
    classifier_free(classifier);
    crowd_clear(&crowd);
}

static void
test_shifted(void **state)
{
    struct classifier_info info;
    struct classifier *classifier, *known;
    double off[2] = {0};
    (void)state;
    make_halves(8, 4, 8000, false);
    crowd_clear(&crowd);
    for (size_t c = 0; c < 8; c++) { /* one of each label is most of it */
        crowd.pi[c] = c == 1 || c == 6 ? 0.32 : 0.06;
    }
    crowd_report(&crowd, "subset", 4, 0, 8, 2, 8000, 6);
    classifier = fit(8000, true, 1, &info);
    known = fit(8000, false, 1, &info);
    for (size_t c = 0; c < 8; c++) {
        assert_true(fabs(classifier->pi[c] - crowd.pi[c]) < 0.02);
        assert_true(fabs(known->pi[c] - 0.125) < 1e-3);
        off[0] += fabs(classifier->tau[2 * c] - crowd.tau[2 * c]);
        off[1] += fabs(known->tau[2 * c] - crowd.tau[2 * c]);
    }
    assert_true(off[0] < off[1]);
    assert_true(accuracy(&crowd, classifier->tau_bar) > 0.85);
    classifier_free(classifier);
    classifier_free(known);
    crowd_clear(&crowd);
}

static void
test_threads(void **state)
{
    struct classifier_info info[2];
    struct classifier *classifier[2];
    (void)state;
    make_halves(20, 1, 3000, false);
    for (unsigned i = 0; i < 2; i++) {
        classifier[i] = fit(3000, false, i + 1, &info[i]);
    }
    assert_memory_equal(classifier[0]->tau, classifier[1]->tau,
                        40 * sizeof(double));
    assert_memory_equal(classifier[0]->tau_bar, classifier[1]->tau_bar,
                        40 * sizeof(double));
    assert_memory_equal(classifier[0]->networks.net[0].arena.value,
                        classifier[1]->networks.net[0].arena.value,
                        classifier[0]->networks.net[0].arena.size *
                            sizeof(float));
    assert_true(info[0].log_p == info[1].log_p);
    classifier_free(classifier[0]);
    classifier_free(classifier[1]);
    crowd_clear(&crowd);
}

/* ---- Private inference --------------------------------------------------- */

/* By the formula; and a label part of its own is not looked at. */
static void
test_private(void **state)
{
    static const double label_eps[] = {0, 2};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct expected_cells cells;
        double p[200 * 2];
        crowd_table(&crowd, 6, 2, 0.9, 0.05, true, 5);
        crowd_report(&crowd, "subset", 2, label_eps[k], 6, 2, 200, 6);
        cells = (struct expected_cells){6, 2, crowd.pi, crowd.tau};
        must(expected_predict(&cells, &crowd.shape, crowd.wire,
                              (size_t)(crowd.report[1] - crowd.report[0]), 200,
                              p, &err));
        for (size_t i = 0; i < 200; i++) {
            double sum = 0, first = 0;
            for (int32_t c = 0; c < 6; c++) {
                double own = 0;
                for (int32_t y = 0; y < 2; y++) {
                    int32_t q = k == 0 ? c * 3 + y : c;
                    own += crowd.pi[c] * exp(crowd.code.likelihood->log_p(
                                             &crowd.code, crowd.report[i], &q));
                }
                sum += own;
                first += own * crowd.tau[2 * c];
            }
            assert_true(fabs(p[2 * i] - first / sum) < 1e-9);
            assert_true(fabs(p[2 * i] + p[2 * i + 1] - 1) < 1e-9);
        }
        crowd.shape.cells = 5;
        assert_int_equal(
            expected_predict(&cells, &crowd.shape, crowd.wire,
                             (size_t)(crowd.report[1] - crowd.report[0]), 1, p,
                             &err),
            SOTTO_STATUS_INPUT);
        assert_non_null(strstr(err.message, "5 codes"));
        crowd_clear(&crowd);
    }
}

/* ---- What fails ---------------------------------------------------------- */

static void
test_refusals(void **state)
{
    static const uint32_t hidden[NETWORKS_HIDDEN_MAX + 1] = {3};
    struct learn_options options = {.decay = -1, .threads = 1};
    struct classifier_aux none = {z, code, 0, 2};
    struct classifier *classifier = NULL;
    (void)state;
    make_halves(8, 1, 300, false);
    assert_int_equal(fit_classifier(&crowd.shape, crowd.report, 300, &none,
                                    &options, &classifier, NULL, &err),
                     SOTTO_STATUS_INPUT);
    code[7] = 8;
    assert_int_equal(fit_classifier(&crowd.shape, crowd.report, 300, &aux,
                                    &options, &classifier, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 7);
    assert_non_null(strstr(err.message, "record 8 has code 8"));
    code[7] = 7;
    assert_int_equal(fit_classifier(&crowd.shape, crowd.report, 0, &aux,
                                    &options, &classifier, NULL, &err),
                     SOTTO_STATUS_INPUT);
    options.hidden = hidden;
    options.hiddens = NETWORKS_HIDDEN_MAX + 1;
    assert_int_equal(fit_classifier(&crowd.shape, crowd.report, 300, &aux,
                                    &options, &classifier, NULL, &err),
                     SOTTO_STATUS_LIMIT);
    crowd.shape.symbols = 1;
    assert_int_equal(fit_classifier(&crowd.shape, crowd.report, 300, &aux,
                                    &options, &classifier, NULL, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "no label"));
    assert_null(classifier);
    crowd_clear(&crowd);
}

/* Every allocation in turn; a short training is enough. */
static void
test_memory(void **state)
{
    const struct learn_options options = {.decay = -1};
    struct tensor_backend *backend = NULL;
    struct classifier_aux few = {.z = z, .code = code, .n = 16, .d = 2};
    struct codes codes;
    enum sotto_status status;
    long n = 0;
    (void)state;
    make_halves(4, 2, 300, false);
    must(codes_init(&codes, &crowd.shape, crowd.report, 300, NULL, &err));
    must(tensor_new("cpu", NULL, &backend, &err));
    do {
        struct classifier *classifier = NULL;
        struct classifier_info info = {0};
        double p[2];
        fail_alloc_at(++n);
        status = classifier_new(2, 4, 2, &plan, &classifier, &err);
        if (status == SOTTO_STATUS_OK) {
            memcpy(classifier->pi, crowd.pi, 4 * sizeof(double));
            memcpy(classifier->tau, crowd.tau, 8 * sizeof(double));
            status = classifier_train(classifier, &few, &codes, &codes,
                                      &options, 2, backend, &info, &err);
        }
        if (status == SOTTO_STATUS_OK) {
            const struct expected_cells cells = {4, 2, classifier->pi,
                                                 classifier->tau_bar};
            status = expected_predict(
                &cells, &crowd.shape, crowd.wire,
                (size_t)(crowd.report[1] - crowd.report[0]), 1, p, &err);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        classifier_free(classifier);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 15);
    tensor_backend_free(backend);
    codes_clear(&codes);
    crowd_clear(&crowd);
}

/* The same of all of it, as it is called. */
static void
test_memory_of_all(void **state)
{
    struct learn_options options = {.particles = 2, .decay = -1, .threads = 1};
    struct classifier_aux few = {.z = z, .code = code, .n = 16, .d = 2};
    enum sotto_status status;
    long n = 0;
    (void)state;
    make_halves(4, 2, 300, false);
    do {
        struct classifier *classifier = NULL;
        fail_alloc_at(++n);
        options.shifted = n % 2 == 0;
        status = fit_classifier(&crowd.shape, crowd.report, 300, &few, &options,
                                &classifier, NULL, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true((status == SOTTO_STATUS_OK) == (classifier != NULL));
        classifier_free(classifier);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 40);
    crowd_clear(&crowd);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_climb),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_fit_particles),
        cmocka_unit_test(test_fit_table),
        cmocka_unit_test(test_shifted),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
