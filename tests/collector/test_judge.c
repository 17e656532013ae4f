/*
 * test_judge.c: a body of reports, each judged by itself.
 */
#include "../mechanism/mechanism_fixture.h"

#include <stdio.h>

#include "collector/judge.h"
#include "fail_alloc.h"

static struct sotto_error err;
static struct sotto_mechanism *mechanism;
static size_t size;

static int
set_up(void **state)
{
    (void)state;
    mechanism = fixture_open(&fixture_plain);
    size = mechanism->shape.report_size;
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sotto_mechanism_free(mechanism);
    return 0;
}

/* Report i of the fixture, as a device would send it. */
static void
put_report(uint8_t *to, uint64_t i)
{
    fixture_report(mechanism, i, to, size);
    memcpy(to, REPORT_MAGIC, REPORT_MAGIC_SIZE);
}

static void
settle_all(struct judge *judge)
{
    const uint8_t *report;
    for (size_t at = 0, slot = 0; judge_next(judge, &at, &slot, &report);) {
        judge_settle(judge, at, false);
    }
}

static void
assert_answer(const struct judge *judge, const char *wanted)
{
    struct host_text text;
    host_text_init(&text, 1 << 20);
    judge_write(judge, &text);
    assert_false(text.failed);
    assert_string_equal(text.data, wanted);
    assert_in_range(text.size, 1,
                    judge_answer_most(judge->count -
                                          judge->found[JUDGE_ACCEPTED] -
                                          judge->found[JUDGE_DUPLICATE],
                                      judge->found[JUDGE_ACCEPTED] +
                                          judge->found[JUDGE_DUPLICATE]));
    host_text_clear(&text);
}

