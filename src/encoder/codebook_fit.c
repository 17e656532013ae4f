/*
 * codebook_fit.c: the codebook as an encoder: all three steps.
 *
 * The representation that is cut into cells is another mechanism's, or that of
 * the best of several encoders which are trained first. The settings of kind
 * ENCODER_BASE are then this one's, too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/candidates.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "mechanism/mechanism.h"
#include "schema/schema_fit.h"

#define UNIT_D 8u /* numbers of z, from which on only directions count */

struct settings {
    const char *encoder; /* the mechanism whose encoder it takes; NULL: one is
                            trained */
    const char *candidates; /* of which; NULL: by the kind of data */
    const char *channel;    /* NULL: chosen */
    const char *tree;       /* NULL: by the kind of data */
    uint32_t k, classes, people, cells, books, bins; /* 0: not given */
    bool unit, balanced;
    uint64_t seed;
};

#define AT(field) offsetof(struct settings, field)

static const struct setting settings[] = {
    SETTING("encoder", TEXT, AT(encoder), 0, 0, NULL, "M.sotto",
            "the mechanism whose columns and encoder it\n"
            "takes (some are trained, and the best is kept)"),
    SETTING("candidates", TEXT, AT(candidates), 0, 0, NULL, "LIST",
            "encoders to train and choose from without\n"
            "labels: pca:d=8,clm,clm,e.sotto: a kind with\n"
            "settings; a kind again, with the next seed; a\n"
            "mechanism that is there (for images\n"
            "" CANDIDATES_IMAGES "; for tables " CANDIDATES_COLUMNS ",\n"
            "a book for each column, where reports tell\n"
            "enough of each, else\n"
            "" CANDIDATES_TABLE ").\n"
            "Settings that are for training are clm's"),
    SETTING("k", WHOLE, AT(k), 2, 65536, NULL, NULL,
            "how many codes (what reports can tell apart;\n"
            "without a label 32)"),
    SETTING("channel", TEXT, AT(channel), 0, 0, NULL, "CHANNEL",
            "subset, flip, or with a label signs (subset; with\n"
            "balanced, below an epsilon of 0.7 signs)"),
    SETTING("classes", WHOLE, AT(classes), 2, 65535, NULL, NULL,
            "classes to choose for (the label's)"),
    SETTING("people", WHOLE, AT(people), 1, 1000000000, NULL, NULL,
            "how many will report, to choose k for (as many\n"
            "as there are auxiliary records)"),
    SETTING("balanced", FLAG, AT(balanced), 0, 0, NULL, NULL,
            "classes are equally frequent, and fit will be\n"
            "told so: what signs needs"),
    SETTING("bins", WHOLE, AT(bins), 2, 256, NULL, NULL,
            "ranges that a number as the label is cut into,\n"
            "of which a report tells one (what reports can\n"
            "tell apart; a label with ten values or fewer is\n"
            "not cut)"),
    SETTING("cells", WHOLE, AT(cells), 2, 65536, NULL, NULL,
            "cells that codes are put together from (500; one\n"
            "for every 20 records if that is fewer, or codes\n"
            "are more than 250)"),
    SETTING("tree", WORD, AT(tree), 0, 0, NULL, "neighbours|distances",
            "what holds the cells of a code together: steps\n"
            "between neighbours (200 to 100,000 records, up to\n"
            "32 codes), or the distance of means (neighbours\n"
            "for images with more codes than classes, else\n"
            "distances)"),
    SETTING("unit", FLAG, AT(unit), 0, 0, NULL, NULL,
            "with an encoder of clm: cells of directions,\n"
            "whatever the length (so where one is trained\n"
            "first with d of 8 or more, or is taken from\n"
            "such a codebook)"),
    SETTING("books", WHOLE, AT(books), 1, 16, NULL, NULL,
            "codebooks, of which each person answers with\n"
            "one, by lot (3 up to an epsilon of 1, if classes\n"
            "are 2 to 50, else 1; up to 8 if records allow\n"
            "fewer codes than classes; with several, shifted\n"
            "of fit and private inference need another\n"
            "mechanism)"),
    SETTING("seed", SEED, AT(seed), 0, 0, "0", NULL,
            "the same seed, the same file"),
    SETTING_END};

