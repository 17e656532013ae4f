/*
 * test_image.c: convolutions, pools and skips against plain double loops.
 */
#include "client/image_fixture.h"

#include <inttypes.h>
#include <time.h>

/* Every number of layers gives what the plain loops give. */
static void
check_net(struct net *net)
{
    struct file file = net_file(net);
    struct opened opened = client_open(file);
    struct sotto_client *client = opened.client;
    uint32_t in = net->layer[0].in;
    uint8_t *bytes = malloc(in);
    struct sotto_value value = value_bytes(bytes, in);
    double *plain = NULL;
    assert_non_null(bytes);
    for (uint32_t i = 0; i < in; i++) {
        bytes[i] = (uint8_t)(97 * i + i / 7 * 31 + in);
    }
    for (uint32_t n = 0; n <= net->layers; n++) {
        uint32_t out = n > 0 ? net->layer[n - 1].out : in;
        schema_apply(&client->encoder, &value);
        if (plain == NULL) {
            plain = plain_run(net, client->encoder.x);
        }
        if (n == net->layers) {
            forward_run(&client->encoder);
        } else {
            forward_run_to(&client->encoder, n);
        }
        for (uint32_t i = 0; i < out; i++) {
            double expected = plain[n * IMAGE_MOST + i];
            if (fabs(client->encoder.z[i] - expected) >
                2e-5 * (1 + fabs(expected))) {
                fail_msg("layer %u, entry %u: %g, not %g", n, i,
                         (double)client->encoder.z[i], expected);
            }
        }
        device_wipe(client);
    }
    for (size_t i = 0; i < client->sizes.floats; i++) {
        assert_true(client->encoder.buffer[i] == 0);
    }
    free(plain);
    free(bytes);
    client_done(&opened);
    free(file.data);
    free(net->weights);
}

static void
test_reference(void **state)
{
    static struct net net;
    (void)state;
    net_reference(&net);
    assert_int_equal(net.layer[4].out, 1024);
    check_net(&net);
}

/* Every kernel, stride and padding of a small image, around the lanes. */
static void
test_windows(void **state)
{
    static const uint32_t channels[] = {1, 3, 5, 8, 16, 17};
    static struct net net;
    uint32_t at = 0;
    (void)state;
    for (uint32_t kernel = 1; kernel <= 5; kernel++) {
        for (uint32_t stride = 1; stride <= 3; stride++) {
            for (uint32_t pad = 0; pad < kernel; pad++, at++) {
                net_init(&net, 5, 5 + at % 3, channels[at % 6]);
                net_conv(&net, kernel, stride, pad, 1 + at % 4, 0, "tanh");
                check_net(&net);
                net_init(&net, 5 + at % 3, 5, channels[at % 6]);
                net_pool(&net, kernel, stride, pad, LAYER_POOL_MAX);
                check_net(&net);
                net_init(&net, 5 + at % 2, 6, channels[at % 6]);
                net_pool(&net, kernel, stride, pad, LAYER_POOL_MEAN);
                check_net(&net);
            }
        }
    }
}

/* The ends of the ranges. */
static void
test_ends(void **state)
{
    static struct net net;
    (void)state;
    net_init(&net, 33, 32, 2);
    net_conv(&net, 31, 16, 30, 3, 0, "none");
    check_net(&net);
    net_init(&net, 1, 1, 1);
    net_conv(&net, 31, 1, 30, 2, 0, "sigmoid");
    net_pool(&net, 31, 16, 30, LAYER_POOL_MEAN);
    check_net(&net);
    net_init(&net, 1, 700, 1);
    net_conv(&net, 1, 2, 0, 1, 0, "none");
    net_pool(&net, 1, 16, 0, LAYER_POOL_MAX);
    check_net(&net);
}

/* Skips of its own input, over two and over three layers, a pool among them,
   one behind the other. */
static void
test_skips(void **state)
{
    static struct net net;
    (void)state;
    net_init(&net, 6, 6, 2);
    net_conv(&net, 3, 1, 1, 4, 0, "relu");
    net_conv(&net, 3, 1, 1, 4, 1, "relu");
    net_conv(&net, 3, 1, 1, 4, 0, "tanh");
    net_conv(&net, 1, 1, 0, 4, 2, "none");
    net_pool(&net, 3, 1, 1, LAYER_POOL_MAX);
    net_conv(&net, 5, 1, 2, 7, 0, "sigmoid");
    net_conv(&net, 3, 1, 1, 4, 3, "relu");
    net_pool(&net, 2, 2, 0, LAYER_POOL_MEAN);
    net_dense(&net, 5, "tanh");
    check_net(&net);
}

