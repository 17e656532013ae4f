/*
 * test_infer.c: what the columns of a table are taken for, and every problem
 * that is planted in it.
 */
#include <math.h>

#include "fail_alloc.h"
#include "host/text.h"

#include "schema_fixture.h"

#define ROWS 600u

static struct sotto_table *table;
static struct sotto_schema *schema;

/* A table in which every column is one case. */
static struct sotto_table *
make_table(void)
{
    static const char *const years[] = {"< 1 year", "2 years", "10+ years"};
    struct host_text text;
    struct sotto_table *made;
    host_text_init(&text, 1 << 22);
    host_text_print(
        &text, "customer_id,y,age,rate,income,flag,grade,service,empty,same,"
               "joined,note,code,leak,after,lost,mixed,rare,score,zeros,bad\n");
    for (unsigned i = 0; i < ROWS; i++) {
        unsigned y = i * 7919 % 97 % 3 == 0, mix = i * 2654435761u >> 16;
        host_text_print(&text, "%u,%s,%u,%u.%u%%,\"$%s%u,%03u\",%u,", 100 + i,
                        y ? "yes" : "no", 20 + mix % 60, mix % 30, mix % 10,
                        i == 5 ? "9,0" : "", 10 + mix % 90, mix % 1000,
                        mix % 2);
        host_text_print(&text, "%c,%s,,7,2015-%02u-%02u,", "ABC"[mix % 3],
                        years[mix / 3 % 3], 1 + mix % 12, 1 + mix % 28);
        host_text_print(&text, "some words of person %u,K%u,%s,", i, i,
                        y ? "left" : "stayed");
        if (y) {
            host_text_print(&text, "%u,", mix % 9);
        } else {
            host_text_print(&text, ",");
        }
        host_text_print(&text, mix % 3 == 0 ? "%u," : "n/a,", mix % 50);
        host_text_print(&text, i == 7 ? "none," : "%u,", mix % 40);
        host_text_print(&text, "%s,%u.5,%u,", i < 9 ? "odd" : "usual",
                        mix % 100, i % 100 == 3 ? i : 0);
        host_text_print(&text, i == 3 ? "oops\n" : "%u\n", mix % 1000);
    }
    made = parse(text.data);
    host_text_clear(&text);
    return made;
}

static void
infer(const struct sotto_schema_options *options)
{
    sotto_schema_free(schema);
    schema = NULL;
    must(sotto_schema_infer(table, options, &schema, &err));
}

static int
setup(void **state)
{
    const struct sotto_schema_options options = {.label = "y"};
    (void)state;
    table = make_table();
    infer(&options);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    fail_alloc_at(0);
    sotto_schema_free(schema);
    sotto_table_free(table);
    schema = NULL;
    return 0;
}

static const struct sotto_schema_column *
column(const char *name, enum sotto_schema_type type, enum sotto_schema_use use)
{
    const struct sotto_schema_column *found = sotto_schema_find(schema, name);
    assert_non_null(found);
    if (found->type != type || found->use != use) {
        fail_msg("%s is %s, use %d (%s)", name,
                 sotto_schema_type_name(found->type), found->use, found->why);
    }
    return found;
}

/* How often a problem is told of a column; NULL: of the table. */
static size_t
problems(const char *name, enum sotto_schema_trouble trouble)
{
    const struct sotto_schema_problem *problem;
    size_t count = 0;
    for (size_t i = 0; (problem = sotto_schema_problem_at(schema, i)) != NULL;
         i++) {
        const struct sotto_schema_column *of =
            sotto_schema_column_at(schema, problem->column);
        count +=
            problem->trouble == trouble &&
                    (name == NULL ? of == NULL
                                  : of != NULL && strcmp(of->name, name) == 0)
                ? 1
                : 0;
    }
    return count;
}

static void
test_types(void **state)
{
    const struct sotto_schema_column *c;
    (void)state;
    c = column("age", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE);
    assert_true(c->low <= 21 && c->low >= 0 && c->high >= 78 && c->high <= 80);
    c = column("rate", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_FEATURE);
    assert_true(c->low == 0 && c->high == 30);
    c = column("income", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE);
    if (c->low != 0 || c->high != 100000 || c->beyond != 1) {
        fail_msg("%g to %g, %zu beyond", c->low, c->high, c->beyond);
    }
    c = column("flag", SOTTO_SCHEMA_BOOLEAN, SOTTO_SCHEMA_FEATURE);
    assert_int_equal(c->count, 2);
    assert_string_equal(c->values[0], "0");
    c = column("grade", SOTTO_SCHEMA_CATEGORY, SOTTO_SCHEMA_FEATURE);
    assert_int_equal(c->count, 3);
    c = column("service", SOTTO_SCHEMA_ORDINAL, SOTTO_SCHEMA_FEATURE);
    assert_string_equal(c->values[0], "< 1 year");
    assert_string_equal(c->values[2], "10+ years");
    c = column("y", SOTTO_SCHEMA_BOOLEAN, SOTTO_SCHEMA_LABEL);
    assert_ptr_equal(c, sotto_schema_label(schema));
    c = column("zeros", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_DROP);
    assert_non_null(strstr(c->why, "hardly any"));
    c = column("mixed", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE);
    assert_false(c->log);
    (void)column("score", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_FEATURE);
}

