/*
 * test_sender.c: the sender without a network: what it takes, what it refuses,
 * a lack of memory, and a collector that is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/device.h"
#include "fail_alloc.h"
#include "host/clock.h"
#include "mechanism/mechanism.h"
#include "scratch.h"
#include "sotto/sotto.h"

#define SIZE ((size_t)REPORT_HEADER_SIZE + 4)
#define NOBODY "http://127.0.0.1:1/v1/campaigns/c" /* no service is there */

/* The clock that the sender looks at: the system's, or if it is set, this
   one. */
static struct {
    bool set;
    time_t now;
    time_t step; /* added at every second look */
    unsigned looks;
} utc;

time_t
time(time_t *ret_time)
{
    struct timespec at = {0};
    time_t now = utc.now + (utc.looks++ % 2 != 0 ? utc.step : 0);
    (void)clock_gettime(CLOCK_REALTIME, &at);
    now = utc.set ? now : at.tv_sec;
    if (ret_time != NULL) {
        *ret_time = now;
    }
    return now;
}

static int
setup(void **state)
{
    (void)state;
    utc.set = false;
    fail_alloc_at(0);
    return scratch_make();
}

static void
make(const char *magic, uint8_t salt, uint8_t report[SIZE])
{
    memset(report, salt, SIZE);
    memcpy(report, magic, REPORT_MAGIC_SIZE);
    memset(report + REPORT_MAGIC_SIZE, 7, SOTTO_HASH_SIZE);
}

/* The mechanism of what is made here. */
static uint8_t hash[SOTTO_HASH_SIZE];
static struct device_terms terms;
static struct sotto_mechanism mechanism;

/* Makes it end with a second of UTC; 0: never. */
static const struct sotto_mechanism *
mechanism_until(uint64_t ends)
{
    memset(hash, 7, sizeof hash);
    terms.expires = ends;
    mechanism.shape.hash = hash;
    mechanism.device.terms = &terms;
    return &mechanism;
}

static struct sotto_sender *
open_sender(struct sotto_sender_options options)
{
    struct sotto_sender *sender = NULL;
    struct sotto_error err = {0};
    options.url = options.url != NULL ? options.url : NOBODY;
    options.queue = in_folder("q");
    if (sotto_sender_open(&options, &sender, &err) != SOTTO_STATUS_OK) {
        fail_msg("open: %s", err.message);
    }
    sotto_sender_know(sender, mechanism_until(0));
    return sender;
}

/* Invariant 3: what a seeded generator made is not sent; and at a simulation
   nothing else is. */
static void
test_simulated(void **state)
{
    uint8_t real[SIZE], simulated[SIZE], other[SIZE];
    struct sotto_error err = {0};
    struct sotto_queued count = {0};
    (void)state;
    make(REPORT_MAGIC, 1, real);
    make(REPORT_MAGIC_SIMULATED, 2, simulated);
    make("STO2", 3, other);
    for (int simulation = 0; simulation < 2; simulation++) {
        struct sotto_sender *sender = open_sender(
            (struct sotto_sender_options){.simulation = simulation == 1});
        assert_int_equal(sotto_sender_queue(sender, real, SIZE, &err),
                         simulation ? SOTTO_STATUS_REFUSED : SOTTO_STATUS_OK);
        assert_int_equal(sotto_sender_queue(sender, simulated, SIZE, &err),
                         simulation ? SOTTO_STATUS_OK : SOTTO_STATUS_REFUSED);
        assert_int_equal(sotto_sender_queue(sender, other, SIZE, &err),
                         SOTTO_STATUS_REFUSED);
        assert_int_equal(
            sotto_sender_queue(sender, real, REPORT_HEADER_SIZE, &err),
            SOTTO_STATUS_FORMAT);
        assert_int_equal(sotto_sender_count(sender, &count, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(count.waiting, 1 + simulation);
        sotto_sender_free(sender);
    }
}

/* What is for the label only goes from curator to curator: the sender does not
   take it, whoever says of which mechanism it is. */
static void
test_label_only(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    (void)state;
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.tries = 1});
    make(REPORT_MAGIC, 1, report);
    terms.label_only = true;
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_REFUSED);
    assert_non_null(strstr(err.message, "for the label only"));
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_OK);
    assert_int_equal(sent.requests, 0);
    terms.label_only = false;
    sotto_sender_free(sender);
}

