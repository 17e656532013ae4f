/*
 * parquet.c: pages, chunks and the footer.
 *
 *     put  -> levels and values of a page -> page -> chunk -> row group -> file
 *
 * Levels say which values a row has. A column that may lack a value has a
 * definition level, 0 or 1. A list has one, 0 for a list of none, and a
 * repetition level, 0 for a row's first value and 1 for the others. A column
 * of neither has none. A level is a bit: a page's are one run if all are the
 * same, and else packed, 8 to a byte.
 *
 * Every column has a page that fills, so pages are smaller where columns are
 * many: all of them together have PARQUET_OPEN_BYTES, and what is full of a
 * group PARQUET_GROUP_BYTES. A buffer that grows has twice the room at most,
 * hence PARQUET_MEMORY.
 */
#include "table/parquet.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "host/error.h"
#include "host/text.h"
#include "table/thrift.h"

#define PAGE ((size_t)1 << 20) /* bytes of values, from which on it is full */
#define MOST (SIZE_MAX / 4)
#define MAGIC "PAR1"
#define CREATOR "sotto"

enum { LEVELS_RLE = 3, CODEC_NONE = 0, CODEC_GZIP = 2 };

/* Bits of levels, 8 to a byte. */
struct levels {
    struct host_text packed;
    size_t count, ones;
    uint8_t last; /* the byte that is being filled */
};

struct chunk {
    char *name;
    enum parquet_type type;
    bool list, optional;
    struct levels repetition, definition;
    struct host_text values; /* of the page; booleans as levels are */
    struct levels bits;
    struct host_text pages;
    size_t in_page, in_chunk; /* values, those that are not there included */
    uint64_t raw;             /* bytes of pages before they were compressed */
};

struct parquet {
    struct sotto_output *output;
    struct chunk *chunk;
    size_t columns;
    size_t page; /* bytes from which on a page is full */
    bool compressed, failed;
    uint64_t offset; /* bytes written */
    size_t rows;     /* of the group */
    uint64_t all;
    struct host_text groups, notes; /* of the footer */
    size_t group_count, note_count;
};

/* ---- Levels ---------------------------------------------------------------
 */

static void
add_level(struct levels *levels, unsigned level)
{
    levels->last |= (uint8_t)(level << (levels->count % 8));
    levels->ones += level;
    if (++levels->count % 8 == 0) {
        host_text_add(&levels->packed, &levels->last, 1);
        levels->last = 0;
    }
}

static void
finish_levels(struct levels *levels)
{
    if (levels->count % 8 != 0) {
        host_text_add(&levels->packed, &levels->last, 1);
    }
}

static void
empty_levels(struct levels *levels)
{
    levels->packed.size = 0;
    levels->count = levels->ones = 0;
    levels->last = 0;
}

/* Size, and a run or what is packed. */
static void
put_levels(struct levels *levels, struct host_text *to)
{
    struct host_text run;
    host_text_init(&run, MOST);
    finish_levels(levels);
    if (levels->ones == 0 || levels->ones == levels->count) {
        const uint8_t level = levels->ones > 0 ? 1 : 0;
        thrift_varint(&run, (uint64_t)levels->count << 1);
        host_text_add(&run, &level, 1);
    } else {
        thrift_varint(&run, (uint64_t)levels->packed.size << 1 | 1);
        host_text_add(&run, levels->packed.data, levels->packed.size);
    }
    const uint8_t size[4] = {(uint8_t)run.size, (uint8_t)(run.size >> 8),
                             (uint8_t)(run.size >> 16),
                             (uint8_t)(run.size >> 24)};
    host_text_add(to, size, sizeof size);
    host_text_add(to, run.data, run.size);
    to->failed = to->failed || run.failed || levels->packed.failed;
    host_text_clear(&run);
}

/* ---- Pages ----------------------------------------------------------------
 */

/* As gzip writes it. False: no memory. */
static bool
compress_page(const struct host_text *page, struct host_text *to)
{
    z_stream stream = {.next_in = (Bytef *)page->data,
                       .avail_in = (uInt)page->size};
    uint8_t some[65536];
    int code =
        deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    bool good = code == Z_OK;
    while (good && code != Z_STREAM_END) {
        stream.next_out = some;
        stream.avail_out = sizeof some;
        code = deflate(&stream, Z_FINISH);
        good = code == Z_OK || code == Z_STREAM_END;
        host_text_add(to, some, sizeof some - stream.avail_out);
    }
    (void)deflateEnd(&stream);
    return good && !to->failed;
}

