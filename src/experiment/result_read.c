/*
 * result_read.c: the rows of an experiment, back from a CSV file.
 *
 * A file of accuracies and one of losses differ in their columns, so each has
 * its list of fields; a row of it must be whole, and what it names must be
 * there.
 */
#include "experiment/result_read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/result_files.h"
#include "experiment/study.h"
#include "host/csv_field.h"
#include "host/error.h"
#include "host/file.h"
#include "host/text.h"

#define FILE_MOST ((size_t)1 << 28)
#define FIRST "experiment,"
#define ENDING ".csv"

/* ---- Fields ------------------------------------------------------------- */

enum form {
    FORM_NAME,   /* text that must be there */
    FORM_TEXT,   /* NULL for none */
    FORM_NUMBER, /* NAN for none */
    FORM_VALUE,  /* a number that must be there */
    FORM_EPS,    /* "none" is INFINITY */
    FORM_KIND,   /* mean or fit */
    FORM_32,     /* whole numbers; 0 for none */
    FORM_64,
    FORM_SIZE
};

struct field {
    const char *name;
    enum form form;
    size_t at; /* in a row */
};

#define AT(name) offsetof(struct sotto_experiment_row, name)
#define MADE                                                                   \
    {"setting", FORM_TEXT, AT(setting)}, {"data", FORM_TEXT, AT(data)},        \
        {"version", FORM_TEXT, AT(version)},                                   \
        {"command", FORM_TEXT, AT(command)},                                   \
        {"commit", FORM_TEXT, AT(commit)}, {"note", FORM_TEXT, AT(note)},      \
    {                                                                          \
        .name = NULL                                                           \
    }

static const struct field accuracies[] = {
    {"experiment", FORM_NAME, AT(experiment)},
    {"mechanism", FORM_NAME, AT(mechanism)},
    {"level", FORM_NAME, AT(level)},
    {"aux_share", FORM_VALUE, AT(aux_share)},
    {"eps", FORM_EPS, AT(eps)},
    {"kind", FORM_KIND, AT(mean)},
    {"trial", FORM_32, AT(trial)},
    {"draw", FORM_32, AT(draw)},
    {"runs", FORM_SIZE, AT(runs)},
    {"seed", FORM_64, AT(seed)},
    {"accuracy", FORM_VALUE, AT(accuracy)},
    {"deviation", FORM_NUMBER, AT(deviation)},
    {"deviation_draws", FORM_NUMBER, AT(deviation_draws)},
    {"paper", FORM_NUMBER, AT(paper)},
    {"paper_deviation", FORM_NUMBER, AT(paper_deviation)},
    {"reach", FORM_NUMBER, AT(reach)},
    {"seconds", FORM_NUMBER, AT(seconds)},
    MADE};

static const struct field losses[] = {{"experiment", FORM_NAME, AT(experiment)},
                                      {"panel", FORM_NAME, AT(level)},
                                      {"x", FORM_VALUE, AT(x)},
                                      {"eps", FORM_NUMBER, AT(eps)},
                                      {"mechanism", FORM_NAME, AT(mechanism)},
                                      {"kind", FORM_KIND, AT(mean)},
                                      {"trial", FORM_32, AT(trial)},
                                      {"runs", FORM_SIZE, AT(runs)},
                                      {"seed", FORM_64, AT(seed)},
                                      {"loss", FORM_VALUE, AT(loss)},
                                      {"deviation", FORM_NUMBER, AT(deviation)},
                                      {"seconds", FORM_NUMBER, AT(seconds)},
                                      MADE};

/* What is being read, for messages. */
struct reading {
    const char *path;
    size_t line;
    const struct field *fields;
    size_t count; /* of them */
};

static enum sotto_status
fail_field(const struct reading *at, const char *field, struct sotto_error *err,
           const char *what, const char *text)
{
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "%.200s: line %zu, field %s: '%.80s' %s", at->path,
                     at->line, field, text, what);
}

