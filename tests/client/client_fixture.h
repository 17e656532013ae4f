/*
 * client_fixture.h: mechanisms, records and entropy for the client's tests.
 *
 * Each test program is one source file and includes this once. It defines
 * sotto_entropy(): bytes come from a tape that the test fills, or run short
 * where the test wants to see what happens without them.
 */
#ifndef TESTS_CLIENT_FIXTURE_H
#define TESTS_CLIENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/decimal.h"
#include "client/device.h"
#include "compose_bytes.h"
#include "random/draw.h"
#include "random/seeded.h"

/* ---- Entropy ------------------------------------------------------------ */

/* Bytes to hand out; without any, a seeded stream. */
struct tape {
    const uint8_t *bytes;
    size_t size, used;
    size_t calls;
    size_t failing_call; /* 1 for the first; 0: none fails */
    void (*asked)(void); /* called when bytes are asked for; may be NULL */
    struct seeded seeded;
};

static struct tape tape;

__attribute__((unused)) static void
tape_start(const uint8_t *bytes, size_t size)
{
    memset(&tape, 0, sizeof tape);
    tape.bytes = bytes;
    tape.size = size;
    seeded_init(&tape.seeded, 7, 0);
}

int
sotto_entropy(void *buffer, size_t size)
{
    tape.calls++;
    if (tape.asked != NULL) {
        tape.asked();
    }
    if (tape.calls == tape.failing_call) {
        memset(buffer, 0x5a, size / 2); /* half of it, then an error */
        return -1;
    }
    if (tape.bytes == NULL) {
        for (size_t i = 0; i < size; i++) {
            ((uint8_t *)buffer)[i] = (uint8_t)random_u32(&tape.seeded.random);
        }
        return 0;
    }
    if (tape.size - tape.used < size) {
        return -1;
    }
    memcpy(buffer, tape.bytes + tape.used, size);
    tape.used += size;
    return 0;
}

/* ---- Mechanisms --------------------------------------------------------- */

#define UNITS(x) ((uint64_t)((x)*1000000.0 + 0.5) * (DECIMAL_UNIT / 1000000))

/* The activation of that name; ACTIVATION_COUNT: there is none. */
__attribute__((unused)) static enum activation
activation_of(const char *name)
{
    enum activation activation = ACTIVATION_NONE;
    while (activation < ACTIVATION_COUNT &&
           strcmp(activation_name(activation), name) != 0) {
        activation++;
    }
    return activation;
}

struct file {
    uint8_t *data; /* from malloc, so aligned */
    size_t size;
};

__attribute__((unused)) static struct file
file_make(const struct compose_spec *spec)
{
    struct file file = {NULL, 0};
    struct sotto_error err = {0};
    if (compose_bytes(spec, &file.data, &file.size, &err) != SOTTO_STATUS_OK) {
        fail_msg("compose: %s", err.message);
    }
    return file;
}

/* A client and the memory it lies in. */
struct opened {
    size_t size;
    uint8_t *workspace;
    struct sotto_client *client;
};

__attribute__((unused)) static struct opened
client_open(struct file file)
{
    struct opened opened = {0, NULL, NULL};
    struct sotto_error err = {0};
    if (sotto_client_size(file.data, file.size, &opened.size, &err) !=
        SOTTO_STATUS_OK) {
        fail_msg("size: %s at %zu", err.message, err.position);
    }
    opened.workspace = malloc(opened.size);
    assert_non_null(opened.workspace);
    memset(opened.workspace, 0xa5, opened.size);
    if (sotto_client_open(file.data, file.size, NULL, opened.workspace,
                          opened.size, &opened.client,
                          &err) != SOTTO_STATUS_OK) {
        fail_msg("open: %s at %zu", err.message, err.position);
    }
    return opened;
}

__attribute__((unused)) static void
client_done(struct opened *opened)
{
    sotto_client_close(opened->client);
    for (size_t i = 0; i < opened->size; i++) {
        assert_int_equal(opened->workspace[i], 0);
    }
    free(opened->workspace);
}

/* ---- One mechanism with everything in it -------------------------------- */

static const char *const job_values[] = {"baker", "clerk", "nurse"};
static const char *const label_values[] = {"no", "yes"};

static const struct schema_column everything_columns[] = {
    {"age", SOTTO_COLUMN_NUMBER, 1, NULL, false, 50, 0.02},
    {"job", SOTTO_COLUMN_CATEGORY, 4, job_values, true, 0, 1},
    {"photo", SOTTO_COLUMN_BYTES, 4, NULL, false, 127.5, 1 / 127.5},
    {"label", SOTTO_COLUMN_CATEGORY, 3, label_values, false, 0, 1},
};

