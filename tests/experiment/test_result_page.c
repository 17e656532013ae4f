/*
 * test_result_page.c: the page has every table, the papers' numbers, what was
 * not run, and links that hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "experiment/result_page.h"
#include "host/file.h"
#include "host/text.h"
#include "scratch.h"

#define HEADER                                                                 \
    "experiment,mechanism,level,aux_share,eps,kind,trial,draw,runs,seed,"      \
    "accuracy,deviation,deviation_draws,paper,paper_deviation,reach,seconds,"  \
    "setting,data,version,command,commit,note\n"
#define MEAN(eps, rest)                                                        \
    "mnist-collection,codebook,latent,0.75," eps ",mean,,,9,0," rest           \
    ",1,,,0.1.0,sotto,,\n"
#define STUDY                                                                  \
    "experiment,panel,x,eps,mechanism,kind,trial,runs,seed,loss,deviation,"    \
    "seconds,setting,data,version,command,commit,note\n"                       \
    "task-cancer,loss,5,5,task-aware,mean,,5,0,0.25,,0,,,,sotto e,,\n"         \
    "task-cancer,loss,5,5,task-agnostic,mean,,5,0,0.5,,0,,,,sotto e,,\n"       \
    "task-cancer,loss,7,7,task-aware,mean,,5,0,0.25,,0,,,,sotto e,,\n"

static struct sotto_error err;

static void
put(const char *name, const char *text)
{
    char *path = host_text_path("%s/%s", folder, name);
    assert_int_equal(
        host_file_write(path, 0666, false, text, strlen(text), &err),
        SOTTO_STATUS_OK);
    free(path);
}

static char *
make_page(void)
{
    uint8_t *data;
    size_t size;
    char *path = host_text_path("%s/page.md", folder);
    assert_int_equal(sotto_experiment_page(folder, path, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(host_file_read(path, 1 << 20, &data, &size, &err),
                     SOTTO_STATUS_OK);
    char *text = host_text_copy(data, size);
    assert_non_null(text);
    free(data);
    free(path);
    return text;
}

static void
test_page(void **state)
{
    static const char *const wanted[] = {
        "| [mnist-collection-codebook](#mnist-collection-codebook) | 98.5 at "
        "10 | 86.1 | +12.4 at 10 | +32.7 at 4 | 2 of 9 reached |\n",
        "| mnist-collection-duchi | not run | | | | |\n",
        "| [task-cancer](#task-cancer) | task-aware | task-agnostic | 50.0 | 5 "
        "| 73.0 | 20 |\n",
        "| task-mnist | not run | | | | | |\n",
        "\n## mnist-collection\n",
        "\n### mnist-collection-codebook\n",
        "\nBeside the papers: ",
        "\n| 10 | 98.5 ± 0.1 | 0.2 | 9 | 86.1 ± 1.0 | 97.5 | reached |\n"
        "| 8 | not run | – | 0 | 82.1 ± 1.6 | 97.5 |  |\n",
        "\n| 4 | 94.0 | – | 9 | 61.3 ± 2.8 | 96.5 | missed |\n",
        "\n| 0.25 | not run | – | 0 | – | 46.0 |  |\n"
        "| none | 98.8 | – | 9 | 94.9 ± 0.2 | 98.5 | reached |\n",
        "\n| PrivUnit (P0 Table 1) | 38.2 ± 4.6 |",
        "\n![mnist-collection-codebook](./mnist-collection-codebook.svg)\n",
        "\n| epsilon | task-aware | task-agnostic |\n|---|---|---|\n"
        "| 5 | 0.2500 | 0.5000 |\n| 7 | 0.2500 | not run |\n",
        "\nThere is no picture of it.\n",
        "\n    sotto e\n",
        "\n## eq13\n",
        "\nNot run.\n",
        "\n- [zoo.csv](./zoo.csv), [zoo.md](./zoo.md)\n"};
    (void)state;
    put("mnist-collection-codebook.csv",
        HEADER MEAN("10", "0.985,0.001,0.002,0.861,0.01,0.975")
            MEAN("4", "0.94,,,0.613,0.028,0.965")
                MEAN("none", "0.988,,,0.949,0.002,0.985"));
    put("mnist-collection-codebook.svg", "");
    put("task-cancer.csv", STUDY);
    put("zoo.csv", "a,b\n");
    put("zoo.md", "");
    char *page = make_page(), *again = make_page();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (strstr(page, wanted[i]) == NULL) {
            fail_msg("no '%s' in\n%s", wanted[i], page);
        }
    }
    assert_string_equal(page, again);
    free(page);
    free(again);
}

/* Lines of prose have 100 columns at most; an item's go on behind its dash. */
static void
test_lines(void **state)
{
    (void)state;
    put("task-cancer.csv", STUDY);
    char *page = make_page();
    for (const char *at = page; *at != '\0';) {
        size_t size = strcspn(at, "\n"), columns = 0;
        for (size_t i = 0; i < size; i++) {
            columns += ((unsigned char)at[i] & 0xc0) != 0x80;
        }
        if (strchr("|#!", *at) == NULL && columns > 100) {
            fail_msg("%.*s", (int)size, at);
        }
        at += size + (at[size] == '\n');
    }
    assert_non_null(strstr(page, "\n- `task-aware`: encoder and decoder"));
    assert_non_null(strstr(page, "\n  "));
    free(page);
}

/* A file that is not as it should be makes no page. */
static void
test_refused(void **state)
{
    char *path;
    uint8_t *data;
    size_t size;
    (void)state;
    put("eq13.csv", HEADER "x,pca,latent,0.75,1,fit,1,1,1,0,1,,,,,,1,,,,,,\n");
    path = host_text_path("%s/page.md", folder);
    assert_int_equal(sotto_experiment_page(folder, path, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "eq13.csv: line 2, field experiment"));
    assert_int_equal(host_file_read(path, 1 << 20, &data, &size, &err),
                     SOTTO_STATUS_IO);
    free(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_page, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_lines, scratch_set_up,
                                        scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_refused, scratch_set_up,
                                        scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
