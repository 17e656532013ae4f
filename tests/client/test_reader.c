/*
 * test_reader.c: the matcher of canonical JSON, on its own.
 */
#include "client_fixture.h"

static struct reader
reader_on(const char *text)
{
    struct reader reader;
    reader_init(&reader, (const uint8_t *)text, strlen(text));
    return reader;
}

static void
test_match(void **state)
{
    struct reader reader = reader_on("{\"a\":1");
    (void)state;
    assert_false(reader_match(&reader, "{\"b"));
    assert_ptr_equal(reader.at, reader.start);
    assert_true(reader_match(&reader, "{\"a"));
    assert_false(reader_match(&reader, "\":12"));
    assert_true(reader_match(&reader, "\":1"));
    assert_ptr_equal(reader.at, reader.end);
    assert_true(reader_match(&reader, ""));
    assert_false(reader_match(&reader, "x"));
    assert_int_equal(reader.status, SOTTO_STATUS_OK);
    reader_expect(&reader, "x");
    assert_int_equal(reader.status, SOTTO_STATUS_FORMAT);
    assert_false(reader_match(&reader, "")); /* stopped for good */
}

static void
test_match_escaped(void **state)
{
    struct reader reader = reader_on("\\\"a\\\":\"b\\");
    (void)state;
    assert_false(reader_match(&reader, "\"a"));
    reader.escaped = true;
    assert_true(reader_match(&reader, "\"a\":"));
    assert_false(reader_match(&reader, "\"b")); /* the mark lacks its slash */
    reader.escaped = false;
    assert_true(reader_match(&reader, "\"b"));
    reader.escaped = true;
    assert_false(reader_match(&reader, "\"")); /* the end, behind the slash */
}

static void
check_number(const char *text, uint64_t least, uint64_t most,
             enum sotto_status status, uint64_t value)
{
    struct reader reader = reader_on(text);
    assert_int_equal(reader_number(&reader, least, most), value);
    assert_int_equal(reader.status, status);
    assert_true(reader.at <= reader.end);
}

static void
test_number(void **state)
{
    (void)state;
    check_number("0", 0, 9, SOTTO_STATUS_OK, 0);
    check_number("7,", 0, 9, SOTTO_STATUS_OK, 7);
    check_number("4294967295", 1, UINT32_MAX, SOTTO_STATUS_OK, UINT32_MAX);
    check_number("4294967296", 1, UINT32_MAX, SOTTO_STATUS_LIMIT, 1);
    check_number("99999999999999999999999999999999999", 1, UINT32_MAX,
                 SOTTO_STATUS_LIMIT, 1);
    check_number("18446744073709551617", 1, 16, SOTTO_STATUS_LIMIT, 1);
    check_number("2", 3, 9, SOTTO_STATUS_LIMIT, 3);
    check_number("", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number("x", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number("-1", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number("+1", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number(" 1", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number("01", 0, 9, SOTTO_STATUS_FORMAT, 0);
    check_number("00", 0, 9, SOTTO_STATUS_FORMAT, 0);
}

static void
check_string(const char *text, size_t most, enum sotto_status status,
             const char *value)
{
    struct reader reader = reader_on(text);
    struct reader_word word = reader_string(&reader, most);
    assert_int_equal(reader.status, status);
    if (value != NULL) {
        assert_true(reader_is(word, value));
        assert_ptr_equal(reader.at, reader.end);
    }
}

static void
test_string(void **state)
{
    (void)state;
    check_string("\"\"", 0, SOTTO_STATUS_OK, "");
    check_string("\"ab\"", 2, SOTTO_STATUS_OK, "ab");
    check_string("\" ~\"", 2, SOTTO_STATUS_OK, " ~");
    check_string("\"abc\"", 2, SOTTO_STATUS_LIMIT, NULL);
    check_string("\"ab", 2, SOTTO_STATUS_FORMAT, NULL);
    check_string("\"", 2, SOTTO_STATUS_FORMAT, NULL);
    check_string("", 2, SOTTO_STATUS_FORMAT, NULL);
    check_string("ab\"", 2, SOTTO_STATUS_FORMAT, NULL);
    check_string("\"a\\n\"", 9, SOTTO_STATUS_FORMAT, NULL);
    check_string("\"a\tb\"", 9, SOTTO_STATUS_FORMAT, NULL);
    check_string("\"a\x7f\"", 9, SOTTO_STATUS_FORMAT, NULL);
    check_string("\"\xc3\xa9\"", 9, SOTTO_STATUS_FORMAT, NULL);
}

static void
test_is(void **state)
{
    struct reader_word word = {"relu!", 4};
    (void)state;
    assert_true(reader_is(word, "relu"));
    assert_false(reader_is(word, "rel"));
    assert_false(reader_is(word, "relu!"));
    assert_false(reader_is(word, ""));
    word.size = 0;
    assert_true(reader_is(word, ""));
}

/* The first failure decides, and tells its place. */
static void
test_status(void **state)
{
    struct reader reader = reader_on("abc");
    struct sotto_error err;
    (void)state;
    poison(&err);
    assert_int_equal(reader_status(&reader, &err), SOTTO_STATUS_OK);
    assert_int_equal(err.position, (size_t)UINT64_C(0xeeeeeeeeeeeeeeee));
    assert_true(reader_match(&reader, "ab"));
    reader_fail(&reader, SOTTO_STATUS_LIMIT, "the first problem");
    reader_fail(&reader, SOTTO_STATUS_FORMAT, "the second problem");
    assert_int_equal(reader_status(&reader, &err), SOTTO_STATUS_LIMIT);
    check_error(&err, SOTTO_STATUS_LIMIT, 3);
    assert_int_equal(err.position, 2);
    assert_string_equal(err.message, "the first problem");
    assert_int_equal(reader_status(&reader, NULL), SOTTO_STATUS_LIMIT);
}

/* Every function stops at the end, wherever that is. */
static void
test_never_past_the_end(void **state)
{
    const char *text = "{\"key\":123,\"name\":\"word\"}";
    (void)state;
    for (size_t size = 0; size <= strlen(text); size++) {
        uint8_t *copy = malloc(size > 0 ? size : 1);
        struct reader reader;
        assert_non_null(copy);
        memcpy(copy, text, size);
        reader_init(&reader, copy, size);
        reader_expect(&reader, "{\"key\":");
        (void)reader_number(&reader, 0, 999);
        reader_expect(&reader, ",\"name\":");
        (void)reader_string(&reader, 10);
        reader_expect(&reader, "}");
        assert_true((reader.status == SOTTO_STATUS_OK) ==
                    (size == strlen(text)));
        assert_true(reader.at <= reader.end);
        free(copy);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_match_escaped),
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_string),
        cmocka_unit_test(test_is),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_never_past_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
