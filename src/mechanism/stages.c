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
stages_point(const struct sotto_mechanism *mechanism, size_t part, size_t block)
{
    const struct report_plan *report = mechanism->device.report;
    report_point(report, &report->part[part], (uint32_t)block);
    return report->q;
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
        const struct shape_part *part = &mechanism->shape.part[i];
        for (size_t j = 0; j < part->blocks; j++) {
            const int32_t *q = stages_point(mechanism, i, j);
            memcpy(ret_q, q, part->width * sizeof *q);
            ret_q += part->width;
        }
    }
}

size_t
stages_points_width(const struct sotto_mechanism *mechanism)
{
    size_t width = 0;
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct shape_part *part = &mechanism->shape.part[i];
        width += part->blocks * part->width;
    }
    return width;
}

bool
stages_report(struct sotto_mechanism *mechanism, uint8_t *ret_report)
{
    const struct device_view *device = &mechanism->device;
    report_make(device->report, device->entropy, ret_report);
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
