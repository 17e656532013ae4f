/*
 * population.h: what a table's people would report, and what an analyst would
 * see of them without noise.
 */
#ifndef SOTTO_EXPERIMENT_POPULATION_H
#define SOTTO_EXPERIMENT_POPULATION_H

#include "sotto/sotto.h"

/*
 * Simulated reports of all rows, row i from (seed, i), whatever the number of
 * threads (0: all cores). With `floats` the first part of each report, a
 * lattice's, is what the papers' model has there: clipped and noised in
 * floating point, and only then put on the lattice. That is not private
 * (invariant 2): it shows what the exact channel costs. A mechanism whose first
 * part is no such lattice is INPUT, and what does not fit into a report with
 * its noise (or is no number) is LIMIT: no report is ever exact instead. The
 * caller frees the reader. Statuses: INPUT, IO, MEMORY, LIMIT, STOPPED.
 */
SOTTO_CHECKED enum sotto_status
population_report(struct sotto_mechanism *mechanism,
                  const struct sotto_table *people, uint64_t seed, bool floats,
                  unsigned threads, const struct sotto_watch *watch,
                  struct sotto_report_reader **ret_reader,
                  struct sotto_error *err);

/*
 * A table of the images that the decoder makes of the people's representations
 * without noise, with their labels: "image" in 8 bits and "label", columns 0
 * and 1 of `people` likewise. Statuses: INPUT, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status population_decode(
    struct sotto_mechanism *mechanism, const struct sotto_analyst *analyst,
    const struct sotto_table *people, const struct sotto_watch *watch,
    struct sotto_table **ret_table, struct sotto_error *err);

#endif
