/*
 * report_lines.c: reports for people and their tools: one a line, as CSV or
 * JSON Lines.
 */
#include "verb/report_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/output_file.h"

struct report_lines {
    const struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
    bool (*put)(const struct report_lines *, const uint8_t *, FILE *);
    struct output_file file;
    bool open;
};

/* Prints every integer of a report, in order; a header if it is NULL. */
static bool
put_integers(const struct report_lines *lines, const uint8_t *report, FILE *to)
{
    for (size_t p = 0; p < lines->info.parts; p++) {
        struct sotto_part_info part;
        sotto_mechanism_part(lines->mechanism, p, &part);
        int64_t *values = calloc(part.values + 1, sizeof *values);
        if (values == NULL) {
            return false;
        }
        for (size_t b = 0; b < part.blocks; b++) {
            if (report != NULL) {
                sotto_report_values(lines->mechanism, report, p, b, values);
            }
            for (size_t i = 0; i < part.values; i++) {
                if (report != NULL) {
                    (void)fprintf(to, ",%" PRId64, values[i]);
                } else {
                    (void)fprintf(to, ",part%zu.b%zu.%zu", p + 1, b, i);
                }
            }
        }
        free(values);
    }
    (void)fputc('\n', to);
    return true;
}

static bool
put_csv(const struct report_lines *lines, const uint8_t *report, FILE *to)
{
    if (report == NULL) {
        (void)fputs(
            lines->info.books > 1 ? "id,simulated,book" : "id,simulated", to);
        return put_integers(lines, NULL, to);
    }
    const uint8_t *id = sotto_report_id(report);
    for (size_t i = 0; i < SOTTO_ID_SIZE; i++) {
        (void)fprintf(to, "%02x", id[i]);
    }
    (void)fputs(sotto_report_simulated(report) ? ",yes" : ",no", to);
    if (lines->info.books > 1) {
        (void)fprintf(to, ",%zu", sotto_report_book(lines->mechanism, report));
    }
    return put_integers(lines, report, to);
}

static bool
put_json(const struct report_lines *lines, const uint8_t *report, FILE *to)
{
    char *text = NULL;
    if (report == NULL) {
        return true;
    }
    if (sotto_report_json(lines->mechanism, report, &text, NULL) !=
        SOTTO_STATUS_OK) {
        return false;
    }
    (void)fprintf(to, "%s\n", text);
    free(text);
    return true;
}

bool
report_lines_named(const char *path, const char *ending)
{
    size_t size = strlen(path), tail = strlen(ending);
    return size >= tail && strcasecmp(path + size - tail, ending) == 0;
}

int
report_lines_open(const struct sotto_mechanism *mechanism, const char *path,
                  struct report_lines **ret_lines)
{
    struct report_lines *lines = calloc(1, sizeof *lines);
    if (lines == NULL) {
        return cli_no_memory();
    }
    lines->mechanism = mechanism;
    lines->put = report_lines_named(path, ".jsonl") ? put_json : put_csv;
    sotto_mechanism_info(mechanism, &lines->info);
    lines->open = output_file_open(&lines->file, path);
    if (!lines->open) {
        report_lines_free(lines);
        return CLI_EXIT_FAILED;
    }
    if (!lines->put(lines, NULL, lines->file.stream)) {
        report_lines_free(lines);
        return cli_no_memory();
    }
    *ret_lines = lines;
    return CLI_EXIT_DONE;
}

/* What the disk does not take is told at the end; until then it costs no more
   time. */
int
report_lines_add(struct report_lines *lines,
                 const struct sotto_report_block *block)
{
    FILE *to = lines->file.stream;
    for (size_t i = 0; i < block->count && ferror(to) == 0; i++) {
        if (!lines->put(lines, block->reports + i * lines->info.report_size,
                        to)) {
            return cli_no_memory();
        }
    }
    return CLI_EXIT_DONE;
}

int
report_lines_commit(struct report_lines *lines)
{
    bool good = output_file_commit(&lines->file);
    lines->open = false;
    report_lines_free(lines);
    return good ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

void
report_lines_free(struct report_lines *lines)
{
    if (lines != NULL && lines->open) {
        output_file_drop(&lines->file);
    }
    free(lines);
}

int
report_lines_check(const char *path, const char *forms)
{
    static const char *const others[] = {".parquet", ".feather", ".arrow",
                                         ".xlsx",    ".xls",     ".json"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (report_lines_named(path, others[i])) {
            return cli_bad("-o '%.240s': %s files are not written here: %s",
                           path, others[i], forms);
        }
    }
    return CLI_EXIT_DONE;
}
