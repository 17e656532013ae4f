/*
 * report_json.c: one report as one line of JSON, and back.
 *
 * Reading is strict: its four keys (and "book" where a lot is drawn), each
 * once, with these types and lengths and nothing else, so that a line that was
 * tampered with or made by another program's mistake is refused and not guessed
 * at.
 */
#include "mechanism/report_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "base/bytes.h"
#include "host/error.h"
#include "host/printable.h"
#include "mechanism/stages.h"

#define KEYS 5u
#define LINE_MOST ((size_t)1 << 30)
#define LINE_BLANKS ((size_t)1024)

size_t
report_json_values(const struct sotto_mechanism *mechanism)
{
    size_t most = 1;
    for (uint32_t i = 0; i < mechanism->shape.parts; i++) {
        size_t values = mechanism->likelihood[i].values;
        most = values > most ? values : most;
    }
    return most;
}

size_t
report_json_most(const struct sotto_mechanism *mechanism)
{
    static const char frame[] = "{\"mechanism\":\"\",\"id\":\"\","
                                "\"simulated\":false,\"parts\":[]}";
    static const char book[] = "\"book\":255,";
    static const char value[] = "-9007199254740992"; /* and a comma */
    size_t most =
        sizeof frame + (size_t)2 * SOTTO_HASH_SIZE + (size_t)2 * SOTTO_ID_SIZE;
    most += mechanism->shape.books > 1 ? sizeof book - 1 : 0;
    for (uint32_t i = 0; i < mechanism->shape.parts; i++) {
        most += sizeof "[]" + mechanism->shape.part[i].blocks *
                                  mechanism->likelihood[i].values *
                                  sizeof value;
    }
    return 2 * most + LINE_BLANKS;
}

/* ---- Writing ------------------------------------------------------------ */

static const uint8_t *
write_part(const struct sotto_mechanism *mechanism, uint32_t part,
           const uint8_t *at, int64_t *values, struct host_text *text)
{
    const struct likelihood_instance *own = &mechanism->likelihood[part];
    host_text_add(text, "[", 1);
    for (size_t i = 0; i < mechanism->shape.part[part].blocks; i++) {
        own->likelihood->unpack(own, at, values);
        for (uint32_t j = 0; j < own->values; j++) {
            host_text_print(text, "%s%" PRId64, i + j > 0 ? "," : "",
                            values[j]);
        }
        at += own->instance->wire_size;
    }
    host_text_add(text, "]", 1);
    return at;
}

void
report_json_write(const struct sotto_mechanism *mechanism,
                  const uint8_t *report, int64_t *values,
                  struct host_text *text)
{
    const uint8_t *at = report + report_start(mechanism->device.report);
    char hash[2 * SOTTO_HASH_SIZE + 1], id[2 * SOTTO_ID_SIZE + 1];
    (void)sodium_bin2hex(hash, sizeof hash, report + REPORT_MAGIC_SIZE,
                         SOTTO_HASH_SIZE);
    (void)sodium_bin2hex(id, sizeof id, sotto_report_id(report), SOTTO_ID_SIZE);
    host_text_print(
        text, "{\"mechanism\":\"%s\",\"id\":\"%s\",\"simulated\":%s,", hash, id,
        sotto_report_simulated(report) ? "true" : "false");
    if (mechanism->shape.books > 1) {
        host_text_print(text, "\"book\":%zu,",
                        sotto_report_book(mechanism, report));
    }
    host_text_print(text, "\"parts\":[");
    for (uint32_t i = 0; i < mechanism->shape.parts; i++) {
        host_text_add(text, ",", i > 0 ? 1 : 0);
        at = write_part(mechanism, i, at, values, text);
    }
    host_text_print(text, "]}");
}

enum sotto_status
sotto_report_json(const struct sotto_mechanism *mechanism,
                  const uint8_t *report, char **ret_text,
                  struct sotto_error *err)
{
    struct host_text text;
    int64_t *values;
    if (!stages_valid(mechanism, report, mechanism->shape.report_size)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "this is not a report of this mechanism");
    }
    values = calloc(report_json_values(mechanism), sizeof *values);
    if (values == NULL) {
        return host_fail_memory(err);
    }
    host_text_init(&text, LINE_MOST);
    report_json_write(mechanism, report, values, &text);
    free(values);
    if (text.failed) {
        host_text_clear(&text);
        return host_fail_memory(err);
    }
    *ret_text = text.data;
    return SOTTO_STATUS_OK;
}

