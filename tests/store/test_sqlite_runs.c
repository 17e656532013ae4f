/*
 * test_sqlite_runs.c: levels of runs: whatever is merged into what, beside the
 * writer, every report is known again; no file has the tags of one window
 * alone; and kills lose nothing.
 *
 * Levels are small here, so that few reports fill all of them.
 */
#include "bad_sector.h"
#include "store/sqlite/sqlite_runs.h"
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
    for (uint8_t i = 1; i < 3; i++) {
        MUST(store_sqlite.campaign(own, hash_of(i), "c", PAYLOAD_SIZE,
                                   &campaign, &said));
        assert_int_equal(campaign, i);
    }
    struct sqlite_store *store = own;
    store->runs.most[0] = 2000;
    store->runs.most[1] = 5000;
    store->runs.most[2] = 12000;
    return store;
}

static size_t
put_reports(struct sqlite_store *store, uint8_t campaign, uint64_t first,
            uint64_t last)
{
    uint8_t report[REPORT_SIZE];
    size_t accepted = 0;
    MUST(store_sqlite.begin(store, &said));
    for (uint64_t i = first; i < last; i++) {
        enum store_answer answer = STORE_DUPLICATE;
        fake_report(campaign, i, false, report);
        MUST(store_sqlite.put(store, campaign, report, &answer, &said));
        accepted += answer == STORE_ACCEPTED;
    }
    MUST(store_sqlite.commit(store, &said));
    return accepted;
}

