/*
 * test_false_alarms.c: sound mechanisms, audited again and again at alpha
 * 0.001, are not called broken.
 *
 * An audit raises a false alarm with probability alpha at most, plus a few
 * 10^-12 for coincidences in the restart attack. It is far less likely in fact:
 * both of the sample attack's bounds must fail, together by more than 4
 * standard deviations, which is 10^-5 for the mechanisms below. So:
 *
 *   30 audits     none: fails by chance with probability below 0.03 by the
 *                 bound, about 0.0003 in fact (10 under a sanitizer)
 *   1,000 audits  at most 5: six or more have probability below 0.0006 by the
 *                 bound (binomial, 1,000 of 0.001)
 *
 * The 1,000, which take some ten minutes, run with the argument `full` or with
 * SOTTO_FULL=1. Most of the time goes into running children one instruction at
 * a time: of the 30, the first ten do. A Gaussian takes 180,000 instructions a
 * report, and so half a minute an audit: it is every 200th in the full run, and
 * none of the 30.
 */
#include "privacy/audit_fixture.h"

#include <time.h>

#define FEW 30u
#define FULL 1000u
#define GAUSSIAN_EVERY 200u

static bool full;

static const struct setting settings[] = {
    {"flip", 3, 0, UNITS(1), 0, 0, false},
    {"subset", 5, 0, UNITS(0.5), 0, 0, false},
    {"signs", 6, 0, UNITS(1), 0, 0, false, 3},
    {"laplace", 1, 2, UNITS(1), 0, 0, false},
    {"window", 1, 4, UNITS(2), 0, 0, false},
    {"duchi", 1, 2, UNITS(1), 0, 0, false},
    {"flip", 2, 0, UNITS(0.25), 0, 0, true},
    {"subset", 6, 0, UNITS(2), 0, 0, true},
    {"window", 1, 1, UNITS(1), 0, 2, true},
    {"laplace", 1, 1, UNITS(4), 0, 0, true},
    {"flip", 300, 0, UNITS(3), 0, 0, false},
};

static const struct setting gaussian = {"gaussian",          1, 1,    UNITS(2),
                                        DECIMAL_UNIT / 1000, 0, false};

static bool
alarms(const struct setting *setting, uint64_t seed, uint64_t steps)
{
    struct sotto_mechanism *mechanism = setting_open(setting);
    struct sotto_audit_options options = {.samples = 2000,
                                          .alpha = 0.001,
                                          .branches = 20000,
                                          .seed = seed,
                                          .steps = steps};
    struct sotto_audit *audit = audit_of(mechanism, &options);
    struct sotto_audit_info info;
    sotto_audit_info(audit, &info);
    if (info.violated) {
        printf("%s, size %u: %s\n", setting->channel, (unsigned)setting->size,
               violation_by(audit, NULL));
    }
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
    return info.violated;
}

static void
test_few_false_alarms(void **state)
{
    size_t kinds = sizeof settings / sizeof settings[0], count = 0;
    size_t audits = full ? FULL : sanitized() ? FEW / 3 : FEW;
    (void)state;
    for (size_t i = 0; i < audits; i++) {
        bool bell = (i + 1) % GAUSSIAN_EVERY == 0;
        count += alarms(bell ? &gaussian : &settings[i % kinds], i,
                        full || i < kinds ? 0 : 3000);
        if (full && (i + 1) % 100 == 0) {
            printf("%zu audits, %zu false alarms, %.0f s of processor time\n",
                   i + 1, count, (double)clock() / CLOCKS_PER_SEC);
            (void)fflush(stdout);
        }
    }
    printf("false alarms: %zu of %zu audits at alpha 0.001\n", count, audits);
    assert_true(count <= (full ? 5u : 0u));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_false_alarms),
    };
    const char *wanted = getenv("SOTTO_FULL");
    full = (argc > 1 && strcmp(argv[1], "full") == 0) ||
           (wanted != NULL && strcmp(wanted, "1") == 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
