/*
 * peer.h: what others do in the same time: a Python script, data/peer-*.py,
 * which the program carries with it and runs as a child.
 *
 *     program --a line, if it asks--> script's input
 *             <--one JSON object a line-- answer(seconds, value)
 *
 * Every script begins with what peer.c puts before it: a function answer, which
 * prints the two and the most memory the process had.
 */
#ifndef SOTTO_BENCH_PEER_H
#define SOTTO_BENCH_PEER_H

#include <stdbool.h>

#include "sotto/sotto.h"

#define PEER_PYTHON "/usr/bin/python3" /* Debian's, as its packages want */
#define PEER_ARGS_MAX 24u

/* Debian's package that the peer needs, if it is not there: "python3", or that
   of the module, "torch" or "numpy"; NULL: nothing is missing. The interpreter:
   PEER_PYTHON, but in tests. */
const char *peer_missing(const char *python, const char *module);

/* The script of that name, as "fit.py"; it must be there. */
const char *peer_script_text(const char *name);

struct peer;

/*
 * Bytes for peers to read: in memory, without a name but the one that a peer
 * opens it by, so that nothing is left behind whatever ends the program. Peers
 * that are started while it is open have it.
 */
struct peer_file {
    int fd;
    char path[32]; /* "", as in {0}: there is none */
};

/* Statuses: IO. */
SOTTO_CHECKED enum sotto_status peer_file_write(struct peer_file *ret_file,
                                                const void *data, size_t size,
                                                struct sotto_error *err);
/* Also right if there is none. */
void peer_file_close(struct peer_file *file);

/* How many threads the peer's own loops, and its BLAS, may use. */
struct peer_threads {
    unsigned own, blas;
};

/* Two cores in every way worth trying; both kinds of threads at once are
   several times slower. */
#define PEER_SETTINGS 3u
extern const struct peer_threads peer_settings[PEER_SETTINGS];

struct peer_result {
    double seconds; /* as the script measured them */
    double value;   /* what it came to */
    double memory;  /* bytes, at its most */
};

/* Starts the script with these arguments (a list that ends with NULL).
   Statuses: IO, MEMORY, USAGE (too many arguments). */
SOTTO_CHECKED enum sotto_status peer_start(const char *script,
                                           const char *const *args,
                                           const struct peer_threads *threads,
                                           struct peer **ret_peer,
                                           struct sotto_error *err);
/* Hands it a line, unless NULL, and waits for an answer. Statuses: IO (there
   was none, or it made no sense). */
SOTTO_CHECKED enum sotto_status peer_ask(struct peer *peer, const char *line,
                                         struct peer_result *ret_result,
                                         struct sotto_error *err);
/* Ends its input, waits for its end, and frees; true if it ended well. */
bool peer_stop(struct peer *peer);

/* All of it: a script that asks for nothing and answers once. Statuses: as the
   above. */
SOTTO_CHECKED enum sotto_status peer_run(const char *script,
                                         const char *const *args,
                                         const struct peer_threads *threads,
                                         struct peer_result *ret_result,
                                         struct sotto_error *err);

/* Bytes a second that all threads of a pool read together from `bytes` of
   memory, a multiple of 16,384; from PEER_STREAM_BYTES, that no cache holds. 0:
   no memory for it. */
#define PEER_STREAM_BYTES ((size_t)1 << 29)
struct host_pool;
double peer_bandwidth(struct host_pool *pool, size_t bytes);

/* The most memory that this process had, in bytes; 0 if the system does not
   say. */
double peer_own_memory(void);

#endif
