/*
 * stages.h: the stages that a record passes through on a device, one at a time
 * and on a host: for audits, simulations and timings.
 *
 *     values --encode--> z, symbols --point--> q --report--> bytes
 *
 * All run in the mechanism's workspace, so one thread has it at a time.
 */
#ifndef SOTTO_MECHANISM_STAGES_H
#define SOTTO_MECHANISM_STAGES_H

#include "mechanism/mechanism.h"

/* Runs the schema and the encoder; wipes first what another record left. */
void stages_encode(struct sotto_mechanism *mechanism,
                   const struct sotto_value *values);
/* The same for the first `layers` layers: their output is z. */
void stages_encode_to(struct sotto_mechanism *mechanism,
                      const struct sotto_value *values, size_t layers);
/* The encoder's output, to look at or to replace; shape.z entries. */
float *stages_z(const struct sotto_mechanism *mechanism);
/* The symbol of a category column, likewise. */
int32_t *stages_symbol(const struct sotto_mechanism *mechanism, size_t column);
/* The point of a part's block as a book has it (0 where there is one): its
   part's `width` entries, until the next. */
const int32_t *stages_point(const struct sotto_mechanism *mechanism,
                            size_t part, size_t block, size_t book);
/* The points of all blocks of a part, each block's by its books; returns what
   is behind them. */
int32_t *stages_part(const struct sotto_mechanism *mechanism, size_t part,
                     int32_t *ret_q);
/* The point that was found last. */
const int32_t *stages_q(const struct sotto_mechanism *mechanism);
/* Points of all parts, one after another, and their entries. */
void stages_points(const struct sotto_mechanism *mechanism, int32_t *ret_q);
size_t stages_points_width(const struct sotto_mechanism *mechanism);
/* Makes the report of what is encoded; false: entropy failed before. */
bool stages_report(struct sotto_mechanism *mechanism, uint8_t *ret_report);
/* Whether `size` bytes are a report of this mechanism, simulated or not. */
bool stages_valid(const struct sotto_mechanism *mechanism,
                  const uint8_t *report, size_t size);
void stages_wipe(struct sotto_mechanism *mechanism);

#endif
