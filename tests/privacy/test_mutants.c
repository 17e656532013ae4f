/*
 * test_mutants.c: the audit bites.
 *
 * Each mutant is a mistake that was made somewhere, or could be, in a sampler
 * whose formulas are right. It is put into a real mechanism, the whole audit
 * runs, and the attack that must find it has to, for the reason named. With
 * `sample`, that is a matter of chance: 20,000 reports a record (2,000 under a
 * sanitizer) put the event found many standard deviations beyond its bound.
 * Instructions, which take long to count, only where they must tell.
 */
#include "privacy/mutants_device.h"
#include "privacy/mutants_noise.h"
#include "privacy/mutants_symbols.h"

#define LAPLACE                                                                \
    {                                                                          \
        "laplace", 1, 2, UNITS(1), 0, 0, false                                 \
    }
#define LAPLACE_2                                                              \
    {                                                                          \
        "laplace", 2, 1, UNITS(4), 0, 0, false                                 \
    }
#define FLIP                                                                   \
    {                                                                          \
        "flip", 5, 0, UNITS(1), 0, 0, false                                    \
    }
#define SUBSET                                                                 \
    {                                                                          \
        "subset", 6, 0, UNITS(0.5), 0, 0, false                                \
    }

static const struct mutant mutants[] = {
    {"noise sqrt(2) too small", "parameters", "enumerate", "e^1.4142135",
     LAPLACE, .init = root_two_init, .sample = laplace_twin_sample,
     .extra = sizeof(struct twin)},
    {"sensitivity l for 2l", "parameters", "enumerate", "e^2 times", LAPLACE,
     .init = half_sensitivity_init, .sample = laplace_twin_sample,
     .extra = sizeof(struct twin)},
    {"epsilon 0.55 taken as 0.6",
     "parameters",
     "enumerate",
     "e^0.6 times",
     {"laplace", 1, 2, UNITS(0.55), 0, 0, false},
     .init = rounded_init,
     .sample = laplace_twin_sample,
     .extra = sizeof(struct twin)},
    {"a subset that never drops the truth", "sampler", "enumerate", "e^inf",
     SUBSET, .sample = never_drops_sample},
    {"an unsorted subset", "report", "enumerate", "e^inf", SUBSET,
     .init = unsorted_init, .sample = unsorted_sample, .valid = symbols_valid,
     .log_p = unsorted_log_p, .unpack = unsorted_unpack},
    {"a float in the report", "report", "enumerate", "e^inf", LAPLACE,
     .init = float_init, .sample = float_sample, .valid = float_valid,
     .log_p = float_log_p, .extra = sizeof(struct dlaplace)},
    {"clamped noise, not a clamped sum", "sampler", "enumerate", "e^inf",
     LAPLACE, .init = noise_init, .sample = clamped_noise_sample,
     .extra = sizeof(struct dlaplace)},
    {"a seeded generator", "entropy", "restart", "without asking", FLIP,
     .fill = seeded_fill},
    {"a generator seeded from clock and process", "entropy", "restart",
     "without asking", FLIP, .fill = clock_fill},
    {"a generator that stretches four bytes", "entropy", "restart",
     "bytes of entropy", FLIP, .fill = stretched_fill},
    {"noise drawn once a process", "sampler", "restart",
     "of one process repeats", LAPLACE, .init = noise_init,
     .sample = cached_sample, .extra = sizeof(struct dlaplace)},
    {"clipped in L2 where L1 is declared",
     "domain",
     "replay",
     "outside the domain",
     {"laplace", 2, 10, UNITS(4), 0, 0, false},
     .place = domain_ball},
    {"Duchi with ties on both sides",
     "sampler",
     "enumerate",
     "e^1.313261",
     {"duchi", 2, 1, UNITS(1), 0, 0, false},
     .init = ties_init,
     .sample = ties_sample,
     .extra = sizeof(struct odds)},
    {"an early exit in what is drawn", "sampler", "enumerate",
     "what the sampler draws depends", FLIP, .sample = early_exit_sample},
    {"an early exit in instructions only", "sampler", "restart", "instructions",
     SUBSET, .sample = short_loop_sample},
    {"zero noise with either sign", "sampler", "enumerate", "e^2.18", LAPLACE,
     .init = noise_init, .sample = two_zeros_sample,
     .extra = sizeof(struct dlaplace)},
    {"one noise for two coordinates", "sampler", "enumerate", "e^inf",
     LAPLACE_2, .init = noise_init, .sample = reused_sample,
     .extra = sizeof(struct dlaplace)},
    {"a byte of the report left unwritten", "report", "enumerate", "e^inf",
     LAPLACE, .init = spare_init, .sample = unwritten_sample,
     .extra = sizeof(struct dlaplace)},
    {"a byte of the report holds the point", "report", "sample",
     "epsilon is at least", LAPLACE, .init = spare_init,
     .sample = leaking_sample, .extra = sizeof(struct dlaplace)},
    {"a lot that may fall on the truth", "sampler", "enumerate", "e^1.4811",
     FLIP, .sample = any_symbol_sample},
    {"random bytes modulo n", "sampler", "enumerate",
     "past the exact primitives", FLIP, .sample = modulo_sample},
    {"no report for a missing value", "sampler", "enumerate",
     "what the sampler draws depends", FLIP, .sample = silent_sample},
    {"a sampler sound while it is watched", "sampler", "sample",
     "epsilon is at least", FLIP, .sample = watched_sample},
    {"window: far drawn from everywhere",
     "sampler",
     "enumerate",
     "e^1.789",
     {"window", 1, 3, UNITS(1), 0, 0, false},
     .init = everywhere_init,
     .sample = everywhere_sample,
     .extra = sizeof(struct everywhere)},
    {"signs with always one more minus",
     "sampler",
     "enumerate",
     "e^1.69314",
     {"signs", 6, 0, UNITS(1), 0, 0, false, 3},
     .sample = unfair_sample},
    {"signs left as they fell",
     "sampler",
     "enumerate",
     "e^1.86199",
     {"signs", 4, 0, UNITS(1), 0, 0, false, 2},
     .sample = as_they_fell_sample},
    {"Gaussian by the classical formula",
     "parameters",
     "enumerate",
     "above the stated",
     {"gaussian", 1, 1, UNITS(16), DECIMAL_UNIT / 100000, 0, false},
     .init = classical_init,
     .sample = classical_sample,
     .extra = sizeof(struct bell)},
    {"log p without the tail at the clamp", "formula", "enumerate", "log p",
     LAPLACE, .init = noise_init, .log_p = no_tail_log_p,
     .extra = sizeof(struct dlaplace)},
    {"a NaN left as it is", "domain", "replay", "outside the domain", LAPLACE_2,
     .place = nan_place},
    {"rounded after clipping",
     "domain",
     "replay",
     "outside the domain",
     {"laplace", 3, 5, UNITS(8), 0, 0, false},
     .place = rounding_place},
    {"an encoder trusted to stay in range", "domain", "replay",
     "outside the domain", LAPLACE, .place = trusting_place},
    {"entropy with a bit stuck", "entropy", "sample", "epsilon is at least",
     FLIP, .fill = stuck_fill},
    {"entropy that fails unnoticed", "entropy", "restart", "same random id",
     FLIP, .fill = failing_fill},
    {"a pool that a fork repeats", "entropy", "restart", "of forked processes",
     FLIP, .fill = forked_fill},
    {"ids that count", "entropy", "restart", "of forked processes", FLIP,
     .fill = counter_fill},
    {"noise from a hash of the record", "entropy", "restart", "same random id",
     FLIP, .fill = hashed_fill},
    {"an id that holds the record", "report", "restart",
     "depends on the record", FLIP, .sample = telling_sample},
    {"a flag in the id for an unknown answer", "report", "restart",
     "depends on the record", FLIP, .sample = flagging_sample},
    {"a buffer of noise that is not filled again",
     "sampler",
     "restart",
     "coordinates",
     {"laplace", 12, 1, UNITS(4), 0, 0, false},
     .init = noise_init,
     .sample = wrapped_sample,
     .extra = sizeof(struct dlaplace)},
    {"noise kept for the next report", "sampler", "restart",
     "the report before it", LAPLACE, .init = noise_init,
     .sample = spare_noise_sample, .extra = sizeof(struct dlaplace)},
    {"coins until a head", "sampler", "enumerate", "without end", LAPLACE,
     .sample = coins_sample},
    {"rejection until it fits",
     "sampler",
     "enumerate",
     "past the exact primitives",
     {"flip", 6, 0, UNITS(1), 0, 0, false},
     .sample = rejecting_sample},
    {"one noise for two blocks",
     "sampler",
     "restart",
     "share their noise",
     {"laplace", 1, 2, UNITS(1), 0, 2, false},
     .sample = shared_sample},
    {"a total below the parts' sum", "budget", "enumerate",
     "more than the stated total", FLIP, .spoil = spoil_total},
    {"tables touched after opening", "parameters", "enumerate", "are not those",
     FLIP, .spoil = spoil_tables},
    {"a ledger that forgets", "ledger", "restart", "two reports", FLIP,
     .ledger = forgetting_ledger},
};

