/*
 * test_enumerate.c: the true epsilon of samplers that ship, of ones broken on
 * purpose, and of a small approximate one made up here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "fail_alloc.h"
#include "privacy/enumerate.h"
#include "random/draw.h"

#define BRANCHES 100000u

static struct sotto_error err;

/* Of the channel that is tried. */
static struct likelihood broken_likelihood;
static const struct likelihood *likelihood_of(const struct channel *channel);

static struct enumerate_result
enumerate(const struct channel *channel, uint32_t size, uint32_t l,
          uint64_t eps, uint64_t delta)
{
    struct enumerate_result result;
    memset(&result, 0x5a, sizeof result);
    assert_int_equal(
        enumerate_channel(
            &(struct enumerate_request){channel, likelihood_of(channel), size,
                                        0, l, eps, delta, BRANCHES, NULL, NULL},
            &result, &err),
        SOTTO_STATUS_OK);
    return result;
}

static const struct channel *
find(const char *name)
{
    return channel_find(channel_exact, name, strlen(name));
}

/* ---- Channels that ship -------------------------------------------------- */

static void
test_known_epsilons(void **state)
{
    static const struct {
        const char *name;
        uint32_t size, l;
        enum enumerate_scope scope;
    } some[] = {
        {"flip", 2, 0, ENUMERATE_WHOLE},
        {"flip", 200, 0, ENUMERATE_WHOLE},
        {"flip", 5000, 0, ENUMERATE_SMALLER},
        {"subset", 12, 0, ENUMERATE_WHOLE},
        {"subset", 500, 0, ENUMERATE_SMALLER},
        {"laplace", 1, 8, ENUMERATE_WHOLE},
        {"laplace", 1, 20, ENUMERATE_WHOLE},
        {"laplace", 8, 8, ENUMERATE_COORDINATE},
        {"laplace", 4096, 1u << 20, ENUMERATE_SMALLER},
    };
    static const uint64_t eps[] = {DECIMAL_UNIT / 10, 3 * DECIMAL_UNIT / 10,
                                   DECIMAL_UNIT, 4 * DECIMAL_UNIT};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        for (size_t j = 0; j < 4; j++) {
            struct enumerate_result r = enumerate(
                find(some[i].name), some[i].size, some[i].l, eps[j], 0);
            assert_string_equal(r.fault, "");
            assert_true(r.within);
            assert_true(r.log_p_error < 1e-11);
            assert_true(r.branches > 0 && r.reports > 1 && r.points > 1);
            assert_true(j != 2 || r.scope == some[i].scope);
            /* never above, and as near as a double tells */
            assert_true(r.eps == (double)eps[j] / (double)DECIMAL_UNIT);
        }
    }
}

/* What was enumerated, with so many rows and columns. */
static struct enumerate_result
enumerate_pairs(uint32_t k1, uint32_t k2, uint64_t eps)
{
    struct enumerate_result result;
    assert_int_equal(enumerate_channel(
                         &(struct enumerate_request){
                             find("signs"), likelihood_find("signs"), k1 * k2,
                             k1, 0, eps, 0, BRANCHES, NULL, NULL},
                         &result, &err),
                     SOTTO_STATUS_OK);
    assert_string_equal(result.fault, "");
    assert_true(result.within);
    assert_true(result.log_p_error < 1e-11);
    assert_true(result.eps == (double)eps / (double)DECIMAL_UNIT);
    return result;
}

static void
test_pairs(void **state)
{
    struct enumerate_result r;
    (void)state;
    for (uint32_t k1 = 2; k1 <= 6; k1++) {
        for (uint32_t k2 = 2; k2 <= 6; k2++) {
            r = enumerate_pairs(k1, k2, DECIMAL_UNIT / 10);
            assert_int_equal(r.scope, ENUMERATE_WHOLE);
            assert_int_equal(r.points, k1 * k2);
            assert_int_equal(r.rows, k1);
        }
    }
    r = enumerate_pairs(10, 10, DECIMAL_UNIT);
    assert_int_equal(r.scope, ENUMERATE_WHOLE); /* of three points */
    r = enumerate_pairs(64, 3, DECIMAL_UNIT);
    assert_int_equal(r.scope, ENUMERATE_SMALLER);
    assert_int_equal(r.size, 15);
    assert_int_equal(r.rows, 5);
}

/* One symbol a set is no set: a domain is worth it where w is two or more. */
static void
test_subsets_are_subsets(void **state)
{
    struct enumerate_result r =
        enumerate(find("subset"), 500, 0, 4 * DECIMAL_UNIT, 0);
    (void)state;
    assert_true(r.size > 30);
}

