/*
 * describe_promise.c: the promise of a mechanism, in plain words.
 *
 * Pure:         p(r|x) <= e^epsilon p(r|x') for every report r.
 * Approximate:  P[R|x] <= e^epsilon P[R|x'] + delta for every set R of reports.
 *
 * The second says less of a single report: its odds may exceed e^epsilon. For
 * any two records it is as good as an answer that with probability delta says
 * outright which of them it is and otherwise is pure (Kairouz, Oh and
 * Viswanath 2015, Theorem 3.4: every other mechanism is that one,
 * post-processed). Naming one of two equally likely records succeeds with
 * probability at most (e^epsilon + delta) / (1 + e^epsilon) in either case.
 */
#include <math.h>
#include <stdio.h>

#include "host/error.h"
#include "mechanism/describe.h"
#include "mechanism/page.h"

#define EXCESS_MOST 1e-12 /* of epsilon: what sums of doubles round */

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

static const char *
verdict(double eps)
{
    if (eps <= 1) {
        return "strong protection";
    }
    if (eps <= 4) {
        return "moderate protection";
    }
    return eps <= 10 ? "weak protection" : "little protection";
}

double
describe_eps_exact(const struct sotto_mechanism *mechanism)
{
    struct sotto_mechanism_info info;
    double sum = 0;
    sotto_mechanism_info(mechanism, &info);
    for (size_t i = 0; i < info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        sum += (double)part.blocks * part.eps_exact;
    }
    return sum;
}

/* A realised epsilon above the stated one, by more than sums of doubles round:
   the samplers do not keep the promise, and no page may say that they do. */
static bool
exceeds(double realised, double stated)
{
    return !(realised <= stated * (1 + EXCESS_MOST));
}

enum sotto_status
describe_check(const struct sotto_mechanism *mechanism, struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    double realised = describe_eps_exact(mechanism);
    sotto_mechanism_info(mechanism, &info);
    if (exceeds(realised, info.eps)) {
        return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                         "the samplers realise an epsilon of %.17g, above the "
                         "stated %.17g; do not use this mechanism, and report "
                         "this to the makers of sotto",
                         realised, info.eps);
    }
    for (size_t i = 0; i < info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(mechanism, i, &part);
        if (exceeds(part.eps_exact, part.eps)) {
            return host_fail(err, SOTTO_STATUS_REFUSED, 0,
                             "part %zu realises an epsilon of %.17g, above "
                             "the stated %.17g; do not use this mechanism, "
                             "and report this to the makers of sotto",
                             i + 1, part.eps_exact, part.eps);
        }
    }
    return SOTTO_STATUS_OK;
}

/* ---- The section -------------------------------------------------------- */

static void
say_budget(struct page *page)
{
    const struct sotto_mechanism_info *info = &page->info;
    bool pure = info->delta == 0;
    page_say(page, 0,
             pure ? "Epsilon of one report:"
                  : "Epsilon and delta of one report:");
    page_say(page, 6, "  - about all of the record: at most %s%s%s, as stated",
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
    page_say(page, 6,
             "  - realised by the exact samplers: %s%.12g, not above what is "
             "stated",
             pure ? "" : "epsilon ", describe_eps_exact(page->mechanism));
}

static void
say_pure(struct page *page, const char *factor)
{
    char belief[32];
    bool bounded = write_belief(page->info.eps, 0, belief);
    page_say(page, 0,
             "Whatever one person's record is, the chance of any given report "
             "changes by at most a factor of e^%s = %s when it is replaced by "
             "any other record. This is pure local differential privacy; "
             "neighbours are any two records at all.",
             page->info.eps_text, factor);
    page_gap(page);
    page_say(page, 0,
             "In odds: whoever sees the report, whatever else they know, can "
             "shift their odds for one record against another by at most that "
             "factor. Someone who thought it 50%% likely that a person's "
             "record says one thing rather than another could %s%s%s.",
             bounded ? "at most come to think it "
                     : "come to be almost sure of it: ",
             bounded ? belief : "more than 99.9%", " likely");
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
describe_promise(struct page *page)
{
    char factor[32];
    write_factor(page->info.eps, factor);
    page_title(page, "THE PROMISE");
    if (page->info.delta > 0) {
        say_approximate(page, factor);
    } else {
        say_pure(page, factor);
    }
    page_gap(page);
    page_say(page, 0, "For the size of this epsilon: %s.",
             verdict(page->info.eps));
    page_gap(page);
    say_budget(page);
}
