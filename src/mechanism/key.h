/*
 * key.h: Ed25519 keys in minisign's files. The public entries are
 * sotto_key_generate and sotto_key_encrypted in sotto/sotto.h.
 */
#ifndef SOTTO_MECHANISM_KEY_H
#define SOTTO_MECHANISM_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

#define KEY_ID_SIZE 8u
#define KEY_PUBLIC_SIZE 32u
#define KEY_SECRET_SIZE 64u
#define KEY_TEXT_MAX ((size_t)4096) /* bytes a key's file may have */

struct key_public {
    uint8_t id[KEY_ID_SIZE];
    uint8_t point[KEY_PUBLIC_SIZE];
};

/* Kept in guarded memory: made by key_secret_parse, wiped by _free. */
struct key_secret {
    uint8_t id[KEY_ID_SIZE];
    uint8_t seed_and_point[KEY_SECRET_SIZE]; /* as libsodium wants it */
};

/* A key's id as people see it: a little-endian number, in capital hex. */
uint64_t key_id_number(const uint8_t id[KEY_ID_SIZE]);

/*
 * Reads the text of a key's file, and wipes and frees it (NULL is fine).
 * Statuses: IO, FORMAT (too large for a key), MEMORY.
 */
SOTTO_CHECKED enum sotto_status key_text_read(const char *path, char **ret_text,
                                              size_t *ret_size,
                                              struct sotto_error *err);
void key_text_free(char *text, size_t size);

/* PREFIX and SUFFIX in one, which the caller frees; NULL: no memory. */
char *key_file_name(const char *prefix, const char *suffix);

/* Passes on `inner`, found in a file's text, with the file's name. */
enum sotto_status key_fail_in(struct sotto_error *err, const char *path,
                              const struct sotto_error *inner);

/* Parses a public key's text. Statuses: FORMAT, ENTROPY. */
SOTTO_CHECKED enum sotto_status key_public_parse(const char *text, size_t size,
                                                 struct key_public *ret_key,
                                                 struct sotto_error *err);

/*
 * Parses a secret key's text. `password` may be NULL, and is not looked at if
 * the key is not encrypted. The caller frees the key and wipes the text.
 * Statuses: FORMAT, SIGNATURE (wrong password, or none), ENTROPY, MEMORY.
 */
SOTTO_CHECKED enum sotto_status key_secret_parse(const char *text, size_t size,
                                                 const char *password,
                                                 struct key_secret **ret_key,
                                                 struct sotto_error *err);
/* Wipes and frees. NULL is fine. */
void key_secret_free(struct key_secret *key);

#endif