static bool
read_number(const char *text, double *ret_number)
{
    char *stop;
    if (strspn(text, "+-.0123456789eE") != strlen(text)) {
        return false; /* "nan", "0x1" */
    }
    *ret_number = strtod(text, &stop);
    return stop != text && *stop == '\0' && isfinite(*ret_number);
}

static bool
read_whole(const char *text, uint64_t most, uint64_t *ret_number)
{
    char *stop;
    *ret_number = 0;
    if (text[0] == '\0') {
        return true;
    }
    errno = 0;
    *ret_number = strtoull(text, &stop, 10);
    return strspn(text, "0123456789") == strlen(text) && errno == 0 &&
           *ret_number <= most;
}

/* Puts a field where it belongs; NULL, or what is wrong with it. */
static const char *
take_field(const struct field *field, char *text,
           struct sotto_experiment_row *row)
{
    void *to = (char *)row + field->at;
    double number = NAN;
    uint64_t whole = 0;
    bool there = text[0] != '\0';
    switch (field->form) {
    case FORM_NAME:
    case FORM_TEXT:
        *(const char **)to = there ? text : NULL;
        return there || field->form == FORM_TEXT ? NULL : "names nothing";
    case FORM_KIND:
        *(bool *)to = strcmp(text, "mean") == 0;
        return *(bool *)to || strcmp(text, "fit") == 0
                   ? NULL
                   : "is neither mean nor fit";
    case FORM_32:
    case FORM_64:
    case FORM_SIZE:
        if (!read_whole(text, field->form == FORM_32 ? UINT32_MAX : UINT64_MAX,
                        &whole)) {
            return "is no whole number";
        }
        if (field->form == FORM_32) {
            *(uint32_t *)to = (uint32_t)whole;
        } else if (field->form == FORM_64) {
            *(uint64_t *)to = whole;
        } else {
            *(size_t *)to = (size_t)whole;
        }
        return NULL;
    case FORM_EPS:
        if (strcmp(text, "none") == 0) {
            *(double *)to = INFINITY;
            return NULL;
        }
        break;
    case FORM_NUMBER:
    case FORM_VALUE:
        break;
    }
    if ((there || field->form != FORM_NUMBER) && !read_number(text, &number)) {
        return "is no number";
    }
    *(double *)to = number;
    return NULL;
}

/* ---- Rows --------------------------------------------------------------- */

/* How many fields a header has, if they are the list's in its order, all or all
   but the last: `note` came after 0.1.0. 0: it has others. */
static size_t
count_fields(const char *line, const char *end, const struct field *fields)
{
    for (size_t i = 0; fields[i].name != NULL; i++) {
        size_t size = strlen(fields[i].name);
        if ((size_t)(end - line) < size ||
            memcmp(line, fields[i].name, size) != 0) {
            return 0;
        }
        line += size;
        if (line == end) {
            return fields[i + 1].name == NULL || fields[i + 2].name == NULL
                       ? i + 1
                       : 0;
        }
        if (*line++ != ',') {
            return 0;
        }
    }
    return 0;
}

static enum sotto_status
take_line(const struct reading *at, char *line, char *end,
          struct sotto_experiment_row *ret_row, struct sotto_error *err)
{
    struct sotto_experiment_row row = {.experiment = "",
                                       .mechanism = "",
                                       .level = "",
                                       .aux_share = NAN,
                                       .accuracy = NAN,
                                       .loss = NAN,
                                       .x = NAN,
                                       .deviation_draws = NAN,
                                       .paper = NAN,
                                       .paper_deviation = NAN,
                                       .reach = NAN};
    for (const struct field *f = at->fields; f < at->fields + at->count; f++) {
        const char *stop = line <= end ? csv_field_end(line, end) : NULL;
        if (stop == NULL) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "%.200s: line %zu, field %s: it is missing, or "
                             "its quotes are wrong",
                             at->path, at->line, f->name);
        }
        char *next = line + (stop - line) + 1;
        csv_field_undo(line, next - 1);
        const char *wrong = take_field(f, line, &row);
        if (wrong != NULL) {
            return fail_field(at, f->name, err, wrong, line);
        }
        line = next;
    }
    if (line != end + 1) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%.200s: line %zu has more fields than the header",
                         at->path, at->line);
    }
    *ret_row = row;
    return SOTTO_STATUS_OK;
}

