/*
 * test_tar.c: the files in a tar archive, and every way it can be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "data/tar.h"
#include "tar_fixture.h"

static struct sotto_error err;

static int
setup(void **state)
{
    (void)state;
    archive_size = 0;
    memset(&err, 0xa5, sizeof err);
    return 0;
}

/* The archive in memory of its own, so that a sanitizer sees its end. */
static struct tar
begin(size_t size)
{
    static uint8_t *bytes;
    free(bytes);
    bytes = malloc(size > 0 ? size : 1);
    memcpy(bytes, archive, size);
    return (struct tar){.bytes = bytes, .size = size, .name = "a.tar"};
}

static void
expect(struct tar *tar, const char *base, const char *data)
{
    struct tar_file file;
    bool found = false;
    assert_int_equal(tar_next(tar, &file, &found, &err), SOTTO_STATUS_OK);
    assert_true(found);
    assert_int_equal(file.base_size, strlen(base));
    assert_memory_equal(file.base, base, file.base_size);
    assert_int_equal(file.size, strlen(data));
    assert_memory_equal(file.data, data, file.size);
}

static void
expect_end(struct tar *tar)
{
    struct tar_file file;
    for (int i = 0; i < 2; i++) {
        bool found = true;
        assert_int_equal(tar_next(tar, &file, &found, &err), SOTTO_STATUS_OK);
        assert_false(found);
    }
}

static void
expect_bad(size_t size, size_t position, const char *message)
{
    struct tar tar = begin(size);
    struct tar_file file;
    bool found = true;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(tar_next(&tar, &file, &found, &err), SOTTO_STATUS_INPUT);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, position);
    if (strstr(err.message, message) == NULL) {
        fail_msg("'%s' is not in '%s'", message, err.message);
    }
}

/* ---- Files -------------------------------------------------------------- */

static void
test_files(void **state)
{
    char large[601];
    (void)state;
    memset(large, 'x', 600);
    large[600] = '\0';
    put_entry("package/data/", '5', "", 0);
    put_entry("package/data/a", '0', "one", 3);
    put_entry("link", '2', "", 0);
    put_entry("b", '\0', large, 600);
    put_entry("././c", '7', "", 0);
    put_end();
    struct tar tar = begin(archive_size);
    assert_true(tar_detect(tar.bytes, tar.size));
    expect(&tar, "a", "one");
    expect(&tar, "b", large);
    expect(&tar, "c", "");
    expect_end(&tar);
}

/* Without the zeros at its end, and without the last file's filling. */
static void
test_open_end(void **state)
{
    (void)state;
    put_entry("a", '0', "one", 3);
    struct tar tar = begin(archive_size);
    expect(&tar, "a", "one");
    expect_end(&tar);
    tar = begin(BLOCK + 3);
    expect(&tar, "a", "one");
    expect_end(&tar);
}

/* A folder or a link with a size has no content all the same. */
static void
test_sizes_of_others(void **state)
{
    (void)state;
    uint8_t *header = put_entry("d", '5', "", 0);
    memcpy(header + 124, "00000001000", 12);
    put_sum(header);
    put_entry("a", '0', "one", 3);
    struct tar tar = begin(archive_size);
    expect(&tar, "a", "one");
    expect_end(&tar);
}

static void
test_full_name(void **state)
{
    char name[101];
    (void)state;
    memset(name, 'n', 100);
    name[100] = '\0';
    put_entry(name, '0', "one", 3);
    struct tar tar = begin(archive_size);
    expect(&tar, name, "one");
}

/* ---- Long names --------------------------------------------------------- */

static void
test_long_names(void **state)
{
    static const char pax[] = "14 mtime=12.5\n18 path=deep/long\n";
    static const char global[] = "14 path=wrong\n";
    (void)state;
    put_entry("././@LongLink", 'L', "folder/gnu\0", 11);
    put_entry("folder/g", '0', "one", 3);
    put_entry("pax", 'x', pax, strlen(pax));
    put_entry("cut", '0', "two", 3);
    put_entry("global", 'g', global, strlen(global));
    put_entry("c", '0', "three", 5);
    put_entry("././@LongLink", 'L', "folder/of a link\0", 17);
    put_entry("folder/o", '2', "", 0);
    put_entry("d", '0', "four", 4);
    struct tar tar = begin(archive_size);
    expect(&tar, "gnu", "one");
    expect(&tar, "long", "two");
    expect(&tar, "c", "three");
    expect(&tar, "d", "four");
    expect_end(&tar);
}

static void
test_bad_pax(void **state)
{
    static const char *const bad[] = {"x",
                                      "8 path=a\n",
                                      "11 path=a\n",
                                      "99 path=a\n",
                                      "0 a\n",
                                      "2 \n",
                                      "10path=abc\n",
                                      "10 path=a",
                                      "99999999999999999999 path=a\n"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        archive_size = 0;
        put_entry("pax", 'x', bad[i], strlen(bad[i]));
        put_entry("a", '0', "one", 3);
        expect_bad(archive_size, BLOCK, "malformed pax header at byte 512");
    }
}

/* ---- Damage ------------------------------------------------------------- */

static void
test_damage(void **state)
{
    (void)state;
    put_entry("a", '0', "one", 3);
    uint8_t *second = put_entry("b", '0', "two", 3);
    second[0] ^= 1;
    struct tar tar = begin(archive_size);
    struct tar_file file;
    bool found;
    expect(&tar, "a", "one");
    assert_int_equal(tar_next(&tar, &file, &found, &err), SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, 2 * BLOCK);
    assert_string_equal(err.message,
                        "a.tar: the tar archive is damaged at byte 1024: "
                        "fetch or make it again");
    assert_false(tar_detect(archive + 2 * BLOCK, 2 * BLOCK));
    assert_false(tar_detect(archive, BLOCK - 1));
}

static void
test_bad_sizes(void **state)
{
    static const char *const sizes[] = {
        "00000001001", "77777777777", "0000000000x",
        "           ", "-0000000001", "\x80\0\0\0\0\0\0\0\0\0"};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        archive_size = 0;
        uint8_t *header = put_entry("a", '0', "one", 3);
        memcpy(header + 124, sizes[i], 11);
        put_sum(header);
        expect_bad(archive_size, 124, "cut short, or a file in it is too");
    }
    archive_size = 0;
    put_entry("a", '0', "one", 3);
    expect_bad(BLOCK + 2, 124, "cut short");
    struct tar tar = begin(BLOCK - 1);
    expect_end(&tar);
    tar = begin(0);
    expect_end(&tar);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(test_files),     TEST(test_open_end),   TEST(test_sizes_of_others),
        TEST(test_full_name), TEST(test_long_names), TEST(test_bad_pax),
        TEST(test_damage),    TEST(test_bad_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
