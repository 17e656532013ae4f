/*
 * test_ledger_sqlite.c: one person, one campaign, one report: lookups, caps,
 * two programs at once, forks, and failures of every kind.
 */
#include "ledger_fixture.h"

#include <errno.h>
#include <sys/wait.h>

#include "fail_alloc.h"

static uint8_t report[REPORT_SIZE], again[REPORT_SIZE];

/* Flushes are counted, not done: test_ledger_power.c is about them. SQLite
   calls these, too. */
static unsigned flushes;
static bool flush_fails;

int
fsync(int fd)
{
    (void)fd;
    flushes++;
    errno = EIO;
    return flush_fails ? -1 : 0;
}

int
fdatasync(int fd)
{
    return fsync(fd);
}

/* ---- Lookups ------------------------------------------------------------ */

static void
test_replays(void **state)
{
    const char *path = in_folder("l");
    struct sotto_charge charge = fake_charge("ann", "spring", 1, EPS(1000));
    (void)state;
    create(path, "10", NULL);
    struct sotto_ledger *ledger = open_ledger(path);
    flushes = 0;
    assert_int_equal(ask(ledger, &charge, 1, report, NULL), SOTTO_STATUS_OK);
    assert_true(flushes >= 4); /* journal, its name, the file, the deletion */
    flushes = 0;
    assert_int_equal(ask(ledger, &charge, 2, again, NULL), SOTTO_STATUS_OK);
    assert_int_equal(flushes, 1); /* the folder, before it is sent again */
    assert_memory_equal(report, again, REPORT_SIZE);
    sotto_ledger_free(ledger);
    ledger = open_ledger(path); /* and for good */
    assert_int_equal(ask(ledger, &charge, 3, again, NULL), SOTTO_STATUS_OK);
    assert_memory_equal(report, again, REPORT_SIZE);
    sotto_ledger_free(ledger);
    sotto_ledger_free(NULL);
}

static double
spent(struct sotto_ledger *ledger, const char *person, const char *campaign)
{
    struct sotto_ledger_amount spent = {0}, left = {0};
    assert_int_equal(sotto_ledger_balance(ledger, person, strlen(person),
                                          campaign, &spent, &left, NULL),
                     SOTTO_STATUS_OK);
    return spent.eps;
}

static void
test_keys(void **state)
{
    const char *path = in_folder("l");
    const struct sotto_charge charges[] = {
        fake_charge("ann", "spring", 1, EPS(1000)),
        fake_charge("ann", "spring", 2, EPS(1500)), /* a new mechanism */
        fake_charge("ann", "autumn", 1, EPS(2000)),
        fake_charge("bob", "spring", 1, EPS(1000)),
        fake_charge("ann ", "spring", 1, EPS(1000)),
        fake_charge("ann", "Spring", 1, EPS(1000)),
    };
    (void)state;
    create(path, "10", NULL);
    struct sotto_ledger *ledger = open_agreed(path);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(ask(ledger, &charges[i], i, report, NULL),
                         SOTTO_STATUS_OK);
    }
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(ask(ledger, &charges[i], 99, report, NULL),
                         SOTTO_STATUS_OK);
        assert_int_equal(report[REPORT_HEADER_SIZE], i);
    }
    assert_true(spent(ledger, "ann", NULL) == 5.5);
    assert_true(spent(ledger, "ann", "spring") == 2.5);
    assert_true(spent(ledger, "bob", NULL) == 1);
    assert_true(spent(ledger, "eve", NULL) == 0);
    sotto_ledger_free(ledger);
}

