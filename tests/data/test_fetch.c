/*
 * test_fetch.c: fetching a package through npm, for which a script stands here,
 * and what is at an address.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "data/fetch.h"
#include "host/file.h"
#include "scratch.h"
#include "web_fixture.h"

static struct sotto_error err;
static char *path;
static char work[128]; /* what is fetched goes there */

/* PATH is FOLDER/bin and what the scripts themselves need. */
static int
setup(void **state)
{
    char search[256];
    (void)state;
    path = NULL;
    memset(&err, 0xa5, sizeof err);
    if (scratch_make() != 0 || mkdir(in_folder("bin"), 0755) != 0 ||
        mkdir(in_folder("work"), 0755) != 0) {
        return -1;
    }
    (void)snprintf(work, sizeof work, "%s/work", folder);
    (void)snprintf(search, sizeof search, "%s/bin", folder);
    return setenv("PATH", search, 1);
}

static int
teardown(void **state)
{
    (void)state;
    free(path);
    return setenv("PATH", "/usr/bin:/bin", 1) != 0 ? -1 : scratch_remove();
}

/* Puts a script in place of a program. */
static void
put_program(const char *name, const char *script)
{
    char file[64];
    (void)snprintf(file, sizeof file, "bin/%s", name);
    FILE *to = fopen(in_folder(file), "w");
    assert_non_null(to);
    (void)fprintf(to, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(chmod(in_folder(file), 0755), 0);
}

static void
assert_file(const char *name, const char *text)
{
    uint8_t *data = NULL;
    size_t size = 0;
    assert_int_equal(host_file_read(name, 4096, &data, &size, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size);
    free(data);
}

static void
assert_says(const char *text)
{
    if (strstr(err.message, text) == NULL) {
        fail_msg("'%s' is not in '%s'", text, err.message);
    }
}

/* ---- Arguments ---------------------------------------------------------- */

static void
test_address(void **state)
{
    (void)state;
    assert_true(fetch_is_address("http://a/b") &&
                fetch_is_address("HTTPS://a"));
    assert_false(fetch_is_address("https:/a") || fetch_is_address("ftp://a") ||
                 fetch_is_address("") || fetch_is_address("/http://a"));
}

/* What a server says, and how much may come. */
static enum sotto_status
fetch(const char *answer, size_t most, bool stays,
      const struct sotto_watch *watch)
{
    enum sotto_status status;
    web_start(answer, strlen(answer), stays);
    (void)unlink(in_folder("work/fetched"));
    status = fetch_address(web.address, work, most, watch, &path, &err);
    web_stop();
    return status;
}

static void
test_download(void **state)
{
    (void)state;
    assert_int_equal(fetch("HTTP/1.1 200 OK\r\n\r\n12345", 5, false, NULL),
                     SOTTO_STATUS_OK);
    assert_string_equal(path, in_folder("work/fetched"));
    assert_file(path, "12345");
    assert_memory_equal(web.request, "GET /x HTTP/1.1\r\n", 17);
}

static void
test_download_failures(void **state)
{
    (void)state;
    assert_int_equal(fetch("HTTP/1.1 404 No\r\n\r\npage", 5, false, NULL),
                     SOTTO_STATUS_IO);
    assert_says("could not fetch http://127.0.0.1:");
    assert_says("404");
    assert_says("elsewhere can be given");
    assert_string_equal(err.remedy, "from");
    assert_int_equal(
        fetch("HTTP/1.1 302 There\r\nLocation: file:///etc/passwd\r\n\r\n", 5,
              false, NULL),
        SOTTO_STATUS_IO);
    assert_int_equal(fetch("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n1234",
                           5, false, NULL),
                     SOTTO_STATUS_IO);
    assert_int_equal(
        fetch_address("http://127.0.0.1:9/", "/nowhere", 5, NULL, &path, &err),
        SOTTO_STATUS_IO);
    assert_says("cannot write '/nowhere/fetched'");
    assert_null(path);
}

/* With a size that is told beforehand, and without. */
static void
test_download_too_much(void **state)
{
    (void)state;
    assert_int_equal(
        fetch("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", 5, true, NULL),
        SOTTO_STATUS_LIMIT);
    assert_says("/x is more than 5 bytes");
    assert_int_equal(fetch("HTTP/1.1 200 OK\r\n\r\n123456", 5, true, NULL),
                     SOTTO_STATUS_LIMIT);
    assert_says("/x is more than 5 bytes");
    assert_null(path);
}

static void
test_package(void **state)
{
    (void)state;
    put_program("npm", "for i; do echo \"<$i>\"; done >a-1.tgz; echo a-1.tgz");
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_OK);
    assert_string_equal(path, in_folder("work/a-1.tgz"));
    assert_file(path,
                "<pack>\n<--ignore-scripts>\n<--loglevel=error>\n<a@1>\n");
    assert_file(in_folder("work/said"), "a-1.tgz\n");
}

/* ---- Failures ----------------------------------------------------------- */

static void
test_no_program(void **state)
{
    (void)state;
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_IO);
    assert_int_equal(err.status, SOTTO_STATUS_IO);
    assert_string_equal(err.message,
                        "fetching a@1 needs the program npm, which is not "
                        "here: install it (Debian's package npm), or give the "
                        "file or folder yourself");
    assert_string_equal(err.remedy, "from");
    assert_null(path);
    put_program("npm", "");
    assert_int_equal(chmod(in_folder("bin/npm"), 0644), 0);
    assert_int_equal(fetch_package("a@1", work, NULL, &path, NULL),
                     SOTTO_STATUS_IO);
}