/* ---- Settings ------------------------------------------------------------ */

static enum sotto_status
check_candidates(const struct encoder_job *job, const struct settings *set,
                 struct sotto_error *err)
{
    const char *list = set->candidates != NULL ? set->candidates : ENCODER_BASE;
    struct candidates candidates = {0};
    enum sotto_status status =
        candidates_init(&candidates, list, settings, set->seed, err);
    status =
        HOST_THEN(status, candidates_check(&candidates, job->options, err));
    candidates_clear(&candidates);
    return status;
}

static enum sotto_status
check_no_base(const struct sotto_train_options *options,
              struct sotto_error *err)
{
    const char *name = options->drops > 0 ? "drop" : NULL;
    for (size_t i = 0; name == NULL && i < options->sets; i++) {
        if (settings_find(settings, options->set[i].name) == NULL ||
            strcmp(options->set[i].name, "candidates") == 0) {
            name = options->set[i].name;
        }
    }
    return name == NULL ? SOTTO_STATUS_OK
                        : settings_fail(err, name,
                                        "is for training an encoder, and "
                                        "encoder names one: leave one of them "
                                        "out");
}

/* Finds what is wrong before an encoder is trained for it. */
static enum sotto_status
check_codebook(const struct encoder_job *job, void *own,
               struct sotto_error *err)
{
    const struct settings *set = own;
    const char *channel = set->channel;
    bool label = job->options->label != NULL;
    if (channel != NULL && strcmp(channel, "subset") != 0 &&
        strcmp(channel, "flip") != 0 && strcmp(channel, "signs") != 0) {
        return settings_fail(err, "channel",
                             "\"%.40s\" is no channel for codes: take subset, "
                             "flip or signs",
                             channel);
    }
    if (channel != NULL && strcmp(channel, "signs") == 0 && !label) {
        return settings_fail(err, "channel",
                             "signs is about a code and a label together: name "
                             "a label, or take subset or flip");
    }
    if (!label && (set->classes > 0 || set->people > 0 || set->balanced)) {
        return settings_fail(err,
                             set->classes > 0  ? "classes"
                             : set->people > 0 ? "people"
                                               : "balanced",
                             "is for choosing the number of codes, which needs "
                             "a label: name it, or leave this out");
    }
    if (job->options->encoder != NULL) {
        return SOTTO_STATUS_OK;
    }
    return set->encoder != NULL ? check_no_base(job->options, err)
                                : check_candidates(job, set, err);
}

/* ---- Facts --------------------------------------------------------------- */

/* Says what there is too little of for as many codes as reports can tell
   apart, and what to do if the classes need more. */
static void
say_shortage(const struct sotto_codebook_choice *choice, const char *what,
             size_t count, const char *advice, struct sotto_train_facts *facts)
{
    if (choice->k < choice->least) {
        fact_say(facts,
                 "%zu %s are too few for these classes: they allow %zu codes, "
                 "and\nthe classes need %zu. %s\n",
                 count, what, choice->k, choice->least, advice);
    } else {
        fact_say(facts,
                 "As many as %zu %s allow: reports of %zu people\ncan tell %zu "
                 "apart at this epsilon.\n",
                 count, what, choice->people, choice->informed);
    }
}