static void
test_cancel(void **state)
{
    const char *path = in_folder("l");
    struct sotto_charge charge = fake_charge("ann", "spring", 1, EPS(1000));
    int found = 1;
    (void)state;
    create(path, "1", NULL);
    struct sotto_ledger *ledger = open_ledger(path);
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            port.begin(ledger, &charge, report, REPORT_SIZE, &found, NULL),
            SOTTO_STATUS_OK);
        assert_int_equal(found, 0);
        port.cancel(ledger);
    }
    assert_true(spent(ledger, "ann", NULL) == 0);
    /* Out of turn: nothing begun, and begun twice. */
    fake_report(charge.mechanism, 1, report);
    assert_int_equal(port.commit(ledger, &charge, report, REPORT_SIZE, NULL),
                     SOTTO_STATUS_USAGE);
    port.cancel(ledger);
    assert_int_equal(
        port.begin(ledger, &charge, report, REPORT_SIZE, &found, NULL),
        SOTTO_STATUS_OK);
    assert_int_equal(
        port.begin(ledger, &charge, report, REPORT_SIZE, &found, NULL),
        SOTTO_STATUS_USAGE);
    sotto_ledger_free(ledger); /* with the charge still begun */
    ledger = open_ledger(path);
    assert_true(spent(ledger, "ann", NULL) == 0);
    sotto_ledger_free(ledger);
}

/* ---- Caps --------------------------------------------------------------- */

