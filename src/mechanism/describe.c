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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/decimal.h"
#include "host/amount.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/printable.h"
#include "host/text.h"
#include "mechanism/depend.h"
#include "mechanism/page.h"

#define NAMES_SHOWN 12u /* of columns in one sentence */

/* ---- Sections ----------------------------------------------------------- */

static void
say_titles(struct page *page)
{
    if (page->info.label_only) {
        page_say(page, 0,
                 "The record is not protected. Whoever gets these reports "
                 "holds the records in the clear, and knows whose label each "
                 "report is about: only the label has noise. Devices do not "
                 "send such reports and collectors do not take them.");
        page_gap(page);
    }
    host_text_print(&page->words, "Mechanism \"");
    page_name(page, page->info.name);
    host_text_print(&page->words, "\" for the campaign \"");
    page_name(page, page->info.campaign);
    page_say(page, 0, "\"");
    page_say(page, 0, "hash %s", page->info.hash);
    if (page->info.uneven) {
        page_gap(page);
        page_say(page, 0,
                 "DEVICES REFUSE THIS FILE: a weight or a scale is so small, "
                 "and not 0, that the encoder's time could depend on the "
                 "record. No report is made with it, and nothing below is "
                 "promised.");
    }
}

/* Whether a part clips a column's number for itself: a single one, those of a
   cube, or one beside what says that it is missing. */
static bool
clips_alone(const struct page *page, size_t part,
            const struct schema_column *column)
{
    const struct channel_instance *instance =
        page->mechanism->shape.part[part].instance;
    return instance->l > 0 &&
           (instance->size == 1 ||
            instance->channel->domain == CHANNEL_DOMAIN_CUBE ||
            (column->missing &&
             mechanism_keeps_pair(page->mechanism, part, column->at)));
}

/* Whether some part takes the column as a number of its own, with no encoder
   between: only there is it clipped to its range. */
static bool
sent_alone(const struct page *page, const struct schema_column *column)
{
    bool alone = false;
    for (size_t i = 0; i < page->info.parts; i++) {
        const struct shape_part *part = &page->mechanism->shape.part[i];
        alone =
            alone ||
            (column->at >= part->from && clips_alone(page, i, column) &&
             (column->at - part->from) / part->instance->size < part->blocks);
    }
    return alone && page->info.layers == 0;
}

static void
say_column(struct page *page, size_t at)
{
    const struct schema_column *column =
        &page->mechanism->shape.schema.column[at];
    struct sotto_column_info info;
    sotto_mechanism_column(page->mechanism, at, &info);
    const struct schema_range range = {info.low, info.high,
                                       sent_alone(page, column)};
    host_text_print(&page->words, "  - ");
    page_name(page, info.name);
    host_text_print(&page->words, ": ");
    schema_kind(column->kind)->describe(column, &range, &page->words);
    page_say(page, 6, "%s", "");
}

/* "(3 convolutions, 2 pools, 1 dense)", where there are others than dense. */
static void
say_layers(struct page *page)
{
    static const char *const words[] = {"convolution", "pool", "dense layer"};
    size_t count[] = {0, 0, 0};
    const char *before = " (";
    for (size_t i = 0; i < page->info.layers; i++) {
        enum layer_kind kind = page->mechanism->device.encoder->layer[i].kind;
        count[kind == LAYER_CONV ? 0 : kind == LAYER_DENSE ? 2 : 1]++;
    }
    if (count[2] == page->info.layers) {
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        if (count[i] > 0) {
            host_text_print(&page->words, "%s%zu %s%s", before, count[i],
                            words[i], count[i] == 1 ? "" : "s");
            before = ", ";
        }
    }
    host_text_print(&page->words, ")");
}

