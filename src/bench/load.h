/*
 * load.h: as many reports as a collector takes, over many connections at once:
 * for measuring, on this machine alone.
 *
 *     connection --request, its ids new--> collector
 *                <---- 200, all counted ---
 *
 * One thread and epoll. A connection has its request ready and changes only the
 * ids in it, so that generating costs little beside answering. Each has one
 * request on its way at a time, as a device has.
 */
#ifndef SOTTO_BENCH_LOAD_H
#define SOTTO_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/sotto.h"

#define LOAD_TIMES 1152u /* intervals of times, each 3% of its beginning */

struct load_options {
    unsigned port; /* of 127.0.0.1 */
    const char *campaign;
    const uint8_t *reports; /* `kinds` of them, which are sent in turns with */
    size_t kinds;           /* other ids */
    size_t report_size;
    size_t batch; /* reports of a request */
    size_t connections;
    uint64_t most;  /* reports; no request begins beyond them; 0: no limit */
    double seconds; /* nor after so long; 0: no limit */
};

/* What runs came to; {0} before the first. */
struct load_tally {
    uint64_t reports; /* on the collector's disk, by its word */
    uint64_t requests;
    uint64_t later;       /* answers 503: sent again, the same bytes */
    double seconds;       /* from the first request to the last answer */
    size_t requests_held; /* bytes of memory that requests take, of a run */
    uint64_t time[LOAD_TIMES]; /* requests by the time they took */
};

/*
 * Sends until it is enough, and adds to the tally. Every answer must be 200 and
 * count all reports of its request as accepted (or as duplicates, if they were
 * sent again), or 503. Statuses: IO (no connection; nothing comes for a
 * minute), CHECK (another answer), USAGE (nothing to send, no end), MEMORY,
 * ENTROPY.
 */
SOTTO_CHECKED enum sotto_status load_run(const struct load_options *options,
                                         struct load_tally *tally,
                                         struct sotto_error *err);

/* Seconds within which that share (0 to 1) of the requests was answered, at
   most 3% too many. */
double load_quantile(const struct load_tally *tally, double share);

/* ---- Ids ----------------------------------------------------------------- */

/* Ids that were never there: random bytes of a run, and numbers, scattered. */
struct load_ids {
    uint8_t run[8];
    uint64_t count; /* so far */
};
/* Statuses: ENTROPY. */
SOTTO_CHECKED enum sotto_status load_ids_init(struct load_ids *ids,
                                              struct sotto_error *err);
/* Writes new ids into reports that lie one behind the other. */
void load_number(uint8_t *reports, size_t report_size, size_t count,
                 struct load_ids *ids);

/* ---- For load.c and its tests -------------------------------------------- */

enum load_progress { LOAD_PART, LOAD_WHOLE, LOAD_WRONG };

struct load_answer {
    unsigned status;
    size_t body, size; /* the body's first byte, and its bytes */
};

/* Reads the head of an answer: HTTP/1.1 with a Content-Length, nothing in
   chunks and nothing behind the body. `ret_answer` is filled if it is whole. */
enum load_progress load_parse(const char *data, size_t size,
                              struct load_answer *ret_answer);

#endif
