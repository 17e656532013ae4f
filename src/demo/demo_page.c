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
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"
#include "host/template.h"
#include "host/values.h"

#define TEXT_MOST (16u << 20)
#define LEVELS 15u /* of grey, above black */

/* The plot's field in the template. */
#define LEFT 62.0
#define RIGHT 736.0
#define TOP 16.0
#define BOTTOM 300.0

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
    json_t *dots = host_values_list(curve, "dots", demo->budgets);
    const struct demo_budget *next = NULL;
    double last = 0;
    host_values_size(curve, "learner", learner);
    host_text_init(&points, TEXT_MOST);
    while ((next = find_next(demo, last)) != NULL) {
        host_text_print(&points, "%s%.1f,%.1f", last > 0 ? " " : "",
                        x_of(demo, next->eps), y_of(next->accuracy[learner]));
        last = next->eps;
    }
    host_values_take(curve, "points", &points);
    for (size_t i = 0; i < demo->budgets; i++) {
        json_t *dot = json_array_get(dots, i);
        host_values_text(dot, "x", "%.1f", x_of(demo, demo->budget[i].eps));
        host_values_text(dot, "y", "%.1f",
                         y_of(demo->budget[i].accuracy[learner]));
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
            host_values_size(level, "level", i);
            host_values_take(level, "path", &path);
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
    host_values_size(values, "k", k);
    host_values_take(values, "path", &path);
}

static void
set_person(json_t *values, const struct demo *demo,
           const struct demo_person *person)
{
    json_t *reports = host_values_list(values, "reports", demo->budgets);
    host_values_text(values, "label", "%s", person->label);
    host_values_size(values, "symbol", person->symbol);
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
        host_values_text(values, demo_learner_name[i], "%.1f",
                         100 * accuracy[i]);
    }
    host_values_text(values, "codes_round", "%.0f",
                     100 * accuracy[DEMO_LEARNER_CODES]);
    host_values_text(values, "x", "%.1f", x_of(demo, budget->eps));
    host_values_text(values, "y", "%.1f", y_of(accuracy[DEMO_LEARNER_CODES]));
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
    host_values_text(values, "odds", "%.*f", odds < 100 ? 2 : 0, odds);
    host_values_text(values, "belief", "%.5g",
                     fmin(ceil(1e5 / (1 + exp(-eps))) / 1e3, 99.999));
    host_values_text(values, "advantage", "%.4g", tanh(eps / 2));
    host_values_text(values, "keep", "%.1f",
                     100 * (w / (w + (n - w) * exp(-eps))));
}

static void
set_cells(json_t *values, const struct demo_cell *cells, size_t k)
{
    size_t shown = k < DEMO_CELLS ? k : DEMO_CELLS;
    json_t *list = host_values_list(values, "codes_shown", shown);
    host_values_bool(values, "some", shown < k);
    host_values_size(values, "shown", shown);
    for (size_t i = 0; i < shown; i++) {
        json_t *cell = json_array_get(list, i);
        set_digit(cell, cells[i].image);
        host_values_text(cell, "label", "%s", cells[i].label);
        host_values_text(cell, "sure", "%.0f", 100 * cells[i].sure);
    }
}

static void
set_budget(json_t *values, const struct demo *demo, size_t at)
{
    const struct demo_budget *budget = &demo->budget[at];
    char campaign[DEMO_NAME_SIZE];
    host_values_text(values, "eps", "%s", budget->text);
    host_values_bool(values, "headline", budget == demo_headline(demo));
    host_values_text(values, "campaign", "%s", demo_campaign(budget, campaign));
    host_values_size(values, "k", budget->k);
    host_values_size(values, "named", budget->named);
    host_values_size(values, "pairs", budget->pairs);
    host_values_size(values, "report_size", budget->report_size);
    host_values_size(values, "numbers_size", budget->numbers_size);
    host_values_text(values, "lambda", "%g", budget->setting->lambda);
    host_values_text(values, "decay", "%g", budget->setting->decay);
    host_values_text(values, "entropy", "%g", budget->setting->entropy);
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
        host_values_text(values, constants[i][0], "%s", constants[i][1]);
    }
    host_values_size(values, "epochs", effort->epochs);
    host_values_size(values, "numbers_epochs", effort->numbers_epochs);
    host_values_size(values, "fit_epochs", effort->fit_epochs);
    host_values_size(values, "restarts", effort->restarts);
    host_values_bool(values, "networks", effort->restarts != 1);
    host_values_size(values, "prior", effort->prior);
    host_values_size(values, "batches", DEMO_BATCHES);
    host_values_size(values, "particles", effort->particles);
    host_values_text(values, "rate", "%g", DEMO_RATE);
    host_values_text(values, "share_weight", "%g", DEMO_SHARE_WEIGHT);
    host_values_text(values, "seed", "%" PRIu64, demo->seed);
    host_values_bool(values, "quick", demo->quick);
}

static void
set_story(json_t *values, const struct demo *demo)
{
    host_values_size(values, "auxiliary", demo->auxiliary);
    host_values_size(values, "people", demo->people);
    host_values_size(values, "test", demo->test);
    host_values_size(values, "devices", demo->devices);
    host_values_size(values, "cells", demo->cells);
    host_values_text(values, "first_eps", "%s", demo->budget[0].text);
    host_values_text(values, "clean", "%.1f", 100 * demo->clean);
    host_values_text(values, "clean_y", "%.1f", y_of(demo->clean));
    host_values_text(values, "comment", "%s", demo->comment);
}

static void
set_lists(json_t *values, const struct demo *demo)
{
    size_t headline = (size_t)(demo_headline(demo) - demo->budget);
    json_t *budgets = host_values_list(values, "budgets", demo->budgets);
    json_t *headlines = host_values_list(values, "headlines", 1);
    json_t *curves = host_values_list(values, "curves", DEMO_LEARNERS);
    json_t *persons = host_values_list(values, "persons", demo->persons);
    json_t *files = host_values_list(values, "files", demo->files);
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
        host_values_text(file, "file", "%s", demo->file[i].name);
        host_values_text(file, "hash", "%s", demo->file[i].hash);
        host_values_text(file, "what", "%s", demo->file[i].what);
        host_values_size(file, "size", demo->file[i].size);
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
        host_values_text(values, "commands", "%s",
                         commands.data + strlen(first));
        host_template_fill(&page, (const char *)demo_template[1].bytes, values);
        status = write_text(demo, "report.html", &page);
    }
    json_decref(values);
    host_text_clear(&page);
    host_text_clear(&commands);
    return status;
}
