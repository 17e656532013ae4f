/*
 * demo_plot.c: the pictures of the demo's page: inline SVG whose colours are
 * the page's classes, so that they follow its light and dark scheme.
 */
#include <math.h>
#include <string.h>

#include "cli/confidence.h"
#include "cli/demo.h"

#define WIDTH 760.0

/* A scale from data to picture. */
struct scale {
    double from, to;   /* data */
    double left, size; /* picture */
};

static double
at(const struct scale *scale, double x)
{
    return scale->left +
           scale->size * (x - scale->from) / (scale->to - scale->from);
}

static void
begin(FILE *to, double height, const char *title)
{
    (void)fprintf(to,
                  "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                  "aria-label=\"%s\">\n",
                  WIDTH, height, title);
}

static void
line(FILE *to, const char *class, double x1, double y1, double x2, double y2)
{
    (void)fprintf(to,
                  "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                  "y2=\"%.1f\"/>\n",
                  class, x1, y1, x2, y2);
}

static void
rect(FILE *to, const char *class, double x, double y, double width,
     double height)
{
    (void)fprintf(to,
                  "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\" rx=\"2\"/>\n",
                  class, x, y, width, height);
}

static void
circle(FILE *to, const char *class, double x, double y, double radius)
{
    (void)fprintf(to,
                  "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                  class, x, y, radius);
}

static void
text(FILE *to, const char *class, double x, double y, const char *words)
{
    (void)fprintf(to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    demo_html_text(to, words);
    (void)fprintf(to, "</text>\n");
}

static void
number(FILE *to, const char *class, double x, double y, const char *format,
       double value)
{
    char words[48];
    if (strcmp(format, "%") == 0) {
        (void)snprintf(words, sizeof words,
                       fabs(value) < 1 ? "%.3g%%" : "%.0f%%", 100 * value);
    } else {
        (void)snprintf(words, sizeof words, "%.4g", value);
    }
    text(to, class, x, y, words);
}

static double
share(const struct demo_row *row, double value)
{
    return (value - row->range_low) / (row->range_high - row->range_low);
}

/* ---- Means: one line a column, from one end of its range to the other ---- */

/* Rows above 0 and 1 where the widest interval ends. */
static struct scale
mean_scale(const struct demo *demo)
{
    struct scale x = {0, 1, 170, WIDTH - 170 - 30};
    for (size_t i = 0; i < demo->rows; i++) {
        const struct demo_row *row = &demo->row[i];
        if (row->category[0] == '\0') {
            x.from = fmin(x.from, share(row, row->low) - 0.02);
            x.to = fmax(x.to, share(row, row->high) + 0.02);
        }
    }
    return x;
}

static void
mean_line(FILE *to, const struct scale *x, double y, const struct demo_row *row)
{
    double low = at(x, share(row, row->low));
    double high = at(x, share(row, row->high));
    double truth = at(x, share(row, row->truth));
    text(to, "name", 0, y + 1, row->name);
    rect(to, "track", at(x, 0), y - 9, at(x, 1) - at(x, 0), 10);
    rect(to, "interval", low, y - 9, high - low, 10);
    line(to, "truth", truth, y - 16, truth, y + 8);
    circle(to, "estimate", at(x, share(row, row->value)), y - 4, 5.5);
    /* A narrow range has no room for its ends' numbers between them. */
    bool narrow = at(x, 1) - at(x, 0) < 130;
    number(to, narrow ? "tick end" : "tick start", at(x, 0), y + 20, "",
           row->range_low);
    number(to, narrow ? "tick start" : "tick end", at(x, 1), y + 20, "",
           row->range_high);
}

void
demo_plot_means(FILE *to, const struct demo *demo)
{
    struct scale x = mean_scale(demo);
    double y = 30;
    size_t means = 0;
    for (size_t i = 0; i < demo->rows; i++) {
        means += demo->row[i].category[0] == '\0' ? 1 : 0;
    }
    begin(to, 12 + 62 * (double)means, "Means: truth and estimates");
    for (size_t i = 0; i < demo->rows; i++) {
        if (demo->row[i].category[0] == '\0') {
            mean_line(to, &x, y, &demo->row[i]);
            y += 62;
        }
    }
    (void)fprintf(to, "</svg>\n");
}

/* ---- Frequencies: two bars a category ------------------------------------ */

static struct scale
frequency_scale(const struct demo *demo)
{
    struct scale y = {0, 0.1, 0, 0};
    for (size_t i = 0; i < demo->rows; i++) {
        const struct demo_row *row = &demo->row[i];
        if (row->category[0] != '\0') {
            y.from = fmin(y.from, row->low);
            y.to = fmax(y.to, fmax(row->high, row->truth));
        }
    }
    y.left = 210; /* the picture's y grows downwards */
    y.size = -185;
    return y;
}

/* 0.25, 0.5, 1, 2.5, 5, 10, ...: at most seven fit into the extent. */
static double
tick_step(double extent)
{
    double step = 0.25;
    for (int i = 0; extent / step > 6 && i < 60; i++) {
        step *= i % 3 == 2 ? 2.5 : 2;
    }
    return step;
}

static void
bar(FILE *to, const struct scale *y, const char *class, double x, double value)
{
    double top = at(y, fmax(value, 0)), bottom = at(y, fmin(value, 0));
    rect(to, class, x, top, 52, fmax(bottom - top, 1));
}

static void
frequency_bars(FILE *to, const struct scale *y, double x,
               const struct demo_row *row)
{
    static const struct {
        const char *category, *words;
    } names[] = {{"M", "M (malignant)"}, {"B", "B (benign)"}};
    const char *words = row->category;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(row->category, names[i].category) == 0) {
            words = names[i].words;
        }
    }
    bar(to, y, "truth-bar", x, row->truth);
    bar(to, y, "estimate-bar", x + 60, row->value);
    line(to, "whisker", x + 86, at(y, row->low), x + 86, at(y, row->high));
    line(to, "whisker", x + 79, at(y, row->low), x + 93, at(y, row->low));
    line(to, "whisker", x + 79, at(y, row->high), x + 93, at(y, row->high));
    number(to, "tick middle", x + 26, at(y, fmax(row->truth, 0)) - 6, "%",
           row->truth);
    double level = at(y, row->value) + 4;
    if (fabs(level - at(y, 0)) < 12) { /* not on the axis */
        level = at(y, 0) - 6;
    }
    number(to, "tick start", x + 116, level, "%", row->value);
    text(to, "name middle", x + 56, 240, words);
}

