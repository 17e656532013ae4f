/*
 * try_leave.c: what a table's columns are, which of them are left out of all
 * campaigns, and what their owner should look at first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/try.h"
#include "host/error.h"
#include "host/text.h"

bool
try_is_among(const char *name, const char *const *list, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        found = strcmp(list[i], name) == 0;
    }
    return found;
}

/* Adds to a list that has room; false for lack of memory. */
static bool
add_text(char **list, size_t *count, const char *text)
{
    list[*count] = host_text_copy(text, strlen(text));
    return list[*count] != NULL && ++*count > 0;
}

/* Takes the warnings of a schema. */
static bool
take_warnings(struct sotto_try *result, const struct sotto_schema *schema)
{
    bool whole = true;
    for (size_t i = 0; i < sotto_schema_problems(schema) && whole; i++) {
        const struct sotto_schema_problem *problem =
            sotto_schema_problem_at(schema, i);
        char text[sizeof problem->text + sizeof problem->remedy + 3];
        (void)snprintf(text, sizeof text, "%s.%s%s", problem->text,
                       problem->remedy[0] != '\0' ? " " : "", problem->remedy);
        whole = problem->rank == SOTTO_SCHEMA_NOTE ||
                add_text(result->warning, &result->warnings, text);
    }
    return whole;
}

/* Whether a column may give the answer away: then a campaign with it would
   promise what no other one keeps. Owners who name their columns know. */
static bool
is_answer(const struct try_job *job, const char *name)
{
    const struct sotto_schema_problem *problem;
    for (size_t i = 0;
         job->options->keeps == 0 && job->inferred != NULL &&
         (problem = sotto_schema_problem_at(job->inferred, i)) != NULL;
         i++) {
        const struct sotto_schema_column *column =
            sotto_schema_column_at(job->inferred, problem->column);
        if ((problem->trouble == SOTTO_SCHEMA_ANSWER ||
             problem->trouble == SOTTO_SCHEMA_AFTERWARDS) &&
            column != NULL && strcmp(column->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* How many features would be left if what may give the answer away were not
   taken. */
static size_t
count_others(const struct try_job *job)
{
    const struct sotto_schema_column *column;
    size_t others = 0;
    for (size_t i = 0;
         (column = sotto_schema_column_at(job->schema, i)) != NULL; i++) {
        others +=
            column->use == SOTTO_SCHEMA_FEATURE && !is_answer(job, column->name)
                ? 1
                : 0;
    }
    return others;
}

/* Why a column of the table is left out; NULL: it is not. */
static const char *
why_out(const struct try_job *job, const char *name, bool answers)
{
    const struct sotto_schema_column *column =
        sotto_schema_find(job->schema, name);
    if (strcmp(name, job->options->label) == 0) {
        return NULL;
    }
    if (column == NULL) {
        return "the schema does not name it";
    }
    if (column->use == SOTTO_SCHEMA_DROP) {
        return column->why;
    }
    return answers && is_answer(job, name) ? "it may give the answer away"
                                           : NULL;
}

/* Takes the columns that are left out, and why; not those that their owner
   named, or did not name beside others. */
static bool
take_outs(struct try_job *job)
{
    const struct sotto_try_options *options = job->options;
    struct sotto_try *result = job->result;
    bool whole = true, answers = count_others(job) > 0;
    for (size_t i = 0; i < sotto_table_columns(job->split.aux) && whole; i++) {
        const char *name = sotto_table_name(job->split.aux, i);
        const char *why = why_out(job, name, answers);
        size_t outs = result->outs;
        if (why == NULL || try_is_among(name, options->drop, options->drops)) {
            continue;
        }
        job->drop[job->drops++] = name;
        if (options->keeps == 0 && options->schema == NULL) {
            result->answers += is_answer(job, name) ? 1 : 0;
            whole = add_text(result->out, &outs, name) &&
                    add_text(result->why, &result->outs, why);
        }
    }
    return whole;
}

/* Finds what the auxiliary rows' columns are; leaves out what the owner names,
   and what nothing can be made of. */
enum sotto_status
try_leave_out(struct try_job *job, struct sotto_error *err)
{
    const struct sotto_table *aux = job->split.aux;
    const struct sotto_schema_options options = {.label = job->options->label,
                                                 .keep = job->options->keep,
                                                 .keeps = job->options->keeps,
                                                 .drop = job->options->drop,
                                                 .drops = job->options->drops};
    size_t columns = sotto_table_columns(aux);
    struct sotto_try *result = job->result;
    enum sotto_status status =
        job->options->schema == NULL
            ? sotto_schema_infer(aux, &options, &job->inferred, err)
            : SOTTO_STATUS_OK;
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    job->schema = job->inferred != NULL ? job->inferred : job->options->schema;
    job->drop = calloc(columns + job->options->drops + 1, sizeof *job->drop);
    result->out = calloc(columns + 1, sizeof *result->out);
    result->why = calloc(columns + 1, sizeof *result->why);
    result->warning =
        calloc(sotto_schema_problems(job->schema) + 1, sizeof *result->warning);
    if (job->drop == NULL || result->out == NULL || result->why == NULL ||
        result->warning == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < job->options->drops; i++) {
        job->drop[job->drops++] = job->options->drop[i];
    }
    return take_outs(job) && take_warnings(result, job->schema)
               ? SOTTO_STATUS_OK
               : host_fail_memory(err);
}
