/*
 * test_outline_read.c: schemas as text: what is read, and every way it can be
 * wrong, with the line and the key.
 */
#include <stdlib.h>
#include <unistd.h>

#include "fail_alloc.h"
#include "host/text.h"

#include "schema_fixture.h"

static struct sotto_schema *schema;

static int
teardown(void **state)
{
    (void)state;
    fail_alloc_at(0);
    sotto_schema_free(schema);
    schema = NULL;
    return 0;
}

static enum sotto_status
read_text(const char *text)
{
    sotto_schema_free(schema);
    schema = NULL;
    return sotto_schema_parse(text, strlen(text), "t.schema", &schema, &err);
}

#define HEAD "sotto-schema = 1\n"

static const char whole[] =
    "# a comment\n" HEAD "from = public\n\n"
    "[age]  # 2 missing\n type = integer\nrange = -1.5 : 1e2 # years\n"
    "missing = told\n"
    "[\"a \\\"b\\\", \\\\ \\x0a#\"]\r\ntype = ordinal\r\n"
    "values = low paid, \"B, b\" # two\nvalues = C\nuse = label\n"
    "[id]\ntype = id\nuse = drop\n"
    "[pay]\ntype = number\nrange = 0 : 9\nscale = log\n[picture]\ntype = image";

static void
test_read(void **state)
{
    const struct sotto_schema_column *c;
    (void)state;
    must(read_text(whole));
    assert_true(sotto_schema_public(schema));
    assert_int_equal(sotto_schema_columns(schema), 5);
    c = sotto_schema_column_at(schema, 0);
    assert_string_equal(c->name, "age");
    assert_int_equal(c->type, SOTTO_SCHEMA_INTEGER);
    assert_true(c->low == -1.5 && c->high == 100 && c->told);
    c = sotto_schema_label(schema);
    assert_string_equal(c->name, "a \"b\", \\ \n#");
    assert_int_equal(c->count, 3);
    assert_string_equal(c->values[0], "low paid");
    assert_string_equal(c->values[1], "B, b");
    assert_false(c->told);
    assert_int_equal(sotto_schema_column_at(schema, 2)->use, SOTTO_SCHEMA_DROP);
    assert_true(sotto_schema_column_at(schema, 3)->log && !c->log);
    assert_null(sotto_schema_column_at(schema, 5));
    assert_null(sotto_schema_find(schema, "nobody"));
}

/* What is written reads as what it was. */
static void
test_round_trip(void **state)
{
    char *first = NULL, *second = NULL;
    (void)state;
    must(read_text(whole));
    must(sotto_schema_text(schema, &first, &err));
    must(read_text(first));
    must(sotto_schema_text(schema, &second, &err));
    assert_string_equal(first, second);
    assert_true(sotto_schema_find(schema, "pay")->log);
    assert_string_equal(sotto_schema_label(schema)->name, "a \"b\", \\ \n#");
    free(first);
    free(second);
}

