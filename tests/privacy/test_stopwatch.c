/*
 * test_stopwatch.c: a time that depends on the record is found: by subnormal
 * numbers, by the clock, and where a file could make such numbers; a sound
 * encoder passes.
 */
#include "privacy/audit_fixture.h"

#include "fail_alloc.h"

static const struct setting encoded = {"laplace", 4, 16,   UNITS(1),
                                       0,         0, true, 0};

static struct sotto_audit *
attack(struct sotto_mechanism *mechanism)
{
    struct sotto_audit_options options = {.seed = 3};
    struct sotto_audit *audit = audit_begin(mechanism, &options);
    struct sotto_error err;
    assert_int_equal(audit_stopwatch(audit, &err), SOTTO_STATUS_OK);
    return audit;
}

static void
test_sound(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&encoded);
    struct sotto_audit *audit = attack(mechanism);
    (void)state;
    assert_false(audit->info.violated);
    assert_non_null(finding_with(audit, "or than chance"));
#if defined(__SSE2__)
    assert_non_null(finding_with(audit, "no number was subnormal"));
    assert_int_equal(audit->info.untried, 0);
#endif
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* A step that lets numbers get too small, for some records alone. */
static void
shrink(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    volatile float small = 0x1p-100f, y = z[0];
    y = z[0] > 0.5f ? y * small * small : y;
    domain_lattice(z, d, l, ret_q);
}

static void
test_subnormal(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&encoded);
    (void)state;
    mechanism->device.report->part[0].place = shrink;
    struct sotto_audit *audit = attack(mechanism);
#if defined(__SSE2__)
    const char *found = violation_by(audit, "time");
    assert_true(found != NULL &&
                strstr(found, "makes subnormal numbers") != NULL);
#endif
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* A step that takes longer for some records, with ordinary numbers. */
static void
dawdle(const float *z, uint32_t d, uint32_t l, int32_t *ret_q)
{
    volatile float y = z[0];
    for (int i = 0; z[0] > 0.5f && i < 20000; i++) {
        y = y * 1.0f;
    }
    domain_lattice(z, d, l, ret_q);
}

static void
test_clock(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&encoded);
    (void)state;
    mechanism->device.report->part[0].place = dawdle;
    struct sotto_audit *audit = attack(mechanism);
    const char *found = violation_by(audit, "time");
    assert_true(found != NULL && strstr(found, "take different times") != NULL);
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

/* A mechanism that devices refuse is not attacked further. */
static void
test_uneven(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&encoded);
    struct sotto_audit_options options = {0};
    struct sotto_audit *audit = NULL;
    struct sotto_audit_info info;
    struct sotto_error err;
    (void)state;
    mechanism->client->terms.uneven = true;
    assert_int_equal(sotto_audit_run(mechanism, &options, &audit, &err),
                     SOTTO_STATUS_OK);
    sotto_audit_info(audit, &info);
    assert_true(info.violated && info.samples == 0);
    assert_int_equal(info.findings, 1);
    assert_non_null(finding_with(audit, "devices refuse this"));
    sotto_audit_free(audit);
    sotto_mechanism_free(mechanism);
}

static void
test_memory(void **state)
{
    struct sotto_mechanism *mechanism = setting_open(&encoded);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    for (size_t at = 1; status == SOTTO_STATUS_MEMORY; at++) {
        struct sotto_audit_options options = {0};
        struct sotto_audit *audit = audit_begin(mechanism, &options);
        struct sotto_error err;
        assert_true(at < 100);
        fail_alloc_at((long)at);
        status = audit_stopwatch(audit, &err);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_OK && audit->failed) {
            status = SOTTO_STATUS_MEMORY; /* a finding's, as the whole says */
        }
        sotto_audit_free(audit);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),  cmocka_unit_test(test_subnormal),
        cmocka_unit_test(test_clock),  cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
