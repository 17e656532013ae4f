/*
 * test_sqlite_runs.c: levels of runs: whatever is merged into what, beside the
 * writer, every report is known again; no file has the tags of one window
 * alone; and kills lose nothing.
 *
 * Levels are small here, so that few reports fill all of them.
 */
#include "store/sqlite/sqlite_store.h"
#include "store_file.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define WINDOW 500u
#define WINDOWS 60u
#define MIXED 600u

static struct sqlite_store *
open_own(const char *path)
{
    void *own = NULL;
    uint32_t campaign = 0;
    MUST(store_sqlite.open(path, false, &own, &said));
    MUST(store_sqlite.campaign(own, hash_of(1), "c", PAYLOAD_SIZE, &campaign,
                               &said));
    struct sqlite_store *store = own;
    store->runs.most[0] = 2000;
    store->runs.most[1] = 5000;
    store->runs.most[2] = 12000;
    return store;
}

static size_t
put_window(struct sqlite_store *store, uint64_t first, uint64_t last)
{
    uint8_t report[REPORT_SIZE];
    size_t accepted = 0;
    MUST(store_sqlite.begin(store, &said));
    for (uint64_t i = first; i < last; i++) {
        enum store_answer answer = STORE_DUPLICATE;
        fake_report(1, i, false, report);
        MUST(store_sqlite.put(store, 1, report, &answer, &said));
        accepted += answer == STORE_ACCEPTED;
    }
    MUST(store_sqlite.commit(store, &said));
    return accepted;
}

static void
end_window(struct sqlite_store *store, size_t rows)
{
    bool done = false;
    MUST(store_sqlite.begin(store, &said));
    MUST(store_sqlite.end_window(store, &said));
    MUST(store_sqlite.commit(store, &said));
    while (!done) {
        MUST(store_sqlite.begin(store, &said));
        MUST(store_sqlite.advance(store, rows, 100, &done, &said));
        MUST(store_sqlite.commit(store, &said));
    }
}

static size_t
count_files(const char *path)
{
    char name[700];
    size_t files = 0;
    (void)snprintf(name, sizeof name, "%s-tags", path);
    DIR *all = opendir(name);
    assert_non_null(all);
    for (const struct dirent *e = readdir(all); e != NULL; e = readdir(all)) {
        files += e->d_name[0] != '.';
    }
    (void)closedir(all);
    return files;
}

static size_t
count_named(const struct sqlite_store *store, uint64_t *ret_tags)
{
    size_t named = 0;
    *ret_tags = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct sqlite_run *run[2] = {&store->runs.settled[i],
                                           &store->runs.descending[i]};
        for (size_t j = 0; j < 2; j++) {
            named += run[j]->file != NULL;
            *ret_tags += run[j]->tags;
        }
    }
    return named;
}

/* How many tags of a window a run has. */
static size_t
count_window(const struct sqlite_store *store, const struct sqlite_run *run,
             uint64_t window)
{
    uint8_t report[REPORT_SIZE], tag[TAG_SIZE];
    size_t count = 0;
    for (uint64_t i = window * WINDOW; i < (window + 1) * WINDOW; i++) {
        fake_report(1, i, false, report);
        sqlite_put_tag(store, report, tag);
        count +=
            run->file != NULL && tag_run_find(run->file, 1, tag) == TAG_RUN_YES;
    }
    return count;
}

/* The newest window is mixed with older ones, in whatever file it is: where
   more than 2,000 tags, 500 of them the window's, were divided by a coin, with
   half of the others, 750, from which 600 are more than six deviations away. */
static void
expect_mixed(const struct sqlite_store *store, uint64_t window)
{
    uint64_t all = 0;
    (void)count_named(store, &all);
    for (unsigned i = 0; i < LEVELS; i++) {
        const struct sqlite_run *run[2] = {&store->runs.settled[i],
                                           &store->runs.descending[i]};
        for (size_t j = 0; j < 2; j++) {
            size_t mine = count_window(store, run[j], window);
            uint64_t others = run[j]->tags - mine;
            assert_true(mine == 0 || others >= MIXED ||
                        run[j]->tags + MIXED >= all);
        }
    }
}

/* Window after window, through all levels; everything is known, once, and after
   a start, too. */
static void
test_levels(void **state)
{
    static const size_t rows[] = {ALL, 100, 1};
    (void)state;
    for (size_t r = 0; r < 3; r++) {
        const char *path = new_path();
        struct sqlite_store *store = open_own(path);
        size_t descended = 0, upper = 0;
        uint64_t tags = 0, before = 0, shrank = 0;
        for (uint64_t w = 0; w < WINDOWS; w++) {
            assert_int_equal(put_window(store, w * WINDOW, (w + 1) * WINDOW),
                             WINDOW);
            end_window(store, rows[r]);
            expect_mixed(store, w);
            descended += store->runs.descending[1].file != NULL;
            upper += store->runs.settled[3].file != NULL;
            shrank += store->runs.settled[0].tags < before;
            before = store->runs.settled[0].tags;
            if (w % 10 == 9) {
                assert_int_equal(put_window(store, 0, (w + 1) * WINDOW), 0);
            }
            if (w % 16 == 15) {
                store_sqlite.close(store);
                store = open_own(path);
                assert_int_equal(count_files(path), count_named(store, &tags));
                assert_int_equal(tags, (w + 1) * WINDOW);
            }
        }
        assert_true(descended > 0 && shrank > 0);
        print_message("%zu rows at a time: level 3 had tags after %zu of %u "
                      "windows\n",
                      rows[r], upper, WINDOWS);
        assert_true(upper > 0);
        store_sqlite.close(store);
        assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
    }
}

