/*
 * test_layer_read.c: reading layers over images: every rule of docs/format.md's
 * LAYER broken one at a time, at each end of each range.
 */
#include "image_fixture.h"

/* 6 x 6 x 2, 6 x 6 x 4, 4 x 4 x 4, 4 x 4 x 6, 4 x 4 x 4, 2 x 2 x 4, 5. */
static struct file
sample(struct net *net)
{
    net_init(net, 6, 6, 2);
    net_conv(net, 3, 1, 1, 4, 0, "relu");
    net_pool(net, 2, 2, 1, LAYER_POOL_MAX);
    net_conv(net, 3, 1, 1, 6, 0, "sigmoid");
    net_conv(net, 3, 1, 1, 4, 2, "tanh");
    net_pool(net, 3, 2, 1, LAYER_POOL_MEAN);
    net_dense(net, 5, "none");
    return net_file(net);
}

#define FIRST "\"image\":[6,6,2],\"out\":4,\"kernel\":3,\"stride\":1,\"pad\":1"
#define POOL "\"image\":[6,6,4],\"kernel\":2,\"stride\":2,\"pad\":1"
#define FORMAT SOTTO_STATUS_FORMAT
#define LIMIT SOTTO_STATUS_LIMIT
#define OK SOTTO_STATUS_OK

static void
test_conv(void **state)
{
    static const struct change changes[] = {
        {"[6,6,2]", "[6,6,1]", FORMAT},
        {"[6,6,2]", "[6,6,3]", FORMAT},
        {"[6,6,2]", "[6,12,1]", FORMAT}, /* its weight has another shape */
        {"[6,6,2]", "[4,9,2]", FORMAT},  /* the next layer's image has */
        {"[6,6,2]", "[0,6,2]", LIMIT},
        {"[6,6,2]", "[6,0,2]", LIMIT},
        {"[6,6,2]", "[6,6,0]", LIMIT},
        {"[6,6,2]", "[1048577,6,2]", LIMIT},
        {"[6,6,2]", "[1048576,1048576,1048576]", LIMIT},
        {"[6,6,2]", "[65536,65536,65536]", LIMIT}, /* 2^48 */
        {"[6,6,2]", "[4294967302,6,2]", LIMIT},
        {"[6,6,2]", "[6,6]", FORMAT},
        {"[6,6,2]", "[6,6,2,1]", FORMAT},
        {"[6,6,2]", "[6, 6,2]", FORMAT},
        {"[6,6,2]", "72", FORMAT},
        {FIRST, "\"image\":[6,6,2],\"out\":5,\"kernel\":3,\"stride\":1",
         FORMAT},
        {"\"out\":4", "\"out\":0", LIMIT},
        {"\"out\":4", "\"out\":29128", LIMIT}, /* times 36 is above 2^20 */
        {"\"out\":4", "\"out\":1048577", LIMIT},
        {"\"kernel\":3", "\"kernel\":0", LIMIT},
        {"\"kernel\":3", "\"kernel\":32", LIMIT},
        {"\"kernel\":3", "\"kernel\":9", FORMAT}, /* 6 + 2 is less */
        {"\"kernel\":3", "\"kernel\":1", FORMAT}, /* not above its pad */
        {"\"stride\":1", "\"stride\":0", LIMIT},
        {"\"stride\":1", "\"stride\":17", LIMIT},
        {"\"stride\":1", "\"stride\":2", FORMAT}, /* the next one's image */
        {"\"pad\":1", "\"pad\":3", FORMAT},
        {"\"pad\":1", "\"pad\":32", LIMIT},
        {"\"pad\":1", "\"pad\":-1", FORMAT},
        {"\"pad\":1", "\"pad\":2", FORMAT},
        {"\"pad\":1,\"skip\":0", "\"skip\":0,\"pad\":1", FORMAT},
        {",\"skip\":0", "", FORMAT},
        {"\"relu\"", "\"none\"", OK},
        {"\"relu\"", "\"leaky\"", FORMAT},
        {"\"conv\"", "\"conv2\"", FORMAT},
        {"\"conv\"", "\"dense\"", FORMAT},
        {"\"conv\"", "\"pool\"", FORMAT},
        {"\"activation\":\"relu\"", "\"activation\":\"relu\",\"x\":1", FORMAT},
    };
    static struct net net;
    struct file file = sample(&net);
    (void)state;
    CHECK(file, changes);
    free(file.data);
    free(net.weights);
}

