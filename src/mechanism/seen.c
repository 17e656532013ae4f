/*
 * seen.c: the rows that a mechanism was fitted to, as salted hashes.
 *
 *     "sotto-seen 1\n" | the mechanism's hash, 32 bytes | salt, 32 bytes |
 *     n hashes of 8 bytes, in order
 *
 * A hash is keyed BLAKE2b, under the salt, of each column's name and value, in
 * the mechanism's order; cut to 8 bytes, so that n rows and N others agree by
 * chance with probability n N 2^-64. A number is hashed as the number that it
 * is: 1 and 1.0 are the same.
 */
#include "sotto/seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "host/error.h"
#include "host/file.h"
#include "mechanism/mechanism.h"
#include "mechanism/rows.h"

#define HEAD "sotto-seen 1\n"
#define WORD_SIZE (sizeof HEAD - 1)
#define HEAD_SIZE (WORD_SIZE + SOTTO_HASH_SIZE)
#define SALT_SIZE 32u
#define HASH_SIZE 8u
#define FILE_MOST ((size_t)1 << 34)
#define CHANCE_LEAST 1e-6

/* ---- Hashes ---------------------------------------------------------------
 */

/* Every field behind its size: no two records have one text. */
static void
add_bytes(crypto_generichash_state *state, const void *data, size_t size)
{
    uint64_t count = size;
    (void)crypto_generichash_update(state, (const uint8_t *)&count,
                                    sizeof count);
    (void)crypto_generichash_update(state, data != NULL ? data : "", size);
}

static void
add_value(crypto_generichash_state *state, const struct sotto_value *value,
          enum sotto_column_kind kind)
{
    bool number = schema_kind(kind)->ranged;
    if (number && value->kind != SOTTO_VALUE_MISSING &&
        isfinite(value->number)) {
        double same = value->number + 0.0; /* -0 is 0 */
        add_bytes(state, &same, sizeof same);
    } else if (number) {
        add_bytes(state, NULL, 0);
    } else {
        add_bytes(state, value->data, value->size);
    }
}

static void
hash_row(struct rows *rows, size_t row, const uint8_t salt[SALT_SIZE],
         uint8_t ret_hash[HASH_SIZE])
{
    const struct sotto_value *value = rows_at(rows, row);
    uint8_t whole[crypto_generichash_BYTES];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, salt, SALT_SIZE, sizeof whole);
    for (size_t i = 0; i < rows->count; i++) {
        struct sotto_column_info column;
        sotto_mechanism_column(rows->mechanism, i, &column);
        add_bytes(&state, column.name, strlen(column.name));
        add_value(&state, &value[i], column.kind);
    }
    (void)crypto_generichash_final(&state, whole, sizeof whole);
    memcpy(ret_hash, whole, HASH_SIZE);
}

static int
compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, HASH_SIZE);
}

/* The hashes of all rows, in order. */
static enum sotto_status
hash_table(struct sotto_mechanism *mechanism, const struct sotto_table *table,
           const uint8_t salt[SALT_SIZE], uint8_t *ret_hash,
           struct sotto_error *err)
{
    struct rows rows = {0};
    enum sotto_status status = rows_init(&rows, mechanism, table, err);
    size_t count = sotto_table_rows(table);
    for (size_t i = 0; i < count && status == SOTTO_STATUS_OK; i++) {
        hash_row(&rows, i, salt, ret_hash + i * HASH_SIZE);
    }
    if (status == SOTTO_STATUS_OK) {
        qsort(ret_hash, count, HASH_SIZE, compare_hashes);
        rows_clear(&rows);
    }
    return status;
}

/* ---- The file -------------------------------------------------------------
 */

