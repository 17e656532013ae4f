/*
 * test_registry.c: every channel has a likelihood, and only those.
 */
#include "likelihood_fixture.h"

static void
test_every_channel_has_a_likelihood(void **state)
{
    (void)state;
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        const struct likelihood *found =
            likelihood_find(channel_exact[i]->name);
        assert_non_null(found);
        assert_string_equal(found->name, channel_exact[i]->name);
    }
    assert_null(likelihood_find(""));
    assert_null(likelihood_find("fli"));
}

static void
test_a_channel_without_one_is_refused(void **state)
{
    struct channel nameless = *channel_find(channel_exact, "flip", 4);
    (void)state;
    set_up("flip", 3, 0, DECIMAL_UNIT);
    nameless.name = "nameless";
    instance.channel = &nameless;
    memset(&at, 0x5a, sizeof at);
    assert_int_equal(likelihood_init(&at, &instance), SOTTO_STATUS_USAGE);
    assert_int_equal(at.values, 0x5a5a5a5a);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_channel_has_a_likelihood),
        cmocka_unit_test(test_a_channel_without_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
