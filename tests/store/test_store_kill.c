/*
 * test_store_kill.c: a writer puts reports, tells of each commit, moves windows
 * on, and is killed at random moments; the next one goes on, and sends again
 * what it was not told of.
 *
 * At the end every report of which a commit was told is in the store exactly
 * once, waiting or released, and nothing else is in it but reports that were
 * under way when a writer died.
 *
 * 40 kills; with SOTTO_FULL=1, or a number as argument, more.
 */
#include "store_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define NUMBERS 400000u
#define GROUP_MOST 64u
#define BATCH_MIN 50u

static size_t kills = 40;
static char url[600];
static bool told[NUMBERS];

/* Reports `first` to `end` - 1 are on disk. */
struct message {
    uint32_t first, end;
    uint32_t accepted, failed;
};

/* ---- A writer ------------------------------------------------------------ */

/* Puts a group; half of the time some of it was put before. */
static void
put_group(struct store *store, uint32_t c, uint64_t *random,
          struct message *message)
{
    message->accepted = 0;
    for (uint64_t i = message->first; i < message->end; i++) {
        message->accepted += put(store, c, 1, i) == STORE_ACCEPTED;
    }
    for (size_t i = 0; i < 3 && message->first > 0; i++) {
        message->failed +=
            put(store, c, 1, next_random(random) % message->first) !=
            STORE_DUPLICATE;
    }
}

/* All before `first` are stored. */
_Noreturn static void
work(int to, uint32_t first, uint64_t random)
{
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    struct message message = {first, first, 0, 0};
    bool done = true, was_done = true;
    for (;;) {
        message.first = message.end;
        message.end += 1 + (uint32_t)(next_random(&random) % GROUP_MOST);
        message.end = message.end < NUMBERS ? message.end : NUMBERS;
        MUST(store_begin(store, &said));
        put_group(store, c, &random, &message);
        if (next_random(&random) % 8 == 0) {
            MUST(store_end_window(store, &said));
        }
        MUST(store_advance(store, 1 + next_random(&random) % 60, BATCH_MIN,
                           &done, &said));
        MUST(store_commit(store, &said));
        if (write(to, &message, sizeof message) != sizeof message) {
            _exit(1);
        }
        if (done && !was_done) {
            MUST(store_scrub(store, &was_done, &said));
        }
        was_done = done;
    }
}

/* ---- Its killer ---------------------------------------------------------- */

struct tally {
    size_t messages, again, logs;
    uint32_t end; /* reports before it are told of */
};

static void
take(const struct message *message, struct tally *tally)
{
    assert_int_equal(message->first, tally->end);
    assert_int_equal(message->failed, 0);
    for (uint32_t i = message->first; i < message->end; i++) {
        told[i] = true;
    }
    tally->messages++;
    tally->again += message->end - message->first - message->accepted;
    tally->end = message->end;
}

static void
live_and_die(size_t most, unsigned microseconds, uint64_t seed,
             struct tally *tally)
{
    struct message message;
    struct timespec wait = {0, 1000L * microseconds};
    char name[700];
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t worker = fork();
    assert_true(worker >= 0);
    if (worker == 0) {
        (void)close(ends[0]);
        work(ends[1], tally->end, seed);
    }
    (void)close(ends[1]);
    for (size_t i = 0;
         i < most && read(ends[0], &message, sizeof message) == sizeof message;
         i++) {
        take(&message, tally);
    }
    (void)nanosleep(&wait, NULL);
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    while (read(ends[0], &message, sizeof message) == sizeof message) {
        take(&message, tally);
    }
    (void)close(ends[0]);
    (void)snprintf(name, sizeof name, "%s-wal", url + strlen("sqlite:"));
    tally->logs += access(name, F_OK) == 0;
}

/* Releases everything and counts. */
static void
count_all(const struct tally *tally, struct store_counts before)
{
    static unsigned times[NUMBERS];
    size_t missing = 0, twice = 0, untold = 0;
    size_t released = read_all(url, 1, 2, NUMBERS, times, NULL);
    for (size_t i = 0; i < NUMBERS; i++) {
        missing += told[i] && times[i] == 0;
        twice += times[i] > 1;
        untold += !told[i] && times[i] > 0;
    }
    print_message("%zu kills, %zu of them left a log; %zu commits of %u "
                  "reports told, %zu were stored before they were told; %zu "
                  "waited, %zu in %zu batches; %zu in all: %zu missing, %zu "
                  "twice, %zu never told\n",
                  kills, tally->logs, tally->messages, tally->end, tally->again,
                  (size_t)before.waiting, (size_t)before.released,
                  (size_t)before.batches, released, missing, twice, untold);
    assert_int_equal(missing, 0);
    assert_int_equal(twice, 0);
    assert_true(untold <= GROUP_MOST);
    assert_int_equal(released, tally->end + untold);
}

static void
test_kill(void **state)
{
    uint64_t random = 20261115;
    struct tally tally = {0};
    (void)state;
    (void)snprintf(url, sizeof url, "sqlite:%s", in_folder("killed"));
    for (size_t i = 0; i < kills && tally.end < NUMBERS - GROUP_MOST; i++) {
        live_and_die(next_random(&random) % 60,
                     (unsigned)(next_random(&random) % 3000),
                     next_random(&random), &tally);
    }
    struct store *store = open_store(url);
    uint32_t c = campaign_of(store, 1);
    struct store_counts before = counts_of(store, c);
    assert_true(before.waiting + before.released >= tally.end);
    bool done = false;
    while (!done) {
        MUST(store_begin(store, &said));
        MUST(store_advance(store, 100, BATCH_MIN, &done, &said));
        MUST(store_commit(store, &said));
    }
    move_window(store, 1000, 2);
    scrub(store);
    store_free(store);
    count_all(&tally, before);
    assert_true(tally.logs > kills / 2);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill, setup, teardown),
    };
    const char *full = getenv("SOTTO_FULL");
    if (full != NULL && strcmp(full, "1") == 0) {
        kills = 400;
    }
    if (argc == 2) {
        kills = strtoul(argv[1], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
