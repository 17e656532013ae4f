/*
 * direct.c: the papers' baseline: columns straight through channels.
 *
 * Each number and each category has the same share of the budget,
 * floor(eps / shares) units, so the sum is never above eps (invariant 2).
 * There is no encoder: z is x. direct_missing.c decides which columns tell what
 * is missing, direct_columns.c fits them, direct_parts.c puts them through
 * channels.
 *
 * Not private towards the auxiliary data: ranges and categories taken from it
 * stand in the file (ERRATA 1), and the file says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/decimal.h"
#include "encoder/direct.h"
#include "host/error.h"
#include "mechanism/mechanism.h"
#include "mechanism/rebudget.h"
#include "schema/schema_fit.h"

const char *
direct_name(const struct direct *direct, size_t column)
{
    return sotto_table_name(direct->table, column);
}

const struct schema_kind *
direct_kind(const struct direct *direct, size_t column)
{
    return schema_kind(schema_kind_of(
        schema_fit_as(direct->options->schema, direct->table, column),
        direct->table, column));
}

/* ---- Settings ----------------------------------------------------------- */

#define AT(field) offsetof(struct direct_settings, field)

static const struct setting settings[] = {
    SETTING("range", MANY, AT(ranges), 0, 0, NULL, "COL=LOW:HIGH",
            "a number's public range; else it is taken from\n"
            "the data"),
    SETTING("numbers", TEXT, AT(numbers), 0, 0, NULL, "CHANNEL",
            "laplace, window, duchi or gaussian (laplace)"),
    SETTING("categories", TEXT, AT(categories), 0, 0, NULL, "CHANNEL",
            "flip or subset (flip)"),
    SETTING("label-channel", TEXT, AT(label_channel), 0, 0, NULL, "CHANNEL",
            "the label's: flip or subset for a category\n"
            "(flip), any of numbers for a number (window)"),
    SETTING("lambda", NUMBER, AT(lambda), 0.000001, 0.999999, NULL, NULL,
            "the record's share of epsilon, the rest is the\n"
            "label's (all columns alike); 0.5 suits a fit"),
    SETTING("delta", TEXT, AT(delta), 0, 0, NULL, "D",
            "with gaussian: the report's delta, a decimal\n"
            "far below one in the number of people"),
    SETTING("l", WHOLE, AT(l), 1, CHANNEL_L_MAX, NULL, NULL,
            "steps from the middle of a range to its end\n"
            "(4096; with gaussian 256)"),
    SETTING("missing", MANY, AT(missings), 0, 0, NULL, "COL",
            "tell a missing value of this column apart, as all\n"
            "columns do in which one is missing in the data"),
    SETTING("no-missing", FLAG, AT(no_missing), 0, 0, NULL, NULL,
            "only the columns named by missing do: in others a\n"
            "missing number counts as the middle of its range,\n"
            "a missing category as (other)"),
    SETTING("label-only", FLAG, AT(label_only), 0, 0, NULL, NULL,
            "the label alone, for a collector who holds the\n"
            "records: they are NOT protected; no send, no serve"),
    SETTING_END};

static bool
is_kept(const struct direct *direct, size_t column)
{
    for (size_t i = 0; i < direct->columns; i++) {
        if (direct->kept[i] == column) {
            return true;
        }
    }
    return false;
}

