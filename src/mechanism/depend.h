/*
 * depend.h: which columns a part of a report can depend on.
 *
 * Computed from the file, whatever its maker declares: a part can depend on a
 * column only if it names it as a factor, or if the column fills entries of x
 * that reach those entries of z that the part takes. Behind layers all entries
 * of x are taken to reach all of z: a bound from above, whatever the weights.
 */
#ifndef SOTTO_MECHANISM_DEPEND_H
#define SOTTO_MECHANISM_DEPEND_H

#include "mechanism/mechanism.h"

/* How many blocks of the part can depend on the column: 0 is none. */
size_t depend_blocks(const struct sotto_mechanism *mechanism, size_t part,
                     size_t column);
/* What a report can tell of the column alone, at most, in units: the sum over
   those blocks. */
uint64_t depend_eps(const struct sotto_mechanism *mechanism, size_t column);

/* Whether x goes into the encoder's first layer alone, a dense one, and it
   gives the column no weight: then z depends on the column through numbers
   beyond a float's range alone. */
bool depend_weightless(const struct sotto_mechanism *mechanism, size_t column);

/* Whether what the maker declares of a part cannot be: it is to be about the
   label, and can depend on several columns; or about features, and can depend
   on the column that other parts call the label. */
bool depend_contradicts(const struct sotto_mechanism *mechanism, size_t part);

#endif
