/*
 * test_table_stream.c: a file read bit by bit is the file read whole: the same
 * rows and the same errors, wherever the window ends, gzipped or not, from a
 * pipe too; and what it has in memory does not grow with the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "fail_alloc.h"
#include "scratch.h"
#include "sotto/sotto.h"
#include "table/table_stream.h"

static char path[128];

static int
setup(void **state)
{
    (void)state;
    fail_alloc_at(0);
    int made = scratch_make();
    (void)snprintf(path, sizeof path, "%s/t.csv", folder);
    return made;
}

static void
write_file(const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
write_gzip(const char *text, size_t size, const char *mode)
{
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)size), (int)size);
    assert_int_equal(gzclose(file), Z_OK);
}

static const struct sotto_table_options plain = {
    .header = -1, .reading = {.separator = ',', .decimal = '.'}, .threads = 1};

static void
assert_same_row(const struct sotto_table *part, size_t row,
                const struct sotto_table *whole, size_t of)
{
    assert_int_equal(sotto_table_line(part, row), sotto_table_line(whole, of));
    for (size_t i = 0; i < sotto_table_columns(whole); i++) {
        struct sotto_value a = sotto_table_cell(part, row, i);
        struct sotto_value b = sotto_table_cell(whole, of, i);
        assert_int_equal(a.kind == SOTTO_VALUE_MISSING,
                         b.kind == SOTTO_VALUE_MISSING);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(&a.number, &b.number, sizeof a.number);
        if (a.size > 0) {
            assert_memory_equal(a.data, b.data, a.size);
        }
    }
}

/* Checks one table against the rows of the whole from `done` on. */
static void
assert_part(const struct sotto_table *part, const struct sotto_table *whole,
            size_t done, size_t rows)
{
    size_t left = sotto_table_rows(whole) - done;
    assert_int_equal(sotto_table_rows(part), left < rows ? left : rows);
    assert_int_equal(sotto_table_columns(part), sotto_table_columns(whole));
    for (size_t i = 0; i < sotto_table_columns(whole); i++) {
        assert_string_equal(sotto_table_name(part, i),
                            sotto_table_name(whole, i));
        assert_int_equal(sotto_table_kind(part, i), SOTTO_COLUMN_CATEGORY);
    }
    for (size_t row = 0; row < sotto_table_rows(part); row++) {
        assert_same_row(part, row, whole, done + row);
    }
}

/* Reads the file at `path` in both ways. */
static void
assert_same(const struct sotto_table_options *options, size_t rows,
            size_t window)
{
    struct sotto_table *whole = NULL, *part = NULL;
    struct sotto_table_stream *stream = NULL;
    struct sotto_error whole_err = {0}, err = {0};
    size_t done = 0;
    enum sotto_status expected =
        sotto_table_read(path, options, &whole, &whole_err);
    enum sotto_status status =
        table_stream_open(path, options, rows, window, &stream, &err);
    while (status == SOTTO_STATUS_OK) {
        status = sotto_table_stream_next(stream, &part, &err);
        if (status != SOTTO_STATUS_OK || part == NULL) {
            break;
        }
        if (whole != NULL) {
            assert_part(part, whole, done, rows);
        }
        done += sotto_table_rows(part);
        sotto_table_free(part);
        part = NULL;
    }
    assert_int_equal(status, expected);
    if (expected == SOTTO_STATUS_OK) {
        assert_int_equal(done, sotto_table_rows(whole));
    } else {
        assert_string_equal(err.message, whole_err.message);
        assert_int_equal(err.position, whole_err.position);
        assert_string_equal(err.subject, whole_err.subject);
    }
    sotto_table_stream_close(stream);
    sotto_table_free(whole);
}

