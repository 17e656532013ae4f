/*
 * test_learnt_channel.c: every channel on a learnt representation: the clip of
 * training is the device's, its noise that of the channel's own estimates, and
 * what comes out keeps its epsilon: exactly, where the domain is small enough
 * to enumerate.
 */
#include "encoder/learnt_channel.h"

#include "channel/duchi.h"
#include "channel/gaussian.h"
#include "encoder/analyst.h"
#include "learnt_fixture.h"
#include "mechanism/inside.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"
#include "report/domain.h"

static const struct {
    const char *name, *delta;
    enum channel_domain domain;
} channels[] = {{"laplace", NULL, CHANNEL_DOMAIN_LATTICE},
                {"gaussian", "0.00001", CHANNEL_DOMAIN_BALL},
                {"duchi", NULL, CHANNEL_DOMAIN_CUBE}};

#define EACH(i)                                                                \
    size_t i = 0;                                                              \
    i < sizeof channels / sizeof *channels;                                    \
    i++

/* ---- Settings ------------------------------------------------------------ */

static void
test_settings(void **state)
{
    struct learnt_settings set = {.d = 2};
    (void)state;
    must(learnt_settings_check(&set, &err));
    assert_string_equal(set.channel, "laplace");
    assert_int_equal(set.steps, 4096);
    set = (struct learnt_settings){.channel = "gaussian", .delta = "0.001"};
    must(learnt_settings_check(&set, &err));
    assert_int_equal(set.steps, 256);
    must(learnt_channel_check_pre(&set, 32, &err));
    must_fail(SOTTO_STATUS_USAGE, "give 0.000001 to 32",
              learnt_channel_check_pre(&set, 33, &err));
    assert_string_equal(err.subject, "eps-pre");
    set.delta = "0.1";
    must_fail(SOTTO_STATUS_BUDGET, "delta", learnt_settings_check(&set, &err));
    set.delta = "1e-6";
    must_fail(SOTTO_STATUS_FORMAT, "plain decimal",
              learnt_settings_check(&set, &err));
    set.delta = NULL;
    must_fail(SOTTO_STATUS_USAGE, "'gaussian' needs one",
              learnt_settings_check(&set, &err));
    set = (struct learnt_settings){.channel = "duchi", .delta = "0.001"};
    must_fail(SOTTO_STATUS_USAGE, "the channel is duchi",
              learnt_settings_check(&set, &err));
    assert_string_equal(err.subject, "delta");
    set.channel = "flip";
    must_fail(SOTTO_STATUS_USAGE, "are laplace, gaussian, duchi",
              learnt_settings_check(&set, &err));
    set.channel = "window"; /* takes one number */
    must_fail(SOTTO_STATUS_USAGE, "window: the channels",
              learnt_settings_check(&set, &err));
    set = (struct learnt_settings){.steps = 7};
    must(learnt_settings_check(&set, &err));
    assert_int_equal(set.steps, 7);
    must(learnt_channel_check_pre(&set, 1000, &err)); /* of laplace any */
}

/* ---- Clip ---------------------------------------------------------------- */

enum { ROWS = 300, D = 5 };

/* Numbers about the domain's edge, some within, some beyond. */
static void
fill_h(float h[ROWS * D])
{
    struct seeded seeded;
    seeded_init(&seeded, 4, 4);
    for (size_t i = 0; i < ROWS * D; i++) {
        double size = i / D % 3 == 0 ? 0.3 : 2;
        h[i] = (float)(size * (2 * uniform(&seeded) - 1));
    }
}

