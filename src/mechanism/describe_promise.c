/*
 * describe_promise.c: the promise of a mechanism, in plain words.
 *
 * Pure:         p(r|x) <= e^epsilon p(r|x') for every report r.
 * Approximate:  P[R|x] <= e^epsilon P[R|x'] + delta for every set R of reports.
 *
 * The second says less of a single report: its odds may exceed e^epsilon. For
 * any two records it is as good as an answer that with probability delta says
 * outright which of them it is and otherwise is pure (Kairouz, Oh and
 * Viswanath 2015: every other mechanism is that one, post-processed).
 *
 * Who names one of two equally likely records, x on reports in R and x' on
 * others, is right with probability s = (P[R|x] + P[not R|x']) / 2. The promise
 * for R, and for not R with the records exchanged, add up to
 *
 *     2 s <= e^epsilon (2 - 2 s) + 2 delta,
 *     s <= (e^epsilon + delta) / (1 + e^epsilon).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/decimal.h"
#include "host/amount.h"
#include "host/error.h"
#include "mechanism/depend.h"
#include "mechanism/describe.h"
#include "mechanism/page.h"

#define NAMES_MOST 12u

/* ---- Numbers in words --------------------------------------------------- */

/* e^eps rounded up, to hundredths, ones or tenths of a million by its size:
   "at most" must stay true. */
static void
write_factor(double eps, char text[32])
{
    double factor = exp(eps);
    if (factor < 100) {
        (void)snprintf(text, 32, "%.2f", ceil(factor * 100) / 100);
    } else if (factor < 1e6) {
        (void)snprintf(text, 32, "%.0f", ceil(factor));
    } else {
        (void)snprintf(text, 32, "%.1f million", ceil(factor / 1e5) / 10);
    }
}

/* (e^eps + delta) / (1 + e^eps): the best guess between two equally likely
   records; where delta is 0, also what a belief of one half can rise to. False
   if that is nearly all. */
static bool
write_belief(double eps, double delta, char text[32])
{
    double belief = 100 * (1 + delta * exp(-eps)) / (1 + exp(-eps));
    (void)snprintf(text, 32, "%.1f%%", ceil(belief * 10) / 10);
    return belief <= 99.9;
}

/*
 * A word for the size of epsilon, by how often the best guess between two
 * equally likely records must be wrong: 1 - s of the head, which the odds
 * printed above it state. The bounds are odds of 3, 9 and 99 to 1;
 * docs/threat-model.md, "Words for epsilon", says why these.
 *
 *     epsilon           1      2      4      8
 *     wrong at least    26.9%  11.9%  1.8%   0.03%
 */
static const char *
verdict(double eps, double delta)
{
    double wrong = (1 - delta) / (1 + exp(eps));
    if (wrong >= 1.0 / 4) {
        return "strong protection: the best guess between two that seemed "
               "equally likely is wrong at least one time in four";
    }
    if (wrong >= 1.0 / 10) {
        return "moderate protection: the best guess between two that seemed "
               "equally likely is wrong at least one time in ten";
    }
    return wrong >= 1.0 / 100
               ? "weak protection: the best guess between two that seemed "
                 "equally likely may be right more than nine times in ten"
               : "little protection: the best guess between two that seemed "
                 "equally likely may be right more than 99 times in a hundred";
}

uint64_t
describe_realised(const struct sotto_mechanism *mechanism)
{
    const struct shape *shape = &mechanism->shape;
    uint64_t sum = 0;
    for (size_t i = 0; i < shape->parts; i++) {
        uint32_t blocks = (uint32_t)shape->part[i].blocks;
        sum = checked_add(
            sum, checked_multiply(mechanism->likelihood[i].realised, blocks));
    }
    return sum;
}

/* Units as text; "no epsilon" for none. */
static void
write_units(uint64_t units, char text[DECIMAL_TEXT_SIZE])
{
    if (units == UINT64_MAX || amount_write(units, text) == 0) {
        (void)snprintf(text, DECIMAL_TEXT_SIZE, "no epsilon");
    }
}

/* Fails for a part whose tables realise more than it states. No page may say
   that such a mechanism keeps its promise. */
