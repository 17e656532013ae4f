/*
 * test_task_codes.c: train task-codes: no report can tell two records apart by
 * more than e^epsilon, whatever they hold; what a report decodes to is the mean
 * of those who may have sent it; what is said, and what is refused.
 */
#include "fail_alloc.h"
#include "privacy/enumerate.h"
#include "task_codes_files.h"

enum { K_MOST = 32, MANY = 3000 };

/* ln P(report | points), one point a part. */
static double
log_chance(const struct sotto_mechanism *mechanism, const uint8_t *report,
           const int32_t *point)
{
    double sum = 0;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct likelihood_instance *own = &mechanism->likelihood[i];
        sum += own->likelihood->log_p(
            own, report + mechanism->shape.part[i].offset, &point[i]);
    }
    return sum;
}

/* ---- Privacy ------------------------------------------------------------- */

/* Records as they come, and such as nobody has. */
static size_t
put_strange(const struct sotto_value *usual, struct sotto_value (*ret)[3])
{
    static const double numbers[] = {0,    1e300, -1e300,   1e38,      -1e38,
                                     3e-9, NAN,   INFINITY, -INFINITY, 1e-310};
    static const char nowhere[] = "Atlantis";
    size_t count = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        for (size_t j = 0; j < 2; j++) {
            memcpy(ret[count], usual, sizeof *ret);
            ret[count][j] = (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                                 .number = numbers[i]};
            count++;
        }
    }
    for (size_t j = 0; j < 3; j++) {
        memcpy(ret[count], usual, sizeof *ret);
        ret[count++][j] = (struct sotto_value){.kind = SOTTO_VALUE_MISSING};
    }
    memcpy(ret[count], usual, sizeof *ret);
    ret[count++][2] = (struct sotto_value){
        .kind = SOTTO_VALUE_TEXT, .data = nowhere, .size = sizeof nowhere - 1};
    return count;
}

/* The points of a record, one a part, as the device finds them. */
static void
find_points(struct sotto_mechanism *mechanism, const struct sotto_value *values,
            int32_t *ret_point)
{
    assert_int_equal(stages_points_width(mechanism), mechanism->shape.parts);
    stages_encode(mechanism, values);
    stages_points(mechanism, ret_point);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        assert_in_range(ret_point[i], 0,
                        mechanism->shape.part[i].instance->size - 1);
    }
}

/* Of two records any report has chances within e^eps of one another. */
static void
check_pair(const struct sotto_mechanism *mechanism, double eps,
           const int32_t *a, const int32_t *b)
{
    size_t k = mechanism->shape.part[0].instance->size;
    size_t classes = mechanism->shape.parts > 1
                         ? mechanism->shape.part[1].instance->size
                         : 1;
    double sum = 0;
    uint8_t report[256];
    for (size_t i = 0; i < k * classes; i++) {
        int64_t named[2] = {(int64_t)(i / classes), (int64_t)(i % classes)};
        put_report(mechanism, named, report);
        double log_a = log_chance(mechanism, report, a);
        assert_true(fabs(log_a - log_chance(mechanism, report, b)) <=
                    eps + 1e-12);
        sum += exp(log_a);
    }
    assert_true(fabs(sum - 1) < 1e-12);
}

/* The samplers that ship, of this mechanism's own channels, branch by branch.
 */
static void
check_samplers(const struct sotto_mechanism *mechanism, double eps)
{
    double sum = 0;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct channel_instance *own = mechanism->shape.part[i].instance;
        struct enumerate_result result;
        must(enumerate_channel(
            &(struct enumerate_request){
                own->channel, mechanism->likelihood[i].likelihood, own->size,
                own->rows, own->l, own->eps, own->delta, 100000, NULL, NULL},
            &result, &err));
        assert_string_equal(result.fault, "");
        assert_int_equal(result.scope, ENUMERATE_WHOLE);
        assert_true(result.within && result.log_p_error < 1e-11);
        sum += result.eps;
    }
    assert_true(sum <= eps + 1e-12 && sum > 0.99 * eps);
}

static void
check_epsilon(const char *eps, const char *label, uint32_t k)
{
    struct task_codes_options options = {
        .eps = eps, .label = label, .weights = "age=1,wage=1", .k = k};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_value strange[K_MOST][3];
    int32_t points[K_MOST + 20][2] = {{0}};
    struct rows rows;
    size_t count;
    sotto_mechanism_free(make_codes(table, &options, NULL));
    must(sotto_mechanism_read(in_folder("m.sotto"), &mechanism, &err));
    must(rows_init(&rows, mechanism, table, &err));
    assert_int_equal(rows.count, 3);
    count = put_strange(rows_at(&rows, 7), strange);
    assert_true(count <= K_MOST);
    for (size_t i = 0; i < count; i++) {
        find_points(mechanism, strange[i], points[i]);
    }
    for (size_t i = 0; i < 20; i++) {
        find_points(mechanism, rows_at(&rows, i), points[count++]);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            check_pair(mechanism, strtod(eps, NULL), points[i], points[j]);
        }
    }
    check_samplers(mechanism, strtod(eps, NULL));
    rows_clear(&rows);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