static void
test_pool(void **state)
{
    static const struct change changes[] = {
        {"\"max\"", "\"mean\"", OK},
        {"\"mean\"", "\"max\"", OK},
        {"\"max\"", "\"least\"", FORMAT},
        {"\"max\"", "\"\"", FORMAT},
        {"\"max\"", "max", FORMAT},
        {"\"of\":\"max\"", "\"of\":\"max\",\"skip\":0", FORMAT},
        {"\"of\":\"max\"", "\"activation\":\"relu\"", FORMAT},
        {",\"of\":\"max\"", "", FORMAT},
        {"[6,6,4]", "[6,4,6]", FORMAT}, /* not the image that came out */
        {"[6,6,4]", "[1,144,1]", FORMAT},
        {POOL, "\"image\":[6,6,4],\"kernel\":3,\"stride\":2,\"pad\":1", FORMAT},
        {POOL, "\"image\":[6,6,4],\"kernel\":4,\"stride\":2,\"pad\":2", OK},
        {POOL, "\"image\":[6,6,4],\"kernel\":2,\"stride\":2,\"pad\":2", FORMAT},
        {POOL, "\"image\":[6,6,4],\"kernel\":31,\"stride\":2,\"pad\":12",
         FORMAT}, /* larger than its image */
        {POOL, "\"image\":[6,6,4],\"kernel\":31,\"stride\":16,\"pad\":30",
         FORMAT}, /* 3 x 3, not 4 x 4 */
        {POOL, "\"image\":[6,6,4],\"kernel\":31,\"stride\":9,\"pad\":26", OK},
    };
    static struct net net;
    struct file file = sample(&net);
    (void)state;
    CHECK(file, changes);
    free(file.data);
    free(net.weights);
}

static void
test_skip(void **state)
{
    static const struct change changes[] = {
        {"\"skip\":2", "\"skip\":0", OK},
        {"\"skip\":2", "\"skip\":1", FORMAT}, /* 4 x 4 x 6 */
        {"\"skip\":2", "\"skip\":3", FORMAT}, /* 6 x 6 x 4 */
        {"\"skip\":2", "\"skip\":4", FORMAT}, /* 6 x 6 x 2 */
        {"\"skip\":2", "\"skip\":5", FORMAT}, /* before the first layer */
        {"\"skip\":2", "\"skip\":64", FORMAT},
        {"\"skip\":2", "\"skip\":65", LIMIT},
        {"\"skip\":2", "\"skip\":4294967298", LIMIT},
        {"\"skip\":2", "\"skip\":-1", FORMAT},
        {"\"skip\":0", "\"skip\":1", FORMAT}, /* 6 x 6 x 2 */
        {"\"skip\":0", "\"skip\":2", FORMAT},
    };
    static struct net net;
    struct file file = sample(&net);
    (void)state;
    CHECK(file, changes);
    free(file.data);
    free(net.weights);
}

/* Five convolutions of one shape with the given skips. */
static enum sotto_status
try_skips(const uint32_t skips[5], struct sotto_error *err)
{
    static struct net net;
    enum sotto_status status;
    net_init(&net, 3, 3, 2);
    for (size_t i = 0; i < 5; i++) {
        net_conv(&net, 3, 1, 1, 2, skips[i], "relu");
    }
    poison(err);
    status = net_open_1(&net, err);
    free(net.weights);
    return status;
}

