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
#include <stdbool.h>
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
    uint32_t number;    /* the store's */
    atomic_bool closed; /* forgotten in the store: nothing is taken */
    /* What NAME.plan foretold, for who looks; NULL: there is none. */
    struct sotto_results_accuracy *accuracy;
    size_t accuracies;
    /* As the store counted last, for metrics. */
    atomic_uint_fast64_t waiting, released, batches;
    atomic_uint_fast64_t held; /* waiting, of windows that have ended */
};

/* A name that was served before, by this snapshot's forerunners. */
struct campaigns_past {
    char name[CAMPAIGNS_NAME_MOST + 1];
    uint8_t hash[SOTTO_HASH_SIZE];
};

struct campaigns {
    atomic_size_t holders;
    size_t count;
    struct campaign *campaign; /* by name */
    size_t pasts;
    struct campaigns_past *past; /* those that go on may be among them */
};

/*
 * Reads `path`, NAME.sotto or a folder of such files; each must have NAME.sotto
 * .minisig beside it, by the key at `pub`. NAME.plan is what sotto plan --json
 * printed, if it is there. The caller holds the snapshot.
 * Statuses: IO, SIGNATURE, REFUSED, FORMAT (the key), INPUT (none, two of the
 * same, a bad name), LIMIT, MEMORY, ENTROPY.
 */
SOTTO_CHECKED enum sotto_status campaigns_read(const char *path,
                                               const char *pub,
                                               struct campaigns **ret_campaigns,
                                               struct sotto_error *err);
/* The same from an opened mechanism, which is taken over also on failure, and
   any signature: where there are no files. Statuses: REFUSED (it is for the
   label only), MEMORY. */
SOTTO_CHECKED enum sotto_status
campaigns_from(const char *name, struct sotto_mechanism *mechanism,
               const char *signature, struct campaigns **ret_campaigns,
               struct sotto_error *err);
/*
 * Makes `next` follow `now`: a name keeps its mechanism, also one that ended
 * some readings ago, for a device that fetches it twice must get the same. It
 * is remembered in memory alone: not from one start to the next. Statuses:
 * REFUSED, MEMORY.
 */
SOTTO_CHECKED enum sotto_status campaigns_follow(const struct campaigns *now,
                                                 struct campaigns *next,
                                                 struct sotto_error *err);

struct campaigns *campaigns_hold(struct campaigns *campaigns);
/* The last holder frees. NULL is fine. */
void campaigns_release(struct campaigns *campaigns);

/* NULL: there is none of that name. */
struct campaign *campaigns_find(const struct campaigns *campaigns,
                                const char *name, size_t size);
/* The hash of the mechanism that has, or had, that name; NULL: there is none,
   and was none. */
const uint8_t *campaigns_find_hash(const struct campaigns *campaigns,
                                   const char *name, size_t size);

#endif
