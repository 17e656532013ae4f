/*
 * learnt.c: what learnt mechanisms have in common: the columns, and x.
 *
 *     numbers      mean 0, variance 1; of a robust kind, cut to the range of
 * all but a hundredth at either end, variance 1 samples      [0, 255] becomes
 * [0, 1] categories   one-hot, "other" the last; the label not in x
 */
#include "encoder/learnt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/checked.h"
#include "base/decimal.h"
#include "client/opened.h"
#include "encoder/learnt_channel.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"
#include "mechanism/rebudget.h"
#include "schema/matrix.h"

#define LAMBDA_DEFAULT 0.7
#define GAIN_MOST 10.0F /* of a number that hardly any record has */

/* ---- Settings ------------------------------------------------------------ */

static enum sotto_status
check_settings(struct learnt *learnt, struct sotto_error *err)
{
    struct learnt_settings *set = &learnt->set;
    const struct sotto_train_options *options = learnt->job->options;
    enum sotto_status status = rebudget_check_channel(set->label_channel, err);
    status = HOST_THEN(status, learnt_settings_check(set, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (set->lambda > 0 && options->label == NULL) {
        return settings_fail(err, "lambda",
                             "shares epsilon between record and label: name a "
                             "label, or leave it out");
    }
    set->lambda = set->lambda > 0 ? set->lambda : LAMBDA_DEFAULT;
    return decimal_read_eps(options->eps, strlen(options->eps), &learnt->eps,
                            err);
}

static enum sotto_status
split_budget(struct learnt *learnt, struct sotto_error *err)
{
    if (learnt->label == SIZE_MAX) {
        learnt->eps_x = learnt->eps;
        return SOTTO_STATUS_OK;
    }
    return rebudget_split(learnt->eps, learnt->set.lambda, &learnt->eps_x,
                          &learnt->eps_y, err);
}

/* ---- Columns ------------------------------------------------------------- */

/* The column of that name among the job's own; NULL: it has none. */
static const struct schema_column *
find_given(const struct encoder_job *job, const char *name)
{
    for (size_t i = 0; job->columns != NULL && i < job->columns->columns; i++) {
        const struct schema_column *column = &job->columns->column[i];
        if (column->inputs > 0 && strcmp(column->name, name) == 0) {
            return column;
        }
    }
    return NULL;
}

/* Keeps of the columns chosen those that the job gives, in its order, and the
   label behind them. */
static enum sotto_status
order_columns(struct learnt *learnt, struct sotto_error *err)
{
    const struct encoder_job *job = learnt->job;
    struct schema_choice *choice = &learnt->choice;
    size_t most = job->columns->columns + 1, kept = 0;
    size_t *order = calloc(most, sizeof *order);
    if (order == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < job->columns->columns; i++) {
        const struct schema_column *column = &job->columns->column[i];
        size_t at = sotto_table_find(job->table, column->name);
        if (column->inputs == 0) {
            continue;
        }
        if (at == SIZE_MAX || at == choice->label) {
            free(order);
            return schema_column_fail(
                SOTTO_STATUS_USAGE, "the model takes the column ", column->name,
                at == SIZE_MAX ? ", which the data does not have"
                               : ", which is the label",
                err);
        }
        order[kept++] = at;
    }
    if (choice->label != SIZE_MAX) {
        order[kept++] = choice->label;
    }
    free(choice->kept);
    choice->kept = order;
    choice->columns = kept;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fit_columns(struct learnt *learnt, struct sotto_error *err)
{
    struct schema_aim aim = {.input = true,
                             .robust = learnt->job->encoder->robust};
    const struct sotto_schema *given = learnt->job->options->schema;
    const struct sotto_table *table = learnt->job->table;
    struct schema *schema = &learnt->schema;
    size_t columns = learnt->choice.columns;
    enum sotto_status status = schema_init(schema, columns, err);
    learnt->block = calloc(columns, sizeof *learnt->block);
    if (status != SOTTO_STATUS_OK || learnt->block == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < columns; i++) {
        size_t column = learnt->choice.kept[i];
        const struct schema_column *own =
            find_given(learnt->job, sotto_table_name(table, column));
        aim.as = schema_fit_as(given, table, column);
        aim.missing = aim.as != NULL && aim.as->told;
        if (column == learnt->choice.label) {
            learnt->label = i;
            status = schema_fit_label(schema, table, column, aim.as, 0, err);
        } else if (own != NULL) {
            status = schema_add(schema, own, err);
        } else {
            status = schema_fit(schema, table, column, &aim, err);
        }
    }
    return status;
}

static enum analyst_likelihood
likelihood_of(const struct schema_kind *kind)
{
    return kind->symbols ? ANALYST_CATEGORICAL
           : kind->bytes ? ANALYST_BERNOULLI
                         : ANALYST_GAUSSIAN;
}

/* Neighbours of one likelihood make one block, but every category its own. */
static enum sotto_status
find_blocks(struct learnt *learnt, struct sotto_error *err)
{
    struct analyst_block *last = NULL;
    uint64_t width = 0;
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        enum analyst_likelihood likelihood =
            likelihood_of(schema_kind(column->kind));
        if (i == learnt->label) {
            continue;
        }
        if (last == NULL || last->likelihood != likelihood ||
            likelihood == ANALYST_CATEGORICAL) {
            last = &learnt->block[learnt->blocks++];
            *last = (struct analyst_block){likelihood, (size_t)width, 0};
        }
        last->count += column->inputs;
        width = checked_add(width, column->inputs);
    }
    if (learnt->choice.columns > DEVICE_COLUMNS_MAX ||
        width > DEVICE_WIDTH_MAX) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, 0,
                      "%zu columns with %zu inputs are too many: at most "
                      "%u and %u; drop some",
                      learnt->choice.columns, (size_t)width, DEVICE_COLUMNS_MAX,
                      DEVICE_WIDTH_MAX),
            err, "drop");
    }
    if (width == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no column but the label: keep one to learn "
                         "from");
    }
    learnt->width = (size_t)width;
    return SOTTO_STATUS_OK;
}

