/*
 * test_store_disk.c: how much room a store takes, and whether it could be made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "host/file.h"
#include "scratch.h"
#include "store/store_disk.h"

static char url[256];

static const char *
url_of(const char *name)
{
    (void)snprintf(url, sizeof url, "sqlite:%s/%s", folder, name);
    return url;
}

static void
write_zeros(const char *name, size_t size)
{
    static const uint8_t zeros[65536] = {1};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(host_file_write(path, 0600, false, zeros, size, NULL),
                     SOTTO_STATUS_OK);
}

static void
test_look(void **state)
{
    struct store_disk disk = {0};
    (void)state;
    assert_false(store_disk_look(url_of("s"), &disk));
    assert_false(store_disk_look("postgres://x", &disk));
    assert_false(store_disk_look("", &disk));
    write_zeros("s", 8192);
    assert_true(store_disk_look(url_of("s"), &disk));
    assert_in_range(disk.bytes, 8192, 65536);
    assert_true(disk.left > 0);
    write_zeros("s-wal", 65536);
    write_zeros("s-other", 65536);
    assert_true(store_disk_look(url_of("s"), &disk));
    assert_in_range(disk.bytes, 8192 + 65536, 8192 + 65536 + 60000);
}

static void
test_missing(void **state)
{
    (void)state;
    assert_true(store_disk_missing(url_of("s")));
    assert_true(store_disk_makeable(url_of("s")));
    assert_true(store_disk_missing(url_of("none/s")));
    assert_false(store_disk_makeable(url_of("none/s")));
    write_zeros("s", 1);
    assert_false(store_disk_missing(url_of("s")));
    assert_false(store_disk_missing("postgres://x"));
    assert_false(store_disk_makeable("postgres://x"));
    assert_true(store_disk_makeable("sqlite:/s") || access("/", W_OK) != 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_look, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_missing, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