static uint64_t told;

static void
tell(void *context, uint64_t branches)
{
    assert_ptr_equal(context, &told);
    assert_true(branches > 0);
    told++;
}

static void
test_steps_are_told(void **state)
{
    struct enumerate_result r;
    (void)state;
    told = 0;
    assert_int_equal(enumerate_channel(
                         &(struct enumerate_request){
                             find("laplace"), likelihood_find("laplace"), 1, 0,
                             8, DECIMAL_UNIT, 0, BRANCHES, tell, &told},
                         &r, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(told, r.branches / 4096);
}

static void
test_nothing_fits(void **state)
{
    struct enumerate_result r;
    (void)state;
    assert_int_equal(enumerate_channel(
                         &(struct enumerate_request){
                             find("laplace"), likelihood_find("laplace"), 1, 0,
                             8, DECIMAL_UNIT, 0, 1, NULL, NULL},
                         &r, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(r.scope, ENUMERATE_NOTHING);
    assert_int_equal(r.branches, 0);
}

static void
test_what_no_channel_takes(void **state)
{
    struct enumerate_result r = {.points = 77};
    (void)state;
    assert_int_equal(enumerate_channel(
                         &(struct enumerate_request){
                             find("flip"), likelihood_find("flip"), 1, 0, 0,
                             DECIMAL_UNIT, 0, BRANCHES, NULL, NULL},
                         &r, &err),
                     SOTTO_STATUS_LIMIT);
    assert_int_equal(r.points, 77);
}

/* ---- Broken on purpose --------------------------------------------------- */

static void
tell_truth(const struct channel_instance *instance, const int32_t *q,
           struct random *random, uint8_t *ret_wire)
{
    find("flip")->sample(instance, q, random, ret_wire);
    ret_wire[0] = (uint8_t)q[0];
}

/* Symbol 3 is never sent for anything else. */
static void
shun(const struct channel_instance *instance, const int32_t *q,
     struct random *random, uint8_t *ret_wire)
{
    find("flip")->sample(instance, q, random, ret_wire);
    if (ret_wire[0] == 3 && q[0] != 3) {
        ret_wire[0] = 0;
    }
}

static void
draw_by_record(const struct channel_instance *instance, const int32_t *q,
               struct random *random, uint8_t *ret_wire)
{
    find("flip")->sample(instance, q, random, ret_wire);
    if (q[0] == 2) {
        (void)draw_below(random, 2);
    }
}

static void
take_bytes(const struct channel_instance *instance, const int32_t *q,
           struct random *random, uint8_t *ret_wire)
{
    find("flip")->sample(instance, q, random, ret_wire);
    (void)random_u32(random);
}

static void
leave_range(const struct channel_instance *instance, const int32_t *q,
            struct random *random, uint8_t *ret_wire)
{
    find("flip")->sample(instance, q, random, ret_wire);
    ret_wire[0] = (uint8_t)(ret_wire[0] + 1);
}

static double
claim_nan(const struct likelihood_instance *instance, const uint8_t *wire,
          const int32_t *q)
{
    (void)instance;
    (void)wire;
    (void)q;
    return (double)NAN;
}

static void
test_broken_samplers_are_found(void **state)
{
    struct channel broken = *find("flip");
    struct enumerate_result r;
    (void)state;
    broken.sample = tell_truth;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_false(r.within);
    assert_true(isinf(r.eps));
    broken.sample = shun;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_false(r.within);
    broken.sample = draw_by_record;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_non_null(strstr(r.fault, "invariant 7"));
    broken.sample = take_bytes;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_non_null(strstr(r.fault, "past the exact primitives"));
    broken.sample = leave_range;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_non_null(strstr(r.fault, "outside the valid set"));
    broken = *find("flip");
    broken_likelihood = *likelihood_find("flip");
    broken_likelihood.log_p = claim_nan;
    r = enumerate(&broken, 5, 0, DECIMAL_UNIT, 0);
    assert_true(r.within);
    assert_false(r.log_p_error < 1);
    broken_likelihood.name = NULL;
}

/* ---- An approximate channel ---------------------------------------------- */

/* With probability 1/200 the truth (of two), else a coin of 3/4. */
static enum sotto_status
approximate_init(struct channel_instance *instance, void *own)
{
    instance->own = own;
    instance->wire_size = 1;
    instance->entropy_size = 24;
    return SOTTO_STATUS_OK;
}

static void
approximate_sample(const struct channel_instance *instance, const int32_t *q,
                   struct random *random, uint8_t *ret_wire)
{
    uint32_t leak = draw_bernoulli(random, 1, 200);
    uint32_t lie = draw_bernoulli(random, 1, 4);
    (void)instance;
    ret_wire[0] =
        leak != 0 ? (uint8_t)(2 + q[0]) : (uint8_t)((uint32_t)q[0] ^ lie);
}

static bool
approximate_valid(const struct channel_instance *instance, const uint8_t *wire)
{
    (void)instance;
    return wire[0] < 4;
}

static double
approximate_log_p(const struct likelihood_instance *instance,
                  const uint8_t *wire, const int32_t *q)
{
    (void)instance;
    if (wire[0] >= 2) {
        return wire[0] == 2 + q[0] ? log(0.005) : (double)-INFINITY;
    }
    return log(0.995) + log(wire[0] == q[0] ? 0.75 : 0.25);
}

static const struct channel approximate = {
    .name = "approximate",
    .domain = CHANNEL_DOMAIN_SYMBOLS,
    .approximate = true,
    .own_size = 8,
    .init = approximate_init,
    .sample = approximate_sample,
    .valid = approximate_valid,
};

static void
approximate_set_up(struct likelihood_instance *at)
{
    at->values = 1;
}

static const struct likelihood approximate_likelihood = {
    .name = "approximate",
    .init = approximate_set_up,
    .log_p = approximate_log_p,
};

static const struct likelihood *
likelihood_of(const struct channel *channel)
{
    if (channel == &approximate) {
        return &approximate_likelihood;
    }
    return broken_likelihood.name != NULL ? &broken_likelihood
                                          : likelihood_find(channel->name);
}

static void
test_exact_delta(void **state)
{
    uint64_t eps = 1098612288669; /* ln 3, rounded up */
    struct enumerate_result r =
        enumerate(&approximate, 2, 0, eps, DECIMAL_UNIT / 200);
    (void)state;
    assert_string_equal(r.fault, "");
    assert_true(r.within); /* delta is exactly 1/200 */
    assert_true(fabs(r.delta - 0.005) < 1e-15);
    assert_true(r.eps <= 1.098612288669 && r.eps > 1.0986);
    assert_true(r.log_p_error < 1e-14);
    r = enumerate(&approximate, 2, 0, eps, DECIMAL_UNIT / 200 - 1);
    assert_false(r.within);    /* by 10^-12 */
    assert_true(isinf(r.eps)); /* at no epsilon */
    /* delta(eps) = 0.005 + 0.995 (3/4 - e^eps/4) at epsilon 1 */
    r = enumerate(&approximate, 2, 0, DECIMAL_UNIT, DECIMAL_UNIT / 100);
    assert_false(r.within);
    assert_true(fabs(r.delta - (0.005 + 0.995 * (3 - exp(1)) / 4)) < 1e-14);
    assert_true(fabs(r.eps - log(3 - 4 * 0.005 / 0.995)) < 1e-9);
}

/* ---- Memory -------------------------------------------------------------- */

static void
test_memory(void **state)
{
    static const struct {
        const char *name;
        uint32_t size;
        uint64_t delta;
    } some[] = {{"subset", 40, 0}, {NULL, 2, DECIMAL_UNIT / 100}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct channel *channel =
            some[i].name != NULL ? find(some[i].name) : &approximate;
        struct enumerate_result r;
        enum sotto_status status;
        long n = 0;
        do {
            memset(&err, 0xa5, sizeof err);
            fail_alloc_at(n += n < 40 ? 1 : 97);
            status = enumerate_channel(
                &(struct enumerate_request){channel, likelihood_of(channel),
                                            some[i].size, 0, 0, DECIMAL_UNIT,
                                            some[i].delta, 1000, NULL, NULL},
                &r, &err);
            if (status != SOTTO_STATUS_OK) {
                assert_int_equal(status, SOTTO_STATUS_MEMORY);
                assert_string_equal(err.message, "out of memory");
            }
        } while (fail_alloc_count() >= n);
        fail_alloc_at(0);
        assert_int_equal(status, SOTTO_STATUS_OK);
        assert_true(n > 5);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_epsilons),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_subsets_are_subsets),
        cmocka_unit_test(test_steps_are_told),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_what_no_channel_takes),
        cmocka_unit_test(test_broken_samplers_are_found),
        cmocka_unit_test(test_exact_delta),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
