/*
 * trace.h: a child process, seen from outside.
 *
 * Where the system lets a parent trace its child, two things can be seen of
 * code whatever it says of itself: what it makes of the entropy it is given,
 * and how many instructions it takes.
 */
#ifndef SOTTO_PRIVACY_TRACE_H
#define SOTTO_PRIVACY_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the child does; it ends when this returns. */
typedef void trace_body(void *context);

/* Waits for a child of ours to stop or end, whatever signals come. */
bool trace_wait(pid_t child, int *ret_status);

/*
 * Runs `body` in a child whose every getrandom() is answered with the next
 * bytes of a seeded stream: how many in all. False if the child failed, or if
 * this system does not let it be traced.
 */
bool trace_told(trace_body *body, void *context, uint64_t seed, uint64_t stream,
                uint64_t *ret_bytes);

/*
 * Runs `body` in a child, one instruction at a time between its two calls of
 * trace_mark: returns how many there were. 0 if there were more than `most`,
 * or if this system does not let it be traced.
 */
uint64_t trace_steps(trace_body *body, void *context, uint64_t most);
void trace_mark(void);

#endif
