/*
 * test_core_kernels.c: kernels without AVX2 are exchanged where the processor
 * has it, and no others.
 */
#include "tensor/cpu/core_kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cblas.h>
#include <cmocka.h>

#include "sotto/sotto.h"

static const struct core_kernels_can none = {0};
static const struct core_kernels_can avx2 = {.avx2 = true};
static const struct core_kernels_can avx512 = {.avx2 = true, .avx512 = true};

static void
test_unknown_processors(void **state)
{
    (void)state;
    assert_string_equal(core_kernels_better("Prescott", avx512), "SkylakeX");
    assert_string_equal(core_kernels_better("Prescott", avx2), "Haswell");
    assert_string_equal(core_kernels_better("Sandybridge", avx2), "Haswell");
    assert_null(core_kernels_better("Prescott", none));
}

/* What the library chose knowingly stays, the name of a later release too. */
static void
test_known_processors(void **state)
{
    static const char *const names[] = {
        "Haswell", "Zen", "Excavator", "SkylakeX", "SapphireRapids", "later"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(core_kernels_better(names[i], avx512));
        assert_null(core_kernels_better(names[i], none));
    }
}

/* Where the library was told, as the program tells it, nothing is left to say.
 */
static void
test_this_processor(void **state)
{
    (void)state;
    const char *better = sotto_work_kernels();
    if (better != NULL) {
        assert_string_not_equal(better, openblas_get_corename());
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_processors),
        cmocka_unit_test(test_known_processors),
        cmocka_unit_test(test_this_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
