/*
 * direct.c: the papers' baseline: each column through its own channel.
 *
 *     numbers, samples   x in [-1,1]   one lattice block each, d = 1, laplace
 *     categories         a symbol      one flip each, "other" the last symbol
 *
 * Every block gets floor(eps / blocks) units of the budget, so the sum is
 * never above eps (invariant 2). There is no encoder: z is x. Blocks that lie
 * side by side in x and cover the same thing are one part.
 *
 * Not private towards the auxiliary data: ranges and categories taken from it
 * stand in the file (ERRATA 1), and the file says so.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/decimal.h"
#include "channel/channel.h"
#include "client/device.h"
#include "host/error.h"
#include "host/file.h"
#include "host/printable.h"
#include "host/text.h"
#include "mechanism/compose.h"
#include "sotto/sotto.h"

#define L_DEFAULT 4096u
#define CATEGORIES_MOST ((size_t)1024)

/* A category as it stands in the table. */
struct word {
    const uint8_t *data;
    size_t size;
};

struct direct {
    const struct sotto_table *table;
    const struct sotto_direct_options *options;
    size_t *kept; /* columns of the table, in its order */
    size_t columns;
    size_t label; /* of the table; SIZE_MAX: none */
    uint64_t eps; /* stated total */
    uint64_t each;
    uint32_t l;
    bool fitted; /* something was taken from the data */
    struct compose_column *column;
    struct compose_part *part;
    size_t parts;
};

/* ---- Names of columns ---------------------------------------------------- */

static const char *
name_of(const struct direct *direct, size_t column)
{
    return sotto_table_name(direct->table, column);
}

/* Fails with a sentence about a column, whose name is made printable. */
static enum sotto_status
fail_column(enum sotto_status status, const char *before, const char *name,
            const char *after, struct sotto_error *err)
{
    struct host_text shown;
    host_text_init(&shown, 1024);
    host_printable_add(&shown, name, 60);
    (void)host_fail(err, status, 0, "%s\"%s\"%s", before,
                    shown.data != NULL ? shown.data : "", after);
    host_text_clear(&shown);
    return status;
}

/* The same for a name no column has: says which there are. */
static enum sotto_status
fail_unknown(const struct direct *direct, const char *what, const char *name,
             struct sotto_error *err)
{
    size_t columns = sotto_table_columns(direct->table);
    struct host_text shown, there;
    host_text_init(&shown, 1024);
    host_text_init(&there, 1024);
    host_printable_add(&shown, name, 60);
    for (size_t i = 0; i < columns && there.size < 200; i++) {
        host_text_print(&there, "%s", i > 0 ? ", " : "");
        host_printable_add(&there, name_of(direct, i), 30);
        if (there.size >= 200 && i + 1 < columns) {
            host_text_print(&there, " and %zu more", columns - i - 1);
        }
    }
    (void)host_fail(err, SOTTO_STATUS_USAGE, 0,
                    "there is no column \"%s\" for %s; the columns are %s",
                    shown.data != NULL ? shown.data : "", what,
                    there.data != NULL ? there.data : "");
    host_text_clear(&shown);
    host_text_clear(&there);
    return SOTTO_STATUS_USAGE;
}

static enum sotto_status
find_column(const struct direct *direct, const char *what, const char *name,
            size_t *ret_column, struct sotto_error *err)
{
    size_t columns = sotto_table_columns(direct->table);
    for (size_t i = 0; i < columns; i++) {
        if (strcmp(name_of(direct, i), name) == 0) {
            *ret_column = i;
            return SOTTO_STATUS_OK;
        }
    }
    return fail_unknown(direct, what, name, err);
}

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

/* ---- Options ------------------------------------------------------------ */

