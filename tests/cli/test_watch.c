/*
 * test_watch.c: signals that ask long work to stop, and the bar it draws.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "cli/progress.c"
#include "cli/watch.c"

static void (*handler_of(int signal))(int)
{
    struct sigaction action;
    assert_int_equal(sigaction(signal, NULL, &action), 0);
    return action.sa_handler;
}

static void
ours(int signal)
{
    (void)signal;
}

/* Asked once, the work stops; asked twice, the program ends; afterwards the
   signals do what they did before. */
static void
test_signals(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct watch watch;
        struct sotto_watch port;
        (void)signal(SIGINT, ours);
        (void)signal(SIGTERM, ours);
        watch_start(&watch);
        port = watch_port(&watch);
        assert_true(port.tick(port.context, "training", 0, 9));
        assert_true(port.tick(port.context, "training", 1, 9));
        assert_false(watch_asked());
        assert_int_equal(raise(signals[i]), 0);
        assert_true(watch_asked());
        assert_false(port.tick(port.context, "training", 2, 9));
        assert_false(port.tick(port.context, "encoding", 0, 5));
        assert_true(handler_of(signals[i]) == SIG_DFL);
        watch_end(&watch);
        assert_true(handler_of(SIGINT) == ours);
        assert_true(handler_of(SIGTERM) == ours);
        watch_start(&watch); /* the next one is not stopped */
        port = watch_port(&watch);
        assert_true(port.tick(port.context, "training", 0, 9));
        watch_end(&watch);
    }
}

/* What was ignored (nohup) stays ignored. */
static void
test_ignored(void **state)
{
    struct watch watch;
    struct sotto_watch port;
    (void)state;
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, ours);
    watch_start(&watch);
    port = watch_port(&watch);
    assert_true(handler_of(SIGINT) == SIG_IGN);
    assert_int_equal(raise(SIGINT), 0);
    assert_true(port.tick(port.context, "training", 0, 9));
    assert_int_equal(raise(SIGTERM), 0);
    assert_false(port.tick(port.context, "training", 1, 9));
    watch_end(&watch);
    assert_true(handler_of(SIGINT) == SIG_IGN);
    assert_true(handler_of(SIGTERM) == ours);
}

/* The text may go once tick has returned. */
static void
test_text(void **state)
{
    struct watch watch;
    struct sotto_watch port;
    char text[128] = "training";
    (void)state;
    watch_start(&watch);
    port = watch_port(&watch);
    assert_true(port.tick(port.context, text, 0, 9));
    (void)strcpy(text, "encoding");
    assert_string_equal(watch.bar.what, "training");
    assert_true(port.tick(port.context, text, 0, 7));
    assert_string_equal(watch.bar.what, "encoding");
    memset(text, 'x', sizeof text - 1); /* longer than what is kept */
    assert_true(port.tick(port.context, text, 0, 5));
    assert_true(port.tick(port.context, text, 3, 5));
    assert_int_equal(watch.first, 0);
    assert_int_equal(strlen(watch.bar.what), WATCH_WHAT_SIZE - 1);
    watch_end(&watch);
}

/* What was done before this run counts neither as done nor as left. */
static void
test_resumed(void **state)
{
    struct watch watch;
    struct sotto_watch port;
    (void)state;
    watch_start(&watch);
    port = watch_port(&watch);
    assert_true(port.tick(port.context, "training", 40, 100));
    assert_int_equal(watch.bar.total, 60);
    assert_int_equal(watch.first, 40);
    assert_true(port.tick(port.context, "training", 41, 100));
    assert_int_equal(watch.bar.total, 60);
    assert_true(port.tick(port.context, "encoding", 0, 7));
    assert_string_equal(watch.bar.what, "encoding");
    assert_int_equal(watch.bar.total, 7);
    watch_end(&watch);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_ignored),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
