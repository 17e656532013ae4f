/*
 * test_flush.c: no number between a record and its report is subnormal, by the
 * processor's own account, whatever weights and records are (invariant 7).
 *
 * SSE keeps flags of every operation that took a subnormal number (DE) or gave
 * a result too small to be normal (UE). Each mechanism here is built to make
 * some; after whole runs of sotto_client_privatise both flags are still clear.
 */
#include "client/image_fixture.h"

#include <float.h>

#include "encode/flush.h"

static void
test_flush_small(void **state)
{
    static const struct {
        float y, flushed;
    } cases[] = {
        {0x1p-50f, 0x1p-50f},
        {-0x1p-50f, -0x1p-50f},
        {0x1.fffffep-51f, 0},
        {-0x1.fffffep-51f, 0},
        {FLT_TRUE_MIN, 0},
        {-FLT_MIN, 0},
        {0, 0},
        {-0.0f, 0},
        {1, 1},
        {FLT_MAX, FLT_MAX},
        {-FLT_MAX, -FLT_MAX},
        {INFINITY, INFINITY},
        {-INFINITY, -INFINITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(flush_small(cases[i].y) == cases[i].flushed);
        assert_true(signbit(flush_small(cases[i].y)) ==
                    signbit(cases[i].flushed));
        assert_true(flush_below(cases[i].y, 0x1p-50) == cases[i].flushed);
    }
    assert_true(isnan(flush_small(NAN)) && isnan(flush_small(-NAN)));
    assert_true(isnan(flush_below((double)NAN, 0x1p-50)));
    assert_true(flush_below(0x1p-480, 0x1p-480) == 0x1p-480);
    assert_true(flush_below(-0x1.fffffffffffffp-481, 0x1p-480) == 0);
    assert_true(flush_below(DBL_TRUE_MIN, 0x1p-480) == 0);
}

#if defined(__SSE2__)

#define TINY_FLAGS ((1u << 1) | (1u << 4))   /* DE and UE */
#define TINY_MODES ((1u << 6) | (1u << 15))  /* DAZ and FTZ */
#define WHOLE (FLUSH_LEAST * (1 + 0x1p-23f)) /* with a last bit */

static void
clear_flags(void)
{
    unsigned now = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(now & ~(0x3fu | TINY_MODES));
}

static bool
saw_subnormal(void)
{
    return (__builtin_ia32_stmxcsr() & TINY_FLAGS) != 0;
}

/* The flags do show what they are trusted to show. */
static void
test_flags(void **state)
{
    volatile float small = 0x1p-100f, subnormal = 0x1p-140f, one = 1, y;
    volatile double d = 0x1.8p-1000;
    (void)state;
    clear_flags();
    y = small * one;
    assert_false(saw_subnormal());
    y = small * 0x1.234p-40f; /* a result */
    assert_true(saw_subnormal());
    clear_flags();
    y = subnormal + one; /* an operand */
    assert_true(saw_subnormal());
    clear_flags();
    y = (float)d; /* a conversion */
    assert_true(saw_subnormal());
    (void)y;
    clear_flags();
}

/* ---- Hostile numbers ----------------------------------------------------- */

/* Weights, each round another mixture: those at the edge of what opens, whose
   products are the least, those that cancel all but their last bits, and those
   that overflow. */
static float
hostile_weight(uint32_t round, uint32_t draw)
{
    static const float table[] = {FLUSH_LEAST,
                                  WHOLE,
                                  -FLUSH_LEAST,
                                  -WHOLE,
                                  0x1.8p-50f,
                                  0,
                                  0x1p-49f,
                                  -0x1.fffffep-50f,
                                  1e-10f,
                                  -1e-10f,
                                  1,
                                  -1,
                                  0x1p-25f,
                                  87,
                                  -100,
                                  3e38f,
                                  INFINITY,
                                  NAN};
    static const uint32_t from[] = {0, 0, 0, 4, 8, 0, 0, 2};
    static const uint32_t count[] = {1, 2, 5, 6, 6, 15, 18, 12};
    uint32_t kind = round % 8;
    return table[from[kind] + draw % count[kind]];
}

static uint32_t
draw_at(uint32_t at, uint32_t seed)
{
    uint32_t counter[4] = {at, 0, 0, 0}, key[2] = {seed, 2}, block[4];
    seeded_philox(counter, key, block);
    return block[0];
}

static const double hostile_numbers[] = {0,
                                         1,
                                         -1,
                                         DBL_TRUE_MIN,
                                         -DBL_MIN,
                                         0x1p-481,
                                         0x1p-480,
                                         0x1p-126,
                                         0x1p-149,
                                         -0x1p-51,
                                         0x1p-50,
                                         1e-30,
                                         1e-10,
                                         1e300,
                                         DBL_MAX,
                                         -DBL_MAX,
                                         (double)INFINITY,
                                         (double)NAN,
                                         0x1.0000000000001p-480,
                                         35};
#define NUMBERS (sizeof hostile_numbers / sizeof *hostile_numbers)

/* Opens what `spec` says and privatises `records`; true if a flag was set. */
static bool
run_shows(const struct compose_spec *spec, const struct sotto_value *records,
          size_t count)
{
    struct file file = file_make(spec);
    struct opened opened = client_open(file);
    size_t size = sotto_client_report_size(opened.client);
    uint8_t *report = malloc(size);
    bool shown = false;
    assert_non_null(report);
    tape_start(NULL, 0);
    for (size_t i = 0; i < count; i++) {
        clear_flags();
        assert_int_equal(sotto_client_privatise(opened.client,
                                                records + i * spec->columns,
                                                spec->columns, report, size),
                         SOTTO_STATUS_OK);
        shown = shown || saw_subnormal();
    }
    clear_flags();
    free(report);
    client_done(&opened);
    free(file.data);
    return shown;
}

/* Keeps only the upper halves of a layer's weights, at the end of which `half`
   points next. */
static void
keep_halves(struct layer *layer, uint16_t **half)
{
    size_t count = (size_t)layer_biases(layer) * layer_fan(layer);
    layer->bf16 = count > 0;
    layer->half = *half;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &layer->weight[i], sizeof bits);
        *(*half)++ = (uint16_t)(bits >> 16);
    }
}