/* Says what decided the number of codes. */
static void
say_choice(const struct sotto_codebook *codebook,
           const struct sotto_codebook_choice *choice,
           struct sotto_train_facts *facts)
{
    switch (choice->bound) {
    case SOTTO_CODEBOOK_INFORMATION:
        fact_say(facts,
                 "As many as reports of %zu people can tell apart at this "
                 "epsilon.\n",
                 choice->people);
        break;
    case SOTTO_CODEBOOK_CLASSES:
        fact_say(facts,
                 "%s: reports of %zu people can tell "
                 "only %zu\napart at this epsilon, so expect little, or ask "
                 "more people.\n",
                 choice->k < choice->least
                     ? "Fewer than the classes need, three for each that "
                       "reports tell apart"
                     : "As few as the classes allow",
                 choice->people, choice->informed);
        break;
    case SOTTO_CODEBOOK_RECORDS:
        say_shortage(choice, "auxiliary records",
                     sotto_codebook_records(codebook),
                     "Take more auxiliary records.", facts);
        break;
    case SOTTO_CODEBOOK_CELLS:
        say_shortage(choice, "cells", sotto_codebook_cells(codebook),
                     "Ask for more cells.", facts);
        break;
    case SOTTO_CODEBOOK_PAIRS:
        fact_say(facts,
                 "As many as a report can name with a label: at most %u "
                 "pairs.\n",
                 CHANNEL_K_MAX);
        break;
    case SOTTO_CODEBOOK_COLUMNS:
        fact_say(facts,
                 "Reports of %zu people tell enough of each column at this "
                 "epsilon, and no\nencoder is needed.\n",
                 choice->people);
        break;
    case SOTTO_CODEBOOK_THIN:
        fact_say(facts,
                 "Reports of %zu people tell little of %zu columns at this "
                 "epsilon: codes of\nan encoder's cells would serve better.\n",
                 choice->people, choice->books);
        break;
    case SOTTO_CODEBOOK_GIVEN:
    default:
        break;
    }
}

/* Says what the codes are of. */
static void
say_codes(const struct sotto_codebook *codebook,
          const struct sotto_codebook_choice *choice,
          struct sotto_train_facts *facts)
{
    if (codebook->columns > 0) {
        fact_say(facts,
                 "A book of %zu codes for each of %zu column%s: a person tells "
                 "of one, by lot,\ntogether with the label, by %s.\n",
                 choice->k, choice->books, choice->books > 1 ? "s" : "",
                 choice->channel);
        return;
    }
    if (choice->books > 1) {
        fact_say(facts, "%zu books of ", choice->books);
    }
    fact_say(facts,
             "%zu codes, from %zu cells of %zu records, by %s.\nThe cells of a "
             "code are held together by %s.\n",
             choice->k, sotto_codebook_cells(codebook),
             sotto_codebook_records(codebook), choice->channel,
             codebook_tree(codebook));
}

static void
tell_codes(const struct sotto_codebook *codebook,
           const struct sotto_codebook_choice *choice,
           struct sotto_train_facts *facts)
{
    fact_whole(facts, "cells", sotto_codebook_cells(codebook));
    fact_whole(facts, "k", choice->k);
    fact_text(facts, "channel", choice->channel);
    fact_whole(facts, "books", choice->books);
    fact_text(facts, "tree", codebook_tree(codebook));
    fact_flag(facts, "thin", choice->bound == SOTTO_CODEBOOK_THIN);
    say_codes(codebook, choice, facts);
    if (choice->bound != SOTTO_CODEBOOK_GIVEN) {
        fact_whole(facts, "people", choice->people);
        fact_whole(facts, "k_information", choice->informed);
        fact_whole(facts, "k_classes", choice->least);
        say_choice(codebook, choice, facts);
    }
}

/* ---- Fitting ------------------------------------------------------------- */

/* Whether an encoder was trained here with so many numbers that a record is
   told by their direction alone. */
static bool
is_wide(const struct candidate *candidate)
{
    return candidate->kind != NULL &&
           strcmp(candidate->kind, ENCODER_BASE) == 0 &&
           candidate->encoder->shape.z >= UNIT_D;
}

static struct sotto_codebook_options
options_of(const struct encoder_job *job, const struct settings *set, bool wide)
{
    const struct sotto_train_options *options = job->options;
    return (struct sotto_codebook_options){.label = options->label,
                                           .bins = set->bins,
                                           .name = options->name,
                                           .campaign = options->campaign,
                                           .schema = options->schema,
                                           .cells = set->cells,
                                           .unit = set->unit || wide,
                                           .tree = set->tree,
                                           .seed = set->seed,
                                           .threads = options->threads,
                                           .watch = options->watch};
}

