/*
 * classifier_fit.c: a classifier of representations from reports of a codebook
 * mechanism.
 *
 *     aux -> pi                      shares of the cells
 *     reports -> codes -> tau        what all of them say: by leaves of z
 *                                    (smooth.c), or where they say much or
 *                                    codes are many, by codes (cells.c)
 *     tau -> network                 classifier.c
 *
 * With many cells a class the network then climbs the likelihood: nine tenths
 * of the reports are tried first, and the other tenth says how many steps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/settings.h"
#include "learn/codes/classifier.h"
#include "learn/codes/smooth_leaves.h"
#include "learn/labels.h"
#include "random/permute.h"
#include "random/seeded.h"

#define VALIDATION 0.1
#define HELD_LEAST 100u /* reports that score, else none does */
#define CELL_COUNT 0.5  /* added to each cell's */
#define SHIFT_ROUNDS 2u
#define SPLIT_STREAM UINT64_C(0x73706c69740000)

struct fit {
    const struct codes_shape *shape;
    const uint8_t **report; /* by lot: those that score come last */
    uint32_t *times;        /* how often each came; NULL: once */
    size_t reports;         /* rows of these */
    double people;
    const struct classifier_aux *aux; /* known */
    struct classifier_aux known;
    const struct learn_options *options;
    uint32_t steps; /* up the likelihood */
    struct smooth_leaves leaves;
    struct networks_plan plan;
    double *share; /* of the classes, where known; else NULL */
    double *pi;    /* among the auxiliary records */
    struct codes codes, held;
    struct codes *more; /* of the books but the first */
    size_t *first;      /* where a book's reports begin; their end, too */
    struct host_pool *pool;
    struct tensor_backend *backend;
    struct classifier *classifier;
    struct classifier_info info;
};

static void
fit_clear(struct fit *fit)
{
    free(fit->report);
    free(fit->times);
    free(fit->share);
    free(fit->pi);
    codes_clear(&fit->codes);
    codes_clear(&fit->held);
    for (size_t b = 1; fit->more != NULL && b < fit->shape->books; b++) {
        codes_clear(&fit->more[b - 1]);
    }
    free(fit->more);
    free(fit->first);
    smooth_leaves_clear(&fit->leaves);
    classifier_free(fit->classifier);
}

/* ---- What is known ------------------------------------------------------- */

