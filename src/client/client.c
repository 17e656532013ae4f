/*
 * client.c: the device's interface, as declared in sotto/client.h.
 */
#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/status.h"
#include "client/device.h"
#include "report/once.h"

#define METADATA "{\"__metadata__\":{\"sotto\":\""

/* Reads the length of the header; the reader is set on its text. */
static enum sotto_status
start_header(const uint8_t *mechanism, size_t size, struct reader *ret_reader,
             struct sotto_error *err)
{
    uint64_t length;
    if ((uintptr_t)mechanism % 8 != 0) {
        return status_fail(err, SOTTO_STATUS_USAGE, 0,
                           "the mechanism must lie at a multiple of 8 bytes");
    }
    if (size < 8) {
        return status_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "this is not a mechanism: it is too short");
    }
    length = bytes_load(mechanism, 8);
    if (length > DEVICE_HEADER_MAX) {
        return status_fail(err, SOTTO_STATUS_LIMIT, 0,
                           "this is not a mechanism: its header is too long");
    }
    if (length > size - 8 || length % 8 != 0) {
        return status_fail(err, SOTTO_STATUS_FORMAT, 0,
                           "this is not a whole mechanism: its header is cut "
                           "short or not padded");
    }
    reader_init(ret_reader, mechanism, 8 + (size_t)length);
    ret_reader->at = mechanism + 8;
    return SOTTO_STATUS_OK;
}

static void
read_metadata(struct reader *reader, const struct channel *const *channels,
              struct device_sizes *sizes, struct sotto_client *client)
{
    reader_expect(reader, METADATA);
    manifest_read(reader, channels, sizes, client);
    reader_expect(reader, "\"}");
}

/* Space for `count` things of `size` bytes, at a multiple of 8. */
static uint64_t
room(uint64_t count, uint32_t size)
{
    return checked_add(checked_multiply(count, size), 7) / 8 * 8;
}

static uint64_t
workspace_of(const struct device_sizes *sizes)
{
    return room(1, sizeof(struct sotto_client)) +
           room(sizes->columns, sizeof(struct encode_column)) +
           room(sizes->layers, sizeof(struct layer)) +
           room(sizes->parts, sizeof(struct report_part)) + sizes->channels +
           room(sizes->floats, sizeof(float)) +
           room(sizes->columns, sizeof(int32_t)) +
           room(sizes->q, sizeof(int32_t));
}

