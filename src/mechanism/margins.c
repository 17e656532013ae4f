/*
 * margins.c: frequencies of one factor, from reports about combinations.
 *
 * A report names w of N symbols, the true one with probability h, and a given
 * other one with q = (w - h) / (N - 1). Let S be the symbols with one category
 * of one factor, m = |S|. The sum of the estimates of S,
 *
 *     x = (|R n S| - m q) / (h - q),
 *
 * has the mean [truth in S]: it is unbiased, and so is the mean over reports.
 * Its noise is less than that of m independent estimates: what R names besides
 * the truth is a draw without replacement. With H(M, m, d) the hypergeometric
 * number of successes in d draws from M of which m are successes,
 *
 *     truth not in S   |R n S| is H(N-1, m, w-1) with probability h,
 *                                 H(N-1, m, w) otherwise
 *     truth in S       1 + H(N-1, m-1, w-1), or H(N-1, m-1, w)
 *
 * which gives V_other and V_true. If a share of f has S, the variance of x is
 * f V_true + (1 - f) V_other + f (1 - f), as estimate.c has it for one symbol,
 * and so is the interval.
 *
 * Codebooks: the lot decides which book a person is asked by, and says nothing
 * of the person. The column's category is the same in all books, so all reports
 * count for it; a code's number means something in its own book alone.
 */
#include "mechanism/margins.h"

#include <math.h>
#include <stdlib.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "likelihood/group.h"
#include "likelihood/interval.h"
#include "likelihood/symbols_likelihood.h"
#include "mechanism/liars.h"
#include "mechanism/mechanism.h"
#include "mechanism/tally.h"

#define TEXT_MOST ((size_t)1 << 20)
#define CHARACTERS_MOST ((size_t)1 << 16)

/* Categories of one factor of one part, in one book or all. */
struct group {
    size_t part, factor;
    size_t book;         /* SIZE_MAX: all */
    size_t first, count; /* rows */
    double other, slope; /* of V(f), see score_half.h */
    char *name;
};

struct row {
    size_t group;
    char *category;
};

struct sotto_margins {
    const struct sotto_mechanism *mechanism;
    size_t groups, rows;
    struct group *group;
    struct row *row;
    struct tally *tally; /* NULL: there are no groups */
};

/* ---- Variances ----------------------------------------------------------- */

static double
hypergeometric(double all, double good, double draws)
{
    double share = good / all;
    return all > 1 ? draws * share * (1 - share) * (all - draws) / (all - 1)
                   : 0;
}

double
margins_variance(const struct likelihood_instance *at, double m, bool in)
{
    double gap = at->own[SYMBOLS_GAP];
    double h = gap + at->own[SYMBOLS_RATE_OTHER];
    double all = at->instance->size - 1.0, w = at->values;
    double good = in ? m - 1 : m;
    double with = (in ? 1 : 0) + (w - 1) * good / all;
    double without = w * good / all;
    double variance = h * hypergeometric(all, good, w - 1) +
                      (1 - h) * hypergeometric(all, good, w) +
                      h * (1 - h) * (with - without) * (with - without);
    return variance / (gap * gap);
}

/* ---- Names --------------------------------------------------------------- */

static char *
finish(struct host_text *text)
{
    if (text->failed) {
        host_text_clear(text);
    }
    return text->data;
}

static char *
name_group(const struct sotto_mechanism *mechanism, const struct group *group)
{
    const struct report_factor *factor =
        &mechanism->device.report->part[group->part].factor[group->factor];
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    host_text_add(&name, "", 0);
    if (factor->is_column) {
        host_printable_add(&name,
                           mechanism->shape.schema.column[factor->at].name,
                           CHARACTERS_MOST);
    } else {
        host_text_print(&name, "part %zu", group->part + 1);
    }
    if (group->book != SIZE_MAX) {
        host_text_print(&name, " (book %zu)", group->book);
    }
    return finish(&name);
}

static char *
name_category(const struct sotto_mechanism *mechanism,
              const struct group *group, size_t own)
{
    const struct report_factor *factor =
        &mechanism->device.report->part[group->part].factor[group->factor];
    struct host_text name;
    host_text_init(&name, TEXT_MOST);
    host_text_add(&name, "", 0);
    if (factor->is_column) {
        host_printable_add(&name,
                           sotto_mechanism_category(mechanism, factor->at, own),
                           CHARACTERS_MOST);
    } else if (factor->equal) {
        host_text_print(&name, "%s", own == 1 ? "equal" : "different");
    } else {
        host_text_print(&name, "code %zu", own);
    }
    return finish(&name);
}

/* ---- Groups -------------------------------------------------------------- */

