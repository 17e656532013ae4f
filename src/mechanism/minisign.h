/*
 * minisign.h: signatures in minisign's format, on bytes in memory. The public
 * entries for files are sotto_sign_file and sotto_verify_file in
 * sotto/sotto.h.
 */
#ifndef SOTTO_MECHANISM_MINISIGN_H
#define SOTTO_MECHANISM_MINISIGN_H

#include <stddef.h>
#include <stdint.h>

#include "mechanism/key.h"
#include "sotto/client.h"

#define MINISIGN_SUFFIX ".minisig"
#define MINISIGN_TEXT_MAX ((size_t)16384)   /* bytes a signature may have */
#define MINISIGN_DATA_MAX ((size_t)1 << 30) /* bytes a signed file may have */

/*
 * Signs `data`, prehashed. `comment` becomes the trusted comment and must be
 * what minisign_verify accepts. `ret_text` receives the signature file's
 * text, terminated, which the caller frees, and `ret_size` its length.
 * Statuses: USAGE (the comment), MEMORY.
 */
SOTTO_CHECKED enum sotto_status minisign_sign(const uint8_t *data, size_t size,
                                              const struct key_secret *key,
                                              const char *comment,
                                              char **ret_text, size_t *ret_size,
                                              struct sotto_error *err);

/*
 * Verifies that the signature is of `data`, by the key, and that the trusted
 * comment is the signer's too. A caller that has read a file verifies the
 * very bytes it goes on to use, so the file cannot change in between.
 * `ret_comment`, if not NULL, receives the trusted comment, which the caller
 * frees: printable UTF-8 and tabs, safe to show. Legacy signatures, not
 * prehashed, are refused. Error positions count in the signature, or in the
 * public key if the status is FORMAT. Statuses: FORMAT (the public key),
 * SIGNATURE, ENTROPY, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
minisign_verify(const uint8_t *data, size_t size, const char *signature_text,
                size_t signature_size, const char *pub_text, size_t pub_size,
                char **ret_comment, struct sotto_error *err);

/* The same two on a file's bytes at hand, with the keys and PATH.minisig in
   files: what sotto_sign_file and sotto_verify_file do once they have read
   PATH, which is not opened again. */
SOTTO_CHECKED enum sotto_status
minisign_sign_bytes(const char *path, const uint8_t *data, size_t size,
                    const char *secret_path, const char *password,
                    struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
minisign_verify_bytes(const char *path, const uint8_t *data, size_t size,
                      const char *pub_path, char **ret_comment,
                      struct sotto_error *err);

#endif
