/*
 * primitive.h: oneDNN's convolutions, one for a shape, kept by the back-end.
 *
 * Images are in our own layout (channels last), which costs nothing against
 * oneDNN's blocked ones; weights are in whatever layout oneDNN asks for, and
 * packed into it, or unpacked, once a call. oneDNN runs on the thread that
 * calls it and no other.
 *
 * All but primitive_run are for the thread that owns the back-end.
 */
#ifndef SOTTO_TENSOR_CPU_PRIMITIVE_H
#define SOTTO_TENSOR_CPU_PRIMITIVE_H

#include "tensor/cpu/cpu.h"

enum primitive_kind {
    PRIMITIVE_FORWARD = 0, /* y from x and weights */
    PRIMITIVE_DATA = 1,    /* dx from dy and weights */
    PRIMITIVE_WEIGHT = 2   /* dweights from x and dy */
};

struct primitive;

/*
 * For n images of a shape; with the layout of weights of `like`, unless NULL.
 * NULL if there is no memory, or oneDNN has nothing for the shape. Valid until
 * primitive_tidy.
 */
struct primitive *primitive_find(struct cpu_backend *cpu,
                                 enum primitive_kind kind, size_t n,
                                 const struct tensor_window *window,
                                 const struct primitive *like);
/* Forgets all, if they have become many. */
void primitive_tidy(struct cpu_backend *cpu);
void primitive_free_all(struct cpu_backend *cpu);

/* Floats of the weights in oneDNN's layout. */
size_t primitive_weights(const struct primitive *primitive);
/* Room for that many: packed weights, or the sum of what slices gave. */
float *primitive_packed(const struct primitive *primitive);
/* From OHWI to oneDNN's layout (forward, data), or back (weight): false if
   that failed. */
bool primitive_pack(const struct primitive *primitive, const float *weight);
bool primitive_unpack(const struct primitive *primitive, float *dweight);

/* Images x and y (or their gradients); `dweight` in oneDNN's layout, for the
   weights' own gradient alone. False if oneDNN failed. */
bool primitive_run(const struct primitive *primitive, unsigned worker,
                   const float *x, const float *y, float *dweight);

/* At least `size` floats of the back-end's own; NULL if there is no memory.
   Valid until the next call. */
float *primitive_room(struct cpu_backend *cpu, size_t size);

#endif