/* ---- Reading ------------------------------------------------------------ */

enum sotto_status
report_json_fail_hash(const struct sotto_mechanism *mechanism,
                      const uint8_t *hash, struct sotto_error *err)
{
    char found[2 * SOTTO_HASH_SIZE + 1], expected[2 * SOTTO_HASH_SIZE + 1];
    (void)sodium_bin2hex(found, sizeof found, hash, SOTTO_HASH_SIZE);
    (void)sodium_bin2hex(expected, sizeof expected, mechanism->shape.hash,
                         SOTTO_HASH_SIZE);
    return host_fail(err, SOTTO_STATUS_PIN, 0,
                     "it was made by another mechanism, %s, and not by %s; "
                     "give the mechanism file it was made with",
                     found, expected);
}

/* Fails with a sentence that quotes the line's own text. */
static enum sotto_status
fail_quoting(const char *before, const char *quoted, const char *after,
             struct sotto_error *err)
{
    struct host_text shown;
    enum sotto_status status;
    host_text_init(&shown, 1024);
    host_printable_add(&shown, quoted, 60);
    status = host_fail(err, SOTTO_STATUS_INPUT, 0, "%s%s%s", before,
                       shown.data != NULL ? shown.data : "", after);
    host_text_clear(&shown);
    return status;
}

static enum sotto_status
check_keys(const struct sotto_mechanism *mechanism, json_t *object,
           struct sotto_error *err)
{
    static const char *const keys[KEYS] = {"mechanism", "id", "simulated",
                                           "parts", "book"};
    size_t known_keys = mechanism->shape.books > 1 ? KEYS : KEYS - 1;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < known_keys; i++) {
        if (json_object_get(object, keys[i]) == NULL) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "it lacks the key \"%s\"; make the file again",
                             keys[i]);
        }
    }
    json_object_foreach(object, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < known_keys; i++) {
            known = known || strcmp(key, keys[i]) == 0;
        }
        if (!known) {
            return fail_quoting("it has a key \"", key,
                                "\", which no report has: remove it", err);
        }
    }
    return SOTTO_STATUS_OK;
}

/* The value of a key: 2 * size hexadecimal digits. */
static enum sotto_status
read_hex(const json_t *object, const char *key, uint8_t *ret_bytes, size_t size,
         struct sotto_error *err)
{
    const json_t *value = json_object_get(object, key);
    size_t got = 0;
    if (!json_is_string(value) || json_string_length(value) != 2 * size ||
        sodium_hex2bin(ret_bytes, size, json_string_value(value), 2 * size,
                       NULL, &got, NULL) != 0 ||
        got != size) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "its \"%s\" must be a string of %zu hexadecimal "
                         "digits; make the file again",
                         key, 2 * size);
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_header(const struct sotto_mechanism *mechanism, const json_t *object,
            uint8_t *ret_report, struct sotto_error *err)
{
    const json_t *simulated = json_object_get(object, "simulated");
    const char *magic;
    uint8_t *hash = ret_report + REPORT_MAGIC_SIZE;
    enum sotto_status status =
        read_hex(object, "mechanism", hash, SOTTO_HASH_SIZE, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (memcmp(hash, mechanism->shape.hash, SOTTO_HASH_SIZE) != 0) {
        return report_json_fail_hash(mechanism, hash, err);
    }
    status = read_hex(object, "id", hash + SOTTO_HASH_SIZE, SOTTO_ID_SIZE, err);
    if (status != SOTTO_STATUS_OK) {
        return status;
    }
    if (!json_is_boolean(simulated)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "its \"simulated\" must be true or false; make the "
                         "file again");
    }
    magic = json_is_true(simulated) ? REPORT_MAGIC_SIMULATED : REPORT_MAGIC;
    bytes_copy(ret_report, (const uint8_t *)magic, REPORT_MAGIC_SIZE);
    return SOTTO_STATUS_OK;
}

