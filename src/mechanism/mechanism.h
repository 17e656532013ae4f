/*
 * mechanism.h: an opened mechanism on a host.
 */
#ifndef SOTTO_MECHANISM_MECHANISM_H
#define SOTTO_MECHANISM_MECHANISM_H

#include "client/device.h"
#include "likelihood/likelihood.h"
#include "mechanism/shape.h"
#include "sotto/sotto.h"

struct sotto_mechanism {
    uint8_t *data;
    size_t size;
    void *workspace;
    struct sotto_client *client;
    struct shape shape;
    struct likelihood_instance *likelihood; /* of each part */
    /* NUL-terminated copies of the manifest's titles. */
    char name[DEVICE_TEXT_MAX + 1];
    char campaign[DEVICE_TEXT_MAX + 1];
    char auxiliary[DEVICE_TEXT_MAX + 1];
    char eps_text[DEVICE_TEXT_MAX + 1];
    char delta_text[DEVICE_TEXT_MAX + 1];
};

/* Column of a number that is entry `at` of z, where z is x itself and the
   entry is a whole number column; SIZE_MAX otherwise. */
size_t mechanism_source(const struct sotto_mechanism *mechanism, size_t at);

#endif
