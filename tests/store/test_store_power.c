/*
 * test_store_power.c: the power fails at any moment of putting, committing,
 * moving windows, cutting the log and recovering; afterwards every report of
 * which a commit was told is there once.
 *
 * The test must be able to fail: with flushes ignored, as synchronous=OFF
 * would, it does.
 */
#define FILE_MAX (1 << 20) /* a log is longer than what it holds */
#include "power_disk.h"
#include "store_fixture.h"

#define LOSSES 240u
#define EPOCH 10u /* losses until a new disk */
#define OPERATIONS 700u
#define GROUP_MOST 6u
#define NUMBERS 4000u

struct tally {
    size_t losses, commits, told, moved, scrubs, logs, faults;
};

static char url[600];
static uint64_t end; /* reports before it are told of */

/* One commit; OK: told. */
static enum sotto_status
commit_group(struct store *store, uint32_t c, struct tally *tally, bool *done)
{
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    uint64_t next = end + 1 + chance(GROUP_MOST);
    enum sotto_status status = store_begin(store, &said);
    for (uint64_t i = end; i < next && status == SOTTO_STATUS_OK; i++) {
        fake_report(1, i, false, report);
        status = store_put(store, c, report, &answer, &said);
    }
    if (status == SOTTO_STATUS_OK && chance(5) == 0) {
        status = store_end_window(store, &said);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_advance(store, 1 + chance(12), 8, done, &said);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_commit(store, &said);
    } else {
        store_rollback(store);
    }
    if (status == SOTTO_STATUS_OK) {
        tally->told += next - end;
        tally->commits++;
        end = next;
    }
    return status;
}

static void
put_until_dark(struct tally *tally)
{
    struct store *store = NULL;
    uint32_t c = 0;
    bool done = true, was_done = true;
    power.left = 1 + (long)chance(OPERATIONS);
    enum sotto_status status = store_open(url, false, &store, &said);
    if (status == SOTTO_STATUS_OK) {
        status =
            store_campaign(store, hash_of(1), "t", PAYLOAD_SIZE, &c, &said);
    }
    for (size_t i = 0; !power.dark && i < 60; i++) {
        if (status == SOTTO_STATUS_OK) {
            status = commit_group(store, c, tally, &done);
        }
        if (status == SOTTO_STATUS_OK && done && (!was_done || i % 8 == 0)) {
            tally->moved += !was_done;
            tally->scrubs++;
            status = store_scrub(store, &was_done, &said);
        }
        was_done = done;
        if (status != SOTTO_STATUS_OK && !power.dark) {
            tally->faults++; /* it must go on */
            break;
        }
    }
    power.dark = true;
    store_free(store);
}

/* What is wrong after the power came back: told and gone, or twice. */
static size_t
count_faults(void)
{
    struct store *store = NULL;
    struct store_counts counts = {0};
    uint8_t report[REPORT_SIZE];
    enum store_answer answer = STORE_ACCEPTED;
    uint32_t c = 0;
    size_t faults = 0, more = 0;
    if (store_open(url, false, &store, &said) != SOTTO_STATUS_OK) {
        return 1;
    }
    enum sotto_status status =
        store_campaign(store, hash_of(1), "t", PAYLOAD_SIZE, &c, &said);
    if (status == SOTTO_STATUS_OK) {
        status = store_count(store, c, &counts, &said);
    }
    if (status == SOTTO_STATUS_OK) {
        status = store_begin(store, &said);
    }
    for (uint64_t i = 0; i < end + GROUP_MOST && status == SOTTO_STATUS_OK;
         i++) {
        fake_report(1, i, false, report);
        status = store_put(store, c, report, &answer, &said);
        faults += i < end && answer != STORE_DUPLICATE;
        more += i >= end && answer == STORE_DUPLICATE;
    }
    faults += status != SOTTO_STATUS_OK;
    faults += counts.waiting + counts.released != end + more;
    store_free(store); /* rolls back */
    end += more;       /* they are there, though nobody was told */
    return faults;
}

/* Releases all, and looks at every report. One that is left alone is held: a
   batch has two at least. */
static size_t
count_released(void)
{
    static unsigned times[NUMBERS];
    struct store *store = open_store(url);
    struct store_counts counts = {0};
    uint32_t c = 0;
    size_t faults = 0, gone = 0;
    bool done = false;
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, ALL, 8, &done, &said));
        MUST(store_commit(store, &said));
    }
    move_window(store, ALL, 2);
    scrub(store);
    MUST(store_campaign(store, hash_of(1), "t", PAYLOAD_SIZE, &c, &said));
    MUST(store_count(store, c, &counts, &said));
    store_free(store);
    memset(times, 0, sizeof times);
    assert_true(end < NUMBERS);
    faults += read_all(url, 1, 2, NUMBERS, times, NULL) != counts.released;
    for (uint64_t i = 0; i < end; i++) {
        faults += times[i] > 1;
        gone += times[i] == 0;
    }
    return faults + (counts.waiting > 1) + (gone != counts.waiting);
}

static struct tally
lose_power(enum power_lie lie, size_t losses, const uint8_t *image, size_t size)
{
    struct tally tally = {0};
    size_t faults = 1;
    char log[700];
    (void)snprintf(log, sizeof log, "%s-wal", url + strlen("sqlite:"));
    power.lie = lie;
    power.random = 1;
    for (; tally.losses < losses; tally.losses++) {
        if (tally.losses % EPOCH == 0 || faults > 0) {
            if (tally.losses > 0 && faults == 0) {
                tally.faults += count_released();
            }
            end = 0;
            power_load(url + strlen("sqlite:"), image, size);
        }
        size_t before = tally.faults;
        put_until_dark(&tally);
        power_restore();
        tally.logs += entry_of(log)->now != NULL;
        faults = count_faults() + tally.faults - before;
        tally.faults = before + faults;
    }
    print_message("%zu power losses: %zu commits of %zu reports told, %zu "
                  "windows moved, %zu scrubs, %zu logs found, %zu faults\n",
                  tally.losses, tally.commits, tally.told, tally.moved,
                  tally.scrubs, tally.logs, tally.faults);
    power_clear();
    return tally;
}

static void
test_power(void **state)
{
    static uint8_t image[FILE_MAX];
    const char *path = in_folder("p");
    (void)state;
    (void)snprintf(url, sizeof url, "sqlite:%s", path);
    store_free(open_store(url));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(image, 1, sizeof image, file);
    (void)fclose(file);
    power_register();
    struct tally tally = lose_power(POWER_HONEST, LOSSES, image, size);
    print_message("  it failed: %zu in a write, %zu in a flush, %zu in a "
                  "deletion, %zu in a creation\n",
                  power.at_write, power.at_flush, power.at_delete,
                  power.at_open);
    assert_int_equal(tally.faults, 0);
    assert_true(tally.commits > LOSSES && tally.moved > LOSSES / 8);
    assert_true(tally.logs > LOSSES / 2);
    assert_true(power.at_write > 50 && power.at_flush > 10);
    tally = lose_power(POWER_NO_FLUSH, LOSSES / 4, image, size);
    assert_true(tally.faults > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