/* Where a run stopped, and that nothing was wiped, is not seen by the next. */
static void
test_runs_in_a_row(void **state)
{
    static struct net net;
    struct file file;
    struct opened opened;
    struct sotto_client *client;
    uint8_t bytes[72];
    float first[5];
    struct sotto_value value = value_bytes(bytes, sizeof bytes);
    (void)state;
    net_init(&net, 6, 6, 2);
    net_conv(&net, 3, 1, 1, 4, 0, "relu");
    net_conv(&net, 3, 1, 1, 6, 0, "tanh");
    net_conv(&net, 3, 1, 1, 4, 2, "relu");
    net_pool(&net, 2, 2, 0, LAYER_POOL_MAX);
    net_dense(&net, 5, "tanh");
    file = net_file(&net);
    opened = client_open(file);
    client = opened.client;
    for (uint32_t n = 0; n <= net.layers; n++) {
        memset(bytes, (int)(29 * n), sizeof bytes);
        schema_apply(&client->encoder, &value);
        forward_run_to(&client->encoder, n);
        for (uint8_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = (uint8_t)(97 * i);
        }
        schema_apply(&client->encoder, &value);
        forward_run(&client->encoder);
        if (n == 0) {
            memcpy(first, client->encoder.z, sizeof first);
        }
        assert_memory_equal(first, client->encoder.z, sizeof first);
    }
    client_done(&opened);
    free(file.data);
    free(net.weights);
}

static uint32_t
below(struct seeded *seeded, uint32_t n)
{
    return random_u32(&seeded->random) % n;
}

/* A convolution that keeps height and width, and adds the input of some layer
   that no skip has reached and whose image has them too. */
static void
add_skip(struct net *net, struct seeded *seeded, size_t *open)
{
    size_t at = net->layers;
    size_t from =
        at > *open ? *open + below(seeded, (uint32_t)(at - *open)) : at;
    uint32_t height = net->height, width = net->width;
    uint32_t channels = net->channels, pad = below(seeded, 3);
    if (from < at) {
        height = net->layer[from].height;
        width = net->layer[from].width;
        channels = net->layer[from].channels;
    }
    if (height == net->height && width == net->width) {
        net_conv(net, 2 * pad + 1, 1, pad, channels, (uint32_t)(at + 1 - from),
                 "tanh");
        *open = at + 1;
    }
}

static void
add_layer(struct net *net, struct seeded *seeded, size_t *open)
{
    static const char *const activations[] = {"none", "relu", "sigmoid",
                                              "tanh"};
    uint32_t least = net->height < net->width ? net->height : net->width;
    uint32_t kernel = 1 + below(seeded, 4), pad = below(seeded, kernel);
    uint32_t stride = 1 + below(seeded, 8) / 7;
    if (least + 2 * pad < kernel) {
        return;
    }
    switch (below(seeded, 5)) {
    case 0:
        net_pool(net, kernel, stride, pad,
                 below(seeded, 2) ? LAYER_POOL_MAX : LAYER_POOL_MEAN);
        break;
    case 1:
        net_conv(net, kernel, stride, pad, 1 + below(seeded, 5), 0,
                 activations[below(seeded, 4)]);
        break;
    default:
        add_skip(net, seeded, open);
        break;
    }
}

/* Networks of any layers, with as many skips as find their place. */
static void
test_any(void **state)
{
    static struct net net;
    struct seeded seeded;
    uint32_t skips = 0;
    (void)state;
    seeded_init(&seeded, 23, 0);
    for (uint32_t i = 0; i < 150; i++) {
        size_t open = 0;
        net_init(&net, 1 + below(&seeded, 7), 1 + below(&seeded, 7),
                 1 + below(&seeded, 4));
        while (net.layers < 1 + i % 12) {
            add_layer(&net, &seeded, &open);
        }
        for (size_t j = 0; j < net.layers; j++) {
            skips += net.layer[j].from[1] > 1;
        }
        check_net(&net);
    }
    print_message("%u skips over more than one layer\n", skips);
    assert_true(skips > 60);
}

/* As many layers as a device takes, a skip over each pair. */
static void
test_deep(void **state)
{
    static struct net net;
    (void)state;
    net_init(&net, 4, 3, 2);
    for (uint32_t i = 0; i < DEVICE_LAYERS_MAX; i++) {
        net_conv(&net, 3, 1, 1, 2, i % 2 == 1 ? 2 : 0, "tanh");
    }
    check_net(&net);
}

/* One skip over more than one layer takes a third buffer, nothing else. */
static void
test_buffers(void **state)
{
    static const uint32_t skips[] = {0, 1, 2};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        static struct net net;
        struct file file;
        struct opened opened;
        net_init(&net, 4, 4, 3);
        net_conv(&net, 3, 1, 1, 5, 0, "relu");
        net_conv(&net, 3, 1, 1, skips[i] == 1 ? 5 : 3, skips[i], "relu");
        file = net_file(&net);
        opened = client_open(file);
        assert_int_equal(opened.client->sizes.width, 80);
        assert_int_equal(opened.client->sizes.floats, i == 2 ? 240 : 160);
        assert_int_equal(opened.client->sizes.work,
                         80 * 27 + net.layer[1].out * 45);
        client_done(&opened);
        free(file.data);
        free(net.weights);
    }
}

