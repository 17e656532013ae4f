/*
 * test_sound.c: an audit of every channel as it ships finds nothing.
 *
 * The other half of test_mutants.c: the attacks that find the broken samplers
 * leave the sound ones alone.
 */
#include "privacy/audit_fixture.h"

#include <time.h>

static double
seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void
check_sound(const struct setting *setting, uint64_t steps)
{
    double start = seconds();
    struct sotto_mechanism *mechanism = setting_open(setting);
    struct sotto_audit_options options = {.samples = sanitized() ? 2000 : 20000,
                                          .branches = 200000,
                                          .steps = steps};
    struct sotto_audit *audit = audit_of(mechanism, &options);
    struct sotto_audit_info info;
    struct sotto_audit_part part;
    const char *found = violation_by(audit, NULL);
    sotto_audit_info(audit, &info);
    sotto_audit_part(audit, 0, &part);
    printf("| %s | %u | %u | %g | %g | %s | %.12g | %.4g | %.2f s |\n",
           setting->channel, (unsigned)setting->size, (unsigned)setting->l,
           (double)setting->eps / (double)DECIMAL_UNIT,
           (double)setting->delta / (double)DECIMAL_UNIT, part.scope,
           part.eps_exact, info.eps_lower, seconds() - start);
    if (found != NULL || info.violated) {
        fail_msg("%s, size %u, l %u: %s", setting->channel,
                 (unsigned)setting->size, (unsigned)setting->l,
                 found != NULL ? found : "violated without a finding");
    }
    assert_true(part.sensitivity_found <= part.sensitivity_stated);
    assert_true(part.eps_exact <= part.eps_stated);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/*
 * Small, with an encoder, and larger. Only the small ones, and only reports of
 * up to 50,000 instructions, are followed one by one, which takes long;
 * test_timing_callgrind.sh counts them all. A Gaussian is audited once, and not
 * under a sanitizer.
 */
static void
test_every_channel_holds(void **state)
{
    static const struct {
        uint32_t size, l;
        double eps;
    } numbers[] = {{1, 3, 1}, {3, 1, 4}, {6, 1000, 0.5}},
      symbols[] = {{2, 0, 0.25}, {5, 0, 1}, {70, 0, 3}};
    static const struct {
        uint32_t size, rows;
    } pairs[] = {{6, 2}, {15, 3}, {70, 7}};
    (void)state;
    printf("| channel | size | l | eps | delta | enumerated | exact | lower | "
           "time |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; channel_exact[i] != NULL; i++) {
        const struct channel *channel = channel_exact[i];
        bool is_symbols = channel->domain == CHANNEL_DOMAIN_SYMBOLS;
        size_t times = channel->approximate ? !sanitized() : 3;
        for (size_t j = 0; j < times; j++) {
            struct setting setting = {
                channel->name,
                is_symbols ? symbols[j].size : numbers[j].size,
                is_symbols ? symbols[j].l : numbers[j].l,
                UNITS(is_symbols ? symbols[j].eps : numbers[j].eps),
                channel->approximate ? DECIMAL_UNIT / 1000 : 0,
                0,
                j == 1,
                channel->pairs ? pairs[j].rows : 0};
            setting.size = channel->scalar ? 1 : setting.size;
            setting.size = channel->pairs ? pairs[j].size : setting.size;
            check_sound(&setting, j == 0 ? 150000 : 3000);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_channel_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
