/*
 * store_disk.h: how much room a store takes, and how much is left for it, as
 * the file system says: nothing is opened.
 */
#ifndef SOTTO_STORE_STORE_DISK_H
#define SOTTO_STORE_STORE_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct store_disk {
    uint64_t bytes; /* of its files that are there */
    uint64_t left;  /* that the file system would give it */
};

/* False: the store is no file of this machine, or cannot be looked at. */
bool store_disk_look(const char *url, struct store_disk *ret_disk);
/* Whether a store of this machine is not there yet; and if so, whether its
   folder is one where it could be made. */
bool store_disk_missing(const char *url);
bool store_disk_makeable(const char *url);

#endif
