/*
 * test_schema.c: values to x and symbols, total on content (invariant 4).
 */
#include "client/client_fixture.h"

#include <math.h>

/* What a value must give in its column. */
struct expected {
    struct sotto_value value;
    float x[4];
    int32_t symbol;
};

static void
check(struct sotto_client *client, size_t column, const float *x, size_t inputs,
      const struct expected *expected)
{
    struct sotto_value values[4];
    everything_record(values);
    values[column] = expected->value;
    schema_apply(&client->encoder, values);
    for (size_t i = 0; i < inputs; i++) {
        assert_true(x[i] == expected->x[i]);
    }
    assert_int_equal(client->encoder.symbol[column], expected->symbol);
}

static void
test_numbers(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    const char digits[] = "75";
    struct sotto_value with_text = {SOTTO_VALUE_NUMBER, 75, digits, 2};
    struct sotto_value odd_kind = {(enum sotto_value_kind)77, 75, digits, 2};
    const struct expected cases[] = {
        {value_number(75), {0.5f}, 0},
        {with_text, {0.5f}, 0},
        {value_number(-1e6), {(float)((-1e6 - 50) * 0.02)}, 0},
        {value_number(1e300), {INFINITY}, 0}, /* the domain copes */
        {value_number(5e-324), {(float)(-50 * 0.02)}, 0},
        {value_number(NAN), {0}, 0},
        {value_number(-NAN), {0}, 0},
        {value_number(INFINITY), {0}, 0},
        {value_number(-INFINITY), {0}, 0},
        {value_missing(), {0}, 0},
        {value_text("75"), {0}, 0},
        {value_bytes("7", 1), {0}, 0},
        {odd_kind, {0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(opened.client, 0, opened.client->encoder.x, 1, &cases[i]);
    }
    client_done(&opened);
    free(file.data);
}

/* A logarithm of whatever a record holds: 0 for what is no number, finite for
   what is, its sign the number's. */
static void
test_logarithm(void **state)
{
    static const struct schema_column column = {.name = "n",
                                                .kind = SOTTO_COLUMN_NUMBER,
                                                .count = 1,
                                                .shift = 1,
                                                .scale = 0.5,
                                                .missing = true,
                                                .log = true};
    static const struct compose_part part = {
        "features", "laplace", UNITS(1), 1, 0, 2, 16, {{0}}, 0};
    static const struct compose_spec spec = {"", "",   "", UNITS(1), &column,
                                             1,  NULL, 0,  &part,    1};
    static const double finite[] = {0,      -0.0,   1,       -1,    99,
                                    -1e6,   1e300,  5e-324,  1e-20, 0x1p-480,
                                    0x1p53, -1e308, 1.7e308, 0.1,   -0.4142};
    const struct sotto_value none[] = {
        value_number(NAN),       value_number(-NAN), value_number(INFINITY),
        value_number(-INFINITY), value_missing(),    value_text("5"),
        value_bytes("5", 1)};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    const float *x = opened.client->encoder.x;
    (void)state;
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) {
        struct sotto_value value = value_number(finite[i]);
        double y = copysign(log1p(fabs(finite[i])), finite[i]);
        schema_apply(&opened.client->encoder, &value);
        assert_true(fabs((double)x[0] - (y - 1) * 0.5) <= 1e-6 * (1 + fabs(y)));
        assert_true(x[1] == 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        schema_apply(&opened.client->encoder, &none[i]);
        assert_true(x[0] == 0 && x[1] == 1);
    }
    client_done(&opened);
    free(file.data);
}

static void
test_categories(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value null_text = {SOTTO_VALUE_TEXT, 0, NULL, 5};
    struct sotto_value as_number = {SOTTO_VALUE_NUMBER, 3, "nurse", 5};
    struct sotto_value huge = {SOTTO_VALUE_TEXT, 0, "baker", 5};
    const struct expected cases[] = {
        {value_text("baker"), {1, 0, 0, 0}, 0},
        {value_text("clerk"), {0, 1, 0, 0}, 1},
        {value_text("nurse"), {0, 0, 1, 0}, 2},
        {as_number, {0, 0, 0, 1}, 3}, /* a number's .data is not looked at */
        {huge, {1, 0, 0, 0}, 0},
        {value_text("Baker"), {0, 0, 0, 1}, 3},
        {value_text("bakers"), {0, 0, 0, 1}, 3},
        {value_text("bake"), {0, 0, 0, 1}, 3},
        {value_text(""), {0, 0, 0, 1}, 3},
        {value_text("job"), {0, 0, 0, 1}, 3}, /* the name is no category */
        {value_text("photo"), {0, 0, 0, 1}, 3},
        {value_number(1), {0, 0, 0, 1}, 3},
        {value_bytes("baker", 5), {0, 0, 0, 1}, 3},
        {null_text, {0, 0, 0, 1}, 3},
        {value_missing(), {0, 0, 0, 1}, 3},
    };
    struct sotto_value nul = {SOTTO_VALUE_TEXT, 0, "baker\0clerk", 11};
    const struct expected with_nul = {nul, {0, 0, 0, 1}, 3};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(opened.client, 1, opened.client->encoder.x + 1, 4, &cases[i]);
    }
    check(opened.client, 1, opened.client->encoder.x + 1, 4, &with_nul);
    client_done(&opened);
    free(file.data);
}

static void
test_bytes(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    struct sotto_value null_data = {SOTTO_VALUE_BYTES, 0, NULL, 4};
    const double scale = 1 / 127.5;
    const struct expected cases[] = {
        {value_bytes("\x00\xff\x80\x7f", 4),
         {(float)((0 - 127.5) * scale), (float)((255 - 127.5) * scale),
          (float)((128 - 127.5) * scale), (float)((127 - 127.5) * scale)},
         0},
        {value_bytes("\x00\xff\x80\x7f", 3), {0, 0, 0, 0}, 0},
        {value_bytes("\x00\xff\x80\x7f\x01", 5), {0, 0, 0, 0}, 0},
        {value_bytes("", 0), {0, 0, 0, 0}, 0},
        {null_data, {0, 0, 0, 0}, 0},
        {value_text("abcd"), {0, 0, 0, 0}, 0},
        {value_number(1), {0, 0, 0, 0}, 0},
        {value_missing(), {0, 0, 0, 0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(opened.client, 2, opened.client->encoder.x + 5, 4, &cases[i]);
    }
    client_done(&opened);
    free(file.data);
}

/* A category that is no input leaves x alone and still has its symbol. */
static void
test_label(void **state)
{
    struct file file = file_make(everything());
    struct opened opened = client_open(file);
    const struct expected cases[] = {
        {value_text("no"), {0}, 0},
        {value_text("yes"), {0}, 1},
        {value_text("perhaps"), {0}, 2},
        {value_missing(), {0}, 2},
    };
    (void)state;
    assert_int_equal(opened.client->sizes.inputs, EVERYTHING_INPUTS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check(opened.client, 3, opened.client->encoder.x, 0, &cases[i]);
    }
    client_done(&opened);
    free(file.data);
}

/* An empty category is one that only an empty text matches. */
static void
test_empty_category(void **state)
{
    static const char *const values[] = {"", "x"};
    static const struct schema_column column = {
        "", SOTTO_COLUMN_CATEGORY, 3, values, true, 0, 1};
    static const struct compose_part part = {
        "label", "flip", UNITS(1), 1, 0, 0, 0, {{true, 0, 0}}, 1};
    static const struct compose_spec spec = {"", "",   "", UNITS(1), &column,
                                             1,  NULL, 0,  &part,    1};
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    struct sotto_value value = value_text("");
    (void)state;
    schema_apply(&opened.client->encoder, &value);
    assert_int_equal(opened.client->encoder.symbol[0], 0);
    value.kind = SOTTO_VALUE_MISSING;
    schema_apply(&opened.client->encoder, &value);
    assert_int_equal(opened.client->encoder.symbol[0], 2);
    client_done(&opened);
    free(file.data);
}

/* Hostile shift and scale, and every kind of value in every column: always a
   report, always of the same size, always a valid one. */
static void
test_always_a_report(void **state)
{
    static const double odd[] = {0,     1,      NAN,    INFINITY, -INFINITY,
                                 1e308, -1e308, 5e-324, -0.0};
    struct schema_column hostile[4];
    struct compose_spec spec = *everything();
    const struct sotto_value values[] = {
        value_missing(),         value_number(NAN),    value_number(1e308),
        value_number(-INFINITY), value_text("clerk"),  value_text(""),
        value_bytes("abcd", 4),  value_bytes(NULL, 4),
    };
    const size_t kinds = sizeof values / sizeof values[0];
    (void)state;
    memcpy(hostile, everything_columns, sizeof hostile);
    spec.column = hostile;
    tape_start(NULL, 0);
    for (size_t round = 0; round < 2 * (sizeof odd / sizeof odd[0]); round++) {
        bool log = round % 2 == 1;
        size_t i = round / 2;
        struct file file;
        struct opened opened;
        for (size_t j = 0; j < 4; j++) {
            hostile[j].shift = odd[i];
            hostile[j].log = hostile[j].kind == SOTTO_COLUMN_NUMBER && log;
            hostile[j].scale = odd[(i + j + 1) % (sizeof odd / sizeof odd[0])];
        }
        file = file_make(&spec);
        opened = client_open(file);
        for (size_t k = 0; k < kinds * kinds; k++) {
            struct sotto_value record[4] = {
                values[k % kinds], values[k / kinds],
                values[(k + k / kinds) % kinds], values[(k + 3) % kinds]};
            uint8_t report[64];
            assert_int_equal(sotto_client_privatise(opened.client, record, 4,
                                                    report, sizeof report),
                             SOTTO_STATUS_OK);
            assert_true(
                report_valid(&opened.client->report, report, sizeof report));
        }
        client_done(&opened);
        free(file.data);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_logarithm),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_label),
        cmocka_unit_test(test_empty_category),
        cmocka_unit_test(test_always_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
