/*
 * timing_probe.c: makes reports under callgrind, one dump each, for
 * test_timing_callgrind.sh to compare (invariant 7).
 *
 * Counted are report_begin and report_finish: all of a report that is not the
 * encoder's;
 * schema_apply of a category, of a number, its range and its logarithm; and
 * forward_run of networks over images. x, z and the symbols are set directly,
 * to what no encoder would give. Entropy is the system's, fetched at a fixed
 * cost, so that noise differs every time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <valgrind/callgrind.h>

#include "base/decimal.h"
#include "client/device.h"
#include "compose_bytes.h"

#define DRAWS 1000
#define Z_MOST 512u
#define EPS(x) ((uint64_t)((x)*1000.0 + 0.5) * (DECIMAL_UNIT / 1000))

int
sotto_entropy(void *buffer, size_t size)
{
    return getrandom(buffer, size, 0) == (ssize_t)size ? 0 : -1;
}

/* ---- Mechanisms: a category column, z of any width, one part ------------- */

struct setting {
    const char *name;
    uint32_t symbols; /* of the column */
    uint32_t width;   /* of z */
    struct compose_part part;
};

static const struct setting settings[] = {
    {"flip-5", 5, 1, {"label", "flip", EPS(1), 1, 0, 0, 0, {{true, 0, 0}}, 1}},
    {"flip-300",
     2,
     300,
     {"label", "flip", EPS(4), 1, 0, 0, 0, {{false, 0, 300}}, 1}},
    {"flip-pair",
     5,
     7,
     {"both", "flip", EPS(2), 1, 0, 0, 0, {{true, 0, 0}, {false, 0, 7}}, 2}},
    {"subset-10",
     10,
     1,
     {"label", "subset", EPS(1), 1, 0, 0, 0, {{true, 0, 0}}, 1}},
    {"subset-60",
     2,
     60,
     {"label", "subset", EPS(0.5), 1, 0, 0, 0, {{false, 0, 60}}, 1}},
    {"subset-pair",
     3,
     6,
     {"both", "subset", EPS(2), 1, 0, 0, 0, {{true, 0, 0}, {false, 0, 6}}, 2}},
    {"subset-books",
     3,
     18,
     {"both",
      "subset",
      EPS(2),
      1,
      0,
      0,
      0,
      {{false, 0, 6}, {true, 0, 0}},
      2,
      0,
      3}},
    {"signs-10x10",
     10,
     10,
     {"both",
      "signs",
      EPS(0.1),
      1,
      0,
      0,
      0,
      {{false, 0, 10}, {true, 0, 0}},
      2}},
    {"signs-3x70",
     3,
     70,
     {"both", "signs", EPS(1), 1, 0, 0, 0, {{true, 0, 0}, {false, 0, 70}}, 2}},
    {"laplace-1",
     2,
     1,
     {"features", "laplace", EPS(1), 1, 0, 1, 4096, {{0}}, 0}},
    {"laplace-8",
     2,
     8,
     {"features", "laplace", EPS(0.001), 1, 0, 8, 1048576, {{0}}, 0}},
    {"laplace-70",
     2,
     70,
     {"features", "laplace", EPS(8), 1, 0, 70, 100, {{0}}, 0}},
    {"laplace-30x1",
     2,
     30,
     {"features", "laplace", EPS(0.1), 30, 0, 1, 50, {{0}}, 0}},
    {"duchi-8", 2, 8, {"features", "duchi", EPS(1), 1, 0, 8, 128, {{0}}, 0}},
    {"duchi-9", 2, 9, {"features", "duchi", EPS(4), 1, 0, 9, 128, {{0}}, 0}},
    /* 2^96 mod 2l is almost 2l: the last 32 bits of a draw_below fall short of
       it in one of 2,050. */
    {"duchi-odd-l",
     2,
     63,
     {"features", "duchi", EPS(1), 1, 0, 63, 1047553, {{0}}, 0}},
    {"window", 2, 1, {"features", "window", EPS(2), 1, 0, 1, 4096, {{0}}, 0}},
    {"gaussian-8",
     2,
     8,
     {"features", "gaussian", EPS(1), 1, 0, 8, 256, {{0}}, 0, 1000000}},
};

