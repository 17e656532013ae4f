/*
 * wiring.h: what the layers of an encoder take, and where they put what they
 * make.
 *
 * Output 0 is x, output i + 1 what layer i makes. Layers are added in their
 * order; then every output gets a buffer that holds nothing a later layer still
 * takes: the fewest that go, for a line of layers two, three under a skip.
 */
#ifndef SOTTO_CLIENT_WIRING_H
#define SOTTO_CLIENT_WIRING_H

#include "client/reader.h"
#include "encode/layer.h"

#define WIRING_LAYERS_MAX 64u

struct wiring_output {
    uint32_t width;
    struct layer_image made;  /* height 0: no image */
    struct layer_image taken; /* as what the layer behind it takes it */
    uint32_t last;            /* layer that takes it; UINT32_MAX: none */
    uint8_t slot;
};

struct wiring {
    struct wiring_output output[WIRING_LAYERS_MAX + 1];
    uint32_t layers;
    uint32_t reached; /* version 1: the first layer that no skip has reached */
};

/* Starts with an x of `width` entries. */
void wiring_start(struct wiring *wiring, uint32_t width);
/* Adds the next layer; the reader fails if what it takes does not fit it, or
   cannot be said in that version of the format. */
void wiring_add(struct wiring *wiring, struct reader *reader, uint32_t version,
                const struct layer *layer);
/* Gives every output its slot; returns how many there are. The reader fails if
   some output is not taken by any layer. */
uint32_t wiring_finish(struct wiring *wiring, struct reader *reader);

#endif
