/*
 * test_report_file.c: files of reports, written and read back.
 */
#include "mechanism_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <jansson.h>

#include "fail_alloc.h"
#include "scratch.h"

#define REPORTS 20u
#define ROOM 256u

static struct sotto_error err;
static struct sotto_mechanism *mechanism;
static size_t each;
static uint8_t reports[REPORTS][ROOM]; /* the last is a device's */

/* ---- Helpers ------------------------------------------------------------ */

static int
setup(void **state)
{
    struct sotto_value none[FIXTURE_COLUMNS] = {{.kind = 0}};
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    each = mechanism->shape.report_size;
    for (uint64_t i = 0; i < REPORTS; i++) {
        fixture_report(mechanism, i, reports[i], each);
    }
    assert_int_equal(sotto_client_privatise(mechanism->client, none,
                                            FIXTURE_COLUMNS,
                                            reports[REPORTS - 1], each),
                     SOTTO_STATUS_OK);
    memset(&err, 0xa5, sizeof err);
    fail_alloc_at(0);
    return scratch_make();
}

static int
teardown(void **state)
{
    (void)state;
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

static enum sotto_status
write_all(const char *path)
{
    struct sotto_report_writer *writer = NULL;
    enum sotto_status status =
        sotto_report_writer_new(mechanism, path, &writer, &err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < REPORTS; i++) {
        status = sotto_report_writer_add(writer, reports[i], &err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_report_writer_free(writer);
        return status;
    }
    return sotto_report_writer_commit(writer, &err);
}

static void
assert_same(const struct sotto_report_reader *reader)
{
    assert_int_equal(sotto_report_reader_count(reader), REPORTS);
    for (size_t i = 0; i < REPORTS; i++) {
        assert_memory_equal(sotto_report_reader_at(reader, i), reports[i],
                            each);
    }
}

/* Parsing must fail with INPUT, at `position`, and say `message`. */
static void
assert_refused(const void *data, size_t size, size_t position,
               const char *message)
{
    struct sotto_report_reader *reader = NULL;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(sotto_report_reader_parse(mechanism, data, size, "r.bin",
                                               &reader, &err),
                     SOTTO_STATUS_INPUT);
    assert_null(reader);
    assert_int_equal(err.status, SOTTO_STATUS_INPUT);
    assert_int_equal(err.position, position);
    fixture_in(err.message, "'r.bin'");
    fixture_in(err.message, message);
    assert_int_equal(sotto_report_reader_parse(mechanism, data, size, "r.bin",
                                               &reader, NULL),
                     SOTTO_STATUS_INPUT);
}

/* The second line of a file of two, the first being good. */
static void
assert_line_refused(const char *line, const char *message)
{
    char *good = NULL, *file;
    assert_int_equal(sotto_report_json(mechanism, reports[0], &good, &err),
                     SOTTO_STATUS_OK);
    size_t size = strlen(good) + strlen(line) + 3;
    file = malloc(size);
    assert_non_null(file);
    (void)snprintf(file, size, "%s\n%s\n", good, line);
    assert_refused(file, size - 1, strlen(good) + 1, "report 2 (line 2): ");
    fixture_in(err.message, message);
    free(good);
    free(file);
}

/* The first report's line with `from` replaced by `to`. */
static char *
edited(const char *from, const char *to)
{
    static char line[2048];
    char *good = NULL, *at;
    assert_int_equal(sotto_report_json(mechanism, reports[0], &good, &err),
                     SOTTO_STATUS_OK);
    at = strstr(good, from);
    assert_non_null(at);
    (void)snprintf(line, sizeof line, "%.*s%s%s", (int)(at - good), good, to,
                   at + strlen(from));
    free(good);
    return line;
}

/* ---- Files -------------------------------------------------------------- */

static void
test_round_trips(void **state)
{
    static const char *const names[] = {"r.bin", "r.jsonl", ".jsonl"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct sotto_report_reader *reader = NULL;
        const char *path = in_folder(names[i]);
        assert_int_equal(write_all(path), SOTTO_STATUS_OK);
        assert_int_equal(
            sotto_report_reader_new(mechanism, path, &reader, &err),
            SOTTO_STATUS_OK);
        assert_same(reader);
        assert_true(sotto_report_simulated(sotto_report_reader_at(reader, 0)));
        assert_false(sotto_report_simulated(
            sotto_report_reader_at(reader, REPORTS - 1)));
        sotto_report_reader_free(reader);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        assert_int_equal(fgetc(file), i == 0 ? 'S' : '{');
        (void)fclose(file);
    }
    sotto_report_reader_free(NULL);
    assert_int_equal(entries(), 3);
}

static void
test_written_or_not(void **state)
{
    struct sotto_report_writer *writer = NULL;
    uint8_t bad[ROOM];
    (void)state;
    assert_int_equal(
        sotto_report_writer_new(mechanism, in_folder("a"), &writer, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_writer_add(writer, reports[0], &err),
                     SOTTO_STATUS_OK);
    memcpy(bad, reports[0], sizeof bad);
    bad[0] = 'x';
    assert_int_equal(sotto_report_writer_add(writer, bad, &err),
                     SOTTO_STATUS_INPUT);
    sotto_report_writer_free(writer);
    sotto_report_writer_free(NULL);
    assert_int_equal(entries(), 0);
    assert_int_equal(
        sotto_report_writer_new(mechanism, in_folder("none/a"), &writer, &err),
        SOTTO_STATUS_IO);
    struct sotto_report_reader *reader = NULL;
    assert_int_equal(
        sotto_report_reader_new(mechanism, in_folder("none"), &reader, &err),
        SOTTO_STATUS_IO);
    assert_null(reader);
}

/* ---- Binary ------------------------------------------------------------- */

static void
test_binary_refused(void **state)
{
    struct sotto_mechanism *other = fixture_open(&fixture_encoded);
    struct sotto_mechanism_info info;
    uint8_t file[3 * ROOM], foreign[ROOM];
    (void)state;
    assert_refused("", 0, 0, "is empty");
    for (size_t i = 0; i < 3; i++) {
        memcpy(file + i * each, reports[i], each);
    }
    assert_refused(file, 3 * each - 1, 2 * each, "are 2 whole reports of");
    fixture_in(err.message, "cut short");
    assert_refused(file, 10, 0, "are 0 whole reports of");
    assert_refused("hello", 5, 0, "is not a file of reports");

    file[2 * each] = 'X';
    assert_refused(file, 3 * each, 2 * each, "report 3: it does not start");
    memset(foreign, 'x', sizeof foreign);
    assert_refused(foreign, sizeof foreign, 0, "report 1: it does not start");
    file[2 * each] = 'S';
    file[3 * each - 1] = 12; /* flip of 12 symbols */
    assert_refused(file, 3 * each, 2 * each,
                   "report 3: block 1 of part 4 holds what its channel 'flip' "
                   "never sends");
    file[3 * each - 1] = 0;
    file[3 * each - 2] = 0; /* subset of none */
    assert_refused(file, 3 * each, 2 * each, "part 3");

    size_t size = other->shape.report_size;
    fixture_report(other, 0, foreign, size);
    sotto_mechanism_info(other, &info);
    assert_refused(foreign, size, 0, info.hash);
    fixture_in(err.message, "report 1: it was made by another mechanism");
    sotto_mechanism_info(mechanism, &info);
    fixture_in(err.message, info.hash);
    sotto_mechanism_free(other);
}

/* Of a long name the end is shown, and the reason is there. */
static void
test_long_name(void **state)
{
    char name[1000];
    struct sotto_report_reader *reader = NULL;
    (void)state;
    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 5, ".bin", 5);
    assert_int_equal(
        sotto_report_reader_parse(mechanism, "x", 1, name, &reader, &err),
        SOTTO_STATUS_INPUT);
    fixture_in(err.message, "nn.bin': its 1 bytes are 0 whole reports");
    fixture_in(err.message, "make or fetch it again");
}

/* ---- JSON Lines --------------------------------------------------------- */

static void
test_json_ends(void **state)
{
    static const char *const ends[] = {"", "\n", "\r\n", "\n\n", "\n  \t\n"};
    char *good = NULL, file[2048];
    struct sotto_report_reader *reader = NULL;
    (void)state;
    assert_int_equal(sotto_report_json(mechanism, reports[0], &good, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int size = snprintf(file, sizeof file, "%s%s", good, ends[i]);
        assert_int_equal(sotto_report_reader_parse(
                             mechanism, file, (size_t)size, "-", &reader, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_report_reader_count(reader), 1);
        assert_memory_equal(sotto_report_reader_at(reader, 0), reports[0],
                            each);
        sotto_report_reader_free(reader);
    }
    (void)snprintf(file, sizeof file, "%s\n\n%s", good, good);
    assert_refused(file, strlen(file), strlen(good) + 1, "report 2 (line 2)");
    free(good);
}

static void
test_json_refused(void **state)
{
    (void)state;
    assert_line_refused("[1]", "it is not a JSON object");
    assert_line_refused("{\"id\":\x01}", "it is not JSON");
    assert_line_refused("{}", "it lacks the key \"mechanism\"");
    assert_line_refused(edited("\"id\"", "\"ID\""), "lacks the key \"id\"");
    assert_line_refused(edited("{", "{\"x\\u001b\":1,"),
                        "a key \"x\xef\xbf\xbd\", which no report has");
    assert_line_refused(edited("{", "{\"simulated\":true,"), "duplicate");
    assert_line_refused(edited("true", "1"), "must be true or false");
    assert_line_refused(edited("\"id\":\"", "\"id\":\"0"), "32 hexadecimal");
    assert_line_refused(edited("\"mechanism\":\"", "\"mechanism\":\"0"),
                        "64 hexadecimal");
    assert_line_refused(edited("\"id\":", "\"id\":7,\"i\":"), "\"i\"");
    assert_line_refused(edited("\"parts\":[", "\"parts\":[[],"),
                        "a list of 4 lists");
    assert_line_refused(edited("\"parts\":[[", "\"parts\":[[0,"),
                        "part 1 must be a list of 1 whole numbers");
    assert_line_refused(edited("\"parts\":[[", "\"parts\":[[1e3"), "");
    assert_line_refused(edited("}", "} x"), "it is not JSON");
}

/* Numbers out of range, of another type, too large for JSON readers. */
static void
test_json_numbers(void **state)
{
    static const char *const firsts[] = {"140737488355328", "1.0", "\"1\"",
                                         "null", "-140737488355328"};
    char from[64], to[64];
    int64_t value;
    (void)state;
    sotto_report_values(mechanism, reports[0], 0, 0, &value);
    (void)snprintf(from, sizeof from, "[[%lld]", (long long)value);
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        (void)snprintf(to, sizeof to, "[[%s]", firsts[i]);
        assert_line_refused(edited(from, to), "block 1 of part 1 holds");
    }
    assert_line_refused(edited(from, "[[9223372036854775808]"),
                        "it is not JSON");
    assert_line_refused(edited(from, "[5"), "");
    assert_line_refused(edited(from, "[5"), "");
}

static void
test_json_foreign(void **state)
{
    struct sotto_mechanism *other = fixture_open(&fixture_encoded);
    uint8_t foreign[ROOM];
    char *line = NULL;
    struct sotto_mechanism_info info;
    (void)state;
    fixture_report(other, 0, foreign, other->shape.report_size);
    assert_int_equal(sotto_report_json(other, foreign, &line, &err),
                     SOTTO_STATUS_OK);
    sotto_mechanism_info(other, &info);
    assert_line_refused(line, info.hash);
    free(line);
    sotto_mechanism_free(other);
}

/* ---- Reports that came twice -------------------------------------------- */

/* Reports 0 1 0 2 1 0 are the reports 0 1 2, in either form. */
static void
test_repeated(void **state)
{
    static const size_t order[] = {0, 1, 0, 2, 1, 0};
    static const char *const names[] = {"r.bin", "r.jsonl"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sotto_report_writer *writer = NULL;
        struct sotto_report_reader *reader = NULL;
        const char *path = in_folder(names[i]);
        assert_int_equal(
            sotto_report_writer_new(mechanism, path, &writer, &err),
            SOTTO_STATUS_OK);
        for (size_t j = 0; j < sizeof order / sizeof *order; j++) {
            assert_int_equal(
                sotto_report_writer_add(writer, reports[order[j]], &err),
                SOTTO_STATUS_OK);
        }
        assert_int_equal(sotto_report_writer_commit(writer, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(
            sotto_report_reader_new(mechanism, path, &reader, &err),
            SOTTO_STATUS_OK);
        assert_int_equal(sotto_report_reader_count(reader), 3);
        assert_int_equal(sotto_report_reader_repeated(reader), 3);
        for (size_t j = 0; j < 3; j++) {
            assert_memory_equal(sotto_report_reader_at(reader, j), reports[j],
                                each);
        }
        sotto_report_reader_free(reader);
    }
}

/* One id, two contents: the first such pair of the file is named. */
static void
test_repeated_refused(void **state)
{
    uint8_t file[4 * ROOM];
    char lines[4 * 1024];
    size_t size = 0, position = 0;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        memcpy(file + i * each, reports[i], each);
    }
    memcpy(file + 3 * each + 36, sotto_report_id(reports[1]), SOTTO_ID_SIZE);
    assert_refused(file, 4 * each, 3 * each,
                   "reports 2 and 4 have one id but differ");
    fixture_in(err.message, "files of different campaigns were mixed");
    memcpy(file + 2 * each + 36, sotto_report_id(reports[0]), SOTTO_ID_SIZE);
    assert_refused(file, 4 * each, 2 * each, "reports 1 and 3 have one id");

    for (size_t i = 0; i < 4; i++) {
        char *line = NULL;
        assert_int_equal(
            sotto_report_json(mechanism, file + i * each, &line, &err),
            SOTTO_STATUS_OK);
        position = i == 2 ? size : position;
        size +=
            (size_t)snprintf(lines + size, sizeof lines - size, "%s\n", line);
        free(line);
    }
    assert_refused(lines, size, position, "reports 1 and 3 have one id");
}

static struct sotto_report_reader *
parse_some(size_t first, size_t count)
{
    struct sotto_report_reader *reader = NULL;
    uint8_t file[REPORTS * ROOM];
    for (size_t i = 0; i < count; i++) {
        memcpy(file + i * each, reports[first + i], each);
    }
    assert_int_equal(sotto_report_reader_parse(mechanism, file, count * each,
                                               "f", &reader, &err),
                     SOTTO_STATUS_OK);
    return reader;
}

/* Reports 0 to 4 and 3 to 7 are 0 to 7, two of which came twice. */
static void
test_joined(void **state)
{
    struct sotto_report_reader *one = parse_some(0, 5), *two = parse_some(3, 5);
    uint8_t other[ROOM];
    struct sotto_report_reader *third = NULL;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
    } while (sotto_report_reader_join(one, two, "two", &err) ==
             SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
    assert_int_equal(n, 3);
    assert_int_equal(sotto_report_reader_count(one), 8);
    assert_int_equal(sotto_report_reader_repeated(one), 2);
    for (size_t i = 0; i < 8; i++) {
        assert_memory_equal(sotto_report_reader_at(one, i), reports[i], each);
    }
    memcpy(other, reports[9], each);
    memcpy(other + 36, sotto_report_id(reports[1]), SOTTO_ID_SIZE);
    assert_int_equal(sotto_report_reader_parse(mechanism, other, each, "third",
                                               &third, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_reader_join(one, third, "third", &err),
                     SOTTO_STATUS_INPUT);
    fixture_in(err.message, "'third': its report 1 has the id of another");
    assert_int_equal(sotto_report_reader_count(one), 8);
    sotto_report_reader_free(one);
    sotto_report_reader_free(two);
    sotto_report_reader_free(third);
}

/* ---- Values ------------------------------------------------------------- */

/* Bytes that are no report give zeros, not a write beyond the values. */
static void
test_values(void **state)
{
    uint8_t bad[ROOM];
    int64_t values[4] = {-1, -1, -1, -1};
    struct sotto_part_info info;
    (void)state;
    sotto_mechanism_part(mechanism, 2, &info);
    assert_int_equal(info.values, 2); /* of four colours at eps 0.1 */
    sotto_report_values(mechanism, reports[0], 2, 0, values);
    assert_true(values[0] >= 0 && values[0] < values[1] && values[1] < 4);
    memcpy(bad, reports[0], sizeof bad);
    bad[shape_offset(&mechanism->shape, 2, 0)] = 0xff;
    sotto_report_values(mechanism, bad, 2, 0, values);
    assert_int_equal(values[0], 0);
    assert_int_equal(values[1], 0);
    assert_int_equal(values[2], -1);
}

/* ---- Lack of memory ----------------------------------------------------- */

/* jansson too allocates through the wrapped functions from here on. */
static void
test_memory(void **state)
{
    static const char *const names[] = {"r.bin", "r.jsonl"};
    (void)state;
    json_set_alloc_funcs(malloc, free);
    for (size_t i = 0; i < 2; i++) {
        enum sotto_status status;
        const char *path = in_folder(names[i]);
        long n = 0;
        do {
            fail_alloc_at(++n);
            status = write_all(path);
            long made = fail_alloc_count();
            fail_alloc_at(0);
            if (status != SOTTO_STATUS_OK) {
                assert_int_equal(status, SOTTO_STATUS_MEMORY);
                assert_int_equal(entries(), i);
            }
            if (made < n) {
                break;
            }
        } while (status != SOTTO_STATUS_OK);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_int_equal(entries(), i + 1);
        assert_true(n > 3);

        n = 0;
        struct sotto_report_reader *reader = NULL;
        do {
            sotto_report_reader_free(reader);
            reader = NULL;
            fail_alloc_at(++n);
            status = sotto_report_reader_new(mechanism, path, &reader, &err);
            assert_int_equal(status == SOTTO_STATUS_OK, reader != NULL);
            /* jansson's scanner tells a lack of memory as bad text. */
            assert_true(status == SOTTO_STATUS_OK ||
                        status == SOTTO_STATUS_MEMORY ||
                        (i == 1 && status == SOTTO_STATUS_INPUT));
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_same(reader);
        sotto_report_reader_free(reader);
    }
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trips),    TEST(test_written_or_not),
        TEST(test_binary_refused), TEST(test_long_name),
        TEST(test_json_ends),      TEST(test_json_refused),
        TEST(test_json_numbers),   TEST(test_json_foreign),
        TEST(test_repeated),       TEST(test_repeated_refused),
        TEST(test_joined),         TEST(test_values),
        TEST(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
