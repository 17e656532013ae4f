/*
 * test_sample.c: epsilon from below is close where reports are few, never above
 * where the mechanism is sound (but with probability alpha), and above where it
 * is not, whatever log p says.
 */
#include "privacy/mutant.h"

#include <math.h>

#include "fail_alloc.h"

/* At 10^-6 all of this file fails by chance less than once in 10^5 runs. */
static const struct sotto_audit_options plain = {.samples = 10000,
                                                 .alpha = 1e-6};
static const struct setting flip = {"flip", 5, 0, UNITS(1), 0, 0, false};

static struct sotto_audit *
attack(const struct mutant *mutant, struct specimen *specimen)
{
    struct sotto_audit *audit;
    struct sotto_error err;
    specimen_make(specimen, mutant);
    audit = audit_begin(specimen->mechanism, &plain);
    assert_int_equal(audit_sample(audit, &err), SOTTO_STATUS_OK);
    assert_int_equal(audit->info.findings, 1);
    assert_int_equal(audit->info.samples, plain.samples);
    return audit;
}

/* ---- Sound --------------------------------------------------------------- */

static void
test_sound_from_below(void **state)
{
    static const struct {
        struct setting setting;
        double least; /* of the bound */
    } rows[] = {
        {{"flip", 3, 0, UNITS(1), 0, 0, false}, 0.7},
        {{"flip", 2, 0, UNITS(0.25), 0, 0, false}, 0.05},
        {{"flip", 300, 0, UNITS(32), 0, 0, false}, 5},
        {{"subset", 6, 0, UNITS(0.5), 0, 0, false}, 0.2},
        {{"signs", 6, 0, UNITS(1), 0, 0, false, 2}, 0.4},
        {{"laplace", 1, 2, UNITS(1), 0, 0, true}, 0.4},
        {{"laplace", 2, 100, UNITS(1), 0, 0, false}, 0.5},
        {{"gaussian", 1, 1, UNITS(2), DECIMAL_UNIT / 1000, 0, false}, 0.4},
        {{"duchi", 3, 2, UNITS(1), 0, 0, false}, 0.4},
        {{"window", 1, 4, UNITS(1), 0, 2, false}, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mutant sound = {.setting = rows[i].setting};
        struct specimen specimen;
        struct sotto_audit *audit = attack(&sound, &specimen);
        assert_false(audit->info.violated);
        assert_true(audit->info.eps_lower <= audit->info.eps_stated);
        if (!(audit->info.eps_lower >= rows[i].least)) {
            fail_msg("%s: only %g", rows[i].setting.channel,
                     audit->info.eps_lower);
        }
        sotto_audit_free(audit);
        specimen_clear(&specimen);
    }
}

/* ---- Broken -------------------------------------------------------------- */

/* Half of the time the truth: epsilon is ln 4.5 and not 1. */
static void
sample_truth(const struct channel_instance *instance, const int32_t *q,
             struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    if (random_u32(random) % 2 == 0) {
        ret_wire[0] = (uint8_t)q[0];
    }
}

/* A valid report for one point, junk for the others. */
static void
sample_junk(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    ret_wire[0] = q[0] == 0 ? ret_wire[0] : 0xee;
}

static double
log_p_nan(const struct likelihood_instance *at, const uint8_t *wire,
          const int32_t *q)
{
    (void)at;
    (void)wire;
    (void)q;
    return NAN;
}

static void
test_broken(void **state)
{
    struct mutant truth = {.setting = flip, .sample = sample_truth};
    struct mutant blind = {
        .setting = flip, .sample = sample_truth, .log_p = log_p_nan};
    struct mutant junk = {.setting = flip, .sample = sample_junk};
    const struct mutant *mutants[] = {&truth, &blind, &junk};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct specimen specimen;
        struct sotto_audit *audit = attack(mutants[i], &specimen);
        assert_true(audit->info.violated);
        assert_true(audit->info.eps_lower > 1.2);
        assert_non_null(violation_by(audit, "sample"));
        sotto_audit_free(audit);
        specimen_clear(&specimen);
    }
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    static const struct sotto_audit_options few = {.samples = 50,
                                                   .alpha = 0.001};
    struct sotto_mechanism *mechanism = setting_open(&flip);
    long n = 0, all;
    (void)state;
    do {
        struct sotto_audit *audit = audit_begin(mechanism, &few);
        struct sotto_error err;
        enum sotto_status status;
        fail_alloc_at(++n);
        status = audit_sample(audit, &err);
        all = fail_alloc_count();
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
        assert_true(status == SOTTO_STATUS_MEMORY || audit->failed ||
                    audit->info.findings == 1);
        sotto_audit_free(audit);
    } while (all >= n);
    assert_true(n > 4);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound_from_below),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