enum sotto_status
device_size(const void *mechanism, size_t size,
            const struct channel *const *channels, size_t *ret_workspace,
            struct sotto_error *err)
{
    struct reader reader;
    struct device_sizes sizes = {.columns = 0};
    enum sotto_status status =
        start_header((const uint8_t *)mechanism, size, &reader, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    read_metadata(&reader, channels, &sizes, NULL);
    status = reader_status(&reader, err);
    if (status == SOTTO_STATUS_OK) {
        *ret_workspace = (size_t)workspace_of(&sizes);
    }
    return status;
}

enum sotto_status
sotto_client_size(const void *mechanism, size_t size, size_t *ret_workspace,
                  struct sotto_error *err)
{
    return device_size(mechanism, size, channel_exact, ret_workspace, err);
}

/* Carves the workspace; the order is workspace_of()'s. */
static struct sotto_client *
lay_out(void *workspace, const struct device_sizes *sizes)
{
    uint8_t *at = (uint8_t *)workspace;
    struct sotto_client *client = (struct sotto_client *)workspace;
    at += room(1, sizeof *client);
    client->encoder.column = (struct encode_column *)(void *)at;
    at += room(sizes->columns, sizeof *client->encoder.column);
    client->encoder.layer = (struct layer *)(void *)at;
    at += room(sizes->layers, sizeof *client->encoder.layer);
    client->report.part = (struct report_part *)(void *)at;
    at += room(sizes->parts, sizeof *client->report.part);
    client->channels = at;
    at += sizes->channels;
    client->encoder.buffer = (float *)(void *)at;
    at += room(sizes->floats, sizeof(float));
    client->encoder.symbol = (int32_t *)(void *)at;
    at += room(sizes->columns, sizeof(int32_t));
    client->report.q = (int32_t *)(void *)at;
    client->report.z = &client->encoder.z;
    client->report.symbol = client->encoder.symbol;
    client->sizes = *sizes;
    client->encoder.columns = sizes->columns;
    client->encoder.layers = sizes->layers;
    client->encoder.width = sizes->width;
    client->report.parts = sizes->parts;
    return client;
}

static void
set_up_entropy(struct sotto_client *client, uint64_t need)
{
    uint64_t size = (need + 7) / 8 * 8;
    if (size > DEVICE_ENTROPY_MAX) {
        size = DEVICE_ENTROPY_MAX;
    }
    entropy_init(&client->entropy, client->entropy_buffer, (size_t)size);
}

static bool
same_hash(const uint8_t *a, const uint8_t *b)
{
    uint8_t difference = 0;
    for (size_t i = 0; i < SOTTO_HASH_SIZE; i++) {
        difference |= a[i] ^ b[i];
    }
    return difference == 0;
}

enum sotto_status
device_open(const void *mechanism, size_t size,
            const struct channel *const *channels, const uint8_t *pin,
            void *workspace, size_t workspace_size, uint64_t work, bool uneven,
            struct sotto_client **ret_client, struct sotto_error *err)
{
    struct reader reader, first;
    struct device_sizes sizes = {.columns = 0};
    struct sotto_client *client;
    uint8_t hash[SOTTO_HASH_SIZE];
    uint64_t entropy;
    enum sotto_status status;
    blake2b_256((const uint8_t *)mechanism, size, hash);
    if (pin != NULL && !same_hash(pin, hash)) {
        return status_fail(err, SOTTO_STATUS_PIN, 0,
                           "this is not the mechanism that was pinned");
    }
    status = start_header((const uint8_t *)mechanism, size, &reader, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    first = reader;
    read_metadata(&first, channels, &sizes, NULL);
    status = reader_status(&first, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (sizes.work > work) {
        return status_fail(err, SOTTO_STATUS_LIMIT, 0,
                           "a record takes more multiply-adds than this "
                           "device allows");
    }
    if (workspace_size < workspace_of(&sizes) || (uintptr_t)workspace % 8) {
        return status_fail(err, SOTTO_STATUS_SIZE, 0,
                           "the workspace is too small or not aligned");
    }
    client = lay_out(workspace, &sizes);
    client->workspace_size = workspace_size;
    client->mechanism = (const uint8_t *)mechanism;
    client->mechanism_size = size;
    bytes_copy(client->report.hash, hash, sizeof hash);
    read_metadata(&reader, channels, &sizes, client);
    if (reader.status == SOTTO_STATUS_OK) {
        bundle_bind(&reader, client);
    }
    if (reader.status == SOTTO_STATUS_OK && client->terms.uneven && !uneven) {
        reader_fail(&reader, SOTTO_STATUS_FORMAT,
                    "a weight or a scale is so small, and not 0, that it could "
                    "make the encoder's time depend on the record");
    }
    if (reader.status == SOTTO_STATUS_OK) {
        client->report.size = report_measure(&client->report, &entropy);
        if (client->report.size == 0) {
            reader_fail(&reader, SOTTO_STATUS_LIMIT,
                        "a report of this mechanism would be too large");
        }
    }
    status = reader_status(&reader, err);
    if (status == SOTTO_STATUS_OK) {
        set_up_entropy(client, entropy);
        device_wipe(client);
        *ret_client = client;
    }
    return status;
}

enum sotto_status
sotto_client_open(const void *mechanism, size_t size, const uint8_t *pin,
                  void *workspace, size_t workspace_size,
                  struct sotto_client **ret_client, struct sotto_error *err)
{
    return sotto_client_open_work(mechanism, size, pin, workspace,
                                  workspace_size, SOTTO_WORK_USUAL, ret_client,
                                  err);
}

enum sotto_status
sotto_client_open_work(const void *mechanism, size_t size, const uint8_t *pin,
                       void *workspace, size_t workspace_size, uint64_t work,
                       struct sotto_client **ret_client,
                       struct sotto_error *err)
{
    return device_open(mechanism, size, channel_exact, pin, workspace,
                       workspace_size, work, false, ret_client, err);
}

void
sotto_client_close(struct sotto_client *client)
{
    if (client != NULL) {
        bytes_wipe(client, client->workspace_size);
    }
}

size_t
sotto_client_columns(const struct sotto_client *client)
{
    return client->sizes.columns;
}

size_t
sotto_client_report_size(const struct sotto_client *client)
{
    return client->report.size;
}

const uint8_t *
sotto_client_hash(const struct sotto_client *client)
{
    return client->report.hash;
}

struct device_view
device_view(struct sotto_client *client)
{
    return (struct device_view){&client->terms, &client->encoder,
                                &client->report, &client->entropy};
}

void
device_wipe(struct sotto_client *client)
{
    bytes_wipe(client->encoder.buffer, client->sizes.floats * sizeof(float));
    bytes_wipe(client->encoder.symbol, client->sizes.columns * sizeof(int32_t));
    bytes_wipe(client->report.q, client->sizes.q * sizeof(int32_t));
    random_clear(&client->entropy.random);
    forward_start(&client->encoder);
}

/* Makes a report of a record. What it leaves on the stack lies below the frame
   of its caller, so it must not become part of it. */
static __attribute__((noinline)) enum sotto_status
make_report(struct sotto_client *client, const struct sotto_value *values,
            uint8_t *report, size_t size)
{
    enum sotto_status status = SOTTO_STATUS_OK;
    report_begin(&client->report, &client->entropy, report);
    schema_apply(&client->encoder, values);
    forward_run(&client->encoder);
    report_finish(&client->report, &client->entropy, report);
    if (client->entropy.random.failed) {
        bytes_wipe(report, size);
        status = SOTTO_STATUS_ENTROPY;
    }
    device_wipe(client);
    return status;
}

/* Overwrites the stack that make_report() used: it begins where that began. */
static __attribute__((noinline)) void
wipe_stack(void)
{
    volatile uint64_t used[DEVICE_STACK_MAX / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        used[i] = 0;
    }
}

DEVICE_CLEARS_REGISTERS enum sotto_status
sotto_client_privatise(struct sotto_client *client,
                       const struct sotto_value *values, size_t count,
                       uint8_t *report, size_t size)
{
    enum sotto_status status;
    if (count != client->sizes.columns || size != client->report.size) {
        bytes_wipe(report, size);
        return SOTTO_STATUS_SIZE;
    }
    if (client->terms.uneven) {
        bytes_wipe(report, size);
        return SOTTO_STATUS_FORMAT;
    }
    status = make_report(client, values, report, size);
    wipe_stack();
    return status;
}

/* A record, for once_report. */
struct record {
    struct sotto_client *client;
    const struct sotto_value *values;
};

static enum sotto_status
privatise_record(void *context, uint8_t *report, size_t size)
{
    const struct record *record = (const struct record *)context;
    return sotto_client_privatise(record->client, record->values,
                                  record->client->sizes.columns, report, size);
}

enum sotto_status
sotto_client_report(struct sotto_client *client,
                    const struct sotto_ledger_port *ledger, const void *person,
                    size_t person_size, const struct sotto_value *values,
                    size_t count, uint8_t *report, size_t size,
                    struct sotto_error *err)
{
    struct record record = {client, values};
    struct sotto_charge charge = {
        (const uint8_t *)person,     person_size,
        client->terms.campaign.text, client->terms.campaign.size,
        client->report.hash,         client->terms.eps,
        client->terms.delta};
    if (person_size == 0 || person_size > SOTTO_PERSON_MAX) {
        bytes_wipe(report, size);
        return status_fail(err, SOTTO_STATUS_USAGE, 0,
                           "a person's name must have 1 to 256 bytes");
    }
    if (count != client->sizes.columns || size != client->report.size) {
        bytes_wipe(report, size);
        return status_fail(err, SOTTO_STATUS_SIZE, 0,
                           sotto_status_message(SOTTO_STATUS_SIZE));
    }
    return once_report(&client->report, ledger, &charge, privatise_record,
                       &record, report, err);
}
