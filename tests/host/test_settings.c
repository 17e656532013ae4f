/*
 * test_settings.c: defaults, values of every kind and what is refused of them,
 * the canonical text, and what a failure is about.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "host/settings.h"

struct own {
    uint32_t epochs;
    uint64_t seed;
    double rate;
    bool linear;
    const char *network, *note;
    struct setting_list hidden;
    size_t ranges, batch;
    uint32_t spread;
};

#define AT(field) offsetof(struct own, field)

static const struct setting table[] = {
    {.name = "epochs", SETTING_WHOLE, AT(epochs), 1, 1000, "60", "passes"},
    {.name = "seed",
     SETTING_SEED,
     AT(seed),
     0,
     0,
     NULL,
     "the same, the same (0)"},
    {.name = "rate", SETTING_NUMBER, AT(rate), 1e-9, 10, "0.1", "Adam's rate"},
    {.name = "linear", SETTING_FLAG, AT(linear), 0, 0, NULL, "no hidden layer"},
    {.name = "network",
     SETTING_WORD,
     AT(network),
     0,
     0,
     "mlp",
     "which one",
     "cnn|mlp"},
    {.name = "note",
     SETTING_TEXT,
     AT(note),
     0,
     0,
     NULL,
     "for people",
     .late = true},
    {.name = "hidden", SETTING_LIST, AT(hidden), 1, 500, "400,50", "units"},
    {.name = "range",
     SETTING_MANY,
     AT(ranges),
     0,
     0,
     NULL,
     "of a column",
     "COL=A:B"},
    SETTING("batch", SIZE, AT(batch), 2, 8e9, "100", NULL, "rows"),
    SETTING("spread", WHOLE, AT(spread), 0, 9, "5", "S", "seconds"),
    SETTING_END};

static struct own own;
static struct sotto_error err;

static int
setup(void **state)
{
    (void)state;
    memset(&own, 0xa5, sizeof own);
    memset(&err, 0xa5, sizeof err);
    settings_init(table, &own);
    return 0;
}

static void
put(const char *name, const char *value)
{
    assert_int_equal(settings_put(table, &own, name, value, &err),
                     SOTTO_STATUS_OK);
}

/* The field stays as it was, and the message begins with the name. */
static void
refuse(const char *name, const char *value, const char *said)
{
    struct own before = own;
    assert_int_equal(settings_put(table, &own, name, value, &err),
                     SOTTO_STATUS_USAGE);
    assert_int_equal(err.status, SOTTO_STATUS_USAGE);
    assert_string_equal(err.subject, name);
    assert_int_equal(strncmp(err.message, name, strlen(name)), 0);
    assert_non_null(strstr(err.message, said));
    assert_memory_equal(&own, &before, sizeof own);
}

static void
test_defaults(void **state)
{
    (void)state;
    assert_int_equal(own.epochs, 60);
    assert_int_equal(own.seed, 0);
    assert_true(own.rate == 0.1);
    assert_false(own.linear);
    assert_string_equal(own.network, "mlp");
    assert_null(own.note);
    assert_int_equal(own.hidden.count, 2);
    assert_int_equal(own.hidden.value[1], 50);
    assert_int_equal(own.ranges, 0);
}

static void
test_values(void **state)
{
    (void)state;
    put("epochs", "1000");
    assert_int_equal(own.epochs, 1000);
    put("epochs", "1");
    assert_int_equal(own.epochs, 1);
    put("seed", "18446744073709551615");
    assert_true(own.seed == UINT64_MAX);
    put("rate", "3e-3");
    assert_true(own.rate == 0.003);
    put("linear", NULL);
    assert_true(own.linear);
    put("linear", "no");
    assert_false(own.linear);
    put("linear", "yes");
    assert_true(own.linear);
    put("network", "cnn");
    assert_string_equal(own.network, "cnn");
    put("note", "a b");
    assert_string_equal(own.note, "a b");
    put("hidden", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,500");
    assert_int_equal(own.hidden.count, SETTING_LIST_MAX);
    assert_int_equal(own.hidden.value[14], 500);
    put("range", "x=1:2");
    put("range", "y=1:2");
    assert_int_equal(own.ranges, 2);
}

static void
test_refused(void **state)
{
    static const char *const wholes[] = {"",
                                         "0",
                                         "1001",
                                         "-1",
                                         "+1",
                                         " 1",
                                         "1 ",
                                         "1.0",
                                         "1e2",
                                         "x",
                                         "18446744073709551616"};
    static const char *const numbers[] = {"",    "0",    "10.1", "nan",  "inf",
                                          "0x1", " 0.1", "1e",   "1e999"};
    static const char *const lists[] = {
        "",
        ",",
        "4,",
        ",4",
        "4,,3",
        "4,x",
        "0",
        "501",
        "4 ,3",
        "-1",
        "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"};
    (void)state;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        refuse("epochs", wholes[i], "is not a whole number from 1 to 1000");
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        refuse("rate", numbers[i], "is not a number from 1e-09 to 10");
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        refuse("hidden", lists[i], "up to 15 numbers from 1 to 500");
    }
    refuse("seed", "18446744073709551616", "is not a whole number");
    refuse("linear", "maybe", "say yes or no");
    refuse("network", "", "is none of cnn|mlp");
    refuse("network", "cn", "is none of cnn|mlp");
    refuse("network", "cnn|mlp", "is none of cnn|mlp");
    refuse("batch", "1", "is not a whole number from 2 to 8000000000");
    refuse("batch", "8000000001", "is not a whole number");
    refuse("epochs", NULL, "needs a value");
    refuse("epoch", "3", "is no setting");
}