/* What training clips to is what a device makes of it, but for rounding. */
static void
test_clip(void **state)
{
    const uint32_t l = 1u << 19;
    static float h[ROWS * D], z[ROWS * D];
    struct tensor_backend *backend = NULL;
    (void)state;
    fill_h(h);
    must(tensor_new("plain", NULL, &backend, &err));
    for (EACH(i)) {
        size_t beyond = 0;
        learnt_clip(channels[i].domain, backend, ROWS, D, 1, h, z);
        for (size_t row = 0; row < ROWS; row++) {
            const float *at = h + row * D;
            int32_t q[D];
            domain_place(channels[i].domain)(at, D, l, q);
            beyond += learnt_norm(channels[i].domain, at, D) > 1;
            assert_true(learnt_norm(channels[i].domain, z + row * D, D) <
                        1 + 1e-6);
            for (size_t j = 0; j < D; j++) {
                assert_true(fabs((double)z[row * D + j] - (double)q[j] / l) <
                            4e-6);
            }
        }
        assert_true(beyond > ROWS / 4 && beyond < ROWS);
    }
    tensor_backend_free(backend);
}

/* w . clip(h) by h: against differences; in a cube what a step against dz
   brings back in is dz, what it takes further out is 0. */
static void
test_clip_back(void **state)
{
    const float step = 1e-3F;
    static float h[ROWS * D], dz[ROWS * D], dh[ROWS * D];
    struct tensor_backend *backend = NULL;
    struct seeded seeded;
    (void)state;
    fill_h(h);
    seeded_init(&seeded, 5, 5);
    for (size_t i = 0; i < ROWS * D; i++) {
        dz[i] = (float)(uniform(&seeded) - 0.5);
    }
    must(tensor_new("plain", NULL, &backend, &err));
    for (EACH(c)) {
        enum channel_domain domain = channels[c].domain;
        size_t wrong = 0, inward = 0;
        learnt_clip_back(domain, backend, ROWS, D, 1, h, dz, dh);
        for (size_t i = 0; i < ROWS * D; i++) {
            size_t row = i / D * D;
            float moved[D], up[D], down[D];
            double slope = 0;
            memcpy(moved, h + row, sizeof moved);
            moved[i - row] = h[i] + step;
            learnt_clip(domain, backend, 1, D, 1, moved, up);
            moved[i - row] = h[i] - step;
            learnt_clip(domain, backend, 1, D, 1, moved, down);
            for (size_t j = 0; j < D; j++) {
                slope +=
                    (double)dz[row + j] * ((double)up[j] - (double)down[j]);
            }
            slope /= 2 * (double)step;
            if (domain == CHANNEL_DOMAIN_CUBE && fabsf(h[i]) > 1) {
                bool in = h[i] * dz[i] > 0;
                assert_true(dh[i] == (in ? dz[i] : 0));
                inward += in;
                continue;
            }
            wrong += fabs(slope - (double)dh[i]) > 2e-3; /* beside a kink */
        }
        assert_true(wrong <= ROWS * D / 200);
        assert_true(domain != CHANNEL_DOMAIN_CUBE || inward > 100);
    }
    tensor_backend_free(backend);
}

/* ---- Noise --------------------------------------------------------------- */

static void
begin(struct learnt *learnt, struct encoder_job *job, size_t channel)
{
    struct learnt_settings set = {.label_channel = "flip",
                                  .channel = channels[channel].name,
                                  .delta = channels[channel].delta,
                                  .d = 4};
    must(learnt_begin(learnt, job, &set, &err));
}

/* The deviation of training noise, from the channels' own definitions. */
static void
test_noise(void **state)
{
    static const struct sotto_train_options options = {.eps = "3"};
    struct sotto_table *table = people(30);
    struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &options};
    (void)state;
    for (EACH(i)) {
        struct learnt learnt = {0};
        double scale = 0, ratio = 0;
        begin(&learnt, &job, i);
        must(learnt_noise_scale(&learnt, 4, 2.5, 7, &scale, &err));
        must(learnt_noise_ratio(&learnt, 4, &ratio, &err));
        if (channels[i].domain == CHANNEL_DOMAIN_LATTICE) {
            assert_true(scale == 5.0 / 7);
            assert_true(fabs(ratio - 8.0 / 9) < 1e-3);
        } else if (channels[i].domain == CHANNEL_DOMAIN_BALL) {
            struct channel_instance instance;
            struct gaussian own;
            must(channel_init(&instance, learnt.channel, 4, 0, 256,
                              7 * SOTTO_UNIT, 10000000, &own));
            assert_true(fabs(scale - 2.5 * own.noise.t / 256.0 / 256) < 1e-9);
            must(channel_init(&instance, learnt.channel, 4, 0, 256,
                              3 * SOTTO_UNIT, 10000000, &own));
            assert_true(fabs(sqrt(ratio) - own.noise.t / 65536.0) < 1e-9);
        } else { /* c = (2h - 1) b / (1 - R), b = 3/8, R = (2h - 1) b */
            double lead = tanh(3.5), share = lead * 0.375 / (1 - lead * 0.375);
            assert_true(fabs(scale - 2.5 / share) < 1e-9);
            lead = tanh(1.5);
            share = lead * 0.375 / (1 - lead * 0.375);
            assert_true(fabs(ratio - 1 / (share * share)) < 1e-9);
        }
        learnt_clear(&learnt);
    }
    sotto_table_free(table);
}