static void
put_page_header(const struct chunk *chunk, size_t raw, size_t size,
                struct host_text *to)
{
    struct thrift thrift;
    thrift_init(&thrift, to);
    thrift_integer(&thrift, 1, THRIFT_I32, 0); /* a data page */
    thrift_integer(&thrift, 2, THRIFT_I32, (int64_t)raw);
    thrift_integer(&thrift, 3, THRIFT_I32, (int64_t)size);
    thrift_begin(&thrift, 5);
    thrift_integer(&thrift, 1, THRIFT_I32, (int64_t)chunk->in_page);
    thrift_integer(&thrift, 2, THRIFT_I32, 0); /* PLAIN */
    thrift_integer(&thrift, 3, THRIFT_I32, LEVELS_RLE);
    thrift_integer(&thrift, 4, THRIFT_I32, LEVELS_RLE);
    thrift_end(&thrift);
    const uint8_t end = 0;
    host_text_add(to, &end, 1);
}

static void
put_values(struct chunk *chunk, struct host_text *page)
{
    if (chunk->list) {
        put_levels(&chunk->repetition, page);
    }
    if (chunk->list || chunk->optional) {
        put_levels(&chunk->definition, page);
    }
    if (chunk->type == PARQUET_BOOLEAN) {
        finish_levels(&chunk->bits);
        host_text_add(page, chunk->bits.packed.data, chunk->bits.packed.size);
        page->failed = page->failed || chunk->bits.packed.failed;
    } else {
        host_text_add(page, chunk->values.data, chunk->values.size);
        page->failed = page->failed || chunk->values.failed;
    }
}

/* Adds the page to the chunk. */
static void
end_page(struct parquet *parquet, struct chunk *chunk)
{
    struct host_text page, packed;
    const struct host_text *sent = &page;
    if (chunk->in_page == 0) {
        return;
    }
    host_text_init(&page, MOST);
    host_text_init(&packed, MOST);
    put_values(chunk, &page);
    parquet->failed = parquet->failed || page.failed;
    if (parquet->compressed && !page.failed) {
        parquet->failed = !compress_page(&page, &packed) || parquet->failed;
        sent = &packed;
    }
    size_t before = chunk->pages.size;
    put_page_header(chunk, page.size, sent->size, &chunk->pages);
    chunk->raw += chunk->pages.size - before + page.size;
    host_text_add(&chunk->pages, sent->data, sent->size);
    parquet->failed = parquet->failed || chunk->pages.failed;
    host_text_clear(&page);
    host_text_clear(&packed);
    chunk->in_chunk += chunk->in_page;
    chunk->in_page = 0;
    chunk->values.size = 0;
    empty_levels(&chunk->repetition);
    empty_levels(&chunk->definition);
    empty_levels(&chunk->bits);
}

/* ---- Rows -----------------------------------------------------------------
 */

static void
add_value(struct chunk *chunk, int64_t value)
{
    size_t width = chunk->type == PARQUET_INT32 ? 4 : 8;
    uint8_t bytes[8];
    for (size_t i = 0; i < width; i++) {
        bytes[i] = (uint8_t)((uint64_t)value >> (8 * i));
    }
    if (chunk->type == PARQUET_BOOLEAN) {
        add_level(&chunk->bits, value != 0 ? 1 : 0);
    } else {
        host_text_add(&chunk->values, bytes, width);
    }
}

void
parquet_put(struct parquet *parquet, size_t column, int64_t value)
{
    struct chunk *chunk = &parquet->chunk[column];
    if (chunk->optional) {
        add_level(&chunk->definition, 1);
    }
    add_value(chunk, value);
    chunk->in_page++;
}

void
parquet_put_null(struct parquet *parquet, size_t column)
{
    add_level(&parquet->chunk[column].definition, 0);
    parquet->chunk[column].in_page++;
}