void
demo_plot_frequencies(FILE *to, const struct demo *demo)
{
    struct scale y = frequency_scale(demo);
    double x = 90;
    begin(to, 250, "Diagnosis: truth and estimates");
    double step = tick_step(y.to - y.from);
    for (int i = (int)ceil(y.from / step); i * step <= y.to; i++) {
        double level = at(&y, i * step);
        line(to, i == 0 ? "axis" : "grid", 60, level, WIDTH, level);
        number(to, "tick end", 50, level + 4, "%", i * step);
    }
    for (size_t i = 0; i < demo->rows; i++) {
        if (demo->row[i].category[0] != '\0') {
            frequency_bars(to, &y, x, &demo->row[i]);
            x += 220;
        }
    }
    (void)fprintf(to, "</svg>\n");
}

/* ---- How the interval shrinks -------------------------------------------- */

/* The noise of n independent reports falls as 1 / sqrt(n). */
double
demo_half_width(const struct demo *demo, const struct demo_row *row, double n)
{
    double one = row->noise * sqrt((double)demo->people);
    return confidence_z(DEMO_CONFIDENCE) * one / sqrt(n) /
           (row->range_high - row->range_low);
}

static void
people_grid(FILE *to, const struct scale *x, const struct scale *y)
{
    static const char *const people[] = {"100", "1,000", "10,000", "100,000",
                                         "1,000,000"};
    for (int i = 2; i <= 6; i++) {
        line(to, "grid", at(x, i), y->left, at(x, i), y->left + y->size);
        text(to, "tick middle", at(x, i), y->left + 20, people[i - 2]);
    }
    for (int i = (int)ceil(y->from); i <= y->to; i++) {
        line(to, "grid", x->left, at(y, i), x->left + x->size, at(y, i));
        number(to, "tick end", x->left - 8, at(y, i) + 4, "%", pow(10, i));
    }
    text(to, "tick middle", x->left + x->size / 2, y->left + 42,
         "people who report (both axes logarithmic)");
}

static void
people_line(FILE *to, const struct demo *demo, const struct demo_row *row,
            const struct scale *x, const struct scale *y, const char *class)
{
    char words[160];
    bool mean = row->category[0] == '\0';
    double first = log10(demo_half_width(demo, row, 1e2));
    double last = log10(demo_half_width(demo, row, 1e6));
    double here = log10((double)demo->people);
    double level = log10(demo_half_width(demo, row, (double)demo->people));
    line(to, class, at(x, 2), at(y, first), at(x, 6), at(y, last));
    circle(to, mean ? "estimate" : "second-dot", at(x, here), at(y, level), 5);
    (void)snprintf(words, sizeof words, "%s: \xc2\xb1%.2g%% with %zu people",
                   mean ? "mean of a number, share of its range"
                        : "share of a diagnosis",
                   100 * pow(10, level), demo->people);
    double top = y->left + y->size + (mean ? 14 : 36);
    circle(to, mean ? "estimate" : "second-dot", at(x, 3.55), top - 4, 5);
    text(to, "legend", at(x, 3.55) + 12, top, words);
}

void
demo_plot_people(FILE *to, const struct demo *demo)
{
    const struct demo_row *mean = NULL, *frequency = NULL;
    struct scale x = {2, 6, 70, WIDTH - 70 - 40};
    struct scale y = {0, 0, 260, -245};
    for (size_t i = demo->rows; i-- > 0;) {
        if (demo->row[i].category[0] == '\0') {
            mean = &demo->row[i];
        } else {
            frequency = &demo->row[i];
        }
    }
    if (mean == NULL || frequency == NULL) {
        return;
    }
    y.from = log10(fmin(demo_half_width(demo, mean, 1e6),
                        demo_half_width(demo, frequency, 1e6)));
    y.to = log10(fmax(demo_half_width(demo, mean, 1e2),
                      demo_half_width(demo, frequency, 1e2)));
    y.from -= 0.15;
    y.to += 0.25;
    begin(to, 310, "How the interval shrinks with the number of people");
    people_grid(to, &x, &y);
    people_line(to, demo, frequency, &x, &y, "second-line");
    people_line(to, demo, mean, &x, &y, "first-line");
    (void)fprintf(to, "</svg>\n");
}