/* A ball whose noise no device could make is refused before any training. */
static void
test_too_fine(void **state)
{
    static const struct sotto_train_options options = {.eps = "0.0001"};
    const struct learnt_settings set = {.label_channel = "flip",
                                        .channel = "gaussian",
                                        .delta = "0.000001",
                                        .d = 2,
                                        .steps = 1u << 20};
    struct sotto_table *table = people(30);
    struct encoder_job job = {
        .encoder = &encoder_vlm, .table = table, .options = &options};
    struct learnt learnt = {0};
    (void)state;
    must_fail(SOTTO_STATUS_LIMIT, "steps is too large",
              learnt_begin(&learnt, &job, &set, &err));
    assert_string_equal(err.subject, "steps");
    learnt_clear(&learnt);
    sotto_table_free(table);
}

/* ---- Scales -------------------------------------------------------------- */

static double
entry_of(const void *context, size_t row, size_t i)
{
    const float *h = context;
    return (double)h[row * D + i] * (double)(i + 1);
}

/* So many rows are inside as asked; in a cube so many of every number. */
static void
test_scales(void **state)
{
    static float h[ROWS * D];
    (void)state;
    fill_h(h);
    for (EACH(c)) {
        enum channel_domain domain = channels[c].domain;
        double scale[D];
        size_t inside = 0, each[D] = {0};
        must(
            learnt_find_scales(domain, ROWS, D, 0.8, entry_of, h, scale, &err));
        for (size_t row = 0; row < ROWS; row++) {
            float z[D];
            for (size_t i = 0; i < D; i++) {
                z[i] = (float)(scale[i] * entry_of(h, row, i));
                each[i] += fabsf(z[i]) <= 1;
            }
            inside += learnt_norm(domain, z, D) <= 1;
        }
        for (size_t i = 0; i < D; i++) {
            if (domain == CHANNEL_DOMAIN_CUBE) {
                assert_int_equal(each[i], 240);
            } else {
                assert_true(scale[i] == scale[0]);
            }
        }
        assert_true(domain == CHANNEL_DOMAIN_CUBE || inside == 240);
    }
}

/* ---- Mechanisms ---------------------------------------------------------- */

/* Trains a kind with a channel. */
static struct sotto_mechanism *
train(const struct sotto_table *table, const char *kind, size_t channel,
      const char *settings[][2], size_t count)
{
    struct sotto_setting set[8];
    struct sotto_train_options options = {
        .eps = "3", .label = "kind", .set = set, .threads = 1};
    struct sotto_mechanism *mechanism = NULL;
    set[options.sets++] =
        (struct sotto_setting){"channel", channels[channel].name};
    if (channels[channel].delta != NULL) {
        set[options.sets++] =
            (struct sotto_setting){"delta", channels[channel].delta};
    }
    for (size_t i = 0; i < count; i++) {
        set[options.sets++] =
            (struct sotto_setting){settings[i][0], settings[i][1]};
    }
    must(sotto_train(table, kind, &options, in_folder("m.sotto"),
                     in_folder("m.analyst"), NULL, &mechanism, &err));
    return mechanism;
}

/* Every kind, every channel: one part of the channel's domain, with delta if it
   has one; the prior is what devices compute, and within the domain. */
