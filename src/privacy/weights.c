/*
 * weights.c: reports, and the exact weight of each for every point.
 */
#include "privacy/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum sotto_status
weights_init(struct weights *weights, uint32_t wire_size, uint32_t points)
{
    memset(weights, 0, sizeof *weights);
    weights->wire_size = wire_size;
    weights->points = points;
    weights->sum = malloc(points * sizeof *weights->sum);
    if (weights->sum == NULL) {
        return SOTTO_STATUS_MEMORY;
    }
    for (uint32_t i = 0; i < points; i++) {
        mpz_init(weights->sum[i]);
    }
    return SOTTO_STATUS_OK;
}

void
weights_clear(struct weights *weights)
{
    for (uint32_t i = 0; i < weights->rows; i++) {
        for (uint32_t j = 0; j < weights->points; j++) {
            mpz_clear(weights->row[i].weight[j]);
        }
        free(weights->row[i].wire);
        free(weights->row[i].weight);
    }
    for (uint32_t i = 0; weights->sum != NULL && i < weights->points; i++) {
        mpz_clear(weights->sum[i]);
    }
    free(weights->sum);
    free(weights->row);
    free(weights->slot);
    memset(weights, 0, sizeof *weights);
}

/* FNV-1a. */
static uint64_t
hash_of(const uint8_t *data, uint32_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * UINT64_C(0x1000001b3);
    }
    return hash ^ hash >> 29;
}

/* Half of the slots at least are free, so a search ends. */
static uint32_t *
slot_at(const struct weights *weights, uint64_t at)
{
    return &weights->slot[at & (2 * (uint64_t)weights->room - 1)];
}

static void
put_slot(struct weights *weights, uint32_t row)
{
    uint64_t at = weights->row[row].hash;
    while (*slot_at(weights, at) != 0) {
        at++;
    }
    *slot_at(weights, at) = row + 1;
}

static enum sotto_status
grow_weights(struct weights *weights)
{
    uint32_t room = weights->room == 0 ? 64 : 2 * weights->room;
    struct weights_row *row = realloc(weights->row, room * sizeof *row);
    uint32_t *slot;
    if (row == NULL) {
        return SOTTO_STATUS_MEMORY;
    }
    weights->row = row;
    slot = calloc(2 * (size_t)room, sizeof *slot);
    if (slot == NULL) {
        return SOTTO_STATUS_MEMORY;
    }
    free(weights->slot);
    weights->slot = slot;
    weights->room = room;
    for (uint32_t i = 0; i < weights->rows; i++) {
        put_slot(weights, i);
    }
    return SOTTO_STATUS_OK;
}

static struct weights_row *
find_row(const struct weights *weights, const uint8_t *wire, uint64_t hash)
{
    for (uint64_t at = hash; weights->room > 0; at++) {
        uint32_t found = *slot_at(weights, at);
        struct weights_row *row;
        if (found == 0) {
            break;
        }
        row = &weights->row[found - 1];
        if (row->hash == hash &&
            memcmp(row->wire, wire, weights->wire_size) == 0) {
            return row;
        }
    }
    return NULL;
}

static enum sotto_status
add_row(struct weights *weights, const uint8_t *wire, uint64_t hash)
{
    uint64_t cells = (uint64_t)(weights->rows + 1) * weights->points;
    enum sotto_status status = SOTTO_STATUS_OK;
    struct weights_row *row;
    if (cells > WEIGHTS_MOST) {
        return SOTTO_STATUS_LIMIT;
    }
    if (weights->rows == weights->room) {
        status = grow_weights(weights);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    row = &weights->row[weights->rows];
    row->hash = hash;
    row->wire = malloc(weights->wire_size);
    row->weight = malloc(weights->points * sizeof *row->weight);
    if (row->wire == NULL || row->weight == NULL) {
        free(row->wire);
        free(row->weight);
        return SOTTO_STATUS_MEMORY;
    }
    memcpy(row->wire, wire, weights->wire_size);
    for (uint32_t i = 0; i < weights->points; i++) {
        mpz_init(row->weight[i]);
    }
    put_slot(weights, weights->rows++);
    return SOTTO_STATUS_OK;
}

enum sotto_status
weights_add(struct weights *weights, const uint8_t *wire, uint32_t point,
            mpz_srcptr weight)
{
    uint64_t hash = hash_of(wire, weights->wire_size);
    struct weights_row *row = find_row(weights, wire, hash);
    if (row == NULL) {
        enum sotto_status status = add_row(weights, wire, hash);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
        row = &weights->row[weights->rows - 1];
    }
    mpz_add(row->weight[point], row->weight[point], weight);
    mpz_add(weights->sum[point], weights->sum[point], weight);
    return SOTTO_STATUS_OK;
}

double
weights_log(mpz_srcptr weight)
{
    signed long power;
    double mantissa = mpz_get_d_2exp(&power, weight);
    return log(mantissa) + (double)power * log(2);
}
