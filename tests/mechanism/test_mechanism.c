/*
 * test_mechanism.c: an opened mechanism on a host, and the facts in it.
 */
#include "mechanism_fixture.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <sodium.h>

#include "client/device.h"
#include "fail_alloc.h"

static struct sotto_error err;

static void
test_info(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *encoded = fixture_open(&fixture_encoded);
    struct sotto_mechanism_info info;
    uint8_t hash[SOTTO_HASH_SIZE];
    char text[2 * SOTTO_HASH_SIZE + 1];
    (void)state;
    sotto_mechanism_info(plain, &info);
    assert_string_equal(info.name, "plain");
    assert_string_equal(info.campaign, "spring");
    assert_string_equal(info.auxiliary, "not used");
    assert_string_equal(info.eps_text, "7");
    assert_true(info.eps == 7);
    assert_true(info.eps_features == 6.1); /* 2 + 1 + 0.1 + both 3 */
    assert_true(info.eps_label == 3);
    assert_int_equal(info.columns, 4);
    assert_int_equal(info.layers, 0);
    assert_int_equal(info.weights, 0);
    assert_int_equal(info.parts, 4);
    assert_int_equal(info.report_size,
                     sotto_client_report_size(sotto_mechanism_client(plain)));
    crypto_generichash(hash, sizeof hash, plain->data, plain->size, NULL, 0);
    (void)sodium_bin2hex(text, sizeof text, hash, sizeof hash);
    assert_string_equal(info.hash, text);
    sotto_mechanism_info(encoded, &info);
    assert_int_equal(info.layers, 1);
    assert_int_equal(info.weights, 12);
    assert_int_equal(info.work, 9);
    sotto_mechanism_free(plain);
    sotto_mechanism_free(encoded);
    sotto_mechanism_free(NULL);
}

/* An analyst can open what a device refuses, and make no report with it. */
static void
test_uneven(void **state)
{
    struct sotto_mechanism *mechanism = fixture_open(&fixture_encoded);
    const struct sotto_client *client = mechanism->client;
    const float small = 1e-30f;
    size_t at = (size_t)((const uint8_t *)client->encoder.layer[0].weight -
                         client->mechanism);
    struct sotto_mechanism *uneven = NULL;
    struct sotto_mechanism_info info;
    struct sotto_value values[8] = {{0}};
    uint8_t report[512], empty[sizeof report] = {0};
    char *text = NULL;
    (void)state;
    assert_int_equal(sotto_mechanism_check(mechanism, &err), SOTTO_STATUS_OK);
    memcpy(mechanism->data + at, &small, sizeof small);
    assert_int_equal(sotto_mechanism_parse(mechanism->data, mechanism->size,
                                           "m", &uneven, &err),
                     SOTTO_STATUS_OK);
    sotto_mechanism_info(uneven, &info);
    assert_true(info.uneven);
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_mechanism_check(uneven, &err), SOTTO_STATUS_FORMAT);
    assert_int_equal(err.status, SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(err.message, "so small"));
    assert_true(info.columns <= 8 && info.report_size <= sizeof report);
    memset(report, 0xa5, sizeof report);
    assert_int_equal(sotto_client_privatise(uneven->client, values,
                                            info.columns, report,
                                            info.report_size),
                     SOTTO_STATUS_FORMAT);
    assert_memory_equal(report, empty, info.report_size);
    assert_int_equal(sotto_mechanism_describe(uneven, false, &text, &err),
                     SOTTO_STATUS_OK);
    assert_non_null(strstr(text, "DEVICES REFUSE THIS FILE"));
    free(text);
    sotto_mechanism_free(uneven);
    sotto_mechanism_free(mechanism);
}

static void
test_columns(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_column_info info;
    (void)state;
    sotto_mechanism_column(plain, 0, &info);
    assert_string_equal(info.name, "age");
    assert_int_equal(info.kind, SOTTO_COLUMN_NUMBER);
    assert_int_equal(info.count, 1);
    assert_true(fabs(info.low - 18) < 1e-12 && fabs(info.high - 90) < 1e-12);
    sotto_mechanism_column(plain, 1, &info);
    assert_int_equal(info.kind, SOTTO_COLUMN_BYTES);
    assert_int_equal(info.count, 2);
    assert_true(fabs(info.low) < 1e-12 && fabs(info.high - 255) < 1e-12);
    sotto_mechanism_column(plain, 2, &info);
    assert_int_equal(info.kind, SOTTO_COLUMN_CATEGORY);
    assert_int_equal(info.count, 4);
    assert_string_equal(sotto_mechanism_category(plain, 2, 0), "blue");
    assert_string_equal(sotto_mechanism_category(plain, 2, 2), "red");
    assert_string_equal(sotto_mechanism_category(plain, 2, 3), "(other)");
    assert_string_equal(sotto_mechanism_category(plain, 2, SIZE_MAX - 1),
                        "(other)");
    assert_string_equal(sotto_mechanism_category(plain, 0, 0), "(other)");
    sotto_mechanism_free(plain);
}

static void
test_parts(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_part_info info;
    size_t sum = REPORT_HEADER_SIZE;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        static const char *const channels[] = {"laplace", "laplace", "subset",
                                               "flip"};
        static const size_t sizes[] = {1, 2, 4, 12};
        sotto_mechanism_part(plain, i, &info);
        assert_string_equal(info.channel, channels[i]);
        assert_string_equal(info.covers, i < 3 ? "features" : "both");
        assert_int_equal(info.size, sizes[i]);
        assert_int_equal(info.blocks, 1);
        assert_true(info.eps_exact <= info.eps);
        assert_true(info.eps_exact > info.eps * 0.999999);
        assert_true(info.deviation > 0);
        assert_non_null(info.promise);
        assert_int_equal(shape_offset(&plain->shape, i, 0), sum);
        sum += info.wire_size;
    }
    assert_int_equal(sum, plain->shape.report_size);
    sotto_mechanism_free(plain);
}

