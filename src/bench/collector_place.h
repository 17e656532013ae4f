/*
 * collector_place.h: a folder on disk with what a collector needs: a small
 * mechanism, signed with a key made for it, and simulated reports of it.
 */
#ifndef SOTTO_BENCH_COLLECTOR_PLACE_H
#define SOTTO_BENCH_COLLECTOR_PLACE_H

#include "sotto/sotto.h"

#define COLLECTOR_PLACE_CAMPAIGN "bench"
#define COLLECTOR_PLACE_KINDS ((size_t)256) /* of reports */

struct collector_place {
    char *folder;
    char *mechanism, *pub; /* paths */
    uint8_t *reports;      /* COLLECTOR_PLACE_KINDS, one behind the other */
    size_t report_size;
    uint8_t hash[SOTTO_HASH_SIZE];
};

/*
 * Makes the folder in `parent`, or where NULL in $TMPDIR, or else in /var/tmp,
 * which is a disk where /tmp may be memory. On failure, too, it is to be
 * cleared. Statuses: IO, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status
collector_place_init(struct collector_place *place, const char *parent,
                     struct sotto_error *err);
/* Removes the folder with all that is in it. */
void collector_place_clear(struct collector_place *place);

/* sqlite:FOLDER/NAME; the caller frees it. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
collector_place_store(const struct collector_place *place, const char *name,
                      char **ret_url, struct sotto_error *err);

#endif
