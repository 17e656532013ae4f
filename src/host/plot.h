/*
 * plot.h: a picture of accuracy, of another share or of a loss, against epsilon
 * or another number, as SVG text.
 */
#ifndef SOTTO_HOST_PLOT_H
#define SOTTO_HOST_PLOT_H

#include <stdbool.h>
#include <stddef.h>

struct host_text;

enum plot_style {
    PLOT_LINE = 0,   /* a line with dots */
    PLOT_DASHED = 1, /* a dashed line with hollow dots */
    PLOT_MARKS = 2   /* a short bar at each point, no line */
};

/* One y for each x, in percent or as the axis says; NAN: none there. */
struct plot_series {
    const char *name;
    enum plot_style style;
    const char *colour;
    const double *y;
    const double *deviation; /* of the error bars; NULL: none */
};

/*
 * x are epsilons, falling or rising, drawn on a logarithmic scale; INFINITY
 * has a place of its own at the right, "none". No more than PLOT_POINTS_MOST.
 * Names that do not fit below each other's line make the picture higher.
 */
struct plot {
    const char *title, *subtitle;
    const double *x;
    size_t points;
    const struct plot_series *series;
    size_t count;
    double low, high; /* percent at the ends of the y axis, multiples of 5; both
                         0: 0 and 100 */
    double step;      /* between lines of the y axis, which `low` and `high`
                         are multiples of; 0: as percent have them */
    const char *y_name; /* of the y axis; NULL: accuracy on clean records */
    const char *x_name; /* of the x axis; NULL: epsilon, of record and label */
    bool linear;        /* x, all of them finite, on a linear scale */
};

#define PLOT_POINTS_MOST 128u

/* Appends the whole file. Text is escaped. */
void plot_svg(struct host_text *text, const struct plot *plot);

#endif
