/*
 * campaigns.h: the signed mechanisms that a collector takes reports of.
 *
 * One reading of a file or a folder gives one snapshot, which never changes;
 * whoever answers a request holds it meanwhile. Reading again makes another
 * one, whole or not at all. What is served is what was verified: the bytes in
 * memory, the same for everybody.
 */
#ifndef SOTTO_COLLECTOR_CAMPAIGNS_H
#define SOTTO_COLLECTOR_CAMPAIGNS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "mechanism/mechanism.h"
#include "sotto/sotto.h"

#define CAMPAIGNS_MOST ((size_t)256)
#define CAMPAIGNS_NAME_MOST ((size_t)100) /* letters */

struct campaign {
    char *name;
    struct sotto_mechanism *mechanism;
    uint8_t *signature; /* the text of the .minisig file */
    size_t signature_size;
    uint32_t number; /* the store's */
    /* As the store counted last, for metrics. */
    atomic_uint_fast64_t waiting, released, batches;
};

struct campaigns {
    atomic_size_t holders;
    size_t count;
    struct campaign *campaign; /* by name */
};

/* Whether a text can name a campaign: 1 to CAMPAIGNS_NAME_MOST letters, digits,
   - and _. */
bool campaigns_name_good(const char *name, size_t size);

/*
 * Reads `path`, NAME.sotto or a folder of such files; each must have NAME.sotto
 * .minisig beside it, by the key at `pub`. The caller holds the snapshot.
 * Statuses: IO, SIGNATURE, REFUSED, FORMAT (the key), INPUT (none, two of the
 * same, a bad name), LIMIT, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status campaigns_read(const char *path,
                                               const char *pub,
                                               struct campaigns **ret_campaigns,
                                               struct sotto_error *err);
/* The same from an opened mechanism, which is taken over also on failure, and
   any signature: where there are no files. Statuses: MEMORY. */
SOTTO_CHECKED enum sotto_status
campaigns_from(const char *name, struct sotto_mechanism *mechanism,
               const char *signature, struct campaigns **ret_campaigns,
               struct sotto_error *err);
/*
 * That `next` can follow `now`: a name keeps its mechanism, for a device that
 * fetches it twice must get the same. Statuses: REFUSED.
 */
SOTTO_CHECKED enum sotto_status
campaigns_check_next(const struct campaigns *now, const struct campaigns *next,
                     struct sotto_error *err);

struct campaigns *campaigns_hold(struct campaigns *campaigns);
/* The last holder frees. NULL is fine. */
void campaigns_release(struct campaigns *campaigns);

/* NULL: there is none of that name. */
struct campaign *campaigns_find(const struct campaigns *campaigns,
                                const char *name, size_t size);

#endif
