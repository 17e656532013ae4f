/*
 * audit.c: trying to break a mechanism's claim, and the verdict.
 */
#include "privacy/audit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/decimal.h"
#include "host/error.h"
#include "privacy/enumerate.h"
#include "privacy/hostile.h"

#define SAMPLES_DEFAULT 100000u
#define ALPHA_DEFAULT 0.001
#define BRANCHES_DEFAULT 4000000u
#define STEPS_DEFAULT 3000000u
#define LOG_P_MOST 1e-9 /* doubles lose less; a wrong formula more */

/* ---- What the attacks share ---------------------------------------------- */

/* Makes room for a finding; NULL if there is no memory for it. */
static struct sotto_audit_finding *
add_finding(struct sotto_audit *audit, const char *attack)
{
    if (audit->info.findings == audit->room) {
        size_t room = audit->room == 0 ? 16 : 2 * audit->room;
        struct sotto_audit_finding *grown =
            realloc(audit->finding, room * sizeof *grown);
        if (grown == NULL) {
            audit->failed = true;
            return NULL;
        }
        audit->finding = grown;
        audit->room = room;
    }
    struct sotto_audit_finding *finding =
        &audit->finding[audit->info.findings++];
    *finding = (struct sotto_audit_finding){.attack = attack};
    return finding;
}

void
audit_note(struct sotto_audit *audit, const char *attack, bool violated,
           const char *format, ...)
{
    struct sotto_audit_finding *finding = add_finding(audit, attack);
    audit->info.violated = audit->info.violated || violated;
    if (finding != NULL) {
        va_list args;
        finding->violated = violated;
        va_start(args, format);
        (void)vsnprintf(finding->text, sizeof finding->text, format, args);
        va_end(args);
    }
}

void
audit_skip(struct sotto_audit *audit, const char *attack, const char *format,
           ...)
{
    struct sotto_audit_finding *finding = add_finding(audit, attack);
    audit->info.untried++;
    if (finding != NULL) {
        va_list args;
        finding->untried = true;
        va_start(args, format);
        (void)vsnprintf(finding->text, sizeof finding->text, format, args);
        va_end(args);
    }
}

void
audit_progress(const struct sotto_audit *audit, const char *attack,
               uint64_t done, uint64_t total)
{
    if (audit->options.progress != NULL) {
        audit->options.progress(audit->options.context, attack, done, total);
    }
}

enum sotto_status
audit_report(const struct sotto_mechanism *mechanism,
             const struct sotto_value *values, uint8_t *report, size_t size,
             struct sotto_error *err)
{
    enum sotto_status status =
        sotto_client_privatise(mechanism->client, values,
                               mechanism->shape.schema.columns, report, size);
    return status == SOTTO_STATUS_OK
               ? status
               : host_fail(err, status, 0, "%s", sotto_status_message(status));
}

double
audit_log_p(const struct sotto_mechanism *mechanism, const int32_t *q,
            const uint8_t *report)
{
    const uint8_t *at = report + mechanism->shape.part[0].offset;
    size_t book = sotto_report_book(mechanism, report);
    double sum = -log((double)mechanism->shape.books);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct likelihood_instance *own = &mechanism->likelihood[i];
        const struct shape_part *part = &mechanism->shape.part[i];
        for (size_t j = 0; j < part->blocks; j++) {
            sum +=
                own->likelihood->log_p(own, at, part->books > 1 ? q + book : q);
            q += part->books * part->width;
            at += own->instance->wire_size;
        }
    }
    return sum;
}

/* ---- Enumerate ----------------------------------------------------------- */

struct enumerating {
    const struct sotto_audit *audit;
    size_t part;
    uint64_t total;
};

static void
enumerate_step(void *context, uint64_t branches)
{
    const struct enumerating *at = context;
    uint64_t most = at->audit->options.branches;
    uint64_t done = branches < most ? branches : most - 1;
    audit_progress(at->audit, "enumerate", at->part * most + done, at->total);
}