void
parquet_put_list(struct parquet *parquet, size_t column, const int64_t *value,
                 size_t count)
{
    struct chunk *chunk = &parquet->chunk[column];
    if (count == 0) {
        add_level(&chunk->repetition, 0);
        add_level(&chunk->definition, 0);
        chunk->in_page++;
    }
    for (size_t i = 0; i < count; i++) {
        add_level(&chunk->repetition, i > 0 ? 1 : 0);
        add_level(&chunk->definition, 1);
        add_value(chunk, value[i]);
        chunk->in_page++;
    }
}

/* Bytes of the page that is being filled. */
static size_t
count_open(const struct chunk *chunk)
{
    return chunk->values.size + chunk->bits.packed.size +
           chunk->repetition.packed.size + chunk->definition.packed.size;
}

enum sotto_status
parquet_end_row(struct parquet *parquet, struct sotto_error *err)
{
    size_t bytes = 0;
    parquet->rows++;
    parquet->all++;
    for (size_t i = 0; i < parquet->columns; i++) {
        struct chunk *chunk = &parquet->chunk[i];
        if (count_open(chunk) >= parquet->page) {
            end_page(parquet, chunk);
        }
        parquet->failed = parquet->failed || chunk->values.failed;
        bytes += chunk->pages.size;
    }
    if (parquet->failed) {
        return host_fail_memory(err);
    }
    return parquet->rows >= PARQUET_GROUP_ROWS || bytes >= PARQUET_GROUP_BYTES
               ? parquet_end_group(parquet, err)
               : SOTTO_STATUS_OK;
}

/* ---- Groups ---------------------------------------------------------------
 */

static int
physical_type(enum parquet_type type)
{
    static const int types[] = {
        [PARQUET_BOOLEAN] = 0, [PARQUET_INT32] = 1, [PARQUET_INT64] = 2};
    return types[type];
}

static void
put_chunk(const struct parquet *parquet, const struct chunk *chunk,
          uint64_t offset, struct thrift *thrift)
{
    thrift_begin(thrift, 0);
    thrift_integer(thrift, 2, THRIFT_I64, (int64_t)offset);
    thrift_begin(thrift, 3);
    thrift_integer(thrift, 1, THRIFT_I32, physical_type(chunk->type));
    thrift_list(thrift, 2, THRIFT_I32, 2);
    thrift_item(thrift, 0);
    thrift_item(thrift, LEVELS_RLE);
    thrift_list(thrift, 3, THRIFT_TEXT, chunk->list ? 3 : 1);
    thrift_item_text(thrift, chunk->name);
    if (chunk->list) {
        thrift_item_text(thrift, "list");
        thrift_item_text(thrift, "element");
    }
    thrift_integer(thrift, 4, THRIFT_I32,
                   parquet->compressed ? CODEC_GZIP : CODEC_NONE);
    thrift_integer(thrift, 5, THRIFT_I64, (int64_t)chunk->in_chunk);
    thrift_integer(thrift, 6, THRIFT_I64, (int64_t)chunk->raw);
    thrift_integer(thrift, 7, THRIFT_I64, (int64_t)chunk->pages.size);
    thrift_integer(thrift, 9, THRIFT_I64, (int64_t)offset);
    thrift_end(thrift);
    thrift_end(thrift);
}

static enum sotto_status
write_chunks(struct parquet *parquet, uint64_t *ret_raw,
             struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct thrift thrift;
    *ret_raw = 0;
    thrift_init(&thrift, &parquet->groups);
    thrift_begin(&thrift, 0);
    thrift_list(&thrift, 1, THRIFT_STRUCT, parquet->columns);
    for (size_t i = 0; i < parquet->columns && status == SOTTO_STATUS_OK; i++) {
        struct chunk *chunk = &parquet->chunk[i];
        put_chunk(parquet, chunk, parquet->offset, &thrift);
        status = sotto_output_write(parquet->output, chunk->pages.data,
                                    chunk->pages.size, err);
        parquet->offset += chunk->pages.size;
        *ret_raw += chunk->raw;
        host_text_clear(&chunk->pages); /* the next group's may be others */
        chunk->in_chunk = 0;
        chunk->raw = 0;
    }
    thrift_integer(&thrift, 2, THRIFT_I64, (int64_t)*ret_raw);
    thrift_integer(&thrift, 3, THRIFT_I64, (int64_t)parquet->rows);
    thrift_end(&thrift);
    return status;
}

