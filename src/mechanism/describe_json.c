/*
 * describe_json.c: what a mechanism promises, for programs.
 *
 * Keys come in a fixed order. A number that JSON cannot hold (a hostile file's
 * range that is not finite) is null. Names and categories are shown as
 * printable.h makes them, whole. "covers_checked" is false: which epsilon is
 * about features and which about the label rests on the maker's labels, as
 * "auxiliary" is the maker's word. A part's "depends" is computed from the file
 * (depend.h), and "covers_contradicted" says where the maker's label cannot be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/decimal.h"
#include "host/printable.h"
#include "host/text.h"
#include "likelihood/guess.h"
#include "mechanism/depend.h"
#include "mechanism/describe.h"
#include "schema/column.h"

#define DEPENDS_MOST ((size_t)1 << 20) /* names, of all parts together */
#define TEXT_MOST ((size_t)1 << 30)

/*
 * Objects are built top down. json_*_new functions treat NULL as a failure
 * and free what they were given, so a lack of memory anywhere is remembered
 * in `failed` and everything still belongs to somebody.
 */
struct building {
    const struct sotto_mechanism *mechanism;
    bool failed;
};

static void
put(struct building *building, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        building->failed = true;
    }
}

static void
append(struct building *building, json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0) {
        building->failed = true;
    }
}

static void
put_real(struct building *building, json_t *object, const char *key,
         double value)
{
    put(building, object, key,
        isfinite(value) ? json_real(value) : json_null());
}

static void
put_size(struct building *building, json_t *object, const char *key,
         size_t value)
{
    put(building, object, key, json_integer((json_int_t)value));
}

static json_t *
safe_string(const char *from)
{
    struct host_text text;
    json_t *string;
    host_text_init(&text, TEXT_MOST);
    host_text_add(&text, "", 0);
    host_printable_add(&text, from, TEXT_MOST);
    string = text.failed ? NULL : json_stringn(text.data, text.size);
    host_text_clear(&text);
    return string;
}

/* All but "(other)", which is always there. */
static json_t *
categories(struct building *building, const struct schema_column *column)
{
    json_t *list = json_array();
    for (size_t i = 0; i + 1 < column->count && !building->failed; i++) {
        append(building, list, safe_string(column->values[i]));
    }
    return list;
}

/* Where a column of bins is cut; null for what is no finite number. */
static json_t *
edges(struct building *building, const struct schema_column *column)
{
    json_t *list = json_array();
    for (size_t i = 0; i + 2 < column->count && !building->failed; i++) {
        append(building, list,
               isfinite(column->edges[i]) ? json_real(column->edges[i])
                                          : json_null());
    }
    return list;
}

static json_t *
column(struct building *building, size_t at)
{
    struct sotto_column_info info;
    json_t *object = json_object();
    sotto_mechanism_column(building->mechanism, at, &info);
    put(building, object, "name", safe_string(info.name));
    put(building, object, "kind", json_string(schema_kind(info.kind)->name));
    put_size(building, object, "count", info.count);
    put(building, object, "missing",
        json_string(info.missing       ? "told"
                    : info.symbols > 0 ? "other"
                                       : "middle"));
    if (info.symbols > 0) {
        put(building, object, "categories",
            categories(building,
                       &building->mechanism->shape.schema.column[at]));
    }
    if (info.symbols == 0 || schema_kind(info.kind)->ranged) {
        put_real(building, object, "low", info.low);
        put_real(building, object, "high", info.high);
    }
    if (info.log) {
        put(building, object, "scale", json_string("log"));
    }
    if (building->mechanism->shape.schema.column[at].edges != NULL) {
        put(building, object, "edges",
            edges(building, &building->mechanism->shape.schema.column[at]));
    }
    return object;
}

static json_t *
domain(struct building *building, const struct sotto_part_info *info)
{
    json_t *object = json_object();
    put(building, object, "kind", json_string(info->domain));
    if (info->l > 0) {
        put_size(building, object, "d", info->size);
        put_size(building, object, "l", info->l);
    } else {
        put_size(building, object, "k", info->size);
    }
    return object;
}

/* Names the columns that a part can depend on; null where naming all of all
   parts would take more than a hostile file may ask for. */