static const char *
scope_name(enum enumerate_scope scope)
{
    static const char *const names[] = {"nothing", "smaller", "coordinate",
                                        "whole"};
    return names[scope];
}

static void
judge_part(struct sotto_audit *audit, size_t at,
           const struct enumerate_result *result)
{
    const struct sotto_audit_part *part = &audit->part[at];
    if (result->fault[0] != '\0') {
        audit_note(audit, "enumerate", true, "part %zu (%s): %s", at + 1,
                   part->channel, result->fault);
        return;
    }
    if (result->scope == ENUMERATE_NOTHING) {
        audit_skip(audit, "enumerate",
                   "part %zu (%s): no domain is small enough to take all of "
                   "its sampler's branches",
                   at + 1, part->channel);
    }
    if (!result->within && part->delta_stated > 0) {
        audit_note(audit, "enumerate", true,
                   "part %zu (%s): delta is %.6g at epsilon %.12g, above the "
                   "stated %.6g",
                   at + 1, part->channel, result->delta, part->eps_stated,
                   part->delta_stated);
    } else if (!result->within) {
        audit_note(audit, "enumerate", true,
                   "part %zu (%s): a report is e^%.12g times as likely for one "
                   "point as for another; stated is %.12g",
                   at + 1, part->channel, result->eps, part->eps_stated);
    }
    if (!(result->log_p_error <= LOG_P_MOST)) {
        audit_note(audit, "enumerate", true,
                   "part %zu (%s): the channel's log p is not the logarithm of "
                   "its sampler's probability: off by %.3g, relatively",
                   at + 1, part->channel, result->log_p_error);
    }
}

static void
keep_part(struct sotto_audit *audit, size_t at,
          const struct enumerate_result *result)
{
    struct sotto_audit_part *part = &audit->part[at];
    bool none = result->scope == ENUMERATE_NOTHING || result->fault[0] != '\0';
    part->scope = scope_name(result->scope);
    part->eps_exact = none ? (double)NAN : result->eps;
    part->delta_exact = result->delta;
    part->log_p_error = result->log_p_error;
    part->branches = result->branches;
    judge_part(audit, at, result);
}

/* A part like one before it need not be enumerated again. */
static bool
same_as(const struct shape *shape, uint32_t at, uint32_t *ret_index)
{
    const struct channel_instance *own = shape->part[at].instance;
    for (uint32_t i = 0; i < at; i++) {
        const struct channel_instance *other = shape->part[i].instance;
        if (own->channel == other->channel && own->size == other->size &&
            own->rows == other->rows && own->l == other->l &&
            own->eps == other->eps && own->delta == other->delta) {
            *ret_index = i;
            return true;
        }
    }
    return false;
}

static void
copy_part(struct sotto_audit *audit, uint32_t from, uint32_t to)
{
    audit->part[to].scope = audit->part[from].scope;
    audit->part[to].eps_exact = audit->part[from].eps_exact;
    audit->part[to].delta_exact = audit->part[from].delta_exact;
    audit->part[to].log_p_error = audit->part[from].log_p_error;
}

/*
 * What the mechanism was opened with must be what its channel computes anew
 * from the domain and the budget (invariant 1): so that what is enumerated is
 * what will run. Padding is what two fresh ones, in memory of zeros and of
 * ones, do not agree in.
 */
static enum sotto_status
check_parameters(struct sotto_audit *audit, uint32_t at,
                 struct sotto_error *err)
{
    const struct channel_instance *own =
        audit->mechanism->shape.part[at].instance;
    size_t size = own->channel->own_size;
    const uint8_t *opened = own->own;
    size_t room = (size + 7) / 8 * 8;
    uint8_t *first = malloc(2 * room), *second;
    bool same = true;
    if (first == NULL) {
        return host_fail_memory(err);
    }
    second = first + room;
    memset(first, 0, room);
    memset(second, 0xff, room);
    for (int i = 0; i < 2; i++) {
        struct channel_instance instance;
        same =
            same && channel_init(&instance, own->channel, own->size, own->rows,
                                 own->l, own->eps, own->delta,
                                 first + (size_t)i * room) == SOTTO_STATUS_OK;
    }
    for (size_t i = 0; i < size; i++) {
        same = same && (first[i] != second[i] || first[i] == opened[i]);
    }
    if (!same) {
        audit_note(audit, "enumerate", true,
                   "part %u (%s): the noise's parameters are not those that "
                   "its domain and budget give",
                   at + 1, own->channel->name);
    }
    free(first);
    return SOTTO_STATUS_OK;
}