static struct sotto_codebook_wanted
wanted_of(const struct encoder_job *job, const struct settings *set)
{
    return (struct sotto_codebook_wanted){.eps = job->options->eps,
                                          .people = set->people,
                                          .classes = set->classes,
                                          .balanced = set->balanced,
                                          .k = set->k,
                                          .channel = set->channel,
                                          .books = set->books};
}

/* Chooses k, channel and books, and makes cells for them. Where records that
   differ are fewer than k, there are as many codes. */
static enum sotto_status
choose_codes(const struct encoder_job *job, const struct settings *set,
             struct sotto_codebook *codebook,
             struct sotto_codebook_choice *choice, struct sotto_error *err)
{
    const struct sotto_codebook_wanted wanted = wanted_of(job, set);
    enum sotto_status status = job->choose(codebook, &wanted, choice, err);
    choice->books = choice->books > 0 ? choice->books : 1;
    if (status == SOTTO_STATUS_OK &&
        choice->k <= codebook_cells_most(codebook)) {
        status = codebook_prepare(codebook, choice->books, choice->k, err);
    }
    if (status == SOTTO_STATUS_OK && set->k == 0 &&
        choice->k > sotto_codebook_cells(codebook)) {
        choice->k = sotto_codebook_cells(codebook);
        choice->bound = SOTTO_CODEBOOK_CELLS;
    }
    return status;
}

/* Cells, choice, files. */
static enum sotto_status
make_codes(const struct encoder_job *job, const struct settings *set,
           const struct sotto_mechanism *encoder, bool wide,
           const struct candidates *candidates, struct sotto_error *err)
{
    const struct sotto_train_options *options = job->options;
    struct sotto_codebook_options with = options_of(job, set, wide);
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook *codebook = NULL;
    enum sotto_status status =
        sotto_codebook_new(job->table, encoder, &with, &codebook, err);
    if (status == SOTTO_STATUS_OK) {
        codebook->candidates = candidates;
        status = choose_codes(job, set, codebook, &choice, err);
    }
    status = HOST_THEN(status, sotto_codebook_write(
                                   codebook, &choice, options->eps, job->path,
                                   job->analyst_path, job->ret_mechanism, err));
    if (status == SOTTO_STATUS_OK) {
        tell_codes(codebook, &choice, job->facts);
    }
    sotto_codebook_free(codebook);
    return status;
}

/* Looks at what a candidate sees, with as many parts as there will be codes. */
static enum sotto_status
look_at(struct candidate *candidate, const struct encoder_job *job,
        const struct settings *set, struct sotto_error *err)
{
    struct sotto_codebook_options with =
        options_of(job, set, is_wide(candidate));
    const struct sotto_codebook_wanted wanted = wanted_of(job, set);
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook *codebook = NULL;
    enum sotto_status status = codebook_new_some(
        job->table, candidate->encoder, &with, SIGHT_RECORDS, &codebook, err);
    status = HOST_THEN(status, job->choose(codebook, &wanted, &choice, err));
    status = HOST_THEN(
        status,
        sight_init(&candidate->sight, &codebook->clustering, codebook->pool,
                   codebook->backend, codebook->place, codebook->n, codebook->d,
                   choice.k, set->seed, &job->options->watch, err));
    sotto_codebook_free(codebook);
    return status;
}

static void
tell_base(const struct candidate *kept, struct sotto_train_facts *facts)
{
    if (!isnan(kept->epochs)) {
        fact_whole(facts, "epochs", (uint64_t)kept->epochs);
        fact_number(facts, "loss", kept->loss);
        fact_flag(facts, "resumed", kept->resumed);
        fact_say(facts, "Trained an encoder for %.0f epoch%s: loss %.4g.\n",
                 kept->epochs, kept->epochs > 1 ? "s" : "", kept->loss);
    }
}

