/*
 * test_safetensors_write.c: what is written is what was given, and is read
 * back.
 */
#include "fail_alloc.h"
#include "safetensors_fixture.h"

static const float floats[3] = {1.5F, -2, 0};
static const uint8_t bytes[5] = {1, 2, 3, 4, 5};
static const uint64_t words[1] = {UINT64_MAX};
static const double doubles[2] = {0.1, 1e300};
static const int32_t integers[2] = {-1, 7};

static void
entries_of(struct safetensors_entry entry[6])
{
    const struct safetensors_entry all[6] = {
        {"bytes", SAFETENSORS_U8, 1, {5}, bytes, 0},
        {"floats", SAFETENSORS_F32, 2, {3, 1}, floats, 0},
        {"words", SAFETENSORS_U64, 0, {0}, words, 0},
        {"doubles", SAFETENSORS_F64, 1, {2}, doubles, 0},
        {"integers", SAFETENSORS_I32, 4, {1, 1, 2, 1}, integers, 0},
        {"nothing", SAFETENSORS_F32, 1, {0}, floats, 0}};
    memcpy(entry, all, sizeof all);
}

static void
test_round(void **state)
{
    struct safetensors_entry entry[6];
    struct safetensors *file = NULL;
    json_t *metadata = json_pack("{s:s}", "key", "a \"quoted\" text");
    (void)state;
    entries_of(entry);
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, metadata, entry, 6, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(entry[1].size, 12);
    assert_int_equal(safetensors_read(in_folder("m"), 10000, &file, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(safetensors_count(file), 6);
    for (size_t i = 0; i < 6; i++) {
        const struct safetensors_entry *read = safetensors_at(file, i);
        assert_string_equal(read->name, entry[i].name);
        assert_int_equal(read->type, entry[i].type);
        assert_int_equal(read->rank, entry[i].rank);
        assert_memory_equal(read->shape, entry[i].shape,
                            entry[i].rank * sizeof(size_t));
        assert_int_equal(read->size, entry[i].size);
        assert_memory_equal(read->data, entry[i].data, read->size);
    }
    assert_true(json_equal(safetensors_metadata(file), metadata));
    assert_int_equal(entries(), 1);
    safetensors_free(file);
    json_decref(metadata);
}

/* The bytes themselves, so that other readers can rely on them. */
static void
test_bytes(void **state)
{
    const char *header =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[0,5]}}";
    struct safetensors_entry entry = {"a", SAFETENSORS_U8, 1, {5}, bytes, 0};
    uint8_t *data = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(
        safetensors_write(in_folder("m"), 0600, NULL, &entry, 1, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(host_file_read(in_folder("m"), 1000, &data, &size, &err),
                     SOTTO_STATUS_OK);
    size_t padded = (strlen(header) + 7) / 8 * 8;
    assert_int_equal(size, 8 + padded + 5);
    assert_int_equal(bytes_load(data, 8), padded);
    assert_memory_equal(data + 8, header, strlen(header));
    for (size_t i = strlen(header); i < padded; i++) {
        assert_int_equal(data[8 + i], ' ');
    }
    assert_memory_equal(data + 8 + padded, bytes, 5);
    free(data);
}

static void
test_refused(void **state)
{
    struct safetensors_entry twice[2] = {
        {"a", SAFETENSORS_U8, 1, {5}, bytes, 0},
        {"a", SAFETENSORS_U8, 1, {5}, bytes, 0}};
    struct safetensors_entry huge = {
        "h", SAFETENSORS_F64, 2, {SIZE_MAX / 4, 2}, bytes, 0};
    struct safetensors_entry deep = {"d", SAFETENSORS_U8, 5, {1}, bytes, 0};
    struct safetensors_entry odd = {
        "o", (enum safetensors_type)9, 1, {1}, bytes, 0};
    (void)state;
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, NULL, twice, 2, &err),
        SOTTO_STATUS_USAGE);
    assert_string_equal(err.message, "two tensors are named 'a'");
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, NULL, &huge, 1, &err),
        SOTTO_STATUS_USAGE);
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, NULL, &deep, 1, &err),
        SOTTO_STATUS_USAGE);
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, NULL, &odd, 1, &err),
        SOTTO_STATUS_USAGE);
    assert_string_equal(err.message,
                        "the tensor 'o' has no type or shape that a "
                        "safetensors file can hold");
    assert_int_equal(
        safetensors_write(in_folder("no/m"), 0644, NULL, twice, 1, &err),
        SOTTO_STATUS_IO);
    assert_int_equal(entries(), 0);
}

static void
test_memory(void **state)
{
    struct safetensors_entry entry[6];
    json_t *metadata = json_pack("{s:i}", "x", 1);
    (void)state;
    entries_of(entry);
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, metadata, entry, 6, &err),
        SOTTO_STATUS_OK);
    fail_alloc_at(0);
    assert_int_equal(
        safetensors_write(in_folder("m"), 0644, metadata, entry, 6, &err),
        SOTTO_STATUS_OK);
    long count = fail_alloc_count();
    assert_int_equal(unlink(in_folder("m")), 0);
    for (long n = 1; n <= count; n++) {
        fail_alloc_at(n);
        enum sotto_status status =
            safetensors_write(in_folder("m"), 0644, metadata, entry, 6, &err);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
        assert_int_equal(entries(), 0);
    }
    json_decref(metadata);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
