/*
 * study.h: an experiment that measures a loss, of several methods beside each
 * other, in place of a campaign's accuracy.
 *
 *     for panel, x, method, trial:   the row store has it | study->measure(...)
 *     for panel, x:                  the means, and the result files
 *
 * A study is the member `study` of a struct experiment in tables/: its panels
 * (figures), and how one loss is measured. Its methods are the experiment's
 * mechanisms. Keys, rows, means, tables, pictures and gains are the
 * machinery's.
 */
#ifndef SOTTO_EXPERIMENT_STUDY_H
#define SOTTO_EXPERIMENT_STUDY_H

#include "experiment/experiment.h"

/* What a mechanism's `how` says in a study. */
enum study_how {
    STUDY_RANDOM = 16, /* a trial is a seed; others have one trial */
    /* Breaks its epsilon: to compare with, never exported. */
    STUDY_UNSOUND = 32
};

enum study_axis {
    STUDY_EPS = 0,   /* x is epsilon */
    STUDY_RATIO = 1, /* x is r / epsilon, for records at the radius r */
    STUDY_OUTPUT =
        2,         /* x is an output of the task, from 1: each has its loss */
    STUDY_SIZE = 3 /* x is how many numbers or cells a method may have */
};

#define STUDY_EPS_FORMAT 32.0 /* the most that a mechanism can have */
#define STUDY_METHODS_MOST 16u
#define STUDY_OUTPUTS_MOST 64u

/* A figure. */
struct study_panel {
    const char *name;  /* in rows, and of its picture's file, behind the
                          experiment's; the first panel's has none there */
    const char *title; /* what is measured, and against what */
    enum study_axis axis;
    const double *x;     /* ends with 0 */
    double fixed;        /* epsilon, where x is neither it nor a ratio; r of a
                            ratio */
    const char *methods; /* names with blanks between; NULL: all */
    double unit;         /* losses are divided by it: 0 is 1 */
    const char *x_name;  /* of the axis; NULL: as the axis says */
};

/* The largest gain that the paper has of one method over another, in percent,
   at which epsilon; and which of ours are compared. */
struct study_gain {
    const char *method, *over;
    double percent, eps; /* NAN: the paper has none */
};

/* What one loss is of. */
struct study_point {
    const struct experiment_mechanism *method;
    const struct study_panel *panel;
    double eps;
    size_t most;    /* of STUDY_SIZE; 0: the method's own choice */
    uint32_t trial; /* from 1 */
    uint64_t seed;  /* of random numbers: every method's, in this trial */
};

struct study_outcome {
    double loss;
    double each[STUDY_OUTPUTS_MOST]; /* where the panel's axis is the output */
    char note[EXPERIMENT_NOTE_SIZE]; /* as experiment_outcome has it */
};

struct study {
    const struct study_panel *panels; /* end without x */
    const struct study_gain *gains;   /* end without a method */
    const char *form; /* of what --data names; NULL: no data is needed */
    uint32_t trials;  /* of random methods, if not said; 0: 5 */
    /* Reads the data that `options` name, and hashes it ("none" if there are
       none). Statuses: INPUT, USAGE (no data), IO, LIMIT, MEMORY. */
    enum sotto_status (*open)(const struct sotto_experiment_options *options,
                              void **ret_state,
                              char ret_hash[EXPERIMENT_HASH_SIZE],
                              struct sotto_error *err);
    void (*close)(void *state);
    /* One loss; `ret_outcome` is zeroed before. Statuses: MEMORY, STOPPED and
       others. */
    enum sotto_status (*measure)(void *state, const struct study_point *point,
                                 struct study_outcome *ret_outcome,
                                 struct sotto_error *err);
};

/* ---- study.c: for experiment.c ------------------------------------------- */

/* sotto_experiment_run, _plan and _path of an experiment that is a study. */
SOTTO_CHECKED enum sotto_status
study_run(const struct experiment *experiment,
          const struct sotto_experiment_options *options,
          void (*row)(void *context, const struct sotto_experiment_row *),
          void *context, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
study_plan(const struct experiment *experiment,
           const struct sotto_experiment_options *options,
           void (*row)(void *context, const struct sotto_experiment_row *),
           void *context, struct sotto_error *err);
SOTTO_CHECKED enum sotto_status
study_path(const struct experiment *experiment,
           const struct sotto_experiment_options *options, char **ret_path,
           struct sotto_error *err);

/* ---- study_files.c ------------------------------------------------------- */

/* Whether a panel has a method. */
bool study_has(const struct study_panel *panel, const char *method);

/* Writes PATH.csv (all rows), PATH.md (the means as tables, gains) and, for
   every panel that has a mean, PATH[-PANEL].svg. Statuses: IO, MEMORY. */
SOTTO_CHECKED enum sotto_status
study_files_write(const struct experiment *experiment,
                  const struct sotto_experiment_options *options,
                  const char *path, const struct sotto_experiment_row *rows,
                  size_t count, struct sotto_error *err);

/* The texts, for that and its tests. */
struct host_text;
void study_csv(struct host_text *text, const struct sotto_experiment_row *rows,
               size_t count);
void study_markdown(struct host_text *text, const struct experiment *experiment,
                    const struct sotto_experiment_options *options,
                    const struct sotto_experiment_row *rows, size_t count);

/* Parts of the second, which the page of all tables has, too, their headings
   as deep as `heading` ("##"). A panel's table; false: it has no mean. */
bool study_table(struct host_text *text, const struct experiment *experiment,
                 const struct study_panel *panel,
                 const struct sotto_experiment_row *rows, size_t count,
                 const char *heading);
/* What is said behind the tables: (*), gains, methods. */
void study_remarks(struct host_text *text, const struct experiment *experiment,
                   const struct sotto_experiment_row *rows, size_t count,
                   const char *heading);
/* The command of `options`, without an option that would make only some of the
   rows. */
void study_command(struct host_text *text,
                   const struct sotto_experiment_options *options,
                   const struct sotto_experiment_row *rows, size_t count);
/* The rows alone of the table of gains, each behind `before`; false: none. */
bool study_gains(struct host_text *text, const struct study *study,
                 const struct sotto_experiment_row *rows, size_t count,
                 const char *before);

void study_plot(struct host_text *text, const struct experiment *experiment,
                const struct study_panel *panel,
                const struct sotto_experiment_row *rows, size_t count);

#endif
