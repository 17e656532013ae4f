/*
 * tally.c: counting reports.
 */
#include "mechanism/tally.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define SOME ((size_t)4096) /* reports that are sorted by book at a time */

/* Integers of reports are below 2^53, and those of real mechanisms below 2^40:
   of these 2^47 reports have sums that fit. */
__extension__ typedef __int128 wide;

struct sums {
    wide v, square, cross;
};

struct tally_part {
    const struct report_part *own;
    const struct likelihood_instance *likelihood;
    size_t offset;     /* of the first block in a report */
    size_t books;      /* 1: the lot does not matter */
    uint64_t *count;   /* symbols: books * blocks * size */
    double *mean;      /* likewise */
    struct sums *sums; /* numbers: blocks * size */
};

struct tally {
    const struct sotto_mechanism *mechanism;
    size_t parts;
    struct tally_part *part;
    uint64_t *n; /* by the lot; n[0] where none is drawn */
    size_t books;
    bool settled;
    uint8_t *sorted; /* SOME wires of the part with books */
    size_t *first;   /* where a book's begin */
    int64_t *values; /* of one block */
};

size_t
tally_entries(const struct report_part *part)
{
    return (size_t)part->blocks * part->instance.size;
}

/* ---- Making one -----------------------------------------------------------
 */

static bool
init_part(struct tally *tally, size_t i)
{
    const struct sotto_mechanism *mechanism = tally->mechanism;
    struct tally_part *part = &tally->part[i];
    part->own = &mechanism->device.report->part[i];
    part->likelihood = &mechanism->likelihood[i];
    part->offset = shape_offset(&mechanism->shape, i, 0);
    part->books = part->own->books > 0 ? part->own->books : 1;
    size_t entries = part->books * tally_entries(part->own);
    if (part->likelihood->likelihood->count != NULL) {
        part->count = calloc(entries, sizeof *part->count);
        part->mean = calloc(entries, sizeof *part->mean);
        return part->count != NULL && part->mean != NULL;
    }
    part->sums = calloc(entries, sizeof *part->sums);
    return part->sums != NULL;
}

enum sotto_status
tally_new(const struct sotto_mechanism *mechanism, struct tally **ret_tally,
          struct sotto_error *err)
{
    const struct report_plan *plan = mechanism->device.report;
    struct tally *tally = calloc(1, sizeof *tally);
    size_t wire = 1, values = 1;
    bool good = tally != NULL;
    if (!good) {
        return host_fail_memory(err);
    }
    tally->mechanism = mechanism;
    tally->books = plan->books > 0 ? plan->books : 1;
    tally->part = calloc(plan->parts, sizeof *tally->part);
    good = tally->part != NULL;
    tally->parts = good ? plan->parts : 0;
    for (size_t i = 0; good && i < tally->parts; i++) {
        const struct channel_instance *own = &plan->part[i].instance;
        good = init_part(tally, i);
        wire = own->wire_size > wire ? own->wire_size : wire;
        values = own->size > values ? own->size : values;
    }
    tally->n = calloc(tally->books, sizeof *tally->n);
    tally->first = calloc(tally->books + 1, sizeof *tally->first);
    tally->sorted = calloc(tally->books > 1 ? SOME : 1, wire);
    tally->values = calloc(values, sizeof *tally->values);
    if (!good || tally->n == NULL || tally->first == NULL ||
        tally->sorted == NULL || tally->values == NULL) {
        tally_free(tally);
        return host_fail_memory(err);
    }
    *ret_tally = tally;
    return SOTTO_STATUS_OK;
}

void
tally_free(struct tally *tally)
{
    if (tally == NULL) {
        return;
    }
    for (size_t i = 0; i < tally->parts; i++) {
        free(tally->part[i].count);
        free(tally->part[i].mean);
        free(tally->part[i].sums);
    }
    free(tally->part);
    free(tally->n);
    free(tally->first);
    free(tally->sorted);
    free(tally->values);
    free(tally);
}

/* ---- Adding ---------------------------------------------------------------
 */

static void
add_symbols(const struct tally *tally, const struct tally_part *part,
            const uint8_t *reports, size_t n)
{
    const struct channel_instance *own = part->likelihood->instance;
    for (size_t j = 0; j < part->own->blocks; j++) {
        part->likelihood->likelihood->count(
            part->likelihood, reports + part->offset + j * own->wire_size,
            tally->mechanism->shape.report_size, n,
            part->count + j * own->size);
    }
}

/* Puts the wires of some reports in the order of their books, then counts each
   book's. A part with books has one block. */