enum sotto_status
parquet_end_group(struct parquet *parquet, struct sotto_error *err)
{
    enum sotto_status status;
    uint64_t raw;
    if (parquet->rows == 0) {
        return SOTTO_STATUS_OK;
    }
    for (size_t i = 0; i < parquet->columns; i++) {
        end_page(parquet, &parquet->chunk[i]);
    }
    if (parquet->failed) {
        return host_fail_memory(err);
    }
    status = write_chunks(parquet, &raw, err);
    parquet->group_count++;
    parquet->rows = 0;
    return status;
}

/* ---- The file -------------------------------------------------------------
 */

static bool
init_chunk(struct chunk *chunk, const struct parquet_column *column)
{
    chunk->type = column->type;
    chunk->list = column->list;
    chunk->optional = column->optional && !column->list;
    host_text_init(&chunk->repetition.packed, MOST);
    host_text_init(&chunk->definition.packed, MOST);
    host_text_init(&chunk->bits.packed, MOST);
    host_text_init(&chunk->values, MOST);
    host_text_init(&chunk->pages, MOST);
    chunk->name = strdup(column->name);
    return chunk->name != NULL;
}

enum sotto_status
parquet_new(struct sotto_output *output, const struct parquet_column *column,
            size_t columns, bool compressed, struct parquet **ret_parquet,
            struct sotto_error *err)
{
    struct parquet *parquet = calloc(1, sizeof *parquet);
    enum sotto_status status = SOTTO_STATUS_OK;
    if (parquet == NULL) {
        return host_fail_memory(err);
    }
    parquet->output = output;
    parquet->compressed = compressed;
    host_text_init(&parquet->groups, MOST);
    host_text_init(&parquet->notes, MOST);
    parquet->chunk = calloc(columns + 1, sizeof *parquet->chunk);
    parquet->columns = parquet->chunk != NULL ? columns : 0;
    parquet->page = columns <= PARQUET_OPEN_BYTES / PAGE
                        ? PAGE
                        : PARQUET_OPEN_BYTES / columns;
    for (size_t i = 0; i < parquet->columns; i++) {
        if (!init_chunk(&parquet->chunk[i], &column[i])) {
            parquet->failed = true;
        }
    }
    if (parquet->chunk == NULL || parquet->failed) {
        status = host_fail_memory(err);
    }
    status = HOST_THEN(status,
                       sotto_output_write(output, MAGIC, strlen(MAGIC), err));
    if (status != SOTTO_STATUS_OK) {
        parquet_free(parquet);
        return status;
    }
    parquet->offset = strlen(MAGIC);
    *ret_parquet = parquet;
    return SOTTO_STATUS_OK;
}

void
parquet_free(struct parquet *parquet)
{
    if (parquet == NULL) {
        return;
    }
    for (size_t i = 0; i < parquet->columns; i++) {
        struct chunk *chunk = &parquet->chunk[i];
        host_text_clear(&chunk->repetition.packed);
        host_text_clear(&chunk->definition.packed);
        host_text_clear(&chunk->bits.packed);
        host_text_clear(&chunk->values);
        host_text_clear(&chunk->pages);
        free(chunk->name);
    }
    free(parquet->chunk);
    host_text_clear(&parquet->groups);
    host_text_clear(&parquet->notes);
    free(parquet);
}

enum sotto_status
parquet_note(struct parquet *parquet, const char *key, const char *value,
             struct sotto_error *err)
{
    struct thrift thrift;
    thrift_init(&thrift, &parquet->notes);
    thrift_begin(&thrift, 0);
    thrift_text(&thrift, 1, key);
    thrift_text(&thrift, 2, value);
    thrift_end(&thrift);
    parquet->note_count++;
    return parquet->notes.failed ? host_fail_memory(err) : SOTTO_STATUS_OK;
}

enum { REQUIRED = 0, OPTIONAL = 1, REPEATED = 2 };
enum { OLD_LIST = 3, OLD_INT_32 = 17, OLD_INT_64 = 18 };

