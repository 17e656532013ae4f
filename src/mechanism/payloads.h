/*
 * payloads.h: what reports say, each once, with how often it came.
 *
 * A payload is a report without its header. Whose it is, in which batch it came
 * and in which order is not kept: the same reports give the same payloads in
 * the same order, whatever batches they came in. Of n reports with d different
 * payloads of s bytes, d (s + 4) bytes are kept, and 8 to 16 more of each while
 * they are added or sorted.
 */
#ifndef SOTTO_MECHANISM_PAYLOADS_H
#define SOTTO_MECHANISM_PAYLOADS_H

#include "mechanism/mechanism.h"

struct payloads;

/* Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
payloads_new(const struct sotto_mechanism *mechanism,
             struct payloads **ret_payloads, struct sotto_error *err);
void payloads_free(struct payloads *payloads);

/* Adds a stream's block. Statuses: MEMORY, LIMIT (2^32 and more that differ, or
   that are the same). */
SOTTO_CHECKED enum sotto_status
payloads_add(struct payloads *payloads, const struct sotto_report_block *block,
             struct sotto_error *err);
/* Puts them in the order of their bytes: nothing can be added any more.
   Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status payloads_sort(struct payloads *payloads,
                                              struct sotto_error *err);

/* Different ones, and all of them. */
size_t payloads_distinct(const struct payloads *payloads);
uint64_t payloads_all(const struct payloads *payloads);
/* The i-th of them by bytes, and how often it came. */
const uint8_t *payloads_at(const struct payloads *payloads, size_t i,
                           uint32_t *ret_times);

#endif
