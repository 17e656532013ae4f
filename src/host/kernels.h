/*
 * kernels.h: one body, compiled for several kinds of processors, the best of
 * which is chosen at run time. By hand and not by the compiler's own means
 * (target_clones), which sanitizers cannot bear.
 *
 *     #define MAKE(kind)                                                      \
 *         FOR_##kind static void run_##kind(float *x) { run_body(x); }        \
 *         static const struct kernel kernel_##kind = {run_##kind};
 *     HOST_KERNELS(MAKE)
 *     const struct kernel *best(void) { return HOST_KERNEL_BEST(kernel); }
 *
 * A body is always inline, so that it is compiled for its caller's processor.
 */
#ifndef SOTTO_HOST_KERNELS_H
#define SOTTO_HOST_KERNELS_H

/* What each kind of processor has. */
#define FOR_any

#if defined(__x86_64__)
#define FOR_avx2 __attribute__((target("avx2")))
#define FOR_avx512 __attribute__((target("avx512f,avx512vl,avx512bw")))
#define HOST_HAS_AVX2 __builtin_cpu_supports("avx2")
#define HOST_HAS_AVX512                                                        \
    (__builtin_cpu_supports("avx512f") &&                                      \
     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
#define HOST_KERNELS(MAKE) MAKE(any) MAKE(avx2) MAKE(avx512)
#define HOST_KERNEL_BEST(name)                                                 \
    (HOST_HAS_AVX512 ? &name##_avx512                                          \
     : HOST_HAS_AVX2 ? &name##_avx2                                            \
                     : &name##_any)
#else
#define FOR_avx2
#define HOST_HAS_AVX2 0
#define HOST_KERNELS(MAKE) MAKE(any)
#define HOST_KERNEL_BEST(name) (&name##_any)
#endif

#endif
