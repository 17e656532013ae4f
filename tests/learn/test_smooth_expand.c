/*
 * test_smooth_expand.c: slope and curvature of the log-likelihood against
 * differences of it, whole and of the diagonal alone.
 */
#include "smooth_fixture.h"

#include "fail_alloc.h"

static struct line line;

/* Moves `by` of the mass of pair `from` to pair `to` of the same code. */
static double
log_p_moved(const double *at, size_t from, size_t to, double by)
{
    double j[64];
    memcpy(j, at, line.codes.pairs * sizeof *j);
    j[from] -= by;
    j[to] += by;
    return codes_pass(&line.codes, j, NULL);
}

static void
test_slopes(void **state)
{
    struct smooth_expansion expansion;
    size_t pairs;
    double at[64];
    (void)state;
    line_init(&line, 9, 5, 3, 0.9, "subset", 2, 3000, "cpu", 1, 4);
    pairs = line.codes.pairs;
    for (size_t p = 0; p < pairs; p++) {
        at[p] = line.crowd.pi[p / 3] * (p % 3 == 0 ? 0.5 : 0.25);
    }
    must(smooth_expansion_init(&expansion, &line.codes, &err));
    must(smooth_expansion_set(&expansion, &line.codes, at, true, line.backend,
                              NULL, &err));
    assert_true(expansion.dense);
    assert_true(fabs(expansion.log_p - codes_pass(&line.codes, at, NULL)) <
                1e-6);
    for (size_t p = 0; p + 1 < pairs; p += 3) {
        const double by = 0.01;
        double up = log_p_moved(at, p, p + 1, by);
        double down = log_p_moved(at, p, p + 1, -by);
        double slope = (up - down) / (2 * by);
        double curve = (up + down - 2 * expansion.log_p) / (by * by);
        const float *h = expansion.h;
        double found = (double)(h[p * pairs + p + 1] + h[(p + 1) * pairs + p] -
                                h[p * pairs + p] - h[(p + 1) * pairs + p + 1]);
        assert_true(
            fabs(slope - (double)(expansion.g[p + 1] - expansion.g[p])) <
            0.02 * fabs(slope) + 2);
        assert_true(fabs(curve - found) < 0.05 * fabs(curve));
    }
    smooth_expansion_clear(&expansion);
    line_clear(&line);
}

static void
test_watch(void **state)
{
    const struct sotto_watch watch = {.tick = stop_at_once};
    struct smooth_expansion expansion;
    double at[64];
    (void)state;
    line_init(&line, 9, 5, 3, 0.9, "subset", 2, 100, "plain", 1, 4);
    for (size_t p = 0; p < line.codes.pairs; p++) {
        at[p] = line.crowd.pi[p / 3] / 3;
    }
    must(smooth_expansion_init(&expansion, &line.codes, &err));
    assert_int_equal(smooth_expansion_set(&expansion, &line.codes, at, true,
                                          line.backend, &watch, &err),
                     SOTTO_STATUS_STOPPED);
    smooth_expansion_clear(&expansion);
    line_clear(&line);
}

static void
test_memory(void **state)
{
    double at[64];
    enum sotto_status status;
    long n = 0;
    (void)state;
    line_init(&line, 9, 5, 3, 0.9, "subset", 2, 100, "plain", 1, 4);
    for (size_t p = 0; p < line.codes.pairs; p++) {
        at[p] = line.crowd.pi[p / 3] / 3;
    }
    do {
        struct smooth_expansion expansion;
        fail_alloc_at(++n);
        status = smooth_expansion_init(&expansion, &line.codes, &err);
        if (status == SOTTO_STATUS_OK) {
            status = smooth_expansion_set(&expansion, &line.codes, at, true,
                                          line.backend, NULL, &err);
            smooth_expansion_clear(&expansion);
        }
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 4);
    line_clear(&line);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_watch),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
