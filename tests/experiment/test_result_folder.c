/*
 * test_result_folder.c: the tables of a folder, in the registry's order, and
 * the names of other files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "experiment/result_folder.h"
#include "fail_alloc.h"
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

/* In the registry's order; what no experiment wrote is named. */
static void
test_folder(void **state)
{
    struct result_folder all;
    long n = 0;
    (void)state;
    put("zoo", "data,eps\nx,1\n");
    put("bar", "");
    put(NAME, HEADER FIT MEAN);
    put("eq13", STUDY_HEADER STUDY);
    put("mnist-collection-vlm-feature",
        HEADER "mnist-collection,vlm,feature,0.75,1,fit,1,1,1,0,1,,,,,,1,,,,,,"
               "\n");
    put("mnist-collection-vlm-0.5", HEADER
        "mnist-collection,vlm,latent,0.5,1,fit,1,1,1,0,1,,,,,,1,,,,,,\n");
    put("mnist-collection-vlm",
        HEADER "mnist-collection,vlm,latent,0.75,1,fit,1,1,1,0,1,,,,,,1,,,,,,"
               "\n");
    assert_int_equal(result_folder_read(folder, &all, &err), SOTTO_STATUS_OK);
    assert_int_equal(all.tables, 5);
    assert_string_equal(all.table[0].name, "mnist-collection-vlm");
    assert_string_equal(all.table[1].name, "mnist-collection-vlm-0.5");
    assert_string_equal(all.table[2].name, "mnist-collection-vlm-feature");
    assert_string_equal(all.table[3].name, NAME);
    assert_string_equal(all.table[4].name, "eq13");
    assert_int_equal(all.others, 2);
    assert_string_equal(all.other[0], "bar");
    assert_string_equal(all.other[1], "zoo");
    result_folder_clear(&all);
    do { /* out of memory at every allocation */
        fail_alloc_at(++n);
        enum sotto_status status = result_folder_read(folder, &all, &err);
        assert_true(status == SOTTO_STATUS_MEMORY || fail_alloc_count() < n ||
                    status == SOTTO_STATUS_IO);
        if (status == SOTTO_STATUS_OK) {
            result_folder_clear(&all);
        }
    } while (fail_alloc_count() >= n);
    fail_alloc_at(0);
    put("mnist-collection-clm", HEADER "x,y\n");
    assert_int_equal(result_folder_read(folder, &all, &err),
                     SOTTO_STATUS_INPUT);
    assert_int_equal(result_folder_read("/nowhere", &all, &err),
                     SOTTO_STATUS_IO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_folder, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
