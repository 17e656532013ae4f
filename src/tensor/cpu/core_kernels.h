/*
 * core_kernels.h: which of OpenBLAS's kernels a processor can run.
 */
#ifndef SOTTO_TENSOR_CPU_CORE_KERNELS_H
#define SOTTO_TENSOR_CPU_CORE_KERNELS_H

#include <stdbool.h>

/* What a processor and its operating system can do. */
struct core_kernels_can {
    bool avx2;   /* with FMA */
    bool avx512; /* F, CD, BW, DQ and VL, as SkylakeX has them */
};

/*
 * Names the kernels that are better for such a processor than those called
 * `taken`; NULL: none are. Whoever takes kernels with AVX2 or AVX-512 knew
 * what it did, as OpenBLAS does for processors that it knows.
 */
const char *core_kernels_better(const char *taken, struct core_kernels_can can);

#endif