static void
test_epsilon(void **state)
{
    (void)state;
    check_epsilon("0.5", NULL, 2);
    check_epsilon("3", NULL, 7);
    check_epsilon("2", "city", 5);
    check_epsilon("12", NULL, 30);
}

/* ---- The decoder --------------------------------------------------------- */

/* The mean of x given the report, by Bayes's rule over all auxiliary rows. */
static void
posterior_mean(const struct files *files, size_t code, double *ret_x)
{
    const int32_t *prior = sotto_analyst_prior(files->analyst);
    const struct likelihood_instance *own = &files->mechanism->likelihood[0];
    int64_t named[2] = {(int64_t)code, 0};
    double mass = 0;
    uint8_t report[256];
    put_report(files->mechanism, named, report);
    memset(ret_x, 0, files->width * sizeof *ret_x);
    for (size_t i = 0; i < files->n; i++) {
        double chance = exp(own->likelihood->log_p(
            own, report + files->mechanism->shape.part[0].offset, &prior[i]));
        mass += chance;
        for (size_t j = 0; j < files->width; j++) {
            ret_x[j] += chance * (double)files->x[i * files->width + j];
        }
    }
    for (size_t j = 0; j < files->width; j++) {
        ret_x[j] /= mass;
    }
}

static void
check_decoder(const char *eps, const char *label, uint32_t k)
{
    struct task_codes_options options = {
        .eps = eps, .label = label, .weights = "age=1,wage=2", .k = k};
    struct sotto_table *table = earners(ROWS, 10);
    struct files files = {0};
    float found[16];
    double wanted[16];
    sotto_mechanism_free(make_codes(table, &options, NULL));
    open_files(&files, table);
    assert_int_equal(files.k, k);
    assert_true(files.width <= 16);
    for (size_t c = 0; c < files.k; c++) {
        decode_code(&files, c, found);
        posterior_mean(&files, c, wanted);
        for (size_t j = 0; j < files.width; j++) {
            if (!(fabs((double)found[j] - wanted[j]) < 1e-5 * k)) {
                fail_msg("epsilon %s, code %zu, entry %zu: %g, not %g", eps, c,
                         j, (double)found[j], wanted[j]);
            }
        }
    }
    close_files(&files);
    sotto_table_free(table);
}

/* Bayes's rule, by the channel's own chances; the prior is what devices say. */
static void
test_decoder(void **state)
{
    (void)state;
    check_decoder("0.1", NULL, 3);
    check_decoder("2", NULL, 8);
    check_decoder("4", "city", 5);
    check_decoder("32", NULL, 20);
}

static void
test_prior(void **state)
{
    struct task_codes_options options = {.eps = "6",
                                         .weights = "age=1,wage=1,city=1"};
    struct sotto_table *table = earners(ROWS, 10);
    struct files files = {0};
    size_t width = 0;
    uint32_t layers = 0;
    float u[16];
    int32_t q[1];
    (void)state;
    sotto_mechanism_free(make_codes(table, &options, NULL));
    open_files(&files, table);
    const float *kept = analyst_representation(files.analyst, &width, &layers);
    assert_int_equal(layers, 1);
    assert_true(width >= 1 && width <= 16);
    assert_int_equal(width, rows_representation_width(&files.rows, 1));
    for (size_t i = 0; i < ROWS; i++) {
        rows_q(&files.rows, i, q);
        assert_int_equal(q[0], sotto_analyst_prior(files.analyst)[i]);
        rows_representation(&files.rows, i, 1, u);
        assert_memory_equal(u, kept + i * width, width * sizeof *u);
    }
    close_files(&files);
    sotto_table_free(table);
}

/* ---- What is said -------------------------------------------------------- */

static void
test_told(void **state)
{
    struct task_codes_options options = {
        .eps = "8", .weights = "wage=2", .k = 6};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = make_codes(table, &options, &facts);
    struct sotto_mechanism_info info;
    struct sotto_analyst *analyst = NULL;
    char *text = NULL;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(
        info.auxiliary,
        "none: learnt from the auxiliary data, for the task: weights wage=2");
    must(sotto_mechanism_describe(mechanism, false, &text, &err));
    assert_non_null(strstr(text, "gives no weight to age, city:"));
    free(text);
    assert_non_null(strstr(facts.said, "a report names one of 6 codes"));
    assert_non_null(strstr(facts.said, "the codes explain"));
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_describe(analyst, false, &text, &err));
    assert_non_null(strstr(text, "was made for weights wage=2: a report names "
                                 "one of 6 codes."));
    assert_non_null(strstr(text, "the codes explain, and no report"));
    assert_non_null(strstr(text, "%  wage"));
    free(text);
    must(sotto_analyst_describe(analyst, true, &text, &err));
    assert_non_null(strstr(text, "\"kind\": \"task-codes\""));
    free(text);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Of two codes half of a uniform column's variance is three quarters. */
