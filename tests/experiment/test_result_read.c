/*
 * test_result_read.c: rows come back from a CSV file as they were written, and
 * a file that no version wrote so is refused by file, line and field.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/result_files.h"
#include "experiment/result_read.h"
#include "experiment/study.h"
#include "host/file.h"
#include "host/text.h"
#include "scratch.h"

#define HEADER                                                                 \
    "experiment,mechanism,level,aux_share,eps,kind,trial,draw,runs,seed,"      \
    "accuracy,deviation,deviation_draws,paper,paper_deviation,reach,seconds,"  \
    "setting,data,version,command,commit,note\n"
#define FIT                                                                    \
    "mnist-collection,codebook,latent,0.75,10,fit,2,3,1,7,0.875,,,0.861,0.01," \
    "0.975,1.5,k=9,abcd,0.1.0,\"sotto experiment x, y\",c0ffee,\"a \"\"b\"\"," \
    " c\"\n"
#define MEAN                                                                   \
    "mnist-collection,codebook,latent,0.75,none,mean,,,6,7,0.9,0.0125,0.002,"  \
    "0.949,0.002,0.985,9,k=9,abcd,0.1.0,,,\n"
#define NAME "mnist-collection-codebook"
#define STUDY_HEADER                                                           \
    "experiment,panel,x,eps,mechanism,kind,trial,runs,seed,loss,deviation,"    \
    "seconds,setting,data,version,command,commit,note\n"
#define STUDY                                                                  \
    "eq13,d2-eps1,2,1,vertices,fit,1,1,0,30.32653299,,0,most=2,none,0.1.0,"    \
    "sotto experiment eq13,e8ba135b,\n"                                        \
    "eq13,d2-eps1,2,1,vertices,mean,,1,0,30.32653299,,0,most=2,none,0.1.0,"    \
    "sotto experiment eq13,e8ba135b,\n"

static struct sotto_error err;

static void
put(const char *name, const char *text)
{
    char *path = host_text_path("%s/%s.csv", folder, name);
    assert_int_equal(
        host_file_write(path, 0666, false, text, strlen(text), &err),
        SOTTO_STATUS_OK);
    free(path);
}

/* What is written of the rows that were read is what was read. */
static void
assert_round(const char *name, const char *text)
{
    struct result_table table;
    struct host_text again;
    bool ours;
    put(name, text);
    assert_int_equal(result_read(folder, name, &ours, &table, &err),
                     SOTTO_STATUS_OK);
    assert_true(ours);
    host_text_init(&again, 1 << 20);
    if (table.experiment->study != NULL) {
        study_csv(&again, table.rows, table.count);
    } else {
        result_files_csv(&again, table.rows, table.count);
    }
    assert_string_equal(again.data, text);
    host_text_clear(&again);
    result_table_clear(&table);
}

static void
test_round(void **state)
{
    (void)state;
    assert_round(NAME, HEADER FIT MEAN);
    assert_round("eq13", STUDY_HEADER STUDY);
}

