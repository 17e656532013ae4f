/*
 * wiring.c: what the layers of an encoder take, and where they put what they
 * make. The layers come from a hostile file: numbers are in range, and nothing
 * else is certain.
 */
#include "client/wiring.h"

void
wiring_start(struct wiring *wiring, uint32_t width)
{
    struct wiring_output *x = &wiring->output[0];
    wiring->layers = 0;
    wiring->reached = 0;
    x->width = width;
    x->made = (struct layer_image){0, 0, 0};
    x->last = UINT32_MAX;
    x->slot = 0;
}

static bool
same_image(const struct layer_image *a, const struct layer_image *b)
{
    return a->height == b->height && a->width == b->width &&
           a->channels == b->channels;
}

/* Whether the layer takes what that output is. */
static bool
input_fits(const struct wiring_output *input, const struct layer *layer)
{
    return layer->in == input->width &&
           (layer->kind == LAYER_DENSE || input->made.height == 0 ||
            same_image(&layer->image, &input->made));
}

/* Whether what is added has the shape of what the layer makes. */
static bool
sum_fits(const struct wiring_output *added, const struct layer *layer)
{
    return layer->out == added->width &&
           (layer->made.height == 0 || added->made.height == 0 ||
            same_image(&layer->made, &added->made));
}

/* Version 1: convolutions alone add, images must be equal, and no two skips
   reach over one layer. */
static void
check_skip(struct wiring *wiring, struct reader *reader, uint32_t at,
           const struct layer *layer)
{
    uint32_t skip = layer->from[1];
    if (layer->kind != LAYER_CONV || skip > at + 1 - wiring->reached) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a skip of the encoder reaches too far back");
        return;
    }
    wiring->reached = at + 1;
    if (!same_image(&wiring->output[at + 1 - skip].taken, &layer->made)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a skip of the encoder adds images of different shapes");
    }
}

static void
check_sum(struct wiring *wiring, struct reader *reader, uint32_t version,
          uint32_t at, const struct layer *layer)
{
    if (version == 1) {
        check_skip(wiring, reader, at, layer);
    } else if (layer->from[1] > at + 1 ||
               !sum_fits(&wiring->output[at + 1 - layer->from[1]], layer)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "a layer of the encoder adds what has another shape");
    }
    if (reader->status == SOTTO_STATUS_OK) {
        wiring->output[at + 1 - layer->from[1]].last = at;
    }
}

void
wiring_add(struct wiring *wiring, struct reader *reader, uint32_t version,
           const struct layer *layer)
{
    uint32_t at = wiring->layers;
    uint32_t back = layer_back(layer);
    struct wiring_output *made;
    if (reader->status != SOTTO_STATUS_OK || at == WIRING_LAYERS_MAX) {
        return;
    }
    if (back > at + 1 || (version == 1 && back != 1) ||
        !input_fits(&wiring->output[at + 1 - back], layer)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the encoder's layers do not fit each other");
        return;
    }
    wiring->output[at + 1 - back].last = at;
    wiring->output[at].taken = layer->image;
    if (layer->from[1] > 0) {
        check_sum(wiring, reader, version, at, layer);
    }
    made = &wiring->output[at + 1];
    made->width = layer->out;
    made->made = layer->made;
    made->last = UINT32_MAX;
    wiring->layers = at + 1;
}

/* Whether the slot holds what layer i or a later one takes. */
static bool
is_held(const struct wiring *wiring, uint32_t slot, uint32_t i)
{
    for (uint32_t k = 0; k <= i; k++) {
        const struct wiring_output *output = &wiring->output[k];
        if (output->slot == slot && output->last != UINT32_MAX &&
            output->last >= i) {
            return true;
        }
    }
    return false;
}

uint32_t
wiring_finish(struct wiring *wiring, struct reader *reader)
{
    uint32_t slots = 1;
    for (uint32_t i = 0; i < wiring->layers; i++) {
        uint8_t slot = 0;
        if (wiring->output[i].last == UINT32_MAX) {
            reader_fail(reader, SOTTO_STATUS_FORMAT,
                        "a layer of the encoder is taken by no other");
        }
        while (is_held(wiring, slot, i)) {
            slot++;
        }
        wiring->output[i + 1].slot = slot;
        slots = slot + 1u > slots ? slot + 1u : slots;
    }
    return slots;
}
