/*
 * test_experiment_base.c: epsilons as text, seeds, hashes, folders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/experiment.h"
#include "scratch.h"

static void
test_eps(void **state)
{
    static const struct {
        double eps;
        const char *text;
    } rows[] = {{10, "10"},
                {0.5, "0.5"},
                {0.1, "0.1"},
                {0.000001, "0.000001"},
                {32, "32"},
                {INFINITY, "none"},
                {1.0 / 3, "0.333333333333"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[EXPERIMENT_EPS_SIZE];
        experiment_eps_text(rows[i].eps, text);
        assert_string_equal(text, rows[i].text);
    }
}

/* Whatever differs, another seed; the same again, the same. */
static void
test_seed(void **state)
{
    uint64_t seed[] = {
        experiment_seed("noise", 1, 1, 1, 1),
        experiment_seed("fit", 1, 1, 1, 1),
        experiment_seed("noise", 2, 1, 1, 1),
        experiment_seed("noise", 1, 2, 1, 1),
        experiment_seed("noise", 1, 1, 2, 1),
        experiment_seed("noise", 1, 1, 1, 2),
        experiment_seed("noise", 1, 1, 1, INFINITY),
    };
    (void)state;
    for (size_t i = 0; i < sizeof seed / sizeof *seed; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_true(seed[i] != seed[j]);
        }
    }
    assert_true(seed[0] == experiment_seed("noise", 1, 1, 1, 1));
}

static void
test_hash(void **state)
{
    char hash[EXPERIMENT_HASH_SIZE];
    (void)state;
    experiment_hash("abc", 3, hash); /* FIPS 180-4's own example */
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223"
                              "b00361a396177a9cb410ff61f20015ad");
}

static void
test_lock(void **state)
{
    struct sotto_error err;
    int lock = -1, second = -1;
    char *made = NULL;
    (void)state;
    assert_int_equal(scratch_make(), 0);
    assert_int_equal(experiment_folder(in_folder("x/y"), &made, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(experiment_lock(made, &lock, &err), SOTTO_STATUS_OK);
    assert_int_equal(experiment_lock(made, &second, &err), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "another experiment"));
    assert_int_equal(second, -1);
    assert_int_equal(close(lock), 0);
    assert_int_equal(experiment_lock(made, &second, &err), SOTTO_STATUS_OK);
    assert_int_equal(close(second), 0);
    free(made);
    assert_int_equal(experiment_lock("/nowhere", &lock, &err), SOTTO_STATUS_IO);
    assert_non_null(strstr(err.message, "/nowhere"));
    /* without a name, in the cache */
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    assert_int_equal(experiment_folder(NULL, &made, &err), SOTTO_STATUS_OK);
    assert_string_equal(made, in_folder("sotto/experiments"));
    assert_int_equal(access(made, F_OK), 0);
    free(made);
    assert_int_equal(scratch_remove(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eps),
        cmocka_unit_test(test_seed),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
