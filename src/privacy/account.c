/*
 * account.c: what several budgets cost together.
 *
 * Sums of budgets are integers. The bounds with square roots and logarithms
 * are computed in real.h's numbers, every operation rounded to the side that
 * makes the answer larger. Symbols, for budgets i = 1, ..., m:
 *
 *     n_i, eps_i, delta_i     how often, and at what cost
 *     slack                   delta', what the bound may add to delta
 *
 * The theorems are stated, and proved as far as they are used, in
 * docs/accounting.md.
 */
#include <stdbool.h>
#include <string.h>

#include "base/decimal.h"
#include "host/amount.h"
#include "host/error.h"
#include "privacy/real.h"
#include "privacy/response.h"
#include "sotto/sotto.h"

_Static_assert(SOTTO_UNIT == DECIMAL_UNIT, "one unit");
_Static_assert(SOTTO_UNITS_SIZE >= DECIMAL_TEXT_SIZE, "room for its text");

/* ---- Text --------------------------------------------------------------- */

/* `text` is `word`, or a part of it: the message shows the whole word. */
static enum sotto_status
read_delta(const char *word, const char *text, size_t size, uint64_t *ret_delta,
           struct sotto_error *err)
{
    uint64_t delta;
    struct sotto_error why;
    size_t before = (size_t)(text - word);
    enum sotto_status status = decimal_read(text, size, &delta, &why);
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, status, before + why.position,
                         "'%.80s': delta must be a plain decimal number with "
                         "at most 12 digits behind the point, such as 0.000001",
                         word);
    }
    if (delta >= DECIMAL_UNIT) {
        return host_fail(err, SOTTO_STATUS_BUDGET, before,
                         "'%.80s': delta must be below 1, such as 0.000001",
                         word);
    }
    *ret_delta = delta;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_times(const char *word, const char *text, uint32_t *ret_times,
           struct sotto_error *err)
{
    uint64_t times = 0;
    size_t size = strspn(text, "0123456789");
    for (size_t i = 0; i < size && times <= UINT32_MAX; i++) {
        times = 10 * times + (uint64_t)(text[i] - '0');
    }
    if (size == 0 || text[size] != '\0' || times == 0 || times > UINT32_MAX) {
        return host_fail(err, SOTTO_STATUS_FORMAT, (size_t)(text - word),
                         "'%.80s': behind the x must stand how often, a whole "
                         "number from 1 to 4294967295",
                         word);
    }
    *ret_times = (uint32_t)times;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_account_budget_parse(const char *word,
                           struct sotto_account_budget *ret_budget,
                           struct sotto_error *err)
{
    struct sotto_account_budget budget = {.times = 1};
    struct sotto_error why;
    size_t eps_size = strcspn(word, ":x");
    const char *at = word + eps_size;
    enum sotto_status status =
        decimal_read_eps(word, eps_size, &budget.eps, &why);
    if (status != SOTTO_STATUS_OK) {
        return host_fail(err, status, why.position, "'%.80s': %s", word,
                         why.message);
    }
    if (*at == ':') {
        size_t size = strcspn(at + 1, "x");
        status = read_delta(word, at + 1, size, &budget.delta, err);
        at += 1 + size;
    }
    if (status == SOTTO_STATUS_OK && *at == 'x') {
        status = read_times(word, at + 1, &budget.times, err);
    }
    if (status == SOTTO_STATUS_OK) {
        *ret_budget = budget;
    }
    return status;
}

enum sotto_status
sotto_delta_parse(const char *text, uint64_t *ret_delta,
                  struct sotto_error *err)
{
    return read_delta(text, text, strlen(text), ret_delta, err);
}

size_t
sotto_units_write(uint64_t units, char text[SOTTO_UNITS_SIZE])
{
    return amount_write(units, text);
}

/* ---- Basic: sums -------------------------------------------------------- */

static enum sotto_status
check_budgets(const struct sotto_account_budget *budgets, size_t count,
              struct sotto_error *err)
{
    if (count == 0) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0,
                         "there is no budget to account for");
    }
    for (size_t i = 0; i < count; i++) {
        if (budgets[i].times == 0) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "budget %zu is used 0 times: leave it out", i + 1);
        }
        if (budgets[i].eps < DECIMAL_EPS_MIN ||
            budgets[i].eps > DECIMAL_EPS_MAX ||
            budgets[i].delta >= DECIMAL_UNIT) {
            return host_fail(err, SOTTO_STATUS_BUDGET, i,
                             "budget %zu is out of range: epsilon must be from "
                             "0.000001 to 32, delta below 1",
                             i + 1);
        }
    }
    return SOTTO_STATUS_OK;
}

/* A delta of 1 promises nothing: there is nothing beyond it. */
static uint64_t
delta_add(uint64_t a, uint64_t b)
{
    return a + b < DECIMAL_UNIT ? a + b : DECIMAL_UNIT;
}

