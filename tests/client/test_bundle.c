/*
 * test_bundle.c: hostile files: every byte changed, every length cut, tensors
 * that lie about themselves. Nothing may crash; what opens must be a file that
 * is still consistent in itself, and then it has another hash.
 */
#include "client_fixture.h"

#include <ctype.h>
#include <float.h>
#include <math.h>

/* Where a changed byte leaves a mechanism that is another, but still one. */
enum region {
    REGION_FIXED,  /* punctuation, keys, offsets, padding, lengths */
    REGION_TITLE,  /* a letter of name, campaign or auxiliary */
    REGION_NUMBER, /* a digit of the manifest: another domain or epsilon */
    REGION_DATA,   /* shift, scale, weights, biases: any but tiny numbers */
    REGION_TEXT    /* a letter of a column's name or category */
};

static bool
is_title(struct file file, size_t at)
{
    static const char *const keys[] = {
        "\\\"name\\\":\\\"", "\\\"campaign\\\":\\\"", "\\\"auxiliary\\\":\\\""};
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *found =
            memmem(file.data, file.size, keys[i], strlen(keys[i]));
        size_t first, last;
        assert_non_null(found);
        first = (size_t)(found - file.data) + strlen(keys[i]);
        last = first;
        while (file.data[last] != '\\') {
            last++;
        }
        if (at >= first && at < last) {
            return true;
        }
    }
    return false;
}

static enum region
region_of(struct file file, size_t at)
{
    static const char first_tensor[] = ",\"schema.shift\"";
    size_t data, text = file.size;
    const uint8_t *manifest_end;
    (void)header_size(file, &data);
    manifest_end =
        memmem(file.data, data, first_tensor, sizeof first_tensor - 1);
    assert_non_null(manifest_end);
    if (at < 8) {
        return REGION_FIXED;
    }
    if (at < data) {
        if (is_title(file, at)) {
            return REGION_TITLE;
        }
        return file.data + at < manifest_end && isdigit(file.data[at])
                   ? REGION_NUMBER
                   : REGION_FIXED;
    }
    while (text > data &&
           (file.data[text - 1] == 0 || isalpha(file.data[text - 1]))) {
        text--; /* the fixtures' texts are letters and NULs */
    }
    return at < text ? REGION_DATA : REGION_TEXT;
}

/* Whether the number that holds the byte at `at` is one that could give
   subnormal numbers: two doubles come first in the fixtures' data, then floats.
 */
static bool
is_small(struct file file, size_t at)
{
    size_t data, from;
    (void)header_size(file, &data);
    from = at - data;
    if (from < 2 * sizeof(double)) {
        double number;
        memcpy(&number, file.data + data + from / 8 * 8, sizeof number);
        return number != 0 && fabs(number) < 0x1p-480;
    }
    float number;
    memcpy(&number, file.data + data + from / 4 * 4, sizeof number);
    return number != 0 && fabsf(number) < 0x1p-50f;
}

/* Whether a file with `value` at `at` may open. */
static bool
may_open(struct file file, size_t at, uint8_t value)
{
    switch (region_of(file, at)) {
    case REGION_TITLE:
        return value >= 0x20 && value < 0x7f && value != '"' && value != '\\';
    case REGION_NUMBER:
        return isdigit(value);
    case REGION_DATA:
        return true;
    case REGION_TEXT:
        return file.data[at] != 0 && value != 0;
    default:
        return false;
    }
}

