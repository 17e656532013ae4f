/*
 * test_restart.c: noise that repeats, entropy that is not the system's, ids
 * that tell, a ledger that forgets: each is found for its own reason; what
 * cannot be tried is said, and is no violation.
 */
#include "privacy/mutant.h"

#include <unistd.h>

#include "random/seeded.h"

static const struct setting flip = {"flip", 5, 0, UNITS(1), 0, 0, false};

static struct sotto_audit *
attack(const struct mutant *mutant, uint64_t steps, struct specimen *specimen)
{
    struct sotto_audit_options options = {.steps = steps};
    struct sotto_audit *audit;
    struct sotto_error err;
    specimen_make(specimen, mutant);
    options.ledger = mutant->ledger;
    audit = audit_begin(specimen->mechanism, &options);
    assert_int_equal(audit_restart(audit, &err), SOTTO_STATUS_OK);
    return audit;
}

/* Whether this system lets a process trace its child. */
static bool
tracing(const struct sotto_audit *audit)
{
    return finding_with(audit, "could not be interposed") == NULL;
}

/* ---- Sound --------------------------------------------------------------- */

static void
test_sound(void **state)
{
    struct mutant sound = {.setting = flip};
    struct specimen specimen;
    struct sotto_audit *audit = attack(&sound, 60000, &specimen);
    (void)state;
    assert_false(audit->info.violated);
    assert_non_null(finding_with(audit, "reports of one process show no"));
    assert_non_null(finding_with(audit, "of forked processes show no"));
    assert_null(finding_with(audit, "fresh")); /* not asked for, nor said */
    assert_null(finding_with(audit, "ledger"));
    if (tracing(audit)) {
        assert_int_equal(audit->info.untried, 0);
        assert_non_null(finding_with(audit, "alone decides a report"));
        assert_non_null(finding_with(audit, "for each of 8 records"));
    }
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

/* Steps that are too many were not tried, which is no violation. */
static void
test_too_many_steps(void **state)
{
    struct mutant sound = {.setting = flip};
    struct specimen specimen;
    struct sotto_audit *audit = attack(&sound, 300, &specimen);
    const struct sotto_audit_finding *finding =
        finding_with(audit, "instructions could not be counted");
    (void)state;
    assert_true(finding != NULL && finding->untried && !finding->violated);
    assert_true(audit->info.untried >= 1);
    assert_false(audit->info.violated);
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

/* ---- Broken -------------------------------------------------------------- */

static int
fill_constant(void *context, void *buffer, size_t size)
{
    (void)context;
    memset(buffer, 0x35, size);
    return 0;
}

/* Sound in one process; a child begins where its parent stood. */
static int
fill_pool(void *context, void *buffer, size_t size)
{
    static struct seeded pool;
    static bool started;
    uint8_t *bytes = buffer;
    (void)context;
    if (!started) {
        uint64_t seed;
        if (sotto_entropy(&seed, sizeof seed) != 0) {
            return -1;
        }
        seeded_init(&pool, seed, 0);
        started = true;
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)random_u32(&pool.random);
    }
    return 0;
}

/* The process has a say in the noise, besides the system: in each of nine
   comparisons, half of flip's reports change at least. */
static int
fill_process(void *context, void *buffer, size_t size)
{
    struct seeded process;
    uint8_t *bytes = buffer;
    (void)context;
    if (sotto_entropy(buffer, size) != 0) {
        return -1;
    }
    seeded_init(&process, (uint64_t)getpid(), 0);
    for (size_t i = SOTTO_ID_SIZE; i < size; i++) {
        bytes[i] ^= (uint8_t)random_u32(&process.random);
    }
    return 0;
}

/* A bit of the id tells a value that is missing or unknown. */
static void
sample_flag(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    uint8_t *id = ret_wire - SOTTO_ID_SIZE;
    channel_flip.sample(instance, q, random, ret_wire);
    id[0] = (uint8_t)((id[0] & 0x7f) | (q[0] == 4) << 7);
}

static void
test_entropy(void **state)
{
    static const struct {
        int (*fill)(void *, void *, size_t);
        void (*sample)(const struct channel_instance *, const int32_t *,
                       struct random *, uint8_t *);
        const char *says;
        bool by_tracing;
    } rows[] = {
        {fill_constant, NULL, "of one process have the same random id", false},
        {fill_pool, NULL, "of forked processes have the same random id", false},
        {fill_process, NULL, "something else decides the noise", true},
        {NULL, sample_flag, "its id, depends on the record", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mutant mutant = {
            .setting = flip, .fill = rows[i].fill, .sample = rows[i].sample};
        struct specimen specimen;
        struct sotto_audit *audit = attack(&mutant, 300, &specimen);
        const struct sotto_audit_finding *finding =
            finding_with(audit, rows[i].says);
        if (finding == NULL && (tracing(audit) || !rows[i].by_tracing)) {
            fail_msg("not found: %s", rows[i].says);
        }
        assert_true(finding == NULL || finding->violated);
        sotto_audit_free(audit);
        specimen_clear(&specimen);
    }
}

/* ---- Ledgers ------------------------------------------------------------- */

static const struct sotto_ledger_port *
no_ledger(void *context)
{
    (void)context;
    return NULL;
}

static void
test_no_ledger(void **state)
{
    struct mutant mutant = {.setting = flip, .ledger = no_ledger};
    struct specimen specimen;
    struct sotto_audit *audit = attack(&mutant, 300, &specimen);
    const struct sotto_audit_finding *finding =
        finding_with(audit, "ledger could not be tried");
    (void)state;
    assert_true(finding != NULL && finding->untried);
    assert_false(audit->info.violated);
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_too_many_steps),
        cmocka_unit_test(test_entropy),
        cmocka_unit_test(test_no_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