static void
test_options(void **state)
{
    const struct sotto_sender_options bad[] = {
        {.url = NULL, .queue = "q"},
        {.url = "http://example.org/v1/campaigns/c", .queue = "q"},
        {.url = NOBODY, .queue = NULL},
        {.url = NOBODY, .queue = "q", .batch = 10001},
        {.url = NOBODY, .queue = "q", .spread_s = 604801},
        {.url = NOBODY, .queue = "q", .proxy = "socks5h://127.0.0.1:9050"},
        {.url = NOBODY, .queue = "q", .ca = "not-there.pem"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sotto_sender *sender = NULL;
        struct sotto_error err = {0};
        assert_int_equal(sotto_sender_open(&bad[i], &sender, &err),
                         bad[i].ca != NULL ? SOTTO_STATUS_IO
                                           : SOTTO_STATUS_USAGE);
        assert_null(sender);
        assert_true(err.message[0] != '\0');
    }
    assert_int_equal(entries(), 0);
}

/* By name: what is not given stands at its default, here also the times. */
static void
test_settings(void **state)
{
    const struct sotto_setting set[] = {{"to", NOBODY}, {"batch", "7"}};
    const struct sotto_setting bad[] = {{"to", NOBODY}, {"grid", "86401"}};
    struct sotto_sender_options options = {.look = true};
    struct sotto_setting_info info;
    struct sotto_error err = {0};
    (void)state;
    assert_int_equal(sotto_sender_set(&options, set, 2, &err), SOTTO_STATUS_OK);
    assert_string_equal(options.url, NOBODY);
    assert_int_equal(options.batch, 7);
    assert_int_equal(options.tries, 8);
    assert_int_equal(options.spread_s, 10);
    assert_int_equal(options.grid_s, 1);
    assert_null(options.queue);
    assert_true(options.look);
    assert_int_equal(sotto_sender_set(&options, bad, 2, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.subject, "grid");
    assert_true(sotto_sender_setting_at(0, &info) && info.needed);
    assert_string_equal(info.name, "to");
    assert_false(sotto_sender_setting_at(9, &info));
}

/* Nobody answers: what waits stays, and is counted. */
static void
test_nobody(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    (void)state;
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.tries = 2, .wait_ms = 1});
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_OK);
    assert_int_equal(sent.requests, 0);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_IO);
    assert_int_equal(sent.requests, 2);
    assert_int_equal(sent.left, 1);
    assert_non_null(strstr(err.message, "127.0.0.1"));
    assert_non_null(strstr(err.message, "tries: 2"));
    sotto_sender_free(sender);
}

static bool
stop(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    ++*(size_t *)context;
    return false;
}

/* The time of sending is waited for, and the wait can be stopped. */
static void
test_spread(void **state)
{
    size_t ticks = 0;
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    (void)state;
    struct sotto_sender *sender = open_sender((struct sotto_sender_options){
        .spread_s = 600000, .watch = {stop, &ticks}});
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_OK);
    assert_int_equal(ticks, 0); /* for nothing it does not wait */
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err),
                     SOTTO_STATUS_STOPPED);
    assert_int_equal(ticks, 1);
    sotto_sender_free(sender);
}

/* What takes more than a quarter of the grid, or a time that could depend on
   the record, is refused before the collector is asked. */
static void
test_work(void **state)
{
    static const struct {
        uint64_t work;
        unsigned grid;
        bool uneven;
        enum sotto_status status;
    } cases[] = {
        {1 << 26, 1, false, SOTTO_STATUS_IO}, /* nobody answers */
        {(1 << 26) + 1, 1, false, SOTTO_STATUS_USAGE},
        {(1 << 26) + 1, 2, false, SOTTO_STATUS_IO},
        {UINT64_C(1) << 32, 63, false, SOTTO_STATUS_USAGE},
        {UINT64_C(1) << 32, 64, false, SOTTO_STATUS_IO},
        {UINT64_C(1) << 32, 0, false, SOTTO_STATUS_IO},
        {1, 1, true, SOTTO_STATUS_FORMAT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct device_terms slow = {.uneven = cases[i].uneven};
        struct sotto_mechanism other = {.device.terms = &slow};
        struct sotto_error err = {0};
        other.shape.work = cases[i].work;
        struct sotto_sender *sender = open_sender(
            (struct sotto_sender_options){.grid_s = cases[i].grid, .tries = 1});
        assert_int_equal(sotto_sender_check(sender, &other, "k.pub", &err),
                         cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        if (cases[i].status == SOTTO_STATUS_USAGE) {
            assert_non_null(strstr(err.message, "on a grid of"));
        }
        sotto_sender_free(sender);
    }
}

/* Full jitter: of 20 waits between two tries, each uniform in 0 to 200 ms, one
   is below half of it but for a chance of 2^-20. */
static void
test_jitter(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    double least = 1;
    (void)state;
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.tries = 2, .wait_ms = 200});
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    for (int i = 0; i < 20 && least >= 0.1; i++) {
        double began = host_seconds();
        assert_int_equal(sotto_sender_flush(sender, &sent, &err),
                         SOTTO_STATUS_IO);
        double took = host_seconds() - began;
        least = took < least ? took : least;
    }
    assert_true(least < 0.1);
    sotto_sender_free(sender);
}

