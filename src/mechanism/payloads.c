/*
 * payloads.c: a table of payloads by a keyed hash.
 *
 *     slot   0: free; else 1 + the number of a payload
 *     data   payload | payload | ...       as they first came
 *     times  how often each came
 *
 * The hash has a random key: who sends reports cannot make the table slow.
 */
#include "mechanism/payloads.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "report/report.h"

#define SLOTS_FIRST ((size_t)1024)

struct payloads {
    size_t report_size, size;
    uint8_t key[crypto_shorthash_siphash24_KEYBYTES];
    uint8_t *data;
    uint32_t *times;
    size_t count, room;
    uint64_t all;
    uint32_t *slot;
    size_t slots;    /* a power of 2 */
    uint32_t *order; /* by bytes; NULL: not sorted yet */
};

enum sotto_status
payloads_new(const struct sotto_mechanism *mechanism,
             struct payloads **ret_payloads, struct sotto_error *err)
{
    struct payloads *own = sodium_init() >= 0 ? calloc(1, sizeof *own) : NULL;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    own->report_size = mechanism->shape.report_size;
    own->size = own->report_size - REPORT_HEADER_SIZE;
    own->slots = SLOTS_FIRST;
    own->slot = calloc(own->slots, sizeof *own->slot);
    if (own->slot == NULL) {
        payloads_free(own);
        return host_fail_memory(err);
    }
    randombytes_buf(own->key, sizeof own->key);
    *ret_payloads = own;
    return SOTTO_STATUS_OK;
}

void
payloads_free(struct payloads *payloads)
{
    if (payloads != NULL) {
        free(payloads->data);
        free(payloads->times);
        free(payloads->slot);
        free(payloads->order);
        free(payloads);
    }
}

/* ---- Adding ---------------------------------------------------------------
 */

static size_t
find_slot(const struct payloads *own, const uint8_t *payload)
{
    uint8_t hash[crypto_shorthash_siphash24_BYTES];
    uint64_t word;
    size_t at;
    (void)crypto_shorthash_siphash24(hash, payload, own->size, own->key);
    memcpy(&word, hash, sizeof word);
    at = (size_t)word & (own->slots - 1);
    while (own->slot[at] != 0 &&
           memcmp(own->data + (own->slot[at] - 1) * own->size, payload,
                  own->size) != 0) {
        at = (at + 1) & (own->slots - 1);
    }
    return at;
}

/* Twice as many slots. */
static bool
grow_slots(struct payloads *own)
{
    uint32_t *slot = calloc(2 * own->slots, sizeof *slot);
    if (slot == NULL) {
        return false;
    }
    free(own->slot);
    own->slot = slot;
    own->slots *= 2;
    for (size_t i = 0; i < own->count; i++) {
        own->slot[find_slot(own, own->data + i * own->size)] = (uint32_t)i + 1;
    }
    return true;
}

static bool
grow_data(struct payloads *own)
{
    size_t room = own->room + own->room / 2 + SLOTS_FIRST;
    uint8_t *data = realloc(own->data, room * own->size);
    uint32_t *times;
    if (data == NULL) {
        return false;
    }
    own->data = data;
    times = realloc(own->times, room * sizeof *times);
    if (times == NULL) {
        return false;
    }
    own->times = times;
    own->room = room;
    return true;
}

static enum sotto_status
add_payload(struct payloads *own, const uint8_t *payload,
            struct sotto_error *err)
{
    size_t at = find_slot(own, payload);
    if (own->slot[at] != 0) {
        uint32_t *times = &own->times[own->slot[at] - 1];
        own->all++;
        return ++*times != 0 ? SOTTO_STATUS_OK
                             : host_fail(err, SOTTO_STATUS_LIMIT, 0,
                                         "2^32 reports say the same: more "
                                         "cannot be counted");
    }
    if (own->count + 1 >= UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "2^32 reports that differ cannot be held at a time");
    }
    if ((own->count == own->room && !grow_data(own)) ||
        (4 * (own->count + 1) > 3 * own->slots && !grow_slots(own))) {
        return host_fail_memory(err);
    }
    memcpy(own->data + own->count * own->size, payload, own->size);
    own->times[own->count] = 1;
    own->slot[find_slot(own, payload)] = (uint32_t)++own->count;
    own->all++;
    return SOTTO_STATUS_OK;
}

enum sotto_status
payloads_add(struct payloads *payloads, const struct sotto_report_block *block,
             struct sotto_error *err)
{
    const uint8_t *at = block->reports + REPORT_HEADER_SIZE;
    enum sotto_status status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < block->count && status == SOTTO_STATUS_OK; i++) {
        status = add_payload(payloads, at + i * payloads->report_size, err);
    }
    return status;
}

/* ---- In order -------------------------------------------------------------
 */

static int
compare_payloads(const void *a, const void *b, void *context)
{
    const struct payloads *own = context;
    return memcmp(own->data + *(const uint32_t *)a * own->size,
                  own->data + *(const uint32_t *)b * own->size, own->size);
}

enum sotto_status
payloads_sort(struct payloads *payloads, struct sotto_error *err)
{
    struct payloads *own = payloads;
    free(own->slot);
    own->slot = NULL;
    own->order = malloc((own->count + 1) * sizeof *own->order);
    if (own->order == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < own->count; i++) {
        own->order[i] = (uint32_t)i;
    }
    qsort_r(own->order, own->count, sizeof *own->order, compare_payloads, own);
    return SOTTO_STATUS_OK;
}

size_t
payloads_distinct(const struct payloads *payloads)
{
    return payloads->count;
}

uint64_t
payloads_all(const struct payloads *payloads)
{
    return payloads->all;
}

const uint8_t *
payloads_at(const struct payloads *payloads, size_t i, uint32_t *ret_times)
{
    size_t at = payloads->order[i];
    *ret_times = payloads->times[at];
    return payloads->data + at * payloads->size;
}
