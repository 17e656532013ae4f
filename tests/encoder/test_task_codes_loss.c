/*
 * test_task_codes_loss.c: the loss that train task-codes tells is that of
 * people whom the mechanism was not made from; how many codes it takes.
 */
#include "task_codes_files.h"

/* ---- The loss ------------------------------------------------------------ */

enum { MANY = 3000, DRAWS = 10 };

/* The variance of entry `at` of x over the first MANY rows. */
static double
find_variance(const struct files *files, size_t at)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < MANY; i++) {
        double value = (double)files->x[i * files->width + at];
        mean += value / MANY;
        squares += value * value / MANY;
    }
    return squares - mean * mean;
}

/* x of every report, as decode has it. */
static float *
decode_all(const struct files *files)
{
    float *answer = malloc(files->k * files->width * sizeof *answer);
    assert_non_null(answer);
    for (size_t c = 0; c < files->k; c++) {
        decode_code(files, c, answer + c * files->width);
    }
    return answer;
}

/* The mean squared error of that entry of the MANY people behind them: over all
   reports that they may send. */
static double
sum_loss(struct files *files, size_t at, const float *answer)
{
    const struct likelihood_instance *own = &files->mechanism->likelihood[0];
    size_t offset = files->mechanism->shape.part[0].offset;
    double loss = 0;
    uint8_t report[256];
    for (size_t c = 0; c < files->k; c++) {
        int64_t named = (int64_t)c;
        put_report(files->mechanism, &named, report);
        for (size_t row = MANY; row < 2 * (size_t)MANY; row++) {
            int32_t q;
            rows_q(&files->rows, row, &q);
            loss += exp(own->likelihood->log_p(own, report + offset, &q)) *
                    pow((double)files->x[row * files->width + at] -
                            (double)answer[c * files->width + at],
                        2);
        }
    }
    return loss / MANY;
}

/* The same of DRAWS simulated reports of each, as devices make them, and its
   standard error. */
static double
draw_loss(struct files *files, size_t at, const float *answer,
          double *ret_deviation)
{
    const struct likelihood_instance *own = &files->mechanism->likelihood[0];
    size_t offset = files->mechanism->shape.part[0].offset, n = MANY;
    double sum = 0, squares = 0, count = (double)(n * DRAWS);
    uint8_t report[256];
    for (uint64_t i = 0; i < n * DRAWS; i++) {
        size_t row = n + i % n;
        int64_t code;
        double loss;
        must(sotto_simulate(files->mechanism, 1, i, rows_at(&files->rows, row),
                            files->rows.count, report,
                            files->mechanism->shape.report_size));
        own->likelihood->unpack(own, report + offset, &code);
        loss = pow((double)files->x[row * files->width + at] -
                       (double)answer[(size_t)code * files->width + at],
                   2);
        sum += loss;
        squares += loss * loss;
    }
    *ret_deviation = sqrt(squares) / count;
    return sum / count;
}

/* Of people whom it was not made from. */
static void
check_loss(const char *eps, uint32_t k)
{
    struct task_codes_options options = {
        .eps = eps, .weights = "wage=1", .k = k};
    struct sotto_table *table = earners(MANY, 0), *all = earners(2 * MANY, 0);
    struct sotto_train_facts facts;
    struct files files = {0};
    double told, unit, summed, drawn, deviation = 0;
    float *answer;
    sotto_mechanism_free(make_codes(table, &options, &facts));
    open_files(&files, all);
    answer = decode_all(&files);
    told = sotto_train_fact(&facts, "loss");
    unit = find_variance(&files, 1);
    summed = sum_loss(&files, 1, answer) / unit;
    drawn = draw_loss(&files, 1, answer, &deviation) / unit;
    free(answer);
    /* of rows left out, whose mean is that of the others */
    assert_true(fabs(sotto_train_fact(&facts, "without") -
                     pow(MANY / (MANY - 1.0), 2)) < 1e-5);
    assert_true(sotto_train_fact(&facts, "k") >= 2);
    if (!(fabs(summed / told - 1) < 0.06 &&
          fabs(drawn - summed) < 4 * deviation / unit)) {
        fail_msg("eps %s: told a loss of %g; it is %g, and %g as drawn", eps,
                 told, summed, drawn);
    }
    close_files(&files);
    sotto_table_free(all);
    sotto_table_free(table);
}

static void
test_loss(void **state)
{
    (void)state;
    check_loss("0.5", 0);
    check_loss("2", 0);
    check_loss("8", 0);
    check_loss("4", 40); /* more than are good: the loss says so */
}

/* More than the best number loses more, and what is chosen is no worse than
   what is given; whatever units the task is in. */
static void
test_choice(void **state)
{
    static const char *const units[] = {"wage=1", "wage=1e-9", "wage=1e9"};
    struct task_codes_options options = {.eps = "3", .k = 40};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts facts;
    double share[3], crowded;
    (void)state;
    options.weights = "wage=1";
    sotto_mechanism_free(make_codes(table, &options, &facts));
    crowded = sotto_train_fact(&facts, "loss");
    options.k = 0;
    for (size_t i = 0; i < 3; i++) {
        options.weights = units[i];
        sotto_mechanism_free(make_codes(table, &options, &facts));
        share[i] = sotto_train_fact(&facts, "loss") /
                   sotto_train_fact(&facts, "without");
        assert_true(share[i] < 0.9 * crowded);
        assert_true(fabs(share[i] - share[0]) < 1e-3);
    }
    sotto_table_free(table);
}

/* It loses less than numbers on the lattice do, where epsilon is small. */
static void
test_beside_numbers(void **state)
{
    struct task_codes_options options = {.eps = "2", .weights = "age=1,wage=1"};
    struct task_linear_options numbers = {.eps = "2",
                                          .weights = "age=1,wage=1"};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts codes, other;
    (void)state;
    sotto_mechanism_free(make_codes(table, &options, &codes));
    sotto_mechanism_free(make_task(table, &numbers, &other));
    assert_true(fabs(sotto_train_fact(&codes, "without") -
                     sotto_train_fact(&other, "without")) < 1e-9);
    assert_true(sotto_train_fact(&codes, "loss") <
                sotto_train_fact(&other, "loss"));
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_loss),
        TEST(test_choice),
        TEST(test_beside_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
