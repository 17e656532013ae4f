/*
 * test_watcher.c: what is damaged in a store that is at work is found, counted
 * and said once.
 */
#include "../store/store_fixture.h"

#include <time.h>

#include "collector/watcher.h"

static char url[600];
static char logged[2000];

static void
take_log(void *context, enum sotto_log_level level, const char *code,
         const char *text)
{
    (void)context;
    (void)level;
    assert_non_null(code);
    (void)strncat(logged, text, sizeof logged - strlen(logged) - 1);
    (void)strncat(logged, "\n", sizeof logged - strlen(logged) - 1);
}

static void
wait_for_looks(struct metrics *metrics, uint64_t looks)
{
    const struct timespec pause = {0, 1000000};
    for (int i = 0; i < 20000 && atomic_load(&metrics->looks) < looks; i++) {
        (void)nanosleep(&pause, NULL);
    }
    assert_true(atomic_load(&metrics->looks) >= looks);
}

/* Flips a bit of the first payload of the file. */
static void
flip_payload(const char *path)
{
    char data[6] = "";
    FILE *file = fopen(path, "r+b");
    long at = 0;
    assert_non_null(file);
    for (; memcmp(data, PAYLOAD_MARK, 6) != 0; at++) {
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        assert_int_equal(fread(data, 1, 6, file), 6);
    }
    assert_int_equal(fseek(file, at - 1, SEEK_SET), 0);
    assert_true(putc('s', file) != EOF);
    assert_int_equal(fclose(file), 0);
}

static void
test_watch(void **state)
{
    struct watcher *watcher = NULL;
    struct metrics metrics;
    (void)state;
    (void)snprintf(url, sizeof url, "sqlite:%s", in_folder("s"));
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    (void)put_many(store, c, 0, 100);
    move_window(store, ALL, 50);
    scrub(store);
    metrics_init(&metrics);
    const struct watcher_options options = {.store = url,
                                            .piece = 4096,
                                            .pause_s = 0,
                                            .round_s = 0.001,
                                            .metrics = &metrics,
                                            .log = take_log};
    MUST(watcher_new(&options, &watcher, &said));
    wait_for_looks(&metrics, 2);
    assert_int_equal(atomic_load(&metrics.damaged_reports), 0);
    assert_int_equal(atomic_load(&metrics.damaged_places), 0);
    assert_string_equal(logged, "");
    watcher_free(watcher);
    store_free(store);
    flip_payload(in_folder("s"));
    store = open_store(url);
    MUST(watcher_new(&options, &watcher, &said));
    uint64_t looks = atomic_load(&metrics.looks);
    wait_for_looks(&metrics, looks + 3);
    assert_int_equal(put_many(store, c, 100, 110), 10); /* it goes on */
    watcher_free(watcher);
    assert_int_equal(atomic_load(&metrics.damaged_reports), 1);
    assert_string_equal(logged, "campaign 1, batch 1: 1 of 100 reports is "
                                "damaged and will be left out\n");
    store_free(store);
    watcher_free(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_watch, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
