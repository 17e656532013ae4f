/*
 * shape.h: what kind of mechanism it is, computed once when it is opened.
 *
 *     x = width[0] --layer--> width[1] ... --layer--> z = width[layers]
 *     report   header | lot | part[0]: its blocks | part[1]: its blocks | ...
 *
 * What is outside the device's folders and this one asks here, and never looks
 * into the device's own structs.
 */
#ifndef SOTTO_MECHANISM_SHAPE_H
#define SOTTO_MECHANISM_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel/channel.h"
#include "client/opened.h"
#include "schema/column.h"
#include "sotto/mechanisms.h"

/* What a part tells. A maker says what it covers: that is not checked. */
enum shape_role {
    SHAPE_FEATURES, /* the record: numbers, or symbols of its columns */
    SHAPE_CODE,     /* the record: the largest of several outputs */
    SHAPE_LABEL,    /* the label: one of several classes */
    SHAPE_PAIR,     /* a code and the label's column in one symbol */
    SHAPE_RIGHT,    /* whether the largest output is the label */
    SHAPE_OTHER     /* a label of numbers; both, but no pair */
};

struct shape_part {
    enum shape_role role;
    const char *covers; /* "features", "label" or "both" */
    const struct channel_instance *instance;
    bool numbers; /* else symbols */
    size_t blocks;
    size_t offset; /* of the first block in a report: the others follow */
    size_t width;  /* entries of a block's point */
    size_t books;  /* codebooks, of which a lot says the one that is asked, so
                      that a block has so many points; else 1 */
    size_t from;   /* numbers: first entry of z; a code: its first score */
    size_t cells;  /* a code's values; 0: it is no CODE and no PAIR */
    size_t column; /* the one column of a symbol, a PAIR's or RIGHT's label;
                      SIZE_MAX */
};

struct shape {
    struct schema schema;
    size_t layers, parts;
    struct shape_part *part;
    size_t *width;     /* entries after the first i layers */
    size_t x, z;       /* the first and the last of these */
    size_t q;          /* entries of all points but the label's */
    size_t books;      /* of the part that has several; else 1 */
    size_t z_layers;   /* layers before that of a code's scores: or all */
    bool plain;        /* z is x, each entry times a number of its own: the
                          encoder is the identity */
    bool columns;      /* and each of several books is about one column */
    size_t code;       /* the part that is a CODE or a PAIR; SIZE_MAX */
    size_t label;      /* the column of a LABEL or a PAIR; SIZE_MAX */
    size_t label_part; /* the part that is a LABEL of it; SIZE_MAX */
    uint64_t work;     /* multiply-adds of one record in the encoder */
    size_t report_size;
    uint64_t entropy;    /* bytes that a report draws */
    const uint8_t *hash; /* SOTTO_HASH_SIZE bytes */
    uint64_t eps, delta; /* stated totals, in units of 10^-12 */
};

/* Reads the shape off an opened mechanism, which must outlive it. Statuses:
   MEMORY; there is nothing to clear then. */
SOTTO_CHECKED enum sotto_status shape_init(struct shape *shape,
                                           const struct device_view *device,
                                           struct sotto_error *err);
void shape_clear(struct shape *shape);
/* Where a block of a part lies in a report. */
size_t shape_offset(const struct shape *shape, size_t part, size_t block);

#endif
