/*
 * compose.h: putting a mechanism file together.
 *
 * Not the trusted part: whatever this writes, the device checks. The one
 * spelling of a file is in docs/format.md.
 */
#ifndef SOTTO_MECHANISM_COMPOSE_H
#define SOTTO_MECHANISM_COMPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/reader.h"
#include "encode/layer.h"
#include "schema/column.h"
#include "sotto/sotto.h"

struct compose_factor {
    bool is_column;
    uint32_t at; /* column, or first entry of z */
    uint32_t k;  /* of an encoder's outputs; a column knows its own */
    bool equal;  /* whether the largest of the k is the symbol of `column` */
    uint32_t column;
};

struct compose_part {
    const char *covers;
    const char *channel;
    uint64_t eps; /* units of 10^-12, each block */
    uint32_t blocks;
    uint32_t from, d, l; /* numbers; d = 0 for symbols */
    struct compose_factor factor[4];
    size_t factors;
    uint64_t delta; /* likewise; 0 for a channel that takes none */
    uint32_t books; /* codebooks, one asked by lot; 0 or 1: one */
};

struct compose_spec {
    const char *name, *campaign, *auxiliary;
    uint64_t eps; /* units of 10^-12; delta is the sum of the parts' */
    const struct schema_column *column;
    size_t columns;
    const struct layer *layer;
    size_t layers;
    const struct compose_part *part;
    size_t parts;
    /* What the auxiliary data cost, as decimals; empty: nothing is stated. */
    struct reader_word central_eps, central_delta;
    uint64_t expires; /* seconds since 1970; 0: never */
    bool label_only;  /* the collector holds the record in the clear */
};

/*
 * Makes the mechanism, of version 1 of the format unless something in the spec
 * needs version 2, and opens it, so a spec that no device would take fails
 * here. Characters that the manifest cannot hold are refused. Statuses: USAGE,
 * MEMORY, and sotto_client_open's.
 */
SOTTO_CHECKED enum sotto_status
compose_open(const struct compose_spec *spec,
             struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

#endif
