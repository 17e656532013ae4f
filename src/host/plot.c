/*
 * plot.c: a picture of accuracy or loss against epsilon, as SVG text.
 *
 *     +----------------------------------------------+
 *     | title                                        |
 *     | subtitle                                     |
 *     |  100 |                              |        |
 *     |      |          the field           | none   |
 *     |    0 |______________________________|________|
 *     |        1     2     4    6   8  10               |
 *     |              legend                          |
 *     +----------------------------------------------+
 *
 * One size, absolute coordinates, no style sheet, no script, fonts that every
 * system has: it looks the same wherever SVG is drawn.
 */
#include "host/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/printable.h"
#include "host/text.h"

#define WIDTH 720.0
#define HEIGHT 470.0
#define LEFT 72.0
#define RIGHT 692.0
#define TOP 76.0
#define BOTTOM 376.0
#define GAP 84.0       /* of the right part, for "none" */
#define LEGEND_LINE 3u /* so many names stay in one line */
#define LEGEND_STEP 20.0
#define INSET 26.0 /* of the first and last epsilon from the edges */
#define FONT "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\""
#define INK "#1f2933"
#define GREY "#616e7c"
#define GRID "#e4e7eb"

/* Where things are, and how epsilons become places. */
struct frame {
    struct host_text *text;
    const struct plot *plot;
    double low, high;   /* at the ends of the field's scale of x */
    double right;       /* of the field */
    double bottom, top; /* of y */
};

/* ---- Text --------------------------------------------------------------- */

static void
add_escaped(struct host_text *text, const char *from)
{
    struct host_text safe;
    host_text_init(&safe, 4096);
    host_printable_add(&safe, from, 200);
    for (size_t i = 0; !safe.failed && i < safe.size; i++) {
        char at = safe.data[i];
        if (at == '<') {
            host_text_print(text, "&lt;");
        } else if (at == '&') {
            host_text_print(text, "&amp;");
        } else {
            host_text_add(text, &at, 1);
        }
    }
    text->failed = text->failed || safe.failed;
    host_text_clear(&safe);
}

static void
put_text(struct host_text *text, double x, double y, const char *anchor,
         const char *colour, int size, const char *what)
{
    host_text_print(text,
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" "
                    "fill=\"%s\" font-size=\"%d\">",
                    x, y, anchor, colour, size);
    add_escaped(text, what);
    host_text_print(text, "</text>\n");
}

/* `style`: more attributes, each behind a blank. */
static void
put_line(struct host_text *text, double x1, double y1, double x2, double y2,
         const char *colour, const char *style)
{
    host_text_print(text,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                    "stroke=\"%s\"%s/>\n",
                    x1, y1, x2, y2, colour, style);
}

/* ---- Places ------------------------------------------------------------- */

/* x on the frame's scale. */
static double
scale_x(const struct frame *frame, double x)
{
    return frame->plot->linear ? x : log(x);
}

static double
place_x(const struct frame *frame, double eps)
{
    if (!isfinite(eps)) {
        return RIGHT - GAP / 2;
    }
    double share =
        frame->high > frame->low
            ? (scale_x(frame, eps) - frame->low) / (frame->high - frame->low)
            : 0.5;
    return LEFT + INSET + share * (frame->right - LEFT - 2 * INSET);
}

static double
place_y(const struct frame *frame, double percent)
{
    double inside = fmin(fmax(percent, frame->bottom), frame->top);
    return BOTTOM - (inside - frame->bottom) / (frame->top - frame->bottom) *
                        (BOTTOM - TOP);
}

static void
fit_frame(struct frame *frame)
{
    frame->bottom = frame->plot->low;
    frame->top = frame->plot->high > frame->plot->low ? frame->plot->high : 100;
    frame->low = INFINITY;
    frame->high = -INFINITY;
    frame->right = RIGHT;
    for (size_t i = 0; i < frame->plot->points; i++) {
        double eps = frame->plot->x[i];
        if (isfinite(eps)) {
            frame->low = fmin(frame->low, scale_x(frame, eps));
            frame->high = fmax(frame->high, scale_x(frame, eps));
        } else {
            frame->right = RIGHT - GAP;
        }
    }
}

