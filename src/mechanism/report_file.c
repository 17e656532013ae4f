/*
 * report_file.c: files of reports, binary or JSON Lines.
 *
 *     binary       report | report | ...            each of the same size
 *     JSON Lines   report_json.h's line, '\n', ...  starts with '{'
 *
 * A binary report starts with 'S' and a line with '{', so the first byte tells
 * the form. Every report is checked before any is handed out: what a reader
 * gives is safe for every channel's functions, and no two have one id. A
 * report that came twice is one report: counted twice it would pull every
 * estimate towards its own noise.
 */
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "host/file.h"
#include "host/text.h"
#include "mechanism/mechanism.h"
#include "mechanism/report_check.h"
#include "mechanism/report_json.h"
#include "mechanism/report_stream.h"
#include "mechanism/stages.h"

#define FILE_MOST ((size_t)1 << 36)
#define LINE_MOST ((size_t)1 << 30)

/* ---- One report --------------------------------------------------------- */

const uint8_t *
sotto_report_id(const uint8_t *report)
{
    return report + REPORT_MAGIC_SIZE + SOTTO_HASH_SIZE;
}

bool
sotto_report_simulated(const uint8_t *report)
{
    return memcmp(report, REPORT_MAGIC_SIMULATED, REPORT_MAGIC_SIZE) == 0;
}

size_t
sotto_report_book(const struct sotto_mechanism *mechanism,
                  const uint8_t *report)
{
    return report_book(mechanism->device.report, report);
}

/* Zeros for what is no report: a channel unpacks valid bytes only. */
void
sotto_report_values(const struct sotto_mechanism *mechanism,
                    const uint8_t *report, size_t part, size_t block,
                    int64_t *ret_values)
{
    const struct likelihood_instance *at = &mechanism->likelihood[part];
    const uint8_t *wire = report + shape_offset(&mechanism->shape, part, block);
    if (at->instance->channel->valid(at->instance, wire)) {
        at->likelihood->unpack(at, wire, ret_values);
    } else {
        memset(ret_values, 0, at->values * sizeof *ret_values);
    }
}

/* ---- Writing ------------------------------------------------------------ */

struct sotto_report_writer {
    const struct sotto_mechanism *mechanism;
    struct sotto_output *output;
    int64_t *values;       /* of one block; NULL: binary */
    struct host_text line; /* kept from report to report */
};

static bool
ends_in_jsonl(const char *path)
{
    static const char ending[] = ".jsonl";
    size_t size = strlen(path), tail = sizeof ending - 1;
    return size >= tail && strcmp(path + (size - tail), ending) == 0;
}

enum sotto_status
sotto_report_writer_new(const struct sotto_mechanism *mechanism,
                        const char *path,
                        struct sotto_report_writer **ret_writer,
                        struct sotto_error *err)
{
    return report_file_write(mechanism, path, ends_in_jsonl(path), ret_writer,
                             err);
}

enum sotto_status
report_file_write(const struct sotto_mechanism *mechanism, const char *path,
                  bool lines, struct sotto_report_writer **ret_writer,
                  struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    struct sotto_report_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return host_fail_memory(err);
    }
    writer->mechanism = mechanism;
    host_text_init(&writer->line, LINE_MOST);
    if (lines) {
        writer->values =
            calloc(report_json_values(mechanism), sizeof *writer->values);
        if (writer->values == NULL) {
            status = host_fail_memory(err);
            goto done;
        }
    }
    status = sotto_output_new(path, 0644, false, &writer->output, err);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    *ret_writer = writer;
    writer = NULL;
done:
    sotto_report_writer_free(writer);
    return status;
}

static enum sotto_status
add_line(struct sotto_report_writer *writer, const uint8_t *report,
         struct sotto_error *err)
{
    struct host_text *line = &writer->line;
    line->size = 0;
    report_json_write(writer->mechanism, report, writer->values, line);
    host_text_add(line, "\n", 1);
    if (line->failed) {
        return host_fail_memory(err);
    }
    return sotto_output_write(writer->output, line->data, line->size, err);
}

