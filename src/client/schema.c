/*
 * schema.c: from a record's values to the encoder's input and the symbols.
 *
 * Total on content (invariant 4): what is missing or does not fit becomes 0
 * in x, which is the middle of a number's range, and the last symbol, which
 * every category column declares for it.
 */
#include "base/bytes.h"
#include "client/device.h"

static bool
is_finite(double x)
{
    return x - x == 0;
}

static float
scaled(const struct sotto_client *client, uint32_t column, double value)
{
    return (float)((value - client->shift[column]) * client->scale[column]);
}

static void
apply_number(const struct sotto_client *client, uint32_t at,
             const struct sotto_value *value, float *x)
{
    bool fits = value->kind == SOTTO_VALUE_NUMBER && is_finite(value->number);
    x[0] = fits ? scaled(client, at, value->number) : 0;
}

static void
apply_bytes(const struct sotto_client *client, uint32_t at,
            const struct sotto_value *value, float *x)
{
    uint32_t count = client->column[at].count;
    const uint8_t *data = (const uint8_t *)value->data;
    bool fits = value->kind == SOTTO_VALUE_BYTES && data != NULL &&
                value->size == count;
    for (uint32_t i = 0; i < count; i++) {
        x[i] = fits ? scaled(client, at, data[i]) : 0;
    }
}

static bool
same_text(const uint8_t *text, const struct sotto_value *value)
{
    const uint8_t *data = (const uint8_t *)value->data;
    size_t i = 0;
    while (i < value->size && text[i] != 0 && text[i] == data[i]) {
        i++;
    }
    return i == value->size && text[i] == 0;
}

static const uint8_t *
next_string(const uint8_t *text)
{
    while (*text != 0) {
        text++;
    }
    return text + 1;
}

/* The symbol of a category; the last one for anything unknown. */
static uint32_t
find_symbol(const struct device_column *column, const struct sotto_value *value)
{
    const uint8_t *text = next_string(column->text); /* behind the name */
    bool is_text = (value->kind == SOTTO_VALUE_TEXT ||
                    value->kind == SOTTO_VALUE_NUMBER) &&
                   value->data != NULL;
    for (uint32_t i = 0; is_text && i + 1 < column->count; i++) {
        if (same_text(text, value)) {
            return i;
        }
        text = next_string(text);
    }
    return column->count - 1;
}

static void
apply_category(struct sotto_client *client, uint32_t at,
               const struct sotto_value *value, float *x)
{
    const struct device_column *column = &client->column[at];
    uint32_t symbol = find_symbol(column, value);
    client->symbol[at] = (int32_t)symbol;
    for (uint32_t i = 0; i < column->inputs; i++) {
        x[i] = i == symbol ? 1 : 0;
    }
}

void
schema_apply(struct sotto_client *client, const struct sotto_value *values)
{
    float *x = client->x;
    for (uint32_t i = 0; i < client->sizes.columns; i++) {
        switch (client->column[i].kind) {
        case DEVICE_COLUMN_BYTES:
            apply_bytes(client, i, &values[i], x);
            break;
        case DEVICE_COLUMN_CATEGORY:
            apply_category(client, i, &values[i], x);
            break;
        default:
            apply_number(client, i, &values[i], x);
            break;
        }
        x += client->column[i].inputs;
    }
}