static enum sotto_status
check_classifier(const struct fit *fit, struct sotto_error *err)
{
    const struct classifier_aux *aux = fit->aux;
    if (fit->shape->symbols < 2) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "the mechanism has no label: nothing to learn to "
                         "tell from its reports");
    }
    if (aux->n == 0 || aux->d == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "learning from codes needs auxiliary records");
    }
    for (size_t m = 0; m < aux->n * fit->shape->books; m++) {
        if (aux->code[m] >= fit->shape->cells) {
            return host_fail(err, SOTTO_STATUS_INPUT, m % aux->n,
                             "auxiliary record %zu has code %u, and there are "
                             "%zu codes",
                             m % aux->n + 1, aux->code[m], fit->shape->cells);
        }
    }
    if (fit->shape->books > 1 && fit->options->shifted) {
        return settings_fail(err, "shifted",
                             "is for one codebook, and reports are about one "
                             "of %zu: leave it out",
                             fit->shape->books);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
set_share(struct fit *fit, struct sotto_error *err)
{
    size_t classes = fit->shape->classes;
    if (!fit->options->balanced) {
        return SOTTO_STATUS_OK;
    }
    fit->share = malloc(classes * sizeof *fit->share);
    if (fit->share == NULL) {
        return host_fail_memory(err);
    }
    labels_balance(classes, classes == fit->shape->symbols, fit->share);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
set_pi(struct fit *fit, struct sotto_error *err)
{
    size_t cells = fit->shape->cells;
    double all = (double)fit->aux->n + CELL_COUNT * (double)cells;
    fit->pi = malloc(cells * sizeof *fit->pi);
    if (fit->pi == NULL) {
        return host_fail_memory(err);
    }
    for (size_t c = 0; c < cells; c++) {
        fit->pi[c] = CELL_COUNT / all;
    }
    for (size_t m = 0; m < fit->aux->n; m++) {
        fit->pi[fit->aux->code[m]] += 1 / all;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
set_reports(struct fit *fit, const struct codes_reports *reports,
            struct sotto_error *err)
{
    size_t n = fit->reports;
    fit->people = (double)n;
    if (reports->report != NULL) {
        fit->report = malloc((n + 1) * sizeof *fit->report);
        if (fit->report == NULL) {
            return host_fail_memory(err);
        }
        memcpy(fit->report, reports->report, n * sizeof *fit->report);
    }
    if (reports->times == NULL) {
        permute(fit->report, sizeof *fit->report, n, PERMUTE_DOWN,
                fit->options->seed, SPLIT_STREAM);
        return SOTTO_STATUS_OK;
    }
    fit->times = malloc((n + 1) * sizeof *fit->times);
    if (fit->times == NULL) {
        return host_fail_memory(err);
    }
    fit->people = 0;
    for (size_t i = 0; i < n; i++) {
        fit->times[i] = reports->times[i];
        fit->people += (double)fit->times[i];
    }
    if (fit->report == NULL) { /* each is in two rows of every pair's */
        fit->people /= (double)(fit->shape->cells * fit->shape->classes);
    }
    return SOTTO_STATUS_OK;
}

/* What some rows say, from `first` to before `end`; `times` stands for what the
   fit has. */
static enum sotto_status
read_rows(const struct fit *fit, size_t first, size_t end,
          const uint32_t *times, struct codes *codes, struct sotto_error *err)
{
    const struct codes_reports rows = {
        .report = fit->report != NULL ? fit->report + first : NULL,
        .times = times != NULL ? times + first : NULL,
        .rows = end - first};
    return codes_init_times(codes, fit->shape, &rows, fit->pool, err);
}

/* ---- Books --------------------------------------------------------------- */

/* Counts are in the order of their books already. */
static enum sotto_status
set_books(struct fit *fit, struct sotto_error *err)
{
    size_t books = fit->shape->books;
    fit->first = calloc(books + 1, sizeof *fit->first);
    if (fit->first == NULL) {
        return host_fail_memory(err);
    }
    for (size_t b = 0; b <= books; b++) {
        fit->first[b] = b * (fit->reports / books);
    }
    return SOTTO_STATUS_OK;
}

/* Puts the reports in the order of their books, and notes where each begins. */
static enum sotto_status
sort_books(struct fit *fit, struct sotto_error *err)
{
    size_t books = fit->shape->books, at = 0;
    const uint8_t **sorted = malloc((fit->reports + 1) * sizeof *sorted);
    uint32_t *times = malloc((fit->reports + 1) * sizeof *times);
    fit->first = calloc(books + 1, sizeof *fit->first);
    if (sorted == NULL || times == NULL || fit->first == NULL) {
        free(sorted);
        free(times);
        return host_fail_memory(err);
    }
    for (size_t b = 0; b < books; b++) {
        for (size_t i = 0; i < fit->reports; i++) {
            if (codes_book(fit->shape, fit->report[i]) == b) {
                times[at] = fit->times != NULL ? fit->times[i] : 1;
                sorted[at++] = fit->report[i];
            }
        }
        fit->first[b + 1] = at;
    }
    free(fit->report);
    fit->report = sorted;
    if (fit->times != NULL) {
        memcpy(fit->times, times, fit->reports * sizeof *times);
    }
    free(times);
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_book(struct fit *fit, size_t book, struct codes *codes,
          struct sotto_error *err)
{
    size_t first = fit->first[book], end = fit->first[book + 1];
    if (end == first && book > 0 && fit->aux->plain) {
        return SOTTO_STATUS_OK; /* what it is about, the others leave open */
    }
    if (end == first) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "no report is about book %zu of %zu: %zu reports are "
                         "too few, collect more",
                         book + 1, fit->shape->books, fit->reports);
    }
    return read_rows(fit, first, end, fit->times, codes, err);
}

/* What the reports of each book say. */
static enum sotto_status
read_books(struct fit *fit, struct sotto_error *err)
{
    enum sotto_status status =
        fit->report != NULL ? sort_books(fit, err) : set_books(fit, err);
    status = HOST_THEN(status, read_book(fit, 0, &fit->codes, err));
    if (status == SOTTO_STATUS_OK) {
        fit->more = calloc(fit->shape->books, sizeof *fit->more);
        status = fit->more != NULL ? status : host_fail_memory(err);
    }
    for (size_t b = 1; status == SOTTO_STATUS_OK && b < fit->shape->books;
         b++) {
        status = read_book(fit, b, &fit->more[b - 1], err);
    }
    return status;
}

/* ---- Cells --------------------------------------------------------------- */

/* Even, where it is not known. */
static void
set_known_share(const struct fit *fit, double *ret_share)
{
    size_t classes = fit->shape->classes;
    for (size_t y = 0; y < classes; y++) {
        ret_share[y] = fit->share != NULL ? fit->share[y] : 1 / (double)classes;
    }
}

/* Whether labels are learnt by leaves. A code's labels must be in doubt, codes
   coarser than leaves, and classes not too many. */
static bool
is_for_leaves(const struct fit *fit, size_t wanted)
{
    size_t cells = fit->classifier->cells, classes = fit->classifier->classes;
    return classes >= 2 && cells >= 2 &&
           fit->info.cells.error >= CELLS_ERROR_TABLE &&
           cells <= CLASSIFIER_SMOOTH_CELLS &&
           smooth_leaves_are_cheap(wanted, cells, classes);
}

/* Makes records with the same codes a leaf, where books are of columns. */
static enum sotto_status
take_records(struct fit *fit, struct sotto_error *err)
{
    size_t books = fit->shape->books, cells = fit->classifier->cells;
    enum sotto_status status;
    if (!smooth_leaves_plain_cheap(fit->aux->n, books * cells,
                                   fit->classifier->classes)) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%zu codes of %zu columns and %zu classes are too "
                         "many to learn: train a mechanism of cells",
                         cells, books, fit->classifier->classes);
    }
    status = smooth_leaves_plain(&fit->leaves, fit->aux->code, fit->aux->n,
                                 books, fit->classifier->classes, err);
    return HOST_THEN(status,
                     smooth_leaves_add_codes(&fit->leaves, fit->aux->code,
                                             fit->aux->n, books, cells, err));
}

/* Makes the leaves, where labels are learnt by them: with several books always,
   since these have nothing else in common. */
static enum sotto_status
choose_leaves(struct fit *fit, struct sotto_error *err)
{
    struct classifier *classifier = fit->classifier;
    size_t cells = classifier->cells, books = fit->shape->books, wanted;
    enum sotto_status status;
    double *information = calloc(fit->codes.pairs, sizeof *information), error;
    if (information == NULL) {
        return host_fail_memory(err);
    }
    set_known_share(fit, classifier->share);
    codes_information(&fit->codes, fit->pi, classifier->share, information);
    error = codes_error(&fit->codes, information) *
            sqrt((double)fit->codes.reports / fit->people); /* all books' */
    free(information);
    fit->info.cells.error = error;
    if (fit->aux->plain) {
        return take_records(fit, err);
    }
    wanted = smooth_leaves_wanted(cells, error, fit->aux->n);
    if (books == 1 && !is_for_leaves(fit, wanted)) {
        return SOTTO_STATUS_OK;
    }
    if (!smooth_leaves_are_cheap(wanted, cells, classifier->classes)) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%zu codes and %zu classes are too many to learn from "
                         "several codebooks: train a mechanism with one",
                         cells, classifier->classes);
    }
    status = smooth_leaves_init(
        &fit->leaves, fit->aux->z, fit->aux->n, fit->aux->d, fit->aux->unit,
        wanted, classifier->classes, fit->options->seed, fit->pool,
        fit->backend, &fit->options->watch, err);
    if (status == SOTTO_STATUS_OK &&
        smooth_leaves_are_cheap(wanted, books * cells, classifier->classes)) {
        status = smooth_leaves_add_codes(&fit->leaves, fit->aux->code,
                                         fit->aux->n, books, cells, err);
    }
    return status;
}