static void
check_text(bool late, const char *wanted)
{
    struct host_text text;
    host_text_init(&text, 1000);
    settings_text(table, &own, late, &text);
    assert_false(text.failed);
    assert_string_equal(text.data, wanted);
    host_text_clear(&text);
}

/* However a value was written, and without what comes late. */
static void
test_text(void **state)
{
    (void)state;
    put("rate", "1e-1");
    put("note", "n");
    check_text(true, "epochs=60 rate=0.1 network=mlp note=n hidden=400,50 "
                     "batch=100 spread=5");
    put("batch", "5000000000");
    put("rate", "0.30000000000000004");
    put("epochs", "007");
    put("linear", "");
    put("seed", "5");
    put("range", "x=1:2");
    check_text(false, "epochs=7 seed=5 rate=0.30000000000000004 linear=yes "
                      "network=mlp hidden=400,50 range=1 batch=5000000000 "
                      "spread=5");
}

static void
test_rows(void **state)
{
    (void)state;
    assert_ptr_equal(settings_find(table, "rate"), &table[2]);
    assert_null(settings_find(table, "rat"));
    assert_string_equal(setting_value_name(&table[0]), "N");
    assert_string_equal(setting_value_name(&table[1]), "S");
    assert_string_equal(setting_value_name(&table[2]), "V");
    assert_null(setting_value_name(&table[3]));
    assert_string_equal(setting_value_name(&table[4]), "cnn|mlp");
    assert_string_equal(setting_value_name(&table[5]), "TEXT");
    assert_string_equal(setting_value_name(&table[6]), "N,N,...");
    assert_string_equal(setting_value_name(&table[7]), "COL=A:B");
}

/* What is 0 and may not be gets its default; what may be 0 stays. */
static void
test_complete(void **state)
{
    struct own by_hand = {.epochs = 7};
    (void)state;
    assert_int_equal(settings_complete(table, &by_hand, &err), SOTTO_STATUS_OK);
    assert_int_equal(by_hand.epochs, 7);
    assert_true(by_hand.rate == 0.1);
    assert_int_equal(by_hand.batch, 100);
    assert_int_equal(by_hand.spread, 0);
    assert_string_equal(by_hand.network, "mlp");
    assert_null(by_hand.note);
}

static void
test_complete_refuses(void **state)
{
    static const struct setting needed[] = {
        SETTING_NEEDED("note", AT(note), "F", "a file"), SETTING_END};
    static const struct {
        struct own own;
        const char *said;
    } cases[] = {
        {{.epochs = 1001}, "epochs 1001 is not a whole number from 1 to 1000"},
        {{.batch = 1}, "batch 1 is not a whole number from 2 to"},
        {{.rate = -1}, "rate -1 is not a number"},
        {{.spread = 10}, "spread 10 is not a whole number from 0 to 9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        own = cases[i].own;
        assert_int_equal(settings_complete(table, &own, &err),
                         SOTTO_STATUS_USAGE);
        assert_non_null(strstr(err.message, cases[i].said));
    }
    own = (struct own){.note = NULL};
    assert_int_equal(settings_complete(needed, &own, &err), SOTTO_STATUS_USAGE);
    assert_string_equal(err.message, "note is missing");
    assert_string_equal(err.subject, "note");
    own.note = "f";
    assert_int_equal(settings_complete(needed, &own, &err), SOTTO_STATUS_OK);
}

static void
test_set(void **state)
{
    const struct sotto_setting set[] = {
        {"epochs", "3"}, {"linear", NULL}, {"batch", "x"}};
    (void)state;
    memset(&own, 0xa5, sizeof own);
    assert_int_equal(settings_set(table, &own, set, 2, &err), SOTTO_STATUS_OK);
    assert_int_equal(own.epochs, 3);
    assert_true(own.linear);
    assert_int_equal(own.spread, 5);
    assert_int_equal(settings_set(table, &own, set, 3, &err),
                     SOTTO_STATUS_USAGE);
    assert_string_equal(err.subject, "batch");
}

static void
test_tell(void **state)
{
    struct sotto_setting_info info;
    size_t count = 0;
    (void)state;
    assert_true(settings_tell(table, 0, &info));
    assert_string_equal(info.name, "epochs");
    assert_string_equal(info.value, "N");
    assert_string_equal(info.initial, "60");
    assert_string_equal(info.help, "passes");
    assert_true(info.number);
    assert_false(info.many || info.needed);
    assert_true(settings_tell(table, 7, &info));
    assert_true(info.many && !info.number);
    while (settings_tell(table, count, &info)) {
        count++;
    }
    assert_int_equal(count, sizeof table / sizeof *table - 1);
    assert_false(setting_tell(NULL, &info));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(test_defaults),
        TEST(test_values),
        TEST(test_refused),
        TEST(test_text),
        TEST(test_rows),
        TEST(test_complete),
        TEST(test_complete_refuses),
        TEST(test_set),
        TEST(test_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
