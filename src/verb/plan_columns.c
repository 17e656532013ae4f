/*
 * plan_columns.c: sotto plan with records: the columns that it plans with, as
 * train will take them, and what their owner should look at first.
 *
 * A column that gives the answer away, or is known only after it, makes every
 * forecast of accuracy a promise that no campaign keeps. plan leaves it out
 * unless --keep or a schema names it, and says which option makes train leave
 * it out, too.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json_print.h"
#include "verb/class_label.h"
#include "verb/plan.h"
#include "verb/records.h"
#include "verb/schema_print.h"
#include "verb/train_kinds.h"

/* ---- The label ----------------------------------------------------------- */

/* Whether accuracy is asked for, and not shares and means alone. */
static bool
asks_accuracy(const struct plan_job *job)
{
    return job->accuracy > 0 || (job->share == 0 && job->mean == 0);
}

/* Takes a few whole numbers as classes where accuracy is asked for. */
static int
take_label(struct plan_job *job)
{
    bool number;
    if (job->label == NULL || !asks_accuracy(job)) {
        return CLI_EXIT_DONE;
    }
    size_t column = sotto_table_find(job->table, job->label);
    if (!class_label_fits(job->table, column)) {
        return cli_bad("column \"%.80s\" holds numbers, more than %u different "
                       "ones: it is no class label, and plan foretells "
                       "classifiers. Take a column of classes; ask how "
                       "sharply its mean can be told (--mean 0.01); or learn "
                       "the number itself, which sotto try simulates",
                       job->label, CLASS_LABEL_MOST);
    }
    return class_label_take(job->table, column, &number);
}

/* ---- The schema ---------------------------------------------------------- */

/* Reads --schema, or infers what train would. */
static int
take_schema(struct plan_job *job)
{
    const struct cli_args *args = job->args;
    int status;
    if (!cli_given(args, "schema")) {
        status = take_label(job);
        return CLI_THEN(status, train_schema_infer(args, job->table, job->label,
                                                   &job->schema));
    }
    status = train_schema(args, job->table, &job->label, &job->schema);
    status = CLI_THEN(status, train_schema_categories(job->schema, job->table));
    return CLI_THEN(status, take_label(job));
}

/* ---- What is left out, and told ------------------------------------------ */

/* Whether a problem is a column in use that may give the answer away and that
   its owner does not name. */
static bool
is_answer(const struct plan_job *job,
          const struct sotto_schema_problem *problem)
{
    const struct sotto_schema_column *column =
        sotto_schema_column_at(job->schema, problem->column);
    return (problem->trouble == SOTTO_SCHEMA_ANSWER ||
            problem->trouble == SOTTO_SCHEMA_AFTERWARDS) &&
           column != NULL && column->use == SOTTO_SCHEMA_FEATURE &&
           !cli_given(job->args, "keep");
}

/* Leaves out what may give the answer away, if other columns are left. */
static int
leave_answers(struct plan_job *job)
{
    const struct sotto_schema_problem *problem;
    struct sotto_error err = {0};
    int status = CLI_EXIT_DONE;
    for (size_t i = 0;
         status == CLI_EXIT_DONE &&
         (problem = sotto_schema_problem_at(job->schema, i)) != NULL;
         i++) {
        if (is_answer(job, problem) &&
            sotto_schema_count(job->schema, SOTTO_SCHEMA_FEATURE) > 1) {
            const char *name =
                sotto_schema_column_at(job->schema, problem->column)->name;
            job->answer[job->answers++] = name;
            status = cli_exit(sotto_schema_set_use(job->schema, name,
                                                   SOTTO_SCHEMA_DROP, &err),
                              &err);
        }
    }
    return status;
}

/* Adds what the schema leaves out, or does not name, to what options do. */
static void
add_drops(struct plan_job *job)
{
    for (size_t i = 0; i < sotto_table_columns(job->table); i++) {
        const char *name = sotto_table_name(job->table, i);
        const struct sotto_schema_column *as =
            sotto_schema_find(job->schema, name);
        if (as == NULL || as->use == SOTTO_SCHEMA_DROP) {
            job->drop[job->drops++] = name;
        }
    }
}

static void
tell_problems(const struct plan_job *job)
{
    const struct sotto_schema_problem *problem;
    if (!cli_given(job->args, "json")) {
        schema_print_problems(stdout, job->schema, SOTTO_SCHEMA_WARNING);
        for (size_t i = 0; i < job->answers; i++) {
            printf("left out: \"%s\", which may give the answer away.\n",
                   cli_shown(job->answer[i]));
        }
        if (job->answers > 0) {
            printf("To take what is known before the label is, leave it in a "
                   "schema: sotto schema infer, then --schema.\n");
        }
        printf("%s", sotto_schema_problems(job->schema) > 0 ? "\n" : "");
        return;
    }
    for (size_t i = 0;
         (problem = sotto_schema_problem_at(job->schema, i)) != NULL; i++) {
        const struct sotto_schema_column *column =
            sotto_schema_column_at(job->schema, problem->column);
        if (problem->rank == SOTTO_SCHEMA_WARNING) {
            json_begin(stdout);
            json_text(stdout, "answer", "warning");
            json_text(stdout, "problem",
                      sotto_schema_trouble_name(problem->trouble));
            json_text(stdout, "column", column != NULL ? column->name : NULL);
            json_text(stdout, "text", problem->text);
            json_text(stdout, "remedy", problem->remedy);
            json_end(stdout);
        }
    }
    for (size_t i = 0; i < job->answers; i++) {
        json_begin(stdout);
        json_text(stdout, "answer", "left-out");
        json_text(stdout, "column", job->answer[i]);
        json_end(stdout);
    }
}

/* Narrows the columns to those that a mechanism will have, and tells what to
   look at; images have no schema, and M has been made. */
static int
narrow_columns(struct plan_job *job)
{
    size_t columns = sotto_table_columns(job->table);
    int status = CLI_EXIT_DONE;
    if (job->schema == NULL || job->mechanism != NULL) {
        return status; /* a mechanism has its columns */
    }
    const char **drop =
        realloc(job->drop, (columns + job->drops + 1) * sizeof *drop);
    job->drop = drop != NULL ? drop : job->drop;
    job->answer = calloc(columns + 1, sizeof *job->answer);
    if (drop == NULL || job->answer == NULL) {
        return cli_no_memory();
    }
    if (job->label != NULL && asks_accuracy(job)) {
        status = leave_answers(job);
    }
    if (status == CLI_EXIT_DONE) {
        add_drops(job);
        tell_problems(job);
    }
    return status;
}

int
plan_read_table(struct plan_job *job)
{
    const struct cli_args *args = job->args;
    int status = records_read(args, cli_value(args, "data"),
                              cli_value(args, "labels"), &job->table);
    status = CLI_THEN(status, train_categories(args, job->table));
    status = CLI_THEN(status, train_declare(args, job->table));
    status = CLI_THEN(status, train_label(args, job->table, &job->label));
    status = CLI_THEN(status, take_schema(job));
    if (status == CLI_EXIT_DONE) {
        status =
            train_drops(args, job->table, job->label, &job->drop, &job->drops);
    }
    job->real = true;
    return CLI_THEN(status, narrow_columns(job));
}
