/*
 * token.h: the analyst's token, and the monitor's. Only a keyed hash of it
 * stays in memory, and hashes are compared in constant time: the time of an
 * answer says nothing of how much of a guess was right.
 */
#ifndef SOTTO_COLLECTOR_TOKEN_H
#define SOTTO_COLLECTOR_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define TOKEN_HASH_SIZE 32u

struct token {
    bool set;
    uint8_t key[TOKEN_HASH_SIZE], hash[TOKEN_HASH_SIZE];
};

/* Those who may read reports, and those who may read metrics alone. */
struct tokens {
    struct token reports, metrics;
};

/*
 * Reads them from files; a path that is NULL: there is no such token, and that
 * for reports opens the metrics, too, where it is alone. Statuses:
 * token_file_read's; INPUT (they are the same); ENTROPY.
 */
SOTTO_CHECKED enum sotto_status tokens_read(const char *reports,
                                            const char *metrics,
                                            struct tokens *ret_tokens,
                                            struct sotto_error *err);

/* Whether an Authorization header, which may be NULL, is "Bearer TOKEN". */
bool token_right(const struct token *token, const char *authorization);
/* Whether it is "Basic", as browsers ask a person for, with the token as the
   password, whatever the name. */
bool token_right_basic(const struct token *token, const char *authorization);

#endif
