/*
 * test_encoder_cache.c: one configuration, one set of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "experiment/encoder_cache.h"
#include "fail_alloc.h"
#include "scratch.h"

static struct sotto_error err;

static void
touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

static void
test_files(void **state)
{
    struct encoder_files one, same, other;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    assert_int_equal(encoder_files_init(&one, folder, "l=5", &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(encoder_files_init(&same, folder, "l=5", &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(encoder_files_init(&other, folder, "l=6", &err),
                     SOTTO_STATUS_OK);
    assert_string_equal(one.mechanism, same.mechanism);
    assert_string_equal(one.checkpoint, same.checkpoint);
    assert_string_not_equal(one.mechanism, other.mechanism);
    assert_false(encoder_files_there(&one));
    touch(one.mechanism);
    assert_false(encoder_files_there(&one)); /* half of it */
    touch(one.analyst);
    assert_true(encoder_files_there(&one));
    assert_false(encoder_files_there(&other));
    /* what was hashed can be read */
    char text[8] = "", path[512];
    (void)snprintf(path, sizeof path, "%.*s.txt",
                   (int)(strrchr(one.mechanism, '.') - one.mechanism),
                   one.mechanism);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "l=5");
    encoder_files_clear(&one);
    encoder_files_clear(&same);
    encoder_files_clear(&other);
    assert_int_equal(scratch_remove(), 0);
}

static void
test_no_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    do {
        struct encoder_files files = {0};
        fail_alloc_at(++n);
        status = encoder_files_init(&files, folder, "x", &err);
        if (status != SOTTO_STATUS_OK) {
            assert_int_equal(status, SOTTO_STATUS_MEMORY);
            assert_null(files.mechanism);
        }
        encoder_files_clear(&files);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_int_equal(scratch_remove(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
