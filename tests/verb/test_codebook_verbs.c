/*
 * test_codebook_verbs.c: fit, predict, evaluate and train class with the
 * mechanism of a codebook: the whole way from people to private inference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "scratch.h"
#include "sotto/sotto.h"
#include "train_fixture.h"

#define GROUPS 3u

static struct sotto_error err;
static char text[65536]; /* what the last command said */

static void
must(enum sotto_status status)
{
    if (status != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
}

/* sotto in the folder; its exit status. */
static int
run(const char *arguments)
{
    char command[4096];
    FILE *pipe;
    size_t size;
    (void)snprintf(command, sizeof command, "cd '%s' && '%s' %s 2>&1",
                   in_folder("."), SOTTO_BINARY, arguments);
    pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(pipe);
    size = fread(text, 1, sizeof text - 1, pipe);
    text[size] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static void
runs(int status, const char *arguments, const char *says)
{
    int got = run(arguments);
    if (got != status || strstr(text, says) == NULL) {
        fail_msg("sotto %s: status %d, says %s", arguments, got, text);
    }
}

/* The number behind a field of the JSON that was printed. */
static double
field(const char *name)
{
    char key[64];
    const char *at;
    (void)snprintf(key, sizeof key, "\"%s\": ", name);
    at = strstr(text, key);
    if (at == NULL) {
        fail_msg("no %s in %s", name, text);
        return 0;
    }
    return strtod(at + strlen(key), NULL);
}

/* Three groups of people, at the corners of a triangle. */
static void
write_people(const char *name, unsigned n, uint64_t seed)
{
    static const double place[GROUPS][2] = {{0, 0}, {6, 0}, {0, 6}};
    static const char *const label[GROUPS] = {"ann", "bob", "cid"};
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    (void)fprintf(file, "x,y,who\n");
    for (unsigned i = 0; i < n; i++) {
        double at[2];
        unsigned g;
        seed = seed * UINT64_C(6364136223846793005) + 1;
        g = (unsigned)((seed >> 33) % GROUPS);
        for (size_t j = 0; j < 2; j++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            at[j] = place[g][j] + (double)((seed >> 33) % 2000) / 1000;
        }
        (void)fprintf(file, "%.3f,%.3f,%s\n", at[0], at[1], label[g]);
    }
    assert_int_equal(fclose(file), 0);
}

static void
write_codebook(void)
{
    const struct pca_options pca = {.eps = "1",
                                    .lambda = 0.5,
                                    .label = "who",
                                    .d = 2,
                                    .inside = 0.9,
                                    .steps = 4096,
                                    .threads = 1};
    const struct sotto_codebook_options options = {
        .label = "who", .cells = 12, .threads = 1};
    const struct sotto_codebook_choice choice = {.k = 6, .channel = "subset"};
    char path[3][512];
    struct sotto_table *table = NULL;
    struct sotto_mechanism *encoder = NULL;
    struct sotto_codebook *codebook = NULL;
    (void)snprintf(path[0], sizeof path[0], "%s", in_folder("aux.csv"));
    (void)snprintf(path[1], sizeof path[1], "%s", in_folder("m.sotto"));
    (void)snprintf(path[2], sizeof path[2], "%s", in_folder("m.analyst"));
    must(sotto_table_read(path[0], NULL, &table, &err));
    must(train_pca(table, &pca, in_folder("e.sotto"), NULL, &encoder, &err));
    must(sotto_codebook_new(table, encoder, &options, &codebook, &err));
    must(sotto_codebook_write(codebook, &choice, "2", path[1], path[2], NULL,
                              &err));
    sotto_codebook_free(codebook);
    sotto_mechanism_free(encoder);
    sotto_table_free(table);
}

static void
test_journey(void **state)
{
    double clean, own, code;
    (void)state;
    runs(0, "privatise m.sotto people.csv --seed 3 -o r.reports", "");
    runs(0, "fit m.sotto r.reports -o a.model",
         "The reports tell of the label at most");
    assert_non_null(strstr(text, "learnt from 2000 reports"));
    runs(0, "fit m.sotto r.reports --aux aux.csv --threads 1 --json -o b.model",
         "\"points\": 300");
    runs(0, "fit m.sotto r.reports --shifted --balanced -o c.model", "Wrote");
    runs(0, "fit m.sotto r.reports --aux aux.csv --last 2 -o d.model",
         "the last fit took 2 epochs");
    runs(2, "fit m.sotto r.reports --last 2 -o x.model",
         "--last needs the auxiliary records");
    runs(2, "fit m.sotto r.reports --objective label -o x.model",
         "not for codebooks");
    runs(2, "fit m.sotto r.reports --level feature -o x.model",
         "sees representations");

    runs(0, "evaluate a.model --data test.csv --json", "accuracy");
    clean = field("accuracy");
    runs(0, "evaluate b.model --data test.csv --json", "accuracy");
    assert_true(fabs(field("accuracy") - clean) < 1e-12);
    runs(0, "evaluate a.model --data test.csv --private --json", "accuracy");
    own = field("accuracy");
    assert_true(clean > 0.97);
    assert_true(own > 0.36 && own < clean); /* chance is 0.33 */

    runs(0, "train code --model a.model --eps 4 -o code.sotto", "epsilon 4");
    assert_non_null(strstr(text, "One of 6 codes, by flip."));
    runs(0,
         "train code --model a.model --eps 4 --channel subset --json -o "
         "s.sotto",
         "\"channel\": \"subset\"");
    assert_true(field("expected") > 0.5 && field("k") > 5.5);
    runs(0, "train class --model a.model --eps 4 --json -o class.sotto",
         "\"eps\": 4");
    runs(0,
         "evaluate a.model --data test.csv --private --mechanism code.sotto "
         "--json",
         "accuracy");
    code = field("accuracy");
    assert_true(code > own + 0.1);
    runs(0, "train code --model a.model --eps 4 --force --json -o code.sotto",
         "\"channel\": \"flip\"");
    assert_true(fabs(field("expected") - code) < 0.3);
    runs(0,
         "evaluate a.model --data test.csv --private --mechanism class.sotto "
         "--json",
         "accuracy");
    assert_true(fabs(field("accuracy") - clean * 0.965) < 0.03);

    runs(0, "privatise class.sotto test.csv --seed 1 -o c.reports", "");
    runs(0, "predict a.model c.reports --mechanism class.sotto", "600 reports");
    runs(0, "predict a.model r.reports -o r.csv", "2000 reports");
    runs(0, "predict a.model test.csv", "600 records");
}

/* Codes that were cut anew are classified by the model that came with them. */
static void
test_recut(void **state)
{
    static const char make[] = "train code --model a.model --data aux.csv "
                               "--recut cut.model --force --eps 4 ";
    char command[256];
    double expected, own;
    (void)state;
    (void)snprintf(command, sizeof command, "%s-o cut.sotto", make);
    runs(0, command, "Wrote cut.model");
    (void)snprintf(command, sizeof command,
                   "%s--threads 1 --seed 5 --cells 15 --k 5 --json -o "
                   "cut.sotto",
                   make);
    runs(0, command, "\"model_file\": \"cut.model\"");
    assert_non_null(strstr(text, "\"campaign\": \"codebook\""));
    assert_true(field("k") > 4.5 && field("k") < 5.5);
    (void)snprintf(command, sizeof command, "%s--json -o cut.sotto", make);
    runs(0, command, "\"channel\": \"flip\"");
    expected = field("expected");
    assert_true(field("k") > 2.5 && field("k") < 12.5);
    runs(0,
         "evaluate cut.model --data test.csv --private --mechanism cut.sotto "
         "--json",
         "accuracy");
    own = field("accuracy");
    assert_true(own > 0.8 && fabs(own - expected) < 0.2);
    runs(0, "privatise cut.sotto test.csv --seed 1 -o cut.reports", "");
    runs(0, "predict cut.model cut.reports --mechanism cut.sotto",
         "600 reports");
    runs(2, "predict a.model cut.reports --mechanism cut.sotto",
         "another encoder or codebook");

    runs(2, "train code --model a.model --recut x.model --eps 4 -o x.sotto",
         "--recut needs --data");
    runs(2, "train code --model a.model --k 4 --eps 4 -o x.sotto",
         "--k belongs to --recut");
    runs(2,
         "train code --model a.model --data aux.csv --recut x.model --channel "
         "flip --eps 4 -o x.sotto",
         "leave --channel out");
    runs(2,
         "train code --model a.model --data aux.csv --recut x.model --k 400 "
         "--eps 4 -o x.sotto",
         "more than the");
    runs(2,
         "train code --model a.model --data aux.csv --recut x.sotto --eps 4 -o "
         "x.sotto",
         "--recut and -o are both 'x.sotto'");
    runs(2,
         "train class --model a.model --recut x.model --data aux.csv --eps 4 "
         "-o x.sotto",
         "is not for class");
}

static void
test_refused(void **state)
{
    (void)state;
    runs(2, "evaluate a.model --data test.csv --mechanism code.sotto",
         "belongs to --private");
    runs(2, "evaluate a.model --data test.csv --private --mechanism e.sotto",
         "'e.sotto': the mechanism has another encoder");
    runs(2, "predict a.model c.reports", "another mechanism");
    runs(2, "train class --eps 2 -o x.sotto", "--model MODEL is missing");
    runs(2, "train code --model a.model --channel signs --eps 2 -o x.sotto",
         "'a.model': \"signs\" is no channel");
    runs(2, "train class --model a.model --channel flip --eps 2 -o x.sotto",
         "--channel is not for class");
    runs(2, "train class --data test.csv --model a.model --eps 2 -o x.sotto",
         "--data is not for class");
    runs(2, "train pca --data test.csv --model a.model --eps 2 -o x.sotto",
         "--model is not for pca");
}

static int
setup(void **state)
{
    (void)state;
    if (scratch_make() != 0) {
        return -1;
    }
    write_people("aux.csv", 300, 1);
    write_people("people.csv", 2000, 2);
    write_people("test.csv", 600, 3);
    write_codebook();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journey),
        cmocka_unit_test(test_recut),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, setup, scratch_tear_down);
}
