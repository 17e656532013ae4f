/*
 * token_file.c: a secret word in a file.
 */
#include "host/token_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/wipe.h"

#define FILE_MOST ((size_t)4096)

enum sotto_status
token_file_read(const char *path, char **ret_token, size_t *ret_size,
                struct sotto_error *err)
{
    uint8_t *text = NULL;
    size_t size = 0, length = 0;
    enum sotto_status status =
        host_file_read(path, FILE_MOST, &text, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    while (length < size && text[length] > ' ' && text[length] <= '~') {
        length++;
    }
    char *token = malloc(length + 1);
    if (length < TOKEN_FILE_LEAST ||
        (length < size && text[length] != '\n' && text[length] != '\r')) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "'%s' holds no token: its first line must have %u "
                           "letters, digits or signs or more, without blanks; "
                           "`openssl rand -hex 32` makes a good one",
                           host_shown(path), TOKEN_FILE_LEAST);
    } else if (token == NULL) {
        status = host_fail_memory(err);
    } else {
        memcpy(token, text, length);
        token[length] = '\0';
        *ret_token = token;
        *ret_size = length;
        token = NULL;
    }
    free(token);
    host_wipe_free(text, size);
    return status;
}
