/*
 * fetch.h: fetching a file from the network.
 *
 * npm is run by name with a list of arguments, never through a shell; what it
 * says is kept for the message if it fails.
 */
#ifndef SOTTO_DATA_FETCH_H
#define SOTTO_DATA_FETCH_H

#include <stdbool.h>

#include "sotto/sotto.h"

/* Whether the text is an http or https address. */
bool fetch_is_address(const char *text);

/*
 * Fetches a package of npm (NAME@VERSION) through `npm pack`, which has ended
 * when this returns, or what is at an address, into `folder`, which is there
 * and empty. `ret_path` is the file, the caller's to free. `watch` (NULL is
 * fine) is told the bytes that are there. Statuses: IO (no such program, or the
 * fetching failed: why), LIMIT (more than SOURCE_BYTES_MAX, or `most`),
 * STOPPED, MEMORY.
 */
SOTTO_CHECKED enum sotto_status fetch_package(const char *package,
                                              const char *folder,
                                              const struct sotto_watch *watch,
                                              char **ret_path,
                                              struct sotto_error *err);
SOTTO_CHECKED enum sotto_status fetch_address(const char *address,
                                              const char *folder, size_t most,
                                              const struct sotto_watch *watch,
                                              char **ret_path,
                                              struct sotto_error *err);

#endif
