/*
 * labelled.h: reports whose labels somebody knows.
 *
 * A mechanism without a label gets one: another column, and a part about it by
 * k-ary response at LABELLED_EPS, which is false once in 10^8. To its reports
 * the known labels are appended as that part's. So whatever learns from reports
 * with labels learns from these.
 *
 * Such a mechanism never goes to a device: it is what a model says of itself.
 */
#ifndef SOTTO_LEARN_LABELLED_H
#define SOTTO_LEARN_LABELLED_H

#include "mechanism/compose.h"
#include "sotto/sotto.h"

#define LABELLED_EPS                                                           \
    ((uint64_t)20) /* less, if the total would be above the                    \
                      most that a mechanism can have */

/* Gives a mechanism a label. Statuses: INPUT (it has one), MEMORY and those of
   compose_open. */
SOTTO_CHECKED enum sotto_status labelled_mechanism(
    const struct sotto_mechanism *mechanism, const struct schema_column *label,
    struct sotto_mechanism **ret_labelled, struct sotto_error *err);

#endif
