/*
 * declared.c: a label that no record has, only the values that it may take.
 *
 *     values "a", "b" --> block: bytes "ab", words, a missing cell for every
 *     row --> a column, joined to the table
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "table/csv.h"
#include "table/table.h"

#define VALUES_MOST ((size_t)1024) /* of a category on a device */

const struct table_cell *
table_words(const struct sotto_table *table, size_t column, size_t *ret_count,
            const uint8_t **ret_bytes)
{
    const struct table_block *block =
        column < table->count ? table->columns[column].block : NULL;
    if (block != NULL && block->of != NULL) {
        block = block->of;
    }
    *ret_count = block != NULL ? block->word_count : 0;
    *ret_bytes = block != NULL ? block->bytes : NULL;
    return block != NULL ? block->words : NULL;
}

static enum sotto_status
check_values(const char *const *values, size_t count, struct sotto_error *err)
{
    if (count == 0 || count > VALUES_MOST) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "a label may take 1 to %zu values, not %zu",
                         VALUES_MOST, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (values[i][0] == '\0' || strlen(values[i]) > TABLE_MAX_FIELD) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "the label's value %zu is %s", i + 1,
                             values[i][0] == '\0' ? "empty" : "too long");
        }
        if (csv_missing(values[i], strlen(values[i]))) {
            return host_fail(err, SOTTO_STATUS_USAGE, 0,
                             "the label's value \"%s\" means in a file that "
                             "it is missing: give it another name",
                             values[i]);
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(values[i], values[j]) == 0) {
                return host_fail(err, SOTTO_STATUS_USAGE, 0,
                                 "the label's value \"%.80s\" is given twice",
                                 values[i]);
            }
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
check_name(const struct sotto_table *table, const char *name,
           struct sotto_error *err)
{
    size_t column = sotto_table_find(table, name);
    return column == SIZE_MAX
               ? SOTTO_STATUS_OK
               : host_about(
                     host_fail(
                         err, SOTTO_STATUS_INPUT, column,
                         "the data have a column \"%.80s\": its values are "
                         "there, or give the label another name",
                         name),
                     err, SOTTO_ABOUT_COLUMN, name);
}

/* Words behind each other, and `rows` cells where nothing is; NULL for lack of
   memory. */
static struct table_block *
make_block(size_t rows, const char *const *values, size_t count)
{
    struct table_block *block = table_block_new();
    size_t size = 0;
    if (block == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size += strlen(values[i]);
    }
    block->bytes = malloc(size);
    block->cells = calloc(rows, sizeof *block->cells);
    block->words = calloc(count, sizeof *block->words);
    if (block->bytes == NULL || block->cells == NULL || block->words == NULL) {
        table_block_free(block);
        return NULL;
    }
    block->stride = 1;
    block->count = rows;
    block->word_count = count;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(values[i]);
        memcpy(block->bytes + block->size, values[i], length);
        block->words[i].start = (uint32_t)block->size;
        block->words[i].size = length & 0x1fffffu;
        block->size += length;
    }
    for (size_t row = 0; row < rows; row++) {
        block->cells[row].missing = 1;
    }
    return block;
}

enum sotto_status
sotto_table_declare_label(struct sotto_table *table, const char *name,
                          const char *const *values, size_t count,
                          struct sotto_error *err)
{
    enum sotto_status status = check_values(values, count, err);
    if (status == SOTTO_STATUS_OK) {
        status = check_name(table, name, err);
    }
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    struct table_block *block = make_block(table->rows, values, count);
    struct sotto_table *label = block != NULL ? table_new(block, 1) : NULL;
    if (label == NULL) {
        table_block_free(block);
        return host_fail_memory(err);
    }
    label->rows = table->rows;
    table_column_texts(&label->columns[0]);
    label->columns[0].named = true;
    status = table_column_name(&label->columns[0], name, strlen(name))
                 ? sotto_table_join(table, label, err)
                 : host_fail_memory(err);
    if (status != SOTTO_STATUS_OK) {
        sotto_table_free(label);
    }
    return status;
}
