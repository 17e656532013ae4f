/*
 * test_registry.c: experiments and their mechanisms by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "experiment/data_set.h"
#include "experiment/study.h"

static void
test_names(void **state)
{
    const char *about = "";
    (void)state;
    assert_string_equal(sotto_experiment_at(0, &about), "mnist-collection");
    assert_non_null(strstr(about, "Mechanisms: vlm"));
    assert_string_equal(sotto_experiment_mechanism_at("mnist-collection", 0),
                        "vlm");
    assert_null(sotto_experiment_mechanism_at("mnist-collection", 19));
    assert_string_equal(sotto_experiment_mechanism_at("mnist-collection", 12),
                        "privunit2");
    assert_null(sotto_experiment_mechanism_at("mnist", 0));
    assert_string_equal(sotto_experiment_at(1, &about), "mnist-novel");
    assert_string_equal(sotto_experiment_at(2, &about), "mnist-private");
    assert_string_equal(sotto_experiment_at(3, &about), "task-theory");
    assert_string_equal(sotto_experiment_at(7, &about), "task-mnist");
    assert_string_equal(sotto_experiment_at(8, &about), "eq13");
    assert_null(sotto_experiment_at(9, &about));
}

/* Panels and gains name methods that are there, each of which says what it is;
   and an unsound one says so by its name. */
static void
check_study(const struct experiment *experiment)
{
    const struct study *study = experiment->study;
    size_t count = 0;
    assert_true(study->open != NULL && study->measure != NULL);
    for (const struct experiment_mechanism *at = experiment->mechanisms;
         at->name != NULL; at++) {
        bool unsound = (at->how & STUDY_UNSOUND) != 0;
        assert_true((strncmp(at->name, "unsound", 7) == 0) == unsound);
        assert_non_null(at->beside);
        count++;
    }
    assert_true(count <= STUDY_METHODS_MOST);
    for (const struct study_panel *at = study->panels; at->x != NULL; at++) {
        size_t has = 0;
        for (size_t i = 0; i < count; i++) {
            has += study_has(at, experiment->mechanisms[i].name);
        }
        for (const char *word = at->methods; word != NULL && *word != '\0';
             word += strcspn(word, " "), word += strspn(word, " ")) {
            assert_true(has-- > 0); /* as many words as were found */
        }
        assert_true(at->methods == NULL || has == 0);
    }
    for (const struct study_gain *at = study->gains;
         at != NULL && at->method != NULL; at++) {
        assert_non_null(experiment_mechanism_find(experiment, at->method));
        assert_non_null(experiment_mechanism_find(experiment, at->over));
    }
}

/* Every mechanism of every row has settings in its data set, and a row's texts
   are there. */
static void
test_rows(void **state)
{
    const char *name, *about;
    (void)state;
    for (size_t i = 0; (name = sotto_experiment_at(i, &about)) != NULL; i++) {
        const struct experiment *experiment = experiment_find(name);
        assert_string_equal(experiment->name, name);
        assert_true(strlen(experiment->about) > 80 && strlen(about) > 80);
        assert_true(experiment->aux_share <= experiment->aux_share_most);
        assert_true((experiment->study != NULL) == (experiment->data == NULL));
        if (experiment->study != NULL) {
            check_study(experiment);
        } else {
            assert_non_null(experiment->data->read);
        }
        assert_ptr_equal(
            experiment_mechanism_find(experiment, experiment->mechanisms->name),
            experiment->mechanisms);
        assert_null(experiment_mechanism_find(experiment, "other"));
    }
    assert_null(experiment_find("mnist"));
}

/* What there is, is listed. */
static void
test_refused(void **state)
{
    struct sotto_error err;
    (void)state;
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(experiment_fail_name(NULL, "x", &err), SOTTO_STATUS_USAGE);
    assert_string_equal(err.message,
                        "no experiment is called 'x': there is "
                        "mnist-collection, mnist-novel, mnist-private, "
                        "task-theory, task-power, task-realestate, "
                        "task-cancer, task-mnist, eq13");
    assert_int_equal(experiment_fail_name(&experiment_mnist_private, "y", &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.message, "mnist-private has no mechanism 'y': it "
                                     "has codebook, class-flip, vlm");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
