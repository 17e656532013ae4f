/*
 * test_expected.c: what a classifier expects of reports about a code, against
 * sums over all reports and against simulated records.
 */
#include "learn/codes/expected.h"

#include "codes_fixture.h"
#include "fail_alloc.h"

enum { CELLS = 12, CLASSES = 3, N = 400, STRIPS = 8 };

static double pi[CELLS], tau[CELLS * CLASSES];
static const struct expected_cells known = {CELLS, CLASSES, pi, tau};

/* Cells of unlike sizes and purities. */
static void
make(void)
{
    double sum = 0;
    for (size_t c = 0; c < CELLS; c++) {
        double purity = 0.5 + 0.04 * (double)c;
        pi[c] = 1 + (double)(c * 7 % 5);
        sum += pi[c];
        for (size_t y = 0; y < CLASSES; y++) {
            tau[c * CLASSES + y] =
                y == c % CLASSES ? purity : (1 - purity) / (CLASSES - 1);
        }
    }
    for (size_t c = 0; c < CELLS; c++) {
        pi[c] /= sum;
    }
}

/* Over every report that k-ary response may give. */
static void
test_flip(void **state)
{
    static const double eps[] = {0.01, 1, 4, 32};
    (void)state;
    make();
    for (size_t i = 0; i < 4; i++) {
        double want = 0, got = 0;
        for (size_t r = 0; r < CELLS; r++) {
            double most = 0;
            for (size_t y = 0; y < CLASSES; y++) {
                double p = 0;
                for (size_t c = 0; c < CELLS; c++) {
                    p += pi[c] * tau[c * CLASSES + y] *
                         (c == r ? exp(eps[i]) : 1) / (exp(eps[i]) + CELLS - 1);
                }
                most = p > most ? p : most;
            }
            want += most;
        }
        must(expected_flip(&known, eps[i], &got, &err));
        assert_true(fabs(got - want) < 1e-12);
    }
}

static void
init_channel(struct channel_instance *instance,
             struct likelihood_instance *likelihood, const char *name,
             double eps, uint64_t own[256])
{
    const struct channel *channel =
        channel_find(channel_exact, name, strlen(name));
    assert_true(channel->own_size <= 256 * sizeof *own);
    must(channel_init(instance, channel, CELLS, 0, 0,
                      (uint64_t)(eps * (double)DECIMAL_UNIT), 0, own));
    must(likelihood_init(likelihood, instance));
}

/* The share of simulated records that get their class. */
static double
simulated(const struct likelihood_instance *likelihood, size_t n)
{
    const struct channel_instance *instance = likelihood->instance;
    const struct expected_cells cells = {CELLS, CLASSES, pi, tau};
    const struct codes_shape shape = {
        .code = likelihood, .cells = CELLS, .symbols = 1, .classes = 1};
    struct seeded seeded;
    uint8_t wire[64];
    const uint8_t *report = wire;
    size_t right = 0;
    assert_true(instance->wire_size <= sizeof wire);
    seeded_init(&seeded, 99, 5);
    for (size_t i = 0; i < n; i++) {
        size_t c = draw_of(&seeded.random, pi, CELLS);
        size_t y = draw_of(&seeded.random, tau + c * CLASSES, CLASSES);
        int32_t q = (int32_t)c;
        double p[CLASSES];
        instance->channel->sample(instance, &q, &seeded.random, wire);
        must(expected_predict(&cells, &shape, report, 0, 1, p, &err));
        right += largest(p, CLASSES) == y;
    }
    return (double)right / (double)n;
}

/* Of 20,000 records; 4 standard errors of both together. */
static void
test_channel(void **state)
{
    static const double eps[] = {0.5, 1, 3};
    (void)state;
    make();
    for (size_t i = 0; i < 3; i++) {
        struct channel_instance instance;
        struct likelihood_instance likelihood;
        uint64_t own[256];
        double got = 0, error = 0, exact = 0;
        init_channel(&instance, &likelihood, "subset", eps[i], own);
        must(expected_channel(&known, &likelihood, &got, &error, &err));
        assert_true(error > 0 && error < 0.004);
        assert_true(fabs(got - simulated(&likelihood, 20000)) <
                    4 * hypot(error, 0.0036));
        init_channel(&instance, &likelihood, "flip", eps[i], own);
        must(expected_channel(&known, &likelihood, &got, &error, &err));
        must(expected_flip(&known, eps[i], &exact, &err));
        assert_true(fabs(got - exact) < 4 * error);
    }
}

/* Sets of several codes say more where epsilon is small; of one they are
   flip. */
static void
test_choose(void **state)
{
    const char *channel = NULL;
    (void)state;
    make();
    must(expected_choose_channel(&known, DECIMAL_UNIT / 2, &channel, &err));
    assert_string_equal(channel, "subset");
    must(expected_choose_channel(&known, 6 * DECIMAL_UNIT, &channel, &err));
    assert_string_equal(channel, "flip");
    channel = NULL;
    assert_int_equal(expected_choose_channel(&known, 0, &channel, &err),
                     SOTTO_STATUS_BUDGET);
    assert_null(channel);
}