static void
test_failures(void **state)
{
    (void)state;
    put_program("npm", "echo one; echo 'two\tx' >&2; echo; exit 3");
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_IO);
    assert_says("npm could not fetch a@1: one two x; a file or folder");
    put_program("npm", "exit 0");
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_IO);
    assert_string_equal(err.message, "npm pack a@1 left no .tgz file");
    put_program("npm", "kill -9 $$");
    assert_int_equal(unlink(in_folder("work/said")), 0);
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_IO);
    assert_says("npm could not fetch a@1: it said nothing");
    assert_null(path);
}

/* ---- Watching ----------------------------------------------------------- */

/* Stops once so much is there, however long that takes; `left` ticks at the
   most, which are some minutes. */
struct watching {
    uint64_t enough, most;
    int left;
};

static bool
tick(void *context, const char *what, uint64_t done, uint64_t total)
{
    struct watching *watching = context;
    assert_string_equal(what, "fetching");
    assert_int_equal(total, 0);
    watching->most = done > watching->most ? done : watching->most;
    return watching->most < watching->enough && --watching->left > 0;
}

static void
test_stop(void **state)
{
    struct watching watching = {.enough = 8, .left = 3000};
    const struct sotto_watch watch = {tick, &watching};
    (void)state;
    put_program("npm", "echo 1234567 >fetched; exec /bin/sleep 600");
    assert_int_equal(fetch_package("a@1", work, &watch, &path, &err),
                     SOTTO_STATUS_STOPPED);
    assert_string_equal(err.message, "stopped while fetching a@1");
    assert_int_equal(watching.most, 8);
    assert_true(watching.left > 0);
    assert_null(path);
}

static void
test_download_stop(void **state)
{
    struct watching watching = {.enough = 4, .left = 3000};
    const struct sotto_watch watch = {tick, &watching};
    (void)state;
    assert_int_equal(fetch("HTTP/1.1 200 OK\r\n\r\n1234", 5, true, &watch),
                     SOTTO_STATUS_STOPPED);
    assert_says("stopped while fetching http://127.0.0.1:");
    assert_int_equal(watching.most, 4);
    assert_null(path);
}

/* Ctrl-C in a terminal: the program is gone before anybody says stop. */
static void
test_stop_at_end(void **state)
{
    struct watching watching = {.left = 1};
    const struct sotto_watch watch = {tick, &watching};
    (void)state;
    put_program("npm", "kill -2 $$");
    assert_int_equal(fetch_package("a@1", work, &watch, &path, &err),
                     SOTTO_STATUS_STOPPED);
    assert_null(path);
}

/* One that does not end when told to. */
static void
test_stubborn(void **state)
{
    struct watching watching = {.left = 1};
    const struct sotto_watch watch = {tick, &watching};
    (void)state;
    put_program("npm", "trap '' TERM; exec /bin/sleep 60");
    assert_int_equal(fetch_package("a@1", work, &watch, &path, &err),
                     SOTTO_STATUS_STOPPED);
}

/* A package without end is no reason to fill the disk. */
static void
test_too_much(void **state)
{
    (void)state;
    put_program("npm", "/usr/bin/truncate -s 1073741825 fetched;"
                       "exec /bin/sleep 60");
    assert_int_equal(fetch_package("a@1", work, NULL, &path, &err),
                     SOTTO_STATUS_LIMIT);
    assert_string_equal(err.message, "a@1 is more than 1073741824 bytes");
    assert_null(path);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_address),
        TEST(test_download),
        TEST(test_download_failures),
        TEST(test_download_too_much),
        TEST(test_download_stop),
        TEST(test_package),
        TEST(test_no_program),
        TEST(test_failures),
        TEST(test_stop),
        TEST(test_stop_at_end),
        TEST(test_stubborn),
        TEST(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
