/*
 * test_manifest_2.c: hostile manifests of version 2, what a newer device would
 * take, and that version 1 has none of its words.
 */
#include "client_fixture.h"

#include <math.h>

#define OK SOTTO_STATUS_OK
#define FORMAT SOTTO_STATUS_FORMAT
#define LIMIT SOTTO_STATUS_LIMIT

/* ---- Mechanisms ---------------------------------------------------------- */

static const char *const values[] = {"a", "b", "(missing)"};
static const struct schema_column columns[] = {
    {"n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 10, 0.125, true, true},
    {"c", SOTTO_COLUMN_CATEGORY, 4, values, true, 0, 1, true, false},
    {"label", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1}};
static const struct compose_part parts[] = {
    {"features", "laplace", UNITS(1), 2, 0, 1, 64, {{0}}, 0},
    {"both", "flip", UNITS(2), 1, 0, 0, 0, {{false, 2, 3, true, 2}}, 1}};
static const struct compose_spec terms = {.name = "terms",
                                          .campaign = "c",
                                          .auxiliary = "a",
                                          .eps = UNITS(4),
                                          .column = columns,
                                          .columns = 3,
                                          .part = parts,
                                          .parts = 2,
                                          .central_eps = {"3", 1},
                                          .central_delta = {"0.00001", 7},
                                          .expires = 1893456000};

static const float weight[64] = {1, -0.5f, 0.25f, 2, -1};
static const uint16_t half[] = {0, 0x3f80, 0, 0xbf00, 0, 0x3e80};
static const struct layer layers[] = {
    {2, 3, ACTIVATION_RELU, weight, weight},
    {2, 3, ACTIVATION_NONE, NULL, weight, .from = {2, 0}, .bf16 = true,
     .half = half},
    {3, 3, ACTIVATION_RELU, weight, weight, .from = {2, 1}}};
static const struct schema_column bytes = {
    "b", SOTTO_COLUMN_BYTES, 2, NULL, false, 0, 1};
static const struct compose_part part = {"features", "laplace", UNITS(1), 1, 0,
                                         3,          64,        {{0}},    0};
static const struct compose_spec graph = {
    "graph", "c", "a", UNITS(1), &bytes, 1, layers, 3, &part, 1};

/* Three codebooks of two codes each, asked together with a column. */
static const struct schema_column book_columns[] = {
    {"b", SOTTO_COLUMN_BYTES, 6, NULL, false, 0, 1},
    {"label", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1}};
static const struct compose_part book_parts[] = {
    {"both",
     "subset",
     UNITS(2),
     1,
     0,
     0,
     0,
     {{false, 0, 2}, {true, 1, 0}},
     2,
     .books = 3},
    {"label", "flip", UNITS(1), 1, 0, 0, 0, {{true, 1, 0}}, 1}};
static const struct compose_spec books = {
    "books", "c", "a", UNITS(3), book_columns, 2, NULL, 0, book_parts, 2};

/* A number of which the range is told, beside a category. */
static const char *const ranges[] = {"below 10", "10 to 20", "20 to 40",
                                     "40 or more"};
static const double edges[] = {10, 20, 40};
static const struct schema_column bin_columns[] = {
    {"c", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1},
    {.name = "y",
     .kind = SOTTO_COLUMN_BINS,
     .count = 5,
     .values = ranges,
     .edges = edges,
     .shift = 25,
     .scale = 0.04}};
static const struct compose_part bin_parts[] = {
    {"both", "subset", UNITS(2), 1, 0, 0, 0, {{true, 0, 0}, {true, 1, 0}}, 2}};
static const struct compose_spec bins = {
    "bins", "c", "a", UNITS(2), bin_columns, 2, NULL, 0, bin_parts, 1};

/* ---- Tests --------------------------------------------------------------- */

static void
test_terms(void **state)
{
    static const struct change changes[] = {
        {"\"expires\":1893456000", "\"expires\":1", OK, NULL},
        {"\"expires\":1893456000", "\"expires\":9007199254740991", OK, NULL},
        {"\"expires\":1893456000", "\"expires\":9007199254740992", LIMIT, NULL},
        {"\"expires\":1893456000", "\"expires\":0", LIMIT, NULL},
        {"\"expires\":1893456000", "\"expires\":-1", FORMAT, NULL},
        {"\"expires\":1893456000,", "", OK, NULL},
        {"\"central\":{\"eps\":\"3\",\"delta\":\"0.00001\"},", "", OK, NULL},
        {",\"delta\":\"0.00001\"},", "},", OK, NULL},
        {"\"central\":{\"eps\":\"3\"", "\"central\":{\"eps\":\"33\"",
         SOTTO_STATUS_BUDGET, NULL},
        {"\"central\":{\"eps\":\"3\",", "\"central\":{", FORMAT, NULL},
        {"\"expires\":1893456000,",
         "\"expires\":1893456000,\"expires\":1893456000,", FORMAT, NULL},
        {"\"expires\":1893456000,", "\"expires\":1893456000,\"issuer\":\"00\",",
         FORMAT, "needs a newer sotto: tokens"},
        {"{\"sotto\":2", "{\"sotto\":1", FORMAT, "not as sotto writes it"},
        {"{\"sotto\":2", "{\"sotto\":3", FORMAT, "not as sotto writes it"},
    };
    struct file file = file_make(&terms);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_columns(void **state)
{
    static const struct change changes[] = {
        {",\"transform\":\"clip\"", "", OK, NULL},
        {",\"transform\":\"clip\"", ",\"transform\":\"log\"", OK, NULL},
        {",\"transform\":\"clip\"",
         ",\"transform\":\"log\",\"transform\":\"clip\"", FORMAT, NULL},
        {",\"transform\":\"clip\"", ",\"transform\":\"root\"", FORMAT, NULL},
        {"\"clip\",\"missing\":1", "\"clip\",\"missing\":0", FORMAT, NULL},
        {"\"clip\",\"missing\":1", "\"clip\"", OK, NULL}, /* one less x */
        {"\"input\":1,\"missing\":1", "\"input\":1", OK, NULL},
        {"\"input\":0}", "\"input\":0,\"missing\":1}", OK, NULL},
        {"{\"kind\":\"number\"", "{\"kind\":\"image\",\"image\":[2,2,1]",
         FORMAT, "needs a newer sotto: columns of images"},
        {"{\"kind\":\"number\"", "{\"kind\":\"text\",\"tokens\":9", FORMAT,
         "needs a newer sotto: columns of text"},
        {"{\"kind\":\"number\"", "{\"kind\":\"sound\"", FORMAT,
         "not as sotto writes it"},
    };
    struct file file = file_make(&terms);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_bins(void **state)
{
    static const struct change changes[] = {
        {"{\"kind\":\"bins\",\"count\":5}", "{\"kind\":\"bins\",\"count\":6}",
         FORMAT, NULL}, /* an edge and a name too few */
        {"{\"kind\":\"bins\",\"count\":5}", "{\"kind\":\"bins\",\"count\":4}",
         FORMAT, NULL},
        {"{\"kind\":\"bins\",\"count\":5}", "{\"kind\":\"bins\",\"count\":2}",
         LIMIT, NULL},
        {"{\"kind\":\"bins\",\"count\":5}",
         "{\"kind\":\"bins\",\"count\":65537}", LIMIT, NULL},
        {"{\"kind\":\"bins\",\"count\":5}",
         "{\"kind\":\"bins\",\"count\":5,\"input\":1}", FORMAT, NULL},
        {"{\"kind\":\"bins\",\"count\":5}", "{\"kind\":\"number\"}", FORMAT,
         NULL}, /* a part takes its symbol */
        {"schema.edges", "schema.edge", FORMAT, NULL},
        {"{\"sotto\":2", "{\"sotto\":1", FORMAT, "not as sotto writes it"},
    };
    struct file file = file_make(&bins);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* Every value has a symbol, whatever the edges are. */
static void
test_bin_values(void **state)
{
    static const double cases[][4] = {
        {10, 20, 40, 0},
        {40, 10, 20, 0},
        {(double)NAN, 20, 40, 1},
        {-(double)INFINITY, 0, (double)INFINITY, 1}};
    static const struct {
        double number;
        int32_t symbol[4];
    } numbers[] = {{9.999, {0, 0, 0, 2}},
                   {10, {1, 1, 0, 2}},
                   {20, {2, 2, 1, 2}},
                   {39.9, {2, 2, 1, 2}},
                   {40, {3, 3, 2, 2}},
                   {1e300, {3, 3, 2, 2}},
                   {-1e300, {0, 0, 0, 1}},
                   {5e-324, {0, 0, 0, 2}},
                   {-5e-324, {0, 0, 0, 2}},
                   {(double)NAN, {4, 4, 4, 4}},
                   {(double)INFINITY, {4, 4, 4, 4}},
                   {-(double)INFINITY, {4, 4, 4, 4}}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct schema_column own[2];
        struct compose_spec spec = bins;
        memcpy(own, bins.column, sizeof own);
        own[1].edges = cases[i];
        spec.column = own;
        struct file file = file_make(&spec);
        struct opened opened = client_open(file);
        const struct sotto_value others[] = {value_missing(), value_text("10"),
                                             value_bytes("7", 1)};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            const struct sotto_value record[] = {
                value_text("a"), value_number(numbers[j].number)};
            schema_apply(&opened.client->encoder, record);
            assert_int_equal(opened.client->encoder.symbol[1],
                             numbers[j].symbol[i]);
        }
        for (size_t j = 0; j < 3; j++) {
            const struct sotto_value record[] = {value_text("a"), others[j]};
            schema_apply(&opened.client->encoder, record);
            assert_int_equal(opened.client->encoder.symbol[1], 4);
        }
        client_done(&opened);
        free(file.data);
    }
}

static void
test_equal(void **state)
{
    static const struct change changes[] = {
        {"{\"column\":2},{", "{\"column\":1},{", OK, NULL},
        {"{\"column\":2},{", "{\"column\":0},{", FORMAT, NULL},
        {"{\"column\":2},{", "{\"column\":3},{", FORMAT, NULL},
        {"{\"from\":2,\"k\":3}]", "{\"from\":2,\"k\":4}]", OK, NULL},
        {"{\"from\":2,\"k\":3}]", "{\"from\":2,\"k\":5}]", FORMAT, NULL},
        {"{\"from\":2,\"k\":3}]", "{\"from\":2,\"k\":1}]", LIMIT, NULL},
        {"{\"from\":2,\"k\":3}]", "{\"column\":2}]", FORMAT, NULL},
        {"\"symbols\":[{\"equal\":[{\"column\":2},{\"from\":2,\"k\":3}]}]",
         "\"symbols\":[{\"from\":2,\"k\":3}]", OK, NULL},
        {"\"symbols\":[{", "\"books\":[[{", FORMAT, NULL},
        {"\"flip\"", "\"signs\"", FORMAT, NULL}, /* not two factors */
    };
    struct file file = file_make(&terms);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* Codebooks of which a lot asks one: what the reader takes, and what would
   give a book another budget or another size cannot be said. */
static void
test_books(void **state)
{
    static const struct change changes[] = {
        {"\"books\":3", "\"books\":2", OK, NULL},
        {"\"books\":3", "\"books\":4", FORMAT, "more numbers than"},
        {"\"books\":3", "\"books\":1", LIMIT, NULL},
        {"\"books\":3", "\"books\":0", LIMIT, NULL},
        {"\"books\":3", "\"books\":257", LIMIT, NULL},
        {"\"books\":3", "\"books\":03", FORMAT, NULL},
        {"\"books\":3,", "\"books\":3,\"books\":3,", FORMAT, NULL},
        {"\"books\":3", "\"books\":[3,2]", FORMAT, NULL},
        {"\"books\":3,\"symbols\":[", "\"books\":[[", FORMAT, NULL},
        {"\"books\":3,\"symbols\"", "\"symbols\"", OK, NULL},
        {"\"from\":0,\"k\":2", "\"from\":1,\"k\":2", FORMAT,
         "more numbers than"},
        {"\"from\":0,\"k\":2", "\"from\":0,\"k\":3", FORMAT,
         "more numbers than"},
        {"{\"from\":0,\"k\":2},", "", FORMAT, "all the same"},
        {",{\"column\":1}", "", OK, NULL},
        {"{\"column\":1}", "{\"equal\":[{\"column\":1},{\"from\":0,\"k\":2}]}",
         OK, NULL},
        {"{\"column\":1}", "{\"equal\":[{\"column\":1},{\"from\":0,\"k\":3}]}",
         FORMAT, "more numbers than"},
        {"\"symbols\":[{\"column\":1}]",
         "\"books\":2,\"symbols\":[{\"from\":0,\"k\":2}]", FORMAT,
         "there is one lot"},
        {"\"eps\":\"3\"", "\"eps\":\"2.999\"", SOTTO_STATUS_BUDGET, NULL},
        {"{\"sotto\":2", "{\"sotto\":1", FORMAT, "not as sotto writes it"},
    };
    struct file file = file_make(&books);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_layers(void **state)
{
    static const struct change changes[] = {
        {"\"from\":[1,2]", "\"from\":[2,1]", OK, NULL},
        {"\"from\":[1,2]", "\"from\":[1,1]", FORMAT, "taken by no other"},
        {"\"from\":[1,2]", "\"from\":[1]", FORMAT, "taken by no other"},
        {"\"from\":[1,2]", "\"from\":[1,0]", FORMAT, "another shape"},
        {"\"from\":[1,2]", "\"from\":[0,2]", FORMAT, "do not fit"},
        {"\"from\":[1,2]", "\"from\":[1,2,2]", FORMAT, NULL},
        {"\"from\":[1,2]", "\"from\":[]", FORMAT, NULL},
        {"\"from\":[1,2]", "\"from\":[1,3]", LIMIT, NULL},
        {"\"from\":[1,2]", "\"from\":[1,4294967298]", LIMIT, NULL},
        {"\"from\":[1,2]", "\"from\":[1,-1]", FORMAT, NULL},
        {"\"from\":[0],\"in\":2,\"out\":3,\"weights\":\"f32\"",
         "\"from\":[1],\"in\":2,\"out\":3,\"weights\":\"f32\"", LIMIT, NULL},
        {"\"weights\":\"bf16\"", "\"weights\":\"f32\"", FORMAT, NULL},
        {"\"weights\":\"bf16\"", "\"weights\":\"f16\"", FORMAT, NULL},
        {"\"weights\":\"bf16\"", "\"weights\":\"int8\"", FORMAT,
         "needs a newer sotto: weights of 8 bits"},
        {"{\"kind\":\"dense\"", "{\"kind\":\"norm\"", FORMAT,
         "needs a newer sotto: a kind of layer"},
        {"{\"kind\":\"dense\"", "{\"kind\":\"lstm\"", FORMAT,
         "needs a newer sotto: a kind of layer"},
        {"{\"kind\":\"dense\"", "{\"kind\":\"embed\"", FORMAT,
         "needs a newer sotto: a kind of layer"},
        {"{\"kind\":\"dense\"", "{\"kind\":\"dance\"", FORMAT,
         "not as sotto writes it"},
        {"{\"sotto\":2", "{\"sotto\":1", FORMAT, "not as sotto writes it"},
    };
    struct file file = file_make(&graph);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* Prints a manifest of `wide` pools of all of x, which convolutions then add up
   one by one, as it stands in a file: with a backslash before each quote. */
static size_t
print_wide(char *text, size_t size, unsigned wide)
{
    static const char window[] =
        ",\"image\":[1024,1024,1],%s\"kernel\":1,\"stride\":1,\"pad\":0,%s}";
    static char plain[1 << 15];
    size_t used = 0, at = 0;
#define PRINT(...)                                                             \
    used += (size_t)snprintf(plain + used, sizeof plain - used, __VA_ARGS__)
    PRINT("{\"sotto\":2,\"name\":\"n\",\"campaign\":\"c\",\"auxiliary\":\"a\","
          "\"eps\":\"1\",\"columns\":[{\"kind\":\"bytes\",\"count\":1048576}],"
          "\"encoder\":[");
    for (unsigned i = 0; i < wide; i++) {
        PRINT("{\"kind\":\"pool\",\"from\":[0]");
        PRINT(window, "", "\"of\":\"max\"");
        PRINT(",");
    }
    for (unsigned i = 1; i < wide; i++) {
        PRINT("{\"kind\":\"conv\",\"from\":[%u,%u]", i == 1 ? 1 : wide + i - 1,
              i + 1);
        PRINT(window, "\"out\":1,",
              "\"weights\":\"f32\",\"activation\":\"none\"");
        PRINT(i + 1 < wide ? "," : "");
    }
    PRINT("],\"parts\":[{\"covers\":\"features\",\"channel\":\"laplace\","
          "\"eps\":\"1\",\"blocks\":1,\"lattice\":{\"from\":0,\"d\":1,"
          "\"l\":64}}]}");
#undef PRINT
    for (size_t i = 0; i < used && at + 2 < size; i++) {
        if (plain[i] == '"') {
            text[at++] = '\\';
        }
        text[at++] = plain[i];
    }
    return at;
}

/* Outputs that are wanted later take room: 16 of the largest, and no more. */
static void
test_room(void **state)
{
    static char text[1 << 16];
    (void)state;
    for (unsigned wide = 14; wide < 18; wide++) {
        struct device_sizes sizes = {.columns = 0};
        struct reader reader;
        struct sotto_error err;
        size_t size = print_wide(text, sizeof text, wide);
        reader_init(&reader, (const uint8_t *)text, size);
        manifest_read(&reader, channel_exact, &sizes, NULL);
        if (sizes.floats > DEVICE_FLOATS_MAX) {
            assert_int_equal(reader_status(&reader, &err), LIMIT);
            assert_non_null(strstr(err.message, "too many outputs"));
        } else {
            assert_int_equal(reader_status(&reader, &err), OK);
        }
        assert_int_equal(sizes.floats > DEVICE_FLOATS_MAX, wide > 15);
    }
}

/* Every length, and every byte changed: refused, or used without harm. */
static void
test_damaged(void **state)
{
    const struct compose_spec *const specs[] = {&terms, &graph, &books, &bins};
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        struct file file = file_make(specs[s]);
        struct sotto_error err;
        for (size_t size = 0; size < file.size; size++) {
            struct file cut = {malloc(size > 0 ? size : 1), size};
            assert_non_null(cut.data);
            memcpy(cut.data, file.data, size);
            assert_int_not_equal(try_open(cut, NULL, &err), SOTTO_STATUS_OK);
            free(cut.data);
        }
        for (size_t i = 0; i < file.size; i++) {
            for (int bit = 0; bit < 8; bit++) {
                file.data[i] ^= (uint8_t)(1 << bit);
                (void)try_open(file, NULL, &err);
                file.data[i] ^= (uint8_t)(1 << bit);
            }
        }
        free(file.data);
    }
}

/* What the words do, on a device. */
static void
test_values(void **state)
{
    struct file file = file_make(&terms);
    struct opened opened = client_open(file);
    struct sotto_client *client = opened.client;
    const struct {
        struct sotto_value value[3];
        float x[6];
        int32_t symbol[3];
        int32_t equal;
    } cases[] = {
        {{value_number(12), value_text("a"), value_text("a")},
         {0.25f, 0, 1, 0, 0, 0},
         {0, 0, 0},
         1},
        {{value_number(1e9), value_text("b"), value_text("a")},
         {1, 0, 0, 1, 0, 0},
         {0, 1, 0},
         0},
        {{value_number(-1e300), value_text("?"), value_text("b")},
         {-1, 0, 0, 0, 0, 1},
         {0, 3, 1},
         0},
        {{value_missing(), value_missing(), value_missing()},
         {0, 1, 0, 0, 1, 0},
         {0, 2, 2},
         1},
        {{value_text("x"), value_number(1), value_text("(missing)")},
         {0, 1, 0, 0, 1, 0},
         {0, 2, 2},
         1},
    };
    (void)state;
    assert_int_equal(client->terms.version, 2);
    assert_int_equal(client->terms.expires, 1893456000);
    assert_true(reader_is(client->terms.central_eps, "3"));
    assert_true(reader_is(client->terms.central_delta, "0.00001"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schema_apply(&client->encoder, cases[i].value);
        forward_run(&client->encoder);
        for (size_t j = 0; j < 6; j++) {
            assert_true(client->encoder.z[j] == cases[i].x[j]);
        }
        assert_int_equal(client->encoder.symbol[1], cases[i].symbol[1]);
        assert_int_equal(client->encoder.symbol[2], cases[i].symbol[2]);
        report_point(&client->report, &client->report.part[1], 0, 0);
        assert_int_equal(client->report.q[0], cases[i].equal);
        device_wipe(client);
    }
    client_done(&opened);
    free(file.data);
}

/* A NaN, whose sign is the processor's, is clipped to 0. */
static void
test_clipped_nan(void **state)
{
    static const struct {
        double scale, value;
        float x;
    } cases[] = {{(double)INFINITY, 10, 0}, {(double)INFINITY, 11, 1},
                 {(double)INFINITY, 9, -1}, {-(double)INFINITY, 10, 0},
                 {-(double)INFINITY, 9, 1}, {(double)NAN, 10, 0},
                 {-(double)NAN, 11, 0},     {0.5, 12, 1},
                 {0.5, 12.0000001, 1},      {0.5, 11, 0.5f}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schema_column own[3];
        struct compose_spec spec = terms;
        const struct sotto_value record[] = {value_number(cases[i].value),
                                             value_missing(), value_missing()};
        memcpy(own, terms.column, sizeof own);
        own[0].scale = cases[i].scale;
        spec.column = own;
        struct file file = file_make(&spec);
        struct opened opened = client_open(file);
        schema_apply(&opened.client->encoder, record);
        assert_true(opened.client->encoder.x[0] == cases[i].x);
        client_done(&opened);
        free(file.data);
    }
}

/* A half so small that a device's time could tell of it is refused; 0 is not,
   and the writer makes the one the other. */
static void
test_small_halves(void **state)
{
    static const uint16_t halves[] = {0x0001, 0x267f, 0x2680, 0x8001, 0x0000};
    struct file file = file_make(&graph);
    struct sotto_error err;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        /* The weights of halves end where the text "b\0" begins. */
        memcpy(file.data + file.size - 4, &halves[i], 2);
        poison(&err);
        assert_int_equal(try_open(file, NULL, &err),
                         halves[i] == 0x2680 || halves[i] == 0 ? OK : FORMAT);
    }
    free(file.data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_terms),       cmocka_unit_test(test_columns),
        cmocka_unit_test(test_bins),        cmocka_unit_test(test_bin_values),
        cmocka_unit_test(test_equal),       cmocka_unit_test(test_books),
        cmocka_unit_test(test_layers),      cmocka_unit_test(test_room),
        cmocka_unit_test(test_damaged),     cmocka_unit_test(test_values),
        cmocka_unit_test(test_clipped_nan), cmocka_unit_test(test_small_halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
