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
