/*
 * class_label.c: a column of numbers as a label of classes.
 */
#include "verb/class_label.h"

#include <math.h>

bool
class_label_fits(const struct sotto_table *table, size_t column)
{
    double seen[CLASS_LABEL_MOST];
    size_t count = 0, rows = sotto_table_rows(table);
    if (sotto_table_kind(table, column) != SOTTO_COLUMN_NUMBER) {
        return true;
    }
    for (size_t i = 0; i < rows; i++) {
        struct sotto_value cell = sotto_table_cell(table, i, column);
        size_t j = 0;
        if (cell.kind == SOTTO_VALUE_MISSING) {
            continue;
        }
        while (j < count && seen[j] != cell.number) {
            j++;
        }
        if (cell.number != floor(cell.number) ||
            (j == count && count == CLASS_LABEL_MOST)) {
            return false;
        }
        if (j == count) {
            seen[count++] = cell.number;
        }
    }
    return true;
}

int
class_label_take(struct sotto_table *table, size_t column, bool *ret_number)
{
    struct sotto_error err = {0};
    *ret_number = sotto_table_kind(table, column) == SOTTO_COLUMN_NUMBER;
    return *ret_number
               ? cli_exit(sotto_table_set_category(table, column, &err), &err)
               : CLI_EXIT_DONE;
}
