/*
 * encoder.h: an encoder is a row: its name, its settings, and how it is fitted.
 *
 * A new one is a file with a `struct encoder` and a row in registry.c. Its
 * settings are then the command line's, the help's, the facts' and the
 * checkpoint key's; nothing else names it.
 */
#ifndef SOTTO_ENCODER_ENCODER_H
#define SOTTO_ENCODER_ENCODER_H

#include "host/settings.h"
#include "sotto/sotto.h"

/* The encoder that a codebook trains, unless it is given a mechanism's. */
#define ENCODER_BASE "clm"

struct encoder;

/* Chooses how many codes a codebook has, and by which channel they go: as
   sotto_codebook_choose does it, by what reports can tell apart. */
typedef enum sotto_status encoder_choose_fn(
    struct sotto_codebook *codebook, const struct sotto_codebook_wanted *wanted,
    struct sotto_codebook_choice *ret_choice, struct sotto_error *err);

struct schema;
struct layer;

/* A function of the record that a model is: what a task is about. */
struct encoder_function {
    void *own; /* to whom the rest belongs */
    void (*free)(void *own);
    const struct schema *schema; /* the columns whose x it takes; those without
                                    inputs do not count */
    const struct layer *layer;   /* from x to a logit for each class */
    size_t layers, classes;
};

/* Reads a model's file. Statuses: USAGE (it is no function of the record, and
   why), IO, FORMAT, MEMORY, LIMIT. */
typedef enum sotto_status
encoder_function_fn(const char *path, struct encoder_function *ret_function,
                    struct sotto_error *err);

/* What is asked of an encoder, and where its answers go. */
struct encoder_job {
    const struct encoder *encoder;
    const struct sotto_table *table;
    const struct sotto_train_options *options;
    const char *path, *analyst_path; /* NULL: nowhere */
    encoder_choose_fn *choose;       /* for a codebook; others leave it alone */
    encoder_function_fn *function;   /* likewise for a task */
    const struct schema *columns;    /* those of x, as they are; NULL: fitted */
    struct sotto_train_facts *facts; /* to add to */
    struct sotto_mechanism **ret_mechanism;
};

struct encoder {
    struct sotto_train_kind kind;
    const struct setting *settings;
    size_t own_size; /* of what the settings fill */
    bool robust;     /* learnt ones: numbers are scaled so that no outlier moves
                        the others, and cut (schema/column.h) */
    const char *base; /* another kind, whose settings but the late and the
                         unshared ones it takes too, to hand them on; NULL:
                         none */
    /* Checks settings against each other, without a table, and sets defaults
       that depend on others; NULL: there is nothing to check. */
    enum sotto_status (*check)(const struct encoder_job *job, void *own,
                               struct sotto_error *err);
    /* Fits, writes, and sets ret_mechanism unless it is NULL. */
    enum sotto_status (*fit)(const struct encoder_job *job, void *own,
                             struct sotto_error *err);
};

/* ---- registry.c ---------------------------------------------------------- */

/* The rows, then NULL. */
extern const struct encoder *const encoder_registry[];

/* The row of that name; NULL: there is none. */
const struct encoder *encoder_find(const struct encoder *const *registry,
                                   const char *name);
/* The i-th setting of an encoder: its own, then its base's; NULL: fewer. */
const struct setting *encoder_setting_at(const struct encoder *const *registry,
                                         const struct encoder *encoder,
                                         size_t i);
/* sotto_train (learn/training.c) with the encoders of any registry; `job` needs
   no encoder, and its facts may be NULL. */
SOTTO_CHECKED enum sotto_status
encoder_train(const struct encoder *const *registry, const char *kind,
              struct encoder_job job, struct sotto_error *err);

/* ---- facts.c: what training came to ---------------------------------------
 */

void fact_number(struct sotto_train_facts *facts, const char *name,
                 double number);
void fact_whole(struct sotto_train_facts *facts, const char *name,
                uint64_t whole);
void fact_flag(struct sotto_train_facts *facts, const char *name, bool truth);
void fact_numbers(struct sotto_train_facts *facts, const char *name,
                  const double *number, size_t count);
void fact_text(struct sotto_train_facts *facts, const char *name,
               const char *text);
/* Adds to what is said to people. */
__attribute__((format(printf, 2, 3))) void
fact_say(struct sotto_train_facts *facts, const char *format, ...);

/* ---- The rows ------------------------------------------------------------ */

extern const struct encoder encoder_vlm, encoder_clm, encoder_pca,
    encoder_identity, encoder_task_linear, encoder_task_codes, encoder_codebook,
    encoder_direct, encoder_task;

#endif
