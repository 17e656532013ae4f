/*
 * decode_features.c: reports decoded to records, through an analyst file.
 */
#include "verb/decode_features.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output_file.h"
#include "host/csv_field.h"

#define CHUNK ((size_t)4096) /* reports decoded at a time */

struct decode_features {
    const struct sotto_mechanism *mechanism;
    struct sotto_analyst *analyst;
    size_t columns, x_width;
    size_t label_part, label; /* SIZE_MAX: none that can be shown */
    size_t symbols;           /* that a report names of the label */
    int64_t *symbol;
    char *set; /* their names, joined */
    double *z;
    float *x;
    size_t report_size;
    struct output_file file;
    bool open;
    FILE *spool; /* rows of an NPY file; NULL: it is CSV */
    size_t rows; /* in it */
};

/* ---- CSV ----------------------------------------------------------------- */

static void
put_header(const struct decode_features *job, FILE *to)
{
    (void)fputs("id,simulated", to);
    for (size_t i = 0; i < job->columns; i++) {
        struct sotto_column_info info;
        sotto_mechanism_column(job->mechanism, i, &info);
        size_t fields = info.samples > 0 ? info.samples : 1;
        for (size_t j = 0; (info.inputs > 0 || i == job->label) && j < fields;
             j++) {
            (void)fputc(',', to);
            csv_field_print(to, info.name);
            if (info.samples > 0) {
                (void)fprintf(to, ".%zu", j);
            }
        }
    }
    (void)fputc('\n', to);
}

static size_t
largest(const float *p, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = p[i] > p[best] ? i : best;
    }
    return best;
}

/* A name in a set, each '|' and backslash behind a backslash; its end. */
static char *
add_escaped(char *at, const char *name)
{
    for (; *name != '\0'; name++) {
        if (*name == '|' || *name == '\\') {
            *at++ = '\\';
        }
        *at++ = *name;
    }
    return at;
}

/* The symbol that was reported, or all of a set, as one field: red|blue. */
static void
put_label(const struct decode_features *job, const uint8_t *report, FILE *to)
{
    char *at = job->set;
    sotto_report_values(job->mechanism, report, job->label_part, 0,
                        job->symbol);
    (void)fputc(',', to);
    if (job->symbols == 1) {
        csv_field_print(to, sotto_mechanism_category(job->mechanism, job->label,
                                                     (size_t)job->symbol[0]));
        return;
    }
    for (size_t i = 0; i < job->symbols; i++) {
        if (i > 0) {
            *at++ = '|';
        }
        at =
            add_escaped(at, sotto_mechanism_category(job->mechanism, job->label,
                                                     (size_t)job->symbol[i]));
    }
    *at = '\0';
    csv_field_print(to, job->set);
}

/* A column's entries of x, back in its own units. */
static void
put_column(const struct decode_features *job, size_t column,
           const struct sotto_column_info *info, const float *x, FILE *to)
{
    if (info->symbols > 0) {
        (void)fputc(',', to);
        csv_field_print(to, sotto_mechanism_category(job->mechanism, column,
                                                     largest(x, info->inputs)));
        return;
    }
    for (size_t i = 0; i < info->inputs; i++) {
        double middle = info->low / 2 + info->high / 2;
        double half = info->high / 2 - info->low / 2;
        (void)fprintf(to, ",%.6g", middle + half * (double)x[i]);
    }
}

static void
put_record(const struct decode_features *job, const uint8_t *report,
           const float *x, FILE *to)
{
    const uint8_t *id = sotto_report_id(report);
    for (size_t i = 0; i < SOTTO_ID_SIZE; i++) {
        (void)fprintf(to, "%02x", id[i]);
    }
    (void)fputs(sotto_report_simulated(report) ? ",yes" : ",no", to);
    for (size_t i = 0; i < job->columns; i++) {
        struct sotto_column_info info;
        sotto_mechanism_column(job->mechanism, i, &info);
        if (info.inputs > 0) {
            put_column(job, i, &info, x, to);
            x += info.inputs;
        } else if (i == job->label) {
            put_label(job, report, to);
        }
    }
    (void)fputc('\n', to);
}

/* ---- NPY ----------------------------------------------------------------- */

/* Version 1.0: magic, version, the header's length, and a header that fills
   the first 128 bytes. */
static void
put_npy_header(const struct decode_features *job, FILE *to)
{
    static const char magic[] = "\x93NUMPY\x01\x00\x76\x00"; /* 118 follow */
    char header[119];
    int size = snprintf(header, sizeof header,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(%zu, %zu), }",
                        job->rows, job->x_width);
    (void)fwrite(magic, 1, sizeof magic - 1, to);
    (void)fprintf(to, "%s%*s\n", header, 117 - size, "");
}

static void
put_npy_record(const struct decode_features *job, float *x, FILE *to)
{
    float *at = x;
    for (size_t i = 0; i < job->columns; i++) {
        struct sotto_column_info info;
        sotto_mechanism_column(job->mechanism, i, &info);
        double middle = info.low / 2 + info.high / 2;
        double half = info.high / 2 - info.low / 2;
        for (size_t j = 0; info.symbols == 0 && j < info.inputs; j++) {
            at[j] = (float)(middle + half * (double)at[j]);
        }
        at += info.inputs;
    }
    for (size_t i = 0; i < job->x_width; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        const uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8),
                                  (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
        (void)fwrite(bytes, 1, sizeof bytes, to);
    }
}

/* ---- All of it ----------------------------------------------------------- */

