/*
 * fetch.h: fetching a file from the network through programs made for it.
 *
 * A program is run by name with a list of arguments, never through a shell;
 * what it says is kept for the message if it fails.
 */
#ifndef SOTTO_DATA_FETCH_H
#define SOTTO_DATA_FETCH_H

#include <stdbool.h>

#include "sotto/sotto.h"

/* Whether the text is an http or https address. */
bool fetch_is_address(const char *text);

/*
 * Fetches a package of npm (NAME@VERSION) through `npm pack`, or what is at an
 * address through `curl`, into `folder`, which is there and empty. `ret_path`
 * is the file, the caller's to free. `watch` (NULL is fine) is told the bytes
 * that are there. The program has ended when this returns. Statuses: IO (no
 * such program, or it failed: what it said), LIMIT (more than
 * SOURCE_BYTES_MAX), STOPPED, MEMORY.
 */
SOTTO_CHECKED enum sotto_status fetch_package(const char *package,
                                              const char *folder,
                                              const struct sotto_watch *watch,
                                              char **ret_path,
                                              struct sotto_error *err);
SOTTO_CHECKED enum sotto_status fetch_address(const char *address,
                                              const char *folder,
                                              const struct sotto_watch *watch,
                                              char **ret_path,
                                              struct sotto_error *err);

#endif
