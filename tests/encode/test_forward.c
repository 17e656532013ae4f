/*
 * test_forward.c: the encoder's forward pass against a plain double loop and
 * the C library's functions.
 */
#include "client/client_fixture.h"

#include <math.h>

typedef double plain_function(double);

static double
plain_none(double x)
{
    return x;
}

static double
plain_relu(double x)
{
    return x > 0 ? x : 0;
}

static double
plain_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static const struct {
    const char *name;
    plain_function *plain;
} activations[] = {
    {"none", plain_none},
    {"relu", plain_relu},
    {"sigmoid", plain_sigmoid},
    {"tanh", tanh},
};

static plain_function *
plain_named(const char *name)
{
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(name, activations[i].name) == 0) {
            return activations[i].plain;
        }
    }
    return NULL;
}

/* y = activation(W x + b), layer by layer, in doubles. */
static void
run_plainly(const struct layer *layers, size_t count, double *x)
{
    double y[512];
    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = &layers[i];
        for (uint32_t j = 0; j < layer->out; j++) {
            double sum = layer->bias[j];
            for (uint32_t k = 0; k < layer->in; k++) {
                sum += (double)layer->weight[j * layer->in + k] * x[k];
            }
            y[j] = plain_named(activation_name(layer->activation))(sum);
        }
        memcpy(x, y, sizeof(double) * layer->out);
    }
}

static void
test_everything(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value values[4];
    double z[16];
    (void)state;
    everything_record(values);
    for (int age = -200; age < 300; age += 7) {
        values[0] = value_number(age);
        schema_apply(&opened.client->encoder, values);
        for (size_t i = 0; i < EVERYTHING_INPUTS; i++) {
            z[i] = opened.client->encoder.x[i];
        }
        run_plainly(everything_layers, 4, z);
        forward_run(&opened.client->encoder);
        for (size_t i = 0; i < 7; i++) {
            assert_true(fabs(opened.client->encoder.z[i] - z[i]) < 1e-5);
        }
        device_wipe(opened.client);
    }
    client_done(&opened);
    free(file.data);
}

/* One layer of every width around the kernel's sixteen lanes. */
static void
check_width(uint32_t in, uint32_t out, const char *activation)
{
    static float weight[70 * 70], bias[70];
    struct layer layer = {in, out, activation_of(activation), weight, bias};
    struct schema_column column = {"b",   SOTTO_COLUMN_BYTES, in, NULL, false,
                                   127.5, 1 / 127.5};
    struct compose_part part = {"features", "laplace", UNITS(1), 1, 0,
                                out,        16,        {{0}},    0};
    struct compose_spec spec = {"w", "c",    "a", UNITS(1), &column,
                                1,   &layer, 1,   &part,    1};
    struct file file;
    struct opened opened;
    uint8_t bytes[70];
    double z[512];
    struct sotto_value value = value_bytes(bytes, in);
    fill_weights(weight, (size_t)in * out, in);
    fill_weights(bias, out, out);
    for (uint32_t i = 0; i < in; i++) {
        bytes[i] = (uint8_t)(37 * i + in);
    }
    file = file_make(&spec);
    opened = client_open(file);
    schema_apply(&opened.client->encoder, &value);
    for (uint32_t i = 0; i < in; i++) {
        z[i] = opened.client->encoder.x[i];
    }
    run_plainly(&layer, 1, z);
    forward_run(&opened.client->encoder);
    for (uint32_t i = 0; i < out; i++) {
        assert_true(fabs(opened.client->encoder.z[i] - z[i]) <
                    1e-5 * (1 + fabs(z[i])));
    }
    client_done(&opened);
    free(file.data);
}

static void
test_widths(void **state)
{
    static const uint32_t widths[] = {1,  2,  3,  7,  8,  15, 16,
                                      17, 31, 32, 33, 63, 65, 70};
    const size_t count = sizeof widths / sizeof widths[0];
    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 4; j++) {
            check_width(widths[i], widths[(5 * i + j) % count],
                        activations[j].name);
        }
    }
}

