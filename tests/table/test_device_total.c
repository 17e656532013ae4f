/*
 * test_device_total.c: random files through a device's reader to reports, in
 * one process: whatever the records hold, there is a report for everybody, and
 * for nobody else (invariant 4).
 *
 *     test_device_total [FILES [SEED]]      20000 files of 1 to 4 people
 *
 * Files are of four kinds: with a header, the name first or last; without one;
 * and with a list of people, where records may hold line breaks and others'
 * names. What is written down is what the ledger is asked: whose report, and in
 * which order. Every report is read back as a collector reads it. The seed
 * makes the files; the noise is the system's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sotto/sotto.h"

#define PEOPLE_MAX 4u
#define TEXT_MAX 4096u
#define REPORT_MAX 256u

enum kind { NAME_FIRST, NAME_LAST, HEADLESS, LISTED, KINDS };

struct text {
    uint8_t bytes[TEXT_MAX];
    size_t size;
};

static const char *const names[PEOPLE_MAX] = {"ann", "bob", "eve", "c1"};
static const char *const headed[] = {"age", "colour", "name"};
static const char *const made[] = {"c2", "c3", "c1"};

static unsigned long files = 20000;
static uint64_t state = 1;
static struct sotto_mechanism *named_mechanism, *made_mechanism;

/* ---- Random files ------------------------------------------------------- */

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t
next(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t
below(size_t limit)
{
    return (size_t)(next() % limit);
}

static void
put(struct text *text, const void *bytes, size_t size)
{
    assert_true(size <= TEXT_MAX - text->size);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void
put_string(struct text *text, const char *string)
{
    put(text, string, strlen(string));
}

/* A record: an ordinary one, or pieces that a reader could stumble over, or any
   bytes; line breaks only where they may be. */
static void
put_record(struct text *text, bool breaks)
{
    static const char *const pieces[] = {
        ",",    "\"",  "\"\"",     "\r",   "red",     "30",
        "NA",   " ",   "\t",       ",,",   "\"x",     "x\"",
        "\xff", "c1",  "age",      "name", "colour",  "ann",
        "bob",  "eve", "\xc3\xa9", "1e9",  "\"a,b\"", "\xef\xbb\xbf"};
    size_t count = below(12);
    if (below(4) == 0) {
        put_string(text, "red,30");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)next();
        if (breaks && below(4) == 0) {
            put_string(text, "\n");
        } else if (below(3) > 0) {
            put_string(text, pieces[below(sizeof pieces / sizeof *pieces)]);
        } else {
            put(text, byte == '\n' ? (const uint8_t *)"" : &byte, 1);
        }
    }
}

static void
make_file(enum kind kind, size_t people, struct text *text)
{
    bool last = kind == NAME_LAST;
    text->size = 0;
    if (kind != HEADLESS) {
        put_string(text, last ? "colour,age,name\n" : "name,colour,age\n");
    }
    for (size_t i = 0; i < people; i++) {
        if (!last) {
            put_string(text, names[i]);
            put_string(text, ",");
        }
        put_record(text, kind == LISTED);
        if (last) {
            put_string(text, ",");
            put_string(text, names[i]);
        }
        put_string(text, i + 1 < people || below(2) > 0 ? "\n" : "");
    }
}

/* ---- The ledger --------------------------------------------------------- */

struct asked {
    size_t count;
    char names[PEOPLE_MAX + 1][8];
};

static enum sotto_status
begin(void *context, const struct sotto_charge *charge, uint8_t *report,
      size_t size, int *ret_found, struct sotto_error *err)
{
    struct asked *asked = context;
    (void)err;
    memset(report, 0, size);
    assert_true(asked->count < PEOPLE_MAX && charge->person_size < 8);
    memcpy(asked->names[asked->count++], charge->person, charge->person_size);
    *ret_found = 0;
    return SOTTO_STATUS_OK;
}

static enum sotto_status
commit(void *context, const struct sotto_charge *charge, const uint8_t *report,
       size_t size, struct sotto_error *err)
{
    (void)context;
    (void)charge;
    (void)report;
    (void)size;
    (void)err;
    return SOTTO_STATUS_OK;
}

static void
cancel(void *context)
{
    (void)context;
    fail();
}

/* ---- From a file to reports --------------------------------------------- */

static struct sotto_table *
list_people(size_t people)
{
    struct sotto_table_options options = {.header = 1};
    struct sotto_table *table = NULL;
    struct sotto_error err;
    struct text text = {.size = 0};
    put_string(&text, "name\n");
    for (size_t i = 0; i < people; i++) {
        put_string(&text, names[i]);
        put_string(&text, "\n");
    }
    assert_int_equal(sotto_table_parse(text.bytes, text.size, "list", &options,
                                       &table, &err),
                     SOTTO_STATUS_OK);
    return table;
}

static void
check_reports(const struct sotto_mechanism *mechanism, const uint8_t *reports,
              size_t size, size_t people)
{
    struct sotto_report_reader *reader = NULL;
    struct sotto_error err;
    assert_int_equal(
        sotto_report_reader_parse(mechanism, reports, size, "r", &reader, &err),
        SOTTO_STATUS_OK);
    assert_int_equal(sotto_report_reader_count(reader), people);
    sotto_report_reader_free(reader);
}

static void
report_table(struct sotto_mechanism *mechanism, const struct sotto_table *table,
             const char *person, size_t people)
{
    struct asked asked = {0};
    const struct sotto_ledger_port port = {&asked, begin, commit, cancel};
    struct sotto_records *records = NULL;
    struct sotto_error err;
    uint8_t reports[PEOPLE_MAX * REPORT_MAX];
    struct sotto_client *client = sotto_mechanism_client(mechanism);
    size_t size = sotto_client_report_size(client);
    assert_true(size <= REPORT_MAX);
    assert_int_equal(sotto_table_rows(table), people);
    assert_int_equal(sotto_records_new(mechanism, table, &records, &err),
                     SOTTO_STATUS_OK);
    for (size_t i = 0; i < people; i++) {
        struct sotto_value who =
            sotto_table_cell(table, i, sotto_table_find(table, person));
        assert_int_equal(sotto_client_report(client, &port, who.data, who.size,
                                             sotto_records_at(records, i),
                                             sotto_records_columns(records),
                                             reports + i * size, size, &err),
                         SOTTO_STATUS_OK);
        assert_string_equal(asked.names[i], names[i]);
    }
    assert_int_equal(asked.count, people);
    check_reports(mechanism, reports, people * size, people);
    sotto_records_free(records);
}

static void
run_file(enum kind kind, size_t people)
{
    struct text text;
    struct sotto_table *table = NULL, *list = NULL;
    struct sotto_error err;
    bool header = kind != HEADLESS;
    make_file(kind, people, &text);
    list = kind == LISTED ? list_people(people) : NULL;
    const struct sotto_device_file file = {.names = header ? headed : made,
                                           .count = 3,
                                           .person = header ? "name" : "c1",
                                           .header = header,
                                           .people = list};
    assert_int_equal(sotto_device_table_parse(text.bytes, text.size, "f", &file,
                                              &table, NULL, &err),
                     SOTTO_STATUS_OK);
    report_table(header ? named_mechanism : made_mechanism, table, file.person,
                 people);
    sotto_table_free(table);
    sotto_table_free(list);
}

static struct sotto_mechanism *
make_mechanism(const char *header)
{
    char text[80];
    struct sotto_table_options table_options = {.header = 1};
    struct sotto_train_options options = {.eps = "2"};
    struct sotto_mechanism *mechanism = NULL;
    struct sotto_table *table = NULL;
    struct sotto_error err;
    int size =
        snprintf(text, sizeof text, "%s\n20,red\n40,blue\n60,red\n", header);
    assert_int_equal(sotto_table_parse(text, (size_t)size, "t", &table_options,
                                       &table, &err),
                     SOTTO_STATUS_OK);
    assert_int_equal(sotto_train(table, "direct", &options, NULL, NULL, NULL,
                                 &mechanism, &err),
                     SOTTO_STATUS_OK);
    sotto_table_free(table);
    return mechanism;
}

static void
test_files(void **context)
{
    unsigned long reports = 0;
    (void)context;
    named_mechanism = make_mechanism("age,colour");
    made_mechanism = make_mechanism("c3,c2");
    for (unsigned long i = 0; i < files; i++) {
        size_t people = 1 + below(PEOPLE_MAX);
        run_file((enum kind)(i % KINDS), people);
        reports += people;
    }
    sotto_mechanism_free(named_mechanism);
    sotto_mechanism_free(made_mechanism);
    (void)printf("%lu files, %lu reports: one for everybody\n", files, reports);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files)};
    files = argc > 1 ? strtoul(argv[1], NULL, 10) : files;
    state = argc > 2 ? strtoul(argv[2], NULL, 10) : state;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