enum sotto_status
sotto_seen_write(struct sotto_mechanism *mechanism,
                 const struct sotto_table *table, const char *path,
                 struct sotto_error *err)
{
    size_t size = HEAD_SIZE + SALT_SIZE + sotto_table_rows(table) * HASH_SIZE;
    uint8_t *data = calloc(1, size);
    enum sotto_status status;
    if (data == NULL || sodium_init() < 0) {
        free(data);
        return host_fail_memory(err);
    }
    memcpy(data, HEAD, WORD_SIZE);
    memcpy(data + WORD_SIZE, mechanism->device.report->hash, SOTTO_HASH_SIZE);
    randombytes_buf(data + HEAD_SIZE, SALT_SIZE);
    status = hash_table(mechanism, table, data + HEAD_SIZE,
                        data + HEAD_SIZE + SALT_SIZE, err);
    status =
        HOST_THEN(status, host_file_write(path, 0600, false, data, size, err));
    free(data);
    return status;
}

static enum sotto_status
check_file(const struct sotto_mechanism *mechanism, const char *path,
           const uint8_t *data, size_t size, struct sotto_error *err)
{
    if (size < HEAD_SIZE + SALT_SIZE ||
        (size - HEAD_SIZE - SALT_SIZE) % HASH_SIZE != 0 ||
        memcmp(data, HEAD, WORD_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "'%.200s' is not a whole file of the auxiliary rows: "
                         "write it again with sotto train",
                         path);
    }
    if (memcmp(data + WORD_SIZE, mechanism->device.report->hash,
               SOTTO_HASH_SIZE) != 0) {
        return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                         "'%.200s' is of another mechanism: write it again "
                         "with sotto train --seen, or remove it",
                         path);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Looking --------------------------------------------------------------
 */

/* How many hashes of a list occur more than once in it. */
static size_t
count_twins(const uint8_t *hash, size_t count)
{
    size_t twins = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = hash + i * HASH_SIZE;
        bool same = (i > 0 && compare_hashes(at, at - HASH_SIZE) == 0) ||
                    (i + 1 < count && compare_hashes(at, at + HASH_SIZE) == 0);
        twins += same ? 1 : 0;
    }
    return twins;
}

/* How many of a list occur in another; both in order. */
static size_t
count_same(const uint8_t *own, size_t count, const uint8_t *other,
           size_t others)
{
    size_t same = 0, j = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = own + i * HASH_SIZE;
        while (j < others && compare_hashes(other + j * HASH_SIZE, at) < 0) {
            j++;
        }
        same += j < others && compare_hashes(other + j * HASH_SIZE, at) == 0
                    ? 1
                    : 0;
    }
    return same;
}

/* The Chernoff bound on P(Binomial(n, p) >= k), for k / n > p. */
static double
bound_chance(double k, double n, double p)
{
    double q = k / n, divergence;
    if (n == 0 || q <= p) {
        return 1;
    }
    divergence =
        q * log(q / p) + (q < 1 ? (1 - q) * log((1 - q) / (1 - p)) : 0);
    return exp(-n * divergence);
}

enum sotto_status
sotto_seen_look(struct sotto_mechanism *mechanism,
                const struct sotto_table *table, const char *path,
                struct sotto_seen *ret_seen, struct sotto_error *err)
{
    size_t size = 0, rows = sotto_table_rows(table);
    uint8_t *data = NULL, *own = calloc(rows + 1, HASH_SIZE);
    enum sotto_status status;
    if (own == NULL) {
        return host_fail_memory(err);
    }
    status = host_file_read(path, FILE_MOST, &data, &size, err);
    status = HOST_THEN(status, check_file(mechanism, path, data, size, err));
    status = HOST_THEN(
        status, hash_table(mechanism, table, data + HEAD_SIZE, own, err));
    if (status == SOTTO_STATUS_OK) {
        const uint8_t *seen = data + HEAD_SIZE + SALT_SIZE;
        size_t count = (size - HEAD_SIZE - SALT_SIZE) / HASH_SIZE;
        double twins = (double)count_twins(seen, count);
        struct sotto_seen found = {.rows = rows};
        found.same = count_same(own, rows, seen, count);
        found.chance = bound_chance((double)found.same, (double)rows,
                                    (twins + 1) / ((double)count + 2));
        found.auxiliary = found.chance < CHANCE_LEAST;
        *ret_seen = found;
    }
    free(data);
    free(own);
    return status;
}
