/*
 * test_contrastive.c: the contrastive mechanism, from a table to its files.
 */
#include <limits.h>

#include "contrastive_fixture.h"
#include "fail_alloc.h"
#include "mechanism/rows.h"

static struct clm_options
small_options(void)
{
    return (struct clm_options){
        .eps = "4", .d = 6, .epochs = 3, .batch = 32, .seed = 5, .threads = 1};
}

static struct sotto_mechanism *
train(const struct sotto_table *table, const struct clm_options *options,
      struct clm_info *ret_info)
{
    struct sotto_mechanism *mechanism = NULL;
    must(train_clm(table, options, in_folder("m.sotto"), in_folder("m.analyst"),
                   ret_info, &mechanism, &err));
    return mechanism;
}

/* |q|_1 of the prior's points, how many of them below the ball's surface. */
static size_t
count_inside(const struct sotto_analyst *analyst, size_t steps)
{
    size_t d = sotto_analyst_width(analyst), inside = 0;
    for (size_t i = 0; i < sotto_analyst_points(analyst); i++) {
        size_t norm = 0;
        for (size_t j = 0; j < d; j++) {
            norm += (size_t)abs(sotto_analyst_prior(analyst)[i * d + j]);
        }
        inside += norm + d < steps;
    }
    return inside;
}

static void
test_files(void **state)
{
    struct clm_options options = small_options();
    struct sotto_table *table = pictures(200, 12, 12, 1);
    struct clm_info trained;
    struct sotto_mechanism *mechanism = train(table, &options, &trained);
    struct sotto_mechanism_info info;
    struct sotto_part_info part;
    struct sotto_analyst *analyst = NULL;
    double z[6] = {0};
    float x;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "clm");
    assert_int_equal(strncmp(info.auxiliary, "none: ", 6), 0);
    assert_int_equal(info.layers, 4); /* two convolutions, a pool, z */
    assert_int_equal(info.parts, 1);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.channel, "laplace");
    assert_int_equal(part.size, 6);
    assert_int_equal(trained.epochs, 3);
    assert_true(fabs(trained.clipped - 0.1) < 0.006);
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    assert_int_equal(sotto_analyst_points(analyst), 200);
    assert_int_equal(sotto_analyst_x_width(analyst), 0);
    assert_in_range(count_inside(analyst, 4096), 170, 180);
    must_fail(SOTTO_STATUS_USAGE, "no decoder",
              sotto_analyst_decode(analyst, z, 1, &x, &err));
    sotto_analyst_free(analyst);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* q is steps times z in units of the ball, as training computes it. */
static void
check_deployed(struct sotto_table *table, struct clm_options options)
{
    size_t n = sotto_table_rows(table), d = options.d;
    struct sotto_mechanism *mechanism = train(table, &options, NULL);
    struct contrastive_info info;
    struct begun begun = {0};
    struct rows rows;
    double radius = INFINITY;
    float *z = calloc(n, d * sizeof *z);
    int32_t *q = calloc(n, d * sizeof *q);
    assert_true(z != NULL && q != NULL);
    begun_make(&begun, table, &options);
    must(contrastive_train(&begun.net, &begun.learnt, &begun.set, &info, &err));
    contrastive_encode(&begun.net, begun.learnt.x, n, z);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < n; i++) {
        rows_q(&rows, i, q + i * d);
    }
    for (size_t i = 0; i < n; i++) { /* the radius, from those clipped */
        double norm = 0, sum = 0;
        for (size_t j = 0; j < d; j++) {
            norm += fabs((double)z[i * d + j]);
            sum += abs(q[i * d + j]);
        }
        if (sum >= 4096 - (double)d) {
            radius = fmin(radius, norm);
        }
    }
    assert_true(options.eps_pre > 0 || isfinite(radius));
    radius = options.eps_pre > 0 ? options.l : radius;
    for (size_t i = 0; i < n; i++) {
        double norm = 0;
        for (size_t j = 0; j < d; j++) {
            norm += fabs((double)z[i * d + j]);
        }
        for (size_t j = 0; j < d; j++) {
            double at = 4096 * (double)z[i * d + j] / fmax(norm, radius);
            assert_true(fabs(at - q[i * d + j]) < 24);
        }
    }
    rows_clear(&rows);
    begun_clear(&begun);
    sotto_mechanism_free(mechanism);
    free(z);
    free(q);
}

static void
test_deployed(void **state)
{
    struct clm_options options = small_options();
    struct sotto_table *table = pictures(150, 12, 12, 1);
    (void)state;
    check_deployed(table, options);
    options.residual = true;
    check_deployed(table, options);
    options.eps_pre = 20;
    options.l = 2;
    check_deployed(table, options);
    sotto_table_free(table);
    table = people(150);
    options = small_options();
    options.label = "kind";
    check_deployed(table, options);
    sotto_table_free(table);
}

/* The loss falls, and in z the nearest record is mostly one of the same kind.
 */
