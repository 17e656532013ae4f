/*
 * ledger_secret.c: PATH.secret, and how names of people become hashes.
 *
 *     person = BLAKE2b-256(key = secret, personal = "sotto.person", name)
 *     check  = BLAKE2b-256(key = secret, personal = "sotto.check",  nothing)
 *     name   = BLAKE2b-256(key = secret, personal = "sotto.name",   NFC)
 *     mark   = BLAKE2b-256(key = secret, personal = "sotto.mark",   8 bytes)
 *
 * Without the secret nobody can tell from the ledger whether a name is in it,
 * not even by trying all names. Neither the secret nor a name stays in memory
 * that is given back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/file.h"
#include "host/wipe.h"
#include "store/ledger.h"

#define SUFFIX ".secret"
#define PERSONAL_PERSON "sotto.person\0\0\0\0"
#define PERSONAL_CHECK "sotto.check\0\0\0\0\0"
#define PERSONAL_NAME "sotto.name\0\0\0\0\0\0"
#define PERSONAL_MARK "sotto.mark\0\0\0\0\0\0"

_Static_assert(sizeof PERSONAL_PERSON ==
                   crypto_generichash_blake2b_PERSONALBYTES + 1,
               "as many bytes as BLAKE2b takes");
_Static_assert(sizeof PERSONAL_CHECK ==
                   crypto_generichash_blake2b_PERSONALBYTES + 1,
               "as many bytes as BLAKE2b takes");

_Static_assert(sizeof PERSONAL_MARK ==
                       crypto_generichash_blake2b_PERSONALBYTES + 1 &&
                   sizeof PERSONAL_NAME == sizeof PERSONAL_MARK,
               "as many bytes as BLAKE2b takes");

/* PATH.secret, which the caller frees; NULL: no memory. */
static char *
secret_path(const char *path)
{
    size_t size = strlen(path) + sizeof SUFFIX;
    char *text = malloc(size);
    if (text != NULL) {
        (void)snprintf(text, size, "%s" SUFFIX, path);
    }
    return text;
}

enum sotto_status
ledger_secret_create(const char *path, uint8_t ret_secret[LEDGER_SECRET_SIZE],
                     struct sotto_error *err)
{
    uint8_t secret[LEDGER_SECRET_SIZE] = {0};
    enum sotto_status status = SOTTO_STATUS_OK;
    char *name = secret_path(path);
    if (name == NULL) {
        status = host_fail_memory(err);
    } else if (sotto_entropy(secret, sizeof secret) != 0) {
        status = host_fail(err, SOTTO_STATUS_ENTROPY, 0,
                           "the system gave no entropy; no ledger was made");
    } else {
        status = host_file_write(name, 0600, true, secret, sizeof secret, err);
    }
    if (status == SOTTO_STATUS_OK) {
        memcpy(ret_secret, secret, sizeof secret);
    }
    sodium_memzero(secret, sizeof secret);
    free(name);
    return status;
}

void
ledger_secret_remove(const char *path)
{
    char *name = secret_path(path);
    if (name != NULL) {
        (void)unlink(name);
    }
    free(name);
}

/* Why a ledger cannot do without its own secret, and what to do. */
static enum sotto_status
fail_secret(const char *path, const char *what, struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_FORMAT, 0,
                     "'%s" SUFFIX "' %s: the ledger knows nobody without its "
                     "own secret, and with another everybody could be asked "
                     "again; put the file made with the ledger back",
                     host_shown(path), what);
}

enum sotto_status
ledger_secret_read(const char *path, uint8_t ret_secret[LEDGER_SECRET_SIZE],
                   struct sotto_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0;
    char *name = secret_path(path);
    if (name == NULL) {
        return host_fail_memory(err);
    }
    enum sotto_status status = SOTTO_STATUS_OK;
    if (access(name, F_OK) != 0) {
        status = fail_secret(path, "is not there", err);
    } else {
        status = host_file_read(name, LEDGER_SECRET_SIZE, &data, &size, err);
    }
    if (status == SOTTO_STATUS_LIMIT ||
        (status == SOTTO_STATUS_OK && size != LEDGER_SECRET_SIZE)) {
        status = fail_secret(path, "is no secret of a ledger", err);
    }
    if (status == SOTTO_STATUS_OK && data != NULL) {
        memcpy(ret_secret, data, size);
    }
    host_wipe_free(data, size);
    free(name);
    return status;
}

static void
hash_secret(const uint8_t *secret, const char *personal, const void *data,
            size_t size, uint8_t *ret_hash, size_t hash_size)
{
    crypto_generichash_blake2b_state state;
    (void)crypto_generichash_blake2b_init_salt_personal(
        &state, secret, LEDGER_SECRET_SIZE, hash_size, NULL,
        (const unsigned char *)personal);
    (void)crypto_generichash_blake2b_update(&state, data, size);
    (void)crypto_generichash_blake2b_final(&state, ret_hash, hash_size);
    sodium_memzero(&state, sizeof state);
}

void
ledger_secret_person(const uint8_t secret[LEDGER_SECRET_SIZE], const void *name,
                     size_t size, uint8_t ret_person[LEDGER_PERSON_SIZE])
{
    hash_secret(secret, PERSONAL_PERSON, name, size, ret_person,
                LEDGER_PERSON_SIZE);
}

void
ledger_secret_check(const uint8_t secret[LEDGER_SECRET_SIZE],
                    uint8_t ret_check[LEDGER_CHECK_SIZE])
{
    hash_secret(secret, PERSONAL_CHECK, "", 0, ret_check, LEDGER_CHECK_SIZE);
}

void
ledger_secret_name(const uint8_t secret[LEDGER_SECRET_SIZE], const void *name,
                   size_t size, uint8_t ret_name[LEDGER_PERSON_SIZE])
{
    hash_secret(secret, PERSONAL_NAME, name, size, ret_name,
                LEDGER_PERSON_SIZE);
}

void
ledger_secret_mark(const uint8_t secret[LEDGER_SECRET_SIZE], uint64_t mark,
                   uint8_t ret_check[LEDGER_CHECK_SIZE])
{
    uint8_t bytes[sizeof mark];
    bytes_store(bytes, sizeof bytes, mark);
    hash_secret(secret, PERSONAL_MARK, bytes, sizeof bytes, ret_check,
                LEDGER_CHECK_SIZE);
}
