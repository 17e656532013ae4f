/*
 * checksum.h: CRC-32C, which finds what a disk or a memory has changed by
 * itself. It finds nothing that somebody changed on purpose.
 */
#ifndef SOTTO_HOST_CHECKSUM_H
#define SOTTO_HOST_CHECKSUM_H

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

#endif
