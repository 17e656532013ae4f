/*
 * report_export.c: a stream of reports as a file, in each form.
 *
 * CSV has a header, one line a report, and lists as 1|2|3. What the columns
 * mean is in a Parquet file's own footer, and for CSV in docs/export.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/error.h"
#include "host/text.h"
#include "mechanism/report_columns.h"
#include "mechanism/report_stream.h"
#include "table/parquet.h"

#define LINE_MOST ((size_t)1 << 30)
#define BATCH 0u
#define SIMULATED 1u
#define BOOK 2u

struct sotto_report_export {
    const struct sotto_mechanism *mechanism;
    enum sotto_report_form form;
    struct sotto_report_writer *writer; /* BINARY, JSONL */
    struct report_columns columns;      /* the others */
    struct sotto_output *output;
    struct parquet *parquet;
    struct host_text line; /* CSV */
};

/* ---- Forms ----------------------------------------------------------------
 */

static const char *const names[] = {"binary", "jsonl", "csv", "parquet"};

bool
sotto_report_form_named(const char *name, enum sotto_report_form *ret)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            *ret = (enum sotto_report_form)i;
            return true;
        }
    }
    return false;
}

enum sotto_report_form
sotto_report_form_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 1; dot != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(dot + 1, names[i]) == 0) {
            return (enum sotto_report_form)i;
        }
    }
    return SOTTO_FORM_BINARY;
}

/* ---- Parquet --------------------------------------------------------------
 */

static enum sotto_status
begin_parquet(struct sotto_report_export *to, struct sotto_error *err)
{
    const struct report_columns *columns = &to->columns;
    size_t first = columns->book ? 3 : 2;
    struct parquet_column *column =
        calloc(first + columns->count, sizeof *column);
    enum sotto_status status;
    if (column == NULL) {
        return host_fail_memory(err);
    }
    column[BATCH] = (struct parquet_column){
        .name = "batch", .type = PARQUET_INT64, .optional = true};
    column[SIMULATED] =
        (struct parquet_column){.name = "simulated", .type = PARQUET_BOOLEAN};
    if (columns->book) {
        column[BOOK] =
            (struct parquet_column){.name = "book", .type = PARQUET_INT32};
    }
    for (size_t i = 0; i < columns->count; i++) {
        const struct report_column *own = &columns->column[i];
        column[first + i] = (struct parquet_column){
            .name = own->name,
            .type = own->wide ? PARQUET_INT64 : PARQUET_INT32,
            .list = own->entry == SIZE_MAX};
    }
    status = parquet_new(to->output, column, first + columns->count, true,
                         &to->parquet, err);
    free(column);
    return status;
}

static enum sotto_status
add_parquet(struct sotto_report_export *to, const uint8_t *report,
            uint64_t batch, struct sotto_error *err)
{
    struct parquet *parquet = to->parquet;
    size_t at = SIMULATED + 1;
    if (batch > 0) {
        parquet_put(parquet, BATCH, (int64_t)batch);
    } else {
        parquet_put_null(parquet, BATCH);
    }
    parquet_put(parquet, SIMULATED, sotto_report_simulated(report) ? 1 : 0);
    if (to->columns.book) {
        parquet_put(parquet, at++,
                    (int64_t)sotto_report_book(to->mechanism, report));
    }
    for (size_t i = 0; i < to->columns.count; i++, at++) {
        size_t count;
        const int64_t *value =
            report_columns_values(&to->columns, report, i, &count);
        if (to->columns.column[i].entry == SIZE_MAX) {
            parquet_put_list(parquet, at, value, count);
        } else {
            parquet_put(parquet, at, *value);
        }
    }
    return parquet_end_row(parquet, err);
}

static enum sotto_status
note_number(struct parquet *parquet, const char *key, uint64_t value,
            struct sotto_error *err)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    return parquet_note(parquet, key, text, err);
}

static enum sotto_status
finish_parquet(struct sotto_report_export *to,
               const struct sotto_report_seen *seen, struct sotto_error *err)
{
    struct sotto_mechanism_info info;
    char *meaning = report_columns_describe(&to->columns);
    enum sotto_status status;
    if (meaning == NULL) {
        return host_fail_memory(err);
    }
    sotto_mechanism_info(to->mechanism, &info);
    const char *const note[][2] = {
        {"sotto.mechanism", info.hash},
        {"sotto.campaign", info.campaign},
        {"sotto.name", info.name},
        {"sotto.eps", info.eps_text},
        {"sotto.delta", info.delta_text},
        {"sotto.columns", meaning},
        {"sotto.simulated",
         seen->simulated > 0 && seen->simulated == seen->reports ? "true"
         : seen->simulated > 0                                   ? "mixed"
                                                                 : "false"}};
    status = SOTTO_STATUS_OK;
    for (size_t i = 0; i < sizeof note / sizeof *note; i++) {
        status = HOST_THEN(
            status, parquet_note(to->parquet, note[i][0], note[i][1], err));
    }
    free(meaning);
    status = HOST_THEN(
        status, note_number(to->parquet, "sotto.reports", seen->reports, err));
    status = HOST_THEN(
        status, note_number(to->parquet, "sotto.damaged", seen->damaged, err));
    status =
        HOST_THEN(status, note_number(to->parquet, "sotto.unreadable_batches",
                                      seen->unread_batches, err));
    status = HOST_THEN(status, note_number(to->parquet, "sotto.last_batch",
                                           seen->last_batch, err));
    return HOST_THEN(status, parquet_finish(to->parquet, err));
}

