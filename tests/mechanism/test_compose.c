/*
 * test_compose.c: putting a mechanism file together.
 */
#include "mechanism_fixture.h"

#include "client/device.h"
#include "compose_bytes.h"
#include "fail_alloc.h"

static struct sotto_error err;

static enum sotto_status
compose(const struct compose_spec *spec)
{
    uint8_t mark = 0, *data = &mark;
    size_t size = 12345;
    enum sotto_status status;
    memset(&err, 0xa5, sizeof err);
    status = compose_bytes(spec, &data, &size, &err);
    if (status == SOTTO_STATUS_OK) {
        free(data);
    } else {
        assert_ptr_equal(data, &mark);
        assert_int_equal(size, 12345);
        assert_int_equal(err.status, status);
    }
    return status;
}

/* A safetensors file: length, header of that length, eight-byte steps. */
static void
test_layout(void **state)
{
    uint8_t *data = NULL, *again = NULL;
    size_t size = 0, again_size = 0;
    (void)state;
    assert_int_equal(compose_bytes(&fixture_plain, &data, &size, &err),
                     SOTTO_STATUS_OK);
    size_t header = (size_t)data[0] | (size_t)data[1] << 8;
    assert_int_equal(header % 8, 0);
    assert_memory_equal(data + 8, "{\"__metadata__\":{\"sotto\":\"{\\\"sotto",
                        33);
    static const char text[] = "age\0pixels\0colour\0blue\0green\0red\0label\0"
                               "no\0yes";
    assert_int_equal(size, 8 + header + 2 * 4 * 8 + sizeof text);
    assert_memory_equal(data + size - sizeof text, text, sizeof text);
    assert_int_equal(compose_bytes(&fixture_plain, &again, &again_size, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, data, size);
    free(data);
    free(again);
    assert_int_equal(compose(&fixture_encoded), SOTTO_STATUS_OK);
}

/* Weights of layers over images have four sides; a pool has none. */
static void
test_images(void **state)
{
    static const char *const entries[] = {
        "\"encoder.0.weight\":{\"dtype\":\"F32\",\"shape\":[2,3,3,1],"
        "\"data_offsets\":[32,104]},\"encoder.0.bias\":{\"dtype\":\"F32\","
        "\"shape\":[2],\"data_offsets\":[104,112]},\"encoder.2.weight\":{"
        "\"dtype\":\"F32\",\"shape\":[2,1,1,2],",
        "\"encoder.4.weight\":{\"dtype\":\"F32\",\"shape\":[3,2],",
        "{\\\"kind\\\":\\\"conv\\\",\\\"image\\\":[4,4,1],\\\"out\\\":2,"
        "\\\"kernel\\\":3,\\\"stride\\\":2,\\\"pad\\\":1,\\\"skip\\\":0,"
        "\\\"activation\\\":\\\"relu\\\"},{\\\"kind\\\":\\\"pool\\\","
        "\\\"image\\\":[2,2,2],\\\"kernel\\\":3,\\\"stride\\\":1,"
        "\\\"pad\\\":1,\\\"of\\\":\\\"max\\\"}",
    };
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(compose_bytes(&fixture_image, &data, &size, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        assert_non_null(memmem(data, size, entries[i], strlen(entries[i])));
    }
    free(data);
}

/* What training gave and no device takes is written as 0, and only that. */
static void
test_small_numbers(void **state)
{
    static const float weight[] = {0x1.fffffep-51f, -1e-30f, 0x1p-50f, -0.0f};
    static const float kept[] = {0, 0, 0x1p-50f, -0.0f};
    static const float bias[] = {1e-45f, -1};
    static const struct schema_column columns[] = {
        {"a", SOTTO_COLUMN_NUMBER, 1, NULL, false, -1e-200, 1e-300},
        {"b", SOTTO_COLUMN_NUMBER, 1, NULL, false, 2, -0x1p-480}};
    static const struct layer layer = {2, 2, ACTIVATION_NONE, weight, bias};
    static const struct compose_part part = {
        "features", "laplace", DECIMAL_UNIT, 1, 0, 2, 16, {{0}}, 0};
    static const struct compose_spec spec = {
        "s", "c", "a", DECIMAL_UNIT, columns, 2, &layer, 1, &part, 1};
    struct sotto_mechanism *mechanism = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(compose_bytes(&spec, &data, &size, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_mechanism_parse(data, size, "m", &mechanism, &err),
                     SOTTO_STATUS_OK);
    const struct sotto_client *client = mechanism->client;
    assert_memory_equal(client->encoder.layer[0].weight, kept, sizeof kept);
    assert_true(client->encoder.layer[0].bias[0] == 0);
    assert_true(client->encoder.layer[0].bias[1] == -1);
    assert_true(client->encoder.shift[0] == 0 &&
                client->encoder.scale[0] == 0x1p-480);
    assert_true(client->encoder.shift[1] == 2 &&
                client->encoder.scale[1] == -0x1p-480);
    sotto_mechanism_free(mechanism);
    free(data);
}

static void
test_titles(void **state)
{
    static const char *const bad[] = {"a\"b", "a\\b", "a\nb", "\xc3\xa4",
                                      "\x7f"};
    char name[122];
    struct compose_spec spec;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spec = fixture_plain;
        spec.name = bad[i];
        assert_int_equal(compose(&spec), SOTTO_STATUS_USAGE);
        fixture_in(err.message, "the name may hold plain ASCII");
        assert_int_equal(err.position, i < 3 ? 1 : 0);
        spec = fixture_plain;
        spec.campaign = bad[i];
        assert_int_equal(compose(&spec), SOTTO_STATUS_USAGE);
        fixture_in(err.message, "the campaign");
        spec = fixture_plain;
        spec.auxiliary = bad[i];
        assert_int_equal(compose(&spec), SOTTO_STATUS_USAGE);
        fixture_in(err.message, "the note on auxiliary data");
    }
    memset(name, 'n', sizeof name);
    name[121] = '\0';
    spec = fixture_plain;
    spec.name = name;
    assert_int_equal(compose(&spec), SOTTO_STATUS_USAGE);
    assert_int_equal(err.position, 120);
    name[120] = '\0';
    assert_int_equal(compose(&spec), SOTTO_STATUS_OK);
}

/* What no device takes is not written. */
static void
test_refused(void **state)
{
    struct compose_part part = fixture_plain_part[0];
    struct compose_spec spec = fixture_plain;
    (void)state;
    spec.part = &part;
    spec.parts = 1;
    assert_int_equal(compose(&spec), SOTTO_STATUS_OK);
    part.blocks = 4; /* of three entries */
    assert_int_equal(compose(&spec), SOTTO_STATUS_FORMAT);
    fixture_in(err.message, "'the new mechanism' is not a usable mechanism");
    part.blocks = 3;
    assert_int_equal(compose(&spec), SOTTO_STATUS_OK);
    spec.eps = 6 * DECIMAL_UNIT - 1;
    assert_int_equal(compose(&spec), SOTTO_STATUS_BUDGET);
    spec.eps = 33 * DECIMAL_UNIT;
    assert_int_equal(compose(&spec), SOTTO_STATUS_BUDGET);
    spec = fixture_plain;
    spec.parts = 0;
    assert_int_equal(compose(&spec), SOTTO_STATUS_FORMAT);
    spec = fixture_plain;
    spec.part = &part;
    spec.parts = 1;
    part = fixture_plain_part[0];
    part.channel = "shout";
    assert_int_equal(compose(&spec), SOTTO_STATUS_FORMAT);
    part.channel = "laplace";
    part.covers = "nothing";
    assert_int_equal(compose(&spec), SOTTO_STATUS_FORMAT);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = compose(&fixture_encoded);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_string_equal(err.message, "out of memory");
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),        cmocka_unit_test(test_images),
        cmocka_unit_test(test_small_numbers), cmocka_unit_test(test_titles),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
