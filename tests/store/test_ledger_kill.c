/*
 * test_ledger_kill.c: workers privatise with a ledger and are killed at random
 * moments; each new one asks the same people again, with other records.
 *
 * A worker hands over each report as soon as it has it, and a witness outside
 * remembers. At the end: nobody has two different reports for one mechanism,
 * every report that came out is in the ledger with its charge, no sum is above
 * a cap, no charge is without its report.
 *
 * 1,000 privatisations and 30 kills; with SOTTO_FULL=1, 10,000 and 200.
 */
#include "witness.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "mechanism/compose.h"

#define PEOPLE_MAX 4000u

/* What a worker tells: one write, so it comes whole or not at all. */
struct message {
    uint32_t person, question;
    enum sotto_status status;
    uint8_t report[WITNESS_REPORT_MAX];
};

static struct sotto_mechanism *mechanism[QUESTIONS];
static struct witness witness;

/* One number with noise, epsilon 1. */
static struct sotto_mechanism *
make_mechanism(size_t question)
{
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 50, 0.02};
    static const struct compose_part part = {.covers = "features",
                                             .channel = "laplace",
                                             .eps = DECIMAL_UNIT,
                                             .blocks = 1,
                                             .d = 1,
                                             .l = 4096};
    char name[32];
    (void)snprintf(name, sizeof name, "question %zu", question);
    struct compose_spec spec = {.name = name,
                                .campaign = campaign_name[question / 3],
                                .auxiliary = "none",
                                .eps = DECIMAL_UNIT,
                                .column = &column,
                                .columns = 1,
                                .part = &part,
                                .parts = 1};
    struct sotto_mechanism *made = NULL;
    struct sotto_error err = {0};
    if (compose_open(&spec, &made, &err) != SOTTO_STATUS_OK) {
        fail_msg("%s", err.message);
    }
    return made;
}

/* ---- A worker ----------------------------------------------------------- */

/* Asks until it is killed; most often somebody not asked long ago. */
_Noreturn static void
work(int to, uint64_t seed)
{
    struct sotto_ledger *ledger = NULL;
    struct message message = {0};
    message.status = sotto_ledger_open(in_folder("l"), &ledger, NULL);
    if (message.status != SOTTO_STATUS_OK) {
        _exit(write(to, &message, sizeof message) < 0 ? 2 : 1);
    }
    sotto_ledger_again(ledger, true);
    struct sotto_ledger_port port = sotto_ledger_port(ledger);
    for (;;) {
        char name[32];
        struct sotto_value value = {.kind = SOTTO_VALUE_NUMBER,
                                    .number = (double)(shuffle(&seed) % 101)};
        message.person = (uint32_t)(shuffle(&seed) % witness.people);
        message.question = (uint32_t)(shuffle(&seed) % QUESTIONS);
        size_t size = witness_name(message.person, name);
        message.status = sotto_client_report(
            sotto_mechanism_client(mechanism[message.question]), &port, name,
            size, &value, 1, message.report, witness.report_size, NULL);
        if (write(to, &message, sizeof message) != sizeof message) {
            _exit(1);
        }
    }
}

/* ---- Its killer --------------------------------------------------------- */

struct tally {
    size_t kills, made, replayed, refused, failed, journals;
};

static void
take(const struct message *message, struct tally *tally)
{
    size_t before = witness.released;
    if (message->status == SOTTO_STATUS_REFUSED) {
        tally->refused++;
    } else if (message->status != SOTTO_STATUS_OK) {
        tally->failed++;
    } else {
        witness_see(&witness, message->person, message->question,
                    message->report);
        tally->made += witness.released - before;
        tally->replayed += 1 - (witness.released - before);
    }
}

/* One worker's life: `most` messages and then some microseconds. */
static void
live_and_die(size_t most, unsigned microseconds, uint64_t seed,
             struct tally *tally)
{
    struct message message;
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t worker = fork();
    assert_true(worker >= 0);
    if (worker == 0) {
        (void)close(ends[0]);
        work(ends[1], seed);
    }
    (void)close(ends[1]);
    for (size_t i = 0;
         i < most && read(ends[0], &message, sizeof message) == sizeof message;
         i++) {
        take(&message, tally);
    }
    (void)nanosleep(&(struct timespec){0, 1000L * microseconds}, NULL);
    assert_int_equal(kill(worker, SIGKILL), 0);
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_true(WIFSIGNALED(status));
    while (read(ends[0], &message, sizeof message) == sizeof message) {
        take(&message, tally);
    }
    (void)close(ends[0]);
    tally->kills++;
    tally->journals += access(in_folder("l-journal"), F_OK) == 0;
}

static void
test_kill(void **state)
{
    const char *full = getenv("SOTTO_FULL");
    bool whole = full != NULL && strcmp(full, "1") == 0;
    size_t wanted = whole ? 10000 : 1000, kills = whole ? 200 : 30, rows = 0;
    uint64_t random = 20261115;
    struct tally tally = {0};
    (void)state;
    create(in_folder("l"), "4", "2");
    for (size_t q = 0; q < QUESTIONS; q++) {
        mechanism[q] = make_mechanism(q);
    }
    struct sotto_client *client = sotto_mechanism_client(mechanism[0]);
    witness_new(&witness, whole ? PEOPLE_MAX : 250,
                sotto_client_report_size(client));
    for (size_t q = 0; q < QUESTIONS; q++) {
        memcpy(witness.mechanism[q],
               sotto_client_hash(sotto_mechanism_client(mechanism[q])),
               SOTTO_HASH_SIZE);
    }
    while (tally.kills < kills || tally.made + tally.replayed < wanted) {
        size_t most = shuffle(&random) % (2 * wanted / kills + 1);
        live_and_die(most, (unsigned)(shuffle(&random) % 3000),
                     shuffle(&random), &tally);
        assert_int_equal(tally.failed, 0);
    }
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    size_t faults = witness_faults(&witness, ledger, &rows);
    sotto_ledger_free(ledger);
    print_message("%zu kills, %zu of them left a journal; %zu privatisations: "
                  "%zu new, %zu replayed; %zu refused; %zu rows in the "
                  "ledger; %zu with other bytes, %zu faults\n",
                  tally.kills, tally.journals, tally.made + tally.replayed,
                  tally.made, tally.replayed, tally.refused, rows,
                  witness.different, faults);
    assert_int_equal(witness.different, 0);
    assert_int_equal(faults, 0);
    assert_true(rows >= tally.made && rows <= tally.made + tally.kills);
    assert_true(tally.refused > 0 && tally.replayed > 0);
    witness_clear(&witness);
    for (size_t q = 0; q < QUESTIONS; q++) {
        sotto_mechanism_free(mechanism[q]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kill, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