static void
say_encoder(struct page *page)
{
    host_text_print(&page->words, "An encoder of %zu layer%s",
                    page->info.layers, page->info.layers == 1 ? "" : "s");
    say_layers(page);
    page_say(page, 0,
             " and %zu weights, %" PRIu64 " multiply-adds a record, transforms "
             "it first. Nothing that a report may say, below, rests on it. How "
             "long it takes could tell of a record: a device takes the same "
             "steps for each, with no number that takes longer than others, "
             "and sends at a time that was fixed before.",
             page->info.weights, page->info.work);
    if (page->info.work > SOTTO_WORK_USUAL) {
        page_say(page, 0,
                 "That is more than the %" PRIu64
                 " multiply-adds that a device "
                 "does unless its owner allows more.",
                 SOTTO_WORK_USUAL);
    }
}

/* The columns that the encoder has no weights for. */
static void
say_weightless(struct page *page)
{
    size_t count = 0;
    for (size_t i = 0; i < page->info.columns; i++) {
        if (depend_weightless(page->mechanism, i) && ++count <= NAMES_SHOWN) {
            host_text_print(&page->words, "%s",
                            count == 1 ? "The encoder gives no weight to "
                                       : ", ");
            page_name(page, page->mechanism->shape.schema.column[i].name);
        }
    }
    if (count > NAMES_SHOWN) {
        host_text_print(&page->words, " and %zu more", count - NAMES_SHOWN);
    }
    if (count > 0) {
        page_say(page, 0,
                 ": a report tells of %s no more than the other columns do, "
                 "unless a number is too large to compute with.",
                 count == 1 ? "it" : "them");
    }
}

static void
say_end(struct page *page)
{
    char text[HOST_UTC_SIZE];
    if (page->info.expires == 0) {
        page_say(page, 0, "It does not expire.");
        return;
    }
    host_utc_write(page->info.expires, text);
    if ((uint64_t)time(NULL) >= page->info.expires) {
        page_say(page, 0, "IT HAS EXPIRED.");
    }
    page_say(page, 0, "From %s on no report leaves, nor one that waits.", text);
}

/* What the lot is about, where there is one. */
static void
say_lot(struct page *page)
{
    for (size_t i = 0; i < page->info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(page->mechanism, i, &part);
        if (part.books > 1) {
            page_say(page, 0,
                     "Of the %zu questions of part %zu the device asks one, by "
                     "lot: it draws the question's number before it reads the "
                     "record, each number being as likely, and the report "
                     "shows the number to whoever sees it. The number says "
                     "nothing about the record. A person who is asked again "
                     "gives the same report, with the same number.",
                     part.books, i + 1);
        }
    }
}

static void
say_collected(struct page *page)
{
    page_title(page, "WHAT IS READ, ON THE PERSON'S OWN DEVICE");
    page_say(page, 0, "One record of %zu column%s:", page->info.columns,
             page->info.columns == 1 ? "" : "s");
    for (size_t i = 0; i < page->info.columns; i++) {
        say_column(page, i);
    }
    if (page->info.layers > 0) {
        say_encoder(page);
        say_weightless(page);
    }
    page_title(page, "WHAT LEAVES THE DEVICE");
    page_say(
        page, 0,
        "One report of exactly %zu bytes, whatever the record holds, also if "
        "it is empty or damaged: this mechanism's hash, a random number that "
        "names the report and has nothing to do with the person, and whole "
        "numbers to which chance was added as listed below. %s",
        page->info.report_size,
        page->info.label_only
            ? "Whoever gets it is told which of their records it is about."
            : "The record itself stays where it is.");
    say_lot(page);
    say_end(page);
}

static void
write_domain(const struct sotto_part_info *part, char text[64])
{
    if (part->l == 0) {
        (void)snprintf(text, 64, "%zu symbols", part->size);
    } else if (part->size == 1) {
        (void)snprintf(text, 64, "-%zu to %zu", part->l, part->l);
    } else if (strcmp(part->domain, "cube") == 0) {
        (void)snprintf(text, 64, "%zu numbers, each +-%zu", part->size,
                       part->l);
    } else {
        (void)snprintf(text, 64, "%zu numbers, %s %zu", part->size,
                       strcmp(part->domain, "ball") == 0 ? "length" : "sum",
                       part->l);
    }
}