static void
test_kinds(void **state)
{
    static const char *small[][2] = {{"d", "2"}, {"epochs", "2"}};
    static const char *task[][2] = {{"weights", "a=1"}};
    static const char *learnt[][2] = {{"weights", "a=1"}, {"epochs", "2"}};
    static const struct {
        const char *kind;
        const char *(*set)[2];
        size_t sets;
    } kinds[] = {{"vlm", small, 2},        {"clm", small, 2},
                 {"pca", small, 1},        {"identity", NULL, 0},
                 {"task-linear", task, 1}, {"task", learnt, 2}};
    struct sotto_table *table = people(60);
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (EACH(i)) {
            struct sotto_mechanism *mechanism =
                train(table, kinds[k].kind, i, kinds[k].set, kinds[k].sets);
            const struct shape_part *part = &mechanism->shape.part[0];
            const struct channel_instance *own = part->instance;
            struct sotto_analyst *analyst = NULL;
            struct rows rows;
            int32_t q[16];
            assert_int_equal(mechanism->shape.parts, 2);
            assert_int_equal(own->channel->domain, channels[i].domain);
            assert_string_equal(own->channel->name, channels[i].name);
            assert_true(own->delta ==
                        (channels[i].delta != NULL ? 10000000 : 0));
            assert_true(own->eps == 21 * SOTTO_UNIT / 10);
            must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
            must(sotto_analyst_check(analyst, mechanism, &err));
            must(rows_init(&rows, mechanism, table, &err));
            for (size_t row = 0; row < 60; row++) {
                const int32_t *prior =
                    sotto_analyst_prior(analyst) + row * own->size;
                rows_q(&rows, row, q);
                assert_memory_equal(q, prior, own->size * sizeof *q);
                assert_true(
                    inside_domain(channels[i].domain, own->size, own->l, q));
            }
            rows_clear(&rows);
            sotto_analyst_free(analyst);
            sotto_mechanism_free(mechanism);
        }
    }
    sotto_table_free(table);
}

/* Another domain is another encoder: its analyst file does not fit. */
static void
test_other_domain(void **state)
{
    static const char *small[][2] = {{"d", "1"}, {"steps", "64"}};
    struct sotto_table *table = people(60);
    struct sotto_mechanism *ball = train(table, "pca", 1, small, 2), *cube;
    struct sotto_analyst *analyst = NULL;
    (void)state;
    cube = train(table, "pca", 2, small, 2);
    must(sotto_analyst_read(in_folder("m.analyst"), &analyst, &err));
    must(sotto_analyst_check(analyst, cube, &err));
    must_fail(SOTTO_STATUS_INPUT, "", sotto_analyst_check(analyst, ball, &err));
    sotto_analyst_free(analyst);
    sotto_mechanism_free(ball);
    sotto_mechanism_free(cube);
    sotto_table_free(table);
}

/* Same weights of vlm under another channel, or another delta, are not gone on
   from. */
static void
test_key(void **state)
{
    static const struct sotto_train_options options = {.eps = "3"};
    const struct setting *table = encoder_vlm.settings;
    struct sotto_table *rows = people(30);
    struct encoder_job job = {
        .encoder = &encoder_vlm, .table = rows, .options = &options};
    struct learnt learnt = {0};
    char key[4][LEARNT_KEY_SIZE];
    uint64_t own[64] = {0}; /* of vlm's settings */
    (void)state;
    assert_true(encoder_vlm.own_size <= sizeof own);
    settings_init(table, own);
    begin(&learnt, &job, 0);
    must(learnt_key(&learnt, own, 1, "1", key[0], &err));
    must(settings_put(table, own, "channel", "duchi", &err));
    must(learnt_key(&learnt, own, 1, "1", key[1], &err));
    must(settings_put(table, own, "channel", "gaussian", &err));
    must(settings_put(table, own, "delta", "0.1", &err));
    must(learnt_key(&learnt, own, 1, "1", key[2], &err));
    must(settings_put(table, own, "delta", "0.01", &err));
    must(learnt_key(&learnt, own, 1, "1", key[3], &err));
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(key[i], key[j]);
        }
    }
    learnt_clear(&learnt);
    sotto_table_free(rows);
}