static void
test_kept(void **state)
{
    struct task_codes_options options = {
        .eps = "30", .weights = "age=1", .k = 2};
    struct sotto_table *table = earners(MANY, 0);
    struct sotto_train_facts facts;
    (void)state;
    sotto_mechanism_free(make_codes(table, &options, &facts));
    if (strstr(facts.said, "age 75%") == NULL) {
        fail_msg("no 'age 75%%' in '%s'", facts.said);
    }
    sotto_table_free(table);
}

/* A label has its share of epsilon, and the code the rest; the same files of a
   seed on any number of threads, others of another. */
static void
test_label(void **state)
{
    struct task_codes_options options = {.eps = "5",
                                         .label = "city",
                                         .lambda = 0.6,
                                         .weights = "wage=1,age=1",
                                         .k = 12,
                                         .threads = 1};
    struct sotto_table *table = earners(ROWS, 0);
    struct sotto_mechanism *mechanism = make_codes(table, &options, NULL);
    struct sotto_mechanism_info info;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_true(fabs(info.eps_features - 3) < 1e-9);
    assert_true(fabs(info.eps_label - 2) < 1e-9);
    sotto_mechanism_free(mechanism);
    options.threads = 3;
    must(train_task_codes(table, &options, in_folder("n.sotto"),
                          in_folder("n.analyst"), NULL, NULL, &err));
    assert_true(same_files(in_folder("m.sotto"), in_folder("n.sotto")));
    assert_true(same_files(in_folder("m.analyst"), in_folder("n.analyst")));
    options.seed = 5;
    must(train_task_codes(table, &options, in_folder("o.sotto"), NULL, NULL,
                          NULL, &err));
    assert_false(same_files(in_folder("m.sotto"), in_folder("o.sotto")));
    sotto_table_free(table);
}

/* ---- What fails ---------------------------------------------------------- */

static bool
stop_late(void *context, const char *what, uint64_t done, uint64_t total)
{
    size_t *left = context;
    assert_true(strcmp(what, "cells") != 0 || done <= total);
    return (*left)-- > 1;
}

static void
test_refused(void **state)
{
    struct task_codes_options options = {.eps = "5", .weights = "wage=1"};
    struct sotto_table *table = earners(40, 0), *few = earners(7, 0);
    size_t left = 30;
    (void)state;
#define refused(status, text, table)                                           \
    must_fail(status, text,                                                    \
              train_task_codes(table, &options, in_folder("m.sotto"),          \
                               in_folder("m.analyst"), NULL, NULL, &err));     \
    assert_int_equal(access(in_folder("m.sotto"), F_OK), -1)
    refused(SOTTO_STATUS_INPUT, "7 rows are too few", few);
    options.k = 41;
    refused(SOTTO_STATUS_USAGE, "is 41, and there are 40 rows", table);
    options.k = 5000;
    refused(SOTTO_STATUS_USAGE, "4096", table);
    options.k = 0;
    options.watch = (struct sotto_watch){.tick = stop_late, .context = &left};
    refused(SOTTO_STATUS_STOPPED, "stopped", table);
    options.watch.tick = NULL;
    options.weights = NULL;
    refused(SOTTO_STATUS_USAGE, "is missing", table);
    options.weights = "wage=1";
    options.steps = 12;
    refused(SOTTO_STATUS_USAGE, "is not for task-codes", table);
#undef refused
    sotto_table_free(few);
    sotto_table_free(table);
}

/* A column of two values, and more cells than there are of them. */
static void
test_few_values(void **state)
{
    struct task_codes_options options = {
        .eps = "4", .weights = "city=Ulm=1", .k = 10};
    struct sotto_table *table = earners(100, 0);
    struct sotto_train_facts facts;
    (void)state;
    sotto_mechanism_free(make_codes(table, &options, &facts));
    assert_true(sotto_train_fact(&facts, "loss") <
                sotto_train_fact(&facts, "without"));
    options.k = 0;
    sotto_mechanism_free(make_codes(table, &options, &facts));
    assert_int_equal(sotto_train_fact(&facts, "k"), 2);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct task_codes_options options = {
        .eps = "5", .target = "wage", .threads = 1};
    struct sotto_table *table = earners(20, 0);
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do { /* the search allocates by the hundred in one place */
        memset(&err, 0xa5, sizeof err);
        n += n > 250 ? 17 : 1;
        fail_alloc_at(n);
        status =
            train_task_codes(table, &options, in_folder("m.sotto"),
                             in_folder("m.analyst"), NULL, &mechanism, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
        } else { /* a column's name may be missing in what is said */
            sotto_mechanism_free(mechanism);
            mechanism = NULL;
            assert_int_equal(unlink(in_folder("m.sotto")), 0);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 250);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_epsilon), TEST(test_decoder),    TEST(test_prior),
        TEST(test_told),    TEST(test_kept),       TEST(test_label),
        TEST(test_refused), TEST(test_few_values), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
