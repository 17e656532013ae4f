/*
 * backoff.h: how long to wait before a request is sent again.
 */
#ifndef SOTTO_SENDER_BACKOFF_H
#define SOTTO_SENDER_BACKOFF_H

#include <stdint.h>
#include <time.h>

#include "sotto/sotto.h"

#define BACKOFF_MOST_MS ((uint64_t)60000) /* of a wait that we choose */
#define BACKOFF_ASKED_MOST 3600           /* seconds that a collector may ask */

/*
 * Seconds that the value of a Retry-After asks for: digits, or a date, seen
 * from `now`; one that has passed is 0. -1: it is neither. At most INT32_MAX.
 */
int64_t backoff_asked(const char *value, time_t now);

/* Uniform in 0 to `most`, from the system's entropy. Statuses: ENTROPY. */
SOTTO_CHECKED enum sotto_status backoff_draw(uint64_t most, uint64_t *ret_drawn,
                                             struct sotto_error *err);

/* The most that is waited before try number `next`, 1 for the second one:
   `first`, doubled each time, up to BACKOFF_MOST_MS. */
uint64_t backoff_most(uint64_t first, unsigned next);

/*
 * Seconds that are set aside to make `reports`, of `work` multiply-adds each,
 * and keep them: what a device eight times as slow as a small server needs. A
 * public function of public facts, so that a time of sending that allows for it
 * does not depend on a record (invariant 7).
 */
double backoff_allowance(uint64_t work, uint64_t reports);

/*
 * When the encoder works for whom, of `reports` (at least one), within `aside`
 * seconds from `asked` on, which are at least what backoff_allowance says:
 * everybody gets what that counts for the encoder, and all together a quarter
 * of what is left, but nobody more than four times that: the ledger is locked
 * for so long. The rest of it is for a disk that is slower than that. The same
 * public function of public facts.
 */
struct sotto_schedule backoff_schedule(double asked, double aside,
                                       uint64_t work, uint64_t reports);

/* The smallest grid, in seconds, of which one record takes a quarter at most,
   by the same account. */
uint64_t backoff_least_grid(uint64_t work);

/* `due`, or if that is before `now`, the first of `due` + `grid`, `due` + 2
   `grid`, ... that is not; `grid` 0: `now`. All in seconds. */
double backoff_align(double due, unsigned grid, double now);

/* Waits so many milliseconds, telling the watch of `what`, in seconds.
   Statuses: STOPPED. */
SOTTO_CHECKED enum sotto_status backoff_wait(uint64_t ms, const char *what,
                                             const struct sotto_watch *watch,
                                             struct sotto_error *err);

#endif
