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
#include "cli/progress.h"

struct lines {
    const struct sotto_mechanism *mechanism;
    struct sotto_mechanism_info info;
};

/* Prints every integer of a report, in order; a header if it is NULL. */
static bool
put_integers(const struct lines *lines, const uint8_t *report, FILE *to)
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
put_csv(const struct lines *lines, const uint8_t *report, FILE *to)
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
put_json(const struct lines *lines, const uint8_t *report, FILE *to)
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
report_lines_write(const struct sotto_mechanism *mechanism,
                   const struct sotto_report_reader *reader, const char *path)
{
    size_t count = sotto_report_reader_count(reader);
    struct lines lines = {.mechanism = mechanism};
    bool (*put)(const struct lines *, const uint8_t *, FILE *) =
        report_lines_named(path, ".jsonl") ? put_json : put_csv;
    struct output_file file;
    struct progress bar;
    sotto_mechanism_info(mechanism, &lines.info);
    if (!output_file_open(&file, path)) {
        return CLI_EXIT_FAILED;
    }
    progress_start(&bar, "writing", count);
    bool good = put(&lines, NULL, file.stream);
    for (size_t i = 0; good && i < count && ferror(file.stream) == 0; i++) {
        good = put(&lines, sotto_report_reader_at(reader, i), file.stream);
        progress_step(&bar, i + 1);
    }
    progress_end(&bar);
    if (!good) {
        cli_error("out of memory");
        output_file_drop(&file);
        return CLI_EXIT_FAILED;
    }
    return output_file_commit(&file) ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
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
