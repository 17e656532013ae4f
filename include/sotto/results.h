/*
 * sotto/results.h: what a campaign promises and what its reports say, as a page
 * to look at: HTML and SVG that need nothing from anywhere, neither scripts nor
 * fonts.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_RESULTS_H
#define SOTTO_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/mechanisms.h"
#include "sotto/reports.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a page has at most, whatever is on it: rows are left out, and the
   page says so. */
#define SOTTO_RESULTS_MOST ((size_t)100000)

/* How well a model is expected to do with so many people's reports. */
struct sotto_results_accuracy {
    double people;
    double accuracy;  /* a share */
    double low, high; /* of nine campaigns in ten; NaN: nothing is told */
};

/*
 * A campaign, or the reports of some files. Names and all that the mechanism
 * holds may be hostile: they are shown as text, whatever they hold, and cut
 * where they are long.
 */
struct sotto_results_campaign {
    const char *name;
    const char *link; /* to a page of its own, which then has all but the
                         counts; NULL: all of it is here */
    const struct sotto_mechanism *mechanism;
    bool simulated;

    uint64_t released; /* reports */
    bool store;        /* they come from a collector's store, and these hold: */
    uint64_t batches;  /* that they are in */
    uint64_t waiting;  /* reports, at the end of the last window */
    const uint64_t *step; /* `steps` of them: reports in the first batches, in
                             as many equal parts of all batches */
    size_t steps;
    const char *trouble; /* why some are not counted; NULL: all are */

    /* Of `counted` reports; NULL: there are none yet. */
    const struct sotto_estimate *estimate;
    const struct sotto_margins *margins;
    uint64_t counted;

    const struct sotto_results_accuracy *accuracy; /* by people, rising */
    size_t accuracies;
};

/* How many reports were refused, and why. */
struct sotto_results_refused {
    const char *code; /* docs/collector.md */
    uint64_t count;
};

struct sotto_results {
    const char *title;
    const char *home; /* a link to the page of all campaigns; NULL: none */
    const struct sotto_results_campaign *campaign;
    size_t campaigns;
    const struct sotto_results_refused *refused; /* NULL: that is not known */
    size_t refusals;
    double confidence; /* of the intervals */
};

/*
 * Writes the page: a function of these facts and of nothing else. `ret_html`,
 * of `ret_size` bytes and a NUL, is the caller's to free. Statuses: MEMORY,
 * REFUSED (a mechanism that would realise more than the stated epsilon).
 */
SOTTO_CHECKED enum sotto_status
sotto_results_page(const struct sotto_results *results, char **ret_html,
                   size_t *ret_size, struct sotto_error *err);

/*
 * Reads the lines that `sotto plan --json` prints, of a budget: how accurate
 * models are expected to be, by people. Lines about anything else are passed
 * over. `ret_accuracy`, which the caller frees, has `ret_count` of them; NULL
 * if there are none. Statuses: IO, INPUT (no JSON), LIMIT, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_results_plan(const char *path, double eps,
                   struct sotto_results_accuracy **ret_accuracy,
                   size_t *ret_count, struct sotto_error *err);

#ifdef __cplusplus
}
#endif

#endif