enum sotto_status
sotto_report_writer_add(struct sotto_report_writer *writer,
                        const uint8_t *report, struct sotto_error *err)
{
    const struct sotto_mechanism *mechanism = writer->mechanism;
    size_t size = mechanism->shape.report_size;
    if (!stages_valid(mechanism, report, size)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "this is not a report of this mechanism");
    }
    if (writer->values != NULL) {
        return add_line(writer, report, err);
    }
    return sotto_output_write(writer->output, report, size, err);
}

enum sotto_status
sotto_report_writer_add_block(struct sotto_report_writer *writer,
                              const struct sotto_report_block *block,
                              struct sotto_error *err)
{
    size_t each = writer->mechanism->shape.report_size;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (writer->values == NULL && block->count > 0) {
        return sotto_output_write(writer->output, block->reports,
                                  block->count * each, err);
    }
    for (size_t i = 0; i < block->count && status == SOTTO_STATUS_OK; i++) {
        status = add_line(writer, block->reports + i * each, err);
    }
    return status;
}

enum sotto_status
sotto_report_writer_commit(struct sotto_report_writer *writer,
                           struct sotto_error *err)
{
    struct sotto_output *output = writer->output;
    bool whole = !writer->line.failed;
    writer->output = NULL;
    sotto_report_writer_free(writer);
    if (!whole) { /* a report is missing: better no file */
        sotto_output_free(output);
        return host_fail_memory(err);
    }
    return sotto_output_commit(output, err);
}

void
sotto_report_writer_free(struct sotto_report_writer *writer)
{
    if (writer != NULL) {
        sotto_output_free(writer->output);
        host_text_clear(&writer->line);
        free(writer->values);
        free(writer);
    }
}

/* ---- Reading ------------------------------------------------------------ */

struct sotto_report_reader {
    uint8_t *reports;
    size_t count;
    size_t repeated; /* copies that were dropped */
    size_t report_size;
    uint32_t *order; /* of the reports; NULL: as they lie there */
};

/* Checks the bytes, which are taken over as they are on success. */
static enum sotto_status
read_binary(const struct report_origin *source, uint8_t **data, size_t size,
            struct sotto_report_reader *reader, struct sotto_error *err)
{
    size_t each = source->mechanism->shape.report_size;
    enum sotto_status status = report_check_length(source, *data, size, err);
    for (size_t i = 0; status == SOTTO_STATUS_OK && i < size / each; i++) {
        status = report_check(source, *data + i * each, i, err);
    }
    if (status == SOTTO_STATUS_OK) {
        reader->reports = *data;
        reader->count = size / each;
        *data = NULL;
    }
    return status;
}

static bool
is_blank(const uint8_t *data, size_t size)
{
    size_t i = 0;
    while (i < size && strchr(" \t\r\n", data[i]) != NULL && data[i] != 0) {
        i++;
    }
    return i == size;
}

