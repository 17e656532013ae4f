/*
 * test_manifest.c: hostile manifests: numbers out of range, references to what
 * does not exist, budgets that do not add up, other spellings of JSON.
 */
#include "client_fixture.h"

static void
test_lattices(void **state)
{
    static const struct change changes[] = {
        {"\"l\":16", "\"l\":1", SOTTO_STATUS_OK},
        {"\"l\":16", "\"l\":1048576", SOTTO_STATUS_OK},
        {"\"l\":16", "\"l\":0", SOTTO_STATUS_LIMIT},
        {"\"l\":16", "\"l\":1048577", SOTTO_STATUS_LIMIT},
        {"\"l\":16", "\"l\":4294967295", SOTTO_STATUS_LIMIT},
        {"\"l\":16", "\"l\":4294967296", SOTTO_STATUS_LIMIT},
        {"\"l\":16", "\"l\":4294967312", SOTTO_STATUS_LIMIT}, /* 2^32 + 16 */
        {"\"l\":16", "\"l\":18446744073709551632", SOTTO_STATUS_LIMIT},
        {"\"l\":16", "\"l\":-16", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":016", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":16.0", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":1e1", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":\"16\"", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":null", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":", SOTTO_STATUS_FORMAT},
        {"\"l\":16", "\"l\":16,\"t\":1", SOTTO_STATUS_FORMAT}, /* no noise */
        {"\"d\":2", "\"d\":1", SOTTO_STATUS_OK},
        {"\"d\":2", "\"d\":0", SOTTO_STATUS_LIMIT},
        {"\"d\":2", "\"d\":3", SOTTO_STATUS_FORMAT},
        {"\"d\":2", "\"d\":4096", SOTTO_STATUS_FORMAT},
        {"\"d\":2", "\"d\":4097", SOTTO_STATUS_LIMIT},
        {"\"d\":2", "\"d\":4294967298", SOTTO_STATUS_LIMIT}, /* 2^32 + 2 */
        {"{\"from\":0,\"d\"", "{\"from\":1,\"d\"", SOTTO_STATUS_FORMAT},
        {"{\"from\":0,\"d\"", "{\"from\":1048576,\"d\"", SOTTO_STATUS_FORMAT},
        {"{\"from\":0,\"d\"", "{\"from\":1048577,\"d\"", SOTTO_STATUS_LIMIT},
        {"{\"from\":0,\"d\"", "{\"from\":4294967295,\"d\"", SOTTO_STATUS_LIMIT},
        {"\"blocks\":1,\"l", "\"blocks\":0,\"l", SOTTO_STATUS_LIMIT},
        {"\"blocks\":1,\"l", "\"blocks\":2,\"l", SOTTO_STATUS_FORMAT},
        {"\"blocks\":1,\"l", "\"blocks\":65536,\"l", SOTTO_STATUS_FORMAT},
        {"\"blocks\":1,\"l", "\"blocks\":65537,\"l", SOTTO_STATUS_LIMIT},
        {"\"blocks\":1,\"l", "\"blocks\":4294967297,\"l", SOTTO_STATUS_LIMIT},
    };
    struct file file = file_make(small());
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_symbols(void **state)
{
    static const struct change changes[] = {
        {"{\"from\":4,\"k\":3}", "{\"from\":4,\"k\":2}", SOTTO_STATUS_OK},
        {"{\"from\":4,\"k\":3}", "{\"from\":4,\"k\":0}", SOTTO_STATUS_LIMIT},
        {"{\"from\":4,\"k\":3}", "{\"from\":4,\"k\":1}", SOTTO_STATUS_LIMIT},
        {"{\"from\":4,\"k\":3}", "{\"from\":4,\"k\":4}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"from\":4,\"k\":65537}",
         SOTTO_STATUS_LIMIT},
        {"{\"from\":4,\"k\":3}", "{\"from\":5,\"k\":3}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"column\":1}", SOTTO_STATUS_OK},
        {"{\"from\":4,\"k\":3}", "{\"column\":0}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"column\":2}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"column\":4}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"column\":4096}", SOTTO_STATUS_FORMAT},
        {"{\"from\":4,\"k\":3}", "{\"column\":4097}", SOTTO_STATUS_LIMIT},
        {"{\"from\":4,\"k\":3}", "{\"column\":4294967299}", SOTTO_STATUS_LIMIT},
        {"{\"from\":4,\"k\":3}", "{\"column\":3,\"k\":3}", SOTTO_STATUS_FORMAT},
        {"[{\"column\":3},", "[", SOTTO_STATUS_OK},
        {"[{\"column\":3},{\"from\":4,\"k\":3}]", "[]", SOTTO_STATUS_FORMAT},
        {"[{\"column\":3},", "[{\"column\":3},{\"column\":3},{\"column\":1},",
         SOTTO_STATUS_OK},
        {"[{\"column\":3},",
         "[{\"column\":3},{\"column\":3},{\"column\":3},{\"column\":3},",
         SOTTO_STATUS_LIMIT},
        {"[{\"column\":3},", "[{\"column\":3},,", SOTTO_STATUS_FORMAT},
        {"\"blocks\":1,\"symbols\"", "\"blocks\":2,\"symbols\"",
         SOTTO_STATUS_FORMAT},
        {"\"subset\"", "\"laplace\"", SOTTO_STATUS_FORMAT},
        {"\"laplace\"", "\"flip\"", SOTTO_STATUS_FORMAT},
        {"\"subset\"", "\"flip\"", SOTTO_STATUS_OK},
        {"\"subset\"", "\"subsets\"", SOTTO_STATUS_FORMAT},
        {"\"subset\"", "\"gaussian\"", SOTTO_STATUS_FORMAT},
        {"\"subset\"", "\"\"", SOTTO_STATUS_FORMAT},
        {"\"subset\"", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
         SOTTO_STATUS_LIMIT},
        {"\"both\"", "\"everything\"", SOTTO_STATUS_LIMIT},
        {"\"both\"", "\"neither\"", SOTTO_STATUS_FORMAT},
        {"\"both\"", "\"\"", SOTTO_STATUS_FORMAT},
    };
    struct file file = file_make(everything());
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* 256 x 257 symbols are too many, in any order of factors. */
static void
test_product_of_factors(void **state)
{
    static const char *many[65535];
    static const struct compose_factor fits[] = {{true, 0, 0}, {true, 1, 0}};
    struct schema_column columns[] = {
        {"a", SOTTO_COLUMN_CATEGORY, 256, many, false, 0, 1},
        {"b", SOTTO_COLUMN_CATEGORY, 256, many, false, 0, 1},
    };
    struct compose_part part = {"both", "flip", UNITS(1),           1, 0,
                                0,      0,      {fits[0], fits[1]}, 2};
    struct compose_spec spec = {"k", "c",  "a", UNITS(1), columns,
                                2,   NULL, 0,   &part,    1};
    struct sotto_error err;
    struct file file;
    uint8_t *data = NULL;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 65535; i++) {
        many[i] = "v";
    }
    file = file_make(&spec);
    free(file.data);
    columns[1].count = 257;
    poison(&err);
    assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    columns[0].count = 65536;
    columns[1].count = 65536; /* 2^32: 0 in 32 bits */
    assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    part.factor[2] = fits[0];
    part.factor[3] = fits[0]; /* 2^64: 0 in 64 bits */
    part.factors = 4;
    assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    assert_null(data);
}

/* Signs are of two factors, in any order of kinds. */
static void
test_pairs_have_two_factors(void **state)
{
    static const char *values[] = {"v", "w"};
    static const struct compose_factor column = {true, 0, 0};
    static const struct schema_column columns[] = {
        {"a", SOTTO_COLUMN_CATEGORY, 3, values, false, 0, 1},
        {"b", SOTTO_COLUMN_BYTES, 5, NULL, false, 0, 1},
    };
    struct compose_part part = {
        "both", "signs", UNITS(1), 1, 0, 0, 0, {{false, 0, 5}, column}, 2};
    struct compose_spec spec = {"k", "c",  "a", UNITS(1), columns,
                                2,   NULL, 0,   &part,    1};
    struct file file;
    (void)state;
    file = file_make(&spec);
    free(file.data);
    part.factor[2] = column;
    for (uint32_t i = 1; i <= 3; i++) {
        struct sotto_error err;
        uint8_t *data = NULL;
        size_t size;
        enum sotto_status status;
        part.factors = i;
        poison(&err);
        status = compose_bytes(&spec, &data, &size, &err);
        assert_int_equal(status,
                         i == 2 ? SOTTO_STATUS_OK : SOTTO_STATUS_FORMAT);
        if (i != 2) {
            assert_non_null(strstr(err.message, "not two factors"));
        }
        free(data);
    }
}

static void
test_budgets(void **state)
{
    static const struct change changes[] = {
        {"\"eps\":\"3\"", "\"eps\":\"3.000000000000\"", SOTTO_STATUS_OK},
        {"\"eps\":\"3\"", "\"eps\":\"32\"", SOTTO_STATUS_OK},
        {"\"eps\":\"3\"", "\"eps\":\"2.999999999999\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"1\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"0\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"0.0000009\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"33\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"32.000000000001\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"9999999\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"3\"", "\"eps\":\"99999999\"", SOTTO_STATUS_LIMIT},
        {"\"eps\":\"3\"", "\"eps\":\"18446744073709551619\"",
         SOTTO_STATUS_LIMIT},
        {"\"eps\":\"3\"", "\"eps\":\"3.0000000000000\"", SOTTO_STATUS_LIMIT},
        {"\"eps\":\"3\"", "\"eps\":\"1e3\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"-1\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"+3\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\" 1\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"1 \"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"03\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"3.\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\".3\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"3,0\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"0x3\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"inf\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"nan\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":\"\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"3\"", "\"eps\":3", SOTTO_STATUS_FORMAT},
        {"\"eps\":\"1\"", "\"eps\":\"1.000000000001\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"1\"", "\"eps\":\"0\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"1\"", "\"eps\":\"0.000001\"", SOTTO_STATUS_OK},
        {"\"eps\":\"2\"", "\"eps\":\"32\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"2\"", "\"eps\":\"33\"", SOTTO_STATUS_BUDGET},
    };
    struct file file = file_make(small());
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* Blocks spend too: 40000 of 1 are more than any total; and an epsilon of a
   million digits is too long, not slow. */
static void
test_large_budgets(void **state)
{
    static const float weight[4] = {1}, bias[4] = {0};
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    static const struct layer layer = {1, 4, ACTIVATION_NONE, weight, bias};
    static const struct compose_part part = {
        "features", "laplace", UNITS(1), 4, 0, 1, 16, {{0}}, 0};
    static const struct compose_spec spec = {
        "s", "c", "a", UNITS(4), &column, 1, &layer, 1, &part, 1};
    static const struct change changes[] = {
        {"\"eps\":\"4\"", "\"eps\":\"3.999999999999\"", SOTTO_STATUS_BUDGET},
        {"\"eps\":\"1\"", "\"eps\":\"1.000000000001\"", SOTTO_STATUS_BUDGET},
        {"\"blocks\":4", "\"blocks\":3", SOTTO_STATUS_OK},
    };
    struct file file = file_make(&spec);
    struct change digits = {"\"eps\":\"1\"", NULL, SOTTO_STATUS_LIMIT};
    char *text = malloc(1000020);
    (void)state;
    assert_non_null(text);
    CHECK(file, changes);
    memset(text, '1', 1000019);
    memcpy(text, "\"eps\":\"0.", 9);
    strcpy(text + 1000009, "\"");
    digits.new = text;
    check_changes(file, &digits, 1);
    free(text);
    free(file.data);
}

/* Many parts whose budgets would wrap round 64 bits if added carelessly. */
static void
test_many_parts(void **state)
{
    const char part[] = "{\"covers\":\"label\",\"channel\":\"flip\",\"eps\":"
                        "\"32\",\"blocks\":1,\"symbols\":[{\"from\":0,"
                        "\"k\":2}]}";
    struct file file = file_make(small());
    char *text = malloc(4200 * sizeof part), *at = text;
    struct change change = {"\"parts\":[", NULL, SOTTO_STATUS_BUDGET};
    (void)state;
    assert_non_null(text);
    at += sprintf(at, "\"parts\":[");
    for (int i = 0; i < 4094; i++) {
        at += sprintf(at, "%s,", part);
    }
    change.new = text;
    check_changes(file, &change, 1);
    (void)sprintf(at, "%s,", part); /* 4097 with the two of the fixture */
    change.status = SOTTO_STATUS_LIMIT;
    check_changes(file, &change, 1);
    free(text);
    free(file.data);
}

/* ---- Delta, balls and cubes --------------------------------------------- */

static const struct schema_column four_column = {
    "b", SOTTO_COLUMN_BYTES, 4, NULL, false, 127.5, 1 / 127.5};
static const struct compose_part four_parts[] = {
    {"features", "gaussian", UNITS(1), 1, 0, 2, 16, {{0}}, 0, UNITS(0.000002)},
    {"features", "duchi", UNITS(1), 1, 2, 2, 16, {{0}}, 0, 0},
    {"label", "window", UNITS(1), 1, 0, 1, 16, {{0}}, 0, 0},
};
static const struct compose_spec four = {
    "s", "c", "a", UNITS(3), &four_column, 1, NULL, 0, four_parts, 3};

static void
test_deltas(void **state)
{
#define WHOLE "\"3\",\"delta\":\"0.000002\""
#define PART "\"1\",\"delta\":\"0.000002\""
    static const struct change changes[] = {
        {WHOLE, "\"3\",\"delta\":\"0.000002000000\"", SOTTO_STATUS_OK},
        {WHOLE, "\"3\",\"delta\":\"0.000003\"", SOTTO_STATUS_OK},
        {WHOLE, "\"3\",\"delta\":\"0.01\"", SOTTO_STATUS_OK},
        {WHOLE, "\"3\",\"delta\":\"0.010000000001\"", SOTTO_STATUS_BUDGET},
        {WHOLE, "\"3\",\"delta\":\"1\"", SOTTO_STATUS_BUDGET},
        {WHOLE, "\"3\",\"delta\":\"0.000001999999\"", SOTTO_STATUS_BUDGET},
        {WHOLE, "\"3\"", SOTTO_STATUS_BUDGET},
        {WHOLE, "\"3\",\"delta\":\"0\"", SOTTO_STATUS_BUDGET},
        {WHOLE, "\"3\",\"delta\":0.000002", SOTTO_STATUS_FORMAT},
        {WHOLE, "\"3\",\"delta\":\"2e-6\"", SOTTO_STATUS_FORMAT},
        {WHOLE, "\"3\",\"delta\":\"\"", SOTTO_STATUS_FORMAT},
        {WHOLE, "\"3\",\"delta\":\"-0.000002\"", SOTTO_STATUS_FORMAT},
        {WHOLE, WHOLE ",\"delta\":\"0.000002\"", SOTTO_STATUS_FORMAT},
        {"\"eps\":" WHOLE, "\"delta\":\"0.000002\",\"eps\":\"3\"",
         SOTTO_STATUS_FORMAT},
        {PART, "\"1\",\"delta\":\"0.000000000001\"", SOTTO_STATUS_OK},
        {PART, "\"1\",\"delta\":\"0.0000000000001\"", SOTTO_STATUS_LIMIT},
        {PART, "\"1\",\"delta\":\"0\"", SOTTO_STATUS_BUDGET},
        {PART, "\"1\",\"delta\":\"0.02\"", SOTTO_STATUS_BUDGET},
        {PART, "\"1\",\"delta\":\"0.000002000001\"", SOTTO_STATUS_BUDGET},
        {PART, "\"1\"", SOTTO_STATUS_FORMAT}, /* the total's has no part */
        {PART ",\"blocks\":1", "\"1\",\"blocks\":1,\"delta\":\"0.000002\"",
         SOTTO_STATUS_FORMAT},
    };
    static const struct change pure[] = {
        {"\"eps\":\"3\"", "\"eps\":\"3\",\"delta\":\"0.000001\"",
         SOTTO_STATUS_FORMAT},
    };
    struct file file = file_make(&four);
    (void)state;
    CHECK(file, changes);
    free(file.data);
    file = file_make(small());
    CHECK(file, pure);
    free(file.data);
}

/* A channel that needs a delta gets one, and no other does. */
static void
test_delta_belongs_to_its_channel(void **state)
{
    struct compose_part parts[3];
    struct compose_spec spec = four;
    struct sotto_error err;
    uint8_t *data = NULL;
    size_t size;
    (void)state;
    memcpy(parts, four_parts, sizeof parts);
    spec.part = parts;
    for (size_t i = 0; i < 3; i++) {
        uint64_t kept = parts[i].delta;
        parts[i].delta = kept > 0 ? 0 : UNITS(0.000001);
        poison(&err);
        assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                         SOTTO_STATUS_BUDGET);
        assert_non_null(strstr(err.message, "budget is beyond what"));
        parts[i].delta = kept;
    }
    parts[0].blocks = 2; /* each of them spends */
    parts[0].eps = UNITS(0.5);
    struct file file = file_make(&spec);
    struct opened opened = client_open(file);
    assert_true(opened.client->terms.delta == UNITS(0.000004));
    client_done(&opened);
    free(file.data);
}

static void
test_balls_and_cubes(void **state)
{
    static const struct change changes[] = {
        {"\"ball\"", "\"cube\"", SOTTO_STATUS_FORMAT},
        {"\"ball\"", "\"lattice\"", SOTTO_STATUS_FORMAT},
        {"\"cube\"", "\"ball\"", SOTTO_STATUS_FORMAT},
        {"\"cube\"", "\"lattice\"", SOTTO_STATUS_FORMAT},
        {"\"cube\"", "\"symbols\"", SOTTO_STATUS_FORMAT},
        {"\"lattice\"", "\"cube\"", SOTTO_STATUS_FORMAT},
        {"\"duchi\"", "\"laplace\"", SOTTO_STATUS_FORMAT},
        {"\"window\"", "\"laplace\"", SOTTO_STATUS_OK},
        {"\"ball\":{\"from\":0,\"d\":2", "\"ball\":{\"from\":0,\"d\":4",
         SOTTO_STATUS_OK},
        {"\"ball\":{\"from\":0,\"d\":2", "\"ball\":{\"from\":0,\"d\":5",
         SOTTO_STATUS_FORMAT},
        {"\"ball\":{\"from\":0,\"d\":2", "\"ball\":{\"from\":0,\"d\":0",
         SOTTO_STATUS_LIMIT},
        {"{\"from\":2,\"d\":2,\"l\":16", "{\"from\":2,\"d\":2,\"l\":0",
         SOTTO_STATUS_LIMIT},
        {"{\"from\":2,\"d\":2", "{\"from\":3,\"d\":2", SOTTO_STATUS_FORMAT},
        {"{\"from\":2,\"d\":2,\"l\":16", "{\"from\":2,\"d\":2,\"l\":1048576",
         SOTTO_STATUS_OK},
        {"{\"from\":2,\"d\":2,\"l\":16", "{\"from\":2,\"d\":2,\"l\":1048577",
         SOTTO_STATUS_LIMIT},
        {"{\"from\":0,\"d\":1", "{\"from\":0,\"d\":2", SOTTO_STATUS_LIMIT},
        /* noise that the device cannot make */
        {"{\"from\":0,\"d\":2,\"l\":16", "{\"from\":0,\"d\":2,\"l\":1048576",
         SOTTO_STATUS_LIMIT},
    };
    struct file file = file_make(&four);
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_columns_and_layers(void **state)
{
    static const struct change changes[] = {
        {"{\"kind\":\"number\"}", "{\"kind\":\"category\",\"count\":2}",
         SOTTO_STATUS_FORMAT},
        {"{\"kind\":\"number\"}", "{\"kind\":\"text\"}", SOTTO_STATUS_FORMAT},
        {"{\"kind\":\"number\"}", "{}", SOTTO_STATUS_FORMAT},
        {"\"bytes\",\"count\":4", "\"bytes\",\"count\":5", SOTTO_STATUS_FORMAT},
        {"\"bytes\",\"count\":4", "\"bytes\",\"count\":0", SOTTO_STATUS_LIMIT},
        {"\"bytes\",\"count\":4", "\"bytes\",\"count\":1048576",
         SOTTO_STATUS_LIMIT},
        {"\"bytes\",\"count\":4", "\"bytes\",\"count\":1048577",
         SOTTO_STATUS_LIMIT},
        {"\"bytes\",\"count\":4", "\"bytes\",\"count\":4294967300",
         SOTTO_STATUS_LIMIT},
        {"\"count\":4,\"input\":1", "\"count\":1,\"input\":1",
         SOTTO_STATUS_LIMIT},
        {"\"count\":4,\"input\":1", "\"count\":65537,\"input\":1",
         SOTTO_STATUS_LIMIT},
        {"\"count\":4,\"input\":1", "\"count\":4,\"input\":2",
         SOTTO_STATUS_LIMIT},
        {"\"count\":4,\"input\":1", "\"count\":4,\"input\":0",
         SOTTO_STATUS_FORMAT},
        {"\"count\":4,\"input\":1", "\"count\":4,\"input\":true",
         SOTTO_STATUS_FORMAT},
        {"\"in\":9", "\"in\":8", SOTTO_STATUS_FORMAT},
        {"\"in\":9", "\"in\":10", SOTTO_STATUS_FORMAT},
        {"\"in\":9", "\"in\":0", SOTTO_STATUS_LIMIT},
        {"\"in\":9", "\"in\":4294967305", SOTTO_STATUS_LIMIT},
        {"\"out\":6", "\"out\":7", SOTTO_STATUS_FORMAT},
        {"\"out\":6", "\"out\":0", SOTTO_STATUS_LIMIT},
        {"\"out\":7", "\"out\":8", SOTTO_STATUS_FORMAT}, /* its tensors */
        {"\"out\":7", "\"out\":6", SOTTO_STATUS_FORMAT}, /* its parts */
        {"\"out\":7", "\"out\":1048576", SOTTO_STATUS_FORMAT},
        {"\"out\":7", "\"out\":1048577", SOTTO_STATUS_LIMIT},
        {"\"relu\"", "\"none\"", SOTTO_STATUS_OK},
        {"\"relu\"", "\"softmax\"", SOTTO_STATUS_FORMAT},
        {"\"relu\"", "\"relu \"", SOTTO_STATUS_FORMAT},
        {"\"relu\"", "\"\"", SOTTO_STATUS_FORMAT},
        {"\"relu\"", "null", SOTTO_STATUS_FORMAT},
        {"\"dense\"", "\"convolution\"", SOTTO_STATUS_FORMAT},
    };
    struct file file = file_make(everything());
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

/* One spelling: no blanks, no other order, no key twice, nothing nested. */
static void
test_spelling(void **state)
{
    static const struct change changes[] = {
        {"{\"sotto\":1", "{\"sotto\":2", SOTTO_STATUS_FORMAT},
        {"{\"sotto\":1", "{\"sotto\":10", SOTTO_STATUS_FORMAT},
        {"{\"sotto\":1", "{\"sotto\":\"1\"", SOTTO_STATUS_FORMAT},
        {"{\"sotto\":1", "{\"sotto\": 1", SOTTO_STATUS_FORMAT},
        {"{\"sotto\":1", " {\"sotto\":1", SOTTO_STATUS_FORMAT},
        {"{\"sotto\":1", "{\"sotto\":1,\"sotto\":1", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"s\",\"name\":\"t\"",
         SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\",\"campaign\":\"c\"",
         "\"campaign\":\"c\",\"name\":\"s\"", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\",", "", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":null", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":[\"s\"]", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"\"", SOTTO_STATUS_OK},
        {"\"name\":\"s\"", "\"name\":\"\n\"", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"\x1b[2J\"", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"\xff\"", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"\\u0073\"", SOTTO_STATUS_FORMAT},
        {"\"name\":\"s\"", "\"name\":\"s\\\"", SOTTO_STATUS_FORMAT},
        {"\"columns\":[", "\"columns\":[ ", SOTTO_STATUS_FORMAT},
        {"\"columns\":[", "\"columns\":[[[[[[[[", SOTTO_STATUS_FORMAT},
        {"\"columns\":[", "\"columns\":[,", SOTTO_STATUS_FORMAT},
        {"\"columns\":[{\"kind\":\"number\"}]", "\"columns\":[]",
         SOTTO_STATUS_FORMAT},
        {"\"columns\":[{\"kind\":\"number\"}]",
         "\"columns\":[{\"kind\":\"number\"},]", SOTTO_STATUS_FORMAT},
        {"\"columns\":[{\"kind\":\"number\"}]",
         "\"columns\":[{\"kind\":\"number\",\"kind\":\"number\"}]",
         SOTTO_STATUS_FORMAT},
        {"\"encoder\":", "\"decoder\":", SOTTO_STATUS_FORMAT},
        {",\"parts\":", ",\"delta\":0,\"parts\":", SOTTO_STATUS_FORMAT},
        {"\"parts\":[", "\"parts\":[],\"parts\":[", SOTTO_STATUS_FORMAT},
        {"\"k\":2}]}]}", "\"k\":2}]}],\"more\":1}", SOTTO_STATUS_FORMAT},
        {"\"k\":2}]}]}", "\"k\":2}]}]} ", SOTTO_STATUS_FORMAT},
        {"\"k\":2}]}]}", "\"k\":2}]}]", SOTTO_STATUS_FORMAT},
        {"\"k\":2}]}]}", "\"k\":2}]}]}}", SOTTO_STATUS_FORMAT},
    };
    struct file file = file_make(small());
    (void)state;
    CHECK(file, changes);
    free(file.data);
}

static void
test_title_lengths(void **state)
{
    char text[140];
    struct change change = {"\"name\":\"s\"", text, SOTTO_STATUS_OK};
    struct file file = file_make(small());
    (void)state;
    (void)snprintf(text, sizeof text, "\"name\":\"%0120d\"", 0);
    check_changes(file, &change, 1);
    (void)snprintf(text, sizeof text, "\"name\":\"%0121d\"", 0);
    change.status = SOTTO_STATUS_LIMIT;
    check_changes(file, &change, 1);
    free(file.data);
}

/* A hundred thousand brackets: no recursion, so no stack to exhaust. */
static void
test_deep_nesting(void **state)
{
    const size_t depth = 100000;
    char *text = malloc(depth + 20);
    struct change change = {"\"columns\":[", text, SOTTO_STATUS_FORMAT};
    struct file file = file_make(small());
    (void)state;
    assert_non_null(text);
    memset(text, '[', depth + 19);
    memcpy(text, "\"columns\":", 10);
    text[depth + 19] = '\0';
    check_changes(file, &change, 1);
    free(text);
    free(file.data);
}

/* Lists as long as they may be, and one longer. */
static void
test_long_lists(void **state)
{
    static struct schema_column columns[4097];
    static const struct compose_part part = {
        "features", "laplace", UNITS(1), 1, 0, 1, 16, {{0}}, 0};
    struct compose_spec spec = {"l",  "c",  "a", UNITS(1), columns,
                                4096, NULL, 0,   &part,    1};
    struct sotto_error err;
    struct file file;
    uint8_t *data = NULL;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 4097; i++) {
        columns[i] = (struct schema_column){
            "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    }
    file = file_make(&spec);
    free(file.data);
    spec.columns = 4097;
    poison(&err);
    assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    assert_null(data);
}

/* 17 parts of 4096 coordinates are more than one report may hold. */
static void
test_too_many_points(void **state)
{
    static const struct schema_column column = {
        "b", SOTTO_COLUMN_BYTES, 4096, NULL, false, 0, 1};
    struct compose_part parts[17];
    struct compose_spec spec = {"p", "c",  "a", UNITS(32), &column,
                                1,   NULL, 0,   parts,     16};
    struct sotto_error err;
    struct file file;
    uint8_t *data = NULL;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 17; i++) {
        parts[i] = (struct compose_part){"features", "laplace", UNITS(1), 1, 0,
                                         4096,       16,        {{0}},    0};
    }
    file = file_make(&spec);
    free(file.data);
    spec.parts = 17;
    poison(&err);
    assert_int_equal(compose_bytes(&spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    assert_null(data);
}

/* ---- What a file may cost a device -------------------------------------- */

static void
check_limit(const struct compose_spec *spec, const char *message)
{
    struct sotto_error err;
    uint8_t *data = NULL;
    size_t size;
    poison(&err);
    assert_int_equal(compose_bytes(spec, &data, &size, &err),
                     SOTTO_STATUS_LIMIT);
    assert_non_null(strstr(err.message, message));
    assert_null(data);
}

/* As many channels as the workspace may hold, and one more. */
static void
test_channels_take_memory(void **state)
{
    static struct compose_part parts[1024];
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    size_t most =
        DEVICE_OWN_MAX / channel_find(channel_exact, "gaussian", 8)->own_size;
    struct compose_spec spec = {"m", "c",  "a", UNITS(32), &column,
                                1,   NULL, 0,   parts,     most};
    (void)state;
    assert_true(most < 1024);
    for (size_t i = 0; i < 1024; i++) {
        parts[i] = (struct compose_part){
            "features", "gaussian", UNITS(0.01), 1, 0,
            1,          16,         {{0}},       0, UNITS(0.000001),
        };
    }
    free(file_make(&spec).data);
    spec.parts = most + 1;
    check_limit(&spec, "too much memory");
}

/* 65,536 runs of attempts; 4,096 subsets of 65,536 symbols, which are refused
   long before the last is set up. */
static void
test_reports_draw_entropy(void **state)
{
    static float weights[65536];
    static struct compose_part subsets[4096];
    static const struct schema_column column = {
        "n", SOTTO_COLUMN_NUMBER, 1, NULL, false, 0, 1};
    struct layer layer = {1, 65536, ACTIVATION_NONE, weights, weights};
    struct compose_part part = {
        "features", "gaussian", UNITS(0.0004), 8192, 0,
        1,          16,         {{0}},         0,    100000 /* 10^-7 */};
    struct compose_spec spec = {"e", "c",    "a", UNITS(32), &column,
                                1,   &layer, 1,   &part,     1};
    (void)state;
    free(file_make(&spec).data);
    part.blocks = 65536;
    check_limit(&spec, "too much entropy");
    for (size_t i = 0; i < 4096; i++) {
        subsets[i] = (struct compose_part){
            "both", "subset", UNITS(0.001), 1, 0, 0, 0, {{false, 0, 65536}}, 1};
    }
    spec.part = subsets;
    spec.parts = 64;
    free(file_make(&spec).data);
    spec.parts = 4096;
    check_limit(&spec, "too much entropy");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lattices),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_product_of_factors),
        cmocka_unit_test(test_pairs_have_two_factors),
        cmocka_unit_test(test_budgets),
        cmocka_unit_test(test_large_budgets),
        cmocka_unit_test(test_deltas),
        cmocka_unit_test(test_delta_belongs_to_its_channel),
        cmocka_unit_test(test_balls_and_cubes),
        cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_columns_and_layers),
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_title_lengths),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_too_many_points),
        cmocka_unit_test(test_channels_take_memory),
        cmocka_unit_test(test_reports_draw_entropy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
