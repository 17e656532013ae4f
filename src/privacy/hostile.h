/*
 * hostile.h: records that try to break a mechanism.
 *
 * The first HOSTILE_KINDS are the same for every mechanism: everything missing,
 * every number at an end of its range, beyond it, infinite, not a number,
 * denormal, every text unknown, every image of the wrong size. From there on
 * they are random, each decided by its number and the seed alone, so that
 * another process makes the same.
 */
#ifndef SOTTO_PRIVACY_HOSTILE_H
#define SOTTO_PRIVACY_HOSTILE_H

#include "mechanism/mechanism.h"
#include "schema/column.h"
#include "sotto/sotto.h"

#define HOSTILE_KINDS SCHEMA_HOSTILE

struct hostile;

/* NULL if there is no memory. The mechanism must outlive it. */
struct hostile *hostile_new(const struct sotto_mechanism *mechanism,
                            uint64_t seed);
void hostile_free(struct hostile *hostile);

/* Record `number`: as many values as the mechanism has columns, until the next
   call. */
const struct sotto_value *hostile_record(struct hostile *hostile,
                                         uint64_t number);

/* Changes one column of the record at hand at random, by `draw`; returns it. */
const struct sotto_value *hostile_mutate(struct hostile *hostile,
                                         uint64_t draw);
/* Moves one number or sample of the record at hand a little, up or down; which
   and how far, `draw` decides. */
const struct sotto_value *hostile_nudge(struct hostile *hostile, uint64_t draw,
                                        bool up);
/* Takes the last change back. */
void hostile_undo(struct hostile *hostile);

#endif
