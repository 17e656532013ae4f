/*
 * result_page.c: one page of all results.
 *
 * The page depends on the folder's files alone: no date, no version, no order
 * that a file system has.
 */
#include "experiment/result_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/result_files.h"
#include "experiment/result_lines.h"
#include "experiment/study.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

#define TEXT_MOST ((size_t)1 << 28)
#define ANCHOR_SIZE 128u

struct page {
    struct host_text text; /* lines as long as they come */
    const struct result_folder *folder;
    const char *results, *link;
};

/* ---- Files beside the page ---------------------------------------------- */

/* Whether the folder has NAME[-PART]ENDING. */
static bool
has_file(struct page *page, const char *name, const char *part,
         const char *ending)
{
    char *path = host_text_path("%s/%s%s%s%s", page->results, name,
                                part[0] != '\0' ? "-" : "", part, ending);
    bool there = path != NULL && access(path, F_OK) == 0;
    page->text.failed = page->text.failed || path == NULL;
    free(path);
    return there;
}

static void
add_picture(struct page *page, const char *name, const char *part,
            const char *title)
{
    if (has_file(page, name, part, ".svg")) {
        host_text_print(&page->text, "\n![%s](%s/%s%s%s.svg)\n", title,
                        page->link, name, part[0] != '\0' ? "-" : "", part);
    } else {
        host_text_print(&page->text, "\nThere is no picture of it.\n");
    }
}

/* Where every fit is, and how they were made. */
static void
add_sources(struct page *page, const struct result_table *table)
{
    struct host_text *text = &page->text;
    host_text_print(text, "\n[Every fit](%s/%s.csv)", page->link, table->name);
    if (has_file(page, table->name, "", ".md")) {
        host_text_print(text, "; [settings, and what was found](%s/%s.md)",
                        page->link, table->name);
    }
    host_text_print(text, ". Seed %ju.\n", (uintmax_t)table->options.seed);
    if (table->options.command != NULL && table->mechanism == NULL) {
        study_command(text, &table->options, table->rows, table->count);
    } else if (table->options.command != NULL) {
        host_text_print(text, "\n    %s\n", table->options.command);
    }
}

/* The link to a heading that is the name: no points. */
static void
add_name(struct host_text *text, const char *name)
{
    char anchor[ANCHOR_SIZE];
    size_t size = 0;
    for (const char *at = name; *at != '\0' && size + 1 < ANCHOR_SIZE; at++) {
        if (*at != '.') {
            anchor[size++] = *at;
        }
    }
    anchor[size] = '\0';
    host_text_print(text, "[%s](#%s)", name, anchor);
}

/* ---- The index ---------------------------------------------------------- */

/* What the index says of a table of accuracies, in percent. */
struct summary {
    const struct sotto_experiment_row *best; /* under noise */
    double least, most;                      /* ours less the papers' */
    double least_eps, most_eps;
    size_t asked, reached;
};

static struct summary
summarise(const struct result_table *table)
{
    struct summary ret = {.least = NAN, .most = NAN};
    for (size_t i = 0; i < table->count; i++) {
        const struct sotto_experiment_row *row = &table->rows[i];
        double over = 100 * (row->accuracy - row->paper);
        if (!row->mean) {
            continue;
        }
        if (isfinite(row->eps) &&
            (ret.best == NULL || row->accuracy > ret.best->accuracy)) {
            ret.best = row;
        }
        if (isfinite(row->eps) && isfinite(over)) {
            if (!(ret.least <= over)) {
                ret.least = over;
                ret.least_eps = row->eps;
            }
            if (!(ret.most >= over)) {
                ret.most = over;
                ret.most_eps = row->eps;
            }
        }
        ret.asked += isfinite(row->reach) ? 1 : 0;
        ret.reached += row->accuracy >= row->reach ? 1 : 0;
    }
    return ret;
}

/* The promises of a mechanism at a level and share: those of its runs, and
   those that were not run. */
