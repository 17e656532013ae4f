/*
 * describe.c: what a mechanism promises, in plain words.
 *
 * For a data-protection officer. The total epsilon, the noise, the domains and
 * the sizes are computed from the file as a device reads it. What only its
 * maker can know is shown as the maker's word, not as a finding: names, the
 * campaign, which parts are about features and which about the label, and what
 * protects the auxiliary data. Which epsilon is meant is said each time
 * (invariant 6). Text from the file is made printable first.
 */
#include "mechanism/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"

#define WIDTH 80u
#define TEXT_MOST ((size_t)1 << 30)
#define NAME_MOST ((size_t)40) /* characters of a name or category */
#define CATEGORIES_MOST ((size_t)12)
#define RANGE_MOST 1e30   /* no real quantity's range ends beyond */
#define EXCESS_MOST 1e-12 /* of epsilon: what sums of doubles round */

/* The page so far, and the paragraph being put together. */
struct page {
    const struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    struct host_text text;
    struct host_text words;
};

/* ---- Paragraphs --------------------------------------------------------- */

/* Bytes of the word at `at`, and the columns it takes. */
static size_t
measure_word(const char *at, size_t most, size_t *ret_columns)
{
    size_t size = 0, columns = 0;
    while (at[size] != '\0' && at[size] != ' ') {
        if (((unsigned char)at[size] & 0xc0) != 0x80 && ++columns > most) {
            columns--; /* a word wider than a line is cut */
            break;
        }
        size++;
    }
    *ret_columns = columns;
    return size;
}

/* Ends the paragraph: its words go to the page, lines after the first
   indented by `indent` blanks. The words' own blanks before the first one
   indent the first line. */
