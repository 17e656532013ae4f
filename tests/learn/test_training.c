/*
 * test_training.c: sotto_train hands a codebook the choice of its codes.
 */
#include "encoder/learnt_fixture.h"

/* k and channel are found where nobody says them. */
static void
test_chosen(void **state)
{
    static const struct sotto_setting set[] = {
        {"d", "3"}, {"hidden", "8"}, {"epochs", "1"}, {"people", "50"}};
    struct sotto_table *table = people(100);
    struct sotto_train_options options = {
        .eps = "4", .label = "kind", .threads = 1, .set = set, .sets = 4};
    struct sotto_train_facts facts;
    struct sotto_mechanism *mechanism = NULL;
    (void)state;
    must(sotto_train(table, "codebook", &options, NULL, NULL, &facts,
                     &mechanism, &err));
    assert_true(sotto_train_fact(&facts, "people") == 50);
    assert_true(sotto_train_fact(&facts, "k") >= 2);
    assert_true(sotto_train_fact(&facts, "k_classes") == 2);
    assert_true(sotto_train_fact(&facts, "k_information") > 2);
    assert_non_null(strstr(facts.said, "As many as 100 auxiliary records"));
    assert_non_null(strstr(facts.said, "reports of 50 people"));
    assert_null(strstr(facts.said, "%"));
    assert_int_equal(entries(), 0);
    sotto_mechanism_free(mechanism);
    sotto_table_free(table);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_chosen, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