static enum sotto_status
choose_columns(struct direct *direct, struct sotto_error *err)
{
    const struct sotto_direct_options *options = direct->options;
    size_t columns = sotto_table_columns(direct->table);
    enum sotto_status status = SOTTO_STATUS_OK;
    bool *dropped = calloc(columns, sizeof *dropped);
    direct->kept = calloc(columns, sizeof *direct->kept);
    if (dropped == NULL || direct->kept == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (size_t i = 0; i < options->drops; i++) {
        size_t column;
        status = find_column(direct, "--drop", options->drop[i], &column, err);
        if (status != SOTTO_STATUS_OK) {
            goto done;
        }
        dropped[column] = true;
    }
    for (size_t i = 0; i < columns; i++) {
        if (!dropped[i]) {
            direct->kept[direct->columns++] = i;
        }
    }
    if (direct->columns == 0) {
        status = host_fail(err, SOTTO_STATUS_USAGE, 0,
                           "every column is dropped: keep at least one");
    }
done:
    free(dropped);
    return status;
}

static enum sotto_status
choose_label(struct direct *direct, struct sotto_error *err)
{
    const char *label = direct->options->label;
    enum sotto_status status;
    direct->label = SIZE_MAX;
    if (label == NULL) {
        return SOTTO_STATUS_OK;
    }
    status = find_column(direct, "--label", label, &direct->label, err);
    if (status == SOTTO_STATUS_OK && !is_kept(direct, direct->label)) {
        status = fail_column(SOTTO_STATUS_USAGE, "column ", label,
                             " cannot be both the label and dropped", err);
    }
    return status;
}

static enum sotto_status
check_range(const struct direct *direct, size_t at, struct sotto_error *err)
{
    const struct sotto_range *range = &direct->options->ranges[at];
    size_t column;
    enum sotto_status status =
        find_column(direct, "--range", range->column, &column, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!is_kept(direct, column) ||
        sotto_table_kind(direct->table, column) != SOTTO_COLUMN_NUMBER) {
        return fail_column(SOTTO_STATUS_USAGE, "column ", range->column,
                           " is dropped or does not hold numbers: it takes no "
                           "range",
                           err);
    }
    if (!isfinite(range->low) || !isfinite(range->high) ||
        range->low >= range->high) {
        return fail_column(
            SOTTO_STATUS_USAGE, "the range of column ", range->column,
            " must be two finite numbers, the lower one first", err);
    }
    for (size_t i = 0; i < at; i++) {
        if (strcmp(direct->options->ranges[i].column, range->column) == 0) {
            return fail_column(SOTTO_STATUS_USAGE, "column ", range->column,
                               " has two ranges: give one", err);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_options(struct direct *direct, struct sotto_error *err)
{
    const struct sotto_direct_options *options = direct->options;
    enum sotto_status status;
    if (options->eps == NULL) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "epsilon is missing: give one with --eps");
    }
    direct->l = options->l > 0 ? options->l : L_DEFAULT;
    if (direct->l > CHANNEL_L_MAX) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a lattice has at most %u steps from its middle to "
                         "an end",
                         (unsigned)CHANNEL_L_MAX);
    }
    status =
        decimal_read_eps(options->eps, strlen(options->eps), &direct->eps, err);
    if (status == SOTTO_STATUS_OK) {
        status = choose_columns(direct, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = choose_label(direct, err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < options->range_count;
         i++) {
        status = check_range(direct, i, err);
    }
    return status;
}

/* ---- The budget --------------------------------------------------------- */

/* Blocks a column takes: one, or one a sample. */
static size_t
blocks_of(const struct direct *direct, size_t column)
{
    size_t width = sotto_table_width(direct->table, column);
    return width > 0 ? width : 1;
}

static enum sotto_status
split_budget(struct direct *direct, struct sotto_error *err)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < direct->columns; i++) {
        blocks = checked_add(blocks, blocks_of(direct, direct->kept[i]));
    }
    if (direct->columns > DEVICE_COLUMNS_MAX || blocks > DEVICE_POINTS_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "%zu columns with %zu numbers and categories are too "
                         "many: at most %u and %u; drop some with --drop",
                         direct->columns, (size_t)blocks, DEVICE_COLUMNS_MAX,
                         DEVICE_POINTS_MAX);
    }
    direct->each = blocks > 0 ? direct->eps / blocks : 0;
    if (direct->each < DECIMAL_EPS_MIN) {
        return host_fail(err, SOTTO_STATUS_BUDGET, 0,
                         "epsilon %s over %zu numbers and categories leaves "
                         "each less than 0.000001: drop columns with --drop or "
                         "raise --eps",
                         direct->options->eps, (size_t)blocks);
    }
    return SOTTO_STATUS_OK;
}

/* ---- Columns ------------------------------------------------------------ */

static const struct sotto_range *
range_of(const struct direct *direct, size_t column)
{
    const struct sotto_direct_options *options = direct->options;
    for (size_t i = 0; i < options->range_count; i++) {
        if (strcmp(options->ranges[i].column, name_of(direct, column)) == 0) {
            return &options->ranges[i];
        }
    }
    return NULL;
}

