/*
 * fuzz_budget.c: the words of `sotto account` on any text. What is accepted
 * must be in range, and composing it must give a cost that is not below one of
 * its mechanisms' and not above the plain sum.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "sotto/sotto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
insist(int holds)
{
    if (!holds) {
        abort();
    }
}

static void
check_costs(const struct sotto_account_budget *budget)
{
    struct sotto_account_cost basic, kov;
    if (sotto_account_basic(budget, 1, &basic, NULL) != SOTTO_STATUS_OK) {
        return; /* the sum is beyond what is counted */
    }
    insist(basic.eps >= budget->eps && basic.delta >= budget->delta);
    if (sotto_account_kov(budget, 1, 1000, &kov, NULL) == SOTTO_STATUS_OK) {
        insist(kov.eps <= basic.eps);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_account_budget budget = {0, 0, 0};
    struct sotto_error err;
    char word[256];
    size = size < sizeof word ? size : sizeof word - 1;
    memcpy(word, data, size);
    word[size] = '\0';
    if (sotto_account_budget_parse(word, &budget, &err) == SOTTO_STATUS_OK) {
        insist(budget.eps >= DECIMAL_EPS_MIN && budget.eps <= DECIMAL_EPS_MAX);
        insist(budget.delta < DECIMAL_UNIT && budget.times >= 1);
        check_costs(&budget);
    } else {
        insist(budget.eps == 0 && budget.delta == 0 && budget.times == 0);
    }
    return 0;
}
