/*
 * report_columns.c: a table's columns from what a mechanism's parts are about.
 */
#include "mechanism/report_columns.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/text.h"
#include "likelihood/symbols_likelihood.h"

#define NAME_MOST ((size_t)1 << 16)
#define FIRST_NAMES 3u /* batch, simulated, book */

/* ---- Names ----------------------------------------------------------------
 */

/* The column that entry `at` of z is, or says the absence of. */
static size_t
find_source(const struct sotto_mechanism *mechanism, size_t at,
            bool *ret_missing)
{
    size_t column = mechanism_missing_source(mechanism, at);
    *ret_missing = column != SIZE_MAX;
    return *ret_missing ? column : mechanism_source(mechanism, at);
}

/* Whether every entry of a block of numbers is a column of its own. */
static bool
is_plain(const struct sotto_mechanism *mechanism, size_t part, size_t block)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    bool plain = own->place != NULL, missing;
    for (size_t i = 0; plain && i < own->instance.size; i++) {
        size_t at = own->from + block * own->instance.size + i;
        plain = find_source(mechanism, at, &missing) != SIZE_MAX;
    }
    return plain;
}

/* "column x column" of symbols; NULL-terminated or failed. */
static void
name_symbols(const struct sotto_mechanism *mechanism, size_t part,
             struct host_text *name)
{
    const struct report_part *own = &mechanism->device.report->part[part];
    for (uint32_t i = 0; i < own->factors; i++) {
        const struct report_factor *factor = &own->factor[i];
        host_text_print(name, "%s", i > 0 ? " x " : "");
        if (factor->is_column) {
            host_text_print(name, "%s",
                            mechanism->shape.schema.column[factor->at].name);
        } else {
            host_text_print(name, "part %zu", part + 1);
        }
    }
}

static void
name_column(const struct sotto_mechanism *mechanism,
            const struct report_column *column, struct host_text *name)
{
    const struct report_part *own =
        &mechanism->device.report->part[column->part];
    bool missing = false;
    if (own->place == NULL) {
        name_symbols(mechanism, column->part, name);
    } else if (column->entry != SIZE_MAX) {
        size_t at =
            own->from + column->block * own->instance.size + column->entry;
        size_t from = find_source(mechanism, at, &missing);
        host_text_print(name, "%s%s", mechanism->shape.schema.column[from].name,
                        missing ? " (missing)" : "");
        return;
    } else {
        host_text_print(name, "part %zu", column->part + 1);
    }
    if (own->blocks > 1) {
        host_text_print(name, ", block %zu", column->block + 1);
    }
}

static bool
is_taken(const struct report_columns *columns, const char *name)
{
    static const char *const first[FIRST_NAMES] = {"batch", "simulated",
                                                   "book"};
    bool taken = false;
    for (size_t i = 0; i < FIRST_NAMES; i++) {
        taken = taken || strcmp(name, first[i]) == 0;
    }
    for (size_t i = 0; i < columns->count; i++) {
        const char *other = columns->column[i].name;
        taken = taken || (other != NULL && strcmp(name, other) == 0);
    }
    return taken;
}

/* Adds a column, with a name of its own. False: no memory. */
static bool
add_column(struct report_columns *columns, struct report_column column)
{
    struct host_text name;
    size_t plain;
    host_text_init(&name, NAME_MOST);
    name_column(columns->mechanism, &column, &name);
    plain = name.size;
    for (size_t i = 2;
         !name.failed && name.data != NULL && is_taken(columns, name.data);
         i++) {
        name.size = plain;
        host_text_print(&name, " (%zu)", i);
    }
    if (name.failed || name.data == NULL) {
        host_text_clear(&name);
        return false;
    }
    column.name = name.data;
    columns->column[columns->count++] = column;
    return true;
}

/* ---- Columns --------------------------------------------------------------
 */

static size_t
count_columns(const struct sotto_mechanism *mechanism)
{
    const struct report_plan *plan = mechanism->device.report;
    size_t count = 0;
    for (size_t p = 0; p < plan->parts; p++) {
        for (size_t b = 0; b < plan->part[p].blocks; b++) {
            count +=
                is_plain(mechanism, p, b) ? plan->part[p].instance.size : 1;
        }
    }
    return count;
}

static bool
add_block(struct report_columns *columns, size_t part, size_t block)
{
    const struct sotto_mechanism *mechanism = columns->mechanism;
    const struct likelihood_instance *at = &mechanism->likelihood[part];
    struct report_column column = {.part = part, .block = block};
    bool numbers = mechanism->device.report->part[part].place != NULL;
    bool plain = is_plain(mechanism, part, block), good = true;
    column.wide = numbers;
    column.entry = plain || at->values == 1 ? 0 : SIZE_MAX;
    for (; good && plain && column.entry + 1 < at->values; column.entry++) {
        good = add_column(columns, column);
    }
    return good && add_column(columns, column);
}

