/*
 * token_file.c: a secret word in a file.
 */
#include "host/token_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/error.h"
#include "host/file.h"
#include "host/wipe.h"

#define FILE_MOST ((size_t)4096)

/* A file that somebody else may write has their token in it, and one that they
   may read is no secret. root may let a group read: so systemd hands a service
   what it keeps for it. What is no plain file, a pipe, say, has no reader but
   us. */
enum sotto_status
token_file_check(const char *path, struct sotto_error *err)
{
    struct stat found;
    mode_t wrong;
    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return SOTTO_STATUS_OK; /* reading it says what is the matter */
    }
    wrong = found.st_mode & (S_IRWXG | S_IRWXO);
    if (found.st_uid == 0) {
        wrong &= ~(mode_t)S_IRGRP;
    }
    return wrong == 0
               ? SOTTO_STATUS_OK
               : host_about(
                     host_fail(err, SOTTO_STATUS_REFUSED, 0,
                               "'%s' is open to others than its owner (mode "
                               "%04o): say `chmod 600` of it, and take a "
                               "new one if they may have read it",
                               host_shown(path),
                               (unsigned)found.st_mode & 07777u),
                     err, SOTTO_ABOUT_FILE, path);
}

/* Whether it is not the same few characters over and over. */
static bool
is_varied(const uint8_t *token, size_t size)
{
    bool seen[256] = {false};
    unsigned count = 0;
    for (size_t i = 0; i < size; i++) {
        count += seen[token[i]] ? 0 : 1;
        seen[token[i]] = true;
    }
    explicit_bzero(seen, sizeof seen);
    return count >= TOKEN_FILE_DIFFERENT;
}

enum sotto_status
token_file_read(const char *path, char **ret_token, size_t *ret_size,
                struct sotto_error *err)
{
    uint8_t *text = NULL;
    size_t size = 0, length = 0;
    enum sotto_status status = token_file_check(path, err);
    status =
        HOST_THEN(status, host_file_read(path, FILE_MOST, &text, &size, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    while (length < size && text[length] > ' ' && text[length] <= '~') {
        length++;
    }
    char *token = malloc(length + 1);
    if (length < TOKEN_FILE_LEAST || !is_varied(text, length) ||
        (length < size && text[length] != '\n' && text[length] != '\r')) {
        status =
            host_fail(err, SOTTO_STATUS_INPUT, 0,
                      "'%s' holds no token: its first line must have %u "
                      "letters, digits or signs or more, %u of them "
                      "different, without blanks; `openssl rand -hex 32` "
                      "makes a good one",
                      host_shown(path), TOKEN_FILE_LEAST, TOKEN_FILE_DIFFERENT);
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
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}