/* The part that reports the label as a symbol, or several, of a column. */
static void
find_label(struct decode_features *job)
{
    struct sotto_mechanism_info info;
    sotto_mechanism_info(job->mechanism, &info);
    job->columns = info.columns;
    job->label = job->label_part = SIZE_MAX;
    for (size_t i = 0; i < info.parts; i++) {
        struct sotto_part_info part;
        sotto_mechanism_part(job->mechanism, i, &part);
        if (strcmp(part.covers, "label") == 0 && part.blocks == 1 &&
            strcmp(part.domain, "symbols") == 0) {
            job->label_part = i;
            job->symbols = part.values;
            job->label = sotto_mechanism_part_column(job->mechanism, i, 0);
        }
    }
}

/* Room for the symbols of a label report and for all names, each escaped. */
static bool
allocate_label(struct decode_features *job)
{
    struct sotto_column_info info;
    size_t size = 1;
    if (job->label == SIZE_MAX) {
        return true;
    }
    sotto_mechanism_column(job->mechanism, job->label, &info);
    for (size_t i = 0; i < info.count; i++) {
        size += 1 + 2 * strlen(sotto_mechanism_category(job->mechanism,
                                                        job->label, i));
    }
    job->symbol = calloc(job->symbols, sizeof *job->symbol);
    job->set = malloc(size);
    return job->symbol != NULL && job->set != NULL;
}

static int
add_chunk(struct decode_features *job, const uint8_t *reports, size_t n)
{
    size_t width = sotto_analyst_z_width(job->analyst);
    struct sotto_error err = {0};
    for (size_t i = 0; i < n; i++) {
        sotto_analyst_estimate(job->analyst, job->mechanism,
                               reports + i * job->report_size,
                               job->z + i * width);
    }
    if (sotto_analyst_decode(job->analyst, job->z, n, job->x, &err) !=
        SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    for (size_t i = 0; i < n; i++) {
        float *x = job->x + i * job->x_width;
        if (job->spool != NULL) {
            put_npy_record(job, x, job->spool);
        } else {
            put_record(job, reports + i * job->report_size, x,
                       job->file.stream);
        }
    }
    job->rows += n;
    return CLI_EXIT_DONE;
}

int
decode_features_add(struct decode_features *features,
                    const struct sotto_report_block *block)
{
    int status = CLI_EXIT_DONE;
    for (size_t i = 0; i < block->count && status == CLI_EXIT_DONE &&
                       ferror(features->file.stream) == 0;
         i += CHUNK) {
        size_t left = block->count - i;
        status = add_chunk(features, block->reports + i * features->report_size,
                           left < CHUNK ? left : CHUNK);
    }
    return status;
}

static int
open_analyst(struct decode_features *job, const char *path)
{
    struct sotto_mechanism_info info;
    struct sotto_error err = {0};
    if (sotto_analyst_read(path, &job->analyst, &err) != SOTTO_STATUS_OK ||
        sotto_analyst_check(job->analyst, job->mechanism, &err) !=
            SOTTO_STATUS_OK) {
        return cli_fail(&err);
    }
    sotto_mechanism_info(job->mechanism, &info);
    job->report_size = info.report_size;
    job->x_width = sotto_analyst_x_width(job->analyst);
    job->z =
        calloc(CHUNK, sotto_analyst_z_width(job->analyst) * sizeof *job->z);
    job->x = calloc(CHUNK, (job->x_width + 1) * sizeof *job->x);
    find_label(job);
    if (job->z == NULL || job->x == NULL || !allocate_label(job)) {
        return cli_no_memory();
    }
    return CLI_EXIT_DONE;
}

int
decode_features_open(const struct sotto_mechanism *mechanism,
                     const char *analyst_path, const char *path,
                     struct decode_features **ret_features)
{
    size_t size = strlen(path);
    bool npy = size > 4 && strcmp(path + size - 4, ".npy") == 0;
    struct decode_features *job = calloc(1, sizeof *job);
    int status;
    if (job == NULL) {
        return cli_no_memory();
    }
    job->mechanism = mechanism;
    status = open_analyst(job, analyst_path);
    if (status == CLI_EXIT_DONE) {
        job->open = output_file_open(&job->file, path);
        status = job->open ? status : CLI_EXIT_FAILED;
    }
    if (status == CLI_EXIT_DONE && npy) {
        job->spool = tmpfile();
        if (job->spool == NULL) {
            cli_error("cannot make a file for what is decoded: %s",
                      strerror(errno));
            status = CLI_EXIT_FAILED;
        }
    } else if (status == CLI_EXIT_DONE) {
        put_header(job, job->file.stream);
    }
    if (status != CLI_EXIT_DONE) {
        decode_features_free(job);
        return status;
    }
    *ret_features = job;
    return CLI_EXIT_DONE;
}

/* Copies what waited behind the header. */
static bool
copy_spool(struct decode_features *job)
{
    size_t got;
    put_npy_header(job, job->file.stream);
    rewind(job->spool);
    while ((got = fread(job->x, 1, CHUNK * sizeof *job->x, job->spool)) > 0) {
        (void)fwrite(job->x, 1, got, job->file.stream);
    }
    return ferror(job->spool) == 0;
}

int
decode_features_commit(struct decode_features *features)
{
    bool good = features->spool == NULL ||
                (fflush(features->spool) == 0 && copy_spool(features));
    if (!good) {
        cli_error("what was decoded could not be kept: %s", strerror(errno));
    } else {
        features->open = false;
        good = output_file_commit(&features->file);
    }
    decode_features_free(features);
    return good ? CLI_EXIT_DONE : CLI_EXIT_FAILED;
}

void
decode_features_free(struct decode_features *features)
{
    if (features == NULL) {
        return;
    }
    if (features->open) {
        output_file_drop(&features->file);
    }
    if (features->spool != NULL) {
        (void)fclose(features->spool);
    }
    sotto_analyst_free(features->analyst);
    free(features->z);
    free(features->x);
    free(features->symbol);
    free(features->set);
    free(features);
}