enum sotto_status
report_columns_init(struct report_columns *columns,
                    const struct sotto_mechanism *mechanism,
                    struct sotto_error *err)
{
    const struct report_plan *plan = mechanism->device.report;
    size_t values = 1;
    bool good;
    *columns = (struct report_columns){.mechanism = mechanism,
                                       .book = mechanism->shape.books > 1};
    columns->column =
        calloc(count_columns(mechanism) + 1, sizeof *columns->column);
    good = columns->column != NULL;
    for (size_t p = 0; good && p < plan->parts; p++) {
        size_t own = mechanism->likelihood[p].values;
        values = own > values ? own : values;
        for (size_t b = 0; good && b < plan->part[p].blocks; b++) {
            good = add_block(columns, p, b);
        }
    }
    columns->values = calloc(values, sizeof *columns->values);
    if (!good || columns->values == NULL) {
        report_columns_clear(columns);
        return host_fail_memory(err);
    }
    return SOTTO_STATUS_OK;
}

void
report_columns_clear(struct report_columns *columns)
{
    for (size_t i = 0; columns->column != NULL && i < columns->count; i++) {
        free(columns->column[i].name);
    }
    free(columns->column);
    free(columns->values);
    memset(columns, 0, sizeof *columns);
}

const int64_t *
report_columns_values(const struct report_columns *columns,
                      const uint8_t *report, size_t i, size_t *ret_count)
{
    const struct report_column *column = &columns->column[i];
    const struct likelihood_instance *at =
        &columns->mechanism->likelihood[column->part];
    const uint8_t *wire = report + shape_offset(&columns->mechanism->shape,
                                                column->part, column->block);
    if (column->entry == SIZE_MAX || column->entry == 0) {
        at->likelihood->unpack(at, wire, columns->values);
    }
    *ret_count = column->entry == SIZE_MAX ? at->values : 1;
    return columns->values + (column->entry == SIZE_MAX ? 0 : column->entry);
}

/* ---- What they mean -------------------------------------------------------
 */

/* value = offset + unit * integer, in the column's own units. */
static void
describe_number(const struct report_columns *columns,
                const struct report_column *column, json_t *to)
{
    const struct sotto_mechanism *mechanism = columns->mechanism;
    const struct report_part *own =
        &mechanism->device.report->part[column->part];
    const struct likelihood_instance *likelihood =
        &mechanism->likelihood[column->part];
    double unit = likelihood->unit / (double)own->instance.l, offset = 0;
    bool missing = false;
    if (column->entry != SIZE_MAX) {
        size_t at =
            own->from + column->block * own->instance.size + column->entry;
        const struct schema_column *from =
            &mechanism->shape.schema
                 .column[find_source(mechanism, at, &missing)];
        offset = missing ? 0 : from->shift;
        unit = missing ? unit : from->scale != 0 ? unit / from->scale : 0;
        json_object_set_new(to, "log", json_boolean(!missing && from->log));
    }
    json_object_set_new(to, "kind", json_string("number"));
    json_object_set_new(to, "offset", json_real(offset));
    json_object_set_new(to, "unit", json_real(unit));
    json_object_set_new(to, "noise_deviation",
                        json_real(fabs(unit / likelihood->unit) *
                                  sqrt(likelihood->variance_other)));
}

static json_t *
list_factors(const struct sotto_mechanism *mechanism,
             const struct report_part *part)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < part->factors; i++) {
        const struct report_factor *factor = &part->factor[i];
        json_t *own = json_object(), *names = json_array();
        for (uint32_t j = 0; factor->is_column && j < factor->k; j++) {
            json_array_append_new(names, json_string(sotto_mechanism_category(
                                             mechanism, factor->at, j)));
        }
        json_object_set_new(own, "k", json_integer(factor->k));
        if (factor->is_column) {
            json_object_set_new(
                own, "column",
                json_string(mechanism->shape.schema.column[factor->at].name));
        }
        json_object_set_new(own, "categories", names);
        json_array_append_new(list, own);
    }
    return list;
}

/* A symbol is a combination of the factors' own, the last one fastest. */
static void
describe_symbols(const struct report_columns *columns,
                 const struct report_column *column, json_t *to)
{
    const struct sotto_mechanism *mechanism = columns->mechanism;
    const struct report_part *own =
        &mechanism->device.report->part[column->part];
    const struct likelihood_instance *at = &mechanism->likelihood[column->part];
    bool signs = at->bias > 0;
    json_object_set_new(to, "kind",
                        json_string(signs             ? "signs"
                                    : at->values == 1 ? "symbol"
                                                      : "set"));
    json_object_set_new(to, "k", json_integer(own->instance.size));
    if (!signs) {
        double other = at->own[SYMBOLS_RATE_OTHER];
        json_object_set_new(to, "rate_other", json_real(other));
        json_object_set_new(to, "rate_true",
                            json_real(at->own[SYMBOLS_GAP] + other));
    }
    json_object_set_new(to, "factors", list_factors(mechanism, own));
}

char *
report_columns_describe(const struct report_columns *columns)
{
    json_t *list = json_array();
    char *text;
    for (size_t i = 0; i < columns->count; i++) {
        const struct report_column *column = &columns->column[i];
        const struct report_part *own =
            &columns->mechanism->device.report->part[column->part];
        json_t *to = json_object();
        json_object_set_new(to, "name", json_string(column->name));
        json_object_set_new(to, "part", json_integer((int)column->part + 1));
        json_object_set_new(to, "block", json_integer((int)column->block + 1));
        json_object_set_new(to, "channel",
                            json_string(own->instance.channel->name));
        if (own->place != NULL) {
            describe_number(columns, column, to);
        } else {
            describe_symbols(columns, column, to);
        }
        if (json_array_append_new(list, to) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}
