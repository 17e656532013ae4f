/*
 * core_kernels.c: which of OpenBLAS's kernels this processor should run.
 *
 * OpenBLAS knows processors by their model numbers. One that is newer than the
 * release gets the kernels of a Prescott, of 2004, whatever it can do: products
 * are then four times slower than need be. What a processor can do, it says
 * itself; so where kernels without AVX2 were taken and it has AVX2, others are
 * named here.
 */
#include "tensor/cpu/core_kernels.h"

#include <cblas.h>
#include <stddef.h>
#include <string.h>

#include "sotto/work.h"

const char *
core_kernels_better(const char *taken, struct core_kernels_can can)
{
    /* All kernels of x86-64 without AVX2; newer names are left alone. */
    static const char *const old[] = {
        "Generic",     "Prescott",  "Core2",      "Penryn",       "Dunnington",
        "Nehalem",     "Katmai",    "Banias",     "Atom",         "Nano",
        "Sandybridge", "Athlon",    "Opteron",    "Opteron_SSE3", "Barcelona",
        "Bobcat",      "Bulldozer", "Piledriver", "Steamroller"};
    for (size_t i = 0; can.avx2 && i < sizeof old / sizeof *old; i++) {
        if (strcmp(taken, old[i]) == 0) {
            return can.avx512 ? "SkylakeX" : "Haswell";
        }
    }
    return NULL;
}

const char *
sotto_work_kernels(void)
{
#if defined(__x86_64__)
    bool avx512 = __builtin_cpu_supports("avx512f") &&
                  __builtin_cpu_supports("avx512cd") &&
                  __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
    const struct core_kernels_can can = {
        .avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
        .avx512 = avx512};
    /* A library that was built for one processor has nothing to choose. */
    return strstr(openblas_get_config(), "DYNAMIC_ARCH") != NULL
               ? core_kernels_better(openblas_get_corename(), can)
               : NULL;
#else
    return NULL;
#endif
}