static void
test_row(void **state)
{
    struct result_table table;
    bool ours;
    (void)state;
    put(NAME, HEADER FIT MEAN);
    assert_int_equal(result_read(folder, NAME, &ours, &table, &err),
                     SOTTO_STATUS_OK);
    const struct sotto_experiment_row *fit = &table.rows[0];
    assert_int_equal(table.count, 2);
    assert_int_equal(table.trials, 2);
    assert_int_equal(table.draws, 3);
    assert_int_equal(table.options.seed, 7);
    assert_ptr_equal(table.experiment, &experiment_mnist_collection);
    assert_string_equal(table.mechanism->name, "codebook");
    assert_false(fit->mean);
    assert_true(fit->accuracy == 0.875 && isnan(fit->deviation) &&
                isnan(fit->loss));
    assert_string_equal(fit->note, "a \"b\", c");
    assert_string_equal(fit->paper_table, "P0 Table 1");
    assert_true(table.rows[1].mean && isinf(table.rows[1].eps));
    assert_null(table.rows[1].command);
    assert_string_equal(table.options.command, "sotto experiment x, y");
    result_table_clear(&table);
    /* from before there were notes */
    put("mnist-collection-pca",
        "experiment,mechanism,level,aux_share,eps,kind,trial,draw,runs,seed,"
        "accuracy,deviation,deviation_draws,paper,paper_deviation,reach,"
        "seconds,setting,data,version,command,commit\n"
        "mnist-collection,pca,latent,0.75,10,fit,1,1,1,0,0.75,,,0.173,0.081,,"
        "18,pca,abcd,0.1.0,sotto,a221537\n");
    assert_int_equal(
        result_read(folder, "mnist-collection-pca", &ours, &table, &err),
        SOTTO_STATUS_OK);
    assert_null(table.rows[0].note);
    assert_string_equal(table.rows[0].commit, "a221537");
    result_table_clear(&table);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *name, *text, *said;
    } cases[] = {
        {NAME, HEADER, "has no rows"},
        {NAME, "experiment,other\nx,y\n", "line 1: these are not the columns"},
        {NAME, HEADER "x,pca,latent,0.75,1,fit,1,1,1,0,1,,,,,,1,,,,,,\n",
         "line 2, field experiment: 'x' is no experiment of this version"},
        {NAME, HEADER FIT "mnist-collection,codebook\n",
         "line 3, field level: it is missing"},
        {NAME,
         HEADER "eq13,vertices,latent,0.75,1,fit,1,1,1,0,0.5,,,,,,1,,,,,,"
                "\n",
         "line 2, field experiment: 'eq13' is an experiment with other"},
        {NAME,
         HEADER "mnist-collection,no,latent,0.75,1,fit,1,1,1,0,0.5,,,,,,1,,,,,,"
                "\n",
         "line 2, field mechanism: 'no' is no mechanism"},
        {NAME,
         HEADER FIT "mnist-collection,pca,latent,0.75,1,fit,1,1,1,0,0.5,,,,,,1,"
                    ",,,,,\n",
         "line 3, field mechanism: 'pca' is not that of line 2"},
        {NAME,
         HEADER "mnist-collection,codebook,deep,0.75,1,fit,1,1,1,0,0.5,,,,,,1,"
                ",,,,,\n",
         "line 2, field level: 'deep' is neither"},
        {NAME,
         HEADER "mnist-collection,codebook,latent,0.75,1,fit,1,1,1,0,,,,,,,1,,"
                ",,,,\n",
         "line 2, field accuracy: '' is no number"},
        {NAME,
         HEADER "mnist-collection,codebook,latent,0.75,nan,fit,1,1,1,0,1,,,,,,"
                "1,,,,,,\n",
         "line 2, field eps: 'nan' is no number"},
        {NAME,
         HEADER "mnist-collection,codebook,latent,0.75,1,some,1,1,1,0,1,,,,,,1,"
                ",,,,,\n",
         "line 2, field kind: 'some' is neither mean nor fit"},
        {NAME,
         HEADER "mnist-collection,codebook,latent,0.75,1,fit,-1,1,1,0,1,,,,,,1,"
                ",,,,,\n",
         "line 2, field trial: '-1' is no whole number"},
        {NAME,
         HEADER "mnist-collection,codebook,latent,0.75,1,fit,1,1,1,0,1,,,,,,1,"
                ",,,,,,more\n",
         "line 2 has more fields"},
        {NAME, HEADER "mnist-collection,codebook", "was cut"},
        {"copy", HEADER FIT, "belong into " NAME ".csv"},
        {"eq13", STUDY_HEADER "eq13,other,2,1,vertices,fit,1,1,0,3,,0,,,,,,\n",
         "line 2, field panel: 'other' is no panel"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_table table;
        char *file = host_text_path("%s.csv", cases[i].name);
        bool ours;
        put(cases[i].name, cases[i].text);
        assert_int_equal(
            result_read(folder, cases[i].name, &ours, &table, &err),
            SOTTO_STATUS_INPUT);
        if (strstr(err.message, cases[i].said) == NULL ||
            strstr(err.message, file) == NULL) {
            fail_msg("case %zu: %s", i, err.message);
        }
        free(file);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_row, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
