/*
 * train_kinds.h: what the kinds of mechanisms share on the command line.
 */
#ifndef SOTTO_VERB_TRAIN_KINDS_H
#define SOTTO_VERB_TRAIN_KINDS_H

#include "cli/cli.h"

/* ---- train_columns.c: columns of the data that options name ---------------
 */

/* A named column, or a message that says what there is: the exit status. */
int train_column(const struct sotto_table *table, const char *option,
                 const char *name, size_t *ret_column);
/* --category: columns of numbers that hold categories. */
int train_categories(const struct cli_args *args, struct sotto_table *table);
/* --label-values: a last column for labels that the data do not have. */
int train_declare(const struct cli_args *args, struct sotto_table *table);
/* --label, or the column of --labels or --label-values; NULL: none. */
int train_label(const struct cli_args *args, const struct sotto_table *table,
                const char **ret_label);
/* --drop as it is given; --keep drops all others but the label. The caller
   frees the list, not the names. */
int train_drops(const struct cli_args *args, const struct sotto_table *table,
                const char *label, const char ***ret_drop, size_t *ret_drops);

/* ---- train_learnt.c: what learnt kinds have in common ----------------------
 */

struct train_plan {
    const char *path;
    char *analyst, *checkpoint; /* checkpoint NULL: beside a pipe */
    const char *label;
    const char **drop;
    size_t drops;
    double lambda;
    uint64_t d, steps, threads; /* 0: not given */
};

/* The exit status; clear it in any case. */
int train_plan_make(const struct cli_args *args,
                    const struct sotto_table *table, struct train_plan *plan);
void train_plan_clear(struct train_plan *plan);
/* cli_fail, but for training that was stopped. */
int train_fail(const struct sotto_error *err);

/* train_learnt.c: --analyst, or beside the mechanism at `path`; it may be
   neither that nor an input. The caller frees it, also after a failure. */
int train_analyst(const struct cli_args *args, const char *path,
                  char **ret_analyst);

/* ---- train_contrastive.c: an encoder for codebooks --------------------------
 */

struct train_encoder {
    struct sotto_mechanism *mechanism;
    struct sotto_clm_info info;
    char *checkpoint; /* there until train_encoder_done; NULL: none */
};

/* Trains one with the options of clm, or goes on with it; the exit status.
   Clear it in any case. */
int train_encoder_make(const struct cli_args *args,
                       const struct sotto_table *table,
                       struct train_encoder *encoder);
/* What was made of it is written. */
void train_encoder_done(struct train_encoder *encoder);
void train_encoder_clear(struct train_encoder *encoder);

/* ---- The kinds: each trains, writes and tells; the exit status -------------
 */

int train_direct(const struct cli_args *args, const struct sotto_table *table);
int train_vlm(const struct cli_args *args, const struct sotto_table *table);
int train_pca(const struct cli_args *args, const struct sotto_table *table);
int train_clm(const struct cli_args *args, const struct sotto_table *table);
int train_codebook(const struct cli_args *args,
                   const struct sotto_table *table);
/* code, class: from --model, without data. */
int train_model(const struct cli_args *args);
/* --from: another budget for a learnt mechanism, without training. */
int train_from(const struct cli_args *args);

/* ---- cmd_train.c -----------------------------------------------------------
 */

/* The JSON fields that every kind has; the object stays open. */
void train_json(FILE *to, const char *path,
                const struct sotto_mechanism_info *info);
/* The lines every kind ends with. */
void train_text(FILE *to, const char *path,
                const struct sotto_mechanism_info *info);

#endif