/* Whether the part's symbols are combinations whose factors can be seen. */
static bool
has_margins(const struct sotto_mechanism *mechanism, size_t part)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    return own->instance.channel->domain == CHANNEL_DOMAIN_SYMBOLS &&
           own->factors > 1 && own->blocks == 1 &&
           mechanism->likelihood[part].bias == 0;
}

static size_t
books_of(const struct report_part *part, size_t factor)
{
    return part->books > 0 && !part->factor[factor].is_column ? part->books : 1;
}

static void
count_groups(const struct sotto_mechanism *mechanism,
             struct sotto_margins *margins)
{
    const struct report_plan *plan = mechanism->device.report;
    for (uint32_t p = 0; p < plan->parts; p++) {
        const struct report_part *part = &plan->part[p];
        for (uint32_t f = 0; has_margins(mechanism, p) && f < part->factors;
             f++) {
            size_t books = books_of(part, f), k = part->factor[f].k;
            margins->groups += books;
            margins->rows += books * k;
        }
    }
}

static bool
name_rows(struct sotto_margins *margins, struct group *group, size_t at)
{
    bool good = true;
    group->name = name_group(margins->mechanism, group);
    good = group->name != NULL;
    for (size_t i = 0; good && i < group->count; i++) {
        struct row *row = &margins->row[group->first + i];
        row->group = at;
        row->category = name_category(margins->mechanism, group, i);
        good = row->category != NULL;
    }
    return good;
}

static bool
add_group(struct sotto_margins *margins, size_t at, struct group group)
{
    const struct likelihood_instance *likelihood =
        &margins->mechanism->likelihood[group.part];
    double symbols = likelihood->instance->size;
    double m = symbols / (double)group.count;
    group.other = margins_variance(likelihood, m, false);
    group.slope = margins_variance(likelihood, m, true) - group.other + 1;
    margins->group[at] = group;
    return name_rows(margins, &margins->group[at], at);
}

/* Columns first: the label's shares are what most people ask for. */
static bool
add_groups(struct sotto_margins *margins)
{
    const struct report_plan *plan = margins->mechanism->device.report;
    size_t at = 0, first = 0;
    bool good = true;
    for (int columns = 1; columns >= 0; columns--) {
        for (uint32_t p = 0; p < plan->parts; p++) {
            const struct report_part *part = &plan->part[p];
            for (uint32_t f = 0;
                 has_margins(margins->mechanism, p) && f < part->factors; f++) {
                size_t books = books_of(part, f), k = part->factor[f].k;
                bool all = part->books == 0 || part->factor[f].is_column;
                if (part->factor[f].is_column != (columns == 1)) {
                    continue;
                }
                for (size_t b = 0; good && b < books; b++, first += k) {
                    good = add_group(margins, at++,
                                     (struct group){.part = p,
                                                    .factor = f,
                                                    .book = all ? SIZE_MAX : b,
                                                    .first = first,
                                                    .count = k});
                }
            }
        }
    }
    return good;
}

enum sotto_status
sotto_margins_new(const struct sotto_mechanism *mechanism,
                  struct sotto_margins **ret_margins, struct sotto_error *err)
{
    struct sotto_margins *margins = calloc(1, sizeof *margins);
    bool good;
    if (margins == NULL) {
        return host_fail_memory(err);
    }
    margins->mechanism = mechanism;
    count_groups(mechanism, margins);
    margins->group = calloc(margins->groups + 1, sizeof *margins->group);
    margins->row = calloc(margins->rows + 1, sizeof *margins->row);
    good = margins->group != NULL && margins->row != NULL;
    if (good && margins->groups > 0) {
        good = tally_new(mechanism, &margins->tally, err) == SOTTO_STATUS_OK;
    }
    if (!good || !add_groups(margins)) {
        sotto_margins_free(margins);
        return host_fail_memory(err);
    }
    *ret_margins = margins;
    return SOTTO_STATUS_OK;
}

void
sotto_margins_free(struct sotto_margins *margins)
{
    if (margins == NULL) {
        return;
    }
    for (size_t i = 0; margins->group != NULL && i < margins->groups; i++) {
        free(margins->group[i].name);
    }
    for (size_t i = 0; margins->row != NULL && i < margins->rows; i++) {
        free(margins->row[i].category);
    }
    free(margins->group);
    free(margins->row);
    tally_free(margins->tally);
    free(margins);
}

/* ---- Adding and looking -------------------------------------------------- */

/* What is no report of the mechanism is passed over. */
void
sotto_margins_add(struct sotto_margins *margins, const uint8_t *report)
{
    const struct report_plan *plan = margins->mechanism->device.report;
    if (margins->groups > 0 && report_valid(plan, report, plan->size)) {
        tally_add(margins->tally, report, 1);
    }
}