/* The share as the experiment has it: the file has ten digits of it. */
static double
share_of(const struct experiment *experiment, double share)
{
    return fabs(share - experiment->aux_share) < 1e-9 ? experiment->aux_share
                                                      : share;
}

static const struct study_panel *
panel_find(const struct study *study, const char *name)
{
    const struct study_panel *at = study->panels;
    while (at->x != NULL && strcmp(at->name, name) != 0) {
        at++;
    }
    return at->x != NULL ? at : NULL;
}

/* Whether what a row names is there, and is what the first row names. */
static enum sotto_status
check_row(const struct reading *at, struct result_table *table,
          struct sotto_experiment_row *row, struct sotto_error *err)
{
    const struct sotto_experiment_row *first = table->rows;
    const struct experiment_mechanism *mechanism;
    bool loss = at->fields == losses;
    if (table->experiment == NULL) {
        table->experiment = experiment_find(row->experiment);
        first = row;
    }
    if (table->experiment == NULL ||
        (table->experiment->study != NULL) != loss) {
        return fail_field(at, "experiment", err,
                          table->experiment == NULL
                              ? "is no experiment of this version: sotto "
                                "experiment --help lists them"
                              : "is an experiment with other columns",
                          row->experiment);
    }
    mechanism = experiment_mechanism_find(table->experiment, row->mechanism);
    if (mechanism == NULL) {
        return fail_field(at, "mechanism", err,
                          "is no mechanism of the experiment", row->mechanism);
    }
    if (experiment_find(row->experiment) != table->experiment) {
        return fail_field(at, "experiment", err, "is not that of line 2",
                          row->experiment);
    }
    if (loss) {
        return panel_find(table->experiment->study, row->level) != NULL
                   ? SOTTO_STATUS_OK
                   : fail_field(at, "panel", err,
                                "is no panel of the experiment", row->level);
    }
    table->mechanism = mechanism;
    row->aux_share = share_of(table->experiment, row->aux_share);
    if (strcmp(row->level, "latent") != 0 &&
        strcmp(row->level, "feature") != 0) {
        return fail_field(at, "level", err, "is neither latent nor feature",
                          row->level);
    }
    return strcmp(row->mechanism, first->mechanism) != 0
               ? fail_field(at, "mechanism", err, "is not that of line 2",
                            row->mechanism)
           : strcmp(row->level, first->level) != 0
               ? fail_field(at, "level", err, "is not that of line 2",
                            row->level)
           : row->aux_share != first->aux_share
               ? fail_field(at, "aux_share", err, "is not that of line 2", "it")
               : SOTTO_STATUS_OK;
}

static enum sotto_status
add_row(struct result_table *table, const struct sotto_experiment_row *row,
        struct sotto_error *err)
{
    void *rows =
        host_grow(table->rows, sizeof *table->rows, table->count, &table->room);
    if (rows == NULL) {
        return host_fail_memory(err);
    }
    table->rows = rows;
    table->rows[table->count++] = *row;
    table->trials = row->trial > table->trials ? row->trial : table->trials;
    table->draws = row->draw > table->draws ? row->draw : table->draws;
    return SOTTO_STATUS_OK;
}

/* Where the papers' numbers of the rows are from: the file does not say. */
static void
look_up_papers(struct result_table *table)
{
    struct experiment_run run = result_table_run(table);
    const struct papers_row *paper = papers_find(&run);
    for (size_t i = 0; i < table->count && paper != NULL; i++) {
        table->rows[i].paper_table = paper->table;
    }
}

/* Whether the file is called what a run would call it: a copy beside it would
   be a second table of the same. */
