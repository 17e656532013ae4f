/*
 * outline_write.c: a schema as a text to edit.
 *
 *     sotto-schema = 1
 *     from = auxiliary
 *
 *     [age]                    # 2 of 300 rows missing, 71 different values
 *     type = integer
 *     range = 0 : 100
 *
 * docs/schema.md has the grammar, outline_read.c reads it. Comments tell counts
 * of rows, never a value.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "schema/outline.h"

#define TEXT_MOST ((size_t)1 << 28)
#define LINE_MOST ((size_t)88) /* bytes, after which values go on below */

static const char head[] =
    "# What the columns of a table are. Edit it: docs/schema.md has every "
    "key.\n"
    "#   type    number, integer, category, ordinal, boolean, image; date, id "
    "and text\n"
    "#           are left out\n"
    "#   range   LOW : HIGH of a number; what lies beyond counts as the nearer "
    "end\n"
    "#   scale   log: a learnt encoder sees the logarithm of the number\n"
    "#   values  of a category, with commas between them; any other is "
    "\"other\"\n"
    "#   missing told: whether a value is missing is reported, with noise;\n"
    "#           middle, other: it counts as the middle of the range, or as "
    "other\n"
    "#   use     feature, label (one column) or drop\n"
    "# Ranges and values were taken from auxiliary rows, which are not "
    "protected by\n"
    "# that. If all of them are public knowledge instead, write from = "
    "public.\n\n";

/* Whether a text can stand without quotes: in a list or as a name. */
static bool
is_plain(const char *text)
{
    size_t size = strlen(text);
    if (size == 0 || text[0] == ' ' || text[size - 1] == ' ') {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f ||
            strchr("\"#,[]\\=", text[i]) != NULL) {
            return false;
        }
    }
    return true;
}

/* Adds a text, in quotes where it needs them; control characters, quotes and
   backslashes behind a backslash. */
static void
add_text(struct host_text *to, const char *text)
{
    if (is_plain(text)) {
        host_text_print(to, "%s", text);
        return;
    }
    host_text_add(to, "\"", 1);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            host_text_print(to, "\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            host_text_print(to, "\\x%02x", c);
        } else {
            host_text_add(to, text, 1);
        }
    }
    host_text_add(to, "\"", 1);
}

/* "values = a, b" on as many lines as that takes. */
static void
add_values(struct host_text *to, const struct sotto_schema_column *column)
{
    size_t line = 0;
    for (size_t i = 0; i < column->count; i++) {
        bool begins = i == 0 || to->size - line > LINE_MOST;
        if (begins) {
            host_text_print(to, "%svalues = ", i > 0 ? "\n" : "");
            line = to->size;
        } else {
            host_text_print(to, ", ");
        }
        add_text(to, column->values[i]);
    }
    host_text_print(to, "\n");
}

static void
add_column(struct host_text *to, const struct sotto_schema_column *column)
{
    host_text_add(to, "\n[", 2);
    add_text(to, column->name);
    host_text_add(to, "]", 1);
    if (column->rows > 0 && column->type != SOTTO_SCHEMA_IMAGE) {
        host_text_print(to, "  # %zu of %zu row%s missing, %zu different",
                        column->missing, column->rows,
                        column->rows == 1 ? "" : "s", column->distinct);
    }
    host_text_print(to, "\ntype = %s\n", sotto_schema_type_name(column->type));
    if (column->use == SOTTO_SCHEMA_DROP) {
        host_text_print(to, "use = drop%s%s\n",
                        column->why[0] != '\0' ? "  # " : "", column->why);
    } else if (column->use == SOTTO_SCHEMA_LABEL) {
        host_text_print(to, "use = label\n");
    }
    if (sotto_schema_is_number(column->type) && outline_usable(column)) {
        host_text_print(to, "range = %.17g : %.17g", column->low, column->high);
        if (column->beyond > 0) {
            host_text_print(to, "  # %zu row%s beyond", column->beyond,
                            column->beyond == 1 ? "" : "s");
        }
        host_text_print(to, "\n%s",
                        column->log && column->use != SOTTO_SCHEMA_LABEL
                            ? "scale = log\n"
                            : "");
    }
    if (column->count > 0) {
        add_values(to, column);
    }
    if (column->other > 0 && column->use != SOTTO_SCHEMA_DROP) {
        host_text_print(to,
                        column->other == 1 ? "# %zu row holds another value\n"
                                           : "# %zu rows hold other values\n",
                        column->other);
    }
    if (column->use == SOTTO_SCHEMA_FEATURE &&
        column->type != SOTTO_SCHEMA_IMAGE) {
        host_text_print(to, "missing = %s\n",
                        column->told                           ? "told"
                        : sotto_schema_is_number(column->type) ? "middle"
                                                               : "other");
    }
}

static enum sotto_status
make_text(const struct sotto_schema *schema, struct host_text *text,
          struct sotto_error *err)
{
    host_text_init(text, TEXT_MOST);
    host_text_add(text, head, sizeof head - 1);
    host_text_print(text, "sotto-schema = 1\nfrom = %s\n",
                    schema->is_public ? "public" : "auxiliary");
    for (size_t i = 0; i < schema->columns; i++) {
        add_column(text, &schema->column[i]);
    }
    return text->failed ? host_fail_memory(err) : SOTTO_STATUS_OK;
}

enum sotto_status
sotto_schema_text(const struct sotto_schema *schema, char **ret_text,
                  struct sotto_error *err)
{
    struct host_text text;
    enum sotto_status status = make_text(schema, &text, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_text = text.data;
    } else {
        host_text_clear(&text);
    }
    return status;
}

enum sotto_status
sotto_schema_write(const struct sotto_schema *schema, const char *path,
                   struct sotto_error *err)
{
    struct host_text text;
    enum sotto_status status = make_text(schema, &text, err);
    status = HOST_THEN(
        status, host_file_write(path, 0666, false, text.data, text.size, err));
    host_text_clear(&text);
    return status;
}