enum sotto_status
sotto_account_basic(const struct sotto_account_budget *budgets, size_t count,
                    struct sotto_account_cost *ret_cost,
                    struct sotto_error *err)
{
    struct sotto_account_cost sum = {0, 0};
    enum sotto_status status = check_budgets(budgets, count, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t eps = budgets[i].eps, delta = budgets[i].delta;
        uint32_t times = budgets[i].times;
        if (eps > (UINT64_MAX - sum.eps) / times) {
            return host_fail(err, SOTTO_STATUS_LIMIT, i,
                             "the epsilons add up to more than 18446744, which "
                             "protects no one: account for fewer");
        }
        sum.eps += eps * times;
        sum.delta = delta > DECIMAL_UNIT / times
                        ? DECIMAL_UNIT
                        : delta_add(sum.delta, delta * times);
    }
    *ret_cost = sum;
    return SOTTO_STATUS_OK;
}

/* ---- Advanced: concentration -------------------------------------------- */

/* What the theorems need to know of the budgets, all rounded up. */
struct moments {
    struct real mean;   /* sum n eps tanh(eps/2): at most what is lost */
    struct real drift;  /* sum n eps (e^eps - 1): DRV's bound of that */
    struct real square; /* sum n eps^2 */
};

static void
moments_init(struct moments *moments,
             const struct sotto_account_budget *budgets, size_t count)
{
    struct real eps, exp, term;
    REAL_INIT(&moments->mean, &moments->drift, &moments->square, &eps, &exp,
              &term);
    for (size_t i = 0; i < count; i++) {
        mpfr_ptr t = term.value;
        uint32_t n = budgets[i].times;
        real_set_units(eps.value, budgets[i].eps, MPFR_RNDU);
        real_exp_up(exp.value, budgets[i].eps);

        /* n eps tanh(eps/2) = n eps (1 - 2 / (e^eps + 1)) */
        (void)mpfr_add_ui(t, exp.value, 1, MPFR_RNDU);
        (void)mpfr_ui_div(t, 2, t, MPFR_RNDD);
        (void)mpfr_ui_sub(t, 1, t, MPFR_RNDU);
        (void)mpfr_mul(t, t, eps.value, MPFR_RNDU);
        (void)mpfr_mul_ui(t, t, n, MPFR_RNDU);
        (void)mpfr_add(moments->mean.value, moments->mean.value, t, MPFR_RNDU);

        (void)mpfr_sub_ui(t, exp.value, 1, MPFR_RNDU);
        (void)mpfr_mul(t, t, eps.value, MPFR_RNDU);
        (void)mpfr_mul_ui(t, t, n, MPFR_RNDU);
        (void)mpfr_add(moments->drift.value, moments->drift.value, t,
                       MPFR_RNDU);

        (void)mpfr_mul(t, eps.value, eps.value, MPFR_RNDU);
        (void)mpfr_mul_ui(t, t, n, MPFR_RNDU);
        (void)mpfr_add(moments->square.value, moments->square.value, t,
                       MPFR_RNDU);
    }
}

/* ret := sqrt(2 square ln x). */
static void
deviation(mpfr_ptr ret, const struct moments *moments, mpfr_srcptr x)
{
    real_set_units(ret, real_log_up(x, UINT64_MAX), MPFR_RNDU);
    (void)mpfr_mul(ret, ret, moments->square.value, MPFR_RNDU);
    (void)mpfr_mul_ui(ret, ret, 2, MPFR_RNDU);
    (void)mpfr_sqrt(ret, ret, MPFR_RNDU);
}

/* ln(1/slack), and KOV's other choice, ln(e + sqrt(square)/slack): the x of
   both logarithms. */
static void
tail_plain(mpfr_ptr ret, uint64_t slack)
{
    real_set_units(ret, slack, MPFR_RNDD);
    (void)mpfr_ui_div(ret, 1, ret, MPFR_RNDU);
}

static void
tail_weighted(mpfr_ptr ret, const struct moments *moments, uint64_t slack)
{
    struct real term;
    REAL_INIT(&term);
    real_set_units(term.value, slack, MPFR_RNDD);
    (void)mpfr_sqrt(ret, moments->square.value, MPFR_RNDU);
    (void)mpfr_div(ret, ret, term.value, MPFR_RNDU);
    real_exp_up(term.value, DECIMAL_UNIT);
    (void)mpfr_add(ret, ret, term.value, MPFR_RNDU);
}

static enum sotto_status
check_slack(uint64_t slack, struct sotto_error *err)
{
    if (slack >= DECIMAL_UNIT) {
        return host_fail(err, SOTTO_STATUS_BUDGET, 0,
                         "the slack, a delta, must be below 1");
    }
    return SOTTO_STATUS_OK;
}

/*
 * 1 - (1 - slack) prod (1 - delta_i)^n_i. Where rounding up to a whole unit
 * would take it above the sum of them all, the sum is the bound: it is exact.
 */