static enum sotto_status
check_part(const struct sotto_mechanism *mechanism, size_t at,
           struct sotto_error *err)
{
    uint64_t stated = mechanism->shape.part[at].instance->eps;
    uint64_t realised = mechanism->likelihood[at].realised;
    char is[DECIMAL_TEXT_SIZE], said[DECIMAL_TEXT_SIZE];
    if (realised <= stated) {
        return SOTTO_STATUS_OK;
    }
    write_units(realised, is);
    write_units(stated, said);
    return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                     "the tables of part %zu, as they would be drawn from, "
                     "realise %s%s, above the stated %s; do not use this "
                     "mechanism with this program, and report this to the "
                     "makers of sotto",
                     at + 1, realised == UINT64_MAX ? "" : "an epsilon of ", is,
                     said);
}

enum sotto_status
describe_check(const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        status = HOST_THEN(status, check_part(mechanism, i, err));
    }
    if (status == SOTTO_STATUS_OK &&
        describe_realised(mechanism) > mechanism->shape.eps) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the parts together realise more than the stated "
                         "epsilon; do not use this mechanism, and report this "
                         "to the makers of sotto");
    }
    return status;
}

/* ---- The section -------------------------------------------------------- */

static void
say_budget(struct page *page)
{
    const struct sotto_mechanism_info *info = &page->info;
    bool pure = info->delta == 0;
    char realised[DECIMAL_TEXT_SIZE];
    page_say(page, 0,
             pure ? "Epsilon of one report:"
                  : "Epsilon and delta of one report:");
    page_say(page, 6, "  - about %s: at most %s%s%s, as stated",
             info->label_only ? "the label" : "all of the record",
             info->eps_text, pure ? "" : " and ", pure ? "" : info->delta_text);
    if (info->eps_label > 0) {
        page_say(page, 6,
                 "  - by the maker's own labelling of the parts: features at "
                 "most %.12g, label at most %.12g (not checked; the total is)",
                 info->eps_features, info->eps_label);
    } else {
        page_say(page, 6,
                 "  - by the maker's own labelling of the parts: features at "
                 "most %.12g; no part is labelled as being about a label (not "
                 "checked; the total is)",
                 info->eps_features);
    }
    write_units(describe_realised(page->mechanism), realised);
    page_say(page, 6,
             "  - realised: %s%s, rounded up, computed from the tables that "
             "the samplers draw from; not above what is stated",
             pure ? "" : "epsilon ", realised);
}

/* Whether two columns are alike in all that parts can tell of them. */
static bool
is_alike(const struct sotto_mechanism *mechanism, size_t a, size_t b)
{
    bool alike = true;
    for (size_t i = 0; i < mechanism->shape.parts && alike; i++) {
        alike =
            depend_blocks(mechanism, i, a) == depend_blocks(mechanism, i, b);
    }
    return alike;
}

/* The parts that can depend on a column: " (part 1, 3)". */
static void
add_parts(struct page *page, size_t column)
{
    const char *before = " (part ";
    size_t said = 0;
    for (size_t i = 0; i < page->info.parts; i++) {
        if (depend_blocks(page->mechanism, i, column) > 0) {
            if (said++ < NAMES_MOST) {
                host_text_print(&page->words, "%s%zu", before, i + 1);
            }
            before = ", ";
        }
    }
    host_text_print(&page->words, "%s%s", said > NAMES_MOST ? ", ..." : "",
                    said > 0 ? ")" : "");
}

/* What can be told of columns first to end - 1, which are alike. */
static void
say_alike(struct page *page, size_t first, size_t end)
{
    char eps[DECIMAL_TEXT_SIZE];
    host_text_print(&page->words, "  - ");
    for (size_t i = first; i < end && i < first + NAMES_MOST; i++) {
        host_text_print(&page->words, "%s", i > first ? ", " : "");
        page_name(page, page->mechanism->shape.schema.column[i].name);
    }
    if (end - first > NAMES_MOST) {
        host_text_print(&page->words, " and %zu more",
                        end - first - NAMES_MOST);
    }
    write_units(depend_eps(page->mechanism, first), eps);
    host_text_print(&page->words, ": at most %s%s", eps,
                    end - first > 1 ? " each" : "");
    add_parts(page, first);
    page_say(page, 6, "%s", "");
}

