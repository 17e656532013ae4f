/*
 * checksum.h: CRC-32C, which finds what a disk or a memory has changed by
 * itself. It finds nothing that somebody changed on purpose.
 */
#ifndef SOTTO_HOST_CHECKSUM_H
#define SOTTO_HOST_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_CHECKSUM_SIZE 4u /* bytes of one, the lowest first */

/* The sum of what `sum` is of (0: of nothing) and of these bytes behind it. */
uint32_t host_checksum(uint32_t sum, const void *data, size_t size);

/* The same by tables alone, as where there is no instruction for it. */
uint32_t host_checksum_plain(uint32_t sum, const void *data, size_t size);

/* Writes the sum of the bytes behind them, or into another place. */
void host_checksum_write(uint32_t sum, uint8_t to[HOST_CHECKSUM_SIZE]);
uint32_t host_checksum_read(const uint8_t from[HOST_CHECKSUM_SIZE]);

/*
 * Finds which one byte is wrong in `size` bytes with their sum behind them:
 * `change` is the sum they have XOR the one that is written there. The byte at
 * `ret_at` (from `size` on: of the sum) XOR `ret_mend` is the right one. False:
 * more than one byte is wrong. Where that is so one byte explains it by chance
 * with probability 255 * size / 2^32 or so: know the bytes by something else.
 */
bool host_checksum_find(uint32_t change, size_t size, size_t *ret_at,
                        uint8_t *ret_mend);

#endif