static void
test_refused(void **state)
{
    static const struct {
        const char *text, *line, *piece;
    } cases[] = {
        {"", "t.schema: ", "without a column"},
        {HEAD, "t.schema: ", "without a column"},
        {"[a]\ntype = number\n", "line 1:", "sotto-schema = 1"},
        {"age,income\n1,2\n", "line 1:", "[COLUMN]"},
        {"sotto-schema = 2\n", "line 1:", "it is one of 1"},
        {HEAD "type = id\n", "line 2:", "below a column"},
        {HEAD "[a]\nfrom = public\n", "line 3:", "above the first column"},
        {HEAD "[a]\ntype = float\n", "line 3:", "number, integer"},
        {HEAD "[a]\ntype = id\ntype = id\n", "line 4:", "given twice"},
        {HEAD "[a]\nkind = id\n", "line 3:", "type, use, range"},
        {HEAD "[a]\nuse = drop\n", "line 2:", "has no type"},
        {HEAD "[a]\ntype = number\n", "line 2:", "has no range"},
        {HEAD "[a]\ntype = category\n", "line 2:", "has no values"},
        {HEAD "[a]\ntype = date\n", "line 2:", "cannot be used"},
        {HEAD "[a]\ntype = number\nrange = 5\n", "line 4:", "LOW : HIGH"},
        {HEAD "[a]\ntype = number\nrange = 5 : 5\n", "line 4:", "smaller"},
        {HEAD "[a]\ntype = number\nrange = 0 : 1e31\n", "line 4:", "1e30"},
        {HEAD "[a]\ntype = number\nrange = 0 : nan\n", "line 4:", "LOW"},
        {HEAD "[a]\ntype = id\nuse = drop\nrange = 0 : 1\n",
         "line 2:", "has a range"},
        {HEAD "[a]\ntype = number\nrange = 0 : 1\nvalues = x\n",
         "line 2:", "has values"},
        {HEAD "[a]\ntype = boolean\nvalues = x\nscale = log\n",
         "line 2:", "has a scale"},
        {HEAD "[a]\ntype = number\nrange = 0 : 1\nscale = root\n",
         "line 5:", "linear, log"},
        {HEAD "[a]\ntype = number\nrange = 0 : 1\nscale = log\nuse = label\n",
         "line 2:", "sent as it is"},
        {HEAD "[a]\ntype = category\nvalues = x,,y\n", "line 4:", "values"},
        {HEAD "[a]\ntype = category\nvalues = x, x\n", "line 2:", "twice"},
        {HEAD "[a]\ntype = category\nvalues = \"x\n", "line 4:", "quote"},
        {HEAD "[a]\ntype = category\nvalues = \"\\n\"\n",
         "line 4:", "backslash"},
        {HEAD "[a]\ntype = category\nvalues = \"\\x00\"\n",
         "line 4:", "backslash"},
        {HEAD "[a]\ntype = category\nvalues = x y \"z\"\n",
         "line 4:", "more than belongs"},
        {HEAD "[a]\ntype = boolean\nvalues = x, y, z\n",
         "line 2:", "more than two"},
        {HEAD "[a\ntype = id\n", "line 2:", "close it"},
        {HEAD "[]\ntype = id\n", "line 2:", "there is no text"},
        {HEAD "[a]\ntype = id\nuse = drop\n[a]\ntype = id\nuse = drop\n",
         "t.schema: ", "there twice"},
        {HEAD "[a]\ntype = boolean\nuse = label\nvalues = x\n"
              "[b]\ntype = boolean\nuse = label\nvalues = x\n",
         "line 6:", "one at most"},
        {HEAD "[a]\ntype = image\nuse = label\n", "line 2:", "an image"},
        {HEAD "[a]\n# \xff\n", "line 3:", "UTF-8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(&err, 0xa5, sizeof err);
        assert_int_equal(read_text(cases[i].text), SOTTO_STATUS_INPUT);
        assert_null(schema);
        if (strstr(err.message, cases[i].line) == NULL ||
            strstr(err.message, cases[i].piece) == NULL) {
            fail_msg("case %zu: '%s'", i, err.message);
        }
    }
    assert_int_equal(sotto_schema_read("/nowhere/s", &schema, &err),
                     SOTTO_STATUS_IO);
}

static void
add_fault(void *own, const char *message)
{
    struct host_text *all = own;
    host_text_print(all, "%s\n", message);
}

/* All faults at once, each column's first reason for not being one alone; the
   message has the first and counts the others. */
static void
test_faults(void **state)
{
    static const char text[] =
        HEAD "[a]\ntype = float\nrange = 1\n[b]\ntype = number\n[]\n"
             "type = id\n[c]\ntype = id\nuse = drop\n[c]\ntype = id\n"
             "use = drop\n";
    char path[] = "/tmp/sotto-outline-XXXXXX";
    struct host_text all;
    int fd = mkstemp(path);
    (void)state;
    assert_int_equal(read_text(text), SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "line 3: type = float"));
    assert_non_null(strstr(err.message, "(and 4 more faults)"));
    assert_int_equal(err.position, 3);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    (void)close(fd);
    host_text_init(&all, 10000);
    assert_int_equal(
        sotto_schema_read_told(path, add_fault, &all, &schema, &err),
        SOTTO_STATUS_INPUT);
    assert_null(schema);
    assert_null(strstr(err.message, "more fault"));
    const char *at = all.data;
    static const char *const pieces[] = {
        "line 3: type = float", "line 4: range", "line 5: column \"b\" has no",
        "line 7: [COLUMN]", "column \"c\" is there twice"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        at = strstr(at, pieces[i]);
        assert_non_null(at);
        at = strchr(at, '\n') + 1;
    }
    assert_string_equal(at, "");
    host_text_clear(&all);
    (void)unlink(path);
}

/* What is no schema has one fault: a table, a mechanism. */
static void
test_no_schema(void **state)
{
    static const char mechanism[] =
        "\x10\x02\0\0\0\0\0\0{\"__metadata__\":{\"sotto\":\"\"}}";
    (void)state;
    assert_int_equal(read_text("age,income\n1,2\n3,4\n"), SOTTO_STATUS_INPUT);
    assert_null(strstr(err.message, "more fault"));
    assert_int_equal(sotto_schema_parse(mechanism, sizeof mechanism - 1,
                                        "m.sotto", &schema, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "m.sotto: this is a mechanism"));
}

static void
test_memory(void **state)
{
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    (void)state;
    for (long i = 1; status == SOTTO_STATUS_MEMORY; i++) {
        fail_alloc_at(i);
        status = read_text(whole);
        assert_true(i < 1000);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
    for (status = SOTTO_STATUS_MEMORY; status == SOTTO_STATUS_MEMORY;) {
        char *text = NULL;
        static long i;
        fail_alloc_at(++i);
        status = sotto_schema_text(schema, &text, &err);
        free(text);
    }
    assert_int_equal(status, SOTTO_STATUS_OK);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_read, teardown),
        cmocka_unit_test_teardown(test_round_trip, teardown),
        cmocka_unit_test_teardown(test_refused, teardown),
        cmocka_unit_test_teardown(test_faults, teardown),
        cmocka_unit_test_teardown(test_no_schema, teardown),
        cmocka_unit_test_teardown(test_memory, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