/* ---- CSV ------------------------------------------------------------------
 */

static enum sotto_status
write_line(struct sotto_report_export *to, struct sotto_error *err)
{
    enum sotto_status status;
    host_text_add(&to->line, "\n", 1);
    if (to->line.failed) {
        return host_fail_memory(err);
    }
    status = sotto_output_write(to->output, to->line.data, to->line.size, err);
    to->line.size = 0;
    return status;
}

/* A name in quotes, each quote twice, if it needs them. */
static void
add_name(struct host_text *line, const char *name)
{
    bool quoted = strpbrk(name, ",\"\r\n") != NULL;
    host_text_add(line, "\"", quoted ? 1 : 0);
    for (const char *at = name; *at != '\0'; at++) {
        host_text_add(line, "\"\"", *at == '"' ? 1 : 0);
        host_text_add(line, at, 1);
    }
    host_text_add(line, "\"", quoted ? 1 : 0);
}

static enum sotto_status
begin_csv(struct sotto_report_export *to, struct sotto_error *err)
{
    host_text_print(&to->line, "batch,simulated%s",
                    to->columns.book ? ",book" : "");
    for (size_t i = 0; i < to->columns.count; i++) {
        host_text_add(&to->line, ",", 1);
        add_name(&to->line, to->columns.column[i].name);
    }
    return write_line(to, err);
}

/* Plain decimal: printf would take most of the time. */
static void
add_integer(struct host_text *line, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0) {
        digits[--at] = '-';
    }
    host_text_add(line, digits + at, sizeof digits - at);
}

static enum sotto_status
add_csv(struct sotto_report_export *to, const uint8_t *report, uint64_t batch,
        struct sotto_error *err)
{
    struct host_text *line = &to->line;
    if (batch > 0) {
        add_integer(line, (int64_t)batch);
    }
    if (sotto_report_simulated(report)) {
        host_text_add(line, ",yes", 4);
    } else {
        host_text_add(line, ",no", 3);
    }
    if (to->columns.book) {
        host_text_add(line, ",", 1);
        add_integer(line, (int64_t)sotto_report_book(to->mechanism, report));
    }
    for (size_t i = 0; i < to->columns.count; i++) {
        size_t count;
        const int64_t *value =
            report_columns_values(&to->columns, report, i, &count);
        for (size_t j = 0; j < count; j++) {
            host_text_add(line, j > 0 ? "|" : ",", 1);
            add_integer(line, value[j]);
        }
    }
    return write_line(to, err);
}

/* ---- All of it ------------------------------------------------------------
 */

static enum sotto_status
begin_table(struct sotto_report_export *to, const char *path,
            struct sotto_error *err)
{
    enum sotto_status status =
        report_columns_init(&to->columns, to->mechanism, err);
    status = HOST_THEN(status,
                       sotto_output_new(path, 0644, false, &to->output, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    return to->form == SOTTO_FORM_CSV ? begin_csv(to, err)
                                      : begin_parquet(to, err);
}

enum sotto_status
sotto_report_export_new(const struct sotto_mechanism *mechanism,
                        const char *path, enum sotto_report_form form,
                        struct sotto_report_export **ret_export,
                        struct sotto_error *err)
{
    struct sotto_report_export *to = calloc(1, sizeof *to);
    enum sotto_status status;
    if (to == NULL) {
        return host_fail_memory(err);
    }
    to->mechanism = mechanism;
    to->form = form;
    host_text_init(&to->line, LINE_MOST);
    if (form == SOTTO_FORM_BINARY || form == SOTTO_FORM_JSONL) {
        status = report_file_write(mechanism, path, form == SOTTO_FORM_JSONL,
                                   &to->writer, err);
    } else {
        status = begin_table(to, path, err);
    }
    if (status != SOTTO_STATUS_OK) {
        sotto_report_export_free(to);
        return status;
    }
    *ret_export = to;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_report_export_add(struct sotto_report_export *to,
                        const struct sotto_report_block *block,
                        struct sotto_error *err)
{
    size_t each = to->mechanism->shape.report_size;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (to->writer != NULL) {
        return sotto_report_writer_add_block(to->writer, block, err);
    }
    for (size_t i = 0; i < block->count && status == SOTTO_STATUS_OK; i++) {
        const uint8_t *report = block->reports + i * each;
        status = to->form == SOTTO_FORM_CSV
                     ? add_csv(to, report, block->batch, err)
                     : add_parquet(to, report, block->batch, err);
    }
    return status;
}

enum sotto_status
sotto_report_export_commit(struct sotto_report_export *to,
                           const struct sotto_report_seen *seen,
                           struct sotto_error *err)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    if (to->writer != NULL) {
        status = sotto_report_writer_commit(to->writer, err);
        to->writer = NULL;
    } else {
        if (to->form == SOTTO_FORM_PARQUET) {
            status = finish_parquet(to, seen, err);
        }
        if (status == SOTTO_STATUS_OK) {
            status = sotto_output_commit(to->output, err);
            to->output = NULL;
        }
    }
    sotto_report_export_free(to);
    return status;
}

void
sotto_report_export_free(struct sotto_report_export *to)
{
    if (to == NULL) {
        return;
    }
    sotto_report_writer_free(to->writer);
    parquet_free(to->parquet);
    sotto_output_free(to->output);
    report_columns_clear(&to->columns);
    host_text_clear(&to->line);
    free(to);
}