/* The lot, where one is drawn, into its place behind the header. */
static enum sotto_status
read_book(const struct sotto_mechanism *mechanism, const json_t *object,
          uint8_t *ret_report, struct sotto_error *err)
{
    const json_t *book = json_object_get(object, "book");
    size_t books = mechanism->shape.books;
    if (books == 1) {
        return SOTTO_STATUS_OK;
    }
    if (!json_is_integer(book) || json_integer_value(book) < 0 ||
        json_integer_value(book) >= (json_int_t)books) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "its \"book\" must be a whole number from 0 to %zu; "
                         "remove the report",
                         books - 1);
    }
    ret_report[REPORT_HEADER_SIZE] = (uint8_t)json_integer_value(book);
    return SOTTO_STATUS_OK;
}

/* Part `at` (from 0) of the line, into its place of the report. */
static enum sotto_status
read_part(const struct sotto_mechanism *mechanism, uint32_t at,
          const json_t *list, int64_t *values, uint8_t *ret_wire,
          struct sotto_error *err)
{
    const struct likelihood_instance *own = &mechanism->likelihood[at];
    const struct channel_instance *instance = own->instance;
    uint32_t blocks = (uint32_t)mechanism->shape.part[at].blocks;
    size_t expected = (size_t)blocks * own->values;
    if (!json_is_array(list) || json_array_size(list) != expected) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "part %" PRIu32 " must be a list of %zu whole "
                         "numbers; make the file again",
                         at + 1, expected);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        bool good = true;
        for (uint32_t j = 0; j < own->values; j++) {
            const json_t *value =
                json_array_get(list, (size_t)i * own->values + j);
            good = good && json_is_integer(value);
            values[j] = json_integer_value(value);
        }
        if (!good ||
            !own->likelihood->pack(
                own, values, ret_wire + (size_t)i * instance->wire_size)) {
            return host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "block %" PRIu32 " of part %" PRIu32
                             " holds what its channel '%s' never sends; "
                             "remove the report",
                             i + 1, at + 1, instance->channel->name);
        }
    }
    return SOTTO_STATUS_OK;
}

static enum sotto_status
read_parts(const struct sotto_mechanism *mechanism, const json_t *object,
           int64_t *values, uint8_t *ret_report, struct sotto_error *err)
{
    const json_t *parts = json_object_get(object, "parts");
    const struct shape *shape = &mechanism->shape;
    enum sotto_status status = SOTTO_STATUS_OK;
    if (!json_is_array(parts) || json_array_size(parts) != shape->parts) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "its \"parts\" must be a list of %zu lists; make "
                         "the file again",
                         shape->parts);
    }
    for (uint32_t i = 0; i < shape->parts && status == SOTTO_STATUS_OK; i++) {
        status = read_part(mechanism, i, json_array_get(parts, i), values,
                           ret_report + shape_offset(shape, i, 0), err);
    }
    return status;
}

/* jansson has nothing to say where an object could not be made. */
static bool
is_memory(const json_error_t *problem)
{
    enum json_error_code code = json_error_code(problem);
    return code == json_error_out_of_memory || code == json_error_unknown;
}

enum sotto_status
report_json_read(const struct sotto_mechanism *mechanism, const char *line,
                 size_t size, int64_t *values, uint8_t *ret_report,
                 struct sotto_error *err)
{
    json_error_t problem;
    json_t *object;
    enum sotto_status status;
    if (size > report_json_most(mechanism)) {
        return host_fail(err, SOTTO_STATUS_INPUT, 0,
                         "it has %zu bytes, and a report of this mechanism at "
                         "most %zu: it is another mechanism's, or none",
                         size, report_json_most(mechanism));
    }
    object = json_loadb(line, size, JSON_REJECT_DUPLICATES, &problem);
    if (object == NULL && is_memory(&problem)) {
        return host_fail_memory(err);
    }
    if (object == NULL) {
        return fail_quoting("it is not JSON (", problem.text,
                            "); a line must hold one whole report", err);
    }
    status = json_is_object(object)
                 ? check_keys(mechanism, object, err)
                 : host_fail(err, SOTTO_STATUS_INPUT, 0,
                             "it is not a JSON object; a line must hold one "
                             "whole report");
    status = HOST_THEN(status, read_header(mechanism, object, ret_report, err));
    status = HOST_THEN(status, read_book(mechanism, object, ret_report, err));
    status = HOST_THEN(status,
                       read_parts(mechanism, object, values, ret_report, err));
    json_decref(object);
    return status;
}
