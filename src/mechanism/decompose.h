/*
 * decompose.h: the spec of an opened mechanism: compose.h backwards.
 */
#ifndef SOTTO_MECHANISM_DECOMPOSE_H
#define SOTTO_MECHANISM_DECOMPOSE_H

#include "mechanism/compose.h"
#include "mechanism/mechanism.h"

/* To be changed at will and composed anew. Texts and weights are the
   mechanism's, which must outlive it. */
struct decompose {
    struct compose_spec spec;
    struct schema_column *column;
    struct layer *layer;
    struct compose_part *part;
};

/* Clear it in any case. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
decompose_init(struct decompose *copy, const struct sotto_mechanism *mechanism,
               struct sotto_error *err);
void decompose_clear(struct decompose *copy);

/* One layer of it, likewise. */
struct layer decompose_layer(const struct sotto_mechanism *mechanism, size_t i);

#endif