/* No layer lies under two skips. */
static void
test_skips_in_a_row(void **state)
{
    static const struct {
        uint32_t skips[5];
        bool good;
    } cases[] = {
        {{0, 2, 0, 2, 1}, true},  {{1, 1, 1, 1, 1}, true},
        {{0, 0, 0, 0, 5}, true},  {{1, 0, 0, 0, 4}, true},
        {{0, 2, 2, 0, 0}, false}, {{0, 0, 3, 0, 3}, false},
        {{1, 0, 0, 0, 5}, false}, {{0, 1, 2, 0, 0}, false},
        {{0, 0, 0, 0, 6}, false}, {{2, 0, 0, 0, 0}, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_error err;
        enum sotto_status status = try_skips(cases[i].skips, &err);
        assert_int_equal(status,
                         cases[i].good ? SOTTO_STATUS_OK : SOTTO_STATUS_FORMAT);
        if (!cases[i].good) {
            assert_non_null(strstr(err.message, "skip of the encoder"));
        }
    }
}

/* A dense layer's input is no image, even of as many entries: version 1 has no
   skip of it. */
static void
test_skip_of_dense(void **state)
{
    static struct net net;
    struct file file = {NULL, 0};
    struct sotto_error err;
    (void)state;
    net_init(&net, 3, 3, 2);
    net_dense(&net, 18, "relu");
    net.height = 3;
    net.width = 3;
    net.channels = 2;
    net_conv(&net, 3, 1, 1, 2, 0, "relu");
    file = net_file(&net);
    free(file.data);
    file.data = NULL;
    net.layer[1].from[1] = 2;
    poison(&err);
    assert_int_equal(net_open_1(&net, &err), SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(err.message, "different shapes"));
    poison(&err); /* only version 2 can say it */
    assert_int_equal(net_compose(&net, &file, &err), SOTTO_STATUS_OK);
    assert_non_null(strstr((const char *)file.data + 8, "\\\"sotto\\\":2"));
    free(file.data);
    free(net.weights);
}

/* One layer more than a device takes. */
static void
test_too_many(void **state)
{
    static struct net net;
    struct file file = {NULL, 0};
    struct sotto_error err;
    (void)state;
    net_init(&net, 2, 2, 1);
    for (uint32_t i = 0; i <= DEVICE_LAYERS_MAX; i++) {
        net_pool(&net, 1, 1, 0, LAYER_POOL_MAX);
    }
    poison(&err);
    assert_int_equal(net_compose(&net, &file, &err), SOTTO_STATUS_LIMIT);
    net.layers--;
    file = net_file(&net);
    free(file.data);
    free(net.weights);
}

/* 2^32 multiply-adds are the most: 64 pools of 2^16 entries and 32 x 32 places
   would be, but for the window's 31; so dense layers make up the rest. */
static void
test_work(void **state)
{
    static struct net net;
    struct file file = {NULL, 0};
    struct sotto_error err;
    uint64_t work = 0;
    (void)state;
    net_init(&net, 256, 256, 1);
    for (uint32_t i = 0; i < DEVICE_LAYERS_MAX; i++) {
        net_pool(&net, 31, 1, 15, LAYER_POOL_MEAN);
        work += UINT64_C(65536) * 961;
    }
    assert_true(work < DEVICE_WORK_MAX);
    file = net_file(&net);
    free(file.data);
    file.data = NULL;
    free(net.weights);
    net_init(&net, 512, 256, 1);
    for (uint32_t i = 0; i < DEVICE_LAYERS_MAX; i++) {
        net_pool(&net, 31, 1, 15, LAYER_POOL_MEAN);
    }
    poison(&err);
    assert_int_equal(net_compose(&net, &file, &err), SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, "too many multiplications"));
    free(net.weights);
}

/* The tensors are the manifest's: another shape, order or number is refused. */
static void
test_tensors(void **state)
{
    static const char *const lies[][2] = {
        {"\"shape\":[4,3,3,2]", "\"shape\":[4,2,3,3]"},
        {"\"shape\":[4,3,3,2]", "\"shape\":[4,18]"},
        {"\"shape\":[4,3,3,2]", "\"shape\":[72]"},
        {"\"shape\":[4,3,3,2]", "\"shape\":[4,3,3,2,1]"},
        {"\"shape\":[4,3,3,2]", "\"shape\":[4,3,3,3]"},
        {"encoder.2.weight", "encoder.1.weight"},
        {"encoder.5.weight", "encoder.4.weight"},
    };
    static struct net net;
    struct file file = sample(&net);
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct sotto_error err;
        size_t place;
        struct file forged = forge(file, lies[i][0], lies[i][1], false, &place);
        poison(&err);
        assert_int_equal(try_open(forged, NULL, &err), SOTTO_STATUS_FORMAT);
        check_error(&err, SOTTO_STATUS_FORMAT, forged.size);
        free(forged.data);
    }
    free(file.data);
    free(net.weights);
}

/* Work is what its layers say; above 2^28 only who asks for it gets it. */
static void
test_work_allowed(void **state)
{
    const uint64_t work = 2 * UINT64_C(512) * 512 * 31 * 31;
    struct net net;
    struct sotto_client *client;
    struct sotto_error err;
    size_t need;
    (void)state;
    net_init(&net, 512, 512, 1);
    net_conv(&net, 31, 1, 15, 1, 0, "none");
    net_conv(&net, 31, 1, 15, 1, 0, "none");
    struct file file = net_file(&net);
    assert_int_equal(sotto_client_size(file.data, file.size, &need, NULL),
                     SOTTO_STATUS_OK);
    void *workspace = malloc(need);
    assert_non_null(workspace);
    poison(&err);
    assert_int_equal(sotto_client_open(file.data, file.size, NULL, workspace,
                                       need, &client, &err),
                     SOTTO_STATUS_LIMIT);
    check_error(&err, SOTTO_STATUS_LIMIT, file.size);
    assert_int_equal(sotto_client_open_work(file.data, file.size, NULL,
                                            workspace, need, work - 1, &client,
                                            NULL),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(sotto_client_open_work(file.data, file.size, NULL,
                                            workspace, need, work, &client,
                                            NULL),
                     SOTTO_STATUS_OK);
    free(workspace);
    free(file.data);
    free(net.weights);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_allowed),
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_skips_in_a_row),
        cmocka_unit_test(test_skip_of_dense),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
