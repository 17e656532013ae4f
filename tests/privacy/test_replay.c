/*
 * test_replay.c: points outside their domain, and reports outside the valid
 * set or their bytes, are found; where there are none, the domain's ends are.
 */
#include "privacy/mutant.h"

#include "fail_alloc.h"

static const struct sotto_audit_options plain = {0};
static const struct setting lattice = {"laplace", 2, 10, UNITS(1), 0, 0, false};
static const struct setting flip = {"flip", 5, 0, UNITS(1), 0, 0, false};

static struct sotto_audit *
attack(const struct mutant *mutant, struct specimen *specimen)
{
    struct sotto_audit *audit;
    struct sotto_error err;
    specimen_make(specimen, mutant);
    audit = audit_begin(specimen->mechanism, &plain);
    assert_int_equal(audit_replay(audit, &err), SOTTO_STATUS_OK);
    return audit;
}

/* ---- Sound --------------------------------------------------------------- */

static void
test_sound_reaches_the_ends(void **state)
{
    static const struct setting settings[] = {
        {"flip", 2, 0, UNITS(1), 0, 0, false},
        {"subset", 60, 0, UNITS(1), 0, 0, true},
        {"signs", 20, 0, UNITS(1), 0, 0, false, 4},
        {"laplace", 1, 4096, UNITS(1), 0, 3, false},
        {"laplace", 3, 7, UNITS(1), 0, 0, true},
        {"gaussian", 2, 8, UNITS(1), DECIMAL_UNIT / 1000, 0, false},
        {"duchi", 4, 5, UNITS(1), 0, 0, false},
        {"window", 1, 9, UNITS(1), 0, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct mutant sound = {.setting = settings[i]};
        struct specimen specimen;
        struct sotto_audit *audit = attack(&sound, &specimen);
        const struct sotto_audit_part *part = &audit->part[0];
        if (audit->info.violated) {
            fail_msg("%s: %s", settings[i].channel, violation_by(audit, NULL));
        }
        assert_true(part->sensitivity_found <= part->sensitivity_stated);
        assert_true(part->sensitivity_found > 0.9 * part->sensitivity_stated);
        sotto_audit_free(audit);
        specimen_clear(&specimen);
    }
}

/* ---- Broken -------------------------------------------------------------- */

/* One step beyond, and only for a record at an end. */
static void
place_beyond(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    domain_lattice(z, d, l, ret_q);
    if (ret_q[0] == (int32_t)l) {
        ret_q[0]++;
    }
}

static void
test_one_step_beyond(void **state)
{
    struct mutant mutant = {.setting = lattice, .place = place_beyond};
    struct specimen specimen;
    struct sotto_audit *audit = attack(&mutant, &specimen);
    const char *found = violation_by(audit, "replay");
    (void)state;
    assert_non_null(found);
    assert_non_null(strstr(found, "outside the domain"));
    assert_true(audit->part[0].sensitivity_found == 22);
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

static void
sample_junk(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    ret_wire[0] = q[0] == 4 ? 5 : ret_wire[0]; /* there is no such symbol */
}

/* One byte behind its report, which is the last of all. */
static void
sample_overrun(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    ret_wire[instance->wire_size] = 0;
}

static void
test_reports(void **state)
{
    struct mutant junk = {.setting = flip, .sample = sample_junk};
    struct mutant overrun = {.setting = flip, .sample = sample_overrun};
    const struct mutant *mutants[] = {&junk, &overrun};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct specimen specimen;
        struct sotto_audit *audit = attack(mutants[i], &specimen);
        const char *found = violation_by(audit, "replay");
        assert_non_null(found);
        assert_non_null(strstr(found, "overrun their bytes"));
        sotto_audit_free(audit);
        specimen_clear(&specimen);
    }
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&lattice);
    long n = 0, all;
    (void)state;
    do {
        struct sotto_audit *audit = audit_begin(mechanism, &plain);
        struct sotto_error err;
        enum sotto_status status;
        fail_alloc_at(++n);
        status = audit_replay(audit, &err);
        all = fail_alloc_count();
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_MEMORY ||
                    (status == SOTTO_STATUS_OK && (n > all || audit->failed)));
        sotto_audit_free(audit);
    } while (all >= n);
    assert_true(n > 4);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_reaches_the_ends),
        cmocka_unit_test(test_one_step_beyond),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