#define EVERYTHING_INPUTS 9u
static float everything_weight[4][64];
static float everything_bias[4][8];

static const struct layer everything_layers[] = {
    {9, 6, ACTIVATION_TANH, everything_weight[0], everything_bias[0]},
    {6, 5, ACTIVATION_RELU, everything_weight[1], everything_bias[1]},
    {5, 5, ACTIVATION_SIGMOID, everything_weight[2], everything_bias[2]},
    {5, 7, ACTIVATION_NONE, everything_weight[3], everything_bias[3]},
};

static const struct compose_part everything_parts[] = {
    {"features", "laplace", UNITS(1), 2, 0, 2, 100, {{0}}, 0},
    {"both",
     "subset",
     UNITS(0.5),
     1,
     0,
     0,
     0,
     {{true, 3, 0}, {false, 4, 3}},
     2},
    {"features", "flip", UNITS(0.25), 1, 0, 0, 0, {{false, 2, 5}}, 1},
    {"label", "flip", UNITS(1.25), 1, 0, 0, 0, {{true, 3, 0}}, 1},
};

/* Weights in [-1, 1) from a counter, the same everywhere. */
__attribute__((unused)) static void
fill_weights(float *weight, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t counter[4] = {(uint32_t)i, 0, 0, 0}, key[2] = {seed, 1};
        uint32_t block[4];
        seeded_philox(counter, key, block);
        weight[i] = (float)(block[0] >> 8) / 8388608.0f - 1.0f;
    }
}

__attribute__((unused)) static const struct compose_spec *
everything(void)
{
    static const struct compose_spec spec = {"everything",
                                             "tests",
                                             "none",
                                             UNITS(4),
                                             everything_columns,
                                             4,
                                             everything_layers,
                                             4,
                                             everything_parts,
                                             4};
    for (uint32_t i = 0; i < 4; i++) {
        fill_weights(everything_weight[i], 64, 10 + i);
        fill_weights(everything_bias[i], 8, 20 + i);
    }
    return &spec;
}

/* The smallest mechanism with weights: a number, one layer, one flip, one
   lattice. */
static const float small_weight[] = {1.0f, -1.0f};
static const float small_bias[] = {0.5f, 0.25f};

__attribute__((unused)) static const struct compose_spec *
small(void)
{
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    static const struct layer layer = {1, 2, ACTIVATION_TANH, small_weight,
                                       small_bias};
    static const struct compose_part parts[] = {
        {"features", "laplace", UNITS(1), 1, 0, 2, 16, {{0}}, 0},
        {"label", "flip", UNITS(2), 1, 0, 0, 0, {{false, 0, 2}}, 1},
    };
    static const struct compose_spec spec = {
        "s", "c", "a", UNITS(3), &column, 1, &layer, 1, parts, 2};
    return &spec;
}

/* ---- Values ------------------------------------------------------------- */

__attribute__((unused)) static struct sotto_value
value_number(double number)
{
    struct sotto_value value = {SOTTO_VALUE_NUMBER, number, NULL, 0};
    return value;
}

__attribute__((unused)) static struct sotto_value
value_text(const char *text)
{
    struct sotto_value value = {SOTTO_VALUE_TEXT, 0, text, strlen(text)};
    return value;
}

__attribute__((unused)) static struct sotto_value
value_bytes(const void *data, size_t size)
{
    struct sotto_value value = {SOTTO_VALUE_BYTES, 0, data, size};
    return value;
}

__attribute__((unused)) static struct sotto_value
value_missing(void)
{
    struct sotto_value value = {SOTTO_VALUE_MISSING, 0, NULL, 0};
    return value;
}

/* A record of the mechanism with everything in it. */
__attribute__((unused)) static void
everything_record(struct sotto_value values[4])
{
    values[0] = value_number(35);
    values[1] = value_text("clerk");
    values[2] = value_bytes("\x01\x80\xff\x40", 4);
    values[3] = value_text("yes");
}

/* ---- Forged files ------------------------------------------------------- */

/* Fills the struct with what no function may leave in it. */
__attribute__((unused)) static void
poison(struct sotto_error *err)
{
    memset(err, 0xee, sizeof *err);
}

/* A failure said what and where. */
__attribute__((unused)) static void
check_error(const struct sotto_error *err, enum sotto_status status,
            size_t size)
{
    assert_int_equal(err->status, status);
    assert_true(err->position <= size);
    assert_non_null(memchr(err->message, '\0', sizeof err->message));
    assert_true(strlen(err->message) > 10);
}

