/*
 * test_independence.c: shared noise is found between blocks, coordinates and
 * reports, in either phase; where channels are sound, none is; and no memory.
 */
#include "privacy/mutant.h"

#include "fail_alloc.h"

static const struct sotto_audit_options plain = {0};

/* Runs the attack alone on a mechanism with this sampler (NULL: its own). */
static struct sotto_audit *
attack(const struct setting *setting,
       void (*sample)(const struct channel_instance *, const int32_t *,
                      struct random *, uint8_t *),
       struct specimen *specimen)
{
    struct mutant mutant = {.name = setting->channel, .setting = *setting};
    struct sotto_audit *audit;
    struct sotto_error err;
    mutant.sample = sample;
    specimen_make(specimen, &mutant);
    audit = audit_begin(specimen->mechanism, &plain);
    assert_int_equal(audit_independence(audit, &err), SOTTO_STATUS_OK);
    return audit;
}

static void
check(const struct setting *setting,
      void (*sample)(const struct channel_instance *, const int32_t *,
                     struct random *, uint8_t *),
      const char *violation)
{
    struct specimen specimen;
    struct sotto_audit *audit = attack(setting, sample, &specimen);
    const char *found = violation_by(audit, "restart");
    assert_int_equal(audit->info.findings, 1);
    if (violation == NULL && found != NULL) {
        fail_msg("%s of size %u: %s", setting->channel, (unsigned)setting->size,
                 found);
    }
    if (violation != NULL &&
        (found == NULL || strstr(found, violation) == NULL)) {
        fail_msg("not found: %s; but: %s", violation,
                 found != NULL ? found : "nothing");
    }
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

/* ---- Sound --------------------------------------------------------------- */

/* Reports of Duchi, subset and signs have integers that depend on each other;
   those of flip at 32 are constant; some have more signals than are looked at.
 */
static void
test_sound(void **state)
{
    static const struct setting settings[] = {
        {"flip", 2, 0, UNITS(1), 0, 0, false},
        {"flip", 300, 0, UNITS(32), 0, 0, false},
        {"subset", 9, 0, UNITS(0.5), 0, 0, false},
        {"signs", 12, 0, UNITS(1), 0, 0, false, 3},
        {"laplace", 1, 4096, UNITS(0.5), 0, 60, false},
        {"laplace", 30, 1000, UNITS(1), 0, 2, false},
        {"laplace", 64, 3, UNITS(32), 0, 0, false},
        {"gaussian", 2, 1, UNITS(2), DECIMAL_UNIT / 1000, 0, false},
        {"duchi", 3, 1, UNITS(4), 0, 0, false},
        {"duchi", 20, 50, UNITS(1), 0, 3, false},
        {"window", 1, 2, UNITS(1), 0, 4, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        check(&settings[i], NULL, NULL);
    }
}

/* ---- Broken -------------------------------------------------------------- */

static uint32_t calls; /* of a sampler */

/* The noise of every second call is that of the call before. */
static void
repeat_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    static uint8_t kept[64];
    channel_laplace.sample(instance, q, random, ret_wire);
    assert_true(instance->wire_size <= sizeof kept);
    if (calls++ % 2 == 1) {
        memcpy(ret_wire, kept, instance->wire_size);
    }
    memcpy(kept, ret_wire, instance->wire_size);
}

/* The last coordinate has the noise of the first, with its sign changed. */
static void
mirror_sample(const struct channel_instance *instance, const int32_t *q,
              struct random *random, uint8_t *ret_wire)
{
    int64_t values[64];
    uint32_t last = instance->size - 1;
    channel_laplace.sample(instance, q, random, ret_wire);
    sound_unpack(instance, ret_wire, values);
    values[last] = q[last] - (values[0] - q[0]);
    sound_pack(instance, values, ret_wire);
}

static void
test_blocks(void **state)
{
    static const struct setting two = {"laplace", 1, 9, UNITS(1), 0, 2, false};
    (void)state;
    calls = 0;
    check(&two, repeat_sample, "blocks 1 and 2 of a report");
}

static void
test_coordinates(void **state)
{
    static const struct setting wide = {"laplace", 40, 9,    UNITS(4),
                                        0,         0,  false};
    (void)state;
    check(&wide, mirror_sample, "coordinates 1 and 40 of block 1");
}

static void
test_reports_in_either_phase(void **state)
{
    static const struct setting one = {"laplace", 1, 9, UNITS(1), 0, 0, false};
    (void)state;
    for (uint32_t phase = 0; phase < 2; phase++) {
        calls = phase;
        check(&one, repeat_sample, "the report before it");
    }
}

/* What is no report is another attack's find. */
static void
junk_sample(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    channel_flip.sample(instance, q, random, ret_wire);
    ret_wire[0] = 0xff;
}

static void
test_junk(void **state)
{
    static const struct setting flip = {"flip", 5, 0, UNITS(1), 0, 0, false};
    struct specimen specimen;
    struct sotto_audit *audit = attack(&flip, junk_sample, &specimen);
    (void)state;
    assert_int_equal(audit->info.findings, 0);
    sotto_audit_free(audit);
    specimen_clear(&specimen);
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    static const struct setting flip = {"flip", 5, 0, UNITS(1), 0, 0, false};
    struct sotto_mechanism *mechanism = setting_open(&flip);
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    long n = 0;
    (void)state;
    while (status == SOTTO_STATUS_MEMORY) {
        struct sotto_audit *audit = audit_begin(mechanism, &plain);
        struct sotto_error err;
        memset(&err, 0xa5, sizeof err);
        fail_alloc_at(++n);
        status = audit_independence(audit, &err);
        fail_alloc_at(0);
        if (status == SOTTO_STATUS_MEMORY) {
            assert_int_equal(err.status, SOTTO_STATUS_MEMORY);
            assert_int_equal(audit->info.findings, 0);
        } else if (audit->failed) { /* no room for what it found */
            status = SOTTO_STATUS_MEMORY;
        }
        sotto_audit_free(audit);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    assert_true(n > 8);
    sotto_mechanism_free(mechanism);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_reports_in_either_phase),
        cmocka_unit_test(test_junk),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
