/*
 * test_task_problem.c: the methods' losses on made records of a linear task,
 * between what is known of them; and closed forms against reports that are
 * drawn by the channels (task_drawn.c).
 */
#include "encoder/learnt_fixture.h"
#include "experiment/task_problem.h"
#include "fail_alloc.h"

enum { ROWS = 400, AUX = 280, N = 4 };

/* Records of two hidden numbers and a little else; the task needs the first
   column most and the last not at all. */
static const double K[2 * N] = {2, 0, 0, 0, 0, 1, 0.5, 0};

static void
fill(double *x)
{
    struct seeded seeded;
    seeded_init(&seeded, 3, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double a = uniform(&seeded) + uniform(&seeded) - 1;
        double b = uniform(&seeded) - 0.5;
        x[i * N] = a + 0.1 * uniform(&seeded);
        x[i * N + 1] = b - a + 0.1 * uniform(&seeded);
        x[i * N + 2] = b + 0.1 * uniform(&seeded);
        x[i * N + 3] = 3 * uniform(&seeded);
    }
}

static struct task_problem problem;

static int
make_problem(void **state)
{
    static double x[ROWS * N];
    (void)state;
    fill(x);
    return task_problem_init(&problem, x, ROWS, AUX, N, K, 2, &err) ==
                   SOTTO_STATUS_OK
               ? 0
               : -1;
}

static int
clear_problem(void **state)
{
    (void)state;
    task_problem_clear(&problem);
    return 0;
}

static struct study_outcome
measure_most(const char *name, double eps, size_t most)
{
    const struct experiment_mechanism method = {.name = name};
    const struct study_point point = {
        .method = &method, .eps = eps, .most = most, .trial = 1, .seed = 7};
    struct study_outcome outcome = {0};
    must(task_problem_measure(&problem, &point, &outcome, &err));
    assert_true(isfinite(outcome.loss) && outcome.loss > 0);
    return outcome;
}

static struct study_outcome
measure(const char *name, double eps)
{
    return measure_most(name, eps, 0);
}

/* The loss without any report. */
static double
nothing(void)
{
    double sum = 0;
    for (size_t i = 0; i < 2 * problem.test.rows; i++) {
        sum += problem.test.y[i] * problem.test.y[i];
    }
    return sum / (double)problem.test.rows;
}

static void
test_order(void **state)
{
    static const char *const names[] = {"task-aware", "task-codes",
                                        "task-agnostic", "privacy-agnostic",
                                        "privacy-agnostic-3"};
    double without = nothing();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double before = 1.05 * without;
        for (double eps = 0.5; eps < 40; eps *= 4) {
            double loss = measure(names[i], eps).loss;
            assert_true(loss < before);
            before = loss;
        }
    }
    for (double eps = 1; eps < 10; eps *= 3) {
        double aware = measure("task-aware", eps).loss;
        assert_true(aware < 1.02 * measure("privacy-agnostic", eps).loss);
        assert_true(aware < measure("task-agnostic", eps).loss);
        assert_true(measure("task-codes", eps).loss < aware);
    }
}

/* One direction at a small epsilon, both at a large one: Z is chosen. */
static void
test_own_z(void **state)
{
    (void)state;
    for (double eps = 1; eps <= 100; eps *= 100) {
        size_t best = eps > 10 ? 2 : 1;
        double own = measure("privacy-agnostic", eps).loss;
        assert_true(own == measure_most("privacy-agnostic", eps, best).loss);
        assert_true(own < measure_most("privacy-agnostic", eps, 3 - best).loss);
    }
}

/* Each output has its share, and the shares add up. */
static void
test_each(void **state)
{
    static const char *const names[] = {"task-aware", "task-codes",
                                        "task-agnostic", "unsound-aware"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct study_outcome outcome = measure(names[i], 3);
        assert_true(outcome.each[0] > 0 && outcome.each[1] > 0);
        assert_true(fabs(outcome.each[0] + outcome.each[1] - outcome.loss) <
                    1e-9);
    }
}

static void
test_unsound(void **state)
{
    static const char *const names[] = {"unsound-aware", "unsound-agnostic",
                                        "unsound-privacy-agnostic"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char code[64];
        (void)snprintf(code, sizeof code, "%s-code", names[i]);
        assert_true(measure(code, 4).loss < measure(names[i], 4).loss);
        assert_true(measure(names[i], 4).loss < 1.02 * nothing());
    }
}

/* The channels' own reports, 200 a row, lose what the closed form says. */
static void
test_drawn(void **state)
{
    (void)state;
    for (double eps = 1; eps < 10; eps *= 4) {
        double aware = measure("task-aware", eps).loss;
        double codes = measure("task-codes", eps).loss;
        assert_true(fabs(measure("task-aware-drawn", eps).loss / aware - 1) <
                    0.03);
        assert_true(fabs(measure("task-codes-drawn", eps).loss / codes - 1) <
                    0.03);
    }
}

static void
test_refused(void **state)
{
    const struct experiment_mechanism other = {.name = "other"};
    const struct experiment_mechanism drawn = {.name = "task-aware-drawn"};
    struct study_point point = {.method = &other, .eps = 1};
    struct study_outcome outcome;
    (void)state;
    must_fail(SOTTO_STATUS_USAGE, "no method 'other'",
              task_problem_measure(&problem, &point, &outcome, &err));
    point.method = &drawn;
    point.eps = 50; /* no channel has it */
    must_fail(SOTTO_STATUS_BUDGET, "has no epsilon 50",
              task_problem_measure(&problem, &point, &outcome, &err));
}

static void
test_no_memory(void **state)
{
    static const char *const names[] = {"task-codes", "task-agnostic",
                                        "unsound-aware", "task-aware-drawn"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct experiment_mechanism method = {.name = names[i]};
        const struct study_point point = {
            .method = &method, .eps = 2, .most = 2, .seed = 7};
        enum sotto_status status;
        long n = 0, by = 1;
        do {
            struct study_outcome outcome;
            n += by;
            by += n / 8; /* all of the first, some of the rest */
            fail_alloc_at(n);
            status = task_problem_measure(&problem, &point, &outcome, &err);
        } while (status == SOTTO_STATUS_MEMORY);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_own_z),
        cmocka_unit_test(test_each),      cmocka_unit_test(test_unsound),
        cmocka_unit_test(test_drawn),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, make_problem, clear_problem);
}
