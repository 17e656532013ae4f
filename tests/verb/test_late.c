/*
 * test_late.c: a record's report in time, and everything missing after it; no
 * process is left behind; and the schedule, on a clock of the test's own, is
 * the same whatever encoders take.
 */
#include "client/image_fixture.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "cli/watch.h"
#include "host/clock.h"

/* A world of the test's own, for which late.c is compiled: its clock stands
   still but where something takes time, and a child is a moment at which it
   ends. Off: the system's. */
static struct {
    bool on;
    double now;
    double child;    /* seconds that the next child takes */
    double ends;     /* when the child at hand has ended */
    double teardown; /* seconds that it takes to end one that runs */
    double asked;    /* when somebody asks to stop; 0: nobody does */
} world;

static double
world_seconds(void)
{
    return world.on ? world.now : host_seconds();
}

static bool
world_asked(void)
{
    return world.on && world.asked > 0 && world.now >= world.asked;
}

static int
world_sleep(const struct timespec *time, struct timespec *rest)
{
    if (!world.on) {
        return nanosleep(time, rest);
    }
    world.now += (double)time->tv_sec + 1e-9 * (double)time->tv_nsec + 1e-9;
    return 0;
}

static pid_t
world_fork(void)
{
    world.ends = world.now + world.child;
    return world.on ? 7 : fork();
}

static pid_t
world_wait(pid_t child, int *status, int how)
{
    if (!world.on) {
        return waitpid(child, status, how);
    }
    return how != WNOHANG || world.now >= world.ends ? child : 0;
}

static int
world_kill(pid_t child, int number)
{
    world.now += world.on ? world.teardown : 0;
    return world.on ? 0 : kill(child, number);
}

#define host_seconds world_seconds
#define watch_asked world_asked
#define nanosleep world_sleep
#define fork world_fork
#define waitpid world_wait
#define kill world_kill
#include "verb/late.c"
#undef host_seconds
#undef watch_asked
#undef nanosleep
#undef fork
#undef waitpid
#undef kill

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
        struct late late = {
            .schedule = {.encoder = i % 2 == 0 ? 4 : 0, .stop = 0.001}};
        make_missing(&opened, report, sizeof report);
        tape_start(NULL, 0);
        double began = host_seconds();
        assert_true(start_child(&late, opened.client, &yes, 1, sizeof report));
        if (i % 2 == 0 && i > 0) { /* no longer than the child takes */
            while (!late.made->whole) {
                sched_yield();
            }
            late.until = host_seconds() + 0.2;
        }
        take_report(&late, report);
        assert_true(host_seconds() >= late.until);
        assert_true(i > 0 || host_seconds() - began >= late.schedule.encoder);
        end_child(&late);
        /* No time at all may still be enough, where a fork returns late. */
        assert_true(i % 2 == 1 || late.count == 0);
        assert_int_equal(report[REPORT_HEADER_SIZE], late.count == 0 ? 1 : 2);
        assert_true(
            report_valid(&opened.client->report, report, sizeof report));
        check_no_child();
    }
    end_child(&(struct late){0});
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
        struct late late = {.schedule.encoder = stopped ? 0.1 : SLOW_S};
        memcpy(report, missing, size);
        double began = host_seconds();
        assert_true(start_child(&late, opened.client, &image, 1, size));
        assert_true(!stopped || kill(late.child, SIGSTOP) == 0);
        take_report(&late, report);
        assert_true(!stopped || host_seconds() - began > 0.09);
        end_child(&late);
        assert_int_equal(late.count, 1);
        assert_memory_equal(report, missing, size);
        check_no_child();
    }
    client_done(&opened);
    free(report);
    free(file.data);
    free(net.weights);
}

#define PEOPLE 40u

/* What the ledger, the missing record's report and the disk take, of each. */
struct costs {
    double begin[PEOPLE], missing[PEOPLE], charge[PEOPLE];
};

static double
draw_up_to(double most)
{
    return most * rand() / RAND_MAX;
}

/* Asks everybody: when each charge begins, and behind them when all is done.
   The encoders take up to `slowest` seconds, and ending one up to `stop`. */
static void
run_schedule(const struct costs *costs, double read, double slowest,
             double ret_times[PEOPLE + 1])
{
    struct late late = {.schedule = {10.25, 0.12, 0.06, 0.01}};
    uint8_t report[1];
    world.on = true;
    world.now = read;
    for (size_t i = 0; i < PEOPLE; i++) {
        world.now += costs->begin[i] + costs->missing[i];
        world.child = draw_up_to(slowest);
        world.teardown = draw_up_to(0.009);
        assert_int_equal(late_make(&late, NULL, NULL, 0, report, sizeof report),
                         SOTTO_STATUS_OK);
        ret_times[i] = world.now;
        world.now += costs->charge[i];
        late_rest(&late);
    }
    ret_times[PEOPLE] = world.now;
    world.on = false;
    assert_int_equal(late.turns, PEOPLE);
}

/* Hostile encoders on disks that are fast, slow now and then, and always slow:
   every charge begins, and all ends, when it does with encoders that take no
   time at all; to a microsecond, which is what sums of doubles allow. */
static void
test_schedule(void **state)
{
    static const double disk[] = {0.02, 0.2, 2};
    (void)state;
    srand(7);
    for (size_t trial = 0; trial < 60; trial++) {
        struct costs costs;
        double with[PEOPLE + 1], without[PEOPLE + 1];
        double read = 10 + draw_up_to(trial % 2 == 0 ? 0.2 : 3);
        for (size_t i = 0; i < PEOPLE; i++) {
            costs.begin[i] = draw_up_to(0.005);
            costs.missing[i] = draw_up_to(0.01);
            costs.charge[i] = draw_up_to(disk[trial % 3]);
        }
        run_schedule(&costs, read, 0, without);
        for (size_t i = 0; i < 5; i++) {
            run_schedule(&costs, read, i % 2 == 0 ? 0.059 : 1, with);
            for (size_t k = 0; k <= PEOPLE; k++) {
                assert_true(fabs(with[k] - without[k]) < 1e-6);
            }
        }
        if (trial % 6 == 0) { /* as planned, where nothing is slow */
            assert_true(fabs(with[PEOPLE] - 10.25 - PEOPLE * 0.12) < 1e-6);
        }
    }
}

/* Whoever asks to stop before the first turn, while the encoder works, while it
   is ended or between two turns waits for none of that, and no child is left;
   but for the last, STOPPED says that nobody is to be charged. */
static void
test_stop(void **state)
{
    static const double asked[] = {50, 500, 1000.5, 2000};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct late late = {.schedule = {100, 10000, 900, 1}};
        uint8_t report[1];
        world.on = true;
        world.now = 10;
        world.child = 1e6;
        world.teardown = 0;
        world.asked = asked[i];
        assert_int_equal(late_make(&late, NULL, NULL, 0, report, sizeof report),
                         i < 3 ? SOTTO_STATUS_STOPPED : SOTTO_STATUS_OK);
        if (i == 3) {
            late_rest(&late);
        }
        assert_true(world.now >= asked[i] && world.now < asked[i] + 0.11);
        assert_true(late.child == 0 && late.made == NULL);
        world.on = false;
        world.asked = 0;
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
