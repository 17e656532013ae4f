/*
 * mechanism.h: an opened mechanism on a host.
 */
#ifndef SOTTO_MECHANISM_MECHANISM_H
#define SOTTO_MECHANISM_MECHANISM_H

#include "client/opened.h"
#include "likelihood/likelihood.h"
#include "mechanism/shape.h"
#include "sotto/sotto.h"

struct sotto_mechanism {
    uint8_t *data;
    size_t size;
    void *workspace;
    struct sotto_client *client;
    struct device_view device; /* what the client lends */
    struct shape shape;
    struct likelihood_instance *likelihood; /* of each part */
    /* NUL-terminated copies of the manifest's titles. */
    char name[DEVICE_TEXT_MAX + 1];
    char campaign[DEVICE_TEXT_MAX + 1];
    char auxiliary[DEVICE_TEXT_MAX + 1];
    char eps_text[DEVICE_TEXT_MAX + 1];
    char delta_text[DEVICE_TEXT_MAX + 1];
    char central_eps[DEVICE_TEXT_MAX + 1];
    char central_delta[DEVICE_TEXT_MAX + 1];
};

/* Opens a file's bytes, which it takes over, also on failure. */
SOTTO_CHECKED enum sotto_status
mechanism_adopt(uint8_t *data, size_t size, const char *name,
                struct sotto_mechanism **ret_mechanism,
                struct sotto_error *err);
/* Opens the same mechanism once more, for another thread. */
SOTTO_CHECKED enum sotto_status
mechanism_copy(const struct sotto_mechanism *mechanism,
               struct sotto_mechanism **ret_copy, struct sotto_error *err);
/*
 * Writes a mechanism that was made to `path`, if not NULL, and hands it over to
 * `ret_mechanism`, if not NULL. Else, and on failure, it is freed. Statuses:
 * IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
mechanism_publish(struct sotto_mechanism *mechanism, const char *path,
                  struct sotto_mechanism **ret_mechanism,
                  struct sotto_error *err);

/* Column of a number that is entry `at` of z, where z is x itself and the
   entry is a whole number column; SIZE_MAX otherwise. */
size_t mechanism_source(const struct sotto_mechanism *mechanism, size_t at);
/* The column of which entry `at` of z says whether it is missing, where z is x
   itself; SIZE_MAX otherwise. */
size_t mechanism_missing_source(const struct sotto_mechanism *mechanism,
                                size_t at);
/* Whether a number that is entry `at` of z, and what says that it is missing,
   behind it, come out of a part's domain each as if it were alone: on lines
   of their own, in a cube, and where the two are a block, for one of them is
   always 0. */
bool mechanism_keeps_pair(const struct sotto_mechanism *mechanism, size_t part,
                          size_t at);
/* The most steps by which a domain's rounding moves a number. */
double mechanism_rounding(const struct channel_instance *instance);

#endif
