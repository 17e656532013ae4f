/*
 * task_kept.c: what a mechanism for a linear task keeps of each column.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/task_ground.h"
#include "host/printable.h"

#define SHOWN_COLUMNS 12u /* of which people are told */
#define SHOWN_BESIDE 4u   /* of them, on a line */

/* The share of a column's variance that is kept; -1: it does not vary. */
static double
share_of(const struct task_ground *ground, const struct schema_column *column)
{
    double all = 0, part = 0;
    for (size_t j = column->at; j < column->at + column->inputs; j++) {
        all += ground->kept[j].all;
        part += ground->kept[j].part;
    }
    return all > 0 ? fmin(part / all, 1) : -1;
}

static bool
is_told(const struct task_ground *ground, size_t i)
{
    return i != ground->learnt.label &&
           share_of(ground, &ground->learnt.schema.column[i]) >= 0;
}

static void
say_column(const struct task_ground *ground, size_t i, size_t shown,
           struct sotto_train_facts *facts)
{
    const struct schema_column *column = &ground->learnt.schema.column[i];
    struct host_text name;
    host_text_init(&name, 200);
    host_printable_add(&name, column->name, 30);
    fact_say(facts, "%s %s %.0f%%",
             shown == 0                  ? ""
             : shown % SHOWN_BESIDE == 0 ? ",\n "
                                         : ",",
             name.data != NULL ? name.data : "",
             100 * share_of(ground, column));
    host_text_clear(&name);
}

void
task_kept_say(const struct task_ground *ground, const char *by,
              struct sotto_train_facts *facts)
{
    size_t shown = 0, more = 0;
    fact_say(facts,
             "Of a column's variance %s, and no report tells the rest:\n ", by);
    for (size_t i = 0; i < ground->learnt.schema.columns; i++) {
        if (!is_told(ground, i)) {
            continue;
        }
        if (shown == SHOWN_COLUMNS) {
            more++;
            continue;
        }
        say_column(ground, i, shown++, facts);
    }
    if (more > 0) {
        fact_say(facts, ",\n  and %zu more (sotto inspect of the analyst file)",
                 more);
    }
    fact_say(facts, ".\n");
}

/* NULL: no memory. */
static json_t *
pack_column(const struct task_ground *ground,
            const struct schema_column *column)
{
    struct host_text name;
    json_t *packed;
    host_text_init(&name, 2048);
    host_printable_add(&name, column->name, 400);
    packed = json_pack("{s:s, s:f}", "name", name.data != NULL ? name.data : "",
                       "kept", share_of(ground, column));
    host_text_clear(&name);
    return packed;
}

json_t *
task_kept_pack(const struct task_ground *ground)
{
    const struct schema *schema = &ground->learnt.schema;
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < schema->columns; i++) {
        if (is_told(ground, i) &&
            json_array_append_new(
                array, pack_column(ground, &schema->column[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
