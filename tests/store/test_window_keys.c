/*
 * test_window_keys.c: keys are on disk before they are used, open what they
 * sealed and nothing else, and are zeros before they lose their names.
 */
#include "store_fixture.h"

#include <sys/stat.h>

#include "store/window_keys.h"

#define TEXT "a tag and a payload"

static const char *
key_path(const char *keys, int64_t number)
{
    static char path[300];
    (void)snprintf(path, sizeof path, "%s/%016llx.key", keys,
                   (unsigned long long)number);
    return path;
}

static struct window_keys *
open_keys(const char *at)
{
    struct window_keys *keys = NULL;
    MUST(window_keys_open(at, &keys, &said));
    return keys;
}

static enum sotto_status
unseal(struct window_keys *keys, const struct window_seal *seal,
       const uint8_t *sealed, size_t size)
{
    uint8_t plain[64];
    return window_keys_unseal(keys, seal, sealed, size, plain, &said);
}

static void
test_sealing(void **state)
{
    struct window_keys *keys = open_keys(in_folder("seal"));
    struct window_seal seal = {0, 3, 1}, other;
    uint8_t sealed[sizeof TEXT + 40], again[sizeof sealed], plain[64];
    int64_t second = 0;
    (void)state;
    MUST(window_keys_make(keys, &seal.number, &said));
    MUST(window_keys_make(keys, &second, &said));
    MUST(window_keys_seal(keys, &seal, (const uint8_t *)TEXT, sizeof TEXT,
                          sealed, &said));
    MUST(window_keys_seal(keys, &seal, (const uint8_t *)TEXT, sizeof TEXT,
                          again, &said));
    assert_memory_not_equal(sealed, again, 24); /* nonces */
    assert_memory_not_equal(sealed + 24, again + 24, sizeof TEXT);
    /* as another life reads it */
    window_keys_free(keys);
    keys = open_keys(in_folder("seal"));
    MUST(window_keys_unseal(keys, &seal, sealed, sizeof sealed, plain, &said));
    assert_string_equal((const char *)plain, TEXT);
    for (unsigned i = 0; i < 3; i++) {
        other = seal;
        other.purpose = i == 0 ? 2 : 1;
        other.campaign += i == 1;
        other.number = i == 2 ? second : other.number;
        assert_int_equal(unseal(keys, &other, sealed, sizeof sealed),
                         SOTTO_STATUS_FORMAT);
    }
    for (size_t i = 0; i < sizeof sealed; i++) {
        sealed[i] ^= 1;
        assert_int_equal(unseal(keys, &seal, sealed, sizeof sealed),
                         SOTTO_STATUS_FORMAT);
        sealed[i] ^= 1;
        assert_int_equal(unseal(keys, &seal, sealed, i), SOTTO_STATUS_FORMAT);
    }
    window_keys_free(keys);
    /* nor by another collector with the same key */
    (void)rename(in_folder("seal/collector"), in_folder("seal/gone"));
    keys = open_keys(in_folder("seal"));
    assert_int_equal(unseal(keys, &seal, sealed, sizeof sealed),
                     SOTTO_STATUS_FORMAT);
    window_keys_free(keys);
}

/* A second name of the file shows what was done to it before it was removed. */
static void
test_destroying(void **state)
{
    const char *at = in_folder("destroy");
    struct window_keys *keys = open_keys(at);
    int64_t number[3] = {0};
    uint8_t bytes[33] = {1};
    static const uint8_t zeros[32];
    struct stat info;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        MUST(window_keys_make(keys, &number[i], &said));
        assert_int_equal(stat(key_path(at, number[i]), &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    assert_int_equal(link(key_path(at, number[1]), in_folder("second")), 0);
    const int64_t kept[] = {number[2], number[0]};
    MUST(window_keys_destroy_others(keys, kept, 2, &said));
    assert_int_equal(stat(key_path(at, number[0]), &info), 0);
    assert_int_equal(stat(key_path(at, number[2]), &info), 0);
    assert_int_equal(stat(key_path(at, number[1]), &info), -1);
    FILE *file = fopen(in_folder("second"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), 32);
    (void)fclose(file);
    assert_memory_equal(bytes, zeros, 32);
    struct window_seal seal = {number[1], 1, 1};
    uint8_t sealed[64];
    assert_int_equal(window_keys_seal(keys, &seal, bytes, 8, sealed, &said),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "put it back"));
    window_keys_free(keys);
}

static void
test_folder(void **state)
{
    const char *at = in_folder("folder");
    struct window_keys *keys = open_keys(at), *second = NULL;
    uint8_t id[COLLECTOR_ID_SIZE];
    (void)state;
    memcpy(id, window_keys_collector(keys), sizeof id);
    assert_int_equal(window_keys_open(at, &second, &said), SOTTO_STATUS_IO);
    assert_non_null(strstr(said.message, "writer"));
    window_keys_free(keys);
    keys = open_keys(at);
    assert_memory_equal(id, window_keys_collector(keys), sizeof id);
    window_keys_free(keys);
    assert_int_equal(chmod(at, 0750), 0);
    assert_int_equal(window_keys_open(at, &second, &said),
                     SOTTO_STATUS_REFUSED);
    assert_int_equal(chmod(at, 0700), 0);
    assert_int_equal(truncate(in_folder("folder/collector"), 15), 0);
    assert_int_equal(window_keys_open(at, &second, &said), SOTTO_STATUS_FORMAT);
    assert_int_equal(window_keys_open("/proc/none", &second, &said),
                     SOTTO_STATUS_IO);
    assert_null(second);
    window_keys_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sealing),
        cmocka_unit_test(test_destroying),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