/* ---- Axes --------------------------------------------------------------- */

static void
put_y_axis(const struct frame *frame)
{
    double range = frame->top - frame->bottom;
    double step = frame->plot->step > 0 ? frame->plot->step
                  : range > 50          ? 20
                  : range > 20          ? 10
                  : range > 8           ? 5
                  : range > 2           ? 1
                                        : 0.25;
    size_t lines = (size_t)floor(range / step + 1e-9) + 1;
    for (size_t i = 0; i < lines; i++) {
        char label[16];
        double percent = frame->bottom + (double)i * step;
        double y = place_y(frame, percent);
        put_line(frame->text, LEFT, y, RIGHT, y, i == 0 ? GREY : GRID, "");
        (void)snprintf(label, sizeof label, "%.4g", percent);
        put_text(frame->text, LEFT - 10, y + 4, "end", GREY, 13, label);
    }
    host_text_print(frame->text,
                    "<text transform=\"translate(%d %.1f) rotate(-90)\" "
                    "text-anchor=\"middle\" fill=\"" INK "\" font-size=\"14\">",
                    frame->plot->step > 0 ? 15 : 24, (TOP + BOTTOM) / 2);
    add_escaped(frame->text, frame->plot->y_name != NULL
                                 ? frame->plot->y_name
                                 : "accuracy on clean records, %");
    host_text_print(frame->text, "</text>\n");
}

/* A label only where it has room: epsilons may stand close together. */
static void
put_x_axis(const struct frame *frame)
{
    const struct plot *plot = frame->plot;
    double taken[PLOT_POINTS_MOST];
    size_t labels = 0;
    for (size_t i = 0; i < plot->points; i++) {
        char label[16] = "none";
        double x = place_x(frame, plot->x[i]);
        bool free = true;
        for (size_t j = 0; j < labels; j++) {
            free = free && fabs(taken[j] - x) > 22;
        }
        put_line(frame->text, x, BOTTOM, x, BOTTOM + 5, GREY,
                 " stroke-width=\"1.0\"");
        if (free) {
            if (isfinite(plot->x[i])) {
                (void)snprintf(label, sizeof label, "%.4g", plot->x[i]);
            }
            put_text(frame->text, x, BOTTOM + 21, "middle", GREY, 13, label);
            taken[labels++] = x;
        }
    }
    if (frame->right < RIGHT) {
        put_line(frame->text, frame->right, TOP, frame->right, BOTTOM, GREY,
                 " stroke-dasharray=\"2 4\"");
    }
    put_text(
        frame->text, (LEFT + frame->right) / 2, BOTTOM + 44, "middle", INK, 14,
        plot->x_name != NULL ? plot->x_name
                             : "epsilon, the total for a record and its label "
                               "(logarithmic)");
}

/* ---- Series ------------------------------------------------------------- */

static int
compare_x(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (left[0] > right[0]) - (left[0] < right[0]);
}

static void
put_path(const struct frame *frame, const struct plot_series *series)
{
    double points[PLOT_POINTS_MOST][2];
    size_t count = 0;
    for (size_t i = 0; i < frame->plot->points; i++) {
        if (isfinite(frame->plot->x[i]) && isfinite(series->y[i])) {
            points[count][0] = place_x(frame, frame->plot->x[i]);
            points[count++][1] = place_y(frame, series->y[i]);
        }
    }
    if (count < 2) {
        return;
    }
    qsort(points, count, sizeof points[0], compare_x);
    host_text_print(frame->text,
                    "<polyline fill=\"none\" stroke=\"%s\" "
                    "stroke-width=\"2\" %spoints=\"",
                    series->colour,
                    series->style == PLOT_DASHED ? "stroke-dasharray=\"6 4\" "
                                                 : "");
    for (size_t i = 0; i < count; i++) {
        host_text_print(frame->text, "%s%.1f,%.1f", i > 0 ? " " : "",
                        points[i][0], points[i][1]);
    }
    host_text_print(frame->text, "\"/>\n");
}