static void
check_change(struct file file, size_t at, uint8_t value, const uint8_t *pin,
             size_t *opened)
{
    struct sotto_error err;
    uint8_t old = file.data[at];
    enum sotto_status status;
    bool allowed = may_open(file, at, value);
    bool is_data = region_of(file, at) == REGION_DATA;
    file.data[at] = value;
    poison(&err);
    status = try_open(file, NULL, &err);
    if (is_data) {
        bool small = is_small(file, at);
        assert_int_equal(status, small ? SOTTO_STATUS_FORMAT : SOTTO_STATUS_OK);
        *opened += small;
    }
    if (status == SOTTO_STATUS_OK) {
        *opened += 1;
        if (!allowed) {
            fail_msg("byte %zu changed to %02x opens", at, value);
        }
        assert_int_equal(try_open(file, pin, NULL), SOTTO_STATUS_PIN);
    } else {
        check_error(&err, status, file.size);
        assert_int_not_equal(try_open(file, pin, NULL), SOTTO_STATUS_OK);
    }
    file.data[at] = old;
}

static void
hash_of(struct file file, uint8_t ret_hash[SOTTO_HASH_SIZE])
{
    struct opened opened = client_open(file);
    memcpy(ret_hash, sotto_client_hash(opened.client), SOTTO_HASH_SIZE);
    client_done(&opened);
}

/* A mechanism of flip alone opens fast enough to try everything. */
static const struct compose_spec *
flip_only(void)
{
    static const struct schema_column column = {
        "c", SOTTO_COLUMN_CATEGORY, 3, label_values, false, 0, 1};
    static const struct compose_part part = {
        "label", "flip", UNITS(2), 1, 0, 0, 0, {{true, 0, 0}}, 1};
    static const struct compose_spec spec = {"s", "c",  "a", UNITS(3), &column,
                                             1,   NULL, 0,   &part,    1};
    return &spec;
}

/* Every byte of the smallest mechanism, all 255 other values. */
static void
test_every_value_of_every_byte(void **state)
{
    struct file file = file_make(flip_only());
    uint8_t pin[SOTTO_HASH_SIZE];
    size_t opened = 0;
    (void)state;
    hash_of(file, pin);
    for (size_t at = 0; at < file.size; at++) {
        for (unsigned change = 1; change < 256; change++) {
            check_change(file, at, (uint8_t)(file.data[at] ^ change), pin,
                         &opened);
        }
    }
    print_message("%zu bytes, %zu changes open or are too small a number\n",
                  file.size, opened);
    assert_true(opened > 16 * 255); /* shift and scale at least */
    free(file.data);
}

/* Every bit of a mechanism with weights and a lattice. */
static void
test_every_bit(void **state)
{
    struct file file = file_make(small());
    uint8_t pin[SOTTO_HASH_SIZE];
    size_t opened = 0;
    (void)state;
    hash_of(file, pin);
    for (size_t i = 0; i < 8 * file.size; i++) {
        check_change(file, i / 8, (uint8_t)(file.data[i / 8] ^ (1u << (i % 8))),
                     pin, &opened);
    }
    print_message("%zu bytes, %zu changes open or are too small a number\n",
                  file.size, opened);
    assert_true(opened >= 8 * (16 + 16));
    free(file.data);
}

/* The copy lies at the end of its own memory, for a sanitizer to see. */
static struct file
copy_of(struct file file, size_t size)
{
    struct file copy = {malloc(size > 0 ? size : 1), size};
    assert_non_null(copy.data);
    memset(copy.data, 0, size);
    memcpy(copy.data, file.data, size < file.size ? size : file.size);
    return copy;
}

static void
test_every_length(void **state)
{
    const struct compose_spec *specs[] = {flip_only(), small(), everything()};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct file file = file_make(specs[i]);
        for (size_t size = 0; size < file.size; size++) {
            struct file copy = copy_of(file, size);
            struct sotto_error err;
            enum sotto_status status;
            poison(&err);
            status = try_open(copy, NULL, &err);
            if (status == SOTTO_STATUS_OK) {
                fail_msg("%zu of %zu bytes open", size, file.size);
            }
            check_error(&err, status, file.size);
            free(copy.data);
        }
        free(file.data);
    }
}