/* The smallest and largest value there is; false if all are missing. */
static bool
find_range(const struct sotto_table *table, size_t column, double *ret_low,
           double *ret_high)
{
    bool found = false;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind != SOTTO_VALUE_NUMBER) {
            continue;
        }
        *ret_low = found ? fmin(*ret_low, value.number) : value.number;
        *ret_high = found ? fmax(*ret_high, value.number) : value.number;
        found = true;
    }
    return found;
}

static enum sotto_status
fail_missing(const struct direct *direct, size_t column,
             struct sotto_error *err)
{
    return fail_column(SOTTO_STATUS_INPUT, "column ", name_of(direct, column),
                       " has no value in any row: leave it out with --drop",
                       err);
}

/* Halves first: low and high may lie further apart than a double can say. */
static enum sotto_status
fit_number(struct direct *direct, size_t column, struct compose_column *ret,
           struct sotto_error *err)
{
    const struct sotto_range *range = range_of(direct, column);
    double low = 0, high = 0, half;
    if (range != NULL) {
        low = range->low;
        high = range->high;
    } else if (find_range(direct->table, column, &low, &high)) {
        direct->fitted = true;
    } else {
        return fail_missing(direct, column, err);
    }
    half = high / 2 - low / 2;
    ret->shift = low / 2 + high / 2;
    ret->scale = isfinite(1 / half) ? 1 / half : 0; /* 0: a constant */
    return SOTTO_STATUS_OK;
}