/* Without layers, z is x. */
static void
test_no_encoder(void **state)
{
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    static const struct compose_part part = {
        "features", "laplace", UNITS(1), 1, 0, 1, 16, {{0}}, 0};
    static const struct compose_spec spec = {"s", "c",  "a", UNITS(1), &column,
                                             1,   NULL, 0,   &part,    1};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    struct sotto_value value = value_number(0.375);
    (void)state;
    schema_apply(&opened.client->encoder, &value);
    forward_run(&opened.client->encoder);
    assert_true(opened.client->encoder.z[0] == 0.375f);
    client_done(&opened);
    free(file.data);
}

/* What a layer that names it has behind its sum; NULL: it is refused. */
static float (*find(const char *name))(float)
{
    char text[120];
    struct reader reader;
    struct layer layer;
    int size = snprintf(text, sizeof text,
                        "{\"kind\":\"dense\",\"in\":1,\"out\":1,"
                        "\"activation\":\"%s\"}",
                        name);
    reader_init(&reader, (const uint8_t *)text, (size_t)size);
    layer = layer_read(&reader, 1, 0);
    return reader.status == SOTTO_STATUS_OK
               ? forward_activation(layer.activation)
               : NULL;
}

static void
test_activations(void **state)
{
    (void)state;
    assert_null(find(""));
    assert_null(find("rel"));
    assert_null(find("relu6"));
    assert_null(find("RELU"));
    for (size_t i = 0; i < 4; i++) {
        float (*function)(float) = find(activations[i].name);
        assert_non_null(function);
        for (double x = -120; x < 120; x += 0.0371) {
            double expected = activations[i].plain((float)x);
            assert_true(fabs(function((float)x) - expected) <=
                        6e-8 * fabs(expected) + 1e-15);
        }
    }
}

/* Nothing comes out but a float, whatever goes in: no trap, no endless loop. */
static void
test_activations_at_the_ends(void **state)
{
    (void)state;
    assert_true(find("tanh")(INFINITY) == 1);
    assert_true(find("tanh")(-INFINITY) == -1);
    assert_true(find("tanh")(3e38f) == 1);
    assert_true(find("tanh")(-3e38f) == -1);
    assert_true(isnan(find("tanh")(NAN)));
    assert_true(find("sigmoid")(INFINITY) == 1);
    assert_true(find("sigmoid")(-INFINITY) == 0);
    assert_true(find("sigmoid")(3e38f) == 1);
    assert_true(find("sigmoid")(-3e38f) == 0);
    assert_true(isnan(find("sigmoid")(NAN)));
    assert_true(find("relu")(INFINITY) == INFINITY);
    assert_true(find("relu")(-INFINITY) == 0);
    assert_true(find("relu")(NAN) == 0);
    assert_true(find("none")(-0.0f) == 0);
}

/* NaN and infinite weights open, and reports stay valid (invariant 1). */
static void
test_hostile_weights(void **state)
{
    static const float odd[] = {NAN,     -NAN,   INFINITY, -INFINITY,
                                3.4e38f, 1e-45f, -0.0f,    1.0f};
    struct sotto_value values[4];
    (void)state;
    everything_record(values);
    tape_start(NULL, 0);
    for (uint32_t i = 0; i < 64; i++) {
        struct file file;
        struct opened opened;
        (void)everything(); /* resets the weights */
        for (size_t j = 0; j < 64; j++) {
            everything_weight[i % 4][j] = odd[(i + j * (1 + i / 8)) % 8];
            everything_bias[(i + 1) % 4][j % 8] = odd[(i + j / 3) % 8];
        }
        {
            struct compose_spec spec = {"hostile",
                                        "tests",
                                        "none",
                                        UNITS(4),
                                        everything_columns,
                                        4,
                                        everything_layers,
                                        4,
                                        everything_parts,
                                        4};
            file = file_make(&spec);
        }
        opened = client_open(file);
        for (size_t j = 0; j < 20; j++) {
            uint8_t report[64];
            assert_int_equal(sotto_client_privatise(opened.client, values, 4,
                                                    report, sizeof report),
                             SOTTO_STATUS_OK);
            assert_true(
                report_valid(&opened.client->report, report, sizeof report));
        }
        client_done(&opened);
        free(file.data);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_no_encoder),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_activations_at_the_ends),
        cmocka_unit_test(test_hostile_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
