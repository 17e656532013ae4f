/*
 * fuzz_schema.c: sotto_schema_parse on any text. What is read is written, and
 * what is written reads the same.
 */
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two columns are the same but for what only inference knows. */
static bool
same(const struct sotto_schema_column *a, const struct sotto_schema_column *b)
{
    bool equal = strcmp(a->name, b->name) == 0 && a->type == b->type &&
                 a->use == b->use && a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = strcmp(a->values[i], b->values[i]) == 0;
    }
    return equal && a->low == b->low && a->high == b->high;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_schema *schema = NULL, *again = NULL;
    struct sotto_error err;
    char *text = NULL;
    if (sotto_schema_parse(data, size, "fuzz.schema", &schema, &err) !=
        SOTTO_STATUS_OK) {
        require(schema == NULL && err.message[0] != '\0');
        return 0;
    }
    require(sotto_schema_count(schema, SOTTO_SCHEMA_LABEL) <= 1);
    if (sotto_schema_text(schema, &text, &err) == SOTTO_STATUS_OK) {
        require(sotto_schema_parse(text, strlen(text), "again", &again, &err) ==
                SOTTO_STATUS_OK);
        for (size_t i = 0; i < sotto_schema_columns(schema); i++) {
            require(same(sotto_schema_column_at(schema, i),
                         sotto_schema_column_at(again, i)));
        }
    }
    free(text);
    sotto_schema_free(schema);
    sotto_schema_free(again);
    return 0;
}