static struct sotto_client *
open_spec(const struct compose_spec *spec)
{
    struct sotto_client *client = NULL;
    uint8_t *file = NULL;
    void *workspace = NULL;
    size_t size = 0, need = 0;
    struct sotto_error err = {0};
    if (compose_bytes(spec, &file, &size, &err) != SOTTO_STATUS_OK ||
        sotto_client_size(file, size, &need, &err) != SOTTO_STATUS_OK ||
        (workspace = malloc(need)) == NULL ||
        sotto_client_open(file, size, NULL, workspace, need, &client, &err) !=
            SOTTO_STATUS_OK) {
        (void)fprintf(stderr, "%s: %s\n", spec->name, err.message);
        exit(EXIT_FAILURE);
    }
    return client;
}

static struct sotto_client *
open_setting(const struct setting *setting)
{
    static const float zeros[Z_MOST];
    static const char *const values[] = {"a", "b", "c", "d", "e",
                                         "f", "g", "h", "i"};
    struct schema_column columns[] = {
        {"c", SOTTO_COLUMN_CATEGORY, setting->symbols, values, false, 0, 1},
        {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1}};
    struct layer layer = {1, setting->width, ACTIVATION_NONE, zeros, zeros};
    struct compose_spec spec = {setting->name,  "c", "a",    EPS(32),
                                columns,        2,   &layer, 1,
                                &setting->part, 1};
    return open_spec(&spec);
}

/* ---- Records ------------------------------------------------------------ */

struct probe {
    const struct setting *setting;
    struct sotto_client *client;
    float z[Z_MOST];
    int32_t symbol;
};

/* One report, one dump named "setting record". */
static void
count(struct probe *probe, const char *record)
{
    static uint8_t report[65536];
    struct sotto_client *client = probe->client;
    char label[64];
    (void)snprintf(label, sizeof label, "%s %s", probe->setting->name, record);
    memcpy(client->encoder.z, probe->z, sizeof(float) * probe->setting->width);
    client->encoder.symbol[0] = probe->symbol;
    CALLGRIND_TOGGLE_COLLECT;
    report_begin(&client->report, &client->entropy, report);
    report_finish(&client->report, &client->entropy, report);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(label);
    if (client->entropy.random.failed ||
        !report_valid(&client->report, report, client->report.size)) {
        (void)fprintf(stderr, "%s: no report\n", label);
        exit(EXIT_FAILURE);
    }
    device_wipe(client);
}

/* What floats can be. */
static const struct {
    const char *name;
    float value;
} values[] = {
    {"0", 0.0f},
    {"-0", -0.0f},
    {"+1", 1.0f},
    {"-1", -1.0f},
    {"half", 0.5f},
    {"just-below-1", 0x1.fffffep-1f},
    {"just-above-1", 0x1.000002p0f},
    {"32", 32.0f},
    {"huge", 3.4e38f},
    {"-huge", -3.4e38f},
    {"tiny", 1e-30f},
    {"subnormal", 1e-45f},
    {"inf", INFINITY},
    {"-inf", -INFINITY},
    {"nan", NAN},
    {"-nan", -NAN},
};
#define VALUES (sizeof values / sizeof values[0])

static void
set_all(struct probe *probe, float value)
{
    for (uint32_t i = 0; i < probe->setting->width; i++) {
        probe->z[i] = value;
    }
}

/* The same number everywhere, and then alone at either end. */
static void
count_value(struct probe *probe, const char *name, float value)
{
    uint32_t last = probe->setting->width - 1;
    set_all(probe, value);
    count(probe, name);
    set_all(probe, 0);
    probe->z[0] = value;
    count(probe, name);
    set_all(probe, 0);
    probe->z[last] = value;
    count(probe, name);
}

static void
count_values(struct probe *probe)
{
    for (size_t i = 0; i < VALUES; i++) {
        count_value(probe, values[i].name, values[i].value);
    }
}

/* Every vertex of the lattice, every index of the largest. */
static void
count_vertices(struct probe *probe)
{
    for (uint32_t i = 0; i < probe->setting->width; i++) {
        set_all(probe, 0);
        probe->z[i] = 1;
        count(probe, "vertex+");
        probe->z[i] = -1;
        count(probe, "vertex-");
    }
}

