/*
 * demo_page.c: the demo's page and its commands by hand. Their words, style and
 * pictures are templates, data/demo-page.html and data/demo-by-hand.sh; here
 * are the values that fill them, by the names they have there.
 *
 * The page needs nothing from anywhere: no scripts, no fonts, no pictures but
 * those drawn in it. The commands make every file again with the other verbs,
 * as mine-..., from the same digits and the same seed. But for keys, signatures
 * and the collector's store the files are the same, byte for byte.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"
#include "host/template.h"

#define TEXT_MOST (16u << 20)
#define LEVELS 15u /* of grey, above black */

/* The plot's field in the template. */
#define LEFT 62.0
#define RIGHT 736.0
#define TOP 16.0
#define BOTTOM 300.0

/* Sets a value to a text as printf makes it. One that memory did not suffice
   for is missing, and the template says so. */
__attribute__((format(printf, 3, 4))) static void
set_text(json_t *values, const char *name, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)json_object_set_new(values, name, json_vsprintf(format, list));
    va_end(list);
}

static void
set_size(json_t *values, const char *name, size_t size)
{
    (void)json_object_set_new(values, name, json_integer((json_int_t)size));
}

static void
set_bool(json_t *values, const char *name, bool value)
{
    (void)json_object_set_new(values, name, json_boolean(value));
}

/* Sets a value to a text and empties that. */
static void
take_text(json_t *values, const char *name, struct host_text *text)
{
    (void)json_object_set_new(
        values, name,
        text->failed ? NULL : json_stringn(text->data, text->size));
    host_text_clear(text);
}

/* Sets a value to an array of `count` empty objects, for the caller to fill;
   NULL: no memory, and the value is missing. */
static json_t *
set_list(json_t *values, const char *name, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(list, json_object()) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return json_object_set_new(values, name, list) == 0 ? list : NULL;
}

/* ---- Accuracy against epsilon -------------------------------------------- */

/* Epsilons lie on a logarithmic axis. */
static double
x_of(const struct demo *demo, double eps)
{
    double low = demo->budget[0].eps, high = low;
    for (size_t i = 1; i < demo->budgets; i++) {
        low = fmin(low, demo->budget[i].eps);
        high = fmax(high, demo->budget[i].eps);
    }
    low /= 1.25;
    high *= 1.25;
    return LEFT + (RIGHT - LEFT) * log(eps / low) / log(high / low);
}

static double
y_of(double accuracy)
{
    return BOTTOM - (BOTTOM - TOP) * accuracy;
}

/* The budget with the smallest epsilon above `eps`; NULL: there is none. */
static const struct demo_budget *
find_next(const struct demo *demo, double eps)
{
    const struct demo_budget *next = NULL;
    for (size_t i = 0; i < demo->budgets; i++) {
        const struct demo_budget *budget = &demo->budget[i];
        if (budget->eps > eps && (next == NULL || budget->eps < next->eps)) {
            next = budget;
        }
    }
    return next;
}

static void
set_curve(json_t *curve, const struct demo *demo, size_t learner)
{
    struct host_text points;
    json_t *dots = set_list(curve, "dots", demo->budgets);
    const struct demo_budget *next = NULL;
    double last = 0;
    set_size(curve, "learner", learner);
    host_text_init(&points, TEXT_MOST);
    while ((next = find_next(demo, last)) != NULL) {
        host_text_print(&points, "%s%.1f,%.1f", last > 0 ? " " : "",
                        x_of(demo, next->eps), y_of(next->accuracy[learner]));
        last = next->eps;
    }
    take_text(curve, "points", &points);
    for (size_t i = 0; i < demo->budgets; i++) {
        json_t *dot = json_array_get(dots, i);
        set_text(dot, "x", "%.1f", x_of(demo, demo->budget[i].eps));
        set_text(dot, "y", "%.1f", y_of(demo->budget[i].accuracy[learner]));
    }
}

/* ---- Digits and reports -------------------------------------------------- */

static unsigned
level_of(float pixel)
{
    return (unsigned)(fminf(fmaxf(pixel, 0), 1) * LEVELS + 0.5F);
}

/* Draws the pixels of one grey level, as runs: small, and without seams. */
static void
add_level(struct host_text *path, const float image[DEMO_PIXELS],
          unsigned level)
{
    for (size_t i = 0; i < DEMO_PIXELS; i++) {
        size_t run = 0;
        while (i % DEMO_SIDE + run < DEMO_SIDE &&
               level_of(image[i + run]) == level) {
            run++;
        }
        if (run > 0) {
            host_text_print(path, "M%zu %zuh%zuv1h-%zuz", i % DEMO_SIDE,
                            i / DEMO_SIDE, run, run);
            i += run - 1;
        }
    }
}

