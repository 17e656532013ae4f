/*
 * task_codes_files.h: mechanisms of codes for a task, read back from their
 * files, and what their reports decode to.
 */
#ifndef SOTTO_TESTS_TASK_CODES_FILES_H
#define SOTTO_TESTS_TASK_CODES_FILES_H

#include "encoder/analyst.h"
#include "mechanism/stages.h"
#include "task_people.h"

enum { ROWS = 600 };

static inline struct sotto_mechanism *
make_codes(const struct sotto_table *table,
           const struct task_codes_options *options,
           struct sotto_train_facts *ret_facts)
{
    struct sotto_mechanism *mechanism = NULL;
    must(train_task_codes(table, options, in_folder("m.sotto"),
                          in_folder("m.analyst"), ret_facts, &mechanism, &err));
    return mechanism;
}

/* ---- Reports ------------------------------------------------------------- */

/* The report that names these symbols, one a part; its id is 0. */
static inline void
put_report(const struct sotto_mechanism *mechanism, const int64_t *named,
           uint8_t *ret_report)
{
    memset(ret_report, 0, mechanism->shape.report_size);
    for (size_t i = 0; i < mechanism->shape.parts; i++) {
        const struct likelihood_instance *own = &mechanism->likelihood[i];
        assert_true(own->likelihood->pack(
            own, &named[i], ret_report + mechanism->shape.part[i].offset));
    }
}

/* ---- Files --------------------------------------------------------------- */

struct files {
    struct sotto_mechanism *mechanism;
    struct sotto_analyst *analyst;
    struct rows rows;
    float *x; /* of every row */
    size_t n, width, k;
};

static inline void
open_files(struct files *files, const struct sotto_table *table)
{
    must(sotto_mechanism_read(in_folder("m.sotto"), &files->mechanism, &err));
    must(sotto_analyst_read(in_folder("m.analyst"), &files->analyst, &err));
    must(sotto_analyst_check(files->analyst, files->mechanism, &err));
    must(rows_init(&files->rows, files->mechanism, table, &err));
    files->n = sotto_table_rows(table);
    files->width = sotto_analyst_x_width(files->analyst);
    files->k = sotto_analyst_z_width(files->analyst);
    files->x = malloc(files->n * files->width * sizeof *files->x);
    assert_non_null(files->x);
    for (size_t i = 0; i < files->n; i++) {
        rows_encode(&files->rows, i, files->x + i * files->width, NULL);
    }
}

static inline void
close_files(struct files *files)
{
    free(files->x);
    rows_clear(&files->rows);
    sotto_analyst_free(files->analyst);
    sotto_mechanism_free(files->mechanism);
}

/* What decode says of the report that names `code`: `width` numbers. */
static inline void
decode_code(const struct files *files, size_t code, float *ret_x)
{
    int64_t named[2] = {(int64_t)code, 0};
    uint8_t report[256];
    double *z = calloc(files->k, sizeof *z);
    assert_non_null(z);
    put_report(files->mechanism, named, report);
    sotto_analyst_estimate(files->analyst, files->mechanism, report, z);
    must(sotto_analyst_decode(files->analyst, z, 1, ret_x, &err));
    free(z);
}

#endif