static uint64_t
total_delta(const struct sotto_account_budget *budgets, size_t count,
            uint64_t slack, uint64_t sum)
{
    struct real kept, one;
    REAL_INIT(&kept, &one);
    real_set_units(kept.value, DECIMAL_UNIT - slack, MPFR_RNDD);
    for (size_t i = 0; i < count; i++) {
        real_set_units(one.value, DECIMAL_UNIT - budgets[i].delta, MPFR_RNDD);
        real_power(one.value, one.value, budgets[i].times, MPFR_RNDD);
        (void)mpfr_mul(kept.value, kept.value, one.value, MPFR_RNDD);
    }
    (void)mpfr_ui_sub(kept.value, 1, kept.value, MPFR_RNDU);
    uint64_t units = real_units_up(kept.value);
    uint64_t most = delta_add(sum, slack);
    return units < most ? units : most;
}

/* Both bounds where a slack is given; the basic cost where that is less. */
static enum sotto_status
account_slack(const struct sotto_account_budget *budgets, size_t count,
              uint64_t slack, bool kov, struct sotto_account_cost *ret_cost,
              struct sotto_error *err)
{
    struct sotto_account_cost cost;
    struct moments moments;
    struct real tail, other, eps;
    enum sotto_status status = sotto_account_basic(budgets, count, &cost, err);
    status = HOST_THEN(status, check_slack(slack, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (slack > 0) {
        /* DRV: eps = drift + sqrt(2 square ln(1/slack))
           KOV: eps = mean + sqrt(2 square ln min(1/slack,
                                                  e + sqrt(square)/slack)) */
        REAL_INIT(&tail, &other, &eps);
        moments_init(&moments, budgets, count);
        tail_plain(tail.value, slack);
        tail_weighted(other.value, &moments, slack);
        bool plain = !kov || mpfr_cmp(tail.value, other.value) <= 0;
        deviation(eps.value, &moments, plain ? tail.value : other.value);
        (void)mpfr_add(eps.value, eps.value,
                       kov ? moments.mean.value : moments.drift.value,
                       MPFR_RNDU);
        uint64_t units = real_units_up(eps.value);
        if (units < cost.eps) {
            cost.eps = units;
            cost.delta = kov ? total_delta(budgets, count, slack, cost.delta)
                             : delta_add(cost.delta, slack);
        }
    }
    *ret_cost = cost;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_account_drv(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err)
{
    return account_slack(budgets, count, slack, false, ret_cost, err);
}

enum sotto_status
sotto_account_kov(const struct sotto_account_budget *budgets, size_t count,
                  uint64_t slack, struct sotto_account_cost *ret_cost,
                  struct sotto_error *err)
{
    return account_slack(budgets, count, slack, true, ret_cost, err);
}

/* ---- Optimal: identical mechanisms -------------------------------------- */

/* All budgets as one, and their basic cost; fails where they differ. */
static enum sotto_status
merge_budgets(const struct sotto_account_budget *budgets, size_t count,
              uint32_t k, struct sotto_account_budget *ret_one,
              struct sotto_account_cost *ret_basic, struct sotto_error *err)
{
    uint64_t times = 0;
    enum sotto_status status =
        sotto_account_basic(budgets, count, ret_basic, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count; i++) {
        times += budgets[i].times;
        if (budgets[i].eps != budgets[0].eps ||
            budgets[i].delta != budgets[0].delta) {
            return host_fail(err, SOTTO_STATUS_USAGE, i,
                             "budget %zu differs from the first: the optimal "
                             "cost is only computed for identical budgets",
                             i + 1);
        }
    }
    if (k < 2 || (k > 2 && budgets[0].delta > 0)) {
        return host_fail(err, SOTTO_STATUS_USAGE, 0, "%s",
                         k < 2 ? "a response needs at least 2 answers"
                               : "a k-ary response has a delta of 0: leave the "
                                 "delta out");
    }
    if (times > SOTTO_ACCOUNT_TIMES_MAX) {
        return host_fail(err, SOTTO_STATUS_LIMIT, 0,
                         "the optimal cost is only computed for at most "
                         "1000000 mechanisms");
    }
    *ret_one = budgets[0];
    ret_one->times = (uint32_t)times;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_account_optimal(const struct sotto_account_budget *budgets, size_t count,
                      uint32_t k, uint64_t slack,
                      struct sotto_account_cost *ret_cost,
                      struct sotto_error *err)
{
    struct sotto_account_budget one;
    struct sotto_account_cost cost;
    enum sotto_status status =
        merge_budgets(budgets, count, k, &one, &cost, err);
    status = HOST_THEN(status, check_slack(slack, err));
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    uint64_t eps = response_eps(one.eps, one.times, k, slack);
    if (eps < cost.eps) {
        cost.eps = eps;
        cost.delta = total_delta(&one, 1, slack, cost.delta);
    }
    *ret_cost = cost;
    return SOTTO_STATUS_OK;
}

enum sotto_status
sotto_account_delta(const struct sotto_account_budget *budgets, size_t count,
                    uint32_t k, uint64_t eps, uint64_t *ret_delta,
                    struct sotto_error *err)
{
    struct sotto_account_budget one;
    struct sotto_account_cost basic;
    enum sotto_status status =
        merge_budgets(budgets, count, k, &one, &basic, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    uint64_t slack = response_delta(one.eps, one.times, k, eps);
    *ret_delta = total_delta(&one, 1, slack, basic.delta);
    return SOTTO_STATUS_OK;
}
