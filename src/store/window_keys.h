/*
 * window_keys.h: the keys of windows, in a folder of the collector's own, for a
 * back-end whose server remembers more than it shows: its log, its replicas and
 * its dead rows keep what was deleted.
 *
 *     DIR/collector        who this collector is: 16 random bytes
 *     DIR/collector.lock   locked while a collector has the folder open
 *     DIR/NUMBER.key       32 random bytes: one window's key
 *
 * What waits is sealed with a window's key before the server gets it. When the
 * window has been moved on the key's file is overwritten with zeros, flushed
 * and removed; from then on nobody can read what the server remembers of it.
 *
 * Sealing is XChaCha20-Poly1305 with 24 bytes of the system's entropy for each
 * nonce: none is ever counted, so none comes twice when a transaction is rolled
 * back and tried again. What is sealed belongs to a purpose, a campaign and a
 * collector, and is not opened for others.
 *
 *     nonce (24) | ciphertext | check (16)
 */
#ifndef SOTTO_STORE_WINDOW_KEYS_H
#define SOTTO_STORE_WINDOW_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#define COLLECTOR_ID_SIZE 16u
#define WINDOW_SEAL_EXTRA ((size_t)40) /* bytes that sealing adds */

struct window_keys;

/*
 * Opens the folder, for its owner alone, and makes it if it is not there.
 * Statuses: IO (also: a collector has it open), FORMAT (what says who it is is
 * damaged), REFUSED (others may look into it), MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status window_keys_open(const char *folder,
                                                 struct window_keys **ret_keys,
                                                 struct sotto_error *err);
/* Whether it would be opened, if no collector has it open; makes nothing.
   `ret_there` false: it is no collector's yet. Statuses: window_keys_open's. */
SOTTO_CHECKED enum sotto_status
window_keys_try(const char *folder, bool *ret_there, struct sotto_error *err);
/* Forgets the keys in memory; the files stay. NULL is fine. */
void window_keys_free(struct window_keys *keys);

/* COLLECTOR_ID_SIZE bytes. */
const uint8_t *window_keys_collector(const struct window_keys *keys);
/* For messages. */
const char *window_keys_folder(const struct window_keys *keys);

/* Makes a key, on disk when this returns; numbers are random, from 1. Statuses:
   IO, MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status window_keys_make(struct window_keys *keys,
                                                 int64_t *ret_number,
                                                 struct sotto_error *err);

/* What a sealed text is for. */
struct window_seal {
    int64_t number;    /* of the key */
    uint32_t campaign; /* 0: of no single one */
    uint8_t purpose;
};

/* Seals `size` bytes to `size` + WINDOW_SEAL_EXTRA bytes at `to`. Statuses:
   FORMAT (the key is not there), IO, MEMORY, ENTROPY. */
SOTTO_CHECKED enum sotto_status window_keys_seal(struct window_keys *keys,
                                                 const struct window_seal *seal,
                                                 const uint8_t *plain,
                                                 size_t size, uint8_t *to,
                                                 struct sotto_error *err);
/* Opens `size` bytes, at least WINDOW_SEAL_EXTRA, to as many fewer at `to`.
   Statuses: FORMAT (also: it is not what was sealed so), IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
window_keys_unseal(struct window_keys *keys, const struct window_seal *seal,
                   const uint8_t *sealed, size_t size, uint8_t *to,
                   struct sotto_error *err);

/* Destroys every key but those with these numbers. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
window_keys_destroy_others(struct window_keys *keys, const int64_t *kept,
                           size_t count, struct sotto_error *err);

#endif
