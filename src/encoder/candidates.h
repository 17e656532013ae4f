/*
 * candidates.h: encoders that a codebook may take, and the one that it does
 * (docs/codebook.md, "Which encoder").
 *
 *     "pca:d=8,clm,clm,e.sotto"     a kind, with settings; a kind again, with
 *                                   another seed; a mechanism that is there
 *     list --training, reading--> encoders --sight.h--> scores --> one is kept
 */
#ifndef SOTTO_ENCODER_CANDIDATES_H
#define SOTTO_ENCODER_CANDIDATES_H

#include <jansson.h>

#include "encoder/encoder.h"
#include "encoder/sight.h"

#define CANDIDATES_MAX 16u
#define CANDIDATE_SETS_MAX 8u /* settings of a candidate's own */

/* For tables, and for what is one column of images. */
#define CANDIDATES_TABLE "clm,clm,pca:d=4,pca:d=16,vlm:eps-pre=30"
#define CANDIDATES_IMAGES "clm,clm,pca:d=32"
/* For tables of whose columns reports tell enough: a book each. */
#define CANDIDATES_COLUMNS "identity"

struct candidate {
    const char *name; /* as it stands in the list */
    const char *kind; /* NULL: the name is a file's */
    struct sotto_setting set[CANDIDATE_SETS_MAX];
    size_t sets;
    size_t again; /* candidates of this kind before it: added to the seed */
    size_t place; /* candidates that have a checkpoint before it */
    struct sotto_mechanism *encoder; /* NULL: not there, or left out */
    double epochs, loss;             /* NAN: it has none */
    bool resumed;
    struct sight sight;
    struct sight_marks marks; /* all NAN: left out, or not scored */
};

struct candidates {
    const struct setting *theirs; /* the codebook's own settings */
    uint64_t seed;
    char *text; /* that the names and settings are in */
    struct candidate candidate[CANDIDATES_MAX];
    size_t count, kept;
    bool unlabelled; /* they are trained without the label's column */
};

/* Reads a list, for a codebook with settings `theirs` and this seed. Statuses:
   USAGE, MEMORY. Clear it in any case. */
SOTTO_CHECKED enum sotto_status candidates_init(struct candidates *candidates,
                                                const char *list,
                                                const struct setting *theirs,
                                                uint64_t seed,
                                                struct sotto_error *err);
void candidates_clear(struct candidates *candidates);

/* The list for a table, where none is given: the base alone where records are
   too few to compare encoders by. */
const char *candidates_for(const struct sotto_table *table,
                           const struct sotto_train_options *options);

/*
 * Checks the settings of every candidate, without data. `options` are the
 * codebook's: settings that are not its own go to candidates of kind
 * ENCODER_BASE, unless they have them themselves. Statuses: USAGE, MEMORY.
 */
SOTTO_CHECKED enum sotto_status
candidates_check(const struct candidates *candidates,
                 const struct sotto_train_options *options,
                 struct sotto_error *err);

/*
 * Trains or reads every candidate. The first that is trained in epochs has the
 * options' checkpoint, the next one that and ".1", and so on; they stay. With
 * `lenient` a candidate of another kind than ENCODER_BASE that this table does
 * not allow is left out. Statuses: those of training and reading.
 */
SOTTO_CHECKED enum sotto_status candidates_train(struct candidates *candidates,
                                                 const struct encoder_job *job,
                                                 bool lenient,
                                                 struct sotto_error *err);
/* Removes the checkpoints. */
void candidates_forget(const struct candidates *candidates,
                       const char *checkpoint);

/* Keeps the candidate with the best score, of several; the first of equals.
   Those left out score NAN. Statuses: MEMORY, USAGE. */
SOTTO_CHECKED enum sotto_status candidates_choose(struct candidates *candidates,
                                                  struct sotto_error *err);

/* Adds scores and choice to what is told. */
void candidates_tell(const struct candidates *candidates,
                     struct sotto_train_facts *facts);
/* Their names and scores, for the analyst's file; NULL for lack of memory. */
json_t *candidates_json(const struct candidates *candidates);

#endif