/* The largest of a window, whatever is in it: a NaN is passed over. */
static void
test_odd_floats(void **state)
{
    static const struct {
        float in[4];
        float largest;
    } cases[] = {
        {{1, 2, 3, 4}, 4},
        {{NAN, 2, 1, NAN}, 2},
        {{-INFINITY, -3, NAN, -4}, -3},
        {{INFINITY, NAN, 1, -1}, INFINITY},
        {{NAN, NAN, NAN, NAN}, -INFINITY},
        {{-INFINITY, -INFINITY, NAN, -INFINITY}, -INFINITY},
        {{-1e-45f, -2, -3, -4}, -1e-45f},
    };
    struct layer layer = {.in = 4,
                          .out = 1,
                          .kind = LAYER_POOL_MAX,
                          .image = {2, 2, 1},
                          .made = {1, 1, 1},
                          .kernel = 2,
                          .stride = 1};
    float y;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image_pool(&layer, cases[i].in, &y);
        assert_true(y == cases[i].largest);
    }
    layer.kind = LAYER_POOL_MEAN;
    image_pool(&layer, cases[0].in, &y);
    assert_true(y == 2.5f);
    image_pool(&layer, cases[1].in, &y);
    assert_true(isnan(y));
}

/* Exactly, where floats are exact: the sums are in the documented order, so
   that a large number swallows what comes after it in its lane. */
static void
test_order(void **state)
{
    float x[18], y[1];
    struct layer layer = {.in = 18,
                          .out = 1,
                          .kind = LAYER_CONV,
                          .image = {1, 18, 1},
                          .made = {1, 1, 1},
                          .kernel = 18,
                          .stride = 1};
    float w[18 * 18] = {0}, bias[] = {0.5f};
    (void)state;
    for (size_t i = 0; i < 18; i++) {
        x[i] = 1;
    }
    /* lane 0: 2^24 + 1 = 2^24 in floats; lane 1: -2^24 + 1 exactly */
    w[0] = 0x1p24f;
    w[16] = 1;
    w[1] = -0x1p24f;
    w[17] = 1;
    layer.weight = w;
    layer.bias = bias;
    layer.activation = ACTIVATION_NONE;
    image_conv(&layer, x, NULL, y);
    assert_true(y[0] == 1.5f);
    x[0] = 3;
    image_conv(&layer, x, x, y);
    assert_true(y[0] == 0x1p25f + 1 + 0.5f + 3);
}

/* NaN and infinite weights open, and reports stay valid (invariant 1). */
static void
test_hostile_weights(void **state)
{
    static const float odd[] = {NAN,    INFINITY, -INFINITY, 3.4e38f,
                                1e-45f, -0.0f,    1.0f};
    static struct net net;
    uint8_t bytes[72], report[256];
    struct sotto_value value = value_bytes(bytes, sizeof bytes);
    (void)state;
    memset(bytes, 200, sizeof bytes);
    tape_start(NULL, 0);
    for (size_t i = 0; i < 28; i++) {
        struct file file;
        struct opened opened;
        size_t size;
        net_init(&net, 6, 6, 2);
        net_conv(&net, 3, 1, 1, 2, 1, "relu");
        net_pool(&net, 2, 1, 1, i < 14 ? LAYER_POOL_MAX : LAYER_POOL_MEAN);
        net_conv(&net, 3, 2, 1, 4, 0, "tanh");
        for (size_t j = 0; j < net.used; j++) {
            net.weights[j] = odd[(i + j * (1 + i / 7)) % 7];
        }
        file = net_file(&net);
        opened = client_open(file);
        size = sotto_client_report_size(opened.client);
        assert_true(size <= sizeof report);
        assert_int_equal(
            sotto_client_privatise(opened.client, &value, 1, report, size),
            SOTTO_STATUS_OK);
        assert_true(report_valid(&opened.client->report, report, size));
        client_done(&opened);
        free(file.data);
        free(net.weights);
    }
}

/* What the reference network takes of a device: for docs/format.md. */
static void
test_cost(void **state)
{
    static struct net net;
    struct file file;
    struct opened opened;
    uint8_t bytes[784];
    struct sotto_value value = value_bytes(bytes, sizeof bytes);
    clock_t start;
    int times = 0;
    (void)state;
    net_reference(&net);
    memset(bytes, 99, sizeof bytes);
    file = net_file(&net);
    opened = client_open(file);
    start = clock();
    do {
        schema_apply(&opened.client->encoder, &value);
        forward_run(&opened.client->encoder);
        device_wipe(opened.client);
        times++;
    } while (clock() - start < CLOCKS_PER_SEC / 5);
    print_message("reference network: %.3f ms, %zu bytes of workspace, "
                  "%" PRIu64 " multiply-adds, a file of %zu bytes\n",
                  (double)(clock() - start) / CLOCKS_PER_SEC / times * 1e3,
                  opened.size, opened.client->sizes.work, file.size);
    client_done(&opened);
    free(file.data);
    free(net.weights);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_skips),
        cmocka_unit_test(test_runs_in_a_row),
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test(test_odd_floats),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_hostile_weights),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
