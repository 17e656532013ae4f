/*
 * test_late.c: a record's report in time, and everything missing after it; no
 * process is left behind.
 */
#include "client/image_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "host/clock.h"
#include "verb/late.c"

#define SIDE 512u
#define SLOW_S 0.001 /* far less than its encoder takes */

/* Makes the report of a record with everything missing, as the caller does. */
static void
make_missing(struct opened *opened, uint8_t *report, size_t size)
{
    struct sotto_value missing[1] = {{.kind = SOTTO_VALUE_MISSING}};
    tape_start(NULL, 0);
    assert_int_equal(
        sotto_client_privatise(opened->client, missing, 1, report, size),
        SOTTO_STATUS_OK);
}

static void
check_no_child(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* "yes" is symbol 1 and nothing symbol 2, which epsilon 30 does not hide. */
static void
test_choice(void **state)
{
    static const struct schema_column column = {
        "label", SOTTO_COLUMN_CATEGORY, 3, label_values, false, 0, 1};
    static const struct compose_part part = {
        "label", "flip", UNITS(30), 1, 0, 0, 0, {{true, 0, 0}}, 1};
    static const struct compose_spec spec = {"s", "c",  "a", UNITS(30), &column,
                                             1,   NULL, 0,   &part,     1};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    struct sotto_value yes = value_text("yes");
    uint8_t report[REPORT_HEADER_SIZE + 1];
    (void)state;
    for (size_t i = 0; i < 20; i++) {
        struct late late = {.seconds = i % 2 == 0 ? 60 : 0};
        tape_start(NULL, 0);
        assert_true(late_start(&late, opened.client, &yes, 1, sizeof report));
        make_missing(&opened, report, sizeof report);
        late_take(&late, report);
        late_end(&late);
        assert_int_equal(report[REPORT_HEADER_SIZE], i % 2 == 0 ? 1 : 2);
        assert_int_equal(late.count, i % 2);
        assert_true(
            report_valid(&opened.client->report, report, sizeof report));
        check_no_child();
    }
    late_end(&(struct late){0});
    client_done(&opened);
    free(file.data);
}

/* An encoder that takes long, and one that is stopped: the time has an end. */
static void
test_slow(void **state)
{
    static uint8_t pixels[SIDE * SIDE];
    struct sotto_value image = value_bytes(pixels, sizeof pixels);
    struct net net;
    (void)state;
    net_init(&net, SIDE, SIDE, 1);
    net_conv(&net, 31, 1, 15, 1, 0, "none");
    struct file file = net_file(&net);
    struct opened opened = client_open(file);
    size_t size = sotto_client_report_size(opened.client);
    uint8_t *report = malloc(2 * size), *missing = report + size;
    assert_non_null(report);
    make_missing(&opened, missing, size);
    for (int stopped = 0; stopped < 2; stopped++) {
        struct late late = {.seconds = stopped ? 0.1 : SLOW_S};
        memcpy(report, missing, size);
        assert_true(late_start(&late, opened.client, &image, 1, size));
        assert_true(!stopped || kill(late.child, SIGSTOP) == 0);
        double began = host_seconds();
        late_take(&late, report);
        assert_true(!stopped || host_seconds() - began > 0.09);
        late_end(&late);
        assert_int_equal(late.count, 1);
        assert_memory_equal(report, missing, size);
        check_no_child();
    }
    client_done(&opened);
    free(report);
    free(file.data);
    free(net.weights);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
