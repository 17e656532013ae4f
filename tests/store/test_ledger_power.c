/*
 * test_ledger_power.c: the power fails at any moment of asking, committing and
 * recovering, again and again; afterwards the ledger still has every report
 * that came out, and says the same when asked again.
 *
 * The test must be able to fail: with flushes ignored, as synchronous=OFF
 * would, and with the folder's flush ignored, as synchronous=FULL would, it
 * does.
 */
#include "power_disk.h"
#include "witness.h"

#define PEOPLE 40u
#define LOSSES 1000u
#define EPOCH 20u /* losses until a new disk: an old ledger is full */
#define OPERATIONS 260u

/* Of PATH.mark, which is on a real disk; SQLite's files are on another. */
int
fdatasync(int fd)
{
    (void)fd;
    return 0;
}

struct tally {
    size_t losses, epochs, asked, released, refused, recovered, faults;
};

static struct witness witness;
static uint8_t *first_mark; /* that the ledger was made with */
static size_t first_mark_size;

static void
new_epoch(const uint8_t *image, size_t size)
{
    witness_clear(&witness);
    witness_new(&witness, PEOPLE, REPORT_SIZE);
    for (size_t q = 0; q < QUESTIONS; q++) {
        memset(witness.mechanism[q], (int)q + 1, SOTTO_HASH_SIZE);
    }
    power_load(in_folder("l"), image, size);
    spill(in_folder("l.mark"), first_mark, first_mark_size);
}

/* Asks people at random until the power fails. */
static void
ask_until_dark(struct tally *tally)
{
    static unsigned salt;
    struct sotto_ledger *ledger = NULL;
    struct sotto_error err = {0};
    power.left = 1 + (long)chance(OPERATIONS);
    enum sotto_status status = sotto_ledger_open(in_folder("l"), &ledger, &err);
    if (status == SOTTO_STATUS_OK) {
        sotto_ledger_again(ledger, true);
    }
    for (size_t i = 0; !power.dark && i < 400; i++) {
        uint8_t report[REPORT_SIZE];
        char name[32];
        size_t person = chance(PEOPLE), q = chance(QUESTIONS);
        if (status != SOTTO_STATUS_OK) {
            tally->faults++; /* it must open, and go on */
            break;
        }
        (void)witness_name(person, name);
        struct sotto_charge charge = fake_charge(name, campaign_name[q / 3],
                                                 (uint8_t)(q + 1), EPS(1000));
        status = ask(ledger, &charge, ++salt, report, &err);
        tally->asked++;
        if (status == SOTTO_STATUS_OK) {
            witness_see(&witness, person, q, report);
        } else if (status == SOTTO_STATUS_REFUSED) {
            tally->refused++;
            status = SOTTO_STATUS_OK;
        }
    }
    power.dark = true;
    sotto_ledger_free(ledger);
}

/* What is wrong after the power came back. */
static size_t
count_faults(void)
{
    struct sotto_ledger *ledger = NULL;
    size_t rows = 0, faults = witness.different;
    if (sotto_ledger_open(in_folder("l"), &ledger, NULL) != SOTTO_STATUS_OK) {
        return faults + 1;
    }
    faults += witness_faults(&witness, ledger, &rows);
    sotto_ledger_free(ledger);
    return faults;
}

static struct tally
lose_power(enum power_lie lie, size_t losses)
{
    struct tally tally = {0};
    size_t size = 0;
    uint8_t *image = slurp(in_folder("l"), &size);
    char journal[128];
    (void)snprintf(journal, sizeof journal, "%s-journal", in_folder("l"));
    power.lie = lie;
    power.random = 1;
    size_t faults = 0;
    for (tally.losses = 0; tally.losses < losses; tally.losses++) {
        if (tally.losses % EPOCH == 0 || faults > 0) {
            tally.released += witness.released;
            new_epoch(image, size);
            tally.epochs++;
        }
        size_t before = tally.faults;
        ask_until_dark(&tally);
        power_restore();
        tally.recovered += entry_of(journal)->now != NULL;
        faults = count_faults() + tally.faults - before;
        tally.faults = before + faults;
    }
    tally.released += witness.released;
    witness_clear(&witness);
    memset(&witness, 0, sizeof witness);
    power_clear();
    free(image);
    return tally;
}