/* A value's own element of the schema. */
static void
put_leaf(struct thrift *thrift, const struct chunk *chunk, const char *name,
         int repetition)
{
    thrift_begin(thrift, 0);
    thrift_integer(thrift, 1, THRIFT_I32, physical_type(chunk->type));
    thrift_integer(thrift, 3, THRIFT_I32, repetition);
    thrift_text(thrift, 4, name);
    if (chunk->type != PARQUET_BOOLEAN) {
        bool half = chunk->type == PARQUET_INT32;
        thrift_integer(thrift, 6, THRIFT_I32, half ? OLD_INT_32 : OLD_INT_64);
        thrift_begin(thrift, 10); /* of the logical types */
        thrift_begin(thrift, 10); /* an integer, */
        thrift_integer(thrift, 1, THRIFT_I8, half ? 32 : 64);
        thrift_true(thrift, 2); /* signed */
        thrift_end(thrift);
        thrift_end(thrift);
    }
    thrift_end(thrift);
}

static void
put_column(struct thrift *thrift, const struct chunk *chunk)
{
    if (!chunk->list) {
        put_leaf(thrift, chunk, chunk->name,
                 chunk->optional ? OPTIONAL : REQUIRED);
        return;
    }
    thrift_begin(thrift, 0);
    thrift_integer(thrift, 3, THRIFT_I32, REQUIRED);
    thrift_text(thrift, 4, chunk->name);
    thrift_integer(thrift, 5, THRIFT_I32, 1);
    thrift_integer(thrift, 6, THRIFT_I32, OLD_LIST);
    thrift_begin(thrift, 10);
    thrift_begin(thrift, 3); /* a list */
    thrift_end(thrift);
    thrift_end(thrift);
    thrift_end(thrift);
    thrift_begin(thrift, 0);
    thrift_integer(thrift, 3, THRIFT_I32, REPEATED);
    thrift_text(thrift, 4, "list");
    thrift_integer(thrift, 5, THRIFT_I32, 1);
    thrift_end(thrift);
    put_leaf(thrift, chunk, "element", REQUIRED);
}

static void
put_footer(const struct parquet *parquet, struct host_text *to)
{
    struct thrift thrift;
    size_t elements = 1;
    for (size_t i = 0; i < parquet->columns; i++) {
        elements += parquet->chunk[i].list ? 3 : 1;
    }
    thrift_init(&thrift, to);
    thrift_integer(&thrift, 1, THRIFT_I32, 1);
    thrift_list(&thrift, 2, THRIFT_STRUCT, elements);
    thrift_begin(&thrift, 0);
    thrift_text(&thrift, 4, "reports");
    thrift_integer(&thrift, 5, THRIFT_I32, (int64_t)parquet->columns);
    thrift_end(&thrift);
    for (size_t i = 0; i < parquet->columns; i++) {
        put_column(&thrift, &parquet->chunk[i]);
    }
    thrift_integer(&thrift, 3, THRIFT_I64, (int64_t)parquet->all);
    thrift_list(&thrift, 4, THRIFT_STRUCT, parquet->group_count);
    host_text_add(to, parquet->groups.data, parquet->groups.size);
    if (parquet->note_count > 0) {
        thrift_list(&thrift, 5, THRIFT_STRUCT, parquet->note_count);
        host_text_add(to, parquet->notes.data, parquet->notes.size);
    }
    thrift_text(&thrift, 6, CREATOR);
    const uint8_t end = 0;
    host_text_add(to, &end, 1);
}

enum sotto_status
parquet_finish(struct parquet *parquet, struct sotto_error *err)
{
    struct host_text footer;
    enum sotto_status status = parquet_end_group(parquet, err);
    host_text_init(&footer, UINT32_MAX);
    put_footer(parquet, &footer);
    if (status == SOTTO_STATUS_OK &&
        (footer.failed || parquet->groups.failed)) {
        status = host_fail_memory(err);
    }
    const uint8_t size[4] = {(uint8_t)footer.size, (uint8_t)(footer.size >> 8),
                             (uint8_t)(footer.size >> 16),
                             (uint8_t)(footer.size >> 24)};
    status = HOST_THEN(status, sotto_output_write(parquet->output, footer.data,
                                                  footer.size, err));
    status = HOST_THEN(
        status, sotto_output_write(parquet->output, size, sizeof size, err));
    status = HOST_THEN(
        status, sotto_output_write(parquet->output, MAGIC, strlen(MAGIC), err));
    host_text_clear(&footer);
    return status;
}