static json_t *
dependence(struct building *building, size_t at)
{
    const struct shape *shape = &building->mechanism->shape;
    json_t *list;
    if (shape->parts > DEPENDS_MOST / shape->schema.columns) {
        return json_null();
    }
    list = json_array();
    for (size_t i = 0; i < shape->schema.columns; i++) {
        if (depend_blocks(building->mechanism, at, i) > 0) {
            append(building, list, safe_string(shape->schema.column[i].name));
        }
    }
    return list;
}

static json_t *
part(struct building *building, size_t at)
{
    struct sotto_part_info info;
    json_t *object = json_object();
    sotto_mechanism_part(building->mechanism, at, &info);
    put(building, object, "covers", json_string(info.covers));
    put(building, object, "depends", dependence(building, at));
    put(building, object, "covers_contradicted",
        json_boolean(depend_contradicts(building->mechanism, at)));
    put(building, object, "channel", json_string(info.channel));
    put_real(building, object, "eps", info.eps);
    put_real(building, object, "eps_exact", info.eps_exact);
    put_real(building, object, "delta", info.delta);
    put_size(building, object, "blocks", info.blocks);
    if (info.books > 1) {
        put_size(building, object, "books", info.books);
    }
    put(building, object, "domain", domain(building, &info));
    put_real(building, object, "deviation", info.deviation);
    put_real(building, object, "bias", info.bias);
    put_size(building, object, "wire_size", info.wire_size);
    return object;
}

static void
put_titles(struct building *building, json_t *object,
           const struct sotto_mechanism_info *info)
{
    put(building, object, "name", safe_string(info->name));
    put(building, object, "campaign", safe_string(info->campaign));
    put(building, object, "hash", json_string(info->hash));
    put_real(building, object, "eps", info->eps);
    put(building, object, "eps_text", safe_string(info->eps_text));
    put_real(building, object, "delta", info->delta);
    put(building, object, "delta_text", safe_string(info->delta_text));
    put_real(building, object, "eps_features", info->eps_features);
    put_real(building, object, "eps_label", info->eps_label);
    put(building, object, "covers_checked", json_false());
    put_real(building, object, "eps_exact",
             (double)describe_realised(building->mechanism) /
                 (double)DECIMAL_UNIT);
    put(building, object, "auxiliary", safe_string(info->auxiliary));
    if (info->central_eps[0] != '\0') {
        put(building, object, "central_eps", safe_string(info->central_eps));
        put(building, object, "central_delta",
            safe_string(info->central_delta));
    }
    if (info->expires > 0) {
        put(building, object, "expires",
            json_integer((json_int_t)info->expires));
    }
    if (info->label_only) {
        put(building, object, "label_only", json_true());
    }
    put_size(building, object, "report_size", info->report_size);
}

static json_t *
image(struct building *building, const struct layer_image *from)
{
    json_t *list = json_array();
    append(building, list, json_integer(from->height));
    append(building, list, json_integer(from->width));
    append(building, list, json_integer(from->channels));
    return list;
}

/* The outputs that a layer takes: 0 is x, i what layer i - 1 makes. */
static json_t *
sources(struct building *building, const struct layer *from, size_t at)
{
    json_t *list = json_array();
    append(building, list,
           json_integer((json_int_t)(at + 1 - layer_back(from))));
    if (from->from[1] > 0) {
        append(building, list,
               json_integer((json_int_t)(at + 1 - from->from[1])));
    }
    return list;
}

static json_t *
layer(struct building *building, size_t at)
{
    static const char *const kinds[] = {"dense", "conv", "pool", "pool"};
    const struct layer *from = &building->mechanism->device.encoder->layer[at];
    json_t *object = json_object();
    put(building, object, "kind", json_string(kinds[from->kind]));
    put_size(building, object, "in", from->in);
    put_size(building, object, "out", from->out);
    if (building->mechanism->device.terms->version > 1) {
        put(building, object, "takes", sources(building, from, at));
        put(building, object, "bf16", json_boolean(from->bf16));
    }
    if (from->kind == LAYER_DENSE) {
        return object;
    }
    put(building, object, "from", image(building, &from->image));
    put(building, object, "to", image(building, &from->made));
    put_size(building, object, "kernel", from->kernel);
    put_size(building, object, "stride", from->stride);
    put_size(building, object, "pad", from->pad);
    if (from->kind == LAYER_CONV) {
        put_size(building, object, "skip", from->from[1]);
    } else {
        put(building, object, "of",
            json_string(from->kind == LAYER_POOL_MAX ? "max" : "mean"));
    }
    return object;
}