static const char *const texts[] = {
    "a,b,c\n1,2,3\n4,5,6\n",
    "a,b\r\n1,\"x\r\ny\"\r\n2,\"\"\"\"\r\n3,z",
    "a,b\n1,\"x,\ny\n,\"\n2, \"q\"\"\n\"\"r\" \n3,5\" pipe\n4,\"\n\n\n\"\n",
    "\"first\nname\",\"b \"\"q\"\"\"\n 1 ,\t2 \n ,\"\"\n?,NA\n",
    "\xef\xbb\xbf"
    "a\n1\n\n2\n\n\n",
    "a\n1\n\n \n2\n \r\n\n\t\n",
    "\"1\"\"\",2\n3,4\n\"5\n\",6\n7,8\n",
    "a,b\n1,2\n3\n4,5\n",
    "a,b\n1,2\n3,4,5\n4,5\n",
    "a,b\n1,2\n\n4,5\n",
    "a,b\n1,2\n3,\"4\n5,6\n7,8\n",
    "a,b\n1,2\n3,\"4\"x\n5,6\n",
    "a,b\n1,2\n3,4\r5,6\n",
    "a,b\n1,2\n3,\xc3\n4,5\n",
    "a,b\n1,2\n3,\xc3\xa9\n4,5\n",
    "a,a\n1,2\n",
    "a,\n1,2\n",
    ",b\n1,2\n3,4\n",
    "a,b\n",
    "a,b \r \n",
    "\xff\xfe"
    "a\n",
    "\n\n",
    "",
};

/* Every size of the window, and tables of 1 to 4 rows. */
static void
test_every_window(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]);
        write_file(texts[i], size);
        for (size_t window = 4; window <= size + 5; window++) {
            for (size_t rows = 1; rows <= 4; rows++) {
                assert_same(&plain, rows, window);
            }
        }
    }
}

/* As people write them: semicolons bit by bit, decimal commas and Latin-1
   whole; guessed or said. */
static void
test_dialects(void **state)
{
    static const char *const written[] = {
        "a;b\n1;\"x;y\"\n2;z\n3;u,v\n", "a;b\n1,5;x\n2,5;y\n",
        "a\tb\n1\t2\n3\t4\n", "a|b\n1| 2%\n$3|4\n", "a,b\n1,2\n3,4\n"};
    struct sotto_table_options options = {.header = 1, .threads = 1};
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        write_file(written[i], strlen(written[i]));
        assert_same(&options, 1, 4);
        assert_same(NULL, 2, 1024);
    }
    write_file("a,b\n1,\xe9\n2,x\n", 12);
    options.reading.latin1 = true;
    assert_same(&options, 1, 4);
}

/* A table larger than several windows and than the slots of byte_source.c,
   by two threads, gzipped in two members. */
static void
test_large(void **state)
{
    const struct sotto_table_options options = {.header = -1, .threads = 2};
    size_t rows = 150000, size = 0, room = rows * 40;
    char *text = malloc(room);
    (void)state;
    assert_non_null(text);
    size += (size_t)snprintf(text, room, "n,t,x\n");
    for (size_t i = 0; i < rows; i++) {
        size += (size_t)snprintf(text + size, room - size,
                                 i % 7 == 0 ? "%zu,\"a\nb,%zu\",%zu.5\n"
                                            : "%zu,w%zu,%zu.25\n",
                                 i, i * 3, i * i);
    }
    write_file(text, size);
    assert_same(&options, 16384, (size_t)1 << 20);
    assert_same(&options, 1000, (size_t)1 << 14);
    write_gzip(text, size / 2, "wb1");
    write_gzip(text + size / 2, size - size / 2, "ab1");
    assert_same(&options, 16384, (size_t)1 << 20);
    free(text);
}

/* A stream that is closed before its end, with the thread waiting. */
static void
test_close_early(void **state)
{
    size_t size = (size_t)4 << 20;
    struct sotto_table_stream *stream = NULL;
    struct sotto_table *table = NULL;
    struct sotto_error err;
    char *text = malloc(size);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 4) {
        memcpy(text + i, "1,2\n", 4);
    }
    write_gzip(text, size, "wb1");
    free(text);
    assert_int_equal(sotto_table_stream_open(path, NULL, 10, &stream, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_table_stream_next(stream, &table, &err),
                     SOTTO_STATUS_OK);
    sotto_table_stream_close(stream);
    assert_int_equal(sotto_table_rows(table), 10);
    assert_true(sotto_table_cell(table, 9, 1).number == 2);
    sotto_table_free(table);
}