static enum sotto_status
read_lines(const struct report_origin *source, const uint8_t *data, size_t size,
           int64_t *values, uint8_t *report, struct host_text *reports,
           struct sotto_error *err)
{
    size_t each = source->mechanism->shape.report_size;
    size_t at = 0;
    for (size_t line = 1; !is_blank(data + at, size - at); line++) {
        struct sotto_error cause = {0};
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = (end != NULL ? (size_t)(end - data) : size) - at;
        enum sotto_status status =
            report_json_read(source->mechanism, (const char *)data + at, length,
                             values, report, &cause);
        if (status != SOTTO_STATUS_OK) {
            return report_check_fail(source, line - 1, line, at, &cause, err);
        }
        host_text_add(reports, report, each);
        if (reports->failed) {
            return host_fail_memory(err);
        }
        at += length + (end != NULL ? 1 : 0);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_json(const struct report_origin *source, const uint8_t *data, size_t size,
          struct sotto_report_reader *reader, struct sotto_error *err)
{
    const struct sotto_mechanism *mechanism = source->mechanism;
    struct host_text reports;
    int64_t *values = calloc(report_json_values(mechanism), sizeof *values);
    uint8_t *report = malloc(reader->report_size);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    host_text_init(&reports, SIZE_MAX / 4);
    if (values == NULL || report == NULL) {
        (void)host_fail_memory(err);
        goto done;
    }
    status = read_lines(source, data, size, values, report, &reports, err);
    if (status == SOTTO_STATUS_OK) {
        reader->reports = (uint8_t *)reports.data;
        reader->count = reports.size / reader->report_size;
        host_text_init(&reports, 0);
    }
done:
    host_text_clear(&reports);
    free(report);
    free(values);
    return status;
}

/* ---- Reports that came twice -------------------------------------------- */

/* By id, and by place where the ids are the same. */
static int
compare_ids(const void *a, const void *b)
{
    const uint8_t *left = *(uint8_t *const *)a;
    const uint8_t *right = *(uint8_t *const *)b;
    int order =
        memcmp(sotto_report_id(left), sotto_report_id(right), SOTTO_ID_SIZE);
    return order != 0 ? order : (left > right) - (left < right);
}

/* Where report `at` (from 0) begins in the file: lines are one report each. */
static size_t
position_of(const struct sotto_report_reader *reader, size_t at,
            const uint8_t *data, size_t size)
{
    size_t position = 0;
    if (data == NULL) {
        return at * reader->report_size;
    }
    for (size_t i = 0; i < at; i++) {
        const uint8_t *end = memchr(data + position, '\n', size - position);
        position = end != NULL ? (size_t)(end - data) + 1 : size;
    }
    return position;
}

/*
 * Marks the copies of earlier reports by a first byte of 0, which no report
 * has. Returns the first report in the file that has the id of an earlier one
 * but is not its copy, and that earlier one; NULL if there is none.
 */
static const uint8_t *
mark_copies(struct sotto_report_reader *reader, uint8_t *const *sorted,
            const uint8_t **ret_first)
{
    const uint8_t *other = NULL, *first = sorted[0];
    for (size_t i = 1; i < reader->count; i++) {
        uint8_t *report = sorted[i];
        if (memcmp(sotto_report_id(report), sotto_report_id(first),
                   SOTTO_ID_SIZE) != 0) {
            first = report;
        } else if (memcmp(report, first, reader->report_size) == 0) {
            report[0] = 0;
        } else if (other == NULL || report < other) {
            other = report;
            *ret_first = first;
        }
    }
    return other;
}

/* Closes the gaps that marked reports leave. */
static void
drop_marked(struct sotto_report_reader *reader)
{
    size_t each = reader->report_size, kept = 0;
    for (size_t i = 0; i < reader->count; i++) {
        uint8_t *report = reader->reports + i * each;
        if (report[0] != 0) {
            memmove(reader->reports + kept * each, report, each);
            kept++;
        }
    }
    reader->repeated = reader->count - kept;
    reader->count = kept;
}

/* Sets the reports in the order of their ids, and marks the copies; *ret_other
   and *ret_first are as mark_copies has them. Statuses: MEMORY. */
static enum sotto_status
find_copies(struct sotto_report_reader *reader, const uint8_t **ret_first,
            const uint8_t **ret_other, struct sotto_error *err)
{
    uint8_t **sorted = calloc(reader->count, sizeof *sorted);
    if (sorted == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < reader->count; i++) {
        sorted[i] = reader->reports + i * reader->report_size;
    }
    qsort(sorted, reader->count, sizeof *sorted, compare_ids);
    *ret_other = mark_copies(reader, sorted, ret_first);
    free(sorted);
    return SOTTO_STATUS_OK;
}

/* Keeps the first of the reports with one id; `data` is the file's lines, or
   NULL if it is binary. */
static enum sotto_status
drop_copies(const struct report_origin *source, const uint8_t *data,
            size_t size, struct sotto_report_reader *reader,
            struct sotto_error *err)
{
    const uint8_t *first = NULL, *other = NULL;
    enum sotto_status status = find_copies(reader, &first, &other, err);
    if (status == SOTTO_STATUS_OK && other != NULL) {
        size_t at = (size_t)(other - reader->reports) / reader->report_size;
        size_t of = (size_t)(first - reader->reports) / reader->report_size;
        return host_fail(
            err, SOTTO_STATUS_INPUT, position_of(reader, at, data, size),
            "'%s': reports %zu and %zu have one id but differ: "
            "either one device sent two reports under one id, or "
            "files of different campaigns were mixed; keep the one "
            "that belongs here and remove the other",
            host_shown(source->name), of + 1, at + 1);
    }
    if (status == SOTTO_STATUS_OK) {
        drop_marked(reader);
    }
    return status;
}

/* ---- Two files ----------------------------------------------------------- */

static bool
same_mechanism(const struct sotto_report_reader *a,
               const struct sotto_report_reader *b)
{
    return a->report_size == b->report_size &&
           (a->count == 0 || b->count == 0 ||
            memcmp(a->reports + REPORT_MAGIC_SIZE,
                   b->reports + REPORT_MAGIC_SIZE, SOTTO_HASH_SIZE) == 0);
}

enum sotto_status
sotto_report_reader_join(struct sotto_report_reader *reader,
                         const struct sotto_report_reader *other,
                         const char *name, struct sotto_error *err)
{
    size_t each = reader->report_size;
    size_t count = reader->count + other->count;
    struct sotto_report_reader both = {.count = count, .report_size = each};
    const uint8_t *first = NULL, *differs = NULL;
    enum sotto_status status;
    if (!same_mechanism(reader, other)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "'%s': its reports are of another mechanism",
                         host_shown(name));
    }
    both.reports = calloc(count + 1, each);
    if (both.reports == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(both.reports + i * each,
               i < reader->count
                   ? sotto_report_reader_at(reader, i)
                   : sotto_report_reader_at(other, i - reader->count),
               each);
    }
    status = find_copies(&both, &first, &differs, err);
    if (status == SOTTO_STATUS_OK && differs != NULL) {
        size_t at = (size_t)(differs - both.reports) / each - reader->count;
        status = host_fail(err, SOTTO_STATUS_INPUT, at * each,
                           "'%s': its report %zu has the id of another report, "
                           "in an earlier file, but differs: one device sent "
                           "two reports under one id, or files of different "
                           "campaigns were mixed; remove the one that does not "
                           "belong here",
                           host_shown(name), at + 1);
    }
    if (status != SOTTO_STATUS_OK) {
        free(both.reports);
        return status;
    }
    drop_marked(&both);
    both.repeated += reader->repeated + other->repeated;
    free(reader->reports);
    free(reader->order);
    *reader = both;
    return SOTTO_STATUS_OK;
}

/* ---- From bytes ---------------------------------------------------------- */

/* Takes `data` over, also on failure. */
static enum sotto_status
adopt(const struct report_origin *source, uint8_t *data, size_t size,
      struct sotto_report_reader **ret_reader, struct sotto_error *err)
{
    struct sotto_report_reader *reader = calloc(1, sizeof *reader);
    enum sotto_status status;
    if (reader == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    reader->report_size = source->mechanism->shape.report_size;
    if (size == 0) {
        status = host_fail(err, SOTTO_STATUS_INPUT, 0,
                           "'%s' is empty: it holds no reports",
                           host_shown(source->name));
    } else if (data[0] == '{') {
        status = read_json(source, data, size, reader, err);
    } else {
        status = read_binary(source, &data, size, reader, err);
    }
    if (status == SOTTO_STATUS_OK) {
        status = drop_copies(source, data, size, reader, err);
    }
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    *ret_reader = reader;
    reader = NULL;
done:
    sotto_report_reader_free(reader);
    free(data);
    return status;
}

enum sotto_status
sotto_report_reader_new(const struct sotto_mechanism *mechanism,
                        const char *path,
                        struct sotto_report_reader **ret_reader,
                        struct sotto_error *err)
{
    struct report_origin source = {mechanism, path};
    uint8_t *data = NULL;
    size_t size = 0;
    enum sotto_status status =
        host_file_read(path, FILE_MOST, &data, &size, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return host_about(adopt(&source, data, size, ret_reader, err), err,
                      SOTTO_ABOUT_FILE, path);
}

enum sotto_status
sotto_report_reader_parse(const struct sotto_mechanism *mechanism,
                          const void *data, size_t size, const char *name,
                          struct sotto_report_reader **ret_reader,
                          struct sotto_error *err)
{
    struct report_origin source = {mechanism, name};
    uint8_t *copy = host_text_copy(data, size);
    if (copy == NULL) {
        return host_fail_memory(err);
    }
    return adopt(&source, copy, size, ret_reader, err);
}

/* ---- From a stream ------------------------------------------------------- */

#define ROOM_FIRST ((size_t)1 << 20) /* bytes */

static enum sotto_status
append_block(struct sotto_report_reader *reader, size_t *room,
             const struct sotto_report_block *block, struct sotto_error *err)
{
    size_t each = reader->report_size;
    size_t size = (reader->count + block->count) * each;
    if (block->count == 0) {
        return SOTTO_STATUS_OK;
    }
    if (reader->reports == NULL || size > *room) {
        size_t more = size + size / 2 + ROOM_FIRST;
        uint8_t *reports = realloc(reader->reports, more);
        if (reports == NULL) {
            return host_fail_memory(err);
        }
        reader->reports = reports;
        *room = more;
    }
    memcpy(reader->reports + reader->count * each, block->reports,
           block->count * each);
    reader->count += block->count;
    return SOTTO_STATUS_OK;
}

/* By payload, then by the header. */
static int
compare_payloads(const void *a, const void *b, void *context)
{
    const struct sotto_report_reader *reader = context;
    size_t each = reader->report_size;
    const uint8_t *left = reader->reports + *(const uint32_t *)a * each;
    const uint8_t *right = reader->reports + *(const uint32_t *)b * each;
    int order = memcmp(left + REPORT_HEADER_SIZE, right + REPORT_HEADER_SIZE,
                       each - REPORT_HEADER_SIZE);
    return order != 0 ? order : memcmp(left, right, REPORT_HEADER_SIZE);
}

static enum sotto_status
sort_payloads(struct sotto_report_reader *reader, struct sotto_error *err)
{
    if (reader->count > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, reader->count,
                         "more than %u reports cannot be held at a time",
                         UINT32_MAX);
    }
    reader->order = malloc((reader->count + 1) * sizeof *reader->order);
    if (reader->order == NULL) {
        return host_fail_memory(err);
    }
    for (size_t i = 0; i < reader->count; i++) {
        reader->order[i] = (uint32_t)i;
    }
    qsort_r(reader->order, reader->count, sizeof *reader->order,
            compare_payloads, reader);
    return SOTTO_STATUS_OK;
}

enum sotto_status
report_file_collect(struct sotto_report_stream *stream, size_t report_size,
                    bool sorted, struct sotto_report_reader **ret_reader,
                    struct sotto_error *err)
{
    struct sotto_report_reader *reader = calloc(1, sizeof *reader);
    struct sotto_report_block block = {.count = 1};
    struct sotto_report_seen seen;
    enum sotto_status status = SOTTO_STATUS_OK;
    size_t room = 0;
    if (reader == NULL) {
        return host_fail_memory(err);
    }
    reader->report_size = report_size;
    while (status == SOTTO_STATUS_OK && block.count > 0) {
        status = sotto_report_stream_next(stream, &block, err);
        if (status == SOTTO_STATUS_OK) {
            status = append_block(reader, &room, &block, err);
        }
    }
    sotto_report_stream_seen(stream, &seen);
    reader->repeated = (size_t)seen.repeated;
    if (status == SOTTO_STATUS_OK && sorted) {
        status = sort_payloads(reader, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_report_reader_free(reader);
        return status;
    }
    *ret_reader = reader;
    return SOTTO_STATUS_OK;
}

size_t
sotto_report_reader_count(const struct sotto_report_reader *reader)
{
    return reader->count;
}

size_t
sotto_report_reader_repeated(const struct sotto_report_reader *reader)
{
    return reader->repeated;
}

const uint8_t *
sotto_report_reader_at(const struct sotto_report_reader *reader, size_t i)
{
    size_t at = reader->order != NULL ? reader->order[i] : i;
    return reader->reports + at * reader->report_size;
}

void
sotto_report_reader_free(struct sotto_report_reader *reader)
{
    if (reader != NULL) {
        free(reader->reports);
        free(reader->order);
        free(reader);
    }
}
