/*
 * peer.h: what others do in the same time: an embedded Python script, run as a
 * child of this program.
 */
#ifndef SOTTO_BENCH_PEER_H
#define SOTTO_BENCH_PEER_H

#include <stdbool.h>

#include "sotto/sotto.h"

#define PEER_PYTHON "/usr/bin/python3"
#define PEER_ARGS_MAX 24u

/* Debian's package that the peer needs, if it is not there: "python3",
   "python3-torch"; NULL: nothing is missing. */
const char *peer_missing(void);

struct peer_result {
    double seconds; /* as the script measured them */
    double value;   /* what it came to */
    double memory;  /* bytes, at its most */
};

/*
 * Runs the script with these arguments (a list that ends with NULL) and this
 * many threads; it prints one JSON object with "seconds" and "value". Statuses:
 * IO (it did not run to its end), MEMORY, USAGE (too many arguments).
 */
SOTTO_CHECKED enum sotto_status
peer_run(const char *script, const char *const *args, unsigned threads,
         struct peer_result *ret_result, struct sotto_error *err);

/* Bytes a second that all threads of a pool read together from memory that no
   cache holds; 0: no memory for it. */
struct host_pool;
double peer_bandwidth(struct host_pool *pool);

/* The most memory that this process had, in bytes; 0 if the system does not
   say. */
double peer_own_memory(void);

#endif