static void
test_source(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *encoded = fixture_open(&fixture_encoded);
    (void)state;
    assert_int_equal(sotto_mechanism_find(plain, "colour"), 2);
    assert_true(sotto_mechanism_find(plain, "col") == SIZE_MAX);
    assert_int_equal(mechanism_source(plain, 0), 0);
    assert_true(mechanism_source(plain, 1) == SIZE_MAX); /* a pixel */
    assert_true(mechanism_source(plain, 3) == SIZE_MAX); /* beyond x */
    assert_true(mechanism_source(encoded, 0) == SIZE_MAX);
    sotto_mechanism_free(plain);
    sotto_mechanism_free(encoded);
}

static void
test_part_column(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *encoded = fixture_open(&fixture_encoded);
    (void)state;
    assert_int_equal(sotto_mechanism_part_column(plain, 0, 0), 0);     /* age */
    assert_true(sotto_mechanism_part_column(plain, 1, 0) == SIZE_MAX); /* d 2 */
    assert_int_equal(sotto_mechanism_part_column(plain, 2, 0), 2); /* colour */
    assert_true(sotto_mechanism_part_column(plain, 3, 0) == SIZE_MAX); /* two */
    assert_true(sotto_mechanism_part_column(plain, 0, 1) == SIZE_MAX);
    assert_true(sotto_mechanism_part_column(plain, 4, 0) == SIZE_MAX);
    for (size_t i = 0; i < 3; i++) {
        assert_true(sotto_mechanism_part_column(encoded, 1, i) == SIZE_MAX);
    }
    sotto_mechanism_free(plain);
    sotto_mechanism_free(encoded);
}

/* Written or not, handed over or not: the bytes are the mechanism's. */
static void
test_publish(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *copy = NULL, *kept = NULL;
    char path[] = "/tmp/test_mechanism.XXXXXX";
    int fd = mkstemp(path);
    const uint8_t *bytes;
    size_t size = 0;
    (void)state;
    assert_true(fd >= 0 && close(fd) == 0);
    bytes = sotto_mechanism_bytes(plain, &size);
    assert_ptr_equal(bytes, plain->data);
    assert_int_equal(size, plain->size);
    assert_int_equal(mechanism_copy(plain, &copy, &err), SOTTO_STATUS_OK);
    assert_int_equal(mechanism_publish(copy, NULL, &kept, &err),
                     SOTTO_STATUS_OK);
    assert_ptr_equal(kept, copy);
    assert_int_equal(mechanism_publish(kept, path, NULL, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_mechanism_read(path, &copy, &err), SOTTO_STATUS_OK);
    assert_memory_equal(sotto_mechanism_bytes(copy, &size), bytes, plain->size);
    kept = NULL;
    assert_int_equal(mechanism_publish(copy, "/nowhere/m.sotto", &kept, &err),
                     SOTTO_STATUS_IO);
    assert_null(kept);
    assert_int_equal(unlink(path), 0);
    sotto_mechanism_free(plain);
}

static void
test_read(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *read = NULL;
    char path[] = "/tmp/test_mechanism.XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, plain->data, plain->size), plain->size);
    assert_int_equal(sotto_mechanism_read(path, &read, &err), SOTTO_STATUS_OK);
    assert_memory_equal(read->device.report->hash, plain->device.report->hash,
                        SOTTO_HASH_SIZE);
    sotto_mechanism_free(read);
    read = NULL;
    assert_int_equal(ftruncate(fd, (off_t)plain->size - 1), 0);
    memset(&err, 0xa5, sizeof err);
    enum sotto_status status = sotto_mechanism_read(path, &read, &err);
    assert_true(status == SOTTO_STATUS_FORMAT || status == SOTTO_STATUS_LIMIT);
    assert_int_equal(err.status, status);
    fixture_in(err.message, path);
    fixture_in(err.message, "is not a usable mechanism");
    (void)close(fd);
    (void)unlink(path);
    assert_int_equal(sotto_mechanism_read(path, &read, &err), SOTTO_STATUS_IO);
    assert_null(read);
    assert_int_equal(sotto_mechanism_parse("", 0, "nothing", &read, &err),
                     SOTTO_STATUS_FORMAT);
    fixture_in(err.message, "'nothing' is not a usable mechanism");
    assert_int_equal(sotto_mechanism_parse("", 0, "nothing", &read, NULL),
                     SOTTO_STATUS_FORMAT);
    assert_null(read);
    sotto_mechanism_free(plain);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *plain = fixture_open(&fixture_plain);
    struct sotto_mechanism *parsed = NULL;
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        sotto_mechanism_free(parsed);
        parsed = NULL;
        fail_alloc_at(++n);
        status =
            sotto_mechanism_parse(plain->data, plain->size, "x", &parsed, &err);
        assert_int_equal(status == SOTTO_STATUS_OK, parsed != NULL);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(n, 15); /* of these six are columns' texts */
    sotto_mechanism_free(parsed);
    sotto_mechanism_free(plain);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uneven),  cmocka_unit_test(test_info),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_parts),
        cmocka_unit_test(test_source),  cmocka_unit_test(test_part_column),
        cmocka_unit_test(test_read),    cmocka_unit_test(test_memory),
        cmocka_unit_test(test_publish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
