/*
 * fuzz_mechanism.c: sotto_client_size and sotto_client_open on whole files,
 * and what opens is used: one report of a record made from the same bytes,
 * which must be valid; and a pin of another file must refuse.
 *
 * The input's first byte shapes the record, the rest is the file. So that
 * changes of the header's length do not stop the search, an input whose first
 * byte is odd has its length and padding put right first.
 */
#include <stdlib.h>
#include <string.h>

#include "client/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORKSPACE_MOST ((size_t)1 << 26)
#define REPORT_MOST ((size_t)1 << 16)
#define WORK_MOST ((uint64_t)1 << 26) /* more would look like a hang */

int
sotto_entropy(void *buffer, size_t size)
{
    static uint32_t state = 1;
    uint8_t *at = buffer;
    for (size_t i = 0; i < size; i++) {
        state = state * UINT32_C(1664525) + UINT32_C(1013904223);
        at[i] = (uint8_t)(state >> 24);
    }
    return 0;
}

/* A copy at the end of its own memory; 8 bytes of length, then a header that
   ends with the last '}' before the tensors, if `repair`. */
static uint8_t *
copy_file(const uint8_t *data, size_t size, bool repair)
{
    uint8_t *file = malloc(size > 0 ? size : 1);
    uint64_t length = 0;
    if (file == NULL || size == 0) {
        return file;
    }
    memcpy(file, data, size);
    if (repair && size > 16) {
        static const uint8_t end[] = "]}}";
        uint8_t *found = memmem(file + 8, size - 8, end, 3);
        if (found != NULL) {
            length = ((uint64_t)(found + 3 - (file + 8)) + 7) / 8 * 8;
        }
        for (size_t i = 0; i < 8 && length > 0; i++) {
            file[i] = (uint8_t)(length >> (8 * i));
        }
        for (uint8_t *at = found;
             at != NULL && at + 3 < file + 8 + length && at + 3 < file + size;
             at++) {
            at[3] = ' ';
        }
    }
    return file;
}

static struct sotto_value
make_value(uint8_t shape, const uint8_t *data, size_t size)
{
    static const double numbers[] = {0, 1, -1e300, 1e300, 0.5, 3, -2, 1e-300};
    struct sotto_value value = {SOTTO_VALUE_MISSING, 0, NULL, 0};
    value.kind = (enum sotto_value_kind)(shape % 5); /* 4 is no kind */
    value.number = numbers[shape / 5 % 8];
    if (shape < 200) {
        value.data = data;
        value.size = size < shape ? size : shape;
    }
    return value;
}

static void
use(struct sotto_client *client, uint8_t shape, const uint8_t *data,
    size_t size)
{
    size_t columns = sotto_client_columns(client);
    size_t report_size = sotto_client_report_size(client);
    struct sotto_value *values = calloc(columns, sizeof *values);
    uint8_t *report;
    if (report_size > REPORT_MOST || client->sizes.work > WORK_MOST ||
        values == NULL) {
        free(values);
        return;
    }
    report = malloc(report_size);
    for (size_t i = 0; i < columns; i++) {
        values[i] = make_value((uint8_t)(shape + 7 * i), data, size);
    }
    if (report != NULL) {
        if (sotto_client_privatise(client, values, columns, report,
                                   report_size) != SOTTO_STATUS_OK ||
            !report_valid(&client->report, report, report_size)) {
            abort();
        }
    }
    free(report);
    free(values);
}

static void
open_file(const uint8_t *file, size_t size, uint8_t shape)
{
    static const uint8_t pin[SOTTO_HASH_SIZE];
    struct sotto_client *client = NULL;
    struct sotto_error err = {0};
    size_t need = 0;
    void *workspace;
    if (sotto_client_size(file, size, &need, &err) != SOTTO_STATUS_OK) {
        if (err.status == SOTTO_STATUS_OK || err.position > size) {
            abort();
        }
        return;
    }
    workspace = need <= WORKSPACE_MOST ? malloc(need) : NULL;
    if (workspace == NULL) {
        return;
    }
    if (sotto_client_open(file, size, pin, workspace, need, &client, NULL) !=
            SOTTO_STATUS_PIN ||
        client != NULL) {
        abort();
    }
    if (sotto_client_open(file, size, NULL, workspace, need, &client, &err) ==
        SOTTO_STATUS_OK) {
        use(client, shape, file, size);
    } else if (client != NULL || err.status == SOTTO_STATUS_OK ||
               err.position > size) {
        abort();
    }
    sotto_client_close(client);
    free(workspace);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *file;
    if (size == 0) {
        return 0;
    }
    file = copy_file(data + 1, size - 1, data[0] % 2 == 1);
    if (file != NULL) {
        open_file(file, size - 1, data[0]);
    }
    free(file);
    return 0;
}