/* ---- Dense networks, with every activation ------------------------------- */

#define WIDE 24u
#define DEEP 5u

static void
test_dense(void **state)
{
    static const char *const names[] = {"none", "relu", "tanh", "sigmoid"};
    static const double scales[] = {
        1, FLUSH_COLUMN_LEAST, 1e-30, 0x1p-50, 0x1p-149, 1e-100, 1e300, 0};
    static float weight[DEEP][WIDE * WIDE], bias[DEEP][WIDE];
    static uint16_t halves[DEEP * WIDE * WIDE];
    struct sotto_value records[2 * NUMBERS];
    struct schema_column columns[2] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1},
        {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1}};
    struct compose_part part = {"features", "laplace", UNITS(1), 1, 0,
                                4,          16,        {{0}},    0};
    struct layer layers[DEEP];
    struct compose_spec spec = {"h", "c",    "a",  UNITS(1), columns,
                                2,   layers, DEEP, &part,    1};
    (void)state;
    memset(layers, 0, sizeof layers);
    for (size_t i = 0; i < NUMBERS; i++) {
        records[2 * i] = value_number(hostile_numbers[i]);
        records[2 * i + 1] = value_number(hostile_numbers[(3 * i) % NUMBERS]);
    }
    for (uint32_t round = 0; round < 256; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            columns[i].scale = scales[(round + 3 * i) % 8];
            columns[i].log = (round + i) % 3 == 0;
            columns[i].shift = hostile_numbers[draw_at(i, round) % NUMBERS];
        }
        for (uint32_t l = 0; l < DEEP; l++) {
            layers[l].in = l == 0 ? 2 : WIDE;
            layers[l].out = WIDE;
            layers[l].activation =
                activation_of(names[(round / 8 + l * (round / 32)) % 4]);
            layers[l].weight = weight[l];
            layers[l].bias = bias[l];
            for (uint32_t i = 0; i < WIDE * WIDE; i++) {
                weight[l][i] = hostile_weight(round + l * (round / 64),
                                              draw_at(i, 100 * round + l));
            }
            for (uint32_t i = 0; i < WIDE; i++) {
                bias[l][i] = round % 3 == 0
                                 ? 0
                                 : hostile_weight(round, draw_at(i, round + l));
            }
        }
        if (run_shows(&spec, records, NUMBERS)) {
            fail_msg("subnormal numbers in round %u", round);
        }
        uint16_t *half = halves;
        for (uint32_t l = 0; l < DEEP; l++) {
            keep_halves(&layers[l], &half);
        }
        if (run_shows(&spec, records, NUMBERS)) {
            fail_msg("subnormal numbers of halves in round %u", round);
        }
        memset(layers, 0, sizeof layers);
    }
}

/* ---- Networks over images, with skips and both pools --------------------- */

