/*
 * outline_read.c: a schema from its text, strictly.
 *
 *     file     = { line }
 *     line     = [ "[" text "]" | key "=" rest ] [ "#" comment ]
 *     text     = letters that are none of "#,[]\= and no control, blanks
 *                around them off; or in quotes, with \" \\ \xHH
 *
 * The keys before the first column are sotto-schema = 1, which must be there,
 * and from. A message names the file, the line and the key. A fault is noted,
 * and the lines after it are read: all faults are told at once. What is no
 * schema at all is left at its first line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "host/utf8.h"
#include "host/wipe.h"
#include "schema/outline_reader.h"
#include "table/decimal_text.h"

#define FILE_MOST ((size_t)1 << 26)
#define COLUMNS_MOST ((size_t)65536)
#define FAULTS_MOST ((size_t)100) /* that are told */

enum key {
    KEY_TYPE = 1,
    KEY_USE = 2,
    KEY_RANGE = 4,
    KEY_VALUES = 8,
    KEY_MISSING = 16,
    KEY_VERSION = 32,
    KEY_FROM = 64,
    KEY_SCALE = 128
};

/* Notes a fault and goes on; of other statuses, and before the first column,
   where it may be no schema at all, nothing can go on. */
static enum sotto_status
note_fault(struct outline_reader *r, enum sotto_status status)
{
    if (status != SOTTO_STATUS_INPUT) {
        return status;
    }
    if (r->faults++ == 0 && r->err != NULL) {
        *r->err = r->fault;
    }
    if (r->tell != NULL && r->faults <= FAULTS_MOST) {
        r->tell(r->own, r->fault.message);
    }
    r->spoilt = true;
    return r->passed ? SOTTO_STATUS_OK : status;
}

/* ---- Keys ---------------------------------------------------------------- */

static enum sotto_status
read_type(struct outline_reader *r)
{
    const char *names[SOTTO_SCHEMA_IMAGE + 2] = {NULL};
    size_t place = 0;
    for (size_t i = 0; i <= SOTTO_SCHEMA_IMAGE; i++) {
        names[i] = sotto_schema_type_name((enum sotto_schema_type)i);
    }
    enum sotto_status status = outline_take_word(r, "type", names, &place);
    r->column.type = (enum sotto_schema_type)place;
    return status;
}

static enum sotto_status
read_use(struct outline_reader *r)
{
    static const char *const names[] = {"feature", "label", "drop", NULL};
    size_t place = 0;
    enum sotto_status status = outline_take_word(r, "use", names, &place);
    r->column.use = (enum sotto_schema_use)place;
    return status;
}

static enum sotto_status
read_missing(struct outline_reader *r)
{
    static const char *const names[] = {"told", "middle", "other", NULL};
    size_t place = 0;
    enum sotto_status status = outline_take_word(r, "missing", names, &place);
    r->column.told = place == 0;
    return status;
}

static enum sotto_status
read_scale(struct outline_reader *r)
{
    static const char *const names[] = {"linear", "log", NULL};
    size_t place = 0;
    enum sotto_status status = outline_take_word(r, "scale", names, &place);
    r->column.log = place == 1;
    return status;
}

/* A number, up to `stop`, which is taken, or to the end for 0. */
static bool
take_number(struct outline_reader *r, char stop, double *ret_number)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at != stop && *r->at != '#') {
        r->at++;
    }
    bool read = decimal_text_parse(start, (size_t)(r->at - start), ret_number);
    return read && (stop == 0 || outline_take(r, stop));
}

