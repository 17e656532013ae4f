/*
 * test_dataset.c: data sets by name, with a small one that nobody knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/dataset.h"
#include "fail_alloc.h"
#include "host/file.h"
#include "scratch.h"
#include "tar_fixture.h"
#include "web_fixture.h"

/* The SHA-256 of "one" and of "two". */
static const struct sotto_dataset_file files[] = {
    {"first",
     "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", 3},
    {"second",
     "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3", 3},
};
static const struct sotto_dataset set = {
    "tiny", "two words", "none", "tiny-words@1.0.0", files, 2};

static struct sotto_error err;
static char to[128]; /* the data set's folder */

static int
setup(void **state)
{
    (void)state;
    archive_size = 0;
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    if (scratch_make() != 0) {
        return -1;
    }
    (void)snprintf(to, sizeof to, "%s/deep/cache/tiny", folder);
    return setenv("PATH", in_folder("bin"), 1) != 0 ||
           mkdir(in_folder("bin"), 0755) != 0 ||
           mkdir(in_folder("from"), 0755) != 0;
}

static int
teardown(void **state)
{
    (void)state;
    return setenv("PATH", "/usr/bin:/bin", 1) != 0 ? -1 : scratch_remove();
}

static void
put(const char *name, const char *text)
{
    assert_int_equal(
        host_file_write(in_folder(name), 0644, false, text, strlen(text), &err),
        SOTTO_STATUS_OK);
}