static void
count_symbols(struct probe *probe)
{
    set_all(probe, 0.01f);
    for (uint32_t i = 0; i < probe->setting->symbols; i++) {
        probe->symbol = (int32_t)i;
        count(probe, "symbol");
    }
    probe->symbol = 0;
}

/* The noise's turn: many draws, at the centre and at a vertex. */
static void
count_draws(struct probe *probe)
{
    for (int i = 0; i < DRAWS; i++) {
        set_all(probe, 0);
        probe->z[0] = i % 2 == 0 ? 0.0f : 1.0f;
        count(probe, i % 2 == 0 ? "draw-centre" : "draw-vertex");
    }
}

/* From a category's text to its symbol: known, unknown, longer, none. */
static void
count_categories(struct probe *probe)
{
    static const char *const texts[] = {"a", "b", "i", "zebra", ""};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sotto_value values[2] = {
            {SOTTO_VALUE_TEXT, 0, texts[i], strlen(texts[i])},
            {SOTTO_VALUE_MISSING, 0, NULL, 0}};
        char label[64];
        (void)snprintf(label, sizeof label, "%s-category %s",
                       probe->setting->name, i == 4 ? "empty" : texts[i]);
        CALLGRIND_TOGGLE_COLLECT;
        schema_apply(&probe->client->encoder, values);
        CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(label);
        device_wipe(probe->client);
    }
}

/* A number, told as it is, as the range that it lies in, and by its logarithm.
 */
static void
count_numbers(void)
{
    static const char *const ranges[] = {"low", "middle", "high"};
    static const double edges[] = {-1, 10};
    static const struct {
        const char *name;
        struct sotto_value value;
    } cases[] = {{"low", {SOTTO_VALUE_NUMBER, -3, NULL, 0}},
                 {"edge", {SOTTO_VALUE_NUMBER, 10, NULL, 0}},
                 {"large", {SOTTO_VALUE_NUMBER, 1e300, NULL, 0}},
                 {"subnormal", {SOTTO_VALUE_NUMBER, 5e-324, NULL, 0}},
                 {"infinite", {SOTTO_VALUE_NUMBER, (double)INFINITY, NULL, 0}},
                 {"nan", {SOTTO_VALUE_NUMBER, (double)NAN, NULL, 0}},
                 {"missing", {SOTTO_VALUE_MISSING, 0, NULL, 0}},
                 {"text", {SOTTO_VALUE_TEXT, 0, "10", 2}}};
    const struct schema_column columns[] = {
        {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1, true, true},
        {.name = "y",
         .kind = SOTTO_COLUMN_BINS,
         .count = 4,
         .values = ranges,
         .edges = edges,
         .scale = 1},
        {.name = "l",
         .kind = SOTTO_COLUMN_NUMBER,
         .count = 1,
         .scale = 1,
         .log = true}};
    const struct compose_part part = {"label", "flip", EPS(1),         1, 0,
                                      0,       0,      {{true, 1, 0}}, 1};
    const struct compose_spec spec = {"numbers", "c",  "a", EPS(1), columns,
                                      3,         NULL, 0,   &part,  1};
    struct sotto_client *client = open_spec(&spec);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct sotto_value values[] = {cases[i].value, cases[i].value,
                                             cases[i].value};
        char label[64];
        (void)snprintf(label, sizeof label, "numbers %s", cases[i].name);
        CALLGRIND_TOGGLE_COLLECT;
        schema_apply(&client->encoder, values);
        CALLGRIND_TOGGLE_COLLECT;
        CALLGRIND_DUMP_STATS_AT(label);
        device_wipe(client);
    }
}

/* ---- Encoders ----------------------------------------------------------- */

#define X_SIZE 108u /* an image of 6 x 6 x 3 */

/* Convolutions, one with a skip over the other, both pools and a dense layer,
   all with this activation. */
