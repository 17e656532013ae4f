/*
 * cmd_predict.c: sotto predict: what a model says of records or reports.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/json_print.h"
#include "cli/output_file.h"
#include "host/csv_field.h"
#include "verb/learning.h"
#include "verb/number_verbs.h"
#include "verb/records.h"
#include "verb/report_source.h"

struct predict_job {
    struct sotto_model *model;
    struct sotto_mechanism *mechanism; /* of the reports; NULL: the model's */
    size_t rows, classes;
    size_t room; /* for rows, in p */
    double *p;
    bool reports;
    bool number; /* the model tells one; else classes */
    struct predict_shares shares;
};

/* Whether a file holds reports: its first bytes are a report's mark, or a JSON
   object's. A pipe is not looked into: what is read of it is gone. */
static bool
holds_reports(const char *path)
{
    char start[4] = "";
    struct stat about;
    FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode)
                     ? fopen(path, "rb")
                     : NULL;
    size_t got = file != NULL ? fread(start, 1, sizeof start, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    return (got == 4 &&
            (memcmp(start, "STO1", 4) == 0 || memcmp(start, "SIM1", 4) == 0)) ||
           (got > 0 && start[0] == '{');
}

static int
allocate_rows(struct predict_job *job, size_t rows)
{
    job->rows = rows;
    job->classes = sotto_model_classes(job->model);
    job->p = calloc(rows + 1, job->classes * sizeof *job->p);
    if (job->p == NULL) {
        return cli_no_memory();
    }
    return CLI_EXIT_DONE;
}

/* Makes room behind the rows that are there for as many more. */
static int
add_room(struct predict_job *job, size_t rows)
{
    size_t room = job->room;
    while (room < job->rows + rows) {
        room = 2 * room + rows;
    }
    job->classes = sotto_model_classes(job->model);
    double *p = room > job->room
                    ? reallocarray(job->p, room, job->classes * sizeof *job->p)
                    : job->p;
    if (p == NULL) {
        return cli_no_memory();
    }
    job->p = p;
    job->room = room;
    return CLI_EXIT_DONE;
}

/* What the model says of the rows of a table, behind those before it. */
static int
predict_table(const struct cli_args *args, struct predict_job *job,
              const struct sotto_table *table)
{
    size_t rows = sotto_table_rows(table);
    struct sotto_error err = {0};
    int status = add_room(job, rows);
    if (status == CLI_EXIT_DONE &&
        sotto_model_predict(job->model, table,
                            job->p + job->rows * job->classes,
                            &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, args->word[1]);
    }
    job->rows += rows;
    return status;
}

/* The records themselves are in memory a few at a time; with labels in a file
   of their own, all at once. */
static int
predict_records(const struct cli_args *args, struct predict_job *job)
{
    const char *labels = cli_value(args, "labels");
    struct sotto_table_stream *stream = NULL;
    struct sotto_table *table = NULL;
    struct sotto_error err = {0};
    int status = labels != NULL
                     ? records_read(args, args->word[1], labels, &table)
                     : records_open(args, args->word[1], &stream, &table);
    while (status == CLI_EXIT_DONE && table != NULL) {
        status = predict_table(args, job, table);
        sotto_table_free(table);
        table = NULL;
        if (status == CLI_EXIT_DONE && stream != NULL) {
            status =
                cli_exit(sotto_table_stream_next(stream, &table, &err), &err);
        }
    }
    sotto_table_stream_close(stream);
    return status;
}