/* ---- The matrix ---------------------------------------------------------- */

/* 1 / the deviation of entry i of x, at most GAIN_MOST. */
static float
find_gain(const struct learnt *learnt, size_t i)
{
    double mean = 0, squares = 0;
    for (size_t row = 0; row < learnt->n; row++) {
        double value = (double)learnt->x[row * learnt->width + i];
        double from = value - mean;
        mean += from / (double)(row + 1);
        squares += from * (value - mean);
    }
    squares = sqrt(squares / (double)learnt->n);
    return squares * GAIN_MOST > 1 ? (float)(1 / squares) : GAIN_MOST;
}

/* Makes entries of x that are numbers of variance 1; a device's first layer
   does so (learnt_layers_init). */
static enum sotto_status
even_x(struct learnt *learnt, struct sotto_error *err)
{
    bool any = false;
    learnt->gain = malloc(learnt->width * sizeof *learnt->gain);
    if (learnt->gain == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < learnt->width; i++) {
        learnt->gain[i] = 1;
    }
    for (size_t i = 0; i < learnt->schema.columns; i++) {
        const struct schema_column *column = &learnt->schema.column[i];
        if (i != learnt->label && schema_kind(column->kind)->ranged) {
            learnt->gain[column->at] = find_gain(learnt, column->at);
            any = true;
        }
    }
    for (size_t i = 0; any && i < learnt->n * learnt->width; i++) {
        learnt->x[i] *= learnt->gain[i % learnt->width];
    }
    if (!any) {
        free(learnt->gain);
        learnt->gain = NULL;
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
fill_x(struct learnt *learnt, struct sotto_error *err)
{
    learnt->n = sotto_table_rows(learnt->job->table);
    if (learnt->n < 2 || learnt->n > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "%zu row%s cannot be learnt from: at least 2",
                         learnt->n, learnt->n == 1 ? "" : "s");
    }
    learnt->x = calloc(learnt->n, learnt->width * sizeof *learnt->x);
    return learnt->x != NULL ? matrix_fill(&learnt->schema, learnt->job->table,
                                           learnt->x, err)
                             : host_fail_memory(err);
}

enum sotto_status
learnt_begin(struct learnt *learnt, const struct encoder_job *job,
             const struct learnt_settings *set, struct sotto_error *err)
{
    const struct sotto_train_options *options = job->options;
    enum sotto_status status;
    *learnt = (struct learnt){.job = job, .set = *set, .label = SIZE_MAX};
    status = check_settings(learnt, err);
    status = HOST_THEN(
        status, schema_fit_choose(job->table, options, &learnt->choice, err));
    if (status == SOTTO_STATUS_OK && job->columns != NULL) {
        status = order_columns(learnt, err);
    }
    status = HOST_THEN(status, fit_columns(learnt, err));
    status = HOST_THEN(status, find_blocks(learnt, err));
    status = HOST_THEN(status, split_budget(learnt, err));
    status = HOST_THEN(status, learnt_channel_begin(learnt, err));
    status = HOST_THEN(status, fill_x(learnt, err));
    if (status == SOTTO_STATUS_OK && job->encoder->robust) {
        status = even_x(learnt, err);
    }
    status =
        HOST_THEN(status, host_pool_new(options->threads, &learnt->pool, err));
    status = HOST_THEN(status,
                       tensor_new("cpu", learnt->pool, &learnt->backend, err));
    return status;
}

void
learnt_clear(struct learnt *learnt)
{
    host_wipe_free(learnt->x, learnt->n * learnt->width * sizeof *learnt->x);
    free(learnt->gain);
    schema_clear(&learnt->schema);
    free(learnt->block);
    schema_fit_choice_clear(&learnt->choice);
    tensor_backend_free(learnt->backend);
    host_pool_free(learnt->pool);
}

/* ---- The key ------------------------------------------------------------- */

static void
print_columns(const struct learnt *learnt, struct host_text *text)
{
    for (size_t i = 0; i < learnt->choice.columns; i++) {
        struct sotto_image image =
            sotto_table_image(learnt->job->table, learnt->choice.kept[i]);
        host_text_print(text, " c%d.%zu.%u.%u.%u%s",
                        (int)learnt->schema.column[i].kind,
                        learnt->schema.column[i].count, (unsigned)image.height,
                        (unsigned)image.width, (unsigned)image.channels,
                        i == learnt->label ? ".label" : "");
    }
}

enum sotto_status
learnt_key(const struct learnt *learnt, const void *own, unsigned algorithm,
           const char *version, char ret_key[LEARNT_KEY_SIZE],
           struct sotto_error *err)
{
    const struct encoder *encoder = learnt->job->encoder;
    crypto_generichash_state state;
    struct host_text text;
    uint8_t hash[LEARNT_KEY_SIZE / 2];
    host_text_init(&text, (size_t)1 << 20);
    host_text_print(&text, "%s %u %s %zu %zu ", encoder->kind.name, algorithm,
                    version, learnt->n, learnt->width);
    settings_text(encoder->settings, own, false, &text);
    print_columns(learnt, &text);
    if (text.failed) {
        host_text_clear(&text);
        return host_fail_memory(err);
    }
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    (void)crypto_generichash_update(&state, (const uint8_t *)text.data,
                                    text.size);
    (void)crypto_generichash_update(&state, (const uint8_t *)learnt->x,
                                    learnt->n * learnt->width *
                                        sizeof *learnt->x);
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(ret_key, LEARNT_KEY_SIZE, hash, sizeof hash);
    host_text_clear(&text);
    return SOTTO_STATUS_OK;
}