/* Length, header padded to 8, data. */
__attribute__((unused)) static struct file
file_join(const char *header, size_t header_size, const uint8_t *data,
          size_t size)
{
    size_t padded = (header_size + 7) / 8 * 8;
    struct file file = {malloc(8 + padded + size), 8 + padded + size};
    assert_non_null(file.data);
    for (size_t i = 0; i < 8; i++) {
        file.data[i] = (uint8_t)((uint64_t)padded >> (8 * i));
    }
    memset(file.data + 8, ' ', padded + size);
    memcpy(file.data + 8, header, header_size);
    if (size > 0) {
        memcpy(file.data + 8 + padded, data, size);
    }
    return file;
}

/* Bytes of the header, without its padding. */
__attribute__((unused)) static size_t
header_size(struct file file, size_t *ret_data)
{
    size_t size = 0;
    for (size_t i = 0; i < 8; i++) {
        size |= (size_t)file.data[i] << (8 * i);
    }
    *ret_data = 8 + size;
    while (file.data[8 + size - 1] == ' ') {
        size--;
    }
    return size;
}

/* The text as it stands in a JSON string. */
__attribute__((unused)) static char *
escaped(const char *text)
{
    char *copy = malloc(2 * strlen(text) + 1), *at = copy;
    assert_non_null(copy);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            *at++ = '\\';
        }
        *at++ = *text;
    }
    *at = '\0';
    return copy;
}

/* The file with the first `old` of its header replaced and all else in order:
   length and padding fit again. `ret_place` is where the change begins. */
__attribute__((unused)) static struct file
forge(struct file file, const char *old, const char *new, bool in_manifest,
      size_t *ret_place)
{
    size_t data, size = header_size(file, &data);
    char *from = in_manifest ? escaped(old) : strdup(old);
    char *to = in_manifest ? escaped(new) : strdup(new);
    size_t from_size = strlen(from), to_size = strlen(to), before;
    const uint8_t *start = file.data + 8;
    const uint8_t *found = memmem(start, size, from, from_size);
    char *header = malloc(size + to_size);
    struct file forged;
    if (found == NULL) {
        fail_msg("no %s in the header", from);
    }
    assert_non_null(header);
    before = (size_t)(found - start);
    memcpy(header, start, before);
    memcpy(header + before, to, to_size);
    memcpy(header + before + to_size, found + from_size,
           size - before - from_size);
    forged = file_join(header, size - from_size + to_size, file.data + data,
                       file.size - data);
    *ret_place = 8 + before;
    free(header);
    free(from);
    free(to);
    return forged;
}

/* What opening says; the workspace is one of the stated size, so that a
   sanitizer sees a step beyond it. */
__attribute__((unused)) static enum sotto_status
try_open(struct file file, const uint8_t *pin, struct sotto_error *err)
{
    size_t need = 0;
    struct sotto_client *client = NULL;
    uint8_t *workspace;
    enum sotto_status status =
        sotto_client_size(file.data, file.size, &need, err);
    if (status != SOTTO_STATUS_OK) {
        assert_int_equal(need, 0);
        return status;
    }
    workspace = malloc(need);
    assert_non_null(workspace);
    status = sotto_client_open(file.data, file.size, pin, workspace, need,
                               &client, err);
    assert_true((status == SOTTO_STATUS_OK) == (client != NULL));
    sotto_client_close(client);
    free(workspace);
    return status;
}

/* A change of the manifest, and what must come of it. */
struct change {
    const char *old, *new;
    enum sotto_status status;
    const char *message; /* some of it; NULL: any */
};

__attribute__((unused)) static void
check_changes(struct file file, const struct change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct change *change = &changes[i];
        struct sotto_error err;
        size_t place;
        struct file forged =
            forge(file, change->old, change->new, true, &place);
        enum sotto_status status;
        poison(&err);
        status = try_open(forged, NULL, &err);
        if (status != change->status ||
            (change->message != NULL &&
             strstr(err.message, change->message) == NULL)) {
            fail_msg("'%.60s' for '%s': %d, not %d (%s)", change->new,
                     change->old, status, change->status,
                     status != SOTTO_STATUS_OK ? err.message : "opened");
        }
        if (status != SOTTO_STATUS_OK) {
            check_error(&err, status, forged.size);
            assert_true(err.position + 64 >= place);
        }
        free(forged.data);
    }
}

#define CHECK(file, changes)                                                   \
    check_changes(file, changes, sizeof(changes) / sizeof(changes)[0])

#endif