/* ---- Exactly --------------------------------------------------------------
 */

/* All 2^d reports of a cube's part, at all points of {-2, ..., 2}^d: they add
   up to 1, no ratio exceeds e^eps, and some is nearly as large. */
static void
test_duchi_ratio(void **state)
{
    static const char *sets[][2] = {{"d", "3"}, {"steps", "2"}};
    enum { POINTS = 125, REPORTS = 8 };
    struct sotto_table *table = people(60);
    struct sotto_mechanism *mechanism = train(table, "pca", 2, sets, 2);
    const struct likelihood_instance *own = &mechanism->likelihood[0];
    static double log_p[REPORTS][POINTS];
    static int32_t q[POINTS * 3];
    double most = 0, eps = (double)own->instance->eps / 1e12;
    (void)state;
    assert_int_equal(own->instance->size, 3);
    for (int m = 0; m < POINTS; m++) {
        q[3 * m] = m % 5 - 2;
        q[3 * m + 1] = m / 5 % 5 - 2;
        q[3 * m + 2] = m / 25 - 2;
    }
    for (uint8_t t = 0; t < REPORTS; t++) {
        own->likelihood->log_p_many(own, &t, q, POINTS, log_p[t]);
    }
    for (size_t m = 0; m < POINTS; m++) {
        double sum = 0, mean[3] = {0};
        for (uint8_t t = 0; t < REPORTS; t++) {
            double estimate[3], p = exp(log_p[t][m]);
            own->likelihood->estimate(own, &t, estimate);
            sum += p;
            for (size_t j = 0; j < 3; j++) {
                mean[j] += p * estimate[j];
            }
            for (size_t other = 0; other < POINTS; other++) {
                most = fmax(most, log_p[t][m] - log_p[t][other]);
            }
        }
        assert_true(fabs(sum - 1) < 1e-12);
        for (size_t j = 0; j < 3; j++) {
            assert_true(fabs(mean[j] - q[3 * m + j]) < 1e-9);
        }
    }
    assert_true(most <= eps + 1e-12 && most > eps - 1e-9);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

/* A ball's part on a line: over all reports, sum max(0, p - e^eps p') is at
   most delta, for every two points; and not all of delta is wasted. */
static void
test_gaussian_delta(void **state)
{
    static const char *sets[][2] = {{"d", "1"}, {"steps", "3"}};
    struct sotto_table *table = people(60);
    struct sotto_mechanism *mechanism = train(table, "pca", 1, sets, 2);
    const struct likelihood_instance *own = &mechanism->likelihood[0];
    const struct channel_instance *instance = own->instance;
    const struct gaussian *channel = instance->own;
    double delta = (double)instance->delta / 1e12, most = 0;
    double grow = exp((double)instance->eps / 1e12);
    (void)state;
    assert_int_equal(instance->size, 1);
    for (int32_t a = -3; a <= 3; a++) {
        for (int32_t b = -3; b <= 3; b++) {
            const int32_t q[2] = {a, b};
            double sum = 0, beyond = 0;
            for (int64_t y = -channel->integers.clamp;
                 y <= channel->integers.clamp; y++) {
                uint8_t wire[8] = {0};
                double log_p[2];
                assert_true(own->likelihood->pack(own, &y, wire));
                own->likelihood->log_p_many(own, wire, q, 2, log_p);
                sum += exp(log_p[0]);
                beyond += fmax(0, exp(log_p[0]) - grow * exp(log_p[1]));
            }
            assert_true(fabs(sum - 1) < 1e-9);
            most = fmax(most, beyond);
        }
    }
    assert_true(most <= delta && most > delta / 100);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_settings),    TEST(test_clip),           TEST(test_clip_back),
        TEST(test_noise),       TEST(test_too_fine),       TEST(test_scales),
        TEST(test_kinds),       TEST(test_other_domain),   TEST(test_key),
        TEST(test_duchi_ratio), TEST(test_gaussian_delta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
