/*
 * head_bytes.h: whether the bytes of a request's head can be read in one way
 * only. The server forgives much; something in front of it may forgive other
 * things, and then the two would not agree where a request ends and what it
 * asks.
 */
#ifndef SOTTO_COLLECTOR_HEAD_BYTES_H
#define SOTTO_COLLECTOR_HEAD_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes of a request's target, as they came, are letters, digits
   and signs alone. */
bool head_bytes_target(const char *target);

/*
 * Looks at a head of `size` bytes as the server has it after taking it apart,
 * with a NUL for each blank of the first line, each colon behind a name, each
 * CR and each LF that ended a line:
 *
 *     METHOD 0 target 0 VERSION 0 0  (NAME 0 value 0 0)...  0 0
 *
 * `version` is where VERSION begins, and `target_size` how long the target was.
 * True: every line ends with CR LF, and none goes on in the next; names are
 * tokens; there is no control character and no other NUL; what decides where
 * the request ends and what it asks is there once at most, under its own name;
 * a length is a plain number, a coding is "chunked", and not both are there.
 */
bool head_bytes_plain(const char *head, size_t size, size_t version,
                      size_t target_size);

#endif
