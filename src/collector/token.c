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