static void
test_lifetime_cap(void **state)
{
    struct sotto_error err = {0};
    (void)state;
    create(in_folder("l"), "3", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_charge one = fake_charge("ann", "a", 1, EPS(2500));
    struct sotto_charge over = fake_charge("ann", "b", 2, EPS(500) + 1);
    struct sotto_charge exact = fake_charge("ann", "b", 3, EPS(500));
    struct sotto_charge least = fake_charge("ann", "c", 4, 1);
    struct sotto_charge other = fake_charge("bob", "c", 4, EPS(3000));
    assert_int_equal(ask(ledger, &one, 1, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &over, 2, report, &err), SOTTO_STATUS_REFUSED);
    assert_int_equal(err.status, SOTTO_STATUS_REFUSED);
    expect_in(err.message, "epsilon over a lifetime is 3; 2.5 is spent, "
                           "0.500000000001 was asked, 0.5 is left");
    assert_int_equal(ask(ledger, &exact, 3, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &least, 4, report, &err),
                     SOTTO_STATUS_REFUSED);
    assert_int_equal(ask(ledger, &one, 5, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 1); /* replays go on */
    assert_int_equal(ask(ledger, &other, 6, report, &err), SOTTO_STATUS_OK);
    least.eps = UINT64_MAX;
    assert_int_equal(ask(ledger, &least, 7, report, &err),
                     SOTTO_STATUS_REFUSED);
    sotto_ledger_free(ledger);
}

static void
test_campaign_cap(void **state)
{
    struct sotto_error err = {0};
    struct sotto_ledger_amount used = {0}, left = {0};
    (void)state;
    create(in_folder("l"), "10", "2");
    struct sotto_ledger *ledger = open_agreed(in_folder("l"));
    struct sotto_charge first = fake_charge("ann", "a", 1, EPS(1500));
    struct sotto_charge over = fake_charge("ann", "a", 2, EPS(501));
    struct sotto_charge elsewhere = fake_charge("ann", "b", 2, EPS(501));
    assert_int_equal(ask(ledger, &first, 1, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &over, 2, report, &err), SOTTO_STATUS_REFUSED);
    expect_in(err.message, "epsilon in a campaign is 2; 1.5 is spent, 0.501 "
                           "was asked, 0.5 is left");
    assert_int_equal(ask(ledger, &elsewhere, 3, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_ledger_balance(ledger, "ann", 3, "a", &used, &left, &err),
        SOTTO_STATUS_OK);
    assert_string_equal(used.eps_text, "1.5");
    assert_string_equal(left.eps_text, "0.5");
    assert_int_equal(
        sotto_ledger_balance(ledger, "ann", 3, NULL, &used, &left, &err),
        SOTTO_STATUS_OK);
    assert_string_equal(used.eps_text, "2.001");
    assert_string_equal(left.eps_text, "7.999");
    sotto_ledger_caps(ledger, &used, &left);
    assert_string_equal(used.eps_text, "10");
    assert_string_equal(left.eps_text, "2");
    assert_string_equal(left.delta_text, "0.001");
    sotto_ledger_free(ledger);
}

static void
test_delta_cap(void **state)
{
    struct sotto_ledger_caps pure = {"10", NULL, NULL, NULL};
    struct sotto_ledger_caps narrow = {"10", "0.00001", NULL, "0.000001"};
    struct sotto_error err = {0};
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    (void)state;
    charge.delta = 1;
    assert_int_equal(sotto_ledger_create(in_folder("p"), &pure, &err),
                     SOTTO_STATUS_OK);
    struct sotto_ledger *ledger = open_ledger(in_folder("p"));
    assert_int_equal(ask(ledger, &charge, 1, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "delta over a lifetime is 0; 0 is spent, "
                           "0.000000000001 was asked, 0 is left");
    sotto_ledger_free(ledger);
    assert_int_equal(sotto_ledger_create(in_folder("n"), &narrow, &err),
                     SOTTO_STATUS_OK);
    ledger = open_agreed(in_folder("n"));
    charge.delta = 1000000;
    assert_int_equal(ask(ledger, &charge, 1, report, &err), SOTTO_STATUS_OK);
    struct sotto_charge more = fake_charge("ann", "a", 2, EPS(1000));
    more.delta = 1;
    assert_int_equal(ask(ledger, &more, 2, report, &err), SOTTO_STATUS_REFUSED);
    expect_in(err.message, "delta in a campaign is 0.000001; 0.000001 is "
                           "spent");
    sotto_ledger_free(ledger);
}

/* A campaign's second mechanism asks whoever agrees again, and nobody else;
   what was sent is sent again all the same. */
static void
test_second_mechanism(void **state)
{
    struct sotto_error err = {0};
    struct sotto_ledger_amount used = {0}, left = {0};
    struct sotto_charge first = fake_charge("ann", "a", 1, EPS(1000));
    struct sotto_charge second = fake_charge("ann", "a", 2, EPS(500));
    struct sotto_charge dearer = fake_charge("bob", "a", 3, EPS(1001));
    struct sotto_charge cheaper = fake_charge("bob", "a", 2, EPS(500));
    int found = 1;
    (void)state;
    create(in_folder("l"), "10", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    sotto_ledger_caps(ledger, &used, &left);
    assert_string_equal(left.eps_text, "");
    assert_string_equal(left.delta_text, "");
    assert_int_equal(ask(ledger, &first, 1, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &second, 2, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "another mechanism of this campaign");
    expect_in(err.message, "--again");
    assert_int_equal(ask(ledger, &first, 3, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(report[REPORT_HEADER_SIZE], 1);
    /* Somebody else: up to what the campaign's first mechanism costs. */
    assert_int_equal(ask(ledger, &dearer, 4, report, &err),
                     SOTTO_STATUS_REFUSED);
    expect_in(err.message, "what its first mechanism costs");
    expect_in(err.message, "is 1; 0 is spent, 1.001 was asked");
    assert_int_equal(ask(ledger, &cheaper, 5, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(
        sotto_ledger_balance(ledger, "ann", 3, "a", &used, &left, &err),
        SOTTO_STATUS_OK);
    assert_string_equal(used.eps_text, "1");
    assert_string_equal(left.eps_text, "0");
    /* Agreed again, and only as long as that holds; commit looks, too. */
    sotto_ledger_again(ledger, true);
    assert_int_equal(
        port.begin(ledger, &second, report, REPORT_SIZE, &found, &err),
        SOTTO_STATUS_OK);
    sotto_ledger_again(ledger, false);
    fake_report(second.mechanism, 6, report);
    assert_int_equal(port.commit(ledger, &second, report, REPORT_SIZE, &err),
                     SOTTO_STATUS_REFUSED);
    sotto_ledger_again(ledger, true);
    assert_int_equal(ask(ledger, &second, 6, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &dearer, 7, report, &err), SOTTO_STATUS_OK);
    assert_true(spent(ledger, "ann", "a") == 1.5);
    sotto_ledger_free(ledger);
}

/* Commit holds the caps by itself, and takes no id twice. */
static void
test_commit_checks(void **state)
{
    struct sotto_error err = {0};
    int found = 1;
    (void)state;
    create(in_folder("l"), "1", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    struct sotto_charge small = fake_charge("ann", "a", 1, EPS(300));
    struct sotto_charge large = fake_charge("ann", "a", 1, EPS(1001));
    struct sotto_charge next = fake_charge("bob", "a", 1, EPS(300));
    assert_int_equal(
        port.begin(ledger, &small, report, REPORT_SIZE, &found, &err),
        SOTTO_STATUS_OK);
    fake_report(large.mechanism, 1, report);
    assert_int_equal(port.commit(ledger, &large, report, REPORT_SIZE, &err),
                     SOTTO_STATUS_REFUSED);
    assert_int_equal(
        port.begin(ledger, &small, report, REPORT_SIZE, &found, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(port.commit(ledger, &small, report, 20, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(ask(ledger, &small, 7, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(ask(ledger, &next, 7, report, &err), SOTTO_STATUS_IO);
    expect_in(err.message, "charge.id");
    assert_int_equal(ask(ledger, &next, 8, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(/* a report of another mechanism */
                     port.begin(ledger,
                                &(struct sotto_charge){(const uint8_t *)"cy", 2,
                                                       "a", 1, small.mechanism,
                                                       EPS(1), 0},
                                report, REPORT_SIZE, &found, &err),
                     SOTTO_STATUS_OK);
    report[REPORT_MAGIC_SIZE] ^= 1;
    assert_int_equal(
        port.commit(ledger,
                    &(struct sotto_charge){(const uint8_t *)"cy", 2, "a", 1,
                                           small.mechanism, EPS(1), 0},
                    report, REPORT_SIZE, &err),
        SOTTO_STATUS_IO);
    assert_true(spent(ledger, "cy", NULL) == 0);
    sotto_ledger_free(ledger);
}

/* What is kept has another size than the mechanism's reports. */
static void
test_stored_size(void **state)
{
    struct sotto_error err = {0};
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(300));
    int found = 7;
    (void)state;
    create(in_folder("l"), "1", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    assert_int_equal(ask(ledger, &charge, 7, report, &err), SOTTO_STATUS_OK);
    assert_int_equal(
        port.begin(ledger, &charge, report, REPORT_SIZE - 1, &found, &err),
        SOTTO_STATUS_FORMAT);
    assert_int_equal(found, 7);
    expect_in(err.message, "damaged");
    assert_int_equal(ask(ledger, &charge, 7, report, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
}

/* ---- The export --------------------------------------------------------- */

struct seen {
    size_t rows;
    struct sotto_ledger_row last;
    char campaigns[64];
};

static void
see(void *context, const struct sotto_ledger_row *row)
{
    struct seen *seen = context;
    assert_int_equal(row->report_size, REPORT_SIZE);
    assert_memory_equal(row->report, REPORT_MAGIC, REPORT_MAGIC_SIZE);
    assert_true(row->charged_at > 1600000000);
    (void)strncat(seen->campaigns, row->campaign, 8);
    seen->last = *row;
    seen->rows++;
}

static void
test_export(void **state)
{
    struct seen seen = {0};
    struct sotto_error err = {0};
    char name[SOTTO_PERSON_MAX + 1];
    (void)state;
    create(in_folder("l"), "9", NULL);
    struct sotto_ledger *ledger = open_agreed(in_folder("l"));
    struct sotto_charge row[] = {fake_charge("ann", "b", 0xab, EPS(250)),
                                 fake_charge("ann", "a", 2, EPS(1)),
                                 fake_charge("ann", "b", 3, EPS(125)),
                                 fake_charge("bob", "b", 3, EPS(1))};
    row[2].delta = 250000000;
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ask(ledger, &row[i], i, report, NULL),
                         SOTTO_STATUS_OK);
    }
    assert_int_equal(sotto_ledger_export(ledger, "ann", 3, see, &seen, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(seen.rows, 3);
    assert_string_equal(seen.campaigns, "abb");
    assert_string_equal(seen.last.cost.eps_text, "0.125");
    assert_string_equal(seen.last.cost.delta_text, "0.00025");
    assert_true(seen.last.cost.eps == 0.125);
    assert_true(seen.last.cost.delta == 0.00025);
    assert_memory_equal(seen.last.mechanism, "030303", 6);
    assert_int_equal(strlen(seen.last.mechanism), 64);
    assert_string_equal(seen.last.id, "02000000000000000000000000000000");
    assert_int_equal(sotto_ledger_export(ledger, "eve", 3, see, &seen, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(seen.rows, 3);
    memset(name, 'x', sizeof name);
    assert_int_equal(sotto_ledger_export(ledger, name, 0, see, &seen, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(
        sotto_ledger_export(ledger, name, sizeof name, see, &seen, &err),
        SOTTO_STATUS_USAGE);
    sotto_ledger_free(ledger);
}

/* ---- Other programs ----------------------------------------------------- */

static void
test_two_connections(void **state)
{
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    struct sotto_charge other = fake_charge("bob", "a", 1, EPS(1000));
    (void)state;
    create(in_folder("l"), "1", NULL);
    struct sotto_ledger *one = open_ledger(in_folder("l"));
    struct sotto_ledger *two = open_ledger(in_folder("l"));
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(ask(i % 2 ? one : two, &charge, i, report, NULL),
                         SOTTO_STATUS_OK);
        assert_int_equal(report[REPORT_HEADER_SIZE], 0);
    }
    assert_int_equal(ask(one, &other, 9, report, NULL), SOTTO_STATUS_OK);
    assert_true(spent(two, "bob", NULL) == 1);
    sotto_ledger_free(one);
    sotto_ledger_free(two);
}

#define RACERS 4
#define RACES 40

/* Asks 40 people in an order of its own, and hands back what it got. */
static void
race(const char *path, unsigned racer, int to)
{
    uint8_t got[REPORT_SIZE];
    struct sotto_ledger *ledger = NULL;
    if (sotto_ledger_open(path, &ledger, NULL) != SOTTO_STATUS_OK) {
        _exit(1);
    }
    for (unsigned i = 0; i < RACES; i++) {
        unsigned n = (i * 7 + racer * 11) % RACES;
        char name[16];
        (void)snprintf(name, sizeof name, "person %u", n);
        struct sotto_charge charge = fake_charge(name, "a", 1, EPS(1000));
        if (ask(ledger, &charge, 1000 * racer + n, got, NULL) !=
                SOTTO_STATUS_OK ||
            write(to, &n, sizeof n) != sizeof n ||
            write(to, got, sizeof got) != sizeof got) {
            _exit(1);
        }
    }
    sotto_ledger_free(ledger);
    _exit(0);
}

static void
test_race(void **state)
{
    static uint8_t first[RACES][REPORT_SIZE];
    static bool known[RACES];
    int pipes[RACERS][2], status = 0;
    (void)state;
    create(in_folder("l"), "1", NULL);
    for (unsigned r = 0; r < RACERS; r++) {
        assert_int_equal(pipe(pipes[r]), 0);
        if (fork() == 0) {
            race(in_folder("l"), r, pipes[r][1]);
        }
        (void)close(pipes[r][1]);
    }
    for (unsigned r = 0; r < RACERS; r++) {
        uint8_t got[REPORT_SIZE];
        unsigned n = 0;
        while (read(pipes[r][0], &n, sizeof n) == sizeof n) {
            assert_int_equal(read(pipes[r][0], got, sizeof got), sizeof got);
            if (known[n]) {
                assert_memory_equal(got, first[n], sizeof got);
            }
            memcpy(first[n], got, sizeof got);
            known[n] = true;
        }
        (void)close(pipes[r][0]);
    }
    for (unsigned r = 0; r < RACERS; r++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    for (unsigned n = 0; n < RACES; n++) {
        assert_true(known[n]);
    }
}

static void
test_fork(void **state)
{
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    struct sotto_ledger_amount used, left;
    int found = 0, status = 0;
    (void)state;
    create(in_folder("l"), "1", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    assert_int_equal(
        port.begin(ledger, &charge, report, REPORT_SIZE, &found, NULL),
        SOTTO_STATUS_OK);
    fake_report(charge.mechanism, 1, report);
    if (fork() == 0) {
        bool good = port.commit(ledger, &charge, report, REPORT_SIZE, NULL) ==
                        SOTTO_STATUS_USAGE &&
                    port.begin(ledger, &charge, report, REPORT_SIZE, &found,
                               NULL) == SOTTO_STATUS_USAGE &&
                    sotto_ledger_balance(ledger, "ann", 3, NULL, &used, &left,
                                         NULL) == SOTTO_STATUS_USAGE;
        port.cancel(ledger);
        sotto_ledger_free(ledger);
        _exit(good ? 0 : 1);
    }
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    assert_int_equal(port.commit(ledger, &charge, report, REPORT_SIZE, NULL),
                     SOTTO_STATUS_OK);
    assert_true(spent(ledger, "ann", NULL) == 1);
    sotto_ledger_free(ledger);
}

/* ---- Nothing on the disk but what must be ------------------------------- */

static void
test_names_stay_off_the_disk(void **state)
{
    static const char name[] = "Annabella Unmistakable";
    struct sotto_charge charge = fake_charge(name, "a", 1, EPS(1000));
    (void)state;
    create(in_folder("l"), "1", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    int found = 0;
    assert_int_equal(
        port.begin(ledger, &charge, report, REPORT_SIZE, &found, NULL),
        SOTTO_STATUS_OK);
    fake_report(charge.mechanism, 1, report);
    assert_int_equal(port.commit(ledger, &charge, report, REPORT_SIZE, NULL),
                     SOTTO_STATUS_OK);
    char command[256];
    (void)snprintf(command, sizeof command, "grep -a -q -r Annabella '%s'",
                   folder);
    assert_int_not_equal(system(command), 0);
    (void)snprintf(command, sizeof command, "grep -a -q -r spring '%s'",
                   folder);
    struct sotto_charge spring = fake_charge("b", "spring", 1, EPS(1000));
    assert_int_equal(ask(ledger, &spring, 2, report, NULL), SOTTO_STATUS_OK);
    assert_int_equal(system(command), 0); /* grep finds what is there */
    sotto_ledger_free(ledger);
    assert_int_equal(entries(), 3); /* the ledger, its secret and its mark */
}

/* ---- Failures ----------------------------------------------------------- */

/* Nothing is said to be kept, nor found, that could not be flushed. */
static void
test_flush_fails(void **state)
{
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    struct sotto_charge other = fake_charge("bob", "a", 1, EPS(1000));
    struct sotto_ledger *ledger = NULL;
    struct sotto_error err = {0};
    (void)state;
    create(in_folder("l"), "1", NULL);
    flush_fails = true;
    enum sotto_status status = sotto_ledger_open(in_folder("l"), &ledger, &err);
    flush_fails = false;
    assert_int_equal(status, SOTTO_STATUS_IO);
    expect_in(err.message, "cannot flush the folder");
    ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask(ledger, &charge, 1, report, &err), SOTTO_STATUS_OK);
    flush_fails = true;
    status = ask(ledger, &charge, 2, again, &err);
    assert_int_equal(status, SOTTO_STATUS_IO);
    expect_in(err.message, "cannot flush the folder");
    status = ask(ledger, &other, 3, again, &err);
    flush_fails = false;
    assert_int_equal(status, SOTTO_STATUS_IO);
    assert_true(spent(ledger, "bob", NULL) == 0);
    assert_int_equal(ask(ledger, &charge, 4, again, &err), SOTTO_STATUS_OK);
    assert_memory_equal(report, again, REPORT_SIZE);
    assert_int_equal(ask(ledger, &other, 5, again, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
}

/* Everything once; the first status that is not OK. */
static enum sotto_status
whole_story(const char *path)
{
    struct sotto_ledger_caps caps = {"2", NULL, NULL, NULL};
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    struct sotto_ledger_amount used, left;
    struct seen seen = {0};
    struct sotto_ledger *ledger = NULL;
    enum sotto_status status = sotto_ledger_create(path, &caps, NULL);
    if (status == SOTTO_STATUS_OK) {
        status = sotto_ledger_open(path, &ledger, NULL);
    }
    for (unsigned i = 0; i < 2 && status == SOTTO_STATUS_OK; i++) {
        status = ask(ledger, &charge, i, report, NULL);
    }
    if (status == SOTTO_STATUS_OK) {
        status =
            sotto_ledger_balance(ledger, "ann", 3, "a", &used, &left, NULL);
    }
    if (status == SOTTO_STATUS_OK) {
        status = sotto_ledger_export(ledger, "ann", 3, see, &seen, NULL);
        assert_true(status != SOTTO_STATUS_OK || seen.rows == 1);
    }
    sotto_ledger_free(ledger);
    return status;
}

static void
remove_ledger(const char *path)
{
    char name[600];
    (void)unlink(path);
    (void)snprintf(name, sizeof name, "%s.secret", path);
    (void)unlink(name);
    (void)snprintf(name, sizeof name, "%s.mark", path);
    (void)unlink(name);
}

static void
test_allocations_fail(void **state)
{
    const char *path = in_folder("l");
    long failures = 0;
    (void)state;
    for (long n = 1;; n++) {
        fail_alloc_at(n);
        enum sotto_status status = whole_story(path);
        bool done = fail_alloc_count() < n;
        fail_alloc_at(0);
        remove_ledger(path);
        assert_int_equal(entries(), 0);
        if (done) {
            assert_int_equal(status, SOTTO_STATUS_OK);
            break;
        }
        assert_int_equal(status, SOTTO_STATUS_MEMORY);
        failures++;
    }
    assert_true(failures > 3);
}

static sqlite3_mem_methods usual;
static long sqlite_left; /* allocations until one fails, 0: none does */

static void *
failing_malloc(int size)
{
    return sqlite_left > 0 && --sqlite_left == 0 ? NULL : usual.xMalloc(size);
}

static void *
failing_realloc(void *old, int size)
{
    return sqlite_left > 0 && --sqlite_left == 0 ? NULL
                                                 : usual.xRealloc(old, size);
}

/*
 * SQLite may do without some of its allocations, so OK is right too; but
 * whatever it says must be true: a ledger that says it keeps a report has it.
 */
static void
test_sqlite_allocations_fail(void **state)
{
    const char *path = in_folder("l");
    struct sotto_charge charge = fake_charge("ann", "a", 1, EPS(1000));
    long failures = 0, n = 1;
    (void)state;
    sqlite3_mem_methods failing;
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual),
                     SQLITE_OK);
    failing = usual;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    for (bool done = false; !done; n++) {
        struct sotto_ledger *ledger = NULL;
        memset(report, 0, sizeof report);
        sqlite_left = n;
        enum sotto_status status = whole_story(path);
        done = sqlite_left > 0;
        sqlite_left = 0;
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        failures += status != SOTTO_STATUS_OK;
        if (status == SOTTO_STATUS_OK) {
            ledger = open_ledger(path);
            assert_int_equal(ask(ledger, &charge, 5, again, NULL),
                             SOTTO_STATUS_OK);
            assert_memory_equal(again, report, sizeof report);
        }
        sotto_ledger_free(ledger);
        remove_ledger(path);
        assert_int_equal(entries(), 0);
    }
    print_message("of %ld failed allocations of SQLite's, %ld were told\n", n,
                  failures);
    assert_true(failures > 100);
    assert_int_equal(sqlite3_shutdown(), SQLITE_OK);
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &usual), SQLITE_OK);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_replays),
        TEST(test_keys),
        TEST(test_cancel),
        TEST(test_lifetime_cap),
        TEST(test_campaign_cap),
        TEST(test_second_mechanism),
        TEST(test_delta_cap),
        TEST(test_commit_checks),
        TEST(test_stored_size),
        TEST(test_export),
        TEST(test_two_connections),
        TEST(test_race),
        TEST(test_fork),
        TEST(test_names_stay_off_the_disk),
        TEST(test_flush_fails),
        TEST(test_allocations_fail),
        TEST(test_sqlite_allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
