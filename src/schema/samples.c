/*
 * samples.c: columns of samples, as an image's pixels.
 */
#include "host/text.h"
#include "random/random.h"
#include "schema/column.h"

/* 0 to 255 becomes 0 to 1, or -1 to 1 where ranges do. */
static enum sotto_status
fit_bytes(const struct sotto_table *table, size_t column,
          const struct schema_aim *aim, struct schema_column *ret,
          struct sotto_error *err)
{
    (void)err;
    ret->count = sotto_table_width(table, column);
    ret->shift = aim->range ? 127.5 : 0;
    ret->scale = aim->range ? 1 / 127.5 : 1.0 / 255;
    return SOTTO_STATUS_OK;
}

static size_t
count_inputs(const struct schema_column *column)
{
    return column->count;
}

static struct sotto_value
read_bytes(struct sotto_value value)
{
    return value;
}

static void
write_bytes(const struct schema_column *column, struct host_text *text)
{
    host_text_print(text, ",\\\"count\\\":%zu", column->count);
}

static void
describe_bytes(const struct schema_column *column,
               const struct schema_range *range, struct host_text *text)
{
    (void)range;
    host_text_print(text, "%zu samples, as the pixels of an image",
                    column->count);
}

static struct sotto_value
make_hostile(const struct schema_field *field, uint32_t kind)
{
    size_t count = field->count;
    struct sotto_value value = {
        .kind = SOTTO_VALUE_BYTES, .data = field->room, .size = count};
    for (size_t i = 0; i < count; i++) {
        static const uint8_t ends[] = {0, 255};
        field->room[i] = kind % 5 < 2   ? ends[kind % 5]
                         : kind % 5 < 3 ? ends[i % 2 == 0]
                                        : (uint8_t)(i * kind);
    }
    if (kind == 5 || kind == 6) {
        value.size = kind == 5 ? count + 1 : count - 1; /* the wrong size */
    }
    if (kind == 19) {
        value.kind = SOTTO_VALUE_MISSING;
    }
    return value;
}

static struct sotto_value
draw_bytes(const struct schema_field *field, struct random *random)
{
    for (size_t i = 0; i < field->count; i++) {
        field->room[i] = (uint8_t)random_u32(random);
    }
    return (struct sotto_value){SOTTO_VALUE_BYTES, 0, field->room,
                                field->count};
}

const struct schema_kind schema_bytes = {
    .name = "bytes",
    .device = ENCODE_COLUMN_BYTES,
    .bytes = true,
    .inputs = count_inputs,
    .fit = fit_bytes,
    .read = read_bytes,
    .write = write_bytes,
    .describe = describe_bytes,
    .hostile = make_hostile,
    .draw = draw_bytes,
};
