/*
 * sotto/training.h: making mechanisms, straight or learnt from auxiliary
 * records, and the analyst files beside learnt ones.
 *
 * What all parts have in common is said in sotto/sotto.h, which includes this
 * one.
 */
#ifndef SOTTO_TRAINING_H
#define SOTTO_TRAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"
#include "sotto/mechanisms.h"
#include "sotto/schemas.h"
#include "sotto/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Training ------------------------------------------------------------ */

struct sotto_train_options {
    const char *eps;         /* total per report, decimal text */
    const char *label;       /* the label's column, or NULL */
    const char *name;        /* for people; NULL: the kind */
    const char *campaign;    /* NULL: the same as the name */
    const char *const *drop; /* columns to leave out */
    size_t drops;
    const struct sotto_schema *schema; /* what the columns are; one that is not
                                          in it is left out, and its label is
                                          the label if none is named. NULL: each
                                          is what the table says, with the
                                          data's own range and categories, in
                                          which single records may show */
    const struct sotto_setting *set;   /* what the kind has settings for; those
                                          not here stand at their defaults */
    size_t sets;
    const struct sotto_mechanism *encoder; /* codebook alone: whose encoder it
                                              takes, in place of training one
                                              or reading the setting of that
                                              name; settings and columns of
                                              training do not count then. NULL:
                                              none */
    unsigned threads;       /* 0: all cores; the result does not depend on it */
    const char *checkpoint; /* file to go on from and to write to, after every
                               epoch and when stopped; removed at the end; NULL:
                               none */
    struct sotto_watch watch;
};

#define SOTTO_FACTS_MAX 24u
#define SOTTO_FACT_NUMBERS_MAX 16u

enum sotto_fact_kind {
    SOTTO_FACT_NUMBER = 0,
    SOTTO_FACT_WHOLE = 1,
    SOTTO_FACT_FLAG = 2,
    SOTTO_FACT_NUMBERS = 3, /* a list */
    SOTTO_FACT_TEXT = 4
};

/* One thing that training came to. */
struct sotto_fact {
    char name[32];
    enum sotto_fact_kind kind;
    double number[SOTTO_FACT_NUMBERS_MAX]; /* the first; 0 or 1; the list */
    size_t numbers;
    char text[64];
};

/* All of them, in an order that stays; the same in a sentence or two, for
   people, which may be empty; and the settings that it was trained with, in
   their canonical form. */
struct sotto_train_facts {
    struct sotto_fact fact[SOTTO_FACTS_MAX];
    size_t facts;
    char said[2048];
    char settings[1024];
};

/* The number of that name; NAN: there is none. */
double sotto_train_fact(const struct sotto_train_facts *facts,
                        const char *name);

/*
 * Makes a mechanism of a kind (sotto_train_kind_at tells which there are) from
 * a table of auxiliary records: writes it to `path` (for devices) and what only
 * the analyst may have to `analyst_path` (mode 0600; a kind that has nothing
 * for the analyst writes no such file). Either may be NULL: nowhere; without
 * `path` the checkpoint stays, for the caller to remove.
 *
 *     struct sotto_setting set[] = {{"d", "8"}, {"epochs", "12"}};
 *     struct sotto_train_options options = {
 *         .eps = "2", .label = "digit", .set = set, .sets = 2};
 *     sotto_train(table, "vlm", &options, "M.sotto", "M.analyst", NULL, NULL,
 *                 &err);
 *
 * The auxiliary data gets no guarantee, and both files say so (but for direct,
 * where every range is given and there are no categories). Every report
 * satisfies eps-LDP for record and label together, neighbours being any two
 * records. The same seed gives the same files on the same kind of processor,
 * also if it was stopped or killed in between and called again with the same
 * options and `checkpoint`. `ret_facts` and `ret_mechanism` may be NULL; the
 * caller frees the latter, which is made of the very bytes written: so `path`
 * may be a pipe. Statuses: USAGE (a message about a setting begins with its
 * name), BUDGET, FORMAT, LIMIT, INPUT (also: training diverged; or the
 * checkpoint is of another one), IO, MEMORY, STOPPED (no file but the
 * checkpoint is written).
 */