static void
test_images(void **state)
{
    static struct net net;
    static uint16_t halves[1000];
    uint8_t bytes[4][72];
    struct sotto_value records[5];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i / 72][i % 72] = (uint8_t)(i < 72    ? 0
                                          : i < 144 ? 255
                                          : i < 216 ? i % 2
                                                    : draw_at((uint32_t)i, 1));
    }
    for (size_t i = 0; i < 5; i++) {
        records[i] = i < 4 ? value_bytes(bytes[i], 72) : value_missing();
    }
    for (uint32_t round = 0; round < 96; round++) {
        struct schema_column column = {"photo",
                                       SOTTO_COLUMN_BYTES,
                                       72,
                                       NULL,
                                       false,
                                       round % 2 == 0 ? 0 : 127.5,
                                       round % 5 == 0 ? 0x1p-57 : 1 / 127.5};
        struct compose_part part = {"features", "laplace", UNITS(1), 1, 0,
                                    4,          16,        {{0}},    0};
        struct compose_spec spec = {"h", "c",       "a", UNITS(1), &column,
                                    1,   net.layer, 5,   &part,    1};
        net_init(&net, 6, 6, 2);
        net_conv(&net, 3, 1, 1, 2, 1, round % 3 == 0 ? "none" : "relu");
        net_pool(&net, 3, 1, 1, round < 48 ? LAYER_POOL_MAX : LAYER_POOL_MEAN);
        net_conv(&net, 5, 1, 2, 2, 0, "none");
        net_conv(&net, 3, 1, 1, 2, 2, round % 2 == 0 ? "tanh" : "none");
        net_pool(&net, 2, 2, 0, LAYER_POOL_MEAN);
        for (uint32_t i = 0; i < net.used; i++) {
            net.weights[i] = hostile_weight(round, draw_at(i, round));
        }
        spec.layers = net.layers;
        if (run_shows(&spec, records, 5)) {
            fail_msg("subnormal numbers in round %u", round);
        }
        uint16_t *half = halves;
        assert_true(net.used <= sizeof halves / sizeof *halves);
        for (uint32_t i = 0; i < net.layers; i++) {
            keep_halves(&net.layer[i], &half);
        }
        if (run_shows(&spec, records, 5)) {
            fail_msg("subnormal numbers of halves in round %u", round);
        }
        free(net.weights);
    }
}

/* A mean of two numbers that cancel but for their last bits is the least that a
   pool can give, 2^-77 here: as it is, the next product would be subnormal. */
static void
test_mean(void **state)
{
    static struct net net;
    static float wide[16] = {WHOLE, -FLUSH_LEAST};
    const struct sotto_value records[] = {value_number(0), value_number(1)};
    struct schema_column column = {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0,
                                   1};
    struct compose_part part = {"features", "laplace", UNITS(1), 1, 0,
                                1,          16,        {{0}},    0};
    (void)state;
    net_init(&net, 4, 4, 1);
    net.layer[0] =
        (struct layer){1, 16, ACTIVATION_NONE, wide, net_take(&net, 16)};
    net.layers = 1;
    net_pool(&net, 4, 1, 0, LAYER_POOL_MEAN);
    net_conv(&net, 1, 1, 0, 1, 0, "none");
    for (uint32_t i = 0; i < net.used; i++) {
        net.weights[i] = i < 16 ? 0 : FLUSH_LEAST;
    }
    struct compose_spec spec = {"h", "c",       "a", UNITS(1), &column,
                                1,   net.layer, 3,   &part,    1};
    assert_false(run_shows(&spec, records, 2));
    free(net.weights);
}

/* ---- What told a bit through time ---------------------------------------- */

/*
 * One number, spread over an image; convolutions with weights that make it
 * subnormal layer by layer if it was 1, and leave zeros if it was 0. The review
 * that found it used weights of 1e-30, which no longer open: these are the
 * smallest that do.
 */
static void
test_chain(void **state)
{
    static struct net net;
    static float spread[64];
    const struct sotto_value records[] = {value_number(0), value_number(1)};
    struct schema_column column = {
        "hiv", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    struct compose_part part = {"features", "flip", UNITS(0.1),      1, 0,
                                0,          0,      {{false, 0, 2}}, 1};
    (void)state;
    net_init(&net, 8, 8, 1);
    net.layer[0] =
        (struct layer){1, 64, ACTIVATION_NONE, spread, net_take(&net, 64)};
    net.layers = 1;
    for (uint32_t i = 0; i < 4; i++) {
        net_conv(&net, 7, 1, 3, 1, 0, "none");
    }
    for (uint32_t i = 0; i < 64; i++) {
        spread[i] = FLUSH_LEAST;
    }
    for (uint32_t i = 0; i < net.used; i++) {
        net.weights[i] = FLUSH_LEAST;
    }
    memset(net.weights, 0, 64 * sizeof(float)); /* the biases */
    for (uint32_t i = 1; i < 5; i++) {
        net.weights[net.layer[i].bias - net.weights] = 0;
    }
    struct compose_spec spec = {"h", "c",       "a",        UNITS(0.1), &column,
                                1,   net.layer, net.layers, &part,      1};
    assert_false(run_shows(&spec, records, 2));
    free(net.weights);
}

#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flush_small),
#if defined(__SSE2__)
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_chain),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
