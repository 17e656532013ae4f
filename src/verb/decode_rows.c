/*
 * decode_rows.c: what decode prints: margins and estimates, row by row.
 */
#include "verb/decode_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"

#define NAME_WIDTH_MAX 60

/* ---- Liars --------------------------------------------------------------- */

const double decode_liars[DECODE_LIARS] = {0.01, 0.05};

void
decode_liars_json(const struct sotto_reach reach[DECODE_LIARS], FILE *to)
{
    json_number(to, "forged_1pct", reach[0].forged);
    json_number(to, "forged_5pct", reach[1].forged);
    json_number(to, "false_1pct", reach[0].answered);
    json_number(to, "false_5pct", reach[1].answered);
}

void
decode_liars_text(const struct sotto_reach reach[DECODE_LIARS], FILE *to)
{
    for (size_t i = 0; i < DECODE_LIARS; i++) {
        if (isfinite(reach[i].forged)) {
            (void)fprintf(to, "  %9.3g", reach[i].forged);
        } else {
            (void)fprintf(to, "  %9s", "anything");
        }
    }
}

/* ---- Rows ---------------------------------------------------------------- */

static const char *
kind_of(const struct sotto_estimate_row *row)
{
    return row->category == NULL ? "mean" : "frequency";
}

/* Whom a mean is of: those who have a value, or all. */
static bool
is_of_known(const struct sotto_estimate_row *row)
{
    return row->category == NULL && row->missing == SOTTO_MISSING_TOLD;
}

/* What becomes of a missing value; NULL: the row says nothing of it. */
static const char *
missing_word(const struct sotto_estimate_row *row)
{
    static const char *const words[] = {[SOTTO_MISSING_NONE] = NULL,
                                        [SOTTO_MISSING_MIDDLE] = "middle",
                                        [SOTTO_MISSING_TOLD] = "told"};
    return words[row->missing];
}

/* Rows of one kind: estimates, or their margins. */
struct row_list {
    const struct decode_job *job;
    bool margins;
    size_t count;
    double *share; /* of every row; NULL: not asked for */
};

static void
row_at(const struct row_list *list, size_t i, struct sotto_estimate_row *row)
{
    const struct decode_job *job = list->job;
    if (list->margins) {
        sotto_margins_row(job->margins, i, job->z, row);
    } else {
        sotto_estimate_row(job->estimate, i, job->z, row);
    }
    if (job->seen.reports < DECODE_REPORTS_LEAST) {
        row->low = row->high = NAN; /* null: there is no spread yet */
    }
}

static void
reach_at(const struct row_list *list, size_t i,
         struct sotto_reach reach[DECODE_LIARS])
{
    for (size_t j = 0; j < DECODE_LIARS; j++) {
        if (list->margins) {
            sotto_margins_reach(list->job->margins, i, decode_liars[j],
                                &reach[j]);
        } else {
            sotto_estimate_reach(list->job->estimate, i, decode_liars[j],
                                 &reach[j]);
        }
    }
}

/* Whether two rows are categories of one thing, so that their shares add up to
   1: they have one name, and the first category does not come again. */
static bool
goes_on(const struct row_list *list, size_t first, size_t i)
{
    struct sotto_estimate_row a, b;
    row_at(list, first, &a);
    row_at(list, i, &b);
    return a.category != NULL && b.category != NULL &&
           strcmp(a.name, b.name) == 0 && strcmp(a.category, b.category) != 0;
}

/* Makes shares of the categories' frequencies, one thing after another. */
static bool
find_shares(struct row_list *list)
{
    list->share = calloc(list->count + 1, sizeof *list->share);
    for (size_t first = 0, i = 0; list->share != NULL && i < list->count; i++) {
        struct sotto_estimate_row row;
        row_at(list, i, &row);
        list->share[i] = row.value;
        if (row.category == NULL) {
            first = i + 1;
        } else if (row.missing == SOTTO_MISSING_TOLD) {
            list->share[i] = fmin(1, fmax(0, row.value)); /* of a number */
            first = i + 1;
        } else if (i + 1 == list->count || !goes_on(list, first, i + 1)) {
            sotto_shares_project(list->share + first, i + 1 - first);
            first = i + 1;
        }
    }
    return list->share != NULL;
}