/* What each book that has reports says of leaves; the caller frees it, and the
   joints. */
static struct smooth_book *
list_books(struct fit *fit, size_t *ret_told)
{
    size_t books = fit->shape->books, n = fit->aux->n, told = 0;
    struct smooth_book *book = calloc(books, sizeof *book);
    for (size_t b = 0; book != NULL && b < books; b++) {
        if (fit->first[b + 1] > fit->first[b]) {
            book[told].codes = b > 0 ? &fit->more[b - 1] : &fit->codes;
            book[told++].joint = smooth_leaves_joint(
                &fit->leaves, fit->aux->code + b * n, n, fit->shape->cells,
                b > 0 ? NULL : fit->classifier->pi);
        }
    }
    *ret_told = told;
    return book;
}

static void
free_books(struct smooth_book *book, size_t books)
{
    for (size_t b = 0; book != NULL && b < books; b++) {
        free((void *)(uintptr_t)book[b].joint);
    }
    free(book);
}

/* tau of leaves, and of codes from it. */
static enum sotto_status
label_leaves(struct fit *fit, struct sotto_error *err)
{
    struct classifier *classifier = fit->classifier;
    size_t classes = classifier->classes, books = 0;
    struct smooth_book *book = list_books(fit, &books);
    bool room = book != NULL;
    const struct smooth_problem problem = {.book = book,
                                           .books = books,
                                           .leaves = fit->leaves.count,
                                           .classes = classes,
                                           .features = &fit->leaves.features,
                                           .share = fit->share,
                                           .plain = fit->aux->plain,
                                           .pool = fit->pool,
                                           .backend = fit->backend};
    const struct smooth_options options = {.particles = fit->options->particles,
                                           .seed = fit->options->seed,
                                           .watch = &fit->options->watch};
    enum sotto_status status;
    if (classifier->exchanged == NULL && classes <= SMOOTH_EXCHANGED_MOST) {
        classifier->exchanged =
            calloc(classes * classes, sizeof *classifier->exchanged);
        room = room && classifier->exchanged != NULL;
    }
    for (size_t b = 0; room && b < books; b++) {
        room = book[b].joint != NULL;
    }
    status = room ? smooth_fit(&problem, &options, fit->leaves.tau,
                               classifier->exchanged, &fit->info.smooth, err)
                  : host_fail_memory(err);
    if (status == SOTTO_STATUS_OK && book != NULL) {
        smooth_leaves_codes(&fit->leaves, book[0].joint, classifier->cells,
                            classifier->tau, classifier->share);
        fit->known.leaf = fit->leaves.leaf;
        fit->known.leaf_tau = fit->leaves.tau;
    }
    free_books(book, books);
    return status;
}