/* A rollback anywhere undoes what was taken over, and its files go. */
static void
test_rolled_back(void **state)
{
    const char *path = new_path();
    struct sqlite_store *store = open_own(path);
    uint64_t tags = 0;
    bool done = false;
    (void)state;
    for (uint64_t w = 0; w < 20; w++) {
        (void)put_window(store, w * WINDOW, (w + 1) * WINDOW);
        MUST(store_sqlite.begin(store, &said));
        MUST(store_sqlite.end_window(store, &said));
        MUST(store_sqlite.advance(store, w % 2 == 0 ? ALL : 10, 100, &done,
                                  &said));
        store_sqlite.rollback(store);
        assert_int_equal(put_window(store, 0, (w + 1) * WINDOW), 0);
        end_window(store, ALL);
        assert_int_equal(put_window(store, 0, (w + 1) * WINDOW), 0);
    }
    store_sqlite.close(store);
    store = open_own(path);
    assert_int_equal(count_files(path), count_named(store, &tags));
    assert_int_equal(tags, 20 * WINDOW);
    store_sqlite.close(store);
}

/* A file of tags that is gone, another store's or damaged is told of. */
static void
test_files_go(void **state)
{
    void *own = NULL;
    char command[2100];
    const char *path = new_path();
    struct sqlite_store *store = open_own(path);
    (void)state;
    (void)put_window(store, 0, WINDOW);
    end_window(store, ALL);
    store_sqlite.close(store);
    (void)snprintf(command, sizeof command, "mv '%s-tags' '%s-away'", path,
                   path);
    assert_int_equal(system(command), 0);
    assert_int_equal(store_sqlite.open(path, false, &own, &said),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "is not there"));
    assert_true(look_at_all(url).places > 0);
    (void)snprintf(command, sizeof command,
                   "rmdir '%s-tags' && mv '%s-away' '%s-tags'", path, path,
                   path);
    assert_int_equal(system(command), 0);
    store = open_own(path);
    assert_int_equal(put_window(store, 0, WINDOW), 0);
    store_sqlite.close(store);
    /* a new store does not take what belongs to another */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(store_sqlite.open(path, false, &own, &said),
                     SOTTO_STATUS_FORMAT);
    assert_non_null(strstr(said.message, "belongs to a store"));
}

/* ---- Kills --------------------------------------------------------------- */

_Noreturn static void
work(const char *path, int to, uint64_t first, uint64_t random)
{
    struct sqlite_store *store = open_own(path);
    bool done = true;
    for (uint64_t next = first;; next += 50) {
        (void)put_window(store, next, next + 50);
        if (write(to, &next, sizeof next) != sizeof next) {
            _exit(1);
        }
        MUST(store_sqlite.begin(store, &said));
        if (done && next % WINDOW < 50) {
            MUST(store_sqlite.end_window(store, &said));
        }
        MUST(store_sqlite.advance(store, 1 + next_random(&random) % 200, 100,
                                  &done, &said));
        MUST(store_sqlite.commit(store, &said));
    }
}

static void
test_killed(void **state)
{
    const char *path = new_path();
    const char *full = getenv("SOTTO_FULL");
    size_t kills = full != NULL && strcmp(full, "1") == 0 ? 400 : 40;
    uint64_t random = 5, end = 0, told = 0, tags = 0;
    (void)state;
    for (size_t i = 0; i < kills; i++) {
        int ends[2], status = 0;
        struct timespec wait = {0, (long)(next_random(&random) % 3000000)};
        size_t most = next_random(&random) % 40;
        assert_int_equal(pipe(ends), 0);
        pid_t worker = fork();
        assert_true(worker >= 0);
        if (worker == 0) {
            (void)close(ends[0]);
            work(path, ends[1], end, next_random(&random));
        }
        (void)close(ends[1]);
        for (size_t j = 0;
             j < most && read(ends[0], &told, sizeof told) == sizeof told;
             j++) {
            end = told + 50;
        }
        (void)nanosleep(&wait, NULL);
        (void)kill(worker, SIGKILL);
        assert_int_equal(waitpid(worker, &status, 0), worker);
        while (read(ends[0], &told, sizeof told) == sizeof told) {
            end = told + 50;
        }
        (void)close(ends[0]);
    }
    struct sqlite_store *store = open_own(path);
    assert_int_equal(count_files(path), count_named(store, &tags));
    assert_int_equal(put_window(store, 0, end), 0);
    end_window(store, ALL);
    assert_int_equal(put_window(store, 0, end), 0);
    print_message("%zu kills, %zu reports told, runs in %zu files\n", kills,
                  (size_t)end, count_files(path));
    store_sqlite.close(store);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
    assert_true(end > 2000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_rolled_back),
        cmocka_unit_test(test_files_go),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