static size_t
count_promises(const struct result_table *table)
{
    struct experiment_run run = result_table_run(table);
    size_t count = 0;
    for (size_t i = 0; i < PAPERS_COLUMNS; i++) {
        count += isfinite(papers_reach(&run, papers_eps[i])) ? 1 : 0;
    }
    for (size_t i = 0; i < PAPERS_SMALL; i++) {
        count += isfinite(papers_reach(&run, papers_small[i])) ? 1 : 0;
    }
    return count;
}

static void
index_accuracy(struct host_text *text, const struct result_table *table)
{
    struct summary sum = summarise(table);
    size_t promises = count_promises(table);
    host_text_print(text, "| ");
    add_name(text, table->name);
    if (sum.best == NULL) {
        host_text_print(text, " | not run | |");
    } else {
        host_text_print(text, " | %.1f at %g |", 100 * sum.best->accuracy,
                        sum.best->eps);
        if (isfinite(sum.best->paper)) {
            host_text_print(text, " %.1f |", 100 * sum.best->paper);
        } else {
            host_text_print(text, " |");
        }
    }
    if (isfinite(sum.least)) {
        host_text_print(text, " %+.1f at %g | %+.1f at %g |", sum.least,
                        sum.least_eps, sum.most, sum.most_eps);
    } else {
        host_text_print(text, " | |");
    }
    promises = promises > sum.asked ? promises : sum.asked;
    if (promises > 0) {
        host_text_print(text, " %zu of %zu reached |\n", sum.reached, promises);
    } else {
        host_text_print(text, " |\n");
    }
}

static bool
has_table(const struct result_folder *folder,
          const struct experiment *experiment,
          const struct experiment_mechanism *mechanism)
{
    for (size_t i = 0; i < folder->tables; i++) {
        if (folder->table[i].experiment == experiment &&
            (mechanism == NULL || folder->table[i].mechanism == mechanism)) {
            return true;
        }
    }
    return false;
}

static const struct experiment *
experiment_at(size_t i)
{
    const char *about, *name = sotto_experiment_at(i, &about);
    return name != NULL ? experiment_find(name) : NULL;
}

/* The tables of accuracies, those not run as well. */
static void
add_index_accuracies(struct page *page)
{
    struct host_text *text = &page->text;
    const struct result_folder *folder = page->folder;
    const struct experiment *at;
    host_text_print(text,
                    "\n| table | best of ours | the papers there | least over "
                    "the papers | most over the papers | promises |\n"
                    "|---|---|---|---|---|---|\n");
    for (size_t i = 0; (at = experiment_at(i)) != NULL; i++) {
        for (size_t j = 0; j < folder->tables && at->study == NULL; j++) {
            if (folder->table[j].experiment == at) {
                index_accuracy(text, &folder->table[j]);
            }
        }
        for (const struct experiment_mechanism *m = at->mechanisms;
             at->study == NULL && m->name != NULL; m++) {
            if (!has_table(folder, at, m)) {
                host_text_print(text, "| %s-%s | not run | | | | |\n", at->name,
                                m->name);
            }
        }
    }
}

/* Those of losses: how much of another's loss a method spares. */
static void
add_index_losses(struct page *page)
{
    struct host_text *text = &page->text;
    const struct experiment *at;
    host_text_print(text, "\n| table | method | over | ours, %% | at epsilon | "
                          "the paper, %% | at epsilon |\n"
                          "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; (at = experiment_at(i)) != NULL; i++) {
        const struct result_table *table = page->folder->table;
        const struct result_table *end = table + page->folder->tables;
        while (table < end && table->experiment != at) {
            table++;
        }
        if (at->study == NULL) {
            continue;
        }
        if (table == end) {
            host_text_print(text, "| %s | not run | | | | | |\n", at->name);
            continue;
        }
        struct host_text before;
        host_text_init(&before, 1024);
        host_text_print(&before, "| ");
        add_name(&before, at->name);
        host_text_print(&before, " ");
        if (before.failed) {
            text->failed = true;
        } else if (!study_gains(text, at->study, table->rows, table->count,
                                before.data)) {
            host_text_print(text, "%s| no gains to compare | | | | | |\n",
                            before.data);
        }
        host_text_clear(&before);
    }
}