static enum sotto_status
check_name(const char *path, struct result_table *table,
           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    const char *name = table->experiment->name;
    char *made = NULL;
    if (table->experiment->study == NULL) {
        struct experiment_run run = result_table_run(table);
        made = result_files_path(&run);
        if (made == NULL) {
            return host_fail_memory(err);
        }
        name = made + strlen("./");
    }
    if (strcmp(name, table->name) != 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "%.200s: line 2: its rows belong into %.200s" ENDING
                           "; take it out of the folder, or name it so",
                           path, name);
    }
    free(made);
    return status;
}

static enum sotto_status
take_text(const char *path, size_t size, bool *ret_ours,
          struct result_table *table, struct sotto_error *err)
{
    char *line = table->text, *end = line + size;
    struct reading at = {.path = path, .line = 1};
    enum sotto_status status = SOTTO_STATUS_OK;
    *ret_ours =
        size >= strlen(FIRST) && memcmp(line, FIRST, strlen(FIRST)) == 0;
    if (!*ret_ours) {
        return SOTTO_STATUS_OK;
    }
    for (; line < end && status == SOTTO_STATUS_OK; at.line++) {
        struct sotto_experiment_row row;
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "%.200s: line %zu has no end: the file was cut",
                             path, at.line);
        }
        if (at.line == 1) {
            at.count = count_fields(line, stop, losses);
            at.fields = at.count > 0 ? losses : accuracies;
            at.count =
                at.count > 0 ? at.count : count_fields(line, stop, accuracies);
            if (at.count == 0) {
                return host_fail(err, SOTTO_STATUS_INPUT, 0,
                                 "%.200s: line 1: these are not the columns of "
                                 "an experiment's rows; run it again",
                                 path);
            }
        } else {
            status = take_line(&at, line, stop, &row, err);
            status = HOST_THEN(status, check_row(&at, table, &row, err));
            status = HOST_THEN(status, add_row(table, &row, err));
        }
        line = stop + 1;
    }
    if (status == SOTTO_STATUS_OK && table->count == 0) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0, "%.200s has no rows",
                         path);
    }
    return status;
}

/* The last run's: the file keeps it with its means. */
static const char *
last_command(const struct result_table *table)
{
    const char *command = table->rows[0].command;
    for (size_t i = 0; i < table->count; i++) {
        const struct sotto_experiment_row *row = &table->rows[i];
        command = row->mean && row->command != NULL ? row->command : command;
    }
    return command;
}

struct experiment_run
result_table_run(const struct result_table *table)
{
    return (struct experiment_run){.experiment = table->experiment,
                                   .mechanism = table->mechanism,
                                   .level = table->rows[0].level,
                                   .options = &table->options,
                                   .aux_share = table->rows[0].aux_share,
                                   .trials = table->trials,
                                   .draws = table->draws};
}

void
result_table_clear(struct result_table *table)
{
    free(table->name);
    free(table->rows);
    free(table->text);
    memset(table, 0, sizeof *table);
}

enum sotto_status
result_read(const char *folder, const char *name, bool *ret_ours,
            struct result_table *ret_table, struct sotto_error *err)
{
    struct result_table table = {0};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    uint8_t *data = NULL;
    size_t size = 0;
    char *path = host_text_path("%s/%s" ENDING, folder, name);
    *ret_ours = false;
    table.name = host_text_copy(name, strlen(name));
    if (path == NULL || table.name == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    status = host_file_read(path, FILE_MOST, &data, &size, err);
    table.text = (char *)data;
    status = HOST_THEN(status, take_text(path, size, ret_ours, &table, err));
    if (status == SOTTO_STATUS_OK && table.rows != NULL) {
        table.options.seed = table.rows[0].seed;
        table.options.command = last_command(&table);
        if (table.experiment->study == NULL) {
            look_up_papers(&table);
        }
        status = check_name(path, &table, err);
    }
    if (status == SOTTO_STATUS_OK && *ret_ours) {
        *ret_table = table;
        table = (struct result_table){0};
    }
done:
    free(path);
    result_table_clear(&table);
    return status;
}