static size_t
put_window(struct sqlite_store *store, uint64_t first, uint64_t last)
{
    return put_reports(store, 1, first, last);
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
             uint8_t campaign, uint64_t window)
{
    uint8_t report[REPORT_SIZE], tag[TAG_SIZE];
    size_t count = 0;
    for (uint64_t i = window * WINDOW; i < (window + 1) * WINDOW; i++) {
        fake_report(campaign, i, false, report);
        sqlite_put_tag(store, report, tag);
        count += run->file != NULL &&
                 tag_run_find(run->file, campaign, tag) == TAG_RUN_YES;
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
            size_t mine = count_window(store, run[j], 1, window);
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

/* Waits until all filters are in memory. */
static void
wait_for_filters(struct sqlite_store *store)
{
    const struct timespec pause = {0, 1000000};
    bool whole = false;
    for (int i = 0; i < 10000 && !whole; i++) {
        whole = true;
        MUST(store_sqlite.begin(store, &said));
        MUST(store_sqlite.commit(store, &said));
        for (unsigned l = 0; l < LEVELS; l++) {
            const struct tag_run *run[2] = {store->runs.settled[l].file,
                                            store->runs.descending[l].file};
            for (size_t j = 0; j < 2; j++) {
                whole = whole && (run[j] == NULL || store->job[l] != NULL ||
                                  tag_filter_is_whole(run[j]));
            }
        }
        (void)nanosleep(&pause, NULL);
    }
    assert_true(whole);
}

/* Filters are read again after a start; what was merged has its own at once. */
static void
test_filters(void **state)
{
    const char *path = new_path();
    struct sqlite_store *store = open_own(path);
    (void)state;
    for (uint64_t w = 0; w < WINDOWS; w++) {
        (void)put_window(store, w * WINDOW, (w + 1) * WINDOW);
        end_window(store, ALL);
        assert_true(tag_filter_is_whole(store->runs.settled[0].file));
    }
    store_sqlite.close(store);
    store = open_own(path);
    assert_int_equal(put_window(store, 0, 2 * WINDOW), 0);
    wait_for_filters(store);
    assert_int_equal(put_window(store, 0, WINDOWS * WINDOW), 0);
    assert_int_equal(
        put_window(store, WINDOWS * WINDOW, (WINDOWS + 1) * WINDOW), WINDOW);
    store_sqlite.close(store);
}

/* ---- Forgetting ---------------------------------------------------------- */

/* After a campaign was forgotten, level 0 has tags of the other's windows in
   equal shares, however old they are, and the next window is mixed with them:
   not just with the few of the other's that level 0 had. */
static void
test_forgotten(void **state)
{
    const char *path = new_path();
    struct store_counts counts;
    uint64_t tags = 0, old = 20;
    (void)state;
    struct sqlite_store *store = open_own(path);
    for (uint64_t w = 0; w < old; w++) {
        (void)put_reports(store, 2, w * WINDOW, (w + 1) * WINDOW);
        end_window(store, ALL);
    }
    for (uint64_t w = 0; w < WINDOWS; w++) {
        (void)put_reports(store, 1, w * WINDOW, (w + 1) * WINDOW);
        end_window(store, ALL);
    }
    MUST(store_sqlite.forget(store, hash_of(1), &counts, &said));
    assert_int_equal(count_files(path), count_named(store, &tags));
    assert_int_equal(tags, old * WINDOW);
    assert_true(store->runs.settled[0].tags > 800 &&
                store->runs.settled[0].tags < 1200);
    for (uint64_t w = 0; w < old; w++) {
        size_t here = count_window(store, &store->runs.settled[0], 2, w);
        assert_true(here > 10 && here < 100); /* 50, deviation 7 */
    }
    assert_int_equal(put_reports(store, 2, 0, old * WINDOW), 0);
    (void)put_reports(store, 2, old * WINDOW, (old + 1) * WINDOW);
    end_window(store, ALL);
    assert_true(store->runs.settled[0].tags >= WINDOW + 800);
    assert_int_equal(count_window(store, &store->runs.settled[0], 2, old),
                     WINDOW);
    store_sqlite.close(store);
    assert_int_equal(look_at_all(url).places + look_at_all(url).reports, 0);
}

/* What is left may be few: then level 0 has them all. */
static void
test_few_left(void **state)
{
    const char *path = new_path();
    struct store_counts counts;
    uint64_t tags = 0;
    (void)state;
    struct sqlite_store *store = open_own(path);
    (void)put_reports(store, 2, 0, 300);
    end_window(store, ALL);
    for (uint64_t w = 0; w < WINDOWS; w++) {
        (void)put_reports(store, 1, w * WINDOW, (w + 1) * WINDOW);
        end_window(store, ALL);
    }
    MUST(store_sqlite.forget(store, hash_of(1), &counts, &said));
    assert_int_equal(count_named(store, &tags), 1);
    assert_int_equal(store->runs.settled[0].tags, 300);
    assert_int_equal(put_reports(store, 2, 0, 300), 0);
    MUST(store_sqlite.forget(store, hash_of(2), &counts, &said));
    assert_int_equal(count_named(store, &tags), 0);
    assert_int_equal(count_files(path), 0);
    store_sqlite.close(store);
}

/* ---- Failures ------------------------------------------------------------ */

/* A transaction in which nothing is put. */
static void
tend(struct sqlite_store *store)
{
    const struct timespec pause = {0, 2000000};
    bool done = false;
    MUST(store_sqlite.begin(store, &said));
    MUST(store_sqlite.advance(store, 1, 100, &done, &said));
    MUST(store_sqlite.commit(store, &said));
    (void)nanosleep(&pause, NULL);
}

/* A merge that the disk does not take is tried again later, and until then all
   is known. */
static void
test_disk_refuses(void **state)
{
    const char *path = new_path();
    uint64_t w = 0, tags = 0;
    (void)state;
    struct sqlite_store *store = open_own(path);
    while (store->runs.settled[1].file == NULL ||
           store->runs.descending[1].file == NULL) {
        assert_true(w < WINDOWS);
        (void)put_window(store, w * WINDOW, (w + 1) * WINDOW);
        end_window(store, ALL);
        w++;
    }
    sqlite_runs_drop(store, 1); /* it may have begun */
    bad_sector_writes();
    for (int i = 0; i < 1000 && store->resting[1] == 0; i++) {
        tend(store);
    }
    bad_sector_none();
    assert_true(store->resting[1] > 0);
    assert_null(store->job[1]);
    assert_non_null(store->runs.descending[1].file);
    assert_int_equal(count_files(path), count_named(store, &tags));
    assert_int_equal(tags, w * WINDOW);
    assert_int_equal(put_window(store, 0, w * WINDOW), 0);
    store->resting[1] = 0;
    for (int i = 0; i < 1000 && store->runs.descending[1].file != NULL; i++) {
        tend(store);
    }
    assert_null(store->runs.descending[1].file);
    assert_int_equal(put_window(store, 0, w * WINDOW), 0);
    store_sqlite.close(store);
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
        assert_true(w > 0 || count_files(path) == 0);
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
        cmocka_unit_test(test_levels),       cmocka_unit_test(test_rolled_back),
        cmocka_unit_test(test_files_go),     cmocka_unit_test(test_filters),
        cmocka_unit_test(test_forgotten),    cmocka_unit_test(test_few_left),
        cmocka_unit_test(test_disk_refuses), cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