/* Which column a report can tell of, by the file and not by its maker's word.
 */
static void
say_columns(struct page *page)
{
    size_t columns = page->info.columns;
    page_say(
        page, 0,
        "Of one column alone, when all others are known, a report can tell "
        "no more than the epsilons of the parts that can depend on it. "
        "Which those are is computed from the file, whatever its maker "
        "declares:");
    for (size_t first = 0, end; first < columns; first = end) {
        end = first + 1;
        while (end < columns && is_alike(page->mechanism, first, end)) {
            end++;
        }
        say_alike(page, first, end);
    }
    for (size_t i = 0; i < page->info.parts; i++) {
        const char *covers = page->mechanism->shape.part[i].covers;
        bool label = strcmp(covers, "label") == 0;
        if (depend_contradicts(page->mechanism, i)) {
            page_say(page, 0,
                     "THE MAKER'S LABELLING IS WRONG: part %zu is said to be "
                     "about %s alone, and the file lets it depend on %s.",
                     i + 1, covers,
                     label ? "several columns" : "the label's column");
        }
    }
}

static void
say_pure(struct page *page, const char *factor)
{
    const char *about = page->info.label_only ? "label" : "record";
    char belief[32];
    bool bounded = write_belief(page->info.eps, 0, belief);
    page_say(page, 0,
             "Whatever one person's %s is, the chance of any given report "
             "changes by at most a factor of e^%s = %s when it is replaced by "
             "any other %s. This is pure local differential privacy%s; "
             "neighbours are any two %ss at all.",
             about, page->info.eps_text, factor, about,
             page->info.label_only ? " of the label" : "", about);
    page_gap(page);
    page_say(page, 0,
             "In odds: whoever sees the report, whatever else they know, can "
             "shift their odds for one %s against another by at most that "
             "factor. Someone who thought it 50%% likely that a person's "
             "%s says one thing rather than another could %s%s%s.%s",
             about, about,
             bounded ? "at most come to think it "
                     : "come to be almost sure of it: ",
             bounded ? belief : "more than 99.9%", " likely",
             page->info.label_only
                 ? " But the record tells of its label, too, and what it "
                   "tells no noise takes back."
                 : "");
}

static void
say_approximate(struct page *page, const char *factor)
{
    const struct sotto_mechanism_info *info = &page->info;
    char belief[32];
    bool bounded = write_belief(info->eps, info->delta, belief);
    page_say(page, 0,
             "Whatever one person's record is, and for every set of reports: "
             "the chance that the report is one of them is at most e^%s = %s "
             "times what it would be if the record were replaced by any other, "
             "plus delta, which is %s. This is (epsilon, delta) local "
             "differential privacy, which is less than the pure kind; "
             "neighbours are any two records at all.",
             info->eps_text, factor, info->delta_text);
    page_gap(page);
    page_say(page, 0,
             "In other words: to whoever wants to tell one record from "
             "another, the report is worth no more than an answer that with "
             "probability delta says outright which of the two it is, and "
             "otherwise shifts their odds by at most that factor. Someone who "
             "thinks both equally likely and must name one %s%s of the time.",
             bounded ? "is right at most "
                     : "may be right nearly always: more "
                       "than ",
             bounded ? belief : "99.9%");
    page_gap(page);
    page_say(page, 0,
             "Delta is to be far below one in the number of people asked: if "
             "a million people were asked, a delta of this size could give "
             "away the records of %.12g of them on average.",
             1e6 * info->delta);
}

void
describe_words(struct page *page)
{
    char factor[32];
    write_factor(page->info.eps, factor);
    if (page->info.delta > 0) {
        say_approximate(page, factor);
    } else {
        say_pure(page, factor);
    }
    page_gap(page);
    page_say(page, 0, "For the size of this epsilon: %s.",
             verdict(page->info.eps, page->info.delta));
}

void
describe_promise(struct page *page)
{
    page_title(page, "THE PROMISE");
    describe_words(page);
    page_gap(page);
    say_budget(page);
    page_gap(page);
    say_columns(page);
}