/* Cuts an interval to what a share can be. */
static void
cut_interval(struct sotto_estimate_row *row)
{
    row->low = fmin(1, fmax(0, row->low));
    row->high = fmin(1, fmax(0, row->high));
}

static void
put_row_json(const struct row_list *list, size_t i,
             const struct sotto_estimate_row *row, FILE *to)
{
    const struct decode_job *job = list->job;
    struct sotto_reach reach[DECODE_LIARS];
    reach_at(list, i, reach);
    json_begin(to);
    json_text(to, "name", row->name);
    json_text(to, "kind", list->margins ? "margin" : kind_of(row));
    json_text(to, "category", row->category);
    json_number(to, "value", row->value);
    json_number(to, "low", row->low);
    json_number(to, "high", row->high);
    json_number(to, "confidence", job->confidence);
    if (list->share != NULL && row->category != NULL) {
        json_number(to, "share", list->share[i]);
    }
    json_number(to, "noise_deviation", row->noise_deviation);
    json_text(to, "of", is_of_known(row) ? "known" : "all");
    json_text(to, "missing", missing_word(row));
    json_bool(to, "unbounded", row->unbounded);
    decode_liars_json(reach, to);
    json_size(to, "reports", job->seen.reports);
    json_number(to, "eps", job->info.eps);
    json_number(to, "delta", job->info.delta);
    json_size(to, "damaged", job->seen.damaged);
    json_size(to, "unreadable_batches", job->seen.unread_batches);
    json_size(to, "simulated", job->seen.simulated);
    json_end(to);
}

static void
row_name(const struct sotto_estimate_row *row, char *text, size_t size)
{
    (void)snprintf(text, size, "%.100s%s%.100s", row->name,
                   row->category != NULL ? " = " : "",
                   row->category != NULL ? row->category : "");
}

