/*
 * same.h: whether two mechanisms make the same of every record.
 */
#ifndef SOTTO_MECHANISM_SAME_H
#define SOTTO_MECHANISM_SAME_H

#include "mechanism/mechanism.h"

struct layer;

/* Whether two layers compute the same, weight by weight. */
bool same_layer(const struct layer *x, const struct layer *y);
/* Whether the first `layers` layers of both give a record the same outputs:
   the same layers behind the same inputs. */
bool same_layers(const struct sotto_mechanism *a,
                 const struct sotto_mechanism *b, size_t layers);
/* Whether both give a record the same representation and code, or code in each
   of their books; b may also have the first of a's books alone. Budgets,
   channels and labels may differ. */
bool same_code(const struct sotto_mechanism *a,
               const struct sotto_mechanism *b);

#endif