/* The stated total must cover the parts' sum, in whole units. */
static void
check_total(struct sotto_audit *audit)
{
    const struct shape *shape = &audit->mechanism->shape;
    uint64_t eps = 0, delta = 0;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct shape_part *part = &shape->part[i];
        eps = checked_add(eps, part->blocks * part->instance->eps);
        delta = checked_add(delta, part->blocks * part->instance->delta);
    }
    if (eps > shape->eps || delta > shape->delta) {
        audit_note(audit, "enumerate", true,
                   "the parts spend epsilon %.12g and delta %.6g together, "
                   "more than the stated total",
                   (double)eps / (double)DECIMAL_UNIT,
                   (double)delta / (double)DECIMAL_UNIT);
    }
}

static enum sotto_status
audit_enumerate(struct sotto_audit *audit, struct sotto_error *err)
{
    const struct shape *shape = &audit->mechanism->shape;
    uint64_t most = audit->options.branches, branches = 0, parts = 0;
    struct enumerating at = {audit, 0, shape->parts * most};
    for (uint32_t i = 0; i < shape->parts; i++) {
        const struct channel_instance *own = shape->part[i].instance;
        struct enumerate_result result;
        enum sotto_status status;
        uint32_t before;
        at.part = i;
        status = check_parameters(audit, i, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        if (same_as(shape, i, &before)) {
            copy_part(audit, before, i);
            continue;
        }
        struct enumerate_request request = {
            own->channel,   audit->mechanism->likelihood[i].likelihood,
            own->size,      own->rows,
            own->l,         own->eps,
            own->delta,     most,
            enumerate_step, &at};
        status = enumerate_channel(&request, &result, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        keep_part(audit, i, &result);
        branches += result.branches;
        parts++;
    }
    check_total(audit);
    audit_progress(audit, "enumerate", at.total, at.total);
    audit_note(audit, "enumerate", false,
               "took all %llu branches of the samplers of %llu kind%s of part",
               (unsigned long long)branches, (unsigned long long)parts,
               parts == 1 ? "" : "s");
    return SOTTO_STATUS_OK;
}

/* ---- The whole ----------------------------------------------------------- */

static void
describe_parts(struct sotto_audit *audit)
{
    const struct shape *shape = &audit->mechanism->shape;
    for (size_t i = 0; i < shape->parts; i++) {
        const struct shape_part *own = &shape->part[i];
        struct sotto_audit_part *part = &audit->part[i];
        part->channel = own->instance->channel->name;
        part->blocks = own->blocks;
        part->eps_stated = (double)own->instance->eps / (double)DECIMAL_UNIT;
        part->delta_stated =
            (double)own->instance->delta / (double)DECIMAL_UNIT;
        part->scope = scope_name(ENUMERATE_NOTHING);
        part->eps_exact = (double)NAN;
        /* 2l in the domain's norm; 1 for symbols */
        part->sensitivity_stated =
            own->instance->l > 0 ? 2.0 * own->instance->l : 1;
    }
}

/* Where no part is above what it states, neither is the sum, however doubles
   round. */
static void
sum_up(struct sotto_audit *audit)
{
    struct sotto_audit_info *info = &audit->info;
    double share = -1;
    bool above = false;
    for (size_t i = 0; i < info->parts; i++) {
        const struct sotto_audit_part *part = &audit->part[i];
        double found = part->sensitivity_found / part->sensitivity_stated;
        info->eps_exact += (double)part->blocks * part->eps_exact;
        above = above || !(part->eps_exact <= part->eps_stated);
        if (found > share) {
            share = found;
            info->sensitivity_stated = part->sensitivity_stated;
            info->sensitivity_found = part->sensitivity_found;
        }
    }
    if (!above) {
        info->eps_exact = fmin(info->eps_exact, info->eps_stated);
    }
}

static void
take_options(struct sotto_audit *audit,
             const struct sotto_audit_options *options)
{
    struct sotto_audit_options *own = &audit->options;
    *own = *options;
    own->samples = own->samples > 0 ? own->samples : SAMPLES_DEFAULT;
    own->alpha = own->alpha > 0 ? own->alpha : ALPHA_DEFAULT;
    own->branches = own->branches > 0 ? own->branches : BRANCHES_DEFAULT;
    own->steps = own->steps > 0 ? own->steps : STEPS_DEFAULT;
    audit->info.alpha = own->alpha;
    audit->info.samples = own->samples;
}

/* No device makes a report with an uneven mechanism: there is nothing else to
   try. */
static enum sotto_status
run_attacks(struct sotto_audit *audit, struct sotto_error *err)
{
    if (audit->mechanism->device.terms->uneven) {
        audit_note(audit, "time", true,
                   "a weight or a scale is so small, and not 0, that the "
                   "encoder's time could depend on the record: devices refuse "
                   "this mechanism");
        audit->info.eps_exact = (double)NAN;
        audit->info.samples = 0;
        return SOTTO_STATUS_OK;
    }
    static enum sotto_status (*const attacks[])(struct sotto_audit * audit,
                                                struct sotto_error * err) = {
        audit_enumerate, audit_lot,     audit_replay,
        audit_sample,    audit_restart, audit_stopwatch};
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        status = HOST_THEN(status, attacks[i](audit, err));
    }
    stages_wipe(audit->mechanism);
    sum_up(audit);
    if (status == SOTTO_STATUS_OK && audit->failed) {
        status = host_fail_memory(err);
    }
    return status;
}

enum sotto_status
sotto_audit_run(struct sotto_mechanism *mechanism,
                const struct sotto_audit_options *options,
                struct sotto_audit **ret_audit, struct sotto_error *err)
{
    const struct shape *shape = &mechanism->shape;
    struct sotto_audit *audit = calloc(1, sizeof *audit);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (audit == NULL) {
        return host_fail_memory(err);
    }
    take_options(audit, options);
    audit->mechanism = mechanism;
    audit->info.parts = shape->parts;
    audit->info.eps_stated = (double)shape->eps / (double)DECIMAL_UNIT;
    audit->info.delta_stated = (double)shape->delta / (double)DECIMAL_UNIT;
    audit->part = calloc(audit->info.parts, sizeof *audit->part);
    if (audit->part == NULL) {
        status = host_fail_memory(err);
    } else {
        describe_parts(audit);
        status = run_attacks(audit, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_audit = audit;
    } else {
        sotto_audit_free(audit);
    }
    return status;
}

void
sotto_audit_free(struct sotto_audit *audit)
{
    if (audit != NULL) {
        free(audit->part);
        free(audit->finding);
        free(audit);
    }
}

void
sotto_audit_info(const struct sotto_audit *audit,
                 struct sotto_audit_info *ret_info)
{
    *ret_info = audit->info;
}

void
sotto_audit_part(const struct sotto_audit *audit, size_t part,
                 struct sotto_audit_part *ret_part)
{
    *ret_part = audit->part[part];
}

const struct sotto_audit_finding *
sotto_audit_finding(const struct sotto_audit *audit, size_t i)
{
    return &audit->finding[i];
}

enum sotto_status
sotto_audit_one(struct sotto_mechanism *mechanism, uint8_t *report, size_t size,
                struct sotto_error *err)
{
    struct hostile *hostile = hostile_new(mechanism, 0);
    enum sotto_status status =
        hostile == NULL ? host_fail_memory(err)
                        : audit_report(mechanism, hostile_record(hostile, 1),
                                       report, size, err);
    hostile_free(hostile);
    return status;
}
