/*
 * test_agreement.c: agreement against counts by hand, and against all orders.
 */
#include "encoder/agreement.h"

#include "fail_alloc.h"
#include "learnt_fixture.h"

static struct agreement
measure(const uint32_t *a, size_t as, const uint32_t *b, size_t bs, size_t n)
{
    struct agreement agreement = {0};
    must(agreement_measure(a, as, b, bs, n, &agreement, &err));
    return agreement;
}

static bool
is_near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* The same parts by other names say all of each other; a finer partition knows
   a coarser one, and not the other way round. */
static void
test_known(void **state)
{
    static const uint32_t a[] = {0, 0, 1, 1, 2, 2, 3, 3};
    static const uint32_t same[] = {4, 4, 0, 0, 1, 1, 2, 2};
    static const uint32_t half[] = {0, 0, 0, 0, 1, 1, 1, 1};
    static const uint32_t whole[] = {0, 0, 0, 0, 0, 0, 0, 0};
    struct agreement at = measure(a, 4, same, 5, 8);
    (void)state;
    assert_true(is_near(at.a, log(4)) && is_near(at.b, log(4)));
    assert_true(is_near(at.shared, log(4)));
    assert_true(is_near(agreement_mutual(&at), 1));
    at = measure(a, 4, half, 2, 8);
    assert_true(is_near(at.shared, log(2)) && is_near(at.b, log(2)));
    assert_true(is_near(agreement_known(&at), 1));
    assert_true(agreement_mutual(&at) < 0.9);
    at = measure(half, 2, a, 4, 8);
    assert_true(agreement_known(&at) < 0.6);
    at = measure(a, 4, whole, 1, 8);
    assert_true(is_near(at.shared, 0) && is_near(at.chance, 0));
    assert_true(agreement_known(&at) == 0);
    /* Where every record is a part, chance alone says everything. */
    static const uint32_t each[] = {0, 1, 2, 3, 4, 5, 6, 7};
    at = measure(each, 8, a, 4, 8);
    assert_true(is_near(at.shared, at.chance));
    assert_true(agreement_known(&at) == 0);
}

/* Adds up what all orders of b from `at` on share with a. */
static void
go_through(const uint32_t *a, uint32_t *b, size_t at, size_t n, double *sum,
           double *orders)
{
    if (at == n) {
        *sum += measure(a, 3, b, 3, n).shared;
        ++*orders;
        return;
    }
    for (size_t i = at; i < n; i++) {
        uint32_t kept = b[at];
        b[at] = b[i];
        b[i] = kept;
        go_through(a, b, at + 1, n, sum, orders);
        b[i] = b[at];
        b[at] = kept;
    }
}

/* Chance is the mean over all orders: 720 of 6 records. */
static void
test_chance(void **state)
{
    static const uint32_t a[] = {0, 0, 0, 1, 1, 2};
    uint32_t b[] = {0, 1, 2, 2, 1, 1};
    double sum = 0, orders = 0, chance = measure(a, 3, b, 3, 6).chance;
    (void)state;
    go_through(a, b, 0, 6, &sum, &orders);
    assert_true(orders == 720);
    assert_true(is_near(sum / orders, chance));
}

/* Parts by lot agree on nothing, however many there are. */
static void
test_lot(void **state)
{
    enum { N = 4000 };
    static uint32_t a[N], b[N];
    struct seeded seeded;
    struct agreement at;
    (void)state;
    seeded_init(&seeded, 3, 0);
    for (size_t i = 0; i < N; i++) {
        a[i] = (uint32_t)(200 * uniform(&seeded));
        b[i] = (uint32_t)(10 * uniform(&seeded));
    }
    at = measure(a, 200, b, 10, N);
    assert_true(at.shared > 0.1); /* that much by chance */
    assert_true(fabs(agreement_known(&at)) < 0.01);
    assert_true(fabs(agreement_mutual(&at)) < 0.01);
    /* Large parts: probabilities far below what a double holds. */
    for (size_t i = 0; i < N; i++) {
        a[i] = i % 2;
        b[i] = i < N / 2;
    }
    at = measure(a, 2, b, 2, N);
    assert_true(is_near(at.shared, 0) && at.chance > 0 && at.chance < 1e-3);
}

static void
test_refused(void **state)
{
    static const uint32_t a[] = {0, 1, 0, 1};
    struct agreement at = {.shared = 7};
    long count;
    (void)state;
    must_fail(SOTTO_STATUS_USAGE, "no parts",
              agreement_measure(a, 2, a, 2, 0, &at, &err));
    fail_alloc_at(0);
    must(agreement_measure(a, 2, a, 2, 4, &at, &err));
    count = fail_alloc_count();
    assert_true(count >= 4);
    at.shared = 7;
    for (long i = 1; i <= count; i++) {
        fail_alloc_at(i);
        assert_int_equal(agreement_measure(a, 2, a, 2, 4, &at, &err),
                         SOTTO_STATUS_MEMORY);
        assert_true(at.shared == 7);
    }
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_lot),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