/* Leaves the label's column alone. */
static enum sotto_status
keep_label(struct direct *direct, struct sotto_error *err)
{
    if (direct->label == SIZE_MAX ||
        !direct_kind(direct, direct->label)->symbols) {
        return settings_fail(err, "label-only",
                             "needs a label that is a category: name one");
    }
    direct->kept[0] = direct->label;
    direct->columns = 1;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
choose_columns(struct direct *direct, struct sotto_error *err)
{
    const struct sotto_train_options *options = direct->options;
    struct schema_choice choice;
    enum sotto_status status =
        schema_fit_choose(direct->table, options, &choice, err);
    if (status == SOTTO_STATUS_OK) {
        direct->kept = choice.kept;
        direct->columns = choice.columns;
        direct->label = choice.label;
    }
    if (status == SOTTO_STATUS_OK && direct->set->label_only) {
        status = keep_label(direct, err);
    }
    return status;
}

/* COL=LOW:HIGH; the last '=' counts, a name may hold others. */
static enum sotto_status
read_range(const char *text, struct direct_range *range,
           struct sotto_error *err)
{
    char *low, *high;
    range->column = strdup(text);
    if (range->column == NULL) {
        return host_fail_memory(err);
    }
    low = strrchr(range->column, '=');
    high = low != NULL ? strchr(low, ':') : NULL;
    if (high == NULL) {
        return settings_fail(err, "range",
                             "%.80s: write COLUMN=LOW:HIGH, for example "
                             "age=0:120",
                             text);
    }
    *low++ = '\0';
    *high++ = '\0';
    if (!setting_read_number(low, &range->low) ||
        !setting_read_number(high, &range->high) || range->low >= range->high) {
        return settings_fail(err, "range",
                             "%.80s: LOW and HIGH must be numbers, LOW the "
                             "smaller",
                             text);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_range(const struct direct *direct, size_t at, struct sotto_error *err)
{
    const struct direct_range *range = &direct->range[at];
    size_t column;
    enum sotto_status status =
        schema_fit_find(direct->table, "range", range->column, &column, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!is_kept(direct, column) || !direct_kind(direct, column)->ranged) {
        return schema_column_fail(
            SOTTO_STATUS_USAGE, "column ", range->column,
            " is dropped or does not hold numbers: it takes no "
            "range",
            err);
    }
    for (size_t i = 0; i < at; i++) {
        if (strcmp(direct->range[i].column, range->column) == 0) {
            return schema_column_fail(SOTTO_STATUS_USAGE, "column ",
                                      range->column,
                                      " has two ranges: give one", err);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_ranges(struct direct *direct, struct sotto_error *err)
{
    const struct sotto_train_options *options = direct->options;
    enum sotto_status status = SOTTO_STATUS_OK;
    direct->range = calloc(direct->set->ranges + 1, sizeof *direct->range);
    if (direct->range == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < options->sets; i++) {
        if (strcmp(options->set[i].name, "range") == 0) {
            size_t at = direct->ranges++;
            status = read_range(options->set[i].value, &direct->range[at], err);
            status = HOST_THEN(status, check_range(direct, at, err));
        }
    }
    return status;
}

static enum sotto_status
check_options(struct direct *direct, struct sotto_error *err)
{
    const char *eps = direct->options->eps, *delta = direct->set->delta;
    enum sotto_status status =
        decimal_read_eps(eps, strlen(eps), &direct->eps, err);
    if (status == SOTTO_STATUS_OK && delta != NULL) {
        status = rebudget_read_delta(delta, &direct->delta, err);
    }
    status = HOST_THEN(status, choose_columns(direct, err));
    status = HOST_THEN(status, read_ranges(direct, err));
    status = HOST_THEN(status, direct_find_missing(direct, err));
    return status;
}

/* ---- The budget --------------------------------------------------------- */

/* Counts the numbers or categories in a column of the table: one, or one a
   sample. */
static size_t
count_entries(const struct direct *direct, size_t column)
{
    size_t width = sotto_table_width(direct->table, column);
    return width > 0 ? width : 1;
}

/* Gives the label what lambda leaves it, and the columns alike shares of the
   rest: a fit learns from products of both, and eps_x eps_y is largest at one
   half (docs/regression.md). */
static enum sotto_status
share_label(struct direct *direct, uint64_t blocks, struct sotto_error *err)
{
    uint64_t record = 0, own;
    enum sotto_status status;
    if (direct->label == SIZE_MAX || direct->set->label_only) {
        return settings_fail(err, "lambda",
                             "shares epsilon between record and label: name a "
                             "label, or leave it out");
    }
    own = count_entries(direct, direct->label);
    status = rebudget_split(direct->eps, direct->set->lambda, &record,
                            &direct->label_each, err);
    if (status == SOTTO_STATUS_OK) {
        direct->each = blocks > own ? record / (blocks - own) : record;
        direct->label_each /= own;
    }
    return status;
}

static enum sotto_status
split_budget(struct direct *direct, struct sotto_error *err)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < direct->columns; i++) {
        blocks = checked_add(blocks, count_entries(direct, direct->kept[i]));
    }
    if (direct->columns > DEVICE_COLUMNS_MAX || blocks > REPORT_POINTS_MAX) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_LIMIT, 0,
                      "%zu columns with %zu numbers and categories are too "
                      "many: at most %u and %u; drop some",
                      direct->columns, (size_t)blocks, DEVICE_COLUMNS_MAX,
                      REPORT_POINTS_MAX),
            err, "drop");
    }
    direct->each = blocks > 0 ? direct->eps / blocks : 0;
    direct->label_each = direct->each;
    if (direct->set->lambda > 0) {
        enum sotto_status status = share_label(direct, blocks, err);
        if (status != SOTTO_STATUS_OK) {
            return status;
        }
    }
    if (direct->each < DECIMAL_EPS_MIN) {
        return host_remedy(
            host_fail(err, SOTTO_STATUS_BUDGET, 0,
                      "epsilon %s over %zu numbers and categories leaves "
                      "each less than 0.000001: drop columns or raise "
                      "epsilon",
                      direct->options->eps, (size_t)blocks),
            err, "drop eps");
    }
    return SOTTO_STATUS_OK;
}

/* ---- All of it ---------------------------------------------------------- */

static enum sotto_status
fit(struct direct *direct, struct sotto_error *err)
{
    enum sotto_status status = check_options(direct, err);
    status = HOST_THEN(status, split_budget(direct, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    status = schema_init(&direct->schema, direct->columns, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < direct->columns; i++) {
        status = direct_fit_column(direct, i, err);
    }
    status = HOST_THEN(status, direct_add_parts(direct, err));
    return status;
}

/* What protects the auxiliary data, in a mechanism's words: by ranges,
   categories and what is missing, as bits from the lowest. */
static const char *
auxiliary_of(const struct direct *direct)
{
    static const char *const words[] = {
        "not used",
        "none: ranges were taken from the auxiliary data",
        "none: categories were taken from the auxiliary data",
        "none: ranges and categories were taken from the auxiliary data",
        "none: what may be missing was taken from the auxiliary data",
        "none: ranges and what may be missing were taken from the auxiliary "
        "data",
        "none: categories and what may be missing were taken from the "
        "auxiliary data",
        "none: ranges, categories and what may be missing were taken from the "
        "auxiliary data"};
    return words[(direct->ranges_fitted ? 1 : 0) +
                 (direct->categories_fitted ? 2 : 0) +
                 (direct->missing_fitted ? 4 : 0)];
}

/* Opened before it is written: what no device opens is never a file. */
static enum sotto_status
write_mechanism(const struct direct *direct, const struct encoder_job *job,
                struct sotto_error *err)
{
    const struct sotto_train_options *options = direct->options;
    const char *name = options->name != NULL ? options->name : "direct";
    struct compose_spec spec = {
        .name = name,
        .campaign = options->campaign != NULL ? options->campaign : name,
        .auxiliary = auxiliary_of(direct),
        .eps = direct->eps,
        .column = direct->schema.column,
        .columns = direct->schema.columns,
        .part = direct->part,
        .parts = direct->parts,
        .label_only = direct->set->label_only,
    };
    struct sotto_mechanism *mechanism = NULL;
    enum sotto_status status =
        direct_explain(direct, compose_open(&spec, &mechanism, err), err);
    return status == SOTTO_STATUS_OK
               ? mechanism_publish(mechanism, job->path, job->ret_mechanism,
                                   err)
               : status;
}

static void
direct_clear(struct direct *direct)
{
    for (size_t i = 0; i < direct->ranges; i++) {
        free(direct->range[i].column);
    }
    free(direct->range);
    schema_clear(&direct->schema);
    free(direct->part);
    free(direct->told);
    free(direct->kept);
}

static enum sotto_status
fit_direct(const struct encoder_job *job, void *own, struct sotto_error *err)
{
    struct direct direct = {
        .table = job->table, .options = job->options, .set = own};
    enum sotto_status status = fit(&direct, err);
    status = HOST_THEN(status, direct_say_missing(&direct, job->facts, err));
    status = HOST_THEN(status, direct_say_columns(&direct, job->facts, err));
    status = HOST_THEN(status, write_mechanism(&direct, job, err));
    direct_clear(&direct);
    return status;
}

const struct encoder encoder_direct = {
    .kind =
        {.name = "direct",
         .about =
             "columns go straight through channels, the budget split evenly\n"
             "between them, numbers with noise and categories by randomised\n"
             "response: so keep few columns, or send numbers together, by\n"
             "duchi. A number as the label is the target of a\n"
             "regression."},
    .settings = settings,
    .own_size = sizeof(struct direct_settings),
    .fit = fit_direct,
};
