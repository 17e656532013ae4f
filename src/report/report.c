/*
 * report.c: making and checking reports.
 *
 *     "STO1" | mechanism hash, 32 | random id, 16 | lot | part 1 | part 2 | ...
 *
 * The lot is a byte, and only there if a part has several codebooks.
 * Every part is its blocks, one behind the other, each of its channel's wire
 * size: a report's size depends on the mechanism alone (invariant 2).
 */
#include "report/report.h"

#include "base/bytes.h"
#include "random/draw.h"

size_t
report_measure(const struct report_plan *plan, uint64_t *ret_entropy)
{
    uint64_t points = 0, size = report_start(plan);
    uint64_t entropy = SOTTO_ID_SIZE + (plan->books > 0 ? DRAW_BELOW_SIZE : 0);
    for (uint32_t i = 0; i < plan->parts; i++) {
        const struct report_part *part = &plan->part[i];
        points += (uint64_t)part->blocks * channel_width(&part->instance);
        size += (uint64_t)part->blocks * part->instance.wire_size;
        entropy += (uint64_t)part->blocks * part->instance.entropy_size;
    }
    *ret_entropy = entropy;
    return points <= REPORT_POINTS_MAX ? (size_t)size : 0;
}

static int32_t
find_factor(const struct report_plan *plan, const struct report_factor *factor,
            uint32_t book)
{
    uint32_t choices = factor->equal ? factor->choices : factor->k;
    if (factor->is_column) {
        return plan->symbol[factor->at];
    }
    int32_t choice =
        domain_largest(*plan->z + factor->at + (size_t)book * choices, choices);
    if (factor->equal) {
        uint32_t differ =
            (uint32_t)choice ^ (uint32_t)plan->symbol[factor->column];
        return (int32_t)((differ - 1) >> 31);
    }
    return choice;
}

uint32_t
report_book(const struct report_plan *plan, const uint8_t *report)
{
    return plan->books > 0 ? report[REPORT_HEADER_SIZE] : 0;
}

void
report_point(const struct report_plan *plan, const struct report_part *part,
             uint32_t block, uint32_t book)
{
    const struct channel_instance *instance = &part->instance;
    int32_t symbol = 0;
    if (part->place != NULL) {
        const float *z = *plan->z + part->from + (size_t)block * instance->size;
        part->place(z, instance->size, instance->l, plan->q);
        return;
    }
    for (uint32_t i = 0; i < part->factors; i++) {
        const struct report_factor *factor = &part->factor[i];
        int32_t next = find_factor(plan, factor, part->books > 0 ? book : 0);
        symbol = symbol * (int32_t)factor->k + next;
    }
    plan->q[0] = symbol;
}

static void
begin(const struct report_plan *plan, const char *magic, struct random *random,
      uint8_t *ret_report)
{
    uint8_t *at = ret_report;
    for (size_t i = 0; i < REPORT_MAGIC_SIZE; i++) {
        *at++ = (uint8_t)magic[i];
    }
    bytes_copy(at, plan->hash, SOTTO_HASH_SIZE);
    at += SOTTO_HASH_SIZE;
    for (size_t i = 0; i < SOTTO_ID_SIZE; i += 4) {
        bytes_store(at + i, 4, random_u32(random));
    }
    at += SOTTO_ID_SIZE;
    if (plan->books > 0) {
        *at = (uint8_t)draw_below(random, plan->books);
    }
}

static void
finish(const struct report_plan *plan, struct random *random, uint8_t *report)
{
    uint8_t *at = report + report_start(plan);
    uint32_t book = report_book(plan, report);
    for (uint32_t i = 0; i < plan->parts; i++) {
        const struct report_part *part = &plan->part[i];
        for (uint32_t j = 0; j < part->blocks; j++) {
            report_point(plan, part, j, book);
            part->instance.channel->sample(&part->instance, plan->q, random,
                                           at);
            at += part->instance.wire_size;
        }
    }
}

void
report_begin(const struct report_plan *plan, struct entropy *entropy,
             uint8_t *ret_report)
{
    begin(plan, REPORT_MAGIC, &entropy->random, ret_report);
}

void
report_finish(const struct report_plan *plan, struct entropy *entropy,
              uint8_t *report)
{
    finish(plan, &entropy->random, report);
}

void
report_simulate(const struct report_plan *plan, struct simulation *simulation,
                uint8_t *ret_report)
{
    begin(plan, REPORT_MAGIC_SIMULATED, &simulation->random, ret_report);
    finish(plan, &simulation->random, ret_report);
}

static bool
starts_with(const uint8_t *report, const char *magic)
{
    bool same = true;
    for (size_t i = 0; i < REPORT_MAGIC_SIZE; i++) {
        same = same && report[i] == (uint8_t)magic[i];
    }
    return same;
}

bool
report_simulated(const uint8_t *report)
{
    return starts_with(report, REPORT_MAGIC_SIMULATED);
}

bool
report_valid(const struct report_plan *plan, const uint8_t *report, size_t size)
{
    const uint8_t *at = report + report_start(plan);
    bool valid = size == plan->size && (starts_with(report, REPORT_MAGIC) ||
                                        report_simulated(report));
    for (size_t i = 0; valid && i < SOTTO_HASH_SIZE; i++) {
        valid = report[REPORT_MAGIC_SIZE + i] == plan->hash[i];
    }
    valid =
        valid && (plan->books == 0 || report_book(plan, report) < plan->books);
    for (uint32_t i = 0; valid && i < plan->parts; i++) {
        const struct channel_instance *instance = &plan->part[i].instance;
        for (uint32_t j = 0; valid && j < plan->part[i].blocks; j++) {
            valid = instance->channel->valid(instance, at);
            at += instance->wire_size;
        }
    }
    return valid;
}
