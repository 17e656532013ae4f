/*
 * cpu.c: the back-end on OpenBLAS, oneDNN and the vectors of an ordinary
 * processor.
 */
#include "tensor/cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "host/error.h"
#include "host/pool.h"
#include "tensor/cpu/primitive.h"

/* ---- Running ------------------------------------------------------------ */

#if defined(__x86_64__)
#define FLUSH_TO_ZERO 0x8040u /* results and operands */

static unsigned
enter_flush(void)
{
    unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | FLUSH_TO_ZERO);
    return before;
}

static void
leave_flush(unsigned before)
{
    __builtin_ia32_ldmxcsr(before);
}
#else
static unsigned
enter_flush(void)
{
    return 0;
}

static void
leave_flush(unsigned before)
{
    (void)before;
}
#endif

struct run {
    void (*task)(void *context, size_t i, unsigned worker);
    void *context;
};

static void
run_flushed(void *context, size_t i, unsigned worker)
{
    const struct run *run = context;
    unsigned before = enter_flush();
    run->task(run->context, i, worker);
    leave_flush(before);
}

void
cpu_run(struct tensor_backend *self, size_t tasks,
        void (*task)(void *context, size_t i, unsigned worker), void *context)
{
    struct run run = {task, context};
    host_pool_run(((struct cpu_backend *)self)->pool, tasks, run_flushed, &run);
}

struct spans {
    size_t size, unit, parts;
    void (*span)(void *context, size_t i, size_t begin, size_t end);
    void *context;
};

static void
span_task(void *context, size_t i, unsigned worker)
{
    const struct spans *s = context;
    (void)worker;
    s->span(s->context, i, cpu_part(s->size, s->unit, s->parts, i),
            cpu_part(s->size, s->unit, s->parts, i + 1));
}

void
cpu_run_spans(struct tensor_backend *self, size_t size, size_t unit,
              size_t least,
              void (*span)(void *context, size_t i, size_t begin, size_t end),
              void *context)
{
    struct spans spans = {size, unit, cpu_parts(size, least), span, context};
    cpu_run(self, spans.parts, span_task, &spans);
}

/* ---- The table ---------------------------------------------------------- */

static void
free_cpu(struct tensor_backend *self)
{
    primitive_free_all((struct cpu_backend *)self);
    free(self);
}

static const struct tensor_ops cpu = {
    .name = "cpu",
#define CPU_OP(op) .op = cpu_##op,
    TENSOR_OPS(CPU_OP)
#undef CPU_OP
        .free = free_cpu,
};

/* Kernels for small matrices came with AVX-512: tiling.c. */
static bool
multiplies_directly(void)
{
    static const char *const names[] = {"SkylakeX", "Cooperlake",
                                        "SapphireRapids"};
    const char *core = openblas_get_corename();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(core, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

enum sotto_status
cpu_new(struct host_pool *pool, struct tensor_backend **ret,
        struct sotto_error *err)
{
    struct cpu_backend *backend = calloc(1, sizeof *backend);
    if (backend == NULL) {
        return host_fail_memory(err);
    }
    backend->base.ops = &cpu;
    backend->pool = pool;
    backend->direct = multiplies_directly();
    openblas_set_num_threads(1); /* the threads are ours */
    *ret = &backend->base;
    return SOTTO_STATUS_OK;
}
