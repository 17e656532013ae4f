/*
 * test_csv_parts.c: CSV text read in parts, quickly and by several threads, is
 * what one plain scan from the beginning to the end reads: the same table or
 * the same error, wherever the text is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "sotto/sotto.h"
#include "table/csv.h"
#include "table/csv_text.h"

struct outcome {
    enum sotto_status status;
    struct sotto_table *table;
    struct sotto_error err;
};

static struct outcome
read_text(const char *text, size_t size, const struct csv_way *way)
{
    struct outcome outcome = {0};
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memcpy(bytes, text, size);
    outcome.status =
        csv_parse(bytes, size, "t.csv", way, &outcome.table, &outcome.err);
    if (outcome.status != SOTTO_STATUS_OK) {
        free(bytes);
    }
    return outcome;
}

static void
assert_same_cell(struct sotto_value a, struct sotto_value b)
{
    assert_int_equal(a.kind, b.kind);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(&a.number, &b.number, sizeof a.number);
    if (a.size > 0) {
        assert_memory_equal(a.data, b.data, a.size);
    }
}

static void
assert_same_table(const struct sotto_table *a, const struct sotto_table *b)
{
    assert_int_equal(sotto_table_rows(a), sotto_table_rows(b));
    assert_int_equal(sotto_table_columns(a), sotto_table_columns(b));
    for (size_t i = 0; i < sotto_table_columns(a); i++) {
        assert_string_equal(sotto_table_name(a, i), sotto_table_name(b, i));
        assert_int_equal(sotto_table_kind(a, i), sotto_table_kind(b, i));
        for (size_t row = 0; row < sotto_table_rows(a); row++) {
            assert_same_cell(sotto_table_cell(a, row, i),
                             sotto_table_cell(b, row, i));
        }
    }
    for (size_t row = 0; row < sotto_table_rows(a); row++) {
        assert_int_equal(sotto_table_line(a, row), sotto_table_line(b, row));
    }
}

static void
assert_same(const char *text, size_t size, const struct csv_way *way)
{
    struct csv_way plain = {.header = way->header,
                            .separator = way->separator,
                            .threads = 1,
                            .plain = true};
    struct outcome a = read_text(text, size, &plain);
    struct outcome b = read_text(text, size, way);
    assert_int_equal(a.status, b.status);
    if (a.status == SOTTO_STATUS_OK) {
        assert_same_table(a.table, b.table);
    } else {
        assert_string_equal(a.err.message, b.err.message);
        assert_int_equal(a.err.position, b.err.position);
    }
    sotto_table_free(a.table);
    sotto_table_free(b.table);
}

/* Quotes with separators, line breaks and quotes in them, where they are read
   and where they are not; and every error. */
static const char *const texts[] = {
    "a,b,c\n1,2,3\n4,5,6\n",
    "a,b\r\n1,\"x\r\ny\"\r\n2,\"\"\"\"\r\n3,z",
    "a,b\n1,\"x,\ny\n,\"\n2, \"q\"\"\n\"\"r\" \n3,5\" pipe\n4,\"\n\n\n\"\n",
    "\"first\nname\",\"b \"\"q\"\"\"\n 1 ,\t2 \n ,\"\"\n?,NA\n",
    "\xef\xbb\xbfx\n1\n\n2\n\n\n",
    "1,2\n3,4\n\"5\n\",6\n7,8\n",
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
    "a,b\n",
    "\n\n",
    "",
    "x;y\n1,5;\"a;b\n\"\n2;c\n",
    "a\tb\n1\t 2 \n\t\n",
};

static void
test_every_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = strlen(texts[i]);
        for (size_t part = 1; part <= size + 1; part++) {
            for (unsigned way = 0; way < 12; way++) {
                assert_same(texts[i], size,
                            &(struct csv_way){.header = (int)(way % 3) - 1,
                                              .separator = way >= 6 ? ';' : 0,
                                              .threads = 1,
                                              .part_bytes = part,
                                              .plain = way % 2 == 0});
            }
            assert_same(texts[i], size,
                        &(struct csv_way){.header = 1,
                                          .separator = '\t',
                                          .threads = 1,
                                          .part_bytes = part});
        }
    }
}

