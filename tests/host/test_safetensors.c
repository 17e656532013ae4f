/*
 * test_safetensors.c: what is read, to the last byte, and what is not.
 */
#include "fail_alloc.h"
#include "safetensors_fixture.h"

#define F32(shape, from, to)                                                   \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" from "," to "]}"

/* ---- Reading ------------------------------------------------------------ */

static void
test_read(void **state)
{
    struct safetensors *file =
        parsed("{\"b\":" F32(
                   "[2,1]", "3",
                   "11") ",\"__metadata__\":{\"sotto\":"
                         "\"{\\\"x\\\":5}\",\"format\":\"pt\"},\"a\":{"
                         "\"dtype\":\"U8\","
                         "\"shape\":[3],\"data_offsets\":[0,3]},\"none\":" F32(
                             "[0,7]", "3",
                             "3") ",\"one\":{\"dtype\":\"U64\",\"shape\":[],"
                                  "\"data_offsets\":[11,19]}}   ",
               19);
    const struct safetensors_entry *entry = safetensors_find(file, "b");
    const uint8_t expected[] = {3, 4, 5, 6, 7, 8, 9, 10};
    (void)state;
    assert_int_equal(safetensors_count(file), 4);
    assert_non_null(entry);
    assert_int_equal(entry->type, SAFETENSORS_F32);
    assert_int_equal(entry->rank, 2);
    assert_int_equal(entry->shape[0], 2);
    assert_int_equal(entry->shape[1], 1);
    assert_int_equal(entry->size, 8);
    assert_memory_equal(entry->data, expected, 8);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal((uintptr_t)safetensors_at(file, i)->data % 8, 0);
    }
    assert_null(safetensors_at(file, 4));
    assert_null(safetensors_find(file, "c"));
    assert_int_equal(safetensors_find(file, "one")->size, 8);
    assert_int_equal(safetensors_find(file, "none")->size, 0);
    assert_int_equal(
        json_integer_value(json_object_get(safetensors_metadata(file), "x")),
        5);
    safetensors_free(file);
}

static void
test_bare(void **state)
{
    struct safetensors *file = parsed("{}", 0);
    (void)state;
    assert_int_equal(safetensors_count(file), 0);
    assert_int_equal(json_object_size(safetensors_metadata(file)), 0);
    safetensors_free(file);
    file = parsed("{\"__metadata__\":{}}", 0);
    assert_int_equal(json_object_size(safetensors_metadata(file)), 0);
    safetensors_free(file);
    safetensors_free(NULL);
}

/* ---- What is not read --------------------------------------------------- */

static void
test_spans(void **state)
{
    (void)state;
    assert_refused(
        "{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "2", "6") "}", 6,
        "f: the tensor 'b' overlaps another");
    assert_refused(
        "{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "0", "4") "}", 4,
        "f: the tensor 'b' overlaps another");
    assert_refused("{\"a\":" F32("[1]", "4", "8") "}", 8,
                   "f: the tensor 'a' begins after a gap");
    assert_refused("{\"a\":" F32("[1]", "0", "4") "}", 5,
                   "f: its header describes 4 bytes of data, but there are 5: "
                   "the file is damaged");
    assert_refused("{\"a\":" F32("[2]", "0", "8") "}", 7,
                   "f: its header describes 8 bytes of data, but there are 7: "
                   "the file is damaged");
    assert_refused("{}", 1,
                   "f: its header describes 0 bytes of data, but there are 1: "
                   "the file is damaged");
}

static void
test_entries(void **state)
{
    const char *shape = "f: the tensor 'a' has a shape that does not multiply "
                        "out to its data_offsets";
    const char *list =
        "f: the tensor 'a' has a shape that is not a list of up to 4 sizes";
    const char *two =
        "f: the tensor 'a' has data_offsets that are not two numbers";
    const char *alone = "f: the tensor 'a' is not described by dtype, shape "
                        "and data_offsets alone";
    (void)state;
    assert_refused("{\"a\":" F32("[2]", "0", "4") "}", 4, shape);
    assert_refused("{\"a\":" F32("[1]", "4", "0") "}", 4, shape);
    assert_refused("{\"a\":" F32("[4611686018427387904,4]", "0", "0") "}", 0,
                   shape);
    assert_refused("{\"a\":" F32("[4294967296,4294967296]", "0", "0") "}", 0,
                   shape);
    assert_refused("{\"a\":" F32("[-1]", "0", "4") "}", 4, list);
    assert_refused("{\"a\":" F32("[1.0]", "0", "4") "}", 4, list);
    assert_refused("{\"a\":" F32("[1,1,1,1,1]", "0", "4") "}", 4, list);
    assert_refused("{\"a\":" F32("1", "0", "4") "}", 4, list);
    assert_refused("{\"a\":" F32("[1]", "0", "4,5") "}", 4, two);
    assert_refused("{\"a\":" F32("[1]", "0", "null") "}", 4, two);
    assert_refused("{\"a\":" F32("[1]", "-4", "0") "}", 4, two);
    assert_refused("{\"a\":[]}", 0, alone);
    assert_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, alone);
    assert_refused("{\"a\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":"
                   "[0,2]}}",
                   2,
                   "f: the tensor 'a' has another dtype than F32, F64, I32, U8 "
                   "or U64");
    assert_refused("{\"a\\u001b[31m\":[]}", 0,
                   "f: the tensor 'a\xef\xbf\xbd[31m' is not described by "
                   "dtype, shape and data_offsets alone");
}

