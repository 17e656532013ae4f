/*
 * train_kinds.h: what the files of sotto train share.
 */
#ifndef SOTTO_VERB_TRAIN_KINDS_H
#define SOTTO_VERB_TRAIN_KINDS_H

#include "cli/cli.h"

/* ---- train_kinds.c: kinds, and the options that each takes -----------------
 */

/* The i-th kind and what it is about; NULL: fewer. Those that are trained come
   first. */
const char *train_kind_at(size_t i, const char **ret_about);
/* Whether it is a kind that is trained, and which. */
bool train_kind_find(const char *name, struct sotto_train_kind *ret_kind);
/* A kind that is made from a model. */
struct train_model_kind {
    const char *name;
    int (*make)(const struct cli_args *args, const struct sotto_model *model,
                struct sotto_mechanism **ret_mechanism); /* the exit status */
    const char *about;
    const char *also; /* of the verb's own options, with blanks between */
    bool expects;     /* sotto_model_expect has an answer */
    struct cli_option options[7];
};
/* NULL: it is none. */
const struct train_model_kind *train_model_find(const char *name);
/* Of the verb: see cli.h. */
extern const struct cli_word train_words;

/* ---- train_columns.c: columns of the data that options name ---------------
 */

/* --category: columns of numbers that hold categories. */
int train_categories(const struct cli_args *args, struct sotto_table *table);
/* --label-values: a last column for labels that the data do not have. */
int train_declare(const struct cli_args *args, struct sotto_table *table);
/* --label, or the column of --labels or --label-values; NULL: none. */
int train_label(const struct cli_args *args, const struct sotto_table *table,
                const char **ret_label);
/* Notes a column that looks like a label and is none, unless it is dropped. */
void train_note_label(const struct sotto_table *table, const char *const *drop,
                      size_t drops);
/* --drop as it is given; --keep drops all others but the label. The caller
   frees the list, not the names. */
int train_drops(const struct cli_args *args, const struct sotto_table *table,
                const char *label, const char ***ret_drop, size_t *ret_drops);

/* ---- train_schema.c: what the columns are ---------------------------------
 */

/* Infers the schema that train infers, and tells nothing unless it refuses.
   Images have none: then it stays NULL. The caller frees it. */
int train_schema_infer(const struct cli_args *args,
                       const struct sotto_table *table, const char *label,
                       struct sotto_schema **ret_schema);
/* Whether a schema names a label; false also for what is no schema, of which
   train_schema tells. */
bool train_schema_labels(const char *path);
/* Reads --schema, which options overrule and which names the label if none of
   them does; or infers one from the data, tells it, and refuses with the whole
   list where nothing can be trained. None for images, nor beside --encoder,
   which has columns of its own: then it stays NULL. The caller frees it. */
int train_schema(const struct cli_args *args, const struct sotto_table *table,
                 const char **label, struct sotto_schema **ret_schema);

/* Makes categories of the table's columns of numbers that a schema calls so:
   simulated campaigns count and split by them. The exit status. */
int train_schema_categories(const struct sotto_schema *schema,
                            struct sotto_table *table);

/* ---- Without data; the exit status ----------------------------------------
 */

/* train_model.c: from --model; and what makes each such kind. */
int train_model(const struct cli_args *args);
int train_code(const struct cli_args *args, const struct sotto_model *model,
               struct sotto_mechanism **ret_mechanism);
int train_class(const struct cli_args *args, const struct sotto_model *model,
                struct sotto_mechanism **ret_mechanism);
int train_right(const struct cli_args *args, const struct sotto_model *model,
                struct sotto_mechanism **ret_mechanism);
/* train_from.c: --from: another budget, without training. */
int train_from(const struct cli_args *args);

/* train_expiry.c: --expires. Whether it can be read and lies ahead, before
   anything is trained; and the mechanism at `path` with that end, in place of
   the one without, before it is told of. */
int train_check_expiry(const struct cli_args *args);
/* Returns when what is made from a mechanism ends: --expires, else when that
   does; 0: never. Checks that it lies ahead: `path` is the file that the
   mechanism came in. */
uint64_t train_end(const struct cli_args *args,
                   const struct sotto_mechanism *from);
int train_check_end(const struct cli_args *args, const char *path,
                    const struct sotto_mechanism *from);
int train_expire(const struct cli_args *args,
                 struct sotto_mechanism **mechanism);

/* train_replace.c: a mechanism in place of another. */
#define TRAIN_HASH_SIZE (2 * SOTTO_HASH_SIZE + 1)
/* Refuses a file that is there already, unless --force is given. */
int train_check_replace(const struct cli_args *args, const char *path);
/* Reads the hash of the mechanism at `path`; "": there is none. */
void train_read_hash(const char *path, char ret_hash[TRAIN_HASH_SIZE]);
/* Removes the signature beside `path`, and says so, unless the mechanism there
   still has the hash that it had before. */
int train_remove_signature(const char *path, const char old[TRAIN_HASH_SIZE]);
/* Returns what a mechanism and its campaign are called unless told: the file's
   name without folder and .sotto, as a collector's addresses call it. The
   caller frees; NULL: out of memory. */
char *train_stem(const char *path);

/* ---- cmd_train.c -----------------------------------------------------------
 */

/* The JSON fields that every kind has; the object stays open. */
void train_json(FILE *to, const char *path,
                const struct sotto_mechanism_info *info);
/* The lines every kind ends with. */
void train_text(FILE *to, const char *path,
                const struct sotto_mechanism_info *info);

#endif