/* Damaged gzip is told of as if the file were read whole. */
static void
test_damage(void **state)
{
    static const char text[] = "a,b\n1,2\n3,4\n";
    uint8_t bytes[256];
    (void)state;
    write_gzip(text, sizeof text - 1, "wb");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    for (size_t cut = 2; cut < size; cut++) {
        write_file((const char *)bytes, cut);
        assert_same(&plain, 2, 64);
    }
    bytes[size - 6] ^= 1; /* the check sum */
    write_file((const char *)bytes, size);
    assert_same(&plain, 2, 64);
}

static void
test_refused(void **state)
{
    struct sotto_table_stream *stream = NULL;
    struct sotto_error err;
    (void)state;
    assert_int_equal(
        sotto_table_stream_open("/nowhere", NULL, 1, &stream, &err),
        SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "/nowhere"));
    assert_int_equal(sotto_table_stream_open(folder, NULL, 0, &stream, &err),
                     SOTTO_STATUS_USAGE);
    assert_null(stream);
}

/* No memory, at each place in turn. */
static void
test_memory(void **state)
{
    long n = 0;
    (void)state;
    write_gzip(texts[2], strlen(texts[2]), "wb");
    do {
        struct sotto_table_stream *stream = NULL;
        struct sotto_table *table = NULL;
        struct sotto_error err = {0};
        fail_alloc_at(++n);
        enum sotto_status status =
            table_stream_open(path, &plain, 2, 16, &stream, &err);
        do {
            sotto_table_free(table);
            table = NULL;
            if (status == SOTTO_STATUS_OK) {
                status = sotto_table_stream_next(stream, &table, &err);
            }
        } while (status == SOTTO_STATUS_OK && table != NULL);
        assert_null(table);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        sotto_table_stream_close(stream);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_true(n > 20);
}

/* Writes rows to a pipe until nobody reads, or `size` bytes are written. */
static void
feed(int to, size_t size)
{
    static char rows[1 << 16];
    for (size_t i = 0; i < sizeof rows; i += 16) {
        memcpy(rows + i, "1234.5,word,678\n", 16);
    }
    for (size_t done = 0; done < size; done += sizeof rows) {
        if (write(to, rows, sizeof rows) != (ssize_t)sizeof rows) {
            _exit(1);
        }
    }
    _exit(0);
}

/* 64 MiB through a pipe take no more memory than 16 MiB do. */
static void
test_flat(void **state)
{
    size_t rows = 0, size = (size_t)64 << 20;
    struct sotto_table_stream *stream = NULL;
    struct sotto_table *table = NULL;
    struct sotto_error err;
    struct rusage before = {0}, after = {0};
    char name[32];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        feed(ends[1], size);
    }
    (void)close(ends[1]);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(sotto_table_stream_open(name, NULL, 16384, &stream, &err),
                     SOTTO_STATUS_OK);
    do {
        assert_int_equal(sotto_table_stream_next(stream, &table, &err),
                         SOTTO_STATUS_OK);
        if (rows == (size_t)1 << 20) {
            (void)getrusage(RUSAGE_SELF, &before);
        }
        rows += table != NULL ? sotto_table_rows(table) : 0;
        sotto_table_free(table);
    } while (table != NULL);
    (void)getrusage(RUSAGE_SELF, &after);
    sotto_table_stream_close(stream);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(rows, size / 16);
    assert_true(after.ru_maxrss <= before.ru_maxrss + 1024);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_window), cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_close_early),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_flat),
    };
    return cmocka_run_group_tests(tests, setup, scratch_tear_down);
}
