/*
 * test_source.c: the files in a folder or an archive, by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/source.h"
#include "fail_alloc.h"
#include "host/error.h"
#include "host/file.h"
#include "scratch.h"
#include "tar_fixture.h"

static struct sotto_error err;

/* What was taken, in one text: "name=data;" in any order. */
struct taken {
    char text[256];
    size_t count;
    bool refuse;
};

static bool
wants(void *context, const char *name, size_t name_size)
{
    (void)context;
    return name_size == 1 && name[0] != 'z';
}

static enum sotto_status
take(void *context, const char *name, size_t name_size, const uint8_t *data,
     size_t size, struct sotto_error *error)
{
    struct taken *taken = context;
    size_t at = strlen(taken->text);
    if (taken->refuse) {
        return host_fail(error, SOTTO_STATUS_STOPPED, 0, "no more");
    }
    taken->count++;
    (void)snprintf(taken->text + at, sizeof taken->text - at, "%.*s=%.*s;",
                   (int)name_size, name, (int)size, (const char *)data);
    return SOTTO_STATUS_OK;
}

static int
setup(void **state)
{
    (void)state;
    archive_size = 0;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return scratch_make();
}

static void
put(const char *name, const char *text)
{
    assert_int_equal(
        host_file_write(in_folder(name), 0644, false, text, strlen(text), &err),
        SOTTO_STATUS_OK);
}

static enum sotto_status
read_all(const char *path, struct taken *taken)
{
    const struct source_taker taker = {wants, take, taken};
    return source_read(path, &taker, &err);
}

static void
test_folder(void **state)
{
    struct taken taken = {.count = 0};
    (void)state;
    assert_int_equal(mkdir(in_folder("one"), 0755), 0);
    assert_int_equal(mkdir(in_folder("one/two"), 0755), 0);
    put("a", "1");
    put("z", "2");
    put("one/b", "3");
    put("one/two/c", "4");
    assert_int_equal(symlink("one/two", in_folder("d")), 0);
    assert_int_equal(symlink("one/b", in_folder("e")), 0);
    assert_int_equal(symlink("nowhere", in_folder("f")), 0);
    assert_int_equal(symlink("..", in_folder("one/two/up")), 0);
    assert_int_equal(read_all(folder, &taken), SOTTO_STATUS_OK);
    assert_int_equal(taken.count, 4);
    assert_non_null(strstr(taken.text, "a=1;"));
    assert_non_null(strstr(taken.text, "b=3;"));
    assert_non_null(strstr(taken.text, "c=4;"));
    assert_non_null(strstr(taken.text, "e=3;"));
    taken = (struct taken){.refuse = true};
    assert_int_equal(read_all(folder, &taken), SOTTO_STATUS_STOPPED);
    assert_string_equal(err.message, "no more");
}

static void
put_archive(const char *name, bool gzipped)
{
    gzFile file = gzopen(in_folder(name), gzipped ? "wb" : "wbT");
    assert_int_equal(gzwrite(file, archive, (unsigned)archive_size),
                     (int)archive_size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void
test_archives(void **state)
{
    (void)state;
    put_entry("package/a", '0', "1", 1);
    put_entry("package/z", '0', "2", 1);
    put_entry("package/b", '0', "3", 1);
    put_end();
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        struct taken taken = {.count = 0};
        put_archive("x", gzipped);
        assert_int_equal(read_all(in_folder("x"), &taken), SOTTO_STATUS_OK);
        assert_string_equal(taken.text, "a=1;b=3;");
        taken = (struct taken){.refuse = true};
        assert_int_equal(read_all(in_folder("x"), &taken),
                         SOTTO_STATUS_STOPPED);
    }
}

/* Long names as pax and GNU write them; links, folders and devices, whatever
   they are called, are passed over; the zeros at the end may be missing. */
static void
test_entries(void **state)
{
    char name[160], pax[200];
    struct taken taken = {.count = 0};
    (void)state;
    memset(name, 'd', sizeof name - 3);
    memcpy(name + sizeof name - 3, "/a", 3);
    (void)snprintf(pax, sizeof pax, "%zu path=%s\n", strlen(name) + 10, name);
    put_entry("x", 'x', pax, strlen(pax));
    put_entry("cut", '0', "1", 1);
    name[sizeof name - 2] = 'b';
    put_entry("././@LongLink", 'L', name, sizeof name);
    put_entry("cut", '0', "2", 1);
    put_entry("c", '5', "", 0);
    put_entry("d", '2', "", 0);
    put_entry("e", '3', "", 0);
    put_entry("f", '\0', "3", 1);
    put_archive("x", false);
    assert_int_equal(read_all(in_folder("x"), &taken), SOTTO_STATUS_OK);
    assert_string_equal(taken.text, "a=1;b=2;f=3;");
}

/* Cut in a file's content, with gzip and without: nothing of it is taken. */
static void
test_cut(void **state)
{
    static char large[3000];
    (void)state;
    put_entry("a", '0', "1", 1);
    put_entry("b", '0', large, sizeof large);
    archive_size -= 2048;
    for (int gzipped = 0; gzipped < 2; gzipped++) {
        struct taken taken = {.count = 0};
        put_archive("x", gzipped);
        assert_int_equal(read_all(in_folder("x"), &taken), SOTTO_STATUS_INPUT);
        assert_string_equal(taken.text, "a=1;");
        assert_non_null(strstr(err.message, "damaged or cut short"));
    }
    put_archive("x", true);
    assert_int_equal(truncate(in_folder("x"), 60), 0);
    struct taken taken = {.count = 0};
    assert_int_equal(read_all(in_folder("x"), &taken), SOTTO_STATUS_INPUT);
}

static void
test_neither(void **state)
{
    struct taken taken = {.count = 0};
    (void)state;
    put("text", "no archive");
    assert_int_equal(read_all(in_folder("text"), &taken), SOTTO_STATUS_INPUT);
    assert_non_null(
        strstr(err.message, "text' is neither a folder nor a .tgz or .tar"));
    assert_int_equal(read_all(in_folder("none"), &taken), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "none': No such file"));
    put_entry("a", '0', "1", 1);
    archive[archive_size - 1] = 0;
    uint8_t *second = put_entry("b", '0', "1", 1);
    second[0] = 'c';
    put_archive("damaged", false);
    assert_int_equal(read_all(in_folder("damaged"), &taken),
                     SOTTO_STATUS_INPUT);
    assert_string_equal(taken.text, "a=1;");
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    (void)state;
    assert_int_equal(mkdir(in_folder("d"), 0755), 0);
    put("d/a", "1");
    put_entry("a", '0', "1", 1);
    put_archive("x.tgz", true);
    for (int i = 0; i < 2; i++) {
        const char *path = in_folder(i == 0 ? "d" : "x.tgz");
        long n = 0;
        do {
            struct taken taken = {.count = 0};
            fail_alloc_at(++n);
            status = read_all(path, &taken);
            /* A folder that cannot be listed is an error of the system's. */
            assert_true(status == SOTTO_STATUS_OK ||
                        status == SOTTO_STATUS_MEMORY ||
                        status == SOTTO_STATUS_IO);
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 1); /* libarchive's own are not ours to fail */
    }
}

int
main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, setup, scratch_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_folder), TEST(test_archives), TEST(test_entries),
        TEST(test_cut),    TEST(test_neither),  TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
