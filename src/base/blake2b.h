/*
 * blake2b.h: BLAKE2b with a 32-byte digest (RFC 7693), for a mechanism's
 * hash. Unkeyed, one shot.
 */
#ifndef SOTTO_BASE_BLAKE2B_H
#define SOTTO_BASE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

void blake2b_256(const uint8_t *data, size_t size, uint8_t ret_digest[32]);

#endif