static void
say_row(struct page *page, size_t at)
{
    struct sotto_part_info part;
    char domain[64];
    sotto_mechanism_part(page->mechanism, at, &part);
    write_domain(&part, domain);
    host_text_print(&page->text, "%5zu  %-8s  %-8s  %-28s  %6zu  %.12g\n",
                    at + 1, part.covers, part.channel, domain, part.blocks,
                    part.eps);
    if (part.books > 1) {
        host_text_print(&page->text, "%7sone of %zu such questions, by lot\n",
                        "", part.books);
    }
    if (part.delta > 0) {
        char delta[DECIMAL_TEXT_SIZE];
        (void)amount_write(page->mechanism->shape.part[at].instance->delta,
                           delta);
        host_text_print(&page->text, "%7sdelta %s each\n", "", delta);
    }
}

static void
say_table(struct page *page)
{
    host_text_print(&page->text, "%5s  %-8s  %-8s  %-28s  %6s  %s\n", "part",
                    "covers", "channel", "domain", "blocks", "epsilon each");
    for (size_t i = 0; i < page->info.parts; i++) {
        say_row(page, i);
    }
}

/* Each channel once, where it first comes. */
static void
say_channels(struct page *page)
{
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        bool used = false;
        for (size_t j = 0; j < page->info.parts; j++) {
            struct sotto_part_info part;
            sotto_mechanism_part(page->mechanism, j, &part);
            used = used || strcmp(part.channel, channel_exact[i]->name) == 0;
        }
        if (used) {
            page_say(page, 6, "  - %s: %s", channel_exact[i]->name,
                     channel_exact[i]->promise);
        }
    }
}

/* The noise on what says that a number is missing; false: entry `at` of z says
   something else. */
static bool
say_missing(struct page *page, size_t at, double noise)
{
    size_t column = mechanism_missing_source(page->mechanism, at);
    if (column == SIZE_MAX) {
        return false;
    }
    host_text_print(&page->words, "  - whether ");
    page_name(page, page->mechanism->shape.schema.column[column].name);
    page_say(page, 6,
             " is missing: %.3g, where the whole range from 0 to 1 is 1 wide",
             noise);
    return true;
}

/* The noise on one number: in its column's own units where it has one. */
static void
say_coordinates(struct page *page, size_t at,
                const struct sotto_part_info *part)
{
    const struct shape *shape = &page->mechanism->shape;
    double noise = part->deviation / (double)part->l;
    bool plain = false;
    for (size_t i = 0; i < part->blocks * part->size; i++) {
        struct sotto_column_info info;
        size_t column =
            mechanism_source(page->mechanism, shape->part[at].from + i);
        double scale;
        if (say_missing(page, shape->part[at].from + i, noise)) {
            continue;
        }
        if (column == SIZE_MAX) {
            plain = true;
            continue;
        }
        scale = shape->schema.column[column].scale;
        sotto_mechanism_column(page->mechanism, column, &info);
        host_text_print(&page->words, "  - ");
        page_name(page, info.name);
        if (!schema_range_usable(
                &(struct schema_range){.low = info.low, .high = info.high})) {
            page_say(page, 6, ": unknown, for its range is unusable");
            continue;
        }
        if (info.log) {
            page_say(page, 6, ": %.3g, on the scale of its logarithm",
                     scale != 0 ? noise / fabs(scale) : 0);
            continue;
        }
        page_say(page, 6,
                 ": %.3g, where the whole range from %.6g to %.6g is %.6g wide",
                 scale != 0 ? noise / fabs(scale) : 0, info.low, info.high,
                 info.high - info.low);
    }
    if (plain) {
        page_say(
            page, 6,
            "  - each number of part %zu without a column of its own: %.3g, "
            "where the whole range from -1 to 1 is 2 wide",
            at + 1, noise);
    }
}

