/*
 * tune_verbs.h: what the files of sotto tune share.
 */
#ifndef SOTTO_VERB_TUNE_VERBS_H
#define SOTTO_VERB_TUNE_VERBS_H

#include "cli/cli.h"

#define TUNE_PATH_SIZE 4200u
#define TUNE_CONFIDENCE 0.95 /* of all intervals in a plan */

/* What a plan is made of, read from the command line: mechanisms from the
   second word on. */
struct tune_order {
    struct sotto_mechanism *mechanism[SOTTO_TUNE_MECHANISMS_MAX];
    struct sotto_analyst *analyst[SOTTO_TUNE_MECHANISMS_MAX];
    struct sotto_setting grid[SOTTO_TUNE_GRIDS_MAX];
    char *text[SOTTO_TUNE_GRIDS_MAX]; /* the grids' own */
    struct sotto_tune_options options;
};

/* cmd_tune.c */

/* Reads mechanisms from word `first` on, their analyst files, --grid, --eps,
   --learner and the shares. Returns the exit status, the message printed;
   tune_order_clear frees, also on failure. */
int tune_order_read(const struct cli_args *args, size_t first,
                    struct tune_order *ret_order);
void tune_order_clear(struct tune_order *order);

/* Reads the analyst file beside a mechanism, M.analyst for M.sotto; NULL where
   there is none. The exit status, the message printed. */
int tune_analyst_read(const struct sotto_mechanism *mechanism, const char *path,
                      struct sotto_analyst **ret_analyst);

/* FOLDER/NAME, with `suffix`. */
void tune_path(char path[TUNE_PATH_SIZE], const char *folder, const char *name,
               const char *suffix);
/* FOLDER/NN of a candidate, with `suffix`. */
void tune_candidate_path(char path[TUNE_PATH_SIZE], const char *folder,
                         size_t candidate, const char *suffix);

/* tune_tell.c: a table of the candidates, what is asked now, and what was
   spent. */
void tune_tell(const struct cli_args *args, const struct sotto_tune *tune);
/* One candidate's settings: "epochs 10, m.sotto". */
void tune_tell_candidate(FILE *to, const struct sotto_tune *tune, size_t i);

/* tune_next.c: reads what was collected, and ends the stage. */
int tune_next(const struct cli_args *args);
/* tune_rehearse.c: all of it on a curator's table. */
int tune_rehearse(const struct cli_args *args);

#endif