#define MUTANTS (sizeof mutants / sizeof mutants[0])

static void
print_caught(const struct sotto_audit *audit)
{
    static const char *const attacks[] = {"enumerate", "replay", "sample",
                                          "restart"};
    const char *comma = "";
    for (size_t i = 0; i < 4; i++) {
        if (violation_by(audit, attacks[i]) != NULL) {
            printf("%s%s", comma, attacks[i]);
            comma = ", ";
        }
    }
}

/* The violation of an attack that says this; NULL if none does. */
static const char *
found(const struct sotto_audit *audit, const char *attack, const char *says)
{
    struct sotto_audit_info info;
    sotto_audit_info(audit, &info);
    for (size_t i = 0; i < info.findings; i++) {
        const struct sotto_audit_finding *finding =
            sotto_audit_finding(audit, i);
        if (finding->violated && strcmp(finding->attack, attack) == 0 &&
            strstr(finding->text, says) != NULL) {
            return finding->text;
        }
    }
    return NULL;
}

/* Whether the audit caught it as it must; prints a row. */
static bool
try_mutant(const struct mutant *mutant)
{
    bool steps = strcmp(mutant->says, "instructions") == 0;
    struct sotto_audit_options options = {.samples = sanitized() ? 2000 : 20000,
                                          .branches = 200000,
                                          .steps = steps ? 60000 : 3000,
                                          .ledger = mutant->ledger};
    struct specimen specimen;
    struct sotto_audit *audit;
    struct sotto_audit_info info;
    const char *evidence;
    bool caught;
    specimen_make(&specimen, mutant);
    audit = audit_of(specimen.mechanism, &options);
    sotto_audit_info(audit, &info);
    evidence = found(audit, mutant->attack, mutant->says);
    caught = info.violated && evidence != NULL;
    printf("| %s | %s | %s | ", mutant->name, mutant->where, mutant->attack);
    print_caught(audit);
    printf(" | %.110s |\n", caught ? evidence : "NOT CAUGHT");
    (void)fflush(stdout);
    sotto_audit_free(audit);
    specimen_clear(&specimen);
    return caught;
}

static void
test_every_mutant_is_caught(void **state)
{
    size_t caught = 0, tried = 0;
    (void)state;
    printf("| mutant | broken | must be caught by | caught by | evidence |\n"
           "|---|---|---|---|---|\n");
    for (size_t i = 0; i < MUTANTS; i++) {
        const struct channel *sound = setting_channel(&mutants[i].setting);
        if (!sanitized() || !sound->approximate) { /* a minute each */
            caught += try_mutant(&mutants[i]);
            tried++;
        }
    }
    printf("mutants caught: %zu of %zu\n", caught, tried);
    assert_int_equal(caught, tried);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mutant_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
