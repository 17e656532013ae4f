/*
 * require.h: what must hold whatever the input is; libFuzzer keeps an input
 * that ends the program.
 */
#ifndef SOTTO_FUZZ_REQUIRE_H
#define SOTTO_FUZZ_REQUIRE_H

#include <stdbool.h>
#include <stdlib.h>

static inline void
require(bool truth)
{
    if (!truth) {
        abort();
    }
}

#endif
