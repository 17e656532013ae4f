/*
 * token.c: the analyst's token, and the monitor's.
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

/* `other`: one that it must not be the same as. */
static enum sotto_status
read_token(struct token *token, const char *path, const struct token *other,
           struct sotto_error *err)
{
    uint8_t same[TOKEN_HASH_SIZE];
    char *text = NULL;
    size_t size = 0;
    enum sotto_status status;
    if (path == NULL) {
        return SOTTO_STATUS_OK;
    }
    if (sotto_entropy(token->key, sizeof token->key) != 0) {
        return host_fail(err, SOTTO_STATUS_ENTROPY, 0, "%s",
                         sotto_status_message(SOTTO_STATUS_ENTROPY));
    }
    status = token_file_read(path, &text, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    hash_token(token, text, size, token->hash);
    hash_token(other, text, size, same);
    token->set = true;
    host_wipe_free(text, size + 1);
    return !other->set || sodium_memcmp(same, other->hash, sizeof same) != 0
               ? SOTTO_STATUS_OK
               : host_about(host_fail(err, SOTTO_STATUS_INPUT, 0,
                                      "'%s' holds the token for reports: give "
                                      "metrics one of their own",
                                      host_shown(path)),
                            err, SOTTO_ABOUT_FILE, path);
}

enum sotto_status
tokens_read(const char *reports, const char *metrics, struct tokens *ret_tokens,
            struct sotto_error *err)
{
    struct tokens tokens;
    enum sotto_status status;
    memset(&tokens, 0, sizeof tokens);
    status = read_token(&tokens.reports, reports, &tokens.metrics, err);
    status = HOST_THEN(
        status, read_token(&tokens.metrics, metrics, &tokens.reports, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_tokens = tokens;
    }
    sodium_memzero(&tokens, sizeof tokens);
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
