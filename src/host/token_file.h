/*
 * token_file.h: a secret word that a service and those who may use it both
 * have in a file.
 */
#ifndef SOTTO_HOST_TOKEN_FILE_H
#define SOTTO_HOST_TOKEN_FILE_H

#include <stddef.h>

#include "sotto/sotto.h"

#define TOKEN_FILE_LEAST 16u    /* bytes of a token */
#define TOKEN_FILE_DIFFERENT 8u /* of them */

/*
 * The first line of a file, of `ret_size` characters from ! to ~ and a NUL;
 * host_wipe_free of one more than `ret_size` wipes and frees it. Statuses: IO,
 * LIMIT, INPUT (too short, too few different ones, or others), REFUSED (others
 * than its owner may read or write it; that of root may be a group's to read),
 * MEMORY.
 */
SOTTO_CHECKED enum sotto_status token_file_read(const char *path,
                                                char **ret_token,
                                                size_t *ret_size,
                                                struct sotto_error *err);

/* Whether a file with a secret is one for its owner alone, as above; one that
   is not there, or no plain file, is for who reads it to find. Statuses:
   REFUSED. */
SOTTO_CHECKED enum sotto_status token_file_check(const char *path,
                                                 struct sotto_error *err);

#endif
