/*
 * test_rebudget.c: the same mechanism at another budget.
 */
#include "mechanism/rebudget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "mechanism/compose.h"
#include "mechanism/mechanism.h"
#include "scratch.h"
#include "spec_parts.h"

static struct sotto_error err;

static const char *const colours[] = {"red", "blue"};
static float weights[] = {0.5f, -1, 0.25f, 2, 1, 0.125f, 0, 3, 0.1f, 0.2f};

/* Two inputs, three of a category, to two numbers; a label of its own. */
static struct schema_column columns[] = {{.name = "a",
                                          .kind = SOTTO_COLUMN_NUMBER,
                                          .count = 1,
                                          .shift = 3,
                                          .scale = 0.5},
                                         {.name = "c",
                                          .kind = SOTTO_COLUMN_CATEGORY,
                                          .count = 3,
                                          .values = colours,
                                          .input = true},
                                         {.name = "y",
                                          .kind = SOTTO_COLUMN_CATEGORY,
                                          .count = 3,
                                          .values = colours}};
static struct layer layer = {.in = 4,
                             .out = 2,
                             .activation = ACTIVATION_TANH,
                             .weight = weights,
                             .bias = weights + 8};
static struct compose_part parts[] = {
    NUMBER_PART("features", "laplace", UINT64_C(700000000000), 1, 0, 2, 100, 0),
    SYMBOL_PART("label", "flip", UINT64_C(300000000000), 1,
                {.is_column = true, .at = 2})};
static const struct compose_spec whole = {.name = "m",
                                          .campaign = "c",
                                          .auxiliary = "none: learnt",
                                          .eps = UINT64_C(1000000000000),
                                          .column = columns,
                                          .columns = 3,
                                          .layer = &layer,
                                          .layers = 1,
                                          .part = parts,
                                          .parts = 2};