static struct sotto_client *
open_network(enum activation activation, float *weight)
{
#define IMAGE(side, size, step, around)                                        \
    .height = side, .width = side, .channels = 3, .filters = 3,                \
    .kernel = size, .stride = step, .pad = around
    struct layer layers[] = {
        {108, 108, activation, weight, weight, LAYER_CONV, IMAGE(6, 3, 1, 1)},
        {108, 108, activation, weight, weight, LAYER_CONV, IMAGE(6, 3, 1, 1),
         .from = {0, 2}},
        {108, 27, .kind = LAYER_POOL_MAX, IMAGE(6, 2, 2, 0)},
        {27, 27, .kind = LAYER_POOL_MEAN, IMAGE(3, 3, 1, 1)},
        {27, 8, activation, weight, weight, LAYER_DENSE},
    };
#undef IMAGE
    struct schema_column column = {
        "b", SOTTO_COLUMN_BYTES, X_SIZE, NULL, false, 0, 1};
    struct compose_part part = {"features", "laplace", EPS(1), 1, 0,
                                8,          16,        {{0}},  0};
    struct compose_spec spec = {activation_name(activation),
                                "c",
                                "a",
                                EPS(1),
                                &column,
                                1,
                                layers,
                                5,
                                &part,
                                1};
    return open_spec(&spec);
}

static void
count_forward(struct sotto_client *client, const char *network,
              const char *record, const float *x)
{
    char label[64];
    (void)snprintf(label, sizeof label, "%s %s", network, record);
    memcpy(client->encoder.x, x, sizeof(float) * X_SIZE);
    CALLGRIND_TOGGLE_COLLECT;
    forward_run(&client->encoder);
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(label);
    device_wipe(client);
}

/* Each float everywhere, and alone at a place; and then any floats of each
   size, and any bits at all. */
static void
count_network(enum activation kind, const char *weights, float *weight)
{
    struct sotto_client *client = open_network(kind, weight);
    char network[32];
    (void)snprintf(network, sizeof network, "net-%s%s", activation_name(kind),
                   weights);
    float x[X_SIZE];
    for (size_t i = 0; i < 2 * VALUES; i++) {
        for (size_t j = 0; j < X_SIZE; j++) {
            x[j] =
                i % 2 == 0 || j == 7 * i % X_SIZE ? values[i / 2].value : 0.25f;
        }
        count_forward(client, network, values[i / 2].name, x);
    }
    for (int i = 0; i < 100; i++) {
        uint32_t bits[X_SIZE];
        (void)sotto_entropy(bits, sizeof bits);
        for (size_t j = 0; i < 80 && j < X_SIZE; j++) {
            x[j] = ldexpf((float)(int32_t)bits[j], i - 60);
        }
        if (i >= 80) {
            memcpy(x, bits, sizeof x);
        }
        count_forward(client, network, i < 80 ? "random" : "bits", x);
    }
}

static void
count_networks(void)
{
    static const struct {
        const char *name;
        float one, other;
    } hostile[] = {{"-tiny", 0x1p-50f, -0x1p-50f},
                   {"-large", 1e30f, -1e30f},
                   {"-zeros", -1, -1},
                   {"-mixed", 3e38f, 0x1p-50f}};
    static float weight[8 * 27];
    size_t count = sizeof weight / sizeof *weight;
    for (size_t i = 0; i < count; i++) {
        weight[i] = (float)(i * 5 % 7) - 3;
    }
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        count_network((enum activation)i, "", weight);
    }
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        for (size_t j = 0; j < count; j++) {
            weight[j] = j % 2 == 0 ? hostile[i].one : hostile[i].other;
        }
        for (int j = 0; j < ACTIVATION_COUNT; j++) {
            count_network((enum activation)j, hostile[i].name, weight);
        }
    }
}

int
main(int argc, char **argv)
{
    /* A setting's index: each runs in a process of its own. */
    size_t at = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (at >= sizeof settings / sizeof settings[0]) {
        return 2; /* there are no more */
    }
    struct probe probe = {&settings[at], open_setting(&settings[at]), {0}, 0};
    count(&probe, "warm"); /* binds what is bound lazily */
    CALLGRIND_ZERO_STATS;
    count_values(&probe);
    count_vertices(&probe);
    count_symbols(&probe);
    count_draws(&probe);
    count_categories(&probe);
    if (at == 0) {
        count_numbers();
        count_networks();
    }
    return EXIT_SUCCESS;
}
