/*
 * test_variational.c: the variational mechanism, from a table to its files.
 */
#include "encoder/variational.h"

#include "client/device.h"
#include "fail_alloc.h"
#include "learnt_fixture.h"
#include "mechanism/rows.h"

static const uint32_t small_hidden[] = {8};

static struct vlm_options
small_options(void)
{
    return (struct vlm_options){.eps = "4",
                                .label = "kind",
                                .d = 2,
                                .hidden = small_hidden,
                                .hiddens = 1,
                                .eps_pre = 20,
                                .epochs = 30,
                                .batch = 16,
                                .rate = 0.005,
                                .seed = 5,
                                .threads = 1};
}

static struct sotto_mechanism *
train(const struct sotto_table *table, const struct vlm_options *options,
      struct vlm_info *ret_info)
{
    struct sotto_mechanism *mechanism = NULL;
    must(train_vlm(table, options, in_folder("m.sotto"), in_folder("m.analyst"),
                   ret_info, &mechanism, &err));
    return mechanism;
}

/* ---- What is made -------------------------------------------------------- */

static void
test_files(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(200);
    struct vlm_info trained;
    struct sotto_mechanism *mechanism = train(table, &options, &trained), *read;
    struct sotto_mechanism_info info, again;
    struct sotto_part_info part;
    struct sotto_column_info column;
    struct sotto_analyst *analyst = NULL;
    struct stat file;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    assert_string_equal(info.name, "vlm");
    assert_string_equal(info.campaign, "vlm");
    assert_int_equal(strncmp(info.auxiliary, "none: ", 6), 0);
    assert_string_equal(info.eps_text, "4");
    assert_true(info.eps_features == 2.8 && info.eps_label == 1.2);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.parts, 2);
    sotto_mechanism_part(mechanism, 0, &part);
    assert_string_equal(part.covers, "features");
    assert_string_equal(part.channel, "laplace");
    assert_int_equal(part.size, 2);
    assert_int_equal(part.l, 4096);
    sotto_mechanism_part(mechanism, 1, &part);
    assert_string_equal(part.covers, "label");
    assert_string_equal(part.channel, "flip");
    assert_int_equal(part.size, 3);
    assert_int_equal(sotto_mechanism_part_column(mechanism, 1, 0), 3);
    sotto_mechanism_column(mechanism, 1, &column);
    assert_int_equal(column.inputs, 3); /* blue, red, other */
    sotto_mechanism_column(mechanism, 3, &column);
    assert_int_equal(column.inputs, 0);
    must(sotto_mechanism_read(in_folder("m.sotto"), &read, &err));
    sotto_mechanism_info(read, &again);
    assert_string_equal(info.hash, again.hash);
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, mechanism, &err));
    assert_int_equal(sotto_analyst_points(analyst), 200);
    assert_int_equal(sotto_analyst_width(analyst), 2);
    assert_int_equal(sotto_analyst_x_width(analyst), 5);
    assert_int_equal(stat(in_folder("m.analyst"), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(stat(in_folder("m.sotto"), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0644);
    assert_int_equal(trained.epochs, 30);
    assert_false(trained.resumed);
    assert_true(trained.b == 0.5);
    sotto_analyst_free(analyst);
    sotto_mechanism_free(read);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Shares of epsilon add up to it, to the last unit. */
static void
test_budget(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(40);
    struct sotto_mechanism *mechanism;
    (void)state;
    options.epochs = 1;
    options.eps = "1.000000000001";
    options.lambda = 1.0 / 3;
    mechanism = train(table, &options, NULL);
    const struct report_part *part =
        sotto_mechanism_client(mechanism)->report.part;
    assert_true(part[0].instance.eps + part[1].instance.eps ==
                UINT64_C(1000000000001));
    assert_true(part[0].instance.eps == UINT64_C(333333333334));
    sotto_mechanism_free(mechanism);
    options.label = NULL; /* then it is all the record's, `kind` included */
    options.lambda = 0;
    mechanism = train(table, &options, NULL);
    part = sotto_mechanism_client(mechanism)->report.part;
    assert_true(part[0].instance.eps == UINT64_C(1000000000001));
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* ---- What is learnt ------------------------------------------------------ */

/* A net trained as sotto_train trains it. */
struct trained {
    struct sotto_train_options options;
    struct encoder_job job;
    struct learnt learnt;
    struct tensor_backend *backend;
    struct variational_net net;
    struct variational_info info;
};

static void
trained_make(struct trained *trained, const struct sotto_table *table,
             const struct vlm_options *options)
{
    struct variational_settings set = {.common = {.label_channel = "flip",
                                                  .d = (uint32_t)options->d,
                                                  .steps = 4096},
                                       .hidden = {{8}, 1},
                                       .l = 5,
                                       .eps_pre = options->eps_pre,
                                       .epochs = options->epochs,
                                       .batch = options->batch,
                                       .rate = options->rate,
                                       .validation = 0.1,
                                       .seed = options->seed};
    trained->options = (struct sotto_train_options){.eps = options->eps,
                                                    .label = options->label};
    trained->job = (struct encoder_job){
        .encoder = &encoder_vlm, .table = table, .options = &trained->options};
    must(learnt_begin(&trained->learnt, &trained->job, &set.common, &err));
    must(tensor_new("cpu", NULL, &trained->backend, &err));
    must(variational_net_init(&trained->net, &trained->learnt, &set,
                              trained->backend, &err));
    must(variational_train(&trained->net, &trained->learnt, &set,
                           &trained->info, &err));
}

static void
trained_clear(struct trained *trained)
{
    variational_net_clear(&trained->net);
    tensor_backend_free(trained->backend);
    learnt_clear(&trained->learnt);
}

/* q is steps nu(h) / l within one step, and the analyst's decoder takes q/steps
   to what the decoder of training makes of nu(h). */
static void
test_deployed(void **state)
{
    enum { ROWS = 120 };
    struct vlm_options options = small_options();
    struct sotto_table *table = people(ROWS);
    struct vlm_info info;
    struct sotto_mechanism *mechanism = train(table, &options, &info);
    struct sotto_analyst *analyst = NULL;
    struct trained trained;
    float *mu, *x;
    const float *h, *means;
    double z[2 * ROWS];
    float decoded[5 * ROWS];
    (void)state;
    trained_make(&trained, table, &options);
    assert_true(trained.info.loss == info.loss);
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    mu = trained.net.mu;
    x = trained.learnt.x;
    h = nn_graph_forward(&trained.net.encoder, trained.backend, x, ROWS, false);
    trained.backend->ops->clip_l1(trained.backend, ROWS, 2, 5, h, mu);
    for (size_t i = 0; i < 2 * ROWS; i++) {
        z[i] = (double)mu[i] / 5;
        assert_true(fabs(sotto_analyst_prior(analyst)[i] - 4096 * z[i]) < 1.01);
    }
    means = nn_graph_forward(&trained.net.decoder, trained.backend, mu, ROWS,
                             false);
    must(sotto_analyst_decode(analyst, z, ROWS, decoded, &err));
    for (size_t i = 0; i < ROWS; i++) {
        const float *a = means + 5 * i, *b = decoded + 5 * i;
        double sum = 0;
        assert_true(fabs((double)a[0] - (double)b[0]) < 1e-3); /* a */
        assert_true(fabs((double)a[4] - (double)b[4]) < 1e-3); /* b */
        for (size_t j = 1; j < 4; j++) {
            sum += (double)b[j];
        }
        assert_true(fabs(sum - 1) < 1e-5); /* colour's probabilities */
        assert_true(a[1] > a[2] ? b[1] > b[2] : b[1] <= b[2]);
    }
    sotto_analyst_free(analyst);
    trained_clear(&trained);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* The loss falls, and the two kinds of people lie apart in q. */
static void
test_learns(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(400);
    struct vlm_info first, last;
    struct sotto_mechanism *mechanism;
    struct rows rows;
    double mean[2][2] = {{0}}, spread[2] = {0}, count[2] = {0}, between = 0;
    (void)state;
    options.epochs = 1;
    sotto_mechanism_free(train(table, &options, &first));
    options.epochs = 40;
    mechanism = train(table, &options, &last);
    assert_true(last.loss < 0.85 * first.loss);
    assert_true(last.validation < 0.85 * first.validation);
    assert_true(last.kl > 0.5);
    must(rows_init(&rows, mechanism, table, &err));
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < 400; i++) {
            int32_t q[2];
            size_t kind = rows_class(&rows, i);
            rows_q(&rows, i, q);
            assert_true(kind < 2);
            for (size_t j = 0; j < 2; j++) {
                mean[kind][j] += pass == 0 ? q[j] : 0;
                spread[kind] +=
                    pass == 1 ? fabs(q[j] - mean[kind][j] / count[kind]) : 0;
            }
            count[kind] += pass == 0;
        }
    }
    for (size_t j = 0; j < 2; j++) {
        between += fabs(mean[0][j] / count[0] - mean[1][j] / count[1]);
    }
    assert_true(between >
                3 * (spread[0] / count[0] + spread[1] / count[1]) / 2);
    rows_clear(&rows);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* Images, a learnt b, m, the linear kind, several threads. */
static void
test_kinds(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = images(150);
    struct vlm_info first, last;
    (void)state;
    options.label = NULL;
    options.eps_pre = 0;
    options.epochs = 1;
    sotto_mechanism_free(train(table, &options, &first));
    options.epochs = 25;
    options.threads = 2;
    sotto_mechanism_free(train(table, &options, &last));
    assert_true(last.loss < 0.9 * first.loss);
    assert_true(last.b != first.b);
    options.l = 0.5; /* b starts at l / 10, */
    sotto_mechanism_free(train(table, &options, &last));
    assert_true(last.b > 0.06); /* and a prior of scale 1 draws it up */
    options.l = 50;
    sotto_mechanism_free(train(table, &options, &last));
    assert_true(last.b < 4); /* or down */
    options.l = 0;
    options.autogen = 2;
    sotto_mechanism_free(train(table, &options, &last));
    options.linear = true;
    options.patience = 3;
    sotto_mechanism_free(train(table, &options, &last));
    assert_true(last.loss < 0.9 * first.loss);
    sotto_table_free(table);
}

/* ---- What is refused -------------------------------------------------------
 */

static void
refused(const char *message, enum sotto_status expected,
        const struct vlm_options *options, const struct sotto_table *table)
{
    must_fail(expected, message,
              train_vlm(table, options, in_folder("m.sotto"),
                        in_folder("m.analyst"), NULL, NULL, &err));
    assert_int_equal(entries(), 0);
}

static void
test_refused(void **state)
{
    static const uint32_t none[] = {0};
    static const uint32_t sixteen[] = {1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1};
    struct sotto_table *table = people(20), *one = people(1);
    struct vlm_options good = small_options(), bad;
    (void)state;
#define BAD(field, value, status, message)                                     \
    bad = good;                                                                \
    bad.field = (value);                                                       \
    refused(message, SOTTO_STATUS_##status, &bad, table)
    BAD(eps, NULL, USAGE, "eps is missing");
    BAD(eps, "33", BUDGET, "epsilon");
    BAD(eps, "x", FORMAT, "");
    BAD(lambda, 1, USAGE, "lambda");
    BAD(lambda, -0.1, USAGE, "lambda");
    BAD(lambda, NAN, USAGE, "lambda");
    BAD(lambda, 1e-9, USAGE, "lambda 1.0000000000000001e-09 is not");
    BAD(label, "nobody", USAGE, "nobody");
    BAD(label, "a", INPUT, "names of classes, say so");
    assert_string_equal(err.remedy, "category");
    BAD(d, 5000, USAGE, "d 5000 is not a whole number from 1 to 4096");
    BAD(steps, (1u << 20) + 1, USAGE, "steps");
    BAD(hidden, none, USAGE, "hidden");
    good.hiddens = 16;
    BAD(hidden, sixteen, USAGE, "hidden");
    good.hiddens = 1;
    BAD(l, -1, USAGE, "l ");
    BAD(l, NAN, USAGE, "l ");
    BAD(eps_pre, -1, USAGE, "eps-pre -1 is not a number from 0.001");
    BAD(autogen, -1, USAGE, "autogen");
    BAD(rate, INFINITY, USAGE, "rate");
    BAD(validation, 0.95, USAGE, "validation");
    BAD(epochs, 1000001, USAGE, "epochs");
    BAD(batch, 65537, USAGE, "batch");
    BAD(name, "\"", USAGE, "name");
    BAD(threads, 1000, LIMIT, "");
#undef BAD
    refused("at least 2", SOTTO_STATUS_INPUT, &good, one);
    bad = good;
    bad.rate = 10;
    bad.l = 1e6;
    bad.epochs = 3;
    enum sotto_status status =
        train_vlm(table, &bad, in_folder("m.sotto"), NULL, NULL, NULL,
                  &err); /* diverges, or not: never a NaN in a file */
    assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_INPUT);
    sotto_table_free(table);
    sotto_table_free(one);
}

static void
test_only_label(void **state)
{
    static const char *const drop[] = {"a", "b", "colour"};
    struct vlm_options options = small_options();
    struct sotto_table *table = people(20);
    (void)state;
    options.drop = drop;
    options.drops = 3;
    refused("no column but the label", SOTTO_STATUS_USAGE, &options, table);
    sotto_table_free(table);
}

static void
test_unwritable(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(20);
    (void)state;
    options.epochs = 1;
    must_fail(SOTTO_STATUS_IO, "m.sotto",
              train_vlm(table, &options, in_folder("no/m.sotto"), NULL, NULL,
                        NULL, &err));
    must_fail(SOTTO_STATUS_IO, "m.analyst",
              train_vlm(table, &options, in_folder("m.sotto"),
                        in_folder("no/m.analyst"), NULL, NULL, &err));
    assert_int_equal(entries(), 0);
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    struct vlm_options options = small_options();
    struct sotto_table *table = people(12);
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status;
    char checkpoint[128];
    long n = 0;
    (void)state;
    (void)snprintf(checkpoint, sizeof checkpoint, "%s", in_folder("c"));
    options.epochs = 1;
    options.checkpoint = checkpoint;
    do {
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = train_vlm(table, &options, in_folder("m.sotto"),
                           in_folder("m.analyst"), NULL, &mechanism, &err);
        if (status != SOTTO_STATUS_OK) {
            assert_null(mechanism);
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
            assert_int_equal(access(in_folder("m.sotto"), F_OK), -1);
            (void)unlink(options.checkpoint);
        }
        /* The text of the settings may be lacking: nothing hangs on it. */
        sotto_mechanism_free(mechanism);
        mechanism = NULL;
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 30);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_files),      TEST(test_budget),     TEST(test_deployed),
        TEST(test_learns),     TEST(test_kinds),      TEST(test_refused),
        TEST(test_only_label), TEST(test_unwritable), TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
