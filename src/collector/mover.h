/*
 * mover.h: when a window ends, how far it is moved on, and what is said of it.
 * The writer's thread calls all of it, and no other.
 *
 *      +---------+  its time is over, the store  +--------+
 *      | filling |  says it is full, or stopping | moving |<-+ fails: again
 *  +-->|         |------------------------------>|        |--+ after again_s
 *  |   +---------+                               +--------+
 *  |        ^   a window that took nothing            | all is moved
 *  |        +--- just begins anew                     v
 *  +----------------------------------------- a scrub is owed
 *
 * The next window fills meanwhile, and a scrub may be owed for as long as a
 * reader is in the way. A life begins as if a window were half moved and the
 * next one's time were over: an earlier life may have left both, and what
 * stayed there would connect ids with payloads for good. A life that ends in
 * order leaves neither (mover_finish).
 *
 * A step of a move shares a transaction with what is put:
 *
 *     plan --> begin, put..., mover_step, commit --> mover_stepped
 *                          rolled back, and without the step it is committed
 *                                                --> mover_failed
 */
#ifndef SOTTO_COLLECTOR_MOVER_H
#define SOTTO_COLLECTOR_MOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/metrics.h"
#include "sotto/sotto.h"
#include "store/store.h"

struct mover_options {
    unsigned window_s;
    size_t batch_min;
    double again_s;    /* until what failed is tried again */
    double patience_s; /* that a reader may be in the way before it is said */
    struct metrics *metrics;
    void (*log)(void *context, enum sotto_log_level level, const char *code,
                const char *text);
    void *log_context;
};

/* What was said last of scrubbing. */
enum mover_said { MOVER_SAID_CLEAN, MOVER_SAID_READER, MOVER_SAID_FAILED };

/* Moments are host_seconds'. */
struct mover {
    struct mover_options options;
    struct store *store;
    /* The window that fills. */
    double end_at;
    bool took;    /* reports, in this life */
    bool unknown; /* an earlier life may have put some there */
    /* The one that has ended. */
    bool moving;
    bool real;                         /* for sure it held something */
    uint64_t verdicts[JUDGE_VERDICTS]; /* reports by verdict, at its end */
    bool failing;                      /* and that was said */
    double move_at;                    /* not before */
    /* What is left of it in the store's files. */
    bool owed;                   /* a scrub */
    double scrub_at, blocked_at; /* not before; since when it fails, or 0 */
    enum mover_said said;
};

/* What is to share a transaction. */
struct mover_step {
    size_t rows; /* to be moved; 0: there is no step */
    bool end;    /* the window, first */
    bool needed; /* something is to be moved, as far as is known here */
    bool done;   /* nothing is left to be moved; mover_step says it */
};

/* Rows moved on with a group of so many reports. */
static inline size_t
mover_slice(size_t reports)
{
    return 512 + 2 * reports;
}

void mover_init(struct mover *mover, const struct mover_options *options,
                struct store *store);

/* When there is something to do even if no report comes. */
double mover_next(const struct mover *mover);

/* The step that goes with `reports` reports, or alone. With reports it may move
   nothing, and just asks whether the store has ended a window that was full. */
struct mover_step mover_plan(const struct mover *mover, double now, bool alone,
                             size_t reports);
/* Between begin and commit, behind the puts. Statuses: store_end_window's and
   store_advance's. */
SOTTO_CHECKED enum sotto_status mover_step(struct mover *mover,
                                           struct mover_step *step,
                                           struct sotto_error *err);
/* It was committed; `took`: new reports were, too. Whether a window is wholly
   moved now. */
bool mover_stepped(struct mover *mover, const struct mover_step *step,
                   bool took);
/* It was rolled back, and the rest committed without it; `err` NULL: nor was
   the rest, and it is not the step's fault. */
void mover_failed(struct mover *mover, const struct mover_step *step,
                  const struct sotto_error *err);

/* Between transactions: scrubs if that is owed. */
void mover_tend(struct mover *mover);

/* Ends the window and moves and scrubs all there is, in `seconds` or not
   wholly: then the next life goes on. No transaction may be open. */
void mover_finish(struct mover *mover, double seconds);

#endif