static int
compare_words(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    size_t least = x->size < y->size ? x->size : y->size;
    int order = least > 0 ? memcmp(x->data, y->data, least) : 0;
    return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Sorts the words bytewise and keeps one of each; returns how many. */
static size_t
sort_words(struct word *words, size_t count)
{
    size_t distinct = 0;
    qsort(words, count, sizeof *words, compare_words);
    for (size_t i = 0; i < count; i++) {
        if (distinct == 0 ||
            compare_words(&words[distinct - 1], &words[i]) != 0) {
            words[distinct++] = words[i];
        }
    }
    return distinct;
}

static size_t
gather_words(const struct sotto_table *table, size_t column,
             struct word *ret_words)
{
    size_t count = 0;
    for (size_t row = 0; row < sotto_table_rows(table); row++) {
        struct sotto_value value = sotto_table_cell(table, row, column);
        if (value.kind == SOTTO_VALUE_TEXT) {
            ret_words[count++] =
                (struct word){(const uint8_t *)value.data, value.size};
        }
    }
    return count;
}

/*
 * The words as strings: one block that starts with the pointers, so that one
 * free() suffices.
 */
static const char **
copy_words(const struct word *words, size_t count)
{
    size_t size = count * sizeof(char *);
    const char **strings;
    char *at;
    for (size_t i = 0; i < count; i++) {
        size += words[i].size + 1;
    }
    strings = malloc(size);
    if (strings == NULL) {
        return NULL;
    }
    at = (char *)(strings + count);
    for (size_t i = 0; i < count; i++) {
        strings[i] = at;
        memcpy(at, words[i].data, words[i].size);
        at[words[i].size] = '\0';
        at += words[i].size + 1;
    }
    return strings;
}

static enum sotto_status
fit_category(struct direct *direct, size_t column, struct compose_column *ret,
             struct sotto_error *err)
{
    size_t count, rows = sotto_table_rows(direct->table);
    enum sotto_status status = SOTTO_STATUS_OK;
    struct word *words = calloc(rows, sizeof *words);
    if (words == NULL) {
        return host_fail_memory(err);
    }
    count = sort_words(words, gather_words(direct->table, column, words));
    if (count == 0) {
        status = fail_missing(direct, column, err);
    } else if (count > CATEGORIES_MOST) {
        status =
            fail_column(SOTTO_STATUS_INPUT, "column ", name_of(direct, column),
                        " has more than 1024 different values: leave it "
                        "out with --drop, or group its values",
                        err);
    } else {
        ret->values = copy_words(words, count);
        ret->count = count + 1;
        direct->fitted = true;
        if (ret->values == NULL) {
            status = host_fail_memory(err);
        }
    }
    free(words);
    return status;
}

static enum sotto_status
fit_column(struct direct *direct, size_t column, struct compose_column *ret,
           struct sotto_error *err)
{
    ret->name = name_of(direct, column);
    ret->kind = sotto_table_kind(direct->table, column);
    ret->count = 1;
    switch (ret->kind) {
    case SOTTO_COLUMN_CATEGORY:
        return fit_category(direct, column, ret, err);
    case SOTTO_COLUMN_BYTES:
        ret->count = blocks_of(direct, column);
        ret->shift = 127.5;
        ret->scale = 1 / 127.5;
        return SOTTO_STATUS_OK;
    default:
        return fit_number(direct, column, ret, err);
    }
}

/* ---- Parts -------------------------------------------------------------- */

static const char *
covers_of(const struct direct *direct, size_t column)
{
    return column == direct->label ? "label" : "features";
}

static struct compose_part *
add_part(struct direct *direct, size_t column, const char *channel)
{
    struct compose_part *part = &direct->part[direct->parts++];
    part->covers = covers_of(direct, column);
    part->channel = channel;
    part->eps = direct->each;
    return part;
}

/* Entries of x in a row that cover the same thing are one part. */
static void
add_numbers(struct direct *direct)
{
    struct compose_part *last = NULL;
    uint32_t at = 0;
    for (size_t i = 0; i < direct->columns; i++) {
        size_t column = direct->kept[i];
        if (direct->column[i].kind == SOTTO_COLUMN_CATEGORY) {
            continue;
        }
        if (last == NULL || column == direct->label ||
            strcmp(last->covers, "label") == 0) {
            last = add_part(direct, column, "laplace");
            last->from = at;
            last->d = 1;
            last->l = direct->l;
        }
        last->blocks += (uint32_t)direct->column[i].count;
        at += (uint32_t)direct->column[i].count;
    }
}

static void
add_categories(struct direct *direct)
{
    for (size_t i = 0; i < direct->columns; i++) {
        if (direct->column[i].kind == SOTTO_COLUMN_CATEGORY) {
            struct compose_part *part =
                add_part(direct, direct->kept[i], "flip");
            part->blocks = 1;
            part->factors = 1;
            part->factor[0].is_column = true;
            part->factor[0].at = (uint32_t)i;
        }
    }
}

/* ---- All of it ---------------------------------------------------------- */

static enum sotto_status
fit(struct direct *direct, struct sotto_error *err)
{
    enum sotto_status status = check_options(direct, err);
    if (status == SOTTO_STATUS_OK) {
        status = split_budget(direct, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    direct->column = calloc(direct->columns, sizeof *direct->column);
    direct->part = calloc(direct->columns, sizeof *direct->part);
    if (direct->column == NULL || direct->part == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < direct->columns; i++) {
        status = fit_column(direct, direct->kept[i], &direct->column[i], err);
    }
    if (status == SOTTO_STATUS_OK) {
        add_numbers(direct);
        add_categories(direct);
    }
    return status;
}

/* Opened before it is written: what no device opens is never a file. */
static enum sotto_status
write_mechanism(const struct direct *direct, const char *path,
                struct sotto_mechanism **ret_mechanism, struct sotto_error *err)
{
    const struct sotto_direct_options *options = direct->options;
    const char *name = options->name != NULL ? options->name : "direct";
    struct compose_spec spec = {
        .name = name,
        .campaign = options->campaign != NULL ? options->campaign : name,
        .auxiliary = direct->fitted ? "none: ranges and categories were taken "
                                      "from the auxiliary data"
                                    : "not used",
        .eps = direct->eps,
        .column = direct->column,
        .columns = direct->columns,
        .part = direct->part,
        .parts = direct->parts,
    };
    struct sotto_mechanism *mechanism = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status = compose_mechanism(&spec, &data, &size, err);
    if (status == SOTTO_STATUS_OK && ret_mechanism != NULL) {
        status = sotto_mechanism_parse(data, size, path, &mechanism, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = host_file_write(path, 0644, false, data, size, err);
    }
    if (status == SOTTO_STATUS_OK && ret_mechanism != NULL) {
        *ret_mechanism = mechanism;
        mechanism = NULL;
    }
    sotto_mechanism_free(mechanism);
    free(data);
    return status;
}

static void
direct_clear(struct direct *direct)
{
    for (size_t i = 0; direct->column != NULL && i < direct->columns; i++) {
        /* The one block of copy_words; its const is the reader's. */
        free((void *)(uintptr_t)direct->column[i].values);
    }
    free(direct->column);
    free(direct->part);
    free(direct->kept);
}

enum sotto_status
sotto_train_direct(const struct sotto_table *table,
                   const struct sotto_direct_options *options, const char *path,
                   struct sotto_mechanism **ret_mechanism,
                   struct sotto_error *err)
{
    struct direct direct = {.table = table, .options = options};
    enum sotto_status status = fit(&direct, err);
    if (status == SOTTO_STATUS_OK) {
        status = write_mechanism(&direct, path, ret_mechanism, err);
    }
    direct_clear(&direct);
    return status;
}
