/*
 * test_record_match.c: which record a report is about.
 */
#include "record_fixture.h"

#include "fail_alloc.h"

static struct sotto_mechanism *mechanism;
static struct sotto_table *people, *keys;
static struct sotto_report_reader *reader;
static size_t row[RECORD_PEOPLE];

static int
setup(void **state)
{
    (void)state;
    if (scratch_make() != 0) {
        return -1;
    }
    mechanism = open_label(DECIMAL_UNIT);
    people = record_people();
    reader = read_back(mechanism, people, 1);
    keys = record_keys(reader);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sotto_table_free(keys);
    sotto_table_free(people);
    sotto_report_reader_free(reader);
    sotto_mechanism_free(mechanism);
    return scratch_remove();
}

static void
test_order(void **state)
{
    struct sotto_table *few = table_of("a\n1\n2\n");
    (void)state;
    must(record_match(reader, people, NULL, row, &err));
    for (size_t i = 0; i < RECORD_PEOPLE; i++) {
        assert_int_equal(row[i], i);
    }
    assert_int_equal(record_match(reader, few, NULL, row, &err),
                     SOTTO_STATUS_INPUT);
    assert_non_null(strstr(err.message, "2 records and 400 reports"));
    assert_string_equal(err.subject, "records");
    sotto_table_free(few);
}

/* The records stand in another order than the reports. */
static void
test_keys(void **state)
{
    size_t turned[RECORD_PEOPLE];
    struct sotto_table *other = NULL;
    (void)state;
    for (size_t i = 0; i < RECORD_PEOPLE; i++) {
        turned[i] = (i * 7 + 3) % RECORD_PEOPLE;
    }
    must(sotto_table_select(people, turned, RECORD_PEOPLE, &other, &err));
    must(record_match(reader, other, keys, row, &err));
    for (size_t i = 0; i < RECORD_PEOPLE; i++) {
        assert_int_equal(turned[row[i]], i);
    }
    sotto_table_free(other);
}

static void
expect_refused(const struct sotto_table *records,
               const struct sotto_table *these, const char *subject,
               const char *says)
{
    memset(&err, 0xa5, sizeof err);
    assert_int_equal(record_match(reader, records, these, row, &err),
                     SOTTO_STATUS_INPUT);
    assert_string_equal(err.subject, subject);
    if (strstr(err.message, says) == NULL) {
        fail_msg("'%s' does not say '%s'", err.message, says);
    }
}

static void
test_refused(void **state)
{
    char text[4 * 48] = "id,key\n";
    size_t size = strlen(text), half[RECORD_PEOPLE];
    struct sotto_table *table = NULL;
    (void)state;
    expect_refused(people, people, "keys", "keys have two");
    table = table_of("a\n1\n");
    expect_refused(table, keys, "records", "no column \"key\"");
    sotto_table_free(table);
    table = table_of("key,a\np1,1\n,2\n");
    expect_refused(table, keys, "records", "row 2 (line 3) has no key");
    sotto_table_free(table);
    table = table_of("key,a\np1,1\np2,2\np1,2\n");
    expect_refused(table, keys, "records", "rows 1 and 3 have the same key");
    sotto_table_free(table);
    table = table_of("key,a\np1,1\np2,2\n");
    expect_refused(table, keys, "keys", "no record has the key in its row 400");
    sotto_table_free(table);
    for (size_t i = 0; i < RECORD_PEOPLE; i++) {
        half[i] = i;
    }
    must(sotto_table_select(keys, half, RECORD_PEOPLE / 2, &table, &err));
    expect_refused(people, table, "keys", "it has no row for report 1");
    sotto_table_free(table);
    for (unsigned i = 0; i < 2; i++) { /* two reports, one person */
        const uint8_t *id = sotto_report_id(sotto_report_reader_at(reader, i));
        for (unsigned j = 0; j < SOTTO_ID_SIZE; j++) {
            size += (size_t)sprintf(text + size, "%02x", id[j]);
        }
        size += (size_t)sprintf(text + size, ",p7\n");
    }
    table = table_of(text);
    expect_refused(people, table, "keys", "row 2 has the key of a record that");
    sotto_table_free(table);
}

static void
test_memory(void **state)
{
    enum sotto_status status;
    long n = 0;
    (void)state;
    do {
        fail_alloc_at(++n);
        status = record_match(reader, people, keys, row, &err);
        fail_alloc_at(0);
        assert_true(status == SOTTO_STATUS_OK || status == SOTTO_STATUS_MEMORY);
    } while (status != SOTTO_STATUS_OK);
    assert_true(n > 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, tear_down);
}
