/*
 * test_task_cells.c: cells cut under noise: the decoder and the loss against
 * sums over all reports, known answers, what is chosen.
 */
#include "encoder/task_cells.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"

enum { ROWS = 240, D = 3 };

/* Rows of four heaps, the first coordinate the widest. */
static void
fill(double *u, size_t rows, uint64_t seed)
{
    struct seeded seeded;
    seeded_init(&seeded, seed, 0);
    for (size_t i = 0; i < rows; i++) {
        u[i * D] = (double)(i % 4) - 1.5 + 0.2 * uniform(&seeded);
        u[i * D + 1] = (double)(i % 2) + 0.3 * uniform(&seeded);
        u[i * D + 2] = uniform(&seeded) - 0.5;
    }
}

/* ---- Against plain sums ---------------------------------------------------
 */

/* The sets of w of k, in no order: as bits. */
static size_t
list_sets(size_t k, size_t w, uint32_t *ret_set)
{
    size_t count = 0;
    for (uint32_t set = 0; set < (1u << k); set++) {
        if ((size_t)__builtin_popcount(set) == w) {
            ret_set[count++] = set;
        }
    }
    return count;
}

static const double *
decode_set(const struct task_cells *cells, uint32_t set)
{
    uint32_t named[TASK_CELLS_NAMED];
    size_t w = 0;
    for (uint32_t c = 0; c < cells->plan.k; c++) {
        if ((set >> c & 1) != 0) {
            named[w++] = c;
        }
    }
    assert_int_equal(w, cells->plan.w);
    return task_cells_decode(cells, named);
}

/* P(set | c), which must add up to 1, and differ by e^eps at most. */
static double
chance(const struct task_cells *cells, uint32_t set, size_t c)
{
    return (set >> c & 1) != 0 ? cells->in : cells->out;
}

static void
check_posterior(const struct task_cells *cells, uint32_t set)
{
    const double *found = decode_set(cells, set);
    double mass = 0, sum[D] = {0};
    for (size_t c = 0; c < cells->plan.k; c++) {
        double weight = cells->share[c] * chance(cells, set, c);
        mass += weight;
        for (size_t j = 0; j < D; j++) {
            sum[j] += weight * cells->mean[c * D + j];
        }
    }
    for (size_t j = 0; j < D; j++) {
        assert_true(fabs(found[j] - sum[j] / mass) < 1e-12);
    }
}

static void
check_sums(const double *u, size_t k, size_t w, double eps)
{
    const struct task_cells_plan plan = {
        .k = k, .w = w, .eps = eps, .restarts = 3, .seed = 5};
    struct task_cells cells;
    uint32_t set[256];
    size_t sets = list_sets(k, w, set);
    double loss = 0, other, each[D], squares[D] = {0};
    must(task_cells_init(&cells, &plan, u, NULL, ROWS, D, &err));
    assert_int_equal(cells.reports, sets);
    assert_true(fabs(cells.in / cells.out - exp(eps)) < 1e-9 * exp(eps));
    for (size_t c = 0; c < k; c++) {
        double total = 0;
        for (size_t s = 0; s < sets; s++) {
            total += chance(&cells, set[s], c);
        }
        assert_true(fabs(total - 1) < 1e-12);
    }
    for (size_t s = 0; s < sets; s++) {
        check_posterior(&cells, set[s]);
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t c = task_cells_code(&cells, u + i * D);
        for (size_t s = 0; s < sets; s++) {
            const double *back = decode_set(&cells, set[s]);
            for (size_t j = 0; j < D; j++) {
                double off = u[i * D + j] - back[j];
                squares[j] += chance(&cells, set[s], c) * off * off / ROWS;
            }
        }
    }
    other = task_cells_loss(&cells, u, u, ROWS, each);
    for (size_t j = 0; j < D; j++) {
        assert_true(fabs(each[j] - squares[j]) < 1e-9);
        loss += squares[j];
    }
    assert_true(fabs(other - loss) < 1e-9);
    assert_true(fabs(cells.loss - loss) < 1e-9);
    task_cells_clear(&cells);
}