/* Sets a digit: a path for each grey level that it has. */
static void
set_digit(json_t *values, const float image[DEMO_PIXELS])
{
    json_t *levels = json_array();
    struct host_text path;
    bool good = true;
    host_text_init(&path, TEXT_MOST);
    for (unsigned i = 1; i <= LEVELS; i++) {
        add_level(&path, image, i);
        if (path.size > 0 || path.failed) {
            json_t *level = json_object();
            set_size(level, "level", i);
            take_text(level, "path", &path);
            good = json_array_append_new(levels, level) == 0 && good;
        }
    }
    (void)json_object_set(values, "levels", good ? levels : NULL);
    json_decref(levels);
}

/* Sets the pairs that a report names: a column a code and a row a label. */
static void
set_report(json_t *values, const struct demo_report *report, size_t k)
{
    struct host_text path;
    host_text_init(&path, TEXT_MOST);
    host_text_add(&path, "", 0);
    for (size_t c = 0; c < k && c < DEMO_CODES_MAX; c++) {
        for (size_t y = 0; y < DEMO_SYMBOLS; y++) {
            if (report->names[c][y]) {
                host_text_print(&path, "M%zu %zuh1v1h-1z", c, y);
            }
        }
    }
    set_size(values, "k", k);
    take_text(values, "path", &path);
}

static void
set_person(json_t *values, const struct demo *demo,
           const struct demo_person *person)
{
    json_t *reports = set_list(values, "reports", demo->budgets);
    set_text(values, "label", "%s", person->label);
    set_size(values, "symbol", person->symbol);
    set_digit(values, person->image);
    for (size_t i = 0; i < demo->budgets; i++) {
        set_report(json_array_get(reports, i), &person->report[i],
                   demo->budget[i].k);
    }
}

/* ---- An epsilon ---------------------------------------------------------- */

static void
set_accuracy(json_t *values, const struct demo *demo,
             const struct demo_budget *budget)
{
    const double *accuracy = budget->accuracy;
    for (size_t i = 0; i < DEMO_LEARNERS; i++) {
        set_text(values, demo_learner_name[i], "%.1f", 100 * accuracy[i]);
    }
    set_text(values, "codes_round", "%.0f", 100 * accuracy[DEMO_LEARNER_CODES]);
    set_text(values, "x", "%.1f", x_of(demo, budget->eps));
    set_text(values, "y", "%.1f", y_of(accuracy[DEMO_LEARNER_CODES]));
}

/*
 * Sets what an epsilon means. The most that even odds can become, in per cent,
 * is never said to be more certain than it is, nor certain. subset names w of n
 * pairs, with the true one among them with probability
 *
 *     w e^eps / (w e^eps + n - w)
 */
static void
set_meaning(json_t *values, const struct demo_budget *budget)
{
    double eps = budget->eps, odds = exp(eps);
    double w = (double)budget->named, n = (double)budget->pairs;
    set_text(values, "odds", "%.*f", odds < 100 ? 2 : 0, odds);
    set_text(values, "belief", "%.5g",
             fmin(ceil(1e5 / (1 + exp(-eps))) / 1e3, 99.999));
    set_text(values, "advantage", "%.4g", tanh(eps / 2));
    set_text(values, "keep", "%.1f", 100 * (w / (w + (n - w) * exp(-eps))));
}

static void
set_cells(json_t *values, const struct demo_cell *cells, size_t k)
{
    size_t shown = k < DEMO_CELLS ? k : DEMO_CELLS;
    json_t *list = set_list(values, "codes_shown", shown);
    set_bool(values, "some", shown < k);
    set_size(values, "shown", shown);
    for (size_t i = 0; i < shown; i++) {
        json_t *cell = json_array_get(list, i);
        set_digit(cell, cells[i].image);
        set_text(cell, "label", "%s", cells[i].label);
        set_text(cell, "sure", "%.0f", 100 * cells[i].sure);
    }
}

static void
set_budget(json_t *values, const struct demo *demo, size_t at)
{
    const struct demo_budget *budget = &demo->budget[at];
    char campaign[DEMO_NAME_SIZE];
    set_text(values, "eps", "%s", budget->text);
    set_bool(values, "headline", budget == demo_headline(demo));
    set_text(values, "campaign", "%s", demo_campaign(budget, campaign));
    set_size(values, "k", budget->k);
    set_size(values, "named", budget->named);
    set_size(values, "pairs", budget->pairs);
    set_size(values, "report_size", budget->report_size);
    set_size(values, "numbers_size", budget->numbers_size);
    set_text(values, "lambda", "%g", budget->setting->lambda);
    set_text(values, "decay", "%g", budget->setting->decay);
    set_text(values, "entropy", "%g", budget->setting->entropy);
    set_accuracy(values, demo, budget);
    set_meaning(values, budget);
    set_cells(values, demo->cell[at], budget->k);
}

/* ---- All of it ----------------------------------------------------------- */

