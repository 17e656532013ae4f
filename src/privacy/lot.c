/*
 * lot.c: the lot among codebooks, and reports with it, by taking every branch.
 *
 * The id is drawn past the tape's primitives: a source of its own gives zeros
 * for it, and whoever takes more of them is found.
 */
#include "privacy/lot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "mechanism/stages.h"
#include "privacy/audit.h"
#include "privacy/divergence.h"
#include "privacy/tape.h"
#include "privacy/weights.h"
#include "random/draw.h"
#include "random/seeded.h"

#define POINTS 16u
#define SEED 16u
#define LOTS_MOST (POINTS * (uint64_t)REPORT_BOOKS_MAX)
#define BRANCHES_MOST 400000u /* of all points, with what the channels send */

struct enumerating {
    const struct lot_request *request;
    struct lot_result *result;
    struct tape *tape;
    struct weights weights; /* of payloads */
    struct weights lots;    /* of their first bytes */
    struct entropy entropy;
    uint8_t *report;
    mpz_t whole;
    uint64_t shape;
};

static int
give_zeros(void *context, void *buffer, size_t size)
{
    (void)context;
    memset(buffer, 0, size);
    return 0;
}

static void
blame_maker(struct enumerating *e, const char *what)
{
    if (e->result->fault[0] == '\0') {
        (void)snprintf(e->result->fault, sizeof e->result->fault, "%s", what);
    }
}

/* Puts outputs and symbols of some record in the workspace, as if an encoder
   had: it could give any. */
static void
place_record(const struct sotto_mechanism *mechanism, uint32_t at)
{
    const struct shape *shape = &mechanism->shape;
    struct seeded seeded;
    seeded_init(&seeded, SEED, at);
    for (size_t i = 0; i < shape->z; i++) {
        stages_z(mechanism)[i] = (float)(random_u32(&seeded.random) >> 8);
    }
    for (size_t i = 0; i < shape->schema.columns; i++) {
        uint32_t count = (uint32_t)shape->schema.column[i].count;
        *stages_symbol(mechanism, i) =
            (int32_t)(random_u32(&seeded.random) % (count > 0 ? count : 1));
    }
}

/* Runs the maker on the tape's next branch, and notes the payload. */
static enum sotto_status
run_branch(struct enumerating *e, uint32_t at)
{
    const struct lot_request *request = e->request;
    const uint8_t *payload = e->report + REPORT_HEADER_SIZE;
    enum sotto_status status;
    tape_random(e->tape, &e->entropy.random);
    e->entropy.random.fill = give_zeros;
    memset(e->report, e->result->branches % 2 == 0 ? 0x5a : 0xa5,
           request->mechanism->shape.report_size);
    request->make(request->mechanism->device.report, &e->entropy, e->report);
    if (tape_fault(e->tape) != NULL) {
        blame_maker(e, tape_fault(e->tape));
    }
    if (e->entropy.random.next != SOTTO_ID_SIZE) {
        blame_maker(e, "it took random bytes past the exact primitives");
    }
    if (request->bytes > 1 &&
        !stages_valid(request->mechanism, e->report,
                      request->mechanism->shape.report_size)) {
        blame_maker(e, "it gives a report outside the valid set");
    }
    if (e->result->branches++ == 0) {
        mpz_set(e->whole, tape_denominator(e->tape));
        e->shape = tape_shape(e->tape);
    }
    if (e->shape != tape_shape(e->tape) ||
        mpz_cmp(e->whole, tape_denominator(e->tape)) != 0) {
        blame_maker(e, "what is drawn depends on the record, the lot or the "
                       "noise (invariant 7)");
    }
    status = weights_add(&e->weights, payload, at, tape_numerator(e->tape));
    return status != SOTTO_STATUS_OK
               ? status
               : weights_add(&e->lots, payload, at, tape_numerator(e->tape));
}

static enum sotto_status
run_points(struct enumerating *e)
{
    const struct lot_request *request = e->request;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (uint32_t i = 0; i < request->points; i++) {
        bool more = true;
        stages_wipe(request->mechanism);
        place_record(request->mechanism, i);
        while (more && status == SOTTO_STATUS_OK &&
               e->result->fault[0] == '\0' &&
               e->result->branches <= request->branches_most) {
            status = run_branch(e, i);
            more = tape_next(e->tape);
        }
        if (more) {
            return status;
        }
    }
    e->result->whole = true;
    return status;
}

/* Whether each of the books has the same share, for every record. */
static bool
is_uniform(struct enumerating *e)
{
    size_t books = e->request->mechanism->shape.books;
    bool uniform = e->lots.rows == books;
    mpz_t all;
    mpz_init(all);
    for (uint32_t i = 0; i < e->lots.rows; i++) {
        for (uint32_t j = 0; j < e->request->points; j++) {
            mpz_mul_ui(all, e->lots.row[i].weight[j], (unsigned long)books);
            uniform = uniform && mpz_cmp(all, e->whole) == 0;
        }
    }
    mpz_clear(all);
    return uniform;
}