static void
test_left_out(void **state)
{
    (void)state;
    (void)column("customer_id", SOTTO_SCHEMA_ID, SOTTO_SCHEMA_DROP);
    (void)column("empty", SOTTO_SCHEMA_TEXT, SOTTO_SCHEMA_DROP);
    (void)column("same", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_DROP);
    (void)column("joined", SOTTO_SCHEMA_DATE, SOTTO_SCHEMA_DROP);
    (void)column("note", SOTTO_SCHEMA_TEXT, SOTTO_SCHEMA_DROP);
    (void)column("code", SOTTO_SCHEMA_ID, SOTTO_SCHEMA_DROP);
    assert_int_equal(problems("customer_id", SOTTO_SCHEMA_ID_LIKE), 1);
    assert_int_equal(problems("empty", SOTTO_SCHEMA_EMPTY), 1);
    assert_int_equal(problems("same", SOTTO_SCHEMA_CONSTANT), 1);
    assert_int_equal(problems("joined", SOTTO_SCHEMA_DATES), 1);
    assert_int_equal(problems("note", SOTTO_SCHEMA_FREE_TEXT), 1);
}

static void
test_warnings(void **state)
{
    const struct sotto_schema_column *rare;
    (void)state;
    assert_int_equal(problems("leak", SOTTO_SCHEMA_ANSWER), 1);
    assert_int_equal(problems("after", SOTTO_SCHEMA_AFTERWARDS), 1);
    assert_int_equal(problems("age", SOTTO_SCHEMA_ANSWER), 0);
    assert_int_equal(problems("age", SOTTO_SCHEMA_AFTERWARDS), 0);
    assert_int_equal(problems("lost", SOTTO_SCHEMA_HALF_MISSING), 1);
    assert_true(
        column("lost", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE)->told);
    assert_int_equal(problems("income", SOTTO_SCHEMA_OUTLIERS), 1);
    assert_int_equal(problems("mixed", SOTTO_SCHEMA_WORDS), 1);
    assert_int_equal(problems("bad", SOTTO_SCHEMA_WORDS), 1);
    /* Nine rows hold "odd": it is not named, and what is left is constant. */
    rare = column("rare", SOTTO_SCHEMA_CATEGORY, SOTTO_SCHEMA_DROP);
    for (size_t i = 0; i < rare->count; i++) {
        assert_string_not_equal(rare->values[i], "odd");
    }
    /* Ranked: warnings before notes. */
    for (size_t i = 1; i < sotto_schema_problems(schema); i++) {
        assert_true(sotto_schema_problem_at(schema, i - 1)->rank <=
                    sotto_schema_problem_at(schema, i)->rank);
    }
}

/* What the owner says overrules. */
static void
test_overruled(void **state)
{
    static const char *const keep[] = {"same", "customer_id", "age"};
    static const char *const category[] = {"age"};
    static const char *const drop[] = {"grade"};
    const struct sotto_schema_options kept = {
        .label = "y", .keep = keep, .keeps = 3};
    const struct sotto_schema_options other = {.category = category,
                                               .categories = 1,
                                               .drop = drop,
                                               .drops = 1,
                                               .rare = 1};
    const struct sotto_schema_options unknown = {.label = "nobody"};
    (void)state;
    infer(&kept);
    (void)column("same", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE);
    assert_int_equal(problems("same", SOTTO_SCHEMA_CONSTANT), 1);
    (void)column("customer_id", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_FEATURE);
    (void)column("rate", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_DROP);
    infer(&other);
    assert_null(sotto_schema_label(schema));
    (void)column("age", SOTTO_SCHEMA_CATEGORY, SOTTO_SCHEMA_FEATURE);
    (void)column("grade", SOTTO_SCHEMA_CATEGORY, SOTTO_SCHEMA_DROP);
    assert_int_equal(
        column("rare", SOTTO_SCHEMA_BOOLEAN, SOTTO_SCHEMA_FEATURE)->count, 2);
    must_fail(SOTTO_STATUS_USAGE, "nobody",
              sotto_schema_infer(table, &unknown, &schema, &err));
    assert_int_equal(
        sotto_schema_set_use(schema, "note", SOTTO_SCHEMA_FEATURE, &err),
        SOTTO_STATUS_USAGE);
    must(sotto_schema_set_use(schema, "rare", SOTTO_SCHEMA_LABEL, &err));
    must(sotto_schema_set_use(schema, "age", SOTTO_SCHEMA_LABEL, &err));
    assert_int_equal(sotto_schema_count(schema, SOTTO_SCHEMA_LABEL), 1);
}

