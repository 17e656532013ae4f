/*
 * demo_plot.c: the pictures of the demo's page: inline SVG whose colours are
 * the page's classes, so that they follow its light and dark scheme.
 */
#include <math.h>
#include <string.h>

#include "demo/demo.h"

#define WIDTH 760.0
#define LEFT 62.0
#define RIGHT 24.0
#define TOP 16.0
#define BOTTOM 300.0 /* of the plot; its words are below */
#define HEIGHT 350.0
#define LEVELS 15 /* of grey, above black */

/* ---- Accuracy against epsilon -------------------------------------------- */

/* Epsilons lie on a logarithmic axis. */
struct frame {
    double low, high; /* epsilons */
};

static struct frame
frame_of(const struct demo *demo)
{
    struct frame frame = {demo->budget[0].eps, demo->budget[0].eps};
    for (size_t i = 1; i < demo->budgets; i++) {
        frame.low = fmin(frame.low, demo->budget[i].eps);
        frame.high = fmax(frame.high, demo->budget[i].eps);
    }
    frame.low /= 1.25;
    frame.high *= 1.25;
    return frame;
}

static double
x_of(const struct frame *frame, double eps)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * log(eps / frame->low) /
                      log(frame->high / frame->low);
}

static double
y_of(double accuracy)
{
    return BOTTOM - (BOTTOM - TOP) * accuracy;
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
text(FILE *to, const char *class, double x, double y, const char *words)
{
    (void)fprintf(to, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    demo_html_text(to, words);
    (void)fprintf(to, "</text>\n");
}

static void
put_frame(FILE *to, const struct demo *demo, const struct frame *frame)
{
    char words[64];
    for (int i = 0; i <= 5; i++) {
        double y = y_of(i / 5.0);
        line(to, "grid", LEFT, y, WIDTH - RIGHT, y);
        (void)snprintf(words, sizeof words, "%d%%", 20 * i);
        text(to, "tick end", LEFT - 8, y + 4, words);
    }
    for (size_t i = 0; i < demo->budgets; i++) {
        double x = x_of(frame, demo->budget[i].eps);
        line(to, "grid", x, TOP, x, BOTTOM);
        text(to, "tick middle", x, BOTTOM + 20, demo->budget[i].text);
    }
    text(to, "tick middle", (LEFT + WIDTH - RIGHT) / 2, BOTTOM + 42,
         "epsilon of a report (logarithmic): less is more private");
}

/* A level, with its words above it on the left or below it on the right. */
static void
put_limit(FILE *to, double accuracy, const char *what, bool below)
{
    char words[96];
    double y = y_of(accuracy);
    line(to, "limit", LEFT, y, WIDTH - RIGHT, y);
    (void)snprintf(words, sizeof words, "%s: %.1f%%", what, 100 * accuracy);
    if (below) {
        text(to, "tick end", WIDTH - RIGHT, y + 16, words);
    } else {
        text(to, "tick", LEFT + 8, y - 6, words);
    }
}

/* Points from the smallest epsilon on, whatever order they were given in. */
static void
put_curve(FILE *to, const struct demo *demo, const struct frame *frame,
          unsigned learner)
{
    double last = 0;
    (void)fprintf(to, "<polyline class=\"line-%u\" points=\"", learner);
    for (size_t n = 0; n < demo->budgets; n++) {
        const struct demo_budget *next = NULL;
        for (size_t i = 0; i < demo->budgets; i++) {
            const struct demo_budget *budget = &demo->budget[i];
            if (budget->eps > last &&
                (next == NULL || budget->eps < next->eps)) {
                next = budget;
            }
        }
        if (next == NULL) {
            break; /* two texts of one number */
        }
        last = next->eps;
        (void)fprintf(to, "%s%.1f,%.1f", n > 0 ? " " : "",
                      x_of(frame, next->eps), y_of(next->accuracy[learner]));
    }
    (void)fprintf(to, "\"/>\n");
    for (size_t i = 0; i < demo->budgets; i++) {
        (void)fprintf(to,
                      "<circle class=\"dot-%u\" cx=\"%.1f\" cy=\"%.1f\" "
                      "r=\"6\"/>\n",
                      learner, x_of(frame, demo->budget[i].eps),
                      y_of(demo->budget[i].accuracy[learner]));
    }
}

void
demo_plot_accuracy(FILE *to, const struct demo *demo)
{
    struct frame frame = frame_of(demo);
    (void)fprintf(to,
                  "<svg class=\"plot\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
                  "aria-label=\"Accuracy against epsilon\">\n",
                  WIDTH, HEIGHT);
    put_frame(to, demo, &frame);
    put_limit(to, demo->clean, "no privacy", false);
    put_limit(to, 1.0 / DEMO_CLASSES, "guessing", true);
    for (unsigned i = DEMO_LEARNERS; i-- > 0;) {
        put_curve(to, demo, &frame, i);
    }
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        char words[32];
        (void)snprintf(words, sizeof words, "%.0f%%",
                       100 * budget->accuracy[DEMO_LEARNER_CODES]);
        text(to, "middle", x_of(&frame, budget->eps),
             y_of(budget->accuracy[DEMO_LEARNER_CODES]) + 23, words);
    }
    (void)fprintf(to, "</svg>\n");
}

/* ---- A digit ------------------------------------------------------------- */

/* One path a grey level, of runs of pixels: small, and without seams. */
void
demo_plot_digit(FILE *to, const float image[DEMO_PIXELS], const char *title)
{
    unsigned level[DEMO_PIXELS];
    for (size_t i = 0; i < DEMO_PIXELS; i++) {
        level[i] = (unsigned)(fminf(fmaxf(image[i], 0), 1) * LEVELS + 0.5F);
    }
    (void)fprintf(to,
                  "<svg class=\"digit\" viewBox=\"0 0 %u %u\" role=\"img\" "
                  "shape-rendering=\"crispEdges\" aria-label=\"",
                  DEMO_SIDE, DEMO_SIDE);
    demo_html_text(to, title);
    (void)fprintf(to, "\">");
    for (unsigned g = 1; g <= LEVELS; g++) {
        bool any = false;
        for (size_t i = 0; i < DEMO_PIXELS; i++) {
            size_t run = 0;
            while (i % DEMO_SIDE + run < DEMO_SIDE && level[i + run] == g) {
                run++;
            }
            if (run > 0) {
                (void)fprintf(to, "%sM%zu %zuh%zuv1h-%zuz",
                              any ? "" : "<path d=\"", i % DEMO_SIDE,
                              i / DEMO_SIDE, run, run);
                any = true;
                i += run - 1;
            }
        }
        if (any) {
            (void)fprintf(to, "\" class=\"g%u\"/>", g);
        }
    }
    (void)fprintf(to, "</svg>");
}

/* ---- A report ------------------------------------------------------------ */

/* Codes are squeezed into one width, however many there are. */
void
demo_plot_report(FILE *to, const struct demo_report *report, size_t k,
                 size_t symbol)
{
    (void)fprintf(to,
                  "<svg class=\"report\" viewBox=\"0 0 %zu %u\" role=\"img\" "
                  "preserveAspectRatio=\"none\" aria-label=\"the pairs that "
                  "the report names\"><rect class=\"true\" x=\"0\" y=\"%zu\" "
                  "width=\"%zu\" height=\"1\"/><path d=\"",
                  k, DEMO_SYMBOLS, symbol, k);
    for (size_t c = 0; c < k && c < DEMO_CODES_MAX; c++) {
        for (size_t y = 0; y < DEMO_SYMBOLS; y++) {
            if (report->names[c][y]) {
                (void)fprintf(to, "M%zu %zuh1v1h-1z", c, y);
            }
        }
    }
    (void)fprintf(to, "\"/></svg>");
}
