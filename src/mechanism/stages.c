/*
 * stages.c: a device's stages, one at a time.
 */
#include "mechanism/stages.h"

#include <string.h>

void
stages_encode(struct sotto_mechanism *mechanism,
              const struct sotto_value *values)
{
    stages_encode_to(mechanism, values, mechanism->shape.layers);
}

void
stages_encode_to(struct sotto_mechanism *mechanism,
                 const struct sotto_value *values, size_t layers)
{
    device_wipe(mechanism->client);
    schema_apply(mechanism->device.encoder, values);
    forward_run_to(mechanism->device.encoder, (uint32_t)layers);
}

float *
stages_z(const struct sotto_mechanism *mechanism)
{
    return mechanism->device.encoder->z;
}

int32_t *
stages_symbol(const struct sotto_mechanism *mechanism, size_t column)
{
    return &mechanism->device.encoder->symbol[column];
}

const int32_t *
stages_point(const struct sotto_mechanism *mechanism, size_t part, size_t block,
             size_t book)
{
    const struct report_plan *report = mechanism->device.report;
    report_point(report, &report->part[part], (uint32_t)block, (uint32_t)book);
    return report->q;
}

int32_t *
stages_part(const struct sotto_mechanism *mechanism, size_t part,
            int32_t *ret_q)
{
    const struct shape_part *own = &mechanism->shape.part[part];
    for (size_t i = 0; i < own->blocks * own->books; i++) {
        const int32_t *q =
            stages_point(mechanism, part, i / own->books, i % own->books);
        memcpy(ret_q, q, own->width * sizeof *q);
        ret_q += own->width;
    }
    return ret_q;
}

const int32_t *
stages_q(const struct sotto_mechanism *mechanism)
{
    return mechanism->device.report->q;
}

void
stages_points(const struct sotto_mechanism *mechanism, int32_t *ret_q)
{
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        ret_q = stages_part(mechanism, i, ret_q);
    }
}

size_t
stages_points_width(const struct sotto_mechanism *mechanism)
{
    size_t width = 0;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct shape_part *part = &mechanism->shape.part[i];
        width += part->blocks * part->books * part->width;
    }
    return width;
}

bool
stages_report(struct sotto_mechanism *mechanism, uint8_t *ret_report)
{
    const struct device_view *device = &mechanism->device;
    report_begin(device->report, device->entropy, ret_report);
    report_finish(device->report, device->entropy, ret_report);
    return !device->entropy->random.failed;
}

bool
stages_valid(const struct sotto_mechanism *mechanism, const uint8_t *report,
             size_t size)
{
    return report_valid(mechanism->device.report, report, size);
}

void
stages_wipe(struct sotto_mechanism *mechanism)
{
    device_wipe(mechanism->client);
}
