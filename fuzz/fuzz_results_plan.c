/*
 * fuzz_results_plan.c: what plan foretold, read back from any bytes: points
 * that a page can draw, or a message.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mechanism/results.h"
#include "require.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_results_accuracy *at = NULL;
    struct sotto_error err = {0};
    size_t count = 0;
    if (results_plan_parse((const char *)data, size, "fuzz", 4, &at, &count,
                           &err) != SOTTO_STATUS_OK) {
        require(err.message[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        require(at[i].people >= 1 && at[i].accuracy >= 0 &&
                at[i].accuracy <= 1);
        require(i == 0 || at[i - 1].people <= at[i].people);
        require(!(at[i].low < 0) && !(at[i].high > 1) &&
                !(at[i].low > at[i].high));
    }
    free(at);
    return 0;
}
