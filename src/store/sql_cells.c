/*
 * sql_cells.c: the rows of a page (sqlite.org/fileformat2.html, "B-tree Pages"
 * and "Record Format"):
 *
 *     page    kind, first free block, cells, where they begin, fragments
 *             where each cell is, 2 bytes; nothing; cells
 *     cell    [left child (4)] size of the record, [rowid], the record, of
 *             which what does not fit is in a chain of pages of its own
 *     record  size of its head, a kind a column; then the columns' bytes
 *
 * A cell that leaves its page, a chain that leaves the file or a record that
 * leaves its cell is no row.
 */
#include "store/sql_pages.h"

#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/wipe.h"

#define FILE_HEAD ((size_t)100) /* of page 1 */
#define LEAF_HEAD ((size_t)8)
#define INNER_HEAD ((size_t)12)
#define CHILD 4u
#define NEXT 4u /* bytes of a page's number */

enum { INDEX_INNER = 0x02, INDEX_LEAF = 0x0a, TABLE_LEAF = 0x0d };

/* Bytes that are still to be read. */
struct cut {
    const uint8_t *at, *end;
};

static size_t
left_in(const struct cut *cut)
{
    return (size_t)(cut->end - cut->at);
}

/* 7 bits a byte, the highest first; a ninth has 8. */
static bool
read_varint(struct cut *cut, uint64_t *ret_value)
{
    uint64_t value = 0;
    for (int i = 0; i < 9; i++) {
        if (cut->at == cut->end) {
            return false;
        }
        uint8_t byte = *cut->at++;
        value = i == 8 ? value << 8 | byte : value << 7 | (byte & 0x7f);
        if (i == 8 || byte < 0x80) {
            break;
        }
    }
    *ret_value = value;
    return true;
}

/* ---- Records ------------------------------------------------------------- */

static int64_t
read_integer(const uint8_t *from, size_t size)
{
    uint64_t value = (from[0] & 0x80) != 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | from[i];
    }
    return (int64_t)value;
}

/* Takes a column whose kind is `code` from `body`. */
static bool
take_column(uint64_t code, struct cut *body, struct sql_cell *cell)
{
    static const uint8_t integer_size[7] = {0, 1, 2, 3, 4, 6, 8};
    uint64_t size = code < 7     ? integer_size[code]
                    : code == 7  ? 8
                    : code >= 12 ? (code - 12) / 2
                                 : 0;
    if (size > left_in(body) || code == 10 || code == 11) {
        return false;
    }
    *cell = (struct sql_cell){SQL_CELL_NULL, 0, body->at, (size_t)size};
    if (code >= 12) {
        cell->kind = code % 2 == 0 ? SQL_CELL_BLOB : SQL_CELL_TEXT;
    } else if (code == 7) {
        cell->kind = SQL_CELL_REAL;
    } else if (code != 0) {
        cell->kind = SQL_CELL_INTEGER;
        cell->number = code >= 8 ? (int64_t)code - 8
                                 : read_integer(body->at, (size_t)size);
    }
    body->at += size;
    return true;
}

/* All columns of a record, and nothing behind them. */
static bool
take_record(const uint8_t *record, size_t size, struct sql_row *row)
{
    struct cut head = {record, record + size};
    uint64_t head_size = 0, code = 0;
    if (!read_varint(&head, &head_size) || head_size > size) {
        return false;
    }
    struct cut body = {record + head_size, record + size};
    head.end = record + head_size;
    row->columns = 0;
    while (head.at < head.end) {
        if (row->columns == SQL_ROW_COLUMNS || !read_varint(&head, &code) ||
            !take_column(code, &body, &row->column[row->columns++])) {
            return false;
        }
    }
    return head.at == head.end && body.at == body.end;
}

/* ---- Rows that go on elsewhere ------------------------------------------- */

static bool
reserve_row(struct sql_pages *pages, size_t size)
{
    if (size > pages->row_room) {
        size_t room = 2 * pages->row_room;
        room = room > size ? room : size;
        uint8_t *grown = host_wipe_resize(pages->row, pages->row_room, room);
        if (grown == NULL) {
            return false;
        }
        pages->row = grown;
        pages->row_room = room;
    }
    return true;
}

static enum sql_page_state
worse(enum sql_page_state a, enum sql_page_state b)
{
    return a > b ? a : b;
}

/*
 * Adds pages from `next` on to the `done` bytes of a record, until it has
 * `size`: no more than the file has, for they may be a ring. Where they break
 * off, the row has no columns. False: no memory.
 */