/* ---- A table of accuracies ---------------------------------------------- */

/* Falling epsilons, "none" behind all. */
static int
compare_eps(const void *a, const void *b)
{
    const struct sotto_experiment_row *left = a, *right = b;
    double l = isinf(left->eps) ? 0 : left->eps;
    double r = isinf(right->eps) ? 0 : right->eps;
    return (l < r) - (l > r);
}

static bool
has_mean(const struct result_table *table, double eps)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].mean && table->rows[i].eps == eps) {
            return true;
        }
    }
    return false;
}

/* A mean that was not run, with what it would have stood beside. */
static struct sotto_experiment_row
missing_mean(const struct experiment_run *run, double eps)
{
    const struct papers_row *paper = papers_find(run);
    size_t column = papers_column(eps);
    struct sotto_experiment_row row = {.mean = true,
                                       .eps = eps,
                                       .accuracy = NAN,
                                       .deviation = NAN,
                                       .deviation_draws = NAN,
                                       .paper = NAN,
                                       .paper_deviation = NAN,
                                       .reach = papers_reach(run, eps)};
    if (paper != NULL && column < PAPERS_COLUMNS) {
        row.paper = papers_fraction(paper->accuracy[column]);
        row.paper_deviation = papers_fraction(paper->deviation[column]);
    }
    return row;
}

/* The means, and a row for each of the papers' epsilons, and of those that
   something is promised at, that was not run. */
static void
add_means(struct host_text *text, const struct result_table *table)
{
    struct experiment_run run = result_table_run(table);
    size_t most = table->count + PAPERS_COLUMNS + PAPERS_SMALL, count = 0;
    struct sotto_experiment_row *rows = calloc(most, sizeof *rows);
    if (rows == NULL) {
        text->failed = true;
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].mean) {
            rows[count++] = table->rows[i];
        }
    }
    for (size_t i = 0; i < PAPERS_COLUMNS; i++) {
        if (!has_mean(table, papers_eps[i])) {
            rows[count++] = missing_mean(&run, papers_eps[i]);
        }
    }
    for (size_t i = 0; i < PAPERS_SMALL; i++) {
        if (!has_mean(table, papers_small[i]) &&
            isfinite(papers_reach(&run, papers_small[i]))) {
            rows[count++] = missing_mean(&run, papers_small[i]);
        }
    }
    qsort(rows, count, sizeof *rows, compare_eps);
    result_files_means(text, rows, count);
    free(rows);
}

static void
add_accuracy(struct page *page, const struct result_table *table)
{
    struct experiment_run run = result_table_run(table);
    struct host_text *text = &page->text;
    host_text_print(text, "\n### %s\n\n", table->name);
    result_files_level(text, &run);
    add_means(text, table);
    add_picture(page, table->name, "", table->name);
    add_sources(page, table);
}

/* ---- A table of losses -------------------------------------------------- */

static void
add_loss(struct page *page, const struct result_table *table)
{
    const struct experiment *experiment = table->experiment;
    const struct study_panel *panels = experiment->study->panels;
    for (size_t i = 0; panels[i].x != NULL; i++) {
        if (study_table(&page->text, experiment, &panels[i], table->rows,
                        table->count, "###")) {
            add_picture(page, table->name, i > 0 ? panels[i].name : "",
                        panels[i].title);
        }
    }
    study_remarks(&page->text, experiment, table->rows, table->count, "###");
    add_sources(page, table);
}

/* ---- The page ----------------------------------------------------------- */