static void
test_binary(void **state)
{
    uint8_t body[8 * 256];
    struct judge judge;
    const uint8_t *report = NULL;
    size_t at = 0, slot = 0;
    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        put_report(body + i * size, i);
    }
    body[1 * size + 4] ^= 1;                            /* the hash */
    memcpy(body + 2 * size, REPORT_MAGIC_SIMULATED, 4); /* simulated */
    memset(body + 3 * size + 52, 0xff, size - 52);      /* impossible */
    body[4 * size] = 'X';                               /* no report */
    assert_int_equal(judge_body(&judge, mechanism, JUDGE_BINARY, false, body,
                                6 * size + 7, 7, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(judge.count, 7);
    assert_int_equal(judge.found[JUDGE_PENDING], 2);
    assert_true(judge_next(&judge, &at, &slot, &report));
    assert_int_equal(at, 0);
    assert_ptr_equal(report, body);
    judge_settle(&judge, at, false);
    assert_true(judge_next(&judge, &at, &slot, &report));
    assert_int_equal(at, 5);
    assert_ptr_equal(report, body + 5 * size);
    judge_settle(&judge, at, true);
    assert_false(judge_next(&judge, &at, &slot, &report));
    /* What was not committed is pending again, and only that. */
    judge_unsettle(&judge);
    assert_int_equal(judge.found[JUDGE_PENDING], 2);
    assert_int_equal(judge.found[JUDGE_ACCEPTED], 0);
    assert_int_equal(judge.found[JUDGE_DUPLICATE], 0);
    judge_settle(&judge, 0, false);
    judge_settle(&judge, 5, true);
    assert_answer(
        &judge,
        "{\"accepted\":1,\"duplicate\":1,\"refused\":5,\"duplicates\":[5],"
        "\"refusals\":[{\"report\":1,\"code\":\"hash\",\"why\":\"it was made "
        "by another mechanism; fetch this campaign's again\"},{\"report\":2,"
        "\"code\":\"simulated\",\"why\":\"a collector takes either simulated "
        "reports or real ones, and this is of the other kind\"},{\"report\":3,"
        "\"code\":\"impossible\",\"why\":\"no device sends this payload; make "
        "the report again\"},{\"report\":4,\"code\":\"malformed\",\"why\":\"it "
        "is cut short or does not start as reports do\"},{\"report\":6,"
        "\"code\":\"malformed\",\"why\":\"it is cut short or does not start "
        "as reports do\"}]}\n");
    judge_clear(&judge);
}

/* Cut at any byte: malformed, and nothing behind the body is read. Another
   mechanism's is known as such from its header on. */
static void
test_cut(void **state)
{
    uint8_t report[256];
    (void)state;
    for (int foreign = 0; foreign < 2; foreign++) {
        put_report(report, 5);
        report[20] ^= (uint8_t)foreign;
        for (size_t length = REPORT_MAGIC_SIZE; length < size; length++) {
            bool known = foreign == 1 && length >= REPORT_HEADER_SIZE;
            uint8_t *body = malloc(length);
            struct judge judge;
            assert_non_null(body);
            memcpy(body, report, length);
            assert_int_equal(judge_body(&judge, mechanism, JUDGE_BINARY, false,
                                        body, length, 1, &err),
                             SOTTO_STATUS_OK);
            assert_int_equal(judge.one, known ? JUDGE_HASH : JUDGE_MALFORMED);
            judge_clear(&judge);
            free(body);
        }
    }
}

/* Every single bit of a report's beginning and hash matters. */
static void
test_bits(void **state)
{
    uint8_t body[256];
    struct judge judge;
    (void)state;
    put_report(body, 3);
    for (size_t bit = 32; bit < 8 * 52; bit++) {
        bool hash = bit < 8 * 36;
        body[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(judge_body(&judge, mechanism, JUDGE_BINARY, false,
                                    body, size, 1, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(judge.one, hash ? JUDGE_HASH : JUDGE_PENDING);
        body[bit / 8] ^= (uint8_t)(1u << bit % 8);
        judge_clear(&judge);
    }
}

static void
expect_fail(enum judge_form form, const void *body, size_t length, size_t most,
            enum sotto_status wanted, const char *says)
{
    struct judge judge;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(
        judge_body(&judge, mechanism, form, false, body, length, most, &err),
        wanted);
    assert_int_equal(err.status, wanted);
    assert_non_null(strstr(err.message, says));
    /* It goes into an answer as it is. */
    assert_null(strpbrk(err.message, "\"\\\n"));
    judge_clear(&judge);
}

static void
test_no_list(void **state)
{
    uint8_t body[3 * 256];
    (void)state;
    put_report(body, 1);
    put_report(body + size, 2);
    expect_fail(JUDGE_BINARY, "", 0, 9, SOTTO_STATUS_INPUT, "empty");
    expect_fail(JUDGE_LINES, "", 0, 9, SOTTO_STATUS_INPUT, "empty");
    expect_fail(JUDGE_LINES, " \n\r\n", 4, 9, SOTTO_STATUS_INPUT, "no list");
    expect_fail(JUDGE_LINES, "x\ny", 3, 9, SOTTO_STATUS_INPUT, "no list");
    expect_fail(JUDGE_BINARY, "STO", 3, 9, SOTTO_STATUS_INPUT, "no list");
    expect_fail(JUDGE_BINARY, "{}", 2, 9, SOTTO_STATUS_INPUT, "no list");
    expect_fail(JUDGE_BINARY, body, 2 * size, 1, SOTTO_STATUS_LIMIT, "at most");
    expect_fail(JUDGE_BINARY, body, size + 1, 1, SOTTO_STATUS_LIMIT, "at most");
    expect_fail(JUDGE_LINES, "{\n{", 3, 1, SOTTO_STATUS_LIMIT, "at most");
}

/* Body of `count` lines with the fixture's reports, and bad ones between. */
static char *
make_lines(size_t count, size_t *ret_size)
{
    struct host_text text;
    host_text_init(&text, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        uint8_t report[256];
        char *line = NULL;
        put_report(report, i);
        assert_int_equal(sotto_report_json(mechanism, report, &line, &err),
                         SOTTO_STATUS_OK);
        if (i % 5 == 1) { /* of another mechanism */
            line[14] = line[14] == '0' ? '1' : '0';
        }
        if (i % 5 == 2) { /* cut short */
            line[strlen(line) - 1] = ' ';
        }
        host_text_print(&text, "%s%s", line, i % 2 == 0 ? "\r\n\n" : "\n");
        free(line);
    }
    *ret_size = text.size;
    return text.data;
}

static void
test_lines(void **state)
{
    struct judge judge;
    size_t length = 0, at = 0, slot = 0, seen = 0;
    char *body = make_lines(40, &length);
    const uint8_t *report = NULL;
    (void)state;
    assert_int_equal(judge_body(&judge, mechanism, JUDGE_LINES, false,
                                (uint8_t *)body, length, 40, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(judge.count, 40);
    assert_int_equal(judge.found[JUDGE_HASH], 8);
    assert_int_equal(judge.found[JUDGE_MALFORMED], 8);
    assert_int_equal(judge.found[JUDGE_PENDING], 24);
    while (judge_next(&judge, &at, &slot, &report)) {
        uint8_t wanted[256];
        put_report(wanted, at);
        assert_memory_equal(report, wanted, size);
        judge_settle(&judge, at, seen++ % 3 == 0);
    }
    assert_int_equal(seen, 24);
    assert_int_equal(judge.whys, JUDGE_WHY_MOST);
    /* Again from the start, once some are settled and some not. */
    judge_unsettle(&judge);
    judge_settle(&judge, 0, false);
    at = slot = 0;
    assert_true(judge_next(&judge, &at, &slot, &report));
    assert_int_equal(at, 3);
    uint8_t wanted[256];
    put_report(wanted, 3);
    assert_memory_equal(report, wanted, size);
    judge_clear(&judge);
    free(body);
}

static void
test_line_codes(void **state)
{
    static const struct {
        const char *line;
        enum judge_verdict verdict;
    } cases[] = {
        {"{\"mechanism\":\"%s\",\"id\":\"%032d\",\"simulated\":false,"
         "\"parts\":[[0],[0,0],[0,1],[0]]}",
         JUDGE_PENDING},
        {"{\"mechanism\":\"%s\",\"id\":\"%032d\",\"simulated\":true,"
         "\"parts\":[[0],[0,0],[0,1],[0]]}",
         JUDGE_SIMULATED},
        {"{\"mechanism\":\"%s\",\"id\":\"%032d\",\"simulated\":false,"
         "\"parts\":[[0],[0,0],[0,1],[99]]}",
         JUDGE_IMPOSSIBLE},
        {"{\"mechanism\":\"%s\",\"id\":\"%032d\",\"simulated\":false,"
         "\"parts\":[[0.5],[0,0],[0,1],[0]]}",
         JUDGE_IMPOSSIBLE},
        {"{\"mechanism\":\"%s\",\"id\":\"%032d\",\"simulated\":0,"
         "\"parts\":[[0],[0,0],[0,1],[0]]}",
         JUDGE_MALFORMED},
        {"{\"mechanism\":\"%s\",\"id\":\"%031d\",\"simulated\":false,"
         "\"parts\":[[0],[0,0],[0,1],[0]]}",
         JUDGE_MALFORMED},
        {"{\"mechanism\":\"0%s\",\"id\":\"%032d\",\"simulated\":false,"
         "\"parts\":[[0],[0,0],[0,1],[0]]}",
         JUDGE_MALFORMED},
    };
    struct sotto_mechanism_info info;
    (void)state;
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judge judge;
        char line[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(line, sizeof line, cases[i].line, info.hash, 7);
#pragma GCC diagnostic pop
        assert_int_equal(judge_body(&judge, mechanism, JUDGE_LINES, false,
                                    (uint8_t *)line, strlen(line), 1, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(judge.one, cases[i].verdict);
        judge_clear(&judge);
    }
}

/* What a client wrote and a message quotes cannot break the answer. */
static void
test_quoting(void **state)
{
    static const char body[] = "{\"a\\\"\x7f\xc3\xa9\":1}";
    struct judge judge;
    struct host_text text;
    (void)state;
    assert_int_equal(judge_body(&judge, mechanism, JUDGE_LINES, false,
                                (const uint8_t *)body, sizeof body - 1, 1,
                                &err),
                     SOTTO_STATUS_OK);
    host_text_init(&text, 4096);
    judge_write(&judge, &text);
    for (size_t i = 0; i < text.size; i++) {
        assert_true((text.data[i] >= ' ' && text.data[i] <= '~') ||
                    (text.data[i] == '\n' && i + 1 == text.size));
    }
    host_text_clear(&text);
    judge_clear(&judge);
}

static void
test_memory(void **state)
{
    size_t length = 0;
    char *body = make_lines(20, &length);
    (void)state;
    fail_alloc_at(0);
    struct judge judge;
    for (int form = 0; form < 2; form++) {
        uint8_t binary[3 * 256];
        const uint8_t *data = form == 0 ? (uint8_t *)body : binary;
        size_t data_size = form == 0 ? length : 3 * size;
        for (uint64_t i = 0; i < 3; i++) {
            put_report(binary + i * size, i);
        }
        for (long n = 1;; n++) {
            fail_alloc_at(n);
            enum sotto_status status = judge_body(
                &judge, mechanism, form == 0 ? JUDGE_LINES : JUDGE_BINARY,
                false, data, data_size, 20, &err);
            long count = fail_alloc_count();
            fail_alloc_at(0);
            if (status == SOTTO_STATUS_OK) {
                settle_all(&judge);
            } else {
                assert_int_equal(status, SOTTO_STATUS_MEMORY);
            }
            judge_clear(&judge);
            if (count < n) {
                assert_int_equal(status, SOTTO_STATUS_OK);
                break;
            }
        }
    }
    free(body);
}

/* The longest answers there are: every report refused, with quoted text in the
   explanations; and every report a duplicate. */
static void
test_answer_most(void **state)
{
    static const char line[] = "{\"\\u0022\\u0022\\u0022\\u0022\\\\\\\\\":1}\n";
    enum { LINES_OF = 1000 };
    size_t line_size = sizeof line - 1;
    char *body = malloc(LINES_OF * line_size);
    uint8_t *reports = malloc(LINES_OF * size);
    struct host_text text;
    struct judge judge;
    const uint8_t *report;
    (void)state;
    assert_true(body != NULL && reports != NULL);
    for (size_t i = 0; i < LINES_OF; i++) {
        memcpy(body + i * line_size, line, line_size);
        put_report(reports + i * size, i);
    }
    assert_int_equal(judge_body(&judge, mechanism, JUDGE_LINES, false,
                                (const uint8_t *)body, LINES_OF * line_size,
                                LINES_OF, &err),
                     SOTTO_STATUS_OK);
    host_text_init(&text, judge_answer_most(LINES_OF, 0));
    judge_write(&judge, &text);
    assert_false(text.failed);
    assert_in_range(judge_answer_most(LINES_OF, 0), text.size, 2 * text.size);
    host_text_clear(&text);
    judge_clear(&judge);
    assert_int_equal(judge_body(&judge, mechanism, JUDGE_BINARY, false, reports,
                                LINES_OF * size, LINES_OF, &err),
                     SOTTO_STATUS_OK);
    for (size_t at = 0, slot = 0; judge_next(&judge, &at, &slot, &report);) {
        judge_settle(&judge, at, true);
    }
    host_text_init(&text, judge_answer_most(0, LINES_OF));
    judge_write(&judge, &text);
    assert_false(text.failed);
    host_text_clear(&text);
    judge_clear(&judge);
    free(reports);
    free(body);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),      cmocka_unit_test(test_cut),
        cmocka_unit_test(test_bits),        cmocka_unit_test(test_no_list),
        cmocka_unit_test(test_lines),       cmocka_unit_test(test_line_codes),
        cmocka_unit_test(test_quoting),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_answer_most),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