void
sotto_margins_add_block(struct sotto_margins *margins,
                        const struct sotto_report_block *block)
{
    if (margins->groups > 0) {
        tally_add(margins->tally, block->reports, block->count);
    }
}

/* How many reports there are about a group, and how many combinations with its
   category `own` they name in all. */
static uint64_t
count_category(const struct sotto_margins *margins, const struct group *group,
               size_t own, uint64_t *ret_n)
{
    const struct report_part *part =
        &margins->mechanism->device.report->part[group->part];
    size_t books = part->books > 0 ? part->books : 1;
    size_t book = group->book != SIZE_MAX ? group->book : 0;
    size_t end = group->book != SIZE_MAX ? book + 1 : books;
    size_t after = 1;
    uint64_t named = 0;
    /* symbol = (s_1 k_2 + s_2) k_3 + s_3 ..., as report.c numbers them. */
    for (size_t f = group->factor + 1; f < part->factors; f++) {
        after *= part->factor[f].k;
    }
    *ret_n = 0;
    for (; book < end; book++) {
        const uint64_t *count =
            tally_count(margins->tally, group->part, book, 0);
        *ret_n += tally_reports(margins->tally, group->part, book);
        for (size_t s = own * after; s < part->instance.size;
             s += after * group->count) {
            for (size_t j = s; j < s + after; j++) {
                named += count[j];
            }
        }
    }
    return named;
}

/* The mean of x, of which the head of this file speaks. */
static double
find_mean(const struct sotto_margins *margins, const struct group *group,
          size_t own, double *ret_n)
{
    const struct likelihood_instance *at =
        &margins->mechanism->likelihood[group->part];
    double m = (double)at->instance->size / (double)group->count;
    uint64_t n, named = count_category(margins, group, own, &n);
    *ret_n = (double)n;
    return n > 0
               ? ((double)named / (double)n - m * at->own[SYMBOLS_RATE_OTHER]) /
                     at->own[SYMBOLS_GAP]
               : 0;
}

size_t
sotto_margins_rows(const struct sotto_margins *margins)
{
    return margins->rows;
}

void
sotto_margins_row(const struct sotto_margins *margins, size_t i, double z,
                  struct sotto_estimate_row *ret_row)
{
    const struct row *row = &margins->row[i];
    const struct group *group = &margins->group[row->group];
    double n, half = INFINITY;
    double mean = find_mean(margins, group, i - group->first, &n);
    if (n >= 2) {
        struct interval_share share = {group->other, group->slope};
        half = interval_share_half(&share, mean, n, z);
    }
    *ret_row = (struct sotto_estimate_row){
        .name = group->name,
        .category = row->category,
        .value = mean,
        .low = mean - half,
        .high = mean + half,
        .noise_deviation = n > 0 ? sqrt(group->other / n) : INFINITY};
}

void
sotto_margins_reach(const struct sotto_margins *margins, size_t i, double liars,
                    struct sotto_reach *ret_reach)
{
    const struct row *row = &margins->row[i];
    const struct group *group = &margins->group[row->group];
    const struct likelihood_instance *at =
        &margins->mechanism->likelihood[group->part];
    struct liars_ends ends = {.mean_low = 0, .mean_high = 1};
    double n, mean = find_mean(margins, group, i - group->first, &n);
    double most =
        n > 0 ? liars * (double)tally_all(margins->tally) / n : INFINITY;
    group_ends(at, (uint32_t)(at->instance->size / group->count), &ends.low,
               &ends.high);
    *ret_reach = (struct sotto_reach){0, 0};
    if (liars > 0) {
        liars_reach(&ends, mean, liars, most, ret_reach);
    }
}

/* ---- Shares -------------------------------------------------------------- */

/*
 * The projection onto the simplex is max(0, x - theta) with the theta that
 * makes the sum 1. Those at most theta drop out of the sum; as they do, theta
 * grows, so none comes back (Michelot 1986).
 */
void
sotto_shares_project(double *share, size_t n)
{
    double theta = -INFINITY;
    size_t count = n, before = n + 1;
    while (count < before) {
        double sum = 0;
        before = count;
        count = 0;
        for (size_t i = 0; i < n; i++) {
            if (share[i] > theta) {
                sum += share[i];
                count++;
            }
        }
        if (count == 0) { /* not a number among them */
            return;
        }
        theta = (sum - 1) / (double)count;
        count = 0;
        for (size_t i = 0; i < n; i++) {
            count += share[i] > theta ? 1 : 0;
        }
    }
    for (size_t i = 0; i < n; i++) {
        share[i] = fmax(0, share[i] - theta);
    }
}
