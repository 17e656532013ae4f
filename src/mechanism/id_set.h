/*
 * id_set.h: which reports came before, in few bytes of each.
 *
 * Of an id 80 bits of a keyed hash are kept, and 28 of what the report holds
 * besides, so that a copy can be told from another report under one id. Which
 * of 4,096 tables an entry is in says 12 bits of it: 12 bytes are kept of an
 * entry, and tables grow by an eighth, so that a report takes 14 to 16 bytes
 * once there are many. The key is drawn at random: who writes a file can
 * neither make two ids look alike nor make a table slow.
 *
 * Two of n different ids are taken for one with a chance of n^2 / 2^81: 4e-9
 * for 10^8. Another report under an id that came before is taken for a copy
 * with a chance of 2^-28.
 */
#ifndef SOTTO_MECHANISM_ID_SET_H
#define SOTTO_MECHANISM_ID_SET_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

struct id_set;

enum id_answer { ID_NEW, ID_COPY, ID_OTHER };

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status id_set_new(struct id_set **ret_set,
                                           struct sotto_error *err);
void id_set_free(struct id_set *set);
/* Adds a report, and says whether it came before, whole (COPY) or another one
   under its id (OTHER). Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status id_set_add(struct id_set *set,
                                           const uint8_t *report, size_t size,
                                           enum id_answer *ret_answer,
                                           struct sotto_error *err);
/* Bytes that it takes. */
size_t id_set_bytes(const struct id_set *set);

#endif
