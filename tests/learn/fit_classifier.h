/*
 * fit_classifier.h: classifier_fit with a pool and a back-end of its own, of as
 * many threads as the options say.
 */
#ifndef SOTTO_TESTS_FIT_CLASSIFIER_H
#define SOTTO_TESTS_FIT_CLASSIFIER_H

#include "host/error.h"
#include "host/pool.h"
#include "learn/codes/classifier.h"
#include "tensor/tensor.h"

static inline enum sotto_status
fit_classifier(const struct codes_shape *shape, const uint8_t *const *report,
               size_t reports, const struct classifier_aux *known,
               const struct learn_options *options,
               struct classifier **ret_classifier,
               struct classifier_info *ret_info, struct sotto_error *ret_err)
{
    const struct codes_reports each = {report, NULL, reports};
    struct host_pool *pool = NULL;
    struct tensor_backend *backend = NULL;
    enum sotto_status status = host_pool_new(options->threads, &pool, ret_err);
    status = HOST_THEN(status, tensor_new("cpu", pool, &backend, ret_err));
    status = HOST_THEN(status, classifier_fit(shape, &each, known, options,
                                              pool, backend, ret_classifier,
                                              NULL, ret_info, ret_err));
    tensor_backend_free(backend);
    host_pool_free(pool);
    return status;
}

#endif