static enum sotto_status
read_range(struct outline_reader *r)
{
    struct sotto_schema_column *c = &r->column;
    if (!take_number(r, ':', &c->low) || !take_number(r, 0, &c->high)) {
        return outline_fail(r, r->line,
                            "range: write LOW : HIGH, two numbers with a colon "
                            "between them, as range = 0 : 120");
    }
    if (c->low >= c->high || c->low < -OUTLINE_RANGE_MOST ||
        c->high > OUTLINE_RANGE_MOST) {
        return outline_fail(
            r, r->line,
            "range: LOW must be the smaller, and both from -1e30 "
            "to 1e30");
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_values(struct outline_reader *r)
{
    enum sotto_status status;
    do {
        char **values = host_grow(r->value, sizeof *values, r->column.count,
                                  &r->value_room);
        if (values == NULL) {
            return host_fail_memory(r->err);
        }
        r->value = values;
        status = outline_take_text(r, "values", &values[r->column.count]);
        r->column.count += status == SOTTO_STATUS_OK ? 1 : 0;
        if (status == SOTTO_STATUS_OK &&
            r->column.count > OUTLINE_VALUES_MOST) {
            status =
                outline_fail(r, r->line,
                             "values: more than %zu: group them, or drop the "
                             "column",
                             OUTLINE_VALUES_MOST);
        }
    } while (status == SOTTO_STATUS_OK && outline_take(r, ','));
    return status;
}

static enum sotto_status
read_version(struct outline_reader *r)
{
    static const char *const names[] = {"1", NULL};
    size_t place = 0;
    return outline_take_word(r, "sotto-schema", names, &place);
}

static enum sotto_status
read_from(struct outline_reader *r)
{
    static const char *const names[] = {"auxiliary", "public", NULL};
    size_t place = 0;
    enum sotto_status status = outline_take_word(r, "from", names, &place);
    r->schema->is_public = place == 1;
    return status;
}

static const struct {
    const char *name;
    enum key key;
    bool column; /* it is of a column, not of the file */
    enum sotto_status (*read)(struct outline_reader *r);
} keys[] = {
    {"type", KEY_TYPE, true, read_type},
    {"use", KEY_USE, true, read_use},
    {"range", KEY_RANGE, true, read_range},
    {"values", KEY_VALUES, true, read_values},
    {"missing", KEY_MISSING, true, read_missing},
    {"scale", KEY_SCALE, true, read_scale},
    {"sotto-schema", KEY_VERSION, false, read_version},
    {"from", KEY_FROM, false, read_from},
};
#define KEYS (sizeof keys / sizeof *keys)

/* `key = ...`: finds the key, which may be given once, but for values. */
static enum sotto_status
read_key(struct outline_reader *r)
{
    const char *start = r->at;
    size_t size, i = 0;
    while (r->at < r->end && strchr("= \t#", *r->at) == NULL) {
        r->at++;
    }
    size = (size_t)(r->at - start);
    while (i < KEYS && (strlen(keys[i].name) != size ||
                        memcmp(keys[i].name, start, size) != 0)) {
        i++;
    }
    if (i == KEYS || !outline_take(r, '=')) {
        return outline_fail(r, r->line,
                            "write [COLUMN], or one of type, use, range, "
                            "scale, values and missing, then = and what it is");
    }
    unsigned *given = keys[i].column ? &r->keys : &r->head;
    if (keys[i].column != r->open) {
        return outline_fail(r, r->line, "%s belongs %s", keys[i].name,
                            keys[i].column
                                ? "below a column: write [COLUMN] first"
                                : "above the first column");
    }
    if ((*given & keys[i].key) != 0 && keys[i].key != KEY_VALUES) {
        return outline_fail(r, r->line, "%s is given twice", keys[i].name);
    }
    *given |= keys[i].key;
    outline_skip_blanks(r);
    enum sotto_status status = keys[i].read(r);
    if (status == SOTTO_STATUS_OK && !outline_at_end(r)) {
        status = outline_fail(r, r->line,
                              "%s: there is more than belongs here: "
                              "put a text in quotes if it holds any "
                              "of \" # , [ ] \\ =",
                              keys[i].name);
    }
    return status;
}

/* ---- Columns ------------------------------------------------------------- */

static int
compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Finds a text that is there twice; sorts `list`. NULL: there is none. */
static const char *
find_twin(const char **list, size_t count)
{
    if (count > 1) {
        qsort(list, count, sizeof *list, compare_texts);
    }
    for (size_t i = 1; i < count; i++) {
        if (strcmp(list[i - 1], list[i]) == 0) {
            return list[i];
        }
    }
    return NULL;
}

static enum sotto_status
check_values(struct outline_reader *r)
{
    size_t count = r->column.count;
    const char **list = calloc(count + 1, sizeof *list);
    if (list == NULL) {
        return host_fail_memory(r->err);
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = r->value[i];
    }
    const char *twin = find_twin(list, count);
    enum sotto_status status =
        twin == NULL ? SOTTO_STATUS_OK
                     : outline_fail(r, r->opened,
                                    "column \"%.60s\" has the value \"%.60s\" "
                                    "twice",
                                    r->text, twin);
    free(list);
    return status;
}

/* Whether a column has what its type needs, and nothing else. */
static enum sotto_status
check_column(struct outline_reader *r)
{
    const struct sotto_schema_column *c = &r->column;
    bool number = sotto_schema_is_number(c->type);
    bool category = sotto_schema_is_category(c->type);
    const char *what = NULL;
    if ((r->keys & KEY_TYPE) == 0) {
        what = "has no type: write type = ...";
    } else if ((r->keys & KEY_RANGE) != 0 && !number) {
        what = "has a range, and its type has none: leave one of them out";
    } else if ((r->keys & KEY_SCALE) != 0 && !number) {
        what = "has a scale, and its type has none: leave one of them out";
    } else if (c->log && c->use == SOTTO_SCHEMA_LABEL) {
        what = "is the label, which is sent as it is: leave its scale out";
    } else if (c->count > 0 && !category) {
        what = "has values, and its type has none: leave one of them out";
    } else if (c->use != SOTTO_SCHEMA_DROP && number &&
               (r->keys & KEY_RANGE) == 0) {
        what = "has no range: write range = LOW : HIGH, or use = drop";
    } else if (c->use != SOTTO_SCHEMA_DROP && category && c->count == 0) {
        what = "has no values: write values = ..., or use = drop";
    } else if (c->use != SOTTO_SCHEMA_DROP && !outline_usable(c)) {
        what = "cannot be used: a date, an id and free text are dropped; give "
               "another type, or use = drop";
    } else if (c->type == SOTTO_SCHEMA_BOOLEAN && c->count > 2) {
        what = "is boolean and has more than two values: call it a category";
    } else if (c->use == SOTTO_SCHEMA_LABEL && c->type == SOTTO_SCHEMA_IMAGE) {
        what = "is an image, and cannot be the label";
    }
    return what == NULL ? check_values(r)
                        : outline_fail(r, r->opened, "column \"%.60s\" %s",
                                       r->text, what);
}

static void
forget_column(struct outline_reader *r)
{
    for (size_t i = 0; i < r->column.count; i++) {
        free(r->value[i]);
    }
    free(r->text);
    r->text = NULL;
    r->column = (struct sotto_schema_column){.why = ""};
    r->keys = 0;
    r->open = r->spoilt = false;
}

static enum sotto_status
close_column(struct outline_reader *r)
{
    if (!r->open || r->spoilt) {
        forget_column(r);
        return SOTTO_STATUS_OK;
    }
    enum sotto_status status = check_column(r);
    if (status == SOTTO_STATUS_OK && r->column.use == SOTTO_SCHEMA_LABEL &&
        sotto_schema_label(r->schema) != NULL) {
        status = outline_fail(r, r->opened,
                              "column \"%.60s\" is the label, and so is "
                              "\"%.60s\": there is one at most",
                              r->text, sotto_schema_label(r->schema)->name);
    }
    if (status == SOTTO_STATUS_OK && r->schema->columns == COLUMNS_MOST) {
        status =
            outline_fail(r, r->opened, "more than %zu columns", COLUMNS_MOST);
    }
    status = note_fault(r, status);
    r->column.name = r->text;
    r->column.values = (const char *const *)r->value;
    if (status == SOTTO_STATUS_OK && !r->spoilt &&
        !outline_add(r->schema, &r->column)) {
        status = host_fail_memory(r->err);
    }
    forget_column(r);
    return status;
}

static enum sotto_status
open_column(struct outline_reader *r)
{
    enum sotto_status status = close_column(r);
    if (status == SOTTO_STATUS_OK && (r->head & KEY_VERSION) == 0) {
        status = outline_fail(r, r->line,
                              "this is not a schema: its first line is "
                              "sotto-schema = 1");
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    r->open = r->passed = true;
    r->opened = r->line;
    status = outline_take_text(r, "[COLUMN]", &r->text);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return outline_take(r, ']') && outline_at_end(r)
               ? SOTTO_STATUS_OK
               : outline_fail(
                     r, r->line,
                     "[COLUMN]: close it with ], alone on its line; put "
                     "a name in quotes if it holds any of \" # , [ ] \\ "
                     "=");
}

/* ---- All of it ------------------------------------------------------------
 */

/* Whether it begins as a safetensors file does: eight bytes, then JSON. */
static bool
is_mechanism(const char *data, size_t size)
{
    static const char begins[] = "{\"__metadata__\"";
    return size > 8 + sizeof begins &&
           memcmp(data + 8, begins, sizeof begins - 1) == 0;
}

static enum sotto_status
check_text(struct outline_reader *r, const char *data, size_t size)
{
    size_t bad = host_utf8_check((const uint8_t *)data, size), line = 1;
    const char *nul = size > 0 ? memchr(data, 0, size) : NULL;
    if (nul != NULL && (size_t)(nul - data) < bad) {
        bad = (size_t)(nul - data);
    }
    if (is_mechanism(data, size)) {
        return outline_fail(
            r, 0,
            "this is a mechanism or a model, not a schema, which "
            "is a text that sotto schema infer writes");
    }
    if (bad == size) {
        return SOTTO_STATUS_OK;
    }
    for (size_t i = 0; i < bad; i++) {
        line += data[i] == '\n' ? 1 : 0;
    }
    return outline_fail(r, line, "this is not UTF-8 text");
}

static enum sotto_status
read_lines(struct outline_reader *r, const char *data, size_t size)
{
    const char *at = data, *stop = size > 0 ? data + size : data;
    enum sotto_status status = note_fault(r, check_text(r, data, size));
    for (; status == SOTTO_STATUS_OK && at < stop; r->line++) {
        const char *feed = memchr(at, '\n', (size_t)(stop - at));
        r->at = at;
        r->end = feed != NULL ? feed : stop;
        at = feed != NULL ? feed + 1 : stop;
        if (r->end > r->at && r->end[-1] == '\r') {
            r->end--;
        }
        if (outline_at_end(r)) {
            continue;
        }
        status =
            note_fault(r, outline_take(r, '[') ? open_column(r) : read_key(r));
    }
    return HOST_THEN(status, close_column(r));
}

static enum sotto_status
check_schema(struct outline_reader *r)
{
    size_t count = r->schema->columns;
    const char **list = calloc(count + 1, sizeof *list);
    if (list == NULL) {
        return host_fail_memory(r->err);
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = r->schema->column[i].name;
    }
    const char *twin = find_twin(list, count);
    free(list);
    if (count == 0 && r->faults == 0) {
        return note_fault(r,
                          outline_fail(r, 0,
                                       "this is not a schema, or one without "
                                       "a column"));
    }
    return twin == NULL
               ? SOTTO_STATUS_OK
               : note_fault(r, outline_fail(r, 0,
                                            "column \"%.60s\" is there twice",
                                            twin));
}

/* Adds to the first fault how many there are beside it, where nobody was told
   them. */
static void
count_faults(const struct outline_reader *r)
{
    size_t size = r->err != NULL ? strlen(r->err->message) : 0;
    if (r->err != NULL && r->tell == NULL && r->faults > 1) {
        (void)snprintf(r->err->message + size, sizeof r->err->message - size,
                       " (and %zu more fault%s)", r->faults - 1,
                       r->faults == 2 ? "" : "s");
    }
}

static enum sotto_status
parse_text(struct outline_reader *r, const void *data, size_t size,
           struct sotto_schema **ret_schema)
{
    r->line = 1;
    r->column.why = "";
    r->schema = outline_new();
    if (r->schema == NULL) {
        return host_fail_memory(r->err);
    }
    enum sotto_status status = read_lines(r, data, size);
    status = HOST_THEN(status, check_schema(r));
    forget_column(r);
    free(r->value);
    if (status == SOTTO_STATUS_OK && r->faults > 0) {
        status = SOTTO_STATUS_INPUT;
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_schema = r->schema;
    } else {
        sotto_schema_free(r->schema);
        count_faults(r);
    }
    return status;
}

enum sotto_status
sotto_schema_parse(const void *data, size_t size, const char *name,
                   struct sotto_schema **ret_schema, struct sotto_error *err)
{
    struct outline_reader r = {.name = host_shown(name), .err = err};
    return parse_text(&r, data, size, ret_schema);
}

enum sotto_status
sotto_schema_read_told(const char *path,
                       void (*tell)(void *own, const char *message), void *own,
                       struct sotto_schema **ret_schema,
                       struct sotto_error *err)
{
    struct outline_reader r = {
        .name = host_shown(path), .tell = tell, .own = own, .err = err};
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, FILE_MOST, &data, &size, err);
    if (status == SOTTO_STATUS_OK) {
        status = parse_text(&r, data, size, ret_schema);
        host_wipe_free(data, size);
    }
    return host_about(status, err, SOTTO_ABOUT_FILE, path);
}

enum sotto_status
sotto_schema_read(const char *path, struct sotto_schema **ret_schema,
                  struct sotto_error *err)
{
    return sotto_schema_read_told(path, NULL, NULL, ret_schema, err);
}