static void
tell(const char *what, const struct tally *t)
{
    print_message("%-22s %4zu power losses, %zu ledgers: %zu asked, %zu "
                  "reports released, %zu refused, %zu journals found, %zu "
                  "faults\n",
                  what, t->losses, t->epochs, t->asked, t->released, t->refused,
                  t->recovered, t->faults);
}

static void
test_honest_disk(void **state)
{
    (void)state;
    struct tally tally = lose_power(POWER_HONEST, LOSSES);
    tell("honest disk:", &tally);
    print_message("%-22s %zu in a write, %zu in a flush, %zu in a deletion, "
                  "%zu in a creation\n",
                  "  it failed:", power.at_write, power.at_flush,
                  power.at_delete, power.at_open);
    assert_int_equal(tally.faults, 0);
    assert_true(tally.released > 1000 && tally.refused > 100);
    assert_true(tally.recovered > LOSSES / 10);
    assert_true(power.at_write > 50 && power.at_flush > 20);
    assert_true(power.at_delete > 5 && power.at_open > 5);
}

static void
test_no_flush(void **state)
{
    (void)state;
    struct tally tally = lose_power(POWER_NO_FLUSH, LOSSES / 4);
    tell("no flush (OFF):", &tally);
    assert_true(tally.faults > 0);
}

static void
test_no_folder_flush(void **state)
{
    (void)state;
    struct tally tally = lose_power(POWER_NO_FOLDER_FLUSH, LOSSES / 4);
    tell("no folder flush (FULL):", &tally);
    assert_true(tally.faults > 0);
}

#define HICCUPS 400

/*
 * One operation after another fails, as a full or failing disk makes it; the
 * ledger says so, releases nothing then, and goes on.
 */
static void
test_errors(void **state)
{
    size_t size = 0, told = 0, released = 0, rows = 0;
    uint8_t *image = slurp(in_folder("l"), &size);
    struct sotto_error err = {0};
    (void)state;
    power.lie = POWER_HONEST;
    power.random = 2;
    power.hiccup = true;
    for (long n = 1; n <= HICCUPS; n++) {
        struct sotto_ledger *ledger = NULL;
        new_epoch(image, size);
        ledger = open_agreed(in_folder("l"));
        power.left = n;
        for (unsigned i = 0; i < 30; i++) {
            uint8_t report[REPORT_SIZE];
            char name[32];
            size_t person = chance(PEOPLE), q = chance(QUESTIONS);
            (void)witness_name(person, name);
            struct sotto_charge charge = fake_charge(
                name, campaign_name[q / 3], (uint8_t)(q + 1), EPS(1000));
            enum sotto_status status = ask(ledger, &charge, i, report, &err);
            if (status == SOTTO_STATUS_OK) {
                witness_see(&witness, person, q, report);
            } else if (status != SOTTO_STATUS_REFUSED) {
                assert_int_equal(status, SOTTO_STATUS_IO);
                told++;
            }
        }
        assert_int_equal(witness.different, 0);
        assert_int_equal(witness_faults(&witness, ledger, &rows), 0);
        sotto_ledger_free(ledger);
        released += witness.released;
    }
    power.hiccup = false;
    print_message("%d failed operations: %zu told, %zu reports released, 0 "
                  "faults\n",
                  HICCUPS, told, released);
    assert_true(told > HICCUPS / 2);
    witness_clear(&witness);
    memset(&witness, 0, sizeof witness);
    power_clear();
    free(image);
}

static int
setup_power(void **state)
{
    if (setup(state) != 0) {
        return -1;
    }
    create(in_folder("l"), "4", "2");
    first_mark = slurp(in_folder("l.mark"), &first_mark_size);
    power_register();
    return 0;
}

static int
teardown_power(void **state)
{
    free(first_mark);
    return teardown(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_disk),
        cmocka_unit_test(test_no_flush),
        cmocka_unit_test(test_no_folder_flush),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, setup_power, teardown_power);
}