/* Trains the candidates, scores them if they are several, keeps one. */
static enum sotto_status
find_encoder(const struct encoder_job *job, const struct settings *set,
             const char *list, struct candidates *candidates, bool *ret_trained,
             struct sotto_error *err)
{
    size_t rows = sotto_table_rows(job->table);
    enum sotto_status status =
        candidates_init(candidates, list, settings, set->seed, err);
    candidates->unlabelled = set->bins > 0;
    if (status == SOTTO_STATUS_OK && candidates->count > 1 &&
        rows < SIGHT_RECORDS_LEAST) {
        return settings_fail(err, "candidates",
                             "are compared by %zu records at least, and there "
                             "%s %zu: name one",
                             SIGHT_RECORDS_LEAST, rows == 1 ? "is" : "are",
                             rows);
    }
    status = HOST_THEN(status, candidates_train(candidates, job,
                                                set->candidates == NULL, err));
    *ret_trained = status == SOTTO_STATUS_OK;
    if (status != SOTTO_STATUS_OK || candidates->count == 1) {
        return status;
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < candidates->count;
         i++) {
        if (candidates->candidate[i].encoder != NULL) {
            status = look_at(&candidates->candidate[i], job, set, err);
        }
    }
    status = HOST_THEN(status, candidates_choose(candidates, err));
    if (status == SOTTO_STATUS_OK) {
        candidates_tell(candidates, job->facts);
    }
    return status;
}

/* Whether nothing is asked for that only codes of cells have, and there is a
   label to learn: columns are looked at first then. */
static bool
may_be_columns(const struct encoder_job *job, const struct settings *set)
{
    bool own = true;
    for (size_t i = 0; i < job->options->sets; i++) {
        own = own && settings_find(settings, job->options->set[i].name) != NULL;
    }
    return own && set->candidates == NULL && set->tree == NULL && set->k == 0 &&
           set->cells == 0 && set->books == 0 && !set->unit &&
           job->options->label != NULL &&
           strcmp(candidates_for(job->table, job->options), CANDIDATES_TABLE) ==
               0;
}

/* Finds whether reports will tell enough of every column by itself. Columns
   that cannot be taken as they are, for whatever reason, are not. */
static enum sotto_status
look_at_columns(const struct encoder_job *job, const struct settings *set,
                bool *ret_columns, struct sotto_error *err)
{
    const struct sotto_codebook_wanted wanted = wanted_of(job, set);
    struct sotto_codebook_options with = options_of(job, set, false);
    struct sotto_codebook_choice choice = {0};
    struct sotto_codebook *codebook = NULL;
    struct candidates candidates = {0};
    struct sotto_error ignored = {0};
    enum sotto_status status = candidates_init(&candidates, CANDIDATES_COLUMNS,
                                               settings, set->seed, err);
    candidates.unlabelled = set->bins > 0;
    *ret_columns = false;
    if (status != SOTTO_STATUS_OK) {
        candidates_clear(&candidates);
        return status;
    }
    status = candidates_train(&candidates, job, false, &ignored);
    status = HOST_THEN(
        status, codebook_new_some(job->table, candidates.candidate[0].encoder,
                                  &with, SIGHT_RECORDS, &codebook, &ignored));
    status =
        HOST_THEN(status, job->choose(codebook, &wanted, &choice, &ignored));
    *ret_columns =
        status == SOTTO_STATUS_OK && choice.bound == SOTTO_CODEBOOK_COLUMNS;
    sotto_codebook_free(codebook);
    candidates_clear(&candidates);
    return status == SOTTO_STATUS_STOPPED || status == SOTTO_STATUS_MEMORY
               ? host_fail(err, status, 0, "%s", ignored.message)
               : SOTTO_STATUS_OK;
}