static int
predict_reports(const struct cli_args *args, struct predict_job *job)
{
    struct sotto_mechanism *mechanism = job->mechanism != NULL
                                            ? job->mechanism
                                            : sotto_model_mechanism(job->model);
    struct sotto_mechanism_info info;
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err = {0};
    uint8_t *reports = NULL;
    int status = CLI_EXIT_DONE;
    sotto_mechanism_info(mechanism, &info);
    if (report_source_open(mechanism, args->word[1], &reader, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    status = allocate_rows(job, sotto_report_reader_count(reader));
    if (status == CLI_EXIT_DONE) {
        reports = malloc((job->rows + 1) * info.report_size);
        if (reports == NULL) {
            status = cli_no_memory();
        }
    }
    for (size_t i = 0; reports != NULL && i < job->rows; i++) {
        memcpy(reports + i * info.report_size,
               sotto_report_reader_at(reader, i), info.report_size);
    }
    if (status == CLI_EXIT_DONE &&
        sotto_model_predict_private_with(job->model, mechanism, reports,
                                         job->rows, job->p,
                                         &err) != SOTTO_STATUS_OK) {
        status = learning_fail(&err, args->word[1]);
    }
    free(reports);
    sotto_report_reader_free(reader);
    return status;
}

/* ---- Output ------------------------------------------------------------- */

static size_t
largest(const double *p, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = p[i] > p[best] ? i : best;
    }
    return best;
}

static void
put_csv(const struct predict_job *job, FILE *to)
{
    (void)fputs("row,class", to);
    for (size_t y = 0; y < job->classes; y++) {
        (void)fputs(",", to);
        csv_field_print(to, sotto_model_class(job->model, y));
    }
    (void)fputc('\n', to);
    for (size_t i = 0; i < job->rows; i++) {
        const double *p = job->p + i * job->classes;
        (void)fprintf(to, "%zu,", i + 1);
        csv_field_print(
            to, sotto_model_class(job->model, largest(p, job->classes)));
        for (size_t y = 0; y < job->classes; y++) {
            (void)fprintf(to, ",%.6g", p[y]);
        }
        (void)fputc('\n', to);
    }
}

static void
put_json(const struct predict_job *job, FILE *to)
{
    for (size_t i = 0; i < job->rows; i++) {
        const double *p = job->p + i * job->classes;
        size_t best = largest(p, job->classes);
        json_begin(to);
        json_size(to, "row", i + 1);
        json_text(to, "class", sotto_model_class(job->model, best));
        json_number(to, "p", p[best]);
        json_end(to);
    }
}

/* How many rows each class got. */
static void
put_counts(const struct predict_job *job, FILE *to)
{
    (void)fprintf(to, "%zu %s\n", job->rows,
                  job->reports ? "reports" : "records");
    for (size_t y = 0; y < job->classes; y++) {
        const char *name = sotto_model_class(job->model, y);
        size_t count = 0;
        for (size_t i = 0; i < job->rows; i++) {
            count += largest(job->p + i * job->classes, job->classes) == y;
        }
        (void)fprintf(to, "%10zu  ", count);
        cli_put(to, name, strlen(name));
        (void)fputc('\n', to);
    }
}

/* The same of a model that tells a number. */
static void
put_number(const struct cli_args *args, const struct predict_job *job, FILE *to)
{
    struct predict_rows rows = {.model = job->model,
                                .p = job->p,
                                .rows = job->rows,
                                .reports = job->reports};
    if (cli_given(args, "json")) {
        predict_number_json(&rows, &job->shares, to);
    } else {
        predict_number_tell(&rows, to);
    }
}

static void
put_file(const struct predict_job *job, FILE *to)
{
    struct predict_rows rows = {
        .model = job->model, .p = job->p, .rows = job->rows};
    if (job->number) {
        predict_number_csv(&rows, &job->shares, to);
    } else {
        put_csv(job, to);
    }
}

static int
put_prediction(const struct cli_args *args, const struct predict_job *job)
{
    const char *path = cli_value(args, "output");
    struct output_file file;
    if (path != NULL) {
        if (!output_file_open(&file, path)) {
            return CLI_EXIT_FAILED;
        }
        put_file(job, file.stream);
        if (!output_file_commit(&file)) {
            return CLI_EXIT_FAILED;
        }
    }
    if (job->number) {
        put_number(args, job, cli_summary(path));
    } else if (cli_given(args, "json")) {
        put_json(job, cli_summary(path));
    } else {
        put_counts(job, cli_summary(path));
    }
    return CLI_EXIT_DONE;
}

static int
run_predict(const struct cli_args *args)
{
    const char *path = cli_value(args, "output");
    const char *other = cli_value(args, "mechanism");
    const char *const inputs[] = {args->word[0], args->word[1],
                                  cli_value(args, "labels"), other};
    struct sotto_error err = {0};
    struct predict_job job = {0};
    int status = output_file_check(path, inputs, 4);
    status = CLI_THEN(
        status,
        cli_exit(sotto_model_read(args->word[0], &job.model, &err), &err));
    status =
        CLI_THEN(status, predict_number_shares(args, job.model, &job.shares));
    if (status == CLI_EXIT_DONE && other != NULL &&
        sotto_mechanism_read(other, &job.mechanism, &err) != SOTTO_STATUS_OK) {
        status = cli_fail(&err);
    }
    if (status == CLI_EXIT_DONE) {
        struct sotto_number number;
        job.number = sotto_model_number(job.model, &number);
        job.reports = cli_given(args, "private") || other != NULL ||
                      holds_reports(args->word[1]);
        status = job.reports ? predict_reports(args, &job)
                             : predict_records(args, &job);
    }
    status = CLI_THEN(status, put_prediction(args, &job));
    free(job.p);
    sotto_mechanism_free(job.mechanism);
    sotto_model_free(job.model);
    return status;
}

static const char *const wanted[] = {"MODEL", "F (records or reports)", NULL};

static const struct cli_option options[] = {
    {0, false, false, "labels", "F",
     "a file with the label of each record; not looked at"},
    {0, false, false, "header", "yes|no",
     "whether the first row names the columns; else it is\n"
     "guessed"},
    RECORDS_READING,
    {0, false, false, "private", NULL,
     "F holds reports; else it is told from the content,\n"
     "and a pipe is taken for records"},
    {0, false, false, "mechanism", "C.sotto",
     "F holds reports of this one, which has the model's\n"
     "codebook"},
    {0, false, false, "quantiles", "LIST",
     "of a model that tells a number: these of what it\n"
     "says of each row (0.05,0.95)"},
    {'o', false, false, "output", "OUT.csv",
     "write every row's class and probabilities, or its\n"
     "number's mean and quantiles"},
    CLI_OPTION_END,
};

const struct cli_verb cmd_predict = {
    .name = "predict",
    .summary = "classify records or reports with a fitted model",
    .usage = "MODEL F [-o OUT.csv] [--json]",
    .about =
        "F is a table of clean records, as sotto privatise takes it, or a file "
        "of reports\nof the mechanism that the model was fitted with. A report "
        "is weighed over the\nmodel's prior first, if it has one; its label is "
        "not looked at.\nRecords without --labels may be of any size, and - is "
        "the standard input.\n",
    .example = "sotto predict wdbc.model data/wdbc.csv -o wdbc.classes.csv\n",
    .wanted = wanted,
    .options = options,
    .computes = true,
    .run = run_predict,
};
