/*
 * tensor.c: what all back-ends share.
 */
#include "tensor/tensor.h"

const char *
tensor_activation_name(enum tensor_activation activation)
{
    static const char *const names[] = {"none", "relu", "sigmoid", "tanh"};
    return (size_t)activation < sizeof names / sizeof *names ? names[activation]
                                                             : "?";
}

void
tensor_backend_free(struct tensor_backend *backend)
{
    if (backend != NULL) {
        backend->ops->free(backend);
    }
}
