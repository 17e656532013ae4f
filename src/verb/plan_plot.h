/*
 * plan_plot.h: sotto plan: pictures.
 */
#ifndef SOTTO_VERB_PLAN_PLOT_H
#define SOTTO_VERB_PLAN_PLOT_H

#include "verb/plan.h"

struct plot;

#define PLAN_PLOT_NAME 40u

/* The colour of the i-th line of a plot. */
const char *plan_plot_colour(size_t i);
/* Writes a plot to a file; the exit status. */
int plan_plot_write(const struct plot *plot, const char *path);

/* Half widths of every question, at every epsilon and number of people: of
   shares in points, of means in percent of the range. Zeroed at first; the
   caller clears it. */
struct plan_widths {
    size_t rows;
    double *half; /* epsilons by people by rows; NAN: above 100 */
    char (*name)[PLAN_PLOT_NAME];
};
void plan_widths_clear(struct plan_widths *widths);
/* Takes those of an epsilon of the job. The exit status. */
int plan_widths_take(struct plan_widths *widths, const struct plan_job *job,
                     size_t eps, const struct sotto_precision *precision);
/* Draws them against epsilon: a line for each number of people, of the question
   that is widest; with one number of people a line for each question, the four
   widest. The exit status. */
int plan_widths_draw(const struct plan_widths *widths,
                     const struct plan_job *job, const char *path);

#endif