static void
test_appended_bytes(void **state)
{
    static const size_t counts[] = {1, 2, 7, 8, 9, 64, 4096};
    struct file file = file_make(everything());
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct file longer = copy_of(file, file.size + counts[i]);
        struct sotto_error err;
        enum sotto_status status;
        for (int fill = 0; fill < 256; fill += 85) {
            memset(longer.data + file.size, fill, counts[i]);
            poison(&err);
            status = try_open(longer, NULL, &err);
            assert_int_not_equal(status, SOTTO_STATUS_OK);
            check_error(&err, status, longer.size);
        }
        free(longer.data);
    }
    free(file.data);
}

static void
set_length(struct file file, uint64_t length)
{
    for (size_t i = 0; i < 8; i++) {
        file.data[i] = (uint8_t)(length >> (8 * i));
    }
}

static void
test_header_length(void **state)
{
    struct file file = file_make(small());
    size_t data, text = header_size(file, &data);
    const uint64_t lengths[] = {
        0,
        1,
        text,
        data - 8 - 1,
        data - 8 + 1,
        data - 8 + 4,
        data - 8 + 8,
        data - 16,
        file.size - 8 + 8,
        DEVICE_HEADER_MAX + 8,
        UINT64_C(1) << 31,
        UINT64_C(1) << 32,
        (UINT64_C(1) << 32) + data - 8,
        UINT64_C(1) << 63,
        UINT64_MAX,
        UINT64_MAX - 7,
    };
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct sotto_error err;
        enum sotto_status status;
        if (lengths[i] == data - 8) {
            continue;
        }
        set_length(file, lengths[i]);
        poison(&err);
        status = try_open(file, NULL, &err);
        assert_true(status == SOTTO_STATUS_FORMAT ||
                    status == SOTTO_STATUS_LIMIT);
        check_error(&err, status, file.size);
    }
    free(file.data);
}

/* Only the spaces that bring the header to a multiple of 8 belong there. */
static void
test_padding(void **state)
{
    struct file file = file_make(small());
    size_t data, text = header_size(file, &data);
    (void)state;
    for (size_t more = 8; more <= 64; more += 8) {
        size_t padded = data - 8 + more;
        struct file longer = copy_of(file, file.size + more);
        struct sotto_error err;
        memset(longer.data + 8 + text, ' ', padded - text);
        memcpy(longer.data + 8 + padded, file.data + data, file.size - data);
        set_length(longer, padded);
        poison(&err);
        assert_int_equal(try_open(longer, NULL, &err), SOTTO_STATUS_FORMAT);
        check_error(&err, SOTTO_STATUS_FORMAT, longer.size);
        free(longer.data);
    }
    for (size_t at = 8 + text; at < data; at++) {
        struct file other = copy_of(file, file.size);
        other.data[at] = '\n';
        assert_int_equal(try_open(other, NULL, NULL), SOTTO_STATUS_FORMAT);
        other.data[at] = '}';
        assert_int_equal(try_open(other, NULL, NULL), SOTTO_STATUS_FORMAT);
        free(other.data);
    }
    free(file.data);
}

/* A header that needs no padding has none: one of eight lengths of name. */
static void
test_needless_padding(void **state)
{
    size_t seen = 0;
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        struct compose_spec spec = *small();
        struct file file, longer;
        size_t data, text;
        spec.name = &"sssssss"[7 - i];
        file = file_make(&spec);
        text = header_size(file, &data);
        if (text == data - 8) {
            longer = copy_of(file, file.size + 8);
            memset(longer.data + data, ' ', 8);
            memcpy(longer.data + data + 8, file.data + data, file.size - data);
            set_length(longer, data);
            assert_int_equal(try_open(longer, NULL, NULL), SOTTO_STATUS_FORMAT);
            free(longer.data);
            seen++;
        }
        free(file.data);
    }
    assert_int_equal(seen, 1);
}