/* Sets what holds for every epsilon. */
static void
set_settings(json_t *values, const struct demo *demo)
{
    static const char *const constants[][2] = {
        {"name", DEMO_MECHANISM},
        {"train_eps", DEMO_TRAIN_EPS},
        {"code_d", DEMO_CODE_D},
        {"temperature", DEMO_TEMPERATURE},
        {"code_batch", DEMO_CODE_BATCH},
        {"channel", DEMO_CHANNEL},
        {"d", DEMO_D},
        {"hidden", DEMO_HIDDEN},
        {"radius", DEMO_RADIUS},
        {"eps_pre", DEMO_EPS_PRE},
        {"batch", DEMO_BATCH},
        {"train_lambda", DEMO_TRAIN_LAMBDA},
        {"store", DEMO_STORE},
        {"version", SOTTO_VERSION}};
    const struct demo_effort *effort = demo->effort;
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
        set_text(values, constants[i][0], "%s", constants[i][1]);
    }
    set_size(values, "epochs", effort->epochs);
    set_size(values, "numbers_epochs", effort->numbers_epochs);
    set_size(values, "fit_epochs", effort->fit_epochs);
    set_size(values, "restarts", effort->restarts);
    set_bool(values, "networks", effort->restarts != 1);
    set_size(values, "prior", effort->prior);
    set_size(values, "batches", DEMO_BATCHES);
    set_size(values, "particles", DEMO_PARTICLES);
    set_text(values, "rate", "%g", DEMO_RATE);
    set_text(values, "share_weight", "%g", DEMO_SHARE_WEIGHT);
    set_text(values, "seed", "%" PRIu64, demo->seed);
    set_bool(values, "quick", demo->quick);
}

static void
set_story(json_t *values, const struct demo *demo)
{
    set_size(values, "auxiliary", demo->auxiliary);
    set_size(values, "people", demo->people);
    set_size(values, "test", demo->test);
    set_size(values, "devices", demo->devices);
    set_size(values, "cells", demo->cells);
    set_text(values, "first_eps", "%s", demo->budget[0].text);
    set_text(values, "clean", "%.1f", 100 * demo->clean);
    set_text(values, "clean_y", "%.1f", y_of(demo->clean));
    set_text(values, "comment", "%s", demo->comment);
}

static void
set_lists(json_t *values, const struct demo *demo)
{
    size_t headline = (size_t)(demo_headline(demo) - demo->budget);
    json_t *budgets = set_list(values, "budgets", demo->budgets);
    json_t *headlines = set_list(values, "headlines", 1);
    json_t *curves = set_list(values, "curves", DEMO_LEARNERS);
    json_t *persons = set_list(values, "persons", demo->persons);
    json_t *files = set_list(values, "files", demo->files);
    for (size_t i = 0; i < demo->budgets; i++) {
        set_budget(json_array_get(budgets, i), demo, i);
    }
    set_budget(json_array_get(headlines, 0), demo, headline);
    for (size_t i = 0; i < DEMO_LEARNERS; i++) { /* sotto's is on top */
        set_curve(json_array_get(curves, i), demo, DEMO_LEARNERS - 1 - i);
    }
    for (size_t i = 0; i < demo->persons; i++) {
        set_person(json_array_get(persons, i), demo, &demo->person[i]);
    }
    for (size_t i = 0; i < demo->files; i++) {
        json_t *file = json_array_get(files, i);
        set_text(file, "file", "%s", demo->file[i].name);
        set_text(file, "hash", "%s", demo->file[i].hash);
        set_text(file, "what", "%s", demo->file[i].what);
        set_size(file, "size", demo->file[i].size);
    }
}

/* Writes a text to a file of the folder. Returns the exit status. */
static int
write_text(const struct demo *demo, const char *name,
           const struct host_text *text)
{
    const struct sotto_error err = {.status = SOTTO_STATUS_MEMORY};
    return text->failed ? cli_fail(&err)
                        : demo_write(demo, name, text->data, text->size);
}

int
demo_page_write(const struct demo *demo)
{
    static const char first[] = "#!/bin/sh -e\n# The demo by hand, in its "
                                "folder, with sotto on the PATH.\n";
    struct host_text commands, page;
    json_t *values = json_object();
    host_text_init(&commands, TEXT_MOST);
    host_text_init(&page, TEXT_MOST);
    set_settings(values, demo);
    set_story(values, demo);
    set_lists(values, demo);
    host_text_print(&commands, "%s", first);
    host_template_fill(&commands, (const char *)demo_template[0].bytes, values);
    int status = write_text(demo, "by-hand.sh", &commands);
    if (status == CLI_EXIT_DONE) {
        set_text(values, "commands", "%s", commands.data + strlen(first));
        host_template_fill(&page, (const char *)demo_template[1].bytes, values);
        status = write_text(demo, "report.html", &page);
    }
    json_decref(values);
    host_text_clear(&page);
    host_text_clear(&commands);
    return status;
}