/* A NUL has no place in a string of C. */
static void
test_nul(void **state)
{
    static const char text[] = "a,b\n1,2\n3,\0\n\xff,5\n";
    (void)state;
    for (size_t part = 1; part < sizeof text; part++) {
        assert_same(
            text, sizeof text - 1,
            &(struct csv_way){.header = 1, .threads = 1, .part_bytes = part});
    }
}

/* Random letters of CSV, by three threads. */
static void
test_random(void **state)
{
    static const char letters[] = "1234567890,,,,,\n\n\n\"\" \t\r.ax";
    uint64_t noise = 1;
    (void)state;
    for (int trial = 0; trial < 4000; trial++) {
        char text[160];
        size_t size = 0, most = (size_t)trial % sizeof text;
        for (; size < most; size++) {
            noise =
                noise * UINT64_C(6364136223846793005) + 1442695040888963407u;
            /* one column, at times: then most texts are read */
            size_t skip = trial % 2 == 0 ? 15 : 0;
            text[size] =
                letters[skip + (noise >> 33) % (sizeof letters - 1 - skip)];
        }
        assert_same(text, size,
                    &(struct csv_way){.header = 0,
                                      .threads = trial % 50 == 0 ? 3 : 1,
                                      .part_bytes = 1 + noise % 40});
    }
}

/* More rows than a group of types or a part has, with line breaks in quotes,
   by three threads. */
static void
test_large(void **state)
{
    size_t rows = 60000, size = 0, room = rows * 40;
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
    assert_same(text, size, &(struct csv_way){.header = -1, .threads = 3});
    assert_same(
        text, size,
        &(struct csv_way){.header = -1, .threads = 3, .part_bytes = 1000});
    free(text);
}

static void
test_text(void **state)
{
    (void)state;
    for (size_t size = 0; size < 9000; size += 1 + size / 7) {
        uint8_t *text = malloc(size + 1);
        assert_non_null(text);
        for (size_t i = 0; i < size; i++) {
            text[i] = (uint8_t)(i % 5 == 0 ? ';' : i % 11 == 0 ? '\n' : 'x');
        }
        for (int odd = 0; odd < 3; odd++) {
            struct csv_text a, b;
            if (size > 0 && odd > 0) {
                text[(size_t)odd * 7919 % size] = odd == 1 ? 0xe9 : 0;
            }
            csv_text_look(text, size, ';', &a);
            csv_text_look_plain(text, size, ';', &b);
            assert_memory_equal(&a, &b, sizeof a);
        }
        free(text);
    }
    assert_int_equal(csv_text_skip((const uint8_t *)"a\nb\nc", 5, 1), 2);
    assert_int_equal(csv_text_skip((const uint8_t *)"a\nb\nc", 5, 2), 4);
    assert_int_equal(csv_text_skip((const uint8_t *)"a\nb\nc", 5, 3), 5);
}

/* No memory, at each place in turn. */
static void
test_memory(void **state)
{
    const char *text = texts[2];
    const struct csv_way way = {.header = 1, .threads = 2, .part_bytes = 4};
    size_t size = strlen(text);
    (void)state;
    long n = 0;
    do {
        struct outcome got = {0};
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        memcpy(bytes, text, size);
        fail_alloc_at(++n);
        got.status =
            csv_parse(bytes, size, "t.csv", &way, &got.table, &got.err);
        if (got.status != SOTTO_STATUS_OK) {
            assert_int_equal(got.status, SOTTO_STATUS_MEMORY);
            assert_null(got.table);
            free(bytes);
        }
        sotto_table_free(got.table);
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    assert_true(n > 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut), cmocka_unit_test(test_nul),
        cmocka_unit_test(test_random),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_text),      cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