static void
add_books(struct tally *tally, const struct tally_part *part,
          const uint8_t *reports, size_t n)
{
    const struct report_plan *plan = tally->mechanism->device.report;
    const struct channel_instance *own = part->likelihood->instance;
    size_t each = plan->size, wire = own->wire_size, *first = tally->first;
    memset(first, 0, (tally->books + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) {
        first[report_book(plan, reports + i * each) + 1]++;
    }
    for (size_t b = 0; b < tally->books; b++) {
        first[b + 1] += first[b];
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *report = reports + i * each;
        size_t at = first[report_book(plan, report)]++;
        memcpy(tally->sorted + at * wire, report + part->offset, wire);
    }
    for (size_t b = 0, at = 0; b < tally->books; at = first[b++]) {
        part->likelihood->likelihood->count(
            part->likelihood, tally->sorted + at * wire, wire, first[b] - at,
            part->count + b * own->size);
    }
}

static void
add_numbers(const struct tally *tally, const struct tally_part *part,
            const uint8_t *report)
{
    const struct channel_instance *own = part->likelihood->instance;
    const uint8_t *wire = report + part->offset;
    struct sums *sums = part->sums;
    wide before = 0;
    for (size_t j = 0; j < part->own->blocks; j++) {
        part->likelihood->likelihood->unpack(part->likelihood, wire,
                                             tally->values);
        for (size_t i = 0; i < own->size; i++, sums++) {
            wide v = tally->values[i];
            sums->v += v;
            sums->square += v * v;
            if (sums > part->sums) {
                sums[-1].cross += before * v;
            }
            before = v;
        }
        wire += own->wire_size;
    }
}

static void
add_some(struct tally *tally, const uint8_t *reports, size_t n)
{
    const struct report_plan *plan = tally->mechanism->device.report;
    for (size_t p = 0; p < tally->parts; p++) {
        const struct tally_part *part = &tally->part[p];
        if (part->count == NULL) {
            for (size_t i = 0; i < n; i++) {
                add_numbers(tally, part, reports + i * plan->size);
            }
        } else if (part->books > 1) {
            add_books(tally, part, reports, n);
        } else {
            add_symbols(tally, part, reports, n);
        }
    }
    for (size_t i = 0; i < n && tally->books > 1; i++) {
        tally->n[report_book(plan, reports + i * plan->size)]++;
    }
    tally->n[0] += tally->books > 1 ? 0 : n;
}

void
tally_add(struct tally *tally, const uint8_t *reports, size_t n)
{
    size_t each = tally->mechanism->shape.report_size;
    for (size_t at = 0; at < n; at += SOME) {
        add_some(tally, reports + at * each, n - at < SOME ? n - at : SOME);
    }
    tally->settled = false;
}

/* ---- Asking it ------------------------------------------------------------
 */

uint64_t
tally_all(const struct tally *tally)
{
    uint64_t n = 0;
    for (size_t b = 0; b < tally->books; b++) {
        n += tally->n[b];
    }
    return n;
}

uint64_t
tally_reports(const struct tally *tally, size_t part, size_t book)
{
    return tally->part[part].own->books > 0 ? tally->n[book] : tally_all(tally);
}

static size_t
find_first(const struct tally_part *part, size_t book, size_t block)
{
    return (book * part->own->blocks + block) * part->own->instance.size;
}

const uint64_t *
tally_count(const struct tally *tally, size_t part, size_t book, size_t block)
{
    const struct tally_part *own = &tally->part[part];
    return own->count + find_first(own, book, block);
}

static void
settle_part(struct tally *tally, size_t p)
{
    const struct tally_part *part = &tally->part[p];
    for (size_t b = 0; part->count != NULL && b < part->books; b++) {
        for (size_t j = 0; j < part->own->blocks; j++) {
            size_t at = find_first(part, b, j);
            uint64_t n = tally_reports(tally, p, b);
            if (n > 0) {
                part->likelihood->likelihood->mean(
                    part->likelihood, part->count + at, n, part->mean + at);
            }
        }
    }
}

const double *
tally_means(struct tally *tally, size_t part, size_t book, size_t block)
{
    const struct tally_part *own = &tally->part[part];
    for (size_t p = 0; !tally->settled && p < tally->parts; p++) {
        settle_part(tally, p);
    }
    tally->settled = true;
    return own->mean + find_first(own, book, block);
}

/* Sums of products less n times the product of means. The noise is as large as
   the numbers are, so that few digits are lost. */
void
tally_moments(const struct tally *tally, size_t part, size_t entry,
              struct tally_moments *ret_moments)
{
    const struct tally_part *own = &tally->part[part];
    const struct sums *sums = &own->sums[entry];
    long double n = (long double)tally_reports(tally, part, 0);
    long double unit = (long double)own->likelihood->unit;
    long double v = (long double)sums->v, next = 0;
    *ret_moments = (struct tally_moments){0};
    if (n <= 0) {
        return;
    }
    if (entry + 1 < tally_entries(own->own)) {
        next = (long double)sums[1].v;
    }
    ret_moments->mean = (double)(unit * v / n);
    ret_moments->squares =
        (double)(unit * unit * ((long double)sums->square - v * v / n));
    ret_moments->cross =
        (double)(unit * unit * ((long double)sums->cross - v * next / n));
}
