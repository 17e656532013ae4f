/*
 * reader.c: reading the canonical JSON of a mechanism's header.
 */
#include "client/reader.h"

#include "base/bytes.h"
#include "base/status.h"

void
reader_init(struct reader *reader, const uint8_t *data, size_t size)
{
    reader->start = data;
    reader->at = data;
    reader->end = data + size;
    reader->escaped = false;
    reader->status = SOTTO_STATUS_OK;
    reader->problem = "";
}

void
reader_fail(struct reader *reader, enum sotto_status status,
            const char *problem)
{
    if (reader->status == SOTTO_STATUS_OK) {
        reader->status = status;
        reader->problem = problem;
    }
}

enum sotto_status
reader_status(const struct reader *reader, struct sotto_error *err)
{
    if (reader->status == SOTTO_STATUS_OK) {
        return SOTTO_STATUS_OK;
    }
    return status_fail(err, reader->status,
                       (size_t)(reader->at - reader->start), reader->problem);
}

/* Where `text` would end if it came next; NULL if it does not. */
static const uint8_t *
find_end(const struct reader *reader, const char *text)
{
    const uint8_t *at = reader->at;
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '"' && reader->escaped) {
            if (at == reader->end || *at != '\\') {
                return NULL;
            }
            at++;
        }
        if (at == reader->end || *at != (uint8_t)text[i]) {
            return NULL;
        }
        at++;
    }
    return at;
}

bool
reader_match(struct reader *reader, const char *text)
{
    const uint8_t *end = NULL;
    if (reader->status == SOTTO_STATUS_OK) {
        end = find_end(reader, text);
    }
    if (end == NULL) {
        return false;
    }
    reader->at = end;
    return true;
}

void
reader_expect(struct reader *reader, const char *text)
{
    if (!reader_match(reader, text)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the mechanism's header is not as sotto writes it");
    }
}

uint64_t
reader_number(struct reader *reader, uint64_t least, uint64_t most)
{
    uint64_t value = 0;
    const uint8_t *first = reader->at;
    if (reader->status != SOTTO_STATUS_OK) {
        return least;
    }
    while (reader->at < reader->end && *reader->at >= '0' &&
           *reader->at <= '9' && value <= most) {
        value = value * 10 + (uint64_t)(*reader->at++ - '0');
    }
    if (reader->at == first || (*first == '0' && reader->at - first > 1)) {
        reader_fail(reader, SOTTO_STATUS_FORMAT,
                    "the mechanism's header lacks a whole number here");
    } else if (value < least || value > most) {
        reader_fail(reader, SOTTO_STATUS_LIMIT,
                    "a number in the mechanism's header is out of range");
    }
    return reader->status == SOTTO_STATUS_OK ? value : least;
}

struct reader_word
reader_string(struct reader *reader, size_t most)
{
    struct reader_word word = {"", 0};
    const uint8_t *first;
    reader_expect(reader, "\"");
    if (reader->status != SOTTO_STATUS_OK) {
        return word;
    }
    first = reader->at;
    while (reader->at < reader->end && *reader->at >= 0x20 &&
           *reader->at < 0x7f && *reader->at != '"' && *reader->at != '\\') {
        reader->at++;
    }
    if ((size_t)(reader->at - first) > most) {
        reader_fail(reader, SOTTO_STATUS_LIMIT,
                    "a text in the mechanism's header is too long");
        return word;
    }
    word.text = (const char *)first;
    word.size = (size_t)(reader->at - first);
    reader_expect(reader, "\"");
    return word;
}

bool
reader_is(struct reader_word word, const char *text)
{
    return bytes_spell(word.text, word.size, text);
}
