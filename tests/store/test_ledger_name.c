/*
 * test_ledger_name.c: names that are equal in Unicode: both normal forms, what
 * is not taken for equal, and how a ledger refuses a second spelling.
 */
#include "ledger_fixture.h"

#include "fail_alloc.h"
#include "store/ledger.h"

#define COMPOSED "Zo\xc3\xab"    /* U+00EB */
#define DECOMPOSED "Zoe\xcc\x88" /* e, U+0308 */
#define KELVIN "\xe2\x84\xaa"    /* U+212A, which is K */
#define BOTH "\xc3\xab\xc3\xa9"  /* two letters with accents: */
#define MIXED                                                                  \
    "\xc3\xab"  /* the first as one character, */                              \
    "e\xcc\x81" /* the second as two */
#define APART                                                                  \
    "e\xcc\x88"                                                                \
    "e\xcc\x81"

static uint8_t report[REPORT_SIZE];

static void
expect_forms(const char *name, const char *composed, const char *decomposed)
{
    struct ledger_form forms[LEDGER_FORMS];
    assert_int_equal(ledger_name_forms(name, strlen(name), forms, NULL),
                     SOTTO_STATUS_OK);
    assert_int_equal(forms[0].size, strlen(composed));
    assert_memory_equal(forms[0].text, composed, forms[0].size);
    assert_int_equal(forms[1].size, strlen(decomposed));
    assert_memory_equal(forms[1].text, decomposed, forms[1].size);
    ledger_name_clear(forms);
    assert_null(forms[0].text);
}

static void
test_forms(void **state)
{
    (void)state;
    expect_forms("ann", "ann", "ann");
    expect_forms(" Ann ", " Ann ", " Ann "); /* neither case nor blanks */
    expect_forms(COMPOSED, COMPOSED, DECOMPOSED);
    expect_forms(DECOMPOSED, COMPOSED, DECOMPOSED);
    expect_forms(MIXED, BOTH, APART);
    expect_forms(KELVIN, "K", "K");
    expect_forms("\xef\xac\x81", "\xef\xac\x81", "\xef\xac\x81"); /* fi */
    expect_forms("ros\xe9", "ros\xe9", "ros\xe9");                /* Latin-1 */
    expect_forms("\xed\xa0\x80", "\xed\xa0\x80", "\xed\xa0\x80");
    fail_alloc_at(1);
    struct ledger_form forms[LEDGER_FORMS];
    assert_int_equal(ledger_name_forms("ros\xe9", 4, forms, NULL),
                     SOTTO_STATUS_MEMORY);
    fail_alloc_at(0);
}

static void
test_spelt(void **state)
{
    char text[LEDGER_SPELT_SIZE], name[300];
    (void)state;
    ledger_name_spell(DECOMPOSED, strlen(DECOMPOSED), text);
    assert_string_equal(text, "Zoe\\u0308");
    ledger_name_spell("\x1b[1m\xf0\x9f\x98\x80\xff", 9, text);
    assert_string_equal(text, "\\u001b[1m\\U0001f600\\ufffd");
    ledger_name_spell("", 0, text);
    assert_string_equal(text, "");
    memset(name, 'x', sizeof name);
    ledger_name_spell(name, sizeof name, text);
    assert_int_equal(strlen(text), LEDGER_SPELT_SIZE - 1);
    assert_string_equal(text + LEDGER_SPELT_SIZE - 4, "...");
}

static enum sotto_status
ask_as(struct sotto_ledger *ledger, const char *person, uint8_t mechanism,
       struct sotto_error *err)
{
    struct sotto_charge charge =
        fake_charge(person, mechanism == 1 ? "a" : "b", mechanism, EPS(1000));
    static unsigned salt;
    return ask(ledger, &charge, ++salt, report, err);
}

/* Whoever is asked first has the name; every other spelling is refused, in any
   campaign, and the message names both as far as they are known. */
static void
test_refused(void **state)
{
    static const char *const spelt[][3] = {
        {COMPOSED, DECOMPOSED, "'Zo\\u00eb'"},
        {DECOMPOSED, COMPOSED, "'Zoe\\u0308'"},
        {"K", KELVIN, "'K'"},
        {KELVIN, "K", "another spelling"},
        {MIXED, BOTH, "another spelling"},
        {MIXED, APART, "another spelling"},
        {BOTH, MIXED, "'\\u00eb\\u00e9'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
        char path[300], other[LEDGER_SPELT_SIZE];
        struct sotto_error err = {0};
        (void)snprintf(path, sizeof path, "%s%zu", in_folder("l"), i);
        create(path, "10", NULL);
        struct sotto_ledger *ledger = open_ledger(path);
        assert_int_equal(ask_as(ledger, spelt[i][0], 1, &err), SOTTO_STATUS_OK);
        assert_int_equal(ask_as(ledger, spelt[i][1], 1, &err),
                         SOTTO_STATUS_REFUSED);
        expect_in(err.message, spelt[i][2]);
        ledger_name_spell(spelt[i][1], strlen(spelt[i][1]), other);
        expect_in(err.message, other);
        assert_int_equal(ask_as(ledger, spelt[i][1], 2, &err),
                         SOTTO_STATUS_REFUSED);
        assert_int_equal(ask_as(ledger, spelt[i][0], 1, &err), SOTTO_STATUS_OK);
        assert_int_equal(ask_as(ledger, spelt[i][0], 2, &err), SOTTO_STATUS_OK);
        sotto_ledger_free(ledger);
    }
}

/* Case, blanks and letters that look alike tell people apart. */
static void
test_other_people(void **state)
{
    static const char *const names[] = {"ann",        "Ann", "ann ", " ann",
                                        "\xd0\xb0nn", "ANN", "a nn"};
    (void)state;
    create(in_folder("l"), "10", NULL);
    struct sotto_ledger *ledger = open_ledger(in_folder("l"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ask_as(ledger, names[i], 1, NULL), SOTTO_STATUS_OK);
    }
    sotto_ledger_free(ledger);
}

/* Charges of sotto 0.1.0 say nothing of spellings: both forms are tried. */
static void
test_old_charges(void **state)
{
    struct sotto_error err = {0};
    struct sotto_ledger *ledger = NULL;
    sqlite3 *db = NULL;
    (void)state;
    create(in_folder("l"), "10", NULL);
    ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask_as(ledger, DECOMPOSED, 1, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
    assert_int_equal(sqlite3_open(in_folder("l"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM spelling", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    ledger = open_ledger(in_folder("l"));
    assert_int_equal(ask_as(ledger, COMPOSED, 1, &err), SOTTO_STATUS_REFUSED);
    expect_in(err.message, "'Zoe\\u0308'");
    assert_int_equal(ask_as(ledger, DECOMPOSED, 2, &err), SOTTO_STATUS_OK);
    sotto_ledger_free(ledger);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms), cmocka_unit_test(test_spelt),
        TEST(test_refused),           TEST(test_other_people),
        TEST(test_old_charges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