/* Only reports whose end is known are queued; those of a mechanism that has
   ended stay, are not sent, and go when they are dropped. */
static void
test_end(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    struct sotto_queued count = {0};
    (void)state;
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.tries = 1});
    sotto_sender_know(sender, NULL);
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_USAGE);
    sotto_sender_know(sender, mechanism_until((uint64_t)time(NULL)));
    report[REPORT_MAGIC_SIZE]++;
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_USAGE);
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_OK);
    assert_int_equal(sent.requests, 0);
    assert_int_equal(sent.left, 0);
    assert_int_equal(sent.ended, 1);
    assert_int_equal(sotto_sender_drop(sender, &err), SOTTO_STATUS_OK);
    assert_int_equal(sotto_sender_count(sender, &count, &err), SOTTO_STATUS_OK);
    assert_int_equal(count.waiting + count.refused + count.ended, 0);
    sotto_sender_free(sender);
}

/* Lets the end come with the first wait for another try. */
static bool
end_at_wait(void *context, const char *what, uint64_t done, uint64_t total)
{
    (void)context, (void)done, (void)total;
    utc.now += strcmp(what, "waiting to try again") == 0 ? 1 : 0;
    return true;
}

/* The end comes between two tries: the second is not made. */
static void
test_end_between_tries(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    (void)state;
    utc.set = true;
    utc.now = 1000;
    utc.step = 0;
    struct sotto_sender *sender = open_sender((struct sotto_sender_options){
        .tries = 8, .wait_ms = 1, .watch = {.tick = end_at_wait}});
    sotto_sender_know(sender, mechanism_until(1001));
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_OK);
    assert_int_equal(sent.requests, 1);
    assert_int_equal(sent.left, 0);
    assert_int_equal(sent.ended, 1);
    sotto_sender_free(sender);
}

/* A clock before 1970 is one at 1970, and one that is set back and forth around
   an end sends nothing: either way there is an answer, and soon. */
static void
test_odd_clocks(void **state)
{
    uint8_t report[SIZE];
    struct sotto_error err = {0};
    struct sotto_sent sent;
    (void)state;
    (void)alarm(60);
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.tries = 1});
    sotto_sender_know(sender, mechanism_until(1001));
    make(REPORT_MAGIC, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    utc.set = true;
    utc.now = -5;
    utc.step = 0;
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_IO);
    assert_int_equal(sent.requests, 1);
    assert_int_equal(sent.left, 1);
    utc.now = 1000;
    utc.step = 1;
    utc.looks = 1; /* counted, then taken, then found to have ended */
    assert_int_equal(sotto_sender_flush(sender, &sent, &err), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "set back"));
    assert_int_equal(sent.requests, 0);
    (void)alarm(0);
    sotto_sender_free(sender);
}

/* What a look would show of a queue that somebody wrote to is what would be
   sent: neither is done. */