/* The header's tensors, changed: old text, new text. */
static const char *const lies[][2] = {
    {"[0,8]", "[0,16]"},                   /* overlapping */
    {"[8,16]", "[0,8]"},                   /* the same bytes twice */
    {"[8,16]", "[16,24]"},                 /* a gap */
    {"[0,8]", "[8,0]"},                    /* backwards */
    {"[0,8]", "[0,08]"},                   /* a leading zero */
    {"[0,8]", "[0,8.0]"},                  /* no whole number */
    {"[0,8]", "[0,8e0]"},                  /* nor this */
    {"[0,8]", "[0, 8]"},                   /* a blank */
    {"[0,8]", "[-0,8]"},                   /* a sign */
    {"[0,8]", "[0,18446744073709551624]"}, /* 8 modulo 2^64 */
    {"[0,8]", "[0,4294967304]"},           /* 8 modulo 2^32 */
    {"\"F64\",\"shape\":[1]", "\"F64\",\"shape\":[2]"},
    {"\"F64\",\"shape\":[1]", "\"F64\",\"shape\":[]"},
    {"\"F64\",\"shape\":[1]", "\"F64\",\"shape\":[1,1]"},
    {"\"F64\",\"shape\":[1]", "\"F32\",\"shape\":[2]"},
    {"\"F32\",\"shape\":[2,1]", "\"F32\",\"shape\":[1,2]"},
    {"\"F32\",\"shape\":[2,1]", "\"F32\",\"shape\":[2]"},
    {"\"F32\",\"shape\":[2,1]", "\"F16\",\"shape\":[2,1]"},
    {"\"F32\",\"shape\":[2,1]", "\"F32\",\"shape\":[2,1,1]"},
    {"\"F32\",\"shape\":[2,1]", "\"F32\",\"shape\":[2,4294967297]"},
    {"schema.shift", "schema.scale"},
    {"schema.shift", "schema.shifts"},
    {"encoder.0.weight", "encoder.1.weight"},
    {"encoder.0.weight", "encoder.00.weight"},
    {"encoder.0.bias", "encoder.0.weight"},
    {"encoder.0.bias", "encoder.0.Bias"},
    {"\"dtype\":\"U8\"", "\"dtype\":\"I8\""},
    {"\"U8\",\"shape\":[2]", "\"U8\",\"shape\":[1]"},
    {"\"U8\",\"shape\":[2]", "\"U8\",\"shape\":[3]"},
    {",\"schema.text\"", ",\"extra\":{\"dtype\":\"U8\",\"shape\":[0],"
                         "\"data_offsets\":[32,32]},\"schema.text\""},
    {"]}\"}", "]}\",\"other\":\"x\"}"}, /* more metadata */
    {"{\"__metadata__\":", "{ \"__metadata__\":"},
    {"{\"__metadata__\":{\"sotto\":", "{\"__metadata__\":{\"Sotto\":"},
    {"{\"__metadata__\":{", "{\"__metadata__\":{\"format\":\"pt\","},
};

static void
test_tensors_that_lie(void **state)
{
    struct file file = file_make(small());
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct sotto_error err;
        size_t place;
        struct file forged;
        enum sotto_status status;
        forged = forge(file, lies[i][0], lies[i][1], false, &place);
        poison(&err);
        status = try_open(forged, NULL, &err);
        if (status != SOTTO_STATUS_FORMAT && status != SOTTO_STATUS_LIMIT) {
            fail_msg("'%s' for '%s': %d", lies[i][1], lies[i][0], status);
        }
        check_error(&err, status, forged.size);
        assert_true(err.position + 64 >= place);
        free(forged.data);
    }
    free(file.data);
}