static void
fill(const char *from)
{
    if (dataset_fill(&set, to, from, NULL, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(dataset_check(&set, to, &err), SOTTO_STATUS_OK);
}

static void
refuse(const char *from, enum sotto_status expected, const char *says)
{
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(dataset_fill(&set, to, from, NULL, &err), expected);
    assert_int_equal(err.status, expected);
    if (strstr(err.message, says) == NULL) {
        fail_msg("'%s' is not in '%s'", says, err.message);
    }
}

/* How many files the data set's folder holds, hidden ones and all. */
static int
count_files(void)
{
    int count = 0;
    DIR *dir = opendir(to);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    }
    (void)closedir(dir);
    return count;
}

/* ---- Where files come from ---------------------------------------------- */

static void
test_folder(void **state)
{
    struct stat about, again;
    (void)state;
    assert_int_equal(mkdir(in_folder("from/sub"), 0755), 0);
    put("from/first", "one");
    put("from/sub/second", "two");
    put("from/sub/first", "another");
    fill(in_folder("from"));
    assert_int_equal(count_files(), 2);
    assert_int_equal(stat(to, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    /* What is there and right stays, and nothing is looked for. */
    assert_int_equal(stat(in_folder("deep/cache/tiny/first"), &about), 0);
    fill("/nowhere");
    fill(NULL);
    assert_int_equal(stat(in_folder("deep/cache/tiny/first"), &again), 0);
    assert_int_equal(about.st_ino, again.st_ino);
    /* What is wrong is replaced, and only that. */
    put("deep/cache/tiny/second", "too");
    assert_int_equal(dataset_check(&set, to, &err), SOTTO_STATUS_INPUT);
    refuse("/nowhere", SOTTO_STATUS_IO, "cannot read '/nowhere'");
    fill(in_folder("from"));
    assert_int_equal(stat(in_folder("deep/cache/tiny/first"), &again), 0);
    assert_int_equal(about.st_ino, again.st_ino);
}

static void
put_archive(const char *name)
{
    gzFile file = gzopen(in_folder(name), "wb");
    put_entry("package/first", '0', "one", 3);
    put_entry("package/data/second", '0', "two", 3);
    put_end();
    assert_int_equal(gzwrite(file, archive, (unsigned)archive_size),
                     (int)archive_size);
    assert_int_equal(gzclose(file), Z_OK);
}

static void
test_archive(void **state)
{
    (void)state;
    put_archive("x.tgz");
    fill(in_folder("x.tgz"));
    assert_int_equal(count_files(), 2);
}

static void
test_gzipped(void **state)
{
    gzFile file = gzopen(in_folder("from/first.gz"), "wb");
    (void)state;
    assert_int_equal(gzwrite(file, "one", 3), 3);
    assert_int_equal(gzclose(file), Z_OK);
    put("from/second", "two");
    put("from/second.gzip", "not this");
    fill(in_folder("from"));
}

static void
put_program(const char *name, const char *text)
{
    put(name, text);
    assert_int_equal(chmod(in_folder(name), 0755), 0);
}

/* One that has the archive. */
static void
serve_archive(const char *name)
{
    static uint8_t answer[8192];
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    size_t size = sizeof head - 1;
    FILE *file = fopen(in_folder(name), "rb");
    assert_non_null(file);
    memcpy(answer, head, size);
    size += fread(answer + size, 1, sizeof answer - size, file);
    assert_int_equal(fclose(file), 0);
    web_start(answer, size, false);
}

/* From npm and from an address; nothing of the fetching is left behind. */
static void
test_fetched(void **state)
{
    char script[256];
    (void)state;
    put_archive("x.tgz");
    refuse(NULL, SOTTO_STATUS_IO, "needs the program npm");
    assert_int_equal(count_files(), 0);
    (void)snprintf(script, sizeof script,
                   "#!/bin/sh\n[ \"$4\" = tiny-words@1.0.0 ] &&\n"
                   "exec /bin/cp '%s/x.tgz' tiny.tgz\n",
                   folder);
    put_program("bin/npm", script);
    fill(NULL);
    assert_int_equal(count_files(), 2);
    assert_int_equal(unlink(in_folder("deep/cache/tiny/first")), 0);
    serve_archive("x.tgz");
    fill(web.address);
    web_stop();
    assert_int_equal(unlink(in_folder("deep/cache/tiny/first")), 0);
    web_start("HTTP/1.1 200 OK\r\n\r\npage", 23, false);
    refuse(web.address, SOTTO_STATUS_INPUT,
           "is neither a folder nor a .tgz or .tar file");
    web_stop();
    assert_int_equal(count_files(), 1);
}

/* ---- What is not taken -------------------------------------------------- */

static void
test_wrong(void **state)
{
    (void)state;
    put("from/second", "two");
    refuse(in_folder("from"), SOTTO_STATUS_INPUT,
           "from': the data set tiny has 2 files, 1 of them not found");
    assert_memory_equal(err.message, "first is missing from '", 23);
    assert_int_equal(count_files(), 1);
    put("from/first", "uno");
    refuse(in_folder("from"), SOTTO_STATUS_INPUT,
           "from' is not the file it should be: its SHA-256 is "
           "bf0ec3694e122e067d9964a38ec7d8415781df4b24f442ad767b4621fb98f8c5");
    assert_int_equal(count_files(), 1);
    assert_int_equal(dataset_check(&set, to, &err), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "(first is missing or not the right "
                                        "file): run sotto data get tiny"));
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    int *left = context;
    (void)what;
    assert_true(total == 0 || done <= total);
    return (*left)-- > 0;
}

static void
test_stop(void **state)
{
    (void)state;
    put("from/first", "one");
    put("from/second", "two");
    for (int ticks = 0; ticks < 4; ticks++) {
        int left = ticks;
        const struct sotto_watch watch = {stop, &left};
        assert_int_equal(
            dataset_fill(&set, to, in_folder("from"), &watch, &err),
            SOTTO_STATUS_STOPPED);
        assert_string_equal(err.message, "stopped while checking tiny");
    }
}

static void
test_unwritable(void **state)
{
    (void)state;
    put("from/first", "one");
    put("deep", "a file where a folder should be");
    refuse(in_folder("from"), SOTTO_STATUS_IO, "cannot make the folder '");
}

/* ---- By name ------------------------------------------------------------ */

static void
test_place(void **state)
{
    char *place = NULL;
    (void)state;
    assert_int_equal(setenv("HOME", "/home/ann", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "/var/x", 1), 0);
    assert_int_equal(dataset_folder("a", &place, &err), SOTTO_STATUS_OK);
    assert_string_equal(place, "/var/x/sotto/a");
    free(place);
    /* A relative one is to be ignored. */
    assert_int_equal(setenv("XDG_CACHE_HOME", "x", 1), 0);
    assert_int_equal(dataset_folder("a", &place, &err), SOTTO_STATUS_OK);
    assert_string_equal(place, "/home/ann/.cache/sotto/a");
    free(place);
    place = NULL;
    assert_int_equal(unsetenv("HOME"), 0);
    assert_int_equal(dataset_folder("a", &place, &err), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "set HOME or XDG_CACHE_HOME"));
    assert_null(place);
}

static void
test_known(void **state)
{
    const struct sotto_dataset *mnist = sotto_dataset_at(0);
    char *place = NULL;
    (void)state;
    assert_string_equal(mnist->name, "mnist");
    assert_ptr_equal(sotto_dataset_named("mnist"), mnist);
    assert_null(sotto_dataset_named("mnis"));
    assert_null(sotto_dataset_named(""));
    assert_int_equal(mnist->files, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(strlen(mnist->file[i].sha256), 64);
        assert_int_equal(strspn(mnist->file[i].sha256, "0123456789abcdef"), 64);
    }
    assert_int_equal(mnist->file[0].size, 16 + 60000 * 784);
    assert_int_equal(mnist->file[3].size, 8 + 10000);
    for (size_t i = 0; sotto_dataset_at(i) != NULL; i++) {
        assert_true(sotto_dataset_at(i)->files <= DATASET_FILES_MAX);
    }
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_int_equal(sotto_dataset_get("none", NULL, NULL, &place, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_dataset_find("none", &place, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.message,
                        "there is no data set 'none': see sotto data list");
    assert_int_equal(sotto_dataset_find("mnist", &place, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "run sotto data get mnist"));
    assert_int_equal(
        sotto_dataset_get("mnist", in_folder("from"), NULL, &place, &err),
        SOTTO_STATUS_INPUT);
    assert_null(place);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    put_archive("x.tgz");
    do {
        (void)unlink(in_folder("deep/cache/tiny/first"));
        (void)unlink(in_folder("deep/cache/tiny/second"));
        fail_alloc_at(++n);
        status = dataset_fill(&set, to, in_folder("x.tgz"), NULL, &err);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 8);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_folder),     TEST(test_archive), TEST(test_gzipped),
        TEST(test_fetched),    TEST(test_wrong),   TEST(test_stop),
        TEST(test_unwritable), TEST(test_place),   TEST(test_known),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
