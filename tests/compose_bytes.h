/*
 * compose_bytes.h: a mechanism's bytes alone, for tests that hand them to a
 * device.
 */
#ifndef SOTTO_TESTS_COMPOSE_BYTES_H
#define SOTTO_TESTS_COMPOSE_BYTES_H

#include "mechanism/compose.h"
#include "mechanism/mechanism.h"

/* The caller frees them. */
__attribute__((unused, noinline)) static enum sotto_status
compose_bytes(const struct compose_spec *spec, uint8_t **ret_data,
              size_t *ret_size, struct sotto_error *err)
{
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status = compose_open(spec, &mechanism, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_data = mechanism->data;
        *ret_size = mechanism->size;
        mechanism->data = NULL;
    }
    sotto_mechanism_free(mechanism);
    return status;
}

#endif
