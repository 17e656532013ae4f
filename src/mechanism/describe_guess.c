/*
 * describe_guess.c: epsilon in words that people can check: what a guess about
 * them can become, and how often their class can be told.
 *
 * likelihood/guess.c has the bounds of a guess, likelihood/ceiling.c those of a
 * class; docs/threat-model.md, "What a guess can become", the argument. The
 * word that describe_promise.c has for epsilon goes by the first row here.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/decimal.h"
#include "host/share.h"
#include "likelihood/guess.h"
#include "mechanism/describe.h"
#include "mechanism/mechanism.h"
#include "mechanism/page.h"

#define CELL_SIZE (2 * SHARE_TEXT_SIZE + 8)
#define NEARLY_ALL (DECIMAL_UNIT / 1000 * 999)

/* "1,000". */
static void
write_thousands(uint64_t number, char text[SHARE_TEXT_SIZE])
{
    if (number < 1000) {
        (void)snprintf(text, SHARE_TEXT_SIZE, "%" PRIu64, number);
    } else {
        (void)snprintf(text, SHARE_TEXT_SIZE, "%" PRIu64 ",%03" PRIu64,
                       number / 1000 % 1000000, number % 1000);
    }
}

/* "26.8% to 73.2%"; false where that bounds nothing worth the name. */
static bool
write_cell(uint64_t one_in, uint64_t eps, char text[CELL_SIZE])
{
    char least[SHARE_TEXT_SIZE], most[SHARE_TEXT_SIZE];
    uint64_t units = sotto_guess_most(one_in, eps);
    share_write_least(sotto_guess_least(one_in, eps), least);
    share_write_most(units, most);
    bool bounded = units <= NEARLY_ALL;
    (void)snprintf(text, CELL_SIZE, "%s to %s", least,
                   bounded ? most : "over 99.9%");
    return bounded;
}

static void
say_table(struct page *page, uint32_t reports)
{
    const struct shape *shape = &page->mechanism->shape;
    uint64_t eps, delta;
    bool bounded = true;
    char times[SHARE_TEXT_SIZE], title[SHARE_TEXT_SIZE + 16] = "";
    guess_add_up(shape->eps, shape->delta, reports, &eps, &delta);
    write_thousands(reports, times);
    if (reports > 1) {
        (void)snprintf(title, sizeof title, "  after %s reports", times);
    }
    host_text_print(&page->text, "  %-12s  %-26s%s\n", "guess before",
                    "after one report", title);
    for (size_t i = 0; i < GUESS_SHOWN; i++) {
        char one_in[SHARE_TEXT_SIZE], one[CELL_SIZE], all[CELL_SIZE];
        write_thousands(guess_shown[i], one_in);
        bounded = write_cell(guess_shown[i], shape->eps, one) && bounded;
        bounded = write_cell(guess_shown[i], eps, all) && bounded;
        host_text_print(&page->text, "  1 in %-7s  %-*s%s%s\n", one_in,
                        reports > 1 ? 26 : 0, one, reports > 1 ? "  " : "",
                        reports > 1 ? all : "");
    }
    if (!bounded) {
        page_say(page, 0,
                 "\"Over 99.9%%\" is no bound worth the name: who guessed may "
                 "become all but certain.");
    }
}

/* With a delta the table is true of all but few reports. */
static void
say_outright(struct page *page, uint32_t reports)
{
    uint64_t eps, delta;
    char share[SHARE_TEXT_SIZE], times[SHARE_TEXT_SIZE];
    guess_add_up(page->mechanism->shape.eps, page->mechanism->shape.delta,
                 reports, &eps, &delta);
    share_write_most(delta, share);
    write_thousands(reports, times);
    page_say(page, 0,
             "Because of delta this is no bound of every report: what is "
             "reported is worth no more than an answer that says outright "
             "whether the guess is right, with probability delta (%s%s: at "
             "most %s%s), and that keeps to the table otherwise.",
             reports > 1 ? "after " : "after one report",
             reports > 1 ? times : "", share,
             reports > 1 ? ", by adding up" : "");
}

size_t
describe_classes(const struct sotto_mechanism *mechanism)
{
    size_t label = mechanism->shape.label;
    size_t count =
        label != SIZE_MAX ? mechanism->shape.schema.column[label].count : 0;
    return count > 2 ? count - 1 : 0; /* the last symbol is "(other)" */
}

/* How often the label's class can be told from a report. */
static void
say_accuracy(struct page *page)
{
    const struct sotto_mechanism_info *info = &page->info;
    size_t classes = describe_classes(page->mechanism);
    char most[SHARE_TEXT_SIZE], vertices[SHARE_TEXT_SIZE];
    share_write_most(
        guess_round_up(sotto_accuracy_most(classes, info->eps, info->delta)),
        most);
    share_write_most(
        guess_round_up(sotto_accuracy_vertices(classes, info->eps)), vertices);
    host_text_print(&page->words, "Of the %zu classes of ", classes);
    page_name(page,
              page->mechanism->shape.schema.column[page->mechanism->shape.label]
                  .name);
    page_say(page, 0,
             ", if all are as frequent, the right one can be told from one "
             "report at most %s of the time, whatever the mechanism and "
             "whoever reads it: (e^epsilon + (K - 1) delta) / (e^epsilon + K - "
             "1) for K classes. With Laplace noise on a representation it is "
             "%s, if vertices of the ball are the best places for classes, "
             "which is a conjecture.",
             most, vertices);
}

void
describe_guesses(struct page *page, uint32_t reports)
{
    const char *about = page->info.label_only ? "label" : "record";
    page_title(page, "WHAT A GUESS CAN BECOME");
    page_say(page, 0,
             "Somebody guesses that a thing is true of a person's %s, and "
             "thinks its chance is 1 in 2, 1 in 10 or 1 in 1,000, whatever "
             "they know. After having seen the person's report they cannot "
             "think it less likely, or more, than this:",
             about);
    page_gap(page);
    say_table(page, reports);
    if (page->mechanism->shape.delta > 0) {
        say_outright(page, 1);
        if (reports > 1) {
            say_outright(page, reports);
        }
    }
    if (describe_classes(page->mechanism) > 0) {
        page_gap(page);
        say_accuracy(page);
    }
}