/* What a symbol is made of: columns, or the encoder's choice. */
static void
say_factors(struct page *page, size_t at)
{
    const struct report_part *part = &page->mechanism->device.report->part[at];
    for (uint32_t i = 0; i < part->factors; i++) {
        host_text_print(&page->words, "%s", i > 0 ? " x " : "");
        if (part->factor[i].is_column) {
            struct sotto_column_info info;
            sotto_mechanism_column(page->mechanism, part->factor[i].at, &info);
            page_name(page, info.name);
        } else if (part->factor[i].equal) {
            struct sotto_column_info info;
            sotto_mechanism_column(page->mechanism, part->factor[i].column,
                                   &info);
            host_text_print(&page->words, "whether ");
            page_name(page, info.name);
            host_text_print(&page->words, " is what the encoder chose");
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
            page_say(page, 6,
                     ": %.3g, where the whole range from 0 to 1 is 1 wide",
                     part.deviation);
        }
    }
}

static void
say_parts(struct page *page)
{
    page_title(page, "HOW");
    say_table(page);
    page_gap(page);
    say_channels(page);
    page_gap(page);
    page_say(page, 0,
             "The noise of one report, as a standard deviation, in the worst "
             "case. For the mean of n reports divide it by the square root of "
             "n: by 32 for 1,000 people, by 100 for 10,000:");
    say_noise(page);
}

static void
say_limits(struct page *page)
{
    page_title(page, "WHAT IS NOT PROMISED");
    bool pure = page->info.delta == 0;
    page_say(page, 4,
             "  - Several reports of one person add up: m records or m reports "
             "cost m times epsilon, %s times m here%s%s%s. Keeping one person "
             "to one report, and a lifetime account, are the sender's ledger's "
             "work, not part of this file.",
             page->info.eps_text, pure ? "" : ", and m times delta, ",
             pure ? "" : page->info.delta_text, pure ? "" : " times m here");
    page_say(
        page, 4,
        "  - That a person takes part can be seen; if only certain people are "
        "asked, taking part says that they are among them.");
    host_text_print(&page->words,
                    "  - The maker says of the auxiliary data: \"");
    host_printable_add(&page->words, page->info.auxiliary, DEVICE_TEXT_MAX);
    page_say(page, 4, "\" (not checked).");
    if (page->info.central_eps[0] != '\0') {
        bool sharp = page->info.central_delta[0] == '\0';
        page_say(page, 4,
                 "  - The maker says that this file tells of one auxiliary "
                 "record at most what epsilon %s%s%s allows (not checked).",
                 page->info.central_eps, sharp ? "" : " and delta ",
                 sharp ? "" : page->info.central_delta);
    }
    page_say(
        page, 4,
        "  - No gain from shuffling or from hiding who sent what is claimed.");
    page_say(page, 4,
             "  - What is true of many people can still be learnt, and be held "
             "against one: the promise is about what one report adds.");
    page_say(page, 4,
             "  - Who made this file is not known from it: check its signature "
             "with `sotto verify`.");
}

enum sotto_status
sotto_mechanism_describe(const struct sotto_mechanism *mechanism, bool json,
                         char **ret_text, struct sotto_error *err)
{
    return sotto_mechanism_describe_reports(mechanism, 1, json, ret_text, err);
}

enum sotto_status
sotto_mechanism_describe_reports(const struct sotto_mechanism *mechanism,
                                 uint32_t reports, bool json, char **ret_text,
                                 struct sotto_error *err)
{
    struct page page;
    char *line;
    enum sotto_status status = describe_check(mechanism, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (json) {
        line = describe_json(mechanism, reports);
        if (line == NULL) {
            return host_fail_memory(err);
        }
        *ret_text = line;
        return SOTTO_STATUS_OK;
    }
    page_init(&page, mechanism);
    say_titles(&page);
    say_collected(&page);
    describe_promise(&page);
    describe_guesses(&page, reports);
    say_parts(&page);
    say_limits(&page);
    if (page.text.failed) {
        page_clear(&page);
        return host_fail_memory(err);
    }
    *ret_text = page.text.data;
    host_text_init(&page.text, 0); /* the caller's now */
    page_clear(&page);
    return SOTTO_STATUS_OK;
}
