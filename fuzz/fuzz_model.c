/*
 * fuzz_model.c: the reader of model files. What opens is used: a simulated
 * report of a record with nothing in it is classified, and the probabilities
 * must be probabilities.
 *
 * So that changes of the header's length do not stop the search, an input whose
 * first byte is odd has its length put right first; the rest is the file.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/model.h"
#include "mechanism/mechanism.h"
#include "require.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REPORT_MOST ((size_t)1 << 16)
#define CLASSES_MOST 4096u

static void
classify(struct sotto_model *model, const uint8_t *report)
{
    size_t classes = sotto_model_classes(model);
    double *p = calloc(classes, sizeof *p), sum = 0;
    struct sotto_error err;
    enum sotto_status status;
    if (p == NULL) {
        return;
    }
    status = sotto_model_predict_private(model, report, 1, p, &err);
    require(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_USAGE ||
            status == SOTTO_STATUS_MEMORY);
    for (size_t y = 0; y < classes; y++) {
        sum += p[y];
    }
    /* Finite weights may still overflow on the way: then there are NaNs. */
    require(status != SOTTO_STATUS_OK || isnan(sum) || fabs(sum - 1) < 0.01);
    free(p);
}

static void
use(struct sotto_model *model)
{
    struct sotto_mechanism *mechanism = sotto_model_mechanism(model);
    size_t columns = mechanism->shape.schema.columns;
    size_t size = mechanism->shape.report_size;
    struct sotto_value *values = calloc(columns + 1, sizeof *values);
    uint8_t *report = size <= REPORT_MOST ? malloc(size) : NULL;
    for (size_t y = 0; y < 3; y++) {
        require(sotto_model_class(model, y) != NULL);
    }
    if (values != NULL && report != NULL &&
        sotto_model_classes(model) <= CLASSES_MOST &&
        sotto_simulate(mechanism, 1, 2, values, columns, report, size) ==
            SOTTO_STATUS_OK) {
        classify(model, report);
    }
    free(report);
    free(values);
}

/* The header's length, up to the last brace before the tensors. */
static void
repair(uint8_t *file, size_t size)
{
    static const uint8_t end[] = "]}}";
    uint8_t *found = size > 16 ? memmem(file + 8, size - 8, end, 3) : NULL;
    uint64_t length;
    if (found == NULL) {
        return;
    }
    length = ((uint64_t)(found + 3 - (file + 8)) + 7) / 8 * 8;
    for (size_t i = 0; i < 8; i++) {
        file[i] = (uint8_t)(length >> (8 * i));
    }
    for (uint8_t *at = found + 3; at < file + 8 + length && at < file + size;
         at++) {
        *at = ' ';
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sotto_model *model = NULL;
    struct sotto_error err = {0};
    uint8_t *file = size > 0 ? malloc(size) : NULL;
    if (file == NULL) {
        return 0;
    }
    memcpy(file, data + 1, size - 1);
    if (data[0] % 2 == 1) {
        repair(file, size - 1);
    }
    if (model_parse(file, size - 1, "fuzz", &model, &err) == SOTTO_STATUS_OK) {
        use(model);
    } else {
        require(model == NULL && err.status != SOTTO_STATUS_OK);
    }
    sotto_model_free(model);
    free(file);
    return 0;
}