static void
test_kind(void **state)
{
    uint8_t report[SIZE], *next = NULL;
    struct sotto_error err = {0};
    struct sotto_sent sent;
    size_t size = 0, count = 0;
    (void)state;
    struct sotto_sender *sender =
        open_sender((struct sotto_sender_options){.simulation = true});
    make(REPORT_MAGIC_SIMULATED, 1, report);
    assert_int_equal(sotto_sender_queue(sender, report, SIZE, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_sender_next(sender, NULL, &next, &size, &count, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(size, SIZE);
    free(next);
    next = NULL;
    sotto_sender_free(sender);
    sender = open_sender((struct sotto_sender_options){.tries = 1});
    assert_int_equal(
        sotto_sender_next(sender, NULL, &next, &size, &count, &err),
        SOTTO_STATUS_FORMAT);
    assert_null(next);
    assert_int_equal(sotto_sender_flush(sender, &sent, &err),
                     SOTTO_STATUS_FORMAT);
    assert_int_equal(sent.requests, 0);
    assert_int_equal(sent.left, 1);
    sotto_sender_free(sender);
}

static enum sotto_status
run_all(const char *path, struct sotto_sent *sent, struct sotto_error *err)
{
    uint8_t report[SIZE];
    struct sotto_sender *sender = NULL;
    const struct sotto_sender_options options = {
        .url = NOBODY, .queue = path, .ca = "/dev/null", .tries = 1};
    make(REPORT_MAGIC, 1, report);
    enum sotto_status status = sotto_sender_open(&options, &sender, err);
    if (status == SOTTO_STATUS_OK) {
        sotto_sender_know(sender, mechanism_until(0));
        status = sotto_sender_queue(sender, report, SIZE, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_sender_flush(sender, sent, err);
    }
    sotto_sender_free(sender);
    return status;
}

static void
test_memory(void **state)
{
    struct sotto_error err = {0};
    struct sotto_sent sent;
    const char *path = in_folder("q");
    (void)state;
    for (long n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status = run_all(path, &sent, &err);
        bool done = fail_alloc_count() < n;
        fail_alloc_at(0);
        if (done) {
            assert_int_equal(status, SOTTO_STATUS_IO);
            assert_int_equal(sent.left, 1);
            break;
        }
        assert_true(status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_IO);
    }
}

/* Charges somebody, without a device. */
static enum sotto_status
charge(struct sotto_ledger *ledger, const char *person, uint8_t salt,
       struct sotto_error *err)
{
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    uint8_t report[SIZE];
    int found = 0;
    make(REPORT_MAGIC, salt, report);
    struct sotto_charge cost = {
        (const uint8_t *)person,    strlen(person), "c", 1,
        report + REPORT_MAGIC_SIZE, 1000000,        0};
    enum sotto_status status =
        port.begin(port.context, &cost, report, SIZE, &found, err);
    make(REPORT_MAGIC, salt, report);
    return status == SOTTO_STATUS_OK && !found
               ? port.commit(port.context, &cost, report, SIZE, err)
               : status;
}

static void
run_shell(const char *what)
{
    char command[1200];
    (void)snprintf(command, sizeof command, "cd '%s' && %s", folder, what);
    assert_int_equal(system(command), 0);
}

/* What was queued, its mark with it, tells of a ledger that was put back with
   all that lies beside it but the queue. */
static void
test_backup(void **state)
{
    struct sotto_ledger_caps caps = {"10", NULL, NULL, NULL};
    struct sotto_ledger *ledger = NULL;
    struct sotto_error err = {0};
    (void)state;
    assert_int_equal(sotto_ledger_create(in_folder("l"), &caps, &err),
                     SOTTO_STATUS_OK);
    run_shell("cp l old && cp l.mark old.mark");
    for (uint8_t i = 0; i < 2; i++) {
        struct sotto_sender *sender =
            open_sender((struct sotto_sender_options){.spread_s = 0});
        assert_int_equal(sotto_ledger_open(in_folder("l"), &ledger, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_sender_bind(sender, ledger, &err),
                         SOTTO_STATUS_OK);
        assert_int_equal(sotto_sender_begin(sender, &err), SOTTO_STATUS_OK);
        assert_int_equal(charge(ledger, "ann", 1 + i, &err),
                         i == 0 ? SOTTO_STATUS_OK : SOTTO_STATUS_REFUSED);
        assert_int_equal(sotto_sender_commit(sender, &err), SOTTO_STATUS_OK);
        sotto_sender_free(sender);
        sotto_ledger_free(ledger);
        run_shell("cp old l && cp old.mark l.mark");
    }
    assert_non_null(strstr(err.message, "backup"));
    /* With the queue put back, too, nobody could tell. */
    run_shell("rm q");
    assert_int_equal(sotto_ledger_open(in_folder("l"), &ledger, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(charge(ledger, "ann", 3, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_simulated, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_options, setup, scratch_tear_down),
        cmocka_unit_test(test_settings),
        cmocka_unit_test_setup_teardown(test_nobody, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_spread, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_work, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_jitter, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_kind, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_label_only, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_end, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_end_between_tries, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_odd_clocks, setup,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, setup, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_backup, setup, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
