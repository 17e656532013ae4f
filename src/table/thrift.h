/*
 * thrift.h: Thrift's compact protocol, written: what Parquet's headers and
 * footers are in.
 *
 *     field    (number - last number) << 4 | type, or the type and the number
 *     integer  zigzag, 7 bits a byte, the lowest first
 *     text     its length, its bytes
 *     list     count << 4 | type, or 0xf0 | type and the count
 *     struct   its fields, then 0
 */
#ifndef SOTTO_TABLE_THRIFT_H
#define SOTTO_TABLE_THRIFT_H

#include <stddef.h>
#include <stdint.h>

#include "host/text.h"

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_I8 = 3,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_TEXT = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

#define THRIFT_DEPTH 8u

struct thrift {
    struct host_text *to;
    int last[THRIFT_DEPTH]; /* number of the last field, of structs in structs
                             */
    size_t depth;
};

void thrift_init(struct thrift *thrift, struct host_text *to);
void thrift_varint(struct host_text *to, uint64_t value);
void thrift_integer(struct thrift *thrift, int field, enum thrift_type type,
                    int64_t value);
void thrift_true(struct thrift *thrift, int field);
void thrift_text(struct thrift *thrift, int field, const char *text);
/* A struct; field 0: as an item of a list. */
void thrift_begin(struct thrift *thrift, int field);
void thrift_end(struct thrift *thrift);
/* A list, whose `count` items follow: structs by thrift_begin(thrift, 0), or by
   thrift_item and thrift_item_text. */
void thrift_list(struct thrift *thrift, int field, enum thrift_type type,
                 size_t count);
void thrift_item(struct thrift *thrift, int64_t value);
void thrift_item_text(struct thrift *thrift, const char *text);

#endif