/* The columns without weights, where there are any. */
static void
put_weightless(struct building *building, json_t *encoder)
{
    const struct schema *schema = &building->mechanism->shape.schema;
    json_t *list = json_array();
    for (size_t i = 0; i < schema->columns && !building->failed; i++) {
        if (depend_weightless(building->mechanism, i)) {
            append(building, list, safe_string(schema->column[i].name));
        }
    }
    if (json_array_size(list) > 0) {
        put(building, encoder, "weightless", list);
    } else {
        json_decref(list);
    }
}

static void
put_lists(struct building *building, json_t *object,
          const struct sotto_mechanism_info *info)
{
    json_t *columns = json_array(), *parts = json_array();
    json_t *encoder = json_object(), *stack = json_array();
    for (size_t i = 0; i < info->columns && !building->failed; i++) {
        append(building, columns, column(building, i));
    }
    put_size(building, encoder, "layers", info->layers);
    put_size(building, encoder, "weights", info->weights);
    put_size(building, encoder, "multiply_adds", (size_t)info->work);
    put(building, encoder, "uneven", json_boolean(info->uneven));
    for (size_t i = 0; i < info->layers && !building->failed; i++) {
        append(building, stack, layer(building, i));
    }
    put(building, encoder, "stack", stack);
    put_weightless(building, encoder);
    for (size_t i = 0; i < info->parts && !building->failed; i++) {
        append(building, parts, part(building, i));
    }
    put(building, object, "columns", columns);
    put(building, object, "encoder", encoder);
    put(building, object, "parts", parts);
}

/* A share in units as a number. At most 12 digits stand behind the point, all
   of which are written: a bound stays one. */
static void
put_units(struct building *building, json_t *object, const char *key,
          uint64_t units)
{
    put_real(building, object, key, (double)units / (double)DECIMAL_UNIT);
}

/* What a guess of 1 in `one_in` can become after so many reports. "outright" is
   the chance of a report that says outright. */
static json_t *
guess(struct building *building, uint64_t one_in, uint32_t reports)
{
    const struct shape *shape = &building->mechanism->shape;
    json_t *object = json_object();
    uint64_t eps, delta;
    guess_add_up(shape->eps, shape->delta, reports, &eps, &delta);
    put_size(building, object, "reports", reports);
    put_size(building, object, "one_in", (size_t)one_in);
    put_units(building, object, "most", sotto_guess_most(one_in, eps));
    put_units(building, object, "least", sotto_guess_least(one_in, eps));
    put_units(building, object, "outright", delta);
    return object;
}

static void
put_guesses(struct building *building, json_t *object, uint32_t reports)
{
    const struct shape *shape = &building->mechanism->shape;
    size_t classes = describe_classes(building->mechanism);
    json_t *list = json_array();
    for (size_t i = 0; i < GUESS_SHOWN; i++) {
        append(building, list, guess(building, guess_shown[i], 1));
    }
    for (size_t i = 0; i < GUESS_SHOWN && reports > 1; i++) {
        append(building, list, guess(building, guess_shown[i], reports));
    }
    put(building, object, "guesses", list);
    if (classes > 0) {
        double eps = (double)shape->eps / (double)DECIMAL_UNIT;
        double delta = (double)shape->delta / (double)DECIMAL_UNIT;
        put_size(building, object, "classes", classes);
        put_units(building, object, "accuracy_most",
                  guess_round_up(sotto_accuracy_most(classes, eps, delta)));
        put_units(building, object, "accuracy_vertices",
                  guess_round_up(sotto_accuracy_vertices(classes, eps)));
    }
}

/* A copy the caller may free(): jansson may have an allocator of its own. */
static char *
dump(const json_t *object)
{
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
    size_t size = json_dumpb(object, NULL, 0, flags);
    char *line = size > 0 ? malloc(size + 1) : NULL;
    if (line == NULL || json_dumpb(object, line, size, flags) != size) {
        free(line);
        return NULL;
    }
    line[size] = '\0';
    return line;
}

char *
describe_json(const struct sotto_mechanism *mechanism, uint32_t reports)
{
    struct building building = {mechanism, false};
    struct sotto_mechanism_info info;
    json_t *object = json_object();
    char *line = NULL;
    sotto_mechanism_info(mechanism, &info);
    put_titles(&building, object, &info);
    put_lists(&building, object, &info);
    put_guesses(&building, object, reports);
    if (!building.failed) {
        line = dump(object);
    }
    json_decref(object);
    return line;
}