static void
test_sums(void **state)
{
    static double u[ROWS * D];
    (void)state;
    fill(u, ROWS, 1);
    check_sums(u, 2, 1, 0.5);
    check_sums(u, 4, 1, 3);
    check_sums(u, 5, 2, 0.7);
    check_sums(u, 6, 3, 0.1);
    check_sums(u, 7, 1, 60); /* above what a channel has */
}

/* No cell would cost a row less than its own, and no other mean of all rows'
   codes than the decoder's: what a step can change is at its best. */
static void
test_settled(void **state)
{
    static double u[ROWS * D];
    const struct task_cells_plan plan = {.k = 4, .w = 1, .eps = 2};
    struct task_cells cells;
    (void)state;
    fill(u, ROWS, 2);
    must(task_cells_init(&cells, &plan, u, NULL, ROWS, D, &err));
    for (size_t i = 0; i < ROWS; i++) {
        size_t own = task_cells_code(&cells, u + i * D);
        double cost[4];
        for (uint32_t c = 0; c < 4; c++) {
            cost[c] = 0;
            for (uint32_t r = 0; r < 4; r++) {
                const double *back = task_cells_decode(&cells, &r);
                for (size_t j = 0; j < D; j++) {
                    cost[c] += (r == c ? cells.in : cells.out) *
                               pow(u[i * D + j] - back[j], 2);
                }
            }
        }
        for (size_t c = 0; c < 4; c++) {
            assert_true(cost[own] <= cost[c] + 1e-12);
        }
    }
    task_cells_clear(&cells);
}

/* ---- Known answers --------------------------------------------------------
 */

/* Half at 1, half at -1: the loss is 1 - (2p - 1)^2, p = e^eps / (e^eps + 1).
 */
static void
test_two_points(void **state)
{
    double u[16];
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        u[i] = i % 2 == 0 ? 1 : -1;
    }
    for (double eps = 0.25; eps < 8; eps *= 2) {
        const struct task_cells_plan plan = {.k = 2, .w = 1, .eps = eps};
        double p = exp(eps) / (exp(eps) + 1), lead = 2 * p - 1;
        struct task_cells cells;
        uint32_t named;
        must(task_cells_init(&cells, &plan, u, NULL, 16, 1, &err));
        assert_true(fabs(cells.loss - (1 - lead * lead)) < 1e-12);
        named = (uint32_t)task_cells_code(&cells, u);
        assert_true(fabs(*task_cells_decode(&cells, &named) - lead) < 1e-12);
        task_cells_clear(&cells);
    }
}

/* Probabilities of two classes, all certain: the loss is the entropy of the
   report's posterior, but for the weight of one row. */
static void
test_logarithms(void **state)
{
    enum { N = 2000 };
    static double u[2 * N], wrong[2 * N];
    const struct task_cells_plan plan = {
        .loss = TASK_CELLS_LOG, .k = 2, .w = 1, .eps = 1};
    double p = exp(1) / (exp(1) + 1), loss;
    struct task_cells cells;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        u[2 * i + i % 2] = 1;
        /* one in ten is of the other class than the function says */
        wrong[2 * i + (i % 20 < 2 ? 1 - i % 2 : i % 2)] = 1;
    }
    must(task_cells_init(&cells, &plan, u, NULL, N, 2, &err));
    loss = -p * log(p) - (1 - p) * log(1 - p);
    assert_true(fabs(cells.loss - loss) < 1e-3);
    task_cells_clear(&cells);

    /* A decoder of the truth says less, and loses less of the truth. */
    must(task_cells_init(&cells, &plan, u, wrong, N, 2, &err));
    p = 0.9 * p + 0.1 * (1 - p);
    loss = -p * log(p) - (1 - p) * log(1 - p);
    assert_true(fabs(task_cells_loss(&cells, u, wrong, N, NULL) - loss) < 1e-3);
    task_cells_clear(&cells);
}

/* A class that no row of a cell has is not impossible there. */
static void
test_finite(void **state)
{
    static const double u[] = {1, 0, 1, 0, 1, 0, 0, 1};
    static const double t[] = {0, 1, 1, 0, 0, 1, 1, 0};
    const struct task_cells_plan plan = {
        .loss = TASK_CELLS_LOG, .k = 2, .w = 1, .eps = 100};
    struct task_cells cells;
    (void)state;
    must(task_cells_init(&cells, &plan, u, NULL, 4, 2, &err));
    assert_true(task_cells_loss(&cells, u, t, 4, NULL) < 3);
    task_cells_clear(&cells);
}

