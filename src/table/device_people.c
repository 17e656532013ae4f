/*
 * device_people.c: the rows of a device's file, by a public list of people.
 *
 *     list   ann bob eve          file   ann,"red      -> ann
 *                                        blue",30      -> a stranger: dropped
 *                                        eve,red,40    -> eve
 *     rows   ann bob eve                               (bob: all is missing)
 *
 * A line's end ends a record, so a line break in somebody's field makes a line
 * whose person is a piece of text, and nothing in the bytes tells it from a
 * line of somebody of that name. So the names come from elsewhere: the rows are
 * those of the list, whatever the file holds (invariant 4). A name that two
 * lines have may be somebody else's text in one of them: neither is taken.
 */
#include "table/device_people.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"

#define NO_LINE SIZE_MAX
#define TWO_LINES (SIZE_MAX - 1)

struct listed {
    struct sotto_value name;
    size_t place; /* in the list */
    size_t row;   /* of the file's table; NO_LINE; TWO_LINES */
};

static int
compare_names(const struct sotto_value *a, const struct sotto_value *b)
{
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return a->size > 0 ? memcmp(a->data, b->data, a->size) : 0;
}

static int
compare_listed(const void *a, const void *b)
{
    const struct listed *left = a, *right = b;
    int order = compare_names(&left->name, &right->name);
    return order != 0
               ? order
               : (left->place > right->place) - (left->place < right->place);
}

static int
compare_key(const void *key, const void *item)
{
    return compare_names(key, &((const struct listed *)item)->name);
}

/* The list is public, and so is what is wrong with it. */
static enum sotto_status
fail_name(const struct sotto_table *people, size_t row, const char *what,
          struct sotto_error *err)
{
    return host_fail(err, SOTTO_STATUS_INPUT, 0,
                     "the list of people, line %zu: %s",
                     sotto_table_line(people, row), what);
}

/* Lists the people, sorted by name. */
static enum sotto_status
list_people(const struct sotto_table *people, size_t column,
            struct listed *list, struct sotto_error *err)
{
    for (size_t i = 0; i < people->rows; i++) {
        list[i] =
            (struct listed){sotto_table_cell(people, i, column), i, NO_LINE};
        if (list[i].name.size == 0 || list[i].name.size > SOTTO_PERSON_MAX) {
            return fail_name(people, i, "give everybody 1 to 256 bytes", err);
        }
    }
    qsort(list, people->rows, sizeof *list, compare_listed);
    for (size_t i = 1; i < people->rows; i++) {
        if (compare_names(&list[i - 1].name, &list[i].name) == 0) {
            return fail_name(people, list[i].place,
                             "the name is there twice: take one away", err);
        }
    }
    return SOTTO_STATUS_OK;
}

/* Finds the row of everybody on the list: `spare` for whom no line, or more
   than one, names. */
static void
find_rows(const struct sotto_table *table, size_t person, struct listed *list,
          size_t count, size_t *ret_rows, struct sotto_device_odd *odd)
{
    size_t spare = table->rows - 1;
    for (size_t row = 0; row < spare; row++) {
        struct sotto_value name = sotto_table_cell(table, row, person);
        struct listed *found =
            bsearch(&name, list, count, sizeof *list, compare_key);
        if (found != NULL) {
            found->row = found->row == NO_LINE ? row : TWO_LINES;
        } else if (odd->strangers++ == 0) {
            odd->first_stranger = sotto_table_line(table, row);
        }
    }
    for (size_t i = 0; i < count; i++) {
        bool there = list[i].row < TWO_LINES;
        odd->absent += there ? 0 : 1;
        ret_rows[list[i].place] = there ? list[i].row : spare;
    }
}

/* A table of the list's one column, as texts. `rows` has room for them. */
static enum sotto_status
copy_names(const struct sotto_table *people, size_t column, size_t *rows,
           struct sotto_table **ret_names, struct sotto_error *err)
{
    struct sotto_table *names = NULL;
    for (size_t i = 0; i < people->rows; i++) {
        rows[i] = i;
    }
    enum sotto_status status =
        sotto_table_select(people, rows, people->rows, &names, err);
    for (size_t i = people->count; status == SOTTO_STATUS_OK && i-- > 0;) {
        status = i != column ? sotto_table_drop(names, i, err) : status;
    }
    if (status == SOTTO_STATUS_OK) {
        names->columns[0].named = true;
        table_column_texts(&names->columns[0]);
        *ret_names = names;
    } else {
        sotto_table_free(names);
    }
    return status;
}

/* Puts the list's names in the place of those that the lines have. */
static enum sotto_status
replace_names(struct sotto_table *table, size_t person,
              const struct sotto_table *people, size_t column, size_t *rows,
              struct sotto_error *err)
{
    struct sotto_table *names = NULL;
    enum sotto_status status = sotto_table_drop(table, person, err);
    status = HOST_THEN(status, copy_names(people, column, rows, &names, err));
    status = HOST_THEN(status, sotto_table_join(table, names, err));
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(names);
    }
    return status;
}

enum sotto_status
device_people_select(const struct sotto_table *table, size_t person,
                     const struct sotto_table *people,
                     struct sotto_table **ret_table,
                     struct sotto_device_odd *odd, struct sotto_error *err)
{
    size_t count = people->rows;
    size_t column = sotto_table_find(people, sotto_table_name(table, person));
    struct listed *list = calloc(count + 1, sizeof *list);
    size_t *rows = calloc(count + 1, sizeof *rows);
    struct sotto_table *selected = NULL;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (list == NULL || rows == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    if (column == SIZE_MAX) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "the list of people has no column \"%.80s\"",
                           sotto_table_name(table, person));
        goto done;
    }
    status = list_people(people, column, list, err);
    if (status == SOTTO_STATUS_OK) {
        find_rows(table, person, list, count, rows, odd);
        status = sotto_table_select(table, rows, count, &selected, err);
    }
    status = HOST_THEN(
        status, replace_names(selected, person, people, column, rows, err));
    if (status == SOTTO_STATUS_OK) {
        *ret_table = selected;
    } else {
        sotto_table_free(selected);
    }
done:
    free(list);
    free(rows);
    return status;
}
