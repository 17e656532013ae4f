#include "store_fixture.h"

static char url[600];

/* A store that is not there yet. */
static void
new_url(const char *name)
{
    (void)snprintf(url, sizeof url, "sqlite:%s", in_folder(name));
}

static void
test_answers(void **state)
{
    unsigned times[100] = {0};
    (void)state;
    new_url("answers");
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    assert_int_equal(put_many(store, c, 0, 50), 50);
    assert_int_equal(put_many(store, c, 0, 50), 0);
    move_window(store, ALL, 60);
    assert_int_equal(put_many(store, c, 0, 50), 0);
    assert_int_equal(read_all(url, 1, 60, 100, times, NULL), 0);
    assert_int_equal(put_many(store, c, 0, 100), 50);
    move_window(store, 7, 60);
    assert_int_equal(put_many(store, c, 0, 100), 0);
    assert_int_equal(read_all(url, 1, 60, 100, times, NULL), 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(times[i], 1);
    }
    scrub(store);
    store_free(store);
    store = open_store(url);
    assert_int_equal(campaign_of(store, 1), c);
    assert_int_equal(put_many(store, c, 0, 100), 0);
    store_free(store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