/* ---- Choosing -------------------------------------------------------------
 */

/* Few cells at a small epsilon, as many as there are heaps at a large one. */
static void
test_choice(void **state)
{
    static double u[ROWS * D];
    size_t before = 0;
    (void)state;
    fill(u, ROWS, 3);
    for (double eps = 0.5; eps < 10; eps *= 4) {
        struct task_cells_plan plan = {.eps = eps, .seed = 1};
        must(task_cells_choose(&plan, 32, u, NULL, ROWS, D, &err));
        assert_true(plan.k >= before && plan.w >= 1 && plan.w < plan.k);
        before = plan.k;
    }
    assert_true(before >= 4);
}

/* Of several beginnings the best is kept: more of them lose no more. */
static void
test_restarts(void **state)
{
    static double u[ROWS * D];
    double before = INFINITY, first = 0;
    (void)state;
    fill(u, ROWS, 6);
    for (uint32_t restarts = 1; restarts <= 32; restarts *= 2) {
        const struct task_cells_plan plan = {
            .k = 9, .w = 1, .eps = 6, .restarts = restarts, .seed = 2};
        struct task_cells cells;
        must(task_cells_init(&cells, &plan, u, NULL, ROWS, D, &err));
        assert_true(cells.loss <= before);
        before = cells.loss;
        first = restarts == 1 ? before : first;
        task_cells_clear(&cells);
    }
    assert_true(before < first);
}

/* The same plan, the same cells. */
static void
test_same(void **state)
{
    static double u[ROWS * D];
    const struct task_cells_plan plan = {
        .k = 5, .w = 2, .eps = 1, .restarts = 4, .seed = 9};
    struct task_cells a, b;
    (void)state;
    fill(u, ROWS, 4);
    must(task_cells_init(&a, &plan, u, NULL, ROWS, D, &err));
    must(task_cells_init(&b, &plan, u, NULL, ROWS, D, &err));
    assert_memory_equal(a.weight, b.weight, 5 * D * sizeof *a.weight);
    assert_memory_equal(a.bias, b.bias, 5 * sizeof *a.bias);
    task_cells_clear(&a);
    task_cells_clear(&b);
}

/* ---- Refused --------------------------------------------------------------
 */

static void
test_refused(void **state)
{
    static const double u[] = {0, 1, 2, 3};
    static const struct task_cells_plan bad[] = {
        {.k = 1, .w = 1, .eps = 1},   {.k = 3, .w = 3, .eps = 1},
        {.k = 3, .w = 0, .eps = 1},   {.k = 3, .w = 1, .eps = 0},
        {.k = 40, .w = 20, .eps = 1}, {.k = 3, .w = 1, .eps = NAN}};
    struct task_cells cells;
    struct task_cells_plan plan = {.eps = 1};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        must_fail(SOTTO_STATUS_USAGE, "not to be had",
                  task_cells_init(&cells, &bad[i], u, NULL, 4, 1, &err));
    }
    must_fail(SOTTO_STATUS_USAGE, "too few",
              task_cells_choose(&plan, 4, u, NULL, 4, 1, &err));
}

static void
test_no_memory(void **state)
{
    static double u[ROWS * D];
    enum sotto_status status;
    long n = 0;
    (void)state;
    fill(u, ROWS, 5);
    do {
        struct task_cells_plan plan = {.eps = 1};
        struct task_cells cells = {.mean = NULL};
        fail_alloc_at(++n);
        status = task_cells_choose(&plan, 3, u, NULL, 40, D, &err);
        if (status == SOTTO_STATUS_OK) {
            status = task_cells_init(&cells, &plan, u, u + D, 40, D, &err);
        }
        task_cells_clear(&cells);
    } while (status == SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 10);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_settled),
        cmocka_unit_test(test_two_points), cmocka_unit_test(test_logarithms),
        cmocka_unit_test(test_finite),     cmocka_unit_test(test_choice),
        cmocka_unit_test(test_same),       cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
