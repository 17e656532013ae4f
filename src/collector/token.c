/*
 * token.c: the analyst's token.
 */
#include "collector/token.h"

#include <string.h>
#include <strings.h>

#include <sodium.h>

#include "host/error.h"
#include "host/token_file.h"
#include "host/wipe.h"

#define SCHEME "Bearer "
#define SCHEME_SIZE (sizeof SCHEME - 1)
#define BASIC "Basic "
#define BASIC_SIZE (sizeof BASIC - 1)
#define BASIC_MOST 4096u /* bytes of a name and a password */

static void
hash_token(const struct token *token, const void *text, size_t size,
           uint8_t ret_hash[TOKEN_HASH_SIZE])
{
    (void)crypto_generichash(ret_hash, TOKEN_HASH_SIZE, text, size, token->key,
                             sizeof token->key);
}

enum sotto_status
token_read(struct token *token, const char *path, struct sotto_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum sotto_status status;
    memset(token, 0, sizeof *token);
    if (path == NULL) {
        return SOTTO_STATUS_OK;
    }
    if (sotto_entropy(token->key, sizeof token->key) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0, "%s",
                         sotto_status_message(SOTTO_STATUS_ENTROPY));
    }
    status = token_file_read(path, &text, &size, err);
    if (status == SOTTO_STATUS_OK) {
        hash_token(token, text, size, token->hash);
        token->set = true;
        host_wipe_free(text, size + 1);
    }
    return status;
}

bool
token_right(const struct token *token, const char *authorization)
{
    uint8_t given[TOKEN_HASH_SIZE];
    if (!token->set || authorization == NULL ||
        strncasecmp(authorization, SCHEME, SCHEME_SIZE) != 0) {
        return false;
    }
    hash_token(token, authorization + SCHEME_SIZE,
               strlen(authorization + SCHEME_SIZE), given);
    return sodium_memcmp(given, token->hash, sizeof given) == 0;
}

/* NAME:TOKEN in base64; a name has no colon. */
bool
token_right_basic(const struct token *token, const char *authorization)
{
    uint8_t plain[BASIC_MOST], given[TOKEN_HASH_SIZE];
    const uint8_t *colon;
    const char *end = NULL;
    size_t size = 0;
    bool right = false;
    if (!token->set || authorization == NULL ||
        strncasecmp(authorization, BASIC, BASIC_SIZE) != 0) {
        return false;
    }
    const char *text = authorization + BASIC_SIZE;
    if (sodium_base642bin(plain, sizeof plain, text, strlen(text), NULL, &size,
                          &end, sodium_base64_VARIANT_ORIGINAL) == 0 &&
        *end == '\0') {
        colon = memchr(plain, ':', size);
        if (colon != NULL) {
            hash_token(token, colon + 1, size - (size_t)(colon + 1 - plain),
                       given);
            right = sodium_memcmp(given, token->hash, sizeof given) == 0;
        }
    }
    sodium_memzero(plain, sizeof plain);
    return right;
}