static void
test_headers(void **state)
{
    (void)state;
    assert_refused("[]", 0, "f: its header is not a JSON object");
    assert_refused("{", 0,
                   "f: its header is not JSON without duplicate keys (at its "
                   "byte 1)");
    assert_int_equal(err.position, 9);
    assert_refused(
        "{\"a\":" F32("[1]", "0", "4") ",\"a\":" F32("[1]", "4", "8") "}", 8,
        "f: its header is not JSON without duplicate keys (at its "
        "byte 57)");
    assert_refused("{} x", 0,
                   "f: its header is not JSON without duplicate keys (at its "
                   "byte 4)");
    assert_refused("{\"__metadata__\":{\"sotto\":5}}", 0,
                   "f: its __metadata__ is not an object of strings");
    assert_refused("{\"__metadata__\":\"x\"}", 0,
                   "f: its __metadata__ is not an object of strings");
    assert_refused("{\"__metadata__\":{\"sotto\":\"[]\"}}", 0,
                   "f: the text in its metadata is not a JSON object");
    assert_refused("{\"__metadata__\":{\"sotto\":\"{\"}}", 0,
                   "f: the text in its metadata is not JSON without duplicate "
                   "keys (at its byte 1)");
}

static void
test_lengths(void **state)
{
    const uint8_t far[8] = {0, 0, 0, 0, 0, 0, 0, 0x80};
    struct safetensors *file = NULL;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    for (size_t size = 0; size <= 8; size++) {
        assert_int_equal(safetensors_parse(far, size, "f", &file, &err),
                         SOTTO_STATUS_FORMAT);
    }
    assert_string_equal(err.message,
                        "f: not a safetensors file: a header of "
                        "9223372036854775808 bytes in a file of 8");
    size_t size = ((size_t)16 << 20) + 9;
    uint8_t *large = calloc(size, 1);
    assert_non_null(large);
    bytes_store(large, 8, size - 8);
    assert_int_equal(safetensors_parse(large, size, "f", &file, &err),
                     SOTTO_STATUS_FORMAT);
    assert_string_equal(err.message,
                        "f: not a safetensors file: a header of 16777217 bytes "
                        "in a file of 16777225");
    free(large);
    assert_null(file);
}

static void
test_files(void **state)
{
    struct safetensors *file = NULL;
    (void)state;
    assert_int_equal(safetensors_read(in_folder("none"), 100, &file, &err),
                     SOTTO_STATUS_IO);
    put(in_folder("large"), "0123456789", 10);
    assert_int_equal(safetensors_read(in_folder("large"), 9, &file, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(safetensors_read(in_folder("large"), 10, &file, &err),
                     SOTTO_STATUS_FORMAT);
    assert_null(file);
}

/* ---- Wanting ------------------------------------------------------------ */

static void
test_want(void **state)
{
    struct safetensors *file =
        parsed("{\"a\":" F32("[2,3]", "0", "24") "}", 24);
    const struct safetensors_entry *entry = NULL;
    (void)state;
    assert_int_equal(
        safetensors_want(file, "a", SAFETENSORS_F32, 2, 2, 3, &entry, &err),
        SOTTO_STATUS_OK);
    assert_ptr_equal(entry, safetensors_at(file, 0));
    assert_int_equal(safetensors_want(file, "a", SAFETENSORS_F32, 2, SIZE_MAX,
                                      3, &entry, &err),
                     SOTTO_STATUS_OK);
    entry = NULL;
    assert_int_equal(safetensors_want(file, "a", SAFETENSORS_F32, 2, SIZE_MAX,
                                      4, &entry, &err),
                     SOTTO_STATUS_FORMAT);
    assert_string_equal(err.message, "f: the tensor 'a' is F32 [2, 3] and "
                                     "should be F32 [2, 4]");
    assert_int_equal(
        safetensors_want(file, "a", SAFETENSORS_F64, 1, 6, 0, &entry, &err),
        SOTTO_STATUS_FORMAT);
    assert_string_equal(err.message, "f: the tensor 'a' is F32 [2, 3] and "
                                     "should be F64 [6]");
    assert_int_equal(
        safetensors_want(file, "b", SAFETENSORS_F64, 1, 6, 0, &entry, &err),
        SOTTO_STATUS_FORMAT);
    assert_string_equal(err.message, "f: the tensor 'b' is missing");
    assert_null(entry);
    safetensors_free(file);
}

static void
test_memory(void **state)
{
    const char *header =
        "{\"__metadata__\":{\"sotto\":\"{}\"},\"a\":" F32("[1]", "0", "4") "}";
    uint8_t bytes[256];
    size_t size = file_of(header, 4, bytes, sizeof bytes);
    struct safetensors *file = NULL;
    (void)state;
    fail_alloc_at(0);
    assert_int_equal(safetensors_parse(bytes, size, "f", &file, &err),
                     SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    safetensors_free(file);
    file = NULL;
    assert_true(count >= 5);
    for (long n = 1; n <= count; n++) {
        fail_alloc_at(n);
        assert_int_equal(safetensors_parse(bytes, size, "f", &file, &err),
                         SOTTO_STATUS_MEMORY);
        assert_null(file);
    }
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test_setup_teardown(test_files, setup, teardown),
        cmocka_unit_test(test_want),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