static void
end_paragraph(struct page *page, size_t indent)
{
    struct host_text *out = &page->text;
    const char *at = page->words.data;
    size_t column = 0;
    out->failed = out->failed || page->words.failed;
    while (at != NULL && *at == ' ') {
        host_text_add(out, at++, 1);
        column++;
    }
    while (at != NULL && *at != '\0' && !out->failed) {
        size_t columns, size = measure_word(at, WIDTH - indent, &columns);
        if (column + columns > WIDTH) {
            host_text_print(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        host_text_add(out, at, size);
        column += columns;
        at += size;
        if (*at == ' ') {
            size_t next;
            (void)measure_word(++at, WIDTH - indent, &next);
            if (column + 1 + next > WIDTH) {
                column = WIDTH + 1; /* the break takes the blank's place */
            } else {
                host_text_add(out, " ", 1);
                column++;
            }
        }
    }
    host_text_add(out, "\n", 1);
    page->words.size = 0;
    if (page->words.data != NULL) {
        page->words.data[0] = '\0';
    }
}

static void
say_name(struct page *page, const char *name)
{
    host_printable_add(&page->words, name, NAME_MOST);
}

/* A paragraph of our own words. */
__attribute__((format(printf, 3, 4))) static void
say(struct page *page, size_t indent, const char *format, ...)
{
    char words[1200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    host_text_add(&page->words, words, strlen(words));
    end_paragraph(page, indent);
}

static void
title(struct page *page, const char *text)
{
    host_text_print(&page->text, "\n%s\n\n", text);
}

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

/* e^eps / (1 + e^eps), to which a belief of one half can rise. */
static void
write_belief(double eps, char text[32])
{
    double belief = 100 / (1 + exp(-eps));
    if (belief < 99.9) {
        (void)snprintf(text, 32, "%.1f%%", ceil(belief * 10) / 10);
    } else {
        (void)snprintf(text, 32, "over 99.9%%");
    }
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

static enum sotto_status
check_promise(const struct sotto_mechanism *mechanism, struct sotto_error *err)
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

/* ---- Sections ----------------------------------------------------------- */

static void
say_titles(struct page *page)
{
    host_text_print(&page->words, "Mechanism \"");
    say_name(page, page->info.name);
    host_text_print(&page->words, "\" for the campaign \"");
    say_name(page, page->info.campaign);
    say(page, 0, "\"");
    say(page, 0, "hash %s", page->info.hash);
}

static void
say_categories(struct page *page, const struct sotto_column_info *info)
{
    size_t count = info->count - 1;
    const char *at = info->name;
    host_text_print(&page->words, "one of %zu categories: ", count);
    for (size_t i = 0; i < count && i < CATEGORIES_MOST; i++) {
        at += strlen(at) + 1;
        host_text_print(&page->words, "%s", i > 0 ? ", " : "");
        say_name(page, at);
    }
    if (count > CATEGORIES_MOST) {
        host_text_print(&page->words, " and %zu more", count - CATEGORIES_MOST);
    }
    say(page, 6, "; anything else counts as (other)");
}

/* A hostile or mistaken file's range may be no range at all. */
static bool
range_usable(const struct sotto_column_info *info)
{
    return fabs(info->low) <= RANGE_MOST && fabs(info->high) <= RANGE_MOST;
}

/* Whether some part sends the column as a number of its own, with no encoder
   between: only there is it clipped to its range. */
static bool
sent_alone(const struct page *page, size_t column)
{
    const struct sotto_client *client = page->mechanism->client;
    bool alone = false;
    size_t entry = 0;
    for (size_t i = 0; i < column; i++) {
        entry += client->column[i].inputs;
    }
    for (size_t i = 0; i < page->info.parts; i++) {
        const struct device_part *part = &client->part[i];
        alone =
            alone || (part->instance.l > 0 && part->instance.size == 1 &&
                      entry >= part->from && entry - part->from < part->blocks);
    }
    return alone && page->info.layers == 0;
}

static void
say_number(struct page *page, size_t at, const struct sotto_column_info *info)
{
    if (!range_usable(info)) {
        say(page, 6, "a number with an unusable range");
    } else if (sent_alone(page, at)) {
        say(page, 6,
            "a number from %.6g to %.6g; one beyond counts as the nearer end, "
            "a missing one as the middle",
            info->low, info->high);
    } else {
        say(page, 6,
            "a number, scaled by a range from %.6g to %.6g; a missing one "
            "counts as the middle",
            info->low, info->high);
    }
}

static void
say_column(struct page *page, size_t at)
{
    struct sotto_column_info info;
    sotto_mechanism_column(page->mechanism, at, &info);
    host_text_print(&page->words, "  - ");
    say_name(page, info.name);
    host_text_print(&page->words, ": ");
    switch (info.kind) {
    case SOTTO_COLUMN_CATEGORY:
        say_categories(page, &info);
        break;
    case SOTTO_COLUMN_BYTES:
        say(page, 6, "%zu samples, as the pixels of an image", info.count);
        break;
    default:
        say_number(page, at, &info);
        break;
    }
}

static void
say_collected(struct page *page)
{
    title(page, "WHAT IS READ, ON THE PERSON'S OWN DEVICE");
    say(page, 0, "One record of %zu column%s:", page->info.columns,
        page->info.columns == 1 ? "" : "s");
    for (size_t i = 0; i < page->info.columns; i++) {
        say_column(page, i);
    }
    if (page->info.layers > 0) {
        say(page, 0,
            "An encoder of %zu layer%s and %zu weights transforms it first. "
            "Nothing about the promise below rests on it.",
            page->info.layers, page->info.layers == 1 ? "" : "s",
            page->info.weights);
    }
    title(page, "WHAT LEAVES THE DEVICE");
    say(page, 0,
        "One report of exactly %zu bytes, whatever the record holds, also if "
        "it is empty or damaged: this mechanism's hash, a random number that "
        "names the report and has nothing to do with the person, and whole "
        "numbers to which chance was added as listed below. The record itself "
        "stays where it is.",
        page->info.report_size);
}

static void
say_budget(struct page *page)
{
    const struct sotto_mechanism_info *info = &page->info;
    say(page, 0, "Epsilon of one report:");
    say(page, 6, "  - about all of the record: at most %s, as stated",
        info->eps_text);
    if (info->eps_label > 0) {
        say(page, 6,
            "  - by the maker's own labelling of the parts: features at most "
            "%.12g, label at most %.12g (not checked; the total is)",
            info->eps_features, info->eps_label);
    } else {
        say(page, 6,
            "  - by the maker's own labelling of the parts: features at most "
            "%.12g; no part is labelled as being about a label (not checked; "
            "the total is)",
            info->eps_features);
    }
    say(page, 6,
        "  - realised by the exact samplers: %.12g, not above what is stated",
        describe_eps_exact(page->mechanism));
}

static void
say_promise(struct page *page)
{
    double eps = page->info.eps;
    char factor[32], belief[32];
    write_factor(eps, factor);
    write_belief(eps, belief);
    title(page, "THE PROMISE");
    say(page, 0,
        "Whatever one person's record is, the chance of any given report "
        "changes by at most a factor of e^%s = %s when it is replaced by any "
        "other record. This is pure local differential privacy; neighbours "
        "are any two records at all.",
        page->info.eps_text, factor);
    host_text_add(&page->text, "\n", 1);
    say(page, 0,
        "In odds: whoever sees the report, whatever else they know, can shift "
        "their odds for one record against another by at most that factor. "
        "Someone who thought it 50%% likely that a person's record says one "
        "thing rather than another could at most come to think it %s likely.",
        belief);
    host_text_add(&page->text, "\n", 1);
    say(page, 0, "For the size of this epsilon: %s.", verdict(eps));
    host_text_add(&page->text, "\n", 1);
    say_budget(page);
}

static void
write_domain(const struct sotto_part_info *part, char text[64])
{
    if (part->l == 0) {
        (void)snprintf(text, 64, "%zu symbols", part->size);
    } else if (part->size == 1) {
        (void)snprintf(text, 64, "-%zu to %zu", part->l, part->l);
    } else {
        (void)snprintf(text, 64, "%zu numbers, sum %zu", part->size, part->l);
    }
}

static void
say_table(struct page *page)
{
    host_text_print(&page->text, "%5s  %-8s  %-8s  %-24s  %6s  %s\n", "part",
                    "covers", "channel", "domain", "blocks", "epsilon each");
    for (size_t i = 0; i < page->info.parts; i++) {
        struct sotto_part_info part;
        char domain[64];
        sotto_mechanism_part(page->mechanism, i, &part);
        write_domain(&part, domain);
        host_text_print(&page->text, "%5zu  %-8s  %-8s  %-24s  %6zu  %.12g\n",
                        i + 1, part.covers, part.channel, domain, part.blocks,
                        part.eps);
    }
}

/* Each channel once, where it first comes. */
static void
say_channels(struct page *page)
{
    for (size_t i = 0; channel_at(i) != NULL; i++) {
        bool used = false;
        for (size_t j = 0; j < page->info.parts; j++) {
            struct sotto_part_info part;
            sotto_mechanism_part(page->mechanism, j, &part);
            used = used || strcmp(part.channel, channel_at(i)->name) == 0;
        }
        if (used) {
            say(page, 6, "  - %s: %s", channel_at(i)->name,
                channel_at(i)->promise);
        }
    }
}

/* The noise on one number: in its column's own units where it has one. */
static void
say_coordinates(struct page *page, size_t at,
                const struct sotto_part_info *part)
{
    const struct device_part *own = &page->mechanism->client->part[at];
    double noise = part->deviation / (double)part->l;
    bool plain = false;
    for (size_t i = 0; i < part->blocks * part->size; i++) {
        struct sotto_column_info info;
        size_t column = mechanism_source(page->mechanism, own->from + i);
        if (column == SIZE_MAX) {
            plain = true;
            continue;
        }
        sotto_mechanism_column(page->mechanism, column, &info);
        host_text_print(&page->words, "  - ");
        say_name(page, info.name);
        if (!range_usable(&info)) {
            say(page, 6, ": unknown, for its range is unusable");
            continue;
        }
        say(page, 6,
            ": %.3g, where the whole range from %.6g to %.6g is %.6g wide",
            noise * fabs(info.high / 2 - info.low / 2), info.low, info.high,
            info.high - info.low);
    }
    if (plain) {
        say(page, 6,
            "  - each number of part %zu without a column of its own: %.3g, "
            "where the whole range from -1 to 1 is 2 wide",
            at + 1, noise);
    }
}

/* What a symbol is made of: columns, or the encoder's choice. */
static void
say_factors(struct page *page, size_t at)
{
    const struct device_part *part = &page->mechanism->client->part[at];
    for (uint32_t i = 0; i < part->factors; i++) {
        host_text_print(&page->words, "%s", i > 0 ? " x " : "");
        if (part->factor[i].is_column) {
            struct sotto_column_info info;
            sotto_mechanism_column(page->mechanism, part->factor[i].at, &info);
            say_name(page, info.name);
        } else {
            host_text_print(&page->words, "the encoder");
        }
    }
    host_text_print(&page->words, " (part %zu)", at + 1);
}

static void
say_noise(struct page *page)
{
    for (size_t i = 0; i < page->info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(page->mechanism, i, &part);
        if (part.l > 0) {
            say_coordinates(page, i, &part);
        } else {
            host_text_print(&page->words, "  - the share of an answer to ");
            say_factors(page, i);
            say(page, 6, ": %.3g, where the whole range from 0 to 1 is 1 wide",
                part.deviation);
        }
    }
}

static void
say_parts(struct page *page)
{
    title(page, "HOW");
    say_table(page);
    host_text_add(&page->text, "\n", 1);
    say_channels(page);
    host_text_add(&page->text, "\n", 1);
    say(page, 0,
        "The chance in one report, as a standard deviation (n reports "
        "together: divided by the square root of n):");
    say_noise(page);
}

static void
say_limits(struct page *page)
{
    title(page, "WHAT IS NOT PROMISED");
    say(page, 4,
        "  - Several reports of one person add up: m records or m reports "
        "cost m times epsilon, %s times m here. Keeping one person to one "
        "report, and a lifetime account, are the sender's ledger's work, not "
        "part of this file.",
        page->info.eps_text);
    say(page, 4,
        "  - That a person takes part can be seen; if only certain people are "
        "asked, taking part says that they are among them.");
    host_text_print(&page->words,
                    "  - The maker says of the auxiliary data: \"");
    host_printable_add(&page->words, page->info.auxiliary, DEVICE_TEXT_MAX);
    say(page, 4, "\" (not checked).");
    say(page, 4,
        "  - No gain from shuffling or from hiding who sent what is claimed.");
    say(page, 4,
        "  - What is true of many people can still be learnt, and be held "
        "against one: the promise is about what one report adds.");
    say(page, 4,
        "  - Who made this file is not known from it: check its signature "
        "with `sotto verify`.");
}

enum sotto_status
sotto_mechanism_describe(const struct sotto_mechanism *mechanism, bool json,
                         char **ret_text, struct sotto_error *err)
{
    struct page page = {.mechanism = mechanism};
    char *line;
    enum sotto_status status = check_promise(mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (json) {
        line = describe_json(mechanism);
        if (line == NULL) {
            return host_fail_memory(err);
        }
        *ret_text = line;
        return SOTTO_STATUS_OK;
    }
    host_text_init(&page.text, TEXT_MOST);
    host_text_init(&page.words, TEXT_MOST);
    sotto_mechanism_info(mechanism, &page.info);
    say_titles(&page);
    say_collected(&page);
    say_promise(&page);
    say_parts(&page);
    say_limits(&page);
    host_text_clear(&page.words);
    if (page.text.failed) {
        host_text_clear(&page.text);
        return host_fail_memory(err);
    }
    *ret_text = page.text.data;
    return SOTTO_STATUS_OK;
}