/* Numbers at the edge of what opens, in each place that holds one. */
static void
test_small_numbers(void **state)
{
    static const struct {
        double number; /* as shift or scale */
        float weight;
        bool opens;
    } cases[] = {
        {0x1p-480, 0x1p-50f, true},
        {-0x1p-480, -0x1p-50f, true},
        {0x1.fffffffffffffp-481, 0x1.fffffep-51f, false},
        {-0x1.fffffffffffffp-481, -0x1.fffffep-51f, false},
        {DBL_MIN, FLT_MIN, false},
        {-DBL_TRUE_MIN, -FLT_TRUE_MIN, false},
        {0, 0, true},
        {-0.0, -0.0f, true},
        {NAN, NAN, true},
        {-INFINITY, -INFINITY, true},
        {DBL_MAX, FLT_MAX, true},
    };
    struct file file = file_make(small());
    size_t data;
    (void)state;
    (void)header_size(file, &data);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t place = 0; place < 6; place++) { /* 2 doubles, 4 floats */
            size_t size = place < 2 ? 8 : 4;
            uint8_t *at = file.data + data + (place < 2 ? 0 : 8) + place * size;
            const void *number = &cases[i].number;
            uint8_t old[8];
            struct sotto_error err;
            memcpy(old, at, size);
            memcpy(at, place < 2 ? number : &cases[i].weight, size);
            poison(&err);
            assert_int_equal(try_open(file, NULL, &err),
                             cases[i].opens ? SOTTO_STATUS_OK
                                            : SOTTO_STATUS_FORMAT);
            if (!cases[i].opens) {
                check_error(&err, SOTTO_STATUS_FORMAT, file.size);
                assert_non_null(strstr(err.message, "so small"));
            }
            memcpy(at, old, size);
        }
    }
    free(file.data);
}

/* The same two tensors, in the other order. */
static void
test_reordered_tensors(void **state)
{
    static const char before[] =
        ",\"schema.shift\":{\"dtype\":\"F64\",\"shape\":[1],"
        "\"data_offsets\":[0,8]},\"schema.scale\":{\"dtype\":\"F64\","
        "\"shape\":[1],\"data_offsets\":[8,16]}";
    static const char after[] =
        ",\"schema.scale\":{\"dtype\":\"F64\",\"shape\":[1],"
        "\"data_offsets\":[8,16]},\"schema.shift\":{\"dtype\":\"F64\","
        "\"shape\":[1],\"data_offsets\":[0,8]}";
    struct file file = file_make(small());
    size_t place;
    struct file forged = forge(file, before, after, false, &place);
    (void)state;
    assert_int_equal(try_open(forged, NULL, NULL), SOTTO_STATUS_FORMAT);
    free(forged.data);
    free(file.data);
}

/* The category column has the texts "c", "no", "yes": 9 bytes. */
static void
test_text(void **state)
{
    static const struct {
        const char *text;
        enum sotto_status status;
    } cases[] = {
        {"c\0no\0yes\0", SOTTO_STATUS_OK},
        {"\0\0\0aaaaa\0", SOTTO_STATUS_FORMAT}, /* one string too many */
        {"c\0no\0yesx", SOTTO_STATUS_FORMAT},   /* the last does not end */
        {"c\0noyesx\0", SOTTO_STATUS_FORMAT},   /* one string too few */
        {"cnoyesxxx", SOTTO_STATUS_FORMAT},     /* none ends */
        {"c\0n\0\0yes\0", SOTTO_STATUS_FORMAT},
        {"c\0no\0ye\0\0", SOTTO_STATUS_FORMAT},
        {"\0\0aaaaaa\0", SOTTO_STATUS_OK}, /* empty ones are strings too */
    };
    struct file file = file_make(flip_only());
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sotto_error err;
        memcpy(file.data + file.size - 9, cases[i].text, 9);
        poison(&err);
        assert_int_equal(try_open(file, NULL, &err), cases[i].status);
        if (cases[i].status != SOTTO_STATUS_OK) {
            check_error(&err, cases[i].status, file.size);
        }
    }
    free(file.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value_of_every_byte),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_appended_bytes),
        cmocka_unit_test(test_header_length),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_needless_padding),
        cmocka_unit_test(test_tensors_that_lie),
        cmocka_unit_test(test_small_numbers),
        cmocka_unit_test(test_reordered_tensors),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