static int
name_width(const struct row_list *list)
{
    int width = 4;
    for (size_t i = 0; i < list->count; i++) {
        struct sotto_estimate_row row;
        char name[256];
        row_at(list, i, &row);
        row_name(&row, name, sizeof name);
        int size = (int)cli_width(name);
        width = size > width ? size : width;
    }
    return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

static void
put_row_text(const struct sotto_estimate_row *row,
             const struct sotto_reach reach[DECODE_LIARS], bool shares,
             int width, FILE *to)
{
    char name[256];
    row_name(row, name, sizeof name);
    int size = (int)cli_width(name);
    cli_put(to, name, strlen(name));
    (void)fprintf(to, "%*s  %-13s  ", size < width ? width - size : 0, "",
                  is_of_known(row)                  ? "mean of known"
                  : shares && row->category != NULL ? "share"
                                                    : kind_of(row));
    if (row->unbounded) {
        (void)fprintf(to, "%12s  %12s  %12s", "unknown", "-inf", "inf");
    } else {
        (void)fprintf(to, "%12.6g  %12.6g  %12.6g", row->value, row->low,
                      row->high);
    }
    decode_liars_text(reach, to);
    (void)fputc('\n', to);
}

static void
put_rows(const struct row_list *list, FILE *to)
{
    int width = list->job->json ? 0 : name_width(list);
    if (!list->job->json) {
        (void)fprintf(to, "\n%-*s  %-13s  %12s  %12s  %12s%s\n", width, "name",
                      "kind", "estimate", "low", "high", DECODE_LIARS_TITLE);
    }
    for (size_t i = 0; i < list->count; i++) {
        struct sotto_estimate_row row;
        row_at(list, i, &row);
        if (list->job->json) {
            put_row_json(list, i, &row, to);
            continue;
        }
        if (list->share != NULL && row.category != NULL) {
            row.value = list->share[i];
            cut_interval(&row);
        }
        struct sotto_reach reach[DECODE_LIARS];
        reach_at(list, i, reach);
        put_row_text(&row, reach, list->share != NULL, width, to);
    }
}

/* Says what "(other)" is, where the reports do not show that there is any. */
static void
note_other(const struct row_list *list)
{
    bool any = false, none = true;
    for (size_t i = 0; i < list->count; i++) {
        struct sotto_estimate_row row;
        row_at(list, i, &row);
        if (row.category != NULL && strcmp(row.category, "(other)") == 0) {
            any = true;
            none = none && row.low <= 0;
        }
    }
    if (any && none) {
        cli_note("\"(other)\" is a value that is missing or that the mechanism "
                 "does not list; these reports do not show that anybody has "
                 "one");
    }
}

/* What the kinds of rows are, where that is not plain. */
static void
put_legend(const struct row_list *list, FILE *to)
{
    bool known = false, unbounded = false, middle = false;
    for (size_t i = 0; i < list->count; i++) {
        struct sotto_estimate_row row;
        row_at(list, i, &row);
        known = known || is_of_known(&row);
        unbounded = unbounded || row.unbounded;
        middle = middle || row.missing == SOTTO_MISSING_MIDDLE;
    }
    (void)fputs("\n1% forged, 5% forged: so far the estimate can be from what "
                "the others' reports\nsay, if that share of all reports was "
                "made up. Who lies to an honest device does\nless: 5% move a "
                "share by some 5 points (docs/liars.md).\n",
                to);
    if (known) {
        (void)fputs("mean of known: of those who have a value; (missing) is "
                    "the share of the others.\n",
                    to);
    }
    if (unbounded) {
        (void)fputs("unknown: the share of those who have a value cannot be "
                    "told from 0,\nso nothing can be said of their mean.\n",
                    to);
    }
    if (middle) {
        (void)fputs("mean: of all people. Who has no value counts as the "
                    "middle of the range\n(sotto inspect): if many have none, "
                    "it is not the mean of those who have one.\n",
                    to);
    }
}

int
decode_rows_put(const struct decode_job *job, FILE *to)
{
    struct row_list list[] = {
        {job, true, sotto_margins_rows(job->margins), NULL},
        {job, false, sotto_estimate_rows(job->estimate), NULL}};
    bool heard = false;
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; job->shares && i < 2; i++) {
        if (status == CLI_EXIT_DONE && !find_shares(&list[i])) {
            status = cli_no_memory();
        }
    }
    if (status == CLI_EXIT_DONE && !job->json) {
        size_t count = (size_t)job->seen.reports;
        (void)fprintf(to, "%zu report%s, epsilon %s%s%s each; %g%% intervals\n",
                      count, count == 1 ? "" : "s", job->info.eps_text,
                      job->info.delta > 0 ? " and delta " : "",
                      job->info.delta > 0 ? job->info.delta_text : "",
                      100 * job->confidence);
    }
    for (size_t i = 0; status == CLI_EXIT_DONE && i < 2; i++) {
        if (list[i].count > 0) {
            put_rows(&list[i], to);
        }
    }
    if (status == CLI_EXIT_DONE && !job->json) {
        put_legend(&list[1], to);
        heard = fflush(to) == 0; /* who is gone hears no note */
    }
    if (heard) {
        note_other(&list[list[0].count > 0 ? 0 : 1]);
    }
    if (heard && job->shares) {
        cli_note("shares are the nearest to the unbiased estimates of which "
                 "none is below 0 and whose sum is 1: small ones come out too "
                 "large on average; the intervals are the unbiased estimates'");
    }
    free(list[0].share);
    free(list[1].share);
    return status;
}