static enum sotto_status
label_known(struct fit *fit, struct sotto_error *err)
{
    struct classifier *classifier = fit->classifier;
    const struct cells_options options = {.share = fit->share,
                                          .seed = fit->options->seed,
                                          .watch = &fit->options->watch};
    return fit->leaves.count > 0
               ? label_leaves(fit, err)
               : cells_fit(&fit->codes, classifier->pi, &options,
                           classifier->tau, classifier->share, &fit->info.cells,
                           err);
}

/* pi given tau and tau given pi, from tau = f (or even). */
static enum sotto_status
label_shifted(struct fit *fit, struct sotto_error *err)
{
    struct classifier *classifier = fit->classifier;
    size_t classes = classifier->classes;
    enum sotto_status status = SOTTO_STATUS_OK;
    set_known_share(fit, classifier->share);
    for (size_t p = 0; p < classifier->cells * classes; p++) {
        classifier->tau[p] = classifier->share[p % classes];
    }
    for (size_t i = 0; i < SHIFT_ROUNDS && status == SOTTO_STATUS_OK; i++) {
        status = cells_shares(&fit->codes, classifier->tau, fit->pi,
                              &fit->options->watch, classifier->pi, err);
        status = HOST_THEN(status, label_known(fit, err));
    }
    return status;
}