static void
put_bar(const struct frame *frame, double x, double y, double deviation,
        const char *colour)
{
    struct host_text *text = frame->text;
    static const char style[] = " stroke-width=\"1.4\"";
    double up = place_y(frame, y + deviation);
    double down = place_y(frame, y - deviation);
    put_line(text, x, up, x, down, colour, style);
    put_line(text, x - 4, up, x + 4, up, colour, style);
    put_line(text, x - 4, down, x + 4, down, colour, style);
}

static void
put_mark(struct host_text *text, const struct plot_series *series, double x,
         double y)
{
    if (series->style == PLOT_MARKS) {
        put_line(text, x - 13, y, x + 13, y, series->colour,
                 " stroke-width=\"3.0\"");
        return;
    }
    host_text_print(text,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\" "
                    "stroke=\"%s\" stroke-width=\"2\"/>\n",
                    x, y,
                    series->style == PLOT_LINE ? series->colour : "#ffffff",
                    series->colour);
}

static void
put_series(const struct frame *frame, const struct plot_series *series)
{
    if (series->style != PLOT_MARKS) {
        put_path(frame, series);
    }
    for (size_t i = 0; i < frame->plot->points; i++) {
        double x = place_x(frame, frame->plot->x[i]), y = series->y[i];
        if (!isfinite(y)) {
            continue;
        }
        if (series->deviation != NULL && isfinite(series->deviation[i])) {
            put_bar(frame, x, y, series->deviation[i], series->colour);
        }
        put_mark(frame->text, series, x, place_y(frame, y));
    }
}

/* The room that a name has in the legend: about its length. */
static double
legend_width(const struct plot_series *series)
{
    return 38 + 7.0 * (double)strlen(series->name) + 26;
}

/* Lines of the legend: the names that have no room begin another. */
static size_t
count_legend(const struct plot *plot)
{
    double x = LEFT;
    size_t lines = 1;
    for (size_t i = plot->count; i-- > 0;) {
        double end = x + legend_width(&plot->series[i]);
        if (end > WIDTH && x > LEFT && plot->count > LEGEND_LINE) {
            lines++;
            end = LEFT + legend_width(&plot->series[i]);
        }
        x = end;
    }
    return lines;
}

/* Below the field. What was drawn last, on top, comes first. */
static void
put_legend(const struct frame *frame)
{
    double x = LEFT, y = HEIGHT - 22;
    for (size_t i = frame->plot->count; i-- > 0;) {
        const struct plot_series *series = &frame->plot->series[i];
        if (x + legend_width(series) > WIDTH && x > LEFT &&
            frame->plot->count > LEGEND_LINE) {
            x = LEFT;
            y += LEGEND_STEP;
        }
        if (series->style != PLOT_MARKS) {
            put_line(frame->text, x, y, x + 30, y, series->colour,
                     series->style == PLOT_DASHED
                         ? " stroke-width=\"2\" stroke-dasharray=\"6 4\""
                         : " stroke-width=\"2\"");
        }
        put_mark(frame->text, series, x + 15, y);
        put_text(frame->text, x + 38, y + 4.5, "start", INK, 13, series->name);
        x += legend_width(series);
    }
}

void
plot_svg(struct host_text *text, const struct plot *plot)
{
    struct frame frame = {.text = text, .plot = plot};
    double height = HEIGHT + LEGEND_STEP * (double)(count_legend(plot) - 1);
    fit_frame(&frame);
    host_text_print(text,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                    "width=\"%.0f\" height=\"%.0f\" "
                    "viewBox=\"0 0 %.0f %.0f\" " FONT ">\n",
                    WIDTH, height, WIDTH, height);
    host_text_print(text, "<title>");
    add_escaped(text, plot->title);
    host_text_print(text, "</title>\n"
                          "<rect width=\"100%%\" height=\"100%%\" "
                          "fill=\"#fbfbfa\"/>\n");
    put_text(text, LEFT, 34, "start", INK, 18, plot->title);
    put_text(text, LEFT, 56, "start", GREY, 13, plot->subtitle);
    put_y_axis(&frame);
    put_x_axis(&frame);
    for (size_t i = 0; i < plot->count; i++) {
        put_series(&frame, &plot->series[i]);
    }
    put_legend(&frame);
    host_text_print(text, "</svg>\n");
}
