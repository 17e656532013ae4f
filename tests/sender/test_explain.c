/*
 * test_explain.c: the explanation holds every byte of a request, in order.
 */
#include "mechanism/mechanism_fixture.h"

#include <stdio.h>

#include "fail_alloc.h"
#include "scratch.h"
#include "sender/sender.h"

static struct sotto_mechanism *mechanism;
static struct sotto_sender *sender;
static uint8_t reports[2][256];
static size_t each;

static int
setup(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    fail_alloc_at(0);
    if (scratch_make() != 0) {
        return -1;
    }
    mechanism = fixture_open(&fixture_plain);
    each = mechanism->shape.report_size;
    for (uint64_t i = 0; i < 2; i++) {
        fixture_report(mechanism, i, reports[i], each);
    }
    const struct sotto_sender_options options = {
        .url = "https://example.org/v1/campaigns/spring",
        .queue = in_folder("q"),
        .look = true};
    return sotto_sender_open(&options, &sender, &err) == SOTTO_STATUS_OK ? 0
                                                                         : -1;
}

static int
teardown(void **state)
{
    (void)state;
    sotto_sender_free(sender);
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

/* The bytes that an explanation's body shows. */
static size_t
read_bytes(const char *text, uint8_t *ret_bytes)
{
    size_t size = 0;
    const char *line = strstr(text, "\nBody, ");
    assert_non_null(line);
    while ((line = strchr(line, '\n')) != NULL) {
        unsigned offset, byte;
        int used = 0;
        line++;
        if (sscanf(line, "  %6x  %n", &offset, &used) != 1 || used != 10) {
            continue;
        }
        assert_int_equal(offset, size % each);
        const char *at = line + used;
        while (at < line + used + 48 && sscanf(at, "%2x ", &byte) == 1 &&
               at[2] == ' ' && at[0] != ' ') {
            ret_bytes[size++] = (uint8_t)byte;
            at += 3;
        }
    }
    return size;
}

static void
test_all_bytes(void **state)
{
    uint8_t both[512], shown[2048];
    char *text = NULL, wanted[200];
    struct sotto_error err = {0};
    (void)state;
    memcpy(both, reports[0], each);
    memcpy(both + each, reports[1], each);
    assert_int_equal(
        sotto_sender_explain(sender, mechanism, both, each, 2, &text, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(read_bytes(text, shown), 2 * each);
    assert_memory_equal(shown, both, 2 * each);
    static const char *const pieces[] = {
        "POST /v1/campaigns/spring/reports HTTP/1.1",
        "Host: example.org ",
        "User-Agent: sotto ",
        "Content-Type: application/octet-stream ",
        "the mechanism's hash",
        "drawn at random",
        "SIM1",
        "inside TLS"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (strstr(text, pieces[i]) == NULL) {
            fail_msg("no '%s' in %s", pieces[i], text);
        }
    }
    (void)snprintf(wanted, sizeof wanted, "Content-Length: %zu ", 2 * each);
    assert_non_null(strstr(text, wanted));
    free(text);
}

/* Of another mechanism: every byte all the same, whatever its size. */
static void
test_other(void **state)
{
    uint8_t other[100], shown[2048];
    char *text = NULL;
    struct sotto_error err = {0};
    size_t mine = each;
    (void)state;
    memset(other, 0x37, sizeof other);
    memcpy(other, REPORT_MAGIC, REPORT_MAGIC_SIZE);
    assert_int_equal(sotto_sender_explain(sender, mechanism, other,
                                          sizeof other, 1, &text, &err),
                     SOTTO_STATUS_OK);
    each = sizeof other;
    assert_int_equal(read_bytes(text, shown), sizeof other);
    each = mine;
    assert_memory_equal(shown, other, sizeof other);
    assert_non_null(strstr(text, "another mechanism's hash"));
    assert_null(strstr(text, "part 1"));
    free(text);
}

/* A look neither makes nor takes anything. */
static void
test_look(void **state)
{
    struct sotto_error err = {0};
    struct sotto_sent sent;
    struct sotto_queued queued = {7, 7, 7};
    size_t count = 7, size = 7;
    uint8_t *next = NULL;
    (void)state;
    assert_int_equal(sotto_sender_count(sender, &queued, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(queued.waiting + queued.refused + queued.ended, 0);
    assert_int_equal(
        sotto_sender_next(sender, mechanism, &next, &size, &count, &err),
        SOTTO_STATUS_OK);
    assert_null(next);
    sotto_sender_know(sender, mechanism);
    memcpy(reports[0], REPORT_MAGIC, REPORT_MAGIC_SIZE);
    assert_int_equal(sotto_sender_queue(sender, reports[0], each, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_sender_fetch(sender, in_folder("m"), "k", "0", &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_sender_check(sender, mechanism, "k", &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_sender_retry(sender, &err), SOTTO_STATUS_USAGE);
    assert_int_equal(sotto_sender_drop(sender, &err), SOTTO_STATUS_USAGE);
    assert_int_equal(entries(), 0);
}

static void
test_memory(void **state)
{
    char *text = NULL;
    struct sotto_error err = {0};
    (void)state;
    for (long n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status = sotto_sender_explain(
            sender, mechanism, reports[0], each, 1, &text, &err);
        bool done = fail_alloc_count() < n;
        fail_alloc_at(0);
        assert_int_equal(status, done ? SOTTO_STATUS_OK : SOTTO_STATUS_MEMORY);
        if (done) {
            free(text);
            break;
        }
        assert_null(text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other, setup, teardown),
        cmocka_unit_test_setup_teardown(test_look, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
