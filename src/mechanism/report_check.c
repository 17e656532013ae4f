/*
 * report_check.c: checking reports.
 */
#include "mechanism/report_check.h"

#include <string.h>

#include "host/error.h"
#include "mechanism/report_json.h"

bool
report_check_valid(const struct sotto_mechanism *mechanism,
                   const uint8_t *report)
{
    const struct report_plan *plan = mechanism->device.report;
    const uint8_t *at = report + report_start(plan);
    bool valid =
        (memcmp(report, REPORT_MAGIC, REPORT_MAGIC_SIZE) == 0 ||
         memcmp(report, REPORT_MAGIC_SIMULATED, REPORT_MAGIC_SIZE) == 0) &&
        memcmp(report + REPORT_MAGIC_SIZE, plan->hash, SOTTO_HASH_SIZE) == 0 &&
        (plan->books == 0 || report_book(plan, report) < plan->books);
    for (uint32_t i = 0; valid && i < plan->parts; i++) {
        for (uint32_t j = 0; valid && j < plan->part[i].blocks; j++) {
            valid = likelihood_valid(&mechanism->likelihood[i], at);
            at += plan->part[i].instance.wire_size;
        }
    }
    return valid;
}

enum sotto_status
report_check_fail(const struct report_origin *origin, size_t at, size_t line,
                  size_t position, const struct sotto_error *cause,
                  struct sotto_error *err)
{
    if (cause->status == SOTTO_STATUS_MEMORY) {
        return host_fail_memory(err);
    }
    if (line > 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, position,
                         "'%s': report %zu (line %zu): %s",
                         host_shown(origin->name), at + 1, line,
                         cause->message);
    }
    return host_fail(err, SOTTO_STATUS_INPUT, position, "'%s': report %zu: %s",
                     host_shown(origin->name), at + 1, cause->message);
}

/* The lot that is none, or the first block that its channel never sends. */
static enum sotto_status
explain_blocks(const struct report_plan *plan, const uint8_t *report,
               struct sotto_error *err)
{
    const uint8_t *at = report + report_start(plan);
    if (plan->books > 0 && report_book(plan, report) >= plan->books) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "its codebook %u is none of the %u, counted from 0; "
                         "remove the report",
                         report_book(plan, report), plan->books);
    }
    for (uint32_t i = 0; i < plan->parts; i++) {
        const struct channel_instance *instance = &plan->part[i].instance;
        for (uint32_t j = 0; j < plan->part[i].blocks; j++) {
            if (!instance->channel->valid(instance, at)) {
                return host_fail(err, SOTTO_STATUS_INPUT, 0,
                                 "block %u of part %u holds what its channel "
                                 "'%s' never sends; remove the report",
                                 j + 1, i + 1, instance->channel->name);
            }
            at += instance->wire_size;
        }
    }
    return host_fail(err, SOTTO_STATUS_INPUT, 0, "it is malformed; remove it");
}

/* Whether the first bytes, a header's at least, are this mechanism's. */
static enum sotto_status
check_header(const struct sotto_mechanism *mechanism, const uint8_t *report,
             struct sotto_error *err)
{
    const uint8_t *hash = report + REPORT_MAGIC_SIZE;
    if (memcmp(report, REPORT_MAGIC, REPORT_MAGIC_SIZE) != 0 &&
        memcmp(report, REPORT_MAGIC_SIMULATED, REPORT_MAGIC_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "it does not start as reports do; is this a file of "
                         "reports?");
    }
    if (memcmp(hash, mechanism->shape.hash, SOTTO_HASH_SIZE) != 0) {
        return report_json_fail_hash(mechanism, hash, err);
    }
    return SOTTO_STATUS_OK;
}

enum sotto_status
report_check(const struct report_origin *origin, const uint8_t *report,
             size_t at, struct sotto_error *err)
{
    const struct report_plan *plan = origin->mechanism->device.report;
    struct sotto_error cause = {0};
    if (report_check_valid(origin->mechanism, report)) {
        return SOTTO_STATUS_OK;
    }
    if (check_header(origin->mechanism, report, &cause) == SOTTO_STATUS_OK) {
        (void)explain_blocks(plan, report, &cause);
    }
    return report_check_fail(origin, at, 0, at * plan->size, &cause, err);
}

enum sotto_status
report_check_length(const struct report_origin *origin, const uint8_t *data,
                    size_t size, struct sotto_error *err)
{
    struct sotto_error cause = {0};
    size_t each = origin->mechanism->shape.report_size;
    if (size >= REPORT_HEADER_SIZE &&
        check_header(origin->mechanism, data, &cause) != SOTTO_STATUS_OK) {
        return report_check_fail(origin, 0, 0, 0, &cause, err);
    }
    if (size % each != 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, size - size % each,
                         "'%s': its %zu bytes are %zu whole reports of %zu "
                         "bytes and %zu bytes more: the file was cut short or "
                         "is not a file of reports; make or fetch it again",
                         host_shown(origin->name), size, size / each, each,
                         size % each);
    }
    return SOTTO_STATUS_OK;
}