/* ---- Cuts ---------------------------------------------------------------- */

/* Points in a square, of the class of their strip of an eighth. */
static struct sotto_codebook *
square(float p[N * STRIPS])
{
    struct sotto_codebook *codebook = calloc(1, sizeof *codebook);
    struct seeded seeded;
    assert_non_null(codebook);
    seeded_init(&seeded, 11, 0);
    codebook->n = N;
    codebook->d = 2;
    codebook->label = SIZE_MAX;
    codebook->books = 1;
    codebook->asked = codebook->options.cells = 20;
    codebook->z = codebook->place = calloc(N, 2 * sizeof *codebook->z);
    assert_non_null(codebook->z);
    for (size_t i = 0; i < (size_t)N * 2; i++) {
        codebook->z[i] = (float)random_u32(&seeded.random) / 0x1p32F;
    }
    for (size_t i = 0; i < N; i++) {
        size_t y = (size_t)(STRIPS * codebook->z[2 * i]);
        for (size_t k = 0; k < STRIPS; k++) {
            p[i * STRIPS + k] = k == y ? 0.93F : 0.01F;
        }
    }
    must(tensor_new("cpu", NULL, &codebook->backend, &err));
    must(clustering_init(&codebook->clustering, NULL, codebook->backend,
                         codebook->z, N, 2, 20, 1, NULL, &err));
    return codebook;
}

/* Few codes at a small epsilon, more at a large one; the best of those asked
   for, and none that there are not cells for. */
static void
test_cut(void **state)
{
    static const size_t count[] = {4, 8, 16, 1000};
    static const double eps[] = {0.5, 8};
    static float p[N * STRIPS];
    struct sotto_codebook *codebook = square(p);
    struct expected_cells cells = {0};
    size_t chosen[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        double most = 0;
        size_t best = 0;
        for (size_t k = 0; k < 3; k++) {
            const struct codebook_cut *cut = NULL;
            double got = 0;
            must(codebook_cut(codebook, count[k], &cut, &err));
            must(expected_cells_init(&cells, count[k], STRIPS, cut->code, p, N,
                                     &err));
            must(expected_flip(&cells, eps[i], &got, &err));
            best = got > most ? count[k] : best;
            most = got > most ? got : most;
            expected_cells_clear(&cells);
        }
        must(expected_choose_cut(codebook, count, 4, STRIPS, p, eps[i], &cells,
                                 &err));
        assert_int_equal(cells.cells, best);
        chosen[i] = best;
        print_message("epsilon %g: %zu codes, %.3f\n", eps[i], best, most);
        expected_cells_clear(&cells);
    }
    assert_true(chosen[0] < chosen[1]);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(
        expected_choose_cut(codebook, count + 3, 1, STRIPS, p, 1, &cells, &err),
        SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "too few for 8 classes"));
    sotto_codebook_free(codebook);
}

/* Cells that are of z when the cut is chosen, and of neighbours when it is
   written: what was chosen is what is written. */
static void
test_tree(void **state)
{
    static const size_t count[] = {4, 8};
    static float p[N * STRIPS];
    struct sotto_codebook *codebook = square(p);
    struct expected_cells cells = {0}, written = {0};
    const struct codebook_cut *cut = NULL;
    (void)state;
    codebook->options.tree = "neighbours";
    assert_false(codebook->walks);
    must(expected_choose_cut(codebook, count, 2, STRIPS, p, 2, &cells, &err));
    must(codebook_prepare(codebook, 1, cells.cells, &err));
    assert_true(codebook->walks);
    must(codebook_cut(codebook, cells.cells, &cut, &err));
    must(expected_cells_init(&written, cells.cells, STRIPS, cut->code, p, N,
                             &err));
    assert_memory_equal(cells.pi, written.pi, cells.cells * sizeof *cells.pi);
    assert_memory_equal(cells.tau, written.tau,
                        cells.cells * STRIPS * sizeof *cells.tau);
    expected_cells_clear(&written);
    expected_cells_clear(&cells);
    sotto_codebook_free(codebook);
}

static void
test_memory(void **state)
{
    static const size_t count[] = {4, 8};
    static float p[N * STRIPS];
    struct sotto_codebook *codebook = square(p);
    enum sotto_status status;
    const char *channel = NULL;
    long n = 0;
    (void)state;
    make();
    do {
        fail_alloc_at(++n);
        status = expected_choose_channel(&known, DECIMAL_UNIT, &channel, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    assert_true(n > 4);
    n = 0;
    do {
        struct expected_cells cells = {0};
        fail_alloc_at(++n);
        status =
            expected_choose_cut(codebook, count, 2, STRIPS, p, 2, &cells, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        expected_cells_clear(&cells);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 6);
    sotto_codebook_free(codebook);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flip),   cmocka_unit_test(test_channel),
        cmocka_unit_test(test_choose), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_tree),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
