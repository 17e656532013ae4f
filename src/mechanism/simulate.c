/*
 * simulate.c: reports of a seeded generator, for experiments.
 *
 * The same stages and samplers as a device's, in the same order. Not private:
 * whoever knows the seed can take the noise away. So the report carries the
 * mark of a simulated one, and nothing that sends takes it (invariant 3).
 */
#include "base/bytes.h"
#include "mechanism/mechanism.h"
#include "random/seeded.h"

/* The reports' own streams of a seed, apart from those that start weights. */
#define REPORT_STREAM (UINT64_C(1) << 63)

enum sotto_status
sotto_simulate(struct sotto_mechanism *mechanism, uint64_t seed,
               uint64_t stream, const struct sotto_value *values, size_t count,
               uint8_t *report, size_t size)
{
    const struct device_view *device = &mechanism->device;
    struct seeded seeded;
    if (count != device->encoder->columns || size != device->report->size) {
        return SOTTO_STATUS_SIZE;
    }
    seeded_init(&seeded, seed, REPORT_STREAM ^ stream);
    schema_apply(device->encoder, values);
    forward_run(device->encoder);
    report_simulate(device->report, &seeded.simulation, report);
    device_wipe(mechanism->client);
    bytes_wipe(&seeded, sizeof seeded);
    return SOTTO_STATUS_OK;
}
