/*
 * record_fixture.h: reports about a label alone, and the records.
 */
#ifndef SOTTO_TESTS_RECORD_FIXTURE_H
#define SOTTO_TESTS_RECORD_FIXTURE_H

#include "learn_fixture.h"

#include "learn/record/record.h"

#define RECORD_PEOPLE 400u

/* no, yes or (other), by flip, for the label only. */
static inline struct sotto_mechanism *
open_label(uint64_t eps)
{
    const struct compose_part part = {.covers = "label",
                                      .channel = "flip",
                                      .eps = eps,
                                      .blocks = 1,
                                      .factor = {{true, 0, 0}},
                                      .factors = 1};
    const struct compose_spec spec = {.name = "label",
                                      .campaign = "c",
                                      .auxiliary = "not used",
                                      .eps = eps,
                                      .column = learn_line_column + 1,
                                      .columns = 1,
                                      .part = &part,
                                      .parts = 1,
                                      .label_only = true};
    return open_spec(&spec);
}

/* A key, a and b from -1 to 1, and whether they have one sign. */
static inline struct sotto_table *
record_people(void)
{
    static char text[RECORD_PEOPLE * 48];
    size_t size = (size_t)sprintf(text, "key,a,b,label\n");
    for (unsigned i = 0; i < RECORD_PEOPLE; i++) {
        double a = (i * 37 % RECORD_PEOPLE + 0.5) / RECORD_PEOPLE * 2 - 1;
        double b = (i * 101 % RECORD_PEOPLE + 0.5) / RECORD_PEOPLE * 2 - 1;
        size += (size_t)sprintf(text + size, "p%u,%.4f,%.4f,%s\n", i, a, b,
                                a * b > 0 ? "yes" : "no");
    }
    return table_of(text);
}

/* Their reports' ids beside their keys, backwards. */
static inline struct sotto_table *
record_keys(const struct sotto_report_reader *reader)
{
    static char text[RECORD_PEOPLE * 48];
    size_t size = (size_t)sprintf(text, "id,key\n");
    for (unsigned i = RECORD_PEOPLE; i-- > 0;) {
        const uint8_t *id = sotto_report_id(sotto_report_reader_at(reader, i));
        for (unsigned j = 0; j < SOTTO_ID_SIZE; j++) {
            size += (size_t)sprintf(text + size, "%02x", id[j]);
        }
        size += (size_t)sprintf(text + size, ",p%u\n", i);
    }
    return table_of(text);
}

#endif
