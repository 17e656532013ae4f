/*
 * fuzz_minisign.c: the readers of signatures, public keys and secret keys.
 *
 *     0           2           4
 *     | s, LE16   | p, LE16   | signature: s | public key: p | data: rest |
 *
 * Sizes are cut to what there is. The signature's text is read as a secret
 * key as well; with no password, so that scrypt is never run.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mechanism/key.h"
#include "mechanism/minisign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(int truth)
{
    if (!truth) {
        abort();
    }
}

/* Takes `want` bytes, or as many as there are, as memory of its own. */
static char *
take(const uint8_t **at, size_t *left, size_t want, size_t *ret_size)
{
    size_t size = want < *left ? want : *left;
    char *part = malloc(size > 0 ? size : 1);
    require(part != NULL);
    memcpy(part, *at, size);
    *at += size;
    *left -= size;
    *ret_size = size;
    return part;
}

static size_t
size16(const uint8_t *from)
{
    return (size_t)from[0] | (size_t)from[1] << 8;
}

/* What is accepted has a comment that is safe to show; what is not is said. */
static void
check_verify(const uint8_t *data, size_t size, const char *signature,
             size_t signature_size, const char *pub, size_t pub_size)
{
    struct sotto_error err = {.status = SOTTO_STATUS_OK};
    char *comment = NULL;
    enum sotto_status status = minisign_verify(
        data, size, signature, signature_size, pub, pub_size, &comment, &err);
    require((status == SOTTO_STATUS_OK) == (comment != NULL));
    require(err.status == status);
    require(err.position <= signature_size || err.position <= pub_size);
    for (const char *c = comment; c != NULL && *c != '\0'; c++) {
        require(*c == '\t' || (unsigned char)*c >= 0x20);
    }
    free(comment);
}

static void
check_secret(const char *text, size_t size)
{
    struct sotto_error err = {.status = SOTTO_STATUS_OK};
    struct key_secret *key = NULL;
    enum sotto_status status = key_secret_parse(text, size, NULL, &key, &err);
    require((status == SOTTO_STATUS_OK) == (key != NULL));
    require(err.status == status);
    key_secret_free(key);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t signature_size, pub_size;
    if (size < 4) {
        return 0;
    }
    const uint8_t *at = data + 4;
    size_t left = size - 4;
    char *signature = take(&at, &left, size16(data), &signature_size);
    char *pub = take(&at, &left, size16(data + 2), &pub_size);
    check_verify(at, left, signature, signature_size, pub, pub_size);
    check_secret(signature, signature_size);
    free(signature);
    free(pub);
    return 0;
}