/* Labels: few numbers are classes, many a number; one that has no class that
   enough rows hold is refused. */
static void
test_labels(void **state)
{
    struct sotto_schema_options options = {.label = "flag"};
    (void)state;
    infer(&options);
    (void)column("flag", SOTTO_SCHEMA_BOOLEAN, SOTTO_SCHEMA_LABEL);
    assert_int_equal(problems("flag", SOTTO_SCHEMA_NUMBER_LABEL), 1);
    options.label = "age";
    infer(&options);
    (void)column("age", SOTTO_SCHEMA_INTEGER, SOTTO_SCHEMA_LABEL);
    options.label = "note";
    infer(&options);
    assert_int_equal(problems("note", SOTTO_SCHEMA_NO_LABEL), 1);
    assert_int_equal(sotto_schema_problem_at(schema, 0)->rank,
                     SOTTO_SCHEMA_REFUSED);
    options.label = "rare";
    infer(&options);
    assert_true(problems("rare", SOTTO_SCHEMA_RARE_CLASS) > 0);
}

/* A heavy tail is told by its logarithm, unless it is the label's; and days are
   dates, however many different ones there are. */
static void
test_tails_and_days(void **state)
{
    struct sotto_schema_options options = {.logs = true};
    struct host_text text;
    (void)state;
    host_text_init(&text, 1 << 20);
    host_text_print(&text, "pay,even,day\n");
    for (unsigned i = 0; i < 3000; i++) {
        unsigned mix = i * 2654435761u >> 16;
        double z = 6 * (double)(mix % 1000) / 1000 - 3;
        host_text_print(&text, "%.2f,%.2f,%u-%02u-%02u\n", exp(10 + z), z + 3,
                        1950 + i % 60, 1 + i / 60 % 12, 1 + mix % 28);
    }
    sotto_table_free(table);
    table = parse(text.data);
    host_text_clear(&text);
    infer(&options);
    assert_true(column("pay", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_FEATURE)->log);
    assert_false(
        column("even", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_FEATURE)->log);
    assert_true(column("day", SOTTO_SCHEMA_DATE, SOTTO_SCHEMA_DROP)->distinct >
                1024);
    options.label = "pay";
    infer(&options);
    assert_false(column("pay", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_LABEL)->log);
    options = (struct sotto_schema_options){.logs = false};
    infer(&options);
    assert_false(column("pay", SOTTO_SCHEMA_NUMBER, SOTTO_SCHEMA_FEATURE)->log);
}

/* The schema holds no value that fewer than ten rows have, in its text. */
static void
test_text(void **state)
{
    struct sotto_schema *again = NULL;
    char *text = NULL, *second = NULL;
    (void)state;
    must(sotto_schema_text(schema, &text, &err));
    assert_null(strstr(text, "odd"));
    assert_null(strstr(text, "person"));
    assert_null(strstr(text, "9000"));
    must(sotto_schema_parse(text, strlen(text), "s", &again, &err));
    assert_int_equal(sotto_schema_columns(again), sotto_schema_columns(schema));
    for (size_t i = 0; i < sotto_schema_columns(schema); i++) {
        const struct sotto_schema_column *a = sotto_schema_column_at(schema, i);
        const struct sotto_schema_column *b = sotto_schema_column_at(again, i);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->use, b->use);
        assert_int_equal(a->told, b->told);
        assert_true(a->use == SOTTO_SCHEMA_DROP ||
                    (a->low == b->low && a->high == b->high));
        assert_int_equal(a->count, b->count);
    }
    must(sotto_schema_text(again, &second, &err));
    free(text);
    free(second);
    sotto_schema_free(again);
}

static void
test_memory(void **state)
{
    const struct sotto_schema_options options = {.label = "y"};
    enum sotto_status status = SOTTO_STATUS_MEMORY;
    struct sotto_schema *made = NULL;
    long count;
    (void)state;
    fail_alloc_at(0);
    must(sotto_schema_infer(table, &options, &made, &err));
    count = fail_alloc_count();
    for (long i = 1; i <= count; i += i < 60 ? 1 : 7) {
        sotto_schema_free(made);
        made = NULL;
        fail_alloc_at(i);
        status = sotto_schema_infer(table, &options, &made, &err);
        assert_true(status == SOTTO_STATUS_MEMORY || status == SOTTO_STATUS_OK);
        assert_int_equal(made == NULL, status == SOTTO_STATUS_MEMORY);
    }
    fail_alloc_at(0);
    sotto_schema_free(made);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_warnings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_overruled, setup, teardown),
        cmocka_unit_test_setup_teardown(test_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tails_and_days, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
