/*
 * tensor.c: the back-ends by name, and what all of them share.
 */
#include "tensor/tensor.h"

#include <string.h>

#include "host/error.h"
#include "tensor/cpu/cpu.h"
#include "tensor/plain/plain.h"

static const struct {
    const char *name;
    enum sotto_status (*make)(struct host_pool *pool,
                              struct tensor_backend **ret,
                              struct sotto_error *err);
} backends[] = {
    {"cpu", cpu_new},
    {"plain", plain_new},
};
#define BACKENDS (sizeof backends / sizeof *backends)

enum sotto_status
tensor_new(const char *name, struct host_pool *pool,
           struct tensor_backend **ret, struct sotto_error *err)
{
    for (size_t i = 0; i < BACKENDS; i++) {
        if (strcmp(backends[i].name, name) == 0) {
            return backends[i].make(pool, ret, err);
        }
    }
    return host_fail(err, SOTTO_STATUS_USAGE, 0,
                     "there is no back-end '%s': cpu and plain are there",
                     name);
}

const char *
tensor_name_at(size_t i)
{
    return i < BACKENDS ? backends[i].name : NULL;
}

void
tensor_backend_free(struct tensor_backend *backend)
{
    if (backend != NULL) {
        backend->ops->free(backend);
    }
}