SOTTO_CHECKED enum sotto_status
sotto_train(const struct sotto_table *table, const char *kind,
            const struct sotto_train_options *options, const char *path,
            const char *analyst_path, struct sotto_train_facts *ret_facts,
            struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* Checks what can be checked without data: kind and settings. Statuses: USAGE,
   BUDGET, FORMAT. */
SOTTO_CHECKED enum sotto_status
sotto_train_check(const char *kind, const struct sotto_train_options *options,
                  struct sotto_error *err);

/* What there is to choose from, for programs that ask. */
struct sotto_train_kind {
    const char *name;
    const char *about;   /* a few lines */
    const char *analyst; /* what the analyst file holds; NULL: there is none */
    bool trains;         /* in epochs, and goes on from a checkpoint */
    const char *example; /* settings that suit a small table, as "d=4 epochs=4";
                            NULL: none are needed */
};

/* The i-th kind; false: there are fewer. */
bool sotto_train_kind_at(size_t i, struct sotto_train_kind *ret_kind);
/* The i-th setting of a kind; false: there are fewer, or no such kind. */
bool sotto_train_setting_at(const char *kind, size_t i,
                            struct sotto_setting_info *ret_setting);

/* ---- Codebooks ----------------------------------------------------------- */

/*
 * A mechanism that reports which of k codes a record has, together with its
 * label, by one channel at all of epsilon (docs/codebook.md). Cells are cut
 * from the representations that another mechanism's encoder gives auxiliary
 * records. sotto_train("codebook") does all of it; here it is in three steps,
 * so that one encoding serves many epsilons (and one clustering, but for
 * images, which have another for up to 32 codes):
 *
 *     sotto_codebook_new(table, encoder, &options, &codebook, &err);
 *     sotto_codebook_choose(codebook, &wanted, &choice, &err);
 *     sotto_codebook_write(codebook, &choice, "0.2", "C.sotto", "C.analyst",
 *                          NULL, &err);
 *     sotto_codebook_free(codebook);
 */
struct sotto_codebook;

struct sotto_codebook_options {
    const char *label;    /* its column, or NULL */
    size_t bins;          /* ranges that a label's numbers are cut into; 0: it
                             must hold categories */
    const char *name;     /* for people; NULL: "codebook" */
    const char *campaign; /* NULL: the same as the name */
    uint64_t expires;     /* its end, in seconds of 1970; 0: never */
    size_t cells; /* to cut from; 0: 500, or two to a code if that is more, but
                     one to 20 records at most */
    bool unit;    /* cells by z / |z|, for encoders that learnt directions
                     (clm); else by z. So, too, if the encoder is that of a
                     codebook with such cells */
    const char *tree; /* what holds the cells of a code together: "neighbours"
                         of records (200 to 100,000 of them, and at most 32
                         codes, one to 20 records), or "distances"; NULL:
                         neighbours for images with more codes than classes,
                         where they can be had */
    uint64_t seed;
    unsigned threads; /* 0: all cores; the result does not depend on it */
    struct sotto_watch watch;
    const struct sotto_schema *schema; /* of a label that the encoder does not
                                          know; NULL: as the table has it */
};

/*
 * `encoder` is a mechanism that has one (of vlm or pca; of a codebook, without
 * its last layer): its columns are taken, but a label of its own only if it is
 * the label here, and its layers. The table and the options' texts must outlive
 * the codebook; the encoder need not. Statuses: USAGE, INPUT, LIMIT, MEMORY,
 * IO, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_new(
    const struct sotto_table *table, const struct sotto_mechanism *encoder,
    const struct sotto_codebook_options *options,
    struct sotto_codebook **ret_codebook, struct sotto_error *err);
void sotto_codebook_free(struct sotto_codebook *codebook);
/* Cells, of the book that has fewest: the most codes there can be; auxiliary
   records; and classes of the label, without "other": 0 if there is no label.
 */
size_t sotto_codebook_cells(const struct sotto_codebook *codebook);
size_t sotto_codebook_records(const struct sotto_codebook *codebook);
size_t sotto_codebook_classes(const struct sotto_codebook *codebook);

/* What decided the number of codes. */
enum sotto_codebook_bound {
    SOTTO_CODEBOOK_GIVEN = 0,       /* it was given, or there is no label */
    SOTTO_CODEBOOK_INFORMATION = 1, /* what the reports can tell apart */
    SOTTO_CODEBOOK_CLASSES = 2,     /* that is less than the classes need */
    SOTTO_CODEBOOK_RECORDS = 3,     /* the auxiliary records are too few */
    SOTTO_CODEBOOK_CELLS = 4,       /* the cells are too few */
    SOTTO_CODEBOOK_PAIRS = 5,       /* a channel has no more pairs */
    SOTTO_CODEBOOK_COLUMNS = 6,     /* what reports can tell apart of a column,
                                       each of which has a book */
    SOTTO_CODEBOOK_THIN = 7 /* two: they tell too little of a column, and
                               cells serve better */
};

/* What to report: k codes by a channel ("subset", "flip", or with a label
   "signs"). To be filled in by hand (the rest 0), or by
   sotto_codebook_choose. */
struct sotto_codebook_choice {
    size_t k;
    const char *channel;
    enum sotto_codebook_bound bound;
    size_t people;   /* it was chosen for */
    size_t informed; /* codes that their reports can tell apart */
    size_t least;    /* codes that the classes need */
    size_t books;    /* codebooks of k codes each, of which a device asks one by
                        lot: other cells each; 0: one */
};

struct sotto_codebook_wanted {
    const char *eps;     /* per report, decimal text */
    size_t people;       /* who will report; 0: as many as auxiliary records */
    size_t classes;      /* of the label; 0: those of its column */
    bool balanced;       /* classes are equally frequent, and the learner will
                            know it: signs says nothing of their shares */
    size_t k;            /* 0: to be chosen */
    const char *channel; /* NULL: to be chosen */
    size_t books;        /* 0: to be chosen */
};

/*
 * Chooses k and channel by what so many reports can tell apart at this epsilon
 * (docs/codebook.md): no label is looked at. k is at least one to a class,
 * unless that is more than three times what reports can tell apart, and at
 * most one to 45 auxiliary records, one to a cell, and what the channel's pairs
 * allow, which holds where both cannot; the channel is subset, but for balanced
 * classes below an epsilon of 0.7 signs; books are 3 up to an epsilon of 1
 * with 2 to 50 classes, else 1, but up to 8 where records allow fewer codes
 * than there are classes and reports tell more apart. Where the encoder is the
 * identity, every column that varies is a book, and k, of each, is 2 to 8.
 * Statuses: USAGE (fewer than 2 classes; no such channel; another number of
 * books than columns), BUDGET, FORMAT, LIMIT (so many classes that
 * no channel takes them), MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_choose(
    struct sotto_codebook *codebook, const struct sotto_codebook_wanted *wanted,
    struct sotto_codebook_choice *ret_choice, struct sotto_error *err);

/*
 * Writes the mechanism to `path` and codes, representations and the mean record
 * of every cell to `analyst_path` (mode 0600; NULL for either: nowhere). The
 * auxiliary
 * data gets no guarantee, and both files say so. Every report satisfies eps-LDP
 * for record and label together. `ret_mechanism` may be NULL; the caller frees
 * it. Statuses: USAGE, BUDGET, FORMAT, LIMIT, IO, MEMORY, STOPPED.
 */
SOTTO_CHECKED enum sotto_status sotto_codebook_write(
    struct sotto_codebook *codebook, const struct sotto_codebook_choice *choice,
    const char *eps, const char *path, const char *analyst_path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Another budget ------------------------------------------------------ */

/*
 * The same schema, encoder and domains at another budget, written to `path`
 * (NULL: nowhere): it needs no training, and the analyst file of the one serves
 * the other. `lambda` splits eps between record and label, in units of 10^-12
 * that add up to it exactly; 0: in proportion as it was. `label_channel` is
 * "flip" or "subset"; NULL: as it was. Neither is for a mechanism without a
 * label. For mechanisms of one part for the record and at most one for the
 * label. Statuses: USAGE, BUDGET, FORMAT, LIMIT, IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_mechanism_rebudget(
    const struct sotto_mechanism *mechanism, const char *eps, double lambda,
    const char *label_channel, const char *path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/*
 * The same mechanism with another end, a second since 1970 in UTC (0: none),
 * from which on no report leaves: written to `path` (NULL: nowhere). It has
 * another hash, and so is another charge to whoever reported by the first.
 * Statuses: LIMIT (later than a file can say), IO, MEMORY.
 */
SOTTO_CHECKED enum sotto_status sotto_mechanism_expire(
    const struct sotto_mechanism *mechanism, uint64_t expires, const char *path,
    struct sotto_mechanism **ret_mechanism, struct sotto_error *err);

/* ---- Analyst files ------------------------------------------------------- */

/*
 * Decoder and prior of a mechanism, in one file beside it that only its owner
 * may read: it tells of the auxiliary people one by one. Never for devices.
 */
struct sotto_analyst;

/* Messages name the file. Statuses: IO, LIMIT, FORMAT, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_read(const char *path, struct sotto_analyst **ret_analyst,
                   struct sotto_error *err);
void sotto_analyst_free(struct sotto_analyst *analyst);
/* OK if it was made with this mechanism's encoder, and, where its decoder is
   for one epsilon (task-linear, task-codes), for this one; INPUT otherwise. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_check(const struct sotto_analyst *analyst,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err);
/*
 * Says how its mechanism was made: a page in plain words, or with `json` one
 * object on a line. Of a mechanism for one task: the task, its loss, and the
 * share of every column's variance that is kept. `ret_text` is the caller's to
 * free. Statuses: MEMORY.
 */
SOTTO_CHECKED enum sotto_status
sotto_analyst_describe(const struct sotto_analyst *analyst, bool json,
                       char **ret_text, struct sotto_error *err);
/* Points of the prior, and integers in each: of a codebook one, the code. */
size_t sotto_analyst_points(const struct sotto_analyst *analyst);
size_t sotto_analyst_width(const struct sotto_analyst *analyst);
const int32_t *sotto_analyst_prior(const struct sotto_analyst *analyst);
/* Numbers that the decoder takes: as many as integers in a point, but of a
   codebook the indicator of each code. */
size_t sotto_analyst_z_width(const struct sotto_analyst *analyst);
/* Entries of a decoded record; 0 if there is no decoder. */
size_t sotto_analyst_x_width(const struct sotto_analyst *analyst);
/* Decodes n points of the representation, in units of the domain (q / l, or a
   report's estimate of it), to the mean of x. Statuses: USAGE, MEMORY. */
SOTTO_CHECKED enum sotto_status
sotto_analyst_decode(const struct sotto_analyst *analyst, const double *z,
                     size_t n, float *ret_x, struct sotto_error *err);
/* The representation that a report estimates, without bias, in units of the
   domain: sotto_analyst_z_width numbers, to decode (of a codebook through
   signs 1/k each: its reports tell of no code by itself). The mechanism must be
   one that sotto_analyst_check takes. Several threads may call it. */
void sotto_analyst_estimate(const struct sotto_analyst *analyst,
                            const struct sotto_mechanism *mechanism,
                            const uint8_t *report, double *ret_z);

#ifdef __cplusplus
}
#endif

#endif
