/*
 * fuzz_json.c: client/reader.c and manifest_read on a raw manifest, without
 * the file around it: first the sizes are gathered, as sotto_client_size
 * does, then the same text must give the same sizes again. What is read
 * stays in its bounds, and reading it never goes back.
 *
 * With an odd first byte the rest is JSON as it stands, and gets its
 * backslashes here; with an even one it is taken as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "client/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The text with a backslash before every quotation mark. */
static uint8_t *
escape(const uint8_t *data, size_t size, size_t *ret_size)
{
    uint8_t *text = malloc(2 * size + 1), *at = text;
    for (size_t i = 0; text != NULL && i < size; i++) {
        if (data[i] == '"') {
            *at++ = '\\';
        }
        *at++ = data[i];
    }
    *ret_size = text != NULL ? (size_t)(at - text) : 0;
    return text;
}

static void
check_sizes(const struct device_sizes *sizes)
{
    if (sizes->columns == 0 || sizes->columns > DEVICE_COLUMNS_MAX ||
        sizes->layers > DEVICE_LAYERS_MAX || sizes->parts == 0 ||
        sizes->parts > DEVICE_PARTS_MAX || sizes->inputs > sizes->width ||
        sizes->width > DEVICE_WIDTH_MAX || sizes->q == 0 ||
        sizes->q > CHANNEL_D_MAX ||
        sizes->channels > (uint64_t)DEVICE_PARTS_MAX * 65536 ||
        sizes->floats < sizes->width ||
        sizes->floats > (sizes->layers + 1) * (uint64_t)sizes->width ||
        sizes->floats > DEVICE_FLOATS_MAX || sizes->work > DEVICE_WORK_MAX) {
        abort();
    }
}

static void
read_manifest(const uint8_t *text, size_t size)
{
    struct reader first, again;
    struct device_sizes sizes = {.columns = 0}, same = {.columns = 0};
    struct sotto_error err = {0};
    reader_init(&first, text, size);
    manifest_read(&first, channel_exact, &sizes, NULL);
    if (first.at < first.start || first.at > first.end) {
        abort();
    }
    if (reader_status(&first, &err) != first.status || err.position > size) {
        abort();
    }
    if (first.status != SOTTO_STATUS_OK) {
        return;
    }
    check_sizes(&sizes);
    /* nothing behind the manifest's end takes part in it */
    reader_init(&again, text, (size_t)(first.at - first.start));
    manifest_read(&again, channel_exact, &same, NULL);
    if (again.status != SOTTO_STATUS_OK || again.at != again.end ||
        memcmp(&sizes, &same, sizeof sizes) != 0) {
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t text_size;
    uint8_t *text;
    if (size == 0) {
        return 0;
    }
    if (data[0] % 2 == 0) {
        read_manifest(data + 1, size - 1);
        return 0;
    }
    text = escape(data + 1, size - 1, &text_size);
    if (text != NULL) {
        read_manifest(text, text_size);
    }
    free(text);
    return 0;
}