static bool
follow_chain(struct sql_pages *pages, uint32_t next, size_t done, size_t size,
             struct sql_row *row)
{
    const size_t each = SQL_PAGE_USED - NEXT;
    while (done < size && next > 1 && next <= pages->count) {
        size_t more = size - done < each ? size - done : each;
        enum sql_page_state state = sql_pages_read(pages, next, pages->next);
        if (!reserve_row(pages, done + more)) {
            return false;
        }
        memcpy(pages->row + done, pages->next + NEXT, more);
        done += more;
        row->state = worse(row->state, state);
        next = sql_big_endian(pages->next, NEXT);
    }
    row->columns = done == size;
    return true;
}

/* How much of a record is in the page itself. */
static size_t
local_size(uint64_t size, size_t most)
{
    const size_t least = (SQL_PAGE_USED - 12) * 32 / 255 - 23;
    if (size <= most) {
        return (size_t)size;
    }
    size_t whole = least + (size_t)((size - least) % (SQL_PAGE_USED - NEXT));
    return whole <= most ? whole : least;
}

/* ---- Cells --------------------------------------------------------------- */

/* Reads the cell at `at`; `ret_row->columns` 0: it is no row. */
static enum sotto_status
read_cell(struct sql_pages *pages, uint8_t kind, size_t at,
          struct sql_row *ret_row, struct sotto_error *err)
{
    struct cut cut = {pages->page + at, pages->page + SQL_PAGE_USED};
    const size_t most = kind == TABLE_LEAF
                            ? SQL_PAGE_USED - 35
                            : (SQL_PAGE_USED - 12) * 64 / 255 - 23;
    uint64_t size = 0, rowid = 0;
    *ret_row = (struct sql_row){.page = pages->number, .state = pages->state};
    if (kind == INDEX_INNER) {
        if (left_in(&cut) < CHILD) {
            return SOTTO_STATUS_OK;
        }
        cut.at += CHILD;
    }
    if (!read_varint(&cut, &size) ||
        (kind == TABLE_LEAF && !read_varint(&cut, &rowid))) {
        return SOTTO_STATUS_OK;
    }
    ret_row->keyed = kind == TABLE_LEAF;
    ret_row->rowid = (int64_t)rowid;
    size_t local = local_size(size, most);
    const uint8_t *record = cut.at;
    if (left_in(&cut) < local + (local < size ? NEXT : 0) ||
        size > SQL_ROW_MOST || size > (uint64_t)pages->count * SQL_PAGE) {
        return SOTTO_STATUS_OK;
    }
    if (local < size) {
        if (!reserve_row(pages, local)) {
            return host_fail_memory(err);
        }
        memcpy(pages->row, cut.at, local);
        if (!follow_chain(pages, sql_big_endian(cut.at + local, NEXT), local,
                          (size_t)size, ret_row)) {
            return host_fail_memory(err);
        }
        record = pages->row;
        if (ret_row->columns == 0) {
            return SOTTO_STATUS_OK;
        }
    }
    if (!take_record(record, (size_t)size, ret_row)) {
        ret_row->columns = 0;
    }
    return SOTTO_STATUS_OK;
}

/* Cells are behind where the page says they begin: what is before is left of
   rows that were moved or deleted. */
enum sotto_status
sql_pages_rows(struct sql_pages *pages, sql_pages_take_row *take, void *context,
               struct sotto_error *err)
{
    const uint8_t *head = pages->page + (pages->number == 1 ? FILE_HEAD : 0);
    uint8_t kind = head[0];
    enum sotto_status status = SOTTO_STATUS_OK;
    if (kind != TABLE_LEAF && kind != INDEX_LEAF && kind != INDEX_INNER) {
        return status;
    }
    const uint8_t *pointer =
        head + (kind == INDEX_INNER ? INNER_HEAD : LEAF_HEAD);
    size_t room = (size_t)(pages->page + SQL_PAGE_USED - pointer) / 2;
    size_t count = sql_big_endian(head + 3, 2);
    size_t begin = sql_big_endian(head + 5, 2);
    count = count < room ? count : room;
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < count; i++) {
        size_t at = sql_big_endian(pointer + 2 * i, 2);
        struct sql_row row = {0};
        if (at < begin || at >= SQL_PAGE_USED ||
            at < (size_t)(pointer - pages->page) + 2 * count) {
            continue;
        }
        status = read_cell(pages, kind, at, &row, err);
        if (status == SOTTO_STATUS_OK && row.columns > 0) {
            status = take(context, &row, err);
        }
    }
    return status;
}
