/*
 * reader.h: reading the canonical JSON of a mechanism's header.
 *
 * A mechanism file has exactly one spelling: fixed order of keys, no blanks,
 * no escapes. So this is not a JSON parser but a matcher of expected text,
 * which leaves a hostile file nothing to play with: no nesting, no duplicate
 * keys, no unbounded numbers. It never reads past `end`, and the first thing
 * that does not match stops it for good.
 *
 * The manifest is JSON inside a JSON string: there, `escaped` is set and every
 * quotation mark is preceded by a backslash in the file.
 */
#ifndef SOTTO_CLIENT_READER_H
#define SOTTO_CLIENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sotto/client.h"

struct reader {
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    bool escaped;
    enum sotto_status status; /* OK until something does not match */
    const char *problem;      /* a static sentence */
};

/* A piece of the file. */
struct reader_word {
    const char *text;
    size_t size;
};

void reader_init(struct reader *reader, const uint8_t *data, size_t size);

/* Consumes `text` if it comes next; false, and nothing consumed, if not. */
bool reader_match(struct reader *reader, const char *text);
/* The same, and its absence is an error. */
void reader_expect(struct reader *reader, const char *text);
/* A whole number from least to most, without leading zeros. */
uint64_t reader_number(struct reader *reader, uint64_t least, uint64_t most);
/* A quoted string of at most `most` printable ASCII characters, without
   backslashes and quotation marks. */
struct reader_word reader_string(struct reader *reader, size_t most);
/* Whether the word is this text. */
bool reader_is(struct reader_word word, const char *text);
/* Stops the reader; the first call decides. */
void reader_fail(struct reader *reader, enum sotto_status status,
                 const char *problem);
/* Fills err from a stopped reader; returns its status. */
enum sotto_status reader_status(const struct reader *reader,
                                struct sotto_error *err);

#endif