static void
compare_points(struct enumerating *e)
{
    struct divergence found;
    divergence_pure(&e->weights, e->request->mechanism->shape.eps, &found);
    e->result->within = found.within;
    e->result->eps = found.eps;
    e->result->reports = e->weights.rows;
    e->result->uniform = is_uniform(e);
}

enum sotto_status
lot_enumerate(const struct lot_request *request, struct lot_result *ret_result,
              struct sotto_error *err)
{
    struct enumerating e = {.request = request, .result = ret_result};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    *ret_result = (struct lot_result){.whole = false};
    mpz_init(e.whole);
    e.tape = tape_new();
    e.report = malloc(request->mechanism->shape.report_size);
    if (e.tape != NULL && e.report != NULL &&
        weights_init(&e.weights, (uint32_t)request->bytes, request->points) ==
            SOTTO_STATUS_OK &&
        weights_init(&e.lots, 1, request->points) == SOTTO_STATUS_OK) {
        status = run_points(&e);
    }
    if (status == SOTTO_STATUS_LIMIT) { /* too many reports to keep */
        ret_result->whole = false;
        status = SOTTO_STATUS_OK;
    }
    if (status == SOTTO_STATUS_OK && ret_result->whole &&
        ret_result->fault[0] == '\0') {
        compare_points(&e);
    }
    stages_wipe(request->mechanism);
    weights_clear(&e.weights);
    weights_clear(&e.lots);
    tape_free(e.tape);
    free(e.report);
    mpz_clear(e.whole);
    return status == SOTTO_STATUS_OK ? status : host_fail_memory(err);
}

/* ---- The attack ---------------------------------------------------------- */

static void
make_whole(const struct report_plan *plan, struct entropy *entropy,
           uint8_t *report)
{
    report_begin(plan, entropy, report);
    report_finish(plan, entropy, report);
}

static void
judge_lot(struct sotto_audit *audit, const struct lot_result *lot)
{
    size_t books = audit->mechanism->shape.books;
    if (lot->fault[0] != '\0') {
        audit_note(audit, "enumerate", true, "the lot: %s", lot->fault);
    } else if (!lot->whole) {
        audit_skip(audit, "enumerate",
                   "the lot among %zu codebooks has too many branches to take "
                   "all of them",
                   books);
    } else if (!lot->uniform) {
        audit_note(audit, "enumerate", true,
                   "the lot among %zu codebooks is not uniform, or depends on "
                   "the record",
                   books);
    } else {
        audit_note(audit, "enumerate", false,
                   "the lot takes each of %zu codebooks with probability "
                   "exactly 1/%zu, whatever the record",
                   books, books);
    }
}

static void
judge_reports(struct sotto_audit *audit, const struct lot_result *all)
{
    if (all->fault[0] != '\0') {
        audit_note(audit, "enumerate", true, "a report with its lot: %s",
                   all->fault);
    } else if (all->whole) {
        audit_note(audit, "enumerate", !all->within,
                   "of all %llu reports with their lot, one is at most e^%.12g "
                   "times as likely for one record as for another; stated is "
                   "%.12g",
                   (unsigned long long)all->reports, all->eps,
                   audit->info.eps_stated);
    }
}

/* Whether what the parts send could be enumerated, and is pure. */
static bool
is_small(const struct sotto_audit *audit)
{
    const struct shape *shape = &audit->mechanism->shape;
    bool small = shape->delta == 0 &&
                 shape->entropy / DRAW_SYMBOL_SIZE <= TAPE_STEPS_MOST;
    for (size_t i = 0; i < shape->parts; i++) {
        small = small && shape->part[i].blocks == 1 &&
                strcmp(audit->part[i].scope, "whole") == 0;
    }
    return small;
}

/* The lot alone always, whatever limit the caller has for the channels; with
   what the channels send where that is little. Else what the channels send is
   enumerated without it. */
enum sotto_status
audit_lot(struct sotto_audit *audit, struct sotto_error *err)
{
    const struct shape *shape = &audit->mechanism->shape;
    struct lot_request request = {.mechanism = audit->mechanism,
                                  .make = report_begin,
                                  .bytes = 1,
                                  .points = POINTS,
                                  .branches_most = LOTS_MOST};
    struct lot_result result;
    enum sotto_status status;
    if (shape->books == 1) {
        return SOTTO_STATUS_OK;
    }
    status = lot_enumerate(&request, &result, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    judge_lot(audit, &result);
    if (is_small(audit)) {
        request.make = make_whole;
        request.branches_most = BRANCHES_MOST;
        request.bytes = shape->report_size - REPORT_HEADER_SIZE;
        status = lot_enumerate(&request, &result, err);
        if (status == SOTTO_STATUS_OK) {
            judge_reports(audit, &result);
        }
    }
    return status;
}