static void
add_head(struct page *page)
{
    host_text_print(
        &page->text,
        "# Results\n\n"
        "Every table of `sotto experiment`, with the papers' numbers where "
        "they have any, a picture, and what must be said beside it. `sotto "
        "experiment page` makes this page from the CSV files in [%s](%s): "
        "change "
        "those, by running experiments, and make it again. P0 and P1 are the "
        "papers that [experiments.md](experiments.md) names.\n\n"
        "## Index\n\n"
        "Accuracies are percent of test records. The best of ours is that of "
        "all epsilons that were run, beside what the papers have at the same "
        "one. Over the papers: points that ours is above theirs, at the "
        "epsilon where it is least and where it is most; below 0 theirs is "
        "better. Without noise is in neither. Promises are what sotto asked of "
        "itself in advance, \"must reach\" in the tables: how many of them "
        "were reached, those not run counted as missed. An empty place: there "
        "is nothing to compare with.\n",
        page->results, page->link);
    add_index_accuracies(page);
    host_text_print(
        &page->text,
        "\nOf losses: how much of another method's loss a method spares, at "
        "most over all epsilons that were run, beside the same of the paper. "
        "Epsilons above %g are floats alone: no mechanism can have them.\n",
        STUDY_EPS_FORMAT);
    add_index_losses(page);
}

static void
add_experiment(struct page *page, const struct experiment *experiment)
{
    bool begun = false;
    for (size_t i = 0; i < page->folder->tables; i++) {
        const struct result_table *table = &page->folder->table[i];
        if (table->experiment != experiment) {
            continue;
        }
        if (!begun) {
            host_text_print(&page->text, "\n## %s\n\n%s\n", experiment->name,
                            experiment->about);
        }
        if (experiment->study != NULL) {
            add_loss(page, table);
        } else {
            struct experiment_run run = result_table_run(table);
            if (!begun) {
                result_files_others(&page->text, &run);
            }
            add_accuracy(page, table);
        }
        begun = true;
    }
    if (!begun) {
        host_text_print(&page->text, "\n## %s\n\n%s\n\nNot run.\n",
                        experiment->name, experiment->about);
    }
}

static void
add_others(struct page *page)
{
    const struct result_folder *folder = page->folder;
    if (folder->others == 0) {
        return;
    }
    host_text_print(&page->text,
                    "\n## Other files\n\nNo experiment of `sotto experiment` "
                    "wrote these; what they are, the pages that cite them "
                    "say.\n\n");
    for (size_t i = 0; i < folder->others; i++) {
        host_text_print(&page->text, "- [%s.csv](%s/%s.csv)", folder->other[i],
                        page->link, folder->other[i]);
        if (has_file(page, folder->other[i], "", ".md")) {
            host_text_print(&page->text, ", [%s.md](%s/%s.md)",
                            folder->other[i], page->link, folder->other[i]);
        }
        host_text_print(&page->text, "\n");
    }
}

void
result_page(struct host_text *text, const struct result_folder *folder,
            const char *results, const char *link)
{
    struct page page = {.folder = folder, .results = results, .link = link};
    const struct experiment *at;
    host_text_init(&page.text, TEXT_MOST);
    add_head(&page);
    for (size_t i = 0; (at = experiment_at(i)) != NULL; i++) {
        add_experiment(&page, at);
    }
    add_others(&page);
    if (page.text.failed) {
        text->failed = true;
    } else {
        result_lines(text, page.text.data);
    }
    host_text_clear(&page.text);
}

/* ---- The file ----------------------------------------------------------- */

enum sotto_status
sotto_experiment_page(const char *results, const char *path,
                      struct sotto_error *err)
{
    struct result_folder folder;
    struct host_text text;
    char *link = result_link(results, path);
    host_text_init(&text, TEXT_MOST);
    enum sotto_status status = result_folder_read(results, &folder, err);
    if (status == SOTTO_STATUS_OK && link != NULL) {
        result_page(&text, &folder, results, link);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            link == NULL || text.failed
                ? host_fail_memory(err)
                : host_file_write(path, 0666, false, text.data, text.size, err);
        result_folder_clear(&folder);
    }
    host_text_clear(&text);
    free(link);
    return status;
}