/* Counts the label's classes in the table. */
static enum sotto_status
count_classes(const struct encoder_job *job, const struct settings *set,
              size_t *ret_classes, struct sotto_error *err)
{
    struct schema schema = {0};
    size_t column = 0;
    enum sotto_status status =
        schema_fit_find(job->table, "label", job->options->label, &column, err);
    status = HOST_THEN(status, schema_init(&schema, 1, err));
    status =
        HOST_THEN(status, schema_fit_label(&schema, job->table, column,
                                           schema_fit_as(job->options->schema,
                                                         job->table, column),
                                           set->bins, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_classes = schema.column[0].count - 1;
    }
    schema_clear(&schema);
    return status;
}

/* Finds what is wrong with the records before encoders are trained on them. */
static enum sotto_status
check_records(const struct encoder_job *job, const struct settings *set,
              struct sotto_error *err)
{
    size_t classes = 2;
    enum sotto_status status = job->options->label != NULL
                                   ? count_classes(job, set, &classes, err)
                                   : SOTTO_STATUS_OK;
    if (status == SOTTO_STATUS_OK && classes < 2 && set->k == 0 &&
        set->classes == 0) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_USAGE, 0,
                      "the label has one value only, and k is chosen for two "
                      "classes or more: give records of every class, or say "
                      "how many classes people have"),
            err, "classes");
    }
    return HOST_THEN(status,
                     codebook_check(sotto_table_rows(job->table), set->cells,
                                    set->tree, set->k, err));
}

/* Whether somebody must change the command: running it again is no use. */
static bool
is_refusal(enum sotto_status status)
{
    return status == SOTTO_STATUS_USAGE || status == SOTTO_STATUS_INPUT ||
           status == SOTTO_STATUS_LIMIT;
}

static enum sotto_status
fit_candidates(const struct encoder_job *job, const struct settings *set,
               struct sotto_error *err)
{
    struct candidates candidates = {0};
    const char *list = set->candidates;
    bool trained = false, columns = false;
    enum sotto_status status = check_records(job, set, err);
    if (status == SOTTO_STATUS_OK && may_be_columns(job, set)) {
        status = look_at_columns(job, set, &columns, err);
    }
    if (list == NULL) {
        list = columns ? CANDIDATES_COLUMNS
                       : candidates_for(job->table, job->options);
    }
    status = HOST_THEN(
        status, find_encoder(job, set, list, &candidates, &trained, err));
    if (status == SOTTO_STATUS_OK) {
        const struct candidate *kept = &candidates.candidate[candidates.kept];
        tell_base(kept, job->facts);
        status = make_codes(job, set, kept->encoder, is_wide(kept),
                            candidates.count > 1 ? &candidates : NULL, err);
    }
    if ((status == SOTTO_STATUS_OK && job->path != NULL) ||
        (trained && is_refusal(status))) {
        candidates_forget(&candidates, job->options->checkpoint);
    }
    candidates_clear(&candidates);
    return status;
}

static enum sotto_status
fit_codebook(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct settings *set = own;
    struct sotto_mechanism *encoder = NULL;
    size_t bins = 0;
    enum sotto_status status = codebook_bins(
        job->table, job->options, set->people, set->bins, &bins, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    set->bins = (uint32_t)bins;
    if (job->options->encoder != NULL) {
        return make_codes(job, set, job->options->encoder, false, NULL, err);
    }
    if (set->encoder == NULL) {
        return fit_candidates(job, set, err);
    }
    status = sotto_mechanism_read(set->encoder, &encoder, err);
    status = HOST_THEN(status, make_codes(job, set, encoder, false, NULL, err));
    sotto_mechanism_free(encoder);
    return status;
}

const struct encoder encoder_codebook = {
    .kind =
        {.name = "codebook",
         .about =
             "which of k codes a record has, reported as one with the "
             "label:\n"
             "for learning at a small epsilon. Tells little of a record "
             "but its\n"
             "class. Without an encoder some are trained first, and the one "
             "whose\n"
             "parts others and other records confirm is kept. If stopped, the\n"
             "same command resumes.",
         .analyst = "codes and representations",
         .trains = true},
    .settings = settings,
    .own_size = sizeof(struct settings),
    .base = ENCODER_BASE,
    .check = check_codebook,
    .fit = fit_codebook,
};