static enum sotto_status
label_cells(struct fit *fit, struct sotto_error *err)
{
    if (fit->options->shifted) {
        return label_shifted(fit, err);
    }
    memcpy(fit->classifier->pi, fit->pi,
           fit->classifier->cells * sizeof *fit->pi);
    return label_known(fit, err);
}

/* ---- How far to climb ---------------------------------------------------- */

/* Reports that only score; 0 where the network has nothing to add to cells, or
   the reports too little to say. */
static size_t
held_of(const struct fit *fit)
{
    double share = fit->options->validation;
    size_t held;
    share = share < 0 ? 0 : share > 0 ? share : VALIDATION;
    held = (size_t)(share * fit->people);
    return held >= HELD_LEAST && fit->leaves.count == 0 &&
                   fit->info.cells.error < CLASSIFIER_ERROR_CLIMB &&
                   fit->shape->cells >=
                       CLASSIFIER_CELLS_CLIMB * fit->shape->classes
               ? held
               : 0;
}

/* Takes `held` of all reports by lot, each as likely as any other, out of what
   the rows stand for (Knuth's algorithm S): those go to ret_held. */
static void
draw_held(const struct fit *fit, size_t held, uint32_t *ret_kept,
          uint32_t *ret_held)
{
    uint64_t left = 0, wanted;
    struct seeded seeded;
    seeded_init(&seeded, fit->options->seed, SPLIT_STREAM);
    for (size_t i = 0; i < fit->reports; i++) {
        left += fit->times[i];
    }
    wanted = (uint64_t)((double)left * (double)held / fit->people);
    for (size_t i = 0; i < fit->reports; i++) {
        ret_held[i] = 0;
        for (uint32_t j = 0; j < fit->times[i]; j++, left--) {
            double at = (double)random_u32(&seeded.random) / 4294967296.0;
            if (at * (double)left < (double)wanted) {
                ret_held[i]++;
                wanted--;
            }
        }
        ret_kept[i] = fit->times[i] - ret_held[i];
    }
}

/* What those say that are learnt from, and those that score. */
static enum sotto_status
split_reports(struct fit *fit, size_t held, struct sotto_error *err)
{
    size_t rows = fit->reports, kept = rows - held;
    uint32_t *times = NULL;
    enum sotto_status status;
    if (fit->times == NULL) {
        status = read_rows(fit, 0, kept, NULL, &fit->codes, err);
        return HOST_THEN(status,
                         read_rows(fit, kept, rows, NULL, &fit->held, err));
    }
    times = calloc(2 * rows + 1, sizeof *times);
    if (times == NULL) {
        return host_fail_memory(err);
    }
    draw_held(fit, held, times, times + rows);
    status = read_rows(fit, 0, rows, times, &fit->codes, err);
    status = HOST_THEN(status,
                       read_rows(fit, 0, rows, times + rows, &fit->held, err));
    free(times);
    return status;
}

/* Tries it without those that score: `steps` is what served them best. */
static enum sotto_status
find_steps(struct fit *fit, size_t held, struct sotto_error *err)
{
    enum sotto_status status;
    codes_clear(&fit->codes);
    status = split_reports(fit, held, err);
    status = HOST_THEN(status, label_cells(fit, err));
    if (status == SOTTO_STATUS_OK) {
        fit->steps = CLASSIFIER_STEPS;
        status = classifier_train(fit->classifier, fit->aux, &fit->codes,
                                  &fit->held, fit->options, fit->steps,
                                  fit->backend, &fit->info, err);
    }
    fit->steps = (uint32_t)fit->info.steps;
    return status;
}

