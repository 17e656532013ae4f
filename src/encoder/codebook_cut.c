/*
 * codebook_cut.c: codes of the auxiliary records, as a device finds them.
 *
 * A device adds up scores in its own order, so where two are nearly equal the
 * fast kernels may find another one the largest. The codes here are those of a
 * mechanism whose columns are the representation and whose one layer is the
 * codebook's: its numbers are those of the whole mechanism from there on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "encoder/codebook.h"
#include "host/error.h"
#include "host/pool.h"
#include "host/wipe.h"

#define TASK_ROWS ((size_t)256)
#define NAME_SIZE 8u /* of a column: "0" to "4095" */

/* One thread's own device. */
struct device {
    struct sotto_mechanism *mechanism;
    struct sotto_value *value;
};

struct coding {
    const struct sotto_codebook *codebook;
    struct codebook_cut *cut;
    struct device *device;
};

/* z, one layer, and a part that no one will use. */
static enum sotto_status
compose_layer(const struct codebook_head *head, uint8_t **ret_data,
              size_t *ret_size, struct sotto_error *err)
{
    uint32_t d = (uint32_t)head->d, k = (uint32_t)head->k;
    const struct layer layer = {.in = d,
                                .out = k,
                                .activation = ACTIVATION_NONE,
                                .weight = head->weight,
                                .bias = head->bias};
    const struct compose_part part = {.covers = "features",
                                      .channel = "flip",
                                      .eps = DECIMAL_UNIT,
                                      .blocks = 1,
                                      .factor = {{.k = k}},
                                      .factors = 1};
    struct compose_spec spec = {.name = "codes",
                                .campaign = "codes",
                                .auxiliary = "none",
                                .eps = DECIMAL_UNIT,
                                .columns = d,
                                .layer = &layer,
                                .layers = 1,
                                .part = &part,
                                .parts = 1};
    struct schema_column *column = calloc(d, sizeof *column);
    char(*name)[NAME_SIZE] = calloc(d, sizeof *name);
    enum sotto_status status;
    for (uint32_t i = 0; column != NULL && name != NULL && i < d; i++) {
        (void)snprintf(name[i], sizeof name[i], "%u", i % 10000u);
        column[i] = (struct schema_column){.name = name[i],
                                           .kind = SOTTO_COLUMN_NUMBER,
                                           .count = 1,
                                           .input = true,
                                           .scale = 1};
    }
    spec.column = column;
    status = column != NULL && name != NULL
                 ? compose_mechanism(&spec, ret_data, ret_size, err)
                 : host_fail_memory(err);
    free(column);
    free(name);
    return status;
}

static void
code_task(void *context, size_t index, unsigned worker)
{
    const struct coding *coding = context;
    const struct sotto_codebook *codebook = coding->codebook;
    struct sotto_client *client = coding->device[worker].mechanism->client;
    struct sotto_value *value = coding->device[worker].value;
    size_t d = codebook->d, from = index * TASK_ROWS;
    for (size_t i = from; i < codebook->n && i < from + TASK_ROWS; i++) {
        for (size_t j = 0; j < d; j++) {
            value[j] =
                (struct sotto_value){.kind = SOTTO_VALUE_NUMBER,
                                     .number = (double)codebook->z[i * d + j]};
        }
        schema_apply(&client->encoder, value);
        forward_run(&client->encoder);
        coding->cut->code[i] =
            domain_largest(client->encoder.z, (uint32_t)coding->cut->head.k);
        device_wipe(client);
    }
}

static enum sotto_status
find_codes(const struct sotto_codebook *codebook, struct codebook_cut *cut,
           struct sotto_error *err)
{
    struct host_pool *pool = codebook->pool;
    size_t threads = host_pool_threads(pool), devices = 0, size = 0;
    struct coding coding = {.codebook = codebook, .cut = cut};
    uint8_t *data = NULL;
    enum sotto_status status = compose_layer(&cut->head, &data, &size, err);
    coding.device = calloc(threads, sizeof *coding.device);
    cut->code = calloc(codebook->n, sizeof *cut->code);
    if (status != SOTTO_STATUS_OK) {
        goto done;
    }
    if (coding.device == NULL || cut->code == NULL) {
        status = host_fail_memory(err);
        goto done;
    }
    for (; status == SOTTO_STATUS_OK && devices < threads; devices++) {
        struct device *device = &coding.device[devices];
        device->value = calloc(codebook->d, sizeof *device->value);
        status = device->value != NULL
                     ? sotto_mechanism_parse(data, size, "the codes' layer",
                                             &device->mechanism, err)
                     : host_fail_memory(err);
    }
    if (status == SOTTO_STATUS_OK) {
        host_pool_run(pool, (codebook->n + TASK_ROWS - 1) / TASK_ROWS,
                      code_task, &coding);
    }
done:
    for (size_t i = 0; i < devices; i++) {
        host_wipe_free(coding.device[i].value,
                       codebook->d * sizeof *coding.device[i].value);
        sotto_mechanism_free(coding.device[i].mechanism);
    }
    free(coding.device);
    free(data);
    return status;
}

enum sotto_status
codebook_cut(struct sotto_codebook *codebook, size_t k,
             const struct codebook_cut **ret, struct sotto_error *err)
{
    struct codebook_cut *cut = codebook->cut;
    enum sotto_status status;
    while (cut != NULL && cut->head.k != k) {
        cut = cut->next;
    }
    if (cut != NULL) {
        *ret = cut;
        return SOTTO_STATUS_OK;
    }
    cut = calloc(1, sizeof *cut);
    if (cut == NULL) {
        return host_fail_memory(err);
    }
    cut->n = codebook->n;
    status = codebook_head_init(&cut->head, &codebook->clustering, k,
                                codebook->pool, codebook->backend, codebook->z,
                                codebook->n, codebook->options.seed,
                                &codebook->options.watch, err);
    if (status == SOTTO_STATUS_OK) {
        status = find_codes(codebook, cut, err);
    }
    if (status != SOTTO_STATUS_OK) {
        codebook_cuts_free(cut);
        return status;
    }
    cut->next = codebook->cut;
    codebook->cut = cut;
    *ret = cut;
    return SOTTO_STATUS_OK;
}

void
codebook_cuts_free(struct codebook_cut *cut)
{
    while (cut != NULL) {
        struct codebook_cut *next = cut->next;
        codebook_head_clear(&cut->head);
        host_wipe_free(cut->code, cut->n * sizeof *cut->code);
        free(cut);
        cut = next;
    }
}