static struct sotto_mechanism *
make(const struct compose_spec *spec)
{
    struct sotto_mechanism *mechanism = NULL;
    if (compose_open(spec, &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return mechanism;
}

static struct sotto_mechanism *
rebudget(const struct sotto_mechanism *from, const char *eps, double lambda)
{
    struct sotto_mechanism *mechanism = NULL;
    if (sotto_mechanism_rebudget(from, eps, lambda, NULL, in_folder("m.sotto"),
                                 &mechanism, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return mechanism;
}

static bool
same_digest(const struct sotto_mechanism *a, const struct sotto_mechanism *b)
{
    uint8_t x[REBUDGET_DIGEST_SIZE], y[REBUDGET_DIGEST_SIZE];
    rebudget_digest(a, x);
    rebudget_digest(b, y);
    return memcmp(x, y, sizeof x) == 0;
}

/* The same budget gives the same bytes; another one and back, too. */
static void
test_same(void **state)
{
    struct sotto_mechanism *old = make(&whole);
    struct sotto_mechanism *same = rebudget(old, "1", 0);
    struct sotto_mechanism *other = rebudget(old, "0.123456789012", 0.4);
    struct sotto_mechanism *back = rebudget(other, "1", 0.7);
    (void)state;
    assert_int_equal(old->size, same->size);
    assert_memory_equal(old->data, same->data, old->size);
    assert_int_equal(old->size, back->size);
    assert_memory_equal(old->data, back->data, old->size);
    assert_true(same_digest(old, other) && same_digest(old, back));
    sotto_mechanism_free(old);
    sotto_mechanism_free(same);
    sotto_mechanism_free(other);
    sotto_mechanism_free(back);
}

static void
test_shares(void **state)
{
    static const struct {
        const char *eps;
        double lambda;
        uint64_t x, y;
    } cases[] = {
        {"10", 0, UINT64_C(7000000000000), UINT64_C(3000000000000)},
        {"10", 0.5, UINT64_C(5000000000000), UINT64_C(5000000000000)},
        {"0.000000000003", 0, 0, 0}, /* refused below */
        {"1.000000000001", 1.0 / 3, UINT64_C(333333333334),
         UINT64_C(666666666667)},
        {"32", 0.95, UINT64_C(30400000000000), UINT64_C(1600000000000)}};
    struct sotto_mechanism *old = make(&whole);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_mechanism *mechanism = NULL, *read = NULL;
        enum sotto_status status =
            sotto_mechanism_rebudget(old, cases[i].eps, cases[i].lambda, NULL,
                                     in_folder("m.sotto"), &mechanism, &err);
        if (cases[i].x == 0) {
            assert_int_equal(status, SOTTO_STATUS_BUDGET);
            continue;
        }
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(mechanism->device.report->part[0].instance.eps ==
                    cases[i].x);
        assert_true(mechanism->device.report->part[1].instance.eps ==
                    cases[i].y);
        assert_int_equal(
            sotto_mechanism_read(in_folder("m.sotto"), &read, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(read->size, mechanism->size);
        assert_memory_equal(read->data, mechanism->data, read->size);
        sotto_mechanism_free(read);
        sotto_mechanism_free(mechanism);
    }
    sotto_mechanism_free(old);
}

/* The label first, or one part alone. */
static void
test_orders(void **state)
{
    struct compose_part swapped[2] = {parts[1], parts[0]};
    struct compose_spec spec = whole;
    struct sotto_mechanism *old, *mechanism;
    (void)state;
    spec.part = swapped;
    old = make(&spec);
    mechanism = rebudget(old, "2", 0.9);
    assert_true(mechanism->device.report->part[1].instance.eps ==
                UINT64_C(1800000000000));
    sotto_mechanism_free(mechanism);
    sotto_mechanism_free(old);
    spec.part = parts;
    spec.parts = 1;
    spec.eps = parts[0].eps;
    old = make(&spec);
    mechanism = rebudget(old, "2", 0);
    assert_true(mechanism->device.report->part[0].instance.eps ==
                UINT64_C(2000000000000));
    sotto_mechanism_free(mechanism);
    mechanism = NULL;
    assert_int_equal(sotto_mechanism_rebudget(old, "2", 0.5, NULL,
                                              in_folder("m.sotto"), &mechanism,
                                              &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "has no label"));
    assert_int_equal(sotto_mechanism_rebudget(old, "2", 0, "subset",
                                              in_folder("m.sotto"), &mechanism,
                                              &err),
                     SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "label-channel is for the label"));
    assert_null(mechanism);
    sotto_mechanism_free(old);
}

/* Every thing but budget, name and campaign changes the digest. */
static void
test_digest(void **state)
{
    struct sotto_mechanism *old = make(&whole), *other;
    struct compose_spec spec = whole;
    (void)state;
    spec.name = "other";
    spec.campaign = "other";
    spec.auxiliary = "not used";
    other = make(&spec);
    assert_true(same_digest(old, other));
    sotto_mechanism_free(other);
#define OTHER(place, value)                                                    \
    do {                                                                       \
        __typeof__(place) keep_ = (place);                                     \
        (place) = (value);                                                     \
        other = make(&whole);                                                  \
        assert_false(same_digest(old, other));                                 \
        sotto_mechanism_free(other);                                           \
        (place) = keep_;                                                       \
    } while (0)
    OTHER(weights[3], 2.5f);
    OTHER(weights[9], 2.5f);
    OTHER(layer.activation, ACTIVATION_RELU);
    OTHER(columns[0].shift, 4);
    OTHER(columns[0].scale, 4);
    OTHER(columns[0].name, "b");
    OTHER(parts[0].l, 101);
    OTHER(parts[0].d, 1);
    OTHER(parts[1].factor[0].at, 1);
    OTHER(parts[1].covers, "features");
#undef OTHER
    other = make(&whole);
    assert_true(same_digest(old, other));
    sotto_mechanism_free(other);
    sotto_mechanism_free(old);
}

/* An encoder of images is kept whole, and every number of it is digested. */
static void
test_images(void **state)
{
    static float weight[64] = {1, 0.5f, -1};
    struct schema_column image[] = {
        {.name = "i", .kind = SOTTO_COLUMN_BYTES, .count = 16, .scale = 1},
        columns[2]};
    struct layer layers[] = {{.in = 16,
                              .out = 32,
                              .activation = ACTIVATION_RELU,
                              .weight = weight,
                              .bias = weight + 50,
                              .kind = LAYER_CONV,
                              .height = 4,
                              .width = 4,
                              .channels = 1,
                              .filters = 2,
                              .kernel = 3,
                              .stride = 1,
                              .pad = 1},
                             {.in = 32,
                              .out = 32,
                              .activation = ACTIVATION_NONE,
                              .weight = weight + 3,
                              .bias = weight + 50,
                              .kind = LAYER_CONV,
                              .height = 4,
                              .width = 4,
                              .channels = 2,
                              .filters = 2,
                              .kernel = 3,
                              .stride = 1,
                              .pad = 1,
                              .from = {0, 1}},
                             {.in = 32,
                              .out = 8,
                              .kind = LAYER_POOL_MEAN,
                              .height = 4,
                              .width = 4,
                              .channels = 2,
                              .kernel = 2,
                              .stride = 2}};
    struct compose_part own[] = {parts[0], parts[1]};
    struct compose_spec spec = whole;
    struct sotto_mechanism *old, *other, *back;
    (void)state;
    own[1].factor[0].at = 1;
    spec.column = image;
    spec.columns = 2;
    spec.layer = layers;
    spec.layers = 3;
    spec.part = own;
    old = make(&spec);
    other = rebudget(old, "2", 0.5);
    back = rebudget(other, "1", 0.7);
    assert_int_equal(old->size, back->size);
    assert_memory_equal(old->data, back->data, old->size);
    assert_true(same_digest(old, other) && same_digest(old, back));
    sotto_mechanism_free(other);
    sotto_mechanism_free(back);
#define OTHER(place, value)                                                    \
    do {                                                                       \
        __typeof__(place) keep_ = (place);                                     \
        (place) = (value);                                                     \
        other = make(&spec);                                                   \
        assert_false(same_digest(old, other));                                 \
        sotto_mechanism_free(other);                                           \
        (place) = keep_;                                                       \
    } while (0)
    OTHER(layers[1].from[1], 0);
    OTHER(layers[2].kind, LAYER_POOL_MAX);
    OTHER(weight[2], 7);
    OTHER(weight[51], 7);
    OTHER(layers[1].activation, ACTIVATION_TANH);
    layers[2].pad = 1; /* 3 x 3, then with a larger stride 2 x 2 again */
    layers[2].stride = 3;
    other = make(&spec);
    assert_false(same_digest(old, other));
#undef OTHER
    sotto_mechanism_free(other);
    sotto_mechanism_free(old);
}

static void
test_refused(void **state)
{
    static const double bad[] = {-0.1, 1, 2, NAN, INFINITY};
    struct compose_part three[3] = {parts[0], parts[1], parts[1]};
    struct compose_spec spec = whole;
    struct sotto_mechanism *old = make(&whole), *ret = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(sotto_mechanism_rebudget(old, "1", bad[i], NULL,
                                                  in_folder("x"), &ret, &err),
                         SOTTO_STATUS_USAGE);
        assert_non_null(strstr(err.message, "lambda"));
    }
    assert_int_equal(sotto_mechanism_rebudget(old, "1", 1e-9, NULL,
                                              in_folder("x"), &ret, &err),
                     SOTTO_STATUS_BUDGET);
    assert_int_equal(sotto_mechanism_rebudget(old, "100", 0, NULL,
                                              in_folder("x"), &ret, &err),
                     SOTTO_STATUS_BUDGET);
    assert_int_equal(sotto_mechanism_rebudget(old, "1,5", 0, NULL,
                                              in_folder("x"), &ret, NULL),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(sotto_mechanism_rebudget(old, "1", 0, NULL,
                                              in_folder("no/x"), &ret, &err),
                     SOTTO_STATUS_IO);
    sotto_mechanism_free(old);
    spec.part = three;
    spec.parts = 3;
    spec.eps = UINT64_C(1300000000000);
    old = make(&spec);
    assert_int_equal(
        sotto_mechanism_rebudget(old, "1", 0, NULL, in_folder("x"), &ret, &err),
        SOTTO_STATUS_USAGE);
    assert_non_null(strstr(err.message, "one part for the record"));
    assert_null(ret);
    assert_int_equal(entries(), 0);
    sotto_mechanism_free(old);
}

/* The label through subset and back: the same bytes; in between another
   channel, and the digest by which an analyst file is known. */
static void
test_label_channel(void **state)
{
    struct sotto_mechanism *old = make(&whole), *other = NULL, *back = NULL;
    const char *path = in_folder("m.sotto");
    (void)state;
    assert_int_equal(
        sotto_mechanism_rebudget(old, "1", 0, "subset", path, &other, &err),
        SOTTO_STATUS_OK);
    assert_string_equal(other->device.report->part[1].instance.channel->name,
                        "subset");
    assert_string_equal(other->device.report->part[0].instance.channel->name,
                        "laplace");
    assert_true(other->device.report->part[1].instance.eps ==
                old->device.report->part[1].instance.eps);
    assert_true(same_digest(old, other));
    assert_int_equal(
        sotto_mechanism_rebudget(other, "1", 0, "flip", path, &back, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(old->size, back->size);
    assert_memory_equal(old->data, back->data, old->size);
    sotto_mechanism_free(back);
    back = rebudget(other, "2", 0); /* NULL: as it was */
    assert_string_equal(back->device.report->part[1].instance.channel->name,
                        "subset");
    sotto_mechanism_free(back);
    back = NULL;
    (void)unlink(path);
    static const char *const bad[] = {"", "laplace", "subsets", "Flip"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(
            sotto_mechanism_rebudget(old, "1", 0, bad[i], path, &back, &err),
            SOTTO_STATUS_USAGE);
        assert_non_null(strstr(err.message, "label-channel"));
        assert_null(back);
    }
    assert_int_equal(entries(), 0);
    sotto_mechanism_free(other);
    sotto_mechanism_free(old);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *old = make(&whole), *ret = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = sotto_mechanism_rebudget(old, "2", 0, NULL,
                                          in_folder("m.sotto"), &ret, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(ret);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_int_equal(entries(), 0);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 8);
    sotto_mechanism_free(ret);
    sotto_mechanism_free(old);
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_same),          TEST(test_shares), TEST(test_orders),
        TEST(test_digest),        TEST(test_images), TEST(test_refused),
        TEST(test_label_channel), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