/* With all reports: what was found for them before is put back. */
static enum sotto_status
find_and_restore(struct fit *fit, size_t held, struct sotto_error *err)
{
    struct classifier *classifier = fit->classifier, *tried = NULL;
    struct cells_info cells = fit->info.cells;
    enum sotto_status status =
        classifier_new(classifier->in, classifier->cells, classifier->classes,
                       &fit->plan, &fit->classifier, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = find_steps(fit, held, err);
    tried = fit->classifier;
    fit->classifier = classifier;
    fit->info.cells = cells;
    classifier_free(tried);
    codes_clear(&fit->codes);
    return HOST_THEN(
        status, read_rows(fit, 0, fit->reports, fit->times, &fit->codes, err));
}

static enum sotto_status
train_classifier(struct fit *fit, struct sotto_error *err)
{
    size_t held = held_of(fit);
    double validation = 0;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (held > 0) {
        status = find_and_restore(fit, held, err);
        validation = fit->info.validation;
    }
    status = HOST_THEN(status,
                       classifier_train(fit->classifier, fit->aux, &fit->codes,
                                        NULL, fit->options, fit->steps,
                                        fit->backend, &fit->info, err));
    fit->info.validation = validation;
    return status;
}

/* Tells what the network was fitted to. */
static void
tell_targets(const struct fit *fit, float *ret_target)
{
    size_t classes = fit->classifier->classes;
    for (size_t m = 0; m < fit->aux->n; m++) {
        const double *tau = classifier_target(fit->classifier, fit->aux, m);
        for (size_t y = 0; y < classes; y++) {
            ret_target[m * classes + y] = (float)tau[y];
        }
    }
}

/* ---- All of it ----------------------------------------------------------- */

static enum sotto_status
fit_init(struct fit *fit, const struct codes_reports *reports,
         struct sotto_error *err)
{
    const struct learn_options *options = fit->options;
    enum sotto_status status = check_classifier(fit, err);
    status = HOST_THEN(status, networks_plan_init(&fit->plan, options, 1, err));
    status = HOST_THEN(status, set_share(fit, err));
    status = HOST_THEN(status, set_pi(fit, err));
    status = HOST_THEN(status, set_reports(fit, reports, err));
    status = HOST_THEN(status, classifier_new(fit->aux->d, fit->shape->cells,
                                              fit->shape->classes, &fit->plan,
                                              &fit->classifier, err));
    return status;
}

enum sotto_status
classifier_fit(const struct codes_shape *shape,
               const struct codes_reports *reports,
               const struct classifier_aux *aux,
               const struct learn_options *options, struct host_pool *pool,
               struct tensor_backend *backend,
               struct classifier **ret_classifier, float *ret_target,
               struct classifier_info *ret_info, struct sotto_error *err)
{
    struct fit fit = {.shape = shape,
                      .reports = reports->rows,
                      .known = *aux,
                      .options = options,
                      .pool = pool,
                      .backend = backend};
    enum sotto_status status;
    fit.aux = &fit.known;
    status = fit_init(&fit, reports, err);
    status = HOST_THEN(status, read_books(&fit, err));
    status = HOST_THEN(status, choose_leaves(&fit, err));
    status = HOST_THEN(status, label_cells(&fit, err));
    status = HOST_THEN(status, train_classifier(&fit, err));
    if (status == SOTTO_STATUS_OK) {
        fit.info.memory = 0;
        for (size_t b = 0; b < shape->books; b++) {
            const struct codes *codes = b > 0 ? &fit.more[b - 1] : &fit.codes;
            fit.info.memory +=
                codes->kept == NULL /* no report is about it */
                    ? 0
                    : (double)codes->blocks * CODES_BLOCK *
                          (double)(codes->pairs * codes->kept->size);
        }
        if (ret_target != NULL) {
            tell_targets(&fit, ret_target);
        }
        *ret_classifier = fit.classifier;
        fit.classifier = NULL;
        if (ret_info != NULL) {
            *ret_info = fit.info;
        }
    }
    fit_clear(&fit);
    return status;
}
