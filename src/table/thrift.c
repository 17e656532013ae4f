/*
 * thrift.c: the compact protocol.
 */
#include "table/thrift.h"

#include <string.h>

void
thrift_init(struct thrift *thrift, struct host_text *to)
{
    memset(thrift, 0, sizeof *thrift);
    thrift->to = to;
}

static void
put_byte(struct host_text *to, unsigned value)
{
    const uint8_t byte = (uint8_t)value;
    host_text_add(to, &byte, 1);
}

void
thrift_varint(struct host_text *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7) {
        put_byte(to, (unsigned)(value & 0x7f) | 0x80u);
    }
    put_byte(to, (unsigned)value);
}

static void
put_zigzag(struct host_text *to, int64_t value)
{
    uint64_t twice = (uint64_t)value << 1;
    thrift_varint(to, value < 0 ? ~twice : twice);
}

static void
put_field(struct thrift *thrift, int field, enum thrift_type type)
{
    int by = field - thrift->last[thrift->depth];
    if (by > 0 && by <= 15) {
        put_byte(thrift->to, (unsigned)by << 4 | (unsigned)type);
    } else {
        put_byte(thrift->to, (unsigned)type);
        put_zigzag(thrift->to, field);
    }
    thrift->last[thrift->depth] = field;
}

void
thrift_integer(struct thrift *thrift, int field, enum thrift_type type,
               int64_t value)
{
    put_field(thrift, field, type);
    if (type == THRIFT_I8) {
        put_byte(thrift->to, (unsigned)value & 0xff);
    } else {
        put_zigzag(thrift->to, value);
    }
}

void
thrift_true(struct thrift *thrift, int field)
{
    put_field(thrift, field, THRIFT_TRUE);
}

void
thrift_item_text(struct thrift *thrift, const char *text)
{
    size_t size = strlen(text);
    thrift_varint(thrift->to, size);
    host_text_add(thrift->to, text, size);
}

void
thrift_text(struct thrift *thrift, int field, const char *text)
{
    put_field(thrift, field, THRIFT_TEXT);
    thrift_item_text(thrift, text);
}

void
thrift_begin(struct thrift *thrift, int field)
{
    if (field > 0) {
        put_field(thrift, field, THRIFT_STRUCT);
    }
    thrift->last[++thrift->depth] = 0;
}

void
thrift_end(struct thrift *thrift)
{
    put_byte(thrift->to, 0);
    thrift->depth--;
}

void
thrift_list(struct thrift *thrift, int field, enum thrift_type type,
            size_t count)
{
    put_field(thrift, field, THRIFT_LIST);
    if (count < 15) {
        put_byte(thrift->to, (unsigned)count << 4 | (unsigned)type);
    } else {
        put_byte(thrift->to, 0xf0u | (unsigned)type);
        thrift_varint(thrift->to, count);
    }
}

void
thrift_item(struct thrift *thrift, int64_t value)
{
    put_zigzag(thrift->to, value);
}
