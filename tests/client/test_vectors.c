/*
 * test_vectors.c: the committed vectors, reproduced byte for byte by the
 * native library. test_wasm_vectors.sh does the same with the wasm module,
 * test_decoder.py reads the reports with a decoder written from
 * docs/format.md. How they are made: vector_cases.h.
 */
#include "vector_cases.h"

#include <dirent.h>

/* A vector file and the memory its values point into. */
struct vector {
    json_t *root;
    struct file file;
    struct sotto_value record[4];
    uint8_t *bytes[4];
    uint8_t *entropy, *report;
    size_t entropy_size, report_size, columns;
};

static const char *
text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static uint8_t *
bytes_of(const json_t *object, const char *key, size_t *ret_size)
{
    const char *hex = text_of(object, key);
    uint8_t *bytes = malloc(strlen(hex) / 2 + 1);
    assert_non_null(bytes);
    assert_int_equal(sodium_hex2bin(bytes, strlen(hex) / 2, hex, strlen(hex),
                                    NULL, ret_size, NULL),
                     0);
    return bytes;
}

static struct file
file_of(const json_t *object)
{
    const char *text = text_of(object, "mechanism");
    struct file file = {malloc(strlen(text)), 0};
    assert_non_null(file.data);
    assert_int_equal(sodium_base642bin(file.data, strlen(text), text,
                                       strlen(text), NULL, &file.size, NULL,
                                       sodium_base64_VARIANT_ORIGINAL),
                     0);
    return file;
}

static struct sotto_value
value_of(const json_t *json, uint8_t **ret_bytes)
{
    const json_t *number = json_object_get(json, "number");
    size_t size;
    if (json_is_null(json)) {
        return value_missing();
    }
    if (number != NULL) {
        return value_number(json_is_number(number) ? json_number_value(number)
                                                   : NAN);
    }
    if (json_object_get(json, "text") != NULL) {
        return value_text(text_of(json, "text"));
    }
    *ret_bytes = bytes_of(json, "bytes", &size);
    return value_bytes(*ret_bytes, size);
}

static struct vector
vector_read(const char *path)
{
    struct vector vector;
    json_error_t problem;
    json_t *record;
    memset(&vector, 0, sizeof vector);
    vector.root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (vector.root == NULL) {
        fail_msg("%s:%d: %s", path, problem.line, problem.text);
    }
    record = json_object_get(vector.root, "record");
    vector.columns = json_array_size(record);
    assert_in_range(vector.columns, 1, 4);
    for (size_t i = 0; i < vector.columns; i++) {
        vector.record[i] =
            value_of(json_array_get(record, i), &vector.bytes[i]);
    }
    vector.file = file_of(vector.root);
    vector.entropy = bytes_of(vector.root, "entropy", &vector.entropy_size);
    vector.report = bytes_of(vector.root, "report", &vector.report_size);
    return vector;
}

static void
vector_clear(struct vector *vector)
{
    for (size_t i = 0; i < vector->columns; i++) {
        free(vector->bytes[i]);
    }
    free(vector->entropy);
    free(vector->report);
    free(vector->file.data);
    json_decref(vector->root);
}

static void
check_vector(const struct vector *vector)
{
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_client *client;
    uint8_t *report = malloc(vector->report_size);
    char *line = NULL;
    assert_non_null(report);
    assert_int_equal(sotto_mechanism_parse(vector->file.data, vector->file.size,
                                           "a vector", &mechanism, NULL),
                     SOTTO_STATUS_OK);
    client = sotto_mechanism_client(mechanism);
    tape_start(vector->entropy, vector->entropy_size);
    assert_int_equal(sotto_client_privatise(client, vector->record,
                                            vector->columns, report,
                                            vector->report_size),
                     SOTTO_STATUS_OK);
    assert_memory_equal(report, vector->report, vector->report_size);
    assert_int_equal(tape.used, vector->entropy_size);
    assert_int_equal(sotto_report_json(mechanism, report, &line, NULL),
                     SOTTO_STATUS_OK);
    assert_string_equal(line, text_of(vector->root, "line"));
    free(line);
    free(report);
    sotto_mechanism_free(mechanism);
}

static int
is_vector(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

static void
test_vectors(void **state)
{
    struct dirent **entries;
    int count = scandir(SOTTO_SOURCE_DIR "/tests/vectors", &entries, is_vector,
                        alphasort);
    (void)state;
    assert_int_equal(count, VECTOR_CASES);
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct vector vector;
        (void)snprintf(path, sizeof path, SOTTO_SOURCE_DIR "/tests/vectors/%s",
                       entries[i]->d_name);
        vector = vector_read(path);
        check_vector(&vector);
        vector_clear(&vector);
        free(entries[i]);
    }
    print_message("%d vectors\n", count);
    free(entries);
}

/* The files are what the cases give: neither has drifted. */
static void
test_vectors_are_the_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_CASES; i++) {
        char path[4096];
        json_t *made = case_json(&vector_cases[i]), *kept;
        (void)snprintf(path, sizeof path,
                       SOTTO_SOURCE_DIR "/tests/vectors/%s.json",
                       vector_cases[i].name);
        kept = json_load_file(path, 0, NULL);
        assert_non_null(kept);
        assert_true(json_equal(made, kept));
        json_decref(kept);
        json_decref(made);
    }
}

/* One byte of entropy short, and there is no report. */
static void
test_vectors_need_all_their_entropy(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTOR_CASES; i++) {
        char path[4096];
        struct vector vector;
        struct opened opened;
        (void)snprintf(path, sizeof path,
                       SOTTO_SOURCE_DIR "/tests/vectors/%s.json",
                       vector_cases[i].name);
        vector = vector_read(path);
        opened = client_open(vector.file);
        tape_start(vector.entropy, vector.entropy_size - 1);
        assert_int_equal(sotto_client_privatise(opened.client, vector.record,
                                                vector.columns, vector.report,
                                                vector.report_size),
                         SOTTO_STATUS_ENTROPY);
        client_done(&opened);
        vector_clear(&vector);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_vectors_are_the_cases),
        cmocka_unit_test(test_vectors_need_all_their_entropy),
    };
    cases_init();
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        return write_vectors(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