static void
test_learns(void **state)
{
    enum { ROWS = 300, D = 6 };
    struct clm_options options = small_options();
    struct sotto_table *table = people(ROWS);
    struct clm_info first, last;
    struct sotto_mechanism *mechanism;
    struct rows rows;
    static int32_t q[ROWS][D];
    size_t right = 0;
    (void)state;
    options.label = "kind";
    options.epochs = 1;
    sotto_mechanism_free(train(table, &options, &first));
    options.epochs = 25;
    mechanism = train(table, &options, &last);
    assert_true(last.loss < first.loss - 0.05);
    must(rows_init(&rows, mechanism, table, &err));
    for (size_t i = 0; i < ROWS; i++) {
        rows_q(&rows, i, q[i]);
    }
    for (size_t i = 0; i < ROWS; i++) {
        size_t nearest = 0;
        long best = LONG_MAX;
        for (size_t j = 0; j < ROWS; j++) {
            long far = 0;
            for (size_t k = 0; k < D; k++) {
                far += labs((long)q[i][k] - q[j][k]);
            }
            if (j != i && far < best) {
                best = far;
                nearest = j;
            }
        }
        right += rows_class(&rows, i) == rows_class(&rows, nearest);
    }
    assert_true(right > ROWS * 9 / 10);
    rows_clear(&rows);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- What is refused -------------------------------------------------------
 */

static void
refused(const char *message, enum sotto_status expected,
        const struct clm_options *options, const struct sotto_table *table)
{
    must_fail(expected, message,
              train_clm(table, options, in_folder("m.sotto"),
                        in_folder("m.analyst"), NULL, NULL, &err));
    assert_int_equal(entries(), 0);
}

static void
test_refused(void **state)
{
    static const uint32_t none[] = {0};
    struct sotto_table *table = people(20), *one = people(1);
    struct clm_options good = small_options(), bad;
    (void)state;
    good.label = "kind";
#define BAD(field, value, status, message)                                     \
    bad = good;                                                                \
    bad.field = (value);                                                       \
    refused(message, SOTTO_STATUS_##status, &bad, table)
    BAD(eps, NULL, USAGE, "eps is missing");
    BAD(eps, "33", BUDGET, "epsilon");
    BAD(lambda, 1, USAGE, "lambda");
    BAD(label, "a", INPUT, "names of classes, say so");
    assert_string_equal(err.remedy, "category");
    BAD(d, 5000, USAGE, "4096");
    BAD(hidden, none, USAGE, "hidden");
    good.width_count = 1;
    BAD(widths, none, USAGE, "widths");
    BAD(network, "rnn", USAGE, "network rnn is none of cnn|mlp");
    BAD(network, "cnn", USAGE, "8x8");
    BAD(augment, "blur", USAGE, "augment blur is none of line|photo|corrupt");
    BAD(augment, "photo", USAGE, "corrupt");
    BAD(temperature, -1, USAGE,
        "temperature -1 is not a number from 0.01 to 100");
    BAD(temperature, NAN, USAGE, "temperature");
    BAD(l, -1, USAGE, "l -1 is not");
    BAD(eps_pre, -1, USAGE, "eps-pre -1 is not a number from 0.001 to 1000000");
    BAD(inside, 1.1, USAGE, "inside");
    BAD(rate, INFINITY, USAGE, "rate");
    BAD(epochs, 1000001, USAGE, "epochs");
    BAD(batch, 1, USAGE, "batch 1 is not a whole number from 2 to 8192");
    BAD(threads, 1000, LIMIT, "");
#undef BAD
    refused("at least 2", SOTTO_STATUS_INPUT, &good, one);
    bad = good;
    bad.l = 5;
    refused("l is the ball that eps-pre puts noise in", SOTTO_STATUS_USAGE,
            &bad, table);
    bad.eps_pre = 7;
    bad.inside = 0.5;
    refused("inside is for an encoder without noise", SOTTO_STATUS_USAGE, &bad,
            table);
    sotto_table_free(table);
    sotto_table_free(one);
}

/* Weights that are not finite are in no file. */
static void
test_diverged(void **state)
{
    struct clm_options options = small_options();
    struct sotto_table *table = pictures(64, 9, 9, 1);
    (void)state;
    options.rate = 10;
    options.epochs = 40;
    enum sotto_status status = train_clm(table, &options, in_folder("m.sotto"),
                                         NULL, NULL, NULL, &err);
    assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_INPUT);
    sotto_table_free(table);
}

/* Convolutions do without memory, slowly, and their callers need not know: an
   allocation that fails may be no failure of training. */
static void
check_memory(struct sotto_table *table, struct clm_options options)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    char checkpoint[128];
    long n = 0, count;
    size_t failed = 0;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    options.epochs = 1;
    options.batch = 4;
    options.checkpoint = checkpoint;
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train_clm(table, &options, in_folder("m.sotto"),
                           in_folder("m.analyst"), NULL, &mechanism, &err);
        count = fail_alloc_count();
        fail_alloc_at(0);
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
            failed++;
        }
        sotto_mechanism_free(mechanism);
        mechanism = NULL;
        (void)unlink(options.checkpoint);
        (void)unlink(in_folder("m.sotto"));
    } while (count >= n);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(failed > 60);
}

static void
test_memory(void **state)
{
    struct clm_options options = small_options();
    struct sotto_table *table = pictures(8, 9, 9, 1);
    (void)state;
    check_memory(table, options);
    sotto_table_free(table);
    table = people(8);
    options.label = "kind";
    check_memory(table, options);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_files),   TEST(test_deployed), TEST(test_learns),
        TEST(test_refused), TEST(test_diverged), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
