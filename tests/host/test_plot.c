/*
 * test_plot.c: the picture holds every point in its place, and is well-formed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/plot.h"
#include "host/text.h"

static size_t
count(const char *text, const char *what)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) {
        found++;
    }
    return found;
}

/* Tags open and close; text holds no bare < or &. */
static void
check_form(const char *text)
{
    int depth = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '&') {
            assert_true(strncmp(at, "&amp;", 5) == 0 ||
                        strncmp(at, "&lt;", 4) == 0);
        }
        if (*at != '<') {
            continue;
        }
        const char *end = strchr(at, '>');
        assert_non_null(end);
        assert_int_equal(count(at, "\"") % 2, count(end, "\"") % 2);
        depth += at[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
        assert_true(depth >= 0);
        at = end;
    }
    assert_int_equal(depth, 0);
}

static void
test_points(void **state)
{
    static const double x[] = {10, 1, INFINITY};
    static const double ours[] = {100, 0, 50}, bars[] = {5, NAN, 5};
    static const double theirs[] = {80, NAN, 150};
    static const struct plot_series series[] = {
        {"theirs", PLOT_DASHED, "#111111", theirs, NULL},
        {"marks", PLOT_MARKS, "#222222", ours, NULL},
        {"ours", PLOT_LINE, "#333333", ours, bars},
    };
    struct plot plot = {"A < B & C", "sub", x, 3, series, 3};
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    plot_svg(&text, &plot);
    assert_false(text.failed);
    check_form(text.data);
    assert_non_null(strstr(text.data, ">A &lt; B &amp; C<"));
    /* 3 and 2 dots, and one in the legend for each series with dots */
    assert_int_equal(count(text.data, "<circle"), 3 + 2 + 2);
    /* ours has two finite epsilons, theirs one: one line */
    assert_int_equal(count(text.data, "<polyline"), 1);
    assert_non_null(strstr(text.data, "points=\"98.0,376.0 582.0,76.0\""));
    assert_int_equal(count(text.data, ">none<"), 1);
    assert_int_equal(count(text.data, ">10<"), 1);
    /* what is beyond 100 is drawn at 100 */
    assert_non_null(strstr(text.data, "cx=\"650.0\" cy=\"76.0\""));
    assert_non_null(strstr(text.data, ">ours<"));
    host_text_clear(&text);
}

/* Another y axis, in small steps; its name is escaped. */
static void
test_y_axis(void **state)
{
    static const double x[] = {1, 2}, y[] = {1, 0.25};
    static const struct plot_series series = {"s", PLOT_LINE, "#333333", y,
                                              NULL};
    struct plot plot = {"t", "s", x, 2, &series, 1, .high = 2, .y_name = "a<b"};
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    plot_svg(&text, &plot);
    assert_false(text.failed);
    check_form(text.data);
    assert_non_null(strstr(text.data, ">a&lt;b</text>"));
    assert_null(strstr(text.data, "accuracy"));
    assert_int_equal(count(text.data, ">0.25<"), 1);
    assert_int_equal(count(text.data, ">1.75<"), 1);
    host_text_clear(&text);
}

/* A loss: steps of its own, x on a linear scale, names in several lines. */
static void
test_loss(void **state)
{
    static const double x[] = {1, 2, 4}, y[] = {0.03, 0.02, 0.015};
    struct plot_series series[5];
    struct plot plot = {"t",
                        "s",
                        x,
                        3,
                        series,
                        5,
                        .high = 0.03,
                        .step = 0.01,
                        .x_name = "Z<",
                        .linear = true};
    struct host_text text;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        series[i] = (struct plot_series){"a-name-of-some-length", PLOT_LINE,
                                         "#333333", y, NULL};
    }
    host_text_init(&text, 1 << 20);
    plot_svg(&text, &plot);
    assert_false(text.failed);
    check_form(text.data);
    assert_non_null(strstr(text.data, ">Z&lt;</text>"));
    assert_null(strstr(text.data, "logarithmic"));
    assert_int_equal(count(text.data, ">0.02<"), 1);
    /* 2 is a third of the way from 1 to 4 */
    assert_int_equal(count(text.data, "cx=\"287.3\" cy=\"176.0\""), 5);
    /* three names in a line, so two lines */
    assert_non_null(strstr(text.data, "height=\"490\""));
    assert_int_equal(count(text.data, "y=\"452.5\""), 3);
    assert_int_equal(count(text.data, "y=\"472.5\""), 2);
    host_text_clear(&text);
}

/* None, one, and many close together. */
static void
test_few_and_many(void **state)
{
    double x[PLOT_POINTS_MOST], y[PLOT_POINTS_MOST];
    const struct plot_series series = {"s", PLOT_LINE, "#333333", y, NULL};
    (void)state;
    for (size_t i = 0; i < PLOT_POINTS_MOST; i++) {
        x[i] = 0.5 + 0.001 * (double)i;
        y[i] = 50;
    }
    for (size_t n = 0; n <= PLOT_POINTS_MOST; n = 2 * n + 1) {
        struct plot plot = {"t", "s", x, n, &series, 1};
        struct host_text text;
        host_text_init(&text, 1 << 20);
        plot_svg(&text, &plot);
        assert_false(text.failed);
        check_form(text.data);
        assert_null(strstr(text.data, "nan"));
        assert_null(strstr(text.data, "inf"));
        assert_int_equal(count(text.data, "<circle"), n + 1);
        host_text_clear(&text);
    }
}

/* Without memory the text says so and nothing is read past its end. */
static void
test_ceiling(void **state)
{
    static const double x[] = {1}, y[] = {50};
    const struct plot_series series = {"s", PLOT_LINE, "#333333", y, NULL};
    struct plot plot = {"t", "s", x, 1, &series, 1};
    struct host_text text;
    (void)state;
    host_text_init(&text, 500);
    plot_svg(&text, &plot);
    assert_true(text.failed);
    host_text_clear(&text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),  cmocka_unit_test(test_y_axis),
        cmocka_unit_test(test_loss),    cmocka_unit_test(test_few_and_many),
        cmocka_unit_test(test_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
